"""Planning merges, and runs that do, repeat and undo them (SPEC J-10)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.compactor.app.consolidation import UNDER_WAY, Consolidation
from services.compactor.domain.consolidation import Candidate, Merge, Outcome, Run, Similar, plan
from services.kit.errors import DependencyDown, NotFound, StateConflict

NOW = datetime(2031, 5, 4, 4, tzinfo=UTC)
TENANT, AGENT = "acme", "ada"
IDS = [f"new-{n}" for n in range(5)]


def candidates(*sizes: int) -> list[Candidate]:
    return [
        Candidate(memory_id=f"m{n}", revision=n + 1, contact_id="", key=f"k{n}", size=size)
        for n, size in enumerate(sizes)
    ]


def pair(
    one: int, other: int, *, covers: bool = True, covered: bool = False, barred: bool = False
) -> Similar:
    return Similar(
        memory_id=f"m{one}",
        other_id=f"m{other}",
        cosine=0.9 - other / 100,
        covers=covers,
        covered=covered,
        barred=barred,
    )


def members(merges: Sequence[Merge]) -> list[list[str]]:
    return [[id_ for id_, _ in merge.members] for merge in merges]


# Planning


def test_the_memory_that_says_all_of_most_others_takes_their_place() -> None:
    found = plan(candidates(5, 30, 10, 8), [pair(1, 2), pair(1, 3), pair(0, 3)], IDS)
    assert members(found) == [["m1", "m2", "m3"]]
    (only,) = found
    assert (only.memory_id, only.key) == ("new-0", "k1")
    assert only.cosine == pytest.approx(0.87)
    assert only.members == (("m1", 2), ("m2", 3), ("m3", 4))


def test_of_two_that_say_the_same_the_longer_stays_then_the_newer() -> None:
    same = [pair(0, 1, covers=True, covered=True)]
    assert members(plan(candidates(5, 6), same, IDS)) == [["m1", "m0"]]
    assert members(plan(candidates(5, 5), same, IDS)) == [["m0", "m1"]]


def test_a_chain_is_no_group() -> None:
    found = plan(candidates(9, 8, 7), [pair(0, 1), pair(1, 2)], IDS)
    assert members(found) == [["m0", "m1"]]


def test_nothing_that_is_barred_or_merely_similar_is_merged() -> None:
    assert plan(candidates(9, 8), [pair(0, 1, barred=True)], IDS) == ()
    assert plan(candidates(9, 8), [pair(0, 1, covers=False)], IDS) == ()
    assert len(plan(candidates(9, 8), [pair(0, 1)], IDS)) == 1


def test_no_more_groups_than_ids() -> None:
    """J-10: at most 5."""
    found = plan(candidates(*range(12)), [pair(n, n + 1) for n in range(0, 12, 2)], IDS)
    assert len(found) == len(IDS)


@given(
    st.lists(st.integers(1, 50), min_size=2, max_size=12),
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11), st.booleans(), st.booleans()), max_size=40),
)
def test_no_memory_is_in_two_groups_and_each_is_covered(
    sizes: list[int], drawn: list[tuple[int, int, bool, bool]]
) -> None:
    pairs = [pair(a, b, covers=c, covered=d) for a, b, c, d in drawn if a != b]
    found = plan(candidates(*sizes), pairs, IDS)
    merged = [id_ for group in members(found) for id_ in group]
    assert len(merged) == len(set(merged))
    covered = {(p.memory_id, p.other_id) for p in pairs if p.covers}
    covered |= {(p.other_id, p.memory_id) for p in pairs if p.covered}
    assert all((group[0], other) in covered for group in members(found) for other in group[1:])


# Runs


@dataclass
class Memories:
    """Semantic, which does what it is asked and counts it."""

    decays: int = 3
    refused: set[str] = field(default_factory=set)
    fails_at: int = 0
    merged: list[str] = field(default_factory=list)
    undone: list[str] = field(default_factory=list)
    decayed: list[bool] = field(default_factory=list)

    async def decay(self, tenant: str, agent_id: str, day: datetime, *, dry: bool) -> int:
        self.decayed.append(dry)
        return self.decays

    async def undo_decay(self, tenant: str, agent_id: str, day: datetime) -> int:
        restored, self.decays = self.decays, 0
        return restored

    async def similar(
        self, tenant: str, agent_id: str, limit: int, cosine: float
    ) -> tuple[Sequence[Candidate], Sequence[Similar]]:
        assert (limit, cosine) == (30, 0.85)
        await asyncio.sleep(0)
        return candidates(9, 8, 7, 6), [pair(0, 1), pair(2, 3)]

    async def merge(self, tenant: str, agent_id: str, merge: Merge) -> None:
        if self.fails_at and len(self.merged) + 1 == self.fails_at:
            raise DependencyDown
        if merge.key in self.refused:
            raise StateConflict("changed")
        self.merged.append(merge.memory_id)

    async def undo_merge(self, tenant: str, agent_id: str, memory_id: str) -> None:
        if memory_id in self.refused:
            raise StateConflict("replaced")
        self.undone.append(memory_id)


class Rows:
    """Runs, in a dictionary."""

    def __init__(self) -> None:
        self.runs: dict[str, Run] = {}

    async def start(self, tenant: str, run: Run) -> Run:
        return self.runs.setdefault(run.id, run)

    async def settle(self, tenant: str, run: Run) -> Run:
        if not self.runs[run.id].planned:
            self.runs[run.id] = run
        return self.runs[run.id]

    async def save(self, tenant: str, run: Run) -> None:
        self.runs[run.id] = run

    async def get(self, tenant: str, agent_id: str, run_id: str) -> Run | None:
        return self.runs.get(run_id)

    async def page(self, tenant: str, agent_id: str, before: str | None, limit: int) -> list[Run]:
        return sorted(self.runs.values(), key=lambda run: run.id, reverse=True)[:limit]


def consolidation(memories: Memories, rows: Rows | None = None, now: datetime = NOW) -> Consolidation:
    return Consolidation(memories, rows or Rows(), lambda: now)


def outcomes(run: Run) -> list[Outcome]:
    return [merge.outcome for merge in run.merges]


async def test_a_run_decays_and_merges() -> None:
    memories = Memories()
    run = await consolidation(memories).run(TENANT, AGENT, dry=False)
    assert (run.compared, run.decayed, run.finished) == (4, 3, NOW)
    assert outcomes(run) == [Outcome.MERGED] * 2
    assert memories.merged == [merge.memory_id for merge in run.merges]


async def test_a_dry_run_tells_and_changes_nothing() -> None:
    memories = Memories()
    runs = consolidation(memories)
    run = await runs.run(TENANT, AGENT, dry=True)
    assert (outcomes(run), run.decayed, memories.merged) == ([Outcome.PLANNED] * 2, 3, [])
    assert memories.decayed == [True]
    with pytest.raises(StateConflict):
        await runs.undo(TENANT, AGENT, run.id)


async def test_what_changed_meanwhile_is_skipped_and_the_rest_done() -> None:
    run = await consolidation(Memories(refused={"k0"})).run(TENANT, AGENT, dry=False)
    assert sorted(outcomes(run)) == [Outcome.MERGED, Outcome.SKIPPED]


async def test_a_run_that_was_given_up_can_be_taken_back() -> None:
    """J-10: one that a caller asked for and nobody goes on with; what it may have merged unheard, too."""
    memories, rows = Memories(fails_at=2), Rows()
    with pytest.raises(DependencyDown):
        await consolidation(memories, rows).run(TENANT, AGENT, dry=False, run_id="job")
    planned = [merge.memory_id for merge in rows.runs["job"].merges]
    with pytest.raises(StateConflict):
        await consolidation(memories, rows).undo(TENANT, AGENT, "job")
    run = await consolidation(memories, rows, NOW + UNDER_WAY).undo(TENANT, AGENT, "job")
    assert outcomes(run) == [Outcome.UNDONE] * 2
    assert memories.undone == planned
    assert (run.restored, run.finished, run.undone) == (3, NOW + UNDER_WAY, NOW + UNDER_WAY)
    assert await consolidation(memories, rows).run(TENANT, AGENT, dry=False, run_id="job") == run


async def test_two_attempts_at_once_go_on_with_one_plan() -> None:
    """J-2: a worker whose lease was taken over is still at it; what both did can be taken back."""
    memories, rows = Memories(), Rows()
    runs = consolidation(memories, rows)
    done = await asyncio.gather(*(runs.run(TENANT, AGENT, dry=False, run_id="job") for _ in range(2)))
    planned = [merge.memory_id for merge in rows.runs["job"].merges]
    assert [[merge.memory_id for merge in run.merges] for run in done] == [planned] * 2
    assert set(memories.merged) == set(planned)


async def test_a_run_that_was_cut_short_goes_on_with_the_same_plan() -> None:
    """At least once: a job that runs again neither merges twice nor loses sight of a merge."""
    memories, rows = Memories(fails_at=2), Rows()
    runs = consolidation(memories, rows)
    with pytest.raises(DependencyDown):
        await runs.run(TENANT, AGENT, dry=False, run_id="job")
    assert sorted(outcomes(rows.runs["job"])) == [Outcome.MERGED, Outcome.PLANNED]
    with pytest.raises(StateConflict):
        await runs.undo(TENANT, AGENT, "job")
    planned = [merge.memory_id for merge in rows.runs["job"].merges]
    memories.fails_at = 0
    run = await runs.run(TENANT, AGENT, dry=False, run_id="job")
    assert outcomes(run) == [Outcome.MERGED] * 2
    assert memories.merged == planned
    assert len(memories.decayed) == 1
    assert await runs.run(TENANT, AGENT, dry=False, run_id="job") == run
    assert memories.merged == planned


async def test_a_run_is_taken_back_whole() -> None:
    memories = Memories()
    runs = consolidation(memories)
    run = await runs.run(TENANT, AGENT, dry=False)
    undone = await runs.undo(TENANT, AGENT, run.id)
    assert (outcomes(undone), undone.restored, undone.undone) == ([Outcome.UNDONE] * 2, 3, NOW)
    assert sorted(memories.undone) == sorted(memories.merged)
    again = await runs.undo(TENANT, AGENT, run.id)
    assert (again.restored, len(memories.undone)) == (3, 2)


async def test_what_was_replaced_since_is_kept_and_named() -> None:
    memories = Memories()
    runs = consolidation(memories)
    run = await runs.run(TENANT, AGENT, dry=False)
    memories.refused = {run.merges[0].memory_id}
    assert outcomes(await runs.undo(TENANT, AGENT, run.id)) == [Outcome.KEPT, Outcome.UNDONE]
    memories.refused = set()
    assert outcomes(await runs.undo(TENANT, AGENT, run.id)) == [Outcome.UNDONE] * 2


async def test_an_unknown_run_is_not_found() -> None:
    with pytest.raises(NotFound):
        await consolidation(Memories()).undo(TENANT, AGENT, "none")
