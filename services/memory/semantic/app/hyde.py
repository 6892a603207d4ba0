"""Recall by a made-up answer to the query (SPEC S-9 "hyde", S-15).

Source: Gao, Ma, Lin, Callan, "Precise Zero-Shot Dense Retrieval without Relevance Labels", ACL 2023: what
answers a question lies nearer to another answer, even a wrong one, than to the question.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from services.memory.semantic.app.ports import Texts

HYDE = "hyde"
HYPOTHESIS_SHARE = 0.75
"""S-11: of the time that a channel has; the rest is for embedding and searching."""


class Hypothesis(Protocol):
    """Makes up what could answer a query."""

    async def of(self, agent_id: str, query: str) -> str:
        """For an agent, a short text, not empty. Raises TimeoutError, DependencyDown."""


class Hyde:
    """The vector of a made-up answer, for tenants whose texts may leave."""

    def __init__(self, *, hypothesis: Hypothesis, leave: Callable[[str, str], Awaitable[None]]) -> None:
        """`leave` raises DataFlowRefused where a tenant's and agent's texts must not leave (S-15)."""
        self._hypothesis = hypothesis
        self._leave = leave

    async def vector(self, tenant: str, agent_id: str, query: str, texts: Texts) -> bytes:
        """As `texts.query`.

        Raises DataFlowRefused before any text has left, TimeoutError, DependencyDown.
        """
        await self._leave(tenant, agent_id)
        # As a query and not as a document: queries don't wait behind what is being indexed (M-2).
        return await texts.query(await self._hypothesis.of(agent_id, query))
