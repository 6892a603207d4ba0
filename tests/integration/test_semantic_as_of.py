"""Recall as of a moment through a real stub, on embedded engines and on servers (SPEC S-5, S-8, SV-2)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from palimpsest.common.v1 import recall_pb2
from palimpsest.semantic.v1 import semantic_pb2 as pb

from services.kit.times import to_timestamp
from tests.integration.embedded_suite import failure
from tests.integration.judged import judgements, verdict
from tests.integration.semantic_suite import (
    AGENT,
    CODE,
    KEY,
    KEYWORD,
    MESSAGES,
    NOW,
    READER,
    REFERENCE,
    VECTOR,
    WRITER,
    Episodic,
    Semantic,
    running,
    scope,
    values,
)
from tests.meilisearch_server import meilisearch
from tests.qdrant_server import StandIn

DAY, TICK = timedelta(days=1), timedelta(microseconds=1)
ALL = {VECTOR, KEYWORD, KEY, MESSAGES}
QUERY = "which city does she live in"
FAR = Timestamp(seconds=10**15)


class Clock:
    """Stands still until it is set."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@asynccontextmanager
async def served(folder: Path, clock: Clock, episodic: Episodic, engines: str) -> AsyncIterator[Semantic]:
    """The service with its engines embedded, or with stand-ins of both servers."""
    async with AsyncExitStack() as stack:
        chosen: dict[str, Any] = {}
        if engines == "servers":
            qdrant = await stack.enter_async_context(StandIn())
            meili = await stack.enter_async_context(meilisearch(fake=True))
            chosen = {
                "qdrant_url": "http://127.0.0.1:6333",
                "qdrant_grpc_port": qdrant.port,
                "meilisearch_url": meili.url,
                "meilisearch_api_key": meili.api_key,
                "meilisearch_prefix": meili.prefix,
            }
        yield await stack.enter_async_context(running(folder, episodic, clock, **chosen))


