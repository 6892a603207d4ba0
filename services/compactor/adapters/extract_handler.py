"""Jobs of the type "extract_messages": facts that people state become memories (SPEC J-8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

from palimpsest.episodic.v1 import episodic_pb2, episodic_pb2_grpc

from services.compactor.adapters.acting import as_service
from services.compactor.adapters.fact_writer import FactWriter, Kept
from services.compactor.app.calls import describe
from services.compactor.app.engines import About, together
from services.compactor.app.ports import Done, Failed, Outcome
from services.compactor.domain import payloads
from services.compactor.domain.ledger import Job
from services.kit.errors import (
    DependencyDown,
    LimitExceeded,
    NotFound,
    Overloaded,
    PalimpsestError,
    Reason,
)

EXTRACT_MESSAGES = "extract_messages"
MOST_MESSAGES = 1000
"""What Episodic gives in one call; a job names far fewer."""
BAD_PAYLOAD = f"{Reason.INVALID_FIELD}: the payload does not name messages of a conversation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Messages of a conversation by their sequence numbers, both included."""

    conversation_id: str
    first: int
    last: int


class ExtractHandler:
    """Does jobs one by one, each as the agent that it belongs to."""

    def __init__(self, episodic: episodic_pb2_grpc.EpisodicServiceAsyncStub, writer: FactWriter) -> None:
        self._episodic = episodic
        self._writer = writer

    async def run(self, tenant: str, agent_id: str, jobs: Sequence[Job]) -> Sequence[Outcome]:
        """See Handler. After an outage in the middle, what was written before it is found written."""
        with as_service(tenant, agent_id):
            return [await self._do(tenant, agent_id, job) for job in jobs]

    async def _do(self, tenant: str, agent_id: str, job: Job) -> Outcome:
        stretch = stretch_of(job.payload)
        if stretch is None:
            return Failed(error=BAD_PAYLOAD, hopeless=True)
        about = About(tenant=tenant, agent_id=agent_id, conversation_id=stretch.conversation_id)
        try:
            kept = await self._extract(about, stretch)
            return Done(result_ids=kept.ids, engine=kept.engine)
        except (DependencyDown, Overloaded):
            raise
        except NotFound:
            return Done()  # the conversation or its contact was erased: nothing is to be kept of it
        except PalimpsestError as error:
            return Failed(error=describe(error))

    async def _extract(self, about: About, stretch: Stretch) -> Kept:
        request = episodic_pb2.GetMessageRangeRequest(
            agent_id=about.agent_id,
            conversation_id=stretch.conversation_id,
            sequences=range(stretch.first, stretch.last + 1),
        )
        try:
            answer = await self._episodic.GetMessageRange(request)
        except LimitExceeded:  # too large for one answer
            if stretch.first == stretch.last:
                raise
            found = [await self._extract(about, half) for half in _halves(stretch)]
            ids = dict.fromkeys(chain.from_iterable(one.ids for one in found))
            return Kept(ids=tuple(ids), engine=together(one.engine for one in found))
        return await self._writer.after_turn(about, answer.conversation, answer.messages)


def _halves(stretch: Stretch) -> tuple[Stretch, Stretch]:
    middle = (stretch.first + stretch.last) // 2
    return replace(stretch, last=middle), replace(stretch, first=middle + 1)


def stretch_of(payload: bytes) -> Stretch | None:
    """From {"conversation_id", "from_sequence", "to_sequence"}; None when these name nothing."""
    read = payloads.said(payload)
    conversation_id, first, last = (read.get(k) for k in ("conversation_id", "from_sequence", "to_sequence"))
    if not (isinstance(conversation_id, str) and conversation_id):
        return None
    if type(first) is not int or type(last) is not int or not 1 <= first <= last < first + MOST_MESSAGES:
        return None
    return Stretch(conversation_id=conversation_id, first=first, last=last)
