"""What holds for every window (SPEC E-5, E-6, E-9)."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass

from hypothesis import example, given, settings
from hypothesis import strategies as st

from services.kit.tokens import TokenCounter, estimate_tokens
from services.memory.episodic.domain.cutting import Shown, calls_of, results_of
from services.memory.episodic.domain.exchanges import MAX_EXCHANGE, runs
from services.memory.episodic.domain.model import Message, Overlay
from services.memory.episodic.domain.parts import Text, ToolCall, ToolResult, plain_text, words
from services.memory.episodic.domain.window import (
    MODE_MESSAGES,
    PAGE_ROWS,
    Mode,
    Window,
    build_window,
    mode_read_enough,
    mode_window,
    read_enough,
)
from tests.unit.window_paths import message, of_tokens, overlays_of, paths, texts

LIMITS = settings(deadline=None, max_examples=80)


def count_words(text: str) -> int:
    return len(text.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    path: list[Message]
    overlays: list[Overlay]
    budget: int
    summary: str
    count: TokenCounter

    def window(self) -> Window:
        return self.window_of(self.path[::-1])

    def window_of(self, rows: Sequence[Message]) -> Window:
        return build_window(
            self.path[:2],
            rows,
            self.overlays,
            self.budget,
            rolling_summary=self.summary,
            count=self.count,
        )


@st.composite
def cases(draw: st.DrawFn) -> Case:
    path = draw(paths())
    return Case(
        path=path,
        overlays=draw(overlays_of(path)) if draw(st.booleans()) else [],
        budget=draw(st.one_of(st.integers(1, 60), st.integers(60, 3000), st.integers(3000, 20_000))),
        summary=draw(st.one_of(st.just(""), texts)),
        count=draw(st.sampled_from([estimate_tokens, count_words, len])),
    )


def depths(shown: Sequence[Shown]) -> list[int]:
    return [one.message.depth for one in shown]


def traffic_of(shown: Message) -> set[tuple[str, str]]:
    """Its calls and results, by their ids."""
    parts = shown.parts()
    return {("call", key) for key in calls_of(parts)} | {("result", key) for key in results_of(parts)}


def newest_exchange(path: Sequence[Message]) -> int:
    """Depth at which the exchange that the newest message ends begins."""
    wanted: dict[str, None] = {}
    for place, one in enumerate(reversed(path[-MAX_EXCHANGE:])):
        wanted |= dict.fromkeys(results_of(one.parts()))
        for called in calls_of(one.parts()):
            wanted.pop(called, None)
        if not wanted:
            return len(path) - place
    return len(path) - MAX_EXCHANGE + 1


@LIMITS
@given(cases())
def test_a_window_is_within_its_budget_and_its_shares_by_the_counter_it_is_given(case: Case) -> None:
    window = case.window()
    for group, tokens in ((window.head, window.head_tokens), (window.tail, window.tail_tokens)):
        counted = [case.count(plain_text(one.message.author, one.message.parts())) for one in group]
        assert [one.token_count for one in group] == counted
        assert tokens == sum(counted)
    summaries = [one.summary for one in window.overlays] + [window.rolling_summary]
    assert window.overlay_tokens == sum(map(case.count, summaries))
    assert window.head_tokens <= case.budget * 10 // 100
    assert window.overlay_tokens <= case.budget * 20 // 100
    assert window.token_count == window.head_tokens + window.overlay_tokens + window.tail_tokens
    assert window.token_count <= case.budget


@LIMITS
@given(cases())
def test_the_newest_messages_are_there_unbroken_and_no_message_twice(case: Case) -> None:
    window = case.window()
    head, tail = depths(window.head), depths(window.tail)
    assert tail == list(range(len(case.path) - len(tail) + 1, len(case.path) + 1))
    assert bool(tail) == bool(case.path)
    assert set(head) <= {1, 2} - set(tail)
    assert head == sorted(set(head))
    for one in (*window.head, *window.tail):
        stored = case.path[one.message.depth - 1]
        assert one.cut == (one.message != stored)
        assert one.cut or not one.compacted
        assert one.message.id == stored.id
        assert all(not isinstance(part, Text) or part.text for part in one.message.parts())


CALL_BESIDE_A_LONG_TEXT = (Text(text=":" * 10_001), ToolCall(call_id="a", name="f", arguments={}))


@LIMITS
@given(cases())
@example(
    Case(
        path=[
            message(1, Text(text="a")),
            message(2, *CALL_BESIDE_A_LONG_TEXT),
            *(message(depth, Text(text="and so on")) for depth in range(3, 80)),
        ],
        overlays=[],
        budget=180,
        summary="",
        count=count_words,
    )
)
def test_only_the_newest_exchange_the_head_and_long_older_messages_are_shortened(case: Case) -> None:
    """E-5, E-9; a call or a result without the other is shown as text, which is not shorter."""
    window = case.window()
    for one in (*window.head, *window.tail):
        stored = case.path[one.message.depth - 1]
        if one.compacted:
            assert one.message.depth <= len(case.path) - 4
            parted = traffic_of(stored) - traffic_of(one.message)
            assert len(one.message.content) < len(stored.content) or parted
            assert f"[…cut; whole in message {stored.id}]" in plain_text("", one.message.parts())
        elif one.cut and one in window.tail and one.message.depth < newest_exchange(case.path):
            assert all(words(part) in plain_text("", one.message.parts()) for part in stored.parts())
            assert results_of(stored.parts()) - results_of(one.message.parts())


@LIMITS
@given(cases())
def test_a_result_is_shown_as_one_only_after_its_call_and_a_head_call_only_with_its_result(
    case: Case,
) -> None:
    window = case.window()
    for group in (window.head, window.tail):
        called: set[str] = set()
        for one in group:
            called |= calls_of(one.message.parts())
            assert results_of(one.message.parts()) <= called
    head_parts = tuple(part for one in window.head for part in one.message.parts())
    assert calls_of(head_parts) <= results_of(head_parts)


@LIMITS
@given(cases())
def test_shown_overlays_are_in_order_and_each_stands_for_a_message_that_is_not_verbatim(case: Case) -> None:
    window = case.window()
    at_length = [one for run in runs(case.path[::-1], case.count) for one in run.shown]
    verbatim = {one.message.depth for one in window.head if one.verbatim}
    verbatim |= {one.message.depth for one in window.tail if one in at_length}
    ranges = {one.id: set(range(one.from_depth, one.to_depth + 1)) for one in case.overlays}
    wanted = [one for one in case.overlays if ranges[one.id] - verbatim]
    assert [one for one in wanted if one in window.overlays] == list(window.overlays)
    assert window.overlays_left_out == len(wanted) - len(window.overlays)
    if not all(one in at_length for one in window.tail):
        return  # what the cut left verbatim is known too late to choose other overlays
    share = case.budget * 20 // 100
    assert window.overlays_over_share == (sum(case.count(one.summary) for one in wanted) > share)
    for index, one in enumerate(wanted):
        newer = sum(case.count(later.summary) for later in wanted[index + 1 :] if later in window.overlays)
        assert (one in window.overlays) == (newer + case.count(one.summary) <= share)


@LIMITS
@given(cases())
def test_an_overlay_stands_for_messages_that_are_not_verbatim(case: Case) -> None:
    window = case.window()
    verbatim = {one.message.depth for one in (*window.head, *window.tail) if one.verbatim}
    assert len(window.stands_for) == len(window.overlays)
    for overlay, (first, last) in zip(window.overlays, window.stands_for, strict=True):
        stood_for = set(range(overlay.from_depth, overlay.to_depth + 1)) - verbatim
        assert (first, last) == (min(stood_for), max(stood_for))


@LIMITS
@given(cases())
def test_the_tail_is_the_longest_that_fits(case: Case) -> None:
    """E-5: unused share flows to the tail; one message more would be over the budget."""
    window = case.window()
    if not window.tail or window.tail[0].message.depth == 1 or any(one.cut for one in window.tail):
        return
    for run in runs(case.path[::-1], case.count):
        if run.start < window.tail[0].message.depth:
            spare = case.budget - window.token_count
            released = window.head_tokens + window.overlay_tokens
            assert run.token_count > spare or run.start <= 2 or released
            break


@LIMITS
@given(cases())
def test_every_message_is_shown_covered_or_counted_as_omitted(case: Case) -> None:
    window = case.window()
    shown = {*depths(window.head), *depths(window.tail)}
    covered = {d for one in window.overlays for d in range(one.from_depth, one.to_depth + 1)}
    assert window.omitted_count == len(set(range(1, len(case.path) + 1)) - shown - covered)
    assert window.latest_time == (case.path[-1].time if case.path else None)


@LIMITS
@given(cases())
def test_the_uncovered_stretch_is_the_oldest_between_head_and_tail_without_a_live_overlay(
    case: Case,
) -> None:
    """E-7."""
    window = case.window()
    live = {d for one in case.overlays for d in range(one.from_depth, one.to_depth + 1)}
    bare = [d for d in range(3, len(case.path) - len(window.tail) + 1) if d not in live]
    if not bare:
        assert (window.uncovered_from_depth, window.uncovered_to_depth) == (0, 0)
    else:
        last = next(d for d in range(bare[0], len(case.path) + 1) if d + 1 not in bare)
        assert (window.uncovered_from_depth, window.uncovered_to_depth) == (bare[0], last)


@LIMITS
@given(cases())
def test_the_rolling_summary_is_there_only_without_overlays_and_with_messages_left_out(case: Case) -> None:
    window = case.window()
    if case.overlays or not window.omitted_count:
        assert window.rolling_summary == ""
    elif case.count(case.summary) <= case.budget * 20 // 100:
        assert window.rolling_summary == case.summary
    elif window.rolling_summary:
        assert window.rolling_summary.endswith("…")
        assert case.summary.startswith(window.rolling_summary[:-1])
        assert window.overlay_tokens


@LIMITS
@given(cases())
def test_equal_input_gives_an_equal_window(case: Case) -> None:
    assert case.window() == deepcopy(case).window()


@LIMITS
@given(cases())
def test_the_rows_that_are_read_are_enough(case: Case) -> None:
    """Pages of 10 until `read_enough`, or until the head is reached; more rows change nothing."""
    rows = case.path[::-1]
    read = 0
    while read < len(rows) and not read_enough(rows[:read], case.budget, count=case.count):
        read = min(len(rows), read + PAGE_ROWS)
    assert case.window_of(rows[:read]) == case.window()


@LIMITS
@given(st.lists(st.integers(1, 300), min_size=12, max_size=40), st.integers(1, 2500))
def test_the_tail_takes_all_that_the_rest_leaves(sizes: list[int], budget: int) -> None:
    path = of_tokens(*sizes)
    window = build_window(path[:2], path[::-1], [], budget)
    start = len(path) - len(window.tail) + 1
    if start > 3:  # before that, a longer tail also spares a message of the head
        assert window.token_count + path[start - 2].token_count > budget


@LIMITS
@given(paths(), st.sampled_from(Mode))
def test_a_mode_shows_its_number_of_messages_and_goes_further_back_only_for_a_call(
    path: list[Message], mode: Mode
) -> None:
    """E-6."""
    rows = path[::-1]
    window = mode_window(rows, mode)
    tail = depths(window.tail)
    assert tail == list(range(len(path) - len(tail) + 1, len(path) + 1))
    assert len(tail) >= min(len(path), MODE_MESSAGES[mode])
    assert (window.head, window.overlays, window.rolling_summary) == ((), (), "")
    assert window.omitted_count == len(path) - len(tail)
    called: set[str] = set()
    for one in window.tail:
        called |= calls_of(one.message.parts())
        assert results_of(one.message.parts()) <= called
        assert not one.compacted or one.message.depth <= len(path) - 4
    if len(tail) > MODE_MESSAGES[mode]:
        assert calls_of(window.tail[0].message.parts())
    read = 0
    while read < len(rows) and not mode_read_enough(rows[:read], mode):
        read = min(len(rows), read + PAGE_ROWS)
    assert mode_window(rows[:read], mode) == window


@LIMITS
@given(paths())
def test_micro_compaction_bounds_older_messages_and_lengthens_none(path: list[Message]) -> None:
    """E-9."""
    window = build_window(path[:2], path[::-1], [], 10_000_000)
    assert len(window.tail) == len(path)
    for one, stored in zip(window.tail, path, strict=True):
        if one.compacted:
            assert one.token_count <= stored.token_count or results_of(stored.parts())
            assert all(len(p.content) <= 500 for p in one.message.parts() if isinstance(p, ToolResult))
