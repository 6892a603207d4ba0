"""What each tool does: calls of the services behind, in the scope of a conversation (SPEC G-6, G-7, S-5)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from palimpsest.common.v1 import recall_pb2, resources_pb2
from palimpsest.episodic.v1 import episodic_pb2
from palimpsest.gateway.v1 import memories_pb2
from palimpsest.search.v1 import search_pb2
from palimpsest.working.v1 import context_pb2, notes_pb2

from services.gateway.app import recalling
from services.gateway.app.backends import Backends
from services.gateway.app.tool_ports import ToolOutcome
from services.gateway.app.words import document_kind, speaker
from services.gateway.domain.tool_texts import LISTED_CHARACTERS, bounded, fitting, line, shortened
from services.gateway.domain.tools import ALL, CONVERSATION, DEFAULT_LIMIT, MAX_LIMIT
from services.kit.errors import NotFound

LIST_SIZE = 15
"""Memories in a page of `recall`; at LISTED_CHARACTERS each they fit a result."""
LOOKUPS = 8
"""Conversations that are looked up at once."""
NOTHING = "Nothing was found."


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult(ToolOutcome):
    """An outcome, and the same as values where it is more than a text."""

    structured: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call whose arguments are as the tool's schema says.

    `contact_id` is the conversation's, "" for nobody.
    """

    backends: Backends
    agent_id: str
    conversation_id: str
    contact_id: str
    arguments: Mapping[str, Any]
    request_id: str

    def text(self, name: str) -> str:
        """An argument; "" where it was left out."""
        return str(self.arguments.get(name, ""))

    @property
    def limit(self) -> int:
        """How many results are wanted."""
        return int(self.arguments.get("limit", DEFAULT_LIMIT))

    @property
    def place(self) -> dict[str, Any]:
        """The fields that say which conversation."""
        return {"agent_id": self.agent_id, "conversation_id": self.conversation_id}


async def _remember(call: ToolCall) -> ToolResult:
    category = call.text("category") or "fact"
    response = await recalling.remember(
        call.backends,
        memories_pb2.RememberRequest(
            agent_id=call.agent_id,
            contact_id=call.contact_id,
            key=call.text("key"),
            value=call.text("value"),
            fact_type=resources_pb2.FactType.Value(f"FACT_TYPE_{category.upper()}"),
            request_id=call.request_id,
        ),
    )
    said = "Remembered." if response.created else "That was remembered already; nothing changed."
    values = {"memory_id": response.memory.id, "key": response.memory.key, "created": response.created}
    return ToolResult(content=said, structured=values)


async def _recall(call: ToolCall) -> ToolResult:
    if "key" not in call.arguments:
        return await _list(call)
    asked = memories_pb2.GetMemoryByKeyRequest(
        agent_id=call.agent_id, contact_id=call.contact_id, key=call.text("key")
    )
    try:
        memory = (await recalling.memory_by_key(call.backends, asked)).memory
    except NotFound:
        return ToolResult(content="key: nothing is remembered under it; try search_memory", is_error=True)
    item = _memory(memory)
    return ToolResult(content=bounded(line(item)), structured=item)


async def _list(call: ToolCall) -> ToolResult:
    page = await recalling.list_memories(
        call.backends,
        memories_pb2.ListMemoriesRequest(
            agent_id=call.agent_id,
            contact_id=call.contact_id,
            page_size=LIST_SIZE,
            page_token=call.text("page_token"),
        ),
    )
    items = [_memory(one, LISTED_CHARACTERS) for one in page.memories]
    token = page.next_page_token
    more = [line({"next_page_token": token})] if token else []
    _, content = fitting(items)
    return ToolResult(
        content="\n".join((content or "There are no memories yet.", *more)),
        structured={"memories": items, "next_page_token": token},
    )


