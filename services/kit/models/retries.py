"""When to ask again (SPEC J-16)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

from services.kit.models.errors import RETRIED, ModelUnavailable
from services.kit.models.types import Usage
from services.kit.pauses import backoff
from services.kit.times import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Pauses, in seconds."""

    first_pause_seconds: float = 0.5
    """At most before the second attempt; each pause may be twice the one before."""
    max_pause_seconds: float = 30.0
    max_retry_after_seconds: float = 60.0
    """An endpoint that asks for a longer pause is given up at once."""


class Attempts:
    """Counts the attempts at one answer, and what they cost."""

    def __init__(self, policy: RetryPolicy, limit: int) -> None:
        self._policy = policy
        self._limit = limit
        self.made = 0
        self.spent = Usage()

    def after(self, error: ModelUnavailable, chance: float, left: float) -> float:
        """How long to pause before the next attempt, with `left` seconds until the deadline.

        `chance` from 0 to 1 spreads callers that failed together. Raises the error, with all that was spent,
        when there is to be no other attempt.
        """
        self.made += 1
        self.spent += error.usage
        pause = self._pause(chance)
        if error.retry_after is not None:
            pause = max(pause, error.retry_after)
        patient = (error.retry_after or 0.0) <= self._policy.max_retry_after_seconds
        if error.cause in RETRIED and self.made < self._limit and patient and pause < left:
            return pause
        error.usage = self.spent
        raise error

    def _pause(self, chance: float) -> float:
        policy = self._policy
        return backoff(
            self.made, first=policy.first_pause_seconds, longest=policy.max_pause_seconds, chance=chance
        )


def retry_after(headers: Mapping[str, str], clock: Clock) -> float | None:
    """The seconds that an answer asks to wait, given as a number or as a date; None if it doesn't."""
    given = headers.get("retry-after", "").strip()
    if not given:
        return None
    try:
        seconds = float(given)
    except ValueError:
        seconds = _until(given, clock)
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _until(given: str, clock: Clock) -> float:
    try:
        moment = parsedate_to_datetime(given)
    except ValueError:
        return math.nan
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - clock()).total_seconds()
