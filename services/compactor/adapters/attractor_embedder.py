"""Vectors of summaries, by the Embedder service (SPEC J-12)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import structlog
from palimpsest.embedder.v1 import embedder_pb2, embedder_pb2_grpc

from services.compactor.domain.attractor_geometry import pack, unit, unpack

MAX_CHUNKS = 8


class ServiceEmbedder:
    """An Embedder over the stub. A text over the model's limit is the mean of its parts, by their lengths."""

    def __init__(self, stub: embedder_pb2_grpc.EmbedderServiceAsyncStub) -> None:
        self._stub = stub
        self._log = structlog.get_logger("attractors")

    async def model(self) -> str:
        """The revision of the current model."""
        return (await self._stub.DescribeModel(embedder_pb2.DescribeModelRequest())).revision

    async def embed(self, texts: Sequence[str], model: str) -> list[bytes]:
        """See the port; what has no vector is logged."""
        request = embedder_pb2.EmbedRequest(
            texts=texts,
            purpose=embedder_pb2.PURPOSE_DOCUMENT,
            chunking=embedder_pb2.Chunking(max_chunks=MAX_CHUNKS),
            revision=model,
        )
        answer = await self._stub.Embed(request)
        parts: dict[int, list[embedder_pb2.Embedding]] = defaultdict(list)
        for embedding in answer.embeddings:
            parts[embedding.text_index].append(embedding)
        joined = [_joined(parts[place]) for place in range(len(texts))]
        if missing := joined.count(b""):
            self._log.warning("summaries_without_vector", summaries=missing)
        return joined


def _joined(parts: Sequence[embedder_pb2.Embedding]) -> bytes:
    """Empty where there are no vectors, of different lengths, or none that has a direction."""
    if not parts or len({len(part.vector) for part in parts}) > 1:
        return b""
    weighted = [(part.end - part.start or 1, unpack(part.vector)) for part in parts]
    total = [0.0] * len(weighted[0][1])
    for weight, vector in weighted:
        total = [one + weight * other for one, other in zip(total, vector, strict=True)]
    direction, length = unit(tuple(total))
    if not (math.isfinite(length) and length > 0.0):
        return b""
    return pack(direction)
