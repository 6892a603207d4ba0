"""How far a conversation is derived, by kind of work.

A job that names messages of a conversation in its payload derives something up to the last of them. A kind
is derived up to sequence N when some job of it that ends at N or later succeeded, and no job of it that
begins at N or before is queued, running, between attempts or dead.

Jobs of some types do what is due in a conversation when they are done, whatever they were enqueued for. So
one that succeeds makes up for those before it that were given up; and one that names a conversation alone
counts no messages, but is among those that wait. A job of some types may be done by putting it off, for a
later one that does what is due for all conversations of the agent: until that succeeded it counts as waiting.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeGuard

from services.compactor.domain import payloads

KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "index_message": "index",
        "extract_messages": "extract",
        "cover_messages": "cover",
        "fold_overlays": "cover",
        "refresh_summary": "summarize",
        "summarize_conversation": "summarize",
        "grow_graph": "graph",
        "update_attractor": "attractor",
        "refresh_derived": "refresh",
    }
)
"""The kind of work of each type of job that is about a conversation."""
OF_MESSAGES: Final = frozenset({"index_message", "extract_messages"})
"""Types whose jobs derive just the messages that they name, and are nothing without them."""
OF_WHAT_IS_DUE: Final = frozenset(KINDS) - OF_MESSAGES - {"refresh_derived"}
"""Types whose jobs do whatever is due, so that one makes up for another."""
OF_AGENTS: Final = frozenset({"update_attractor"})
"""Types one job of which does what is due in all conversations of its agent."""
POSTPONED: Final = "postponed/"
"""Begins the result of a job that a later one does."""

CONVERSATION: Final = "conversation_id"
ONE: Final = "sequence"
FIRST: Final = "from_sequence"
LAST: Final = "to_sequence"
MAX_NAME: Final = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The messages of a conversation that a job is about; 0 and 0 if it names none."""

    conversation_id: str
    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """`kind` is a value of KINDS. `upto`: the message up to which this kind of work is done; 0 for none.

    `waiting` counts jobs that are not done, `dead` those that were given up and not made up for;
    `dead_job_id` is the newest of the latter.
    """

    conversation_id: str
    kind: str
    upto: int
    waiting: int = 0
    dead: int = 0
    dead_job_id: str = ""


def span_of(type_: str, payload: bytes) -> Span | None:
    """What the payload says: {"conversation_id", "sequence"}, or "to_sequence" with or without
    "from_sequence", or, of a type that needs no messages, {"conversation_id"}. None for other types, and
    where it says nothing that makes sense."""
    if type_ not in KINDS:
        return None
    said = payloads.said(payload)
    conversation_id, last = said.get(CONVERSATION), said.get(LAST, said.get(ONE))
    first = said.get(FIRST, last)
    if not _is_name(conversation_id):
        return None
    if _is_place(first) and _is_place(last):
        return Span(conversation_id=conversation_id, first=min(first, last), last=last)
    if last is None and type_ not in OF_MESSAGES:
        return Span(conversation_id=conversation_id, first=0, last=0)
    return None


def postponed(result_ids: Iterable[str]) -> bool:
    """Whether a later job does it, or the rest of it."""
    return any(one.startswith(POSTPONED) for one in result_ids)


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
