"""Calls into the gateway's own services, as any other caller's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import grpc
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from services.gateway.http.heads import Head
from services.gateway.http.routes import Route


class Calls:
    """Starts calls on a channel in this process."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._channel = channel
        self._known: dict[str, Callable[..., Any]] = {}

    def start(self, route: Route, message: Message, head: Head) -> Any:
        """The call: awaitable, or with `read` where the method answers with a stream."""
        return self._callable(route)(message, timeout=head.timeout, metadata=tuple(head.metadata.items()))

    def _callable(self, route: Route) -> Callable[..., Any]:
        known = self._known.get(route.path)
        if known is None:
            method = route.method
            kind = self._channel.unary_stream if method.server_streaming else self._channel.unary_unary
            known = self._known[route.path] = kind(
                route.path,
                request_serializer=GetMessageClass(method.input_type).SerializeToString,
                response_deserializer=GetMessageClass(method.output_type).FromString,
            )
        return known
