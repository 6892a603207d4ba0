"""The vector index port: one suite over all adapters (SPEC S-3, S-16, S-17).

The one for a Qdrant server runs against the server that PALIMPSEST_TEST_QDRANT_URL names, else against a
stand-in (tests/qdrant_server.py).
"""

from __future__ import annotations

import asyncio
import math
import random
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.kit.errors import DependencyDown
from services.memory.semantic.adapters.vectors_edge import EdgeVectorIndex
from services.memory.semantic.adapters.vectors_memory import MemoryVectorIndex
from services.memory.semantic.app.vectors import VectorIndex
from services.memory.semantic.domain.vectors import (
    NO_FILTERS,
    Bucket,
    ContentClass,
    Filters,
    VectorModel,
    VectorPoint,
    pack,
    passes,
    point_id,
)
from tests.qdrant_server import qdrant_place

MODEL = VectorModel(revision="test-1", dimension=4)
ANNA = Bucket(tenant="acme", agent="anna", content=ContentClass.MEMORY)
X, Y, Z = pack([1, 0, 0, 0]), pack([0, 1, 0, 0]), pack([0, 0, 1, 0])

Opener = Callable[[Path], Coroutine[Any, Any, VectorIndex]]
Backend = Callable[[], AbstractAsyncContextManager[Opener]]


@asynccontextmanager
async def in_memory() -> AsyncIterator[Opener]:
    async def opener(_directory: Path) -> VectorIndex:
        return MemoryVectorIndex(MODEL)

    yield opener


@asynccontextmanager
async def embedded() -> AsyncIterator[Opener]:
    async def opener(directory: Path) -> VectorIndex:
        return await EdgeVectorIndex.open(directory / "vectors", MODEL)

    yield opener


@asynccontextmanager
async def server() -> AsyncIterator[Opener]:
    async with qdrant_place() as place:

        async def opener(_directory: Path) -> VectorIndex:
            return await place.open(MODEL)

        yield opener


@pytest.fixture(params=[in_memory, embedded, server])
async def opener(request: pytest.FixtureRequest) -> AsyncIterator[Opener]:
    backend: Backend = request.param
    async with backend() as chosen:
        yield chosen


@pytest.fixture
async def index(opener: Opener, tmp_path: Path) -> AsyncIterator[VectorIndex]:
    opened = await opener(tmp_path)
    yield opened
    await opened.close()


def point(item_id: str, vector: bytes = X, bucket: Bucket = ANNA, **fields: Any) -> VectorPoint:
    return VectorPoint(bucket=bucket, item_id=item_id, vector=vector, **fields)


async def found(index: VectorIndex, bucket: Bucket = ANNA, filters: Filters = NO_FILTERS) -> list[str]:
    return [hit.item_id for hit in await index.search(bucket, X, filters=filters, limit=100)]


async def test_search_ranks_by_cosine_whatever_the_length(index: VectorIndex) -> None:
    near, far = pack([3, 4, 0, 0]), pack([0.1, 0.9, 0, 0])
    await index.upsert([point("far", far), point("same", pack([7, 0, 0, 0])), point("near", near)])
    hits = await index.search(ANNA, pack([0.5, 0, 0, 0]), limit=10)
    assert [hit.item_id for hit in hits] == ["same", "near", "far"]
    expected = [1.0, 0.6, 0.1 / math.hypot(0.1, 0.9)]
    assert [hit.cosine for hit in hits] == pytest.approx(expected, abs=1e-5)


async def test_equal_scores_are_ordered_by_item_id(index: VectorIndex) -> None:
    await index.upsert([point(name) for name in "cab"])
    assert await found(index) == ["a", "b", "c"]


async def test_an_index_that_is_there_has_lost_nothing(index: VectorIndex) -> None:
    """SV-2."""
    await index.upsert([point("a")])
    assert await found(index) == ["a"]
    assert not index.lost
    assert not await index.restore()
    assert await found(index) == ["a"]


