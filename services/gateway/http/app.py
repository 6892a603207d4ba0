"""The whole HTTP face: the calls, the health of the process, the description, and what others mount."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from importlib.resources import files

import grpc
from google.protobuf.descriptor_pool import Default
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from services.gateway.http.answering import COMMON_HEADERS, JSON_TYPE
from services.gateway.http.api import Api
from services.gateway.http.heads import in_origin_form
from services.gateway.http.limits import MAX_REQUESTS
from services.gateway.http.refusals import Refusals
from services.gateway.http.routes import Routes
from services.kit.identity import Authenticator
from services.kit.readiness import is_ready

DESCRIPTION = ("palimpsest", "openapi.json")
"""The package and the file of the OpenAPI description; `make protos` writes it."""
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
REQUEST_HEADERS = (
    *("authorization", "content-type", "grpc-timeout", "last-event-id", "x-request-id", "x-request-timeout"),
    *("mcp-protocol-version", "mcp-session-id"),
)
RESPONSE_HEADERS = ("retry-after", "www-authenticate", "x-request-id")
PREFLIGHT_SECONDS = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpFace:
    """What the HTTP face is made of; `over` makes it."""

    services: tuple[str, ...]
    """Full names of the proto services that it offers."""
    authenticator: Authenticator
    ready: Callable[[], Awaitable[bool]]
    """Whether the stores answer."""
    origins: tuple[str, ...] = ()
    """Origins whose pages may call: scheme://host[:port], or "*" for any."""
    mounts_over: Callable[[grpc.aio.Channel], Sequence[BaseRoute]] = lambda _channel: ()
    """Further routes, before those of the calls; made over the same channel."""
    refusals: Refusals = field(default_factory=Refusals)
    """Counts what is refused."""
    most_requests: int = MAX_REQUESTS
    """Under way at one time."""

    def over(self, channel: grpc.aio.Channel) -> HttpApp:
        """The application; the channel leads to the services, in this process."""
        api = Api(
            routes=routes_of(self.services),
            channel=channel,
            authenticator=self.authenticator,
            refusals=self.refusals,
            most_requests=self.most_requests,
        )
        own = (
            Route("/healthz", _alive, methods=["GET"]),
            Route("/readyz", _readiness(self.ready), methods=["GET"]),
            Route("/openapi.json", _description(), methods=["GET"]),
        )
        router = Router([*own, *self.mounts_over(channel)], redirect_slashes=False, default=api)
        return HttpApp(_across_origins(router, self.origins), api)


class HttpApp:
    """An ASGI application."""

    def __init__(self, app: ASGIApp, api: Api) -> None:
        self._app = app
        self._api = api

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        await self._app(in_origin_form(scope), receive, send)

    def stop(self) -> None:
        """Ends the streams that change nothing; other calls go on."""
        self._api.stop()


def routes_of(services: Iterable[str]) -> Routes:
    """The routes of proto services, by their full names. Raises ValueError and KeyError."""
    return Routes(Default().FindServiceByName(name) for name in services)


def _across_origins(app: ASGIApp, origins: Sequence[str]) -> ASGIApp:
    """Credentials are in a header that a page must know, never in a cookie: none are allowed to be sent."""
    if not origins:
        return app
    return CORSMiddleware(
        app,
        allow_origins=list(origins),
        allow_methods=list(METHODS),
        allow_headers=list(REQUEST_HEADERS),
        expose_headers=list(RESPONSE_HEADERS),
        allow_credentials=False,
        max_age=PREFLIGHT_SECONDS,
    )


async def _alive(_request: Request) -> Response:
    return _json({"status": "alive"})


def _readiness(ready: Callable[[], Awaitable[bool]]) -> Callable[[Request], Awaitable[Response]]:
    async def answer(_request: Request) -> Response:
        serves = await is_ready(ready)
        return _json({"status": "ready" if serves else "not ready"}, 200 if serves else 503)

    return answer


def _description() -> Callable[[Request], Awaitable[Response]]:
    package, name = DESCRIPTION
    text = (files(package) / name).read_bytes()

    async def answer(_request: Request) -> Response:
        return Response(text, media_type=JSON_TYPE, headers=COMMON_HEADERS)

    return answer


def _json(document: dict[str, str], status: int = 200) -> Response:
    return Response(json.dumps(document), status, media_type=JSON_TYPE, headers=COMMON_HEADERS)
