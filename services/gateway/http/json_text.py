"""JSON as it is accepted: RFC 8259 in UTF-8, each key once, no NaN, bounded depth and size."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from typing import Any, NoReturn

from services.gateway.http.limits import MAX_DEPTH, MAX_VALUES
from services.kit.errors import InvalidField, LimitExceeded

BODY = "body"
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
"""A text, also one without an end; possessive, so that it takes time in proportion to the body."""
_ESCAPED_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def parse(data: bytes) -> Any:
    """The value. Raises InvalidField, and LimitExceeded for one that is too large."""
    if _values(data) > MAX_VALUES and _values(_STRING.sub(b"", data)) > MAX_VALUES:
        raise LimitExceeded(f"the body holds over {MAX_VALUES:,} values")
    try:
        text = data.decode("utf-8")
        value = json.loads(
            text, object_pairs_hook=_object, parse_constant=_refuse_constant, parse_float=_finite
        )
    except UnicodeDecodeError as error:
        raise InvalidField(BODY, "is not UTF-8") from error
    except RecursionError as error:
        raise _too_deep() from error
    except json.JSONDecodeError as error:
        raise InvalidField(BODY, f"is not JSON: see its character {error.pos}") from error
    except ValueError as error:  # a number with thousands of digits
        raise InvalidField(BODY, "has a number that is too long") from error
    _check_depth(value)
    if _ESCAPED_SURROGATE.search(data):
        _check_surrogates(value)
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise InvalidField(BODY, "has an object with a key that comes twice")
    return found


def _refuse_constant(_text: str) -> NoReturn:
    raise InvalidField(BODY, "is not JSON: NaN and Infinity are no numbers")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise InvalidField(BODY, "has a number that is too large")
    return number


def _values(data: bytes) -> int:
    """At least as many values as there are in JSON, told before it takes the memory of all of them."""
    return data.count(b",") + data.count(b"[") + data.count(b"{")


def _check_depth(value: Any) -> None:
    """Without recursion."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for outer in level for inner in _items(outer) if isinstance(inner, dict | list)]
        if not level:
            return
    raise _too_deep()


def _items(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _too_deep() -> InvalidField:
    return InvalidField(BODY, f"is over {MAX_DEPTH} levels deep")


def _check_surrogates(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidField(BODY, "has half of a surrogate pair") from error
