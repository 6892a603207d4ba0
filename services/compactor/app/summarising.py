"""Who writes summaries (SPEC E-7, J-6, J-16): the ports, and the engine that needs no model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from services.compactor.app.engines import About
from services.compactor.domain import carrying, extractive
from services.compactor.domain.nearness import Vectors
from services.compactor.domain.rolling import RollingSummary
from services.compactor.domain.summaries import Utterance


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A text and the name of what wrote it."""

    text: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Refreshed:
    """A rolling summary and the name of what wrote it."""

    summary: RollingSummary
    engine: str


class Summariser(Protocol):
    """Writes summaries in the anchored form of J-6.

    A text is never longer than `max_tokens` (at least 1) by `services.kit.tokens.estimate_tokens`, and never
    empty when there is something to summarise. An engine that cannot do it gives the work to another, and
    names that.
    """

    async def summarise(
        self, about: About, messages: Sequence[Utterance], previous: str, max_tokens: int
    ) -> Summary:
        """What these messages say, the oldest first; `previous` ("" for none) is what was said before them,
        which need not be repeated."""

    async def merge(self, about: About, summaries: Sequence[str], max_tokens: int) -> Summary:
        """One summary that keeps what these knew, the oldest first."""


class Refresher(Protocol):
    """Goes on with rolling summaries (J-6)."""

    async def refreshed(
        self,
        about: About,
        previous: RollingSummary,
        messages: Sequence[Utterance],
        max_tokens: int,
        vectors: Vectors,
    ) -> Refreshed:
        """The summary after these messages, the oldest first, in at most `max_tokens` tokens of markdown; see
        domain.carrying.refreshed."""


class Extractive:
    """Chooses sentences (see domain.extractive); the same input always gives the same text."""

    async def summarise(
        self, _about: About, messages: Sequence[Utterance], previous: str, max_tokens: int
    ) -> Summary:
        """See Summariser."""
        # In a thread: long messages take a while, and calls on this loop go on meanwhile.
        text = await asyncio.to_thread(extractive.summarise, messages, previous, max_tokens)
        return Summary(text=text, model=extractive.NAME)

    async def merge(self, _about: About, summaries: Sequence[str], max_tokens: int) -> Summary:
        """See Summariser."""
        text = await asyncio.to_thread(extractive.merge, summaries, max_tokens)
        return Summary(text=text, model=extractive.NAME)

    async def refreshed(
        self,
        _about: About,
        previous: RollingSummary,
        messages: Sequence[Utterance],
        max_tokens: int,
        vectors: Vectors,
    ) -> Refreshed:
        """See Refresher."""
        summary = await asyncio.to_thread(carrying.refreshed, previous, messages, max_tokens, vectors)
        return Refreshed(summary=summary, engine=extractive.NAME)
