"""Requests from a path, a query and a body in JSON (SPEC G-10, X-2)."""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import Mock
from urllib.parse import urlencode

import pytest
from google.protobuf.descriptor_pool import Default
from google.protobuf.json_format import MessageToJson
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from hypothesis import given, settings
from hypothesis import strategies as st
from palimpsest.gateway.v1 import conversations_pb2, gateway_pb2
from palimpsest.settings.v1 import settings_pb2

from services.gateway.http import json_text
from services.gateway.http.limits import MAX_DEPTH, MAX_VALUES
from services.gateway.http.reading import read
from services.gateway.http.routes import Routes
from services.gateway.rpc.faces import faces
from services.kit.errors import InvalidField, LimitExceeded

ROUTES = Routes(
    [
        gateway_pb2.DESCRIPTOR.services_by_name["GatewayService"],
        settings_pb2.DESCRIPTOR.services_by_name["SettingsService"],
        *(Default().FindServiceByName(face.name) for face in faces(Mock())),
    ]
)
AGENT = "/v1/agents/a"
CONVERSATION = f"{AGENT}/conversations/c"


def message(verb: str, target: str, body: Any = None) -> Any:
    path, _, query = target.partition("?")
    match = ROUTES.find(verb, path)
    assert match is not None
    data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    return read(match, query.encode(), data)


def problem(verb: str, target: str, body: Any = None) -> str:
    with pytest.raises(InvalidField) as raised:
        message(verb, target, body)
    return raised.value.fields[0].field


def test_path_query_and_body_make_one_message() -> None:
    got = message("PATCH", f"{AGENT}?updateMask=displayName,systemPrompt", {"displayName": "Ada"})
    assert (got.agent.id, got.agent.display_name) == ("a", "Ada")
    assert list(got.update_mask.paths) == ["display_name", "system_prompt"]


def test_a_field_under_both_of_its_names_is_refused_at_any_depth() -> None:
    """G-10: json_format takes the later one, so a path could name an agent and its body reach another."""
    for names in (("agentId", "agent_id"), ("agent_id", "agentId")):
        body = {names[0]: "a", names[1]: "b", "key": "k", "value": "v"}
        assert problem("POST", f"{AGENT}/memories", body) == "agent_id"
    call = {"callId": "1", "call_id": "2", "name": "n"}
    turn = {"messages": [{"role": "ROLE_USER", "parts": [{"toolCall": call}]}]}
    assert problem("POST", f"{CONVERSATION}:recordTurn", turn) == "call_id"


def test_names_within_a_struct_are_the_callers_own() -> None:
    """The control of the one above: there both are other names."""
    call = {"callId": "1", "name": "n", "arguments": {"agentId": 1, "agent_id": 2}}
    body = {"messages": [{"role": "ROLE_USER", "parts": [{"toolCall": call}]}]}
    got = message("POST", f"{CONVERSATION}:recordTurn", body)
    assert dict(got.messages[0].parts[0].tool_call.arguments) == {"agentId": 1, "agent_id": 2}


def test_queries_hold_every_kind_of_value() -> None:
    """Nested by dots, lists, times, enums by name, truths; under either name."""
    got = message(
        "GET",
        f"{CONVERSATION}/messages?filter.roles=ROLE_USER&filter.roles=ROLE_TOOL&filter.start_time=2026-01-31T12:00:00Z"
        "&newestFirst=true&page_size=7&filter.authors=%C3%A9+a%26b",
    )
    assert (got.conversation_id, got.newest_first, got.page_size) == ("c", True, 7)
    assert (list(got.filter.roles), list(got.filter.authors)) == ([2, 4], ["é a&b"])
    assert got.filter.start_time.ToJsonString() == "2026-01-31T12:00:00Z"
    watch = message("GET", "/v1/jobs:watch?interval=1.5s&untilIdle=true")
    assert (watch.interval.ToNanoseconds(), watch.until_idle) == (1_500_000_000, True)
    assert message("GET", f"{AGENT}/attractor?version=9007199254740993").version == 9007199254740993


