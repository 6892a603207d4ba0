"""The LangGraph store: what LangGraph's own in-memory store does, kept for good, and found by meaning."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

import palimpsest
from palimpsest import models
from palimpsest.integrations.bridge import WrongClientError
from palimpsest.integrations.langgraph import PalimpsestStore
from palimpsest.integrations.originals import COLLECTION as ORIGINALS
from tests.integration.framework_suite import FrameworkSuite, framework_suite

USER = ("users", "marta")
LABELS = st.sampled_from(["a", "b", "a b", "é"])
NAMESPACES = st.lists(LABELS, min_size=1, max_size=3).map(tuple)
KEYS = st.sampled_from(["k", "l", "K/ö"])
LEAVES = (
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["x", "y", "1"]) | st.just(10**17 + 1)
)
VALUES = st.dictionaries(st.sampled_from(["f", "g"]), LEAVES | st.lists(LEAVES, max_size=2), max_size=2)
FILTERS = st.none() | st.dictionaries(
    st.sampled_from(["f", "g"]),
    LEAVES | st.fixed_dictionaries({"$ne": LEAVES}) | st.fixed_dictionaries({"$eq": LEAVES}),
    max_size=2,
)
PATHS = st.lists(LABELS | st.just("*"), max_size=2).map(tuple)
CONDITIONS = st.lists(st.builds(MatchCondition, st.sampled_from(["prefix", "suffix"]), PATHS), max_size=2)
PUTS = st.builds(PutOp, NAMESPACES, KEYS, st.none() | VALUES, st.none() | st.just(False), st.none())
READS = (
    st.builds(GetOp, NAMESPACES, KEYS)
    | st.builds(SearchOp, st.lists(LABELS, max_size=2).map(tuple), FILTERS, st.just(1000))
    | st.builds(
        ListNamespacesOp,
        CONDITIONS.map(tuple),
        st.none() | st.integers(1, 3),
        st.integers(0, 4),
        st.integers(0, 2),
    )
)


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FrameworkSuite]:
    with framework_suite(tmp_path_factory.mktemp("suite") / "data") as made:
        yield made


@pytest.fixture(scope="module")
def client(suite: FrameworkSuite) -> Iterator[palimpsest.Client]:
    with suite.client("store") as made:
        yield made


@pytest.fixture(scope="module")
def numbers() -> Iterator[int]:
    return count()


@pytest.fixture
def store(client: palimpsest.Client, numbers: Iterator[int]) -> PalimpsestStore:
    """A store that no other test has."""
    return PalimpsestStore(client, collection=f"store-{next(numbers)}")


def plain(result: Any) -> Any:
    """A result without times and without an order that the interface doesn't promise."""
    if isinstance(result, list):
        return (
            sorted(map(repr, map(plain, result))) if result and not isinstance(result[0], tuple) else result
        )
    if hasattr(result, "value"):
        return {"namespace": result.namespace, "key": result.key, "value": result.value}
    return result


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=st.lists(st.lists(PUTS | READS, max_size=6), max_size=4), last=st.lists(READS, max_size=6))
def test_it_answers_as_langgraphs_own_store(
    client: palimpsest.Client, numbers: Iterator[int], batches: list[list[Any]], last: list[Any]
) -> None:
    """One difference is ours: a namespace that holds nothing is not listed."""
    ours, theirs = PalimpsestStore(client, collection=f"store-{next(numbers)}"), InMemoryStore()
    for batch in [*batches, last]:
        expected = [None if isinstance(op, PutOp) else reference(theirs, op) for op in batch]
        theirs.batch([op for op in batch if isinstance(op, PutOp)])
        assert list(map(plain, ours.batch(batch))) == list(map(plain, expected))


def reference(store: InMemoryStore, op: Any) -> Any:
    """What LangGraph's store answers, without the namespaces that reads and deletions leave in it."""
    for name in [name for name, items in store._data.items() if not items]:
        del store._data[name]
    return store.batch([op])[0]


