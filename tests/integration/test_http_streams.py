"""Server-sent events (SPEC G-10)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import httpx
import pytest
from palimpsest.state.v1 import state_pb2_grpc

from services.gateway.http.api import Api
from services.gateway.http.app import routes_of
from services.kit.inprocess import InProcessServer
from services.kit.web import serving_web
from tests.integration.http_fake import KEY, LARGE, SERVICE, Authenticated, FakeState, fake_web, wire

PATH = "/v1/agents/a/states/{}:watch"
HEADERS = {"authorization": f"Bearer {KEY}"}


def client(port: int) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{port}", headers=HEADERS, timeout=20, trust_env=False
    )


async def events(response: httpx.Response) -> AsyncIterator[dict[str, str]]:
    """Events of a stream, their fields by name."""
    found: dict[str, str] = {}
    async for line in response.aiter_lines():
        if line:
            name, _, value = line.partition(":")
            found[name] = value.strip()
        elif found:
            yield found
            found = {}


async def collected(caller: httpx.AsyncClient, path: str) -> list[dict[str, str]]:
    async with caller.stream("GET", path) as response:
        return [event async for event in events(response)]


async def test_a_stream_gives_each_message_as_it_comes_with_an_id() -> None:
    async with (
        fake_web() as (servicer, port),
        client(port) as caller,
        caller.stream("GET", PATH.format("live")) as response,
    ):
        assert response.headers["content-type"] == "text/event-stream"
        assert "content-length" not in response.headers
        coming = events(response)
        first = await anext(coming)
        assert (first["id"], json.loads(first["data"])["json"]) == ("1", '"1\n"')
        assert servicer.sent == 1
        servicer.release.set()
        assert (await anext(coming))["id"] == "2"


async def test_a_stream_that_ends_says_so() -> None:
    async with fake_web() as (_, port), client(port) as caller:
        got = await collected(caller, PATH.format("ending"))
    assert [event.get("id") for event in got] == ["1", "2", "3", None]
    assert got[-1] == {"event": "end", "data": "{}"}


async def test_an_error_in_the_middle_is_an_event_with_its_status() -> None:
    async with fake_web() as (_, port), client(port) as caller:
        got = await collected(caller, PATH.format("failing"))
    assert [event.get("id") for event in got] == ["1", "2", "3", None]
    assert got[-1]["event"] == "error"
    status = json.loads(got[-1]["data"])
    assert (status["code"], status["message"]) == (9, "no more")
    assert status["details"][0]["reason"] == "ERROR_REASON_STATE_CONFLICT"


@pytest.mark.parametrize(
    ("name", "headers", "status"),
    [
        ("refused", {}, 400),
        ("not%20a%20name", {}, 400),
        ("live", {"last-event-id": "x"}, 400),
        ("live", {"authorization": "Bearer wrong"}, 401),
    ],
)
async def test_an_error_at_once_is_an_answer(name: str, headers: dict[str, str], status: int) -> None:
    async with fake_web() as (_, port), client(port) as caller:
        response = await caller.get(PATH.format(name), headers=headers)
    assert response.status_code == status
    assert response.headers["content-type"] == "application/json"


async def test_a_deadline_ends_a_stream() -> None:
    async with fake_web() as (_, port), client(port) as caller:
        headers = {"x-request-timeout": "1"}
        async with caller.stream("GET", PATH.format("silent"), headers=headers) as response:
            got = [event async for event in events(response)]
    assert [event["event"] for event in got] == ["error"]
    assert json.loads(got[0]["data"])["details"][0]["reason"] == "ERROR_REASON_DEADLINE"


async def test_a_stream_goes_on_after_the_last_event() -> None:
    async with fake_web() as (_, port), client(port) as caller:
        headers = {"last-event-id": "2"}
        async with caller.stream("GET", PATH.format("ending"), headers=headers) as response:
            assert [event.get("id") async for event in events(response)] == ["3", None]


async def test_a_caller_that_leaves_ends_the_call() -> None:
    """Also before anything was sent, and while the call is not a stream."""
    for name in ("live", "silent"):
        async with fake_web() as (servicer, port), client(port) as caller:
            async with caller.stream("GET", PATH.format(name)) as response:
                assert response.status_code == 200
                assert not servicer.ended.is_set()
            async with asyncio.timeout(20):
                await servicer.ended.wait()


async def test_a_caller_that_leaves_ends_a_slow_call() -> None:
    async with fake_web() as (servicer, port), client(port) as caller:
        asked = asyncio.create_task(caller.put("/v1/agents/a/states/slow", json={"json": "{}"}))
        await servicer.called.wait()
        assert not servicer.ended.is_set()
        asked.cancel()
        async with asyncio.timeout(20):
            await servicer.ended.wait()


async def test_silence_is_broken_by_comments() -> None:
    servicer, server = FakeState(), InProcessServer()
    state_pb2_grpc.add_StateServiceServicer_to_server(servicer, server)
    api = Api(
        routes=routes_of((SERVICE.full_name,)),
        channel=server.channel(),
        authenticator=Authenticated(),
        heartbeat=0.05,
    )
    async with (
        serving_web(api, "127.0.0.1", 0, drain_seconds=5) as port,
        client(port) as caller,
        caller.stream("GET", PATH.format("silent")) as response,
    ):
        lines = response.aiter_lines()
        assert [await anext(lines) for _ in range(3)] == [":", "", ":"]


async def test_a_caller_that_does_not_read_is_cut_off() -> None:
    """SPEC X-2: what waits for it is bounded, and the call ends."""
    async with fake_web(unread_seconds=0.3) as (servicer, port), wire(port) as idle:
        await idle.send(_request(PATH.format("large")))
        async with asyncio.timeout(20):
            await servicer.ended.wait()
        # The kernel's buffers on both sides, uvicorn's and the call's hold some; nothing else does.
        assert 0 < servicer.sent * LARGE < 40_000_000


async def test_a_caller_that_reads_slowly_is_served() -> None:
    """The positive control of the one above."""
    async with fake_web(unread_seconds=1.0) as (servicer, port), wire(port) as slow:
        await slow.send(_request(PATH.format("large")))
        got = 0
        while got < 60 * LARGE:
            got += len(await slow.reader.read(2**20))
        assert servicer.sent >= 60
        assert not servicer.ended.is_set()


async def test_a_stop_ends_streams_with_an_error_and_lets_calls_end() -> None:
    """SPEC O-3."""
    async with fake_web() as (servicer, port):
        caller = client(port)
        streaming = asyncio.create_task(collected(caller, PATH.format("live")))
        calling = asyncio.create_task(caller.put("/v1/agents/a/states/slow", json={"json": "{}"}))
        await servicer.called.wait()
        await servicer.first.wait()
        asyncio.get_running_loop().call_later(0.3, servicer.release.set)
    streamed, called = await streaming, await calling
    await caller.aclose()
    assert called.status_code == 200
    assert streamed[-1]["event"] == "error"
    assert json.loads(streamed[-1]["data"])["code"] == 14


def _request(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {KEY}\r\n\r\n".encode()
