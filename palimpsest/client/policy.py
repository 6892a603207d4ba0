"""Timeouts and retries, read from the service config that ships with this package."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from palimpsest.errors import OverloadedError, PalimpsestError, UnavailableError

RETRY_JITTER = 0.2
"""What the server asks for is lengthened by up to this share, so that callers don't come back together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """When a failed call is tried again; times in seconds.

    A backoff is drawn from 0 to min(initial × multiplier ^ (attempt - 1), maximum), as gRPC's own.
    """

    max_attempts: int
    initial_backoff: float
    max_backoff: float
    multiplier: float

    def delay(
        self, error: PalimpsestError, attempt: int, draw: Callable[[], float] = random.random
    ) -> float | None:
        """Seconds to wait after the failed `attempt` (from 1); None to give up.

        Where the server says when to come back, only the deadline bounds the number of attempts.
        """
        if not isinstance(error, UnavailableError | OverloadedError):
            return None
        if error.retry_after is not None:
            return error.retry_after * (1 + RETRY_JITTER * draw())
        if attempt >= self.max_attempts:
            return None
        return min(self.initial_backoff * self.multiplier ** (attempt - 1), self.max_backoff) * draw()


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPolicy:
    """Default timeouts in seconds by method name (streams have none), and the one retry policy.

    `retried` are the methods that may be called again when it is not known what became of the first call.
    """

    timeouts: Mapping[str, float]
    retries: RetryPolicy
    retried: frozenset[str]


@cache
def gateway_policy() -> CallPolicy:
    """The service config of the gateway and of the services that it passes on; methods' names are unique."""
    text = (resources.files("palimpsest") / "service_configs" / "gateway.json").read_text("utf-8")
    configs = json.loads(text)["methodConfig"]
    timeouts = {
        name["method"]: _seconds(config["timeout"])
        for config in configs
        if "timeout" in config
        for name in config["name"]
    }
    retry = next(config["retryPolicy"] for config in configs if "retryPolicy" in config)
    return CallPolicy(
        timeouts=timeouts,
        retries=RetryPolicy(
            max_attempts=retry["maxAttempts"],
            initial_backoff=_seconds(retry["initialBackoff"]),
            max_backoff=_seconds(retry["maxBackoff"]),
            multiplier=retry["backoffMultiplier"],
        ),
        retried=frozenset(
            name["method"] for config in configs if "retryPolicy" in config for name in config["name"]
        ),
    )


def _seconds(text: str) -> float:
    """A protobuf duration in JSON, such as "0.1s"."""
    return float(text.removesuffix("s"))