def test_pages_of_a_search_are_parts_of_one_order(store: PalimpsestStore) -> None:
    for n in range(7):
        store.put(("n", str(n % 2)), f"k{n}", {"n": n, "even": n % 2 == 0})
    assert [item.value["n"] for item in store.search(("n",))] == [6, 5, 4, 3, 2, 1, 0]
    pages = [store.search(("n",), limit=3, offset=offset) for offset in (0, 3, 6, 9)]
    assert [[item.key for item in page] for page in pages] == [
        ["k6", "k5", "k4"],
        ["k3", "k2", "k1"],
        ["k0"],
        [],
    ]
    even = store.search(("n",), filter={"even": True}, limit=2, offset=1)
    assert [item.value["n"] for item in even] == [4, 2]
    assert store.search(("n",), limit=0) == []
    by_meaning = [store.search(("n",), query="number", limit=4, offset=offset) for offset in (0, 4)]
    assert sorted(item.key for page in by_meaning for item in page) == [f"k{n}" for n in range(7)]


def test_operators_of_filters(store: PalimpsestStore) -> None:
    for n, day in enumerate(["2026-01-05", "2026-02-01", "2026-03-01"]):
        store.put(("o",), str(n), {"n": n, "day": day, "at": {"city": "Oslo", "n": n}})
    store.put(("o",), "none", {"other": True})

    def found(**filter_: Any) -> list[str]:
        return sorted(item.key for item in store.search(("o",), filter=filter_))

    assert found(n={"$gt": 0}) == ["1", "2"]
    assert found(n={"$gte": 1, "$lt": 2}) == ["1"]
    assert found(n={"$lte": 0}) == ["0"]
    assert found(day={"$gte": "2026-02-01"}) == ["1", "2"]
    assert found(at={"city": "Oslo", "n": {"$ne": 1}}) == ["0", "2"]
    assert found(at={"city": "Bergen"}) == []
    with pytest.raises(ValueError, match="unknown operator"):
        found(n={"$near": 1})


@pytest.mark.parametrize(
    "value",
    [
        {"ö": "Zoë 🚲", "": [], "nested": {"a": [1, 2.5, None, True, {"b": "c"}]}},
        {"big": 2**80, "small": -(10**17) - 1, "float": 0.1, "one": 1, "one_point": 1.0},
        {"b": 1, "a": 2, "text": 'line\nline\t"quoted" \\ \u2028'},
        {},
        {"long": "word " * 40_000},
    ],
)
def test_a_value_comes_back_as_it_was_put(store: PalimpsestStore, value: dict[str, Any]) -> None:
    store.put(("exact",), "k", value)
    item = store.get(("exact",), "k")
    assert item is not None
    assert item.value == value
    assert list(item.value) == list(value)
    assert [type(one) for one in item.value.values()] == [type(one) for one in value.values()]
    assert (item.namespace, item.key) == (("exact",), "k")
    (found,) = store.search(("exact",))
    assert found.value == value


def test_what_is_put_again_keeps_when_it_was_created(store: PalimpsestStore) -> None:
    store.put(USER, "k", {"n": 1})
    first = store.get(USER, "k")
    store.put(USER, "k", {"n": 2})
    second = store.get(USER, "k")
    assert first is not None
    assert second is not None
    assert second.value == {"n": 2}
    assert second.created_at == first.created_at
    assert second.updated_at > first.updated_at


