"""A conversation's summary goes on from the one before, whatever happens meanwhile (J-5 to J-7, J-17)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from services.compactor.adapters.summary_handler import (
    BATCH,
    MOST_IN_BATCH,
    BatchHandler,
    SummaryHandler,
    batch_of,
    size_of,
)
from services.compactor.app.conversation_summaries import WITHOUT_VECTORS, ConversationSummaries
from services.compactor.app.document_ports import JobsOf, Unreadable
from services.compactor.app.documents import Documents
from services.compactor.app.ports import Done, Failed
from services.compactor.app.summary_ports import Batch, Stretch
from services.compactor.domain.covering import Lengths
from services.compactor.domain.documents import (
    SCHEMAS,
    Document,
    DocumentKey,
    Draft,
    Head,
    Kind,
    Snapshot,
    erased,
    marked_stale,
    written,
)
from services.compactor.domain.extractive import NAME
from services.compactor.domain.ledger import Job, JobState
from services.compactor.domain.nearness import NO_VECTORS, Vectors
from services.compactor.domain.rolling import Reached, from_body
from services.compactor.domain.themes import Corpus
from services.compactor.domain.turning import Placed
from services.kit.errors import DependencyDown, Internal, NotFound, PalimpsestError, StateConflict
from services.kit.outbox import NewJob
from tests.unit.test_extractive import WORK

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Store:
    """Documents of one key. `race` writes between a look and a put; `broken` can't be read."""

    def __init__(self) -> None:
        self.versions: list[Draft] = []
        self.state = Head()
        self.jobs: list[NewJob] = []
        self.race = 0
        self.broken = False

    async def head(self, key: DocumentKey) -> Head:
        return self.state

    async def current(self, key: DocumentKey) -> Snapshot | None:
        if self.broken:
            raise Unreadable
        return Snapshot(head=self.state, document=self._document(key)) if self.versions else None

    async def put(
        self, key: DocumentKey, draft: Draft, based_on: Head, jobs: Sequence[NewJob] = ()
    ) -> Document:
        if self.race:
            self.race -= 1
            self._write(draft, self.state)
        self._write(draft, based_on)
        self.jobs += jobs
        return self._document(key)

    async def erase(self, key: DocumentKey, jobs: JobsOf) -> None:
        self.versions.clear()
        self.state = erased(self.state)
        self.jobs += jobs(key, self.state)

    def _write(self, draft: Draft, based_on: Head) -> None:
        self.state = written(self.state, based_on)
        self.versions.append(draft)
        self.broken = False

    def _document(self, key: DocumentKey) -> Document:
        draft = self.versions[-1]
        return Document(
            key=key,
            version=self.state.version,
            created=NOW,
            schema=SCHEMAS[Kind.SUMMARY],
            engine=draft.engine,
            source_ids=tuple(draft.source_ids),
            body=draft.body,
        )


class Path:
    """A conversation's active path, of as many of WORK's messages as are said."""

    def __init__(self, said: int) -> None:
        self.said = said
        self.follows = True
        self.asked: list[Reached] = []
        self.error: PalimpsestError | None = None

    async def holds(self, agent_id: str, conversation_id: str, reached: Reached) -> bool:
        return self.follows and 1 <= reached.depth <= self.said

    async def after(self, agent_id: str, conversation_id: str, reached: Reached) -> Stretch:
        self.asked.append(reached)
        if self.error:
            raise self.error
        first = reached.depth if self.follows else 0
        new = [
            Placed(message_id=f"m{n}", sequence=n, time="", said=WORK[n - 1])
            for n in range(first + 1, self.said + 1)
        ]
        last = new[-1] if new else None
        return Stretch(
            title="billing",
            before=(),
            messages=new,
            follows=self.follows,
            tokens=20 * len(new),
            reached=Reached(message_id=last.message_id, sequence=last.sequence, depth=last.sequence)
            if last
            else reached,
        )


