"""Numbers and nesting that a Struct, JSON and Python do not all have (SPEC G-6, X-1)."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import pytest
from google.protobuf.struct_pb2 import Struct
from palimpsest.tools.v1 import tools_pb2 as pb

from palimpsest.client.tools import _struct
from services.gateway.rpc.tool_convert import arguments
from services.kit.errors import InvalidField


def asked(number: float) -> pb.CallToolRequest:
    given = Struct()
    given.fields["limit"].number_value = number
    return pb.CallToolRequest(arguments=given)


def test_whole_numbers_are_integers_as_schemas_have_them() -> None:
    assert arguments(asked(3)) == {"limit": 3}
    assert isinstance(arguments(asked(3))["limit"], int)
    assert arguments(asked(2.5)) == {"limit": 2.5}


@pytest.mark.parametrize("number", [nan, inf, -inf], ids=str)
def test_a_number_that_json_has_not_is_the_callers_mistake(number: float) -> None:
    with pytest.raises(InvalidField) as failure:
        arguments(asked(number))
    assert [one.field for one in failure.value.fields] == ["arguments"]


def nested(depth: int) -> list[Any]:
    made: list[Any] = []
    for _ in range(depth):
        made = [made]
    return made


def test_the_client_takes_what_a_struct_holds() -> None:
    assert _struct({"limit": 10, "all": nested(20)}).fields["limit"].number_value == 10


@pytest.mark.parametrize(
    "value",
    [10**400, nested(90), nested(5_000), b"bytes", {1, 2}, object()],
    ids=["a number beyond a float", "deep", "deeper", "bytes", "a set", "an object"],
)
def test_the_client_says_that_arguments_are_no_json(value: Any) -> None:
    with pytest.raises(ValueError, match="no JSON"):
        _struct({"limit": value})
