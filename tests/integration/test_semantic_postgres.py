"""The Semantic service with its memories in PostgreSQL (SPEC SV-2, S-6, S-8): the indexes stay beside it."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest
from palimpsest.semantic.v1 import semantic_pb2 as pb
from pydantic import SecretStr

from services.memory.semantic.adapters.sql import migrations
from services.memory.semantic.bootstrap import CANONICAL_FILE
from tests.integration.semantic_suite import AGENT, READER, WRITER, Episodic, running, values
from tests.postgres_server import SharedServer, shared_server


@pytest.fixture(scope="session")
def postgres_server(pytestconfig: pytest.Config) -> SharedServer:
    return shared_server(pytestconfig)


async def test_memories_outlive_the_machine_that_held_their_indexes(
    tmp_path: Path, postgres_server: SharedServer
) -> None:
    """SV-2: another one builds the indexes again; writers of both leave one chain."""
    async with postgres_server.database(migrations("postgres")) as url:
        chosen = {"database_url": SecretStr(url)}
        async with running(tmp_path / "one", Episodic(), **chosen) as semantic:
            written = await semantic.known("city", "lives in Oslo")
            assert values(await semantic.recall("where: lives in Oslo")) == ["lives in Oslo"]
            async with running(tmp_path / "two", Episodic(), **chosen) as other:
                both = [(semantic, other)[n % 2].remember("k", f"v{n}") for n in range(16)]
                answers = await asyncio.gather(*both)
                request = pb.ListMemoryVersionsRequest(agent_id=AGENT, memory_id=answers[0].memory.id)
                chain = (await other.by(READER).ListMemoryVersions(request)).memories
                assert [m.version for m in chain] == list(range(1, 17))
                forget = pb.ForgetMemoryRequest(agent_id=AGENT, memory_id=chain[0].id)
                assert (await other.by(WRITER).ForgetMemory(forget)).deleted_count == 16
        assert not (tmp_path / "one" / CANONICAL_FILE).exists()
        shutil.rmtree(tmp_path / "one")
        async with running(tmp_path / "one", Episodic(), **chosen) as semantic:
            assert await semantic.work_off(at_least=1, until_quiet=1.0) > 0
            answer = await semantic.recall("where: lives in Oslo", wait_for=[written.token])
            assert not answer.unindexed
            assert values(answer) == ["lives in Oslo"]
