"""Watches that break go on where they broke (SPEC E-12, W-7, X-1)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing

import grpc
import pytest

import palimpsest
from tests.integration.fake_gateway import DOWN, NOT_FOUND, FakeGateway, Fault, serving_fake

FAST = palimpsest.RetryPolicy(max_attempts=3, initial_backoff=0.01, max_backoff=0.02, multiplier=2)
SLOW_READER = Fault(
    code=grpc.StatusCode.RESOURCE_EXHAUSTED, reason="OVERLOADED", metadata=(("resume_token", "1"),)
)


@pytest.fixture
def gateway() -> Iterator[FakeGateway]:
    with serving_fake() as fake:
        yield fake


@pytest.fixture
async def client(gateway: FakeGateway) -> AsyncIterator[palimpsest.AsyncClient]:
    async with palimpsest.AsyncClient(
        gateway.target, api_key=gateway.api_key, agent="ada", retries=FAST
    ) as made:
        yield made


async def seen(client: palimpsest.AsyncClient, count: int) -> list[str]:
    """The first messages that a watch from the beginning brings."""
    found: list[str] = []
    async with asyncio.timeout(30), aclosing(client.watch_conversation("c", after_sequence=0)) as events:
        async for event in events:
            assert event.message is not None
            found.append(event.message.id)
            if len(found) == count:
                return found
    raise AssertionError("the watch ended")


@pytest.mark.parametrize(
    "fault",
    [DOWN, SLOW_READER, Fault(code=grpc.StatusCode.UNAVAILABLE), Fault(code=grpc.StatusCode.CANCELLED)],
    ids=["down", "slow reader", "connection lost", "server stopped"],
)
async def test_a_watch_goes_on_after_the_last_event_without_gap_or_duplicate(
    gateway: FakeGateway, client: palimpsest.AsyncClient, fault: Fault
) -> None:
    gateway.history.count = 9
    gateway.history.breaks.extend([(2, fault), (1, fault), (0, fault), (3, fault)])
    assert await seen(client, 9) == [f"m{n}" for n in range(1, 10)]
    starts = [(watch.WhichOneof("start"), watch.resume_token) for watch in gateway.history.watches]
    assert starts == [
        ("after_sequence", ""),
        ("resume_token", "2"),
        ("resume_token", "3"),
        ("resume_token", "3"),
        ("resume_token", "6"),
    ]


async def test_a_watch_that_brings_nothing_more_ends_with_the_error(
    gateway: FakeGateway, client: palimpsest.AsyncClient
) -> None:
    gateway.history.breaks.extend([(0, DOWN)] * 9)
    with pytest.raises(palimpsest.UnavailableError):
        await seen(client, 1)
    assert len(gateway.history.watches) == FAST.max_attempts


async def test_an_error_that_does_not_pass_ends_a_watch(
    gateway: FakeGateway, client: palimpsest.AsyncClient
) -> None:
    gateway.history.count = 3
    gateway.history.breaks.append((2, NOT_FOUND))
    with pytest.raises(palimpsest.NotFoundError):
        await seen(client, 3)
    assert len(gateway.history.watches) == 1


async def test_leaving_a_watch_ends_it_at_the_server(
    gateway: FakeGateway, client: palimpsest.AsyncClient
) -> None:
    gateway.history.count = 1
    await seen(client, 1)
    assert await asyncio.to_thread(gateway.cancelled.wait, 10)


async def test_closing_the_client_ends_a_watch_and_opens_no_other(
    gateway: FakeGateway, client: palimpsest.AsyncClient
) -> None:
    watching = asyncio.create_task(seen(client, 1))
    assert await asyncio.to_thread(gateway.started.wait, 10)
    await client.close()
    with pytest.raises((palimpsest.PalimpsestError, asyncio.CancelledError)):
        await watching
    assert len(gateway.history.watches) == 1


async def test_a_beginning_is_given_once(client: palimpsest.AsyncClient) -> None:
    with pytest.raises(ValueError, match="either"):
        await anext(client.watch_conversation("c", after_sequence=1, resume_token="t"))


async def test_a_state_watch_goes_on_after_the_last_version(
    gateway: FakeGateway, client: palimpsest.AsyncClient
) -> None:
    gateway.state.count = 5
    versions = []
    async with asyncio.timeout(30), aclosing(client.watch_state()) as changes:
        async for change in changes:
            assert change.value == {"n": change.version}
            versions.append(change.version)
            if change.version == 5:
                break
    assert versions == [1, 2, 3, 4, 5]


async def test_a_write_that_would_count_twice_is_not_tried_again(
    gateway: FakeGateway, client: palimpsest.AsyncClient
) -> None:
    """X-1: the service config says which calls may be repeated; this one may have happened."""
    with pytest.raises(palimpsest.UnavailableError):
        await client.set_state({"n": 1})
    assert gateway.state.writes == 1
    assert (await client.set_state({"n": 1})).version == 1
