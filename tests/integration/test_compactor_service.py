"""The Compactor over sockets: a real ledger, and a Semantic service that does as told (SPEC J-1 to J-3)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.timestamp_pb2 import Timestamp
from palimpsest.common.v1 import jobs_pb2
from palimpsest.compactor.v1 import compactor_pb2 as pb
from palimpsest.compactor.v1 import compactor_pb2_grpc
from palimpsest.derived.v1 import derived_pb2, derived_pb2_grpc
from palimpsest.semantic.v1 import semantic_pb2, semantic_pb2_grpc
from pydantic import SecretStr

from services.compactor.adapters.sql import migrations
from services.compactor.bootstrap import build
from services.compactor.config import CompactorSettings
from services.compactor.domain.schedules import Spec
from services.kit.channels import Channels
from services.kit.context import act_as, current_principal
from services.kit.errors import DependencyDown, PalimpsestError, Reason, StartupError
from services.kit.identity import Principal, Role, TokenSigner
from services.kit.metrics import Metrics
from services.kit.serving import Service, listening, outgoing
from tests.postgres_server import shared_server
from tests.redis_server import shared_redis

SECRET = b"a secret of the tests, 32 bytes or more"
SERVICE = Principal(tenant="acme", role=Role.SERVICE, subject="test")
READER = Principal(tenant="acme", role=Role.READER, subject="test")
ONLY_A = Principal(tenant="acme", role=Role.SERVICE, agents=frozenset({"a"}), subject="test")
OTHER = Principal(tenant="other", role=Role.SERVICE, subject="test")


class Semantic(semantic_pb2_grpc.SemanticServiceServicer):
    """Indexes everything but what is bad; may be down, or hold its calls."""

    def __init__(self) -> None:
        self.indexed: list[tuple[str, str, str, int]] = []
        self.callers: set[Principal] = set()
        self.bad: set[int] = set()
        self.down = False
        self.open = asyncio.Event()
        self.open.set()

    async def Index(self, request: semantic_pb2.IndexRequest, _: Any) -> semantic_pb2.IndexResponse:
        principal = current_principal()
        self.callers.add(principal)
        await self.open.wait()
        if self.down:
            raise DependencyDown
        outcomes = []
        for item in request.items:
            bad = item.message.sequence in self.bad
            outcomes.append(semantic_pb2.IndexOutcome(ok=not bad, error="INTERNAL: cannot" if bad else ""))
            if not bad:
                name = item.memory.memory_id or item.message.conversation_id
                self.indexed.append((principal.tenant, request.agent_id, name, item.message.sequence))
        return semantic_pb2.IndexResponse(outcomes=outcomes)


class Suite:
    """A Compactor and its stubs, with the Semantic service behind it."""

    def __init__(self, channel: grpc.aio.Channel, semantic: Semantic) -> None:
        self.stub = compactor_pb2_grpc.CompactorServiceStub(channel)
        self.derived = derived_pb2_grpc.DerivedWorkServiceStub(channel)
        self.semantic = semantic

    async def enqueue(self, *jobs: pb.NewJob, by: Principal = SERVICE) -> list[str]:
        with act_as(by):
            return list((await self.stub.Enqueue(pb.EnqueueRequest(jobs=jobs))).job_ids)

    async def get(self, job_id: str, by: Principal = READER) -> jobs_pb2.Job:
        with act_as(by):
            return (await self.stub.GetJob(pb.GetJobRequest(job_id=job_id))).job

    async def idle(self, **chosen: Any) -> list[pb.WatchJobsResponse]:
        """Watches until nothing is left to be done."""
        request = pb.WatchJobsRequest(
            filter=pb.JobFilter(**chosen), until_idle=True, interval=Duration(nanos=1)
        )
        with act_as(READER):
            async with asyncio.timeout(20):
                return [update async for update in self.stub.WatchJobs(request)]


def socket(port: int, audience: str) -> grpc.aio.Channel:
    inner = grpc.aio.insecure_channel(f"127.0.0.1:{port}")
    return outgoing(inner, audience, TokenSigner(SECRET))


def semantic_service(servicer: Semantic) -> Service:
    async def ready() -> bool:
        return True

    return Service(
        name="palimpsest.semantic.v1.SemanticService",
        add=lambda server: semantic_pb2_grpc.add_SemanticServiceServicer_to_server(servicer, server),
        roles={"Index": Role.SERVICE},
        ready=ready,
    )


@asynccontextmanager
async def running(
    folder: Path, semantic: Semantic, specs: Sequence[Spec] = (), **chosen: Any
) -> AsyncIterator[Suite]:
    figures = {"backoff_base_seconds": 0.01, "backoff_cap_seconds": 0.02, "drain_seconds": 2.0, **chosen}
    settings = CompactorSettings(data_dir=folder, **figures)
    async with AsyncExitStack() as stack:

        async def listen(service: Service) -> grpc.aio.Channel:
            server = listening(service, SECRET, Metrics(), "127.0.0.1:0", drain_seconds=0)
            channel = socket(await stack.enter_async_context(server), service.short_name)
            stack.push_async_callback(channel.close)
            return channel

        behind = await listen(semantic_service(semantic))
        channels = Channels(
            embedder=behind, episodic=behind, semantic=behind, compactor=behind, gateway=behind
        )
        channel = await listen(await build(settings, channels, stack, specs=specs))
        yield Suite(channel, semantic)


@pytest.fixture
async def suite(tmp_path: Path) -> AsyncIterator[Suite]:
    async with running(tmp_path, Semantic()) as suite:
        yield suite


@pytest.fixture
async def resting(tmp_path: Path) -> AsyncIterator[Suite]:
    """A Compactor whose worker is off."""
    async with running(tmp_path, Semantic(), work=False) as suite:
        yield suite


def message(sequence: int, *, agent: str = "a", **changes: Any) -> pb.NewJob:
    fields: dict[str, Any] = {
        "type": "index_message",
        "agent_id": agent,
        "subject": f"conversations/c/messages/{sequence}",
        "payload": b'{"conversation_id":"c","sequence":%d}' % sequence,
        "idempotency_key": f"index_message/{agent}/c/{sequence}",
    }
    return pb.NewJob(**{**fields, **changes})


async def refused(call: Awaitable[Any], reason: Reason) -> PalimpsestError:
    with pytest.raises(PalimpsestError) as caught:
        await call
    assert caught.value.reason is reason
    return caught.value


async def test_enqueued_jobs_are_done_as_the_agent_they_belong_to(suite: Suite) -> None:
    """J-1, SV-6: the worker's token reaches the job's tenant and agent, no other."""
    memory = pb.NewJob(
        type="index_memory",
        agent_id="b",
        subject="memories/m",
        payload=b'{"memory_id":"m"}',
        idempotency_key="m",
    )
    ids = await suite.enqueue(message(1), message(2), memory)
    await suite.enqueue(message(1), by=OTHER)
    await suite.idle()
    async with asyncio.timeout(10):
        while len(suite.semantic.indexed) < 4:  # noqa: ASYNC110 - the other tenant's isn't watched
            await asyncio.sleep(0.01)
    assert sorted(suite.semantic.indexed) == [
        ("acme", "a", "c", 1),
        ("acme", "a", "c", 2),
        ("acme", "b", "m", 0),
        ("other", "a", "c", 1),
    ]
    assert {(p.tenant, p.role, p.agents) for p in suite.semantic.callers} == {
        ("acme", Role.SERVICE, frozenset({"a"})),
        ("acme", Role.SERVICE, frozenset({"b"})),
        ("other", Role.SERVICE, frozenset({"a"})),
    }
    job = await suite.get(ids[0])
    assert (job.state, job.progress, job.attempt) == (jobs_pb2.JOB_STATE_SUCCEEDED, 1.0, 1)
    assert job.HasField("finish_time")
    assert not job.HasField("lease_expire_time")


async def test_a_bad_item_dies_and_comes_back_by_a_retry(suite: Suite) -> None:
    """J-3: the others of its batch succeed; J-2: a dead one can be retried."""
    suite.semantic.bad = {7}
    ids = await suite.enqueue(*(message(i) for i in range(1, 21)))
    updates = await suite.idle()
    assert updates[-1].counts == jobs_pb2.JobCounts(succeeded=19, dead=1)
    dead = await suite.get(ids[6])
    assert (dead.state, dead.attempt, dead.error) == (jobs_pb2.JOB_STATE_DEAD, 5, "INTERNAL: cannot")
    suite.semantic.bad = set()
    with act_as(SERVICE):
        await suite.stub.RetryJob(pb.RetryJobRequest(job_id=ids[6]))
    assert (await suite.idle())[-1].counts == jobs_pb2.JobCounts(succeeded=20)


async def test_a_service_that_is_down_costs_no_attempts(suite: Suite) -> None:
    suite.semantic.down = True
    ids = await suite.enqueue(*(message(i) for i in range(1, 5)))
    async with asyncio.timeout(10):
        while (await suite.get(ids[0])).state != jobs_pb2.JOB_STATE_FAILED:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert (await suite.get(ids[0])).error.startswith("DEPENDENCY_DOWN: ")
    await asyncio.sleep(0.3)  # many more refusals than a job has attempts
    suite.semantic.down = False
    assert (await suite.idle())[-1].counts == jobs_pb2.JobCounts(succeeded=4)


@pytest.mark.parametrize(
    "payload", [b"[]", b"{}", b'{"conversation_id":"","sequence":1}', b'{"sequence":true}']
)
async def test_a_payload_that_names_nothing_is_hopeless(suite: Suite, payload: bytes) -> None:
    bad, good = await suite.enqueue(message(1, payload=payload), message(2))
    await suite.idle()
    assert (await suite.get(bad)).state == jobs_pb2.JOB_STATE_DEAD
    assert (await suite.get(bad)).error.startswith("INVALID_FIELD: ")
    assert (await suite.get(good)).state == jobs_pb2.JOB_STATE_SUCCEEDED


async def test_an_unknown_type_is_dead_with_a_reason(suite: Suite) -> None:
    (job_id,) = await suite.enqueue(message(1, type="fold_paper"))
    await suite.idle()
    job = await suite.get(job_id)
    assert (job.state, job.error.split(":")[0]) == (jobs_pb2.JOB_STATE_DEAD, "UNKNOWN_METHOD")


async def test_what_a_stopped_process_held_is_done_by_the_next(tmp_path: Path) -> None:
    """J-1, O-3: acknowledged jobs outlive the process, under the same worker name."""
    semantic = Semantic()
    semantic.open.clear()
    async with running(tmp_path, semantic, drain_seconds=0) as first:
        ids = await first.enqueue(message(1), message(2))
        async with asyncio.timeout(10):
            while not semantic.callers:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        name = (tmp_path / "worker-id").read_text()
    semantic.open.set()
    async with running(tmp_path, semantic) as second:
        await second.idle()
        assert (await second.get(ids[0])).state == jobs_pb2.JOB_STATE_SUCCEEDED
    assert (tmp_path / "worker-id").read_text() == name


async def test_a_known_key_is_looked_up_and_not_enqueued_twice(resting: Suite) -> None:
    first = await resting.enqueue(message(1), message(2))
    assert await resting.enqueue(message(2), message(1)) == first[::-1]
    request = pb.LookupJobsRequest(idempotency_keys=["index_message/a/c/2", "unknown"])
    with act_as(READER):
        found = (await resting.stub.LookupJobs(request)).jobs
    assert [(keyed.idempotency_key, keyed.job.id) for keyed in found] == [("index_message/a/c/2", first[1])]


async def test_listing_is_paged_newest_first(resting: Suite) -> None:
    ids = await resting.enqueue(*(message(i) for i in range(1, 8)))
    seen: list[str] = []
    token = ""
    with act_as(READER):
        while True:
            page = await resting.stub.ListJobs(pb.ListJobsRequest(page_size=3, page_token=token))
            seen += [job.id for job in page.jobs]
            token = page.next_page_token
            if not token:
                break
    assert seen == ids[::-1]


async def test_a_page_token_fits_its_own_listing_only(resting: Suite) -> None:
    await resting.enqueue(message(1), message(2))
    with act_as(READER):
        page = await resting.stub.ListJobs(pb.ListJobsRequest(page_size=1))
        good = pb.ListJobsRequest(page_size=1, page_token=page.next_page_token)
        assert len((await resting.stub.ListJobs(good)).jobs) == 1
        for token, chosen in (("abc", pb.JobFilter()), (page.next_page_token, pb.JobFilter(types=["t"]))):
            request = pb.ListJobsRequest(page_token=token, filter=chosen)
            await refused(resting.stub.ListJobs(request), Reason.INVALID_PAGE_TOKEN)


async def test_cancel_and_retry_follow_the_table(resting: Suite) -> None:
    (job_id,) = await resting.enqueue(message(1))
    with act_as(SERVICE):
        await refused(resting.stub.RetryJob(pb.RetryJobRequest(job_id=job_id)), Reason.JOB_STATE)
        for _ in range(2):
            answer = await resting.stub.CancelJob(pb.CancelJobRequest(job_id=job_id))
            assert answer.job.state == jobs_pb2.JOB_STATE_CANCELLED
        retried = (await resting.stub.RetryJob(pb.RetryJobRequest(job_id=job_id))).job
    assert (retried.state, retried.HasField("not_before_time")) == (jobs_pb2.JOB_STATE_QUEUED, True)


async def test_progress_is_told_of_ones_own_conversations(suite: Suite) -> None:
    """J-1: derived up to N, by kind; a dead job holds it back."""
    suite.semantic.bad = {4}
    ids = await suite.enqueue(*(message(i) for i in range(1, 7)))
    await suite.idle()
    request = derived_pb2.GetDerivedProgressRequest(agent_id="a", conversation_ids=["c", "unknown"])
    with act_as(READER):
        found = (await suite.derived.GetDerivedProgress(request)).progress
        assert list(found) == [
            derived_pb2.DerivedProgress(
                conversation_id="c", kind="index", up_to_sequence=3, dead_count=1, dead_job_id=ids[3]
            )
        ]
        nobody = derived_pb2.GetDerivedProgressRequest(agent_id="a")
        await refused(suite.derived.GetDerivedProgress(nobody), Reason.INVALID_FIELD)
    with act_as(OTHER):
        assert list((await suite.derived.GetDerivedProgress(request)).progress) == []
    with act_as(ONLY_A):
        assert len((await suite.derived.GetDerivedProgress(request)).progress) == 1
        theirs = derived_pb2.GetDerivedProgressRequest(agent_id="b", conversation_ids=["c"])
        await refused(suite.derived.GetDerivedProgress(theirs), Reason.NOT_ALLOWED)


NIGHTLY = Spec(name="nightly", job_type="index_memory", cron="0 4 * * *")
OPERATOR = Principal(tenant="acme", role=Role.OPERATOR)
ADMIN = Principal(tenant="acme", role=Role.ADMIN)


def changes(
    cron: str = "", enabled: bool = False, paths: Sequence[str] = ("cron",)
) -> derived_pb2.UpdateScheduleRequest:
    return derived_pb2.UpdateScheduleRequest(
        name="nightly",
        schedule=derived_pb2.Schedule(cron=cron, enabled=enabled),
        update_mask=FieldMask(paths=paths),
    )


async def test_a_schedule_is_listed_changed_and_asked_for(tmp_path: Path) -> None:
    """J-5: the job that is asked for comes through the outbox, under the caller's tenant."""
    async with running(tmp_path, Semantic(), specs=[NIGHTLY]) as suite:
        with act_as(READER):
            (found,) = (await suite.derived.ListSchedules(derived_pb2.ListSchedulesRequest())).schedules
            assert (found.name, found.cron, found.enabled) == ("nightly", NIGHTLY.cron, True)
            assert found.HasField("next_run_time")
            assert not found.HasField("last_run_time")
        with act_as(OPERATOR):
            answer = await suite.derived.UpdateSchedule(changes("30 2 * * *", False, ["cron", "enabled"]))
            assert (answer.schedule.cron, answer.schedule.enabled) == ("30 2 * * *", False)
            assert not answer.schedule.HasField("next_run_time")
        with act_as(ADMIN):
            asked = await suite.derived.TriggerSchedule(
                derived_pb2.TriggerScheduleRequest(name="nightly", request_id="r")
            )
        keys = pb.LookupJobsRequest(idempotency_keys=[asked.idempotency_key])
        async with asyncio.timeout(10):
            with act_as(READER):
                while not (jobs := (await suite.stub.LookupJobs(keys)).jobs):  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
        assert (jobs[0].job.type, jobs[0].job.agent_id) == ("index_memory", "*")


