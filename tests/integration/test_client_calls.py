"""The asynchronous client over a socket: retries, request ids, errors, paging, waiting."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta

import grpc
import pytest
from palimpsest.common.v1 import resources_pb2

import palimpsest
from palimpsest import models
from palimpsest.errors import CLASS_OF_REASON
from tests.integration.fake_gateway import DOWN, FakeGateway, Fault, serving_fake

FAST = palimpsest.RetryPolicy(max_attempts=4, initial_backoff=0.01, max_backoff=0.02, multiplier=2)


@pytest.fixture
def gateway() -> Iterator[FakeGateway]:
    with serving_fake() as fake:
        yield fake


@pytest.fixture
async def client(gateway: FakeGateway) -> AsyncIterator[palimpsest.AsyncClient]:
    async with palimpsest.AsyncClient(
        gateway.target, api_key=gateway.api_key, agent="ada", retries=FAST
    ) as made:
        yield made


def hello(author: str = "") -> models.NewMessage:
    return models.NewMessage("user", "hello", author=author)


async def test_a_mutation_is_retried_with_the_same_request_id(
    gateway: FakeGateway, client: palimpsest.AsyncClient
) -> None:
    gateway.faults["RecordTurn"].extend([DOWN, Fault(code=grpc.StatusCode.UNAVAILABLE)])
    turn = await client.record_turn("c", [hello()])
    ids = [request.request_id for request in gateway.requests("RecordTurn")]
    assert len(ids) == 3
    assert len(set(ids)) == 1
    assert ids[0]
    assert turn.messages[0].created
    await client.record_turn("c", [hello()])
    assert gateway.requests("RecordTurn")[-1].request_id != ids[0]


async def test_attempts_end_with_the_error(gateway: FakeGateway, client: palimpsest.AsyncClient) -> None:
    gateway.faults["Remember"].extend([DOWN] * 9)
    with pytest.raises(palimpsest.UnavailableError):
        await client.remember("k", "v")
    assert len(gateway.requests("Remember")) == FAST.max_attempts


async def test_an_overloaded_server_is_asked_again_when_it_says(
    gateway: FakeGateway, client: palimpsest.AsyncClient
) -> None:
    """X-1: RetryInfo is honoured, beyond the bound on attempts."""
    busy = Fault(code=grpc.StatusCode.RESOURCE_EXHAUSTED, reason="OVERLOADED", retry_after=0.005)
    gateway.faults["Recall"].extend([busy] * 6)
    await client.recall("x")
    assert len(gateway.requests("Recall")) == 7


async def test_no_wait_beyond_the_deadline(gateway: FakeGateway, client: palimpsest.AsyncClient) -> None:
    busy = Fault(code=grpc.StatusCode.RESOURCE_EXHAUSTED, reason="OVERLOADED", retry_after=3600)
    gateway.faults["Recall"].append(busy)
    with pytest.raises(palimpsest.OverloadedError) as caught:
        await client.recall("x", timeout=5)
    assert caught.value.retry_after == 3600
    assert len(gateway.requests("Recall")) == 1


async def test_a_limit_is_not_retried(gateway: FakeGateway, client: palimpsest.AsyncClient) -> None:
    gateway.faults["Recall"].append(Fault(code=grpc.StatusCode.RESOURCE_EXHAUSTED, reason="LIMIT_EXCEEDED"))
    with pytest.raises(palimpsest.LimitExceededError):
        await client.recall("x")
    assert len(gateway.requests("Recall")) == 1


@pytest.mark.parametrize("reason", sorted(CLASS_OF_REASON))
async def test_every_reason_has_its_class(
    gateway: FakeGateway, client: palimpsest.AsyncClient, reason: str
) -> None:
    gateway.faults["GetStatus"].extend(
        [
            Fault(
                code=grpc.StatusCode.FAILED_PRECONDITION,
                reason=reason,
                message="what is wrong",
                field="messages[3].role",
                metadata=(("limit", "7"),),
            )
        ]
        * FAST.max_attempts
    )
    with pytest.raises(CLASS_OF_REASON[reason]) as caught:
        await client.status()
    error = caught.value
    assert (error.reason, error.message, error.metadata) == (reason, "what is wrong", {"limit": "7"})
    assert [(f.field, f.description) for f in error.fields] == [("messages[3].role", "what is wrong")]
    assert error.request_id == gateway.request_ids[-1] != ""


async def test_nothing_listens(unused_tcp_port: int) -> None:
    async with palimpsest.AsyncClient(f"127.0.0.1:{unused_tcp_port}", retries=FAST) as client:
        with pytest.raises(palimpsest.UnreachableError):
            await client.status()


async def test_a_wrong_key(gateway: FakeGateway) -> None:
    async with palimpsest.AsyncClient(gateway.target, api_key="pk_wrong") as client:
        with pytest.raises(palimpsest.CredentialError):
            await client.status()


async def test_a_new_key_is_never_made_twice(gateway: FakeGateway, client: palimpsest.AsyncClient) -> None:
    gateway.faults["CreateApiKey"].append(DOWN)
    with pytest.raises(palimpsest.UnavailableError):
        await client.create_key("reader")
    created = await client.create_key("reader", agent_ids=["ada"], lifetime=timedelta(hours=1))
    assert (created.key.role, created.key.agent_ids, created.secret) == ("reader", ("ada",), "pk_k1_hidden")
    assert created.secret not in repr(created)
    assert len(gateway.requests("CreateApiKey")) == 2


async def test_a_conversation_without_id_is_made_once_in_spite_of_retries(
    gateway: FakeGateway, client: palimpsest.AsyncClient
) -> None:
    gateway.faults["CreateConversation"].append(DOWN)
    conversation = await client.create_conversation()
    ids = {request.conversation_id for request in gateway.requests("CreateConversation")}
    assert ids == {conversation.id}


async def test_a_listing_goes_over_pages_as_they_are_needed(
    gateway: FakeGateway, client: palimpsest.AsyncClient
) -> None:
    await client.record_turn("c", [models.NewMessage("user", f"m{n}") for n in range(25)])
    listing = client.messages("c", page_size=10)
    first = await anext(aiter(listing))
    assert (first.text, first.sequence, len(gateway.requests("ListMessages"))) == ("m0", 1, 1)
    rest = [message.text async for message in listing]
    assert rest == [f"m{n}" for n in range(1, 25)]
    assert len(gateway.requests("ListMessages")) == 3


async def test_parts_and_times_survive_the_way(client: palimpsest.AsyncClient) -> None:
    parts = (
        models.TextPart("look: 猫"),
        models.ToolCall(call_id="1", name="weather", arguments={"city": "Göteborg", "days": 2.0}),
        models.ToolResult(call_id="1", content="snow", is_error=True),
        models.Attachment(uri="file:cat.png", media_type="image/png", caption="a cat"),
    )
    time = datetime(2026, 3, 2, 8, 15, 0, 123456, tzinfo=UTC)
    sent = models.NewMessage("assistant", parts, author="Ada", session="s", time=time, id="m1")
    await client.record_turn("c", [sent])
    [message] = [message async for message in client.messages("c")]
    assert (message.parts, message.role, message.author, message.session) == (parts, "assistant", "Ada", "s")
    assert (message.time, message.id, message.text) == (time, "m1", "look: 猫")


async def test_bad_parameters_are_refused_before_a_call(
    gateway: FakeGateway, client: palimpsest.AsyncClient
) -> None:
    with pytest.raises(ValueError, match="no role 'human'; there are system, user, assistant, tool"):
        await client.record_turn("c", [models.NewMessage("human", "x")])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="time zone"):
        await client.record_turn("c", [models.NewMessage("user", "x", time=datetime(2026, 3, 2))])
    assert not gateway.calls


async def test_waiting_for_what_was_written(gateway: FakeGateway, client: palimpsest.AsyncClient) -> None:
    """S-16: the token of a write goes with the read; what stays unindexed is told."""
    turn = await client.record_turn("c", [hello()])
    await client.wait_indexed(turn.token, None)
    [request] = gateway.requests("RecallConversation")
    assert [mark.messages.sequence for mark in request.wait_for] == [1]

    unindexed = resources_pb2.Unindexed(state=resources_pb2.UNINDEXED_STATE_DEAD, job_ids=["j7"])
    unindexed.token.CopyFrom(request.wait_for[0])
    gateway.unindexed.append([unindexed])
    with pytest.raises(palimpsest.NotIndexedError) as caught:
        await client.wait_indexed(turn.token)
    assert caught.value.unindexed == (models.Unindexed(token=turn.token, state="dead", job_ids=("j7",)),)


async def test_recall_tells_hits_reasons_and_failures(client: palimpsest.AsyncClient) -> None:
    """S-11."""
    written = await client.remember("tea", "green", fact_type="preference", pinned=True)
    assert written.token == models.MemoryToken(agent_id="ada", memory_id="id-tea", version=1)
    found = await client.recall(
        "tea", fusion=palimpsest.ReciprocalRank(k=10, weights={"vector": 2.0}), wait_for=[written.token]
    )
    [hit] = found
    assert (hit.memory.value, hit.memory.fact_type, hit.memory.pinned) == ("green", "preference", True)
    [rank] = hit.explanation.channels
    assert (rank.channel, rank.rank, rank.score, rank.contribution) == ("vector", 1, 0.75, 0.5)
    assert found.failures == (models.ChannelFailure(channel="keyword", cause="timed out"),)


async def test_cancelling_a_call_ends_it_at_the_server(
    gateway: FakeGateway, client: palimpsest.AsyncClient
) -> None:
    call = asyncio.create_task(client.record_turn("c", [hello("slow")]))
    assert await asyncio.to_thread(gateway.started.wait, 10)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert await asyncio.to_thread(gateway.cancelled.wait, 10)
    assert len(gateway.requests("RecordTurn")) == 1


async def test_a_watch_that_breaks_is_opened_again(
    gateway: FakeGateway, client: palimpsest.AsyncClient
) -> None:
    gateway.faults["update"].append(DOWN)
    updates = [update async for update in client.watch_jobs(until_idle=True)]
    assert [update.counts.left for update in updates] == [1, 1, 0]
    assert updates[0].jobs[0].state == "running"
    assert len(gateway.requests("WatchJobs")) == 2


async def test_leaving_a_watch_ends_it_at_the_server(
    gateway: FakeGateway, client: palimpsest.AsyncClient
) -> None:
    updates = client.watch_jobs()
    await anext(updates)
    await updates.aclose()
    assert await asyncio.to_thread(gateway.cancelled.wait, 10)


async def test_a_client_for_another_agent(gateway: FakeGateway, client: palimpsest.AsyncClient) -> None:
    other = client.with_agent("bob")
    await other.create_agent(system_prompt="be brief")
    agent = await other.update_agent(display_name="Bob")
    assert (agent.id, agent.display_name, agent.system_prompt) == ("bob", "Bob", "be brief")
    assert (client.agent, other.agent) == ("ada", "bob")


async def test_a_closed_client_says_so(client: palimpsest.AsyncClient) -> None:
    await client.status()
    await client.close()
    await client.close()
    with pytest.raises(RuntimeError, match="closed"):
        await client.status()
