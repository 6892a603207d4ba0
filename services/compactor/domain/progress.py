"""How far a conversation is derived, by kind of work.

A job that names messages of a conversation in its payload derives something up to the last of them. A kind
is derived up to sequence N when some job of it that ends at N or later succeeded, and no job of it that
begins at N or before is queued, running, between attempts or dead.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeGuard

KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "index_message": "index",
        "cover_messages": "cover",
        "extract_messages": "extract",
        "summarize_conversation": "summarize",
    }
)
"""The kind of work of each type of job that works through a conversation."""

CONVERSATION: Final = "conversation_id"
ONE: Final = "sequence"
FIRST: Final = "from_sequence"
LAST: Final = "to_sequence"
MAX_NAME: Final = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The messages of a conversation that a job is about."""

    conversation_id: str
    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """`upto`: the message up to which this kind of work is done in a conversation; 0 for none."""

    conversation_id: str
    kind: str
    upto: int


def span_of(type_: str, payload: bytes) -> Span | None:
    """What the payload says: {"conversation_id", "sequence"}, or "to_sequence" with or without
    "from_sequence"; None for other types, and where it says nothing that makes sense."""
    if type_ not in KINDS:
        return None
    try:
        said = json.loads(payload)
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict):
        return None
    conversation_id, last = said.get(CONVERSATION), said.get(LAST, said.get(ONE))
    first = said.get(FIRST, last)
    if _is_name(conversation_id) and _is_place(first) and _is_place(last):
        return Span(conversation_id=conversation_id, first=min(first, last), last=last)
    return None


def upto(reached: int, blocking: int | None) -> int:
    """From the last message ever derived and the first that is not (None: all are)."""
    return reached if blocking is None else max(0, min(reached, blocking - 1))


def _is_name(value: object) -> TypeGuard[str]:
    """Whether any store keeps it: JSON may hold what is no text."""
    return (
        isinstance(value, str)
        and 0 < len(value) <= MAX_NAME
        and not any(char == "\0" or "\ud800" <= char <= "\udfff" for char in value)
    )


def _is_place(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**63
