"""Data flow and the remote memory through the whole suite (SPEC S-8, S-15, G-12, D-2)."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.field_mask_pb2 import FieldMask
from palimpsest.common.v1 import jobs_pb2, recall_pb2, resources_pb2
from palimpsest.gateway.v1 import administration_pb2, conversations_pb2, memories_pb2
from palimpsest.settings.v1 import settings_pb2

from services.kit.identity import Role
from tests.fake_remote_memory import TOKEN, FakeRemoteMemory
from tests.integration.embedded_suite import AGENT, Running, running
from tests.waiting import until

TENANT = "default"
LOCAL, ALLOW = settings_pb2.DATA_FLOW_LOCAL_ONLY, settings_pb2.DATA_FLOW_ALLOW_PARTNER
REMOTE = settings_pb2.PROVIDER_REMOTE


@pytest.fixture
def remote() -> Iterator[FakeRemoteMemory]:
    fake = FakeRemoteMemory()
    fake.start()
    yield fake
    fake.stop()


@pytest.fixture
def configured(remote: FakeRemoteMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The deployment has a remote memory, and lets tenants use it."""
    settings = {
        "REMOTE_URL": remote.url,
        "REMOTE_TOKEN": TOKEN,
        "REMOTE_SECONDS": "0.5",
        "REMOTE_SWEEP_SECONDS": "0.5",
        "DATA_FLOW": "allow-partner",
    }
    for name, value in settings.items():
        monkeypatch.setenv(f"PALIMPSEST_SEMANTIC_{name}", value)


@pytest.fixture
async def suite(configured: None, tmp_path: Path) -> AsyncIterator[Running]:
    async with running(tmp_path / "data") as made:
        yield made


class Tenant:
    """One tenant's agent, and short ways to use it."""

    def __init__(self, stub: Any) -> None:
        self.stub = stub

    async def begin(self, agent: str = AGENT, **settings: Any) -> None:
        await self.stub.CreateAgent(conversations_pb2.CreateAgentRequest(agent_id=agent))
        if settings:
            await self.put(**settings)

    async def put(self, agent: str = "", **settings: Any) -> None:
        await self.stub.UpdateSettings(
            settings_pb2.UpdateSettingsRequest(
                agent_id=agent,
                settings=settings_pb2.Settings(**settings),
                update_mask=FieldMask(paths=list(settings)),
            )
        )

    async def remember(self, key: str, value: str, agent: str = AGENT) -> resources_pb2.Memory:
        request = memories_pb2.RememberRequest(
            agent_id=agent, key=key, value=value, fact_type=resources_pb2.FACT_TYPE_FACT
        )
        return (await self.stub.Remember(request)).memory  # type: ignore[no-any-return]

    async def forget(self, memory_id: str) -> None:
        await self.stub.ForgetMemory(memories_pb2.ForgetMemoryRequest(agent_id=AGENT, memory_id=memory_id))

    async def recall(self, query: str, agent: str = AGENT, **fields: Any) -> memories_pb2.RecallResponse:
        request = memories_pb2.RecallRequest(agent_id=agent, query=query, **fields)
        return await self.stub.Recall(request)  # type: ignore[no-any-return]

    async def found(self, query: str) -> dict[str, set[int]]:
        """Values, and the channels that found them."""
        answer = await self.recall(query)
        return {hit.memory.value: {c.channel for c in hit.explanation.channels} for hit in answer.hits}

    async def failures(self, query: str = "heron") -> dict[int, str]:
        return {one.channel: one.cause for one in (await self.recall(query)).failures}

    async def refusals(self) -> dict[str, int]:
        report = await self.stub.GetDataFlowReport(settings_pb2.GetDataFlowReportRequest(days=2))
        counts: dict[str, int] = {}
        for one in report.refusals:
            counts[one.kind] = counts.get(one.kind, 0) + one.count
        return counts

    async def jobs(self, type_: str = "sync_memory") -> list[jobs_pb2.Job]:
        page = await self.stub.ListJobs(
            administration_pb2.ListJobsRequest(filter=administration_pb2.JobFilter(types=[type_]))
        )
        return list(page.jobs)


async def tenant_of(suite: Running, name: str = "") -> Tenant:
    return Tenant(await suite.stub(await suite.key(Role.ADMIN, name) if name else None))


