"""Paths, branches, forks and renderings of HistoryService over a socket, on both engines (SPEC E-3, E-13)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from palimpsest.history.v1 import history_pb2 as pb

from services.kit.errors import Reason
from tests.integration.history_service import (
    FORK_MESSAGES,
    C,
    Replica,
    failure,
    numbered,
    pages,
    replicas,
)


@pytest.fixture(params=["sqlite", "postgres"])
async def served(
    request: pytest.FixtureRequest, tmp_path: Path, pytestconfig: pytest.Config
) -> AsyncIterator[Replica]:
    async with replicas(request.param, tmp_path, pytestconfig) as made:
        yield made[0]


@pytest.mark.parametrize("newest_first", [False, True])
@pytest.mark.parametrize("leaf", ["", "m7"])
async def test_a_path_is_listed_in_pages_in_either_order_while_others_append(
    served: Replica, newest_first: bool, leaf: str
) -> None:
    """E-13: all pages are of the path that the first was of, though another becomes the active one."""
    await served.say(*numbered(7))
    await served.say("b3", "b4", "b5", parent_id="m2", branch=True)
    late = iter(["late 1", "late 2", "late 3"])

    async def page(token: str) -> pb.ListPathResponse:
        answer = await served.history.ListPath(
            pb.ListPathRequest(leaf_id=leaf, newest_first=newest_first, page_size=3, page_token=token, **C)
        )
        for text in late:
            await served.say(text, ids=text.replace(" ", "-"))
        await served.history.SwitchLeaf(pb.SwitchLeafRequest(message_id="m7", **C))
        return answer

    seen = [m.id for answer in await pages(page) for m in answer.messages]
    expected = numbered(7) if leaf else ["m1", "m2", "b3", "b4", "b5"]
    assert seen == (expected[::-1] if newest_first else expected)


async def test_branches_and_switching(served: Replica) -> None:
    """E-3."""
    await served.say("m1", "m2", "m3")
    assert (await failure(served.say("b2", parent_id="m1"))).reason is Reason.PARENT_CONFLICT
    await served.say("b2", parent_id="m1", branch=True)
    found = await served.history.ListBranches(pb.ListBranchesRequest(message_id="m1", **C))
    assert [(b.first_message.id, b.leaf_id, b.depth, b.active) for b in found.branches] == [
        ("m2", "m3", 3, False),
        ("b2", "b2", 2, True),
    ]
    switched = await served.history.SwitchLeaf(pb.SwitchLeafRequest(message_id="m2", **C))
    assert switched.conversation.leaf_id == "m3"
    assert switched.conversation == await served.conversation()
    roots = await served.history.ListBranches(pb.ListBranchesRequest(**C))
    assert [(b.first_message.id, b.leaf_id) for b in roots.branches] == [("m1", "b2")]


async def test_branches_are_listed_in_pages(served: Replica) -> None:
    """E-13, X-2: as many as asked for, and no more than fit an answer."""
    await served.say("m1")
    names = numbered(7, prefix="b")
    for name in names:
        await served.say(name, parent_id="m1", branch=True)

    async def page(token: str) -> pb.ListBranchesResponse:
        return await served.history.ListBranches(
            pb.ListBranchesRequest(message_id="m1", page_size=3, page_token=token, **C)
        )

    found = await pages(page)
    assert [[b.leaf_id for b in one.branches] for one in found] == [names[:3], names[3:6], names[6:]]
    token = found[0].next_page_token
    await served.say("b8", parent_id="m1", branch=True)
    rest = await served.history.ListBranches(pb.ListBranchesRequest(message_id="m1", page_token=token, **C))
    assert [(b.leaf_id, b.active) for b in rest.branches] == [*((n, False) for n in names[3:]), ("b8", True)]
    assert rest.next_page_token == ""
    for other in ("", "b1"):
        request = pb.ListBranchesRequest(message_id=other, page_token=token, **C)
        assert (await failure(served.history.ListBranches(request))).reason is Reason.INVALID_PAGE_TOKEN


async def test_a_switch_asks_for_a_job_where_the_other_path_is_not_covered(served: Replica) -> None:
    """E-8."""
    await served.say("t1", *numbered(26))
    await asyncio.wait_for(served.ledger.until("cover_messages"), 20)
    await served.say("b2", parent_id="t1", branch=True)
    await served.history.SwitchLeaf(pb.SwitchLeafRequest(message_id="m1", **C))
    async with asyncio.timeout(20):
        while [job.type for _, job in served.ledger.jobs].count("cover_messages") < 2:
            served.ledger.arrived.clear()
            await served.ledger.arrived.wait()


async def test_a_rendering_stays_on_its_path_and_shows_what_was_live_there(served: Replica) -> None:
    """E-7: folded on one branch, live on the one that left it before."""
    await served.say(*numbered(8))
    await served.overlay("m1", "m2")
    await served.overlay("m3", "m6")
    await served.overlay("m1", "m6", folded_overlay_ids=["m1-m2", "m3-m6"])
    await served.say("b4", "b5", parent_id="m3", branch=True)

    async def page(token: str) -> pb.RenderConversationResponse:
        answer = await served.history.RenderConversation(
            pb.RenderConversationRequest(page_size=2, page_token=token, **C)
        )
        await served.history.SwitchLeaf(pb.SwitchLeafRequest(message_id="m8", **C))
        return answer

    async def rendered() -> list[tuple[str, list[str], list[str]]]:
        return [
            (one.overlay.id, [folded.id for folded in one.folded], [m.id for m in one.messages])
            for answer in await pages(page)
            for one in answer.ranges
        ]

    assert await rendered() == [("m1-m2", [], ["m1", "m2"]), ("", [], ["m3", "b4"]), ("", [], ["b5"])]
    assert await rendered() == [
        ("m1-m6", ["m1-m2"], ["m1", "m2"]),
        ("m1-m6", ["m3-m6"], ["m3", "m4"]),
        ("m1-m6", ["m3-m6"], ["m5", "m6"]),
        ("", [], ["m7", "m8"]),
    ]


async def test_a_fork_is_a_conversation_of_its_own(served: Replica) -> None:
    """E-3."""
    await served.say("m1", "m2", "m3")
    request = pb.ForkConversationRequest(message_id="m2", new_conversation_id="f", title="Copy", **C)
    forked = (await served.history.ForkConversation(request)).conversation
    assert (forked.id, forked.title, forked.stored_count, forked.leaf_id) == ("f", "Copy", 2, "m2")
    assert await served.history.ForkConversation(request) == pb.ForkConversationResponse(conversation=forked)
    await served.say("own", conversation_id="f")
    assert (await served.conversation()).stored_count == 3
    unnamed = pb.ForkConversationRequest(message_id="m2", **C)
    first, second = [(await served.history.ForkConversation(unnamed)).conversation.id for _ in range(2)]
    assert first != second
    request.title = "other"
    assert (await failure(served.history.ForkConversation(request))).reason is Reason.RESOURCE_EXISTS
    await served.say(*numbered(FORK_MESSAGES, start=4))
    leaf = (await served.conversation()).leaf_id
    long = pb.ForkConversationRequest(message_id=leaf, **C)
    error = await failure(served.history.ForkConversation(long))
    assert (error.reason, error.metadata) == (
        Reason.LIMIT_EXCEEDED,
        {"limit": str(FORK_MESSAGES), "actual": str(FORK_MESSAGES + 3)},
    )


async def test_a_rendering_in_pages_shows_overlays_across_their_borders(
    served: Replica,
) -> None:
    """E-4, E-7: the same ranges on each page, on the path asked for and on no other."""
    await served.say(*numbered(12))
    await served.say("b9", "b10", parent_id="m8", branch=True)
    await served.overlay("m2", "m3")
    await served.overlay("m4", "m5")
    await served.overlay("m2", "m5", folded_overlay_ids=["m2-m3", "m4-m5"])
    await served.overlay("m7", "m10")
    await served.overlay("m7", "b9")

    async def rendered(leaf: str, size: int) -> list[tuple[int, str, list[str]]]:
        async def page(token: str) -> pb.RenderConversationResponse:
            return await served.history.RenderConversation(
                pb.RenderConversationRequest(leaf_id=leaf, page_size=size, page_token=token, **C)
            )

        return [
            (message.depth, one.overlay.id, [folded.id for folded in one.folded])
            for answer in await pages(page)
            for one in answer.ranges
            for message in one.messages
        ]

    def over(ranges: dict[str, range], last: int, folded: Callable[[int], list[str]]) -> Any:
        by_depth = {depth: id_ for id_, depths in ranges.items() for depth in depths}
        return [
            (depth, by_depth.get(depth, ""), folded(depth) if by_depth.get(depth) == "m2-m5" else [])
            for depth in range(1, last + 1)
        ]

    one_by_one = {2: ["m2-m3"], 3: ["m2-m3"], 4: ["m4-m5"], 5: ["m4-m5"]}
    for leaf, ranges, last in (
        ("m12", {"m2-m5": range(2, 6), "m7-m10": range(7, 11)}, 12),
        ("", {"m2-m5": range(2, 6), "m7-b9": range(7, 10)}, 10),
        ("b10", {"m2-m5": range(2, 6), "m7-b9": range(7, 10)}, 10),
        ("m9", {"m2-m5": range(2, 6)}, 9),
    ):
        assert await rendered(leaf, 1) == over(ranges, last, lambda depth: one_by_one[depth])
        assert await rendered(leaf, 100) == over(ranges, last, lambda _: ["m2-m3", "m4-m5"])
        for size in (2, 3, 5, 7):
            assert [row[:2] for row in await rendered(leaf, size)] == [
                row[:2] for row in over(ranges, last, lambda _: [])
            ]
    answer = await served.history.RenderConversation(pb.RenderConversationRequest(**C))
    assert "In short." in answer.text
    assert "[10] user" in answer.text
