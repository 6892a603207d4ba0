"""RPCs that another service answers: the gateway only vouches for the caller."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from palimpsest.compactor.v1 import compactor_pb2
from palimpsest.episodic.v1 import episodic_pb2
from palimpsest.gateway.v1 import (
    administration_pb2,
    conversations_pb2,
    gateway_pb2_grpc,
    indexes_pb2,
    memories_pb2,
)
from palimpsest.semantic.v1 import semantic_pb2

from services.gateway.app.backends import Backends
from services.gateway.rpc.mirror import mirrored


class PassedOn(gateway_pb2_grpc.GatewayServiceServicer):
    """See the protos for each."""

    def __init__(self, backends: Backends) -> None:
        self._backends = backends

    async def CreateAgent(
        self, request: conversations_pb2.CreateAgentRequest, context: Any
    ) -> conversations_pb2.CreateAgentResponse:
        """Passed on."""
        asked = mirrored(episodic_pb2.CreateAgentRequest, request)
        return mirrored(
            conversations_pb2.CreateAgentResponse, await self._backends.episodic.CreateAgent(asked)
        )

    async def GetAgent(
        self, request: conversations_pb2.GetAgentRequest, context: Any
    ) -> conversations_pb2.GetAgentResponse:
        """Passed on."""
        asked = mirrored(episodic_pb2.GetAgentRequest, request)
        return mirrored(conversations_pb2.GetAgentResponse, await self._backends.episodic.GetAgent(asked))

    async def ListAgents(
        self, request: conversations_pb2.ListAgentsRequest, context: Any
    ) -> conversations_pb2.ListAgentsResponse:
        """Passed on."""
        asked = mirrored(episodic_pb2.ListAgentsRequest, request)
        return mirrored(conversations_pb2.ListAgentsResponse, await self._backends.episodic.ListAgents(asked))

    async def UpdateAgent(
        self, request: conversations_pb2.UpdateAgentRequest, context: Any
    ) -> conversations_pb2.UpdateAgentResponse:
        """Passed on."""
        asked = mirrored(episodic_pb2.UpdateAgentRequest, request)
        return mirrored(
            conversations_pb2.UpdateAgentResponse, await self._backends.episodic.UpdateAgent(asked)
        )

    async def ResolveContact(
        self, request: conversations_pb2.ResolveContactRequest, context: Any
    ) -> conversations_pb2.ResolveContactResponse:
        """Passed on."""
        asked = mirrored(episodic_pb2.ResolveContactRequest, request)
        return mirrored(
            conversations_pb2.ResolveContactResponse, await self._backends.episodic.ResolveContact(asked)
        )

    async def GetContact(
        self, request: conversations_pb2.GetContactRequest, context: Any
    ) -> conversations_pb2.GetContactResponse:
        """Passed on."""
        asked = mirrored(episodic_pb2.GetContactRequest, request)
        return mirrored(conversations_pb2.GetContactResponse, await self._backends.episodic.GetContact(asked))

    async def ListContacts(
        self, request: conversations_pb2.ListContactsRequest, context: Any
    ) -> conversations_pb2.ListContactsResponse:
        """Passed on."""
        asked = mirrored(episodic_pb2.ListContactsRequest, request)
        return mirrored(
            conversations_pb2.ListContactsResponse, await self._backends.episodic.ListContacts(asked)
        )

    async def LinkIdentity(
        self, request: conversations_pb2.LinkIdentityRequest, context: Any
    ) -> conversations_pb2.LinkIdentityResponse:
        """Passed on."""
        asked = mirrored(episodic_pb2.LinkIdentityRequest, request)
        return mirrored(
            conversations_pb2.LinkIdentityResponse, await self._backends.episodic.LinkIdentity(asked)
        )

    async def MergeContacts(
        self, request: conversations_pb2.MergeContactsRequest, context: Any
    ) -> conversations_pb2.MergeContactsResponse:
        """Passed on."""
        asked = mirrored(episodic_pb2.MergeContactsRequest, request)
        return mirrored(
            conversations_pb2.MergeContactsResponse, await self._backends.episodic.MergeContacts(asked)
        )

    async def UnmergeContact(
        self, request: conversations_pb2.UnmergeContactRequest, context: Any
    ) -> conversations_pb2.UnmergeContactResponse:
        """Passed on."""
        asked = mirrored(episodic_pb2.UnmergeContactRequest, request)
        return mirrored(
            conversations_pb2.UnmergeContactResponse, await self._backends.episodic.UnmergeContact(asked)
        )

    async def CreateConversation(
        self, request: conversations_pb2.CreateConversationRequest, context: Any
    ) -> conversations_pb2.CreateConversationResponse:
        """Passed on."""
        asked = mirrored(episodic_pb2.CreateConversationRequest, request)
        return mirrored(
            conversations_pb2.CreateConversationResponse,
            await self._backends.episodic.CreateConversation(asked),
        )

    async def ListMessages(
        self, request: conversations_pb2.ListMessagesRequest, context: Any
    ) -> conversations_pb2.ListMessagesResponse:
        """Passed on."""
        asked = mirrored(episodic_pb2.ListMessagesRequest, request)
        return mirrored(
            conversations_pb2.ListMessagesResponse, await self._backends.episodic.ListMessages(asked)
        )

    async def GetMemory(
        self, request: memories_pb2.GetMemoryRequest, context: Any
    ) -> memories_pb2.GetMemoryResponse:
        """Passed on."""
        asked = mirrored(semantic_pb2.GetMemoryRequest, request)
        return mirrored(memories_pb2.GetMemoryResponse, await self._backends.semantic.GetMemory(asked))

    async def ListMemoryVersions(
        self, request: memories_pb2.ListMemoryVersionsRequest, context: Any
    ) -> memories_pb2.ListMemoryVersionsResponse:
        """Passed on."""
        asked = mirrored(semantic_pb2.ListMemoryVersionsRequest, request)
        return mirrored(
            memories_pb2.ListMemoryVersionsResponse, await self._backends.semantic.ListMemoryVersions(asked)
        )

    async def UpdateMemory(
        self, request: memories_pb2.UpdateMemoryRequest, context: Any
    ) -> memories_pb2.UpdateMemoryResponse:
        """Passed on."""
        asked = mirrored(semantic_pb2.UpdateMemoryRequest, request)
        return mirrored(memories_pb2.UpdateMemoryResponse, await self._backends.semantic.UpdateMemory(asked))

    async def ForgetMemory(
        self, request: memories_pb2.ForgetMemoryRequest, context: Any
    ) -> memories_pb2.ForgetMemoryResponse:
        """Passed on."""
        asked = mirrored(semantic_pb2.ForgetMemoryRequest, request)
        return mirrored(memories_pb2.ForgetMemoryResponse, await self._backends.semantic.ForgetMemory(asked))

    async def UndoSupersession(
        self, request: memories_pb2.UndoSupersessionRequest, context: Any
    ) -> memories_pb2.UndoSupersessionResponse:
        """Passed on."""
        asked = mirrored(semantic_pb2.UndoSupersessionRequest, request)
        return mirrored(
            memories_pb2.UndoSupersessionResponse, await self._backends.semantic.UndoSupersession(asked)
        )

    async def ResolveContradiction(
        self, request: memories_pb2.ResolveContradictionRequest, context: Any
    ) -> memories_pb2.ResolveContradictionResponse:
        """Passed on."""
        asked = mirrored(semantic_pb2.ResolveContradictionRequest, request)
        return mirrored(
            memories_pb2.ResolveContradictionResponse,
            await self._backends.semantic.ResolveContradiction(asked),
        )

    async def GetJob(
        self, request: administration_pb2.GetJobRequest, context: Any
    ) -> administration_pb2.GetJobResponse:
        """Passed on."""
        asked = mirrored(compactor_pb2.GetJobRequest, request)
        return mirrored(administration_pb2.GetJobResponse, await self._backends.compactor.GetJob(asked))

    async def ListJobs(
        self, request: administration_pb2.ListJobsRequest, context: Any
    ) -> administration_pb2.ListJobsResponse:
        """Passed on."""
        asked = mirrored(compactor_pb2.ListJobsRequest, request)
        return mirrored(administration_pb2.ListJobsResponse, await self._backends.compactor.ListJobs(asked))

    async def RetryJob(
        self, request: administration_pb2.RetryJobRequest, context: Any
    ) -> administration_pb2.RetryJobResponse:
        """Passed on."""
        asked = mirrored(compactor_pb2.RetryJobRequest, request)
        return mirrored(administration_pb2.RetryJobResponse, await self._backends.compactor.RetryJob(asked))

    async def CancelJob(
        self, request: administration_pb2.CancelJobRequest, context: Any
    ) -> administration_pb2.CancelJobResponse:
        """Passed on."""
        asked = mirrored(compactor_pb2.CancelJobRequest, request)
        return mirrored(administration_pb2.CancelJobResponse, await self._backends.compactor.CancelJob(asked))

    async def WatchJobs(
        self, request: administration_pb2.WatchJobsRequest, context: Any
    ) -> AsyncIterator[administration_pb2.WatchJobsResponse]:
        """Passed on."""
        asked = mirrored(compactor_pb2.WatchJobsRequest, request)
        async for response in self._backends.compactor.WatchJobs(asked):
            yield mirrored(administration_pb2.WatchJobsResponse, response)

    async def Reindex(self, request: indexes_pb2.ReindexRequest, context: Any) -> indexes_pb2.ReindexResponse:
        """Passed on, if there is such an agent."""
        if request.agent_id:
            await self._backends.episodic.GetAgent(episodic_pb2.GetAgentRequest(agent_id=request.agent_id))
        asked = mirrored(semantic_pb2.ReindexRequest, request)
        return mirrored(indexes_pb2.ReindexResponse, await self._backends.semantic.Reindex(asked))

    async def GetReindex(
        self, request: indexes_pb2.GetReindexRequest, context: Any
    ) -> indexes_pb2.GetReindexResponse:
        """Passed on."""
        asked = mirrored(semantic_pb2.GetReindexRequest, request)
        return mirrored(indexes_pb2.GetReindexResponse, await self._backends.semantic.GetReindex(asked))

    async def GetIndexStatus(
        self, request: indexes_pb2.GetIndexStatusRequest, context: Any
    ) -> indexes_pb2.GetIndexStatusResponse:
        """Passed on."""
        answer = await self._backends.semantic.GetIndexStatus(semantic_pb2.GetIndexStatusRequest())
        return mirrored(indexes_pb2.GetIndexStatusResponse, answer)
