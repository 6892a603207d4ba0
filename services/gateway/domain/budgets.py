"""What a tenant may use, and what models cost (SPEC G-5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import date, timedelta
from decimal import ROUND_CEILING, Decimal
from typing import Final

from services.kit.errors import InvalidField

REQUESTS: Final = "requests_per_minute"
BURST: Final = "request_burst"
TOKENS: Final = "tokens_per_minute"
SPEND: Final = "spend_per_day_micros"
STREAMS: Final = "concurrent_streams"
BOUNDS: Final[Mapping[str, tuple[int, int]]] = {
    REQUESTS: (1, 10**9),
    BURST: (1, 10**9),
    TOKENS: (0, 10**12),
    SPEND: (0, 10**15),
    STREAMS: (0, 10**6),
}
"""G-5: least and most of each budget. With no call at all a tenant could not raise its own again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """Calls a minute, and at once; tokens a minute; millionths of a currency a day (UTC); open streams.

    None is not set: in settings the deployment's default, in what holds no limit. 0 allows nothing.
    """

    requests_per_minute: int | None = None
    request_burst: int | None = None
    tokens_per_minute: int | None = None
    spend_per_day_micros: int | None = None
    concurrent_streams: int | None = None

    def items(self) -> Iterator[tuple[str, int | None]]:
        """By name, in order."""
        return ((each.name, getattr(self, each.name)) for each in fields(self))


NO_BUDGETS: Final = Budgets()
SPEND_KEPT: Final = timedelta(days=400)
"""For how long what was spent is kept before a tenant's newest: a year, and a month to compare it with."""


def checked(budgets: Budgets) -> Budgets:
    """The same. Raises InvalidField for one out of its bounds."""
    for name, value in budgets.items():
        least, most = BOUNDS[name]
        if value is not None and not least <= value <= most:
            raise InvalidField(f"settings.budgets.{name}", f"must be from {least} to {most}")
    return budgets


def in_force(own: Budgets, deployment: Budgets) -> Budgets:
    """What holds: a tenant's own, else the deployment's.

    A burst that nobody chose is what a minute allows; the deployment's does not go beyond a tenant's minute.
    """
    held = {
        name: default if value is None else value for (name, value), (_, default) in _pairs(own, deployment)
    }
    minute = held[REQUESTS]
    if minute is None:
        held[BURST] = None
    elif held[BURST] is None:
        held[BURST] = minute
    elif own.request_burst is None and own.requests_per_minute is not None:
        held[BURST] = min(minute, held[BURST] or minute)
    return Budgets(**held)


def raised(old: Budgets, new: Budgets, deployment: Budgets) -> str | None:
    """The name of a budget that `new` sets above the deployment's and above what it was; None without one.

    To take back what was set is not to raise it: then the deployment's holds.
    """
    bounds = in_force(NO_BUDGETS, deployment)
    for (name, value), (_, before), (_, most) in zip(new.items(), old.items(), bounds.items(), strict=True):
        if value is not None and most is not None and value > max(most, before or 0):
            return name
    return None


def _pairs(one: Budgets, other: Budgets) -> Iterator[tuple[tuple[str, int | None], tuple[str, int | None]]]:
    return zip(one.items(), other.items(), strict=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a million tokens cost in the currency, which is what one costs in its millionths."""

    input: Decimal
    output: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """By tier ("standard"), or by tier and model ("standard/a-model"), which goes first; else nothing."""

    of: Mapping[str, Price] = field(default_factory=dict)

    def micros(self, tier: str, model: str, *, input_tokens: int, output_tokens: int) -> int:
        """Millionths of the currency, rounded up."""
        price = self.of.get(f"{tier}/{model}") or self.of.get(tier)
        if price is None:
            return 0
        exact = price.input * input_tokens + price.output * output_tokens
        return int(exact.to_integral_value(rounding=ROUND_CEILING))


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpend:
    """What calls of one model took on one day (UTC)."""

    day: date
    tier: str
    model: str
    calls: int = 0
    estimated_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    micros: int = 0

    def __add__(self, other: ModelSpend) -> ModelSpend:
        """Both together, under the first one's day, tier and model."""
        return replace(
            self,
            calls=self.calls + other.calls,
            estimated_calls=self.estimated_calls + other.estimated_calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            micros=self.micros + other.micros,
        )
