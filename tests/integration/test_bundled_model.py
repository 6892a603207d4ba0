"""The bundled model against an independent float32 computation, and the embedder over a socket (SPEC §7)."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest
from palimpsest.embedder.v1 import embedder_pb2 as pb
from palimpsest.embedder.v1 import embedder_pb2_grpc

from services.embedder.adapters.onnx_folder import OnnxFolder
from services.embedder.bootstrap import build, default_model_dir
from services.embedder.config import EmbedderSettings
from services.kit.context import act_as
from services.kit.errors import InvalidRequest, StartupError, TextTooLong
from services.kit.identity import Principal, Role, TokenSigner
from services.kit.metrics import Metrics
from services.kit.serving import listening, outgoing

REFERENCE = Path(__file__).parents[1] / "data" / "minilm_reference.json"
LEAST_COSINE = 0.97  # int8 against float32, each text alone; the shortest one is the worst
LEAST_COSINE_BATCHED = 0.95  # activations are scaled over the batch, so a short text beside long ones loses
SECRET = b"s" * 32


async def test_int8_vectors_agree_with_the_float32_reference() -> None:
    rows = json.loads(REFERENCE.read_text("utf-8"))
    backend = OnnxFolder.load(default_model_dir())
    prepared = await backend.prepare([row["text"] for row in rows])
    made = [(await backend.embed([text]))[0] for text in prepared]
    batched = np.array([np.frombuffer(v, dtype="<f4") for v in await backend.embed(prepared)])
    vectors = np.array([np.frombuffer(v, dtype="<f4") for v in made])
    truth = np.array([row["vector"] for row in rows])
    truth /= np.linalg.norm(truth, axis=1, keepdims=True)
    assert ((vectors * truth).sum(axis=1) > LEAST_COSINE).all()
    assert ((batched * truth).sum(axis=1) > LEAST_COSINE_BATCHED).all()
    # Paraphrases stay nearest to each other, in both, and every likeness stays what it was within a little.
    for matrix in (vectors, truth):
        assert (matrix @ matrix[0]).argsort()[-2] == 1
    assert np.abs(vectors @ vectors.T - truth @ truth.T).max() < 0.08
    await backend.close()


def test_the_manifest_names_the_weights() -> None:
    import hashlib

    manifest = json.loads((default_model_dir() / "manifest.json").read_text("utf-8"))
    assert (
        manifest["revision"] == hashlib.sha256((default_model_dir() / "model.onnx").read_bytes()).hexdigest()
    )
    assert (manifest["dimension"], manifest["max_tokens"]) == (384, 256)


@pytest.mark.parametrize("damage", ["empty", "model", "tokenizer", "dimension", "manifest"])
def test_an_unusable_folder_is_one_clear_error(tmp_path: Path, damage: str) -> None:
    folder = tmp_path / "model"
    shutil.copytree(default_model_dir(), folder)
    wanted = None
    match damage:
        case "empty":
            (folder / "model.onnx").unlink()
        case "model":
            (folder / "model.onnx").write_bytes(b"nonsense")
        case "tokenizer":
            (folder / "tokenizer.json").write_text("{}")
        case "dimension":
            wanted = 768
        case "manifest":
            (folder / "manifest.json").write_text('{"dimension": 12}')
    with pytest.raises(StartupError) as caught:
        OnnxFolder.load(folder, dimension=wanted)
    assert "\n" not in str(caught.value)


@pytest.fixture
async def stub(tmp_path: Path) -> AsyncIterator[Any]:
    async with AsyncExitStack() as stack:
        service = await build(EmbedderSettings(data_dir=tmp_path), None, stack)
        port = await stack.enter_async_context(
            listening(service, SECRET, Metrics(), "127.0.0.1:0", drain_seconds=0)
        )
        channel = outgoing(grpc.aio.insecure_channel(f"127.0.0.1:{port}"), "embedder", TokenSigner(SECRET))
        stack.push_async_callback(channel.close)
        stack.enter_context(act_as(Principal(tenant="t", role=Role.READER)))
        yield embedder_pb2_grpc.EmbedderServiceStub(channel)


async def test_texts_are_embedded_over_the_wire_like_alone(stub: Any) -> None:
    texts = ["Marta moved to Lisbon.", "green tea", "绿茶"]
    response = await stub.Embed(pb.EmbedRequest(texts=texts, purpose=pb.PURPOSE_QUERY))
    assert response.dimension == 384
    assert [e.text_index for e in response.embeddings] == [0, 1, 2]
    assert all(len(e.vector) == 384 * 4 for e in response.embeddings)
    model = await stub.DescribeModel(pb.DescribeModelRequest())
    assert (model.name, model.dimension, model.max_tokens) == ("all-MiniLM-L6-v2", 384, 256)
    assert response.revision == model.revision


async def test_a_stream_of_batches_is_answered_in_order(stub: Any) -> None:
    async def batches() -> AsyncIterator[pb.EmbedStreamRequest]:
        for number in range(3):
            yield pb.EmbedStreamRequest(batch=pb.EmbedRequest(texts=[f"text {number}"] * (number + 1)))

    sizes = [len(r.batch.embeddings) async for r in stub.EmbedStream(batches())]
    assert sizes == [1, 2, 3]


async def test_long_texts_are_an_error_or_chunks(stub: Any) -> None:
    text = "The harbour was quiet. " * 200
    with pytest.raises(TextTooLong) as caught:
        await stub.Embed(pb.EmbedRequest(texts=["fine", text]))
    assert caught.value.fields[0].field == "texts[1]"
    chunks = (await stub.Embed(pb.EmbedRequest(texts=[text], chunking=pb.Chunking()))).embeddings
    assert len(chunks) > 3
    assert (chunks[0].start, chunks[-1].end) == (0, len(text))
    assert all(text[e.end - 2 : e.end] == ". " for e in chunks)
    counts = (await stub.CountTokens(pb.CountTokensRequest(texts=[text, ""]))).counts
    assert counts[0] == 200 * 5 + 2
    assert counts[1] == 2


@pytest.mark.parametrize("texts", [[], [""], ["x"] * 257])
async def test_bad_batches_are_refused(stub: Any, texts: list[str]) -> None:
    with pytest.raises(InvalidRequest) as caught:
        await stub.Embed(pb.EmbedRequest(texts=texts))
    assert caught.value.fields[0].field.startswith("texts")


async def test_many_callers_share_the_model(stub: Any) -> None:
    answers = await asyncio.gather(*(stub.Embed(pb.EmbedRequest(texts=[f"caller {n}"])) for n in range(50)))
    assert len({a.embeddings[0].vector for a in answers}) == 50
