"""How confidence in what nobody uses goes down (SPEC S-14), in numbers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

UNUSED: Final = timedelta(days=30)
"""A memory that was accessed, or written, within this time keeps its confidence."""
FACTOR: Final = 0.8
"""What is left of the confidence, once a day."""
FLOOR: Final = 0.1
"""It does not go below this."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def day_of(moment: datetime) -> int:
    """The number of its day in UTC, counted from 1970."""
    return (moment - _EPOCH) // timedelta(days=1)
