"""Whatever is done, each sees what is theirs and nothing else, by the gateway (SPEC S-5, S-8, S-12, X-1).

Programs of random acts run on one suite, each in tenants of its own; then every reading call is made for
every viewer and held against the model.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import count
from typing import Any

import grpc
import pytest
import pytest_asyncio
from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.message import Message
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from palimpsest.common.v1 import recall_pb2, resources_pb2
from palimpsest.gateway.v1 import memories_pb2 as pb
from palimpsest.gateway.v1 import prompt_pb2

from services.kit.times import to_timestamp
from tests.integration.embedded_suite import Running, failure, running
from tests.integration.scope_world import (
    BASE,
    COMMON,
    DAY,
    NOBODY,
    OWNERS,
    PERSONS,
    TASK,
    Line,
    Owner,
    Row,
    Who,
    World,
    all_marks,
    marks_of,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")
CODE = grpc.StatusCode
NOT_FOUND = (CODE.NOT_FOUND, "RESOURCE_NOT_FOUND")
FACT, EVENT, RULE = (
    resources_pb2.FACT_TYPE_FACT,
    resources_pb2.FACT_TYPE_EVENT,
    resources_pb2.FACT_TYPE_INSTRUCTION,
)
VECTOR, KEYWORD = recall_pb2.CHANNEL_VECTOR, recall_pb2.CHANNEL_KEYWORD
KEY, MESSAGES = recall_pb2.CHANNEL_KEY, recall_pb2.CHANNEL_MESSAGES
CHANNELS = (VECTOR, KEYWORD, KEY, MESSAGES)
ALONE = {
    channel: recall_pb2.FusionStrategy(
        reference=recall_pb2.ReferenceFusion(
            weights=[recall_pb2.ChannelWeight(channel=c, weight=float(c == channel)) for c in CHANNELS]
        )
    )
    for channel in CHANNELS
}
VIEWERS = (NOBODY, *PERSONS)

Act = tuple[Any, ...]
owners, people, viewers = st.sampled_from(OWNERS), st.sampled_from(PERSONS), st.sampled_from(VIEWERS)
acts = st.one_of(
    st.tuples(st.just("say"), owners, viewers),
    st.tuples(
        st.just("remember"),
        owners,
        viewers,
        st.sampled_from((FACT, EVENT, RULE, TASK)),
        st.booleans(),
        st.booleans(),
        st.booleans(),
    ),
    st.tuples(st.just("merge"), owners, people, people),
    st.tuples(st.just("unmerge"), owners, people),
    st.tuples(st.just("link"), owners, people),
)
HERE, THERE = OWNERS[0], OWNERS[2]
MERGED_AND_UNDONE: list[Act] = [
    ("say", HERE, "ann"),
    ("say", THERE, "ann"),
    ("say", HERE, "bob"),
    ("remember", HERE, "ann", FACT, True, True, True),
    ("remember", THERE, "ann", FACT, True, False, True),
    ("remember", HERE, "bob", FACT, True, False, True),
    ("remember", HERE, NOBODY, FACT, False, False, False),
    ("link", HERE, "bob"),
    ("merge", HERE, "bob", "ann"),
    ("remember", HERE, "bob", EVENT, False, True, True),
    ("merge", HERE, "ann", "cyd"),
    ("remember", HERE, "cyd", TASK, False, False, False),
    ("unmerge", HERE, "bob"),
]
MERGED = [*MERGED_AND_UNDONE[:-1], ("remember", HERE, "ann", FACT, True, False, False)]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def suite(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    async with running(tmp_path_factory.mktemp("scopes") / "data") as made:
        yield made


@pytest.fixture(scope="module")
def marks() -> Iterator[str]:
    return all_marks()


@pytest.fixture(scope="module")
def numbers() -> count[int]:
    return count()


@example(program=MERGED, day=3)
@example(program=MERGED_AND_UNDONE, day=2)
@settings(max_examples=10, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(program=st.lists(acts, min_size=4, max_size=14), day=st.integers(0, 8))
async def test_each_sees_what_is_theirs_and_nothing_else(
    suite: Running, marks: Iterator[str], numbers: count[int], program: Sequence[Act], day: int
) -> None:
    """S-5: after any sequence of acts, by any call and channel."""
    number = next(numbers)
    world = World(suite, marks, (f"one-{number}", f"two-{number}"))
    await world.begin()
    for act in program:
        await perform(world, *act)
    await world.contradict()
    moment = BASE + day * DAY + DAY / 2
    for owner in OWNERS:
        await indexed(world, owner)
        for who in VIEWERS:
            reader = Reader(world, owner, who)
            await reader.recalls(None)
            await reader.recalls(moment)
            await reader.lists(moment)
            await reader.searches()
            await reader.assembles()
        await foreign_things_are_not_there(world, owner)


async def perform(world: World, name: str, owner: Owner, who: Who, *rest: Any) -> None:
    if name == "remember":
        fact_type, shared, pinned, sourced = rest
        await world.remember(owner, who, fact_type=fact_type, shared=shared, pinned=pinned, sourced=sourced)
    else:
        await getattr(world, name)(owner, who, *rest)


async def indexed(world: World, owner: Owner) -> None:
    """Waits until the indexes have all of it, what is past too."""
    answer = await world.stubs[owner].Recall(
        pb.RecallRequest(
            agent_id=world.agent(owner),
            query=COMMON,
            as_of_time=to_timestamp(BASE),
            wait_for=world.tokens[owner],
        )
    )
    assert not answer.unindexed


class Reader:
    """One viewer's readings."""

    def __init__(self, world: World, owner: Owner, who: Who) -> None:
        self.world, self.owner, self.who = world, owner, who
        self.stub = world.stubs[owner]
        self.place: dict[str, Any] = {
            "agent_id": world.agent(owner),
            "contact_id": world.contact_id(owner, who),
        }

    async def recalls(self, moment: datetime | None) -> None:
        """S-8, S-9: by all channels and by each alone; everything that is the viewer's, by all its ways."""
        held = {row.id: row for row in self.world.held(self.owner, self.who, moment)}
        as_of = to_timestamp(moment) if moment else None
        request = pb.RecallRequest(query=COMMON, limit=100, as_of_time=as_of, **self.place)
        together = pb.RecallRequest(fill=True)
        together.MergeFrom(request)
        answer = await self.stub.Recall(together)
        assert not answer.failures
        assert {hit.memory.id for hit in answer.hits} == held.keys()
        self.sees_only(answer, held.values())
        for hit in answer.hits:
            channels = {place.channel for place in hit.explanation.channels}
            assert channels == self.ways(held[hit.memory.id])
        for channel, fusion in ALONE.items():
            request.fusion.CopyFrom(fusion)
            answer = await self.stub.Recall(request)
            assert {hit.memory.id for hit in answer.hits} == {
                row.id for row in held.values() if channel in self.ways(row)
            }
            self.sees_only(answer, held.values())

    def ways(self, row: Row) -> set[recall_pb2.Channel.ValueType]:
        """S-3, S-9: the channels that find a memory by COMMON."""
        found = {KEYWORD, KEY} if row.task else {VECTOR, KEYWORD, KEY}
        if row.source in self.world.group(self.owner, self.who) | {NOBODY}:
            found.add(MESSAGES)
        return found

    async def lists(self, moment: datetime) -> None:
        """By key, in lists, as history, as contradictions."""
        held = self.world.held(self.owner, self.who)
        past = self.world.held(self.owner, self.who, moment)
        written = self.world.written(self.owner, self.who)
        for rows, chosen in (
            (held, {}),
            (written, {"include_superseded": True}),
            (past, {"as_of_time": to_timestamp(moment)}),
        ):
            listing = await self.stub.ListMemories(pb.ListMemoriesRequest(**chosen, **self.place))
            assert {memory.id for memory in listing.memories} == {row.id for row in rows}
        for key in {row.key for row in self.world.rows}:
            await self.reads(key, held, None)
            await self.reads(key, past, moment)
        request = pb.ListContradictionsRequest(**self.place)
        found = (await self.stub.ListContradictions(request)).contradictions
        ids = {row.id for row in held}
        assert {"+".join(sorted(memory.id for memory in one.memories)) for one in found} == {
            pair for pair, (row, _) in self.world.contradictions.items() if row.id in ids
        }

    async def reads(self, key: str, rows: Sequence[Row], moment: datetime | None) -> None:
        """The person's, else the agent-wide one."""
        fitting = [row for row in rows if row.key == key]
        mine = [row for row in fitting if row.bucket != NOBODY] or fitting
        as_of = to_timestamp(moment) if moment else None
        call = self.stub.GetMemoryByKey(pb.GetMemoryByKeyRequest(key=key, as_of_time=as_of, **self.place))
        if mine:
            assert (await call).memory.id in {row.id for row in mine}
        else:
            assert (await failure(call))[:2] == NOT_FOUND

    async def searches(self) -> None:
        """S-12: messages of the person, of the conversation, of the agent."""
        heard, group = self.world.heard, self.world.group(self.owner, self.who)
        everybody = heard(self.owner, *VIEWERS)
        for scope, lines in (
            (pb.SEARCH_SCOPE_CONTACT, heard(self.owner, *group)),
            (pb.SEARCH_SCOPE_CONVERSATION, heard(self.owner, self.who)),
            (pb.SEARCH_SCOPE_ALL, everybody),
        ):
            for mode in (recall_pb2.SEARCH_MODE_SEMANTIC, recall_pb2.SEARCH_MODE_KEYWORD):
                request = pb.RecallConversationRequest(
                    agent_id=self.place["agent_id"],
                    conversation_id=self.who,
                    query=COMMON,
                    scope=scope,
                    mode=mode,
                    limit=100,
                )
                answer = await self.stub.RecallConversation(request)
                found = {(hit.message.conversation_id, hit.message.id) for hit in answer.hits}
                assert found == {(line.conversation, line.id) for line in lines}
                self.sees_only(answer, lines)

    async def assembles(self) -> None:
        """G-1: the prompt of the person's conversation has all that is theirs."""
        request = prompt_pb2.AssemblePromptRequest(
            agent_id=self.place["agent_id"], conversation_id=self.who, message=f"{COMMON}?"
        )
        answer = await self.stub.AssemblePrompt(request)
        assert not answer.failures
        lines = self.world.heard(self.owner, *self.world.group(self.owner, self.who))
        theirs: list[Row | Line] = [*self.world.held(self.owner, self.who), *lines]
        assert marks_of(answer) == {one.mark for one in theirs}

    def sees_only(self, answer: Message, theirs: Iterable[Row | Line]) -> None:
        assert marks_of(answer) <= {one.mark for one in theirs}


