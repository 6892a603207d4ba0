"""Jobs of the types "cover_messages" and "fold_overlays": summaries over what is due (SPEC E-7, E-8).

A job names a conversation, not a range: what is due is looked up when the job is done. So a job that is done
twice, late, or by two workers at once adds nothing that is not due; what is due after an overlay was stored,
Episodic asks for.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC

from google.protobuf.timestamp_pb2 import Timestamp
from palimpsest.common.v1 import resources_pb2
from palimpsest.history.v1 import history_pb2_grpc, overlays_pb2

from services.compactor.adapters.acting import as_service
from services.compactor.app.calls import describe
from services.compactor.app.engines import About, together
from services.compactor.app.ports import Done, Failed, Outcome
from services.compactor.app.summarising import Summariser
from services.compactor.domain import payloads
from services.compactor.domain.covering import Covered, Lengths, to_fold
from services.compactor.domain.ledger import Job
from services.compactor.domain.summaries import Utterance
from services.kit.errors import (
    DependencyDown,
    Exists,
    NotFound,
    Overloaded,
    PalimpsestError,
    Reason,
    StateConflict,
)

COVER_MESSAGES = "cover_messages"
FOLD_OVERLAYS = "fold_overlays"
BAD_PAYLOAD = f"{Reason.INVALID_FIELD}: the payload does not name a conversation"
LOOKS = 2
"""How often a job looks what is due when another worker was faster."""
DIGEST = 16
"""Characters of a digest in the id of a fold."""

Flush = Callable[[About, Sequence[resources_pb2.Message]], Awaitable[str]]
"""Keeps the lasting facts of messages; the name of what read them. Raises DependencyDown, Overloaded only."""

_AUTHORS = {
    resources_pb2.ROLE_SYSTEM: "system",
    resources_pb2.ROLE_USER: "user",
    resources_pb2.ROLE_ASSISTANT: "assistant",
    resources_pb2.ROLE_TOOL: "tool",
}
"""Who speaks where no author is named."""


class OverlayHandler(ABC):
    """Does jobs one by one, each as the agent that it belongs to."""

    def __init__(
        self, history: history_pb2_grpc.HistoryServiceAsyncStub, summariser: Summariser, lengths: Lengths
    ) -> None:
        self._history = history
        self._summariser = summariser
        self._lengths = lengths

    async def run(self, tenant: str, agent_id: str, jobs: Sequence[Job]) -> Sequence[Outcome]:
        """See Handler. After an outage in the middle, what was done before it is found done."""
        with as_service(tenant, agent_id):
            return [await self._do(tenant, agent_id, job) for job in jobs]

    async def _do(self, tenant: str, agent_id: str, job: Job) -> Outcome:
        conversation_id = conversation_of(job.payload)
        if not conversation_id:
            return Failed(error=BAD_PAYLOAD, hopeless=True)
        try:
            return await self._attempt(
                About(tenant=tenant, agent_id=agent_id, conversation_id=conversation_id)
            )
        except (DependencyDown, Overloaded):
            raise
        except NotFound:
            return Done()  # the conversation was erased: nothing is due
        except PalimpsestError as error:
            return Failed(error=describe(error))

    async def _attempt(self, about: About) -> Outcome:
        for _ in range(LOOKS):
            wanted, reader = await self._overlay(about)
            if wanted is None:
                return Done()
            try:
                stored = await self._history.PutOverlay(wanted)
            except (Exists, StateConflict):
                continue  # another worker was faster: what it did may be all that was due
            return Done(result_ids=(stored.overlay.id,), engine=together([wanted.model, reader]))
        return Done()  # the other workers' overlays ask for what is due next

    async def _overlay(self, about: About) -> tuple[overlays_pb2.PutOverlayRequest | None, str]:
        """What is to be stored, and what read the facts that were kept before."""
        coverage = await self._history.GetCoverage(
            overlays_pb2.GetCoverageRequest(agent_id=about.agent_id, conversation_id=about.conversation_id)
        )
        reader = await self._keep(about, coverage)
        wanted = await self._write(about, coverage)
        if wanted is not None:
            wanted.agent_id, wanted.conversation_id = about.agent_id, about.conversation_id
        return wanted, reader

    async def _keep(self, _about: About, _coverage: overlays_pb2.GetCoverageResponse) -> str:
        """Saves what outlasts the messages that are about to lie under an overlay; what read it, if any."""
        return ""

    @abstractmethod
    async def _write(
        self, about: About, coverage: overlays_pb2.GetCoverageResponse
    ) -> overlays_pb2.PutOverlayRequest | None:
        """The overlay to be stored, but for its agent and conversation; None when nothing is due."""


class CoverHandler(OverlayHandler):
    """Summarises the oldest messages that no overlay covers, once their facts are kept (J-9)."""

    def __init__(
        self,
        history: history_pb2_grpc.HistoryServiceAsyncStub,
        summariser: Summariser,
        lengths: Lengths,
        flush: Flush | None = None,
    ) -> None:
        """Without `flush` nothing is kept but the summary."""
        super().__init__(history, summariser, lengths)
        self._flush = flush

    async def _keep(self, about: About, coverage: overlays_pb2.GetCoverageResponse) -> str:
        if self._flush is None or not coverage.uncovered:
            return ""
        return await self._flush(about, coverage.uncovered)

    async def _write(
        self, about: About, coverage: overlays_pb2.GetCoverageResponse
    ) -> overlays_pb2.PutOverlayRequest | None:
        messages = coverage.uncovered
        if not messages:
            return None
        summary = await self._summariser.summarise(
            about,
            [utterance(message) for message in messages],
            coverage.previous_summary,
            self._lengths.of_messages(sum(message.token_count for message in messages)),
        )
        first, last = messages[0], messages[-1]
        return overlays_pb2.PutOverlayRequest(
            overlay_id=f"cover-{first.sequence}-{last.sequence}",
            from_message_id=first.id,
            to_message_id=last.id,
            summary=summary.text,
            model=summary.model,
        )


class FoldHandler(OverlayHandler):
    """Folds the oldest overlays into one when all of them are over their share."""

    async def _write(
        self, about: About, coverage: overlays_pb2.GetCoverageResponse
    ) -> overlays_pb2.PutOverlayRequest | None:
        live = {overlay.id: overlay for overlay in coverage.over_share}
        chosen = to_fold([_covered(one) for one in live.values()], coverage.share_tokens, self._lengths)
        if not chosen:
            return None
        overlays = [live[one.id] for one in chosen]
        summary = await self._summariser.merge(
            about, [overlay.summary for overlay in overlays], self._lengths.of_fold(coverage.share_tokens)
        )
        return overlays_pb2.PutOverlayRequest(
            overlay_id=fold_id(chosen),
            from_message_id=overlays[0].from_message_id,
            to_message_id=overlays[-1].to_message_id,
            summary=summary.text,
            model=summary.model,
            folded_overlay_ids=[overlay.id for overlay in overlays],
        )


def conversation_of(payload: bytes) -> str:
    """From {"conversation_id"}; "" when there is none."""
    return payloads.text(payload, "conversation_id")


def fold_id(chosen: Sequence[Covered]) -> str:
    """The same for the same overlays, another on another branch."""
    digest = hashlib.sha256("\n".join(one.id for one in chosen).encode("utf-8")).hexdigest()[:DIGEST]
    return f"fold-{chosen[0].from_depth}-{chosen[-1].to_depth}-{digest}"


def utterance(message: resources_pb2.Message) -> Utterance:
    """A message as a summariser reads it."""
    said: list[str] = []
    output: list[str] = []
    for part in message.parts:
        match part.WhichOneof("kind"):
            case "text":
                (output if message.role == resources_pb2.ROLE_TOOL else said).append(part.text)
            case "tool_call":
                output.append(part.tool_call.name)
            case "tool_result":
                output.append(part.tool_result.content)
            case "attachment":
                said.append(part.attachment.caption or part.attachment.uri)
    return Utterance(
        author=" ".join(message.author.split()) or _AUTHORS.get(message.role, "unknown"),
        text="\n".join(said),
        output="\n".join(output),
        asks=message.role == resources_pb2.ROLE_USER,
        day=_day(message.time) if message.HasField("time") else "",
    )


def _day(time: Timestamp) -> str:
    return time.ToDatetime(UTC).date().isoformat()


def _covered(overlay: overlays_pb2.Overlay) -> Covered:
    return Covered(
        id=overlay.id,
        from_depth=overlay.from_depth,
        to_depth=overlay.to_depth,
        tokens=overlay.token_count,
    )
