"""The remote memory follows the canonical store, as far as policies let it (SPEC S-15, D-2)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from services.kit.errors import DataFlowRefused, DependencyDown
from services.kit.policy import CLOSED, DataFlow, EffectiveSettings, Provider
from services.memory.semantic.adapters.sql.memories import SqlMemories
from services.memory.semantic.adapters.sql.memories_writing import WriteRules
from services.memory.semantic.adapters.sql.remote_copies import SqlRemoteCopies
from services.memory.semantic.app.following import FollowedIndexing
from services.memory.semantic.app.indexing import Item, MemoryItem, MessageItem
from services.memory.semantic.app.providers import (
    ASKED,
    SENT,
    Rejected,
    RemotePolicy,
    RemoteRecall,
    Unanswered,
)
from services.memory.semantic.app.syncing import BUSY, DONE, KEPT, UNKNOWN, NoRemote, Syncing, SyncOutcome
from services.memory.semantic.domain.memory import FactType, Kind, Memory, NewMemory, Scope, Source
from tests.unit.semantic_parts import AGENT, AGENT_WIDE, NOW, TENANT, Outbox, Sql

REMOTE_ON = EffectiveSettings(data_flow=DataFlow.ALLOW_PARTNER, provider=Provider.REMOTE)
KEPT_IN = EffectiveSettings(data_flow=DataFlow.LOCAL_ONLY, provider=Provider.REMOTE)
LOCAL = EffectiveSettings(data_flow=DataFlow.ALLOW_PARTNER)
HOLD = 60.0


@dataclass
class Remote:
    """A MemoryProvider that notes what it is asked, and fails as it is told to."""

    held: dict[str, Memory] = field(default_factory=dict)
    calls: list[tuple[str, Any]] = field(default_factory=list)
    error: Exception | None = None
    rejects: frozenset[str] = frozenset()
    """Tenants whose memories it does not take."""
    refuses: frozenset[str] = frozenset()
    """Values that it does not take."""
    hits: list[tuple[str, float]] = field(default_factory=list)
    before_answer: Callable[[], Awaitable[None]] | None = None

    async def remember(self, tenant: str, agent_id: str, memories: Sequence[Memory]) -> None:
        self.calls.append(("remember", sorted(memory.value for memory in memories)))
        if tenant in self.rejects or not self.refuses.isdisjoint(memory.value for memory in memories):
            raise Rejected
        await self._answer()
        self.held |= {memory.id: memory for memory in memories}

    async def recall(
        self, tenant: str, scope: Scope, query: str, kinds: frozenset[Kind], limit: int
    ) -> list[tuple[str, float]]:
        self.calls.append(("recall", query))
        await self._answer()
        return self.hits

    async def flush(self, tenant: str, agent_id: str) -> None:
        self.calls.append(("flush", None))

    async def forget(self, tenant: str, agent_id: str, memory_id: str) -> None:
        self.calls.append(("forget", memory_id))
        await self._answer()
        self.held.pop(memory_id, None)

    async def _answer(self) -> None:
        if self.before_answer is not None:
            await self.before_answer()
        if self.error is not None:
            raise self.error

    def said(self, what: str) -> list[Any]:
        return [said for call, said in self.calls if call == what]


@dataclass
class Policy:
    """Settings by tenant."""

    settings: dict[str, EffectiveSettings] = field(default_factory=dict)

    async def of(self, tenant: str, agent_id: str = "") -> EffectiveSettings:
        return self.settings.get(tenant, REMOTE_ON)


class Bench:
    """Syncing over a database in memory and a remote memory that a test takes away."""

    def __init__(self, *, partner: bool = True) -> None:
        self.now = NOW
        sql = Sql()
        self.store = SqlMemories(sql, WriteRules(task_lifetime=timedelta(days=7)))
        self.copies = SqlRemoteCopies(sql)
        self.outbox = Outbox(sql)
        self.remote = Remote()
        self.policy = Policy()
        self.refused: list[tuple[str, str]] = []
        self.woken = 0
        chosen = RemotePolicy(
            self.policy, lambda tenant, kind: self.refused.append((tenant, kind)), partner=partner
        )
        self.recall = RemoteRecall(self.remote, chosen)
        self.syncing = Syncing(
            store=self.store,
            copies=self.copies,
            provider=self.remote,
            policy=chosen,
            wake=self._wake,
            clock=lambda: self.now,
            sweep_seconds=60,
            held_seconds=HOLD,
        )

    def _wake(self) -> None:
        self.woken += 1

    async def remember(self, key: str, value: str, tenant: str = TENANT, **fields: Any) -> str:
        chosen: dict[str, Any] = {
            "fact_type": FactType.FACT,
            "pinned": False,
            "source": Source.EXPLICIT,
            "provenance": (),
            "valid_from": None,
            "request_id": "",
        } | fields
        new = NewMemory(scope=AGENT_WIDE, key=key, value=value, **chosen)
        return (await self.store.remember(tenant, new, self.now)).memory.id

    async def sync(self, *ids: str, tenant: str = TENANT) -> list[SyncOutcome]:
        return await self.syncing.sync(tenant, AGENT, ids)

    def values(self) -> list[str]:
        return sorted(memory.value for memory in self.remote.held.values())


async def test_what_lasts_is_sent_once_and_again_is_no_change() -> None:
    """S-15: what is acknowledged was flushed."""
    bench = Bench()
    one, two = await bench.remember("city", "Oslo"), await bench.remember("name", "Ada")
    assert await bench.sync(one, two, one) == [DONE] * 3
    assert bench.remote.calls == [("remember", ["Ada", "Oslo"]), ("flush", None)]
    assert await bench.sync(one, two) == [DONE] * 2
    assert len(bench.remote.calls) == 2


async def test_what_is_superseded_or_forgotten_is_deleted_there() -> None:
    """S-8, D-2."""
    bench = Bench()
    old, name = await bench.remember("city", "Oslo"), await bench.remember("name", "Ada")
    await bench.sync(old, name)
    bench.now += timedelta(days=1)
    new = await bench.remember("city", "Bergen")
    await bench.store.forget(TENANT, AGENT, name)
    assert await bench.sync(old, new, name) == [DONE] * 3
    assert bench.values() == ["Bergen"]
    assert sorted(bench.remote.said("forget")) == sorted([old, name])
    await bench.sync(old, name)
    assert len(bench.remote.said("forget")) == 2, "it has these no more"


async def test_what_was_never_sent_needs_no_deletion() -> None:
    """S-15."""
    bench = Bench()
    name = await bench.remember("name", "Ada")
    await bench.store.forget(TENANT, AGENT, name)
    assert await bench.sync(name) == [DONE]
    assert bench.remote.calls == []


async def test_local_only_sends_no_text_is_counted_and_ends_the_job() -> None:
    """S-15: another tenant's policy is its own."""
    bench = Bench()
    bench.policy.settings["bank"] = KEPT_IN
    theirs = await bench.remember("city", "Zurich", tenant="bank")
    ours = await bench.remember("city", "Oslo")
    assert await bench.sync(theirs, tenant="bank") == [SyncOutcome(error=KEPT, refused=True)]
    assert bench.refused == [("bank", SENT)]
    assert bench.remote.calls == []
    assert await bench.sync(ours) == [DONE]
    assert bench.values() == ["Oslo"]


