"""OpenAI Agents SDK: a conversation as a session, and recall before model calls (extra `openai-agents`)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from palimpsest.client import AsyncClient
from palimpsest.integrations import extra, readable
from palimpsest.integrations.bridge import Bridge
from palimpsest.integrations.history import History
from palimpsest.integrations.recalling import remembered
from palimpsest.models import Part, Role, ToolCall, ToolResult
from palimpsest.sync import Client

with extra("openai-agents"):
    from agents.memory.session_settings import SessionSettings, resolve_session_limit
    from agents.run import CallModelData, ModelInputData

if TYPE_CHECKING:
    from agents.items import TResponseInputItem
    from agents.run_config import CallModelInputFilter

ROLES: Mapping[str, Role] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
}
Item = Mapping[str, Any]


class PalimpsestSession:
    """The active path of a conversation as a session (agents.memory.Session).

    Items come back as they were given. Nothing is deleted: what is popped or cleared stays on a branch that
    was left, out of prompts and recall.
    """

    session_settings: SessionSettings | None = None

    def __init__(
        self,
        client: Client | AsyncClient,
        session_id: str,
        *,
        contact_id: str = "",
        session_settings: SessionSettings | None = None,
    ) -> None:
        """The session's id is the conversation's; it is created with its first item."""
        self.session_id = session_id
        self.session_settings = session_settings or SessionSettings()
        self._bridge = Bridge(client)
        self._history: History[Item] = History(session_id, _Items(), contact_id=contact_id)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The items, oldest first; with a limit (here or in the settings) the newest ones."""
        most = resolve_session_limit(limit, self.session_settings)
        most = None if most is not None and most < 0 else most  # as in the SDK's own sessions
        items = await self._bridge.run_async(lambda client: self._history.read(client, most))
        return cast("list[TResponseInputItem]", items)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Stores items after the others. ValueError for what JSON can't say."""
        given = cast("list[Item]", items)
        await self._bridge.run_async(lambda client: self._history.append(client, given))

    async def pop_item(self) -> TResponseInputItem | None:
        """Takes the newest item back and returns it; None where there is none."""
        item = await self._bridge.run_async(self._history.pop)
        return cast("TResponseInputItem | None", item)

    async def clear_session(self) -> None:
        """Begins the conversation anew."""
        await self._bridge.run_async(self._history.clear)


def recall_before_model(
    client: Client | AsyncClient, *, contact_id: str = "", limit: int = 5
) -> CallModelInputFilter:
    """A `call_model_input_filter`: adds what is remembered of the newest user's text to the instructions."""
    bridge = Bridge(client)

    async def add(data: CallModelData[Any]) -> ModelInputData:
        given = data.model_data
        query = _newest_question(cast("Sequence[Item]", given.input))
        note = await bridge.run_async(lambda one: remembered(one, query, contact_id=contact_id, limit=limit))
        instructions = "\n\n".join(filter(None, (given.instructions, note)))
        return ModelInputData(input=given.input, instructions=instructions or None)

    return add


def _newest_question(items: Sequence[Item]) -> str:
    for item in reversed(items):
        if item.get("role") == "user":
            return readable.text_of(readable.blocks(item.get("content")))
    return ""


class _Items:
    """Items of the Responses API in both directions."""

    def parts(self, item: Item) -> tuple[Role, list[Part]]:
        """What people and models read of it."""
        kind = str(item.get("type") or "message")
        role = ROLES.get(str(item.get("role")), "tool" if kind.endswith("_output") else "assistant")
        return role, readable.filled(list(_parts(item, kind)), kind)

    def native(self, role: Role, parts: Sequence[Part]) -> list[Item]:
        """What stands for a message that something else stored."""
        items: list[Item] = []
        if text := readable.text_of(parts):
            items.append({"role": "user" if role == "tool" else role, "content": text})
        for part in parts:
            if isinstance(part, ToolCall):
                arguments = json.dumps(dict(part.arguments))
                items.append(
                    {
                        "type": "function_call",
                        "call_id": part.call_id,
                        "name": part.name,
                        "arguments": arguments,
                    }
                )
            elif isinstance(part, ToolResult):
                items.append(
                    {"type": "function_call_output", "call_id": part.call_id, "output": part.content}
                )
        return items or [{"role": role, "content": ""}]

    def dump(self, item: Item) -> str:
        """The item as JSON."""
        try:
            return json.dumps(dict(item), allow_nan=False)
        except TypeError as error:
            raise ValueError(f"an item that is no JSON: {error}") from error

    def load(self, text: str) -> Item:
        """The item again."""
        item: Item = json.loads(text)
        return item


def _parts(item: Item, kind: str) -> Iterator[Part]:
    if kind == "message":
        yield from readable.blocks(item.get("content"))
    elif kind.endswith("_output"):
        output = item.get("output")
        text = output if isinstance(output, str) else readable.text_of(readable.blocks(output))
        yield readable.result(item.get("call_id"), text)
    elif kind == "function_call":
        yield readable.call(item.get("call_id"), item.get("name"), item.get("arguments"))
    else:
        yield from readable.blocks(item.get("summary"))
