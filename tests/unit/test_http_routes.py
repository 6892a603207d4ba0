"""Routes of JSON over HTTP: what the protos say, held together (SPEC G-10)."""

from __future__ import annotations

from unittest.mock import Mock

import pytest
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.descriptor_pool import Default
from hypothesis import given, settings
from hypothesis import strategies as st
from palimpsest.gateway.v1 import gateway_pb2
from palimpsest.settings.v1 import settings_pb2

from services.gateway.http.routes import WHOLE_BODY, Routes, field_at, rule_of
from services.gateway.http.template import decode, parse
from services.gateway.rpc.faces import faces
from services.kit.errors import InvalidField

SERVICES: list[ServiceDescriptor] = [
    gateway_pb2.DESCRIPTOR.services_by_name["GatewayService"],
    settings_pb2.DESCRIPTOR.services_by_name["SettingsService"],
    *(Default().FindServiceByName(face.name) for face in faces(Mock())),
]
METHODS: list[MethodDescriptor] = [method for service in SERVICES for method in service.methods]
ROUTES = Routes(SERVICES)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.full_name)
def test_every_call_without_a_stream_of_requests_has_a_route(method: MethodDescriptor) -> None:
    assert (rule_of(method) is None) == method.client_streaming


def test_routes_are_found_again_by_paths_made_from_their_templates() -> None:
    """So no route hides another, whatever the order (SPEC G-10)."""
    for route in ROUTES.all:
        path = route.template.text
        for variable in route.template.variables:
            path = path.replace("{" + variable + "}", "x").replace("{" + variable + "=**}", "x/y")
        found = ROUTES.find(route.verb, path)
        assert found is not None, route.template.text
        assert found.route is route


def test_verbs_say_whether_a_call_changes_anything() -> None:
    """A call with side effects is never a GET, and what a GET takes is in the query."""
    for route in ROUTES.all:
        harmless = route.method.GetOptions().idempotency_level == 1
        assert route.verb != "GET" or route.body == ""
        if route.verb in ("PUT", "PATCH", "DELETE"):
            assert not harmless, route.method.full_name


def test_an_update_has_its_mask_in_the_query_and_its_object_in_the_body() -> None:
    """As AIP-134 has it."""
    masked = [route for route in ROUTES.all if "update_mask" in route.method.input_type.fields_by_name]
    assert len(masked) >= 5
    assert all(route.verb == "PATCH" and route.body not in ("", WHOLE_BODY) for route in masked)


@pytest.mark.parametrize(
    ("path", "method", "values"),
    [
        ("/v1/agents/a:b", "GetAgent", ("a:b",)),
        ("/v1/agents/a/conversations/c:watch", "WatchConversation", ("a", "c")),
        ("/v1/agents/a/conversations/c%3Awatch", "GetConversation", ("a", "c%3Awatch")),
        ("/v1/jobs:watch", "WatchJobs", ()),
        ("/v1/jobs/watch", "GetJob", ("watch",)),
        ("/v1/agents/a/memories:byKey", "GetMemoryByKey", ("a",)),
        ("/v1/agents/a/contextBlocks/l/entries/docs/x:y", "GetContextEntry", ("a", "l", "docs/x:y")),
        ("/v1/agents/a/contextBlocks/l/entries", "ListContextEntries", ("a", "l")),
    ],
)
def test_a_path_leads_to_its_call(path: str, method: str, values: tuple[str, ...]) -> None:
    found = ROUTES.find("GET", path)
    assert found is not None
    assert (found.route.method.name, found.values) == (method, values)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "/v1",
        "/v1/agents/",
        "//v1/agents",
        "/v1/agents/a/",
        "/v1/Agents/a",
        "/v2/agents/a",
        "/v1/a?b",
    ],
)
def test_other_paths_lead_nowhere(path: str) -> None:
    assert ROUTES.find("GET", path) is None
    assert ROUTES.verbs(path) == []


def test_a_known_path_tells_its_verbs() -> None:
    assert ROUTES.verbs("/v1/agents/a") == ["GET", "PATCH"]


@pytest.mark.parametrize("text", ["v1/a", "/v1/{a}/b c", "/v1/{A b}", "/v1//a{"])
def test_a_template_that_cannot_be_read_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"segment|slash"):
        parse(text)


def test_a_variable_may_cover_several_segments() -> None:
    template = parse("/v1/{name=shelves/*/books/**}:read")
    assert template.match("/v1/shelves/s/books/b/c:read") == ("shelves/s/books/b/c",)
    assert template.match("/v1/shelves/s/t/books/b:read") is None


@given(st.text(min_size=1).filter(lambda text: text.isprintable()))
@settings(max_examples=100, deadline=None)
def test_every_text_can_be_written_into_a_path(value: str) -> None:
    """SPEC G-10: ids with slashes, colons or any script."""
    quoted = "".join(f"%{byte:02x}" for byte in value.encode("utf-8"))
    found = ROUTES.find("GET", f"/v1/agents/{quoted}")
    assert found is not None
    assert found.route.method.name == "GetAgent"
    assert decode("agent_id", found.values[0]) == value


@pytest.mark.parametrize("value", ["%", "%zz", "%ff", "%c3", "a%2"])
def test_a_wrong_escape_names_its_field(value: str) -> None:
    with pytest.raises(InvalidField, match="agent_id: wrongly escaped"):
        decode("agent_id", value)


def test_fields_are_found_by_either_name() -> None:
    message = (
        gateway_pb2.DESCRIPTOR.services_by_name["GatewayService"].methods_by_name["ListMessages"].input_type
    )
    assert field_at(message, "filter.start_time") is field_at(message, "filter.startTime") is not None
    assert field_at(message, "filter.nothing") is None
    assert field_at(message, "agent_id.x") is None
