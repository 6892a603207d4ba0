"""How long to wait before trying again."""

from __future__ import annotations

CERTAIN_SHARE = 0.5  # of a pause; the rest is left to chance


def backoff(attempt: int, *, first: float, longest: float, chance: float) -> float:
    """Seconds to pause after the `attempt`-th attempt (from 1) failed.

    At most `first`, doubled with each attempt up to `longest`. `chance`, from 0 to 1, spreads callers that
    failed together ("equal jitter", M. Brooker, Exponential Backoff And Jitter, AWS Architecture Blog, 2015).
    """
    pause = min(longest, first * 2.0 ** (attempt - 1))
    return pause * (CERTAIN_SHARE + (1 - CERTAIN_SHARE) * chance)
