"""DocumentsService: convert, await the use case, convert back."""

from __future__ import annotations

from functools import partial
from typing import Any

from palimpsest.documents.v1 import documents_pb2 as pb
from palimpsest.documents.v1 import documents_pb2_grpc

from services.compactor.app.basins import Basins, compared
from services.compactor.app.correcting import Corrections
from services.compactor.app.documents import Documents
from services.compactor.domain.documents import DocumentKey, attractor_key, summary_key
from services.compactor.rpc import attractor_convert
from services.compactor.rpc import documents_convert as convert
from services.kit import paging
from services.kit.context import current_principal
from services.kit.serving import Face, roles_of

DESCRIPTOR = pb.DESCRIPTOR.services_by_name["DocumentsService"]

Context = Any


def face(documents: Documents, corrections: Corrections) -> Face:
    """DocumentsService over the use cases."""
    servicer = DocumentsServicer(documents, corrections)
    return Face(
        name=DESCRIPTOR.full_name,
        add=partial(documents_pb2_grpc.add_DocumentsServiceServicer_to_server, servicer),
        roles=roles_of(DESCRIPTOR),
    )


def _attractor(agent_id: str) -> DocumentKey:
    return attractor_key(current_principal().tenant, agent_id)


def _summary(request: Any) -> DocumentKey:
    return summary_key(current_principal().tenant, request.agent_id, request.conversation_id)


class DocumentsServicer(documents_pb2_grpc.DocumentsServiceServicer):
    """DocumentsService over the use cases."""

    def __init__(self, documents: Documents, corrections: Corrections) -> None:
        self._documents = documents
        self._corrections = corrections
        self._basins = Basins(documents)

    async def GetAttractor(
        self, request: pb.GetAttractorRequest, context: Context
    ) -> pb.GetAttractorResponse:
        """See the proto."""
        served = await self._documents.get(_attractor(request.agent_id), convert.attractor_choice(request))
        return pb.GetAttractorResponse(
            attractor=convert.document_proto(served.document),
            state=convert.state_proto(served.head),
            place=convert.place_proto(served.place),
        )

    async def ListAttractorVersions(
        self, request: pb.ListAttractorVersionsRequest, context: Context
    ) -> pb.ListAttractorVersionsResponse:
        """See the proto."""
        versions, token = await self._versions(_attractor(request.agent_id), request)
        return pb.ListAttractorVersionsResponse(versions=versions, next_page_token=token)

    async def CompareAttractorVersions(
        self, request: pb.CompareAttractorVersionsRequest, context: Context
    ) -> pb.CompareAttractorVersionsResponse:
        """See the proto."""
        key = _attractor(request.agent_id)
        comparison = await self._documents.compare(key, request.before_version, request.after_version)
        response = convert.comparison_response(comparison)
        response.basin_changes.extend(map(attractor_convert.basin_change_proto, compared(comparison)))
        return response

    async def ListBasins(self, request: pb.ListBasinsRequest, context: Context) -> pb.ListBasinsResponse:
        """See the proto."""
        choice = attractor_convert.basins_choice(request)
        listed = await self._basins.list_all(current_principal().tenant, request.agent_id, choice)
        return attractor_convert.basins_response(listed)

    async def NameBasin(self, request: pb.NameBasinRequest, context: Context) -> pb.NameBasinResponse:
        """See the proto."""
        named = await self._basins.name(
            current_principal().tenant, request.agent_id, request.basin_id, request.name
        )
        return attractor_convert.named_response(named)

    async def FreezeAttractor(
        self, request: pb.FreezeAttractorRequest, context: Context
    ) -> pb.FreezeAttractorResponse:
        """See the proto."""
        head = await self._documents.freeze(_attractor(request.agent_id), request.version)
        return pb.FreezeAttractorResponse(state=convert.state_proto(head))

    async def UnfreezeAttractor(
        self, request: pb.UnfreezeAttractorRequest, context: Context
    ) -> pb.UnfreezeAttractorResponse:
        """See the proto."""
        head = await self._documents.unfreeze(_attractor(request.agent_id), request.version)
        return pb.UnfreezeAttractorResponse(state=convert.state_proto(head))

    async def GetSummary(self, request: pb.GetSummaryRequest, context: Context) -> pb.GetSummaryResponse:
        """See the proto."""
        served = await self._documents.get(_summary(request), convert.summary_choice(request))
        return pb.GetSummaryResponse(
            summary=convert.document_proto(served.document),
            state=convert.state_proto(served.head),
            place=convert.place_proto(served.place),
        )

    async def CorrectSummary(
        self, request: pb.CorrectSummaryRequest, context: Context
    ) -> pb.CorrectSummaryResponse:
        """See the proto."""
        served = await self._corrections.correct(
            current_principal().tenant,
            request.agent_id,
            request.conversation_id,
            request.version,
            convert.sections(request.sections),
        )
        return pb.CorrectSummaryResponse(
            summary=convert.document_proto(served.document), state=convert.state_proto(served.head)
        )

    async def ListSummaryVersions(
        self, request: pb.ListSummaryVersionsRequest, context: Context
    ) -> pb.ListSummaryVersionsResponse:
        """See the proto."""
        versions, token = await self._versions(_summary(request), request)
        return pb.ListSummaryVersionsResponse(versions=versions, next_page_token=token)

    async def RebuildDocuments(
        self, request: pb.RebuildDocumentsRequest, context: Context
    ) -> pb.RebuildDocumentsResponse:
        """See the proto."""
        caller = current_principal()
        listing = f"RebuildDocuments {request.agent_id}"
        rebuilt = await self._documents.rebuild(
            caller.tenant,
            frozenset({request.agent_id}) if request.agent_id else caller.agents,
            after=convert.document_position(listing, request.page_token),
            limit=paging.page_size(request.page_size),
        )
        return pb.RebuildDocumentsResponse(
            document_count=rebuilt.documents,
            value_count=rebuilt.values,
            next_page_token=paging.encode(listing, rebuilt.last) if rebuilt.last else "",
        )

    async def _versions(self, key: DocumentKey, request: Any) -> tuple[list[pb.DocumentVersion], str]:
        """A page of versions, and the token of the next."""
        listing = f"{key.kind} versions {key.agent_id} {key.subject}"
        size = paging.page_size(request.page_size)
        before = convert.version_position(listing, request.page_token)
        head, infos = await self._documents.versions(key, before, size)
        more = len(infos) == size and infos[-1].version > 1
        token = paging.encode(listing, (infos[-1].version,)) if more else ""
        return [convert.version_proto(head, info) for info in infos], token
