"""Calls about memories, recall and prompts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime

from google.protobuf.field_mask_pb2 import FieldMask

from palimpsest import models
from palimpsest.client import incoming, names, outgoing
from palimpsest.client.base import Calls
from palimpsest.client.transport import new_request_id
from palimpsest.common.v1 import resources_pb2
from palimpsest.errors import NotIndexedError
from palimpsest.gateway.v1 import memories_pb2 as pb
from palimpsest.gateway.v1 import prompt_pb2

WAIT_SECONDS = 60.0
WAIT_TOKENS = 100
"""How many tokens one read may wait for."""

_ANY_QUERY = "palimpsest"


class MemoryCalls(Calls):
    """Memories: writing, reading, finding them, and the prompt made from them."""

    async def remember(
        self,
        key: str,
        value: str,
        *,
        contact_id: str = "",
        fact_type: models.FactType | None = None,
        pinned: bool = False,
        provenance: Sequence[models.MessageRef] = (),
        valid_from_time: datetime | None = None,
        valid_to_time: datetime | None = None,
    ) -> models.Remembered:
        """Writes a memory, agent-wide unless a contact is given. A new value supersedes the last one.

        It holds from now on, or from `valid_from_time`, until it is superseded, or until `valid_to_time`.
        """
        request = pb.RememberRequest(
            agent_id=self._agent,
            contact_id=contact_id,
            key=key,
            value=value,
            fact_type=names.FACT_TYPES.optional(fact_type),
            pinned=pinned,
            provenance=[outgoing.message_ref(ref) for ref in provenance],
            valid_from_time=outgoing.timestamp(valid_from_time),
            valid_to_time=outgoing.timestamp(valid_to_time),
            request_id=new_request_id(),
        )
        return incoming.remembered(await self._transport.call(self._transport.stub.Remember, request))

    async def get_memory(self, memory_id: str) -> models.Memory:
        """Reads a memory by id, superseded ones too."""
        request = pb.GetMemoryRequest(agent_id=self._agent, memory_id=memory_id)
        return incoming.memory((await self._transport.call(self._transport.stub.GetMemory, request)).memory)

    async def memory(
        self, key: str, *, contact_id: str = "", as_of_time: datetime | None = None
    ) -> models.Memory:
        """Reads the memory of a key that is live, or was valid at a moment.

        It is the contact's if there is one, else the agent-wide one.
        """
        request = pb.GetMemoryByKeyRequest(
            agent_id=self._agent, contact_id=contact_id, key=key, as_of_time=outgoing.timestamp(as_of_time)
        )
        answer = await self._transport.call(self._transport.stub.GetMemoryByKey, request)
        return incoming.memory(answer.memory)

    async def memories(
        self,
        *,
        contact_id: str = "",
        kinds: Sequence[models.MemoryKind] = (),
        key_prefix: str = "",
        include_superseded: bool = False,
        as_of_time: datetime | None = None,
        page_size: int = 0,
    ) -> AsyncIterator[models.Memory]:
        """Memories, oldest first: the agent-wide ones, or those that a contact sees.

        Those that are live; with `include_superseded` all; with `as_of_time` those that were valid then.
        """
        request = pb.ListMemoriesRequest(
            agent_id=self._agent,
            contact_id=contact_id,
            kinds=[names.KINDS.number(kind) for kind in kinds],
            key_prefix=key_prefix,
            include_superseded=include_superseded,
            as_of_time=outgoing.timestamp(as_of_time),
            page_size=page_size,
        )
        async for page in self._pages(self._transport.stub.ListMemories, request):
            for proto in page.memories:
                yield incoming.memory(proto)

    async def memory_versions(self, memory_id: str) -> list[models.Memory]:
        """All versions of a memory's key and scope, oldest first."""
        return list((await self.memory_history(memory_id)).memories)

    async def memory_history(self, memory_id: str) -> models.MemoryHistory:
        """All versions of a memory's key and scope, and how they were replaced, under whatever key."""
        request = pb.ListMemoryVersionsRequest(agent_id=self._agent, memory_id=memory_id)
        return incoming.memory_history(
            await self._transport.call(self._transport.stub.ListMemoryVersions, request)
        )

    async def undo_supersession(self, memory_id: str) -> models.Restored:
        """Takes back the newest supersession of a memory, which is then as it was before."""
        request = pb.UndoSupersessionRequest(agent_id=self._agent, memory_id=memory_id)
        return incoming.restored(await self._transport.call(self._transport.stub.UndoSupersession, request))

    async def contradictions(
        self, *, contact_id: str = "", page_size: int = 0
    ) -> AsyncIterator[models.Contradiction]:
        """Unresolved contradictions, oldest first: between agent-wide memories, or those a contact sees."""
        request = pb.ListContradictionsRequest(
            agent_id=self._agent, contact_id=contact_id, page_size=page_size
        )
        async for page in self._pages(self._transport.stub.ListContradictions, request):
            for proto in page.contradictions:
                yield incoming.contradiction(proto)

    async def resolve_contradiction(
        self, contradiction_id: str, *, kept_memory_id: str = ""
    ) -> list[models.Memory]:
        """Settles a contradiction; the kept memory replaces the other, without one both may stand.

        Returns the two as they are then.
        """
        request = pb.ResolveContradictionRequest(
            agent_id=self._agent, contradiction_id=contradiction_id, kept_memory_id=kept_memory_id
        )
        answer = await self._transport.call(self._transport.stub.ResolveContradiction, request)
        return [incoming.memory(proto) for proto in answer.memories]

    async def pin(self, memory_id: str, pinned: bool = True) -> models.Memory:
        """Pins a memory, so that prompts always show it, or unpins it."""
        request = pb.UpdateMemoryRequest(
            agent_id=self._agent,
            memory=resources_pb2.Memory(id=memory_id, pinned=pinned),
            update_mask=FieldMask(paths=["pinned"]),
        )
        return incoming.memory(
            (await self._transport.call(self._transport.stub.UpdateMemory, request)).memory
        )

    async def forget(self, memory_id: str) -> int:
        """Deletes a memory with all versions of its key and scope; returns how many there were."""
        request = pb.ForgetMemoryRequest(agent_id=self._agent, memory_id=memory_id)
        return (await self._transport.call(self._transport.stub.ForgetMemory, request)).deleted_count

    async def recall(
        self,
        query: str,
        *,
        contact_id: str = "",
        limit: int = 10,
        kinds: Sequence[models.MemoryKind] = (),
        fusion: models.ReciprocalRank | None = None,
        fill: bool = False,
        as_of_time: datetime | None = None,
        wait_for: Sequence[models.FreshnessToken | None] = (),
        timeout: float | None = None,
    ) -> models.RecalledMemories:
        """Finds memories that are live, or were valid at a moment, by all that is known today.

        With `wait_for`, waits until these are indexed or the timeout is near.
        """
        request = pb.RecallRequest(
            agent_id=self._agent,
            contact_id=contact_id,
            query=query,
            limit=limit,
            kinds=[names.KINDS.number(kind) for kind in kinds],
            fusion=outgoing.fusion(fusion),
            fill=fill,
            as_of_time=outgoing.timestamp(as_of_time),
            wait_for=outgoing.tokens(wait_for),
        )
        answer = await self._transport.call(self._transport.stub.Recall, request, timeout=timeout)
        return incoming.recalled_memories(answer)

    async def recall_conversation(
        self,
        query: str,
        *,
        conversation_id: str = "",
        contact_id: str = "",
        mode: models.SearchMode | None = None,
        scope: models.SearchScope | None = None,
        limit: int = 10,
        roles: Sequence[models.Role] = (),
        authors: Sequence[str] = (),
        start_time: datetime | None = None,
        end_time: datetime | None = None,
        neighbours: int = 0,
        include_inactive: bool = False,
        fusion: models.ReciprocalRank | None = None,
        wait_for: Sequence[models.FreshnessToken | None] = (),
        reference_time: datetime | None = None,
        timeout: float | None = None,
    ) -> models.RecalledMessages:
        """Finds messages and returns the exact originals.

        Without a scope: all conversations with the person, named or the conversation's; where neither a
        conversation nor a person is named, all of the agent. Messages on branches that were left are found
        with `include_inactive` only. Relative dates in the query ("last week") count from `reference_time`,
        by default now.
        """
        everywhere = scope is None and not conversation_id and not contact_id
        request = pb.RecallConversationRequest(
            agent_id=self._agent,
            conversation_id=conversation_id,
            contact_id=contact_id,
            query=query,
            mode=names.MODES.optional(mode),
            scope=names.SCOPES.optional("all" if everywhere else scope),
            limit=limit,
            filter=outgoing.message_filter(roles, authors, start_time, end_time),
            neighbours=neighbours,
            include_inactive=include_inactive,
            fusion=outgoing.fusion(fusion),
            wait_for=outgoing.tokens(wait_for),
            reference_time=outgoing.timestamp(reference_time),
        )
        answer = await self._transport.call(self._transport.stub.RecallConversation, request, timeout=timeout)
        return incoming.recalled_messages(answer)

    async def wait_indexed(
        self, *tokens: models.FreshnessToken | None, timeout: float = WAIT_SECONDS
    ) -> None:
        """Returns once all that the tokens name can be recalled; NotIndexedError if not in time."""
        given = [token for token in tokens if token is not None]
        for start in range(0, len(given), WAIT_TOKENS):
            # A keyword search embeds nothing: its answer is not wanted, only the wait.
            found = await self.recall_conversation(
                _ANY_QUERY,
                mode="keyword",
                scope="all",
                limit=1,
                wait_for=given[start : start + WAIT_TOKENS],
                timeout=timeout,
            )
            if found.unindexed:
                dead = sum(each.state == "dead" for each in found.unindexed)
                why = "a job was given up" if dead else "it was not indexed in time"
                raise NotIndexedError(why, unindexed=found.unindexed)

    async def assemble_prompt(
        self,
        conversation_id: str,
        message: str,
        *,
        budget_tokens: int = 0,
        author: str = "",
        model: str = "",
        attractor_version: int = 0,
        wait_for: Sequence[models.FreshnessToken | None] = (),
        timeout: float | None = None,
    ) -> models.Prompt:
        """The prompt of the next turn for the user's new message. Budget 0: the server's default.

        With a `model` whose tokenizer the server has, its tokens are counted. Attractor version 0: the pinned
        one, else the newest.
        """
        request = prompt_pb2.AssemblePromptRequest(
            agent_id=self._agent,
            conversation_id=conversation_id,
            message=message,
            budget_tokens=budget_tokens,
            author=author,
            model=model,
            attractor_version=attractor_version,
            wait_for=outgoing.tokens(wait_for),
        )
        answer = await self._transport.call(self._transport.stub.AssemblePrompt, request, timeout=timeout)
        return incoming.prompt(answer)
