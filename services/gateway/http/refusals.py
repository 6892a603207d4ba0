"""Requests that were refused before they were calls, counted (SPEC O-4): calls have metrics of their own."""

from __future__ import annotations

from prometheus_client import Counter

from services.kit.errors import PalimpsestError


class Refusals:
    """Counts what the HTTP face and the Model Context Protocol refuse."""

    def __init__(self) -> None:
        self.counter = Counter(
            "palimpsest_gateway_http_refused",
            "Requests over HTTP that were refused before they were calls, by the reason of the error.",
            ["reason"],
            registry=None,
        )

    def count(self, error: PalimpsestError) -> None:
        """One more."""
        self.counter.labels(error.reason).inc()
