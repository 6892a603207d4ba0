"""One suite over a socket and in process: calls must not tell the two apart (SPEC SV-4)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from types import SimpleNamespace
from typing import Any

import grpc
import pytest
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status
from palimpsest.compactor.v1 import compactor_pb2 as pb
from palimpsest.compactor.v1 import compactor_pb2_grpc

from services.kit import context
from services.kit.channels import MAX_MESSAGE_BYTES
from services.kit.errors import Overloaded
from services.kit.identity import BEARER, Principal, Role, TokenSigner
from services.kit.inprocess import InProcessServer
from services.kit.metrics import Metrics
from services.kit.serving import Service, interceptor, listening
from services.kit.watching import RESUME_AFTER, Signal, deliver, follow

SECRET = b"s" * 32
WRITER = Principal(tenant="acme", role=Role.WRITER, agents=frozenset({"ada"}), subject="test")
READER = Principal(tenant="acme", role=Role.READER, subject="test")
BIG = 100_000  # bytes of a message of which a socket holds few


class Servicer(compactor_pb2_grpc.CompactorServiceServicer):
    """Behaves as the job id, or a filter's type, says."""

    def __init__(self) -> None:
        self.cancelled = asyncio.Event()
        self.started = asyncio.Event()
        self.ended = asyncio.Event()
        self.sent = 0
        self.seen: list[Any] = []
        self.signal: Signal[str] = Signal()
        self.available = 3

    async def GetJob(self, request: pb.GetJobRequest, ctx: Any) -> pb.GetJobResponse:
        self.seen.append(request)
        self.started.set()
        match request.job_id:
            case "full":
                raise Overloaded("the queue is full", retry_after=1.5)
            case "fault":
                raise RuntimeError("secret words")
            case "slow":
                try:
                    await asyncio.sleep(30)
                except asyncio.CancelledError:
                    self.cancelled.set()
                    raise
            case "whoami":
                caller, call = context.current_principal(), context.current_call()
                assert call is not None
                response = pb.GetJobResponse()
                response.job.id = f"{caller.tenant}/{caller.role.name}/{call.request_id}"
                response.job.progress = ctx.time_remaining() or -1
                return response
            case "mutate":
                request.job_id = "changed"
        response = pb.GetJobResponse()
        response.job.id = request.job_id
        return response

    def WatchJobs(self, request: pb.WatchJobsRequest, ctx: Any) -> Any:
        kind = request.filter.types[0]
        self.started.set()
        return self._write(kind, ctx) if kind.startswith("write") else self._yield(kind)

    async def _write(self, kind: str, ctx: Any) -> None:
        events = follow(0, self._read, self.signal, "all", poll_seconds=30)
        patience = 0.3 if kind == "writes_impatiently" else 30
        try:
            await deliver(ctx, events, big_response, start=0, patience=patience)
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        finally:
            self.ended.set()

    async def _read(self, position: int) -> list[tuple[int, int]]:
        self.sent = min(position + 5, self.available)
        return [(number, number) for number in range(position + 1, self.sent + 1)]

    async def _yield(self, kind: str) -> AsyncIterator[pb.WatchJobsResponse]:
        try:
            for index in range(10_000 if kind == "endless" else 3):
                self.sent = index + 1
                response = pb.WatchJobsResponse()
                response.counts.queued = index
                yield response
            if kind == "fails":
                raise Overloaded("later", retry_after=1)
            if kind == "hangs":
                await asyncio.sleep(30)
        except (asyncio.CancelledError, GeneratorExit):
            self.cancelled.set()
            raise


@pytest.fixture(params=["socket", "inprocess"])
async def wire(request: pytest.FixtureRequest) -> AsyncIterator[SimpleNamespace]:
    servicer = Servicer()

    async def ready() -> bool:
        return True

    service = Service(
        name="palimpsest.compactor.v1.CompactorService",
        add=lambda server: compactor_pb2_grpc.add_CompactorServiceServicer_to_server(servicer, server),
        roles={
            "GetJob": Role.READER,
            "WatchJobs": Role.READER,
            "RetryJob": Role.WRITER,
            "LookupJobs": Role.READER,
        },
        ready=ready,
    )
    async with AsyncExitStack() as stack:
        if request.param == "socket":
            port = await stack.enter_async_context(
                listening(service, SECRET, Metrics(), "127.0.0.1:0", drain_seconds=0)
            )
            channel: Any = grpc.aio.insecure_channel(f"127.0.0.1:{port}")
        else:
            server = InProcessServer(max_message_bytes=MAX_MESSAGE_BYTES)
            server.add_interceptor(interceptor(service, SECRET, Metrics()))
            service.add(server)
            channel = server.channel()
        stack.push_async_callback(channel.close)
        yield SimpleNamespace(
            stub=compactor_pb2_grpc.CompactorServiceStub(channel), servicer=servicer, channel=channel
        )