async def test_memories_are_kept_there_and_recall_asks_it_beside_the_others(
    suite: Running, remote: FakeRemoteMemory
) -> None:
    """S-15: what it says besides is of no account."""
    ours = await tenant_of(suite)
    await ours.begin(provider=REMOTE)
    await ours.remember("heron.food", "the heron eats fish")
    await until(lambda: remote.values(TENANT, AGENT) == ["the heron eats fish"])

    async def through_it() -> bool:
        return recall_pb2.CHANNEL_REMOTE in (await ours.found("heron")).get("the heron eats fish", set())

    await until(through_it)
    remote.extra_hits = [{"id": "made-up", "score": 99.0}, {"id": "a\x00b", "score": 98.0}]
    answer = await ours.recall("heron")
    assert [hit.memory.value for hit in answer.hits] == ["the heron eats fish"]
    assert not answer.failures
    why = answer.hits[0].explanation
    total = sum(c.contribution for c in why.channels) + sum(s.contribution for s in why.signals)
    assert total == pytest.approx(why.score, rel=1e-4)
    asked = remote.requests("recall")
    assert {one.profile for one in asked} == {(TENANT, AGENT)}


async def test_superseding_and_forgetting_reach_it_and_it_cannot_bring_them_back(
    suite: Running, remote: FakeRemoteMemory
) -> None:
    """S-8, D-2: even one that goes on naming them."""
    ours = await tenant_of(suite)
    await ours.begin(provider=REMOTE)
    old = await ours.remember("city", "lives in Oslo")
    name = await ours.remember("name", "is called Ada")
    await until(lambda: remote.values(TENANT, AGENT) == ["is called Ada", "lives in Oslo"])
    await ours.remember("city", "lives in Bergen")
    await ours.forget(name.id)
    await until(lambda: remote.values(TENANT, AGENT) == ["lives in Bergen"])
    remote.extra_hits = [{"id": old.id, "score": 9.0}, {"id": name.id, "score": 8.0}]
    assert set(await ours.found("lives Oslo called Ada")) == {"lives in Bergen"}


async def test_recall_works_without_it_and_says_so(suite: Running, remote: FakeRemoteMemory) -> None:
    """S-15, S-11: down, slow, refusing, or talking nonsense."""
    ours = await tenant_of(suite)
    await ours.begin(provider=REMOTE)
    await ours.remember("heron.food", "the heron eats fish")
    await until(lambda: remote.values(TENANT, AGENT) != [])
    await until(_indexed(ours, "heron"))
    assert await ours.failures() == {}
    for fault in ((500, b""), (401, b""), (200, b"<html>"), (200, b'{"hits": 3}')):
        remote.fault = fault
        assert await ours.failures() == {recall_pb2.CHANNEL_REMOTE: "not available"}
        assert set(await ours.found("heron")) == {"the heron eats fish"}
    remote.fault, remote.slow_seconds = None, 3.0
    assert set(await ours.failures()) == {recall_pb2.CHANNEL_REMOTE}
    remote.slow_seconds = 0
    port = remote.port
    remote.stop()
    assert await ours.failures() == {recall_pb2.CHANNEL_REMOTE: "not available"}
    remote.start(port)
    assert await ours.failures() == {}


async def test_what_was_written_during_an_outage_is_there_after_it(
    suite: Running, remote: FakeRemoteMemory
) -> None:
    """S-15: and what was forgotten is not."""
    ours = await tenant_of(suite)
    await ours.begin(provider=REMOTE)
    name = await ours.remember("name", "Ada")
    await until(lambda: remote.values(TENANT, AGENT) == ["Ada"])
    port = remote.port
    remote.stop()
    await ours.forget(name.id)
    for n in range(20):
        await ours.remember(f"k{n}", f"v{n}")
    assert (await ours.stub.ListMemories(memories_pb2.ListMemoriesRequest(agent_id=AGENT))).memories
    await asyncio.sleep(1)
    remote.start(port)
    await until(lambda: remote.values(TENANT, AGENT) == sorted(f"v{n}" for n in range(20)))


