"""Recall by a made-up answer to the query (SPEC S-9 "hyde", S-15).

Source: Gao, Ma, Lin, Callan, "Precise Zero-Shot Dense Retrieval without Relevance Labels", ACL 2023: what
answers a question lies nearer to another answer, even a wrong one, than to the question.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from services.kit.errors import NotAllowed
from services.memory.semantic.app.ports import Texts

HYDE = "hyde"
HYPOTHESIS_SHARE = 0.75
"""S-11: of the time that a channel has; the rest is for embedding and searching."""


class Hypothesis(Protocol):
    """Makes up what could answer a query."""

    async def of(self, query: str) -> str:
        """A short text, not empty. Raises TimeoutError, DependencyDown."""


class KeptIn(NotAllowed):
    """The tenant's data-flow policy lets no text leave."""


class Hyde:
    """The vector of a made-up answer, for tenants whose texts may leave."""

    def __init__(
        self,
        *,
        hypothesis: Hypothesis,
        texts: Texts,
        may_leave: Callable[[str], bool],
        kept_in: Callable[[], None],
    ) -> None:
        """`may_leave` is the data-flow policy by tenant; `kept_in` counts its refusals (S-15)."""
        self._hypothesis = hypothesis
        self._texts = texts
        self._may_leave = may_leave
        self._kept_in = kept_in

    async def vector(self, tenant: str, query: str) -> bytes:
        """As `Texts.query`. Raises KeptIn before any text has left, TimeoutError, DependencyDown."""
        if not self._may_leave(tenant):
            self._kept_in()
            raise KeptIn
        # As a query and not as a document: queries don't wait behind what is being indexed (M-2).
        return await self._texts.query(await self._hypothesis.of(query))
