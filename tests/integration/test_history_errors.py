"""What HistoryService refuses, over a socket, on SQLite and PostgreSQL (SPEC X-1, X-2)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from palimpsest.episodic.v1 import episodic_pb2 as epb
from palimpsest.history.v1 import history_pb2 as pb
from palimpsest.history.v1 import overlays_pb2, windows_pb2

from services.kit.context import act_as
from services.kit.errors import Reason
from services.kit.identity import Role
from services.kit.serving import roles_of
from tests.integration.episodic_server import ONLY_B, OTHER, READER
from tests.integration.history_service import (
    C,
    Key,
    Replica,
    failure,
    numbered,
    replicas,
)

METHODS = pb.DESCRIPTOR.services_by_name["HistoryService"]
ROLES = roles_of(METHODS)


@pytest.fixture(params=["sqlite", "postgres"])
async def served(
    request: pytest.FixtureRequest, tmp_path: Path, pytestconfig: pytest.Config
) -> AsyncIterator[Replica]:
    async with replicas(request.param, tmp_path, pytestconfig) as made:
        yield made[0]


def budget(tokens: int, *, leaf_id: str = "", **fields: Any) -> windows_pb2.GetWindowRequest:
    wanted = windows_pb2.BudgetWindow(tokens=tokens, **fields)
    return windows_pb2.GetWindowRequest(leaf_id=leaf_id, budget=wanted, **C)


def mode(which: int, leaf_id: str = "") -> windows_pb2.GetWindowRequest:
    wanted = windows_pb2.ModeWindow(mode=which)  # type: ignore[arg-type]
    return windows_pb2.GetWindowRequest(leaf_id=leaf_id, mode=wanted, **C)


def usage(**fields: Any) -> pb.RecordUsageRequest:
    return pb.RecordUsageRequest(**{**C, "tier": "fast", "model": "m", **fields})


LONG = "x" * 129
NUL = "m\0"
PAGED = {"page_token": "abc"}
HOUR = Timestamp(seconds=3600)


def put(**fields: Any) -> overlays_pb2.PutOverlayRequest:
    return overlays_pb2.PutOverlayRequest(
        **{"from_message_id": "m1", "to_message_id": "m3", "summary": "s", "model": "m", **C, **fields}
    )


INVALID: list[tuple[str, Any, str]] = [
    ("GetWindow", windows_pb2.GetWindowRequest(**C), "choice"),
    ("GetWindow", mode(0), "mode.mode"),
    ("GetWindow", mode(7), "mode.mode"),
    ("GetWindow", budget(5, model="x" * 201), "budget.model"),
    ("GetWindow", budget(5, rolling_summary="x" * 65_537), "budget.rolling_summary"),
    ("GetWindow", budget(5, leaf_id=LONG), "leaf_id"),
    ("GetWindow", budget(5, leaf_id=NUL), "leaf_id"),
    ("ListPath", pb.ListPathRequest(agent_id="a"), "conversation_id"),
    ("ListPath", pb.ListPathRequest(agent_id="a", conversation_id=NUL), "conversation_id"),
    ("ListPath", pb.ListPathRequest(agent_id=NUL, conversation_id="c"), "agent_id"),
    ("ListPath", pb.ListPathRequest(page_size=1001, **C), "page_size"),
    ("ListPath", pb.ListPathRequest(page_size=-1, **C), "page_size"),
    ("ListPath", pb.ListPathRequest(page_token="abc", **C), "page_token"),
    ("ListPath", pb.ListPathRequest(leaf_id=NUL, **C), "leaf_id"),
    ("ListBranches", pb.ListBranchesRequest(message_id=LONG, **C), "message_id"),
    ("ListBranches", pb.ListBranchesRequest(message_id=NUL, **C), "message_id"),
    ("SwitchLeaf", pb.SwitchLeafRequest(**C), "message_id"),
    ("SwitchLeaf", pb.SwitchLeafRequest(message_id=NUL, **C), "message_id"),
    ("ForkConversation", pb.ForkConversationRequest(**C), "message_id"),
    ("ForkConversation", pb.ForkConversationRequest(message_id=NUL, **C), "message_id"),
    ("ForkConversation", pb.ForkConversationRequest(message_id="m1", title=NUL, **C), "title"),
    ("ForkConversation", pb.ForkConversationRequest(message_id="m1", title="x" * 257, **C), "title"),
    (
        "ForkConversation",
        pb.ForkConversationRequest(message_id="m1", new_conversation_id="/", **C),
        "new_conversation_id",
    ),
    ("RenderConversation", pb.RenderConversationRequest(page_token="abc", **C), "page_token"),
    ("RenderConversation", pb.RenderConversationRequest(leaf_id=NUL, **C), "leaf_id"),
    ("PutOverlay", put(overlay_id="a b"), "overlay_id"),
    ("PutOverlay", put(from_message_id=""), "from_message_id"),
    ("PutOverlay", put(from_message_id=NUL), "from_message_id"),
    ("PutOverlay", put(to_message_id=NUL), "to_message_id"),
    ("PutOverlay", put(from_message_id="m3", to_message_id="m1"), "from_message_id"),
    ("PutOverlay", put(summary=""), "summary"),
    ("PutOverlay", put(summary=" \n"), "summary"),
    ("PutOverlay", put(summary="\0"), "summary"),
    ("PutOverlay", put(summary="x" * 32_769), "summary"),
    ("PutOverlay", put(model="\0"), "model"),
    ("PutOverlay", put(model=""), "model"),
    ("PutOverlay", put(folded_overlay_ids=["o", NUL]), "folded_overlay_ids[1]"),
    ("PutOverlay", put(folded_overlay_ids=[""]), "folded_overlay_ids[0]"),
    ("PutOverlay", put(folded_overlay_ids=["o"] * 1001), "folded_overlay_ids"),
    ("ListOverlays", overlays_pb2.ListOverlaysRequest(page_token="abc", **C), "page_token"),
    ("ListOverlays", overlays_pb2.ListOverlaysRequest(leaf_id=NUL, **C), "leaf_id"),
    ("GetCoverage", overlays_pb2.GetCoverageRequest(agent_id="a"), "conversation_id"),
    ("RecordUsage", usage(), "spent"),
    ("RecordUsage", usage(tier="", tokens=pb.CallTokens()), "tier"),
    ("RecordUsage", usage(tier=NUL, tokens=pb.CallTokens()), "tier"),
    ("RecordUsage", usage(model=NUL, tokens=pb.CallTokens()), "model"),
    ("RecordUsage", usage(conversation_id=NUL, tokens=pb.CallTokens()), "conversation_id"),
    ("RecordUsage", usage(agent_id=NUL, tokens=pb.CallTokens()), "agent_id"),
    ("RecordUsage", usage(tokens=pb.CallTokens(input=-1)), "tokens.input"),
    ("RecordUsage", usage(texts=pb.CallTexts(input="x" * (1 << 20) + "y")), "texts.input"),
    ("GetUsage", pb.GetUsageRequest(), "agent_id"),
    ("GetUsage", pb.GetUsageRequest(agent_id=NUL), "agent_id"),
    ("GetUsage", pb.GetUsageRequest(agent_id="a", conversation_id=NUL), "conversation_id"),
    ("GetUsage", pb.GetUsageRequest(agent_id="a", start_time=Timestamp(seconds=2**60)), "start_time"),
    ("GetUsage", pb.GetUsageRequest(agent_id="a", end_time=Timestamp(seconds=-(2**60))), "end_time"),
]


async def everything(served: Replica) -> list[bytes]:
    """All that calls of the service could have changed."""
    history = served.history
    answers = [
        await served.conversation(),
        await history.ListPath(pb.ListPathRequest(**C)),
        await history.ListOverlays(overlays_pb2.ListOverlaysRequest(include_superseded=True, **C)),
        await history.GetUsage(pb.GetUsageRequest(agent_id="a")),
        await served.episodic.ListConversations(epb.ListConversationsRequest(agent_id="a")),
    ]
    return [answer.SerializeToString(deterministic=True) for answer in answers]


async def test_bad_input_is_refused_by_the_path_of_its_field_and_nothing_is_stored(served: Replica) -> None:
    """X-1, X-2."""
    await served.say(*numbered(3))
    before = await everything(served)
    for method, request, field in INVALID:
        error = await failure(getattr(served.history, method)(request))
        assert error.reason in {Reason.INVALID_FIELD, Reason.INVALID_PAGE_TOKEN}, (method, field, error)
        assert field in [problem.field for problem in error.fields], (method, field, error.fields)
    assert await everything(served) == before
    assert {method for method, _, _ in INVALID} == ROLES.keys() - {"WatchConversation"}
    await served.history.PutOverlay(put(summary="x" * 32_768))
    assert await everything(served) != before


GOOD: dict[str, Callable[[Key], Any]] = {
    "GetWindow": lambda key: windows_pb2.GetWindowRequest(budget=windows_pb2.BudgetWindow(tokens=9), **key),
    "ListPath": lambda key: pb.ListPathRequest(**key),
    "ListBranches": lambda key: pb.ListBranchesRequest(**key),
    "SwitchLeaf": lambda key: pb.SwitchLeafRequest(message_id="m1", **key),
    "ForkConversation": lambda key: pb.ForkConversationRequest(message_id="m1", **key),
    "RenderConversation": lambda key: pb.RenderConversationRequest(**key),
    "PutOverlay": lambda key: overlays_pb2.PutOverlayRequest(
        from_message_id="m1", to_message_id="m3", summary="s", model="m", **key
    ),
    "ListOverlays": lambda key: overlays_pb2.ListOverlaysRequest(**key),
    "GetCoverage": lambda key: overlays_pb2.GetCoverageRequest(**key),
    "RecordUsage": lambda key: pb.RecordUsageRequest(
        tier="fast", model="m", tokens=pb.CallTokens(input=1), **key
    ),
    "GetUsage": lambda key: pb.GetUsageRequest(**key),
}


async def test_what_is_unknown_or_anothers_is_not_found_and_out_of_reach_not_allowed(served: Replica) -> None:
    await served.say(*numbered(3))
    before = await everything(served)
    assert GOOD.keys() == ROLES.keys() - {"WatchConversation"}
    for method, request in GOOD.items():
        call = getattr(served.history, method)
        with act_as(ONLY_B):
            assert (await failure(call(request(C)))).reason is Reason.NOT_ALLOWED, method
        unknown = {"agent_id": "zz", "conversation_id": "c"}
        assert (await failure(call(request(unknown)))).reason is Reason.RESOURCE_NOT_FOUND, method
        if "Usage" not in method:
            unknown = {"agent_id": "a", "conversation_id": "zz"}
            assert (await failure(call(request(unknown)))).reason is Reason.RESOURCE_NOT_FOUND, method
        with act_as(READER):
            if ROLES[method] is Role.WRITER:
                assert (await failure(call(request(C)))).reason is Reason.NOT_ALLOWED, method
            else:
                await call(request(C))
    with act_as(OTHER):
        listed = await served.history.ListPath(pb.ListPathRequest(**C))
        assert list(listed.messages) == []
        switch = pb.SwitchLeafRequest(message_id="m1", **C)
        assert (await failure(served.history.SwitchLeaf(switch))).reason is Reason.RESOURCE_NOT_FOUND
    assert await everything(served) == before
    for method, request in GOOD.items():
        await getattr(served.history, method)(request(C))
    assert await everything(served) != before


@pytest.mark.parametrize(
    ("method", "request_"),
    [
        ("GetWindow", budget(9, leaf_id="zz")),
        ("GetWindow", mode(1, "zz")),
        ("ListPath", pb.ListPathRequest(leaf_id="zz", **C)),
        ("ListBranches", pb.ListBranchesRequest(message_id="zz", **C)),
        ("SwitchLeaf", pb.SwitchLeafRequest(message_id="zz", **C)),
        ("ForkConversation", pb.ForkConversationRequest(message_id="zz", **C)),
        ("RenderConversation", pb.RenderConversationRequest(leaf_id="zz", **C)),
        ("PutOverlay", put(to_message_id="zz")),
        ("PutOverlay", put(folded_overlay_ids=["zz"])),
        ("ListOverlays", overlays_pb2.ListOverlaysRequest(leaf_id="zz", **C)),
    ],
)
async def test_unknown_messages_and_overlays_are_not_found(
    served: Replica, method: str, request_: Any
) -> None:
    await served.say(*numbered(3))
    assert (await failure(getattr(served.history, method)(request_))).reason is Reason.RESOURCE_NOT_FOUND


async def test_a_page_token_is_good_for_its_own_listing_only(served: Replica) -> None:
    await served.say(*numbered(6))
    for n in range(1, 6, 2):
        await served.overlay(f"m{n}", f"m{n + 1}")
    history = served.history
    token = (await history.ListPath(pb.ListPathRequest(page_size=1, **C))).next_page_token
    overlays = await history.ListOverlays(overlays_pb2.ListOverlaysRequest(page_size=1, **C))
    calls: list[Awaitable[Any]] = [
        history.ListPath(pb.ListPathRequest(page_token=token, newest_first=True, **C)),
        history.ListPath(pb.ListPathRequest(page_token=token, leaf_id="m6", **C)),
        history.ListPath(pb.ListPathRequest(page_token=token, agent_id="a", conversation_id="d")),
        history.RenderConversation(pb.RenderConversationRequest(page_token=token, **C)),
        history.ListOverlays(overlays_pb2.ListOverlaysRequest(page_token=token, **C)),
        history.ListOverlays(
            overlays_pb2.ListOverlaysRequest(
                page_token=overlays.next_page_token, include_superseded=True, **C
            )
        ),
        history.ListPath(pb.ListPathRequest(page_token=overlays.next_page_token, **C)),
    ]
    for call in calls:
        error = await failure(call)
        assert (error.reason, [p.field for p in error.fields]) == (Reason.INVALID_PAGE_TOKEN, ["page_token"])
    rest = await history.ListPath(pb.ListPathRequest(page_token=token, page_size=5, **C))
    assert [m.id for m in rest.messages] == numbered(5, start=2)


async def test_a_bad_append_does_not_disturb_those_that_wait_with_it(served: Replica) -> None:
    """E-1: NUL characters, which one engine refuses and the other would keep."""
    calls = [served.say(f"x{n}") for n in range(10)]
    bad = [
        served.say("b", parent_id=NUL),
        served.say("b", conversation_id=NUL),
        served.say("b", request_id=NUL),
    ]
    errors, _ = await asyncio.gather(asyncio.gather(*map(failure, bad)), asyncio.gather(*calls))
    assert [error.reason for error in errors] == [Reason.INVALID_FIELD] * 3
    assert (await served.conversation()).stored_count == 10
