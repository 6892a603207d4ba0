"""What may be a state document or a record (SPEC W-7, W-8)."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.kit.errors import InvalidField
from services.memory.episodic.domain.state import MAX_DOCUMENT_BYTES, parse_document


def nested(depth: int, inner: str = "1") -> str:
    """An object, and arrays and objects in it in turn, `depth` containers in all."""
    opening = ['{"a":' if level % 2 == 0 else "[" for level in range(depth)]
    closing = ["}" if level % 2 == 0 else "]" for level in reversed(range(depth))]
    return "".join([*opening, inner, *closing])


GOOD = [
    "{}",
    ' \n{ "a" : 1 }\t',
    '{"a":"\\u00e9\\ud83d\\ude00","":null,"b":[true,false,-0.0,1e308,123456789012345678901234567890]}',
    nested(64),
    nested(64, '"x"'),
    json.dumps({"text": "x" * (MAX_DOCUMENT_BYTES - 12)}),
]

BAD = {
    "empty": "",
    "blank": " ",
    "cut": '{"a":',
    "trailing": "{} {}",
    "comment": "{} // no",
    "single quotes": "{'a':1}",
    "byte order mark": "\ufeff{}",
    "array": "[]",
    "string": '"text"',
    "number": "1",
    "null": "null",
    "key twice": '{"a":1,"a":1}',
    "key twice inside": '{"a":[{"b":1,"b":2}]}',
    "same key by escape": '{"a":1,"\\u0061":2}',
    "not a number": '{"a":NaN}',
    "infinity": '{"a":Infinity}',
    "minus infinity": '{"a":-Infinity}',
    "beyond a double": '{"a":1e999}',
    "integer beyond a double": '{"a":' + "9" * 309 + "}",
    "endless integer": '{"a":' + "9" * 100_000 + "}",
    "lone surrogate": '{"a":"\\ud800"}',
    "lone surrogate in a key": '{"\\udc00":1}',
    "lone surrogate deep": '{"a":[[{"b":"\\ud800"}]]}',
    "nul": '{"a":"\\u0000"}',
    "nul in a key": '{"a\\u0000":1}',
    "raw nul": '{"a":"\x00"}',
    "raw control character": '{"a":"\x01"}',
    "too deep": nested(65),
    "much too deep": nested(50_000),
    "too deep and open": "[" * 200_000,
    "too long": json.dumps({"text": "x" * (MAX_DOCUMENT_BYTES - 11)}),
    "too long in bytes": json.dumps({"text": "é" * (MAX_DOCUMENT_BYTES // 2)}, ensure_ascii=False),
}


@pytest.mark.parametrize("text", GOOD)
def test_objects_are_taken(text: str) -> None:
    assert parse_document("json", text) == json.loads(text)


@pytest.mark.parametrize("name", BAD)
def test_anything_else_is_refused_with_the_field_named(name: str) -> None:
    with pytest.raises(InvalidField) as caught:
        parse_document("initial_json", BAD[name])
    assert [problem.field for problem in caught.value.fields] == ["initial_json"]


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")), inner, max_size=4
        )
    ),
    max_leaves=20,
)


@given(
    st.dictionaries(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")), values),
    st.booleans(),
)
def test_whatever_json_writes_of_such_values_is_read_again(
    value: dict[str, object], ascii_only: bool
) -> None:
    assert parse_document("json", json.dumps(value, ensure_ascii=ascii_only)) == value


@given(st.text(st.sampled_from('{}[]":,\\u0d8e1-. ntfaN'), max_size=40))
def test_no_text_is_more_than_refused(text: str) -> None:
    with suppress(InvalidField):
        assert isinstance(parse_document("json", text), dict)
