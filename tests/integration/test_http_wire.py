"""HTTP as odd clients speak it, and slow ones (SPEC G-10, X-2)."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import MutableMapping
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route
from structlog.testing import capture_logs

from services.gateway.config import GatewaySettings, split_origins
from services.gateway.http.answering import Refused
from services.gateway.http.api import Api
from services.gateway.http.app import routes_of
from services.gateway.http.bodies import Bodies
from services.gateway.http.heads import Head
from services.gateway.http.refusals import Refusals
from services.kit.errors import Overloaded, StartupError
from services.kit.inprocess import InProcessServer
from services.kit.web import serving_web
from tests.integration.http_fake import KEY, Authenticated, Wire, fake_web, wire

STATE = "/v1/agents/a/states/s"
BODY = b'{"json": "{}"}'


def put(*headers: str, body: bytes = BODY, path: str = STATE, credential: bool = True) -> bytes:
    lines = [f"PUT {path} HTTP/1.1", "host: x", "content-type: application/json", *headers]
    if credential:
        lines.append(f"authorization: Bearer {KEY}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def sized(body: bytes = BODY) -> str:
    return f"content-length: {len(body)}"


async def test_the_control_is_answered_and_the_connection_stays() -> None:
    async with fake_web() as (_, port), wire(port) as talk:
        for _ in range(3):
            await talk.send(put(sized()))
            status, headers, body = await talk.answer()
            assert (status, json.loads(body)) == (200, {"version": "1"})
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["cache-control"] == "no-store"
            assert "server" not in headers


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (put(sized(), "transfer-encoding: chunked", body=b"e\r\n" + BODY + b"\r\n0\r\n\r\n"), 400),
        (put("content-length: 14", "content-length: 15", body=BODY + b"x"), 400),
        (put("content-length: +14"), 400),
        (put("content-length: -1"), 400),
        (put("content-length: 99999999999"), 413),
        (put("transfer-encoding: gzip, chunked", body=b"0\r\n\r\n"), 400),
        (put("transfer-encoding : chunked", body=b"0\r\n\r\n"), 400),
        (put(sized(), "authorization: Bearer other"), 401),
        (put(sized(), "x-request-id: a", "x-request-id: b"), 400),
        (put(sized(), "content-type: text/plain"), 400),
        (put(sized(), "host: y"), 400),
        (put(sized(), "x-a: b\r\n folded"), 200),
        (put(sized(), "x-a: b\rc"), 400),
        (put(sized(), "x-a: b\0c"), 400),
        (put(sized(), *(f"x-{number}: 1" for number in range(64))), 431),
        (put(sized(), path=STATE + "?" + "a" * 17_000), 414),
        (put(sized(), path=f"http://x:80{STATE}"), 200),
        (put(sized(), path=f"HTTP://x{STATE}?unknown=1"), 400),
        (put(sized(), path="http://x"), 404),
        (put(sized(), path=f"http://a@x{STATE}"), 404),
        (put(sized(), path=f"ftp://x{STATE}"), 404),
        (put(sized(), path="/v1/../v1/agents"), 404),
        (put(sized(), path="*"), 404),
        (put("transfer-encoding: chunked", body=b"e\r\n" + BODY + b"\r\n0\r\n\r\n"), 200),
        (put("transfer-encoding: chunked", body=b"zz\r\n"), 400),
        (put(sized(), "upgrade: websocket", "connection: upgrade"), 200),
        (put(sized(), "upgrade: h2c", "connection: upgrade"), 200),
        (put(sized(), "expect: 100-continue", credential=False), 401),
        (b"PUT / HTTP/1.1\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00", 400),
        (b"GET " + STATE.encode() + b" HTTP/1.0\r\n\r\n", 401),
    ],
)
async def test_odd_requests_get_one_clear_answer(request_bytes: bytes, status: int) -> None:
    """Two readers of a request could never disagree where it ends: such requests are refused."""
    async with fake_web() as (_, port), wire(port) as talk:
        await talk.send(request_bytes)
        assert (await talk.answer())[0] == status
        if status in (413, 414, 431):
            assert await talk.closed() == b""


async def test_a_smuggled_request_is_not_served() -> None:
    """What follows a request whose length is told twice is thrown away with the connection."""
    async with fake_web() as (servicer, port), wire(port) as talk:
        inner = put(sized(), path="/v1/agents/a/states/smuggled")
        await talk.send(put("content-length: 5", "transfer-encoding: chunked", body=b"0\r\n\r\n" + inner))
        assert (await talk.answer())[0] == 400
        assert await talk.closed() == b""
        assert servicer.timeouts == []


async def test_requests_sent_at_once_are_answered_in_order() -> None:
    async with fake_web() as (_, port), wire(port) as talk:
        await talk.send(b"".join(put(sized(), path=STATE + "x" * n) for n in range(5)))
        versions = [json.loads((await talk.answer())[2])["version"] for _ in range(5)]
        assert versions == ["1", "2", "3", "4", "5"]


async def test_errors_tell_when_to_try_again_and_never_what_went_wrong_inside() -> None:
    """SPEC X-1."""
    async with fake_web() as (_, port), wire(port) as talk:
        await talk.send(put(sized(), path="/v1/agents/a/states/busy"))
        status, headers, _ = await talk.answer()
        assert (status, headers["retry-after"]) == (429, "3")
        await talk.send(put(sized(), path="/v1/agents/a/states/fault"))
        status, _, body = await talk.answer()
        assert status == 500
        assert b"secret" not in body


async def test_what_is_refused_before_it_is_a_call_is_logged_without_its_path_or_credential() -> None:
    """X-3, O-1: as the failed calls of gRPC are."""
    key = "pk_1_secret"
    async with fake_web() as (_, port), wire(port) as talk:
        with capture_logs() as logs:
            await talk.send(
                put(sized(), f"authorization: Bearer {key}", f"x-request-id: {key}", credential=False)
            )
            status, headers, _ = await talk.answer()
        assert (status, key in str(headers)) == (401, False)
        refused = [line for line in logs if line["event"] == "http_refused"]
        assert [(line["code"], line["rpc"]) for line in refused] == [
            ("CREDENTIAL_INVALID", "/palimpsest.state.v1.StateService/SetState")
        ]
        assert refused[0]["request_id"] == headers["x-request-id"]
        assert key not in str(logs)


async def test_what_is_refused_before_it_is_a_call_is_counted_by_its_reason() -> None:
    """O-4."""
    refusals = Refusals()

    def counted() -> dict[str, float]:
        samples = refusals.counter.collect()[0].samples
        return {one.labels["reason"]: one.value for one in samples if one.name.endswith("_total")}

    async with fake_web(refusals=refusals) as (_, port), wire(port) as talk:
        await talk.send(put(sized()))
        assert (await talk.answer())[0] == 200
        assert counted() == {}
        await talk.send(put(sized(), credential=False))
        await talk.answer()
    async with fake_web(refusals=refusals, most_requests=0) as (_, port), wire(port) as talk:
        await talk.send(put(sized()))
        assert (await talk.answer())[0] == 429
    assert counted() == {"CREDENTIAL_INVALID": 1, "OVERLOADED": 1}


async def test_a_request_is_under_way_until_its_answer_is_sent() -> None:
    """X-2: answers that nobody reads take memory too."""
    sending, go_on = asyncio.Event(), asyncio.Event()
    channel = InProcessServer().channel()
    api = Api(routes=routes_of(()), channel=channel, authenticator=Authenticated(), most_requests=1)
    scope = {"type": "http", "method": "GET", "raw_path": b"/", "query_string": b"", "headers": []}
    statuses: list[int] = []

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])
            if len(statuses) == 1:
                sending.set()
                await go_on.wait()

    async with asyncio.timeout(20):
        first = asyncio.create_task(api(scope, receive, send))
        await sending.wait()
        await api(scope, receive, send)
        go_on.set()
        await first
        await api(scope, receive, send)
    assert statuses == [404, 429, 404]


async def test_deadlines_reach_the_call_and_are_bounded() -> None:
    async with fake_web() as (servicer, port), wire(port) as talk:
        for given in ("x-request-timeout: 5", "grpc-timeout: 99999999H", "x-a: b"):
            await talk.send(put(sized(), given))
            assert (await talk.answer())[0] == 200
    short, long, none = servicer.timeouts
    assert short is not None
    assert long is not None
    assert 0 < short <= 5
    assert 590 < long <= 600
    assert none is None


async def test_slow_heads_are_cut_off() -> None:
    """However much has come, and whether or not bytes still come."""
    async with fake_web(head_seconds=0.2) as (_, port):
        for begun in (b"", b"PUT /v1", put(sized())[:-30]):
            async with wire(port) as talk:
                await talk.send(begun)
                if not begun.endswith(b"}"):
                    assert await talk.closed() == b""
        async with wire(port) as talk:  # the control: one that is not slow, then is
            await talk.send(put(sized()))
            assert (await talk.answer())[0] == 200
            await talk.send(b"PUT /v1")
            assert await talk.closed() == b""


async def test_one_connection_too_many_is_closed() -> None:
    async with fake_web(connections=2) as (_, port), wire(port) as one, wire(port) as two:
        for talk in (one, two):
            await talk.send(put(sized()))
            assert (await talk.answer())[0] == 200
        async with wire(port) as three:
            assert await three.closed() == b""


def head(length: int) -> Head:
    headers = {"content-type": "application/json", "content-length": str(length)}
    return Head(verb="PUT", path=STATE, query=b"", headers=headers, request_id="r")


async def test_a_body_that_does_not_arrive_is_refused() -> None:
    async def never() -> dict[str, object]:
        await asyncio.Event().wait()
        return {}

    with pytest.raises(Refused) as raised:
        async with Bodies(seconds=0.05).read(head(5), never):
            pass
    assert raised.value.status == 408


async def test_all_bodies_together_are_bounded() -> None:
    """Until they are read as JSON, too."""
    bodies = Bodies(most_bytes=100)

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": b"x" * 60, "more_body": False}

    async def size() -> int:
        async with bodies.read(head(60), receive) as body:
            return len(body)

    async with bodies.read(head(60), receive) as body:
        assert len(body) == 60
        with pytest.raises(Overloaded):
            await size()
    assert await size() == 60


async def test_health_follows_the_stores() -> None:
    async with fake_web(ready=False) as (_, port), wire(port) as talk:
        for path, status in (("/healthz", 200), ("/readyz", 503)):
            await talk.send(f"GET {path} HTTP/1.1\r\nhost: x\r\n\r\n".encode())
            assert (await talk.answer())[0] == status


async def test_what_is_mounted_is_served_beside_the_calls() -> None:
    async def answer(request: Request) -> PlainTextResponse:
        return PlainTextResponse(request.url.path)

    mounts = (Mount("/more", routes=[Route("/{rest:path}", answer)]),)
    async with fake_web(mounts=mounts) as (_, port), wire(port) as talk:
        await talk.send(b"GET /more/a HTTP/1.1\r\nhost: x\r\n\r\n")
        status, _, body = await talk.answer()
        assert (status, body) == (200, b"/more/a")
        await talk.send(put(sized()))
        assert (await talk.answer())[0] == 200


async def test_a_port_in_use_is_told_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = taken.getsockname()[1]
        with pytest.raises(StartupError, match=f"127.0.0.1:{number}: the port is in use"):
            async with serving_web(_none(), "127.0.0.1", number, drain_seconds=0):
                pass


def _none() -> object:
    return object()


ORIGIN = "https://app.example.com"


async def preflight(
    talk: Wire, origin: str, headers: str = "authorization,content-type"
) -> tuple[int, dict[str, str]]:
    lines = [
        f"OPTIONS {STATE} HTTP/1.1",
        "host: x",
        f"origin: {origin}",
        "access-control-request-method: PUT",
    ]
    lines.append(f"access-control-request-headers: {headers}")
    await talk.send("\r\n".join(lines).encode() + b"\r\n\r\n")
    status, found, _ = await talk.answer()
    return status, found


@pytest.mark.parametrize(
    ("allowed", "origin", "answer"),
    [
        ((ORIGIN,), ORIGIN, ORIGIN),
        ((ORIGIN,), "https://evil.example.com", None),
        ((ORIGIN,), "https://app.example.com.evil.com", None),
        ((ORIGIN,), "null", None),
        (("*",), "https://any.example.com", "*"),
        ((), ORIGIN, None),
    ],
)
async def test_pages_of_allowed_origins_may_call(
    allowed: tuple[str, ...], origin: str, answer: str | None
) -> None:
    """Never with the browser's credentials; by default none may."""
    async with fake_web(origins=allowed) as (_, port), wire(port) as talk:
        _, asked = await preflight(talk, origin)
        await talk.send(put(sized(), f"origin: {origin}"))
        status, called, _ = await talk.answer()
        assert status == 200
        for headers in (asked, called):
            assert headers.get("access-control-allow-origin") == answer
            assert "access-control-allow-credentials" not in headers
        if answer:
            assert "PUT" in asked["access-control-allow-methods"]
            assert "authorization" in asked["access-control-allow-headers"].lower()
            assert "x-request-id" in called["access-control-expose-headers"]


async def test_a_preflight_needs_no_credential_and_a_refusal_is_readable() -> None:
    async with fake_web(origins=(ORIGIN,)) as (_, port), wire(port) as talk:
        assert (await preflight(talk, ORIGIN))[0] == 200
        await talk.send(put(sized(), f"origin: {ORIGIN}", credential=False))
        status, headers, _ = await talk.answer()
        assert (status, headers["access-control-allow-origin"]) == (401, ORIGIN)


@pytest.mark.parametrize(
    "text", ["app.example.com", "https://a/b", "https://*.a.com", "ftp://a", "https://a,b"]
)
def test_what_is_no_origin_is_refused_at_the_start(text: str) -> None:
    with pytest.raises(ValueError, match="is no origin"):
        GatewaySettings(http_origins=text)


def test_origins_are_parted_by_commas() -> None:
    settings = GatewaySettings(http_origins=f"{ORIGIN}, http://[::1]:8080,*")
    assert split_origins(settings.http_origins) == (ORIGIN, "http://[::1]:8080", "*")
