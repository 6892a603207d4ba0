"""Copies of documents, whatever comes between two steps (SPEC K-2): kills, losses, bad bytes."""

from __future__ import annotations

import asyncio
import random
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from services.compactor.app import document_records as records
from services.compactor.app.document_copies import KEEP_SECONDS, MARK_SECONDS, SKIP_SECONDS, KvRules
from services.compactor.app.document_ports import KvDown
from services.compactor.app.document_records import Record
from services.compactor.app.documents import Choice, Documents, Place
from services.compactor.domain.documents import SCHEMAS, Head, Kind
from services.kit.errors import NotFound, VersionConflict
from tests.integration.document_world import (
    AGENT,
    ATTRACTOR,
    KV_ADAPTERS,
    NOW,
    SUMMARY,
    TENANT,
    Gate,
    KillAt,
    Killed,
    World,
    any_world,
    draft,
    full,
    places,
    world,
)
from tests.redis_server import shared_redis

NEWEST = Choice(newest=True)
WRITER = "tests.integration.document_writer"
STATE = records.current_name(ATTRACTOR)


@pytest.fixture(params=KV_ADAPTERS)
async def made(
    request: pytest.FixtureRequest, pytestconfig: pytest.Config, tmp_path: Path
) -> AsyncIterator[World]:
    async with any_world(request, pytestconfig, tmp_path) as documents:
        yield documents


# A writer that dies, a store that forgets, a reader that is slow


@pytest.mark.parametrize("place", range(9))
async def test_a_writer_that_is_killed_at_any_step_leaves_no_copy_of_what_was(
    made: World, place: int
) -> None:
    """K-2: what is served is what SQL holds, at once, however far the writer came."""
    await made.write(count=2)
    assert await made.seen() == await made.truth()
    kill = KillAt(place)
    made.kv.step = made.store.step = kill
    head = await made.documents.head(ATTRACTOR)
    if place < 7:
        with pytest.raises(Killed):
            await made.documents.put(ATTRACTOR, draft(3), head)
    else:
        await made.documents.put(ATTRACTOR, draft(3), head)
        assert kill.steps <= place, "there are no more steps"
    assert (await made.truth())[1].version == (2 if place < 2 else 3)
    for _ in range(3):
        assert await made.seen() == await made.truth()
    made.seconds.now += MARK_SECONDS
    await made.write()
    assert await made.seen() == await made.truth()


async def test_without_marks_a_killed_writer_would_leave_what_was(made: World) -> None:
    """The positive control of the test above: with the marks lost, it does, until the copy ends."""
    await made.write()
    made.kv.step = LoseMarksAndKill(made)
    with pytest.raises(Killed):
        await made.documents.put(ATTRACTOR, draft(2), await made.documents.head(ATTRACTOR))
    assert (await made.truth())[1].version == 2
    served = await made.process().get(ATTRACTOR)
    assert (served.document.version, served.place) == (1, Place.CACHE)


class LoseMarksAndKill:
    """Puts the old value back over the mark, and kills the writer after its commit."""

    def __init__(self, made: World) -> None:
        self._made = made
        self._sets = 0

    async def __call__(self, step: str) -> None:
        if step == "set":
            self._sets += 1
            if self._sets == 2:
                raise Killed
        if step == "after set":
            await self._made.flush()
            await self._made.process().get(ATTRACTOR)


async def test_what_stays_wrong_after_two_failures_ends_by_itself(tmp_path: Path) -> None:
    """K-2: a mark lost with the store's memory and a killed writer: at most `keep_seconds`."""
    async with world(tmp_path) as made:
        await made.write()
        made.kv.step = LoseMarksAndKill(made)
        with pytest.raises(Killed):
            await made.documents.put(ATTRACTOR, draft(2), await made.documents.head(ATTRACTOR))
        assert (await made.seen())[1].version == 1
        made.seconds.now += KEEP_SECONDS
        assert await made.seen() == await made.truth()


@pytest.mark.parametrize("flushed", [False, True])
async def test_a_slow_reader_puts_back_nothing_old(made: World, flushed: bool) -> None:
    """K-2: it read the row before a write, and puts it back after; or after the store lost its memory too."""
    await made.write()
    await made.flush()
    made.store.step = gate = Gate("current")
    reader = asyncio.create_task(made.documents.get(ATTRACTOR))
    await gate.reached.wait()
    await made.write()
    if flushed:
        await made.flush()
    gate.open()
    assert (await reader).document.version == 1, "it was read before"
    assert await made.seen() == await made.truth()


