"""What the graph of themes asks of other services: vectors of names, and whether there is a conversation."""

from __future__ import annotations

from collections.abc import Mapping

import structlog
from palimpsest.embedder.v1 import embedder_pb2, embedder_pb2_grpc
from palimpsest.episodic.v1 import episodic_pb2, episodic_pb2_grpc

from services.compactor.domain.graph import Naming
from services.kit.errors import DataFlowRefused, Internal

FIRST_CHUNK = embedder_pb2.Chunking(max_chunks=1)


class EmbeddedNames:
    """`NameVectors` by the Embedder's stub; of a name over the model's limit its beginning is embedded."""

    def __init__(self, stub: embedder_pb2_grpc.EmbedderServiceAsyncStub) -> None:
        self._stub = stub
        self._log = structlog.get_logger("graph")

    async def named(self, names: Mapping[str, str]) -> list[Naming]:
        """See the port."""
        request = embedder_pb2.EmbedRequest(
            texts=list(names.values()), purpose=embedder_pb2.PURPOSE_DOCUMENT, chunking=FIRST_CHUNK
        )
        try:
            answer = await self._stub.Embed(request)
        except DataFlowRefused as error:
            self._log.warning("names_without_vectors", reason=error.reason)
            return [Naming(slug=slug, name=name) for slug, name in names.items()]
        if len(answer.embeddings) != len(names):
            raise Internal("not the vectors asked for")
        return [
            Naming(slug=slug, name=name, vector=one.vector, model=answer.revision)
            for (slug, name), one in zip(names.items(), answer.embeddings, strict=True)
        ]


class EpisodicConversations:
    """`KnownConversations` by Episodic's stub, as the caller."""

    def __init__(self, stub: episodic_pb2_grpc.EpisodicServiceAsyncStub) -> None:
        self._stub = stub

    async def check(self, agent_id: str, conversation_id: str) -> None:
        """See the port."""
        request = episodic_pb2.GetConversationRequest(agent_id=agent_id, conversation_id=conversation_id)
        await self._stub.GetConversation(request)
