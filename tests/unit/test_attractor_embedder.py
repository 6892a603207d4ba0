"""Vectors of summaries by the Embedder service's stub (SPEC J-12)."""

from __future__ import annotations

from typing import Any

import pytest
from palimpsest.embedder.v1 import embedder_pb2 as pb

from services.compactor.adapters.attractor_embedder import ServiceEmbedder
from services.compactor.adapters.attractor_handler import tells_of_summary
from services.compactor.domain.attractor_geometry import pack, unpack


class Stub:
    """Gives prepared parts: (text, start, end, vector)."""

    def __init__(self, *parts: tuple[int, int, int, tuple[float, ...]]) -> None:
        self.parts = parts
        self.asked: list[Any] = []

    async def DescribeModel(self, request: pb.DescribeModelRequest) -> pb.DescribeModelResponse:
        return pb.DescribeModelResponse(revision="r1")

    async def Embed(self, request: pb.EmbedRequest) -> pb.EmbedResponse:
        self.asked.append(request)
        return pb.EmbedResponse(
            embeddings=[
                pb.Embedding(text_index=text, start=start, end=end, vector=pack(vector))
                for text, start, end, vector in self.parts
            ]
        )


async def test_a_vector_for_each_text_is_of_length_1_and_of_the_model_asked_for() -> None:
    stub: Any = Stub((1, 0, 4, (0.0, 2.0)), (0, 0, 9, (3.0, 4.0)))
    embedder = ServiceEmbedder(stub)
    assert await embedder.model() == "r1"
    first, second = await embedder.embed(["a", "b"], "r1")
    assert unpack(first) == pytest.approx((0.6, 0.8))
    assert unpack(second) == (0.0, 1.0)
    (request,) = stub.asked
    assert (list(request.texts), request.revision) == (["a", "b"], "r1")
    assert request.chunking.max_chunks > 1


async def test_a_long_text_is_the_mean_of_its_parts_by_length() -> None:
    stub: Any = Stub((0, 0, 30, (1.0, 0.0)), (0, 30, 70, (0.0, 1.0)))
    (vector,) = await ServiceEmbedder(stub).embed(["long"], "r1")
    assert unpack(vector) == pytest.approx((0.6, 0.8))


@pytest.mark.parametrize(
    "parts",
    [[], [(0, 0, 1, (0.0, 0.0))], [(0, 0, 1, (float("nan"), 1.0))], [(0, 0, 1, (float("inf"), 1.0))]],
)
async def test_what_has_no_direction_has_no_vector_and_costs_no_other(parts: list[Any]) -> None:
    """J-3: one bad text costs one text."""
    stub: Any = Stub(*parts, (1, 0, 1, (0.0, 2.0)))
    bad, good = await ServiceEmbedder(stub).embed(["x", "y"], "r1")
    assert (bad, unpack(good)) == (b"", (0.0, 1.0))


async def test_parts_that_do_not_fit_together_are_no_vector() -> None:
    stub: Any = Stub((0, 0, 1, (1.0, 0.0)), (0, 1, 2, (1.0, 0.0, 0.0)))
    assert await ServiceEmbedder(stub).embed(["x"], "r1") == [b""]


@pytest.mark.parametrize(
    ("payload", "waits"),
    [
        (b'{"conversation_id":"c"}', True),
        (b'{"due":true}', False),
        (b"{}", False),
        (b"[]", False),
        (b"not json", False),
    ],
)
def test_only_news_of_a_summary_may_wait(payload: bytes, waits: bool) -> None:
    assert tells_of_summary(payload) is waits