async def foreign_things_are_not_there(world: World, owner: Owner) -> None:
    """X-1: by its id, another agent's or tenant's memory or person can be neither read nor changed."""
    stub, agent = world.stubs[owner], world.agent(owner)
    for other in OWNERS:
        if other == owner:
            continue
        contact_id = world.contact_id(other, "ann")
        recall = pb.RecallRequest(agent_id=agent, contact_id=contact_id, query=COMMON)
        assert (await failure(stub.Recall(recall)))[:2] == NOT_FOUND
        remember = pb.RememberRequest(agent_id=agent, contact_id=contact_id, key="k", value="v")
        assert (await failure(stub.Remember(remember)))[:2] == NOT_FOUND
        for row in [row for row in world.rows if row.owner == other][:2]:
            theirs = pb.GetMemoryRequest(agent_id=world.agent(other), memory_id=row.id)
            before = await world.stubs[other].GetMemory(theirs)
            assert marks_of(before) == {row.mark}
            for call in changes(stub, agent, row):
                assert (await failure(call))[:2] == NOT_FOUND
            assert await world.stubs[other].GetMemory(theirs) == before
    for pair, _ in world.contradictions.items():
        rows = [row for row in world.rows if row.id in pair]
        if rows[0].owner != owner:
            await contradiction_is_not_there(world, owner, rows[0])