def as_(principal: Principal, audience: str = "compactor") -> tuple[tuple[str, str], ...]:
    token = TokenSigner(SECRET).mint(principal, audience)
    return (("authorization", BEARER + token), ("x-request-id", "r-1"))


def details_of(error: grpc.aio.AioRpcError) -> tuple[Status, ErrorInfo, BadRequest, RetryInfo]:
    raw = dict(error.trailing_metadata())["grpc-status-details-bin"]
    status = Status.FromString(raw)
    info, bad, retry = ErrorInfo(), BadRequest(), RetryInfo()
    for detail in status.details:
        for target in (info, bad, retry):
            detail.Unpack(target)
    return status, info, bad, retry


async def test_a_call_is_answered_with_its_request_id_in_the_trailing_metadata(wire: SimpleNamespace) -> None:
    call = wire.stub.GetJob(pb.GetJobRequest(job_id="whoami"), metadata=as_(WRITER), timeout=5)
    response = await call
    assert response.job.id == "acme/WRITER/r-1"
    assert 0 < response.job.progress < 6  # what is left of the deadline; clocks differ by a hair
    assert await call.code() is grpc.StatusCode.OK
    assert dict(await call.trailing_metadata())["x-request-id"] == "r-1"


async def test_messages_are_copied_not_shared(wire: SimpleNamespace) -> None:
    request = pb.GetJobRequest(job_id="mutate")
    response = await wire.stub.GetJob(request, metadata=as_(READER))
    assert response.job.id == "changed"
    assert request.job_id == "mutate"


async def test_a_domain_error_carries_code_details_and_retry_info(wire: SimpleNamespace) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await wire.stub.GetJob(pb.GetJobRequest(job_id="full"), metadata=as_(READER))
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert caught.value.details() == "the queue is full"
    status, info, _, retry = details_of(caught.value)
    assert status.code == grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]
    assert (info.reason, info.domain) == ("ERROR_REASON_OVERLOADED", "palimpsest")
    assert retry.retry_delay.ToMilliseconds() == 1500


async def test_an_unknown_exception_becomes_a_constant_text(wire: SimpleNamespace) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await wire.stub.GetJob(pb.GetJobRequest(job_id="fault"), metadata=as_(READER))
    assert caught.value.code() is grpc.StatusCode.INTERNAL
    assert "secret words" not in str(caught.value)
    assert details_of(caught.value)[1].reason == "ERROR_REASON_INTERNAL"


async def test_a_bad_field_is_named_and_the_handler_not_reached(wire: SimpleNamespace) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await wire.stub.LookupJobs(pb.LookupJobsRequest(idempotency_keys=["ok", ""]), metadata=as_(READER))
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert [v.field for v in details_of(caught.value)[2].field_violations] == ["idempotency_keys[1]"]
    assert not wire.servicer.seen


@pytest.mark.parametrize(
    ("metadata", "code"),  # metadata are made when the test runs: a token lives for 60 seconds
    [
        (lambda: (), grpc.StatusCode.UNAUTHENTICATED),
        (lambda: (("authorization", "Bearer nonsense"),), grpc.StatusCode.UNAUTHENTICATED),
        (lambda: as_(READER, audience="episodic"), grpc.StatusCode.UNAUTHENTICATED),
        (lambda: as_(READER), grpc.StatusCode.PERMISSION_DENIED),
    ],
)
async def test_identity_and_role_are_checked(
    wire: SimpleNamespace, metadata: Callable[[], Any], code: grpc.StatusCode
) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await wire.stub.RetryJob(pb.RetryJobRequest(job_id="x"), metadata=metadata())
    assert caught.value.code() is code


async def test_an_agent_out_of_reach_is_refused(wire: SimpleNamespace) -> None:
    request = pb.WatchJobsRequest(filter=pb.JobFilter(agent_id="other", types=["few"]))
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        [r async for r in wire.stub.WatchJobs(request, metadata=as_(WRITER))]
    assert caught.value.code() is grpc.StatusCode.PERMISSION_DENIED
    request.filter.agent_id = "ada"
    assert len([r async for r in wire.stub.WatchJobs(request, metadata=as_(WRITER))]) == 3


async def test_a_method_without_a_role_is_unknown(wire: SimpleNamespace) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await wire.stub.CancelJob(pb.CancelJobRequest(job_id="x"), metadata=as_(WRITER))
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED
    missing = wire.channel.unary_unary("/palimpsest.compactor.v1.CompactorService/Nothing")
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await missing(b"", metadata=as_(WRITER))
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED
    assert details_of(caught.value)[1].reason == "ERROR_REASON_UNKNOWN_METHOD"


async def test_a_deadline_ends_the_call_and_the_handler(wire: SimpleNamespace) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await wire.stub.GetJob(pb.GetJobRequest(job_id="slow"), metadata=as_(READER), timeout=0.2)
    assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    await asyncio.wait_for(wire.servicer.cancelled.wait(), 10)


