"""Every RPC of the gateway, by every role, about own, foreign and missing things (SPEC G-9, SV-6, S-16).

What is asserted of each: without a credential it is UNAUTHENTICATED; below its least role it is
PERMISSION_DENIED, alike for all things, so that a role is judged before anything is looked up; a key for one
agent reaches no other; a foreign thing is answered as one that is not there, byte for byte but for the ids
that the request named. A new RPC is held to the same: where it differs, or its request can't be made from the
names of its fields, it needs an entry here or in access_world.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import count
from typing import Any

import grpc
import pytest
import pytest_asyncio
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.descriptor_pb2 import MethodOptions
from google.protobuf.descriptor_pool import Default
from google.protobuf.message import Message
from google.rpc.status_pb2 import Status

from services.kit.identity import Role
from services.kit.serving import roles_of
from services.kit.validation import agents_named
from tests.integration.access_world import (
    MARKS,
    TENANTS,
    Things,
    World,
    access_world,
    filled,
    request_for,
    without_ids,
)
from tests.integration.embedded_suite import SERVED

pytestmark = pytest.mark.asyncio(loop_scope="module")
OK, DENIED, NOT_FOUND = "OK", "PERMISSION_DENIED", "NOT_FOUND"
CALLERS = (Role.READER, Role.WRITER, Role.ADMIN, Role.OPERATOR)
SECONDS = 10.0

METHODS = [method for name in SERVED for method in Default().FindServiceByName(name).methods]
LEAST = {m.full_name: roles_of(m.containing_service)[m.name] for m in METHODS}

OWN: dict[str, str] = {
    # A job that is done allows neither; no model is configured.
    **dict.fromkeys(("RetryJob", "CancelJob", "Chat"), "FAILED_PRECONDITION"),
    # Nothing was merged; a newer version of the memory is live.
    **dict.fromkeys(("UnmergeContact", "UndoBranchMerge", "UndoSupersession"), "FAILED_PRECONDITION"),
    # A suite this young has derived none of these.
    **dict.fromkeys(
        (
            *("GetAttractor", "ListAttractorVersions", "CompareAttractorVersions", "ListBasins", "NameBasin"),
            *("FreezeAttractor", "UnfreezeAttractor", "GetSummary", "ListSummaryVersions", "CorrectSummary"),
            *("GetInsight", "UpdateGoal", "UpdateInsight", "ResolveMergeProposal", "ResolveContradiction"),
            *("GetWikiPage", "ListWikiVersions"),
        ),
        NOT_FOUND,
    ),
}
"""What the call gives about one's own things. Default: OK."""

STRANGE: dict[str, str] = {
    # These make what is not there, in the caller's own tenant.
    **dict.fromkeys(("CreateAgent", "CreateApiKey"), OK),
    # About all of the caller's tenant, whoever is named.
    **dict.fromkeys(
        (
            *("ListAgents", "ListJobs", "WatchJobs", "GetStatus", "GetIndexStatus", "ListApiKeys"),
            *("ListApiKeyChanges", "ListSettingsChanges", "GetDataFlowReport", "ListSchedules"),
            *("GetLimits", "GetModelSpend"),
            *("TriggerSchedule", "UpdateSchedule"),
        ),
        OK,
    ),
    "Chat": "FAILED_PRECONDITION",
}
"""What the call gives about foreign and about missing things. Default: NOT_FOUND."""

LIMITED: dict[str, str] = {
    **dict.fromkeys(("GetJob", "RetryJob", "CancelJob"), NOT_FOUND),
    **dict.fromkeys(
        (
            *("ListAgents", "GetStatus", "GetIndexStatus", "ListSchedules"),
            *("CreateApiKey", "GetApiKey", "ListApiKeys", "ListApiKeyChanges"),
        ),
        OK,
    ),
    **dict.fromkeys(
        (
            "GetReindex",
            "RotateApiKey",
            "RevokeApiKey",
            "TriggerSchedule",
            "UpdateSchedule",
            "GetDataFlowReport",
            "GetLimits",
            "GetModelSpend",
        ),
        DENIED,
    ),
}
"""What a key for another agent gets where the request names no agent."""

DESTROYING = (
    *(
        "Delete",
        "Forget",
        "Undo",
        "Merge",
        "Unmerge",
        "Revoke",
        "Rename",
        "Split",
        "Clear",
        "Unload",
        "Remove",
    ),
    *("Cancel", "Resolve", "Switch"),
)
"""How methods begin that take away what others are tried on: each is tried on things of its own."""
VARYING = ("ListSchedules", "GetStatus", "GetIndexStatus", "Answer")
"""Read without side effects, and yet not the same a moment later: scores, and what is not of one tenant."""
fresh = count()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with access_world(tmp_path_factory.mktemp("access") / "data") as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def before(world: World) -> dict[str, str]:
    """All that the other tenant can read, before anybody has tried anything."""
    return await everything_of_the_other(world)


