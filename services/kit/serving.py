"""A service as it is served: socket server, health, reflection, graceful stop (SPEC SV-1, O-2, O-3)."""

from __future__ import annotations

import asyncio
import errno
import gc
import json
import signal
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import grpc
import structlog
from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.descriptor_pb2 import MethodOptions
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection
from palimpsest.common.v1 import roles_pb2
from prometheus_client.registry import Collector

from services.kit.admission import Admission
from services.kit.channels import CHANNEL_OPTIONS, MAX_MESSAGE_BYTES, Channels, ServiceChannel
from services.kit.errors import StartupError
from services.kit.identity import Authenticator, Role, TokenSigner, TokenVerifier
from services.kit.inprocess import InProcessServer
from services.kit.interceptors import CallInterceptor
from services.kit.logs import configure_logging
from services.kit.metrics import Metrics
from services.kit.readiness import READINESS_SECONDS, is_ready
from services.kit.settings import ServiceSettings
from services.kit.timeouts import method_timeouts, service_config
from services.kit.web import Web, serving_web

SERVICES = ("embedder", "episodic", "semantic", "compactor", "gateway")
MIN_SECRET_BYTES = 32
# A call makes some hundred objects and leaves no cycles: to look for some after each 700 objects, Python's
# default, and among all that were made at the start again and again, takes a quarter of a small call's time.
GARBAGE_THRESHOLDS = (50_000, 20, 50)
SERVER_OPTIONS = (
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
    # Headers of a call: a token of 8 KiB and all else (G-9). Beyond the second bound it is refused at once.
    ("grpc.max_metadata_size", 16 * 1024),
    ("grpc.absolute_max_metadata_size", 32 * 1024),
    ("grpc.so_reuseport", 0),  # a port in use is an error, not a second listener
    ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
    ("grpc.keepalive_permit_without_calls", 1),
)

