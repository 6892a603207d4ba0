"""Transcripts sent as a stream, over an Episodic that the test holds in its hand (SPEC E-2, G-4, X-1)."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from palimpsest.episodic.v1 import episodic_pb2
from palimpsest.gateway.v1 import conversations_pb2 as pb

from services.gateway.app.recording import MAX_IN_FLIGHT, IngestStream
from services.kit.errors import DependencyDown, InvalidField, NotFound, PalimpsestError
from tests.unit.gateway_parts import backends


class HeldEpisodic:
    """Stores a call's messages under ids "conversation/number"; `gate` holds calls, `broken` fails them."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.gate.set()
        self.broken: dict[str, PalimpsestError] = {}
        self.parents: list[tuple[str, str]] = []
        self.counts: dict[str, int] = {}
        self.running: dict[str, int] = {}
        self.most_running = 0
        self.cancelled = 0

    async def AppendMessages(
        self, request: episodic_pb2.AppendMessagesRequest
    ) -> episodic_pb2.AppendMessagesResponse:
        place = request.conversation_id
        self.running[place] = self.running.get(place, 0) + 1
        assert self.running[place] == 1, "two chunks of one conversation at the same time"
        self.most_running = max(self.most_running, sum(self.running.values()))
        try:
            await asyncio.sleep(0)
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.running[place] -= 1
        if place in self.broken:
            raise self.broken[place]
        self.parents.append((place, request.parent_id))
        results = []
        for _ in request.messages:
            number = self.counts[place] = self.counts.get(place, 0) + 1
            results.append(
                episodic_pb2.AppendResult(message_id=f"{place}/{number}", sequence=number, created=True)
            )
        return episodic_pb2.AppendMessagesResponse(results=results)


def stream_over(episodic: HeldEpisodic) -> IngestStream:
    behind = backends(episodic=episodic)
    return IngestStream(behind)


def chunk(place: str, messages: int = 1, parent: str = "") -> pb.IngestStreamRequest:
    request = pb.IngestStreamRequest()
    request.chunk.agent_id, request.chunk.conversation_id, request.chunk.parent_id = "ada", place, parent
    for _ in range(messages):
        request.chunk.messages.add().parts.add().text = "x"
    return request


class Chunks:
    """A request stream that counts what was read of it; an exception in the list is raised in its place."""

    def __init__(self, requests: Sequence[pb.IngestStreamRequest | Exception]) -> None:
        self._requests = requests
        self.read = 0

    async def __aiter__(self) -> AsyncIterator[pb.IngestStreamRequest]:
        for request in self._requests:
            self.read += 1
            if isinstance(request, Exception):
                raise request
            yield request


async def answers(stream: IngestStream, chunks: Chunks) -> list[str]:
    """The first message id of each answer."""
    return [a.chunk.messages[0].message_id async for a in stream.run(aiter(chunks))]


async def answers_before_the_error(stream: IngestStream, chunks: Chunks) -> tuple[list[str], PalimpsestError]:
    answered = []
    try:
        async for answer in stream.run(aiter(chunks)):
            answered.append(answer.chunk.messages[0].message_id)
    except PalimpsestError as error:
        return answered, error
    raise AssertionError("the stream did not fail")


async def settled() -> None:
    """Lets everything run that can."""
    for _ in range(200):
        await asyncio.sleep(0)


async def test_an_empty_stream_has_no_answers() -> None:
    assert await answers(stream_over(HeldEpisodic()), Chunks([])) == []


async def test_a_conversations_chunks_follow_each_other_and_the_first_begins_at_the_root() -> None:
    episodic = HeldEpisodic()
    chunks = Chunks([chunk("a", 2), chunk("b"), chunk("a", 3), chunk("b"), chunk("a")])
    assert await answers(stream_over(episodic), chunks) == ["a/1", "b/1", "a/3", "b/2", "a/6"]
    of_a = [parent for place, parent in episodic.parents if place == "a"]
    of_b = [parent for place, parent in episodic.parents if place == "b"]
    assert (of_a, of_b) == (["", "a/2", "a/5"], ["", "b/1"])


