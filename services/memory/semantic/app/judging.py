"""The judge of supersession as a port, and the one that needs no model (SPEC S-7, J-16)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Protocol

from services.memory.semantic.domain.judging import judge
from services.memory.semantic.domain.judging_types import Statement, Verdict
from services.memory.semantic.domain.memory import Memory

JUDGE = "judge"
"""What a refusal of the data-flow policy is counted as (S-15)."""
RULES = "rules/4"
"""The rules' name, raised with a change of them that changes verdicts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A verdict, and who gave it, as a supersession or contradiction, and the job, record it."""

    verdict: Verdict
    judge: str


class Judge(Protocol):
    """Says how likely one statement replaces or contradicts another of the same scope."""

    async def at_once(self, old: Statement, new: Statement, /) -> Judged | None:
        """The verdict where it takes no waiting; None where a model may be asked, which `judge` does."""
        ...

    async def judge(
        self, tenant: str, agent_id: str, old: Statement, new: Statement, /, *, until: float | None = None
    ) -> Judged:
        """Returns the verdict; `new` was written after `old`. The tenant and agent are whose they are.

        `until` is a time of the running loop from which on no model is waited for.
        """
        ...


class DeterministicJudge:
    """Rules without a model: never fails, asks nobody, sends no text anywhere."""

    async def at_once(self, old: Statement, new: Statement, /) -> Judged:
        """Applies the rules in a thread: two long statements take them a while, and others are served."""
        return Judged(verdict=await asyncio.to_thread(judge, old, new), judge=RULES)

    async def judge(
        self,
        _tenant: str,
        _agent_id: str,
        old: Statement,
        new: Statement,
        /,
        *,
        until: float | None = None,  # noqa: ARG002
    ) -> Judged:
        """The same."""
        return await self.at_once(old, new)


def statement_of(memory: Memory) -> Statement:
    """A memory as the judge sees it."""
    return Statement(
        key=memory.key,
        value=memory.value,
        valid_from=memory.valid_from,
        valid_to=memory.valid_to,
        kind=memory.kind,
    )