S = TypeVar("S", bound=ServiceSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Face:
    """One proto service: its full name, how to add its servicer to a server, least role by method name."""

    name: str
    add: Callable[[Any], None]
    roles: Mapping[str, Role]
    internal: bool = False
    """Whether its callers are other services, by their signed tokens, whoever else the service serves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """What a bootstrap makes: how to add the servicer, who may call what, and whether it is ready."""

    name: str
    """Full proto name, e.g. "palimpsest.episodic.v1.EpisodicService"."""
    add: Callable[[Any], None]
    """Adds the servicer to a server (socket or in process)."""
    roles: Mapping[str, Role]
    """Least role by method name; a method without one is refused."""
    ready: Callable[[], Awaitable[bool]]
    """Whether the stores that it needs answer."""
    faces: tuple[Face, ...] = ()
    """Further proto services that it serves, on the same port with the same callers."""
    authenticator: Authenticator | None = None
    """Who its callers are; None: other services, by their signed tokens (SV-6)."""

    admission: Admission | None = None
    """What its callers may use; None: as much as they like."""

    collectors: tuple[Collector, ...] = ()
    """Its own metrics, beside those that every service has."""

    web: Web | None = None
    """Its HTTP face, beside gRPC."""

    stopping: Callable[[float], None] = lambda _seconds: None
    """Told when it begins to stop, perhaps twice, and how many seconds its calls have to end."""

    @property
    def all_faces(self) -> tuple[Face, ...]:
        """Every proto service that it serves."""
        return (Face(name=self.name, add=self.add, roles=self.roles), *self.faces)

    def add_to(self, server: Any) -> None:
        """Adds every servicer to a server (socket or in process)."""
        for face in self.all_faces:
            face.add(server)

    @property
    def short_name(self) -> str:
        """The proto package's second part, e.g. "episodic"; audience of its tokens."""
        return self.name.split(".")[1]


def roles_of(descriptor: ServiceDescriptor) -> dict[str, Role]:
    """Least roles by method name, as the proto says: a method that has no side effects is a reader's."""
    return {method.name: _role_of(method.GetOptions()) for method in descriptor.methods}


def _role_of(options: MethodOptions) -> Role:
    if said := options.Extensions[roles_pb2.least_role]:
        return Role(said)
    harmless = options.idempotency_level == MethodOptions.NO_SIDE_EFFECTS
    return Role.READER if harmless else Role.WRITER


def interceptor(service: Service, secret: bytes, metrics: Metrics) -> CallInterceptor:
    """The interceptor of one service; `secret` verifies the tokens between services."""
    for collector in service.collectors:
        metrics.registry.register(collector)
    verifier = TokenVerifier(secret, service.short_name)
    return CallInterceptor(
        authenticator=service.authenticator or verifier,
        authenticators={
            f"/{face.name}/{method}": verifier
            for face in service.all_faces
            if face.internal
            for method in face.roles
        },
        roles={
            f"/{face.name}/{method}": role
            for face in service.all_faces
            for method, role in face.roles.items()
        },
        timeouts=method_timeouts(service_config(service.short_name)),
        metrics=metrics,
        admission=service.admission,
    )


def outgoing(inner: grpc.aio.Channel, audience: str, signer: TokenSigner) -> ServiceChannel:
    """A channel to `audience` with identity and deadlines."""
    timeouts = method_timeouts(service_config(audience))
    return ServiceChannel(inner, audience=audience, signer=signer, timeouts=timeouts)


@asynccontextmanager
async def listening(
    service: Service, secret: bytes, metrics: Metrics, address: str, *, drain_seconds: float
) -> AsyncIterator[int]:
    """Serves on `address` ("host:port", port 0 for a free one) until left; yields the port.

    Leaving reports "not serving", lets calls end for `drain_seconds`, then stops. Raises StartupError when
    the address is taken.
    """
    _probe(address)
    server = grpc.aio.server(interceptors=[interceptor(service, secret, metrics)], options=SERVER_OPTIONS)
    service.add_to(_Generic(server))
    checker = health.aio.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(checker, server)
    names = [face.name for face in service.all_faces]
    reflection.enable_server_reflection((*names, health.SERVICE_NAME, reflection.SERVICE_NAME), server)
    try:
        port = server.add_insecure_port(address)
    except RuntimeError as error:
        raise StartupError(f"cannot listen on {address}") from error
    await server.start()
    _settle_garbage()
    watcher = asyncio.create_task(_watch_readiness(service, checker))
    try:
        yield port
    finally:
        watcher.cancel()
        service.stopping(drain_seconds)
        await checker.enter_graceful_shutdown()
        await server.stop(drain_seconds)
        gc.unfreeze()  # a process that serves again must not keep what this service was made of


@asynccontextmanager
async def web_listening(
    service: Service, secret: bytes, metrics: Metrics, host: str, port: int, *, drain_seconds: float
) -> AsyncIterator[int]:
    """Serves the service's HTTP face on `host` (port 0 for a free one) until left; yields the port.

    Its calls are those of a socket, with the same interceptor, in this process. Raises StartupError.
    """
    assert service.web is not None
    server = InProcessServer(max_message_bytes=MAX_MESSAGE_BYTES)
    server.add_interceptor(interceptor(replace(service, collectors=()), secret, metrics))
    service.add_to(server)
    app = service.web.make(server.channel())
    async with serving_web(app, host, port, drain_seconds=drain_seconds) as bound:
        try:
            yield bound
        finally:
            service.stopping(drain_seconds)


class _Generic:
    """A server to which methods are added by their generic handlers only.

    For each registered method grpc.aio keeps a task that waits for a call of it, and waits for all of these
    tasks anew with each call: with ninety methods that takes longer than to look one up.
    """

    def __init__(self, server: grpc.aio.Server) -> None:
        self._server = server

    def add_generic_rpc_handlers(self, handlers: Iterable[grpc.GenericRpcHandler]) -> None:
        """Finds methods by their names."""
        self._server.add_generic_rpc_handlers(tuple(handlers))

    def add_registered_method_handlers(self, service_name: str, method_handlers: Mapping[str, Any]) -> None:
        """Nothing: the generic handlers have the same methods."""


def _settle_garbage() -> None:
    """What was made at the start stays; what comes is looked through less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GARBAGE_THRESHOLDS)


def _probe(address: str) -> None:
    """Raises StartupError, with the reason, for an address that can't be had; gRPC would only log it."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_server((host.strip("[]"), int(port))).close()
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        reason = "the port is in use" if taken else (error.strerror or type(error).__name__)
        raise StartupError(f"cannot listen on {address}: {reason}") from error


async def _watch_readiness(service: Service, checker: health.aio.HealthServicer) -> None:
    """Keeps the health of "" (liveness: the process answers) and of the service (its stores answer)."""
    await checker.set("", health_pb2.HealthCheckResponse.SERVING)
    while True:
        ready = await is_ready(service.ready)
        state = (
            health_pb2.HealthCheckResponse.SERVING if ready else health_pb2.HealthCheckResponse.NOT_SERVING
        )
        await checker.set(service.name, state)
        await asyncio.sleep(READINESS_SECONDS)


def stop_signal() -> asyncio.Event:
    """Set at the first SIGTERM or SIGINT from now on.

    To be asked for before anybody is told that the process serves: a signal that came earlier would end it
    without a stop in order.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stop.set)
    return stop


def background(stack: AsyncExitStack, work: Iterable[Awaitable[None]]) -> None:
    """Starts tasks that end, cancelled and awaited, when the stack is left.

    One that fails before is logged at once, by the type of its error: nobody else would hear of it then.
    """
    for coroutine in work:
        task = asyncio.ensure_future(coroutine)
        task.add_done_callback(_tell_of_failure)
        stack.push_async_callback(_end, task)


def _tell_of_failure(task: asyncio.Future[None]) -> None:
    error = None if task.cancelled() else task.exception()
    if error is not None:
        structlog.get_logger("serving").error("background_failed", error=type(error).__name__)


async def _end(task: asyncio.Future[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


def socket_channels(settings: ServiceSettings, signer: TokenSigner, stack: AsyncExitStack) -> Channels:
    """Channels over sockets to the targets in the settings."""
    made: dict[str, grpc.aio.Channel] = {}
    for name in SERVICES:
        target = getattr(settings, f"{name}_target") or "unset.invalid:0"
        options = (*CHANNEL_OPTIONS, ("grpc.service_config", json.dumps(service_config(name))))
        channel = grpc.aio.insecure_channel(target, options=options)
        stack.push_async_callback(channel.close)
        made[name] = outgoing(channel, name, signer)
    return Channels(**made)


Build = Callable[[S, Channels, AsyncExitStack], Awaitable[Service]]


def main(settings_type: type[S], build: Build[S]) -> None:
    """Runs one service as a process: the whole of a `__main__`."""
    settings = settings_type()
    configure_logging(settings.log_level)
    try:
        asyncio.run(_run(settings, build))
    except StartupError as error:
        sys.exit(f"error: {error}")


async def _run(settings: S, build: Build[S]) -> None:
    secret = settings.identity_secret.get_secret_value().encode()
    if len(secret) < MIN_SECRET_BYTES:
        raise StartupError(
            f"identity_secret must hold at least {MIN_SECRET_BYTES} bytes, the same for all services"
        )
    metrics = Metrics()
    log = structlog.get_logger("service")
    async with AsyncExitStack() as stack:
        channels = socket_channels(settings, TokenSigner(secret), stack)
        service = await build(settings, channels, stack)
        address = f"{settings.host}:{settings.port}"
        if settings.metrics_port is not None:
            metrics.serve(settings.host, settings.metrics_port, stack.enter_context(ExitStack()))
        stop = stop_signal()
        drain = settings.drain_seconds
        async with (
            listening(service, secret, metrics, address, drain_seconds=drain) as port,
            AsyncExitStack() as beside,
        ):
            if service.web is not None and service.web.port is not None:
                web = web_listening(
                    service, secret, metrics, settings.host, service.web.port, drain_seconds=drain
                )
                log.info("serving_http", port=await beside.enter_async_context(web))
            log.info("serving", service=service.name, port=port)
            await stop.wait()
        log.info("stopped", service=service.name)
