"""Indexing, waiting for it, and losing the index, through a real stub (SPEC J-3, S-16, SV-2)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from palimpsest.common.v1 import jobs_pb2, recall_pb2, resources_pb2
from palimpsest.semantic.v1 import semantic_pb2 as pb

from tests.integration.embedded_suite import failure
from tests.integration.semantic_suite import (
    AGENT,
    CODE,
    EMBEDDER_BYTES,
    KEYWORD,
    OTHER,
    READER,
    SERVICE,
    TASK,
    WRITER,
    Episodic,
    Semantic,
    found,
    running,
    values,
)


@pytest.fixture
async def semantic(tmp_path: Path) -> AsyncIterator[Semantic]:
    async with running(tmp_path, Episodic()) as made:
        yield made


# Indexing


async def test_a_missing_message_fails_alone(semantic: Semantic) -> None:
    """J-3."""
    there = semantic.episodic.add("a heron")
    empty = semantic.episodic.add(" ")
    missing = resources_pb2.Message(conversation_id="c", sequence=99)
    nowhere = resources_pb2.Message(conversation_id="unknown", sequence=1)
    memory = await semantic.remember("k", "a heron")
    errors = await semantic.index(there, missing, memory, nowhere, empty, there)
    assert [error.split(":")[0] for error in errors] == [
        "",
        "RESOURCE_NOT_FOUND",
        "",
        "RESOURCE_NOT_FOUND",
        "",
        "",
    ]
    assert found(await semantic.search("heron")) == ["c-1"]
    assert values(await semantic.recall("heron")) == ["a heron"]
    request = pb.GetIndexProgressRequest(agent_id=AGENT, conversation_ids=["unknown", "c"])
    progress = (await semantic.by(READER).GetIndexProgress(request)).progress
    assert [(p.conversation_id, p.indexed_count, p.indexed_sequence) for p in progress] == [
        ("unknown", 0, 0),
        ("c", 2, 2),
    ]


async def test_a_text_that_the_embedder_refuses_fails_alone(semantic: Semantic) -> None:
    """J-3."""
    messages = [semantic.episodic.add(f"heron {n}") for n in range(3)]
    messages.insert(1, semantic.episodic.add("x" * (EMBEDDER_BYTES + 1)))
    errors = await semantic.index(*messages)
    assert [bool(error) for error in errors] == [False, True, False, False]
    assert errors[1].startswith("INVALID_FIELD:")
    assert set(found(await semantic.search("heron", mode=recall_pb2.SEARCH_MODE_KEYWORD))) == {
        "c-1",
        "c-2",
        "c-3",
    }


async def test_nothing_is_indexed_while_the_embedder_is_down(semantic: Semantic) -> None:
    """J-3: the call fails as a whole, to be repeated."""
    message = semantic.episodic.add("a heron")
    semantic.embedder.down = True
    request = pb.IndexRequest(agent_id=AGENT)
    request.items.add().message.MergeFrom(pb.MessageItem(conversation_id="c", sequence=1))
    outcome = await failure(semantic.by(SERVICE).Index(request))
    assert outcome[:2] == (CODE.UNAVAILABLE, "DEPENDENCY_DOWN")
    semantic.embedder.down = False
    assert await semantic.index(message) == [""]
    assert found(await semantic.search("heron")) == ["c-1"]


async def test_indexing_again_and_at_once_changes_nothing(semantic: Semantic) -> None:
    messages = [semantic.episodic.add(f"heron {n}") for n in range(5)]
    memory = await semantic.remember("k", "heron")
    await asyncio.gather(*(semantic.index(memory, *messages) for _ in range(4)))
    assert sorted(found(await semantic.search("heron"))) == [m.id for m in messages]
    assert len(values(await semantic.recall("heron"))) == 1
    request = pb.GetIndexProgressRequest(agent_id=AGENT, conversation_ids=["c"])
    progress = (await semantic.by(READER).GetIndexProgress(request)).progress[0]
    assert (progress.indexed_count, progress.indexed_sequence) == (5, 5)


# Waiting


async def test_a_read_waits_for_what_was_written(semantic: Semantic) -> None:
    """S-16."""
    memory = await semantic.remember("k", "a heron")
    message = semantic.episodic.add("a heron")
    token = resources_pb2.FreshnessToken(agent_id=AGENT)
    token.messages.conversation_id, token.messages.sequence = "c", 1
    reads = [
        asyncio.create_task(semantic.recall("heron", wait_for=[memory.token, token])),
        asyncio.create_task(semantic.search("heron", wait_for=[memory.token, token])),
    ]
    done, _ = await asyncio.wait(reads, timeout=0.2)
    assert not done
    await semantic.index(memory)
    done, _ = await asyncio.wait(reads, timeout=0.2)
    assert not done
    await semantic.index(message)
    memories, messages = await asyncio.gather(*reads)
    assert (values(memories), found(messages)) == (["a heron"], ["c-1"])
    assert not memories.unindexed
    assert not messages.unindexed
    again = await semantic.recall("heron", wait_for=[memory.token])
    assert (values(again), list(again.unindexed)) == (["a heron"], [])


@pytest.mark.parametrize("state", [jobs_pb2.JOB_STATE_DEAD, jobs_pb2.JOB_STATE_CANCELLED])
async def test_a_read_names_what_is_dead(semantic: Semantic, state: jobs_pb2.JobState) -> None:
    """S-16: at once, though the deadline is far."""
    await semantic.known("other", "a heron")
    memory = await semantic.remember("k", "a stork")
    semantic.episodic.add("one")
    token = resources_pb2.FreshnessToken(agent_id=AGENT)
    token.messages.conversation_id, token.messages.sequence = "c", 2
    keys = [
        f"index_memory/{AGENT}/{memory.memory.id}/1",
        f"index_message/{AGENT}/c/1",
        f"index_message/{AGENT}/c/2",
    ]
    semantic.ledger.states = dict.fromkeys(keys, state)
    response = await semantic.recall("heron", wait_for=[memory.token, token], timeout=300)
    assert values(response) == ["a heron"]
    dead = resources_pb2.UNINDEXED_STATE_DEAD
    assert [(u.token, u.state, list(u.job_ids)) for u in response.unindexed] == [
        (memory.token, dead, [f"job {keys[0]}"]),
        (token, dead, [f"job {key}" for key in keys[1:]]),
    ]


async def test_a_read_names_what_is_pending_at_the_deadline(semantic: Semantic) -> None:
    """S-16: a dead job beside one that still runs does not end the wait."""
    await semantic.known("other", "a heron")
    token = resources_pb2.FreshnessToken(agent_id=AGENT)
    token.messages.conversation_id, token.messages.sequence = "c", 2
    semantic.ledger.states = {
        f"index_message/{AGENT}/c/1": jobs_pb2.JOB_STATE_DEAD,
        f"index_message/{AGENT}/c/2": jobs_pb2.JOB_STATE_QUEUED,
    }
    response = await semantic.recall("heron", wait_for=[token], timeout=1.5)
    (outcome,) = response.unindexed
    assert (outcome.token, outcome.state) == (token, resources_pb2.UNINDEXED_STATE_PENDING)
    assert f"job index_message/{AGENT}/c/2" in outcome.job_ids
    assert values(response) == ["a heron"]


async def test_a_superseded_or_forgotten_memory_is_not_waited_for(semantic: Semantic) -> None:
    """S-16, S-8."""
    old = await semantic.remember("k", "old")
    await semantic.known("k", "new")
    gone = await semantic.remember("g", "gone")
    await semantic.by(WRITER).ForgetMemory(pb.ForgetMemoryRequest(agent_id=AGENT, memory_id=gone.memory.id))
    response = await semantic.recall("new", wait_for=[old.token, gone.token], timeout=300)
    assert (values(response), list(response.unindexed)) == (["new"], [])


async def test_recall_answers_though_the_ledger_is_down(semantic: Semantic) -> None:
    """S-11, S-16."""
    await semantic.known("k", "a heron")
    late = await semantic.remember("l", "a stork")
    semantic.compactor.down = True
    response = await semantic.recall("heron", wait_for=[late.token], timeout=1.5)
    assert values(response) == ["a heron"]
    assert [u.state for u in response.unindexed] == [resources_pb2.UNINDEXED_STATE_PENDING]


# Losing what is derived


async def test_everything_is_recalled_again_after_the_item_index_was_lost(tmp_path: Path) -> None:
    """SV-2."""
    episodic = Episodic()
    async with running(tmp_path, episodic) as semantic:
        for n in range(3):
            await semantic.known(f"k{n}", f"walrus{n} here")
        await semantic.known("theirs", "walrus0 here", by=OTHER)
        await semantic.known("todo", "feed walrus", fact_type=TASK)
        old = await semantic.known("k0", "walrus0 there")
        await semantic.index(old)
        for n in range(4):
            await semantic.said(f"seal{n}")
        semantic.episodic.add("never indexed")
    for suffix in ("", "-wal", "-shm"):
        (tmp_path / f"semantic-index.db{suffix}").unlink(missing_ok=True)
    async with running(tmp_path, episodic) as semantic:
        assert await semantic.work_off(at_least=9, until_quiet=1.0) in range(9, 40)
        for n in range(4):
            assert f"c-{n + 1}" in found(
                await semantic.search(f"seal{n}", mode=recall_pb2.SEARCH_MODE_KEYWORD)
            )
        for word, value in (
            ("walrus0", "walrus0 there"),
            ("walrus2", "walrus2 here"),
            ("feed", "feed walrus"),
        ):
            hits = (await semantic.recall(word)).hits
            channels = {h.memory.value: {c.channel for c in h.explanation.channels} for h in hits}
            assert KEYWORD in channels[value]
            assert "walrus0 here" not in channels
        assert [h.memory.value for h in (await semantic.recall("walrus0", by=OTHER)).hits] == ["walrus0 here"]
    async with running(tmp_path, episodic) as semantic:
        assert await semantic.work_off() == 0, "a clean start has nothing to do"
        assert found(await semantic.search("seal2", mode=recall_pb2.SEARCH_MODE_KEYWORD))[0] == "c-3"


async def test_an_item_index_that_cannot_be_read_is_built_again(tmp_path: Path) -> None:
    """SV-2."""
    episodic = Episodic()
    async with running(tmp_path, episodic) as semantic:
        await semantic.known("k", "a walrus")
    (tmp_path / "semantic-index.db").write_bytes(b"not a database at all" * 500)
    async with running(tmp_path, episodic) as semantic:
        assert await semantic.work_off(at_least=1, until_quiet=1.0) >= 1
        (hit,) = (await semantic.recall("walrus")).hits
        assert KEYWORD in {c.channel for c in hit.explanation.channels}