def test_numbers_in_a_path_are_numbers() -> None:
    assert message("POST", f"{AGENT}/attractor/versions/12:freeze").version == 12
    assert problem("POST", f"{AGENT}/attractor/versions/x:freeze") == "version"


def test_optional_fields_tell_nothing_from_none() -> None:
    assert not message("PUT", f"{AGENT}/states/s", {"json": "{}"}).HasField("expected_version")
    given = message("PUT", f"{AGENT}/states/s", {"json": "{}", "expectedVersion": "0"})
    assert given.HasField("expected_version")
    assert message("DELETE", f"{AGENT}/states/s?expectedVersion=3").expected_version == 3


@pytest.mark.parametrize(
    ("target", "field"),
    [
        (f"{CONVERSATION}/messages?nothing=1", "nothing"),
        (f"{CONVERSATION}/messages?agentId=b", "agentId"),
        (f"{CONVERSATION}/messages?filter=x", "filter"),
        (f"{CONVERSATION}/messages?filter.roles=NOBODY", "filter.roles"),
        (f"{CONVERSATION}/messages?filter.startTime=now", "filter.start_time"),
        (f"{CONVERSATION}/messages?pageSize=1&page_size=2", "page_size"),
        (f"{CONVERSATION}/messages?pageSize=2147483648", "page_size"),
        (f"{CONVERSATION}/messages?pageSize=1.5", "page_size"),
        (f"{CONVERSATION}/messages?newestFirst=yes", "newestFirst"),
        (f"{CONVERSATION}/messages?%ff=1", "query"),
        (f"{CONVERSATION}/messages?" + "&".join("filter.authors=x" for _ in range(201)), "query"),
        ("/v1/jobs:watch?interval=soon", "interval"),
    ],
)
def test_a_wrong_parameter_is_named(target: str, field: str) -> None:
    assert problem("GET", target).split("[")[0] == field


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"nothing": 1}, "nothing"),
        ({"messages": [{}, {"nothing": 1}]}, "messages[1].nothing"),
        ({"messages": {}}, "messages"),
        ({"messages": [{"parts": [{"text": 5}]}]}, "messages.parts.text"),
        ({"messages": [{"role": "ROLE_X"}]}, "messages[0].role"),
        ({"messages": [{"time": 5}]}, "messages[0].time"),
        ({"agent_id": "b"}, "agent_id"),
        ({"agentId": "b"}, "agent_id"),
        ({"parentId": "x", "parent_id": "x"}, "parent_id"),
        ([], "body"),
        ("text", "body"),
        (b"null", "body"),
        (b"{", "body"),
        (b"{} {}", "body"),
        (b"\xff", "body"),
        (b"\xef\xbb\xbf{}", "body"),
        (b'{"parentId": NaN}', "body"),
        (b'{"parentId": -Infinity}', "body"),
        (b'{"parentId": 1e999}', "body"),
        (b'{"parentId": ' + b"9" * 5000 + b"}", "body"),
        (b'{"parentId": "a", "parentId": "a"}', "body"),
        (b'{"messages": [{"id": "a", "id": "b"}]}', "body"),
        (b'{"parentId": "\\ud800"}', "body"),
        (b'{"\\udfff": 1}', "body"),
    ],
)
def test_a_wrong_body_is_refused_and_its_field_named(body: Any, field: str) -> None:
    assert problem("POST", f"{CONVERSATION}:recordTurn", body) == field


def test_what_is_wrong_never_quotes_what_was_sent() -> None:
    """SPEC X-3."""
    for body in (
        {"messages": [{"parts": [{"text": ["secret"]}]}]},
        {"branch": "secret"},
        {"messages": "secret"},
    ):
        with pytest.raises(InvalidField) as raised:
            message("POST", f"{CONVERSATION}:recordTurn", body)
        assert "secret" not in raised.value.message


def test_pairs_of_surrogates_are_one_character() -> None:
    got = message("POST", f"{CONVERSATION}:recordTurn", b'{"parentId": "\\ud83d\\ude00"}')
    assert got.parent_id == "😀"


