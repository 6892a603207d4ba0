"""DocumentsService through a real stub over a socket, on real stores (SPEC K-1 to K-3, X-1)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeAlias, cast

import grpc
import pytest
from google.protobuf.json_format import MessageToDict
from google.protobuf.timestamp_pb2 import Timestamp
from palimpsest.documents.v1 import documents_pb2 as pb
from palimpsest.documents.v1 import documents_pb2_grpc

from services.compactor.app.correcting import Corrections
from services.compactor.domain.documents import Draft, Head, attractor_key
from services.compactor.rpc.documents_servicer import DESCRIPTOR, face
from services.kit.channels import CHANNEL_OPTIONS
from services.kit.context import act_as
from services.kit.errors import PalimpsestError, Reason
from services.kit.identity import Principal, Role, TokenSigner
from services.kit.metrics import Metrics
from services.kit.serving import Service, listening, outgoing
from services.kit.times import to_timestamp
from tests.integration.document_world import AGENT, ATTRACTOR, NOW, SUMMARY, TENANT, World, world

SECRET = b"a secret of the tests, 32 bytes or more"
READER = Principal(tenant=TENANT, role=Role.READER, subject="test")
WRITER = Principal(tenant=TENANT, role=Role.WRITER, subject="test")
OPERATOR = Principal(tenant=TENANT, role=Role.OPERATOR, subject="test")
ONLY_BEA = Principal(tenant=TENANT, role=Role.OPERATOR, agents=frozenset({"bea"}), subject="test")
OTHER = Principal(tenant="other", role=Role.OPERATOR, subject="test")
CACHE, STORE = pb.DOCUMENT_PLACE_CACHE, pb.DOCUMENT_PLACE_STORE

Stub: TypeAlias = "documents_pb2_grpc.DocumentsServiceAsyncStub"
NO_CORRECTIONS = cast("Corrections", None)
"""None is asked for here."""


@pytest.fixture
async def made(tmp_path: Path) -> AsyncIterator[World]:
    async with world(tmp_path) as documents:
        yield documents


async def ready() -> bool:
    return True


@pytest.fixture
async def stub(made: World) -> AsyncIterator[Stub]:
    service = Service(
        name="palimpsest.compactor.v1.CompactorService",
        add=lambda _: None,
        roles={},
        ready=ready,
        faces=(face(made.documents, NO_CORRECTIONS),),
    )
    async with AsyncExitStack() as stack:
        port = await stack.enter_async_context(
            listening(service, SECRET, Metrics(), "127.0.0.1:0", drain_seconds=0)
        )
        inner = grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=CHANNEL_OPTIONS)
        channel = outgoing(inner, "compactor", TokenSigner(SECRET))
        stack.push_async_callback(channel.close)
        over: Stub = documents_pb2_grpc.DocumentsServiceStub(channel)  # type: ignore[assignment]
        with act_as(WRITER):
            yield over


async def failure(call: Awaitable[Any]) -> PalimpsestError:
    with pytest.raises(PalimpsestError) as caught:
        await call
    return caught.value


def get_attractor(**fields: Any) -> pb.GetAttractorRequest:
    return pb.GetAttractorRequest(**{"agent_id": AGENT, **fields})


def get_summary(**fields: Any) -> pb.GetSummaryRequest:
    return pb.GetSummaryRequest(**{"agent_id": AGENT, "conversation_id": "c1", **fields})


async def test_a_document_comes_whole_with_its_version_and_place(made: World, stub: Stub) -> None:
    """K-3."""
    body = {"themes": [{"label": "dåg", "weight": 0.25}], "n": 2**53, "none": None, "yes": True, "empty": {}}
    await made.documents.put(ATTRACTOR, Draft(body=body, engine="x-1", source_ids=["s1", "s2"]), Head())
    answer = await stub.GetAttractor(get_attractor())
    one = answer.attractor
    assert MessageToDict(one.body) == body
    assert (one.version, one.schema, one.schema_version, one.engine, list(one.source_ids)) == (
        1,
        "palimpsest.attractor",
        1,
        "x-1",
        ["s1", "s2"],
    )
    assert one.create_time == to_timestamp(NOW)
    assert answer.state == pb.DocumentState(newest_version=1)
    assert answer.place == CACHE
    await made.flush()
    assert (await stub.GetAttractor(get_attractor())).place == STORE


async def test_versions_are_frozen_named_listed_and_compared(made: World, stub: Stub) -> None:
    """K-3."""
    await made.write(count=5)
    frozen = await stub.FreezeAttractor(pb.FreezeAttractorRequest(agent_id=AGENT, version=2))
    assert frozen.state == pb.DocumentState(newest_version=5, pinned_version=2, frozen_versions=[2])

    async def version(**fields: Any) -> int:
        return (await stub.GetAttractor(get_attractor(**fields))).attractor.version

    assert [await version(), await version(newest=True), await version(newest=False)] == [2, 5, 2]
    assert await version(version=4) == 4
    first = await stub.ListAttractorVersions(pb.ListAttractorVersionsRequest(agent_id=AGENT, page_size=3))
    then = await stub.ListAttractorVersions(
        pb.ListAttractorVersionsRequest(agent_id=AGENT, page_size=3, page_token=first.next_page_token)
    )
    assert [(one.version, one.frozen, one.pinned) for one in (*first.versions, *then.versions)] == [
        (number, number == 2, number == 2) for number in (5, 4, 3, 2, 1)
    ]
    assert then.next_page_token == ""
    compared = await stub.CompareAttractorVersions(
        pb.CompareAttractorVersionsRequest(agent_id=AGENT, before_version=1)
    )
    assert (compared.before_version, compared.after_version) == (1, 5)
    assert MessageToDict(compared)["changes"] == [{"field": "number", "before": 1.0, "after": 5.0}]
    freed = await stub.UnfreezeAttractor(pb.UnfreezeAttractorRequest(agent_id=AGENT, version=2))
    assert freed.state == pb.DocumentState(newest_version=5)
    assert await version() == 5


async def test_a_comparison_tells_a_field_that_is_null_from_one_that_is_not_there(
    made: World, stub: Stub
) -> None:
    """K-3."""
    await made.documents.put(ATTRACTOR, Draft(body={"gone": None}, engine="x"), Head())
    head = await made.documents.head(ATTRACTOR)
    await made.documents.put(ATTRACTOR, Draft(body={"came": None}, engine="x"), head)
    request = pb.CompareAttractorVersionsRequest(agent_id=AGENT, before_version=1, after_version=2)
    came, gone = (await stub.CompareAttractorVersions(request)).changes
    assert (came.field, came.HasField("before"), came.HasField("after")) == ("came", False, True)
    assert (gone.field, gone.HasField("before"), gone.HasField("after")) == ("gone", True, False)


async def test_summaries_are_read_by_number_and_by_time(made: World, stub: Stub) -> None:
    """K-1."""
    await made.write(SUMMARY, 3)
    listed = await stub.ListSummaryVersions(
        pb.ListSummaryVersionsRequest(agent_id=AGENT, conversation_id="c1")
    )
    assert [one.version for one in listed.versions] == [3, 2, 1]
    assert (await stub.GetSummary(get_summary())).summary.version == 3
    assert (await stub.GetSummary(get_summary(version=2))).summary.version == 2
    answer = await stub.GetSummary(get_summary(create_time=listed.versions[2].create_time))
    assert (answer.summary.version, answer.state.newest_version) == (1, 3)


async def test_an_operator_rebuilds_the_cache(made: World, stub: Stub) -> None:
    """K-2: page by page, within the reach of the credential."""
    await made.write(ATTRACTOR)
    await made.write(SUMMARY)
    await made.write(attractor_key(TENANT, "bea"))
    await made.write(attractor_key("other", AGENT))

    async def rebuilt(**fields: Any) -> tuple[int, bool]:
        answer = await stub.RebuildDocuments(pb.RebuildDocumentsRequest(**fields))
        return answer.document_count, bool(answer.next_page_token)

    assert (await failure(stub.RebuildDocuments(pb.RebuildDocumentsRequest()))).reason is Reason.NOT_ALLOWED
    with act_as(OPERATOR):
        await made.flush()
        assert await rebuilt() == (3, False)
        assert (await stub.GetAttractor(get_attractor())).place == CACHE
        assert await rebuilt(agent_id="bea") == (1, False)
        first = await stub.RebuildDocuments(pb.RebuildDocumentsRequest(page_size=2))
        assert await rebuilt(page_size=2, page_token=first.next_page_token) == (1, False)
        other = pb.RebuildDocumentsRequest(agent_id="bea", page_token=first.next_page_token)
        assert (await failure(stub.RebuildDocuments(other))).reason is Reason.INVALID_PAGE_TOKEN
    with act_as(ONLY_BEA):
        assert await rebuilt() == (1, False)
        assert (
            await failure(stub.RebuildDocuments(pb.RebuildDocumentsRequest(agent_id=AGENT)))
        ).reason is Reason.NOT_ALLOWED
    with act_as(OTHER):
        assert await rebuilt() == (1, False)


async def test_what_is_not_there_is_not_found(made: World, stub: Stub) -> None:
    """X-1; nor what another tenant has."""
    calls = [
        (stub.GetAttractor, get_attractor()),
        (stub.ListAttractorVersions, pb.ListAttractorVersionsRequest(agent_id=AGENT)),
        (
            stub.CompareAttractorVersions,
            pb.CompareAttractorVersionsRequest(agent_id=AGENT, before_version=1),
        ),
        (stub.FreezeAttractor, pb.FreezeAttractorRequest(agent_id=AGENT, version=1)),
        (stub.UnfreezeAttractor, pb.UnfreezeAttractorRequest(agent_id=AGENT, version=1)),
        (stub.GetSummary, get_summary()),
        (stub.ListSummaryVersions, pb.ListSummaryVersionsRequest(agent_id=AGENT, conversation_id="c1")),
    ]
    for call, request in calls:
        assert (await failure(call(request))).reason is Reason.RESOURCE_NOT_FOUND
    await made.write(ATTRACTOR)
    await made.write(SUMMARY)
    with act_as(OTHER):
        for call, request in calls:
            assert (await failure(call(request))).reason is Reason.RESOURCE_NOT_FOUND
    for request in (get_attractor(version=2), get_attractor(version=2**62)):
        assert (await failure(stub.GetAttractor(request))).reason is Reason.RESOURCE_NOT_FOUND
    moment = to_timestamp(NOW + timedelta(microseconds=1))
    for request in (get_summary(version=2), get_summary(create_time=moment)):
        assert (await failure(stub.GetSummary(request))).reason is Reason.RESOURCE_NOT_FOUND
    assert (await stub.GetAttractor(get_attractor())).attractor.version == 1


@pytest.mark.parametrize(
    ("method", "request_", "field"),
    [
        ("GetAttractor", pb.GetAttractorRequest(), "agent_id"),
        ("GetAttractor", pb.GetAttractorRequest(agent_id="\x00"), "agent_id"),
        ("GetAttractor", pb.GetAttractorRequest(agent_id="a", version=0), "version"),
        ("GetSummary", pb.GetSummaryRequest(agent_id="a"), "conversation_id"),
        ("GetSummary", get_summary(create_time=Timestamp(seconds=2**60)), "create_time"),
        ("FreezeAttractor", pb.FreezeAttractorRequest(agent_id="a"), "version"),
        ("ListAttractorVersions", pb.ListAttractorVersionsRequest(agent_id="a", page_size=-1), "page_size"),
    ],
)
async def test_a_request_out_of_bounds_names_its_field(
    stub: Stub, method: str, request_: Any, field: str
) -> None:
    """X-1."""
    error = await failure(getattr(stub, method)(request_))
    assert (error.reason, [one.field for one in error.fields]) == (Reason.INVALID_FIELD, [field])


async def test_readers_read_and_writers_freeze(made: World, stub: Stub) -> None:
    """G-9."""
    await made.write()
    with act_as(READER):
        await stub.GetAttractor(get_attractor())
        request = pb.FreezeAttractorRequest(agent_id=AGENT, version=1)
        assert (await failure(stub.FreezeAttractor(request))).reason is Reason.NOT_ALLOWED
    with act_as(ONLY_BEA):
        assert (await failure(stub.GetAttractor(get_attractor()))).reason is Reason.NOT_ALLOWED
    served = {method.name for method in DESCRIPTOR.methods}
    assert set(face(made.documents, NO_CORRECTIONS).roles) == served
