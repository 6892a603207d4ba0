"""Who writes summaries (SPEC E-7, J-16): the port, and the engine that needs no model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from services.compactor.domain import extractive
from services.compactor.domain.summaries import Utterance


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A text and the name of what wrote it."""

    text: str
    model: str


class Summariser(Protocol):
    """Writes summaries in the anchored form of J-6.

    A text is never longer than `max_tokens` (at least 1) by `services.kit.tokens.estimate_tokens`, and never
    empty when there is something to summarise. Raises DependencyDown or Overloaded while a model is away.
    """

    async def summarise(self, messages: Sequence[Utterance], previous: str, max_tokens: int) -> Summary:
        """What these messages say, the oldest first; `previous` ("" for none) is what was said before them,
        which need not be repeated."""

    async def merge(self, summaries: Sequence[str], max_tokens: int) -> Summary:
        """One summary that keeps what these knew, the oldest first."""


class Extractive:
    """Chooses sentences (see domain.extractive); the same input always gives the same text."""

    async def summarise(self, messages: Sequence[Utterance], previous: str, max_tokens: int) -> Summary:
        """See Summariser."""
        # In a thread: long messages take a while, and calls on this loop go on meanwhile.
        text = await asyncio.to_thread(extractive.summarise, messages, previous, max_tokens)
        return Summary(text=text, model=extractive.NAME)

    async def merge(self, summaries: Sequence[str], max_tokens: int) -> Summary:
        """See Summariser."""
        text = await asyncio.to_thread(extractive.merge, summaries, max_tokens)
        return Summary(text=text, model=extractive.NAME)