def test_a_search_ranks_by_meaning(store: PalimpsestStore) -> None:
    store.put(USER, "drink", {"text": "Marta takes oat milk in her coffee", "n": 1})
    store.put(USER, "bike", {"text": "The bicycle has a flat tyre", "n": 2})
    store.put(("users", "nils"), "drink", {"text": "Nils drinks black tea", "n": 3})
    hits = store.search(USER, query="Which beverage does she order in the morning?")
    assert [hit.key for hit in hits] == ["drink", "bike"]
    assert hits[0].score is not None
    everybody = store.search(("users",), query="a hot beverage")
    assert {(hit.namespace[1], hit.key) for hit in everybody[:2]} == {("marta", "drink"), ("nils", "drink")}
    scores = [hit.score for hit in everybody]
    assert scores == sorted(scores, key=lambda score: -(score or 0))
    assert [hit.key for hit in store.search(("users",), query="beverage", filter={"n": 2})] == ["bike"]
    store.put(USER, "bike", {"text": "She has a cup of espresso after lunch", "n": 2})
    assert store.search(USER, query="espresso after lunch", limit=1)[0].key == "bike"
    store.delete(USER, "bike")
    assert [hit.key for hit in store.search(USER, query="espresso after lunch")] == ["drink"]


def test_what_is_not_indexed_follows_without_a_score(store: PalimpsestStore) -> None:
    store.put(USER, "secret", {"text": "the violin is in the attic"}, index=False)
    store.put(USER, "shown", {"text": "the piano is in the cellar"})
    store.put(USER, "part", {"text": "violin", "about": {"place": "garage"}}, index=["about.place"])
    hits = store.search(USER, query="where is the violin?")
    assert {hit.key: hit.score is None for hit in hits} == {"secret": True, "shown": False, "part": False}
    assert hits[-1].key == "secret"
    assert store.search(USER, query="garage")[0].key == "part"
    store.put(USER, "shown", {"text": "the piano is in the cellar"}, index=False)
    assert {hit.key for hit in store.search(USER, query="piano") if hit.score is not None} == {"part"}


def test_fields_of_a_store_are_indexed_by_default(client: palimpsest.Client, numbers: Iterator[int]) -> None:
    store = PalimpsestStore(client, collection=f"store-{next(numbers)}", fields=["notes[*].text"])
    store.put(USER, "a", {"title": "violin", "notes": [{"text": "a boat"}, {"text": "a harbour"}]})
    store.put(USER, "b", {"title": "harbour"})
    hits = store.search(USER, query="harbour")
    assert [(hit.key, hit.score is None) for hit in hits] == [("a", False), ("b", True)]


def test_items_that_contradict_each_other_are_all_found(store: PalimpsestStore) -> None:
    """A store keeps what it is given: a judge (S-7) may end the older memory, never the item."""
    store.put(USER, "old", {"text": "Marta lives in Oslo"})
    store.put(USER, "new", {"text": "Marta moved and lives in Bergen now"})
    for _ in range(2):
        assert {hit.key for hit in store.search(USER, query="Where does Marta live?")} == {"old", "new"}


def test_items_are_in_nobody_elses_recall(client: palimpsest.Client, store: PalimpsestStore) -> None:
    store.put(USER, "k", {"text": "the lighthouse keeper collects stamps"})
    assert store.search(USER, query="lighthouse")[0].score is not None
    marta = client.resolve_contact("mailto:marta@example.org")
    for scope in ("", marta.id):
        assert not [
            hit for hit in client.recall("lighthouse", contact_id=scope) if "lighthouse" in hit.memory.value
        ]
    scopes = [contact.id for contact in client.contacts() if contact.display_name == "users / marta"]
    found = [hit for scope in scopes for hit in client.recall("lighthouse", contact_id=scope)]
    assert any("lighthouse" in hit.memory.value for hit in found)


def test_a_forgotten_item_leaves_no_memory(client: palimpsest.Client, store: PalimpsestStore) -> None:
    store.put(USER, "k", {"text": "first"})
    store.put(USER, "k", {"text": "second"})

    def kept() -> list[str]:
        prefix = store._memory_key("")
        return [
            memory.value
            for contact in client.contacts()
            for memory in client.memories(contact_id=contact.id, key_prefix=prefix, include_superseded=True)
        ]

    assert kept() == ["first", "second"]
    store.delete(USER, "k")
    assert kept() == []
    store.delete(USER, "k")
    assert store.get(USER, "k") is None