async def test_a_deletion_holds_no_text_and_is_sent_under_every_policy() -> None:
    """D-2, S-15: what is forgotten does not stay with a partner."""
    bench = Bench()
    name = await bench.remember("name", "Ada")
    await bench.sync(name)
    await bench.store.forget(TENANT, AGENT, name)
    for settings in (KEPT_IN, LOCAL, CLOSED):
        bench.policy.settings[TENANT] = settings
        assert await bench.sync(name) == [DONE]
        assert bench.remote.held == {}
    assert bench.refused == []


async def test_a_policy_that_is_not_known_makes_work_wait() -> None:
    """S-15: nothing leaves, and nothing is given up."""
    bench = Bench()
    bench.policy.settings[TENANT] = CLOSED
    name = await bench.remember("name", "Ada")
    assert await bench.sync(name) == [SyncOutcome(error=UNKNOWN)]
    assert (bench.remote.calls, bench.refused) == ([], [])


async def test_a_remote_memory_of_ones_own_is_no_partner() -> None:
    """S-15."""
    bench = Bench(partner=False)
    bench.policy.settings[TENANT] = KEPT_IN
    assert await bench.sync(await bench.remember("name", "Ada")) == [DONE]
    assert bench.values() == ["Ada"]


async def test_with_the_local_provider_nothing_is_sent() -> None:
    """S-15: and nothing is refused."""
    bench = Bench()
    bench.policy.settings[TENANT] = LOCAL
    assert await bench.sync(await bench.remember("name", "Ada")) == [DONE]
    assert (bench.remote.calls, bench.refused) == ([], [])