async def test_a_reader_between_mark_and_commit_puts_back_nothing_old(made: World) -> None:
    """K-2."""
    await made.write()
    made.kv.step = gate = Gate("after set")
    writer = asyncio.create_task(
        made.documents.put(ATTRACTOR, draft(2), await made.documents.head(ATTRACTOR))
    )
    await gate.reached.wait()
    served = await made.process().get(ATTRACTOR)
    assert (served.document.version, served.place) == (1, Place.STORE)
    assert (await made.values())[STATE] == records.mark(2)
    gate.open()
    await writer
    assert await places(made.documents, ATTRACTOR) == [(2, Place.CACHE)]


@pytest.mark.parametrize("seed", range(4))
async def test_the_store_may_lose_its_memory_at_any_time(made: World, seed: int) -> None:
    """K-2, SV-2: with writers, readers and losses at once, nothing raises, and the end is right."""
    chance = random.Random(seed)
    await made.write()

    async def step(_: str) -> None:
        if chance.random() < 0.2:
            await made.flush()
        await asyncio.sleep(chance.random() / 1000)

    made.kv.step = made.store.step = step

    async def writer() -> None:
        for _ in range(4):
            head = await made.documents.head(ATTRACTOR)
            try:
                await made.documents.put(ATTRACTOR, draft(head.version + 1), head)
            except VersionConflict:
                continue

    async def reader() -> None:
        for _ in range(12):
            served = await made.documents.get(ATTRACTOR)
            assert served.document.body == {"number": served.document.version}

    await asyncio.gather(*(writer() for _ in range(3)), *(reader() for _ in range(5)))
    made.kv.step = made.store.step = None
    assert (await made.truth())[1].version > 4
    for _ in range(2):
        assert await made.seen() == await made.truth()


@pytest.mark.parametrize("step", range(7))
async def test_a_process_that_is_killed_leaves_no_copy_of_what_was(
    pytestconfig: pytest.Config, tmp_path: Path, step: int
) -> None:
    """K-2: SIGKILL, over Redis."""
    server = shared_redis(pytestconfig)
    async with server.prefix() as prefix:
        async with world(tmp_path, server.url, prefix) as made:
            await made.write()
        child = await asyncio.to_thread(
            subprocess.run,
            [
                sys.executable,
                "-m",
                "tests.integration.document_writer",
                tmp_path,
                server.url,
                prefix,
                str(step),
            ],
            check=False,
        )
        assert child.returncode == -signal.SIGKILL
        async with world(tmp_path, server.url, prefix) as made:
            assert (await made.truth())[1].version == (1 if step < 2 else 2)
            for _ in range(2):
                assert await made.seen() == await made.truth()
            await made.write()
            assert await made.seen() == await made.truth()


# Copies that are no documents


async def test_every_key_is_there(made: World) -> None:
    """K-1; what the next test spoils."""
    await full(made)
    _, infos = await made.documents.versions(SUMMARY, None, 9)
    assert sorted(await made.values()) == sorted(
        [
            STATE,
            records.history_name(ATTRACTOR),
            records.frozen_name(ATTRACTOR, 2),
            records.current_name(SUMMARY),
            records.moment_name(SUMMARY, infos[1].created),
        ]
    )


