"""Embedding by a model that is somebody else's: only texts that may leave (SPEC S-15, M-5)."""

from __future__ import annotations

from collections.abc import Sequence

from services.embedder.app.batcher import Batcher
from services.embedder.app.cache import VectorCache
from services.embedder.app.embedding import Embedder
from services.embedder.app.ports import EmbeddingBackend
from services.embedder.domain.model import ChunkingRule, Embedded, Purpose
from services.kit.context import current_principal
from services.kit.identity import Principal
from services.kit.policy import Gate

EMBEDDING = "embedding"
"""What refusals are counted as."""


class PartnerEmbedder(Embedder):
    """An Embedder whose texts leave."""

    def __init__(
        self, backend: EmbeddingBackend, batcher: Batcher, cache: VectorCache, *, gate: Gate
    ) -> None:
        super().__init__(backend, batcher, cache)
        self._gate = gate

    async def embed(
        self, texts: Sequence[str], purpose: Purpose, chunking: ChunkingRule | None
    ) -> list[Embedded]:
        """As Embedder, for the caller's tenant. Raises DataFlowRefused too, before any text has left.

        Documents wait for a policy that is not known (DependencyDown): refused, they never get a vector.
        """
        caller = current_principal()
        can_wait = purpose is Purpose.DOCUMENT
        await self._gate.check(caller.tenant, agent_of(caller), can_wait=can_wait)
        return await super().embed(texts, purpose, chunking)


def agent_of(caller: Principal) -> str:
    """The agent whose settings hold: the one that the caller is limited to, else the tenant's ("")."""
    return next(iter(caller.agents)) if caller.agents is not None and len(caller.agents) == 1 else ""
