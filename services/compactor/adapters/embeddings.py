"""Vectors of sentences, from the Embedder."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final

import structlog
from palimpsest.embedder.v1 import embedder_pb2_grpc

from services.compactor.adapters.beginnings import beginnings
from services.compactor.domain.nearness import NO_VECTORS, Vector, Vectors
from services.kit.errors import DataFlowRefused, DeadlineExceeded, DependencyDown, Overloaded

AT_ONCE: Final = 64
"""Texts of one call: the Embedder serves others in between."""
FLOAT_BYTES: Final = 4


class EmbedderEmbeddings:
    """Embeddings (see summary_ports) by the Embedder's stub; of a long text its beginning is embedded."""

    def __init__(self, stub: embedder_pb2_grpc.EmbedderServiceAsyncStub) -> None:
        self._stub = stub
        self._log = structlog.get_logger("summaries")

    async def vectors(self, texts: Sequence[str]) -> Vectors:
        """See the port."""
        found: dict[str, Vector] = {}
        revisions: set[str] = set()
        for begin in range(0, len(texts), AT_ONCE):
            chunk = texts[begin : begin + AT_ONCE]
            try:
                made = await beginnings(self._stub, chunk)
            except (DependencyDown, Overloaded, DeadlineExceeded, DataFlowRefused) as error:
                self._log.warning("summary_without_vectors", reason=error.reason)
                return NO_VECTORS
            revisions.add(made.revision if made else "")
            if made is None or len(revisions) > 1:
                self._log.warning("summary_without_vectors", reason="NOT_THE_VECTORS_ASKED_FOR")
                return NO_VECTORS
            found.update(zip(chunk, map(_floats, made.vectors), strict=True))
        return found


def _floats(vector: bytes) -> Vector:
    return struct.unpack(f"<{len(vector) // FLOAT_BYTES}f", vector)
