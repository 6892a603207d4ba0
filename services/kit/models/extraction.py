"""JSON out of what a model wrote around it (SPEC J-16)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from services.kit.models.errors import Cause, ModelUnavailable
from services.kit.models.texts import storable, strict_decoder

FENCE = "```"
START = re.compile(r"[\[{]")
MAX_STARTS = 64
"""J-16: brackets that are tried in one answer; more is not prose around a value."""


def extract(text: str, accepts: Callable[[Any], bool]) -> Any:
    """The one JSON value in `text` that `accepts` takes: the text itself, in a code fence, or amid prose.

    Raises ModelUnavailable: NOT_JSON when there is none, when it breaks off, or when two values that would
    be accepted differ; WRONG_SCHEMA when none is accepted.
    """
    candidates = [value for value in _candidates(text) if storable(value)]
    if not candidates:
        raise ModelUnavailable(Cause.NOT_JSON)
    accepted = {json.dumps(value, sort_keys=True): value for value in candidates if accepts(value)}
    if not accepted:
        raise ModelUnavailable(Cause.WRONG_SCHEMA)
    if len(accepted) > 1:
        raise ModelUnavailable(Cause.NOT_JSON)
    return next(iter(accepted.values()))


def _candidates(text: str) -> list[Any]:
    whole = _parsed([text])
    return whole or _parsed(_fenced(text)) or list(_amid_prose(text))


def _parsed(pieces: list[str]) -> list[Any]:
    decoder = strict_decoder()
    values = []
    for piece in pieces:
        try:
            values.append(decoder.decode(piece))
        except (ValueError, RecursionError):
            continue
    return values


def _fenced(text: str) -> list[str]:
    """What stands in code fences, without the name of the language after the opening one."""
    pieces = text.split(FENCE)[1::2]
    return [re.sub(r"\A[A-Za-z0-9]*[ \t]*\r?\n", "", piece) for piece in pieces]


def _amid_prose(text: str) -> Iterator[Any]:
    """Values that begin at a bracket, outermost only.

    A value that begins as JSON and then isn't ends the search with nothing: the parts of a broken answer
    would pass for a whole one.
    """
    decoder = strict_decoder()
    place, found = 0, []
    for _ in range(MAX_STARTS):
        match = START.search(text, place)
        if match is None:
            break
        try:
            value, place = decoder.raw_decode(text, match.start())
            found.append(value)
        except json.JSONDecodeError as error:
            inside = len(text) - len(text[match.end() :].lstrip())
            if error.pos > inside or text[inside : inside + 1] == '"':
                return
            place = match.end()
        except (ValueError, RecursionError):
            return
    yield from found
