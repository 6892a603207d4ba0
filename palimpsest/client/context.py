"""Calls about context blocks and their entries."""

from __future__ import annotations

from collections.abc import AsyncIterator

from palimpsest import models
from palimpsest.client import incoming_working as incoming
from palimpsest.client import names
from palimpsest.client.base import Calls
from palimpsest.working.v1 import context_pb2 as pb


class ContextCalls(Calls):
    """Context blocks of the agent, or of one conversation where one is named.

    In the model's own calls (`set_context`, `search_context`) a conversation's blocks come first, then the
    agent's.
    """

    async def put_context_block(
        self,
        label: str,
        *,
        kind: models.ContextKind,
        max_tokens: int,
        description: str = "",
        content: str | None = None,
        conversation_id: str = "",
    ) -> models.ContextBlock:
        """Creates a block, or changes one; without `content` what is there stays."""
        request = pb.PutContextBlockRequest(
            agent_id=self._agent,
            conversation_id=conversation_id,
            label=label,
            description=description,
            kind=names.CONTEXTS.number(kind),
            max_tokens=max_tokens,
            content=content,
        )
        answer = await self._transport.call(self._transport.stubs.working.PutContextBlock, request)
        return incoming.block(answer.block)

    async def context_block(self, label: str, *, conversation_id: str = "") -> models.ContextBlock:
        """Reads a block with its content."""
        request = pb.GetContextBlockRequest(
            agent_id=self._agent, conversation_id=conversation_id, label=label
        )
        answer = await self._transport.call(self._transport.stubs.working.GetContextBlock, request)
        return incoming.block(answer.block)

    async def context_blocks(self, *, conversation_id: str = "") -> list[models.ContextBlock]:
        """The blocks by label, without their content."""
        request = pb.ListContextBlocksRequest(agent_id=self._agent, conversation_id=conversation_id)
        answer = await self._transport.call(self._transport.stubs.working.ListContextBlocks, request)
        return [incoming.block(proto) for proto in answer.blocks]

    async def delete_context_block(self, label: str, *, conversation_id: str = "") -> bool:
        """Deletes a block with its entries; whether there was one."""
        request = pb.DeleteContextBlockRequest(
            agent_id=self._agent, conversation_id=conversation_id, label=label
        )
        answer = await self._transport.call(self._transport.stubs.working.DeleteContextBlock, request)
        return answer.deleted

    async def set_context(
        self, label: str, text: str, *, append: bool = False, conversation_id: str = ""
    ) -> models.ContextBlock:
        """Changes the content of a writable block on the model's behalf. An append is never retried."""
        request = pb.SetContextRequest(agent_id=self._agent, conversation_id=conversation_id, label=label)
        if append:
            request.append = text
        else:
            request.replace = text
        stub = self._transport.stubs.working
        answer = await self._transport.call(stub.SetContext, request, retry=not append)
        return incoming.block(answer.block)

    async def put_context_entry(
        self, label: str, key: str, content: str, *, title: str = "", conversation_id: str = ""
    ) -> models.ContextEntry:
        """Stores an entry of a searchable or loadable block; it is returned without its content."""
        request = pb.PutContextEntryRequest(
            agent_id=self._agent,
            conversation_id=conversation_id,
            label=label,
            key=key,
            title=title,
            content=content,
        )
        answer = await self._transport.call(self._transport.stubs.working.PutContextEntry, request)
        return incoming.entry(answer.entry)

    async def context_entry(self, label: str, key: str, *, conversation_id: str = "") -> models.ContextEntry:
        """Reads an entry."""
        request = pb.GetContextEntryRequest(
            agent_id=self._agent, conversation_id=conversation_id, label=label, key=key
        )
        answer = await self._transport.call(self._transport.stubs.working.GetContextEntry, request)
        return incoming.entry(answer.entry)

    async def context_entries(
        self, label: str, *, conversation_id: str = "", page_size: int = 0
    ) -> AsyncIterator[models.ContextEntry]:
        """The entries of a block by key, without their content."""
        request = pb.ListContextEntriesRequest(
            agent_id=self._agent, conversation_id=conversation_id, label=label, page_size=page_size
        )
        async for page in self._pages(self._transport.stubs.working.ListContextEntries, request):
            for proto in page.entries:
                yield incoming.entry(proto)

    async def delete_context_entry(self, label: str, key: str, *, conversation_id: str = "") -> bool:
        """Deletes an entry, also where it was loaded; whether there was one."""
        request = pb.DeleteContextEntryRequest(
            agent_id=self._agent, conversation_id=conversation_id, label=label, key=key
        )
        answer = await self._transport.call(self._transport.stubs.working.DeleteContextEntry, request)
        return answer.deleted

    async def search_context(
        self, query: str, *, label: str = "", conversation_id: str = "", limit: int = 0
    ) -> list[models.ContextHit]:
        """Searches the searchable blocks by words. Limit 0: the server's default."""
        request = pb.SearchContextRequest(
            agent_id=self._agent, conversation_id=conversation_id, label=label, query=query, limit=limit
        )
        answer = await self._transport.call(self._transport.stubs.working.SearchContext, request)
        return [incoming.hit(proto) for proto in answer.hits]

    async def load_context(self, conversation_id: str, label: str, key: str) -> models.ContextEntry:
        """Reads an entry of a loadable block and shows it in each prompt from now on."""
        request = pb.LoadContextRequest(
            agent_id=self._agent, conversation_id=conversation_id, label=label, key=key
        )
        answer = await self._transport.call(self._transport.stubs.working.LoadContext, request)
        return incoming.entry(answer.entry)

    async def unload_context(self, conversation_id: str, label: str, key: str) -> bool:
        """Shows a loaded entry no more; whether it was loaded."""
        request = pb.UnloadContextRequest(
            agent_id=self._agent, conversation_id=conversation_id, label=label, key=key
        )
        answer = await self._transport.call(self._transport.stubs.working.UnloadContext, request)
        return answer.unloaded

    async def context_tools(self, *, conversation_id: str = "") -> list[models.ToolDefinition]:
        """The tools that the blocks give the model, by name."""
        request = pb.ListContextToolsRequest(agent_id=self._agent, conversation_id=conversation_id)
        answer = await self._transport.call(self._transport.stubs.working.ListContextTools, request)
        return [incoming.tool(proto) for proto in answer.tools]
