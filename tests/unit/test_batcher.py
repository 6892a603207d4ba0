"""Micro-batching (SPEC M-2) and the use cases above it (M-1, M-4, M-6)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from services.embedder.adapters.hashing import HashingBackend
from services.embedder.app.batcher import Batcher
from services.embedder.app.cache import ENTRY_OVERHEAD_BYTES, VectorCache
from services.embedder.app.embedding import Embedder
from services.embedder.domain.chunking import Span
from services.embedder.domain.model import ChunkingRule, Prepared, Purpose
from services.kit.errors import DependencyDown, InvalidField, Overloaded, TextTooLong


class Gated(HashingBackend):
    """Holds each batch until it is let through; fails those with a poisoned text."""

    def __init__(self, max_tokens: int = 256) -> None:
        super().__init__(dimension=16, max_tokens=max_tokens)
        self.batches: list[list[str]] = []
        self.gate = asyncio.Event()

    async def embed(self, texts: Sequence[Prepared]) -> list[bytes]:
        self.batches.append([text.text for text in texts])
        await self.gate.wait()
        if any("poison" in text.text for text in texts):
            raise DependencyDown
        return await super().embed(texts)


@asynccontextmanager
async def batching(backend: Gated, *, batch_size: int = 4, queue_limit: int = 100) -> AsyncIterator[Batcher]:
    batcher = Batcher(backend, batch_size=batch_size, queue_limit=queue_limit)
    task = asyncio.create_task(batcher.run())
    yield batcher
    backend.gate.set()
    task.cancel()


async def texts(backend: HashingBackend, *values: str) -> list[Prepared]:
    return await backend.prepare(values)


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_an_idle_batcher_sends_at_once_and_what_gathers_meanwhile_shares_a_batch() -> None:
    backend = Gated()
    async with batching(backend) as batcher:
        calls = [asyncio.ensure_future(batcher.embed(await texts(backend, "one"), Purpose.DOCUMENT))]
        await settle()
        assert backend.batches == [["one"]]
        for word in ("two", "three", "four"):
            calls.append(asyncio.ensure_future(batcher.embed(await texts(backend, word), Purpose.DOCUMENT)))
        await settle()
        backend.gate.set()
        vectors = await asyncio.gather(*calls)
        assert [sorted(batch) for batch in backend.batches] == [["one"], ["four", "three", "two"]]
        expected = await HashingBackend(16).embed(await texts(backend, "one", "two", "three", "four"))
        assert [v for [v] in vectors] == expected


async def test_queries_go_before_documents() -> None:
    backend = Gated()
    async with batching(backend) as batcher:
        calls = [asyncio.ensure_future(batcher.embed(await texts(backend, "first"), Purpose.DOCUMENT))]
        await settle()
        calls.append(asyncio.ensure_future(batcher.embed(await texts(backend, "document"), Purpose.DOCUMENT)))
        calls.append(asyncio.ensure_future(batcher.embed(await texts(backend, "query"), Purpose.QUERY)))
        await settle()
        backend.gate.set()
        await asyncio.gather(*calls)
        assert backend.batches == [["first"], ["query"], ["document"]]


async def test_batches_are_bounded_and_of_like_length() -> None:
    backend = Gated()
    async with batching(backend, batch_size=2) as batcher:
        first = asyncio.ensure_future(batcher.embed(await texts(backend, "x"), Purpose.DOCUMENT))
        await settle()
        mixed = await texts(backend, "a", "b " * 50, "c", "d " * 49)
        rest = asyncio.ensure_future(batcher.embed(mixed, Purpose.DOCUMENT))
        await settle()
        backend.gate.set()
        await asyncio.gather(first, rest)
        assert backend.batches[1:] == [["a", "c"], ["d " * 49, "b " * 50]]
        assert await rest == await HashingBackend(16).embed(mixed)


async def test_beyond_the_bound_callers_are_refused_and_told_when_to_come_back() -> None:
    backend = Gated()
    async with batching(backend, queue_limit=2) as batcher:
        held = [asyncio.ensure_future(batcher.embed(await texts(backend, "x"), Purpose.DOCUMENT))]
        await settle()
        held.append(asyncio.ensure_future(batcher.embed(await texts(backend, "y", "z"), Purpose.DOCUMENT)))
        await settle()
        with pytest.raises(Overloaded) as caught:
            await batcher.embed(await texts(backend, "w"), Purpose.QUERY)
        assert caught.value.retry_after
        backend.gate.set()
        await asyncio.gather(*held)


async def test_a_cancelled_callers_texts_are_not_embedded() -> None:
    backend = Gated()
    async with batching(backend) as batcher:
        first = asyncio.ensure_future(batcher.embed(await texts(backend, "x"), Purpose.DOCUMENT))
        await settle()
        doomed = asyncio.ensure_future(batcher.embed(await texts(backend, "doomed"), Purpose.DOCUMENT))
        kept = asyncio.ensure_future(batcher.embed(await texts(backend, "kept"), Purpose.DOCUMENT))
        await settle()
        doomed.cancel()
        await settle()
        backend.gate.set()
        await asyncio.gather(first, kept)
        assert backend.batches == [["x"], ["kept"]]


async def test_a_cancelled_callers_texts_hold_no_place_in_the_queue() -> None:
    backend = Gated()
    async with batching(backend, queue_limit=2) as batcher:
        first = asyncio.ensure_future(batcher.embed(await texts(backend, "x"), Purpose.DOCUMENT))
        await settle()
        doomed = asyncio.ensure_future(batcher.embed(await texts(backend, "y", "z"), Purpose.DOCUMENT))
        await settle()
        with pytest.raises(Overloaded):
            await batcher.embed(await texts(backend, "w"), Purpose.DOCUMENT)
        doomed.cancel()
        await settle()
        accepted = asyncio.ensure_future(batcher.embed(await texts(backend, "w"), Purpose.DOCUMENT))
        await settle()
        backend.gate.set()
        await asyncio.gather(first, accepted)
        assert backend.batches == [["x"], ["w"]]


class Forgetful(HashingBackend):
    """Leaves out the last vector of its first batch."""

    def __init__(self) -> None:
        super().__init__(dimension=16)
        self.first = True

    async def embed(self, texts: Sequence[Prepared]) -> list[bytes]:
        vectors = await super().embed(texts)
        short, self.first = self.first, False
        return vectors[:-1] if short else vectors


async def test_a_model_that_leaves_out_a_text_fails_that_batch_and_no_later_one() -> None:
    backend = Forgetful()
    batcher = Batcher(backend, batch_size=4, queue_limit=10)
    task = asyncio.create_task(batcher.run())
    with pytest.raises(DependencyDown):
        await asyncio.wait_for(batcher.embed(await texts(backend, "a", "b"), Purpose.DOCUMENT), 5)
    assert len(await asyncio.wait_for(batcher.embed(await texts(backend, "c"), Purpose.DOCUMENT), 5)) == 1
    task.cancel()


async def test_a_failing_batch_fails_its_callers_only() -> None:
    backend = Gated()
    backend.gate.set()
    async with batching(backend, batch_size=1) as batcher:
        poison, fine = await texts(backend, "poison"), await texts(backend, "fine")
        outcomes = await asyncio.gather(
            batcher.embed(poison, Purpose.DOCUMENT),
            batcher.embed(fine, Purpose.DOCUMENT),
            return_exceptions=True,
        )
        assert isinstance(outcomes[0], DependencyDown)
        assert not isinstance(outcomes[1], BaseException)


@asynccontextmanager
async def embedding(max_tokens: int, cache_bytes: int = 10**6) -> AsyncIterator[tuple[Embedder, Gated]]:
    backend = Gated(max_tokens)
    backend.gate.set()
    cache = VectorCache(secret=b"k", revision="r", max_bytes=cache_bytes)
    async with batching(backend) as batcher:
        yield Embedder(backend, batcher, cache), backend


async def test_a_text_over_the_limit_is_an_error_that_names_it() -> None:
    async with embedding(8) as (embedder, backend):
        with pytest.raises(TextTooLong) as caught:
            await embedder.embed(["short", "one two three four five six seven"], Purpose.DOCUMENT, None)
        assert caught.value.fields[0].field == "texts[1]"
        assert caught.value.metadata == {"limit": "8", "actual": "9"}
        assert not backend.batches


async def test_chunks_cover_the_text_and_may_be_bounded() -> None:
    text = "One two three. Four five six. Seven eight nine ten."
    async with embedding(8) as (embedder, _):
        made = await embedder.embed([text], Purpose.DOCUMENT, ChunkingRule())
        assert [text[e.start : e.end] for e in made] == [
            "One two three. ",
            "Four five six. ",
            "Seven eight nine ten.",
        ]
        first = await embedder.embed([text], Purpose.DOCUMENT, ChunkingRule(max_chunks=1))
        assert [(e.start, e.end) for e in first] == [(0, 15)]
        with pytest.raises(InvalidField, match="half"):
            await embedder.embed([text], Purpose.DOCUMENT, ChunkingRule(overlap_tokens=5))


async def test_known_texts_come_from_the_cache_until_they_are_forgotten() -> None:
    backend = Gated()
    backend.gate.set()
    cache = VectorCache(secret=b"k", revision="r", max_bytes=10**6)
    async with batching(backend) as batcher:
        embedder = Embedder(backend, batcher, cache)
        twice = await embedder.embed(["same", "same", "other"], Purpose.DOCUMENT, None)
        assert twice[0].vector == twice[1].vector != twice[2].vector
        await embedder.embed(["same"], Purpose.DOCUMENT, None)
        assert [sorted(b) for b in backend.batches] == [["other", "same"]]
        assert cache.forget(["same", "unknown"]) == 1
        await embedder.embed(["same"], Purpose.DOCUMENT, None)
        assert backend.batches[1:] == [["same"]]


async def test_forgetting_a_text_forgets_its_chunks() -> None:
    text = "One two three. Four five six. Seven eight nine ten."
    async with embedding(8) as (embedder, backend):
        await embedder.embed([text, "kept"], Purpose.DOCUMENT, ChunkingRule())
        before = len(backend.batches)
        await embedder.embed([text], Purpose.DOCUMENT, ChunkingRule())
        assert len(backend.batches) == before
        assert embedder.forget([text]) == 3
        await embedder.embed([text, "kept"], Purpose.DOCUMENT, ChunkingRule())
        assert [len(batch) for batch in backend.batches[before:]] == [3]


def test_the_cache_is_bounded_and_drops_what_was_used_longest_ago() -> None:
    cache = VectorCache(secret=b"k", revision="r", max_bytes=1200)
    whole = Span(start=0, end=1)
    keys = [cache.content_key(str(number)) for number in range(50)]
    for key in keys:
        cache.put(key, whole, b"v" * 50)
        cache.get(keys[0], whole)
    assert 1 < len(cache) <= 1200 // (50 + ENTRY_OVERHEAD_BYTES)
    assert cache.get(keys[0], whole) == cache.get(keys[49], whole) == b"v" * 50
    assert cache.get(keys[1], whole) is None


def test_the_keys_of_the_cache_depend_on_secret_and_revision() -> None:
    def key(secret: bytes, revision: str) -> str:
        return VectorCache(secret=secret, revision=revision, max_bytes=1).content_key("text")

    assert key(b"k", "r") == key(b"k", "r")
    assert len({key(b"k", "r"), key(b"other", "r"), key(b"k", "next")}) == 3
    assert "text" not in key(b"k", "r")
