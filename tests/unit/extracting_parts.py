"""What the tests of the extraction of facts share."""

from __future__ import annotations

from datetime import UTC, datetime

from services.compactor.domain.extraction.facts import Fact, Turn
from services.compactor.domain.extraction.grammar import extract

SAID = datetime(2024, 5, 15, 12, tzinfo=UTC)
"""A Wednesday."""


def facts(text: str, author: str = "Kim", said: datetime = SAID, *, owner: bool = True) -> list[Fact]:
    """What the engine finds in one message."""
    return extract(Turn(author=author, text=text, said=said, owner=owner))


def values(text: str, author: str = "Kim") -> list[str]:
    """As statements."""
    return [fact.value for fact in facts(text, author)]
