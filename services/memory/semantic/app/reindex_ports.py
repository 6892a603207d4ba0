"""What building indexes again needs of the relational store (SPEC SV-2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from typing import Protocol

from services.memory.semantic.domain.documents import DocumentSource


class ReindexState(IntEnum):
    """How a reindex stands; one that is running when the service stops goes on when it starts."""

    RUNNING = 1
    DONE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """What was done last: one agent after the other, its messages, then its memories, then its documents."""

    agent_id: str = ""
    conversation_id: str = ""
    sequence: int = 0
    messages_done: bool = False
    number: int = 0
    """Of the memory."""
    memories_done: bool = False
    document_key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reindexing:
    """One run over a tenant's items, or those of one agent (`agent_id`, "" for all).

    `total` is what there was at the beginning; more may be done than that.
    """

    tenant: str
    id: str
    agent_id: str
    state: ReindexState
    done: int
    total: int
    position: Position
    created: datetime
    finished: datetime | None = None


class Reindexes(Protocol):
    """The runs. At most one of a tenant is running."""

    async def start(self, tenant: str, agent_id: str, now: datetime) -> Reindexing:
        """A new run; the one that is running, of whichever agent, if there is one."""

    async def get(self, tenant: str, id_: str = "") -> Reindexing | None:
        """A run; the newest one without an id."""

    async def running(self) -> list[Reindexing]:
        """Of every tenant."""

    async def advance(self, run: Reindexing, holder: str, now: datetime) -> bool:
        """Keeps how far a run is, or that it is done.

        False, and nothing kept, unless `holder` has the run's lease and it is running.
        """


class Canonical(Protocol):
    """Everything of a tenant that should be indexed, in pages."""

    async def agents(self, tenant: str) -> Sequence[str]:
        """Those with memories, documents, or messages that were indexed once, in order."""

    async def conversations(
        self, tenant: str, agent_id: str, first: str, limit: int
    ) -> Sequence[tuple[str, int]]:
        """Conversations from one on, in order, each with the highest sequence number ever indexed."""

    async def memories(self, tenant: str, agent_id: str, after: int, limit: int) -> Sequence[tuple[int, str]]:
        """Numbers and ids of memories, in order, after a number; past ones too."""

    async def documents(
        self, tenant: str, agent_id: str, after: str, limit: int
    ) -> Sequence[tuple[str, DocumentSource]]:
        """Keys and sources of documents, in order, after a key."""


def lease_of(tenant: str) -> str:
    """The lease of whoever does a tenant's reindex."""
    return f"reindex/{tenant}"