async def test_conversations_of_two_agents_with_one_name_are_two() -> None:
    episodic = HeldEpisodic()
    other = chunk("a")
    other.chunk.agent_id = "bob"
    # The fake counts by conversation only, so it must not see them together: one after the other.
    stream = stream_over(episodic)
    assert await answers(stream, Chunks([chunk("a")])) == ["a/1"]
    assert await answers(stream, Chunks([other])) == ["a/2"]
    assert episodic.parents == [("a", ""), ("a", "")]


async def test_a_parent_that_is_given_is_kept() -> None:
    episodic = HeldEpisodic()
    await answers(stream_over(episodic), Chunks([chunk("a"), chunk("a", parent="elsewhere"), chunk("a")]))
    assert [parent for _, parent in episodic.parents] == ["", "elsewhere", "a/2"]


async def test_reading_stops_while_enough_is_in_flight() -> None:
    episodic = HeldEpisodic()
    episodic.gate.clear()
    chunks = Chunks([chunk(f"c{n}") for n in range(50)])
    task = asyncio.ensure_future(answers(stream_over(episodic), chunks))
    await settled()
    assert episodic.most_running == MAX_IN_FLIGHT
    assert chunks.read <= MAX_IN_FLIGHT + 1
    episodic.gate.set()
    assert await task == [f"c{n}/1" for n in range(50)]
    assert chunks.read == 50
    assert episodic.most_running == MAX_IN_FLIGHT


async def test_the_first_error_ends_the_stream_in_its_place() -> None:
    episodic = HeldEpisodic()
    episodic.broken["bad"] = NotFound("conversation", "bad")
    chunks = Chunks([chunk("a"), chunk("b"), chunk("bad"), *[chunk("c") for _ in range(40)]])
    answered, error = await answers_before_the_error(stream_over(episodic), chunks)
    assert answered == ["a/1", "b/1"]
    assert isinstance(error, NotFound)
    assert chunks.read < 40, "nothing more is read once it failed"


async def test_a_chunk_that_cannot_be_read_fails_after_the_answers_before_it() -> None:
    """Stored chunks are answered although the next one is malformed; the client knows where to go on."""
    episodic = HeldEpisodic()
    episodic.gate.clear()
    chunks = Chunks([chunk("a"), chunk("a"), InvalidField("chunk.messages", "required"), chunk("a")])
    task = asyncio.ensure_future(answers_before_the_error(stream_over(episodic), chunks))
    await settled()
    episodic.gate.set()
    answered, error = await task
    assert answered == ["a/1", "a/2"]
    assert isinstance(error, InvalidField)
    assert chunks.read == 3


async def test_nothing_of_a_conversation_is_stored_after_its_chunk_that_failed() -> None:
    episodic = HeldEpisodic()
    episodic.gate.clear()
    episodic.broken["a"] = DependencyDown()
    chunks = Chunks([chunk("a"), chunk("a"), chunk("a"), chunk("b")])
    task = asyncio.ensure_future(answers_before_the_error(stream_over(episodic), chunks))
    await settled()
    episodic.gate.set()
    answered, error = await task
    assert (answered, type(error)) == ([], DependencyDown)
    assert "a" not in {place for place, _ in episodic.parents}


@pytest.mark.parametrize("fails", [False, True])
async def test_a_stream_that_ends_early_leaves_no_task_behind(fails: bool) -> None:
    """Neither a running one, nor one whose failure nobody looked at."""
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    before = asyncio.all_tasks()
    episodic = HeldEpisodic()
    if fails:
        episodic.broken = {name: DependencyDown() for name in ("a", "b")}
        answered, _ = await answers_before_the_error(
            stream_over(episodic), Chunks([chunk("a"), chunk("b"), chunk("a"), chunk("b")])
        )
        assert answered == []
    else:
        episodic.gate.clear()
        task = asyncio.ensure_future(answers(stream_over(episodic), Chunks([chunk(n) for n in "abc"])))
        await settled()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert episodic.cancelled == 3
    await settled()
    gc.collect()
    assert asyncio.all_tasks() == before
    assert complaints == []


async def test_a_long_stream_keeps_no_answers() -> None:
    episodic = HeldEpisodic()
    stream = stream_over(episodic)
    await answers(stream, Chunks([chunk(f"c{n}", 50) for n in range(40)]))
    gc.collect()
    kept = [one for one in gc.get_objects() if isinstance(one, asyncio.Task) and one.done()]
    held = [one for one in kept if not one.cancelled() and isinstance(one.result(), pb.IngestResponse)]
    assert held == []
