"""Calls as JSON over HTTP against the whole suite (SPEC G-10)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from importlib.resources import files
from typing import Any

import grpc
import httpx
import pytest
import pytest_asyncio
from google.protobuf.descriptor_pool import Default
from palimpsest.gateway.v1 import conversations_pb2, gateway_pb2_grpc

from services.gateway.http.routes import Route, Routes
from tests.integration.http_suite import AGENT, HttpSuite, http_suite, ok, prepare, reason, said

pytestmark = pytest.mark.asyncio(loop_scope="module")

CONVERSATION = f"/v1/agents/{AGENT}/conversations/c"
RECORD = f"{CONVERSATION}:recordTurn"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def suite(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[HttpSuite]:
    async with http_suite(tmp_path_factory.mktemp("http")) as started:
        async with started.client() as client:
            await prepare(client)
        yield started


@pytest_asyncio.fixture(loop_scope="module")
async def client(suite: HttpSuite) -> AsyncIterator[httpx.AsyncClient]:
    async with suite.client() as made:
        yield made


def all_routes(suite: HttpSuite) -> tuple[Route, ...]:
    return Routes(Default().FindServiceByName(name) for name in suite.names).all


def filled(route: Route) -> str:
    path = route.template.text
    for variable in route.template.variables:
        value = "1" if variable == "version" else "nobody"
        path = path.replace("{" + variable + "}", value).replace("{" + variable + "=**}", value)
    return path


async def test_every_call_of_the_gateway_has_a_route_that_asks_for_a_credential(suite: HttpSuite) -> None:
    """SPEC G-10, G-9: without one, 401 and nothing else, whatever the path and the body."""
    routes = all_routes(suite)
    served = {
        method.full_name
        for name in suite.names
        for method in Default().FindServiceByName(name).methods
        if not method.client_streaming
    }
    assert {route.method.full_name for route in routes} == served
    async with suite.client("") as nobody, suite.client("pk_0_wrong") as wrong:
        for route in routes:
            for caller in (nobody, wrong):
                response = await caller.request(route.verb, filled(route), json={} if route.body else None)
                assert (response.status_code, reason(response)) == (401, "CREDENTIAL_INVALID"), route.path
                assert response.headers["www-authenticate"].startswith("Bearer")


async def test_every_call_answers_in_json_or_events(suite: HttpSuite, client: httpx.AsyncClient) -> None:
    """SPEC X-1: for things that are not there, an answer or one clear error; never a fault of the server."""
    for route in all_routes(suite):
        async with client.stream(route.verb, filled(route), json={} if route.body else None) as response:
            if response.headers["content-type"] == "text/event-stream":
                assert route.method.server_streaming
                continue
            await response.aread()
            assert response.headers["content-type"] == "application/json"
            assert response.status_code in (200, 400, 404, 409), (route.path, response.text)
            if response.status_code != 200:
                assert reason(response) not in ("INTERNAL", "UNKNOWN_METHOD"), route.path


async def test_what_one_face_writes_the_other_reads(suite: HttpSuite, client: httpx.AsyncClient) -> None:
    text = 'Zoë said: "1 < 2"\n\t\u2028 \U0001f600 \x7f'
    stored = await ok(client.post(RECORD, json={"messages": [said(text)], "requestId": "r1"}))
    message_id = stored["messages"][0]["messageId"]
    async with grpc.aio.insecure_channel(f"127.0.0.1:{suite.grpc_port}") as channel:
        stub = gateway_pb2_grpc.GatewayServiceStub(channel)
        request = conversations_pb2.GetMessageRequest(
            agent_id=AGENT, conversation_id="c", message_id=message_id
        )
        metadata = (("authorization", f"Bearer {suite.operator}"),)
        over_grpc = (await stub.GetMessage(request, metadata=metadata, timeout=30)).message
    over_http = (await ok(client.get(f"{CONVERSATION}/messages/{message_id}")))["message"]
    assert over_http["parts"][0]["text"] == over_grpc.parts[0].text == text
    assert over_http["sequence"] == str(over_grpc.sequence)
    assert over_http["createTime"] == over_grpc.create_time.ToJsonString()
    again = await ok(client.post(RECORD, json={"messages": [said(text)], "requestId": "r1"}))
    assert again["messages"][0]["messageId"] == message_id


async def test_pages_filters_and_lists_go_in_the_query(client: httpx.AsyncClient) -> None:
    path = f"/v1/agents/{AGENT}/conversations/paged"
    await ok(client.post(f"/v1/agents/{AGENT}/conversations", json={"conversationId": "paged"}))
    turns = [said(str(number)) for number in range(5)]
    await ok(client.post(f"{path}:ingest", json={"messages": turns}))
    query: dict[str, Any] = {"pageSize": 2, "filter.roles": ["ROLE_USER", "ROLE_TOOL"], "newestFirst": "true"}
    texts: list[str] = []
    while True:
        page = await ok(client.get(f"{path}/messages", params=query))
        texts += [message["parts"][0]["text"] for message in page["messages"]]
        if "nextPageToken" not in page:
            break
        query["pageToken"] = page["nextPageToken"]
    assert texts == ["4", "3", "2", "1", "0"]
    none = await ok(client.get(f"{path}/messages", params={"filter.roles": "ROLE_TOOL"}))
    assert none == {}


async def test_keys_with_slashes_and_colons_find_their_entries(client: httpx.AsyncClient) -> None:
    block = f"/v1/agents/{AGENT}/contextBlocks/docs"
    await ok(client.put(block, json={"kind": "CONTEXT_KIND_LOADABLE", "maxTokens": 100}))
    await ok(client.put(f"{block}/entries/a/b:c", json={"title": "t", "content": "x"}))
    for path in (f"{block}/entries/a/b:c", f"{block}/entries/a%2Fb%3Ac"):
        assert (await ok(client.get(path)))["entry"]["key"] == "a/b:c"
    assert (await client.delete(f"{block}/entries/a/b:c")).status_code == 200


@pytest.mark.parametrize(
    ("verb", "path", "status", "why"),
    [
        ("GET", "/v1/nothing", 404, "RESOURCE_NOT_FOUND"),
        ("GET", "/v1/agents/nobody", 404, "RESOURCE_NOT_FOUND"),
        ("GET", f"{CONVERSATION}/messages?pageToken=x", 400, "INVALID_PAGE_TOKEN"),
        ("GET", f"{CONVERSATION}/messages?pageSize=5000", 400, "INVALID_FIELD"),
        ("GET", f"{CONVERSATION}/messages/%ff", 400, "INVALID_FIELD"),
        ("POST", f"{CONVERSATION}/states/s:open", 404, "RESOURCE_NOT_FOUND"),
        ("DELETE", "/v1/agents", 405, "UNKNOWN_METHOD"),
        ("BREW", "/v1/agents", 405, "UNKNOWN_METHOD"),
        ("HEAD", "/v1/jobs:watch", 405, ""),
    ],
)
async def test_errors_are_one_status(
    client: httpx.AsyncClient, verb: str, path: str, status: int, why: str
) -> None:
    """SPEC X-1."""
    response = await client.request(verb, path)
    assert response.status_code == status
    if verb != "HEAD":
        assert reason(response) == why
    if status == 405:
        assert "OPTIONS" in response.headers["allow"]
    if why == "INVALID_FIELD":
        assert any("fieldViolations" in detail for detail in response.json()["details"])


async def test_what_contradicts_is_a_conflict(client: httpx.AsyncClient) -> None:
    changed = await client.post("/v1/agents", json={"agentId": AGENT, "displayName": "other"})
    assert (changed.status_code, reason(changed)) == (409, "RESOURCE_EXISTS")
    await ok(client.put(f"{CONVERSATION}/states/s", json={"json": "{}"}))
    stale = await client.put(f"{CONVERSATION}/states/s", json={"json": "{}", "expectedVersion": "7"})
    assert (stale.status_code, reason(stale)) == (409, "VERSION_CONFLICT")


async def test_a_reader_cannot_write(suite: HttpSuite, client: httpx.AsyncClient) -> None:
    """SPEC G-9: and may read the same things."""
    made = await ok(client.post("/v1/apiKeys", json={"role": "KEY_ROLE_READER"}))
    async with suite.client(made["secret"]) as reader:
        refused = await reader.post(RECORD, json={"messages": [said("x")]})
        assert (refused.status_code, reason(refused)) == (403, "NOT_ALLOWED")
        assert (await reader.get(CONVERSATION)).status_code == 200


async def test_head_and_options(client: httpx.AsyncClient) -> None:
    got, head = await client.get(CONVERSATION), await client.head(CONVERSATION)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == got.headers["content-length"]
    options = await client.options(CONVERSATION)
    assert (options.status_code, options.headers["allow"]) == (204, "GET, HEAD, OPTIONS")
    assert "access-control-allow-origin" not in options.headers


@pytest.mark.parametrize("given", ["abc-1", "", "x" * 129, "a b", "é"])
async def test_request_ids_go_both_ways(client: httpx.AsyncClient, given: str) -> None:
    response = await client.get(CONVERSATION, headers={"x-request-id": given.encode("latin-1")})
    assert (response.headers["x-request-id"] == given) == (given in ("abc-1", "a b"))
    assert response.headers["x-request-id"].strip()


@pytest.mark.parametrize("header", ["grpc-timeout", "x-request-timeout"])
async def test_a_deadline_holds(client: httpx.AsyncClient, header: str) -> None:
    """And what is no time is refused; a long one is bounded."""
    # A first turn's index is waited for: an id that is never stored keeps the call waiting.
    body = {
        "query": "x",
        "waitFor": [{"agentId": AGENT, "messages": {"conversationId": "c", "sequence": "999"}}],
    }
    path = f"/v1/agents/{AGENT}/memories:recall"
    short = {"grpc-timeout": "1n", "x-request-timeout": "0.000001"}[header]
    late = await client.post(path, json=body, headers={header: short})
    assert (late.status_code, reason(late)) == (504, "DEADLINE")
    for wrong in ("soon", "-1", "0", "1e3", "5X"):
        refused = await client.get(CONVERSATION, headers={header: wrong})
        assert (refused.status_code, reason(refused)) == (400, "INVALID_FIELD")
    assert (
        await client.get(CONVERSATION, headers={header: "99999999" + "H" * (header[0] == "g")})
    ).is_success


@pytest.mark.parametrize(
    ("headers", "content", "status"),
    [
        ({"content-type": "text/plain"}, b"{}", 415),
        ({}, b"{}", 415),
        ({"content-type": "application/json; charset=utf-16"}, b"{}", 415),
        ({"content-type": "application/json", "content-encoding": "gzip"}, b"{}", 415),
        ({"content-type": 'Application/JSON; charset="UTF-8"'}, b'{"query": "x"}', 200),
        ({"content-type": "application/json"}, b'{"query": "' + b"x" * (16 * 1024 * 1024) + b'"}', 413),
        ({"content-type": "application/json"}, b'{"query": "' + b"x" * 300_000 + b'"}', 400),
        ({"content-type": "application/json"}, b'{"query": "x", "limit": 1e400}', 400),
        ({"content-type": "application/json"}, b'{"query": "x", "limit": 99999999999}', 400),
        ({"content-type": "application/json"}, b"[" * 100_000, 400),
    ],
)
async def test_bodies_are_json_within_bounds(
    client: httpx.AsyncClient, headers: dict[str, str], content: bytes, status: int
) -> None:
    """SPEC X-2."""
    response = await client.post(f"/v1/agents/{AGENT}/memories:recall", headers=headers, content=content)
    assert response.status_code == status, response.text[:300]
    if status != 200:
        reason(response)


async def test_health_and_description_need_no_credential(suite: HttpSuite) -> None:
    async with suite.client("") as nobody:
        assert await ok(nobody.get("/healthz")) == {"status": "alive"}
        assert await ok(nobody.get("/readyz")) == {"status": "ready"}
        served = (await nobody.get("/openapi.json")).content
    assert served == (files("palimpsest") / "openapi.json").read_bytes()
    assert json.loads(served)["openapi"] == "3.1.0"
