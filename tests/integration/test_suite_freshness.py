"""Waiting through the gateway until things can be found, or it is clear that they can't (SPEC S-16, X-1)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest
from palimpsest.common.v1 import recall_pb2, resources_pb2
from palimpsest.gateway.v1 import administration_pb2, conversations_pb2, prompt_pb2
from palimpsest.gateway.v1 import memories_pb2 as pb

from services.embedder.bootstrap import build as build_embedder
from services.embedder.config import EmbedderSettings
from services.kit.errors import DependencyDown
from services.kit.identity import Role
from services.kit.serving import Service
from tests.integration.embedded_suite import AGENT, Running, failure, prepare, running, said

DEAD, PENDING = resources_pb2.UNINDEXED_STATE_DEAD, resources_pb2.UNINDEXED_STATE_PENDING
SHORT = 2
POLL_SECONDS = 0.1
KEY = recall_pb2.CHANNEL_KEY
Token = resources_pb2.FreshnessToken


class Stoppable:
    """The embedder's service, whose vectors can be had while it is not `down`."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self.down = False

    def service(self) -> Service:
        """To be served in its place."""
        return replace(self._service, add=lambda server: self._service.add(_Adding(server, self)))


class _Adding:
    """A server to which the embedder's methods are added as those of one that can be down."""

    def __init__(self, server: Any, switch: Stoppable) -> None:
        self._server = server
        self._switch = switch

    def add_registered_method_handlers(self, service: str, handlers: Mapping[str, Any]) -> None:
        self._server.add_registered_method_handlers(service, dict(handlers) | {"Embed": self._of(handlers)})

    def add_generic_rpc_handlers(self, handlers: Any) -> None:
        """The registered ones are all that there are."""

    def _of(self, handlers: Mapping[str, Any]) -> Any:
        real = handlers["Embed"]

        async def embed(request: Any, context: Any) -> Any:
            if self._switch.down:
                raise DependencyDown
            return await real.unary_unary(request, context)

        return grpc.unary_unary_rpc_method_handler(
            embed,
            request_deserializer=real.request_deserializer,
            response_serializer=real.response_serializer,
        )


@pytest.fixture
async def embedder() -> AsyncIterator[Stoppable]:
    async with AsyncExitStack() as stack:
        yield Stoppable(await build_embedder(EmbedderSettings(backend="hashing"), None, stack))


@pytest.fixture
async def suite(tmp_path: Path, embedder: Stoppable) -> AsyncIterator[Running]:
    async with running(tmp_path / "data", embedder=embedder.service()) as made:
        yield made


async def remembered(stub: Any, key: str) -> Token:
    request = pb.RememberRequest(agent_id=AGENT, key=key, value=f"a heron of {key}")
    token: Token = (await stub.Remember(request)).token
    return token


async def recorded(stub: Any, text: str) -> Token:
    turn = conversations_pb2.RecordTurnRequest(agent_id=AGENT, conversation_id="c", messages=[said(text)])
    token: Token = (await stub.RecordTurn(turn)).token
    return token


def readings(stub: Any, tokens: list[Token]) -> list[tuple[Any, Any]]:
    """The calls that wait."""
    return [
        (stub.Recall, pb.RecallRequest(agent_id=AGENT, query="heron", wait_for=tokens)),
        (
            stub.RecallConversation,
            pb.RecallConversationRequest(agent_id=AGENT, conversation_id="c", query="heron", wait_for=tokens),
        ),
        (
            stub.AssemblePrompt,
            prompt_pb2.AssemblePromptRequest(
                agent_id=AGENT, conversation_id="c", message="heron?", wait_for=tokens
            ),
        ),
    ]


def by_token(answer: Any) -> dict[bytes, Any]:
    return {one.token.SerializeToString(deterministic=True): one for one in answer.unindexed}


def names(*tokens: Token) -> set[bytes]:
    return {token.SerializeToString(deterministic=True) for token in tokens}


async def cancel(stub: Any, subject: str) -> str:
    """The job of an item is given up, once the ledger has it; its id."""
    async with asyncio.timeout(60):
        while True:
            jobs = (await stub.ListJobs(administration_pb2.ListJobsRequest())).jobs
            for job in jobs:
                if job.subject == subject:
                    await stub.CancelJob(administration_pb2.CancelJobRequest(job_id=job.id))
                    return str(job.id)
            await asyncio.sleep(POLL_SECONDS)


