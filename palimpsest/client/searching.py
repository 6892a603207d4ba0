"""Calls that search what was derived from conversations."""

from __future__ import annotations

from collections.abc import Sequence

from palimpsest import models
from palimpsest.client import incoming, names, outgoing
from palimpsest.client.base import Calls
from palimpsest.search.v1 import search_pb2 as pb


class SearchCalls(Calls):
    """Summaries of conversations, and the pages, branches and themes that they have in common."""

    async def search_documents(
        self,
        query: str,
        *,
        types: Sequence[models.DocumentType] = (),
        contact_id: str = "",
        scope: models.DocumentScope | None = None,
        limit: int = 10,
        fusion: models.ReciprocalRank | None = None,
        timeout: float | None = None,
    ) -> models.FoundDocuments:
        """Finds documents by their newest versions; of any type unless some are named.

        Without a scope: what came from conversations with the person, or with nobody; with "all" everything
        of the agent, also what came from conversations with several people.
        """
        request = pb.SearchDocumentsRequest(
            agent_id=self._agent,
            query=query,
            types=[names.DOCUMENT_TYPES.number(one) for one in types],
            limit=limit,
            scope=names.DOCUMENT_SCOPES.optional(scope),
            contact_ids=[contact_id] if contact_id else [],
            fusion=outgoing.fusion(fusion),
        )
        answer = await self._transport.call(
            self._transport.stubs.search.SearchDocuments, request, timeout=timeout
        )
        return models.FoundDocuments(
            hits=tuple(map(document_hit, answer.hits)), failures=incoming.failures(answer.failures)
        )


def document_hit(proto: pb.DocumentHit) -> models.DocumentHit:
    """A document that was found."""
    return models.DocumentHit(
        type=names.DOCUMENT_TYPES.name(proto.type),
        document_id=proto.document_id,
        title=proto.title,
        version=proto.version,
        snippet=proto.snippet,
        snippet_start=proto.snippet_start,
        chunk_index=proto.chunk_index,
        chunk_count=proto.chunk_count,
        conversation_id=proto.conversation_id,
        branch_id=proto.branch_id,
        explanation=incoming.explanation(proto.explanation),
    )
