"""Between the embedder's messages and its domain."""

from __future__ import annotations

from collections.abc import Sequence

from palimpsest.embedder.v1 import embedder_pb2 as pb

from services.embedder.domain.model import ChunkingRule, Embedded, ModelDescription, Purpose


def purpose(value: pb.Purpose.ValueType) -> Purpose:
    """Unspecified is a document."""
    return Purpose.QUERY if value == pb.PURPOSE_QUERY else Purpose.DOCUMENT


def chunking(request: pb.EmbedRequest) -> ChunkingRule | None:
    """None when the request asks for none."""
    if not request.HasField("chunking"):
        return None
    return ChunkingRule(
        max_chunks=request.chunking.max_chunks, overlap_tokens=request.chunking.overlap_tokens
    )


def response(made: Sequence[Embedded], model: ModelDescription) -> pb.EmbedResponse:
    """The vectors with the model that made them."""
    embeddings = [
        pb.Embedding(text_index=e.text_index, start=e.start, end=e.end, vector=e.vector) for e in made
    ]
    return pb.EmbedResponse(embeddings=embeddings, dimension=model.dimension, revision=model.revision)


def description(model: ModelDescription, following: ModelDescription | None) -> pb.DescribeModelResponse:
    """The current model's fields, and the next one if there is one."""
    return pb.DescribeModelResponse(
        name=model.name,
        dimension=model.dimension,
        max_tokens=model.max_tokens,
        revision=model.revision,
        next=None if following is None else _next(following),
    )


def _next(model: ModelDescription) -> pb.NextModel:
    return pb.NextModel(
        name=model.name, dimension=model.dimension, max_tokens=model.max_tokens, revision=model.revision
    )