async def test_a_policy_that_turns_local_only_stops_what_is_sent_at_once_and_for_one_tenant(
    suite: Running, remote: FakeRemoteMemory
) -> None:
    """S-15: jobs end with a refusal that is counted; turned back, what was kept in follows."""
    ours, theirs = await tenant_of(suite), await tenant_of(suite, "bank")
    await ours.begin(provider=REMOTE)
    await theirs.begin(provider=REMOTE)
    await ours.remember("k0", "before")
    await until(lambda: remote.values(TENANT, AGENT) == ["before"])
    await ours.put(data_flow=LOCAL)
    await until(_kept_in(ours))
    sent = len(remote.requests(tenant=TENANT))
    secret = await ours.remember("k1", "kept in")
    await theirs.remember("k1", "theirs")
    await until(lambda: remote.values("bank", AGENT) == ["theirs"])

    async def ended() -> bool:
        jobs = [job for job in await ours.jobs() if job.subject.endswith(secret.id)]
        return [job.state for job in jobs] == [jobs_pb2.JOB_STATE_DEAD]

    await until(ended)
    (job,) = [job for job in await ours.jobs() if job.subject.endswith(secret.id)]
    assert job.error.startswith("DATA_FLOW_REFUSED")
    assert len(remote.requests(tenant=TENANT)) == sent
    assert await ours.failures("kept") == {recall_pb2.CHANNEL_REMOTE: "kept in by the data-flow policy"}

    async def counted() -> bool:
        found = await ours.refusals()
        return found.get("remote_memory", 0) == 1 and found.get("remote_recall", 0) >= 1

    await until(counted)
    assert await theirs.refusals() == {}
    await ours.put(data_flow=ALLOW)
    await until(lambda: remote.values(TENANT, AGENT) == ["before", "kept in"])


async def test_one_agent_may_be_local_only_in_a_tenant_that_is_not(
    suite: Running, remote: FakeRemoteMemory
) -> None:
    """S-15, G-12."""
    ours = await tenant_of(suite)
    await ours.begin(provider=REMOTE)
    await ours.begin("bob")
    await ours.put("bob", data_flow=LOCAL)
    await ours.remember("k", "bob's own", agent="bob")
    await ours.remember("k", "everybody's")
    await until(lambda: remote.values(TENANT, AGENT) == ["everybody's"])

    async def refused() -> bool:
        return (await ours.refusals()).get("remote_memory", 0) == 1

    await until(refused)
    assert remote.requests(tenant=TENANT)
    assert {one.profile for one in remote.asked} == {(TENANT, AGENT)}


async def test_forgetting_reaches_it_though_nothing_else_may(
    suite: Running, remote: FakeRemoteMemory
) -> None:
    """D-2: a deletion holds no text."""
    ours = await tenant_of(suite)
    await ours.begin(provider=REMOTE)
    name = await ours.remember("name", "Ada")
    await until(lambda: remote.values(TENANT, AGENT) == ["Ada"])
    await ours.put(data_flow=LOCAL)
    await until(_kept_in(ours))
    await ours.forget(name.id)
    await until(lambda: remote.values(TENANT, AGENT) == [])
    deletions = [one for one in remote.asked if one.method == "DELETE"]
    assert [one.body for one in deletions] == [None]


