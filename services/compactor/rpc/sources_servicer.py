"""DocumentSourceService: the texts by which documents are found, for the services of the suite."""

from __future__ import annotations

from functools import partial
from typing import Any

from palimpsest.search.v1 import search_pb2, sources_pb2, sources_pb2_grpc

from services.compactor.app.searching import SearchableDocuments
from services.compactor.domain.searchable import DocumentType, Searchable, Source
from services.kit.context import current_principal
from services.kit.serving import Face, roles_of

DESCRIPTOR = sources_pb2.DESCRIPTOR.services_by_name["DocumentSourceService"]
TYPES = {
    search_pb2.DOCUMENT_TYPE_SUMMARY: DocumentType.SUMMARY,
    search_pb2.DOCUMENT_TYPE_PAGE: DocumentType.PAGE,
    search_pb2.DOCUMENT_TYPE_BRANCH: DocumentType.BRANCH,
    search_pb2.DOCUMENT_TYPE_THEME: DocumentType.THEME,
}
NUMBERS = {type_: number for number, type_ in TYPES.items()}


def face(documents: SearchableDocuments) -> Face:
    """DocumentSourceService over the use case."""
    servicer = SourcesServicer(documents)
    return Face(
        name=DESCRIPTOR.full_name,
        add=partial(sources_pb2_grpc.add_DocumentSourceServiceServicer_to_server, servicer),
        roles=roles_of(DESCRIPTOR),
    )


class SourcesServicer(sources_pb2_grpc.DocumentSourceServiceServicer):
    """Converts, calls, converts back."""

    def __init__(self, documents: SearchableDocuments) -> None:
        self._documents = documents

    async def ReadDocuments(
        self, request: sources_pb2.ReadDocumentsRequest, context: Any
    ) -> sources_pb2.ReadDocumentsResponse:
        """See the proto."""
        sources = [Source(type=TYPES[one.type], subject=one.subject) for one in request.sources]
        found = await self._documents.read(current_principal().tenant, request.agent_id, sources)
        return sources_pb2.ReadDocumentsResponse(documents=map(_proto, found))


def _proto(document: Searchable) -> sources_pb2.SourceDocument:
    return sources_pb2.SourceDocument(
        source=sources_pb2.DocumentSource(
            type=NUMBERS[document.source.type], subject=document.source.subject
        ),
        document_id=document.document_id,
        version=document.version,
        title=document.title,
        text=document.text,
        conversation_ids=document.conversation_ids,
    )
