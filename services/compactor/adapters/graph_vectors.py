"""What the graph of themes asks of other services: vectors of names, and whether there is a conversation."""

from __future__ import annotations

from collections.abc import Mapping

import structlog
from palimpsest.embedder.v1 import embedder_pb2_grpc
from palimpsest.episodic.v1 import episodic_pb2, episodic_pb2_grpc

from services.compactor.adapters.beginnings import beginnings
from services.compactor.domain.graph import Naming
from services.kit.errors import DataFlowRefused, Internal


class EmbeddedNames:
    """`NameVectors` by the Embedder's stub; of a name over the model's limit its beginning is embedded."""

    def __init__(self, stub: embedder_pb2_grpc.EmbedderServiceAsyncStub) -> None:
        self._stub = stub
        self._log = structlog.get_logger("graph")

    async def named(self, names: Mapping[str, str]) -> list[Naming]:
        """See the port."""
        try:
            made = await beginnings(self._stub, list(names.values()))
        except DataFlowRefused as error:
            self._log.warning("names_without_vectors", reason=error.reason)
            return [Naming(slug=slug, name=name) for slug, name in names.items()]
        if made is None:
            raise Internal("not the vectors asked for")
        return [
            Naming(slug=slug, name=name, vector=vector, model=made.revision)
            for (slug, name), vector in zip(names.items(), made.vectors, strict=True)
        ]


class EpisodicConversations:
    """`KnownConversations` by Episodic's stub, as the caller."""

    def __init__(self, stub: episodic_pb2_grpc.EpisodicServiceAsyncStub) -> None:
        self._stub = stub

    async def check(self, agent_id: str, conversation_id: str) -> None:
        """See the port."""
        request = episodic_pb2.GetConversationRequest(agent_id=agent_id, conversation_id=conversation_id)
        await self._stub.GetConversation(request)
