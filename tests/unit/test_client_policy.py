"""Timeouts and retries of the client come from the service config that ships with it."""

from __future__ import annotations

import json
from importlib import resources

import pytest
from palimpsest.gateway.v1 import gateway_pb2

from palimpsest import errors
from palimpsest.client.policy import RetryPolicy, gateway_policy

POLICY = RetryPolicy(max_attempts=4, initial_backoff=0.1, max_backoff=0.3, multiplier=2)


def test_every_method_of_the_gateway_is_in_the_service_config() -> None:
    [service] = gateway_pb2.DESCRIPTOR.services_by_name.values()
    text = (resources.files("palimpsest") / "service_configs" / "gateway.json").read_text("utf-8")
    named = [name["method"] for config in json.loads(text)["methodConfig"] for name in config["name"]]
    assert sorted(named) == sorted(method.name for method in service.methods)
    timeouts = gateway_policy().timeouts
    streams = {method.name for method in service.methods if method.server_streaming}
    assert set(named) - set(timeouts) == streams
    assert timeouts["Recall"] == 60
    assert timeouts["GetAgent"] == 10


def test_backoff_grows_to_its_bound_and_ends() -> None:
    down = errors.UnavailableError()
    assert [POLICY.delay(down, attempt, lambda: 1.0) for attempt in (1, 2, 3, 4)] == [0.1, 0.2, 0.3, None]
    assert POLICY.delay(down, 2, lambda: 0.5) == 0.1


def test_what_the_server_asks_for_is_never_shortened() -> None:
    busy = errors.OverloadedError(retry_after=2.0)
    assert POLICY.delay(busy, 99, lambda: 0.0) == 2.0
    assert POLICY.delay(busy, 99, lambda: 1.0) == pytest.approx(2.4)


@pytest.mark.parametrize("kind", sorted(set(errors.CLASS_OF_REASON.values()), key=lambda kind: kind.reason))
def test_only_what_may_pass_is_tried_again(kind: type[errors.PalimpsestError]) -> None:
    retried = kind in (errors.UnavailableError, errors.OverloadedError)
    assert (POLICY.delay(kind(), 1) is not None) == retried