class Model:
    """Vectors of one direction; none while it is away."""

    def __init__(self) -> None:
        self.away = False
        self.asked: list[str] = []

    async def vectors(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return NO_VECTORS if self.away else dict.fromkeys(texts, (1.0, 0.0))


class Index:
    """Notes what it is told."""

    def __init__(self) -> None:
        self.recorded: list[tuple[str, int, list[str]]] = []
        self.forgotten: list[str] = []
        self.chosen: list[tuple[str, int, int, str, int]] = []
        self.spreads: list[str] = []

    async def corpus(self, tenant: str, agent_id: str, besides: str, names: Sequence[str]) -> Corpus:
        return Corpus()

    async def record(
        self, tenant: str, agent_id: str, conversation_id: str, up_to: int, names: Sequence[str]
    ) -> None:
        self.recorded.append((conversation_id, up_to, list(names)))

    async def forget(self, tenant: str, agent_id: str, conversation_id: str) -> None:
        self.forgotten.append(conversation_id)

    async def choose(self, tenant: str, least_messages: int, batch: int, root: str, place: int) -> Batch:
        self.chosen.append((tenant, least_messages, batch, root, place))
        return Batch(chosen=0, left=0)

    async def spread(self, root: str) -> int:
        self.spreads.append(root)
        return 1


class World:
    def __init__(self, said: int = 6, *, rank_by_vectors: bool = False) -> None:
        self.store, self.path, self.model, self.index = Store(), Path(said), Model(), Index()
        self.summaries = ConversationSummaries(
            cast("Documents", self.store),
            self.path,
            self.model,
            self.index,
            Lengths(),
            follow_ups,
            rank_by_vectors=rank_by_vectors,
        )

    async def refresh(self) -> int:
        return (await self.summaries.refresh("acme", "a", "c")).version

    @property
    def newest(self) -> Any:
        return from_body(self.store.versions[-1].body)


def follow_ups(agent_id: str, conversation_id: str, version: int, to_sequence: int) -> Sequence[NewJob]:
    key = f"follow/{version}/{to_sequence}"
    return [NewJob(type="follow", agent_id=agent_id, subject=conversation_id, key=key)]


async def test_the_next_version_goes_on_from_the_one_before() -> None:
    """J-6: only what is new is read; the version names it, and the version that it went on from."""
    world = World(said=6)
    assert await world.refresh() == 1
    assert world.store.versions[0].engine == NAME
    assert list(world.store.versions[0].source_ids) == [f"c/m{n}" for n in range(1, 7)]
    world.path.said = 10
    assert await world.refresh() == 2
    assert world.path.asked[-1].depth == 6
    assert list(world.store.versions[1].source_ids) == ["c@1", "c/m7", "c/m8", "c/m9", "c/m10"]
    assert world.newest.message_count == 10
    assert world.newest.token_count == 200
    assert "48,200,113" in world.newest.summary.markdown(), "what was known is kept"
    assert world.index.recorded[-1][:2] == ("c", 10)
    assert [job.key for job in world.store.jobs] == ["follow/1/6", "follow/2/10"]


async def test_done_twice_it_writes_once() -> None:
    world = World()
    assert [await world.refresh(), await world.refresh()] == [1, 1]
    assert len(world.store.versions) == 1
    assert world.index.recorded[0] == world.index.recorded[1], "should the first have died before it recorded"


async def test_an_empty_conversation_has_no_summary() -> None:
    world = World(said=0)
    assert await world.refresh() == 0
    assert not world.store.versions


async def test_another_branch_is_summed_up_from_its_root() -> None:
    """E-3: nothing is carried over from the branch that was left."""
    world = World(said=10)
    await world.refresh()
    world.path.follows, world.path.said = False, 2
    assert await world.refresh() == 2
    assert world.newest.message_count == 2
    assert "BILLING_DUAL_WRITE" not in world.newest.summary.markdown()
    assert list(world.store.versions[1].source_ids) == ["c/m1", "c/m2"]


@pytest.mark.parametrize("cause", ["stale", "unreadable"])
async def test_what_is_stale_or_unreadable_is_derived_from_everything(cause: str) -> None:
    """J-17: and then it is no longer stale."""
    world = World(said=4)
    await world.refresh()
    if cause == "stale":
        world.store.state = marked_stale(world.store.state)
    else:
        world.store.broken = True
    assert await world.refresh() == 2
    assert world.path.asked[-1] == Reached()
    assert world.newest.message_count == 4
    assert not world.store.state.stale


async def test_a_stale_summary_of_nothing_is_erased() -> None:
    """J-17, D-2: all of its messages are gone."""
    world = World(said=4)
    await world.refresh()
    world.store.state = marked_stale(world.store.state)
    world.path.said = 0
    assert await world.refresh() == 0
    assert not world.store.versions
    assert world.index.forgotten == ["c"]


async def test_a_worker_that_was_overtaken_looks_again() -> None:
    world = World()
    world.store.race = 1
    assert await world.refresh() == 1, "what the other wrote holds everything"
    assert len(world.store.versions) == 1
    crowded = World()
    crowded.store.race = 1_000
    crowded.path.follows = False
    with pytest.raises(StateConflict):
        await crowded.refresh()


async def test_without_the_embedder_words_decide_and_the_document_says_so() -> None:
    """J-16."""
    world = World()
    world.model.away = True
    await world.refresh()
    assert world.store.versions[0].engine == WITHOUT_VECTORS
    assert world.newest.summary.statements()


async def test_sentences_are_chosen_by_vectors_only_where_that_is_wanted() -> None:
    """J-16: it costs the embedder more than it was seen to gain."""
    plain, ranked = World(), World(rank_by_vectors=True)
    await plain.refresh()
    await ranked.refresh()
    assert WORK[0].text not in plain.model.asked
    assert WORK[0].text in ranked.model.asked
    assert ranked.newest.summary.statements()


# The handlers


def job(payload: bytes, tenant: str = "acme", key: str = "k") -> Job:
    return Job(
        id="job",
        tenant=tenant,
        agent_id="a",
        type="refresh_summary",
        subject="",
        key=key,
        payload=payload,
        state=JobState.RUNNING,
        max_attempts=5,
        created=NOW,
        updated=NOW,
        due=None,
        revision=1,
    )


async def outcome(world: World, payload: bytes = b'{"conversation_id":"c"}') -> Done | Failed:
    (found,) = await SummaryHandler(world.summaries).run("acme", "a", [job(payload)])
    return found


async def test_a_job_tells_which_version_it_wrote() -> None:
    assert await outcome(World()) == Done(result_ids=("summary/c/1",), engine=NAME)
    assert await outcome(World(said=0)) == Done()


async def test_a_bad_job_is_hopeless_and_an_erased_conversation_is_done() -> None:
    failed = await outcome(World(), b"{}")
    assert isinstance(failed, Failed)
    assert failed.hopeless
    world = World()
    world.path.error = NotFound("conversation", "c")
    assert await outcome(world) == Done()
    world.path.error = Internal()
    again = await outcome(world)
    assert isinstance(again, Failed)
    assert not again.hopeless
    world.path.error = DependencyDown()
    with pytest.raises(DependencyDown):
        await outcome(world)


async def test_the_schedules_job_is_spread_over_tenants_and_a_tenants_job_chooses() -> None:
    """J-5: J-3: a selector only chooses."""
    index, woken = Index(), list[None]()
    handler = BatchHandler(index, lambda: woken.append(None))
    await handler.run("system", "*", [job(b'{"schedule":"summarize"}', key="tick")])
    assert (index.spreads, index.chosen) == (["tick"], [])
    await handler.run("acme", "*", [job(b"{}", key="tick/acme/0")])
    await handler.run("acme", "*", [job(b'{"root":"tick/acme/0","place":3,"left":400}', key="x")])
    assert index.chosen == [("acme", 4, 20, "tick/acme/0", 0), ("acme", 4, 100, "tick/acme/0", 3)]
    assert len(woken) == 3


def test_a_batch_grows_with_what_is_left() -> None:
    assert [size_of(left) for left in (1, 80, 100, 400, 10_000)] == [BATCH, BATCH, 25, 100, MOST_IN_BATCH]
    assert batch_of(job(b"no JSON")) == ("k", 0, BATCH)
    assert batch_of(job(b'{"left":"many"}')) == ("k", 0, BATCH)
