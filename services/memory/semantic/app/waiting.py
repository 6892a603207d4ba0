"""Waiting until what was written can be recalled (SPEC S-16)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from services.kit.context import time_remaining
from services.kit.errors import DependencyDown, PalimpsestError
from services.memory.semantic.app.indexing import Indexer
from services.memory.semantic.app.item_ports import ItemIndex
from services.memory.semantic.app.ports import Jobs, JobState, MemoryStore

POLL_SECONDS = 0.25
MARGIN_SECONDS = 2.0  # left of the deadline for the answer itself (half of a short one)
MAX_WAIT_SECONDS = 60.0  # where the caller has no deadline
MAX_JOB_IDS = 100
LOOKED_UP_AT_ONCE = 1000  # LookupJobs' limit


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageMark:
    """All messages of a conversation up to a sequence number."""

    conversation_id: str
    sequence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryMark:
    """A memory at a version."""

    memory_id: str
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Unindexed:
    """What was waited for in vain: `dead` if nothing will come of it, else the deadline came first."""

    agent_id: str
    mark: MessageMark | MemoryMark
    dead: bool
    job_ids: tuple[str, ...]


class Waiter:
    """Looks at the registry; for what is missing there it asks the ledger, which alone knows what is dead."""

    def __init__(self, *, store: MemoryStore, items: ItemIndex, jobs: Jobs, indexer: Indexer) -> None:
        self._store = store
        self._items = items
        self._jobs = jobs
        self._indexer = indexer
        self._log = structlog.get_logger("waiting")

    async def wait(
        self, tenant: str, marks: Sequence[tuple[str, MessageMark | MemoryMark]], *, past: bool = False
    ) -> list[Unindexed]:
        """Returns when each mark, given with its agent, is indexed or dead, or the deadline is near.

        A memory that is superseded is waited for with `past` alone: else it is not to be found (S-8).
        """
        if not marks:
            return []
        outcomes = await asyncio.gather(*(self._wait_one(tenant, agent, mark, past) for agent, mark in marks))
        return [outcome for outcome in outcomes if outcome is not None]

    async def _wait_one(
        self, tenant: str, agent_id: str, mark: MessageMark | MemoryMark, past: bool
    ) -> Unindexed | None:
        pending: list[str] = []
        dead: list[str] = []
        try:
            async with asyncio.timeout(_patience()):
                while True:
                    changed = asyncio.ensure_future(self._indexer.changed())
                    try:
                        keys = await self._missing_keys(tenant, agent_id, mark, past)
                        if keys is not None:
                            if not keys:
                                return None
                            pending, dead = _sorted(await self._states(keys), keys)
                            if dead and len(dead) == len(keys):
                                break
                        await asyncio.wait({changed}, timeout=POLL_SECONDS)
                    finally:
                        changed.cancel()
        except TimeoutError:
            return Unindexed(
                agent_id=agent_id, mark=mark, dead=False, job_ids=tuple((pending + dead)[:MAX_JOB_IDS])
            )
        return Unindexed(agent_id=agent_id, mark=mark, dead=True, job_ids=tuple(dead[:MAX_JOB_IDS]))

    async def _states(self, keys: Sequence[str]) -> dict[str, JobState]:
        """Of a ledger that doesn't answer nothing is known: the wait goes on, and recall with it."""
        try:
            return await self._jobs.lookup(keys)
        except PalimpsestError as error:
            self._log.warning("job_states_unknown", reason=error.reason)
            return {}

    async def _missing_keys(
        self, tenant: str, agent_id: str, mark: MessageMark | MemoryMark, past: bool
    ) -> list[str] | None:
        """Idempotency keys of the jobs that are still to be done for the mark; None: nobody can say now."""
        if isinstance(mark, MessageMark):
            try:
                sequences = await self._items.missing(
                    tenant, agent_id, mark.conversation_id, mark.sequence, limit=LOOKED_UP_AT_ONCE
                )
            except DependencyDown as error:  # channels that don't need the registry may answer all the same
                self._log.warning("progress_unknown", reason=error.reason)
                return None
            return [f"index_message/{agent_id}/{mark.conversation_id}/{sequence}" for sequence in sequences]
        memory = (await self._store.get(tenant, agent_id, [mark.memory_id])).get(mark.memory_id)
        if memory is None or memory.indexed or (memory.superseded_by and not past):
            return []
        return [f"index_memory/{agent_id}/{memory.id}/{memory.revision}"]


def _patience() -> float:
    remaining = time_remaining()
    if remaining is None:
        return MAX_WAIT_SECONDS
    return max(remaining / 2, remaining - MARGIN_SECONDS)


def _sorted(states: dict[str, JobState], keys: Sequence[str]) -> tuple[list[str], list[str]]:
    known = [states[key] for key in keys if key in states]
    return [s.job_id for s in known if not s.dead], [s.job_id for s in known if s.dead]
