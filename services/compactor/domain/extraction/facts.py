"""What the extraction of facts takes and gives (SPEC J-8)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import Enum
from typing import TypeAlias

MOST_KEY = 200
"""Bytes of a key (S-1)."""
MOST_VALUE = 8 * 1024
"""Bytes of a value (S-1)."""
MOST_NAME = 128
"""Characters of an author's name (E-1)."""
MOST_TEXT = 32 * 1024
"""Characters of one message that are read; what comes after is left."""
MOST_SENTENCE = 400
"""Characters of a sentence that is read: a longer one is no plain statement."""
MOST_SENTENCES = 200
"""Sentences of one message that are read."""
MOST_FACTS = 20
"""Facts of one message: a text with more is a document rather than something said."""
FLUSHED = 10
"""J-9: facts of a range that is about to be covered."""


_UNSPACED = re.compile(r"[\u3005\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")


class Category(Enum):
    """What a fact is about."""

    IDENTITY = "identity"
    LOCATION = "location"
    PREFERENCE = "preference"
    RELATIONSHIP = "relationship"
    EVENT = "event"
    DECISION = "decision"
    INSTRUCTION = "instruction"
    TASK = "task"
    FACT = "fact"


class Tense(Enum):
    """Which way a bare weekday or a day without a year is read."""

    PAST = "past"
    COMING = "coming"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What one person said.

    `author` is the name by which statements call them ("" when it is not known); `owner` says that they are
    the person whose memories these are, so that their keys begin with "user".
    """

    author: str
    text: str
    said: datetime
    owner: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Whom a statement is about: a name for its value, the beginning of its key."""

    name: str
    key: str
    plural: bool = False

    def attribute(self, slot: str) -> str:
        """The key of one of its attributes."""
        return f"{self.key}.{slot}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A statement that stands by itself: "subject predicate".

    `day` is the day that it happened or is to happen, where the text fixes one.
    """

    key: str
    subject: str
    predicate: str
    category: Category
    day: date | None = None

    @property
    def value(self) -> str:
        """The statement; a predicate that begins with ":" or "'s" follows its subject at once; so does one
        in a script without spaces."""
        joined = self.predicate.startswith((":", "'s ", "は", "の")) or (
            _UNSPACED.match(self.predicate) and _UNSPACED.match(self.subject[-1:])
        )
        space = "" if joined else " "
        return f"{self.subject}{space}{self.predicate}"


Reader: TypeAlias = Callable[[Sequence[str], Subject, date], Iterable[Fact]]
"""What a language makes of a message's sentences: said by whom, on which day."""
