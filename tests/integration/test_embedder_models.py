"""An embedder that serves two models at once (SPEC S-17, M-3)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from palimpsest.embedder.v1 import embedder_pb2 as pb
from palimpsest.embedder.v1 import embedder_pb2_grpc

from services.embedder.bootstrap import build
from services.embedder.config import EmbedderSettings, ModelChoice
from services.kit.context import act_as
from services.kit.errors import StartupError, StateConflict
from services.kit.identity import Principal, Role, TokenSigner
from services.kit.inprocess import InProcessServer
from services.kit.metrics import Metrics
from services.kit.serving import interceptor, outgoing

SECRET = b"a secret of the tests, 32 bytes or more"
READER = Principal(tenant="acme", role=Role.READER, subject="test")


@asynccontextmanager
async def serving(following: ModelChoice | None) -> AsyncIterator[embedder_pb2_grpc.EmbedderServiceAsyncStub]:
    """A stub of an embedder whose current model is hashing-64."""
    async with AsyncExitStack() as stack:
        settings = EmbedderSettings(backend="hashing", dimension=64, next=following)
        service = await build(settings, None, stack)
        server = InProcessServer()
        server.add_interceptor(interceptor(service, SECRET, Metrics()))
        service.add_to(server)
        with act_as(READER):
            yield embedder_pb2_grpc.EmbedderServiceStub(
                outgoing(server.channel(), "embedder", TokenSigner(SECRET))
            )


WIDER = ModelChoice(backend="hashing", dimension=96)


async def test_both_models_are_described_and_each_makes_its_vectors() -> None:
    async with serving(WIDER) as stub:
        described = await stub.DescribeModel(pb.DescribeModelRequest())
        assert (described.revision, described.dimension) == ("hashing-64", 64)
        assert (described.next.revision, described.next.dimension) == ("hashing-96", 96)
        for revision, made_by, dimension in (
            ("", "hashing-64", 64),
            ("hashing-64", "hashing-64", 64),
            ("hashing-96", "hashing-96", 96),
        ):
            answer = await stub.Embed(pb.EmbedRequest(texts=["a lighthouse"], revision=revision))
            assert (answer.revision, answer.dimension) == (made_by, dimension)
            assert len(answer.embeddings[0].vector) == 4 * dimension
            counted = await stub.CountTokens(pb.CountTokensRequest(texts=["a lighthouse"], revision=revision))
            assert list(counted.counts) == [4]


async def test_a_model_that_is_not_served_is_a_clear_error() -> None:
    """And no text's fault: INVALID_FIELD would make every text of a fill unusable."""
    async with serving(None) as stub:
        assert not (await stub.DescribeModel(pb.DescribeModelRequest())).HasField("next")
        with pytest.raises(StateConflict, match="No model of this revision"):
            await stub.Embed(pb.EmbedRequest(texts=["x"], revision="hashing-96"))
        with pytest.raises(StateConflict):
            await stub.CountTokens(pb.CountTokensRequest(texts=["x"], revision="hashing-96"))


async def test_the_same_model_again_is_no_next_one() -> None:
    """What is left in the settings after a change does no harm."""
    async with serving(ModelChoice(backend="hashing", dimension=64)) as stub:
        assert not (await stub.DescribeModel(pb.DescribeModelRequest())).HasField("next")
        assert (await stub.Embed(pb.EmbedRequest(texts=["x"]))).dimension == 64


async def test_a_next_model_that_cannot_be_loaded_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(StartupError):
        async with serving(ModelChoice(model_dir=tmp_path)):
            pass


def test_the_next_model_is_named_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """O-1."""
    monkeypatch.setenv("PALIMPSEST_EMBEDDER_MODEL_DIR", "/models/now")
    assert EmbedderSettings().next is None
    monkeypatch.setenv("PALIMPSEST_EMBEDDER_NEXT_MODEL_DIR", "/models/then")
    settings = EmbedderSettings()
    assert settings.model_dir == Path("/models/now")
    assert settings.next == ModelChoice(model_dir=Path("/models/then"))
    monkeypatch.setenv("PALIMPSEST_EMBEDDER_NEXT_BACKEND", "openai")
    monkeypatch.setenv("PALIMPSEST_EMBEDDER_NEXT_OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("PALIMPSEST_EMBEDDER_NEXT_OPENAI_API_KEY", "k3y")
    following = EmbedderSettings().next
    assert following is not None
    assert (following.backend, following.openai_base_url) == ("openai", "http://127.0.0.1:1/v1")
    assert following.openai_api_key.get_secret_value() == "k3y"
