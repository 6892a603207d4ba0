"""Semantic with a remote memory and without a gateway: nothing leaves, all else works (SPEC S-15)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from palimpsest.semantic.v1 import semantic_pb2 as pb
from pydantic import SecretStr

from tests.fake_remote_memory import TOKEN, FakeRemoteMemory
from tests.integration.semantic_suite import AGENT, SERVICE, Episodic, running, values


@pytest.fixture
def remote() -> Iterator[FakeRemoteMemory]:
    fake = FakeRemoteMemory()
    fake.start()
    yield fake
    fake.stop()


async def test_without_the_gateway_nothing_leaves_and_nothing_is_given_up(
    tmp_path: Path, remote: FakeRemoteMemory
) -> None:
    """S-15: though the deployment allows it."""
    chosen: dict[str, Any] = {"remote_url": remote.url, "remote_token": SecretStr(TOKEN)}
    chosen["data_flow"] = "allow-partner"
    async with running(tmp_path, Episodic(), **chosen) as semantic:
        written = await semantic.known("city", "lives in Oslo")
        assert values(await semantic.recall("where: lives in Oslo")) == ["lives in Oslo"]
        request = pb.SyncMemoriesRequest(agent_id=AGENT, memory_ids=[written.memory.id])
        (outcome,) = (await semantic.by(SERVICE).SyncMemories(request)).outcomes
        assert (outcome.ok, outcome.refused) == (False, False)
        assert outcome.error.startswith("DEPENDENCY_DOWN")
        assert remote.asked == []
        tenant, job = await semantic.ledger.waiting.get()
        while job.type != "sync_memory":
            tenant, job = await semantic.ledger.waiting.get()
        assert (tenant, job.subject) == ("acme", f"memories/{written.memory.id}")


async def test_jobs_of_a_remote_memory_that_was_taken_away_end(tmp_path: Path) -> None:
    """S-15."""
    async with running(tmp_path, Episodic()) as semantic:
        request = pb.SyncMemoriesRequest(agent_id=AGENT, memory_ids=["m"])
        (outcome,) = (await semantic.by(SERVICE).SyncMemories(request)).outcomes
        assert outcome.refused
