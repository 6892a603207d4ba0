"""Usage in Prometheus, and in Episodic by tenant and conversation (SPEC E-11)."""

from __future__ import annotations

from services.kit.models.metrics import ModelMetrics
from services.kit.models.recording import UsageRecorder
from services.kit.models.types import Tier, Usage


class CountedUsage:
    """A UsageRecorder that also counts."""

    def __init__(self, inner: UsageRecorder, metrics: ModelMetrics) -> None:
        self._inner = inner
        self._metrics = metrics

    async def record(self, agent_id: str, conversation_id: str, tier: Tier, model: str, usage: Usage) -> None:
        """See the port."""
        self._metrics.used(tier, usage)
        await self._inner.record(agent_id, conversation_id, tier, model, usage)