async def test_a_read_waits_for_several_things_at_once(suite: Running) -> None:
    """S-16: memories, superseded ones and messages, by each call that waits."""
    stub = await suite.stub()
    await prepare(stub)
    tokens = [await remembered(stub, f"k{n}") for n in range(5)]
    tokens += [await recorded(stub, f"heron {n}") for n in range(5)]
    tokens.append((await stub.Remember(pb.RememberRequest(agent_id=AGENT, key="k0", value="no heron"))).token)
    for call, request in readings(stub, tokens):
        assert not (await call(request)).unindexed
    found = (await stub.Recall(readings(stub, tokens)[0][1])).hits
    assert len([hit for hit in found if hit.memory.key.startswith("k")]) == 5


async def test_the_dead_are_told_at_once_and_the_others_are_waited_for(
    suite: Running, embedder: Stoppable
) -> None:
    """S-16: with the jobs that were given up; what was indexed is not among them."""
    stub = await suite.stub()
    await prepare(stub)
    early = await remembered(stub, "early")
    assert not (await stub.Recall(pb.RecallRequest(agent_id=AGENT, query="x", wait_for=[early]))).unindexed
    embedder.down = True
    lost, late = await remembered(stub, "lost"), await remembered(stub, "late")
    said_early = await recorded(stub, "a heron in time")
    said_lost = await recorded(stub, "a heron that is lost")
    jobs = {
        await cancel(stub, f"memories/{lost.memory.memory_id}"): lost,
        await cancel(stub, f"conversations/c/messages/{said_lost.messages.sequence}"): said_lost,
    }
    for call, request in readings(stub, [early, lost, late]):
        answer = await call(request, timeout=SHORT)
        told = by_token(answer)
        assert told.keys() == names(lost, late)
        assert told[next(iter(names(lost)))].state == DEAD
        assert told[next(iter(names(late)))].state == PENDING
    embedder.down = False
    for call, request in readings(stub, [early, late, said_early, lost, said_lost]):
        answer = await call(request, timeout=60)
        told = by_token(answer)
        assert told.keys() == names(lost, said_lost)
        assert {one.state for one in told.values()} == {DEAD}
        assert {id_: one.token for one in told.values() for id_ in one.job_ids} == jobs


async def test_a_short_deadline_ends_the_wait_and_not_the_answer(suite: Running, embedder: Stoppable) -> None:
    """S-16, S-11: what can be had is answered, and what was waited for is named."""
    stub = await suite.stub()
    await prepare(stub)
    embedder.down = True
    tokens = [await remembered(stub, "heron.first"), await recorded(stub, "a heron")]
    for call, request in readings(stub, tokens):
        answer = await call(request, timeout=SHORT)
        assert {one.state for one in answer.unindexed} == {PENDING}
        assert by_token(answer).keys() == names(*tokens)
    (hit,) = (await stub.Recall(readings(stub, tokens)[0][1], timeout=SHORT)).hits
    assert [place.channel for place in hit.explanation.channels] == [KEY]


async def test_tokens_say_nothing_of_others(suite: Running) -> None:
    """S-5, X-1: another agent's is refused; another tenant's memory is one that is not there."""
    stub = await suite.stub()
    await prepare(stub)
    mine = await remembered(stub, "k")
    limited = await suite.stub(await suite.key(Role.WRITER, agents=frozenset({"bea"})))
    await stub.CreateAgent(conversations_pb2.CreateAgentRequest(agent_id="bea"))
    request = pb.RecallRequest(agent_id="bea", query="heron", wait_for=[mine])
    outcome = await failure(limited.Recall(request))
    assert outcome[0] in (grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.INVALID_ARGUMENT)
    outcome = await failure(stub.Recall(request))
    assert outcome == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD", ["wait_for[0].agent_id"])
    stranger = await suite.stub(await suite.key(Role.OPERATOR, tenant="other"))
    await stranger.CreateAgent(conversations_pb2.CreateAgentRequest(agent_id=AGENT))
    answer = await stranger.Recall(pb.RecallRequest(agent_id=AGENT, query="heron", wait_for=[mine]))
    assert (list(answer.hits), list(answer.unindexed)) == ([], [])
