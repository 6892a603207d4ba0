"""The judge of supersession as a port, and the one that needs no model (SPEC S-7, J-16)."""

from __future__ import annotations

import asyncio
from typing import Protocol

from services.memory.semantic.domain.judging import judge
from services.memory.semantic.domain.judging_types import Statement, Verdict
from services.memory.semantic.domain.memory import Memory


class Judge(Protocol):
    """Says how likely one statement replaces or contradicts another of the same scope."""

    @property
    def name(self) -> str:
        """What a recorded contradiction names as its judge."""
        ...

    async def judge(self, old: Statement, new: Statement) -> Verdict:
        """Returns the verdict; `new` was written after `old`."""
        ...


class DeterministicJudge:
    """Rules without a model: never fails, asks nobody, sends no text anywhere."""

    @property
    def name(self) -> str:
        """Stable, and raised with a change of the rules that changes verdicts."""
        return "rules/1"

    async def judge(self, old: Statement, new: Statement) -> Verdict:
        """Applies the rules in a thread: two long statements take them a while, and others are served."""
        return await asyncio.to_thread(judge, old, new)


def statement_of(memory: Memory) -> Statement:
    """A memory as the judge sees it."""
    return Statement(
        key=memory.key,
        value=memory.value,
        valid_from=memory.valid_from,
        valid_to=memory.valid_to,
        kind=memory.kind,
    )
