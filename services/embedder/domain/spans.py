"""Stretches of a text that may state a fact, and their scores (SPEC J-8)."""

from __future__ import annotations

from dataclasses import dataclass

MOST_LENGTH = 32
"""Tokens of a stretch from which on its length makes no difference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Characters `start` to before `end`; the other fields are the proto's."""

    start: int
    end: int
    form: int
    support: int
    asked: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SpannedText:
    """A text and its stretches."""

    text: str
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanScore:
    """How likely it states a fact of each of four kinds, and of which of nine categories that is then."""

    kinds: tuple[float, ...]
    categories: tuple[float, ...]
