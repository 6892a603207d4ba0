"""Which budgets hold, who may raise them, and what models cost (SPEC G-5, G-12)."""

from __future__ import annotations

from decimal import Decimal

import pytest

from services.gateway.adapters.settings_json import dumped, loaded
from services.gateway.config import GatewaySettings
from services.gateway.domain.budgets import (
    BOUNDS,
    NO_BUDGETS,
    Budgets,
    Price,
    Prices,
    checked,
    in_force,
    raised,
)
from services.gateway.domain.settings import Settings, effective, names_budgets, with_paths
from services.kit.errors import InvalidField

DEPLOYMENT = Budgets(
    requests_per_minute=600, request_burst=50, spend_per_day_micros=1000, concurrent_streams=0
)


def test_what_a_tenant_left_unset_is_the_deployments() -> None:
    """G-5: a 0 is a choice."""
    own = Budgets(tokens_per_minute=5, spend_per_day_micros=0)
    assert in_force(own, DEPLOYMENT) == Budgets(
        requests_per_minute=600,
        request_burst=50,
        tokens_per_minute=5,
        spend_per_day_micros=0,
        concurrent_streams=0,
    )
    assert in_force(NO_BUDGETS, NO_BUDGETS) == NO_BUDGETS


@pytest.mark.parametrize(
    ("own", "deployment", "burst"),
    [
        (Budgets(requests_per_minute=7), NO_BUDGETS, 7),
        (Budgets(requests_per_minute=7), DEPLOYMENT, 7),
        (Budgets(requests_per_minute=99), DEPLOYMENT, 50),
        (Budgets(requests_per_minute=7, request_burst=9), DEPLOYMENT, 9),
        (Budgets(request_burst=9), DEPLOYMENT, 9),
        (NO_BUDGETS, Budgets(requests_per_minute=6, request_burst=60), 60),
        (Budgets(request_burst=9), NO_BUDGETS, None),
    ],
)
def test_how_many_calls_may_come_at_once(own: Budgets, deployment: Budgets, burst: int | None) -> None:
    assert in_force(own, deployment).request_burst == burst


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        (NO_BUDGETS, Budgets(requests_per_minute=600), None),
        (NO_BUDGETS, Budgets(requests_per_minute=601), "requests_per_minute"),
        (NO_BUDGETS, Budgets(tokens_per_minute=10**12), None),
        (NO_BUDGETS, Budgets(concurrent_streams=1), "concurrent_streams"),
        (Budgets(requests_per_minute=900), Budgets(requests_per_minute=900), None),
        (Budgets(requests_per_minute=900), Budgets(requests_per_minute=800), None),
        (Budgets(requests_per_minute=900), Budgets(requests_per_minute=901), "requests_per_minute"),
        (Budgets(requests_per_minute=1), Budgets(requests_per_minute=600), None),
        (Budgets(requests_per_minute=1), NO_BUDGETS, None),
        (NO_BUDGETS, Budgets(request_burst=51), "request_burst"),
    ],
)
def test_what_is_above_the_deployments_and_above_what_it_was(
    old: Budgets, new: Budgets, name: str | None
) -> None:
    """G-5: only an operator may do that."""
    assert raised(old, new, DEPLOYMENT) == name


def test_a_budget_has_bounds() -> None:
    for name, (least, most) in BOUNDS.items():
        for value in (least, most):
            checked(Budgets(**{name: value}))
        for value in (least - 1, most + 1):
            with pytest.raises(InvalidField) as caught:
                checked(Budgets(**{name: value}))
            assert caught.value.fields[0].field == f"settings.budgets.{name}"


def test_one_budget_can_be_changed_and_the_others_stay() -> None:
    """G-12: and all of them by one name."""
    old = Settings(verify=True, budgets=Budgets(requests_per_minute=5, tokens_per_minute=7))
    new = Settings(budgets=Budgets(tokens_per_minute=8, concurrent_streams=3))
    made = with_paths(old, new, ["budgets.tokens_per_minute", "budgets.requests_per_minute"])
    assert made == Settings(verify=True, budgets=Budgets(tokens_per_minute=8))
    assert with_paths(old, new, ["budgets"]) == Settings(verify=True, budgets=new.budgets)
    for path in ("budgets.", "budgets.none", "budgets.tokens_per_minute.x"):
        with pytest.raises(InvalidField):
            with_paths(old, new, [path])
    assert names_budgets(["verify", "budgets.tokens_per_minute"])
    assert names_budgets(["budgets"])
    assert not names_budgets(["verify"])


def test_an_agents_budgets_are_its_tenants() -> None:
    tenant = Settings(budgets=Budgets(requests_per_minute=5))
    agent = Settings(budgets=Budgets(requests_per_minute=6))
    assert effective(agent, tenant).budgets == tenant.budgets


def test_budgets_are_kept_as_they_are() -> None:
    whole = Budgets(**{name: most for name, (_, most) in BOUNDS.items()})
    for budgets in (NO_BUDGETS, Budgets(spend_per_day_micros=0), whole):
        assert loaded(dumped(Settings(budgets=budgets))).budgets == budgets
    assert loaded("{}").budgets == NO_BUDGETS, "written before there were any"


def test_prices_are_those_of_the_model_else_of_its_tier_rounded_up() -> None:
    """G-5: a price for a million tokens is one of a token in millionths."""
    prices = Prices(
        of={
            "standard": Price(input=Decimal("2.5"), output=Decimal(10)),
            "standard/small": Price(input=Decimal("0.1"), output=Decimal(0)),
        }
    )
    assert prices.micros("standard", "large", input_tokens=1000, output_tokens=100) == 3500
    assert prices.micros("standard", "small", input_tokens=30, output_tokens=5) == 3
    assert prices.micros("standard", "small", input_tokens=1, output_tokens=0) == 1
    assert prices.micros("fast", "small", input_tokens=1000, output_tokens=1000) == 0


def test_prices_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALIMPSEST_GATEWAY_LIMIT_PRICES", '{"deep": {"input": 0.1}}')
    monkeypatch.setenv("PALIMPSEST_GATEWAY_LIMIT_SPEND_PER_DAY_MICROS", "5000000")
    settings = GatewaySettings()
    assert settings.limit_prices["deep"].input == Decimal("0.1")
    assert settings.limit_spend_per_day_micros == 5_000_000


@pytest.mark.parametrize(
    "given",
    [
        {"limit_spend_per_day_micros": 5},
        {"limit_prices": {"none": {}}},
        {"limit_prices": {"fast": {"input": -1}}},
        {"limit_prices": {"fast": {"inptu": 1}}},
        {"limit_requests_per_minute": 0},
        {"limit_without_redis": "sometimes"},
    ],
)
def test_a_deployment_that_means_something_else_does_not_start(given: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="limit_"):
        GatewaySettings(**given)  # type: ignore[arg-type]
