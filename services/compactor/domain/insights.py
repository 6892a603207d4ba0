"""Reflections, goals and learnings (SPEC J-11): rows, and what may be done to them. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from itertools import chain
from typing import Final, TypeVar

from services.kit.errors import InvalidField, VersionConflict

TEXT_BYTES: Final = 8 * 1024
"""As of a memory (S-1)."""
MOST_REFS: Final = 100
"""Messages, and sources, that a row names: the newest."""

T = TypeVar("T")
Ref = tuple[str, str]
"""(conversation id, message id)."""


class Kind(StrEnum):
    """What a row is."""

    REFLECTION = "reflection"
    """What recurred on a day."""
    GOAL = "goal"
    LEARNING = "learning"
    """What was found out, or decided."""


class GoalState(StrEnum):
    """How a goal stands; NONE for what is no goal."""

    NONE = ""
    OPEN = "open"
    ACHIEVED = "achieved"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a reflection finds. `slug` names what it is about, unique in the agent, kind and contact.

    `state_day` is the day on which a goal's state was told, "" for `day`.
    """

    kind: Kind
    contact_id: str
    slug: str
    topic: str
    text: str
    day: str
    asked: datetime | None = None
    state: GoalState = GoalState.NONE
    state_day: str = ""
    provenance: tuple[Ref, ...] = ()
    source_ids: tuple[str, ...] = ()

    @property
    def told(self) -> str:
        """The day on which a goal's state was told; "" for what is no goal."""
        return "" if self.state is GoalState.NONE else self.state_day or self.day


@dataclass(frozen=True, slots=True, kw_only=True)
class Insight:
    """A row. `kept` says that somebody changed it: reflection leaves its text and state as they are then.

    `state_day` is the day that told a goal's state, "" where none is known: days are reflected upon late, or
    again, and an earlier one does not change what a later one told. `memory_id` is the memory that tells of
    it, "" for none. `asked` is the end of the day that it was first found in; None for a row of an earlier
    version. `stale` counts the changes of what it came from since it was last derived (J-17), 0 for none.
    """

    id: str
    agent_id: str
    kind: Kind
    contact_id: str
    slug: str
    topic: str
    text: str
    state: GoalState
    day: str
    provenance: tuple[Ref, ...]
    source_ids: tuple[str, ...]
    memory_id: str
    kept: bool
    revision: int
    created: datetime
    updated: datetime
    asked: datetime | None = None
    stale: int = 0
    state_day: str = ""

    @property
    def until(self) -> datetime:
        """The end of its day, as near as it is known."""
        return self.asked or self.created


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What somebody wants changed; None leaves it."""

    text: str | None = None
    state: GoalState | None = None
    expected_revision: int | None = None


def merged(row: Insight, draft: Draft, now: datetime) -> Insight:
    """A row after another reflection found the same; the row itself if that brings nothing new.

    The state of a goal is that which the latest day told.
    """
    settled = row.kept or draft.told < row.state_day
    found = replace(
        row,
        provenance=_newest(chain(row.provenance, draft.provenance)),
        source_ids=_newest(chain(row.source_ids, draft.source_ids)),
        state=row.state if settled else draft.state,
        state_day=row.state_day if settled else draft.told,
        text=row.text if row.kept or row.kind is Kind.GOAL else draft.text,
    )
    return row if found == row else replace(found, revision=row.revision + 1, updated=now)


def derived_again(row: Insight, draft: Draft, now: datetime) -> Insight:
    """A stale row after its day was reflected upon again: nothing of what it came from before is left, but
    for the text and state of what somebody changed."""
    return replace(
        row,
        topic=draft.topic,
        text=row.text if row.kept else draft.text,
        state=row.state if row.kept else draft.state,
        state_day=row.state_day if row.kept else draft.told,
        provenance=draft.provenance,
        source_ids=draft.source_ids,
        revision=row.revision + 1,
        updated=now,
    )


def changed(row: Insight, change: Change, now: datetime) -> Insight:
    """A row as somebody wants it. Raises VersionConflict, InvalidField."""
    if change.expected_revision not in (None, row.revision):
        raise VersionConflict
    if change.text is not None:
        check_text(change.text)
    if change.state is not None and (row.kind is not Kind.GOAL or change.state is GoalState.NONE):
        raise InvalidField("state", "is not one that a goal can be in")
    return replace(
        row,
        text=row.text if change.text is None else change.text,
        state=row.state if change.state is None else change.state,
        kept=True,
        revision=row.revision + 1,
        updated=now,
    )


def check_text(text: str) -> None:
    """Raises InvalidField for what no store may hold (X-1)."""
    if not text.strip():
        raise InvalidField("text", "is empty")
    if "\0" in text:
        raise InvalidField("text", "must not hold a NUL character")
    if len(text.encode("utf-8", "surrogatepass")) > TEXT_BYTES:
        raise InvalidField("text", f"over {TEXT_BYTES} bytes")


def _newest(items: Iterable[T]) -> tuple[T, ...]:
    """Each once, where it came first, and the last MOST_REFS of them."""
    return tuple(dict.fromkeys(items))[-MOST_REFS:]