async def test_a_deployment_that_is_local_only_is_so_for_all(
    configured: None, remote: FakeRemoteMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S-15: whatever a tenant chose."""
    monkeypatch.setenv("PALIMPSEST_SEMANTIC_DATA_FLOW", "local-only")
    async with running(tmp_path / "data") as suite:
        ours = await tenant_of(suite)
        await ours.begin(provider=REMOTE, data_flow=ALLOW)
        await ours.remember("name", "Ada")
        await until(_kept_in(ours))

        async def refused() -> bool:
            return (await ours.refusals()).get("remote_memory", 0) == 1

        await until(refused)
        assert remote.asked == []


async def test_what_was_not_sent_before_a_stop_is_sent_after_the_start(
    configured: None, remote: FakeRemoteMemory, tmp_path: Path
) -> None:
    """S-15: at least once."""
    port = remote.port
    remote.stop()
    async with running(tmp_path / "data") as suite:
        ours = await tenant_of(suite)
        await ours.begin(provider=REMOTE)
        await ours.remember("name", "Ada")
        await until(_indexed(ours, "Ada"))
    remote.start(port)
    async with running(tmp_path / "data"):
        await until(lambda: remote.values(TENANT, AGENT) == ["Ada"])


class Vectors:
    """An embedding endpoint; it notes the texts that came."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        vectors = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                vectors.texts += body["input"]
                rows = [{"index": n, "embedding": [1.0, 0.5]} for n, _ in enumerate(body["input"])]
                answer = json.dumps({"data": rows}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: object) -> None:
                """Nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()


async def test_an_embedding_model_that_is_somebody_elses_gets_no_text_of_a_local_only_tenant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S-15, M-5: refused, named and counted; another tenant's texts go there."""
    vectors = Vectors()
    settings = {
        "BACKEND": "openai",
        "OPENAI_BASE_URL": f"http://127.0.0.1:{vectors.server.server_port}/v1",
        "OPENAI_MODEL": "remote",
        "DIMENSION": "2",
        "DATA_FLOW": "allow-partner",
    }
    for name, value in settings.items():
        monkeypatch.setenv(f"PALIMPSEST_EMBEDDER_{name}", value)
    async with running(tmp_path / "data") as suite:
        ours, theirs = await tenant_of(suite), await tenant_of(suite, "bank")
        await ours.begin()
        await theirs.begin(data_flow=LOCAL)
        await theirs.remember("heron.food", "a secret heron")
        await ours.remember("heron.food", "the heron eats fish")
        await until(_indexed(ours, "heron"))
        cause = {recall_pb2.CHANNEL_VECTOR: "kept in by the data-flow policy"}
        assert await theirs.failures("a secret question") == cause
        answer = await theirs.recall("heron")
        assert [hit.memory.value for hit in answer.hits] == ["a secret heron"], "its key is found here"

        async def counted() -> bool:
            return (await theirs.refusals()).get("embedding", 0) >= 2

        await until(counted)
        assert await ours.refusals() == {}
        assert "the heron eats fish" in vectors.texts
        assert not any("secret" in text for text in vectors.texts)
    vectors.stop()


async def test_settings_change_how_recall_fuses(tmp_path: Path) -> None:
    """G-12, S-9: of an agent, and only where the request does not say."""
    async with running(tmp_path / "data") as suite:
        ours = await tenant_of(suite)
        await ours.begin()
        await ours.remember("heron.food", "the heron eats fish")
        await until(_indexed(ours, "heron"))
        weights = [
            recall_pb2.ChannelWeight(channel=channel, weight=0)
            for channel in (recall_pb2.CHANNEL_VECTOR, recall_pb2.CHANNEL_KEY, recall_pb2.CHANNEL_MESSAGES)
        ]
        reference = recall_pb2.FusionStrategy(reference=recall_pb2.ReferenceFusion(k=1, weights=weights))
        adaptive = recall_pb2.FusionStrategy(adaptive=recall_pb2.AdaptiveFusion())
        before = (await ours.recall("heron")).hits[0].explanation.score
        await ours.put(fusion=reference)

        async def changed() -> bool:
            why = (await ours.recall("heron")).hits[0].explanation
            return why.score == pytest.approx(0.5 * 1.4, rel=1e-3)

        await until(changed)
        said = (await ours.recall("heron", fusion=adaptive)).hits[0].explanation.score
        assert said == pytest.approx(before, rel=1e-3)


async def test_an_agent_that_wants_no_verification_has_none(tmp_path: Path) -> None:
    """G-12, S-7: and another one has."""
    async with running(tmp_path / "data") as suite:
        ours = await tenant_of(suite)
        await ours.begin()
        await ours.begin("bob")
        await ours.put("bob", verify=False)

        async def state(agent: str, memory_id: str) -> int:
            request = memories_pb2.GetMemoryRequest(agent_id=agent, memory_id=memory_id)
            return int((await ours.stub.GetMemory(request)).memory.verification)

        made = {agent: (await ours.remember("k", "v", agent=agent)).id for agent in (AGENT, "bob")}

        async def settled() -> bool:
            return resources_pb2.VERIFICATION_PENDING not in [await state(*one) for one in made.items()]

        await until(settled)
        assert await state(AGENT, made[AGENT]) == resources_pb2.VERIFICATION_VERIFIED
        assert await state("bob", made["bob"]) == resources_pb2.VERIFICATION_NOT_NEEDED


def _indexed(tenant: Tenant, query: str) -> Callable[[], Awaitable[bool]]:
    async def holds() -> bool:
        found = await tenant.found(query)
        return any(recall_pb2.CHANNEL_VECTOR in channels for channels in found.values())

    return holds


def _kept_in(tenant: Tenant) -> Callable[[], Awaitable[bool]]:
    """Until Semantic knows of the policy."""

    async def holds() -> bool:
        return (await tenant.failures()).get(recall_pb2.CHANNEL_REMOTE, "").startswith("kept in")

    return holds