async def outcome(stub: Any, method: MethodDescriptor, request: Message) -> tuple[str, str]:
    """The code of a call, and its first answer or its whole error as text."""

    async def one() -> AsyncIterator[Message]:
        yield request

    call = getattr(stub, method.name)(one() if method.client_streaming else request, SECONDS)
    try:
        if not method.server_streaming:
            return OK, str(await call)
        async for answer in call:
            call.cancel()
            return OK, str(answer)
        return OK, ""
    except grpc.aio.AioRpcError as error:
        trailing = {key: value for key, value in error.trailing_metadata() or () if key != "x-request-id"}
        status = Status.FromString(trailing.pop("grpc-status-details-bin", b""))
        return error.code().name, f"{error.details()} {status} {trailing}"


async def own_things(world: World, method: MethodDescriptor) -> Things:
    if not method.name.startswith(DESTROYING):
        return world.own
    return await filled(world, TENANTS[0], f"own{next(fresh)}", MARKS[0])


def params() -> list[Any]:
    return [pytest.param(method, id=f"{method.containing_service.name}.{method.name}") for method in METHODS]


async def test_these_are_all_of_the_services_that_the_gateway_has_for_applications(world: World) -> None:
    faces = {face.name for face in world.gateway.all_faces if not face.internal}
    assert faces == set(SERVED)
    assert len(LEAST) == len({method.name for method in METHODS}), "methods are known by their names alone"


async def test_an_rpc_whose_request_cannot_be_made_is_named() -> None:
    """So that a new one is not left out: what its fields do not tell needs an entry."""
    by_name = {method.name: method for method in METHODS}
    assert request_for(by_name["GetAgent"], Things(ids={"agent_id": "ada"}))
    with pytest.raises(AssertionError, match="GetAgent needs an entry"):
        request_for(by_name["GetAgent"], Things(ids={}))


@pytest.mark.parametrize("method", params())
async def test_who_may_call_it_and_about_what(
    world: World, before: dict[str, str], method: MethodDescriptor
) -> None:
    least = LEAST[method.full_name]
    things = await own_things(world, method)
    own = request_for(method, things)
    foreign = request_for(method, world.foreign)
    missing = request_for(method, world.missing)

    nobody = {await outcome(world.keyed(secret), method, own) for secret in ("", "nonsense")}
    assert {code for code, _ in nobody} == {"UNAUTHENTICATED"}

    for role in CALLERS:
        if role < least:
            stub = await world.stub(role)
            refusals = {await outcome(stub, method, request) for request in (own, foreign, missing)}
            assert [code for code, _ in refusals] == [DENIED], f"a {role.name} is refused, alike for all"

    await check_limited(world, method, own)

    stub = await world.stub(least)
    strange = await outcome(stub, method, foreign)
    unknown = await outcome(stub, method, missing)
    expected = STRANGE.get(method.name, NOT_FOUND)
    assert (strange[0], unknown[0]) == (expected, expected)
    if expected != OK:
        assert without_ids(strange[1], world.foreign) == without_ids(unknown[1], world.missing)
    assert MARKS[1] not in strange[1] + unknown[1]
    await check_parts(world, method, stub)

    code, answer = await outcome(stub, method, own)
    assert code == OWN.get(method.name, OK), answer
    assert MARKS[1] not in answer
    for role in CALLERS:
        if (
            role > least
        ):  # after the first, what a call takes away is gone: that they are let in is what counts
            code, answer = await outcome(await world.stub(role), method, own)
            assert code not in (DENIED, "UNAUTHENTICATED", "INTERNAL", "UNKNOWN"), answer


async def check_limited(world: World, method: MethodDescriptor, own: Message) -> None:
    """The highest key of all, for an agent that is another one."""
    stub = await world.stub(Role.OPERATOR, only="agent-else")
    code, answer = await outcome(stub, method, own)
    assert code == (DENIED if any(agents_named(own)) else LIMITED.get(method.name, "an entry in LIMITED"))
    if code == OK and method.name not in ("CreateApiKey", "GetApiKey", "ListApiKeys"):
        assert MARKS[0] not in answer


async def check_parts(world: World, method: MethodDescriptor, stub: Any) -> None:
    """One's own agent with parts of a foreign one, against the same with parts that nobody has."""
    agent = {"agent_id": world.own.ids["agent_id"]}
    foreign, missing = Things(ids={**world.foreign.ids, **agent}), Things(ids={**world.missing.ids, **agent})
    requests = [request_for(method, things) for things in (foreign, missing)]
    if requests[0] == requests[1]:
        return
    strange, unknown = [await outcome(stub, method, request) for request in requests]
    assert strange[0] == unknown[0]
    if strange[0] != OK:
        assert without_ids(strange[1], world.foreign) == without_ids(unknown[1], world.missing)
    assert MARKS[1] not in strange[1]


async def everything_of_the_other(world: World) -> dict[str, str]:
    """What reading without side effects gives the other tenant about its things."""
    stub = await world.stub(Role.OPERATOR, TENANTS[1])
    return {
        method.name: (await outcome(stub, method, request_for(method, world.foreign)))[1]
        for method in METHODS
        if method.GetOptions().idempotency_level == MethodOptions.NO_SIDE_EFFECTS
        and method.name not in VARYING
    }


async def test_nothing_of_the_other_tenant_has_changed(world: World, before: dict[str, str]) -> None:
    """After all of the above; and what is compared does hold its things."""
    assert await everything_of_the_other(world) == before
    assert sum(MARKS[1] in answer for answer in before.values()) > 15
