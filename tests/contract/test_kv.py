"""The suite of the Kv port, over the adapter in memory, a server, and a cluster (SPEC K-1)."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Iterator

import pytest
import redis.asyncio as aioredis
from redis.crc import key_slot

from services.compactor.adapters.kv_memory import MemoryKv
from services.compactor.adapters.kv_redis import RedisKv
from services.compactor.app import document_records as records
from services.compactor.app.document_ports import MAX_VALUE_BYTES, Kv, KvDown
from services.compactor.domain.documents import Kind
from services.kit.errors import StartupError
from services.kit.redis import PREFIX, RedisOptions
from tests.contract.document_parts import ATTRACTOR, NOW, SUMMARY, odd_keys
from tests.redis_server import LocalRedis, own_redis, shared_redis

SECONDS = 60.0
PATIENT = 10.0  # seconds; a test machine may be busy
KEY = records.current_name(ATTRACTOR)


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalRedis]:
    server = own_redis(cluster=True)
    yield server
    server.close()


@pytest.fixture(params=["memory", "redis", "cluster"])
async def kv(request: pytest.FixtureRequest, pytestconfig: pytest.Config) -> AsyncIterator[Kv]:
    if request.param == "memory":
        yield MemoryKv(2 * MAX_VALUE_BYTES)
        return
    if request.param == "cluster":
        url = request.getfixturevalue("cluster").url
        made = RedisKv.open(RedisOptions(url=url, cluster=True, timeout_seconds=PATIENT))
        yield made
        await made.close()
        async with aioredis.from_url(url) as client:
            await client.flushall()
        return
    server = shared_redis(pytestconfig)
    async with server.prefix() as prefix:
        made = RedisKv.open(RedisOptions(url=server.url, prefix=prefix, timeout_seconds=PATIENT))
        yield made
        await made.close()


async def keep(kv: Kv, value: bytes, key: str = KEY) -> bool:
    return await kv.set(key, value, seconds=SECONDS)


async def test_a_value_comes_back_as_it_was_until_it_is_deleted(kv: Kv) -> None:
    """K-1."""
    value = b"7:" + bytes(range(256))
    assert await kv.get(KEY) is None
    assert await keep(kv, value)
    assert await kv.get(KEY) == value
    await kv.delete(KEY)
    assert await kv.get(KEY) is None
    await kv.delete(KEY)


@pytest.mark.parametrize(("there", "comes", "kept"), [(5, 6, True), (5, 5, True), (5, 4, False)])
async def test_a_lesser_revision_replaces_no_greater_one(kv: Kv, there: int, comes: int, kept: bool) -> None:
    """K-2."""
    assert await keep(kv, b"%d:there" % there)
    assert await keep(kv, b"%d:comes" % comes) is kept
    assert await kv.get(KEY) == (b"%d:comes" % comes if kept else b"%d:there" % there)


async def test_revisions_are_compared_as_numbers_exact_to_15_digits(kv: Kv) -> None:
    await keep(kv, b"9:")
    assert await keep(kv, b"10:")
    assert await keep(kv, b"999999999999998:")
    assert await keep(kv, b"999999999999999:")
    assert not await keep(kv, b"999999999999998:")


async def test_what_is_no_value_is_refused(kv: Kv) -> None:
    for value in (b"", b"x", b":x", b"1", b"-1:x", b"1" * 16 + b":"):
        with pytest.raises(ValueError, match="not a value"):
            await keep(kv, value)
    with pytest.raises(ValueError, match="not a value"):
        await keep(kv, b"1:" + bytes(MAX_VALUE_BYTES - 1))
    assert await keep(kv, b"1:" + bytes(MAX_VALUE_BYTES - 2))
    assert len(await kv.get(KEY) or b"") == MAX_VALUE_BYTES


async def test_of_many_that_set_a_key_the_greatest_revision_stays(kv: Kv) -> None:
    """K-2."""
    revisions = list(range(1, 65))
    random.Random(7).shuffle(revisions)
    await asyncio.gather(*(keep(kv, b"%d:x" % revision) for revision in revisions))
    assert await kv.get(KEY) == b"64:x"


async def test_a_value_ends_by_itself(kv: Kv) -> None:
    await kv.set(KEY, b"9:short", seconds=0.05)
    await keep(kv, b"9:long", "other")
    await asyncio.sleep(0.1)
    assert await kv.get(KEY) is None
    assert await keep(kv, b"1:what ended bars no other"), "its revision ends with it"
    assert await kv.get("other") == b"9:long"


async def test_documents_with_odd_ids_have_values_of_their_own(kv: Kv) -> None:
    """K-1: no id forges the key of another document."""
    keys = odd_keys()
    for number, key in enumerate(keys):
        await keep(kv, b"1:%d" % number, records.current_name(key))
    found = [await kv.get(records.current_name(key)) for key in keys]
    assert found == [b"1:%d" % number for number in range(len(keys))]


@pytest.mark.parametrize("met", [False, True])
async def test_a_cluster_that_is_away_does_not_answer(met: bool) -> None:
    """K-1: its client has an error of its own for that, before it has met the cluster and after."""
    server = own_redis(cluster=True)
    kv = RedisKv.open(RedisOptions(url=server.url, cluster=True, timeout_seconds=PATIENT))
    try:
        if met:
            assert await kv.get("k") is None
        server.stop()
        for _ in range(3):
            with pytest.raises(KvDown):
                await kv.get("k")
            with pytest.raises(KvDown):
                await kv.set("k", b"1:x", seconds=9)
    finally:
        await kv.close()
        server.close()


def test_all_keys_of_an_agent_are_on_one_machine_of_a_cluster() -> None:
    """K-1."""
    slots: dict[tuple[str, str], set[int]] = {}
    for key in odd_keys():
        names = [records.current_name(key)]
        if key.kind is Kind.ATTRACTOR:
            names += [records.history_name(key), records.frozen_name(key, 3)]
        else:
            names += [records.moment_name(key, NOW)]
        slots.setdefault((key.tenant, key.agent_id), set()).update(
            key_slot((PREFIX + name).encode()) for name in names
        )
    assert all(len(of_agent) == 1 for of_agent in slots.values())
    assert len({slot for of_agent in slots.values() for slot in of_agent}) > len(slots) * 0.9


def test_keys_have_the_names_of_the_specification() -> None:
    """K-1."""
    assert records.current_name(ATTRACTOR) == "{acme:ada}:attractor:state"
    assert records.history_name(ATTRACTOR) == "{acme:ada}:attractor:history"
    assert records.frozen_name(ATTRACTOR, 3) == "{acme:ada}:attractor:frozen:3"
    assert records.current_name(SUMMARY) == "{acme:ada}:summary:c1"
    assert records.moment_name(SUMMARY, NOW) == "{acme:ada}:summary:history:c1:1777636800000000"


# In memory


async def test_memory_forgets_what_was_used_longest_ago() -> None:
    kv = MemoryKv(30_000)
    for number in range(3):
        await keep(kv, b"1:" + bytes(9_000), f"k{number}")
    await kv.get("k0")
    await keep(kv, b"1:" + bytes(9_000), "k3")
    assert [await kv.get(f"k{number}") is not None for number in range(4)] == [True, False, True, True]
    assert kv.size_bytes <= 30_000


async def test_memory_keeps_the_revision_of_what_is_too_large() -> None:
    """K-2: or a slow reader could put back an older value, which is smaller."""
    kv = MemoryKv(10_000)
    await keep(kv, b"1:small")
    await keep(kv, b"2:" + bytes(20_000))
    assert not await keep(kv, b"1:small")
    assert await kv.get(KEY) == b"2:"


async def test_without_room_memory_keeps_nothing() -> None:
    kv = MemoryKv(0)
    assert not await keep(kv, b"1:x")
    assert await kv.get(KEY) is None
    assert kv.size_bytes == 0


# Redis


async def test_what_is_in_redis_and_no_value_is_replaced(pytestconfig: pytest.Config) -> None:
    """K-2."""
    server = shared_redis(pytestconfig)
    async with server.prefix() as prefix, aioredis.from_url(server.url) as client:
        kv = RedisKv.open(RedisOptions(url=server.url, prefix=prefix, timeout_seconds=PATIENT))
        await client.rpush(prefix + "list", "x")
        await client.hset(prefix + "hash", "x", "y")
        await client.set(prefix + "text", "no value")
        await client.set(prefix + "digits", "9" * 20 + ":")
        for key in ("list", "hash", "text", "digits"):
            assert await kv.get(key) is not None
            assert await keep(kv, b"1:x", key)
            assert await kv.get(key) == b"1:x"
        assert await client.pttl(prefix + "list") > 0
        await kv.close()


async def test_a_redis_that_refuses_to_write_is_down() -> None:
    server = own_redis(maxmemory="1mb", **{"maxmemory-policy": "noeviction"})
    kv = RedisKv.open(RedisOptions(url=server.url, timeout_seconds=PATIENT))
    try:
        with pytest.raises(KvDown):
            for number in range(40):
                await keep(kv, b"1:" + bytes(100_000), f"k{number}")
        assert await kv.get("unknown") is None
    finally:
        await kv.close()
        server.close()


async def test_a_redis_that_is_away_or_hangs_is_down_and_comes_back() -> None:
    """K-2."""
    server = own_redis()
    kv = RedisKv.open(RedisOptions(url=server.url, timeout_seconds=0.2))
    try:
        assert await keep(kv, b"1:x")
        server.pause()
        for _ in range(2):
            with pytest.raises(KvDown):
                await kv.get(KEY)
        server.resume()
        assert await reached(kv) == b"1:x"
        server.stop()
        for call in (kv.get(KEY), kv.delete(KEY), keep(kv, b"1:x")):
            with pytest.raises(KvDown):
                await call
        server.start()
        assert await reached(kv) is None, "it kept nothing"
        assert await keep(kv, b"1:x")
    finally:
        await kv.close()
        server.close()


async def reached(kv: Kv) -> bytes | None:
    """A value, once the server answers again."""
    async with asyncio.timeout(PATIENT):
        while True:
            try:
                return await kv.get(KEY)
            except KvDown:
                await asyncio.sleep(0.01)


async def test_calls_that_were_cut_off_leave_no_answer_to_others() -> None:
    """A connection whose answer was not waited for is not used again."""
    server = own_redis()
    kv = RedisKv.open(RedisOptions(url=server.url, timeout_seconds=5, connections=4))
    try:
        for number in range(8):
            await keep(kv, b"1:%d" % number, f"k{number}")
        server.pause()
        cut = [asyncio.create_task(kv.get(f"k{number}")) for number in range(4)]
        await asyncio.sleep(0.05)
        for task in cut:
            task.cancel()
        await asyncio.gather(*cut, return_exceptions=True)
        server.resume()
        for number in range(8):
            assert await kv.get(f"k{number}") == b"1:%d" % number
    finally:
        await kv.close()
        server.close()


@pytest.mark.parametrize("url", ["http://x:secret@y", "redis://h:port", ""])
def test_a_url_that_cannot_be_is_a_clear_error_at_start(url: str) -> None:
    """X-3: it may hold a password."""
    with pytest.raises(StartupError) as caught:
        RedisKv.open(RedisOptions(url=url))
    assert "secret" not in str(caught.value)
    with pytest.raises(StartupError):
        RedisKv.open(RedisOptions(url="redis://localhost", prefix="{x}"))
