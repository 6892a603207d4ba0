"""The rules of records, their indexed fields, and their filters (SPEC W-8)."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from palimpsest.state.v1 import records_pb2 as pb

from services.kit import paging
from services.kit.errors import InvalidField, InvalidPageToken, LimitExceeded, StateConflict
from services.kit.times import to_micros
from services.memory.episodic.app.records import RecordPage
from services.memory.episodic.domain.records import (
    FieldType,
    IndexedField,
    check_collection_count,
    check_reindexing,
    in_order,
    indexed_values,
    parse_time,
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
    Range,
    check_order,
    check_shape,
    check_types,
    prefix_end,
)
from services.memory.episodic.rpc import state_convert

texts = st.text(
    st.sampled_from("ab\ud7ff\ue000\uffff\U0010ffff") | st.characters(exclude_categories=["Cs"]), max_size=4
)
TYPES = {
    "s": FieldType.STRING,
    "n": FieldType.NUMBER,
    "b": FieldType.BOOL,
    "t": FieldType.TIME,
}


def value(kind: FieldType = FieldType.STRING) -> FilterValue:
    return FilterValue(type=kind, stored="x" if kind.is_text else 1.0)


def is_x(field: str = "s") -> Filter:
    return Equals(field=field, value=value())


def nested(depth: int) -> Filter:
    filter_: Filter = is_x()
    for level in range(depth - 1):
        filter_ = All(filters=(filter_,)) if level % 2 else AnyOf(filters=(filter_,))
    return filter_


@given(texts, texts)
def test_a_prefix_is_a_range_of_texts(prefix: str, text: str) -> None:
    end = prefix_end(prefix)
    for candidate in (text, prefix + text):
        assert candidate.startswith(prefix) == (prefix <= candidate and (end is None or candidate < end))


@pytest.mark.parametrize(
    ("prefix", "end"),
    [
        ("", None),
        ("ab", "ac"),
        ("\U0010ffff", None),
        ("a\U0010ffff\U0010ffff", "b"),
        ("\ud7ff", "\ue000"),
    ],
)
def test_the_end_of_a_prefix(prefix: str, end: str | None) -> None:
    assert prefix_end(prefix) == end


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-03-01T12:30:00Z", datetime(2026, 3, 1, 12, 30, tzinfo=UTC)),
        ("2026-03-01t12:30:00z", datetime(2026, 3, 1, 12, 30, tzinfo=UTC)),
        ("2026-03-01 12:30:00+00:00", datetime(2026, 3, 1, 12, 30, tzinfo=UTC)),
        ("2026-03-01T14:00:00+01:30", datetime(2026, 3, 1, 12, 30, tzinfo=UTC)),
        ("2026-03-01T12:30:00.5Z", datetime(2026, 3, 1, 12, 30, 0, 500_000, tzinfo=UTC)),
        ("2026-03-01T12:30:00.1234569-00:00", datetime(2026, 3, 1, 12, 30, 0, 123_456, tzinfo=UTC)),
        ("0001-01-01T00:00:00Z", datetime(1, 1, 1, tzinfo=UTC)),
    ],
)
def test_times_of_rfc_3339(text: str, moment: datetime) -> None:
    assert parse_time(text) == to_micros(moment)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-03-01",
        "2026-03-01T12:30:00",
        "2026-03-01T12:30Z",
        "2026-03-01T12:30:00.Z",
        "2026-02-30T12:30:00Z",
        "2026-03-01T24:30:00Z",
        "2026-03-01T12:30:60Z",
        "2026-03-01T12:30:00+25:00",
        "2026-W01-1T12:30:00Z",
        "２０２６-03-01T12:30:00Z",
        " 2026-03-01T12:30:00Z",
        "2026-03-01T12:30:00Z\n",
    ],
)
def test_other_texts_are_no_times(text: str) -> None:
    assert parse_time(text) is None


@given(st.datetimes(timezones=st.just(UTC)), st.datetimes(timezones=st.just(UTC)))
def test_moments_sort_as_their_keys_do(one: datetime, other: datetime) -> None:
    assert (one < other) == (time_key(to_micros(one)) < time_key(to_micros(other)))


def test_the_edges_of_time_have_keys_of_one_length() -> None:
    first, last = "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59.999999-23:59"
    assert {len(time_key(parse_time(text) or 0)) for text in (first, last)} == {19}


def test_values_are_indexed_by_their_declared_type_alone() -> None:
    document: dict[str, Any] = {
        "s": "x",
        "n": 2**53 + 1,
        "b": True,
        "t": "2026-03-01T12:30:00Z",
        "deep": {"er": {"n": -0.5}, "list": [{"n": 1}]},
    }
    fields = [
        IndexedField(path=path, type=kind)
        for path in ("s", "n", "b", "t", "deep", "deep.er.n", "deep.list.n", "deep.list.0.n", "s.x", "none")
        for kind in FieldType
    ]
    found = [(f.path, f.type.name) for f in fields if f.path in indexed_values(document, [f])]
    assert found == [
        ("s", "STRING"),
        ("n", "NUMBER"),
        ("b", "BOOL"),
        ("t", "STRING"),
        ("t", "TIME"),
        ("deep.er.n", "NUMBER"),
    ]
    assert indexed_values(document, [IndexedField(path="n", type=FieldType.NUMBER)]) == {"n": 2.0**53}


def test_an_indexed_text_has_a_limit_in_bytes() -> None:
    fields = [IndexedField(path="s", type=FieldType.STRING)]
    assert indexed_values({"s": "é" * 512}, fields) == {"s": "é" * 512}
    with pytest.raises(InvalidField, match="at s is indexed"):
        indexed_values({"s": "é" * 512 + "x"}, fields)
    assert indexed_values({"other": "x" * 5_000}, fields) == {}


def test_fields_are_ordered_and_named_once() -> None:
    b, a = IndexedField(path="b", type=FieldType.BOOL), IndexedField(path="a", type=FieldType.TIME)
    assert in_order([b, a]) == (a, b)
    with pytest.raises(InvalidField) as caught:
        in_order([b, a, IndexedField(path="b", type=FieldType.TIME)])
    assert caught.value.fields[0].field == "fields[2].path"


def test_limits_of_collections() -> None:
    check_collection_count(999)
    with pytest.raises(LimitExceeded):
        check_collection_count(1_000)
    check_reindexing(10_000, 2**28)
    for count, size in ((10_001, 0), (1, 2**28 + 1)):
        with pytest.raises(StateConflict):
            check_reindexing(count, size)


def test_a_filter_may_be_8_deep_and_hold_64_filters() -> None:
    check_shape(nested(8))
    check_shape(All(filters=(is_x(),) * 63))
    for bad in (nested(9), All(filters=(is_x(),) * 64), AnyOf(filters=(AnyOf(filters=(is_x(),) * 40),) * 2)):
        with pytest.raises(InvalidField) as caught:
            check_shape(bad)
        assert caught.value.fields[0].field == "filter"


@pytest.mark.parametrize(
    ("bad", "path"),
    [
        (All(filters=()), "filter"),
        (All(filters=(is_x(), AnyOf(filters=()))), "filter.all.filters[1]"),
        (AnyOf(filters=(Range(field="s", lower=None, upper=None),)), "filter.any.filters[0].range"),
    ],
)
def test_a_filter_must_say_something(bad: Filter, path: str) -> None:
    with pytest.raises(InvalidField) as caught:
        check_shape(bad)
    assert caught.value.fields[0].field == path


@pytest.mark.parametrize(
    ("bad", "path"),
    [
        (is_x("x"), "filter.equals.field"),
        (is_x("n"), "filter.equals.value"),
        (is_x("t"), "filter.equals.value"),
        (Equals(field="b", value=value(FieldType.NUMBER)), "filter.equals.value"),
        (Prefix(field="x", text=""), "filter.prefix.field"),
        (Prefix(field="t", text="2026"), "filter.prefix.field"),
        (
            Range(
                field="n",
                lower=Bound(value=value(FieldType.NUMBER), inclusive=True),
                upper=Bound(value=value(FieldType.TIME), inclusive=True),
            ),
            "filter.range.upper",
        ),
        (
            AnyOf(filters=(is_x(), All(filters=(is_x(), is_x("n"))))),
            "filter.any.filters[1].all.filters[1].equals.value",
        ),
    ],
)
def test_a_filter_names_declared_fields_with_values_of_their_types(bad: Filter, path: str) -> None:
    check_types(All(filters=(is_x(), *(Equals(field=f, value=value(k)) for f, k in TYPES.items()))), TYPES)
    with pytest.raises(InvalidField) as caught:
        check_types(bad, TYPES)
    assert caught.value.fields[0].field == path


def test_an_order_names_a_declared_field_of_the_same_type_as_before() -> None:
    assert check_order(Order(), None, TYPES) is None
    assert check_order(Order(field="n"), Position(value=1.0, id="r"), TYPES) is FieldType.NUMBER
    assert check_order(Order(field="t"), Position(value=None, id="r"), TYPES) is FieldType.TIME
    for order, after in ((Order(field="x"), None), (Order(field="n"), Position(value="x", id="r"))):
        with pytest.raises(InvalidField):
            check_order(order, after, TYPES)


def request(**fields: Any) -> pb.QueryRecordsRequest:
    return pb.QueryRecordsRequest(agent_id="a", collection="things", **fields)


def token(of: pb.QueryRecordsRequest, position: Position) -> str:
    page = RecordPage(records=[], last=position)
    return str(state_convert.query_response(of, page).next_page_token)


@pytest.mark.parametrize(
    "position",
    [
        Position(value=None, id="r"),
        Position(value="\x01" * 1_024, id="r" * 128),
        Position(value="\U0010ffff", id="r"),
        Position(value=-0.5e-300, id="r"),
        Position(value=2.0**70, id="r"),
    ],
)
def test_a_page_token_says_where_the_same_query_goes_on(position: Position) -> None:
    query = request(order_by=pb.RecordOrder(field="f"))
    query.page_token = token(query, position)
    assert len(query.page_token) <= 16_384
    assert state_convert.query_of(query).after == position
    for change in (
        {"agent_id": "b"},
        {"collection": "other"},
        {"order_by": pb.RecordOrder(field="g")},
        {"order_by": pb.RecordOrder(field="f", descending=True)},
        {"filter": pb.Filter(prefix=pb.Prefix(field="f"))},
    ):
        other = pb.QueryRecordsRequest()
        other.CopyFrom(query)
        other.MergeFrom(pb.QueryRecordsRequest(**change))  # type: ignore[arg-type]
        with pytest.raises(InvalidPageToken):
            state_convert.query_of(other)


@pytest.mark.parametrize(
    "forged",
    [
        (),
        ("a", "b", "c"),
        (1,),
        ("a\x00",),
        ("a\ud800",),
        ("a", "b\x00"),
        ("a", "b\udfff"),
        ("a", math.inf),
        ("a", math.nan),
        ("a", 10**400),
        ("a", None),
        ("a", ["b"]),
        ("a", {"b": 1}),
    ],
    ids=repr,
)
def test_a_page_token_with_anything_else_is_refused(forged: tuple[Any, ...]) -> None:
    query = request(order_by=pb.RecordOrder(field="f"))
    listing = "QueryRecords a things f False "
    query.page_token = paging.encode(listing, ("a",))
    assert state_convert.query_of(query).after == Position(value=None, id="a")  # the listing's name is right
    query.page_token = paging.encode(listing, forged)
    with pytest.raises(InvalidPageToken):
        state_convert.query_of(query)


def test_a_value_in_an_order_by_id_is_no_position() -> None:
    query = request()
    query.page_token = paging.encode("QueryRecords a things  False ", ("a",))
    assert state_convert.query_of(query).after == Position(value=None, id="a")
    query.page_token = paging.encode("QueryRecords a things  False ", ("a", 1.0))
    with pytest.raises(InvalidPageToken):
        state_convert.query_of(query)
