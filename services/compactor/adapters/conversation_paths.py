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
from services.compactor.domain.turning import Placed

MOST_MESSAGES: Final = 5_000
"""Messages that are read at once, the newest; what lies before them in a longer conversation is left."""
PAGE: Final = 100
BEFORE: Final = 6
"""Messages before the place that was asked for: what is new is compared with them."""


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
        newest_first = await self._newest(agent_id, conversation_id, reached)
        at = next((n for n, one in enumerate(newest_first) if one.depth == reached.depth), None)
        follows = not reached.depth or (at is not None and newest_first[at].id == reached.message_id)
        if not follows:
            newest_first = await self._newest(agent_id, conversation_id, Reached())
            at = None
        new = newest_first if at is None else newest_first[:at]
        before = [] if at is None else newest_first[at : at + BEFORE]
        return Stretch(
            title=title,
            before=[_placed(one) for one in reversed(before)],
            messages=[_placed(one) for one in reversed(new)],
            follows=follows,
            tokens=sum(one.token_count for one in new),
            reached=_reached(new[0]) if new else reached,
        )

    async def _newest(
        self, agent_id: str, conversation_id: str, reached: Reached
    ) -> list[resources_pb2.Message]:
        """The path back to that place and BEFORE messages further, the newest first."""
        found: list[resources_pb2.Message] = []
        request = history_pb2.ListPathRequest(
            agent_id=agent_id, conversation_id=conversation_id, newest_first=True, page_size=PAGE
        )
        while len(found) < MOST_MESSAGES:
            page = await self._history.ListPath(request)
            found += page.messages
            enough = found and reached.depth and found[-1].depth <= reached.depth - BEFORE
            if enough or not page.next_page_token:
                break
            request.page_token = page.next_page_token
        return found[:MOST_MESSAGES]


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
