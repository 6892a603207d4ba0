"""HistoryService through a real stub over a socket, on SQLite and PostgreSQL (SPEC §5, X-1, X-2)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from palimpsest.common.v1 import resources_pb2
from palimpsest.episodic.v1 import episodic_pb2 as epb
from palimpsest.history.v1 import history_pb2 as pb
from palimpsest.history.v1 import overlays_pb2, windows_pb2

from services.kit.context import act_as
from services.kit.errors import Reason
from services.kit.tokenizers_counter import load_counter
from services.kit.tokens import estimate_tokens
from tests.integration.episodic_server import OTHER
from tests.integration.history_service import (
    EXACT_MODEL,
    TOKENIZER,
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


def budget(tokens: int, *, leaf_id: str = "", **fields: Any) -> windows_pb2.GetWindowRequest:
    wanted = windows_pb2.BudgetWindow(tokens=tokens, **fields)
    return windows_pb2.GetWindowRequest(leaf_id=leaf_id, budget=wanted, **C)


def mode(which: int, leaf_id: str = "") -> windows_pb2.GetWindowRequest:
    wanted = windows_pb2.ModeWindow(mode=which)  # type: ignore[arg-type]
    return windows_pb2.GetWindowRequest(leaf_id=leaf_id, mode=wanted, **C)


def ids_of(shown: Any) -> list[str]:
    return [one.message.id for one in shown]


def texts_of(window: windows_pb2.GetWindowResponse) -> list[str]:
    """All that is shown."""
    messages = [part.text for one in (*window.head, *window.tail) for part in one.message.parts]
    return [*messages, *(one.overlay.summary for one in window.overlays), window.rolling_summary]


async def test_a_window_by_mode_holds_the_newest_messages(served: Replica) -> None:
    """E-6."""
    empty = await served.history.GetWindow(mode(windows_pb2.WINDOW_MODE_AUTO))
    assert (list(empty.tail), empty.depth, empty.HasField("latest_time")) == ([], 0, False)
    await served.say(*numbered(14))
    await served.say("b3", parent_id="m2", branch=True)
    await served.overlay("m1", "m2")
    for which, leaf, expected in (
        (windows_pb2.WINDOW_MODE_AUTO, "m14", numbered(4, start=11)),
        (windows_pb2.WINDOW_MODE_FULL, "m14", numbered(12, start=3)),
        (windows_pb2.WINDOW_MODE_AUTO, "m6", numbered(4, start=3)),
        (windows_pb2.WINDOW_MODE_FULL, "", ["m1", "m2", "b3"]),
    ):
        window = await served.history.GetWindow(mode(which, leaf))
        assert ids_of(window.tail) == expected
        assert (len(window.head), len(window.overlays), window.HasField("latest_time")) == (0, 0, True)
        assert window.omitted_count == window.depth - len(expected)


async def test_a_window_by_budget_is_cut_to_it(served: Replica) -> None:
    """E-5: never over budget, whatever it is; what is shorter than it was says so."""
    await served.say(*(f"message {n} " + "x" * 200 for n in range(1, 31)), ids=" ".join(numbered(30)))
    for tokens in (1, 2, 5, 20, 60, 100, 300, 1000, 10_000_000):
        window = await served.history.GetWindow(budget(tokens))
        assert window.token_count <= tokens
        assert window.token_count == window.head_tokens + window.overlay_tokens + window.tail_tokens
        assert sum(one.token_count for one in (*window.head, *window.tail)) == window.token_count
        shown = ids_of(window.head) + ids_of(window.tail)
        assert window.omitted_count == 30 - len(set(shown))
        assert window.depth == 30
        if window.tail:
            assert window.tail[-1].message.id == "m30"
        if tokens < 60:
            assert all(one.cut for one in window.tail)
        if tokens == 20:
            assert "m30" in window.tail[-1].message.parts[0].text  # the marker names what was cut
    assert ids_of(window.tail) == numbered(30)
    assert not any(one.cut for one in window.tail)
    path = await served.history.GetWindow(budget(1000, leaf_id="m4"))
    assert (ids_of(path.tail), path.depth) == (numbered(4), 4)
    for tokens in (0, -1, 10_000_001):
        error = await failure(served.history.GetWindow(budget(tokens)))
        assert (error.reason, [p.field for p in error.fields]) == (Reason.INVALID_FIELD, ["budget.tokens"])


async def test_overlays_stand_between_head_and_tail(served: Replica) -> None:
    """E-5, E-7."""
    await served.say(*("word " * 20 + id_ for id_ in numbered(40)), ids=" ".join(numbered(40)))
    await served.overlay("m1", "m10", "The first ten.")
    await served.overlay("m11", "m20", "The next ten.")
    window = await served.history.GetWindow(budget(500, rolling_summary="All of it."))
    assert [one.overlay.summary for one in window.overlays] == ["The first ten.", "The next ten."]
    assert window.rolling_summary == ""
    assert ids_of(window.head)[:1] == ["m1"]
    assert window.overlay_tokens == sum(one.overlay.token_count for one in window.overlays)
    whole = await served.history.GetWindow(budget(100_000))
    assert (list(whole.overlays), ids_of(whole.tail)) == ([], numbered(40))
    shorter = await served.history.GetWindow(budget(300, leaf_id="m19"))
    assert [one.overlay.summary for one in shorter.overlays] == ["The first ten."]


async def test_without_overlays_the_rolling_summary_takes_their_place(served: Replica) -> None:
    """E-5."""
    await served.say(*("word " * 20 + id_ for id_ in numbered(40)), ids=" ".join(numbered(40)))
    window = await served.history.GetWindow(budget(500, rolling_summary="All of it."))
    assert (window.rolling_summary, list(window.overlays)) == ("All of it.", [])
    assert window.overlay_tokens == estimate_tokens("All of it.")
    long = await served.history.GetWindow(budget(500, rolling_summary="All of it. " * 1000))
    assert 0 < long.overlay_tokens <= 100
    whole = await served.history.GetWindow(budget(100_000, rolling_summary="All of it."))
    assert whole.rolling_summary == ""


async def test_tokens_are_exact_for_a_model_whose_tokenizer_is_there(served: Replica) -> None:
    """E-10."""
    await served.say(
        *("antidisestablishmentarianism " * 5 + id_ for id_ in numbered(20)), ids=" ".join(numbered(20))
    )
    count = load_counter(TOKENIZER)
    exact = await served.history.GetWindow(budget(300, model=EXACT_MODEL))
    other = await served.history.GetWindow(budget(300, model="another"))
    assert (exact.exact_tokens, other.exact_tokens) == (True, False)
    assert sum(map(count, texts_of(exact))) == exact.token_count <= 300
    assert sum(map(estimate_tokens, texts_of(other))) == other.token_count <= 300
    assert exact.token_count != other.token_count


async def test_a_window_asks_for_a_job_where_its_middle_is_not_covered(served: Replica) -> None:
    """E-7."""
    await served.say(*("word " * 20 + id_ for id_ in numbered(20)), ids=" ".join(numbered(20)))
    for _ in range(3):
        await served.history.GetWindow(budget(100_000))
        await served.history.GetWindow(budget(300, leaf_id="m19"))
    await served.say("more", ids="m21")
    for _ in range(3):
        await served.history.GetWindow(budget(300))
    job = await asyncio.wait_for(served.ledger.until("cover_messages"), 20)
    assert (job.agent_id, job.subject) == ("a", "conversations/c")
    assert job.payload == b'{"conversation_id":"c","to_sequence":21}'
    async with asyncio.timeout(20):
        while sum(job.type == "index_message" for _, job in served.ledger.jobs) < 21:
            served.ledger.arrived.clear()
            await served.ledger.arrived.wait()
    await asyncio.wait_for(served.ledger.until("refresh_summary"), 20)
    types = [job.type for _, job in served.ledger.jobs]
    # One each, and that after the last message: neither a whole window nor one of another leaf asked for it.
    assert types[-2:] == ["cover_messages", "refresh_summary"]
    assert (types.count("cover_messages"), types.count("refresh_summary")) == (1, 1)
    due = await served.history.GetCoverage(overlays_pb2.GetCoverageRequest(**C))
    assert [m.id for m in due.uncovered] == numbered(16)
    assert (due.share_tokens, list(due.over_share), due.previous_summary) == (960, [], "")


async def test_overlays_over_their_share_are_told_to_be_folded(served: Replica) -> None:
    """E-7."""
    await served.say(*numbered(12))
    await served.overlay("m1", "m3", "a" * 2000)
    await served.overlay("m4", "m6", "b" * 2000)
    due = await served.history.GetCoverage(overlays_pb2.GetCoverageRequest(**C))
    assert [one.id for one in due.over_share] == ["m1-m3", "m4-m6"]
    await asyncio.wait_for(served.ledger.until("fold_overlays"), 20)
    both = ["m1-m3", "m4-m6"]
    folded = await served.overlay("m1", "m6", "Short.", folded_overlay_ids=both)
    assert (list(folded.source_ids), folded.message_count, list(folded.superseded_by)) == (both, 6, [])
    due = await served.history.GetCoverage(overlays_pb2.GetCoverageRequest(**C))
    assert (list(due.over_share), due.previous_summary) == ([], "")
    listed = await served.history.ListOverlays(overlays_pb2.ListOverlaysRequest(include_superseded=True, **C))
    assert {one.id: list(one.superseded_by) for one in listed.overlays} == {
        "m1-m3": ["m1-m6"],
        "m4-m6": ["m1-m6"],
        "m1-m6": [],
    }


async def test_a_rendering_shows_any_time(served: Replica) -> None:
    last = Timestamp(seconds=253_402_300_799, nanos=999_999_000)
    message = resources_pb2.NewMessage(
        role=resources_pb2.ROLE_USER, time=last, parts=[resources_pb2.Part(text="x")]
    )
    await served.episodic.AppendMessages(epb.AppendMessagesRequest(messages=[message], **C))
    answer = await served.history.RenderConversation(pb.RenderConversationRequest(**C))
    assert "9999-12-31 23:59" in answer.text


async def test_overlays_are_listed_in_pages(served: Replica) -> None:
    await served.say(*numbered(12))
    for n in range(1, 9, 2):
        await served.overlay(f"m{n}", f"m{n + 1}")

    async def page(token: str) -> overlays_pb2.ListOverlaysResponse:
        return await served.history.ListOverlays(
            overlays_pb2.ListOverlaysRequest(page_size=3, page_token=token, **C)
        )

    found = [[one.id for one in answer.overlays] for answer in await pages(page)]
    assert found == [["m1-m2", "m3-m4", "m5-m6"], ["m7-m8"]]
    short = await served.history.ListOverlays(overlays_pb2.ListOverlaysRequest(leaf_id="m5", **C))
    assert [one.id for one in short.overlays] == ["m1-m2", "m3-m4"]


def usage(**fields: Any) -> pb.RecordUsageRequest:
    return pb.RecordUsageRequest(**{**C, "tier": "fast", "model": "m", **fields})


async def test_usage_is_summed_and_estimated_where_no_figures_are_given(served: Replica) -> None:
    """E-11."""
    given = await served.history.RecordUsage(usage(tokens=pb.CallTokens(input=100, output=7)))
    assert given.tokens == pb.CallTokens(input=100, output=7)
    texts = pb.CallTexts(input="a question " * 10, output="yes")
    guessed = await served.history.RecordUsage(usage(texts=texts))
    assert guessed.tokens.input == estimate_tokens(texts.input)
    assert guessed.tokens.output == estimate_tokens("yes")
    await served.history.RecordUsage(usage(conversation_id="", tokens=pb.CallTokens(input=1)))
    await served.history.RecordUsage(usage(tier="deep", tokens=pb.CallTokens()))
    rows = (await served.history.GetUsage(pb.GetUsageRequest(agent_id="a"))).rows
    assert [(row.conversation_id, row.tier, row.calls, row.estimated_calls) for row in rows] == [
        ("", "fast", 1, 0),
        ("c", "deep", 1, 0),
        ("c", "fast", 2, 1),
    ]
    assert (rows[2].input_tokens, rows[2].output_tokens) == (
        100 + guessed.tokens.input,
        7 + guessed.tokens.output,
    )
    today = datetime.now(UTC)
    assert abs(rows[0].day.ToDatetime(UTC) - today) < timedelta(days=2)
    only = await served.history.GetUsage(pb.GetUsageRequest(**C))
    assert len(only.rows) == 2

    async def between(start: timedelta, end: timedelta) -> int:
        request = pb.GetUsageRequest(agent_id="a")
        request.start_time.FromDatetime(today + start)
        request.end_time.FromDatetime(today + end)
        return len((await served.history.GetUsage(request)).rows)

    day = timedelta(days=1)
    assert await between(-day, day) == 3
    assert await between(-9 * day, -3 * day) == await between(2 * day, 3 * day) == 0
    error = await failure(between(day, -day))
    assert (error.reason, [p.field for p in error.fields]) == (Reason.INVALID_FIELD, ["end_time"])
    with act_as(OTHER):
        assert list((await served.history.GetUsage(pb.GetUsageRequest(agent_id="a"))).rows) == []


async def test_several_calls_are_counted_by_one_record(served: Replica) -> None:
    """E-11: figures and estimates stay apart."""
    tokens = pb.CallTokens(input=100, output=7)
    answer = await served.history.RecordUsage(
        usage(sum=pb.CallSum(calls=3, estimated_calls=1, tokens=tokens))
    )
    assert answer.tokens == tokens
    await served.history.RecordUsage(usage(tokens=tokens))
    error = await failure(
        served.history.RecordUsage(usage(sum=pb.CallSum(calls=1, estimated_calls=2, tokens=tokens)))
    )
    assert [one.field for one in error.fields] == ["sum.estimated_calls"]
    [row] = (await served.history.GetUsage(pb.GetUsageRequest(agent_id="a"))).rows
    assert (row.calls, row.estimated_calls, row.input_tokens, row.output_tokens) == (4, 1, 200, 14)


async def test_usage_beyond_any_call_is_refused_so_that_sums_stay_numbers(served: Replica) -> None:
    await served.history.RecordUsage(usage(tokens=pb.CallTokens(input=100, output=7)))
    for tokens in (pb.CallTokens(input=2**63 - 1), pb.CallTokens(output=2**62)):
        error = await failure(served.history.RecordUsage(usage(tokens=tokens)))
        assert error.reason is Reason.INVALID_FIELD
    [row] = (await served.history.GetUsage(pb.GetUsageRequest(agent_id="a"))).rows
    assert (row.calls, row.input_tokens, row.output_tokens) == (1, 100, 7)
