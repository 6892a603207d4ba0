"""Calls about the rolling summaries of conversations, and about the copies of derived documents."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Any, get_args

from google.protobuf.json_format import MessageToDict

from palimpsest import models
from palimpsest.client.base import Calls
from palimpsest.client.incoming import time_of
from palimpsest.documents.v1 import documents_pb2 as pb

SECTIONS: Sequence[models.SummarySection] = get_args(models.SummarySection)


class SummaryCalls(Calls):
    """Summaries of the client's agent."""

    async def summary(self, conversation_id: str, *, version: int = 0) -> models.Summary:
        """A version of a conversation's summary, the newest unless one is named."""
        request = pb.GetSummaryRequest(agent_id=self._agent, conversation_id=conversation_id)
        if version:
            request.version = version
        answer = await self._transport.call(self._transport.stubs.documents.GetSummary, request)
        return _summary(conversation_id, answer.summary, answer.state)

    async def summary_versions(
        self, conversation_id: str, *, page_size: int = 0
    ) -> AsyncIterator[models.SummaryVersion]:
        """All versions, the newest first."""
        request = pb.ListSummaryVersionsRequest(
            agent_id=self._agent, conversation_id=conversation_id, page_size=page_size
        )
        async for page in self._pages(self._transport.stubs.documents.ListSummaryVersions, request):
            for proto in page.versions:
                yield models.SummaryVersion(
                    version=proto.version,
                    create_time=time_of(proto, "create_time"),
                    engine=proto.engine,
                    size_bytes=proto.size_bytes,
                )

    async def correct_summary(
        self,
        conversation_id: str,
        sections: Mapping[models.SummarySection, Sequence[str]],
        *,
        version: int,
    ) -> models.Summary:
        """Puts these lines, by section, in the place of all that the summary says, in a new version.

        Later versions go on from it. `version` is the newest, which the correction is of: raises
        VersionConflictError where another was written meanwhile, ValueError for a section there is none of.
        """
        unknown = sorted(set(sections) - set(SECTIONS))
        if unknown:
            raise ValueError(f"no sections of a summary: {', '.join(unknown)}")
        request = pb.CorrectSummaryRequest(
            agent_id=self._agent,
            conversation_id=conversation_id,
            version=version,
            sections=pb.SummarySections(**{str(name): lines for name, lines in sections.items()}),
        )
        answer = await self._transport.call(self._transport.stubs.documents.CorrectSummary, request)
        return _summary(conversation_id, answer.summary, answer.state)

    async def rebuild_documents(
        self, *, all_agents: bool = False, page_size: int = 0
    ) -> models.RebuiltDocuments:
        """Fills the cache of derived documents from their rows, for the agent or all agents within reach.

        Needs a key for operators.
        """
        request = pb.RebuildDocumentsRequest(agent_id="" if all_agents else self._agent, page_size=page_size)
        documents = values = 0
        async for page in self._pages(self._transport.stubs.documents.RebuildDocuments, request):
            documents, values = documents + page.document_count, values + page.value_count
        return models.RebuiltDocuments(document_count=documents, value_count=values)


def _summary(conversation_id: str, proto: pb.Document, state: pb.DocumentState) -> models.Summary:
    """What a document of schema palimpsest.summary says; of what it does not say, nothing."""
    body = MessageToDict(proto.body)
    reached = body.get("up_to", {})
    return models.Summary(
        conversation_id=conversation_id,
        version=proto.version,
        create_time=time_of(proto, "create_time"),
        engine=proto.engine,
        source_ids=tuple(proto.source_ids),
        title=body.get("title", ""),
        text=body.get("text", ""),
        sections={name: _lines(body.get("sections", {}).get(name, [])) for name in SECTIONS},
        vibes=tuple(body.get("vibes", [])),
        concepts=tuple(
            models.SummaryConcept(name=one["name"], weight=one["weight"], count=int(one["count"]))
            for one in body.get("concepts", [])
        ),
        turning_points=tuple(_turning_point(one) for one in body.get("turning_points", [])),
        branches=tuple(
            models.ProposedBranch(name=one["name"], relevance=one["relevance"])
            for one in body.get("branches", [])
        ),
        up_to_message_id=reached.get("message_id", ""),
        up_to_sequence=int(reached.get("sequence", 0)),
        message_count=int(body.get("message_count", 0)),
        corrected="correction" in body,
        body=body,
        newest_version=state.newest_version,
        stale=state.stale,
    )


def _lines(said: Sequence[Mapping[str, str]]) -> tuple[models.SummaryLine, ...]:
    return tuple(models.SummaryLine(text=one["text"], day=one.get("day", "")) for one in said)


def _turning_point(one: Mapping[str, Any]) -> models.TurningPoint:
    return models.TurningPoint(
        message_id=one["message_id"],
        sequence=int(one["sequence"]),
        time=datetime.fromisoformat(one["time"]) if one.get("time") else None,
        kind=one["kind"],
        text=one["text"],
        score=one["score"],
    )
