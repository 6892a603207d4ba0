"""SearchService on the wire."""

from __future__ import annotations

from functools import partial
from typing import Any

from palimpsest.search.v1 import search_pb2 as pb
from palimpsest.search.v1 import search_pb2_grpc

from services.kit.context import current_principal
from services.kit.policy import Policies
from services.kit.serving import Face, roles_of
from services.memory.semantic.app.document_search import DocumentHit, DocumentSearch
from services.memory.semantic.domain.documents import DocumentScope, DocumentType
from services.memory.semantic.rpc import convert

DESCRIPTOR = pb.DESCRIPTOR.services_by_name["SearchService"]


def face(search: DocumentSearch, policies: Policies) -> Face:
    """SearchService over the use case."""
    return Face(
        name=DESCRIPTOR.full_name,
        add=partial(search_pb2_grpc.add_SearchServiceServicer_to_server, SearchServicer(search, policies)),
        roles=roles_of(DESCRIPTOR),
    )


class SearchServicer(search_pb2_grpc.SearchServiceServicer):
    """Converts, calls, converts back."""

    def __init__(self, search: DocumentSearch, policies: Policies) -> None:
        self._search = search
        self._policies = policies

    async def SearchDocuments(
        self, request: pb.SearchDocumentsRequest, context: Any
    ) -> pb.SearchDocumentsResponse:
        """See the proto."""
        tenant = current_principal().tenant
        settings = await self._policies.of(tenant, request.agent_id)
        hits, failures = await self._search.search(
            tenant,
            request.agent_id,
            request.query,
            scope=_scope(request),
            limit=request.limit or convert.DEFAULT_LIMIT,
            strategy=convert.chosen(request, settings),
            depth=settings.recall_depth,
        )
        return pb.SearchDocumentsResponse(hits=map(_hit, hits), failures=convert.failures(failures))


def _scope(request: pb.SearchDocumentsRequest) -> DocumentScope:
    every = request.scope == pb.DOCUMENT_SCOPE_ALL
    return DocumentScope(
        contact_ids=None if every else tuple(dict.fromkeys(request.contact_ids)),
        types=frozenset(map(DocumentType, request.types)),
    )


def _hit(one: DocumentHit) -> pb.DocumentHit:
    document, chunk = one.found.document, one.found.chunk
    of_branch = document.source.type in (DocumentType.PAGE, DocumentType.BRANCH)
    of_conversation = document.source.type is DocumentType.SUMMARY
    return pb.DocumentHit(
        type=pb.DocumentType.ValueType(document.source.type),
        document_id=document.id,
        title=document.title,
        version=document.version,
        snippet=chunk.text,
        snippet_start=chunk.start,
        chunk_index=chunk.number,
        chunk_count=one.found.chunk_count,
        conversation_id=document.id if of_conversation else "",
        branch_id=document.id if of_branch else "",
        explanation=convert.explanation(one.hit),
    )
