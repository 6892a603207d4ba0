"""What people say becomes memories by itself: an append makes a job, the job memories (SPEC J-8, J-9)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from palimpsest.common.v1 import jobs_pb2, resources_pb2
from palimpsest.gateway.v1 import administration_pb2, conversations_pb2, memories_pb2, prompt_pb2

from tests.integration.embedded_suite import AGENT, Running, contact, prepare, running, said

EXTRACT, COVER = "extract_messages", "cover_messages"


@pytest.fixture
async def suite(tmp_path: Path) -> AsyncIterator[Running]:
    async with running(tmp_path / "data") as made:
        yield made


async def record(stub: Any, *messages: resources_pb2.NewMessage, conversation: str = "c") -> None:
    request = conversations_pb2.RecordTurnRequest(
        agent_id=AGENT, conversation_id=conversation, messages=messages
    )
    await stub.RecordTurn(request)


async def jobs(stub: Any, type_: str) -> list[jobs_pb2.Job]:
    request = administration_pb2.ListJobsRequest(
        filter=administration_pb2.JobFilter(types=[type_]), page_size=1000
    )
    return list((await stub.ListJobs(request)).jobs)


async def done(stub: Any, count: int, type_: str = EXTRACT) -> list[jobs_pb2.Job]:
    """Waits until there are so many jobs of a type and all have succeeded."""
    async with asyncio.timeout(60):
        while True:
            found = await jobs(stub, type_)
            assert not any(job.state == jobs_pb2.JOB_STATE_DEAD for job in found)
            if len(found) >= count and all(job.state == jobs_pb2.JOB_STATE_SUCCEEDED for job in found):
                return found
            await asyncio.sleep(0.05)


async def memories(stub: Any, contact_id: str = "") -> list[resources_pb2.Memory]:
    request = memories_pb2.ListMemoriesRequest(agent_id=AGENT, contact_id=contact_id, page_size=1000)
    return list((await stub.ListMemories(request)).memories)


async def values(stub: Any, contact_id: str = "") -> list[str]:
    return sorted(memory.value for memory in await memories(stub, contact_id))


async def test_a_turn_becomes_a_memory_that_recall_finds(suite: Running) -> None:
    """J-8, S-4: with its source, its confidence and the message that it came from."""
    stub = await suite.stub()
    await prepare(stub)
    answer = resources_pb2.NewMessage(role=resources_pb2.ROLE_ASSISTANT)
    answer.parts.add().text = "I live in a data centre. You love opera."
    await record(stub, said("I'm allergic to walnuts.", id="m1", author="Kim"), answer)
    (job,) = await done(stub, 1)
    (memory,) = await memories(stub)
    assert list(job.result_ids) == [memory.id]
    assert memory.value == "Kim is allergic to walnuts"
    assert memory.source == resources_pb2.MEMORY_SOURCE_TURN
    assert memory.confidence == pytest.approx(0.5)
    assert [ref.message_id for ref in memory.provenance] == ["m1"]
    request = memories_pb2.RecallRequest(agent_id=AGENT, query="which nuts must Kim avoid?")
    async with asyncio.timeout(60):
        while not (await stub.Recall(request)).hits:  # noqa: ASYNC110 - it is indexed by a job of its own
            await asyncio.sleep(0.05)
    assert (await stub.Recall(request)).hits[0].memory.id == memory.id


async def test_a_newer_statement_supersedes(suite: Running) -> None:
    """S-6."""
    stub = await suite.stub()
    await prepare(stub)
    await record(stub, said("I live in Oslo."))
    await done(stub, 1)
    await record(stub, said("I live in Bergen now."))
    await done(stub, 2)
    assert await values(stub) == ["The user lives in Bergen"]


async def test_ingesting_twice_adds_nothing(suite: Running) -> None:
    """E-2, J-2."""
    stub = await suite.stub()
    await prepare(stub)
    talk = [said("I live in Oslo.", id="m1"), said("I love rain and I hate snow.", id="m2")]
    await record(stub, *talk)
    await done(stub, 1)
    before = await memories(stub)
    await record(stub, *talk)
    await record(stub, said("Nice.", id="m3"))
    await done(stub, 2)
    assert [m.id for m in await memories(stub)] == [m.id for m in before]
    assert len(before) == 3


async def test_what_recall_gave_does_not_become_new_when_it_is_quoted(suite: Running) -> None:
    """J-8: the prompt's fences, pasted back by a caller, are no statements of its author."""
    stub = await suite.stub()
    await prepare(stub)
    await stub.Remember(memories_pb2.RememberRequest(agent_id=AGENT, key="k", value="I live in Oslo."))
    prompt = await stub.AssemblePrompt(
        prompt_pb2.AssemblePromptRequest(agent_id=AGENT, conversation_id="c", message="Where do I live?")
    )
    assert "I live in Oslo." in prompt.text
    await record(stub, said(f"{prompt.text}\n\nI love rain."), said("> I live in Oslo.\n\nIs that so?"))
    await done(stub, 1)
    assert await values(stub) == ["I live in Oslo.", "The user loves rain"]


async def test_a_persons_statements_stay_with_that_person(suite: Running) -> None:
    """S-5."""
    stub = await suite.stub()
    await stub.CreateAgent(conversations_pb2.CreateAgentRequest(agent_id=AGENT))
    ann, bob = await contact(stub, "mailto:ann@example.org"), await contact(stub, "mailto:bob@example.org")
    for person, text in ((ann, "I live in Oslo."), (bob, "I live in Rome.")):
        await stub.CreateConversation(
            conversations_pb2.CreateConversationRequest(
                agent_id=AGENT, conversation_id=person, contact_id=person
            )
        )
        await record(stub, said(text), conversation=person)
    await done(stub, 2)
    assert await values(stub, ann) == ["The user lives in Oslo"]
    assert await values(stub, bob) == ["The user lives in Rome"]
    assert await values(stub) == []


async def test_covering_a_range_brings_nothing_back(suite: Running) -> None:
    """J-9, D-2: what turns told, the flush does not tell again after it was forgotten or replaced."""
    stub = await suite.stub()
    await prepare(stub)
    await record(stub, said("I live in Oslo. I love rain.", id="m1"))
    await done(stub, 1)
    (rain,) = [m for m in await memories(stub) if "rain" in m.value]
    await stub.ForgetMemory(memories_pb2.ForgetMemoryRequest(agent_id=AGENT, memory_id=rain.id))
    await record(stub, said("I live in Bergen.", id="m2"))
    await done(stub, 2)
    await record(stub, *(said(f"Order {n} is on its way.", id=f"x{n}") for n in range(40)))
    await done(stub, 3)
    await done(stub, 1, COVER)
    assert await values(stub) == ["The user lives in Bergen"]
