"""The window by budget (SPEC E-5): never over budget, newest always there, nothing twice, exchanges whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.kit.tokens import estimate_tokens
from services.memory.episodic.domain.cutting import SHORT_MARKER, calls_of, results_of
from services.memory.episodic.domain.model import Message, Role
from services.memory.episodic.domain.parts import (
    Attachment,
    Part,
    Text,
    ToolCall,
    ToolResult,
    encode,
    plain_text,
)
from services.memory.episodic.domain.window import Window, build_window


def message(sequence: int, *parts: Part, author: str = "") -> Message:
    return Message(
        id=f"m{sequence}",
        conversation_id="c",
        sequence=sequence,
        parent_id=f"m{sequence - 1}" if sequence > 1 else "",
        role=Role.USER,
        author=author,
        session="",
        time=sequence,
        create_time=sequence,
        token_count=estimate_tokens(plain_text(author, parts)),
        content=encode(parts),
    )


def says(*texts: str) -> list[Message]:
    return [message(i, Text(text=text)) for i, text in enumerate(texts, 1)]


def window(messages: Sequence[Message], budget: int) -> Window:
    return build_window(messages[:2], reversed(messages), budget)


def sequences(shown: Window) -> tuple[list[int], list[int]]:
    return [s.message.sequence for s in shown.head], [s.message.sequence for s in shown.tail]


texts = st.text(st.sampled_from('ab {}[]:"漢字かな\n'), min_size=1, max_size=200)
call_ids = st.sampled_from(["a", "b", "c"])
parts = st.one_of(
    st.builds(Text, text=texts),
    st.builds(
        ToolCall, call_id=call_ids, name=st.just("f"), arguments=st.dictionaries(texts, texts, max_size=2)
    ),
    st.builds(ToolResult, call_id=call_ids, content=texts),
    st.builds(Attachment, uri=st.just("file:x"), caption=texts),
)
histories = st.lists(
    st.tuples(st.lists(parts, min_size=1, max_size=3), st.sampled_from(["", "Ann", "B" * 100])), max_size=25
).map(lambda made: [message(i, *ps, author=author) for i, (ps, author) in enumerate(made, 1)])
budgets = st.one_of(st.integers(1, 60), st.integers(60, 3000))


@settings(deadline=None)
@given(histories, budgets)
def test_a_window_is_within_budget_with_the_newest_message_and_nothing_twice(
    messages: list[Message], budget: int
) -> None:
    shown = window(messages, budget)
    head, tail = sequences(shown)
    counted = [
        estimate_tokens(plain_text(s.message.author, s.message.parts())) for s in (*shown.head, *shown.tail)
    ]
    assert [s.token_count for s in (*shown.head, *shown.tail)] == counted
    assert shown.token_count <= budget
    assert head + tail == sorted(set(head + tail))
    assert shown.omitted_count == len(messages) - len(head) - len(tail)
    if messages:
        assert tail
        assert tail == list(range(tail[0], len(messages) + 1))
    for s in (*shown.head, *shown.tail):
        assert s.cut or s.message == messages[s.message.sequence - 1]
        assert all(not isinstance(p, Text) or p.text for p in s.message.parts())


@settings(deadline=None)
@given(histories, budgets)
def test_a_result_is_shown_as_one_only_with_its_call_and_a_head_call_only_with_its_result(
    messages: list[Message], budget: int
) -> None:
    shown = window(messages, budget)
    for group in (shown.head, shown.tail):
        called: set[str] = set()
        for one in group:
            here = one.message.parts()
            called |= calls_of(here)
            earlier = [m for m in messages[: one.message.sequence] if calls_of(m.parts())]
            stored = {c for m in earlier for c in calls_of(m.parts())}
            assert results_of(here) & stored <= called
    head_parts = tuple(p for one in shown.head for p in one.message.parts())
    assert calls_of(head_parts) <= results_of(head_parts)


def test_everything_is_verbatim_and_in_the_tail_when_it_fits() -> None:
    messages = says("one", "two", "three")
    shown = window(messages, 1000)
    assert [s.message for s in shown.tail] == messages
    assert (shown.head, shown.omitted_count, shown.latest_time) == ((), 0, 3)


def test_the_head_keeps_a_tenth_and_what_it_leaves_flows_to_the_tail() -> None:
    messages = says(*["x" * 35] * 50)  # 10 tokens each
    head, tail = sequences(window(messages, 300))
    assert head == [1, 2]
    assert len(tail) == 28  # 300 - 20, not the tail's own 70 %


def test_a_head_message_that_does_not_fit_is_cut_with_a_marker_not_dropped() -> None:
    messages = says("short", "y" * 7000, *["x" * 35] * 50)
    shown = window(messages, 400)
    assert sequences(shown)[0] == [1, 2]
    assert [s.cut for s in shown.head] == [False, True]
    (cut,) = shown.head[1].message.parts()
    assert isinstance(cut, Text)
    assert "whole in message m2" in cut.text


def test_a_newest_message_over_the_budget_is_cut_and_says_so() -> None:
    shown = window(says("a", "b", "z" * 100_000), 100)
    newest = shown.tail[-1]
    (cut,) = newest.message.parts()
    assert newest.cut
    assert isinstance(cut, Text)
    assert cut.text.startswith("zzzz")
    assert cut.text.endswith("m3]")
    assert shown.token_count > 90


def test_a_budget_of_one_token_still_shows_that_there_is_a_newest_message() -> None:
    shown = window([message(1, Text(text="hello there, how are you"), author="Somebody")], 1)
    assert [s.message.parts() for s in shown.tail] == [(Text(text=f"he{SHORT_MARKER}"),)]
    assert shown.tail[0].message.author == ""


def test_an_exchange_that_does_not_fit_is_left_out_whole() -> None:
    call = message(3, ToolCall(call_id="k", name="look", arguments={"q": "w" * 300}))
    result = message(4, ToolResult(call_id="k", content="r" * 35))
    messages = [*says("a", "b"), call, result, *[message(i, Text(text="x" * 35)) for i in range(5, 10)]]
    assert sequences(window(messages, 500))[1] == list(range(1, 10))
    head, tail = sequences(window(messages, 75))
    assert (head, tail) == ([1, 2], [5, 6, 7, 8, 9])


def test_the_newest_exchange_is_cut_together_when_it_is_over_the_budget() -> None:
    call = message(1, ToolCall(call_id="k", name="look", arguments={"q": "w"}))
    result = message(2, ToolResult(call_id="k", content="r" * 5000))
    shown = window([call, result], 100)
    assert [s.cut for s in shown.tail] == [False, True]
    assert isinstance(shown.tail[1].message.parts()[0], ToolResult)


def test_no_more_is_read_than_the_budget_needs() -> None:
    read: list[int] = []
    messages = says(*["x" * 35] * 1000)

    def newest_first() -> Iterator[Message]:
        for one in reversed(messages):
            read.append(one.sequence)
            yield one

    build_window(messages[:2], newest_first(), 120)
    assert 0 < len(read) <= 12


@pytest.mark.parametrize("budget", [50, 5000])
def test_a_result_without_a_call_does_not_stop_the_window(budget: int) -> None:
    orphan = message(30, ToolResult(call_id="gone", content="r"))
    messages = [*says(*["x"] * 29), orphan]
    assert sequences(window(messages, budget))[1][-1] == 30
    assert len(window(messages, budget).tail) > 10
