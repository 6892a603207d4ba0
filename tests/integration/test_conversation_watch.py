"""Watching a conversation over a socket, on SQLite and through two replicas on PostgreSQL (SPEC E-12)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, aclosing
from pathlib import Path
from typing import Any

import grpc
import pytest
from palimpsest.history.v1 import history_pb2 as pb
from palimpsest.history.v1 import history_pb2_grpc

from services.kit.channels import CHANNEL_OPTIONS
from services.kit.context import act_as
from services.kit.errors import PalimpsestError, Reason
from services.kit.identity import TokenSigner
from services.kit.ids import new_id
from services.kit.metrics import Metrics
from services.kit.serving import Service, listening, outgoing
from services.kit.sqlite import Database, SqliteScripts
from services.kit.times import now
from services.kit.watching import RESUME_AFTER, Signal
from services.memory.episodic.adapters.sql import migrations, sql_stores
from services.memory.episodic.app.history import History, HistoryRules
from services.memory.episodic.app.ports import Stores
from services.memory.episodic.app.usage import UsageCounts
from services.memory.episodic.domain.append import Append, Draft
from services.memory.episodic.domain.coverage import CoverRules
from services.memory.episodic.domain.model import Agent, Conversation, ConversationKey, Role
from services.memory.episodic.domain.parts import Text, encode
from services.memory.episodic.rpc.history_servicer import face
from tests.integration.episodic_server import ONLY_B, OTHER, READER, SECRET, WRITER
from tests.integration.history_service import C, Replica, failure, numbered, replicas

KEY = ConversationKey(tenant="acme", agent_id="a", id="c")
PATIENCE_SECONDS = 0.5
BIG = 250_000  # characters of a message of which a socket holds few


@pytest.fixture(params=["sqlite", "postgres"])
async def pair(
    request: pytest.FixtureRequest, tmp_path: Path, pytestconfig: pytest.Config
) -> AsyncIterator[list[Replica]]:
    async with replicas(request.param, tmp_path, pytestconfig, count=2) as made:
        yield made


def watch(replica: Replica, **fields: Any) -> Any:
    """The events of a watcher, to be closed."""
    return replica.history.WatchConversation(pb.WatchConversationRequest(**{**C, **fields}))


def text(event: pb.WatchConversationResponse) -> str:
    """An event in short."""
    match event.WhichOneof("event"):
        case "message":
            return event.message.id
        case "overlay_change":
            return "+".join(overlay.id for overlay in event.overlay_change.overlays)
        case _:
            progress = event.progress
            return f"{progress.leaf_id}/{progress.stored_count}/{progress.depth}/{progress.covered_count}"


async def until(
    events: Any, last: str, got: list[pb.WatchConversationResponse] | None = None
) -> list[pb.WatchConversationResponse]:
    """Events up to the one that reads so."""
    got = [] if got is None else got
    async with asyncio.timeout(30):
        while not got or text(got[-1]) != last:
            got.append(await anext(events))
    return got


def texts(events: Sequence[pb.WatchConversationResponse]) -> list[str]:
    return [text(event) for event in events]


async def test_a_watcher_begins_with_how_things_are_and_sees_what_comes(pair: list[Replica]) -> None:
    writer, reader = pair
    await writer.say(*numbered(4))
    async with aclosing(watch(reader)) as events:
        assert texts(await until(events, "m4/4/4/0")) == ["m4/4/4/0"]
        await writer.say("m5")
        assert texts(await until(events, "m5/5/5/0")) == ["m5", "m5/5/5/0"]
        await writer.overlay("m1", "m2")
        await until(events, "m5/5/5/2")
        await writer.overlay("m3", "m4")
        assert texts(await until(events, "m5/5/5/4")) == ["m3-m4", "m5/5/5/4"]
        await writer.overlay("m1", "m4", folded_overlay_ids=["m1-m2", "m3-m4"])
        *_, fold, _ = await until(events, "m5/5/5/4")
        marked = {one.id: list(one.superseded_by) for one in fold.overlay_change.overlays}
        assert marked == {"m1-m2": ["m1-m4"], "m3-m4": ["m1-m4"], "m1-m4": []}
        await writer.say("b2", parent_id="m1", branch=True)
        assert texts(await until(events, "b2/6/2/0")) == ["b2", "b2/6/2/0"]
        await writer.history.SwitchLeaf(pb.SwitchLeafRequest(message_id="m5", **C))
        assert texts(await until(events, "m5/6/5/4")) == ["m5/6/5/4"]


async def test_a_watcher_begins_after_a_sequence_number_with_all_overlays(pair: list[Replica]) -> None:
    writer, reader = pair
    await writer.say(*numbered(5))
    await writer.overlay("m1", "m2")
    for after, expected in ((0, numbered(5)), (3, ["m4", "m5"]), (5, []), (99, []), (2**40, [])):
        async with aclosing(watch(reader, after_sequence=after)) as events:
            found = texts(await until(events, "m5/5/5/2"))
            assert found == [*expected, "m1-m2", "m5/5/5/2"]


async def test_a_watcher_of_an_empty_conversation_waits_for_its_first_message(pair: list[Replica]) -> None:
    writer, reader = pair
    async with aclosing(watch(reader, after_sequence=0)) as events:
        assert texts(await until(events, "/0/0/0")) == ["/0/0/0"]
        await writer.say("m1")
        assert texts(await until(events, "m1/1/1/0")) == ["m1", "m1/1/1/0"]


async def test_a_watcher_resumes_after_any_event(pair: list[Replica]) -> None:
    writer, reader = pair
    await writer.say(*numbered(4))
    await writer.overlay("m1", "m2")
    await writer.say("b2", parent_id="m1", branch=True)
    async with aclosing(watch(reader, after_sequence=0)) as events:
        seen = await until(events, "b2/5/2/0")
    assert texts(seen) == [*numbered(4), "b2", "m1-m2", "b2/5/2/0"]
    await writer.say("b3")
    for place, event in enumerate(seen):
        async with aclosing(watch(reader, resume_token=event.resume_token)) as events:
            rest = texts(await until(events, "b3/6/3/0"))
        earlier = texts(seen)
        missed = [*earlier[place + 1 : 5], "b3", *earlier[max(place + 1, 5) : 6]]
        assert rest == [*missed, "b3/6/3/0"]


async def test_a_resume_token_of_another_conversation_is_refused(pair: list[Replica]) -> None:
    served = pair[0]
    await served.say("m1")
    async with aclosing(watch(served)) as events:
        token = (await anext(events)).resume_token
    for fields in (
        {"resume_token": token, "conversation_id": "d"},
        {"resume_token": token, "agent_id": "b"},
        {"resume_token": "abc"},
        {"resume_token": token[:-4]},
        {"resume_token": ""},
    ):
        error = await failure(anext(watch(served, **fields)))
        assert (error.reason, [p.field for p in error.fields]) == (Reason.INVALID_FIELD, ["resume_token"])
    async with aclosing(watch(served, resume_token=token)) as events:
        assert text(await anext(events)) == "m1/1/1/0"
    error = await failure(anext(watch(served, after_sequence=-1)))
    assert [p.field for p in error.fields] == ["after_sequence"]


async def test_what_is_unknown_is_not_found_and_a_reader_may_watch(pair: list[Replica]) -> None:
    served = pair[0]
    for fields in ({"conversation_id": "zz"}, {"agent_id": "zz"}):
        assert (await failure(anext(watch(served, **fields)))).reason is Reason.RESOURCE_NOT_FOUND
    for fields in ({"conversation_id": ""}, {"conversation_id": "c\0"}, {"agent_id": "a\0"}):
        assert (await failure(anext(watch(served, **fields)))).reason is Reason.INVALID_FIELD
    with act_as(ONLY_B):
        assert (await failure(anext(watch(served)))).reason is Reason.NOT_ALLOWED
    await served.say("m1")
    with act_as(OTHER):
        async with aclosing(watch(served, after_sequence=0)) as events:
            assert text(await anext(events)) == "/0/0/0"
    with act_as(READER):
        async with aclosing(watch(served, after_sequence=0)) as events:
            assert text(await anext(events)) == "m1"


async def test_nothing_is_missed_or_repeated_while_all_is_changed_through_both_replicas(
    pair: list[Replica],
) -> None:
    await pair[0].say(*numbered(4))
    watchers = [watch(replica, after_sequence=0) for replica in pair]
    async with asyncio.timeout(60), AsyncExitStack() as stack:
        for events in watchers:
            await stack.enter_async_context(aclosing(events))

        async def write(replica: Replica, name: str) -> None:
            for n in range(12):
                ids = numbered(3, prefix=f"{name}{n}.")
                await replica.say(*ids, parent_id="m4", branch=True)
                await replica.overlay(ids[0], ids[-1])
                await replica.history.SwitchLeaf(pb.SwitchLeafRequest(message_id=ids[1], **C))

        async def resumed(replica: Replica) -> list[pb.WatchConversationResponse]:
            """A watcher that is cut off after every few events, and goes on."""
            got: list[pb.WatchConversationResponse] = []
            start: dict[str, Any] = {"after_sequence": 0}
            while not got or text(got[-1]) != "end":
                async with aclosing(watch(replica, **start)) as events:
                    for _ in range(7):
                        got.append(await anext(events))
                        if text(got[-1]) == "end":
                            break
                start = {"resume_token": got[-1].resume_token}
            return got

        writers = [write(replica, name) for replica, name in zip(pair, "ab", strict=True)]
        reading = [
            *(asyncio.create_task(until(events, "end")) for events in watchers),
            *(asyncio.create_task(resumed(replica)) for replica in pair),
        ]
        await asyncio.gather(*writers)
        leaf = (await pair[0].conversation()).leaf_id
        await pair[1].overlay("m1", "m2", overlay_id="end")
        for seen in await asyncio.gather(*reading):
            messages = [event.message for event in seen if event.HasField("message")]
            assert [m.sequence for m in messages] == list(range(1, 4 + 72 + 1))
            changed = [
                one.id
                for event in seen
                if event.HasField("overlay_change")
                for one in event.overlay_change.overlays
            ]
            assert len(changed) == len(set(changed)) == 25
            told = [event.progress for event in seen if event.HasField("progress")]
            assert told[-1].stored_count <= 76
    state = await pair[0].conversation()
    assert (state.leaf_id, state.stored_count) == (leaf, 76)


class Served:
    """HistoryService alone, on SQLite, with a signal that can be looked into."""

    def __init__(self, stores: Stores, signal: Signal[ConversationKey], stub: Any) -> None:
        self.stores = stores
        self.signal = signal
        self.stub = stub

    async def leaf(self) -> str:
        return (await self.stores.conversations.get(KEY)).leaf_id

    async def say(self, *texts: str) -> None:
        drafts = tuple(
            Draft(
                id="",
                role=Role.USER,
                author="",
                session="",
                time=1,
                token_count=1,
                content=encode([Text(text=text)]),
            )
            for text in texts
        )
        await self.stores.messages.append(
            Append(key=KEY, drafts=drafts, parent_id=None, request_id="", now=1)
        )
        self.signal.notify(KEY)


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with AsyncExitStack() as stack:
        file = await Database.open(tmp_path / "e.db", migrations("sqlite"), readers=1)
        stack.push_async_callback(file.close)
        rules = CoverRules(uncovered_messages=25, uncovered_tokens=None, fold_tokens=960)
        stores = await sql_stores(SqliteScripts(file), rules=rules, max_bytes=1 << 20)
        await stores.agents.create("acme", Agent(id="a", display_name="", system_prompt="", create_time=1))
        new = Conversation(id="c", agent_id="a", contact_id="", title="", create_time=1, update_time=1)
        await stores.conversations.create("acme", new)
        signal: Signal[ConversationKey] = Signal()
        history = History(
            stores.history,
            now,
            new_id,
            counters={},
            rules=HistoryRules(fork_messages=9, poll_seconds=60),
            changed=signal,
            on_stored=lambda: None,
        )
        service = Service(
            name="palimpsest.episodic.v1.EpisodicService",
            add=lambda _: None,
            roles={},
            ready=lambda: asyncio.sleep(0, True),
            faces=(
                face(history, UsageCounts(stores.usage, now), patience=PATIENCE_SECONDS, fold_tokens=960),
            ),
        )
        port = await stack.enter_async_context(
            listening(service, SECRET, Metrics(), "127.0.0.1:0", drain_seconds=0)
        )
        inner = grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=CHANNEL_OPTIONS)
        channel = outgoing(inner, "episodic", TokenSigner(SECRET))
        stack.push_async_callback(channel.close)
        with act_as(WRITER):
            yield Served(stores, signal, history_pb2_grpc.HistoryServiceStub(channel))


async def becomes(condition: Callable[[], bool]) -> None:
    """Waits until it holds."""
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 - what is waited for tells nobody
            await asyncio.sleep(0.01)


async def test_watchers_that_leave_free_everything(served: Served) -> None:
    """However they leave: closed while waiting or while reading, cancelled, or refused."""
    await served.say(*numbered(50))
    request = pb.WatchConversationRequest(after_sequence=0, **C)
    calls = [served.stub.WatchConversation(request) for _ in range(4)]
    for call in calls:
        assert (await anext(call)).message.sequence == 1
    assert len(served.signal) == 1
    for _ in range(50):
        await anext(calls[0])
    waiting = asyncio.create_task(anext(calls[0]))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    waiting.cancel()
    await asyncio.wait([waiting])
    for call in calls:
        await call.aclose()
    await becomes(lambda: len(served.signal) == 0)
    await failure(anext(served.stub.WatchConversation(pb.WatchConversationRequest(resume_token="x", **C))))
    assert len(served.signal) == 0


async def test_a_slow_watcher_is_dropped_and_goes_on_where_it_was(served: Served) -> None:
    """Nothing is queued for it. What the transport took still arrives; then the error says where to go on."""
    count = 60
    for n in range(count):
        await served.say(f"{n} " + "x" * BIG)
    got: list[pb.WatchConversationResponse] = []
    call = served.stub.WatchConversation(pb.WatchConversationRequest(after_sequence=0, **C))
    async with asyncio.timeout(30), aclosing(call) as events:
        got.append(await anext(events))
        await becomes(lambda: len(served.signal) == 0)  # the server gave up
        with pytest.raises(PalimpsestError) as caught:
            async for event in events:
                got.append(event)
    assert caught.value.reason is Reason.OVERLOADED
    received = len(got)
    assert [event.message.sequence for event in got] == list(range(1, received + 1))
    assert received < count
    for token in (got[-1].resume_token, caught.value.metadata[RESUME_AFTER]):
        request = pb.WatchConversationRequest(resume_token=token, **C)
        async with aclosing(served.stub.WatchConversation(request)) as events:
            *rest, _ = await until(events, f"{(await served.leaf())}/{count}/{count}/0")
        numbers = [event.message.sequence for event in rest]
        assert numbers == list(range(numbers[0], count + 1))
        # The event that was not taken in time may have arrived all the same.
        least = received + 1 if token == got[-1].resume_token else received
        assert least <= numbers[0] <= received + 1
    await becomes(lambda: len(served.signal) == 0)
