"""Names and filters of stores."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.store.memory import _compare_values

from palimpsest.integrations.namespaces import deeper, labels, path_of
from palimpsest.integrations.readable import CUT, MAX_TEXT_BYTES, call, cut, storable, texts
from palimpsest.integrations.recalling import MAX_QUERY_BYTES, shortened
from palimpsest.integrations.values import fits, leaves
from palimpsest.models import TextPart

LABELS = st.text(st.characters(min_codepoint=0x20, exclude_categories=["Cs"]), min_size=1, max_size=4)
NAMESPACES = st.lists(LABELS | st.sampled_from(["a", "a ", "b"]), min_size=1, max_size=4).map(tuple)
LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=2)
TREES = st.recursive(
    LEAVES, lambda one: st.lists(one, max_size=2) | st.dictionaries(st.text("ab", max_size=1), one)
)
VALUES = st.dictionaries(st.sampled_from(["f", "g"]), TREES, max_size=2)


@given(first=NAMESPACES, second=NAMESPACES)
def test_paths_sort_and_nest_as_namespaces_do(first: tuple[str, ...], second: tuple[str, ...]) -> None:
    one, other = path_of(first), path_of(second)
    assert labels(one) == first
    assert (one.encode() < other.encode()) == (first < second)
    below = second[: len(first)] == first
    assert other.startswith(one) == below
    if below:
        assert other.encode() < deeper(one).encode()
    elif first < second:
        assert other.encode() >= deeper(one).encode()


@given(value=VALUES, wanted=VALUES)
def test_filters_are_langgraphs(value: dict[str, Any], wanted: dict[str, Any]) -> None:
    expected = all(_compare_values(value.get(key), one) for key, one in wanted.items())
    assert fits(value, wanted) == expected
    assert fits(value, value)
    assert fits(value, None)


@given(value=st.integers() | st.floats(allow_nan=False), bound=st.integers())
def test_orders_are_langgraphs(value: float, bound: int) -> None:
    for operator in ("$gt", "$gte", "$lt", "$lte", "$eq", "$ne"):
        wanted = {operator: bound}
        assert fits({"f": value}, {"f": wanted}) == _compare_values(value, wanted)


def test_what_a_value_says_in_words() -> None:
    assert leaves({"text": "oat milk"}) == "oat milk"
    assert leaves({"a": {"b": ["x", 2]}, "c": True, "d": None, "e": " "}) == "a.b: x\na.b: 2\nc: True"
    assert leaves({}) == ""


@given(text=st.text(st.characters(), max_size=50), times=st.sampled_from([1, 3_000]))
def test_any_text_is_made_storable_in_parts(text: str, times: int) -> None:
    parts = texts(text * times)
    assert all(isinstance(part, TextPart) and 0 < len(part.text.encode()) <= MAX_TEXT_BYTES for part in parts)
    joined = "".join(part.text for part in parts if isinstance(part, TextPart))
    whole = storable(text * times)
    assert joined == whole or (len(parts) == 16 and joined.endswith(CUT))
    assert len(cut(text * times).encode()) <= MAX_TEXT_BYTES
    assert len(shortened(text * times).encode()) <= MAX_QUERY_BYTES


@pytest.mark.parametrize(
    ("given_", "kept"),
    [
        ('{"a": 1}', {"a": 1}),
        ({"a": [1]}, {"a": [1]}),
        ("not JSON", {}),
        ("[1]", {}),
        ({"a": "\0"}, {}),
        ({"a": "x" * 40_000}, {}),
        ({"a": object()}, {}),
        ({"a": float("nan")}, {}),
        (None, {}),
    ],
)
def test_arguments_of_calls_are_shown_if_they_can_be(given_: object, kept: dict[str, Any]) -> None:
    made = call(None, "", given_)
    assert made.arguments == kept
    assert (made.call_id, made.name) == ("unnamed", "unnamed")
