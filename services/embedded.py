"""The embedded profile: all five services in one process, one port (SPEC §1, SV-4).

Calls between the services go through in-process channels with the same interceptors as over a socket; only
the gateway listens. Data lives in one folder; a second start goes on where the first ended.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import secrets
from collections.abc import Callable
from contextlib import AsyncExitStack, ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import structlog

from services.compactor.bootstrap import build as build_compactor
from services.compactor.config import CompactorSettings
from services.embedder.bootstrap import build as build_embedder
from services.embedder.config import EmbedderSettings, ModelChoice
from services.gateway.bootstrap import build as build_gateway
from services.gateway.chats import AS_CONFIGURED, ChatChoices
from services.gateway.config import GatewaySettings
from services.kit.channels import MAX_MESSAGE_BYTES, Channels
from services.kit.errors import StartupError
from services.kit.identity import TokenSigner
from services.kit.inprocess import InProcessServer
from services.kit.metrics import Metrics
from services.kit.serving import (
    SERVICES,
    Service,
    interceptor,
    listening,
    outgoing,
    stop_signal,
    web_listening,
)
from services.memory.episodic.bootstrap import build as build_episodic
from services.memory.episodic.config import EpisodicSettings
from services.memory.semantic.bootstrap import build as build_semantic
from services.memory.semantic.config import SemanticSettings

DEFAULT_PORT = 7777
DEFAULT_HTTP_PORT = 7778
LOCK_FILE = "lock"
ENDPOINT_FILE = "endpoint.json"
SECRET_BYTES = 32
DRAIN_SECONDS = 5.0


def run(
    data_dir: Path,
    *,
    host: str = "127.0.0.1",
    port: int = DEFAULT_PORT,
    model_dir: Path | None = None,
    next_model_dir: Path | None = None,
    metrics_port: int | None = None,
    http_port: int | None = None,
    on_ready: Callable[[str, str], None],
) -> None:
    """Serves until SIGTERM or SIGINT; `on_ready` is told the address and the URL. Raises StartupError.

    JSON over HTTP is served on `http_port`, 0 for a free one; by default on DEFAULT_HTTP_PORT, or a free one
    where that is taken.

    With a `next_model_dir`, everything is indexed by that model too, which takes over then (S-17).
    With a `metrics_port`, Prometheus metrics of all five services are at http://host:metrics_port/metrics.
    """
    models = _models(data_dir, model_dir, next_model_dir)
    asyncio.run(_run(data_dir, host, (port, http_port), models, metrics_port, on_ready))


async def _run(
    data_dir: Path,
    host: str,
    ports: tuple[int, int | None],
    models: EmbedderSettings,
    metrics_port: int | None,
    on_ready: Callable[[str, str], None],
) -> None:
    async with AsyncExitStack() as stack:
        lock_data(data_dir, stack)
        secret = secrets.token_bytes(SECRET_BYTES)
        metrics = Metrics()
        if metrics_port is not None:
            metrics.serve(host, metrics_port, stack.enter_context(ExitStack()))
        gateway = await compose(data_dir, secret, metrics, stack, models=models)
        address = f"{host}:{ports[0]}"
        stop = stop_signal()
        async with (
            listening(gateway, secret, metrics, address, drain_seconds=DRAIN_SECONDS) as bound,
            AsyncExitStack() as beside,
        ):
            http = await _serve_http(gateway, secret, metrics, host, ports[1], beside)
            target, url = f"{host}:{bound}", f"http://{host}:{http}"
            publish_endpoint(data_dir, target, url, stack)
            structlog.get_logger("embedded").info("serving", target=target, url=url)
            on_ready(target, url)
            await stop.wait()


async def _serve_http(
    gateway: Service, secret: bytes, metrics: Metrics, host: str, port: int | None, stack: AsyncExitStack
) -> int:
    """Serves HTTP until the stack is left.

    Returns the port: the one named, else that of the settings, else the default or a free one. Raises
    StartupError.
    """
    assert gateway.web is not None
    wanted = gateway.web.port if port is None else port

    async def serve(number: int) -> int:
        web = web_listening(gateway, secret, metrics, host, number, drain_seconds=DRAIN_SECONDS)
        return await stack.enter_async_context(web)

    if wanted is not None:
        return await serve(wanted)
    try:
        return await serve(DEFAULT_HTTP_PORT)
    except StartupError:
        return await serve(0)


async def compose(
    data_dir: Path,
    secret: bytes,
    metrics: Metrics,
    stack: AsyncExitStack,
    *,
    models: EmbedderSettings | None = None,
    embedder: Service | None = None,
    chat: ChatChoices = AS_CONFIGURED,
) -> Service:
    """Builds the five services, wires them in process, and returns the gateway's, ready to be served.

    `embedder` takes the place of the one that `models` would give, `chat` that of what chats use: by default,
    both are those of the environment.
    """
    servers = {name: InProcessServer(max_message_bytes=MAX_MESSAGE_BYTES) for name in SERVICES}
    signer = TokenSigner(secret)
    channels = Channels(
        **{name: outgoing(server.channel(), name, signer) for name, server in servers.items()}
    )
    if embedder is None:
        settings = models or EmbedderSettings(data_dir=data_dir)
        embedder = await build_embedder(settings, channels, stack)

    def mount(service: Service) -> None:
        server = servers[service.short_name]
        server.add_interceptor(interceptor(service, secret, metrics))
        service.add_to(server)

    # In the order of who needs whom while starting.
    mount(embedder)
    mount(await build_episodic(EpisodicSettings(data_dir=data_dir), channels, stack))
    mount(await build_semantic(SemanticSettings(data_dir=data_dir), channels, stack))
    mount(await build_compactor(CompactorSettings(data_dir=data_dir), channels, stack))
    gateway = await build_gateway(
        GatewaySettings(data_dir=data_dir, profile="embedded"), channels, stack, chat=chat
    )
    # The others ask it for settings; its metrics are registered where it listens.
    mount(replace(gateway, collectors=()))
    return gateway


def _models(data_dir: Path, model_dir: Path | None, next_model_dir: Path | None) -> EmbedderSettings:
    """The models that were named, else those of the environment."""
    named: dict[str, Any] = {}
    if model_dir is not None:
        named["model_dir"] = model_dir
    if next_model_dir is not None:
        named["next"] = ModelChoice(model_dir=next_model_dir)
    return EmbedderSettings(data_dir=data_dir, **named)


def lock_data(data_dir: Path, stack: AsyncExitStack) -> None:
    """Makes the folder and takes its lock until the stack is left; StartupError if that can't be."""
    try:
        data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(data_dir / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StartupError(f"cannot write to the data folder {data_dir}: {error.strerror}") from error
    stack.callback(os.close, descriptor)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise StartupError(f"the data folder {data_dir} is in use by another palimpsest") from error


def publish_endpoint(data_dir: Path, target: str, url: str, stack: AsyncExitStack) -> None:
    """Writes where the suite listens, for clients on this machine; removed when the stack is left."""
    path = data_dir / ENDPOINT_FILE
    draft = path.with_suffix(".tmp")
    draft.write_text(json.dumps({"target": target, "pid": os.getpid(), "url": url}) + "\n", "utf-8")
    draft.replace(path)
    stack.callback(path.unlink, missing_ok=True)