def test_a_path_and_a_body_that_agree_are_fine() -> None:
    assert (
        message("POST", f"{CONVERSATION}:recordTurn", {"agentId": "a", "conversation_id": "c"}).agent_id
        == "a"
    )


def test_a_call_without_a_body_takes_none() -> None:
    assert problem("GET", AGENT, b"{}") == "body"
    assert message("POST", "/v1/jobs/j:cancel").job_id == "j"


def test_depth_is_bounded() -> None:
    inner: Any = []
    for _ in range(MAX_DEPTH - 1):
        inner = [inner]
    json_text.parse(json.dumps(inner).encode())
    with pytest.raises(InvalidField, match="levels deep"):
        json_text.parse(json.dumps([inner]).encode())
    with pytest.raises(InvalidField, match="levels deep"):
        json_text.parse(b"[" * 200_000 + b"]" * 200_000)


def test_the_number_of_values_is_bounded() -> None:
    json_text.parse(b"[" + b"0," * (MAX_VALUES - 1) + b"0]")
    for data in (b"[" + b"0," * MAX_VALUES + b"0]", b"[" * MAX_VALUES * 2, b"[{}," * MAX_VALUES):
        with pytest.raises(LimitExceeded):
            json_text.parse(data)


def test_commas_and_brackets_in_texts_are_no_values() -> None:
    """Also where the body ends within a text, or is full of escapes, in time that its size explains."""
    text = ',[{\\"' * MAX_VALUES
    assert json_text.parse(json.dumps([text]).encode()) == [text]
    for data in (b'["' + b'\\",' * MAX_VALUES, b'"' + b"," * MAX_VALUES * 2):
        with pytest.raises(InvalidField, match="is not JSON"):
            json_text.parse(data)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
@settings(max_examples=150, deadline=None)
def test_json_is_read_as_it_was_written(value: Any) -> None:
    assert json_text.parse(json.dumps(value, ensure_ascii=False).encode()) == value


@given(st.binary(max_size=60))
@settings(max_examples=150, deadline=None)
def test_bytes_are_a_message_or_an_error_and_nothing_else(data: bytes) -> None:
    try:
        got = message("POST", f"{CONVERSATION}:recordTurn", data)
    except (InvalidField, LimitExceeded):
        return
    assert isinstance(got, Message)


@given(JSON)
@settings(max_examples=150, deadline=None)
def test_any_json_is_a_message_or_an_error_and_nothing_else(value: Any) -> None:
    for body in ({"messages": value}, {"messages": [{"parts": value}]}, {"messages": [{"time": value}]}):
        try:
            message("POST", f"{CONVERSATION}:recordTurn", body)
        except (InvalidField, LimitExceeded):
            continue


@given(st.lists(st.tuples(st.sampled_from(["filter", "filter.roles", "pageSize", "x", "a.b"]), st.text())))
@settings(max_examples=150, deadline=None)
def test_any_query_is_a_message_or_an_error_and_nothing_else(pairs: list[tuple[str, str]]) -> None:
    query = urlencode([(name, text.encode("utf-8", "surrogatepass")) for name, text in pairs])
    try:
        message("GET", f"{CONVERSATION}/messages?{query}")
    except InvalidField:
        return


@given(
    st.builds(
        conversations_pb2.RecordTurnRequest,
        agent_id=st.just("a"),
        conversation_id=st.just("c"),
        parent_id=st.text(),
        branch=st.booleans(),
        request_id=st.text(),
    )
)
@settings(max_examples=80, deadline=None)
def test_messages_survive_json(original: conversations_pb2.RecordTurnRequest) -> None:
    assert message("POST", f"{CONVERSATION}:recordTurn", MessageToJson(original).encode()) == original


def test_every_request_can_be_empty_in_json() -> None:
    """So that rules are told by validation alone, in one way for gRPC and JSON."""
    for route in ROUTES.all:
        path = route.template.text
        for variable in route.template.variables:
            field = "1" if variable == "version" else "x"
            path = path.replace("{" + variable + "}", field).replace("{" + variable + "=**}", field)
        assert isinstance(message(route.verb, path), GetMessageClass(route.method.input_type))
