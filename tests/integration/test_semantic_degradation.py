"""What fails is named, what works answers, nothing wrong comes out, nothing is lost (SPEC S-11, S-16, X-1).

One service serves all tests: a fault is met by the calls of one tenant, and each test has tenants of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations, count, product
from math import isfinite
from pathlib import Path
from typing import TypeAlias

import grpc
import pytest
import pytest_asyncio
from palimpsest.common.v1 import recall_pb2, resources_pb2
from palimpsest.semantic.v1 import semantic_pb2 as pb

from services.kit.identity import Principal, Role
from services.kit.models.settings import ModelSettings, TierSettings
from tests import scripted_model as scripted
from tests.integration.embedded_suite import failure
from tests.integration.faults import Faults, Mode, Part
from tests.integration.semantic_suite import (
    AGENT,
    CODE,
    KEY,
    KEYWORD,
    MESSAGES,
    VECTOR,
    Episodic,
    Semantic,
    assert_adds_up,
    running,
    scope,
)
from tests.scripted_model import MODEL, Reply, ScriptedModel, completion, scripted_model

pytestmark = pytest.mark.asyncio(loop_scope="module")
CHANNEL_SECONDS = 2.0
AT_ONCE = 14
DOWN, SLOW, NONSENSE, STRANGE = Mode
HYDE = recall_pb2.CHANNEL_HYDE
UNAVAILABLE = (CODE.UNAVAILABLE, "DEPENDENCY_DOWN")
NOT_AVAILABLE, TIMED_OUT, UNUSABLE = "not available", "timed out", "gave no usable answer"
Channel: TypeAlias = "recall_pb2.Channel.ValueType"
Plan = Mapping[Part, Mode]

RECALLING = (Part.VECTORS, Part.WORDS, Part.KEYS, Part.EMBEDDER)
"""Parts of which any two may fail while a channel of memories is left."""
SINGLE: list[Plan] = [{part: mode} for part, mode in product(RECALLING, Mode)]
PAIRS: list[Plan] = [
    {one: first, other: second}
    for one, other in combinations(RECALLING, 2)
    for first, second in product(Mode, Mode)
]
CAUSES = {DOWN: NOT_AVAILABLE, SLOW: TIMED_OUT, NONSENSE: UNUSABLE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """Somebody with a memory from a message, both about a heron, beside another person's."""

    semantic: Semantic
    faults: Faults
    name: str

    @property
    def writer(self) -> Principal:
        return Principal(tenant=self.name, role=Role.WRITER, subject="test")

    @property
    def worker(self) -> Principal:
        return Principal(tenant=self.name, role=Role.SERVICE, subject="test")

    async def settle(self) -> None:
        """The two persons' memories and messages, indexed."""
        for who in ("ann", "bob"):
            message = await self.semantic.said(f"{who} saw a heron", who, contact_id=who, tenant=self.name)
            source = resources_pb2.MessageRef(conversation_id=who, message_id=message.id)
            written = await self.semantic.known(
                "heron", f"the heron of {who}", who, by=self.writer, provenance=[source]
            )
            if who == "bob":
                self.faults.strangers += [written.memory.id, f"bob/{message.sequence:012d}", "nowhere"]

    async def recall(self) -> pb.RecallMemoriesResponse:
        return await self.semantic.recall("heron", "ann", by=self.writer)

    async def search(self) -> pb.RecallMessagesResponse:
        return await self.semantic.search("heron", "ann", by=self.writer)


@pytest.fixture(scope="module")
def faults() -> Faults:
    return Faults()


@pytest.fixture(scope="module")
def numbers() -> Iterator[int]:
    return count()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def semantic(tmp_path_factory: pytest.TempPathFactory, faults: Faults) -> AsyncIterator[Semantic]:
    async with running(
        tmp_path_factory.mktemp("degradation"),
        Episodic(),  # type: ignore[abstract]
        channel_seconds=CHANNEL_SECONDS,
        openers=faults.openers(),
        within=faults.within(),
    ) as made:
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def tenants(semantic: Semantic, faults: Faults, numbers: Iterator[int]) -> list[Tenant]:
    made = [Tenant(semantic=semantic, faults=faults, name=f"t{next(numbers)}") for _ in range(AT_ONCE)]
    await asyncio.gather(*(tenant.settle() for tenant in made))
    return made


