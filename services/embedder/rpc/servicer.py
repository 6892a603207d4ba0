"""EmbedderService on the wire."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from palimpsest.embedder.v1 import embedder_pb2 as pb
from palimpsest.embedder.v1 import embedder_pb2_grpc

from services.embedder.app.models import Models
from services.embedder.app.ports import SpanScorer
from services.embedder.rpc import convert

DESCRIPTOR = pb.DESCRIPTOR.services_by_name["EmbedderService"]


class EmbedderServicer(embedder_pb2_grpc.EmbedderServiceServicer):
    """Converts, calls, converts back."""

    def __init__(self, models: Models, reader: SpanScorer) -> None:
        self._models = models
        self._reader = reader

    async def Embed(self, request: pb.EmbedRequest, context: Any) -> pb.EmbedResponse:
        """See the proto."""
        embedder = self._models.of(request.revision)
        made = await embedder.embed(
            request.texts, convert.purpose(request.purpose), convert.chunking(request)
        )
        return convert.response(made, embedder.description)

    async def EmbedStream(
        self, request_iterator: AsyncIterator[pb.EmbedStreamRequest], context: Any
    ) -> AsyncIterator[pb.EmbedStreamResponse]:
        """See the proto."""
        async for request in request_iterator:
            yield pb.EmbedStreamResponse(batch=await self.Embed(request.batch, context))

    async def DescribeModel(self, request: pb.DescribeModelRequest, context: Any) -> pb.DescribeModelResponse:
        """See the proto."""
        following = self._models.following
        return convert.description(
            self._models.current.description, following.description if following else None
        )

    async def CountTokens(self, request: pb.CountTokensRequest, context: Any) -> pb.CountTokensResponse:
        """See the proto."""
        embedder = self._models.of(request.revision)
        return pb.CountTokensResponse(counts=await embedder.count_tokens(request.texts))

    async def ScoreSpans(self, request: pb.ScoreSpansRequest, context: Any) -> pb.ScoreSpansResponse:
        """See the proto."""
        return convert.scores(await self._reader.score(convert.spanned(request)))
