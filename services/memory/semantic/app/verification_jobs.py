"""Verifying one memory as a job of its own, by a judge that may have to be waited for (SPEC S-7, J-16)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from services.kit.context import time_remaining
from services.memory.semantic.app.generations import Generation, Generations
from services.memory.semantic.app.ports import MemoryStore
from services.memory.semantic.app.vector_writing import VectorWriter
from services.memory.semantic.app.verifying import Fresh, Verifier
from services.memory.semantic.domain.memory import Verification

MODEL_SHARE = 0.75
"""Of the time that the call has: what models may take for all verdicts; the rest is for the rules."""
MODEL_SECONDS = 90.0
"""The same where the call has no end."""
MOST_NAME = 128
"""Characters of the judges' names together."""


class VerificationJobs:
    """Does what indexing left to a job. What is done already is not done again."""

    def __init__(
        self,
        *,
        store: MemoryStore,
        generations: Generations,
        verifier_of: Callable[[Generation], Verifier] | None = None,
    ) -> None:
        """Without `verifier_of` nothing is verified: the setting is off (S-7)."""
        self._store = store
        self._generations = generations
        self._writer = VectorWriter(generations)
        self._verifier_of = verifier_of

    async def verify(self, tenant: str, agent_id: str, memory_id: str) -> str:
        """The names of those who judged, each once; "" where there was nothing to judge.

        A memory that is gone, or is verified by now, is left as it is. Raises what a store or a judge does.
        """
        until = asyncio.get_running_loop().time() + _seconds()
        memory = (await self._store.get(tenant, agent_id, [memory_id])).get(memory_id)
        if self._verifier_of is None or memory is None or memory.verification is not Verification.PENDING:
            return ""
        generation = self._generations.written[-1]
        made = await self._writer.embed((generation,), [(memory.id, memory.value)])
        fresh = Fresh(memory=memory, vector=made.deciding.get(memory.id))
        judges = await self._verifier_of(generation).by_asking(tenant, agent_id, fresh, until=until)
        return "; ".join(dict.fromkeys(judges))[:MOST_NAME]


def _seconds() -> float:
    remaining = time_remaining()
    return MODEL_SECONDS if remaining is None else MODEL_SHARE * remaining