@pytest_asyncio.fixture(loop_scope="module")
async def tenant(semantic: Semantic, faults: Faults, numbers: Iterator[int]) -> Tenant:
    made = Tenant(semantic=semantic, faults=faults, name=f"t{next(numbers)}")
    await made.settle()
    return made


def expected(plan: Plan) -> tuple[set[Channel], dict[Channel, str]]:
    """The channels that find the memory, and those that fail with the cause."""
    failing: dict[Channel, str] = {}
    finding = {VECTOR, KEYWORD, KEY, MESSAGES}
    for part, channels in ((Part.WORDS, {KEYWORD, MESSAGES}), (Part.KEYS, {KEY}), (Part.VECTORS, {VECTOR})):
        if part in plan:
            finding -= channels
            if plan[part] in CAUSES:
                failing |= dict.fromkeys(channels, CAUSES[plan[part]])
    if Part.EMBEDDER in plan:  # asked first
        finding -= {VECTOR}
        failing[VECTOR] = TIMED_OUT if plan[Part.EMBEDDER] is SLOW else NOT_AVAILABLE
    return finding, failing


def ways_of(answer: pb.RecallMemoriesResponse) -> dict[str, set[Channel]]:
    """By which channels each memory was found."""
    return {hit.memory.id: {place.channel for place in hit.explanation.channels} for hit in answer.hits}


def assert_sound(why: recall_pb2.Explanation) -> None:
    """S-11: ranks from 1, numbers that are numbers, parts that add up."""
    assert_adds_up(why)
    assert all(isfinite(place.score) and isfinite(place.contribution) for place in why.channels)
    assert isfinite(why.score)


async def test_without_a_fault_every_channel_finds_it(tenant: Tenant) -> None:
    """The positive control."""
    answer = await tenant.recall()
    assert not answer.failures
    (hit,) = answer.hits
    assert hit.memory.value == "the heron of ann"
    assert {place.channel for place in hit.explanation.channels} == expected({})[0]
    (match,) = (await tenant.search()).matches
    assert match.ref.conversation_id == "ann"


@pytest.mark.parametrize("plans", [SINGLE, PAIRS], ids=["one", "two"])
async def test_recall_works_as_long_as_a_channel_does(tenants: list[Tenant], plans: list[Plan]) -> None:
    """S-11, S-5: any part in any way, and any two: the failed are named, and nobody else's comes back."""
    for start in range(0, len(plans), AT_ONCE):
        met = list(zip(tenants, plans[start : start + AT_ONCE], strict=False))
        for tenant, plan in met:
            tenant.faults.set(tenant.name, plan)
        answers = await asyncio.gather(*(tenant.recall() for tenant, _ in met))
        for (_, plan), answer in zip(met, answers, strict=True):
            finding, failing = expected(plan)
            assert {failed.channel: failed.cause for failed in answer.failures} == failing, plan
            assert [hit.memory.value for hit in answer.hits] == ["the heron of ann"], plan
            why = answer.hits[0].explanation
            assert {place.channel for place in why.channels} == finding, plan
            assert_sound(why)


async def test_search_works_as_long_as_a_channel_does(tenants: list[Tenant]) -> None:
    """S-11, S-12: of messages; where neither channel answers, the service is said to be unavailable."""
    ways = {Part.KEYS: False, Part.VECTORS: True, Part.WORDS: True, Part.EMBEDDER: True}
    plans = [plan for plan in (*SINGLE, *PAIRS) if all(ways[part] for part in plan)]
    for start in range(0, len(plans), AT_ONCE):
        met = list(zip(tenants, plans[start : start + AT_ONCE], strict=False))
        for tenant, plan in met:
            tenant.faults.set(tenant.name, plan)
        await asyncio.gather(*(searches_well(tenant, plan) for tenant, plan in met))


async def searches_well(tenant: Tenant, plan: Plan) -> None:
    finding, failing = (set(found) & {VECTOR, KEYWORD} for found in expected(plan))
    if failing == {VECTOR, KEYWORD}:
        request = pb.RecallMessagesRequest(scope=scope("ann"), query="heron")
        outcome = await failure(tenant.semantic.by(tenant.writer).RecallMessages(request))
        assert outcome[:2] == UNAVAILABLE, plan
        return
    answer = await tenant.search()
    assert {failed.channel for failed in answer.failures} == failing, plan
    assert [match.ref.conversation_id for match in answer.matches] == (["ann"] if finding else []), plan
    for match in answer.matches:
        assert {place.channel for place in match.explanation.channels} == finding, plan
        assert_sound(match.explanation)