async def test_limit_is_an_upper_bound(index: VectorIndex) -> None:
    await index.upsert([point("x", X), point("y", Y), point("z", Z)])
    assert [hit.item_id for hit in await index.search(ANNA, X, limit=1)] == ["x"]
    assert len(await index.search(ANNA, X, limit=50)) == 3


@pytest.mark.parametrize(
    "other",
    [
        Bucket(tenant="acme2", agent="anna", content=ContentClass.MEMORY),
        Bucket(tenant="acme", agent="bob", content=ContentClass.MEMORY),
        Bucket(tenant="acme", agent="anna", content=ContentClass.MESSAGE),
        Bucket(tenant="acme", agent="anna", content=ContentClass.PAST),
        Bucket(tenant="acme", agent="anna", content=ContentClass.DOCUMENT),
        Bucket(tenant="acme6:anna", agent="a", content=ContentClass.MEMORY),
    ],
)
async def test_a_bucket_never_sees_another(index: VectorIndex, other: Bucket) -> None:
    """S-3: tenant, agent and content class separate, even for the same item id, contact and vector."""
    await index.upsert(
        [
            point("same", X, contact_id="c", conversation_id="1"),
            point("same", Y, other, contact_id="c", conversation_id="1"),
            point("theirs", X, other, contact_id="c", conversation_id="1"),
        ]
    )
    assert await found(index) == ["same"]
    for narrow in (
        Filters(contact_ids=frozenset("c"), conversation_id="1"),
        Filters(contact_ids=frozenset("c")),
        Filters(conversation_id="1"),
    ):
        assert await found(index, filters=narrow) == ["same"]
        assert await found(index, other, narrow) == ["theirs", "same"]
    assert (await index.ids(ANNA, limit=10)).item_ids == ("same",)
    assert await index.similarities(ANNA, X, ["same", "theirs"]) == pytest.approx({"same": 1.0})
    assert await index.similarities(other, X, ["same", "theirs"]) == pytest.approx({"same": 0, "theirs": 1})
    await index.delete(ANNA, ["theirs"])
    await index.delete_where(ANNA)
    assert await found(index) == []
    assert await found(index, other) == ["theirs", "same"]


@pytest.mark.parametrize(("tenant", "agent"), [("", "a"), ("t", "")])
def test_no_bucket_without_tenant_and_agent(tenant: str, agent: str) -> None:
    """S-3: a search that isn't confined cannot be written down."""
    with pytest.raises(ValueError, match="tenant"):
        Bucket(tenant=tenant, agent=agent, content=ContentClass.MEMORY)


def test_point_ids_differ_wherever_the_parts_differ() -> None:
    """S-3: ids are UUIDv5 of the parts, which cannot be cut differently into the same whole."""
    memory = ContentClass.MEMORY
    ids = {
        point_id(Bucket(tenant="ab", agent="c", content=memory), "d"),
        point_id(Bucket(tenant="a", agent="bc", content=memory), "d"),
        point_id(Bucket(tenant="a", agent="b", content=memory), "cd"),
        point_id(Bucket(tenant="ab", agent="c", content=ContentClass.MESSAGE), "d"),
        point_id(Bucket(tenant="ab", agent="c", content=ContentClass.PAST), "d"),
    }
    assert len(ids) == 5
    assert {i.version for i in ids} == {5}
    assert point_id(ANNA, "x") == point("x").id


