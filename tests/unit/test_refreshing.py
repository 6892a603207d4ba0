"""What was derived follows its sources: what is marked, what is asked for, in which order (SPEC J-17)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from services.compactor.adapters.refresh_handler import BAD_PAYLOAD, Changed, RefreshHandler, changed_of
from services.compactor.app.document_ports import JobsOf, no_jobs
from services.compactor.app.documents import Documents
from services.compactor.app.ports import Done, Failed
from services.compactor.app.refreshing import Refreshing, derive_again
from services.compactor.domain.documents import DocumentKey, Head, Kind, attractor_key, summary_key, wiki_key
from services.compactor.domain.ledger import Job, JobState
from services.kit import refreshing as kit
from services.kit.errors import DependencyDown, Internal, NotFound, PalimpsestError, StateConflict
from services.kit.outbox import NewJob

TENANT, AGENT = "acme", "ada"
SUMMARY, OTHER = summary_key(TENANT, AGENT, "c"), summary_key(TENANT, AGENT, "d")
WIKI, ATTRACTOR = wiki_key(TENANT, AGENT, "b"), attractor_key(TENANT, AGENT)


class World:
    """Documents, insights, memories and paths in one; `done` says what was done to them, in order."""

    def __init__(self, *, left: bool = True, error: PalimpsestError | None = None) -> None:
        self.done: list[tuple[str, str]] = []
        self.jobs: list[str] = []
        self.woken = 0
        self.is_left, self.error = left, error
        self.replaced = {"m-replaced"}

    async def of_sources(self, tenant: str, agent_id: str, source_ids: Sequence[str]) -> list[DocumentKey]:
        return [key for source, key in (("c/m1", SUMMARY), ("d/m1", OTHER)) if source in source_ids]

    async def of_summary(self, tenant: str, agent_id: str, conversation_id: str) -> list[DocumentKey]:
        return [ATTRACTOR, WIKI] if conversation_id == "c" else []

    async def mark(self, keys: Sequence[DocumentKey], jobs: JobsOf = no_jobs) -> list[DocumentKey]:
        for key in keys:
            self._note("mark", key, jobs)
        return list(keys)

    async def erase(self, key: DocumentKey, jobs: JobsOf = no_jobs) -> None:
        self._note("erase", key, jobs)

    def _note(self, what: str, key: DocumentKey, jobs: JobsOf) -> None:
        self.done.append((what, key.kind.value))
        self.jobs += [
            job.key for job in jobs(key, Head(version=3, revision=7, stale_revision=7, present=True))
        ]

    async def mark_stale(self, tenant: str, agent_id: str, source_ids: Sequence[str], **how: bool) -> int:
        if self.error:
            raise self.error
        usual = {"again": True, "goals": True, "erased": False}
        said = "".join(f" {name}={value}" for name, value in sorted(how.items()) if value != usual[name])
        if source_ids:
            self.done.append((f"insights{said}", ",".join(source_ids)))
        return len(source_ids)

    async def undo_merge(self, tenant: str, agent_id: str, memory_id: str) -> None:
        if memory_id in self.replaced:
            raise StateConflict
        self.done.append(("apart", memory_id))

    async def left(self, tenant: str, agent_id: str, conversation_id: str) -> bool:
        if self.error:
            raise self.error
        return self.is_left

    def _wake(self) -> None:
        self.woken += 1

    @property
    def refreshing(self) -> Refreshing:
        return Refreshing(cast("Documents", self), self, self, self._wake)

    async def run(self, *jobs: NewJob) -> list[Any]:
        handler = RefreshHandler(self.refreshing, self)
        return list(await handler.run(TENANT, AGENT, [job_of(job.payload) for job in jobs]))


def job_of(payload: Any) -> Job:
    return Job(
        id="j",
        tenant=TENANT,
        agent_id=AGENT,
        type=kit.REFRESH_DERIVED,
        subject="",
        key="k",
        payload=payload if isinstance(payload, bytes) else json.dumps(payload).encode(),
        state=JobState.RUNNING,
        created=datetime(2031, 5, 4, tzinfo=UTC),
        updated=datetime(2031, 5, 4, tzinfo=UTC),
        max_attempts=5,
        due=None,
        revision=1,
    )


async def test_changed_messages_reach_the_summary_and_what_came_from_it() -> None:
    """Each with its job; what came from the summary is out of date as long as that is."""
    world = World()
    assert await world.run(*kit.messages_changed(AGENT, "c", ["m1", "m2"], erased=False)) == [Done()]
    assert world.done == [
        ("mark", "summary"),
        ("mark", "attractor"),
        ("mark", "wiki"),
        ("insights again=False", "summary/c"),
        ("insights", "c/m1,c/m2"),
    ]
    assert world.jobs == [
        f"refresh_summary/{AGENT}/c/stale/7",
        f"update_attractor/{AGENT}/{AGENT}/stale/7",
        f"write_wiki/{AGENT}/b/stale/7",
    ]


async def test_of_erased_messages_no_summary_or_page_is_left_to_be_read() -> None:
    """D-2."""
    world = World()
    await world.run(*kit.messages_changed(AGENT, "c", ["m1"], erased=True))
    assert world.done[:2] == [("erase", "wiki"), ("erase", "summary")]
    assert world.done[-1] == ("insights erased=True", "c/m1")
    assert world.jobs[:2] == [f"write_wiki/{AGENT}/b/stale/7", f"refresh_summary/{AGENT}/c/stale/7"]


async def test_messages_that_nothing_came_from_change_no_document() -> None:
    world = World()
    await world.run(*kit.messages_changed(AGENT, "c", ["unknown"], erased=False))
    assert world.done == [("insights", "c/unknown")]


@pytest.mark.parametrize("left", [True, False])
async def test_another_path_matters_where_the_summary_is_of_the_one_before(left: bool) -> None:
    """E-3: not where the summary was refreshed before the job was done."""
    world = World(left=left)
    assert await world.run(*kit.path_changed(AGENT, "c")) == [Done()]
    assert (("mark", "summary") in world.done) is left
    assert (f"refresh_summary/{AGENT}/c/stale/7" in world.jobs) is left


async def test_the_path_of_an_erased_conversation_is_no_failure() -> None:
    world = World(error=NotFound("conversation", "c"))
    assert await world.run(*kit.path_changed(AGENT, "c")) == [Done()]
    assert world.done == []


async def test_memories_reach_what_was_reflected_and_merged() -> None:
    """J-10, J-11: a merge that was replaced since is past."""
    world = World()
    await world.run(*kit.memories_changed(AGENT, ["m1"]), *kit.memories_replaced(AGENT, ["m2"]))
    await world.run(*kit.merges_outdated(AGENT, ["m-replaced", "m3"]))
    assert world.done == [("insights", "m1"), ("insights goals=False", "m2"), ("apart", "m3")]


async def test_a_changed_summary_reaches_what_was_reflected() -> None:
    """Attractor, graph and pages follow each of its versions by themselves."""
    world = World()
    await world.run(*kit.summary_changed(AGENT, "c"))
    assert world.done == [("insights", "summary/c")]
    assert world.woken, "what was put into the outbox is handed over at once"


async def test_an_outage_defers_and_another_failure_fails_one_job() -> None:
    """J-3."""
    with pytest.raises(DependencyDown):
        await World(error=DependencyDown()).run(*kit.memories_changed(AGENT, ["m1"]))
    (outcome,) = await World(error=Internal()).run(*kit.memories_changed(AGENT, ["m1"]))
    assert isinstance(outcome, Failed)
    assert not outcome.hopeless


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"[]",
        b'"x"',
        {},
        {"source": "weather"},
        {"source": "messages", "ids": ["m1"]},
        {"source": "path"},
        {"source": "memories", "ids": "m1"},
        {"source": "memories", "merged": [1]},
        {"source": "memories", "replaced": {}},
    ],
)
async def test_a_payload_that_says_nothing_is_hopeless(payload: Any) -> None:
    handler = RefreshHandler(World().refreshing, World())
    assert await handler.run(TENANT, AGENT, [job_of(payload)]) == [Failed(error=BAD_PAYLOAD, hopeless=True)]


def test_what_is_put_down_is_what_is_read() -> None:
    """However many ids there are, each job stays within what a payload may hold (J-1)."""
    ids = [f"{n:0128}" for n in range(kit.MOST_IDS + 1)]
    jobs = kit.messages_changed(AGENT, "c" * 128, ids, erased=True)
    read = [changed_of(json.dumps(job.payload).encode()) for job in jobs]
    assert [one for part in read if part for one in part.ids] == ids
    assert all(len(json.dumps(job.payload).encode()) <= 256 * 1024 for job in jobs)
    assert len({job.key for job in jobs}) == 2
    (path,) = kit.path_changed(AGENT, "c")
    assert changed_of(json.dumps(path.payload).encode()) == Changed(
        source=kit.Source.PATH, conversation_id="c"
    )
    assert kit.memories_changed(AGENT, []) == []


def test_every_kind_of_document_has_a_job_that_derives_it_again() -> None:
    """The jobs themselves are tested above; a new kind must have one."""
    keys = {Kind.SUMMARY: SUMMARY, Kind.WIKI: WIKI, Kind.ATTRACTOR: ATTRACTOR}
    assert set(keys) == set(Kind)
    types = {kind: [job.type for job in derive_again(key, Head(revision=1))] for kind, key in keys.items()}
    assert types == {
        Kind.SUMMARY: ["refresh_summary"],
        Kind.WIKI: ["write_wiki"],
        Kind.ATTRACTOR: ["update_attractor"],
    }
