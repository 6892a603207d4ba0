"""Watching a conversation: Episodic's events, and how far its messages are indexed (SPEC E-12)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable

from palimpsest.common.v1 import resources_pb2
from palimpsest.history.v1 import history_pb2 as pb
from palimpsest.semantic.v1 import semantic_pb2

from services.gateway.app.backends import Backends
from services.kit.errors import PalimpsestError

LOOK_SECONDS = 1.0  # how often to look while messages wait to be indexed


async def count_indexed(
    backends: Backends, agent_id: str, conversations: Iterable[resources_pb2.Conversation]
) -> None:
    """Fills `indexed_count`. Raises what Semantic raises."""
    named = {conversation.id: conversation for conversation in conversations}
    if named:
        asked = semantic_pb2.GetIndexProgressRequest(agent_id=agent_id, conversation_ids=list(named))
        for known in (await backends.semantic.GetIndexProgress(asked)).progress:
            named[known.conversation_id].indexed_count = known.indexed_count


async def watch_conversation(
    backends: Backends, request: pb.WatchConversationRequest
) -> AsyncGenerator[pb.WatchConversationResponse, None]:
    """Episodic's events with the indexed count; one more whenever only that has changed."""
    # The channels between services give a generator for a stream.
    events: AsyncGenerator[pb.WatchConversationResponse, None]
    events = backends.history.WatchConversation(request)  # type: ignore[assignment]
    coming = asyncio.ensure_future(anext(events))
    newest: pb.WatchConversationResponse | None = None  # the progress that was sent last
    token = ""
    try:
        while True:
            behind = newest is not None and newest.progress.indexed_count < newest.progress.stored_count
            await asyncio.wait({coming}, timeout=LOOK_SECONDS if behind else None)
            if coming.done():
                event = coming.result()
                coming = asyncio.ensure_future(anext(events))
                token = event.resume_token
                if event.HasField("progress"):
                    event.progress.indexed_count = await _indexed(backends, request, newest)
                    newest = event
                yield event
            elif newest is not None:
                indexed = await _indexed(backends, request, newest)
                if indexed != newest.progress.indexed_count:
                    newest.progress.indexed_count = indexed
                    newest.resume_token = token
                    yield newest
    finally:
        coming.cancel()
        await asyncio.gather(coming, return_exceptions=True)
        await events.aclose()


async def _indexed(
    backends: Backends,
    request: pb.WatchConversationRequest,
    newest: pb.WatchConversationResponse | None,
) -> int:
    """How many messages are indexed; while Semantic is down, what was known last."""
    conversation = resources_pb2.Conversation(id=request.conversation_id)
    try:
        await count_indexed(backends, request.agent_id, [conversation])
    except PalimpsestError:
        return newest.progress.indexed_count if newest is not None else 0
    return conversation.indexed_count
