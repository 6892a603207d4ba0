"""State documents (SPEC W-7): what may be one, and how its versions go on. Times are microseconds."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from services.kit.errors import InvalidField, VersionConflict
from services.memory.episodic.domain.checks import check_size, check_text

MAX_DOCUMENT_BYTES = 262_144  # W-7, W-8
MAX_DOCUMENT_DEPTH = 64
KEPT_VERSIONS = 64  # of a document
DEFAULT_NAME = "default"
TOO_DEEP = f"nested more than {MAX_DOCUMENT_DEPTH} deep"
TOO_GREAT = "holds a number beyond the range of a double"
MAX_DIGITS = 400  # a double has 309 at most; longer integers are not even parsed

JsonObject = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class StateKey:
    """Names a state document; `conversation_id` is empty for one of the agent itself."""

    tenant: str
    agent_id: str
    conversation_id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StateVersion:
    """One version of a document; `json` is None where it was deleted.

    `skipped` tells a watcher that versions before this one were left out.
    """

    version: int
    json: str | None
    time: int
    skipped: bool = False


def check_expected(expected: int | None, current: int) -> None:
    """Raises VersionConflict unless `expected` is None or the current version (0: there is nothing)."""
    if expected is not None and expected != current:
        raise VersionConflict(metadata={"current_version": str(current)})


def changes_after(
    after: int, kept: Sequence[StateVersion], newest: StateVersion | None
) -> Sequence[StateVersion]:
    """What a watcher that has seen version `after` gets next.

    `kept` are the next versions that are still kept, in order. Where the next one is not among them, the
    watcher gets the newest one alone. Raises InvalidField when it has seen what never was.
    """
    if after > (newest.version if newest else 0):
        raise InvalidField("after_version", "newer than the document")
    if newest is None or not kept:
        return ()
    if kept[0].version == after + 1:
        return kept
    return (StateVersion(version=newest.version, json=newest.json, time=newest.time, skipped=True),)


def parse_document(field: str, text: str) -> JsonObject:
    """The object that a JSON text holds. Raises InvalidField for what is not kept (see the proto)."""
    check_text(field, text)
    check_size(field, text, MAX_DOCUMENT_BYTES)
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_int=_integer, parse_constant=_no_constant)
    except RecursionError as error:
        raise InvalidField(field, TOO_DEEP) from error
    except _Refused as error:
        raise InvalidField(field, str(error)) from None
    except ValueError as error:
        raise InvalidField(field, "not JSON") from error
    if not isinstance(value, dict):
        raise InvalidField(field, "not a JSON object")
    _check_values(field, value)
    return value


class _Refused(Exception):
    """JSON that is refused; the message says why."""


def _object(pairs: list[tuple[str, Any]]) -> JsonObject:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _Refused("an object holds a key twice")
    return made


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise _Refused(TOO_GREAT)
    return int(digits)


def _no_constant(_name: str) -> NoReturn:
    raise _Refused("holds a number that is not finite")


def _check_values(field: str, document: JsonObject) -> None:
    """Walks level by level, so that depth is a count and no recursion."""
    level: list[Any] = [document]
    for _ in range(MAX_DOCUMENT_DEPTH):
        below: list[Any] = []
        for container in level:
            if isinstance(container, dict):
                for key in container:
                    check_text(field, key)
                inner: Any = container.values()
            else:
                inner = container
            for value in inner:
                if isinstance(value, dict | list):
                    below.append(value)
                else:
                    _check_scalar(field, value)
        if not below:
            return
        level = below
    raise InvalidField(field, TOO_DEEP)


def _check_scalar(field: str, value: str | float | None) -> None:
    if isinstance(value, str):
        check_text(field, value)
    elif value is not None and not fits_double(value):
        raise InvalidField(field, TOO_GREAT)


def fits_double(number: float) -> bool:
    """Whether a number has a finite double beside it."""
    try:
        return math.isfinite(float(number))
    except OverflowError:
        return False
