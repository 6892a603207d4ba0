"""Items as a word engine sees them, and what a search for words is narrowed to (SPEC S-3, S-12, S-18)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from services.memory.semantic.domain.items import MessageScope

NO_KIND = 0
"""The kind of a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WordDocument:
    """An item's terms, separated by spaces, repeats included, and the fields that searches filter by."""

    item_id: str
    terms: str
    contact_id: str = ""
    """Empty: agent-wide."""
    conversation_id: str = ""
    role: int = 0
    author: str = ""
    time: datetime | None = None
    """Of a message when it was said, of a memory from when on it holds."""
    ends: datetime | None = None
    """Until when a memory holds, itself excluded; None: no end is known."""
    kind: int = NO_KIND
    """Of a memory, or the type of a document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WordFilters:
    """What a search is narrowed to within its bucket; the default narrows nothing. Fields are ANDed.

    Of what is listed any one passes; an empty list lets everything pass.
    """

    contact_ids: tuple[str, ...] = ()
    conversation_id: str = ""
    roles: frozenset[int] = frozenset()
    authors: frozenset[str] = frozenset()
    kinds: frozenset[int] = frozenset()
    start: datetime | None = None
    end: datetime | None = None
    """Exclusive."""
    valid_at: datetime | None = None
    """What held then, as `Memory.valid_at` has it."""


NO_FILTERS = WordFilters()


def filters_of(scope: MessageScope) -> WordFilters:
    """Where messages are searched."""
    return WordFilters(
        contact_ids=scope.contact_ids,
        conversation_id=scope.conversation_id,
        roles=scope.roles,
        authors=scope.authors,
        start=scope.start,
        end=scope.end,
    )
