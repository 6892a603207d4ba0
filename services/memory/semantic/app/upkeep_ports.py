"""What keeping memories in order needs of the stores (SPEC S-14, J-10, J-15)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from services.memory.semantic.app.ports import KeptMemory, KnownConversation
from services.memory.semantic.domain.memory import Memory


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class ActiveAgent:
    """An agent that has memories or indexed conversations."""

    tenant: str
    agent_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A memory that is merged, and the number of edits that it had when that was decided."""

    memory_id: str
    edits: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A memory whose planned end, or expiry, came at `at`; `number` grows in the order of writing."""

    tenant: str
    agent_id: str
    memory_id: str
    at: datetime
    number: int


class UpkeepStore(Protocol):
    """The canonical rows, as upkeep sees and changes them. All may raise DependencyDown."""

    async def agents(self, tenant: str | None, after: ActiveAgent | None, limit: int) -> list[ActiveAgent]:
        """A page of a tenant's agents, or of every tenant's (None), in their order."""

    async def recent(
        self,
        tenant: str,
        agent_id: str,
        since: datetime,
        limit: int,
        now: datetime,
        *,
        until: datetime | None = None,
    ) -> list[Memory]:
        """Live memories of every scope that were written since then, and not after `until`, newest first."""

    async def decay(self, tenant: str, agent_id: str, now: datetime, *, dry: bool) -> int:
        """Lowers the confidence of live memories that are unused (S-14), unless they decayed on `now`'s day
        or later; how many. With `dry` it only counts."""

    async def undo_decay(self, tenant: str, agent_id: str, day: datetime, now: datetime) -> int:
        """Gives back what memories lost on that day, if that was the last time; how many. They do not decay
        again on that day."""

    async def candidates(self, tenant: str, agent_id: str, limit: int, now: datetime) -> list[Memory]:
        """The newest live memories that may be merged, newest first, of every scope.

        No tasks, no reflections, nothing that is contradicted, that has a planned end, or that was taken out
        of a merge before.
        """

    async def merge(
        self, tenant: str, agent_id: str, memory_id: str, members: Sequence[Member], now: datetime
    ) -> Memory:
        """Writes `memory_id` in the place of the members, with the key and statement of the first.

        It has their provenance together and their highest confidence, and is pinned if one is. If it exists,
        nothing is changed. Raises StateConflict if a member is gone, has other edits, is not live, or is of
        another scope or kind than the first.
        """

    async def undo_merge(self, tenant: str, agent_id: str, memory_id: str, now: datetime) -> list[Memory]:
        """The members, live as they were; the merged memory is gone. None if it is not there.

        Raises StateConflict if the merged memory was replaced, or is none, or a member's place is taken.
        """

    async def ended(self, since: datetime, until: datetime, after: Ended | None, limit: int) -> list[Ended]:
        """A page of what ended by itself from `since` to `until`, of every tenant, by the end."""

    async def swept(self) -> datetime | None:
        """Up to when ends were looked for."""

    async def set_swept(self, upto: datetime) -> None:
        """Keeps it, never to an earlier moment."""

    async def known_of(self, tenant: str, agent_id: str) -> list[KnownConversation]:
        """The agent's conversations that were ever indexed."""

    async def kept_of(
        self, tenant: str, agent_id: str, after: str, limit: int, now: datetime
    ) -> list[KeptMemory]:
        """The agent's memories, past ones too, in order of their ids, after one ("": from the first)."""
