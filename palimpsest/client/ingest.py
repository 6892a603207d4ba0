"""The stream of transcripts: chunks in flight, answers in order, opened again where it broke off."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterable
from contextlib import aclosing
from itertools import islice
from typing import Any, TypeVar

import grpc

from palimpsest import models
from palimpsest.client import incoming, outgoing
from palimpsest.client.failures import is_described, to_error
from palimpsest.client.transport import Transport, new_request_id
from palimpsest.common.v1 import resources_pb2
from palimpsest.errors import DeadlineError, InternalError, PalimpsestError, UnavailableError
from palimpsest.gateway.v1 import conversations_pb2 as pb

CHUNK_MESSAGES = 100
CHUNK_BYTES = 1024 * 1024
MAX_IN_FLIGHT = 8
"""Chunks sent and not yet answered, and as many again read ahead."""

ItemT = TypeVar("ItemT")


async def each(source: AsyncIterable[ItemT] | Iterable[ItemT], batch: int = 1) -> AsyncIterator[ItemT]:
    """The items of any iterable; a plain one is read in a thread, `batch` items at a time."""
    if isinstance(source, AsyncIterable):
        async for item in source:
            yield item
        return
    iterator = iter(source)
    while items := await asyncio.to_thread(list, islice(iterator, batch)):
        for item in items:
            yield item


async def cut(
    agent: str,
    conversation_id: str,
    messages: AsyncIterable[models.NewMessage] | Iterable[models.NewMessage],
    *,
    parent_id: str,
    branch: bool,
    chunk_messages: int,
) -> AsyncIterator[pb.IngestRequest]:
    """A transcript in chunks of at most `chunk_messages` messages and about CHUNK_BYTES."""
    held: list[resources_pb2.NewMessage] = []
    size = 0
    async for message in each(messages, chunk_messages):
        held.append(outgoing.new_message(message))
        size += held[-1].ByteSize()
        if len(held) >= chunk_messages or size >= CHUNK_BYTES:
            yield _request(agent, conversation_id, held, parent_id, branch)
            held, size, parent_id = [], 0, ""
    if held:
        yield _request(agent, conversation_id, held, parent_id, branch)


async def requests(
    agent: str, chunks: AsyncIterable[models.IngestChunk] | Iterable[models.IngestChunk]
) -> AsyncIterator[pb.IngestRequest]:
    """Chunks as requests."""
    async for chunk in each(chunks):
        messages = [outgoing.new_message(message) for message in chunk.messages]
        yield _request(agent, chunk.conversation_id, messages, chunk.parent_id, chunk.branch)


def _request(
    agent: str, conversation_id: str, messages: list[resources_pb2.NewMessage], parent_id: str, branch: bool
) -> pb.IngestRequest:
    return pb.IngestRequest(
        agent_id=agent,
        conversation_id=conversation_id,
        messages=messages,
        parent_id=parent_id,
        request_id=new_request_id(),
        branch=branch,
    )


class IngestPipe:
    """Sends chunks through IngestStream and yields their acknowledgements in order.

    When the stream breaks in a way that may pass, it is opened again and what was not acknowledged is sent
    again: ids follow from content and parent (SPEC E-2), so nothing is stored twice.
    """

    def __init__(self, transport: Transport, chunks: AsyncIterator[pb.IngestRequest]) -> None:
        self._transport = transport
        self._chunks = chunks
        self._read: asyncio.Queue[pb.IngestRequest | None] = asyncio.Queue(MAX_IN_FLIGHT)
        self._pending: deque[pb.IngestRequest] = deque()
        self._room = asyncio.Semaphore(MAX_IN_FLIGHT)
        self._last_ids: dict[str, str] = {}
        self._exhausted = False

    async def run(self) -> AsyncGenerator[models.IngestAck, None]:
        """Acknowledgements, one for each chunk. What `chunks` raises comes once all before it is stored."""
        reader = asyncio.create_task(self._read_ahead())
        attempt = 0
        try:
            while True:
                attempt += 1
                request_id = new_request_id()
                try:
                    async with aclosing(self._stream(request_id)) as acks:
                        async for ack in acks:
                            attempt = 0
                            yield ack
                    break
                except grpc.aio.AioRpcError as failure:
                    error = _why_broken(failure, request_id)
                    await self._transport.backoff(error, max(attempt, 1))
            await reader
        finally:
            await _end(reader)

    async def _read_ahead(self) -> None:
        try:
            async for chunk in self._chunks:
                await self._read.put(chunk)
        finally:
            # The sender finds the end even if reading failed; the queue may be full, so not with put.
            self._exhausted = True
            if self._read.empty():
                self._read.put_nowait(None)

    async def _stream(self, request_id: str) -> AsyncGenerator[models.IngestAck, None]:
        call: Any = self._transport.stub.IngestStream(metadata=self._transport.metadata(request_id))
        answers: AsyncIterator[pb.IngestStreamResponse] = aiter(call)
        answered = asyncio.Event()
        sender = asyncio.create_task(self._send(call, answered))
        try:
            while (response := await self._answer(answers, request_id)) is not None:
                answered.set()
                yield self._acknowledged(response, request_id)
            if self._pending:
                raise InternalError(
                    "the server ended the stream before the last answer", request_id=request_id
                )
        finally:
            call.cancel()
            await _end(sender)

    async def _send(self, call: Any, answered: asyncio.Event) -> None:
        """Sends until the chunks end or the stream does.

        The first chunk goes alone: a stream that is refused then tells why, which gRPC hides from one that
        fails while it writes (see `_why_broken`).
        """
        opened: set[str] = set()
        try:
            for chunk in tuple(self._pending):
                await self._write(call, chunk, opened)
                await answered.wait()
            while True:
                await self._room.acquire()
                chunk_or_end = await self._next()
                if chunk_or_end is None:
                    self._room.release()
                    await call.done_writing()
                    return
                self._pending.append(chunk_or_end)
                await self._write(call, chunk_or_end, opened)
                await answered.wait()
        except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
            return  # the stream is over; reading the answers tells why

    async def _next(self) -> pb.IngestRequest | None:
        if self._exhausted and self._read.empty():
            return None
        try:
            return await self._read.get()
        except asyncio.CancelledError:
            self._room.release()
            raise

    async def _write(self, call: Any, chunk: pb.IngestRequest, opened: set[str]) -> None:
        """Sends a chunk; on a new stream, a conversation goes on after its last acknowledged message."""
        sent = pb.IngestRequest()
        sent.CopyFrom(chunk)
        if not sent.parent_id and sent.conversation_id not in opened:
            sent.parent_id = self._last_ids.get(sent.conversation_id, "")
        opened.add(sent.conversation_id)
        await call.write(pb.IngestStreamRequest(chunk=sent))

    async def _answer(
        self, answers: AsyncIterator[pb.IngestStreamResponse], request_id: str
    ) -> pb.IngestStreamResponse | None:
        """The next answer, None at the end. Waits for ever while nothing is sent, else for a timeout."""
        reading = asyncio.ensure_future(_next_or_none(answers))
        try:
            while True:
                waiting = len(self._pending)
                await asyncio.wait({reading}, timeout=self._transport.default_timeout("IngestStream"))
                if reading.done():
                    return reading.result()
                if waiting:
                    raise DeadlineError(request_id=request_id)
        finally:
            if not reading.done():
                await _end(reading)

    def _acknowledged(self, response: pb.IngestStreamResponse, request_id: str) -> models.IngestAck:
        if not self._pending:
            raise InternalError("the server answered what was not sent", request_id=request_id)
        chunk = self._pending.popleft()
        self._room.release()
        ack = incoming.ingest_ack(chunk.conversation_id, response.chunk)
        if ack.messages:
            self._last_ids[chunk.conversation_id] = ack.messages[-1].message_id
        return ack


async def _next_or_none(answers: AsyncIterator[ItemT]) -> ItemT | None:
    return await anext(answers, None)


def _why_broken(failure: grpc.aio.AioRpcError, request_id: str) -> PalimpsestError:
    """Why the stream ended. A write into a stream that the server has ended makes gRPC say INTERNAL, without
    the service's details: the cause is then not known, and the stream is opened again to learn it.
    """
    error = to_error(failure, request_id)
    if isinstance(error, InternalError) and not is_described(failure):
        return UnavailableError("the stream broke off", request_id=request_id)
    return error


async def _end(task: asyncio.Future[Any]) -> None:
    """Cancels a task and waits for it; its outcome no longer matters."""
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
