"""The ends of conversations' active paths, from Episodic."""

from __future__ import annotations

from datetime import UTC
from typing import Final

from palimpsest.common.v1 import resources_pb2
from palimpsest.episodic.v1 import episodic_pb2, episodic_pb2_grpc
from palimpsest.history.v1 import history_pb2, history_pb2_grpc

from services.compactor.adapters.cover_handler import utterance
from services.compactor.app.summary_ports import Stretch
from services.compactor.domain import extractive
from services.compactor.domain.rolling import Reached
from services.compactor.domain.summaries import Utterance
from services.compactor.domain.turning import BLOCK, Placed

MOST_MESSAGES: Final = 5_000
"""Messages that are read at once. Of a conversation that nothing is known of yet they are the newest, and
what lies before them is left; where a summary goes on, more are left to its next version."""
PAGE: Final = 100
BEFORE: Final = 6
"""Messages before the place that was asked for, and those that begin their block: what is new is compared
with them."""


class EpisodicPaths:
    """Conversations (see summary_ports) by Episodic's stubs; calls carry the caller's identity."""

    def __init__(
        self,
        episodic: episodic_pb2_grpc.EpisodicServiceAsyncStub,
        history: history_pb2_grpc.HistoryServiceAsyncStub,
    ) -> None:
        self._episodic = episodic
        self._history = history

    async def after(self, agent_id: str, conversation_id: str, reached: Reached) -> Stretch:
        """See the port."""
        request = episodic_pb2.GetConversationRequest(agent_id=agent_id, conversation_id=conversation_id)
        title = (await self._episodic.GetConversation(request)).conversation.title
        before, new, more = await self._following(agent_id, conversation_id, reached)
        follows = not reached.depth or bool(before)
        if not before:
            new, more = await self._newest(agent_id, conversation_id), False
        return Stretch(
            title=title,
            before=[_placed(one) for one in before],
            messages=[_placed(one) for one in new],
            follows=follows,
            tokens=sum(one.token_count for one in new),
            reached=_reached(new[-1]) if new else reached,
            more=more,
        )

    async def holds(self, agent_id: str, conversation_id: str, reached: Reached) -> bool:
        """See the port."""
        request = history_pb2.ListPathRequest(
            agent_id=agent_id,
            conversation_id=conversation_id,
            after_depth=reached.depth - 1,
            page_size=1,
        )
        page = await self._history.ListPath(request)
        return [one.id for one in page.messages] == [reached.message_id]

    async def _following(
        self, agent_id: str, conversation_id: str, reached: Reached
    ) -> tuple[list[resources_pb2.Message], list[resources_pb2.Message], bool]:
        """That place with those before it, the oldest MOST_MESSAGES after it, and whether there are more;
        nothing where it is no place, or not one of the path."""
        if not reached.depth:
            return [], [], False
        begin = max(0, reached.depth - BEFORE)
        begin -= begin % BLOCK  # the same blocks as last time, whose vectors the Embedder may still have
        request = history_pb2.ListPathRequest(
            agent_id=agent_id, conversation_id=conversation_id, after_depth=begin, page_size=PAGE
        )
        found: list[resources_pb2.Message] = []
        count = reached.depth - begin
        while True:
            page = await self._history.ListPath(request)
            found += page.messages
            if len(found) < count or found[count - 1].id != reached.message_id:
                return [], [], False
            if not page.next_page_token or len(found) > count + MOST_MESSAGES:
                break
            request.page_token = page.next_page_token
        new = found[count : count + MOST_MESSAGES]
        return found[:count], new, len(found) > count + len(new)

    async def _newest(self, agent_id: str, conversation_id: str) -> list[resources_pb2.Message]:
        """The end of the path, the oldest first."""
        found: list[resources_pb2.Message] = []
        request = history_pb2.ListPathRequest(
            agent_id=agent_id, conversation_id=conversation_id, newest_first=True, page_size=PAGE
        )
        while len(found) < MOST_MESSAGES:
            page = await self._history.ListPath(request)
            found += page.messages
            if not page.next_page_token:
                break
            request.page_token = page.next_page_token
        return found[:MOST_MESSAGES][::-1]


def _placed(message: resources_pb2.Message) -> Placed:
    said = utterance(message)
    clean = Utterance(
        author=_kept(said.author),
        text=_kept(said.text),
        output=_kept(said.output),
        asks=said.asks,
        day=said.day,
    )
    return Placed(
        message_id=message.id,
        sequence=message.sequence,
        time=_time(message),
        said=extractive.clipped([clean])[0],
    )


def _kept(text: str) -> str:
    """Without what no document keeps."""
    return text.replace("\x00", " ")


def _reached(message: resources_pb2.Message) -> Reached:
    return Reached(message_id=message.id, sequence=message.sequence, depth=message.depth, time=_time(message))


def _time(message: resources_pb2.Message) -> str:
    return message.time.ToDatetime(UTC).isoformat() if message.HasField("time") else ""
