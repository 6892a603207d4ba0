"""The vector index on a Qdrant server, over REST (SPEC S-3, X-1)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from services.kit.errors import DependencyDown
from services.memory.semantic.adapters.vectors_qdrant import QdrantVectors
from services.memory.semantic.adapters.vectors_qdrant_calls import connect
from tests.unit.qdrant_parts import ANNA, HASTY, MODEL, SECRET, X, confined

Answer = tuple[int, str]


@asynccontextmanager
async def rest(answers: Callable[[str, str, Any], Answer]) -> AsyncIterator[str]:
    """An HTTP server; `answers` gets method, path and the parsed body."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("ascii")
        method, path, _ = head.split(" ", 2)
        sizes = [
            line.split(":")[1] for line in head.splitlines() if line.lower().startswith("content-length")
        ]
        body = await reader.readexactly(int(sizes[0])) if sizes else b""
        status, text = answers(method, path, json.loads(body) if body else None)
        data = text.encode("utf-8")
        lines = f"HTTP/1.1 {status} S\r\ncontent-length: {len(data)}\r\nconnection: close\r\n\r\n"
        writer.write(lines.encode("ascii") + data)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        await server.wait_closed()


def ok(result: object) -> Answer:
    return 200, json.dumps({"result": result, "status": "ok", "time": 0.0})


async def over_rest(url: str) -> QdrantVectors:
    return QdrantVectors(connect(url, over_grpc=False), MODEL, limits=HASTY)


async def test_rest_will_do() -> None:
    """Where gRPC is not let through; the same filters travel."""
    bodies: list[Any] = []

    def answers(method: str, path: str, body: Any) -> Answer:
        bodies.append((method, path.split("?")[0].rsplit("/", 1)[1], body))
        return ok({"points": [{"id": 1, "version": 0, "score": 0.5, "payload": {"item": "a"}}]})

    async with rest(answers) as url:
        index = await over_rest(url)
        (found,) = await index.search(ANNA, X, limit=2)
        assert (found.item_id, found.cosine) == ("a", 0.5)
        index.opened_clean = True
        await index.close()
    ((method, path, body),) = bodies
    assert (method, path) == ("POST", "query")
    wanted = {condition["key"]: condition["match"]["value"] for condition in body["filter"]["must"]}
    assert wanted == {field: values[0] for field, values in confined(ANNA).items()}


@pytest.mark.parametrize("status", [429, 502, 503, 504])
async def test_rest_is_tried_again_too(status: int) -> None:
    answered: list[int] = []

    def answers(_method: str, _path: str, _body: Any) -> Answer:
        answered.append(0)
        return (status, SECRET) if len(answered) < HASTY.attempts else ok({"count": 3})

    async with rest(answers) as url:
        index = await over_rest(url)
        assert await index.count(ANNA) == 3
        index.opened_clean = True
        await index.close()
    assert len(answered) == HASTY.attempts


@pytest.mark.parametrize(
    "answer",
    [
        (200, "no json"),
        (200, ""),
        (200, "[]"),
        (200, '{"result": null, "status": "ok", "time": 0}'),
        (200, '{"result": {"count": "many"}, "status": "ok", "time": 0}'),
        (401, SECRET),
        (404, SECRET),
        (500, SECRET),
    ],
)
async def test_rest_answers_that_make_no_sense_are_none(answer: Answer) -> None:
    answered: list[str] = []

    def answers(_method: str, path: str, _body: Any) -> Answer:
        answered.append(path)
        return answer

    async with rest(answers) as url:
        index = await over_rest(url)
        with pytest.raises(DependencyDown) as caught:
            await index.count(ANNA)
        assert SECRET not in str(caught.value)
        index.opened_clean = True
        await index.close()
    assert len(answered) == 1