async def test_contact_scope(index: VectorIndex) -> None:
    """S-5: a contact's bucket and the agent-wide one, never another's."""
    await index.upsert([point("1", contact_id="c1"), point("2", contact_id="c2"), point("wide")])

    async def scope(*contacts: str, wide: bool = True) -> list[str]:
        return await found(index, filters=Filters(contact_ids=frozenset(contacts), agent_wide=wide))

    assert await found(index) == ["1", "2", "wide"]
    assert await scope("c1") == ["1", "wide"]
    assert await scope("c1", "c2", wide=False) == ["1", "2"]
    assert await scope() == ["wide"]
    assert await scope(wide=False) == await scope("", wide=False) == []
    assert await index.count(ANNA, Filters(contact_ids=frozenset(), agent_wide=False)) == 0


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(), ["a", "b", "c"]),
        (Filters(conversation_id="v1"), ["a", "b"]),
        (Filters(kinds=frozenset(("fact", "event"))), ["a", "b"]),
        (Filters(kinds=frozenset(("task",))), []),
        (Filters(roles=frozenset(("user",))), ["a", "c"]),
        (Filters(authors=frozenset(("Zoë", "nobody"))), ["b"]),
        (Filters(since=2.0), ["b", "c"]),
        (Filters(until=2.0), ["a"]),
        (Filters(since=1.5, until=3.0), ["b"]),
        (Filters(conversation_id="v1", roles=frozenset(("user",)), since=0.5), ["a"]),
    ],
)
async def test_filters(index: VectorIndex, filters: Filters, expected: list[str]) -> None:
    await index.upsert(
        [
            point("a", kind="fact", role="user", author="ann", conversation_id="v1", time=1.0),
            point("b", kind="event", role="assistant", author="Zoë", conversation_id="v1", time=2.0),
            point("c", kind="instruction", role="user", author="ann", conversation_id="v2", time=3.0),
        ]
    )
    assert await found(index, filters=filters) == expected
    assert await index.count(ANNA, filters) == len(expected)
    await index.delete_where(ANNA, filters)
    assert await index.count() == 3 - len(expected)


MICROSECOND = 1e-6
LATER = 1_935_662_400.0  # a moment of 2031, at which a double still tells microseconds apart


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        (LATER - 1, []),
        (LATER - MICROSECOND, []),
        (LATER, ["ends", "open"]),
        (LATER + 5 - MICROSECOND, ["ends", "open"]),
        (LATER + 5, ["next", "open"]),
        (LATER + 1e9, ["next", "open"]),
    ],
)
async def test_what_held_at_a_moment(index: VectorIndex, moment: float, expected: list[str]) -> None:
    """S-8: from its time on, and until its end, if it has one; in whatever class it is."""
    for bucket in (ANNA, ANNA.of(ContentClass.PAST)):
        await index.upsert(
            [
                point("ends", bucket=bucket, time=LATER, ends=LATER + 5),
                point("next", bucket=bucket, time=LATER + 5),
                point("open", bucket=bucket, time=LATER, contact_id="c"),
                point("never", bucket=bucket, time=LATER, ends=LATER),
            ]
        )
        then = Filters(valid_at=moment)
        assert await found(index, bucket, then) == expected
        assert await index.count(bucket, then) == len(expected)
        narrow = Filters(valid_at=moment, contact_ids=frozenset("c"), agent_wide=False, since=LATER)
        assert await found(index, bucket, narrow) == [name for name in expected if name == "open"]
        assert await found(index, bucket) == ["ends", "never", "next", "open"], "else nothing is left out"


async def test_an_end_that_is_taken_back_is_gone(index: VectorIndex) -> None:
    """S-8: as with an undone supersession."""
    await index.upsert([point("a", time=1.0, ends=2.0)])
    assert await found(index, filters=Filters(valid_at=3.0)) == []
    await index.upsert([point("a", time=1.0)])
    assert await found(index, filters=Filters(valid_at=3.0)) == ["a"]


async def test_an_upsert_replaces_vector_and_fields(index: VectorIndex) -> None:
    await index.upsert([point("a", Y, kind="fact"), point("a", X, kind="event")])
    assert (await index.search(ANNA, X, limit=1))[0].cosine == pytest.approx(1)
    await index.upsert([point("a", Z, kind="task")])
    assert (await index.search(ANNA, Z, limit=1))[0].cosine == pytest.approx(1)
    assert await found(index, filters=Filters(kinds=frozenset(("event",)))) == []
    assert await index.count() == 1


