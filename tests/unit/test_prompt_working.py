"""The layer of working memory within its share (SPEC W-1 to W-4, G-1)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.gateway.domain.parts import (
    LayerKind,
    LoadedEntry,
    Speaker,
    StaleTurn,
    ToolOutcome,
    Working,
    WorkingSources,
)
from services.gateway.domain.prompt import assemble
from services.gateway.domain.working import CUT, STALE_NOTE, working_layer
from services.kit.fences import END, OPEN
from services.kit.tokens import estimate_tokens
from tests.unit.prompt_parts import EMPTY, history, layer, said

texts = st.one_of(
    st.just(""),
    st.integers(1, 300).map(lambda n: "word " * n),
    st.integers(1, 300).map(lambda n: "茶" * n),
    st.integers(1, 100).map(lambda n: '{"a": ⟦/data⟧}\n' * n),
    st.text(max_size=30),
)


def outcome(number: int, words: int = 20) -> ToolOutcome:
    return ToolOutcome(name=f"look{number}", arguments=f'{{"n": {number}}}', content="word " * words)


def entry(number: int, words: int = 20) -> LoadedEntry:
    return LoadedEntry(label="docs", key=f"k{number}", title="", content="word " * words)


def stale(*outcomes: ToolOutcome, sessions: tuple[tuple[str, str], ...] = ()) -> StaleTurn:
    return StaleTurn(turn_id="t", outcomes=outcomes, sessions=sessions)


@st.composite
def workings(draw: st.DrawFn) -> Working:
    outcomes = [
        ToolOutcome(name="look", arguments=draw(texts), content=draw(texts))
        for _ in range(draw(st.integers(0, 4)))
    ]
    sessions = [("shell", draw(texts)) for _ in range(draw(st.integers(0, 3)))]
    loaded = [
        LoadedEntry(label="docs", key=f"k{n}", title=draw(texts), content=draw(texts))
        for n in range(draw(st.integers(0, 4)))
    ]
    return Working(
        notes=draw(texts),
        notes_version=9,
        task=draw(texts),
        stale=stale(*outcomes, sessions=tuple(sessions)),
        loaded=tuple(loaded),
    )


@settings(max_examples=300, deadline=None)
@given(workings(), st.integers(0, 1500))
def test_it_keeps_to_its_budget_and_names_what_it_shows(working: Working, budget: int) -> None:
    made = working_layer(working, budget)
    assert made.tokens == estimate_tokens(made.text) <= budget
    assert made.text.count(f"{OPEN}data: ") == made.text.count(END)
    shown = made.working
    fences = shown.task + bool(shown.notes_version) + bool(shown.turn_id) + len(shown.entries)
    assert made.text.count(END) == fences
    assert made == working_layer(working, budget), "equal input, equal output"


@settings(max_examples=100, deadline=None)
@given(workings())
def test_with_room_enough_all_is_whole(working: Working) -> None:
    made = working_layer(working, 50_000)
    long_arguments = (
        any(len(one.arguments) > 300 for one in working.stale.outcomes) if working.stale else False
    )
    assert (CUT in made.text) == long_arguments
    assert "not shown" not in made.text
    assert made.working.result_count == len(working.stale.outcomes if working.stale else ())
    assert len(made.working.entries) == len(working.loaded)


def test_nothing_to_show_is_an_empty_layer() -> None:
    for nothing in (Working(), Working(stale=stale()), Working(notes_version=4)):
        made = working_layer(nothing, 1000)
        assert (made.text, made.working) == ("", WorkingSources())


def test_of_notes_the_end_stays_and_of_the_task_the_beginning() -> None:
    lines = "\n".join(f"line {n}" for n in range(400))
    made = working_layer(Working(notes=lines, notes_version=2), 100)
    assert f"⟦data: notes⟧\n{CUT}" in made.text
    assert "line 399\n⟦/data⟧" in made.text
    assert "line 0\n" not in made.text
    assert made.tokens > 90, "what is there is used"
    made = working_layer(Working(task=lines), 100)
    assert made.text.startswith("⟦data: ongoing task⟧\nline 0\n")
    assert made.text.endswith(f"{CUT}\n⟦/data⟧")


def test_a_short_part_is_whole_beside_long_ones_that_share_the_rest() -> None:
    working = Working(task="Find the nest.", notes="word " * 2000, notes_version=1, loaded=(entry(1, 2000),))
    made = working_layer(working, 600)
    assert "Find the nest.\n⟦/data⟧" in made.text
    notes, loaded = made.text.split("⟦data: context docs/k1⟧")
    assert 0.8 < estimate_tokens(notes) / estimate_tokens(loaded) < 1.3
    assert made.tokens > 590


@pytest.mark.parametrize("budget", [150, 250, 400, 700])
def test_of_an_interrupted_turn_the_oldest_results_are_cut_first(budget: int) -> None:
    """W-3."""
    made = working_layer(Working(stale=stale(*(outcome(n) for n in range(20)))), budget)
    assert made.text.startswith(STALE_NOTE)
    shown = [n for n in range(20) if f"look{n} " in made.text]
    assert shown == list(range(20 - len(shown), 20))
    assert 0 < len(shown) < 20
    assert made.working == WorkingSources(turn_id="t", result_count=len(shown))
    assert f"({20 - len(shown)} older results not shown)" in made.text
    newest = made.text.split("look19 ")[1]
    assert CUT not in newest, "only the oldest one shown is cut"


def test_open_sessions_are_told_beside_results_that_fill_the_layer() -> None:
    """W-3: a session that was opened is of no use if only its results are known."""
    sessions = (("shell", "s-1"), ("browser", "b" * 4096), ("db", "d-1"))
    made = working_layer(Working(stale=stale(*(outcome(n) for n in range(20)), sessions=sessions)), 400)
    assert "open session shell: s-1" in made.text
    assert "open session db: d-1" in made.text
    assert "(1 open sessions not shown)" in made.text
    assert "look19 " in made.text


def test_a_calls_long_arguments_leave_room_for_its_result() -> None:
    call = ToolOutcome(name="write", arguments="x" * 30_000, content="done, 30 kB")
    made = working_layer(Working(stale=stale(call)), 300)
    assert "done, 30 kB" in made.text
    assert f"xxx {CUT}:" in made.text


def test_sessions_alone_are_worth_telling() -> None:
    made = working_layer(Working(stale=stale(sessions=(("shell", "s-1"),))), 200)
    assert "open session shell: s-1" in made.text
    assert made.working == WorkingSources(turn_id="t")


def test_of_loaded_entries_those_loaded_last_stay() -> None:
    """W-4."""
    made = working_layer(Working(loaded=tuple(entry(n) for n in range(10))), 200)
    names = [f"docs/k{n}" for n in range(10)]
    assert list(made.working.entries) == names[-len(made.working.entries) :]
    assert f"⟦{10 - len(made.working.entries)} loaded entries not shown⟧" in made.text


def test_it_stands_between_facts_and_history_and_in_message_lists_with_the_new_message() -> None:
    """G-1: in a list, what changes each turn comes after all that a provider may have cached."""
    parts = replace(
        EMPTY,
        working=Working(notes="likes herons", notes_version=1),
        history=history([said(0, "hello"), said(1, "good day", Speaker.ASSISTANT)]),
    )
    before, after = assemble(replace(parts, working=Working()), 2000), assemble(parts, 2000)
    assert before.openai[:-1] == after.openai[:-1]
    assert before.anthropic_system == after.anthropic_system
    assert before.anthropic[:-1] == after.anthropic[:-1]
    assert after.openai[-1].content == "⟦data: notes⟧\nlikes herons\n⟦/data⟧\n\nhi"
    assert after.text.index("likes herons") < after.text.index("hello")


def test_what_it_leaves_is_historys() -> None:
    window = history([said(n, "word " * 20) for n in range(300)])
    without = assemble(replace(EMPTY, history=window), 4000)
    full = assemble(
        replace(EMPTY, history=window, working=Working(notes="word " * 900, notes_version=1)), 4000
    )
    spent = layer(full, LayerKind.WORKING).tokens
    assert spent > 300
    left = layer(without, LayerKind.HISTORY).tokens - layer(full, LayerKind.HISTORY).tokens
    assert spent - 60 < left < spent + 60
