"""Filters over records and JSON on their way to the server (SPEC W-7, W-8)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from palimpsest.state.v1 import records_pb2 as pb

from palimpsest.client import documents
from palimpsest.models import Field, Filter

AGE, CITY = Field("age"), Field("address.city")


def number(value: float) -> pb.FilterValue:
    return pb.FilterValue(number=value)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (CITY.equals("Oslo"), pb.Equals(field="address.city", value=pb.FilterValue(text="Oslo"))),
        (AGE.equals(3), pb.Equals(field="age", value=number(3))),
        (AGE.equals(True), pb.Equals(field="age", value=pb.FilterValue(flag=True))),
        (AGE.at_least(3), pb.Range(field="age", at_least=number(3))),
        (AGE.more_than(3), pb.Range(field="age", more_than=number(3))),
        (AGE.at_most(3.5), pb.Range(field="age", at_most=number(3.5))),
        (AGE.less_than(0), pb.Range(field="age", less_than=number(0))),
        (AGE.between(1, 2), pb.Range(field="age", at_least=number(1), at_most=number(2))),
        (CITY.starts_with("O"), pb.Prefix(field="address.city", text="O")),
    ],
)
def test_each_condition_is_what_it_says(made: Filter, expected: object) -> None:
    proto = documents.filter_proto(made)
    assert getattr(proto, proto.WhichOneof("kind") or "") == expected


def test_times_are_moments_and_need_a_zone() -> None:
    proto = documents.filter_proto(AGE.at_least(datetime(2026, 3, 1, 12, tzinfo=UTC)))
    assert proto.range.at_least.time.ToJsonString() == "2026-03-01T12:00:00Z"
    with pytest.raises(ValueError, match="time zone"):
        documents.filter_proto(AGE.at_least(datetime(2026, 3, 1)))


def test_filters_combine_and_chains_are_one_level_deep() -> None:
    """The server allows 8 levels, however many filters stand side by side."""
    three = documents.filter_proto(AGE.equals(1) & AGE.equals(2) & AGE.equals(3))
    assert [one.equals.value.number for one in three.all.filters] == [1, 2, 3]
    mixed = documents.filter_proto((AGE.equals(1) | AGE.equals(2) | AGE.equals(3)) & CITY.equals("Oslo"))
    assert [one.WhichOneof("kind") for one in mixed.all.filters] == ["any", "equals"]
    assert len(mixed.all.filters[0].any.filters) == 3


def test_a_filter_of_no_kind_is_refused() -> None:
    with pytest.raises(TypeError, match="no filter"):
        documents.filter_proto(Filter())


def test_values_become_json_and_json_stays_as_it_is() -> None:
    assert documents.as_json({"grün": [1, None, {"x": 2.5}]}) == '{"grün": [1, null, {"x": 2.5}]}'
    assert documents.as_json('{"a":1.0}') == '{"a":1.0}'
    for bad in ({"x": float("nan")}, {"x": object()}):
        with pytest.raises(ValueError, match=r"JSON|float"):
            documents.as_json(bad)