async def test_deleting_is_idempotent(index: VectorIndex) -> None:
    await index.upsert([point("a"), point("b")])
    await index.delete(ANNA, ["a", "never"])
    await index.delete(ANNA, ["a"])
    await index.delete(ANNA, [])
    assert await found(index) == ["b"]


async def test_similarities_are_of_stored_items_only(index: VectorIndex) -> None:
    await index.upsert([point("x", X), point("y", Y)])
    assert await index.similarities(ANNA, X, ["y", "gone", "x", "x"]) == pytest.approx({"x": 1, "y": 0})
    assert await index.similarities(ANNA, X, []) == {}


async def test_a_zero_vector_is_like_nothing(index: VectorIndex) -> None:
    await index.upsert([point("x", X), point("zero", pack([0, 0, 0, 0]))])
    assert [hit.cosine for hit in await index.search(ANNA, X, limit=2)] == pytest.approx([1, 0])
    assert await index.similarities(ANNA, pack([0, 0, 0, 0]), ["x"]) == pytest.approx({"x": 0})


@pytest.mark.parametrize(
    "bad", [b"", pack([1, 0, 0]), X + b"\0", pack([1, 0, math.nan, 0]), pack([math.inf] * 4)]
)
async def test_a_bad_vector_is_refused_and_nothing_stored(index: VectorIndex, bad: bytes) -> None:
    with pytest.raises(ValueError, match="vector"):
        await index.upsert([point("good"), point("bad", bad)])
    with pytest.raises(ValueError, match="vector"):
        await index.search(ANNA, bad, limit=1)
    assert await index.count() == 0
    await index.upsert([point("good")])
    assert await index.count() == 1


async def test_a_limit_below_one_is_refused(index: VectorIndex) -> None:
    with pytest.raises(ValueError, match="limit"):
        await index.search(ANNA, X, limit=0)


async def test_ids_lists_each_item_once_under_writes(index: VectorIndex) -> None:
    stay = {f"item-{n}" for n in range(500)}
    await index.upsert([point(item_id) for item_id in stay])
    listed: list[str] = []
    after, rounds = "", 0
    while after or not rounds:
        page = await index.ids(ANNA, after=after, limit=60)
        assert 0 < len(page.item_ids) <= 60
        listed += page.item_ids
        after, rounds = page.next, rounds + 1
        await index.upsert([point(f"new-{rounds}-{n}") for n in range(3)])
    assert len(listed) == len(set(listed))
    assert stay <= set(listed)
    empty = Bucket(tenant="nobody", agent="x", content=ContentClass.MEMORY)
    assert await index.ids(empty, limit=5) == await index.ids(empty, after="", limit=1)
    assert (await index.ids(empty, limit=5)).item_ids == ()


async def test_odd_names_are_kept_as_they_are(index: VectorIndex) -> None:
    odd = ['a"b\\', "名前 🙂", "x/../y", "'; --", "\x00\n"]
    bucket = Bucket(tenant=odd[0], agent=odd[1], content=ContentClass.MESSAGE)
    await index.upsert([point(name, X, bucket, author=name, conversation_id=name) for name in odd])
    assert await found(index, bucket) == sorted(odd)
    for name in odd:
        narrow = Filters(authors=frozenset((name,)), conversation_id=name)
        assert await found(index, bucket, narrow) == [name]


async def test_a_new_index_asks_to_be_reconciled_and_is_empty(index: VectorIndex) -> None:
    assert index.model == MODEL
    assert not index.opened_clean
    assert await index.count() == 0
    await index.flush()