@pytest.fixture(params=["embedded", "servers"])
async def semantic(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> AsyncIterator[Semantic]:
    async with served(tmp_path, clock, Episodic(), request.param) as made:  # type: ignore[abstract]
        yield made


async def moves(semantic: Semantic, clock: Clock) -> list[pb.RememberResponse]:
    """Three versions of one fact, from today, from in three days and from in five; the seventh day begins."""
    source = await semantic.said("in which city does she live these days?")
    made = []
    for day, city in ((0, "Oslo"), (3, "Bergen"), (5, "Tromsø")):
        clock.now = NOW + day * DAY
        made.append(await semantic.remember("home.city", f"lives in {city}", provenance=[reference(source)]))
        await semantic.work_off()
    clock.now = NOW + 7 * DAY
    return made


def reference(message: Any) -> Any:
    return {"conversation_id": message.conversation_id, "message_id": message.id}


async def as_of(
    semantic: Semantic, moment: datetime, *contacts: str, query: str = QUERY, **fields: Any
) -> list[recall_pb2.MemoryHit]:
    answer = await semantic.recall(query, *contacts, as_of_time=to_timestamp(moment), **fields)
    assert not answer.failures
    return list(answer.hits)


async def valid(semantic: Semantic, moment: datetime, *contacts: str, **fields: Any) -> set[str]:
    return {hit.memory.value for hit in await as_of(semantic, moment, *contacts, **fields)}


def channels(hit: recall_pb2.MemoryHit) -> set[int]:
    return {channel.channel for channel in hit.explanation.channels}


async def test_each_version_is_recalled_as_of_its_time_by_every_channel(
    semantic: Semantic, clock: Clock
) -> None:
    """S-8, S-9: and the present one alone without a moment."""
    await moves(semantic, clock)
    for moment, city in (
        (NOW, "Oslo"),
        (NOW + 3 * DAY - TICK, "Oslo"),
        (NOW + 3 * DAY, "Bergen"),
        (NOW + 5 * DAY, "Tromsø"),
        (NOW + 500 * DAY, "Tromsø"),
    ):
        (hit,) = await as_of(semantic, moment)
        assert hit.memory.value == f"lives in {city}"
        assert channels(hit) == ALL
        for alone in ALL:
            weights = [
                recall_pb2.ChannelWeight(channel=channel, weight=float(channel == alone)) for channel in ALL
            ]
            only = recall_pb2.FusionStrategy(reference=recall_pb2.ReferenceFusion(weights=weights))
            (hit,) = await as_of(semantic, moment, fusion=only)
            assert hit.memory.value == f"lives in {city}"
            assert {c.channel for c in hit.explanation.channels if c.contribution} == {alone}
    assert await as_of(semantic, NOW - TICK) == []
    (hit,) = (await semantic.recall(QUERY)).hits
    assert hit.memory.value == "lives in Tromsø"


async def test_a_supersession_that_is_undone_changes_every_moment_after_it(
    semantic: Semantic, clock: Clock, tmp_path: Path
) -> None:
    """S-8."""
    bees = await semantic.known("a", "keeps bees")
    clock.now = NOW + DAY
    goats = await semantic.known("b", "keeps goats")
    async with judgements(tmp_path) as store:
        assert await store.supersede("acme", AGENT, verdict(bees.memory.id, goats.memory.id), clock.now)
    await semantic.work_off()
    query = {"query": "keeps what", "fusion": REFERENCE}
    assert await valid(semantic, NOW, **query) == {"keeps bees"}
    assert await valid(semantic, clock.now, **query) == {"keeps goats"}
    undo = pb.UndoSupersessionRequest(agent_id=AGENT, memory_id=bees.memory.id)
    await semantic.by(WRITER).UndoSupersession(undo)
    await semantic.work_off()
    assert await valid(semantic, NOW, **query) == {"keeps bees"}
    for moment in (clock.now, clock.now + 9 * DAY):
        hits = await as_of(semantic, moment, **query)
        assert sorted(hit.memory.value for hit in hits) == ["keeps bees", "keeps goats"]
        assert all({VECTOR, KEYWORD} <= channels(hit) for hit in hits)
    assert sorted(values(await semantic.recall("keeps what"))) == ["keeps bees", "keeps goats"]


async def test_a_persons_past_is_nobody_elses(semantic: Semantic, clock: Clock) -> None:
    """S-5, S-8."""
    for day, anns, bobs in ((0, "tea", "wine"), (2, "water", "milk")):
        clock.now = NOW + day * DAY
        await semantic.remember("drink", f"Ann drinks {anns}", "ann")
        await semantic.remember("drink", f"Bob drinks {bobs}", "bob")
        await semantic.work_off()
    query = "drinks what"
    assert await valid(semantic, NOW, "ann", query=query) == {"Ann drinks tea"}
    assert await valid(semantic, NOW, "bob", query=query) == {"Bob drinks wine"}
    assert await valid(semantic, clock.now, "ann", query=query) == {"Ann drinks water"}
    assert await valid(semantic, NOW, query=query) == set()
    assert await valid(semantic, NOW, "ann", query=query, fill=True) == {"Ann drinks tea"}


async def test_what_is_forgotten_stays_away_at_every_moment(semantic: Semantic, clock: Clock) -> None:
    """S-8: before its jobs ran, and after."""
    versions = await moves(semantic, clock)
    kept = await semantic.known("home.country", "lives in Norway")
    forget = pb.ForgetMemoryRequest(agent_id=AGENT, memory_id=versions[0].memory.id)
    assert (await semantic.by(WRITER).ForgetMemory(forget)).deleted_count == 3
    for _ in range(2):
        for day in (0, 4, 6, 99):
            assert await valid(semantic, NOW + day * DAY, fill=True) <= {kept.memory.value}
        assert await valid(semantic, clock.now) == {kept.memory.value}
        await semantic.work_off()


async def test_a_reader_waits_until_the_past_is_indexed(semantic: Semantic, clock: Clock) -> None:
    """S-8, S-16: with the token of what was superseded since."""
    old = await semantic.known("home.city", "lives in Oslo")
    clock.now = NOW + DAY
    await semantic.remember("home.city", "lives in Bergen")
    asked = {"as_of_time": to_timestamp(NOW), "wait_for": [old.token]}
    (unindexed,) = (await semantic.recall(QUERY, timeout=1, **asked)).unindexed
    assert unindexed.token.memory.memory_id == old.memory.id
    await semantic.work_off()
    answer = await semantic.recall(QUERY, **asked)
    assert (values(answer), list(answer.unindexed)) == (["lives in Oslo"], [])


async def test_a_moment_that_is_none_is_refused(semantic: Semantic) -> None:
    """X-1."""
    request = pb.RecallMemoriesRequest(scope=scope(), query="x", as_of_time=FAR)
    outcome = await failure(semantic.by(READER).RecallMemories(request))
    assert outcome == (CODE.INVALID_ARGUMENT, "INVALID_FIELD", ["as_of_time"])


async def test_a_kill_between_the_present_and_the_past_heals(tmp_path: Path, clock: Clock) -> None:
    """S-8, SV-2: out of what is live, not yet among what is past, and no job that knows."""
    episodic = Episodic()  # type: ignore[abstract]
    async with served(tmp_path, clock, episodic, "embedded") as semantic:
        old = await semantic.known("home.city", "lives in Oslo")
        clock.now = NOW + DAY
        await semantic.known("home.city", "lives in Bergen")
        semantic.embedder.down = True
        with pytest.raises(grpc.aio.AioRpcError):
            await semantic.index(old)
        semantic.embedder.down = False
        (hit,) = await as_of(semantic, NOW)
        assert channels(hit) == {KEY}, "it is in neither index"
        assert values(await semantic.recall(QUERY)) == ["lives in Bergen"]
    lose_the_mark(tmp_path)
    async with served(tmp_path, clock, episodic, "embedded") as semantic:
        assert await semantic.work_off(at_least=1, until_quiet=1.0) >= 1
        (hit,) = await as_of(semantic, NOW)
        assert (hit.memory.value, channels(hit)) == ("lives in Oslo", {VECTOR, KEYWORD, KEY})
        assert values(await semantic.recall(QUERY)) == ["lives in Bergen"]


async def test_vectors_of_an_older_layout_are_made_anew(tmp_path: Path, clock: Clock) -> None:
    """SV-2: without a word to whoever upgrades."""
    episodic = Episodic()  # type: ignore[abstract]
    async with served(tmp_path, clock, episodic, "embedded") as semantic:
        await moves(semantic, clock)
    (manifest,) = (tmp_path / "vectors").rglob("manifest.json")
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"schema": 1}))
    async with served(tmp_path, clock, episodic, "embedded") as semantic:
        await semantic.work_off(until_quiet=1.0)
        for day, city in ((0, "Oslo"), (3, "Bergen"), (5, "Tromsø")):
            (hit,) = await as_of(semantic, NOW + day * DAY)
            assert (hit.memory.value, channels(hit)) == (f"lives in {city}", ALL)


def lose_the_mark(folder: Path) -> None:
    """As after a kill: nothing says that the vectors were closed in order."""
    (mark,) = (folder / "vectors").rglob("clean")
    mark.unlink()
