"""Consolidation, reflection and goals through the gateway, by the client and the commands (J-10, J-11)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import grpc
import pytest
from click.testing import CliRunner
from palimpsest.derived.v1 import derived_pb2, derived_pb2_grpc

from palimpsest import models
from palimpsest.cli.main import main
from palimpsest.client import AsyncClient
from palimpsest.errors import NotFoundError, StateConflictError, VersionConflictError
from tests.integration.embedded_suite import AGENT, Running, running

PATIENT = 60.0
OSLO, MORE = "The user lives in Oslo", "The user lives in Oslo, near the fjord"


@pytest.fixture
async def suite(tmp_path: Path) -> AsyncIterator[Running]:
    async with running(tmp_path / "data") as made:
        yield made


@pytest.fixture
async def client(suite: Running) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(f"127.0.0.1:{suite.port}", api_key=suite.operator, agent=AGENT) as made:
        await made.create_agent(AGENT)
        yield made


async def remember(client: AsyncClient, *values: str, **fields: Any) -> list[models.Remembered]:
    """Each under a key of its own, and indexed."""
    made = [await client.remember(f"k{n}.{len(v)}", v, **fields) for n, v in enumerate(values)]
    async with asyncio.timeout(PATIENT):
        for one in made:
            while not (await client.get_memory(one.memory.id)).indexed:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
    return made


async def values(client: AsyncClient) -> list[str]:
    return sorted([memory.value async for memory in client.memories()])


async def found_first(client: AsyncClient, memory_id: str) -> None:
    """Returns when recall finds this memory before all others."""
    async with asyncio.timeout(PATIENT):
        while True:
            hits = (await client.recall("where does the user live")).hits
            if hits and hits[0].memory.id == memory_id:
                return
            await asyncio.sleep(0.05)


async def trigger(suite: Running, client: AsyncClient, schedule: str, job_type: str) -> None:
    """Asks for a schedule's work; returns when the agent's job is done."""
    before = len([job async for job in client.jobs(types=[job_type])])
    async with grpc.aio.insecure_channel(f"127.0.0.1:{suite.port}") as channel:
        await derived_pb2_grpc.DerivedWorkServiceStub(channel).TriggerSchedule(
            derived_pb2.TriggerScheduleRequest(name=schedule),
            metadata=(("authorization", f"Bearer {suite.operator}"),),
        )
    async with asyncio.timeout(PATIENT):
        while True:
            found = [job async for job in client.jobs(types=[job_type])]
            assert not any(job.state == "dead" for job in found)
            if len(found) > before and all(job.state == "succeeded" for job in found):
                return
            await asyncio.sleep(0.1)


async def test_what_says_the_same_is_merged_and_taken_apart_again(client: AsyncClient) -> None:
    """J-10: dry run, run, undo."""
    await remember(client, OSLO, MORE, "Likes jazz", "Likes rock")
    before = await values(client)
    planned = await client.consolidate(dry_run=True)
    assert [merge.outcome for merge in planned.merges] == ["planned"]
    assert await values(client) == before
    run = await client.consolidate()
    (merge,) = run.merges
    assert (merge.outcome, len(merge.member_ids), run.dry_run) == ("merged", 2, False)
    assert await values(client) == sorted([MORE, "Likes jazz", "Likes rock"])
    merged = await client.get_memory(merge.memory_id)
    assert (merged.source, merged.value) == ("consolidation", MORE)
    assert merged.confidence == pytest.approx(0.9)
    history = await client.memory_history(merge.member_ids[1])
    assert [one.cause for one in history.supersessions] == ["consolidated"]
    await found_first(client, merged.id)
    undone = await client.undo_consolidation(run.id)
    assert [one.outcome for one in undone.merges] == ["undone"]
    assert await values(client) == before
    assert (await client.consolidate()).merges == (), "what was taken back is not merged again"
    assert [one.id async for one in client.consolidation_runs()][-1] == planned.id
    with pytest.raises(StateConflictError):
        await client.undo_consolidation(planned.id)
    with pytest.raises(NotFoundError):
        await client.consolidation_run("none")


async def test_the_daily_job_consolidates_each_agent(suite: Running, client: AsyncClient) -> None:
    """J-10: by the schedule's selector."""
    await remember(client, OSLO, MORE)
    await trigger(suite, client, "consolidate", "consolidate_agent")
    (run,) = [one async for one in client.consolidation_runs()]
    assert [merge.outcome for merge in run.merges] == ["merged"]
    assert await values(client) == [MORE]


