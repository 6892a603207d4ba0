"""Timeouts and retries of the client come from the service config that ships with it."""

from __future__ import annotations

import json
from importlib import resources

import pytest
from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.descriptor_pb2 import MethodOptions
from palimpsest.chat.v1 import chat_pb2
from palimpsest.derived.v1 import derived_pb2
from palimpsest.documents.v1 import documents_pb2
from palimpsest.gateway.v1 import gateway_pb2
from palimpsest.graph.v1 import graph_pb2
from palimpsest.history.v1 import history_pb2
from palimpsest.insight.v1 import insight_pb2
from palimpsest.search.v1 import search_pb2
from palimpsest.settings.v1 import settings_pb2
from palimpsest.state.v1 import state_pb2
from palimpsest.tools.v1 import tools_pb2
from palimpsest.working.v1 import working_pb2

from palimpsest import errors
from palimpsest.client.policy import RetryPolicy, gateway_policy
from services.kit.timeouts import method_timeouts, service_config

POLICY = RetryPolicy(max_attempts=4, initial_backoff=0.1, max_backoff=0.3, multiplier=2)


SERVICES: list[ServiceDescriptor] = [
    gateway_pb2.DESCRIPTOR.services_by_name["GatewayService"],
    history_pb2.DESCRIPTOR.services_by_name["HistoryService"],
    working_pb2.DESCRIPTOR.services_by_name["WorkingMemoryService"],
    state_pb2.DESCRIPTOR.services_by_name["StateService"],
    derived_pb2.DESCRIPTOR.services_by_name["DerivedWorkService"],
    documents_pb2.DESCRIPTOR.services_by_name["DocumentsService"],
    graph_pb2.DESCRIPTOR.services_by_name["GraphService"],
    insight_pb2.DESCRIPTOR.services_by_name["InsightService"],
    search_pb2.DESCRIPTOR.services_by_name["SearchService"],
]
BEHIND = {
    "DerivedWorkService": "compactor",
    "DocumentsService": "compactor",
    "GraphService": "compactor",
    "InsightService": "compactor",
    "SearchService": "semantic",
}
"""Which service serves what is passed on; Episodic, if not named."""


SETTINGS = settings_pb2.DESCRIPTOR.services_by_name["SettingsService"]
CHAT = chat_pb2.DESCRIPTOR.services_by_name["ChatService"]
TOOLS = tools_pb2.DESCRIPTOR.services_by_name["ToolService"]
"""The gateway's own, beside the first."""


def named(file: str) -> list[tuple[str, str, bool, bool]]:
    """Service and method of each entry, and whether it has a timeout and retries."""
    text = (resources.files("palimpsest") / "service_configs" / f"{file}.json").read_text("utf-8")
    return [
        (name["service"], name["method"], "timeout" in config, "retryPolicy" in config)
        for config in json.loads(text)["methodConfig"]
        for name in config["name"]
    ]


def test_every_method_of_every_service_of_the_gateway_is_in_the_service_config() -> None:
    """Once, and all but the streams with a timeout."""
    services = (*SERVICES, SETTINGS, CHAT, TOOLS)
    methods = [(service.full_name, method) for service in services for method in service.methods]
    found = named("gateway")
    assert sorted((service, method) for service, method, _, _ in found) == sorted(
        (service, method.name) for service, method in methods
    )
    timed = {method for _, method, timeout, _ in found if timeout}
    assert timed == {method.name for _, method in methods if not method.server_streaming}
    names = [method.name for _, method in methods]
    assert len(set(names)) == len(names), "the client knows methods by their name alone"
    policy = gateway_policy()
    assert set(policy.timeouts) == timed
    assert policy.timeouts["Recall"] == 60
    assert policy.timeouts["GetAgent"] == 10


@pytest.mark.parametrize("service", SERVICES[1:], ids=lambda service: service.name)
def test_services_that_are_passed_on_have_a_timeout_of_their_own(
    service: ServiceDescriptor,
) -> None:
    """And less than the gateway's, so that the answer of the one behind still arrives."""
    ours = {f"/{service.full_name}/{m.name}" for m in service.methods if not m.server_streaming}
    owner = BEHIND.get(service.name, "episodic")
    behind, before = (method_timeouts(service_config(name)) for name in (owner, "gateway"))
    assert ours <= set(behind)
    assert all(behind[path] <= before[path] for path in ours)


@pytest.mark.parametrize("file", ["gateway", "episodic", "compactor", "semantic"])
def test_what_may_be_called_twice_is_retried_and_nothing_else(file: str) -> None:
    """By what the protos say; of those that say nothing, those whose second call is no change."""
    retried = {(service, method) for service, method, _, retry in named(file) if retry}
    no_change = {"SwitchLeaf", "PutOverlay", "PutCollection"}
    for service in SERVICES[1:]:
        if file not in ("gateway", BEHIND.get(service.name, "episodic")):
            continue
        for method in service.methods:
            level = method.GetOptions().idempotency_level
            harmless = level != MethodOptions.IDEMPOTENCY_UNKNOWN or method.name in no_change
            wanted = harmless and not method.server_streaming
            assert ((service.full_name, method.name) in retried) == wanted, method.full_name
    if file == "gateway":
        assert "SetState" not in gateway_policy().retried
        assert {"RecordTurn", "GetNotes"} <= gateway_policy().retried


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