async def test_recall_is_unavailable_where_every_channel_fails(tenant: Tenant) -> None:
    """S-11, X-1: and works again when one is back."""
    plan = {Part.EMBEDDER: NONSENSE, Part.WORDS: DOWN, Part.KEYS: SLOW}
    tenant.faults.set(tenant.name, plan)
    request = pb.RecallMemoriesRequest(scope=scope("ann"), query="heron")
    assert (await failure(tenant.semantic.by(tenant.writer).RecallMemories(request)))[:2] == UNAVAILABLE
    tenant.faults.set(tenant.name, {part: mode for part, mode in plan.items() if part is not Part.KEYS})
    (hit,) = (await tenant.recall()).hits
    assert {place.channel for place in hit.explanation.channels} == {KEY}


async def test_without_the_registry_memories_are_recalled_and_tokens_are_pending(tenant: Tenant) -> None:
    """S-11, S-16: it alone knows of messages, and how far they are indexed."""
    token = resources_pb2.FreshnessToken(agent_id=AGENT)
    token.messages.conversation_id, token.messages.sequence = "ann", 1
    request = pb.RecallMemoriesRequest(scope=scope("ann"), query="heron", wait_for=[token])
    call = tenant.semantic.by(tenant.writer).RecallMemories
    assert not (await call(request)).unindexed, "the positive control"
    tenant.faults.set(tenant.name, {Part.REGISTRY: DOWN})
    answer = await call(request, timeout=5)
    assert [(failed.channel, failed.cause) for failed in answer.failures] == [(MESSAGES, NOT_AVAILABLE)]
    assert [hit.memory.value for hit in answer.hits] == ["the heron of ann"]
    pending = resources_pb2.UNINDEXED_STATE_PENDING
    assert [(one.token, one.state) for one in answer.unindexed] == [(token, pending)]
    search = pb.RecallMessagesRequest(scope=scope("ann"), query="heron")
    assert (await failure(tenant.semantic.by(tenant.writer).RecallMessages(search)))[:2] == UNAVAILABLE


@pytest.mark.parametrize("mode", [DOWN, SLOW])
async def test_without_the_store_nothing_is_half_done(tenant: Tenant, mode: Mode) -> None:
    """X-1: a write that was not acknowledged can be repeated, and is then made once."""
    by, expected_error = tenant.semantic.by(tenant.writer), UNAVAILABLE
    if mode is SLOW:
        expected_error = (CODE.DEADLINE_EXCEEDED, "DEADLINE")
    request = pb.RememberRequest(scope=scope("ann"), key="stork", value="a stork", request_id="r")
    tenant.faults.set(tenant.name, {Part.STORE: mode})
    recall = pb.RecallMemoriesRequest(scope=scope("ann"), query="heron")
    for call in (by.Remember(request, timeout=1.5), by.RecallMemories(recall, timeout=1.5)):
        code, reason, _ = await failure(call)
        assert (code, reason or "DEADLINE") == expected_error
    tenant.faults.set(tenant.name, {})
    listing = pb.ListMemoriesRequest(scope=scope("ann"))
    assert {m.value for m in (await by.ListMemories(listing)).memories} == {"the heron of ann"}
    written = [await by.Remember(request) for _ in range(2)]
    assert [one.created for one in written] == [True, True]
    assert len({one.memory.id for one in written}) == 1


LASTING: list[Plan] = [
    {part: mode}
    for part, mode in product(
        (Part.VECTORS, Part.WORDS, Part.REGISTRY, Part.KEYS, Part.EMBEDDER, Part.EPISODIC), Mode
    )
]


async def test_nothing_that_was_acknowledged_is_lost(tenants: list[Tenant]) -> None:
    """SV-2, J-3: whatever fails while it is written and indexed, it is recalled once all is well again."""
    for start in range(0, len(LASTING), AT_ONCE):
        met = zip(tenants, LASTING[start : start + AT_ONCE], strict=False)
        await asyncio.gather(*(loses_nothing(tenant, plan) for tenant, plan in met))


