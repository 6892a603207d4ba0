"""Windows by example (SPEC E-5, E-6, E-9)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from services.memory.episodic.domain.cutting import SHORT_MARKER, Shown
from services.memory.episodic.domain.model import Message, Overlay
from services.memory.episodic.domain.parts import Text, ToolCall, ToolResult
from services.memory.episodic.domain.window import (
    MAX_TAIL_CHARACTERS,
    Mode,
    Window,
    build_window,
    mode_read_enough,
    mode_window,
    read_enough,
)
from tests.unit.window_paths import message, of_tokens, overlay, says

CALL = ToolCall(call_id="k", name="look", arguments={"q": "w"})


def window(
    path: Sequence[Message], budget: int, overlays: Sequence[Overlay] = (), rolling_summary: str = ""
) -> Window:
    return build_window(path[:2], path[::-1], overlays, budget, rolling_summary=rolling_summary)


def depths(shown: Sequence[Shown]) -> list[int]:
    return [one.message.depth for one in shown]


def text_of(shown: Shown) -> str:
    (part,) = shown.message.parts()
    assert isinstance(part, Text)
    return part.text


def summary_of(tokens: int) -> str:
    return "s" * int(tokens * 3.5)


EXAMPLE = of_tokens(16, 45, 60, 55, 70, 40, 50, 65, 45, 52, 60, 38)
FIRST, SECOND = overlay(3, 6, summary_of(28)), overlay(7, 9, summary_of(24))


@pytest.mark.parametrize(
    ("budget", "head", "overlays", "tail", "tokens"),
    [
        (350, [1, 2], [FIRST, SECOND], [8, 9, 10, 11, 12], (35, 52, 260)),
        (400, [1, 2], [FIRST], [7, 8, 9, 10, 11, 12], (40, 28, 310)),
        (600, [], [], list(range(1, 13)), (0, 0, 596)),
    ],
)
def test_the_worked_example(
    budget: int, head: list[int], overlays: list[Overlay], tail: list[int], tokens: tuple[int, int, int]
) -> None:
    """The figures in docs/episodic.md: two overlays, both, one or none of them shown."""
    shown = window(EXAMPLE, budget, [FIRST, SECOND], rolling_summary="never beside overlays")
    assert (depths(shown.head), list(shown.overlays), depths(shown.tail)) == (head, overlays, tail)
    assert (shown.head_tokens, shown.overlay_tokens, shown.tail_tokens) == tokens
    assert [one.cut for one in shown.head] == [False, True][: len(head)]
    assert (shown.omitted_count, shown.overlays_left_out, shown.rolling_summary) == (0, 0, "")
    assert (shown.uncovered_from_depth, shown.uncovered_to_depth) == (0, 0)


def test_the_worked_example_without_overlays_shows_the_rolling_summary() -> None:
    shown = window(EXAMPLE, 400, rolling_summary=summary_of(30))
    assert (depths(shown.head), depths(shown.tail)) == ([1, 2], [7, 8, 9, 10, 11, 12])
    assert (shown.head_tokens, shown.overlay_tokens, shown.tail_tokens) == (40, 30, 310)
    assert (shown.omitted_count, shown.uncovered_from_depth, shown.uncovered_to_depth) == (4, 3, 6)


def test_everything_is_verbatim_and_in_the_tail_when_it_fits() -> None:
    path = says("one", "two", "three")
    shown = window(path, 1000, [overlay(1, 2, "short")], rolling_summary="all of it")
    assert [one.message for one in shown.tail] == path
    assert (shown.head, shown.overlays, shown.rolling_summary) == ((), (), "")
    assert (shown.omitted_count, shown.latest_time) == (0, 3)


def test_a_path_without_messages_has_an_empty_window() -> None:
    assert build_window([], [], [], 100, rolling_summary="of nothing") == Window()
    assert mode_window([], Mode.AUTO) == Window()


def test_the_head_keeps_a_tenth_and_what_it_leaves_flows_to_the_tail() -> None:
    shown = window(of_tokens(*[10] * 50), 300)
    assert depths(shown.head) == [1, 2]
    assert len(shown.tail) == 28  # 300 - 20, not the tail's own 70 %


def test_what_overlays_leave_of_their_share_flows_to_the_tail() -> None:
    path = of_tokens(*[10] * 50)
    shown = window(path, 300, [overlay(3, 10, summary_of(20))])
    assert len(shown.tail) == 26  # 300 - 20 - 20


def test_a_head_message_that_does_not_fit_is_cut_with_a_marker_not_dropped() -> None:
    shown = window(says("short", "y" * 7000, *["x" * 35] * 50), 400)
    assert depths(shown.head) == [1, 2]
    assert [one.cut for one in shown.head] == [False, True]
    assert "whole in message m2" in text_of(shown.head[1])


def test_a_newest_message_over_the_budget_is_cut_and_says_so() -> None:
    shown = window(says("a", "b", "z" * 100_000), 100)
    newest = shown.tail[-1]
    assert newest.cut
    assert text_of(newest).startswith("zzzz")
    assert text_of(newest).endswith("m3]")
    assert shown.token_count > 90


def test_a_cut_newest_message_leaves_head_and_overlays_their_shares() -> None:
    path = of_tokens(5, 5, *[50] * 10, 100_000)
    shown = window(path, 200, [overlay(3, 9, summary_of(40))])
    assert (shown.head_tokens, shown.overlay_tokens) == (10, 40)
    assert 140 <= shown.tail_tokens <= 150
    assert shown.omitted_count == 3


def test_a_budget_of_one_token_still_shows_that_there_is_a_newest_message() -> None:
    shown = window([message(1, Text(text="hello there, how are you"), author="Somebody")], 1)
    assert [text_of(one) for one in shown.tail] == [f"he{SHORT_MARKER}"]
    assert shown.tail[0].message.author == ""


def test_a_tokenizer_that_takes_three_tokens_for_the_ellipsis_still_shows_the_newest_message() -> None:
    """E-10: as bytes, the short marker alone would be over the budget."""
    path = says("漢字" * 10)
    shown = build_window(path, path[::-1], [], 1, count=lambda text: len(text.encode()))
    assert [text_of(one) for one in shown.tail] == ["."]


def test_a_tail_reaches_into_the_range_of_an_overlay_which_stands_for_the_rest() -> None:
    path = of_tokens(*[10] * 20)
    over = overlay(5, 14, summary_of(5))
    shown = window(path, 100, [over])
    assert (depths(shown.tail), shown.stands_for) == (list(range(13, 21)), ((5, 12),))
    wide = window(path, 190, [over])  # 20 is the head's, so all but one of the others
    assert (wide.overlays, wide.tail[0].message.depth, wide.omitted_count) == ((), 4, 1)


def test_an_overlay_from_the_first_message_on_is_shown_beside_the_head_while_others_are_not() -> None:
    path = of_tokens(*[10] * 40)
    shown = window(path, 300, [overlay(1, 20, summary_of(5))])
    assert (depths(shown.head), shown.stands_for, shown.tail[0].message.depth) == ([1, 2], ((3, 13),), 14)
    shown = window(path, 300, [overlay(1, 2, summary_of(5))])
    assert (depths(shown.head), shown.overlays, shown.overlay_tokens) == ([1, 2], (), 0)


def test_the_newest_overlays_that_fit_their_share_are_shown_and_the_rest_is_counted() -> None:
    path = of_tokens(*[10] * 40)
    overs = [overlay(3, 12, summary_of(15)), overlay(13, 22, summary_of(15)), overlay(23, 33, summary_of(10))]
    shown = window(path, 130, overs)
    assert [one.from_depth for one in shown.overlays] == [13, 23]
    assert (shown.overlays_left_out, shown.overlays_over_share, shown.omitted_count) == (1, True, 10)
    assert (shown.uncovered_from_depth, shown.uncovered_to_depth) == (0, 0)
    assert not window(path, 200, overs).overlays_over_share


def test_the_tail_goes_on_into_the_range_of_an_overlay_that_is_over_its_share() -> None:
    path = of_tokens(*[10] * 20)
    shown = window(path, 100, [overlay(5, 19, summary_of(21))])
    assert (shown.overlays, shown.overlays_left_out, len(shown.tail)) == ((), 1, 9)


def test_a_rolling_summary_over_its_share_is_cut_with_a_marker() -> None:
    shown = window(of_tokens(*[10] * 40), 100, rolling_summary=summary_of(1000))
    assert shown.rolling_summary.endswith("s" + SHORT_MARKER)
    assert shown.overlay_tokens == 20


def test_the_oldest_stretch_without_an_overlay_is_reported() -> None:
    """E-7."""
    path = of_tokens(*[10] * 40)
    shown = window(path, 100, [overlay(3, 9, "a"), overlay(15, 20, "b")])
    assert (shown.uncovered_from_depth, shown.uncovered_to_depth) == (10, 14)
    shown = window(path, 100, [overlay(1, 20, "a")])
    assert (shown.uncovered_from_depth, shown.uncovered_to_depth) == (21, shown.tail[0].message.depth - 1)


def test_an_exchange_that_does_not_fit_is_left_out_whole() -> None:
    call = message(3, ToolCall(call_id="k", name="look", arguments={"q": "w" * 300}))
    result = message(4, ToolResult(call_id="k", content="r" * 35))
    path = [*says("a", "b"), call, result, *says(*["x" * 35] * 5, start=5)]
    assert depths(window(path, 500).tail) == list(range(1, 10))
    shown = window(path, 75)
    assert (depths(shown.head), depths(shown.tail)) == ([1, 2], [5, 6, 7, 8, 9])


def test_the_newest_exchange_is_cut_together_when_it_is_over_the_budget() -> None:
    path = [message(1, CALL), message(2, ToolResult(call_id="k", content="r" * 5000))]
    shown = window(path, 100)
    assert [one.cut for one in shown.tail] == [False, True]
    assert isinstance(shown.tail[1].message.parts()[0], ToolResult)


def test_an_overlay_is_shown_beside_a_cut_newest_exchange_only_for_what_was_cut() -> None:
    other = ToolCall(call_id="j", name="look", arguments={})
    results = [ToolResult(call_id="k", content="r"), ToolResult(call_id="j", content="r" * 5000)]
    path = [message(1, CALL, other), message(2, results[0]), message(3, results[1])]
    shown = window(path, 100, [overlay(1, 2, "spared"), overlay(3, 3, "cut")])
    assert [one.cut for one in shown.tail] == [False, False, True]
    assert [one.summary for one in shown.overlays] == ["cut"]


def test_rows_that_end_above_the_head_leave_it_the_head() -> None:
    path = of_tokens(*[10] * 300)
    shown = build_window(path[:2], path[:101:-1], [], 10_000_000)
    assert (depths(shown.head), shown.tail[0].message.depth, shown.omitted_count) == ([1, 2], 103, 100)


def test_a_compacted_message_that_is_cut_ends_in_one_marker() -> None:
    path = [message(1, ToolResult(call_id="k", content="r" * 9000)), *of_tokens(*[400] * 20, start=2)]
    texts = [text_of(window(path, budget).head[0]) for budget in range(2500, 3500, 20)]
    assert [text.count("[…") for text in texts] == [1] * len(texts)


def test_a_text_of_long_words_is_cut_near_the_budget_by_a_counter_of_words() -> None:
    """E-10: 3.5 characters a token is the estimate's, not the counter's."""
    path = says("word" * 10 + " the end " * 10_000)
    shown = build_window(path, path, [], 1000, count=lambda text: len(text.split()))
    assert 995 <= shown.token_count <= 1000


@pytest.mark.parametrize("budget", [50, 5000])
def test_a_result_without_a_call_is_shown_as_text_and_does_not_stop_the_window(budget: int) -> None:
    path = [*says(*["x"] * 29), message(30, ToolResult(call_id="gone", content="r"))]
    shown = window(path, budget)
    assert len(shown.tail) > 10
    assert text_of(shown.tail[-1]).endswith("not shown] r")


def test_long_results_and_texts_are_shortened_outside_the_newest_four_messages() -> None:
    """E-9."""
    long = [message(depth, ToolResult(call_id="k", content="r" * 501)) for depth in (2, 3)]
    path = [
        message(1, CALL, CALL),
        *long,
        *says("y" * 10_001, "y" * 10_000, start=4),
        message(6, CALL),
        message(7, ToolResult(call_id="k", content="r" * 9000)),
        *says("y" * 20_000, "end", start=8),
    ]
    shown = window(path, 100_000).tail
    assert [one.message.depth for one in shown if one.compacted] == [2, 3, 4]
    assert [one.message.depth for one in shown if one.cut] == [2, 3, 4]
    (result,) = shown[1].message.parts()
    assert isinstance(result, ToolResult)
    assert len(result.content) == 500
    assert result.content.endswith("r […cut; whole in message m2]")
    assert len(text_of(shown[3])) == 10_000
    assert text_of(shown[3]).endswith("y […cut; whole in message m4]")


def test_a_text_that_would_take_more_tokens_when_shortened_is_shortened_further() -> None:
    """E-9, E-10: without its ASCII end the text counts as Chinese, at 1.5 characters a token."""
    for length, kept in ((7_008, 2_500), (15_000, 5_000), (40_000, 10_000)):
        mixed = message(1, Text(text="漢" * 3002 + "a" * length))
        (shown, *_) = window([mixed, *says(*"abcde", start=2)], 100_000).tail
        assert (shown.compacted, len(text_of(shown))) == (True, kept)
        assert shown.token_count <= mixed.token_count


def test_the_tail_is_bounded_in_characters() -> None:
    """X-2: at a budget that would take them all."""
    path = says(*["y" * 9_990] * 500)
    shown = window(path, 10_000_000)
    assert sum(len(one.message.content) for one in shown.tail) <= MAX_TAIL_CHARACTERS
    assert len(shown.tail) == MAX_TAIL_CHARACTERS // 10_003


def test_no_more_is_read_than_the_budget_needs() -> None:
    rows = of_tokens(*[10] * 1000)[::-1]
    assert not read_enough([], 120)
    assert not read_enough(rows[:12], 120)
    assert read_enough(rows[:13], 120)
    assert not read_enough(rows[:990], 10_000)
    assert read_enough(rows[:998], 10_000)  # the first two are at hand


def test_reading_does_not_stop_within_a_tool_exchange() -> None:
    path = [*of_tokens(*[10] * 10), message(11, CALL)]
    path += says(*["x" * 350] * 5, start=12)
    path.append(message(17, ToolResult(call_id="k", content="r" * 3500)))
    rows = path[::-1]
    assert not read_enough(rows[:6], 100)
    assert read_enough(rows[:7], 100)


def test_a_call_is_searched_for_in_at_most_64_messages() -> None:
    path = [*of_tokens(*[10] * 200), message(201, ToolResult(call_id="gone", content="r" * 3500))]
    rows = path[::-1]
    assert not read_enough(rows[:63], 100)
    assert read_enough(rows[:64], 100)


def test_what_micro_compaction_saves_is_read_on_for() -> None:
    rows = says(*["y" * 20_000] * 50)[::-1]
    assert read_enough(rows[:5], 22_858)  # four whole, and one of 10,000 characters
    assert not read_enough(rows[:5], 25_800)


@pytest.mark.parametrize(("mode", "length"), [(Mode.AUTO, 4), (Mode.FULL, 12)])
def test_a_mode_shows_the_newest_messages_without_a_budget(mode: Mode, length: int) -> None:
    """E-6."""
    path = says(*["y" * 9_000] * 40)
    shown = mode_window(path[::-1], mode)
    assert [one.message for one in shown.tail] == path[-length:]
    assert (shown.omitted_count, shown.latest_time) == (40 - length, 40)
    assert shown.token_count == shown.tail_tokens == length * path[0].token_count


def test_a_mode_shows_a_result_with_its_call_or_as_text() -> None:
    """E-6."""
    path = [*says("a", "b"), message(3, CALL, Text(text="now"))]
    path += [*says("c", start=4), message(5, ToolResult(call_id="k", content="r")), *says("d", "e", start=6)]
    assert depths(mode_window(path[::-1], Mode.AUTO).tail) == [3, 4, 5, 6, 7]
    assert mode_read_enough(path[:1:-1], Mode.AUTO)
    assert not mode_read_enough(path[:2:-1], Mode.AUTO)  # the call may be further back
    path[2] = message(3, Text(text="no call"))
    shown = mode_window(path[::-1], Mode.AUTO).tail
    assert depths(shown) == [4, 5, 6, 7]
    assert text_of(shown[1]).startswith("[result of a tool")
