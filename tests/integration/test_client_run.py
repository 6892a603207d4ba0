"""Work with the asynchronous client behind the one for plain code, and from other event loops."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

import palimpsest
from tests.integration.fake_gateway import FakeGateway, serving_fake


@pytest.fixture
def gateway() -> Iterator[FakeGateway]:
    with serving_fake() as fake:
        yield fake


@pytest.fixture
def client(gateway: FakeGateway) -> Iterator[palimpsest.Client]:
    with palimpsest.Client(gateway.target, api_key=gateway.api_key, agent="ada") as made:
        yield made


async def remember_and_read(client: palimpsest.AsyncClient) -> str:
    await client.remember("tea", "green")
    return (await client.memory("tea")).value


async def fail(client: palimpsest.AsyncClient) -> str:
    return (await client.memory("coffee")).value


def test_plain_code_runs_several_calls_as_one(client: palimpsest.Client) -> None:
    assert client.run(remember_and_read) == "green"
    with pytest.raises(palimpsest.NotFoundError):
        client.run(fail)


async def test_event_loops_await_the_same(client: palimpsest.Client) -> None:
    assert await client.run_async(remember_and_read) == "green"
    assert await asyncio.gather(*(client.run_async(remember_and_read) for _ in range(5))) == ["green"] * 5
    with pytest.raises(palimpsest.NotFoundError):
        await client.run_async(fail)


async def test_a_cancelled_caller_cancels_the_work(client: palimpsest.Client) -> None:
    begun, cancelled = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    async def wait(_: palimpsest.AsyncClient) -> None:
        loop.call_soon_threadsafe(begun.set)
        try:
            await asyncio.Event().wait()
        finally:
            loop.call_soon_threadsafe(cancelled.set)

    task = asyncio.create_task(client.run_async(wait))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await cancelled.wait()
    assert await client.run_async(remember_and_read) == "green"


async def test_a_client_that_is_closed_says_so(client: palimpsest.Client) -> None:
    begun = asyncio.Event()
    loop = asyncio.get_running_loop()

    async def wait(_: palimpsest.AsyncClient) -> None:
        loop.call_soon_threadsafe(begun.set)
        await asyncio.Event().wait()

    task = asyncio.create_task(client.run_async(wait))
    await begun.wait()
    await asyncio.to_thread(client.close)
    with pytest.raises(RuntimeError, match="closed during the call"):
        await task
    with pytest.raises(RuntimeError, match="closed"):
        await client.run_async(remember_and_read)
    with pytest.raises(RuntimeError, match="closed"):
        client.run(remember_and_read)
