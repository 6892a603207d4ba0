"""Use cases on context blocks, their entries and their tools (SPEC W-4, W-6)."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence

from services.kit.errors import InvalidField
from services.kit.times import Clock, to_micros
from services.kit.tokens import estimate_tokens
from services.memory.episodic.app.ports import Page
from services.memory.episodic.app.working_ports import BlockStore, EntryStore, Matches
from services.memory.episodic.domain.blocks import ContextBlock, ContextEntry, ContextHit, NewBlock, Owner
from services.memory.episodic.domain.blocks_search import entry_terms, excerpt, query_terms
from services.memory.episodic.domain.blocks_tools import DEFAULT_LIMIT, Tool, tools_of
from services.memory.episodic.domain.checks import check_text, utf8_length
from services.memory.episodic.domain.model import ConversationKey
from services.memory.episodic.domain.working import Edit, WorkingLimits, check_limit

INLINE_CHARACTERS = 4_096
"""Longer texts are taken apart in a thread, so that other calls go on meanwhile."""


class Blocks:
    """Parts of the system prompt with a budget of their own."""

    def __init__(self, blocks: BlockStore, entries: EntryStore, clock: Clock, limits: WorkingLimits) -> None:
        self._blocks = blocks
        self._entries = entries
        self._clock = clock
        self._limits = limits

    async def put(self, owner: Owner, new: NewBlock) -> ContextBlock:
        """Creates or changes it. Raises InvalidField, NotFound, StateConflict, LimitExceeded."""
        check_text("description", new.description)
        check_text("content", new.content or "")
        return await self._blocks.put(owner, new, most_blocks=self._limits.blocks, now=self._now())

    async def get(self, owner: Owner, label: str) -> ContextBlock:
        """The owner's own. Raises NotFound."""
        return await self._blocks.get(owner, label)

    async def list(self, owner: Owner) -> Sequence[ContextBlock]:
        """The owner's own, by label, without content. Raises NotFound."""
        return await self._blocks.list(owner)

    async def delete(self, owner: Owner, label: str) -> bool:
        """With all that belongs to it; whether there was one. Raises NotFound (agent, conversation)."""
        return await self._blocks.delete(owner, label)

    async def edit(self, owner: Owner, label: str, edit: Edit) -> ContextBlock:
        """The model's change. Raises InvalidField, NotFound, StateConflict, LimitExceeded."""
        check_text("append" if edit.append else "replace", edit.text)
        return await self._blocks.edit(owner, label, edit, now=self._now())

    async def tools(self, owner: Owner) -> Sequence[Tool]:
        """What the blocks that count for the owner call for. Raises NotFound."""
        return tools_of(await self._blocks.effective(owner))

    async def put_entry(self, owner: Owner, label: str, key: str, title: str, content: str) -> ContextEntry:
        """The entry, without its content. Raises InvalidField, NotFound, StateConflict, LimitExceeded."""
        check_text("title", title)
        check_text("content", content)
        size, limit = utf8_length(content), self._limits.entry_bytes
        check_limit(f"the content has {size} bytes; at most {limit} are allowed", size, limit)
        entry = ContextEntry(
            label=label,
            key=key,
            title=title,
            content=content,
            token_count=estimate_tokens(content),
            update_time=self._now(),
        )
        terms = await _terms(entry)
        return await self._entries.put(owner, entry, terms, most_entries=self._limits.entries)

    async def get_entry(self, owner: Owner, label: str, key: str) -> ContextEntry:
        """Raises NotFound."""
        return await self._entries.get(owner, label, key)

    async def delete_entry(self, owner: Owner, label: str, key: str) -> bool:
        """Whether there was one. Raises NotFound (block)."""
        return await self._entries.delete(owner, label, key)

    async def list_entries(
        self, owner: Owner, label: str, *, limit: int, after: str | None
    ) -> Page[ContextEntry, str]:
        """By key, without content. Raises NotFound."""
        return await self._entries.list(owner, label, limit=limit, after=after)

    async def search(self, owner: Owner, label: str, query: str, limit: int) -> Sequence[ContextHit]:
        """Best first, 5 for a limit of 0. Raises InvalidField, NotFound, StateConflict."""
        check_text("query", query)
        if not query.strip():
            raise InvalidField("query", "holds nothing to look for")
        matches = await self._entries.search(owner, label, query_terms(query), limit=limit or DEFAULT_LIMIT)
        return await asyncio.to_thread(_hits, matches, self._limits.excerpt_characters)

    async def load(self, key: ConversationKey, label: str, entry: str) -> ContextEntry:
        """Keeps it in view. Raises NotFound, StateConflict, LimitExceeded."""
        return await self._entries.load(key, label, entry, most_loaded=self._limits.loaded, now=self._now())

    async def unload(self, key: ConversationKey, label: str, entry: str) -> bool:
        """Whether it was in view. Raises NotFound, StateConflict."""
        return await self._entries.unload(key, label, entry)

    def _now(self) -> int:
        return to_micros(self._clock())


async def _terms(entry: ContextEntry) -> Counter[str]:
    if len(entry.content) > INLINE_CHARACTERS:
        return await asyncio.to_thread(entry_terms, entry.key, entry.title, entry.content)
    return entry_terms(entry.key, entry.title, entry.content)


def _hits(matches: Matches, characters: int) -> list[ContextHit]:
    return [
        ContextHit(
            label=entry.label,
            key=entry.key,
            title=entry.title,
            excerpt=excerpt(entry.content, matches.telling, characters),
            score=score,
        )
        for entry, score in matches.entries
    ]