@pytest.mark.parametrize(
    "spoil",
    [
        lambda value: b"",
        lambda value: b"not ours",
        lambda value: value[: len(value) // 2],
        lambda value: value[:-1] + b"]",
        lambda value: value.replace(b"number", b"nunber"),
        lambda value: b"999999999999999" + value[value.index(b":") :],
        lambda value: b"999999999999999:",
        lambda value: b"999999999999999:garbage",
        lambda value: b"7:{}:{}",
        lambda value: bytes(reversed(value)),
    ],
    ids=[
        "empty",
        "foreign",
        "cut",
        "altered",
        "renamed",
        "future",
        "mark",
        "garbage",
        "old form",
        "reversed",
    ],
)
async def test_no_reader_sees_what_is_no_document(made: World, spoil: Callable[[bytes], bytes]) -> None:
    """K-2: every key spoilt; answers are the same, never an error, and the copies mend."""
    values = await full(made)
    _, infos = await made.documents.versions(SUMMARY, None, 9)
    asked = [
        *((ATTRACTOR, choice) for choice in (Choice(), NEWEST, *(Choice(version=n) for n in (1, 2, 3)))),
        *((SUMMARY, choice) for choice in (Choice(), *(Choice(created=info.created) for info in infos))),
    ]
    right = [(await made.documents.get(key, choice)).document for key, choice in asked]
    for name, value in values.items():
        await made.kv.inner.delete(name)
        await put_raw(made, name, spoil(value))
    for _ in range(3):
        assert [(await made.documents.get(key, choice)).document for key, choice in asked] == right
    assert (await made.documents.get(ATTRACTOR, NEWEST)).place is Place.CACHE, (
        "the newest mends as it is read"
    )
    for name, value in values.items():
        await made.kv.inner.delete(name)
        await put_raw(made, name, spoil(value))
    await made.documents.rebuild(TENANT, None, None, 10)
    for name, value in values.items():
        assert (await made.values())[name].partition(b":")[2] == value.partition(b":")[2]


async def put_raw(made: World, name: str, value: bytes) -> None:
    """Writes past the rules of the port."""
    inner = made.kv.inner
    if hasattr(inner, "_redis"):
        await inner._redis.run(lambda redis: redis.set(inner._redis.prefix + name, value))
    else:
        inner._values[name] = (value, float("inf"))  # type: ignore[attr-defined]
        inner._bytes += len(name) + len(value) + 200  # type: ignore[attr-defined]


async def test_a_copy_of_another_schema_is_not_served(made: World) -> None:
    """K-3: such as another version of this program wrote."""
    await made.write()
    head, document = await made.truth()
    other = replace(document, schema=replace(SCHEMAS[Kind.ATTRACTOR], version=99), body={"number": -1})
    record = Record(revision=head.revision, head=head, documents=(other,))
    await made.kv.inner.set(STATE, records.encode(STATE, record), seconds=60)
    assert await places(made.documents, ATTRACTOR) == [(1, Place.STORE)]


async def test_a_row_that_cannot_be_read_is_replaced_by_the_newest_that_can(made: World) -> None:
    """K-2: a reader never gets an error for a bad document, and is told which version it got."""
    await made.write(count=4)
    await made.documents.freeze(ATTRACTOR, 1)
    await made.flush()
    await made.spoil(4)
    await made.spoil(1)
    served = await made.documents.get(ATTRACTOR)
    assert (served.document.version, served.head.version, served.place) == (3, 4, Place.STORE)
    with pytest.raises(NotFound):
        await made.documents.get(ATTRACTOR, Choice(version=4))
    for version in (2, 3):
        await made.spoil(version)
    with pytest.raises(NotFound):
        await made.documents.get(ATTRACTOR)
    await made.write()
    assert await places(made.documents, ATTRACTOR, NEWEST) == [(5, Place.CACHE)]


# A key-value store that is away


async def test_without_the_key_value_store_everything_works_from_rows(made: World) -> None:
    """K-2, SV-2; and readers do not try again with each call."""
    await made.write(count=2)
    asked: list[str] = []

    async def count(step: str) -> None:
        asked.append(step)

    made.kv.down, made.kv.step = True, count
    for _ in range(5):
        assert await places(made.documents, ATTRACTOR) == [(2, Place.STORE)]
    assert asked == ["get"]
    head = await made.documents.head(ATTRACTOR)
    await made.documents.put(ATTRACTOR, draft(3), head)
    await made.documents.freeze(ATTRACTOR, 1)
    await made.documents.unfreeze(ATTRACTOR, 1)
    await made.documents.mark(await made.documents.of_sources(TENANT, AGENT, ["s3"]))
    assert await places(made.documents, ATTRACTOR) == [(3, Place.STORE)]
    for refused in (made.documents.rebuild(TENANT, None, None, 9), made.documents.erase(ATTRACTOR)):
        with pytest.raises(KvDown):
            await refused
    made.kv.down = False
    made.seconds.now += SKIP_SECONDS
    await made.documents.rebuild(TENANT, None, None, 9)
    assert await places(made.documents, ATTRACTOR) == [(3, Place.CACHE)]


async def test_what_was_written_meanwhile_is_copied_once_the_store_is_back(made: World) -> None:
    """K-2: a store that only this process could not reach serves what was, until then."""
    rules = KvRules(catch_up_seconds=0.01)
    documents = Documents(made.store, made.kv, lambda: NOW, rules)
    await made.write()
    made.kv.down = True
    await documents.put(ATTRACTOR, draft(2), await documents.head(ATTRACTOR))
    await documents.put(SUMMARY, draft(1), Head())
    assert (await made.seen())[1].version == 1, "others cannot know"
    task = asyncio.create_task(documents.keep_up())
    await asyncio.sleep(0.05)
    made.kv.down = False
    async with asyncio.timeout(10):
        while (await made.seen(), len(await made.values())) != (await made.truth(), 3):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert await places(made.process(), SUMMARY) == [(1, Place.CACHE)]
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