def changes(stub: Any, agent: str, row: Row) -> Iterator[Any]:
    """What could be done by a memory's id."""
    names = {"agent_id": agent, "memory_id": row.id}
    memory = resources_pb2.Memory(id=row.id, pinned=not row.pinned)
    pinned = FieldMask(paths=["pinned"])
    yield stub.GetMemory(pb.GetMemoryRequest(**names))
    yield stub.ListMemoryVersions(pb.ListMemoryVersionsRequest(**names))
    yield stub.UndoSupersession(pb.UndoSupersessionRequest(**names))
    yield stub.ForgetMemory(pb.ForgetMemoryRequest(**names))
    yield stub.UpdateMemory(pb.UpdateMemoryRequest(agent_id=agent, memory=memory, update_mask=pinned))


async def contradiction_is_not_there(world: World, owner: Owner, row: Row) -> None:
    theirs = pb.ListContradictionsRequest(
        agent_id=world.agent(row.owner), contact_id=world.contact_id(row.owner, row.bucket)
    )
    before = await world.stubs[row.owner].ListContradictions(theirs)
    assert before.contradictions
    request = pb.ResolveContradictionRequest(
        agent_id=world.agent(owner),
        contradiction_id=before.contradictions[0].id,
        kept_memory_id=row.id,
    )
    assert (await failure(world.stubs[owner].ResolveContradiction(request)))[:2] == NOT_FOUND
    assert await world.stubs[row.owner].ListContradictions(theirs) == before
