"""Waiting while nobody can say what is indexed, or what became of the jobs (SPEC S-11, S-16)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import pytest

from services.kit.context import CallInfo, serving
from services.kit.errors import DeadlineExceeded, DependencyDown, Internal, PalimpsestError
from services.memory.semantic.adapters.memory_items import MemoryItemIndex
from services.memory.semantic.app.ports import JobState
from services.memory.semantic.app.waiting import MemoryMark, MessageMark, Unindexed, Waiter
from tests.unit.semantic_parts import AGENT, TENANT, Parts

SHORT = 0.3


class Silent:
    """A ledger whose answers are errors."""

    def __init__(self, error: PalimpsestError) -> None:
        self._error = error

    async def lookup(self, keys: Sequence[str]) -> dict[str, JobState]:
        raise self._error


class Forgetful(MemoryItemIndex):
    """A registry that is not available for its first calls."""

    def __init__(self, failures: int) -> None:
        super().__init__()
        self._failures = failures

    async def missing(self, *arguments: Any, **named: Any) -> list[int]:
        self._failures -= 1
        if self._failures >= 0:
            raise DependencyDown
        return []


async def wait(parts: Parts, mark: MessageMark | MemoryMark, **chosen: Any) -> list[Unindexed]:
    around: dict[str, Any] = {"items": parts.items, "jobs": parts.ledger} | chosen
    waiter = Waiter(store=parts.store, indexer=parts.indexer, **around)
    with serving(CallInfo(request_id="r", deadline=time.monotonic() + SHORT)):
        return await waiter.wait(TENANT, [(AGENT, mark)])


@pytest.mark.parametrize("error", [DependencyDown(), DeadlineExceeded(), Internal()], ids=lambda e: e.reason)
async def test_a_ledger_that_fails_in_any_way_leaves_things_pending(error: PalimpsestError) -> None:
    """S-16: recall goes on without its word."""
    parts = Parts()
    memory = await parts.remember("k", "v")
    mark = MemoryMark(memory_id=memory.id, version=1)
    (outcome,) = await wait(parts, mark, jobs=Silent(error))
    assert outcome == Unindexed(agent_id=AGENT, mark=mark, dead=False, job_ids=())
    await parts.index_memories(memory)
    assert await wait(parts, mark, jobs=Silent(error)) == []


async def test_a_registry_that_cannot_say_leaves_messages_pending() -> None:
    """S-11, S-16."""
    mark = MessageMark(conversation_id="c", sequence=1)
    (outcome,) = await wait(Parts(), mark, items=Forgetful(failures=10**6))
    assert outcome == Unindexed(agent_id=AGENT, mark=mark, dead=False, job_ids=())


async def test_a_registry_is_asked_again() -> None:
    """S-16."""
    parts = Parts()
    waiter = Waiter(store=parts.store, indexer=parts.indexer, items=Forgetful(failures=1), jobs=parts.ledger)
    with serving(CallInfo(request_id="r", deadline=time.monotonic() + 30)):
        mark = MessageMark(conversation_id="c", sequence=1)
        assert await waiter.wait(TENANT, [(AGENT, mark)]) == []
