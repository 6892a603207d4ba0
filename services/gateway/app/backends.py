"""The services behind the gateway: their generated stubs are the port."""

from __future__ import annotations

from dataclasses import dataclass

from palimpsest.compactor.v1 import compactor_pb2_grpc
from palimpsest.derived.v1 import derived_pb2_grpc
from palimpsest.documents.v1 import documents_pb2_grpc
from palimpsest.embedder.v1 import embedder_pb2_grpc
from palimpsest.episodic.v1 import episodic_pb2, episodic_pb2_grpc
from palimpsest.graph.v1 import graph_pb2_grpc
from palimpsest.history.v1 import history_pb2_grpc
from palimpsest.insight.v1 import insight_pb2_grpc
from palimpsest.search.v1 import search_pb2_grpc
from palimpsest.semantic.v1 import semantic_pb2_grpc
from palimpsest.state.v1 import state_pb2_grpc
from palimpsest.working.v1 import working_pb2_grpc

from services.kit.channels import Channels


@dataclass(frozen=True, slots=True, kw_only=True)
class Backends:
    """One stub a proto service, some of the same service behind; calls carry the caller's identity."""

    episodic: episodic_pb2_grpc.EpisodicServiceAsyncStub
    history: history_pb2_grpc.HistoryServiceAsyncStub
    working: working_pb2_grpc.WorkingMemoryServiceAsyncStub
    state: state_pb2_grpc.StateServiceAsyncStub
    semantic: semantic_pb2_grpc.SemanticServiceAsyncStub
    search: search_pb2_grpc.SearchServiceAsyncStub
    compactor: compactor_pb2_grpc.CompactorServiceAsyncStub
    derived: derived_pb2_grpc.DerivedWorkServiceAsyncStub
    documents: documents_pb2_grpc.DocumentsServiceAsyncStub
    insights: insight_pb2_grpc.InsightServiceAsyncStub
    graph: graph_pb2_grpc.GraphServiceAsyncStub
    embedder: embedder_pb2_grpc.EmbedderServiceAsyncStub

    @classmethod
    def over(cls, channels: Channels) -> Backends:
        """Stubs over ready channels."""
        return cls(
            episodic=episodic_pb2_grpc.EpisodicServiceStub(channels.episodic),
            history=history_pb2_grpc.HistoryServiceStub(channels.episodic),
            working=working_pb2_grpc.WorkingMemoryServiceStub(channels.episodic),
            state=state_pb2_grpc.StateServiceStub(channels.episodic),
            semantic=semantic_pb2_grpc.SemanticServiceStub(channels.semantic),
            search=search_pb2_grpc.SearchServiceStub(channels.semantic),
            compactor=compactor_pb2_grpc.CompactorServiceStub(channels.compactor),
            derived=derived_pb2_grpc.DerivedWorkServiceStub(channels.compactor),
            documents=documents_pb2_grpc.DocumentsServiceStub(channels.compactor),
            insights=insight_pb2_grpc.InsightServiceStub(channels.compactor),
            graph=graph_pb2_grpc.GraphServiceStub(channels.compactor),
            embedder=embedder_pb2_grpc.EmbedderServiceStub(channels.embedder),
        )

    async def contact_ids(self, agent_id: str, contact_id: str) -> list[str]:
        """A person's contact id and those merged into it; none for nobody.

        Raises NotFound for an unknown contact or agent.
        """
        if not contact_id:
            await self.episodic.GetAgent(episodic_pb2.GetAgentRequest(agent_id=agent_id))
            return []
        request = episodic_pb2.GetContactRequest(agent_id=agent_id, contact_id=contact_id)
        contact = (await self.episodic.GetContact(request)).contact
        return [contact.id, *contact.merged_ids]
