"""Memories of a moment, undoing and contradictions, by stub, client and command line (SPEC S-7, S-8, X-1).

One suite serves all tests; each has an agent of its own.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import grpc
import pytest
import pytest_asyncio
from click.testing import CliRunner, Result
from google.protobuf.timestamp_pb2 import Timestamp
from palimpsest.gateway.v1 import memories_pb2 as pb
from structlog.testing import capture_logs

import palimpsest
from palimpsest.cli.main import main
from services.kit.times import now
from tests.integration.embedded_suite import Running, failure, running
from tests.integration.judged import judgements, verdict

pytestmark = pytest.mark.asyncio(loop_scope="module")
CODE = grpc.StatusCode
Run = Callable[..., Awaitable[Result]]
SPRING, SUMMER, AUTUMN = (datetime(2024, month, 1, tzinfo=UTC) for month in (4, 7, 10))
DAY = timedelta(days=1)
FAR = Timestamp(seconds=10**15)
QUERY = "which city does she live in"


@pytest.fixture(scope="module")
def numbers() -> count[int]:
    return count()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def suite(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    # Its log would be taken for the commands' output, as all of it is one process.
    with capture_logs():
        async with running(tmp_path_factory.mktemp("suite") / "data") as made:
            yield made


@pytest_asyncio.fixture(loop_scope="module")
async def client(suite: Running, numbers: count[int]) -> AsyncIterator[palimpsest.AsyncClient]:
    agent = f"agent-{next(numbers)}"
    async with palimpsest.AsyncClient(f"127.0.0.1:{suite.port}", api_key=suite.operator, agent=agent) as made:
        await made.create_agent()
        yield made


@pytest.fixture
def run(suite: Running, client: palimpsest.AsyncClient, tmp_path: Path) -> Run:
    environment = {
        "PALIMPSEST_TARGET": client.target,
        "PALIMPSEST_API_KEY": suite.operator,
        "PALIMPSEST_AGENT": client.agent,
        "PALIMPSEST_DATA": str(tmp_path / "none"),
    }

    async def call(*arguments: str) -> Result:
        return await asyncio.to_thread(CliRunner(env=environment).invoke, main, arguments)

    return call


async def moves(client: palimpsest.AsyncClient, contact_id: str = "") -> list[palimpsest.Memory]:
    """Three versions of one fact, of 2024, each as it was when it was written; all indexed."""
    written = [
        await client.remember("home.city", f"lives in {city}", contact_id=contact_id, valid_from_time=begins)
        for begins, city in ((SPRING, "Oslo"), (SUMMER, "Bergen"), (AUTUMN, "Tromsø"))
    ]
    await indexed(client, *written)
    return [one.memory for one in written]


async def indexed(client: palimpsest.AsyncClient, *written: palimpsest.Remembered) -> None:
    """Waits until the indexes have them, those that are past among what is past."""
    tokens = [one.token for one in written]
    assert not (await client.recall("x", as_of_time=now(), wait_for=tokens)).unindexed


def channels(hit: palimpsest.MemoryHit) -> set[str]:
    return {rank.channel for rank in hit.explanation.channels}


async def contradiction(suite: Running, client: palimpsest.AsyncClient) -> list[palimpsest.Memory]:
    """Two memories that a judge found to contradict each other."""
    made = [
        (await client.remember(f"diet.{n}", value)).memory
        for n, value in enumerate(("eats no meat", "loves steak"))
    ]
    async with judgements(suite.data) as store:
        found = verdict(made[0].id, made[1].id, 0.9)
        assert await store.record_contradiction("default", client.agent, found, now())
    return made


async def test_the_client_reads_and_recalls_what_was_valid_at_a_moment(
    client: palimpsest.AsyncClient,
) -> None:
    """S-8: by recall, by key and in lists; the person's and the agent-wide one."""
    contact_id = (await client.resolve_contact("telegram:1")).id
    await moves(client, contact_id)
    stay = await client.remember("stay", "in Rome", valid_from_time=SPRING, valid_to_time=SPRING + DAY)
    assert stay.memory.valid_to_time == SPRING + DAY
    await indexed(client, stay)
    mine = {"contact_id": contact_id}
    for moment, city in ((SPRING + 2 * DAY, "Oslo"), (SUMMER, "Bergen"), (now() + 999 * DAY, "Tromsø")):
        (hit,) = await client.recall(QUERY, as_of_time=moment, **mine)
        assert hit.memory.value == f"lives in {city}"
        assert {"vector", "keyword", "key"} <= channels(hit)
        assert (await client.memory("home.city", as_of_time=moment, **mine)).value == f"lives in {city}"
        listed = [memory.value async for memory in client.memories(as_of_time=moment, **mine)]
        assert listed == [f"lives in {city}"]
    assert {m.value async for m in client.memories(as_of_time=SPRING)} == {"in Rome"}
    assert not await client.recall(QUERY, as_of_time=SPRING - DAY, **mine)
    assert not await client.recall(QUERY, as_of_time=SUMMER), "it is the person's"
    with pytest.raises(palimpsest.NotFoundError):
        await client.memory("home.city", as_of_time=SPRING - DAY, **mine)


async def test_moments_that_are_none_are_refused_by_the_name_of_their_field(
    suite: Running, client: palimpsest.AsyncClient
) -> None:
    """X-1."""
    stub, where = await suite.stub(), {"agent_id": client.agent, "as_of_time": FAR}
    calls: list[tuple[Any, Any]] = [
        (stub.Recall, pb.RecallRequest(query="x", **where)),
        (stub.GetMemoryByKey, pb.GetMemoryByKeyRequest(key="x", **where)),
        (stub.ListMemories, pb.ListMemoriesRequest(**where)),
    ]
    for method, request in calls:
        assert await failure(method(request)) == (CODE.INVALID_ARGUMENT, "INVALID_FIELD", ["as_of_time"])
    early = {"valid_from_time": SUMMER, "valid_to_time": SPRING}
    with pytest.raises(palimpsest.InvalidArgumentError) as caught:
        await client.remember("k", "v", **early)
    assert [problem.field for problem in caught.value.fields] == ["valid_to_time"]


