"""Collections and records over every database (SPEC W-8)."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.kit.errors import InvalidField, LimitExceeded, NotFound, StateConflict, VersionConflict
from services.kit.sql import SqlDatabase, execute_many, fetch
from services.kit.times import to_micros
from services.memory.episodic.adapters.sql.agents import SqlAgents
from services.memory.episodic.adapters.sql.records import SqlRecords
from services.memory.episodic.domain.model import Agent
from services.memory.episodic.domain.records import (
    MAX_COLLECTIONS,
    MAX_REINDEXED_RECORDS,
    CollectionKey,
    Document,
    FieldType,
    IndexedField,
    Stamp,
    indexed_values,
    time_key,
)
from services.memory.episodic.domain.records_filters import (
    All,
    AnyOf,
    Bound,
    Equals,
    Filter,
    FilterValue,
    Order,
    Position,
    Prefix,
    Query,
    Range,
)

RACERS = 64
MIB = 1024 * 1024
FIELDS = (
    IndexedField(path="b", type=FieldType.BOOL),
    IndexedField(path="deep.n", type=FieldType.NUMBER),
    IndexedField(path="s", type=FieldType.STRING),
    IndexedField(path="t", type=FieldType.TIME),
)
MONTH = (IndexedField(path="month", type=FieldType.NUMBER),)


def key(name: str = "things", *, tenant: str = "acme", agent_id: str = "a") -> CollectionKey:
    return CollectionKey(tenant=tenant, agent_id=agent_id, name=name)


def document(**value: Any) -> Document:
    return Document(json=json.dumps(value), value=value)


def text(value: str) -> FilterValue:
    return FilterValue(type=FieldType.STRING, stored=value)


def number(value: float) -> FilterValue:
    return FilterValue(type=FieldType.NUMBER, stored=float(value))


async def populate(database: SqlDatabase) -> None:
    for tenant, agent_id in itertools.product(("acme", "other"), ("a", "b")):
        agent = Agent(id=agent_id, display_name="", system_prompt="", create_time=1)
        await SqlAgents(database).create(tenant, agent)


@pytest.fixture
async def store(episodic_sql: SqlDatabase) -> SqlRecords:
    await populate(episodic_sql)
    return SqlRecords(episodic_sql, max_bytes=MIB)


async def find(
    store: SqlRecords,
    of: CollectionKey,
    filter_: Filter | None = None,
    order: Order | None = None,
    page: int = 1000,
) -> list[str]:
    """The ids of all pages of a query."""
    ids: list[str] = []
    after: Position | None = None
    while True:
        query = Query(filter=filter_, order=order or Order(), after=after, limit=page)
        found = await store.query(of, query)
        assert len(found.records) <= page
        ids += [record.stamp.id for record in found.records]
        if found.last is None:
            return ids
        assert found.records
        after = found.last


async def indexed(database: SqlDatabase, of: CollectionKey) -> dict[str, dict[str, Any]]:
    rows = await database.read(
        lambda: fetch(
            "SELECT id, field, text_value, number_value FROM record_fields"
            " WHERE tenant = ? AND agent_id = ? AND collection = ?",
            of.tenant,
            of.agent_id,
            of.name,
        )
    )
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        value = row["number_value"] if row["text_value"] is None else row["text_value"]
        found.setdefault(row["id"], {})[row["field"]] = value
    return found


async def test_collections(store: SqlRecords) -> None:
    made = await store.put_collection(key(), FIELDS, 10)
    assert (made.name, made.fields, made.create_time, made.update_time) == ("things", FIELDS, 10, 10)
    assert await store.put_collection(key(), FIELDS, 20) == made
    assert await store.get_collection(key()) == made
    changed = await store.put_collection(key(), MONTH, 30)
    assert (changed.fields, changed.create_time, changed.update_time) == (MONTH, 10, 30)
    for name in ("zoo", "Zoo", "ant"):
        await store.put_collection(key(name), (), 1)
    names, after = [], None
    while True:
        page = await store.list_collections("acme", "a", limit=3, after=after)
        names += [collection.name for collection in page.items]
        if (after := page.last) is None:
            break
    assert names == ["Zoo", "ant", "things", "zoo"]
    await store.delete_collection(key())
    for call in (store.get_collection(key()), store.delete_collection(key())):
        with pytest.raises(NotFound):
            await call


async def test_what_does_not_exist_is_not_found(store: SqlRecords) -> None:
    await store.put_collection(key(), FIELDS, 1)
    query = Query(filter=None, order=Order(), after=None, limit=10)
    for of, kind in ((key("x"), "collection"), (key(agent_id="x"), "agent"), (key(tenant="x"), "agent")):
        for call in (
            store.get_collection(of),
            store.delete_collection(of),
            store.put(of, "r", document(), 1, None),
            store.get(of, "r"),
            store.delete(of, "r", None),
            store.query(of, query),
        ):
            with pytest.raises(NotFound) as caught:
                await call
            assert caught.value.metadata["resource"] == kind
    for call in (store.get(key(), "r"), store.delete(key(), "r", None)):
        with pytest.raises(NotFound) as caught:
            await call
        assert caught.value.metadata["resource"] == "record"
    for call in (
        store.put_collection(key(agent_id="x"), (), 1),
        store.list_collections("acme", "x", limit=1, after=None),
    ):
        with pytest.raises(NotFound):
            await call


async def test_records_are_kept_as_given_and_their_versions_go_on(store: SqlRecords) -> None:
    await store.put_collection(key(), FIELDS, 1)
    given = Document(json='{ "s":"x",\n "deep":{"n":1.50} }', value={"s": "x", "deep": {"n": 1.5}})
    assert await store.put(key(), "r", given, 10, 0) == Stamp(
        id="r", version=1, create_time=10, update_time=10
    )
    assert (await store.get(key(), "r")).json == given.json
    assert await store.put(key(), "r", document(s="y"), 20, 1) == Stamp(
        id="r", version=2, create_time=10, update_time=20
    )
    assert await find(store, key(), Equals(field="s", value=text("y"))) == ["r"]
    assert await find(store, key(), Equals(field="s", value=text("x"))) == []
    assert await find(store, key(), Equals(field="deep.n", value=number(1.5))) == []
    await store.delete(key(), "r", 2)
    assert await find(store, key()) == []
    assert (await store.put(key(), "r", document(), 30, 0)).version == 3
    assert (await store.put(key(), "another", document(), 30, 0)).version == 3
    assert (await store.get(key(), "r")).stamp.create_time == 30


async def test_compare_and_set_refuses_another_version(store: SqlRecords) -> None:
    await store.put_collection(key(), FIELDS, 1)
    for expected, current in ((1, "0"), (2**62, "0")):
        with pytest.raises(VersionConflict) as caught:
            await store.put(key(), "r", document(), 1, expected)
        assert caught.value.metadata == {"current_version": current}
    await store.put(key(), "r", document(), 1, None)
    for call in (store.put(key(), "r", document(), 1, 0), store.delete(key(), "r", 2)):
        with pytest.raises(VersionConflict) as caught:
            await call
        assert caught.value.metadata == {"current_version": "1"}
    assert (await store.get(key(), "r")).stamp.version == 1


async def test_collections_of_other_names_agents_and_tenants_are_others(store: SqlRecords) -> None:
    keys = [key(), key("more"), key(agent_id="b"), key(tenant="other")]
    for index, of in enumerate(keys):
        await store.put_collection(of, FIELDS, 1)
        await store.put(of, "r", document(s="same", n=index), 1, 0)
        await store.put(of, f"only-{index}", document(s="same"), 1, 0)
    same = Equals(field="s", value=text("same"))
    for index, of in enumerate(keys):
        assert await find(store, of, same) == [f"only-{index}", "r"]
        assert await find(store, of, same, Order(field="s")) == [f"only-{index}", "r"]
        assert json.loads((await store.get(of, "r")).json)["n"] == index
    await store.delete(keys[0], "r", None)
    await store.delete_collection(keys[1])
    assert [await find(store, of, same) for of in (keys[0], keys[2], keys[3])] == [
        ["only-0"],
        ["only-2", "r"],
        ["only-3", "r"],
    ]
    listed = await store.list_collections("acme", "a", limit=10, after=None)
    assert [collection.name for collection in listed.items] == ["things"]
    assert len((await store.list_collections("other", "a", limit=10, after=None)).items) == 1


async def test_a_change_of_fields_indexes_existing_records(
    store: SqlRecords, episodic_sql: SqlDatabase
) -> None:
    fields = (IndexedField(path="n", type=FieldType.NUMBER), IndexedField(path="s", type=FieldType.STRING))
    await store.put_collection(key(), fields[:1], 1)
    documents = {f"r{n:02}": document(n=n, s=f"s{n % 3}" if n % 2 else n) for n in range(40)}
    for record_id, one in documents.items():
        await store.put(key(), record_id, one, 1, 0)
    with pytest.raises(InvalidField, match="not an indexed field of the collection: s"):
        await find(store, key(), Equals(field="s", value=text("s1")))
    await store.put_collection(key(), fields, 2)
    assert await find(store, key(), Equals(field="s", value=text("s1"))) == [
        f"r{n:02}" for n in range(40) if n % 2 and n % 3 == 1
    ]
    assert await indexed(episodic_sql, key()) == {
        record_id: indexed_values(one.value, fields) for record_id, one in documents.items()
    }
    retyped = (IndexedField(path="s", type=FieldType.NUMBER),)
    await store.put_collection(key(), retyped, 3)
    assert await indexed(episodic_sql, key()) == {f"r{n:02}": {"s": float(n)} for n in range(0, 40, 2)}
    await store.put_collection(key(), (), 4)
    assert await indexed(episodic_sql, key()) == {}
    assert (await store.get(key(), "r01")).stamp.version == 1


async def test_a_text_that_is_too_long_to_index_is_refused(store: SqlRecords) -> None:
    await store.put_collection(key(), FIELDS, 1)
    longest, over = "é" * 512, "é" * 512 + "x"
    await store.put(key(), "fits", document(s=longest, other=over), 1, None)
    assert await find(store, key(), Equals(field="s", value=text(longest))) == ["fits"]
    with pytest.raises(InvalidField, match="1024 bytes"):
        await store.put(key(), "over", document(s=over), 1, None)
    assert await find(store, key()) == ["fits"]
    with pytest.raises(StateConflict) as caught:
        await store.put_collection(key(), (IndexedField(path="other", type=FieldType.STRING),), 2)
    assert caught.value.metadata == {"resource": "record", "id": "fits"}
    assert (await store.get_collection(key())).fields == FIELDS


async def test_the_longest_names_and_texts_fit_the_index(store: SqlRecords) -> None:
    """PostgreSQL refuses index entries over 2,704 bytes."""
    path = ".".join(["p" * 64, "q" * 64, "r" * 64, "s" * 61])
    longest = "".join(chr(0x20000 + n) for n in range(256))
    of = key("n" * 64)
    record_id = "".join(f"{n:02x}" for n in range(64))
    await store.put_collection(of, (IndexedField(path=path, type=FieldType.STRING),), 1)
    a, b, c, d = path.split(".")
    await store.put(of, record_id, document(**{a: {b: {c: {d: longest}}}}), 1, None)
    assert await find(store, of, Equals(field=path, value=text(longest))) == [record_id]
    assert await find(store, of, Prefix(field=path, text=longest[:-1]), Order(field=path)) == [record_id]


async def test_a_change_of_fields_over_too_many_records_is_refused(
    store: SqlRecords, episodic_sql: SqlDatabase
) -> None:
    await store.put_collection(key(), (), 1)

    async def insert(first: int, count: int) -> None:
        rows = [("acme", "a", "things", f"r{n}", 1, 1, 1, 2, "{}") for n in range(first, first + count)]
        await episodic_sql.write(
            lambda: execute_many("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        )

    await insert(0, MAX_REINDEXED_RECORDS)
    await store.put_collection(key(), MONTH, 2)
    await insert(MAX_REINDEXED_RECORDS, 1)
    with pytest.raises(StateConflict) as caught:
        await store.put_collection(key(), (), 3)
    assert caught.value.metadata == {"limit": "10000", "actual": "10001"}
    assert (await store.put_collection(key(), MONTH, 4)).update_time == 2


async def test_an_agent_has_a_limited_number_of_collections(
    store: SqlRecords, episodic_sql: SqlDatabase
) -> None:
    rows = [("acme", "a", f"c{n}", "[]", 1, 1) for n in range(MAX_COLLECTIONS - 1)]
    await episodic_sql.write(
        lambda: execute_many(
            "INSERT INTO record_collections (tenant, agent_id, name, fields, create_time, update_time)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            rows,
        )
    )
    results = await asyncio.gather(
        *(store.put_collection(key(f"new{n}"), (), 1) for n in range(4)), return_exceptions=True
    )
    assert sum(isinstance(result, LimitExceeded) for result in results) == 3
    await store.put_collection(key("c0"), MONTH, 2)
    await store.put_collection(key("new", agent_id="b"), (), 1)


async def test_a_page_holds_so_many_bytes_and_one_record_at_least(
    store: SqlRecords, episodic_sql: SqlDatabase
) -> None:
    await store.put_collection(key(), FIELDS, 1)
    for index, size in enumerate([10, 10, 10, 300, 10, 10]):
        await store.put(key(), f"r{index}", document(x="é" * size), 1, None)
    small = SqlRecords(episodic_sql, max_bytes=200)
    pages, after = [], None
    while True:
        page = await small.query(key(), Query(filter=None, order=Order(), after=after, limit=100))
        pages.append([record.stamp.id for record in page.records])
        if (after := page.last) is None:
            break
    assert pages == [["r0", "r1"], ["r2"], ["r3"], ["r4", "r5"]]


async def test_of_64_creators_of_a_record_one_wins(
    episodic_sql_pair: tuple[SqlDatabase, SqlDatabase],
) -> None:
    await populate(episodic_sql_pair[0])
    stores = [SqlRecords(database, max_bytes=MIB) for database in episodic_sql_pair]
    await stores[0].put_collection(key(), FIELDS, 1)
    results = await asyncio.gather(
        *(stores[n % 2].put(key(), "r", document(s=f"w{n}"), 1, 0) for n in range(RACERS)),
        return_exceptions=True,
    )
    won = [n for n, result in enumerate(results) if isinstance(result, Stamp)]
    assert len(won) == 1
    assert sum(isinstance(result, VersionConflict) for result in results) == RACERS - 1
    assert await find(stores[1], key(), Equals(field="s", value=text(f"w{won[0]}"))) == ["r"]
    versions = await asyncio.gather(
        *(stores[n % 2].put(key(), "r", document(s=f"w{n}"), 1, None) for n in range(RACERS))
    )
    assert sorted(stamp.version for stamp in versions) == list(range(2, RACERS + 2))


async def test_what_is_indexed_follows_records_and_fields_that_change_at_once(
    episodic_sql_pair: tuple[SqlDatabase, SqlDatabase],
) -> None:
    await populate(episodic_sql_pair[0])
    stores = [SqlRecords(database, max_bytes=MIB) for database in episodic_sql_pair]
    await stores[0].put_collection(key(), (), 1)
    documents = {f"r{n % 20}": document(month=n, s="x") for n in range(60)}

    async def put(n: int) -> None:
        await stores[n % 2].put(key(), f"r{n % 20}", document(month=n, s="x"), 1, None)

    async def declare(fields: tuple[IndexedField, ...]) -> None:
        await stores[1].put_collection(key(), fields, 1)

    await asyncio.gather(
        *(put(n) for n in range(20)), declare(FIELDS), *(put(n) for n in range(20, 60)), declare(MONTH)
    )
    final = (await stores[0].get_collection(key())).fields
    records = {i: json.loads((await stores[0].get(key(), i)).json) for i in documents}
    assert await indexed(episodic_sql_pair[0], key()) == {
        i: values for i, value in records.items() if (values := indexed_values(value, final))
    }


async def test_an_order_that_changed_its_type_does_not_go_on(store: SqlRecords) -> None:
    await store.put_collection(key(), MONTH, 1)
    for n in range(3):
        await store.put(key(), f"r{n}", document(month=n), 1, None)
    query = Query(filter=None, order=Order(field="month"), after=None, limit=1)
    last = (await store.query(key(), query)).last
    assert last == Position(value=0.0, id="r0")
    await store.put_collection(key(), (IndexedField(path="month", type=FieldType.STRING),), 2)
    with pytest.raises(InvalidField, match="page_token"):
        await store.query(key(), Query(filter=None, order=Order(field="month"), after=last, limit=1))
    with pytest.raises(InvalidField, match="order_by"):
        await store.query(key(), Query(filter=None, order=Order(field="x"), after=None, limit=1))


@pytest.mark.parametrize(
    "order",
    [Order(), Order(descending=True), Order(field="month"), Order(field="month", descending=True)],
    ids=str,
)
async def test_pages_give_each_match_once_while_others_are_put(store: SqlRecords, order: Order) -> None:
    await store.put_collection(key(), MONTH, 1)
    base = {f"base-{n:02}": document(month=n % 7) if n % 5 else document() for n in range(40)}
    for record_id, one in base.items():
        await store.put(key(), record_id, one, 1, None)
    got: list[str] = []
    after: Position | None = None
    for page in itertools.count():
        query = Query(filter=None, order=order, after=after, limit=6)
        found, *_ = await asyncio.gather(
            store.query(key(), query),
            *(
                store.put(key(), f"{place}-{page}", document(month=page % 9), 1, None)
                for place in ("a", "base-20", "z")
            ),
        )
        got += [record.stamp.id for record in found.records]
        if (after := found.last) is None:
            break
    assert len(got) == len(set(got))
    assert sorted(i for i in got if i in base) == sorted(base)


# Random records and queries against a plain evaluation in Python.

TEXTS = [
    "",
    "a",
    "ab",
    "b",
    "A",
    "é",
    "%",
    "_",
    "a%",
    "a\U0010ffff",
    "\U0010ffff",
    "\U0010ffff" * 2,
    "\ud7ff",
    "\ue000",
]
TIMES = {
    "2026-03-01T12:00:00Z": datetime(2026, 3, 1, 12, tzinfo=UTC),
    "2026-03-01t14:00:00.000+02:00": datetime(2026, 3, 1, 12, tzinfo=UTC),
    "2026-03-01T12:00:00.000001Z": datetime(2026, 3, 1, 12, 0, 0, 1, tzinfo=UTC),
    "1969-12-31T23:59:59Z": datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC),
    "9999-12-31T23:59:59.999999Z": datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
}
NUMBERS = [0, -0.0, 1, 1.0, -1, 0.5, 1e300, -1e300, 2**53, 2**53 + 1, 10**20]
json_values = st.sampled_from([*TEXTS, *TIMES, *NUMBERS, True, False, None, [], {}, "2026-13-01T00:00:00Z"])


def records() -> st.SearchStrategy[dict[str, dict[str, Any]]]:
    deep = st.fixed_dictionaries({}, optional={"n": st.sampled_from(NUMBERS) | json_values})
    content = st.fixed_dictionaries(
        {},
        optional={
            "s": st.sampled_from(TEXTS) | json_values,
            "deep": deep | json_values,
            "b": st.booleans() | json_values,
            "t": st.sampled_from(sorted(TIMES)) | json_values,
        },
    )
    return st.dictionaries(st.sampled_from("abcdefgABCDEFG.:-_"), content, min_size=4, max_size=14)


Plain = tuple[Filter, Callable[[dict[str, Any]], bool]]  # a filter, and what it means


def typed(field: str, content: dict[str, Any]) -> Any:
    """The value of a field in Python's own terms; None if it isn't of the declared type."""
    if field == "deep.n":
        deep = content.get("deep")
        value = deep.get("n") if isinstance(deep, dict) else None
        return float(value) if type(value) in (int, float) else None
    value = content.get(field)
    match field:
        case "s":
            return value if isinstance(value, str) else None
        case "b":
            return value if isinstance(value, bool) else None
        case _:
            return TIMES.get(value) if isinstance(value, str) else None


def filter_value(value: Any) -> FilterValue:
    match value:
        case bool():
            return FilterValue(type=FieldType.BOOL, stored=float(value))
        case float():
            return FilterValue(type=FieldType.NUMBER, stored=value)
        case str():
            return FilterValue(type=FieldType.STRING, stored=value)
        case _:
            return FilterValue(type=FieldType.TIME, stored=time_key(to_micros(value)))


field_and_values = st.one_of(
    st.tuples(st.just("s"), st.lists(st.sampled_from(TEXTS), min_size=2, max_size=2)),
    st.tuples(st.just("b"), st.lists(st.booleans(), min_size=2, max_size=2)),
    st.tuples(st.just("deep.n"), st.lists(st.sampled_from(NUMBERS).map(float), min_size=2, max_size=2)),
    st.tuples(st.just("t"), st.lists(st.sampled_from(sorted(TIMES.values())), min_size=2, max_size=2)),
)


@st.composite
def comparisons(draw: st.DrawFn) -> Plain:
    field, (one, other) = draw(field_and_values)
    kind = draw(st.sampled_from(["equals", "range", "range", "prefix"]))
    if kind == "prefix":
        start = draw(st.sampled_from(["", "a", "a", "\U0010ffff", "\ud7ff", "a\U0010ffff"]))
        return Prefix(
            field="s", text=start
        ), lambda content: (typed("s", content) or "").startswith(start) and typed("s", content) is not None
    if kind == "equals":
        return Equals(field=field, value=filter_value(one)), lambda content: typed(field, content) == one
    lower, upper = draw(
        st.sampled_from([(">", None), (">=", None), (None, "<"), (">=", "<="), (">", "<"), (">=", "<")])
    )
    filter_ = Range(
        field=field,
        lower=Bound(value=filter_value(one), inclusive=lower == ">=") if lower else None,
        upper=Bound(value=filter_value(other), inclusive=upper == "<=") if upper else None,
    )

    def within(content: dict[str, Any]) -> bool:
        value = typed(field, content)
        if value is None:
            return False
        above = lower is None or (value >= one if lower == ">=" else value > one)
        return bool(above and (upper is None or (value <= other if upper == "<=" else value < other)))

    return filter_, within


def combined(kind: type[All] | type[AnyOf], parts: Sequence[Plain]) -> Plain:
    decide = all if kind is All else any
    meanings = [meaning for _, meaning in parts]
    return kind(filters=tuple(filter_ for filter_, _ in parts)), lambda content: decide(
        meaning(content) for meaning in meanings
    )


plain_filters = st.recursive(
    comparisons(),
    lambda inner: st.builds(combined, st.sampled_from([All, AnyOf]), st.lists(inner, min_size=1, max_size=3)),
    max_leaves=8,
)
orders = st.builds(Order, field=st.sampled_from(["", "s", "deep.n", "b", "t"]), descending=st.booleans())
collections = itertools.count()


def expected(
    stored: dict[str, dict[str, Any]], meaning: Callable[[dict[str, Any]], bool], order: Order
) -> list[str]:
    matching = [i for i in sorted(stored, reverse=order.descending) if meaning(stored[i])]
    if not order.field:
        return matching
    valued = [i for i in matching if typed(order.field, stored[i]) is not None]
    valued.sort(key=lambda i: typed(order.field, stored[i]), reverse=order.descending)
    if order.descending:  # a stable sort keeps equal ones in their order, reversed or not
        assert all(
            a > b
            for a, b in itertools.pairwise(valued)
            if typed(order.field, stored[a]) == typed(order.field, stored[b])
        )
    return valued + [i for i in matching if i not in valued]


QueryPlan = tuple[Plain | None, Order, int]  # the filter, the order, the size of a page


async def check_queries(
    store: SqlRecords, stored: dict[str, dict[str, Any]], plans: Sequence[QueryPlan]
) -> None:
    of = key(f"example-{next(collections)}")
    await store.put_collection(of, FIELDS, 1)
    await asyncio.gather(*(store.put(of, i, document(**content), 1, None) for i, content in stored.items()))
    for plain, order, page in plans:
        filter_, meaning = plain or (None, lambda _: True)
        assert await find(store, of, filter_, order, page) == expected(stored, meaning, order)


def given_queries(examples: int) -> Callable[[Any], Any]:
    plans = st.lists(
        st.tuples(st.none() | plain_filters | plain_filters, orders, st.integers(1, 5)),
        min_size=1,
        max_size=6,
    )

    def decorate(test: Any) -> Any:
        tuned = settings(
            max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
        )
        return tuned(given(stored=records(), plans=plans)(test))

    return decorate


@pytest.mark.parametrize("episodic_sql_pair", ["sqlite"], indirect=True)
@given_queries(200)
async def test_sqlite_answers_as_a_plain_evaluation_does(
    store: SqlRecords, stored: dict[str, dict[str, Any]], plans: Sequence[QueryPlan]
) -> None:
    await check_queries(store, stored, plans)


@pytest.mark.parametrize("episodic_sql_pair", ["postgres"], indirect=True)
@given_queries(40)
async def test_postgres_answers_as_a_plain_evaluation_does(
    store: SqlRecords, stored: dict[str, dict[str, Any]], plans: Sequence[QueryPlan]
) -> None:
    await check_queries(store, stored, plans)
