"""Storing turns and transcripts (SPEC G-4, E-2)."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from typing import Any, TypeAlias

from palimpsest.episodic.v1 import episodic_pb2
from palimpsest.gateway.v1 import conversations_pb2 as pb

from services.gateway.app.backends import Backends

Place: TypeAlias = "tuple[str, str]"  # agent and conversation

MAX_IN_FLIGHT = 8  # chunks of one stream that are stored at the same time (of different conversations)


async def record_turn(backends: Backends, request: pb.RecordTurnRequest) -> pb.RecordTurnResponse:
    """After the parent given, else after the active leaf."""
    response = await backends.episodic.AppendMessages(
        episodic_pb2.AppendMessagesRequest(
            agent_id=request.agent_id,
            conversation_id=request.conversation_id,
            messages=request.messages,
            parent_id=request.parent_id if request.HasField("parent_id") else None,
            request_id=request.request_id,
            branch=request.branch,
        )
    )
    return pb.RecordTurnResponse(messages=_stored(response), token=response.token)


async def ingest(backends: Backends, request: pb.IngestRequest) -> pb.IngestResponse:
    """After the parent given, else from the root."""
    response = await backends.episodic.AppendMessages(
        episodic_pb2.AppendMessagesRequest(
            agent_id=request.agent_id,
            conversation_id=request.conversation_id,
            messages=request.messages,
            parent_id=request.parent_id,
            request_id=request.request_id,
            branch=request.branch,
        )
    )
    stored = _stored(response)
    return pb.IngestResponse(
        messages=stored, created_count=sum(one.created for one in stored), token=response.token
    )


class IngestStream:
    """A conversation's chunks follow each other, different conversations run side by side.

    Answers come in the order of the chunks. The first error ends the stream; what was answered stays stored.
    """

    def __init__(self, backends: Backends) -> None:
        self._backends = backends
        self._newest: dict[Place, asyncio.Task[pb.IngestResponse]] = {}  # those that are not stored yet
        self._last_ids: dict[Place, str] = {}  # all that is kept of a chunk: a stream may be long

    async def run(
        self, requests: AsyncIterator[pb.IngestStreamRequest]
    ) -> AsyncIterator[pb.IngestStreamResponse]:
        """Answers while it reads."""
        waiting: deque[asyncio.Task[Any]] = deque()
        reading: asyncio.Task[Any] | None = asyncio.ensure_future(anext(requests, None))
        try:
            while reading or waiting:
                takes_more = reading is not None and len(waiting) < MAX_IN_FLIGHT
                interesting = {
                    task
                    for task in (reading if takes_more else None, waiting[0] if waiting else None)
                    if task
                }
                await asyncio.wait(interesting, return_when=asyncio.FIRST_COMPLETED)
                while waiting and waiting[0].done():
                    yield pb.IngestStreamResponse(chunk=waiting.popleft().result())
                if takes_more and reading is not None and reading.done():
                    read, reading = reading, None
                    if read.exception() is not None:
                        waiting.append(read)  # a chunk that can't be read fails in its turn
                    elif (request := read.result()) is not None:
                        waiting.append(self._start(request.chunk))
                        reading = asyncio.ensure_future(anext(requests, None))
        finally:
            left = [*waiting, *([reading] if reading else [])]
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)

    def _start(self, chunk: pb.IngestRequest) -> asyncio.Task[pb.IngestResponse]:
        place = (chunk.agent_id, chunk.conversation_id)
        task = asyncio.ensure_future(self._store(chunk, place, self._newest.get(place)))
        self._newest[place] = task
        return task

    async def _store(
        self, chunk: pb.IngestRequest, place: Place, before: asyncio.Task[pb.IngestResponse] | None
    ) -> pb.IngestResponse:
        """After the chunk before it; one that failed stays the newest, so that none is stored after it."""
        if before is not None:
            await asyncio.shield(before)
        if not chunk.parent_id:
            chunk.parent_id = self._last_ids.get(place, "")
        response = await ingest(self._backends, chunk)
        self._last_ids[place] = response.messages[-1].message_id
        if self._newest.get(place) is asyncio.current_task():
            del self._newest[place]
        return response


def _stored(response: episodic_pb2.AppendMessagesResponse) -> list[pb.StoredMessage]:
    return [
        pb.StoredMessage(message_id=one.message_id, sequence=one.sequence, created=one.created)
        for one in response.results
    ]
