"""One suite over every embedding model adapter (SPEC M-5)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import numpy as np
import pytest

from services.embedder.adapters.hashing import HashingBackend
from services.embedder.adapters.onnx_folder import OnnxFolder
from services.embedder.adapters.openai_compatible import OpenAiCompatible
from services.embedder.app.ports import EmbeddingBackend
from services.embedder.bootstrap import default_model_dir
from services.kit.errors import DependencyDown

DIMENSION = 32


class Endpoint:
    """A small `/v1/embeddings` on a real socket that misbehaves when told to."""

    def __init__(self) -> None:
        self.script: list[tuple[int, Any]] = []
        self.headers = b"retry-after: 0\r\n"
        self.requests: list[dict[str, Any]] = []
        self.model = HashingBackend(DIMENSION)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                body = json.loads(await reader.readexactly(length))
                self.requests.append(body | {"authorization": b"bearer k3y" in head.lower()})
                status, answer = self.script.pop(0) if self.script else (200, None)
                if status == 0:
                    break
                if answer is None:
                    answer = await self.answer(body)
                payload = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                length_line = b"content-length: %d\r\n\r\n" % len(payload)
                writer.write(b"HTTP/1.1 %d X\r\n" % status + self.headers + length_line + payload)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        vectors = await self.model.embed(await self.model.prepare(body["input"]))
        rows = [{"index": i, "embedding": np.frombuffer(v, "<f4").tolist()} for i, v in enumerate(vectors)]
        return {"data": rows[::-1]}


@asynccontextmanager
async def serving(
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> AsyncIterator[tuple[OpenAiCompatible, Endpoint]]:
    endpoint = Endpoint()
    server = await asyncio.start_server(endpoint.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    client = httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{port}/v1/",
        headers={"authorization": "Bearer k3y"},
        timeout=0.5,
        trust_env=False,
    )
    backend = OpenAiCompatible(
        client=client, model="m", dimension=DIMENSION, max_tokens=100, attempts=3, pause=0.01, sleep=sleep
    )
    yield backend, endpoint
    await backend.close()
    server.close()


@pytest.fixture
async def remote() -> AsyncIterator[tuple[OpenAiCompatible, Endpoint]]:
    async with serving() as pair:
        yield pair


@pytest.fixture(params=["hashing", "onnx", "openai"])
async def backend(request: pytest.FixtureRequest) -> AsyncIterator[EmbeddingBackend]:
    match request.param:
        case "hashing":
            yield HashingBackend(DIMENSION)
        case "onnx":
            bundled = OnnxFolder.load(default_model_dir())
            yield bundled
            await bundled.close()
        case _:
            async with serving() as (made, _):
                yield made


TEXTS = ["The tide is high.", "我喜欢喝绿茶。", "x", "a b c " * 20, "🙂"]


async def test_vectors_have_the_dimension_length_one_and_the_order_of_the_texts(
    backend: EmbeddingBackend,
) -> None:
    vectors = await backend.embed(await backend.prepare(TEXTS))
    matrix = np.array([np.frombuffer(v, dtype="<f4") for v in vectors])
    assert matrix.shape == (len(TEXTS), backend.description.dimension)
    assert np.allclose(np.linalg.norm(matrix, axis=1), 1, atol=1e-5)
    alone = [np.frombuffer((await backend.embed(await backend.prepare([t])))[0], dtype="<f4") for t in TEXTS]
    for together, single in zip(matrix, alone, strict=True):
        assert float(together @ single) > 0.95  # int8 activations are scaled over the whole batch


async def test_tokens_lie_in_the_text_in_order(backend: EmbeddingBackend) -> None:
    for prepared in await backend.prepare([*TEXTS, ""]):
        assert prepared.token_count >= len(prepared.spans)
        assert all(0 <= a <= b <= len(prepared.text) for a, b in prepared.spans)
        assert list(prepared.spans) == sorted(prepared.spans)


async def test_more_words_are_more_tokens(backend: EmbeddingBackend) -> None:
    short, long = await backend.prepare(["one", "one two three four"])
    assert short.token_count < long.token_count


@pytest.mark.parametrize(
    "script",
    [
        [(500, {}), (429, {})],
        [(0, None)],
        [(503, b"<html>"), (0, None)],
    ],
)
async def test_what_may_pass_is_retried(
    remote: tuple[OpenAiCompatible, Endpoint], script: list[tuple[int, Any]]
) -> None:
    backend, endpoint = remote
    endpoint.script = list(script)
    assert len(await backend.embed(await backend.prepare(["a", "b"]))) == 2
    assert len(endpoint.requests) == len(script) + 1
    assert all(
        r["authorization"] and r["input"] == ["a", "b"] and r["model"] == "m" for r in endpoint.requests
    )


@pytest.mark.parametrize(
    "answer",
    [
        b"not json",
        {"data": []},
        {"data": [{"index": 0, "embedding": [1.0] * 31}]},
        {"data": [{"index": 0, "embedding": [float("1e400")] * 32}]},
        {"data": [{"index": 0, "embedding": [0.0] * 32}]},
        {"data": [{"index": 0, "embedding": [None] * 32}]},
        {"data": [{"index": 5, "embedding": [1.0] * 32}]},
        {"oops": 1},
        [1],
    ],
)
async def test_an_answer_that_makes_no_sense_is_an_error(
    remote: tuple[OpenAiCompatible, Endpoint], answer: Any
) -> None:
    backend, endpoint = remote
    endpoint.script = [(200, answer)]
    with pytest.raises(DependencyDown):
        await backend.embed(await backend.prepare(["a"]))


async def test_a_refusal_is_not_retried_and_a_dead_endpoint_is_given_up(
    remote: tuple[OpenAiCompatible, Endpoint],
) -> None:
    backend, endpoint = remote
    endpoint.script = [(401, {})]
    with pytest.raises(DependencyDown, match="refused"):
        await backend.embed(await backend.prepare(["a"]))
    assert len(endpoint.requests) == 1
    endpoint.script = [(500, {})] * 3
    with pytest.raises(DependencyDown, match="does not answer"):
        await backend.embed(await backend.prepare(["a"]))
    assert len(endpoint.requests) == 4


@pytest.mark.parametrize(
    ("header", "least", "most"),
    [
        (b"7", 7, 7),
        (b"86400", 30, 30),
        (b"Wed, 21 Oct 2026 07:28:00 GMT", 0.005, 0.02),
        (b"nan", 0.005, 30),
        (b"-5", 0.005, 0.02),
    ],
)
async def test_a_pause_is_as_long_as_the_endpoint_asks_within_reason(
    header: bytes, least: float, most: float
) -> None:
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    async with serving(sleep) as (backend, endpoint):
        endpoint.headers = b"retry-after: %s\r\n" % header
        endpoint.script = [(429, {}), (503, {})]
        assert len(await backend.embed(await backend.prepare(["a"]))) == 1
    assert len(pauses) == 2
    assert all(least <= pause <= most for pause in pauses)


async def test_an_answer_that_cannot_be_unpacked_is_an_error(
    remote: tuple[OpenAiCompatible, Endpoint],
) -> None:
    backend, endpoint = remote
    endpoint.headers = b"retry-after: 0\r\ncontent-encoding: gzip\r\n"
    endpoint.script = [(200, b"not gzip")] * 3
    with pytest.raises(DependencyDown):
        await backend.embed(await backend.prepare(["a"]))
