"""Asking several channels at once: each has its time, and may fail alone (SPEC S-9, S-11)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

import structlog

from services.kit.errors import DataFlowRefused, DependencyDown

VECTOR, KEYWORD = "vector", "keyword"
GREATEST_SCORE = (2 - 2**-23) * 2.0**127
"""S-11: the greatest number that a float of the protos holds."""

Ranked = list[tuple[str, float]]


class Unusable(Exception):
    """A channel's answer makes no sense."""


@dataclass(slots=True, kw_only=True)
class Answers:
    """Ranked lists by channel, and the channels that failed with a constant cause."""

    lists: dict[str, Ranked] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)


class Channels:
    """Asks; `seconds` is what each may take.

    `head_start_seconds` is how long the others let the channel of vectors, which takes longest, send its
    query to the model: begun at once, their threads would hold up the loop that has to send it.
    """

    def __init__(self, *, seconds: float, head_start_seconds: float) -> None:
        self._seconds = seconds
        self._head_start_seconds = head_start_seconds
        self._log = structlog.get_logger("recall")

    async def ask(self, channels: Mapping[str, Callable[[], Awaitable[Ranked]]]) -> Answers:
        """What each answers. Raises DependencyDown when all failed."""
        wait = self._head_start_seconds if VECTOR in channels else 0.0
        results = await asyncio.gather(
            *(self._one(name, ask, 0.0 if name == VECTOR else wait) for name, ask in channels.items())
        )
        answers = Answers()
        for name, ranked, cause in results:
            if ranked is None:
                answers.failures[name] = cause
            else:
                answers.lists[name] = ranked
        if channels and not answers.lists:
            raise DependencyDown("no channel of recall answers")
        return answers

    async def _one(
        self, name: str, ask: Callable[[], Awaitable[Ranked]], wait: float
    ) -> tuple[str, Ranked | None, str]:
        try:
            async with asyncio.timeout(self._seconds):
                if wait:
                    await asyncio.sleep(wait)
                return name, usable(await ask()), ""
        except Unusable:
            cause = "gave no usable answer"
            self._log.warning("channel_unusable", channel=name)
        except TimeoutError:
            cause = "timed out"
        except DataFlowRefused:
            cause = "kept in by the data-flow policy"
        except Exception as error:  # noqa: BLE001 - one channel's fault must not be recall's: logged and named
            cause = "not available"
            self._log.warning("channel_failed", channel=name, error=type(error).__name__)
        return name, None, cause


def usable(ranked: Ranked) -> Ranked:
    """Raises Unusable for scores by which nothing can be ranked, or that a caller could not be told."""
    if all(abs(score) <= GREATEST_SCORE for _, score in ranked):  # false for NaN
        return ranked
    raise Unusable