async def test_what_failed_with_an_answer_is_sent_again_at_once() -> None:
    """S-15."""
    bench = Bench()
    name = await bench.remember("name", "Ada")
    bench.remote.error = DependencyDown()
    with pytest.raises(DependencyDown):
        await bench.sync(name)
    bench.remote.error = None
    assert await bench.sync(name) == [DONE]
    assert bench.values() == ["Ada"]


async def test_a_request_that_may_yet_arrive_is_not_overtaken() -> None:
    """D-2: forgotten meanwhile, the memory is deleted once the request can come no more."""
    bench = Bench()
    name = await bench.remember("name", "Ada")
    bench.remote.error = Unanswered()
    with pytest.raises(Unanswered):
        await bench.sync(name)
    bench.remote.error = None
    await bench.store.forget(TENANT, AGENT, name)
    assert await bench.sync(name) == [SyncOutcome(error=BUSY)]
    assert bench.remote.said("forget") == []
    bench.now += timedelta(seconds=HOLD)
    assert await bench.sync(name) == [DONE]
    assert bench.remote.said("forget") == [name]


async def test_what_is_forgotten_while_it_is_sent_is_deleted_after() -> None:
    """D-2: two workers at a time."""
    bench = Bench()
    name = await bench.remember("name", "Ada")
    overtaking: list[list[SyncOutcome]] = []

    async def forgotten() -> None:
        bench.remote.before_answer = None
        await bench.store.forget(TENANT, AGENT, name)
        overtaking.append(await bench.sync(name))

    bench.remote.before_answer = forgotten
    assert await bench.sync(name) == [DONE]
    assert overtaking == [[SyncOutcome(error=BUSY)]]
    assert bench.values() == ["Ada"]
    assert await bench.sync(name) == [DONE], "the job that was busy comes again"
    assert bench.values() == []


async def test_a_worker_that_is_stopped_leaves_its_rows_held() -> None:
    """D-2: its request may be on its way."""
    bench = Bench()
    name = await bench.remember("name", "Ada")
    begun = asyncio.Event()

    async def endless() -> None:
        begun.set()
        await asyncio.Event().wait()

    bench.remote.before_answer = endless
    task = asyncio.create_task(bench.sync(name))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    bench.remote.before_answer = None
    assert await bench.sync(name) == [SyncOutcome(error=BUSY)]


# The sweep


async def test_a_sweep_sends_and_deletes_what_jobs_lost() -> None:
    """S-15: resync after an outage, of more than one batch."""
    bench = Bench()
    ids = [await bench.remember(f"k{n}", f"v{n}") for n in range(150)]
    assert await bench.syncing.sweep()
    assert len(bench.remote.held) == 150
    await bench.store.forget(TENANT, AGENT, ids[7])
    bench.now += timedelta(days=1)
    await bench.remember("k8", "new")
    count = len(bench.remote.calls)
    assert await bench.syncing.sweep()
    assert len(bench.remote.held) == 149
    assert bench.remote.calls[count:] == [
        *sorted([("forget", ids[7]), ("forget", ids[8])]),
        ("remember", ["new"]),
        ("flush", None),
    ]
    assert await bench.syncing.sweep()
    assert len(bench.remote.calls) == count + 4, "nothing is left to be done"


async def test_a_sweep_says_that_it_failed_and_leaves_the_rest_for_the_next() -> None:
    """S-15."""
    bench = Bench()
    await bench.remember("name", "Ada")
    bench.remote.error = DependencyDown()
    assert not await bench.syncing.sweep()
    bench.remote.error = None
    assert await bench.syncing.sweep()
    assert bench.values() == ["Ada"]


async def test_a_sweep_goes_on_with_others_where_one_is_rejected() -> None:
    """S-15, J-3: and says that it is not done."""
    bench = Bench()
    bench.remote.rejects = frozenset({"a-tenant"})
    await bench.remember("name", "Bea", tenant="a-tenant")
    await bench.remember("name", "Ada")
    assert not await bench.syncing.sweep()
    assert bench.values() == ["Ada"]


