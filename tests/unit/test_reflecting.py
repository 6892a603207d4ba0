"""What a day tells without a model: themes, goals, learnings (SPEC J-11)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.compactor.domain.insights import (
    Change,
    Draft,
    GoalState,
    Insight,
    Kind,
    changed,
    merged,
)
from services.compactor.domain.reflecting import Evidence, Sort, reflect, slug_of, tells
from services.kit.errors import InvalidField, VersionConflict

DAY = "2031-05-04"
NOW = datetime(2031, 5, 5, tzinfo=UTC)


def told(*texts: str, sort: Sort = Sort.STATEMENT) -> list[Evidence]:
    return [
        Evidence(source_id=f"memory-{n}", text=text, sort=sort, refs=(("c", f"m{n}"),))
        for n, text in enumerate(texts)
    ]


def found(evidence: list[Evidence], kind: Kind, goals: list[Insight] | None = None) -> list[Draft]:
    return [draft for draft in reflect(evidence, goals or [], DAY, "ann") if draft.kind is kind]


def row(draft: Draft, **fields: object) -> Insight:
    values: dict[str, object] = {
        "id": "i1",
        "agent_id": "ada",
        "memory_id": "",
        "kept": False,
        "revision": 1,
        "created": NOW,
        "updated": NOW,
    } | {name: getattr(draft, name) for name in Draft.__slots__}
    values["state_day"] = draft.told
    return Insight(**(values | fields))  # type: ignore[arg-type]


# Themes


def test_a_word_that_recurs_is_a_theme() -> None:
    evidence = told(
        "Ran ten miles for the marathon", "The marathon is in Lisbon", "Bought marathon shoes", "Tea"
    )
    (theme,) = found(evidence, Kind.REFLECTION)
    assert (theme.slug, theme.topic, theme.contact_id, theme.day) == (
        f"{DAY}:marathon",
        "marathon",
        "ann",
        DAY,
    )
    assert theme.text.startswith(f"On {DAY}, marathon came up 3 times: ")
    assert "Bought marathon shoes." in theme.text
    assert theme.provenance == (("c", "m0"), ("c", "m1"), ("c", "m2"))
    assert theme.source_ids == ("memory-0", "memory-1", "memory-2")


def test_twice_is_no_theme_nor_is_the_same_said_again() -> None:
    assert found(told("The marathon is near", "Marathon shoes"), Kind.REFLECTION) == []
    assert found(told("Marathon shoes", "marathon  shoes", "Marathon shoes"), Kind.REFLECTION) == []


def test_a_word_that_nearly_all_have_says_whom_it_is_about() -> None:
    evidence = told(
        *(f"Leila {verb}" for verb in ("sings", "paints", "swims", "codes", "bakes", "rows", "sews"))
    )
    assert found(evidence, Kind.REFLECTION) == []


def test_themes_of_the_same_statements_are_one() -> None:
    evidence = told("Lisbon marathon training", "Lisbon marathon shoes", "Lisbon marathon hotel")
    assert len(found(evidence, Kind.REFLECTION)) == 1


# Goals


@pytest.mark.parametrize(
    ("text", "sort"),
    [
        ("The user wants to run a marathon", Sort.STATEMENT),
        ("The user's goal is a marathon under four hours", Sort.STATEMENT),
        ("Run a marathon", Sort.TASK),
        ("Ann: run a marathon", Sort.OBJECTIVE),
        ("Möchte einen Marathon laufen", Sort.STATEMENT),
        ("Quiere correr un maratón", Sort.STATEMENT),
        ("Veut courir un marathon", Sort.STATEMENT),
    ],
)
def test_what_somebody_wants_is_an_open_goal(text: str, sort: Sort) -> None:
    (goal,) = found(told(text, sort=sort), Kind.GOAL)
    assert (goal.state, goal.text) == (GoalState.OPEN, text)


@pytest.mark.parametrize(
    "text", ["The user likes tea", "The user does not want to run a marathon", "Marathons are long"]
)
def test_what_nobody_wants_is_no_goal(text: str) -> None:
    assert found(told(text), Kind.GOAL) == []


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("The user finished the Lisbon marathon run", GoalState.ACHIEVED),
        ("The user gave up on the marathon run", GoalState.DROPPED),
        ("The user decided not to run the marathon", GoalState.DROPPED),
    ],
)
def test_a_known_goal_is_reached_or_given_up(text: str, state: GoalState) -> None:
    goal = row(found(told("The user wants to run a marathon"), Kind.GOAL)[0])
    (now,) = found(told(text), Kind.GOAL, [goal])
    assert (now.slug, now.state, now.provenance) == (goal.slug, state, (("c", "m0"),))


@pytest.mark.parametrize(
    "text",
    [
        "The user has not finished the marathon run yet",
        "The user finished the novel",
        "The user almost finished the marathon",
    ],
)
def test_a_denial_or_another_matter_closes_no_goal(text: str) -> None:
    goal = row(found(told("The user wants to run a marathon"), Kind.GOAL)[0])
    assert found(told(text), Kind.GOAL, [goal]) == []


def test_a_goal_said_in_other_words_is_the_same() -> None:
    goal = row(found(told("The user wants to run a marathon"), Kind.GOAL)[0])
    (again,) = found(told("The user plans to run a marathon"), Kind.GOAL, [goal])
    assert (again.slug, again.text) == (goal.slug, goal.text)


def test_what_completes_a_goal_of_the_same_day_is_read_after_it() -> None:
    evidence = told("The user finished the marathon run", "The user wants to run a marathon")
    (goal,) = found(evidence, Kind.GOAL)
    assert (goal.state, len(goal.provenance)) == (GoalState.ACHIEVED, 2)


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("I plan to run a marathon", True),
        ("My big goal is a marathon", True),
        ("Ich habe vor, einen Marathon zu laufen", True),
        ("I want to know the capital of France", False),
        ("I would like to see a recipe", False),
    ],
)
def test_what_people_ask_for_is_no_goal_of_theirs(text: str, known: bool) -> None:
    assert bool(found(told(text, sort=Sort.SAID), Kind.GOAL)) == known


def test_what_was_said_and_what_is_remembered_of_it_are_one_goal() -> None:
    said = told("I plan to run a marathon", sort=Sort.SAID)
    goals = found([*told("The user plans to run a marathon"), *said], Kind.GOAL)
    assert [goal.text for goal in goals] == ["The user plans to run a marathon"]


def test_sentences_of_messages_make_no_theme() -> None:
    texts = ("marathon a1", "marathon b2", "marathon c3")
    assert found(told(*texts, sort=Sort.SAID), Kind.REFLECTION) == []
    assert len(found(told(*texts), Kind.REFLECTION)) == 1


def test_sentences_that_tell_nothing_are_known() -> None:
    assert tells("I finally finished the marathon")
    assert tells("It turned out that the kiln needs venting")
    assert not tells("I want to know the capital of France")


# Learnings


@pytest.mark.parametrize(
    ("text", "sort"),
    [
        ("The deploy failed for want of disk space", Sort.OUTCOME),
        ("The team chose PostgreSQL", Sort.DECISION),
        ("The user learned that the kiln needs venting", Sort.STATEMENT),
    ],
)
def test_outcomes_decisions_and_what_was_found_out_are_learnings(text: str, sort: Sort) -> None:
    (learning,) = found(told(text, sort=sort), Kind.LEARNING)
    assert (learning.text, learning.state) == (text, GoalState.NONE)


def test_a_plain_statement_is_no_learning() -> None:
    assert found(told("The kiln is blue"), Kind.LEARNING) == []


# Rows


def test_what_somebody_changed_stays() -> None:
    """J-11."""
    draft = found(told("The user wants to run a marathon"), Kind.GOAL)[0]
    kept = changed(row(draft), Change(state=GoalState.DROPPED, text="Run"), NOW)
    assert (kept.state, kept.text, kept.kept, kept.revision) == (GoalState.DROPPED, "Run", True, 2)
    later = merged(kept, draft, NOW)
    assert (later.state, later.text) == (GoalState.DROPPED, "Run")


def test_the_same_again_changes_nothing() -> None:
    draft = found(told("The user wants to run a marathon"), Kind.GOAL)[0]
    before = row(draft)
    assert merged(before, draft, NOW) is before


def test_a_change_names_the_revision_it_saw_and_a_state_goals_have() -> None:
    goal = row(found(told("The user wants to run a marathon"), Kind.GOAL)[0])
    with pytest.raises(VersionConflict):
        changed(goal, Change(text="x", expected_revision=7), NOW)
    with pytest.raises(InvalidField):
        changed(goal, Change(state=GoalState.NONE), NOW)
    with pytest.raises(InvalidField):
        changed(goal, Change(text=" "), NOW)
    theme = row(found(told("marathon a1", "marathon b2", "marathon c3"), Kind.REFLECTION)[0])
    with pytest.raises(InvalidField):
        changed(theme, Change(state=GoalState.OPEN), NOW)


@given(st.lists(st.text(min_size=1, max_size=20), min_size=1, max_size=6))
def test_a_slug_is_what_a_key_may_hold(words: list[str]) -> None:
    slug = slug_of(words)
    assert 1 <= len(slug) <= 64
    assert set(slug) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")


@given(st.lists(st.text(max_size=80), max_size=12))
def test_any_text_is_read_and_gives_the_same_again(texts: list[str]) -> None:
    evidence = told(*texts)
    assert reflect(evidence, [], DAY, "") == reflect(evidence, [], DAY, "")