async def test_a_day_becomes_reflections_goals_and_learnings(suite: Running, client: AsyncClient) -> None:
    """J-11: with a reflective memory, per contact, and under the day on which it was told."""
    day = datetime.now(UTC).date().isoformat()
    ann = await client.resolve_contact("telegram:ann")
    bob = await client.resolve_contact("telegram:bob")
    await remember(
        client,
        "The user wants to run the Lisbon marathon",
        "The Lisbon marathon takes place in October",
        "The user trains for the marathon on Sundays",
        contact_id=ann.id,
    )
    await remember(client, "The marathon is boring", contact_id=bob.id)
    await remember(client, "The team decided to use PostgreSQL", fact_type="decision")
    await client.create_conversation("c", contact_id=bob.id)
    turn = [models.NewMessage("user", "My goal is to restore the old lighthouse.")]
    await client.record_turn("c", turn)
    await trigger(suite, client, "reflect", "reflect_agent")
    (bobs,) = [one async for one in client.goals(contact_id=bob.id)]
    assert (bobs.text, len(bobs.provenance)) == ("My goal is to restore the old lighthouse", 1)
    (reflection,) = [one async for one in client.reflections()]
    assert (reflection.topic, reflection.contact_id, reflection.day) == ("marathon", ann.id, day)
    assert [one async for one in client.reflections(contact_id=bob.id)] == []
    memory = await client.get_memory(reflection.memory_id)
    assert (memory.key, memory.source) == (f"reflection:{day}:marathon", "reflection")
    assert (memory.value, memory.contact_id) == (reflection.text, ann.id)
    assert memory.confidence == pytest.approx(0.85)
    (goal,) = [one async for one in client.goals(contact_id=ann.id)]
    assert (goal.state, goal.text) == ("open", "The user wants to run the Lisbon marathon")
    (learning,) = [one async for one in client.learnings()]
    assert (learning.text, learning.contact_id) == ("The team decided to use PostgreSQL", "")

    kept = await client.update_goal(goal.id, state="dropped", expected_revision=goal.revision)
    assert (kept.state, kept.kept) == ("dropped", True)
    with pytest.raises(VersionConflictError):
        await client.update_goal(goal.id, state="open", expected_revision=goal.revision)
    with pytest.raises(NotFoundError):
        await client.update_goal(learning.id, state="open")
    await trigger(suite, client, "reflect", "reflect_agent")
    assert (await client.insight(goal.id)).state == "dropped"
    assert [one.id async for one in client.reflections()] == [reflection.id]
    assert [one.id async for one in client.goals(states=["open"])] == [bobs.id]


async def test_the_drift_check_comes_round(suite: Running, client: AsyncClient) -> None:
    """J-15."""
    await remember(client, OSLO)
    await trigger(suite, client, "check-drift", "check_drift_agent")


async def test_the_commands_consolidate_and_show(suite: Running, client: AsyncClient) -> None:
    await remember(client, OSLO, MORE)

    def run(*arguments: str) -> Any:
        environment = {
            "PALIMPSEST_TARGET": f"127.0.0.1:{suite.port}",
            "PALIMPSEST_API_KEY": suite.operator,
            "PALIMPSEST_AGENT": AGENT,
        }
        made = CliRunner().invoke(main, [*arguments, "--json"], env=environment)
        assert made.exit_code == 0, made.output
        return json.loads(made.output)

    planned = await asyncio.to_thread(run, "consolidate", "--dry-run")
    assert [merge["outcome"] for merge in planned["merges"]] == ["planned"]
    done = await asyncio.to_thread(run, "consolidate")
    listed = await asyncio.to_thread(run, "consolidate", "runs")
    assert [one["id"] for one in listed] == [done["id"], planned["id"]]
    undone = await asyncio.to_thread(run, "consolidate", "undo", done["id"])
    assert [merge["outcome"] for merge in undone["merges"]] == ["undone"]
    assert await asyncio.to_thread(run, "goals", "list") == []
    assert await asyncio.to_thread(run, "reflections") == []
