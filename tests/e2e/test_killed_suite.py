"""The suite killed in the middle: what was acknowledged is there once, and becomes recallable.

SPEC E-1, E-2, SV-4, SV-5, J-2, S-6.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import psutil
import pytest
from palimpsest.common.v1 import jobs_pb2, recall_pb2
from palimpsest.gateway.v1 import administration_pb2, conversations_pb2, memories_pb2

from tests.e2e.suite import AGENT, Suite, indexed, message, prepare

WAIT = 120


@pytest.fixture
def suite(tmp_path: Path) -> Iterator[Suite]:
    made = Suite(tmp_path / "data")
    made.start()
    yield made
    if made.process is not None and made.process.poll() is None:
        made.stop()


async def stored(stub: Any, conversation: str = "c") -> list[Any]:
    messages: list[Any] = []
    token = ""
    while True:
        page = await stub.ListMessages(
            conversations_pb2.ListMessagesRequest(
                agent_id=AGENT, conversation_id=conversation, page_size=500, page_token=token
            )
        )
        messages += page.messages
        token = page.next_page_token
        if not token:
            return messages


async def test_killed_in_mid_ingest_nothing_acknowledged_is_lost_or_doubled(suite: Suite) -> None:
    acknowledged: list[str] = []
    chunks = [
        [message(f"fact number {n} about zebra{n}") for n in range(k, k + 20)] for k in range(0, 2400, 20)
    ]

    async def requests() -> AsyncIterator[conversations_pb2.IngestStreamRequest]:
        for chunk in chunks:
            yield conversations_pb2.IngestStreamRequest(
                chunk=conversations_pb2.IngestRequest(agent_id=AGENT, conversation_id="c", messages=chunk)
            )

    async with suite.client() as stub:
        await prepare(stub)
        with pytest.raises((grpc.aio.AioRpcError, asyncio.CancelledError)):
            async for response in stub.IngestStream(requests()):
                acknowledged += [m.message_id for m in response.chunk.messages]
                if len(acknowledged) >= 400:
                    suite.kill()
    assert len(acknowledged) >= 400
    suite.start()
    async with suite.client() as stub:
        messages = await stored(stub)
        ids = [m.id for m in messages]
        assert len(set(ids)) == len(ids)
        assert set(acknowledged) <= set(ids)
        assert [m.sequence for m in messages] == list(range(1, len(ids) + 1))
        assert [m.parts[0].text for m in messages] == [m.parts[0].text for c in chunks for m in c][: len(ids)]

        # The client starts over from the root: what is there is found, the rest is added.
        async for _ in stub.IngestStream(requests()):
            pass
        messages = await stored(stub)
        assert len(messages) == 2400

        # And all of it becomes recallable.
        for n in (0, 399, 2399):
            last = messages[n]
            query = memories_pb2.RecallConversationRequest(
                agent_id=AGENT,
                conversation_id="c",
                query=f"zebra{n}",
                mode=recall_pb2.SEARCH_MODE_KEYWORD,
                scope=memories_pb2.SEARCH_SCOPE_CONVERSATION,
                limit=1,
            )
            token = query.wait_for.add()
            token.agent_id = AGENT
            token.messages.conversation_id, token.messages.sequence = "c", last.sequence
            answer = await indexed(partial(stub.RecallConversation, query, timeout=WAIT))
            assert [hit.message.id for hit in answer.hits] == [last.id]


async def test_killed_again_and_again_between_writes_memories_stay_one_chain(suite: Suite) -> None:
    for round_ in range(3):
        async with suite.client() as stub:
            await prepare(stub)
            for n in range(5):
                written = await stub.Remember(
                    memories_pb2.RememberRequest(
                        agent_id=AGENT, key="city", value=f"lives in city{round_}x{n}"
                    )
                )
        suite.kill()
        suite.start()
    async with suite.client() as stub:
        versions = await stub.ListMemoryVersions(
            memories_pb2.ListMemoryVersionsRequest(agent_id=AGENT, memory_id=written.memory.id)
        )
        assert [m.version for m in versions.memories] == list(range(1, 16))
        assert [bool(m.superseded_by) for m in versions.memories] == [True] * 14 + [False]
        request = memories_pb2.RecallRequest(agent_id=AGENT, query="which city", wait_for=[written.token])
        answer = await indexed(partial(stub.Recall, request, timeout=WAIT))
        assert [hit.memory.value for hit in answer.hits] == ["lives in city2x4"]


async def test_no_job_is_left_hanging_after_a_kill(suite: Suite) -> None:
    async with suite.client() as stub:
        await prepare(stub)
        messages = [message(f"entry {n} mentions walrus{n}") for n in range(200)]
        await stub.RecordTurn(
            conversations_pb2.RecordTurnRequest(agent_id=AGENT, conversation_id="c", messages=messages)
        )
    suite.kill()
    suite.start()
    async with suite.client() as stub:
        watch = stub.WatchJobs(
            administration_pb2.WatchJobsRequest(until_idle=True), timeout=WAIT, **_key(suite)
        )
        counts = jobs_pb2.JobCounts()
        async for response in watch:
            counts = response.counts
        conversation = await stub.GetConversation(
            conversations_pb2.GetConversationRequest(agent_id=AGENT, conversation_id="c")
        )
        assert (conversation.conversation.stored_count, conversation.conversation.indexed_count) == (200, 200)
        assert (counts.queued, counts.running, counts.failed, counts.dead) == (0, 0, 0, 0)
        covered = conversation.conversation.covered_count
        assert covered >= 180  # by an overlay for each 60 messages at the most
        assert counts.succeeded >= 200 + covered // 60


async def test_the_vector_engine_killed_comes_back_with_its_points(suite: Suite) -> None:
    assert suite.process is not None
    async with suite.client() as stub:
        await prepare(stub)
        written = await stub.Remember(
            memories_pb2.RememberRequest(agent_id=AGENT, key="drink", value="prefers oat milk in her coffee")
        )
        request = memories_pb2.RecallRequest(
            agent_id=AGENT, query="coffee with what", wait_for=[written.token]
        )
        assert (await stub.Recall(request, timeout=WAIT)).hits
        children = psutil.Process(suite.process.pid).children(recursive=True)
        assert children
        for child in children:
            child.kill()
        until = time.monotonic() + 60
        while True:
            answer = await stub.Recall(request, timeout=WAIT)
            assert answer.hits, "recall works as long as one channel does (S-11)"
            ranks = [rank.channel for rank in answer.hits[0].explanation.channels]
            if recall_pb2.CHANNEL_VECTOR in ranks:
                break
            assert time.monotonic() < until
            await asyncio.sleep(0.2)


async def test_children_end_with_a_killed_parent_and_sigterm_ends_cleanly(suite: Suite) -> None:
    assert suite.process is not None
    children = psutil.Process(suite.process.pid).children(recursive=True)
    suite.kill()
    _, alive = psutil.wait_procs(children, timeout=15)
    assert not alive
    suite.start()
    assert suite.stop() == 0
    assert not (suite.data / "endpoint.json").exists()


def _key(suite: Suite) -> dict[str, Any]:
    secret = (suite.data / "api-key").read_text().strip()
    return {"metadata": (("authorization", f"Bearer {secret}"),)}


def test_the_api_key_is_for_its_owner_only(suite: Suite) -> None:
    assert (suite.data / "api-key").stat().st_mode & 0o777 == 0o600


def test_a_stop_that_comes_with_the_announcement_is_in_order(tmp_path: Path) -> None:
    """O-3: from the moment that anybody knows of the suite, SIGTERM ends it as it should."""
    script = (
        "import os, pathlib, signal, sys\n"
        "from services.embedded import run\n"
        "run(pathlib.Path(sys.argv[1]), port=0, on_ready=lambda *_: os.kill(os.getpid(), signal.SIGTERM))\n"
    )
    ended = subprocess.run([sys.executable, "-c", script, tmp_path / "data"], timeout=WAIT, check=False)
    assert ended.returncode == 0
    assert not (tmp_path / "data" / "endpoint.json").exists()