@pytest.mark.parametrize("settings", [KEPT_IN, LOCAL, CLOSED])
async def test_a_sweep_deletes_under_every_policy_and_sends_under_one(settings: EffectiveSettings) -> None:
    """S-15: nothing that a policy keeps in is counted again and again."""
    bench = Bench()
    old = await bench.remember("name", "Ada")
    await bench.syncing.sweep()
    await bench.store.forget(TENANT, AGENT, old)
    await bench.remember("city", "Oslo")
    bench.policy.settings[TENANT] = settings
    assert await bench.syncing.sweep()
    assert bench.values() == []
    assert bench.refused == []
    bench.policy.settings[TENANT] = REMOTE_ON
    await bench.syncing.sweep()
    assert bench.values() == ["Oslo"]


# Following the index jobs


@dataclass
class Indexing:
    error: Exception | None = None
    batches: list[list[Item]] = field(default_factory=list)

    async def index(self, tenant: str, agent_id: str, batch: Sequence[Item]) -> list[str]:
        self.batches.append(list(batch))
        if self.error:
            raise self.error
        return [""] * len(batch)


async def test_each_change_of_a_memory_has_a_job_whatever_becomes_of_the_indexes() -> None:
    """S-15: once for a change."""
    bench, inner = Bench(), Indexing(error=DependencyDown())
    indexing = FollowedIndexing(inner, bench.syncing)
    name = await bench.remember("name", "Ada")
    bench.outbox.clear()
    batch: list[Item] = [MessageItem(conversation_id="c", sequence=1), MemoryItem(memory_id=name)]
    with pytest.raises(DependencyDown):
        await indexing.index(TENANT, AGENT, batch)
    assert list(bench.outbox) == [f"sync_memory/{AGENT}/{name}/1"]
    assert bench.woken == 1
    inner.error = None
    assert await indexing.index(TENANT, AGENT, batch[:1]) == [""]
    assert bench.woken == 1, "messages are none of its business"


@pytest.mark.parametrize(("settings", "jobs"), [(REMOTE_ON, 2), (KEPT_IN, 2), (CLOSED, 2), (LOCAL, 1)])
async def test_with_the_local_provider_only_copies_have_jobs(settings: EffectiveSettings, jobs: int) -> None:
    """S-15, D-2."""
    bench = Bench()
    sent = await bench.remember("name", "Ada")
    await bench.sync(sent)
    other = await bench.remember("city", "Oslo")
    bench.outbox.clear()
    bench.policy.settings[TENANT] = settings
    await bench.syncing.follow(TENANT, AGENT, [sent, other])
    assert len(list(bench.outbox)) == jobs


async def test_without_a_remote_memory_its_jobs_end() -> None:
    """S-15: one that was taken out of the configuration."""
    (outcome,) = await NoRemote().sync(TENANT, AGENT, ["m"])
    assert outcome.refused


# Recall


async def test_recall_asks_it_where_the_settings_name_it_and_the_policy_lets_the_query_out() -> None:
    """S-15: refusals are counted."""
    bench = Bench()
    bench.remote.hits = [("m1", 0.5)]
    assert await bench.recall.wanted(TENANT, AGENT)
    asked = await bench.recall.ranked(TENANT, AGENT_WIDE, "heron", frozenset(), 5)
    assert asked == [("m1", 0.5)]
    bench.policy.settings[TENANT] = KEPT_IN
    assert await bench.recall.wanted(TENANT, AGENT)
    with pytest.raises(DataFlowRefused):
        await bench.recall.ranked(TENANT, AGENT_WIDE, "heron", frozenset(), 5)
    assert bench.refused == [(TENANT, ASKED)]
    assert bench.remote.said("recall") == ["heron"]
    bench.policy.settings[TENANT] = LOCAL
    assert not await bench.recall.wanted(TENANT, AGENT)


async def test_one_memory_that_is_refused_costs_no_other_of_its_agent() -> None:
    """J-3: the batch is halved until it stands alone."""
    bench = Bench()
    bench.remote.refuses = frozenset({"v3"})
    for n in range(8):
        await bench.remember(f"k{n}", f"v{n}")
    assert not await bench.syncing.sweep()
    assert sorted(bench.values()) == [f"v{n}" for n in range(8) if n != 3]
    bench.remote.refuses = frozenset()
    assert await bench.syncing.sweep(), "nobody holds it"
    assert len(bench.values()) == 8