async def test_a_supersession_is_undone_and_known_to_history(
    suite: Running, client: palimpsest.AsyncClient
) -> None:
    """S-8."""
    old = (await client.remember("a", "keeps bees")).memory
    new = (await client.remember("b", "keeps goats")).memory
    async with judgements(suite.data) as store:
        assert await store.supersede("default", client.agent, verdict(old.id, new.id, 0.8), now())
    restored = await client.undo_supersession(old.id)
    assert (restored.memory.id, restored.memory.superseded_by) == (old.id, "")
    await client.wait_indexed(restored.token)
    history = await client.memory_history(old.id)
    assert [memory.id for memory in history] == [old.id]
    (made,) = history.supersessions
    assert (made.new_memory_id, made.cause, made.judge) == (new.id, "judged", "test")
    assert made.undo_time is not None
    with pytest.raises(palimpsest.PalimpsestError, match="not superseded"):
        await client.undo_supersession(old.id)


async def test_contradictions_are_listed_and_resolved(suite: Running, client: palimpsest.AsyncClient) -> None:
    """S-7."""
    one, other = await contradiction(suite, client)
    (found,) = [each async for each in client.contradictions()]
    assert {memory.id for memory in found.memories} == {one.id, other.id}
    assert (found.judge, found.probability) == ("test", pytest.approx(0.9))
    memories = await client.resolve_contradiction(found.id, kept_memory_id=other.id)
    assert {memory.id: memory.superseded_by for memory in memories} == {one.id: other.id, other.id: ""}
    assert [each async for each in client.contradictions()] == []


async def test_the_client_without_a_loop_does_the_same(
    suite: Running, client: palimpsest.AsyncClient
) -> None:
    """It has the methods of the asynchronous one."""
    made = await moves(client)

    def work() -> list[str]:
        with palimpsest.Client(client.target, api_key=suite.operator, agent=client.agent) as plain:
            found = [hit.memory.value for hit in plain.recall(QUERY, as_of_time=SUMMER)]
            assert list(plain.contradictions()) == []
            assert len(plain.memory_history(made[0].id)) == 3
            return found

    assert await asyncio.to_thread(work) == ["lives in Bergen"]


async def test_the_commands_show_the_past(run: Run, client: palimpsest.AsyncClient) -> None:
    """S-8."""
    made = await moves(client)
    shown = await run("recall", QUERY, "--as-of", "2024-08-15")
    assert shown.stdout == " 1. home.city  lives in Bergen\n"
    assert "lives in Oslo" in (await run("recall", QUERY, "--as-of", "2024-07-01T01:59+02:00")).stdout
    assert "lives in Bergen" in (await run("recall", QUERY, "--as-of", "2024-07-01T00:00Z")).stdout
    assert "lives in Tromsø" in (await run("memories")).stdout
    listed = json.loads((await run("memories", "--as-of", "2024-05-01", "--json")).stdout)
    assert [memory["value"] for memory in listed] == ["lives in Oslo"]
    history = await run("memories", "history", made[2].id)
    assert [line.strip() for line in history.stdout.splitlines() if "valid" in line] == [
        "valid from 2024-04-01 00:00 to 2024-07-01 00:00",
        "valid from 2024-07-01 00:00 to 2024-10-01 00:00",
        "valid from 2024-10-01 00:00 on",
    ]
    assert f"replaced by {made[1].id}" in history.stdout
    assert "a new value of its key" in history.stdout
    document = json.loads((await run("memories", "history", made[0].id, "--json")).stdout)
    assert [len(document[part]) for part in ("memories", "supersessions")] == [3, 2]


async def test_the_commands_undo_and_resolve(
    run: Run, suite: Running, client: palimpsest.AsyncClient
) -> None:
    """S-7, S-8."""
    one, other = await contradiction(suite, client)
    listed = (await run("memories", "contradictions")).stdout
    assert "eats no meat" in listed
    assert "loves steak" in listed
    contradiction_id = listed.split()[0]
    resolved = await run("memories", "resolve", contradiction_id, "--keep", one.id)
    assert f"superseded by {one.id}" in resolved.stdout
    assert (await run("memories", "contradictions")).stdout == ""
    undone = await run("memories", "undo", other.id)
    assert undone.stdout == f"brought back: diet.1 (version 1, {other.id})\n"
    again = await run("memories", "undo", other.id)
    assert (again.exit_code, again.stderr) == (1, "error: the memory is not superseded\n")
    assert contradiction_id in (await run("memories", "contradictions")).stdout, "it is open again"
    both = await run("memories", "resolve", contradiction_id, "--both", "--json")
    assert [memory["superseded_by"] for memory in json.loads(both.stdout)] == ["", ""]


@pytest.mark.parametrize(
    "arguments",
    [
        ("recall", "x", "--as-of", "last spring"),
        ("recall", "x", "--messages", "--as-of", "2024-01-01"),
        ("memories", "--all", "--as-of", "2024-01-01"),
        ("memories", "--prefix", "home", "history", "x"),
        ("memories", "resolve", "x"),
        ("memories", "resolve", "x", "--keep", "y", "--both"),
        ("memories", "history"),
    ],
)
async def test_wrong_usage_is_exit_code_2(run: Run, arguments: tuple[str, ...]) -> None:
    result = await run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