async def _search_memory(call: ToolCall) -> ToolResult:
    response = await recalling.recall(
        call.backends,
        memories_pb2.RecallRequest(
            agent_id=call.agent_id, contact_id=call.contact_id, query=call.text("query"), limit=call.limit
        ),
    )
    return _found("memories", [_memory(hit.memory) for hit in response.hits], response.failures)


async def _search_documents(call: ToolCall) -> ToolResult:
    where = await recalling.scope(call.backends, call.agent_id, call.contact_id)
    response = await call.backends.search.SearchDocuments(
        search_pb2.SearchDocumentsRequest(
            agent_id=call.agent_id,
            query=call.text("query"),
            types=[
                search_pb2.DocumentType.Value(f"DOCUMENT_TYPE_{one.upper()}")
                for one in dict.fromkeys(call.arguments.get("types", ()))
            ],
            limit=call.limit,
            scope=search_pb2.DOCUMENT_SCOPE_CONTACT,
            contact_ids=where.contact_ids,
        )
    )
    items = [
        {
            "type": document_kind(hit),
            "title": hit.title,
            "text": shortened(hit.snippet),
        }
        for hit in response.hits
    ]
    return _found("documents", items, response.failures)


async def _recall_conversation(call: ToolCall) -> ToolResult:
    everywhere = call.text("scope") == ALL
    here = call.text("scope") == CONVERSATION
    role = call.text("role")
    request = memories_pb2.RecallConversationRequest(
        **call.place,
        query=call.text("query"),
        mode=recall_pb2.SearchMode.Value(f"SEARCH_MODE_{(call.text('mode') or 'hybrid').upper()}"),
        scope=memories_pb2.SEARCH_SCOPE_CONVERSATION if here else memories_pb2.SEARCH_SCOPE_CONTACT,
        limit=call.limit,
        filter=recall_pb2.MessageFilter(
            roles=[resources_pb2.Role.Value(f"ROLE_{role.upper()}")] if role else []
        ),
    )
    if everywhere:
        request.scope, request.limit = memories_pb2.SEARCH_SCOPE_ALL, MAX_LIMIT
    response = await recalling.recall_conversation(call.backends, request)
    messages = [hit.message for hit in response.hits]
    if everywhere:
        messages = (await _with_nobody(call, messages))[: call.limit]
    return _found("messages", [_message(one) for one in messages], response.failures)


async def _with_nobody(
    call: ToolCall, messages: Sequence[resources_pb2.Message]
) -> list[resources_pb2.Message]:
    """Those of conversations without a contact: what a person said is for conversations with that person."""
    slots = asyncio.Semaphore(LOOKUPS)

    async def of_nobody(conversation_id: str) -> bool:
        asked = episodic_pb2.GetConversationRequest(agent_id=call.agent_id, conversation_id=conversation_id)
        async with slots:
            try:
                return not (await call.backends.episodic.GetConversation(asked)).conversation.contact_id
            except NotFound:
                return False  # erased meanwhile

    ids = list(dict.fromkeys(one.conversation_id for one in messages))
    allowed = dict(zip(ids, await asyncio.gather(*map(of_nobody, ids)), strict=True))
    return [one for one in messages if allowed[one.conversation_id]]


async def _set_notes(call: ToolCall) -> ToolResult:
    request = notes_pb2.SetNotesRequest(**call.place)
    text = call.text("text")
    if call.text("action") == "append":
        if not text:
            return ToolResult(content="text: must not be empty to be appended", is_error=True)
        request.append = text
    elif text:
        request.replace = text
    else:
        request.clear.SetInParent()
    notes = (await call.backends.working.SetNotes(request)).notes
    said = (
        f"The notes are written ({notes.token_count} of 2,000 tokens)."
        if notes.text
        else "No notes are left."
    )
    return ToolResult(content=said, structured={"version": notes.version, "token_count": notes.token_count})


async def _set_task(call: ToolCall) -> ToolResult:
    await call.backends.working.SetTask(notes_pb2.SetTaskRequest(**call.place, text=call.text("text")))
    return ToolResult(content="The ongoing task is set.")


