"""Derived documents by the Compactor, and whose their conversations are by Episodic (SPEC S-13)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

import grpc
from palimpsest.episodic.v1 import episodic_pb2, episodic_pb2_grpc
from palimpsest.search.v1 import search_pb2, sources_pb2, sources_pb2_grpc

from services.kit.errors import NotFound
from services.memory.semantic.domain.documents import DocumentSource, DocumentType, SourceDocument

SOURCES_A_CALL: Final = 8
"""A document has at most 1 MiB: so many fit into an answer."""
CALLS_AT_ONCE: Final = 16


class CompactorDocuments:
    """A DerivedDocuments."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub = sources_pb2_grpc.DocumentSourceServiceStub(channel)

    async def read(self, agent_id: str, sources: Sequence[DocumentSource]) -> list[SourceDocument]:
        """See the port; what was not asked for is left out."""
        found: list[SourceDocument] = []
        for begin in range(0, len(sources), SOURCES_A_CALL):
            asked = sources[begin : begin + SOURCES_A_CALL]
            request = sources_pb2.ReadDocumentsRequest(
                agent_id=agent_id,
                sources=[
                    sources_pb2.DocumentSource(
                        type=search_pb2.DocumentType.ValueType(one.type), subject=one.subject
                    )
                    for one in asked
                ],
            )
            answer = await self._stub.ReadDocuments(request)
            documents = [_document(one) for one in answer.documents]
            found += [one for one in documents if one.source in asked]
        return found


class EpisodicContacts:
    """A Contacts."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub = episodic_pb2_grpc.EpisodicServiceStub(channel)

    async def of(self, agent_id: str, conversation_ids: Sequence[str]) -> dict[str, str]:
        """See the port."""
        room = asyncio.Semaphore(CALLS_AT_ONCE)

        async def ask(conversation_id: str) -> tuple[str, str | None]:
            request = episodic_pb2.GetConversationRequest(agent_id=agent_id, conversation_id=conversation_id)
            async with room:
                try:
                    answer = await self._stub.GetConversation(request)
                except NotFound:
                    return conversation_id, None
            return conversation_id, answer.conversation.contact_id

        found = await asyncio.gather(*map(ask, dict.fromkeys(conversation_ids)))
        return {conversation_id: contact for conversation_id, contact in found if contact is not None}


def _document(proto: sources_pb2.SourceDocument) -> SourceDocument:
    return SourceDocument(
        source=DocumentSource(type=DocumentType(proto.source.type), subject=proto.source.subject),
        id=proto.document_id,
        version=proto.version,
        title=proto.title,
        text=proto.text,
        conversation_ids=tuple(proto.conversation_ids),
    )
