"""The whole suite in this process with its HTTP face on a real socket."""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx

from services.embedded import compose
from services.gateway.config import GatewaySettings
from services.gateway.http.app import HttpFace
from services.gateway.http.refusals import Refusals
from services.gateway.mcp import mcp_mounts
from services.kit.metrics import Metrics
from services.kit.serving import Service, listening, web_listening
from services.kit.web import Web

AGENT = "ada"
DRAIN_SECONDS = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSuite:
    """A suite and where it listens."""

    service: Service
    secret: bytes
    port: int
    grpc_port: int
    operator: str
    """A key."""

    @property
    def url(self) -> str:
        """Of the HTTP face."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def names(self) -> list[str]:
        """Of the proto services that applications call."""
        return [face.name for face in self.service.all_faces if not face.internal]

    def client(self, key: str | None = None, **options: Any) -> httpx.AsyncClient:
        """A client under the operator's key, or another ("" for none)."""
        wanted = self.operator if key is None else key
        headers = {"authorization": f"Bearer {wanted}"} if wanted else {}
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=30, trust_env=False, **options)


@asynccontextmanager
async def http_suite(
    data: Path, *, origins: tuple[str, ...] = (), mcp: bool = False
) -> AsyncIterator[HttpSuite]:
    """Starts it over a folder; both faces listen."""
    async with AsyncExitStack() as stack:
        secret = secrets.token_bytes(32)
        gateway = await compose(data, secret, Metrics(), stack)
        if origins or mcp:
            gateway = replace(gateway, web=across(gateway, origins, mcp=mcp))
        metrics = Metrics()
        grpc_port = await stack.enter_async_context(
            listening(gateway, secret, metrics, "127.0.0.1:0", drain_seconds=0)
        )
        port = await stack.enter_async_context(
            web_listening(gateway, secret, metrics, "127.0.0.1", 0, drain_seconds=DRAIN_SECONDS)
        )
        yield HttpSuite(
            service=gateway,
            secret=secret,
            port=port,
            grpc_port=grpc_port,
            operator=(data / "api-key").read_text().strip(),
        )


def across(gateway: Service, origins: tuple[str, ...], *, mcp: bool = False) -> Web:
    """The HTTP face with other origins allowed, and with MCP or without."""
    names = tuple(face.name for face in gateway.all_faces if not face.internal)
    assert gateway.authenticator is not None
    settings = GatewaySettings(http_origins=",".join(origins), mcp=mcp)
    face = HttpFace(
        services=names,
        authenticator=gateway.authenticator,
        ready=gateway.ready,
        origins=origins,
        mounts_over=mcp_mounts(settings, gateway.authenticator, Refusals()),
    )
    return Web(make=face.over)


async def prepare(client: httpx.AsyncClient, conversation: str = "c") -> None:
    """An agent and a conversation."""
    await ok(client.post("/v1/agents", json={"agentId": AGENT}))
    await ok(client.post(f"/v1/agents/{AGENT}/conversations", json={"conversationId": conversation}))


async def ok(call: Any) -> Any:
    """The document of a call that must succeed."""
    response = await call
    assert response.status_code == 200, response.text
    return response.json()


def reason(response: httpx.Response) -> str:
    """Why a call failed, from the one ErrorInfo of its Status."""
    document = json.loads(response.content)
    assert set(document) == {"code", "message", "details"}
    infos = [d for d in document["details"] if d["@type"] == "type.googleapis.com/google.rpc.ErrorInfo"]
    (info,) = infos
    assert info["domain"] == "palimpsest"
    return str(info["reason"]).removeprefix("ERROR_REASON_")


def said(text: str) -> dict[str, Any]:
    """A user's message."""
    return {"role": "ROLE_USER", "parts": [{"text": text}]}