async def test_a_closed_index_is_unavailable(opener: Opener, tmp_path: Path) -> None:
    index = await opener(tmp_path)
    await index.upsert([point("a")])
    await index.close()
    await index.close()
    for call in (index.count(), index.search(ANNA, X, limit=1), index.upsert([point("b")]), index.flush()):
        with pytest.raises(DependencyDown):
            await call


SETS = st.frozensets(st.sampled_from(["a", "b", "c"]), max_size=2)
FILTERS = st.builds(
    Filters,
    contact_ids=st.none() | SETS,
    agent_wide=st.booleans(),
    conversation_id=st.none() | st.sampled_from(["a", "b"]),
    kinds=SETS,
    roles=SETS,
    authors=SETS,
    since=st.none() | st.integers(0, 9).map(float),
    until=st.none() | st.integers(0, 9).map(float),
    valid_at=st.none() | st.integers(0, 12).map(float),
)


@pytest.fixture(scope="module")
def crowd() -> list[VectorPoint]:
    rng = random.Random(4)

    def name() -> str:
        return rng.choice(["", "a", "b", "c"])

    return [
        point(
            f"{n:03}",
            pack([rng.gauss(0, 1) for _ in range(4)]),
            Bucket(tenant="acme", agent=rng.choice(["anna", "bob"]), content=ContentClass.MEMORY),
            contact_id=name(),
            conversation_id=name(),
            kind=name(),
            role=name(),
            author=name(),
            time=float(rng.randrange(10)),
            ends=rng.choice([None, float(rng.randrange(13))]),
        )
        for n in range(400)
    ]


@pytest.mark.parametrize("backend", [embedded, server])
async def test_an_engine_answers_as_the_exact_one_does(
    backend: Backend, tmp_path: Path, crowd: list[VectorPoint]
) -> None:
    exact = MemoryVectorIndex(MODEL)
    async with backend() as opener:
        index = await opener(tmp_path)
        await exact.upsert(crowd)
        await index.upsert(crowd)
        rng = random.Random(5)
        for _ in range(50):
            vector = pack([rng.gauss(0, 1) for _ in range(4)])
            filters = Filters(
                contact_ids=rng.choice([None, frozenset("a"), frozenset("bc")]),
                roles=frozenset(rng.sample("abc", rng.randrange(2))),
                since=rng.choice([None, 3.0]),
                valid_at=rng.choice([None, 4.0, 8.0]),
            )
            expected = await exact.search(ANNA, vector, filters=filters, limit=7)
            hits = await index.search(ANNA, vector, filters=filters, limit=7)
            assert [hit.item_id for hit in hits] == [hit.item_id for hit in expected]
            assert [hit.cosine for hit in hits] == pytest.approx([h.cosine for h in expected], abs=1e-5)
        await index.close()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(filters=FILTERS)
def test_every_filter_means_what_the_domain_says(
    filters: Filters, crowd: list[VectorPoint], shared: Callable[[Filters], set[str]]
) -> None:
    """S-3, S-5: the engine's conditions let through exactly what `passes` does, within the bucket."""
    expected = {p.item_id for p in crowd if p.bucket == ANNA and passes(filters, p)}
    assert shared(filters) == expected


@pytest.fixture(scope="module", params=[embedded, server])
def shared(request: pytest.FixtureRequest, crowd: list[VectorPoint]) -> Any:
    """Searches of one index that holds the crowd, run from ordinary functions."""
    with tempfile.TemporaryDirectory() as folder, asyncio.Runner() as runner:
        stack = AsyncExitStack()
        backend: AbstractAsyncContextManager[Opener] = request.param()
        opener = runner.run(stack.enter_async_context(backend))
        index = runner.run(opener(Path(folder)))
        runner.run(index.upsert(crowd))

        async def search(filters: Filters) -> set[str]:
            return {hit.item_id for hit in await index.search(ANNA, X, filters=filters, limit=1000)}

        yield lambda filters: runner.run(search(filters))
        runner.run(index.close())
        runner.run(stack.aclose())