async def test_cancelling_the_call_cancels_the_handler(wire: SimpleNamespace) -> None:
    call = wire.stub.GetJob(pb.GetJobRequest(job_id="slow"), metadata=as_(READER))
    waiting = asyncio.ensure_future(_outcome(call))
    await asyncio.wait_for(wire.servicer.started.wait(), 10)
    call.cancel()
    assert await asyncio.wait_for(waiting, 10) is asyncio.CancelledError
    assert call.cancelled()
    assert await call.code() is grpc.StatusCode.CANCELLED
    await asyncio.wait_for(wire.servicer.cancelled.wait(), 10)


async def test_cancelling_the_task_that_awaits_cancels_the_handler(wire: SimpleNamespace) -> None:
    async def ask() -> None:
        await wire.stub.GetJob(pb.GetJobRequest(job_id="slow"), metadata=as_(READER))

    task = asyncio.create_task(ask())
    await asyncio.wait_for(wire.servicer.started.wait(), 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(wire.servicer.cancelled.wait(), 10)


async def test_a_stream_arrives_in_order_and_ends(wire: SimpleNamespace) -> None:
    call = wire.stub.WatchJobs(pb.WatchJobsRequest(filter=pb.JobFilter(types=["few"])), metadata=as_(READER))
    assert [r.counts.queued async for r in call] == [0, 1, 2]
    assert await call.code() is grpc.StatusCode.OK


async def test_a_stream_that_fails_delivers_what_came_before(wire: SimpleNamespace) -> None:
    call = wire.stub.WatchJobs(
        pb.WatchJobsRequest(filter=pb.JobFilter(types=["fails"])), metadata=as_(READER)
    )
    got = []
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        async for response in call:
            got.append(response.counts.queued)
    assert got == [0, 1, 2]
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert details_of(caught.value)[3].retry_delay.seconds == 1


async def test_leaving_a_stream_cancels_its_handler_and_a_slow_reader_holds_it_back(
    wire: SimpleNamespace,
) -> None:
    call = wire.stub.WatchJobs(
        pb.WatchJobsRequest(filter=pb.JobFilter(types=["endless"])), metadata=as_(READER)
    )
    assert (await call.read()).counts.queued == 0
    call.cancel()
    await asyncio.wait_for(wire.servicer.cancelled.wait(), 10)
    with pytest.raises((asyncio.CancelledError, grpc.aio.AioRpcError)):
        while await call.read() is not grpc.aio.EOF:
            pass


async def test_a_stream_has_a_deadline_too(wire: SimpleNamespace) -> None:
    call = wire.stub.WatchJobs(
        pb.WatchJobsRequest(filter=pb.JobFilter(types=["hangs"])), metadata=as_(READER), timeout=0.3
    )
    started = time.monotonic()
    got = []
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        async for response in call:
            got.append(response)
    assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    assert len(got) == 3
    assert time.monotonic() - started < 25


async def test_a_handler_that_writes_is_woken_by_its_signal_and_cancelled_with_its_call(
    wire: SimpleNamespace,
) -> None:
    call = wire.stub.WatchJobs(watch("writes"), metadata=as_(READER))
    assert [(await call.read()).counts.queued for _ in range(3)] == [1, 2, 3]
    wire.servicer.available = 4
    wire.servicer.signal.notify("all")
    assert (await asyncio.wait_for(call.read(), 10)).counts.queued == 4
    assert len(wire.servicer.signal) == 1
    call.cancel()
    await asyncio.wait_for(wire.servicer.cancelled.wait(), 10)
    assert len(wire.servicer.signal) == 0


async def test_a_reader_that_stops_is_dropped_and_told_where_to_go_on(wire: SimpleNamespace) -> None:
    wire.servicer.available = 10_000
    responses = aiter(wire.stub.WatchJobs(watch("writes_impatiently"), metadata=as_(READER)))
    assert (await anext(responses)).counts.queued == 1
    await asyncio.wait_for(wire.servicer.ended.wait(), 30)
    assert len(wire.servicer.signal) == 0
    assert wire.servicer.sent < 500  # of 10,000: what the transport holds, and a page
    got = [1]
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        async for response in responses:
            got.append(response.counts.queued)
    assert got == list(range(1, len(got) + 1))
    _, info, _, _ = details_of(caught.value)
    assert info.reason == "ERROR_REASON_OVERLOADED"
    assert got[-1] - 1 <= int(info.metadata[RESUME_AFTER]) <= got[-1]


def watch(kind: str) -> pb.WatchJobsRequest:
    return pb.WatchJobsRequest(filter=pb.JobFilter(types=[kind]))


def big_response(number: int) -> pb.WatchJobsResponse:
    response = pb.WatchJobsResponse()
    response.counts.queued = number
    response.jobs.add().error = "x" * BIG
    return response


async def _outcome(call: Any) -> type[BaseException] | None:
    try:
        await call
    except BaseException as error:  # noqa: BLE001
        return type(error)
    return None
