"""Who reads facts from messages (SPEC J-8, J-16): the port, and the engine that needs no model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from services.compactor.domain.extracting import extract
from services.compactor.domain.extracting_types import Fact, Turn


class Extractor(Protocol):
    """Reads what people state of themselves and of those near to them."""

    async def extract(self, turns: Sequence[Turn]) -> Sequence[Sequence[Fact]]:
        """The facts of each turn, in the order of `turns`; none for a turn that states nothing lasting.

        A fact's key and value are what a memory's may be (S-1). Raises DependencyDown or Overloaded while a
        model is away.
        """


class Grammar:
    """Understands plain sentences (see domain.extracting); the same input always gives the same facts."""

    async def extract(self, turns: Sequence[Turn]) -> Sequence[Sequence[Fact]]:
        """See Extractor."""
        # In a thread: long messages take a while, and calls on this loop go on meanwhile.
        return await asyncio.to_thread(_all, turns)


def _all(turns: Sequence[Turn]) -> list[list[Fact]]:
    return [extract(turn) for turn in turns]
