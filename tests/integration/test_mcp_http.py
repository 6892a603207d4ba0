"""What a caller of MCP over HTTP can do to the process: leave, and come too often (SPEC G-10)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
from palimpsest.tools.v1 import tools_pb2, tools_pb2_grpc
from starlette.routing import Route

from services.gateway.http.app import HttpFace
from services.gateway.http.mcp_face import McpFace
from services.gateway.http.refusals import Refusals
from services.kit.inprocess import InProcessServer
from services.kit.interceptors import CallInterceptor
from services.kit.metrics import Metrics
from services.kit.serving import roles_of
from services.kit.web import serving_web
from tests.integration.http_fake import KEY, Authenticated

SERVICE = tools_pb2.DESCRIPTOR.services_by_name["ToolService"]
HEADERS = {
    "authorization": f"Bearer {KEY}",
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": "2025-06-18",
}
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "recall", "arguments": {}}}


class SlowTools:
    """Answers once it is released."""

    def __init__(self) -> None:
        self.begun, self.ended, self.release = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def ListTools(
        self, request: tools_pb2.ListToolsRequest, context: Any
    ) -> tools_pb2.ListToolsResponse:
        return tools_pb2.ListToolsResponse()

    async def CallTool(self, request: tools_pb2.CallToolRequest, context: Any) -> tools_pb2.CallToolResponse:
        self.begun.set()
        try:
            await self.release.wait()
        finally:
            self.ended.set()
        return tools_pb2.CallToolResponse(content=f"{request.agent_id} {request.conversation_id}")


@asynccontextmanager
async def served(
    most_requests: int = 8, refusals: Refusals | None = None
) -> AsyncIterator[tuple[SlowTools, httpx.AsyncClient]]:
    tools: Any = SlowTools()
    server: Any = InProcessServer()
    roles = {f"/{SERVICE.full_name}/{name}": role for name, role in roles_of(SERVICE).items()}
    server.add_interceptor(
        CallInterceptor(authenticator=Authenticated(), roles=roles, timeouts={}, metrics=Metrics())
    )
    tools_pb2_grpc.add_ToolServiceServicer_to_server(tools, server)

    async def ready() -> bool:
        return True

    face = HttpFace(
        services=(SERVICE.full_name,),
        authenticator=Authenticated(),
        ready=ready,
        mounts_over=lambda channel: (
            Route(
                "/mcp",
                McpFace(
                    channel,
                    authenticator=Authenticated(),
                    origins=(),
                    most_requests=most_requests,
                    refusals=refusals,
                ),
            ),
        ),
    )
    async with (
        serving_web(face.over(server.channel()), "127.0.0.1", 0, drain_seconds=2) as port,
        httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{port}", headers=HEADERS, timeout=20, trust_env=False
        ) as client,
    ):
        yield tools, client


async def test_a_caller_that_leaves_cancels_its_call() -> None:
    async with served() as (tools, client):
        asked = asyncio.ensure_future(client.post("/mcp", json=CALL))
        await tools.begun.wait()
        asked.cancel()
        async with asyncio.timeout(10):
            await tools.ended.wait()
        assert not tools.release.is_set()


async def test_a_caller_that_stays_is_answered_for_the_place_that_it_names() -> None:
    """The control, with the defaults beside it."""
    async with served() as (tools, client):
        tools.release.set()
        answers = [
            await client.post(f"/mcp{query}", json=CALL) for query in ("", "?agent=ada&conversation=c")
        ]
        texts = [answer.json()["result"]["content"][0]["text"] for answer in answers]
        assert texts == ["default mcp", "ada c"]
        assert all("mcp-session-id" not in answer.headers for answer in answers)


async def test_a_parameter_that_comes_twice_is_refused() -> None:
    """G-10: a proxy that reads the first, and a server that reads the last, must not see two agents."""
    async with served() as (tools, client):
        tools.release.set()
        for query in ("agent=a&agent=b", "agent=a&%61gent=a", "agent=a&agent=", "conversation=c&x=1&x=2"):
            refused = await client.post(f"/mcp?{query}", json=CALL)
            assert refused.status_code == 400
            assert not tools.begun.is_set()
        assert (await client.post("/mcp?agent=a&conversation=a", json=CALL)).status_code == 200
        assert tools.begun.is_set()


async def test_there_is_a_bound_on_calls_under_way() -> None:
    refusals = Refusals()
    async with served(most_requests=1, refusals=refusals) as (tools, client):
        first = asyncio.ensure_future(client.post("/mcp", json=CALL))
        await tools.begun.wait()
        second = await client.post("/mcp", json=CALL)
        assert second.status_code == 429
        assert int(second.headers["retry-after"]) >= 1
        samples = refusals.counter.collect()[0].samples
        assert {(one.labels["reason"], one.value) for one in samples if one.name.endswith("_total")} == {
            ("OVERLOADED", 1)
        }
        tools.release.set()
        assert (await first).status_code == 200
        assert (await client.post("/mcp", json=CALL)).status_code == 200