async def loses_nothing(tenant: Tenant, plan: Plan) -> None:
    ((part, mode),) = plan.items()
    semantic, name = tenant.semantic, f"{part}.{mode}"
    tenant.faults.set(tenant.name, plan)
    written = await semantic.remember(name, f"{name} keeps storks", "ann", by=tenant.writer)
    message = semantic.episodic.add(f"a stork of {name}", name, contact_id="ann", tenant=tenant.name)
    assert written.created
    request = pb.IndexRequest(agent_id=AGENT)
    request.items.add().memory.memory_id = written.memory.id
    request.items.add().message.MergeFrom(pb.MessageItem(conversation_id=name, sequence=message.sequence))
    with suppress(grpc.aio.AioRpcError):  # an error is the job's, which is then run again
        await semantic.by(tenant.worker).Index(request, timeout=2)
    tenant.faults.set(tenant.name, {})
    outcomes = (await semantic.by(tenant.worker).Index(request)).outcomes
    assert all(outcome.ok for outcome in outcomes), plan
    answer = await semantic.recall("storks", "ann", by=tenant.writer)
    assert ways_of(answer)[written.memory.id] >= {VECTOR, KEYWORD}, plan
    found = (await semantic.search("stork", "ann", by=tenant.writer)).matches
    ways = {match.ref.message_id: match.explanation.channels for match in found}
    assert {place.channel for place in ways[message.id]} == {VECTOR, KEYWORD}, plan


async def test_writes_are_taken_while_the_ledger_is_down(semantic: Semantic, tenant: Tenant) -> None:
    """SV-2, J-1: the jobs come once it is back."""
    tenant.faults.chosen.clear()
    semantic.compactor.down = True
    written = await semantic.remember("crane", "a crane", "ann", by=tenant.writer)
    answer = await semantic.recall("crane", "ann", by=tenant.writer, wait_for=[written.token], timeout=2)
    assert [one.token for one in answer.unindexed] == [written.token]
    assert ways_of(answer)[written.memory.id] == {KEY}
    semantic.compactor.down = False
    assert await semantic.work_off(at_least=1, until_quiet=3) > 0
    answer = await semantic.recall("crane", "ann", by=tenant.writer, wait_for=[written.token])
    assert not answer.unindexed
    assert ways_of(answer)[written.memory.id] == {VECTOR, KEYWORD, KEY}


SAID_BY_MODELS = {
    "down": Reply(status=500),
    "cut": Reply(body=(b'{"choices": [',), cut=True),
    "slow": Reply(silent=True),
    "no JSON": Reply(body=(b"\xff\xfe heron",)),
    "another form": scripted.answer({"choices": "heron"}),
    "nothing": completion(""),
    "no text": completion(None),
}


@pytest_asyncio.fixture(loop_scope="module")
async def model() -> AsyncIterator[ScriptedModel]:
    async with scripted_model() as made:
        yield made


async def test_a_model_that_fails_takes_its_channel_alone(tmp_path: Path, model: ScriptedModel) -> None:
    """S-9, S-11: in each way, by itself and beside another part."""
    faults, tier = Faults(), TierSettings(url=model.url, name=MODEL, attempts=1, partner=False)
    async with running(
        tmp_path,
        Episodic(),  # type: ignore[abstract]
        channel_seconds=CHANNEL_SECONDS,
        openers=faults.openers(),
        within=faults.within(),
        answers_by=ModelSettings(fast=tier),
    ) as semantic:
        made = [Tenant(semantic=semantic, faults=faults, name=f"t{n}") for n in range(len(SINGLE) + 1)]
        await asyncio.gather(*(tenant.settle() for tenant in made))
        model.otherwise = completion("a heron stands in the river")
        (hit,) = (await made[0].recall()).hits
        assert HYDE in {place.channel for place in hit.explanation.channels}, "the positive control"
        for tenant, plan in zip(made, [{}, *SINGLE], strict=True):
            faults.set(tenant.name, plan)
        for reply in SAID_BY_MODELS.values():
            model.otherwise = reply
            answers = await asyncio.gather(*(tenant.recall() for tenant in made))
            for plan, answer in zip([{}, *SINGLE], answers, strict=True):
                finding, failing = expected(plan)
                named = {failed.channel: failed.cause for failed in answer.failures}
                assert named.pop(HYDE) in (NOT_AVAILABLE, TIMED_OUT), plan
                assert named == failing, plan
                (hit,) = answer.hits
                assert {place.channel for place in hit.explanation.channels} == finding, plan
                assert_sound(hit.explanation)
