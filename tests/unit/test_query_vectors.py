"""A query's vector is made once for the searches of one prompt (SPEC P-12)."""

from __future__ import annotations

import asyncio

import pytest

from services.kit.context import act_as
from services.kit.errors import DependencyDown
from services.kit.identity import Principal, Role
from services.memory.semantic.adapters.query_vectors import SharedQueries

ANN, BOB = (Principal(tenant=tenant, role=Role.READER) for tenant in ("ann's", "bob's"))


class Embedder:
    """Embeds once `go` is set; fails while it is `down`."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.go = asyncio.Event()
        self.down = False

    async def embed(self, text: str) -> bytes:
        self.asked.append(text)
        await self.go.wait()
        if self.down:
            raise DependencyDown
        return text.encode()


async def asked_by(principal: Principal, shared: SharedQueries, text: str) -> bytes:
    with act_as(principal):
        return await shared.vector(text)


async def test_searches_of_a_tenant_share_a_vector_and_nobody_elses() -> None:
    embedder = Embedder()
    shared = SharedQueries(embedder.embed)
    waiting = [
        asyncio.create_task(asked_by(who, shared, text))
        for who, text in ((ANN, "heron"), (ANN, "heron"), (ANN, "owl"), (BOB, "heron"))
    ]
    await asyncio.sleep(0)
    embedder.go.set()
    assert await asyncio.gather(*waiting) == [b"heron", b"heron", b"owl", b"heron"]
    assert sorted(embedder.asked) == ["heron", "heron", "owl"]
    await asked_by(ANN, shared, "heron")
    assert len(embedder.asked) == 4, "what was made before is not kept"
    embedder.go.clear()
    outside = [asyncio.create_task(shared.vector("heron")) for _ in range(2)]
    await asyncio.sleep(0)
    embedder.go.set()
    await asyncio.gather(*outside)
    assert len(embedder.asked) == 6, "outside of a call nothing is shared"


async def test_a_failure_and_a_caller_that_leaves_are_not_shared() -> None:
    embedder = Embedder()
    shared = SharedQueries(embedder.embed)
    first = asyncio.create_task(asked_by(ANN, shared, "heron"))
    await asyncio.sleep(0)
    second = asyncio.create_task(asked_by(ANN, shared, "heron"))
    await asyncio.sleep(0)
    first.cancel()
    embedder.go.set()
    assert await second == b"heron"
    assert embedder.asked == ["heron"]
    embedder.down = True
    both = [asyncio.create_task(asked_by(ANN, shared, "owl")) for _ in range(2)]
    for one in both:
        with pytest.raises(DependencyDown):
            await one
    assert embedder.asked == ["heron", "owl", "owl"], "the second asked for itself"
    embedder.down = False
    assert await asked_by(ANN, shared, "owl") == b"owl"


async def test_what_hangs_holds_up_nobody_who_comes_after_all_have_left() -> None:
    embedder = Embedder()
    shared = SharedQueries(embedder.embed)
    for _ in range(2):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asked_by(ANN, shared, "heron"), 0.01)
    assert embedder.asked == ["heron", "heron"], "the second did not join what the first had left"
    embedder.go.set()
    assert await asked_by(ANN, shared, "heron") == b"heron"
