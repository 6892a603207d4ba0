"""The metrics that every service has (SPEC O-4): calls, and whatever it registers itself."""

from __future__ import annotations

from contextlib import ExitStack

from prometheus_client import CollectorRegistry, Histogram, start_http_server

from services.kit.errors import StartupError

LATENCY_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    """Holds the registry; a service adds its own metrics to it."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry or CollectorRegistry()
        self._calls = Histogram(
            "palimpsest_rpc_seconds",
            "Duration of calls by method and status code.",
            ["method", "code"],
            buckets=LATENCY_BUCKETS,
            registry=self.registry,
        )

        self._series: dict[tuple[str, str], Histogram] = {}  # `labels` takes a lock and makes texts

    def serve(self, host: str, port: int, stack: ExitStack) -> None:
        """Answers Prometheus at http://host:port/metrics until the stack is left. Raises StartupError."""
        try:
            server, thread = start_http_server(port, host, self.registry)
        except OSError as error:
            raise StartupError(f"cannot serve metrics on {host}:{port}: {error.strerror}") from error
        stack.callback(thread.join)
        stack.callback(server.server_close)
        stack.callback(server.shutdown)

    def observe_call(self, method: str, code: str, seconds: float) -> None:
        """Records a call that has ended."""
        series = self._series.get((method, code))
        if series is None:
            series = self._series[method, code] = self._calls.labels(method, code)
        series.observe(seconds)
