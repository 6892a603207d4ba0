"""Who reads facts from messages (SPEC J-8, J-16): the port, and the engine that needs no model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from services.compactor.app.engines import About
from services.compactor.domain.extraction.facts import Fact, Turn
from services.compactor.domain.extraction.grammar import NAME, extract


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """The facts of each turn, and the name of what read them ("" where nothing was to be read)."""

    facts: Sequence[Sequence[Fact]]
    engine: str


class Extractor(Protocol):
    """Reads what people state of themselves and of those near to them."""

    async def extract(self, about: About, turns: Sequence[Turn]) -> Extracted:
        """The facts of each turn, in the order of `turns`; none for a turn that states nothing lasting.

        A fact's key and value are what a memory's may be (S-1). An engine that cannot do it gives the work
        to another, and names that: nothing found is never said for want of an engine.
        """


class Grammar:
    """Understands plain sentences (see domain.extraction); the same input always gives the same facts."""

    async def extract(self, _about: About, turns: Sequence[Turn]) -> Extracted:
        """See Extractor."""
        # In a thread: long messages take a while, and calls on this loop go on meanwhile.
        facts = await asyncio.to_thread(_all, turns)
        return Extracted(facts=facts, engine=NAME if turns else "")


def _all(turns: Sequence[Turn]) -> list[list[Fact]]:
    return [extract(turn) for turn in turns]
