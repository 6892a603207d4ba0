"""Small parts of the Compactor: the worker's name, housekeeping, the index handler (SPEC J-1, J-3, J-15)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from palimpsest.semantic.v1 import semantic_pb2

from services.compactor.adapters.index_handler import IndexHandler, message_item
from services.compactor.adapters.owner import FILE, worker_id
from services.compactor.app.housekeeping import Retention, delete_old
from services.compactor.app.jobs import Jobs
from services.compactor.app.ports import Done, Failed, Query, Reach
from services.compactor.app.wake import LocalWake
from services.compactor.domain.ledger import Job, JobState, NewJob, succeeded
from services.kit.errors import DependencyDown, StartupError
from tests.memory_ledger import MemoryLedger

T0 = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
ALL = Query(reach=Reach(tenant="acme"))


def new(number: int) -> NewJob:
    payload = b'{"conversation_id":"c","sequence":%d}' % number
    return NewJob(type="index_message", agent_id="a", subject="s", key=f"k{number}", payload=payload)


async def claimed(ledger: MemoryLedger, count: int) -> list[Job]:
    await ledger.enqueue("acme", [new(number) for number in range(1, count + 1)], 5, T0)
    return await ledger.claim("w", 1_000, DAY, T0)


def test_a_worker_keeps_its_name(tmp_path: Path) -> None:
    """J-1: so that it finds the leases of its former self."""
    folder = tmp_path / "new" / "folder"
    name = worker_id(folder)
    assert worker_id(folder) == name
    assert worker_id(tmp_path / "other") != name


@pytest.mark.parametrize("content", [b"", b"\n", b"\xff\xfe", b"a b", b"x" * 65])
def test_a_spoilt_name_is_replaced(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    name = worker_id(tmp_path)
    assert name.isalnum()
    assert worker_id(tmp_path) == name


def test_a_folder_that_is_none_is_a_startup_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StartupError):
        worker_id(tmp_path / "file")


async def test_old_jobs_go_in_steps_until_none_is_left() -> None:
    """J-15."""
    ledger = MemoryLedger()
    jobs = await claimed(ledger, 10)
    await ledger.settle([succeeded(job) for job in jobs[:8]], T0)
    retention = Retention(finished=7 * DAY, dead=30 * DAY, step=3)
    assert await delete_old(ledger, retention, lambda: T0 + 7 * DAY) == 0
    assert await delete_old(ledger, retention, lambda: T0 + 8 * DAY) == 8
    assert sum((await ledger.counts(ALL)).values()) == 2


async def test_a_slow_watcher_gets_each_job_once_as_it_is_by_then() -> None:
    """Nothing is queued for it: what it has not taken is read when it takes it."""
    ledger = MemoryLedger()
    jobs = await claimed(ledger, 250)
    updates = Jobs(ledger, LocalWake(), lambda: T0, max_attempts=5).watch(ALL, interval=0, until_idle=True)
    first = await anext(updates)
    assert {job.state for job in first.jobs} == {JobState.RUNNING}
    await ledger.settle([succeeded(job) for job in jobs], T0)
    rest = [job for update in [update async for update in updates] for job in update.jobs]
    assert len(rest) == 250
    assert {job.state for job in rest} == {JobState.SUCCEEDED}


class Answers:
    """A Semantic stub that gives prepared outcomes."""

    def __init__(self, *errors: str) -> None:
        self._errors = errors

    async def Index(self, request: semantic_pb2.IndexRequest) -> semantic_pb2.IndexResponse:
        outcomes = [semantic_pb2.IndexOutcome(ok=not error, error=error) for error in self._errors]
        return semantic_pb2.IndexResponse(outcomes=outcomes)


async def index(errors: Sequence[str]) -> list[Done | Failed]:
    jobs = await claimed(MemoryLedger(), 2)
    return list(await IndexHandler(Answers(*errors), message_item).run("acme", "a", jobs))


async def test_outcomes_are_those_of_the_items() -> None:
    down = "DEPENDENCY_DOWN: the embedder is down"
    assert await index(["", "INTERNAL: x"]) == [Done(), Failed(error="INTERNAL: x")]
    assert await index(["", down]) == [Done(), Failed(error=down)]


async def test_a_dependency_that_is_down_for_every_item_is_nobodys_fault() -> None:
    with pytest.raises(DependencyDown):
        await index(["DEPENDENCY_DOWN: x", "DEPENDENCY_DOWN: x"])


async def test_an_answer_for_another_number_of_items_is_a_fault() -> None:
    with pytest.raises(ValueError, match="another number"):
        await index([""])
