"""The other services, by their stubs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import grpc
from google.protobuf.json_format import MessageToJson
from palimpsest.common.v1 import jobs_pb2, resources_pb2
from palimpsest.compactor.v1 import compactor_pb2, compactor_pb2_grpc
from palimpsest.embedder.v1 import embedder_pb2, embedder_pb2_grpc
from palimpsest.episodic.v1 import episodic_pb2, episodic_pb2_grpc

from services.kit.errors import DependencyDown, StateConflict
from services.kit.times import from_timestamp
from services.memory.semantic.adapters.query_vectors import SharedQueries
from services.memory.semantic.app.ports import JobState
from services.memory.semantic.domain.items import SourceConversation, SourceMessage
from services.memory.semantic.domain.vectors import VectorModel, check_vector

LOST_STATES = frozenset({jobs_pb2.JOB_STATE_DEAD, jobs_pb2.JOB_STATE_CANCELLED})
NO_VECTORS = "the embedder's answer is not the vectors that it was asked for"
FIRST_CHUNK = embedder_pb2.Chunking(max_chunks=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedModels:
    """The embedder's current model, and the one that is to follow it."""

    current: VectorModel
    following: VectorModel | None


class EmbedderModels:
    """Which models the embedder serves, and vectors by each."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub = embedder_pb2_grpc.EmbedderServiceStub(channel)

    async def described(self) -> DescribedModels:
        """As it is configured now."""
        answer = await self._stub.DescribeModel(embedder_pb2.DescribeModelRequest())
        following = answer.next if answer.HasField("next") else None
        return DescribedModels(
            current=VectorModel(revision=answer.revision, dimension=answer.dimension),
            following=None
            if following is None
            else VectorModel(revision=following.revision, dimension=following.dimension),
        )

    def texts(self, model: VectorModel) -> EmbedderTexts:
        """Vectors by one of them."""
        return EmbedderTexts(self._stub, model)


class EmbedderTexts:
    """Vectors by one model of the embedder; of a long text its first chunk is embedded."""

    def __init__(self, stub: embedder_pb2_grpc.EmbedderServiceAsyncStub, model: VectorModel) -> None:
        self._stub = stub
        self._model = model
        self._queries = SharedQueries(self._query)

    async def query(self, text: str) -> bytes:
        """See the port."""
        return await self._queries.vector(text)

    async def _query(self, text: str) -> bytes:
        return (await self._embed([text], embedder_pb2.PURPOSE_QUERY))[0]

    async def documents(self, texts: Sequence[str]) -> list[bytes]:
        """See the port."""
        return await self._embed(texts, embedder_pb2.PURPOSE_DOCUMENT)

    async def _embed(self, texts: Sequence[str], purpose: embedder_pb2.Purpose.ValueType) -> list[bytes]:
        request = embedder_pb2.EmbedRequest(
            texts=texts, purpose=purpose, chunking=FIRST_CHUNK, revision=self._model.revision
        )
        try:
            response = await self._stub.Embed(request)
        except StateConflict as error:  # it was started without the model: no text's fault, and may pass
            raise DependencyDown("the embedder does not serve the model of these vectors") from error
        vectors = [embedding.vector for embedding in response.embeddings]
        if len(vectors) != len(texts):
            raise DependencyDown(NO_VECTORS)
        try:
            for vector in vectors:
                check_vector(vector, self._model.dimension)
        except ValueError as error:
            raise DependencyDown(NO_VECTORS) from error
        return vectors


class EpisodicConversations:
    """Texts of messages by Episodic."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub = episodic_pb2_grpc.EpisodicServiceStub(channel)

    async def messages(
        self, agent_id: str, conversation_id: str, sequences: Sequence[int]
    ) -> SourceConversation:
        """See the port; what was not asked for is left out."""
        response = await self._stub.GetMessageRange(
            episodic_pb2.GetMessageRangeRequest(
                agent_id=agent_id, conversation_id=conversation_id, sequences=sequences
            )
        )
        conversation, asked = response.conversation, frozenset(sequences)
        return SourceConversation(
            authors=tuple(conversation.authors),
            messages=tuple(
                _source(message, conversation.contact_id)
                for message in response.messages
                if message.conversation_id == conversation_id and message.sequence in asked
            ),
        )


class CompactorJobs:
    """States of jobs by the Compactor."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub = compactor_pb2_grpc.CompactorServiceStub(channel)

    async def lookup(self, keys: Sequence[str]) -> dict[str, JobState]:
        """See the port."""
        response = await self._stub.LookupJobs(compactor_pb2.LookupJobsRequest(idempotency_keys=keys))
        return {
            found.idempotency_key: JobState(job_id=found.job.id, dead=found.job.state in LOST_STATES)
            for found in response.jobs
        }


def _source(message: resources_pb2.Message, contact_id: str) -> SourceMessage:
    words: list[str] = []
    tools: list[str] = []
    for part in message.parts:
        match part.WhichOneof("kind"):
            case "text":
                words.append(part.text)
            case "attachment" if part.attachment.caption:
                words.append(f"[image: {part.attachment.caption}]")
            case "tool_call":
                tools.append(f"{part.tool_call.name} {MessageToJson(part.tool_call.arguments, indent=None)}")
            case "tool_result":
                tools.append(part.tool_result.content)
    return SourceMessage(
        conversation_id=message.conversation_id,
        contact_id=contact_id,
        sequence=message.sequence,
        message_id=message.id,
        role=message.role,
        author=message.author,
        session=message.session,
        time=from_timestamp(message.time),
        created=from_timestamp(message.create_time),
        text="\n".join(words),
        tool_text="\n".join(tools),
    )
