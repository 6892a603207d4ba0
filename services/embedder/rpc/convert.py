"""Between the embedder's messages and its domain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from palimpsest.embedder.v1 import embedder_pb2 as pb

from services.embedder.domain.model import ChunkingRule, Embedded, ModelDescription, Purpose
from services.embedder.domain.spans import Span, SpannedText, SpanScore
from services.kit.errors import InvalidField


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


def spanned(request: pb.ScoreSpansRequest) -> list[SpannedText]:
    """The texts with their stretches. Raises InvalidField for one that is empty or not within its text."""
    return [
        SpannedText(text=text.text, spans=tuple(_spans(place, text)))
        for place, text in enumerate(request.texts)
    ]


def scores(texts: Sequence[Sequence[SpanScore]]) -> pb.ScoreSpansResponse:
    """The scores, text by text."""
    return pb.ScoreSpansResponse(
        texts=[
            pb.SpanScores(scores=[pb.SpanScore(kinds=one.kinds, categories=one.categories) for one in text])
            for text in texts
        ]
    )


def _spans(place: int, text: pb.SpannedText) -> Iterator[Span]:
    for at, one in enumerate(text.spans):
        if not one.start < one.end <= len(text.text):
            raise InvalidField(f"texts[{place}].spans[{at}]", "no stretch of the text")
        yield Span(start=one.start, end=one.end, form=one.form, support=one.support, asked=one.asked)
