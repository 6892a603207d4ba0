"""Ingesting through the client: order, bounds, and a stream that breaks (SPEC E-2)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import grpc
import pytest

import palimpsest
from palimpsest import models
from palimpsest.client.ingest import MAX_IN_FLIGHT
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


def said(count: int, start: int = 0) -> list[models.NewMessage]:
    return [models.NewMessage("user", f"m{n}") for n in range(start, start + count)]


def texts(gateway: FakeGateway, conversation: str = "c") -> list[str]:
    return [message.parts[0].text for message in gateway.stored[conversation]]


async def test_a_transcript_goes_in_chunks_and_again_adds_nothing(
    gateway: FakeGateway, client: palimpsest.AsyncClient
) -> None:
    first = await client.ingest("c", said(25), chunk_messages=10)
    assert [len(chunk.messages) for chunk in gateway.chunks] == [10, 10, 5]
    assert texts(gateway) == [f"m{n}" for n in range(25)]
    assert (first.message_count, first.created_count) == (25, 25)
    assert first.last_message_id == gateway.stored["c"][-1].id
    assert first.token == models.MessageToken(agent_id="ada", conversation_id="c", sequence=25)

    again = await client.ingest("c", said(30), chunk_messages=7)
    assert (again.message_count, again.created_count) == (30, 5)
    more = await client.ingest("c", said(2, 30), parent_id=again.last_message_id)
    assert more.created_count == 2
    assert texts(gateway) == [f"m{n}" for n in range(32)]


async def test_any_iterable_will_do_and_nothing_is_no_error(
    gateway: FakeGateway, client: palimpsest.AsyncClient
) -> None:
    async def live() -> AsyncIterator[models.NewMessage]:
        for message in said(3):
            yield message

    assert (await client.ingest("a", live())).created_count == 3
    assert (await client.ingest("b", iter(said(3)))).created_count == 3
    assert (await client.ingest("c", [])).message_count == 0
    assert texts(gateway, "a") == texts(gateway, "b") == ["m0", "m1", "m2"]


@pytest.mark.parametrize("lost", ["chunk", "answer"])
async def test_a_stream_that_breaks_is_taken_up_where_it_was(
    gateway: FakeGateway, client: palimpsest.AsyncClient, lost: str
) -> None:
    faults = gateway.faults["chunk"] if lost == "chunk" else gateway.ack_faults
    faults.extend([None, None, None, DOWN, DOWN, None, Fault(code=grpc.StatusCode.UNAVAILABLE)])
    done = await client.ingest("c", said(200), chunk_messages=10)
    assert texts(gateway) == [f"m{n}" for n in range(200)]
    assert done.message_count == 200
    assert len(gateway.requests("IngestStream")) == 4


async def test_acknowledgements_come_in_order_over_several_conversations(
    gateway: FakeGateway, client: palimpsest.AsyncClient
) -> None:
    gateway.ack_faults.extend([None] * 9 + [DOWN])
    chunks = [
        models.IngestChunk(conversation_id=f"c{n % 3}", messages=said(2, 2 * (n // 3))) for n in range(30)
    ]
    acks = [ack async for ack in client.ingest_stream(chunks)]
    assert [ack.conversation_id for ack in acks] == [f"c{n % 3}" for n in range(30)]
    assert [ack.messages[0].sequence for ack in acks] == [1 + 2 * (n // 3) for n in range(30)]
    for name in ("c0", "c1", "c2"):
        assert texts(gateway, name) == [f"m{n}" for n in range(20)]


async def test_a_slow_server_is_not_flooded(gateway: FakeGateway, client: palimpsest.AsyncClient) -> None:
    taken = 0

    async def endless() -> AsyncIterator[models.IngestChunk]:
        nonlocal taken
        while True:
            taken += 1
            yield models.IngestChunk(conversation_id="c", messages=said(1, taken))

    acks = client.ingest_stream(endless())
    for done in range(1, 40):
        await anext(acks)
        assert taken <= done + 2 * MAX_IN_FLIGHT + 1
    await acks.aclose()


async def test_an_error_for_good_ends_the_stream_and_what_was_answered_stays(
    gateway: FakeGateway, client: palimpsest.AsyncClient
) -> None:
    conflict = Fault(code=grpc.StatusCode.FAILED_PRECONDITION, reason="PARENT_CONFLICT")
    gateway.faults["chunk"].extend([None, None, *[conflict] * 9])
    seen = []
    chunks = [models.IngestChunk(conversation_id="c", messages=said(1, n)) for n in range(9)]
    with pytest.raises(palimpsest.ParentConflictError):
        async for ack in client.ingest_stream(chunks):
            seen.append(ack)
    assert len(seen) == 2
    assert texts(gateway) == ["m0", "m1"]
    # Once more where gRPC hid the cause, because the client was writing when the server ended the stream.
    assert len(gateway.requests("IngestStream")) <= 2


async def test_a_source_that_fails_raises_once_all_before_it_is_stored(
    gateway: FakeGateway, client: palimpsest.AsyncClient
) -> None:
    def broken() -> Iterator[models.NewMessage]:
        yield from said(20)
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        await client.ingest("c", broken(), chunk_messages=5)
    assert texts(gateway) == [f"m{n}" for n in range(20)]


async def test_giving_up_after_attempts_without_progress(
    gateway: FakeGateway, client: palimpsest.AsyncClient
) -> None:
    gateway.faults["IngestStream"].extend([DOWN] * 9)
    with pytest.raises(palimpsest.UnavailableError):
        await client.ingest("c", said(3))
    assert len(gateway.requests("IngestStream")) == FAST.max_attempts


async def test_a_single_chunk(gateway: FakeGateway, client: palimpsest.AsyncClient) -> None:
    gateway.faults["Ingest"].append(DOWN)
    first = await client.ingest_chunk("c", said(2))
    second = await client.ingest_chunk("c", said(2, 2), parent_id=first.messages[-1].message_id)
    assert (first.created_count, second.messages[0].sequence) == (2, 3)
    ids = [request.request_id for request in gateway.requests("Ingest")]
    assert ids[0] == ids[1] != ids[2]


async def test_a_silent_server_ends_with_the_deadline(gateway: FakeGateway) -> None:
    client = palimpsest.AsyncClient(gateway.target, api_key=gateway.api_key, timeout=0.2)

    def slow_append(*_args: object) -> None:
        gateway.release.wait(30)
        raise RuntimeError("too late")

    gateway._append = slow_append  # type: ignore[method-assign]
    async with client:
        with pytest.raises(palimpsest.DeadlineError):
            await client.ingest("c", said(1))
