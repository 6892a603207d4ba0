"""GatewayService on the wire."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from palimpsest.common.v1 import resources_pb2
from palimpsest.compactor.v1 import compactor_pb2
from palimpsest.embedder.v1 import embedder_pb2
from palimpsest.episodic.v1 import episodic_pb2
from palimpsest.gateway.v1 import administration_pb2, conversations_pb2, gateway_pb2, memories_pb2, prompt_pb2

from services.gateway.app import recalling, recording
from services.gateway.app.backends import Backends
from services.gateway.app.contradictions import list_contradictions
from services.gateway.app.keys import Keys
from services.gateway.app.prompting import Prompting
from services.gateway.app.watching import count_indexed
from services.gateway.rpc import convert
from services.gateway.rpc.key_calls import KeyCalls
from services.gateway.rpc.mirror import mirrored
from services.gateway.rpc.passed_on import PassedOn
from services.kit.errors import NotFound

DESCRIPTOR = gateway_pb2.DESCRIPTOR.services_by_name["GatewayService"]


class GatewayServicer(KeyCalls, PassedOn):
    """What the gateway answers itself, or composes; the rest is passed on."""

    def __init__(
        self, backends: Backends, *, keys: Keys, prompting: Prompting, version: str, profile: str
    ) -> None:
        KeyCalls.__init__(self, keys)
        PassedOn.__init__(self, backends)
        self._prompting = prompting
        self._version = version
        self._profile = profile

    async def GetConversation(
        self, request: conversations_pb2.GetConversationRequest, context: Any
    ) -> conversations_pb2.GetConversationResponse:
        """See the proto."""
        asked = mirrored(episodic_pb2.GetConversationRequest, request)
        conversation = (await self._backends.episodic.GetConversation(asked)).conversation
        await count_indexed(self._backends, request.agent_id, [conversation])
        return conversations_pb2.GetConversationResponse(conversation=conversation)

    async def ListConversations(
        self, request: conversations_pb2.ListConversationsRequest, context: Any
    ) -> conversations_pb2.ListConversationsResponse:
        """See the proto."""
        asked = mirrored(episodic_pb2.ListConversationsRequest, request)
        page = await self._backends.episodic.ListConversations(asked)
        await count_indexed(self._backends, request.agent_id, page.conversations)
        return mirrored(conversations_pb2.ListConversationsResponse, page)

    async def GetMessage(
        self, request: conversations_pb2.GetMessageRequest, context: Any
    ) -> conversations_pb2.GetMessageResponse:
        """See the proto."""
        ref = resources_pb2.MessageRef(conversation_id=request.conversation_id, message_id=request.message_id)
        asked = episodic_pb2.GetMessagesRequest(agent_id=request.agent_id, refs=[ref])
        found = (await self._backends.episodic.GetMessages(asked)).messages
        if not found:
            raise NotFound("message", request.message_id)
        return conversations_pb2.GetMessageResponse(message=found[0].message)

    async def RecordTurn(
        self, request: conversations_pb2.RecordTurnRequest, context: Any
    ) -> conversations_pb2.RecordTurnResponse:
        """See the proto."""
        return await recording.record_turn(self._backends, request)

    async def Ingest(
        self, request: conversations_pb2.IngestRequest, context: Any
    ) -> conversations_pb2.IngestResponse:
        """See the proto."""
        return await recording.ingest(self._backends, request)

    async def IngestStream(
        self, request_iterator: AsyncIterator[conversations_pb2.IngestStreamRequest], context: Any
    ) -> AsyncIterator[conversations_pb2.IngestStreamResponse]:
        """See the proto."""
        async for response in recording.IngestStream(self._backends).run(request_iterator):
            yield response

    async def Remember(
        self, request: memories_pb2.RememberRequest, context: Any
    ) -> memories_pb2.RememberResponse:
        """See the proto."""
        return await recalling.remember(self._backends, request)

    async def GetMemoryByKey(
        self, request: memories_pb2.GetMemoryByKeyRequest, context: Any
    ) -> memories_pb2.GetMemoryByKeyResponse:
        """See the proto."""
        return await recalling.memory_by_key(self._backends, request)

    async def ListMemories(
        self, request: memories_pb2.ListMemoriesRequest, context: Any
    ) -> memories_pb2.ListMemoriesResponse:
        """See the proto."""
        return await recalling.list_memories(self._backends, request)

    async def ListContradictions(
        self, request: memories_pb2.ListContradictionsRequest, context: Any
    ) -> memories_pb2.ListContradictionsResponse:
        """See the proto."""
        return await list_contradictions(self._backends, request)

    async def Recall(self, request: memories_pb2.RecallRequest, context: Any) -> memories_pb2.RecallResponse:
        """See the proto."""
        return await recalling.recall(self._backends, request)

    async def RecallConversation(
        self, request: memories_pb2.RecallConversationRequest, context: Any
    ) -> memories_pb2.RecallConversationResponse:
        """See the proto."""
        return await recalling.recall_conversation(self._backends, request)

    async def AssemblePrompt(
        self, request: prompt_pb2.AssemblePromptRequest, context: Any
    ) -> prompt_pb2.AssemblePromptResponse:
        """See the proto."""
        recalling.check_tokens(request.agent_id, request.wait_for)
        assembled = await self._prompting.assemble(
            request.agent_id,
            request.conversation_id,
            request.message,
            author=request.author,
            budget=request.budget_tokens,
            wait_for=list(request.wait_for),
            model=request.model,
            attractor_version=request.attractor_version,
        )
        return convert.prompt(assembled)

    async def GetStatus(
        self, request: administration_pb2.GetStatusRequest, context: Any
    ) -> administration_pb2.GetStatusResponse:
        """See the proto."""
        model, jobs = await asyncio.gather(
            self._backends.embedder.DescribeModel(embedder_pb2.DescribeModelRequest()),
            self._backends.compactor.CountJobs(compactor_pb2.CountJobsRequest()),
        )
        return administration_pb2.GetStatusResponse(
            version=self._version,
            profile=self._profile,
            model_name=model.name,
            model_revision=model.revision,
            model_dimension=model.dimension,
            jobs=jobs.counts,
        )
