"""Vectors of texts by the Embedder; of a text over the model's limit its beginning is embedded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from palimpsest.embedder.v1 import embedder_pb2, embedder_pb2_grpc

FIRST_CHUNK: Final = embedder_pb2.Chunking(max_chunks=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginnings:
    """A vector for each text, in their order, packed; and the revision of the model."""

    vectors: Sequence[bytes]
    revision: str


async def beginnings(
    stub: embedder_pb2_grpc.EmbedderServiceAsyncStub, texts: Sequence[str]
) -> Beginnings | None:
    """None where the answer is not about these texts. Raises what the call does."""
    request = embedder_pb2.EmbedRequest(
        texts=texts, purpose=embedder_pb2.PURPOSE_DOCUMENT, chunking=FIRST_CHUNK
    )
    answer = await stub.Embed(request)
    if len(answer.embeddings) != len(texts):
        return None
    return Beginnings(vectors=[one.vector for one in answer.embeddings], revision=answer.revision)
