"""What was derived follows a changed source although the suite is killed in between (SPEC J-17, SV-5)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import pytest
from palimpsest.derived.v1 import derived_pb2, derived_pb2_grpc

from palimpsest.client import AsyncClient
from tests.e2e.suite import AGENT, Suite, until

KILLS = 3


@pytest.fixture
def suite(tmp_path: Path) -> Iterator[Suite]:
    made = Suite(tmp_path / "data")
    made.data.mkdir()
    made.start()
    yield made
    made.stop()


@asynccontextmanager
async def client_of(suite: Suite) -> AsyncIterator[AsyncClient]:
    secret = (suite.data / "api-key").read_text().strip()
    async with AsyncClient(suite.target, api_key=secret, agent=AGENT) as client:
        yield client


async def test_a_forgotten_memory_leaves_no_insight_however_often_the_suite_dies(suite: Suite) -> None:
    """Killed once the change is acknowledged, and again while its jobs may be half done."""
    async with client_of(suite) as client:
        await client.create_agent()
        secret = (await client.remember("a", "The lighthouse lamp is to be sold to Ravn")).memory
        await client.remember("b", "The lighthouse roof leaks")
        await client.remember("c", "The lighthouse is shut on Mondays")
        async with grpc.aio.insecure_channel(suite.target) as channel:
            key = (suite.data / "api-key").read_text().strip()
            await derived_pb2_grpc.DerivedWorkServiceStub(channel).TriggerSchedule(
                derived_pb2.TriggerScheduleRequest(name="reflect"),
                metadata=(("authorization", f"Bearer {key}"),),
            )

        async def told() -> bool:
            return any("Ravn" in one.text for one in [row async for row in client.reflections()])

        await until(told)

        async def remembered() -> bool:
            rows = [row async for row in client.reflections()]
            return all(row.memory_id for row in rows)

        await until(remembered)
        await client.forget(secret.id)
    for pause in range(KILLS):
        suite.kill()
        suite.start()
        await asyncio.sleep(0.05 * pause)  # each life ends a little later in its work
    async with client_of(suite) as client:

        async def gone() -> bool:
            rows = [row.text async for row in client.reflections()]
            values = [memory.value async for memory in client.memories()]
            return not any("Ravn" in text for text in [*rows, *values])

        await until(gone)
        assert len([memory async for memory in client.memories()]) == 2, "and nothing else went"
