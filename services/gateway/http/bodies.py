"""Reads bodies: each within its size and time, all together within a bound of memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from services.gateway.http.answering import Refused
from services.gateway.http.heads import Head, check_body_headers, too_large
from services.gateway.http.limits import (
    BODY_SECONDS,
    DISCARD_SECONDS,
    MAX_BODIES_BYTES,
    MAX_BODY_BYTES,
    MAX_DISCARDED_BYTES,
    OVERLOADED_RETRY_SECONDS,
)
from services.kit.errors import DeadlineExceeded, Overloaded

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]


class Gone(Exception):
    """The caller has left."""


async def discard(receive: Receive) -> None:
    """Reads on for a while, and keeps nothing."""
    size = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(DISCARD_SECONDS):
            while size < MAX_DISCARDED_BYTES:
                message = await receive()
                size += len(message.get("body", b""))
                if not message.get("more_body", False):
                    return


async def leaves(receive: Receive) -> None:
    """Ends when the caller has left; to be asked for once the body is read."""
    while (await receive())["type"] != "http.disconnect":
        pass


class Bodies:
    """The bodies that are being read."""

    def __init__(self, *, seconds: float = BODY_SECONDS, most_bytes: int = MAX_BODIES_BYTES) -> None:
        self._seconds = seconds
        self._most = most_bytes
        self._held = 0

    @asynccontextmanager
    async def read(self, head: Head, receive: Receive) -> AsyncIterator[bytes]:
        """The body, b"" without one; it counts until the context is left.

        Raises Refused, Overloaded and Gone.
        """
        if head.has_body:
            check_body_headers(head)
        chunks: list[bytes] = []
        try:
            await self._collect_in_time(receive, chunks)
            yield b"".join(chunks)
        finally:
            self._held -= sum(map(len, chunks))

    async def _collect_in_time(self, receive: Receive, chunks: list[bytes]) -> None:
        try:
            async with asyncio.timeout(self._seconds):
                await self._collect(receive, chunks)
        except TimeoutError as error:
            raise Refused(408, DeadlineExceeded("the body did not arrive in time")) from error

    async def _collect(self, receive: Receive, chunks: list[bytes]) -> None:
        size = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Gone
            chunk: bytes = message.get("body", b"")
            size += len(chunk)
            if size > MAX_BODY_BYTES:
                raise too_large()
            if self._held + len(chunk) > self._most:
                raise Overloaded("too many large bodies at once", retry_after=OVERLOADED_RETRY_SECONDS)
            chunks.append(chunk)
            self._held += len(chunk)
            if not message.get("more_body", False):
                return
