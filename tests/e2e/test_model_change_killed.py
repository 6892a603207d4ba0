"""A suite that is killed in the middle of a change of models goes on with it (SPEC S-17)."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from palimpsest.common.v1 import recall_pb2
from palimpsest.gateway.v1 import indexes_pb2, memories_pb2

from palimpsest.cli.main import main
from tests.e2e.suite import AGENT, Suite, indexed, prepare, until

COUNT = 120
VECTOR = recall_pb2.CHANNEL_VECTOR


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A suite with the models of the tests; the filling goes in steps of one item."""
    monkeypatch.setenv("PALIMPSEST_EMBEDDER_BACKEND", "hashing")
    monkeypatch.setenv("PALIMPSEST_SEMANTIC_CHANGE_STEP", "1")
    monkeypatch.setenv("PALIMPSEST_SEMANTIC_VERIFY", "false")
    made = Suite(tmp_path)
    yield made
    if made.process is not None:
        made.stop()


async def status(stub: Any) -> Any:
    return await stub.GetIndexStatus(indexes_pb2.GetIndexStatusRequest())


async def found(stub: Any, query: str) -> list[str]:
    """Values that the vector channel found; no channel failed."""
    answer = await stub.Recall(memories_pb2.RecallRequest(agent_id=AGENT, query=query, limit=10), timeout=20)
    assert not answer.failures
    return [
        hit.memory.value
        for hit in answer.hits
        if any(channel.channel == VECTOR for channel in hit.explanation.channels)
    ]


async def test_a_killed_filling_goes_on_and_ends(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    suite.start()
    async with suite.client() as stub:
        await prepare(stub)
        for n in range(COUNT):
            written = await stub.Remember(
                memories_pb2.RememberRequest(agent_id=AGENT, key=f"bird.{n}", value=f"heron{n} stands")
            )
        last = memories_pb2.RecallRequest(agent_id=AGENT, query="heron", wait_for=[written.token])
        await indexed(partial(stub.Recall, last, timeout=60))

        async def counted() -> bool:
            return bool((await status(stub)).active.vector_count == COUNT)

        await until(counted)
    assert suite.stop() == 0

    monkeypatch.setenv("PALIMPSEST_EMBEDDER_NEXT_BACKEND", "hashing")
    monkeypatch.setenv("PALIMPSEST_EMBEDDER_NEXT_DIMENSION", "96")
    suite.start()
    async with suite.client() as stub:

        async def begun() -> bool:
            assert await found(stub, "heron7 stands")
            return (await status(stub)).next.vector_count > 3

        await until(begun)
    suite.kill()

    suite.start()
    async with suite.client() as stub:
        resumed = await status(stub)
        assert resumed.active.dimension == 64 or resumed.active.vector_count == COUNT

        async def active() -> bool:
            assert await found(stub, "heron7 stands")
            return bool((await status(stub)).active.dimension == 96)

        await until(active)
        assert (await status(stub)).active.vector_count == COUNT
        assert (await found(stub, "heron99 stands"))[0] == "heron99 stands"
    assert suite.stop() == 0

    monkeypatch.setenv("PALIMPSEST_EMBEDDER_DIMENSION", "96")
    monkeypatch.delenv("PALIMPSEST_EMBEDDER_NEXT_BACKEND")
    monkeypatch.delenv("PALIMPSEST_EMBEDDER_NEXT_DIMENSION")
    suite.start()
    async with suite.client() as stub:
        assert (await found(stub, "heron42 stands"))[0] == "heron42 stands"


def test_the_command_builds_the_indexes_again(suite: Suite) -> None:
    suite.start()
    data = ["--data", str(suite.data)]

    def run(*arguments: str) -> str:
        result = CliRunner().invoke(main, [*arguments, *data], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.output

    run("remember", "bird", "a heron stands")
    lines = [json.loads(line) for line in run("reindex", "--watch", "--json").splitlines()]
    assert lines[-1]["state"] == "done"
    assert lines[-1]["agent_id"] == ""
    assert lines[-1]["done_count"] == lines[-1]["total_count"] == 1
    assert "1 of 1  default" in run("reindex", "--watch", "--agent", "default")
    assert "done" in run("reindex", "--status")
    models = json.loads(run("reindex", "--models", "--json"))
    assert models["active"]["revision"] == "hashing-64"
    assert models["next"] is None
    assert "active  hashing-64, 64 dimensions" in run("reindex", "--models")
