"""What models cost, as Prometheus shows it; by tenant and agent it is recorded in Episodic (SPEC E-11)."""

from __future__ import annotations

from prometheus_client import Counter

from services.kit.models.types import Tier, Usage


class ModelMetrics:
    """Counters by tier: an endpoint chooses what it calls its models, which would make series without end."""

    def __init__(self, service: str) -> None:
        """`service` is part of the metrics' names: services of one process share a registry."""
        name = f"palimpsest_{service}_model"
        self._calls = Counter(f"{name}_calls", "Answers of models.", ["tier", "figures"], registry=None)
        self._tokens = Counter(
            f"{name}_tokens", "Tokens to and from models.", ["tier", "direction"], registry=None
        )
        self.collectors = (self._calls, self._tokens)
        """For the service's registry."""

    def used(self, tier: Tier, usage: Usage) -> None:
        """Counts what a call cost, whether or not it was of use."""
        self._calls.labels(tier.value, "given").inc(usage.calls - usage.estimated_calls)
        self._calls.labels(tier.value, "estimated").inc(usage.estimated_calls)
        self._tokens.labels(tier.value, "input").inc(usage.input_tokens)
        self._tokens.labels(tier.value, "output").inc(usage.output_tokens)
