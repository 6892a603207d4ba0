"""Texts of models made fit to be stored, and JSON read strictly."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

REPLACEMENT = "�"
MAX_DEPTH = 32
"""J-16: nesting of a JSON answer; no schema of ours is near it."""
_HIGH_SURROGATES = ("\ud800", "\udbff")


def clean(text: str) -> str:
    """The text as valid Unicode without NUL: halves of a pair are joined; what remains is replaced."""
    if not text.isascii():
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\0", REPLACEMENT)


class Joiner:
    """Cleans a text that comes in pieces, which may part the two halves of a surrogate pair."""

    def __init__(self) -> None:
        self._kept = ""

    def add(self, piece: str) -> str:
        """What can be given out after this piece; the rest is kept for the next."""
        text = self._kept + piece
        self._kept = text[-1:] if _HIGH_SURROGATES[0] <= text[-1:] <= _HIGH_SURROGATES[1] else ""
        return clean(text[: len(text) - len(self._kept)])

    def end(self) -> str:
        """What was kept for a piece that did not come."""
        kept, self._kept = self._kept, ""
        return clean(kept)


def strict_decoder() -> json.JSONDecoder:
    """A decoder of JSON as RFC 8259 has it: no NaN, no Infinity, no number that would become one."""
    return json.JSONDecoder(parse_constant=_refuse, parse_float=_finite, parse_int=_whole)


def storable(value: Any) -> bool:
    """Whether a JSON value is at most MAX_DEPTH deep and every text in it clean."""
    waiting = [(value, 1)]
    while waiting:
        item, depth = waiting.pop()
        if depth > MAX_DEPTH:
            return False
        if isinstance(item, str) and clean(item) != item:
            return False
        if isinstance(item, dict):
            waiting += [(part, depth + 1) for pair in item.items() for part in pair]
        elif isinstance(item, list):
            waiting += [(part, depth + 1) for part in item]
    return True


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"not JSON: {name}")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("a number out of range")
    return number


def _whole(digits: str) -> int:
    _finite(digits)  # a Struct keeps it as a float
    return int(digits)