async def test_bad_changes_of_a_schedule_name_their_field(tmp_path: Path) -> None:
    """X-1; and each role has its own."""
    async with running(tmp_path, Semantic(), specs=[NIGHTLY]) as suite:
        update, trigger = suite.derived.UpdateSchedule, suite.derived.TriggerSchedule
        with act_as(OPERATOR):
            for cron in ("0 0 30 2 *", "x", "* * * * * *"):
                error = await refused(update(changes(cron)), Reason.INVALID_FIELD)
                assert [problem.field for problem in error.fields] == ["schedule.cron"]
            for paths in ([], ["name"]):
                error = await refused(update(changes("* * * * *", paths=paths)), Reason.INVALID_FIELD)
                assert [problem.field for problem in error.fields] == ["update_mask"]
            unknown = derived_pb2.TriggerScheduleRequest(name="unknown")
            await refused(trigger(unknown), Reason.RESOURCE_NOT_FOUND)
        with act_as(ADMIN):
            await refused(update(changes("* * * * *")), Reason.NOT_ALLOWED)
        with act_as(Principal(tenant="acme", role=Role.WRITER)):
            await refused(trigger(derived_pb2.TriggerScheduleRequest(name="nightly")), Reason.NOT_ALLOWED)
        with act_as(READER):
            (found,) = (await suite.derived.ListSchedules(derived_pb2.ListSchedulesRequest())).schedules
            assert found.cron == NIGHTLY.cron