async def _get_task(call: ToolCall) -> ToolResult:
    try:
        task = (await call.backends.working.GetTask(notes_pb2.GetTaskRequest(**call.place))).task
    except NotFound:
        return ToolResult(content="There is no ongoing task.", structured={"task": ""})
    return ToolResult(content=bounded(task.text), structured={"task": task.text})


async def _clear_task(call: ToolCall) -> ToolResult:
    await call.backends.working.ClearTask(notes_pb2.ClearTaskRequest(**call.place))
    return ToolResult(content="There is no ongoing task any more.")


async def _set_context(call: ToolCall) -> ToolResult:
    request = context_pb2.SetContextRequest(**call.place, label=call.text("label"))
    if call.text("action") == "append":
        request.append = call.text("content")
    else:
        request.replace = call.text("content")
    block = (await call.backends.working.SetContext(request)).block
    return ToolResult(content=f"The block is written ({block.token_count} of {block.max_tokens} tokens).")


async def _search_context(call: ToolCall) -> ToolResult:
    response = await call.backends.working.SearchContext(
        context_pb2.SearchContextRequest(
            **call.place,
            label=call.text("label"),
            query=call.text("query"),
            limit=int(call.arguments.get("limit", 0)),
        )
    )
    items = [
        {"label": hit.label, "key": hit.key, "title": hit.title, "text": hit.excerpt} for hit in response.hits
    ]
    return _found("entries", items, ())


async def _load_context(call: ToolCall) -> ToolResult:
    request = context_pb2.LoadContextRequest(**call.place, label=call.text("label"), key=call.text("key"))
    entry = (await call.backends.working.LoadContext(request)).entry
    return ToolResult(content=bounded(entry.content))


async def _unload_context(call: ToolCall) -> ToolResult:
    request = context_pb2.UnloadContextRequest(**call.place, label=call.text("label"), key=call.text("key"))
    unloaded = (await call.backends.working.UnloadContext(request)).unloaded
    return ToolResult(content="The entry is out of view." if unloaded else "The entry was not loaded.")


HANDLERS: Mapping[str, Callable[[ToolCall], Awaitable[ToolResult]]] = {
    "clear_ongoing_task": _clear_task,
    "get_ongoing_task": _get_task,
    "load_context": _load_context,
    "recall": _recall,
    "recall_conversation": _recall_conversation,
    "remember": _remember,
    "search_context": _search_context,
    "search_documents": _search_documents,
    "search_memory": _search_memory,
    "set_context": _set_context,
    "set_notes": _set_notes,
    "set_ongoing_task": _set_task,
    "unload_context": _unload_context,
}
"""By the tools' names."""


def _found(name: str, items: Sequence[Mapping[str, Any]], failures: Sequence[object]) -> ToolResult:
    shown, content = fitting(items)
    if failures:
        content = f"{content or NOTHING}\n(a part of the search failed: there may be more)"
    return ToolResult(content=content or NOTHING, structured={name: shown})


def _memory(memory: resources_pb2.Memory, most: int = 0) -> dict[str, Any]:
    """`most`: characters of the value, 0 for all."""
    return {
        "key": memory.key,
        "value": shortened(memory.value, most) if most else memory.value,
        "category": resources_pb2.FactType.Name(memory.fact_type).removeprefix("FACT_TYPE_").lower(),
        "since": f"{memory.valid_from_time.ToDatetime():%Y-%m-%d}",
    }


def _message(message: resources_pb2.Message) -> dict[str, Any]:
    said = "\n".join(
        part.tool_result.content if part.HasField("tool_result") else part.text for part in message.parts
    )
    return {
        "conversation": message.conversation_id,
        "who": speaker(message),
        "when": f"{message.time.ToDatetime():%Y-%m-%d %H:%M}",
        "text": shortened(said.strip()),
    }
