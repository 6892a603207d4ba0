"""When a model that gives no answers is left alone, so that not every caller waits for it (SPEC J-16)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from services.kit.models.errors import Cause, ModelUnavailable

AWAY: Final = frozenset({Cause.UNREACHABLE, Cause.TIMEOUT, Cause.BUSY, Cause.FAILED, Cause.REFUSED})
"""J-16: what says of the model, and not of one answer, that it is no use to ask."""
STRIKES: Final = 3
"""Questions in a row that a model gives no answer to before it is left alone."""
AWAY_SECONDS: Final = 30.0
"""How long it is left alone, where it did not say so itself."""
MOST_AWAY_SECONDS: Final = 300.0


class Patience:
    """Of one kind of caller with one model: each has its own time for an answer."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._strikes = 0
        self._cause = Cause.UNREACHABLE
        self._again = 0.0

    def check(self) -> None:
        """Raises ModelUnavailable, with the cause of the last failure, while the model is left alone."""
        if (wait := self._again - self._monotonic()) > 0:
            raise ModelUnavailable(self._cause, retry_after=wait)

    def answered(self) -> None:
        """It is there."""
        self._strikes = 0

    def failed(self, error: ModelUnavailable) -> None:
        """After a few in a row, and then after each, the model is left alone until it may be back."""
        if error.cause not in AWAY:
            self._strikes = 0
            return
        self._strikes += 1
        if self._strikes < STRIKES and error.retry_after is None:
            return
        wait = min(error.retry_after or AWAY_SECONDS, MOST_AWAY_SECONDS)
        self._cause, self._again = error.cause, self._monotonic() + wait