def test_what_it_does_not_take(store: PalimpsestStore) -> None:
    with pytest.raises(NotImplementedError):
        store.put(USER, "k", {"a": 1}, ttl=5)
    with pytest.raises(NotImplementedError):
        store.batch([PutOp(USER, "k", {"a": 1}), PutOp(USER, "l", {"a": 1}, ttl=5)])
    for wrong in ((), ("",), ("langgraph",), ("a.b",)):
        with pytest.raises(InvalidNamespaceError):
            store.put(wrong, "k", {"a": 1})
    for wrong in ((), ("a\x1fb",), ("x" * 1024,)):
        with pytest.raises(ValueError, match="a namespace has"):
            store.batch([PutOp(USER, "k", {"a": 1}), PutOp(wrong, "k", {"a": 1})])
    assert store.get(USER, "k") is None, "a batch that is refused writes nothing"
    with pytest.raises(ValueError, match="JSON"):
        store.put(USER, "k", {"a": object()})
    with pytest.raises(palimpsest.InvalidFieldError):
        store.put(USER, "k", {"a": "\0"})
    store.put(USER, "k", {"a": 1}, ttl=None)
    assert store.get(USER, "k") is not None


class Failing(palimpsest.AsyncClient):
    """Whose next memory is not written."""

    broken = True

    async def remember(self, *args: Any, **kwargs: Any) -> models.Remembered:
        if self.broken:
            raise palimpsest.UnavailableError
        return await super().remember(*args, **kwargs)


async def test_a_put_that_broke_off_is_finished_by_another(suite: FrameworkSuite) -> None:
    async with Failing(suite.target, api_key=suite.key, agent="broken") as client:
        await client.create_agent()
        store = PalimpsestStore(client)
        for text in ("a canoe", "a kayak"):
            client.broken = True
            with pytest.raises(palimpsest.UnavailableError):
                await store.aput(USER, "k", {"text": text})
            (found,) = await store.asearch(USER, query="boat")
            assert found.value == {"text": text}, "the record is what counts"
            client.broken = False
            await store.aput(USER, "k", {"text": text})
            (found,) = await store.asearch(USER, query=text)
            assert found.score is not None


def test_a_reader_reads(suite: FrameworkSuite) -> None:
    with suite.client("read") as writer:
        made = writer.create_key("reader", agent_ids=["read"])
        with palimpsest.Client(suite.target, api_key=made.secret, agent="read") as reader:
            store = PalimpsestStore(reader)
            assert store.get(USER, "k") is None
            assert store.search(USER, query="canoe") == store.list_namespaces() == []
            PalimpsestStore(writer).put(USER, "k", {"text": "a canoe"})
            PalimpsestStore(writer).search(USER, query="wait until it is indexed")
            assert store.get(USER, "k") is not None
            assert [item.key for item in store.search(USER, query="canoe")] == ["k"]
            assert store.list_namespaces() == [USER]
            with pytest.raises(palimpsest.NotAllowedError):
                store.put(USER, "k", {"text": "a kayak"})


async def test_plain_code_and_event_loops_see_the_same(suite: FrameworkSuite) -> None:
    with suite.client("both") as blocking:
        store = PalimpsestStore(blocking)
        await store.aput(USER, "k", {"text": "a canoe"})
        assert (await store.aget(USER, "k")) == store.get(USER, "k") is not None
        async with suite.async_client("both") as own:
            other = PalimpsestStore(own)
            assert [item.key for item in await other.asearch(USER, query="canoe")] == ["k"]
            assert await other.alist_namespaces(prefix=("users",)) == [USER]
            with pytest.raises(WrongClientError):
                other.get(USER, "k")
        await store.adelete(USER, "k")
        assert await store.aget(USER, "k") is None
        assert store.list_namespaces() == []
        assert ORIGINALS not in {one.name for one in blocking.collections()}