async def test_two_compactors_share_a_postgres_and_wake_each_other(
    tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """J-1: the one that works hardly polls, so what it does it was told of by the other."""
    redis = shared_redis(pytestconfig)
    async with (
        shared_server(pytestconfig).database(migrations("postgres")) as database,
        redis.prefix() as prefix,
    ):
        shared = {
            "database_url": SecretStr(database),
            "redis_url": SecretStr(redis.url),
            "redis_prefix": prefix.rstrip(":"),
        }
        semantic = Semantic()
        async with (
            running(tmp_path / "one", semantic, work=False, **shared) as one,
            running(tmp_path / "two", semantic, poll_seconds=3600, **shared),
        ):
            async with asyncio.timeout(20):
                number = 0
                while len(semantic.indexed) < 3:
                    number += 1
                    await one.enqueue(message(number))
                    await asyncio.sleep(0.1)
            assert (await one.idle())[-1].counts == jobs_pb2.JobCounts(succeeded=number)


async def test_a_redis_that_is_none_is_an_error_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(StartupError):
        async with running(tmp_path, Semantic(), redis_url=SecretStr("nonsense")):
            pass


BY_ID: dict[str, Callable[..., Any]] = {
    "GetJob": pb.GetJobRequest,
    "RetryJob": pb.RetryJobRequest,
    "CancelJob": pb.CancelJobRequest,
}


async def test_tenants_and_limited_credentials_do_not_meet(resting: Suite) -> None:
    """SV-6: scope comes from the credential; what is out of reach does not exist."""
    (mine,) = await resting.enqueue(message(1))
    (agent_b,) = await resting.enqueue(message(1, agent="b"))
    (theirs,) = await resting.enqueue(message(1), by=OTHER)
    assert (await resting.get(mine, by=ONLY_A)).id == mine
    with act_as(ONLY_A):
        for hidden in (agent_b, theirs):
            for method, kind in (
                ("GetJob", pb.GetJobRequest),
                ("RetryJob", pb.RetryJobRequest),
                ("CancelJob", pb.CancelJobRequest),
            ):
                await refused(getattr(resting.stub, method)(kind(job_id=hidden)), Reason.RESOURCE_NOT_FOUND)
        assert [job.id for job in (await resting.stub.ListJobs(pb.ListJobsRequest())).jobs] == [mine]
        assert (await resting.stub.CountJobs(pb.CountJobsRequest())).counts.queued == 1
        keys = pb.LookupJobsRequest(idempotency_keys=["index_message/a/c/1", "index_message/b/c/1"])
        assert [keyed.job.id for keyed in (await resting.stub.LookupJobs(keys)).jobs] == [mine]
        other_agent = pb.JobFilter(agent_id="b")
        await refused(resting.stub.CountJobs(pb.CountJobsRequest(filter=other_agent)), Reason.NOT_ALLOWED)
        await refused(
            resting.stub.Enqueue(pb.EnqueueRequest(jobs=[message(2, agent="b")])), Reason.NOT_ALLOWED
        )
    with act_as(SERVICE):
        assert (await resting.stub.CountJobs(pb.CountJobsRequest())).counts.queued == 2


async def test_only_services_enqueue_and_readers_change_nothing(resting: Suite) -> None:
    (job_id,) = await resting.enqueue(message(1))
    writer = Principal(tenant="acme", role=Role.WRITER)
    with act_as(writer):
        await refused(resting.stub.Enqueue(pb.EnqueueRequest(jobs=[message(2)])), Reason.NOT_ALLOWED)
    with act_as(READER):
        await refused(resting.stub.CancelJob(pb.CancelJobRequest(job_id=job_id)), Reason.NOT_ALLOWED)
        await refused(resting.stub.RetryJob(pb.RetryJobRequest(job_id=job_id)), Reason.NOT_ALLOWED)


LONG = "x" * 513


def with_one(**changes: Any) -> pb.EnqueueRequest:
    """An Enqueue of one job that is wrong in one respect."""
    return pb.EnqueueRequest(jobs=[message(1, **changes)])


BAD: dict[str, tuple[str, Any, str]] = {
    "no jobs": ("Enqueue", pb.EnqueueRequest(), "jobs"),
    "too many jobs": ("Enqueue", pb.EnqueueRequest(jobs=[message(1)] * 1001), "jobs"),
    "a type in capitals": ("Enqueue", with_one(type="Index"), "jobs[0].type"),
    "no agent": ("Enqueue", with_one(agent=""), "jobs[0].agent_id"),
    "no subject": ("Enqueue", with_one(subject=""), "jobs[0].subject"),
    "no key": (
        "Enqueue",
        with_one(idempotency_key=""),
        "jobs[0].idempotency_key",
    ),
    "a long key": (
        "Enqueue",
        with_one(idempotency_key=LONG),
        "jobs[0].idempotency_key",
    ),
    "a big payload": (
        "Enqueue",
        with_one(payload=b'"' + b"x" * 262_143 + b'"'),
        "jobs[0].payload",
    ),
    "a payload that is no JSON": (
        "Enqueue",
        pb.EnqueueRequest(jobs=[message(1), message(2, payload=b"{")]),
        "jobs[1].payload",
    ),
    "a payload that is no text": (
        "Enqueue",
        with_one(payload=b"\xff"),
        "jobs[0].payload",
    ),
    "a deep payload": (
        "Enqueue",
        with_one(payload=b"[" * 100_000),
        "jobs[0].payload",
    ),
    "a time beyond time": (
        "Enqueue",
        with_one(not_before_time=Timestamp(seconds=10**15)),
        "jobs[0].not_before_time",
    ),
    "no keys": ("LookupJobs", pb.LookupJobsRequest(), "idempotency_keys"),
    "an empty key": ("LookupJobs", pb.LookupJobsRequest(idempotency_keys=[""]), "idempotency_keys[0]"),
    "get nothing": ("GetJob", pb.GetJobRequest(), "job_id"),
    "retry nothing": ("RetryJob", pb.RetryJobRequest(), "job_id"),
    "cancel a long id": ("CancelJob", pb.CancelJobRequest(job_id=LONG), "job_id"),
    "a negative page": ("ListJobs", pb.ListJobsRequest(page_size=-1), "page_size"),
    "a huge page": ("ListJobs", pb.ListJobsRequest(page_size=1001), "page_size"),
    "state zero": ("ListJobs", pb.ListJobsRequest(filter=pb.JobFilter(states=[0])), "filter.states[0]"),
    "an unknown state": (
        "CountJobs",
        pb.CountJobsRequest(filter=pb.JobFilter(states=[99])),
        "filter.states[0]",
    ),
}


@pytest.mark.parametrize("case", BAD)
async def test_bad_input_names_its_field(resting: Suite, case: str) -> None:
    """X-1."""
    method, request, field = BAD[case]
    with act_as(SERVICE):
        error = await refused(getattr(resting.stub, method)(request), Reason.INVALID_FIELD)
        assert [problem.field for problem in error.fields] == [field]
        counts = (await resting.stub.CountJobs(pb.CountJobsRequest())).counts
    assert counts == jobs_pb2.JobCounts(), "nothing is half done"


@pytest.mark.parametrize("interval", [Duration(seconds=-1), Duration(seconds=11)])
async def test_a_watch_with_a_bad_interval_is_refused(resting: Suite, interval: Duration) -> None:
    with act_as(READER):
        error = await refused(
            anext(aiter(resting.stub.WatchJobs(pb.WatchJobsRequest(interval=interval)))), Reason.INVALID_FIELD
        )
    assert [problem.field for problem in error.fields] == ["interval"]


async def test_unknown_jobs_are_not_found(resting: Suite) -> None:
    with act_as(SERVICE):
        for method, kind in (
            ("GetJob", pb.GetJobRequest),
            ("RetryJob", pb.RetryJobRequest),
            ("CancelJob", pb.CancelJobRequest),
        ):
            error = await refused(
                getattr(resting.stub, method)(kind(job_id="nope")), Reason.RESOURCE_NOT_FOUND
            )
            assert error.metadata == {"resource": "job", "id": "nope"}


async def test_a_watch_gives_the_present_then_changes_then_ends(suite: Suite) -> None:
    suite.semantic.open.clear()
    ids = await suite.enqueue(*(message(i) for i in range(1, 251)))
    request = pb.WatchJobsRequest(until_idle=True, interval=Duration(nanos=1_000_000))
    updates: list[pb.WatchJobsResponse] = []
    with act_as(READER):
        async with asyncio.timeout(20):
            async for update in suite.stub.WatchJobs(request):
                updates.append(update)
                if sum(len(u.jobs) for u in updates) >= 250:
                    suite.semantic.open.set()
    assert max(len(update.jobs) for update in updates) == 100
    assert all(len({job.id for job in update.jobs}) == len(update.jobs) for update in updates)
    last: dict[str, jobs_pb2.Job] = {}
    for job in (job for update in updates for job in update.jobs):
        assert job.id not in last or job.revision > last[job.id].revision
        last[job.id] = job
    assert set(last) == set(ids)
    assert {job.state for job in last.values()} == {jobs_pb2.JOB_STATE_SUCCEEDED}
    assert updates[-1].counts == jobs_pb2.JobCounts(succeeded=250)


async def test_a_watch_of_nothing_says_so_and_ends(resting: Suite) -> None:
    updates = await resting.idle(agent_id="nobody")
    assert [(len(update.jobs), update.counts) for update in updates] == [(0, jobs_pb2.JobCounts())]


async def test_a_watch_sees_its_filter_only(resting: Suite) -> None:
    (mine, _) = await resting.enqueue(message(1), message(1, agent="b"))
    request = pb.WatchJobsRequest(
        filter=pb.JobFilter(agent_id="a", types=["index_message"]), interval=Duration(nanos=1)
    )
    with act_as(SERVICE):
        updates = aiter(resting.stub.WatchJobs(request))
        first = await anext(updates)
        await resting.stub.CancelJob(pb.CancelJobRequest(job_id=mine))
        second = await anext(updates)
        await updates.aclose()
    assert [job.id for job in first.jobs] == [job.id for job in second.jobs] == [mine]
    assert (first.counts, second.counts) == (jobs_pb2.JobCounts(queued=1), jobs_pb2.JobCounts(cancelled=1))
