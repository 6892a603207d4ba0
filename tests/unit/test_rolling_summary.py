"""The rolling summary: merged item by item, within its budget, to the letter (SPEC J-6)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.compactor.domain import extractive
from services.compactor.domain.carrying import carry, refreshed
from services.compactor.domain.documents import encode_body
from services.compactor.domain.rolling import (
    BranchProposal,
    Concept,
    ConversationSummary,
    Reached,
    RollingSummary,
    TurningPoint,
    from_body,
    newest_sources,
    to_body,
)
from services.compactor.domain.summaries import Section, Statement, Utterance
from services.kit.tokens import estimate_tokens
from tests.unit.test_extractive import WORK, ann, model, utterances

MOST = 320
ROUNDS = [
    WORK,
    [
        model("Ann tells the support team on Monday."),
        ann("OPS-4411 is resolved, the export works again."),
        model("I am working on the rehearsal of the cut-over on staging."),
    ],
]


def items(summary: RollingSummary, section: Section) -> list[str]:
    return [one.text for one in summary.statements() if one.section is section]


def after(*rounds: list[Utterance], tokens: int = MOST) -> RollingSummary:
    summary = RollingSummary()
    for said in rounds:
        summary = refreshed(summary, said, tokens)
    return summary


def test_the_form_is_anchored_and_readable_as_markdown() -> None:
    """J-6: headings stand in one order, where there is something to say."""
    text = after(WORK).markdown()
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert headings == [
        "## Objective",
        "## Important Details",
        "## Work State",
        "### Completed",
        "### Blocked",
        "## Next Move",
        "## Relevant Files",
    ]
    assert "- `services/billing/schema.sql`" in text.splitlines()


def test_what_was_blocked_and_is_done_moves_to_completed() -> None:
    before, now = after(WORK), after(*ROUNDS)
    assert any("OPS-4411" in one for one in items(before, Section.BLOCKED))
    assert not items(now, Section.BLOCKED)
    (moved,) = [one for one in items(now, Section.COMPLETED) if "OPS-4411" in one]
    assert "the export works again" in moved
    assert "https://tickets.example.org/OPS-4411" in moved, "what only the older statement named stays"


def test_work_in_hand_that_is_done_moves_to_completed() -> None:
    busy = [Statement(section=Section.ACTIVE, text="Ann: I am working on the importer of ledger.csv.")]
    (done,) = carry(busy, [ann("The importer is finished.")])
    assert done.section is Section.COMPLETED
    assert done.text == "Ann: The importer is finished. [ledger.csv]"


@pytest.mark.parametrize(
    "said",
    [
        "The importer is not finished yet.",
        "Is the importer finished?",
        "The wallpaper is finished.",
        "```\nthe importer is finished\n```",
    ],
)
def test_what_is_not_said_to_be_done_stays_in_hand(said: str) -> None:
    busy = [Statement(section=Section.ACTIVE, text="Ann: I am working on the importer of ledger.csv.")]
    assert carry(busy, [ann(said)]) == busy
    assert carry(busy, [ann("The importer is finished.")]) != busy


def test_a_plan_that_was_begun_moves_to_active() -> None:
    now = after(*ROUNDS)
    assert any("rehearse the cut-over" in one for one in items(after(WORK), Section.NEXT))
    assert any("rehearse the cut-over" in one for one in items(now, Section.ACTIVE))
    assert not any("rehearse" in one for one in items(now, Section.NEXT))


def test_a_question_leaves_once_somebody_else_has_answered() -> None:
    question = "Ann: Who tells the support team?"
    assert question in items(after(WORK), Section.NEXT)
    assert question not in items(after(*ROUNDS), Section.NEXT)
    for silent in ([ann("It is urgent, the team waits.")], [model("ok")], [model("Which support team?")]):
        assert question in items(after(WORK, silent), Section.NEXT), "nobody answered"


def test_what_was_known_is_kept_while_there_is_room() -> None:
    """The older facts stay beside the new ones."""
    now = after(WORK, [ann("The flat has a red door."), model("Good to know: red it is, and a number 12.")])
    text = now.markdown()
    for exact in ("48,200,113", "BILLING_DUAL_WRITE", "3 May 2026", "red door"):
        assert exact in text


def test_a_full_summary_still_takes_in_what_is_new() -> None:
    """However much was known, new statements are sure of a part of the tokens."""
    long = [
        ann(f"Town {n} has {n * 37} barges on the canal of Ghent-{n} and {n} locks.", day=f"2026-05-{n:02}")
        for n in range(1, 29)
    ]
    full = after(long, tokens=240)
    assert estimate_tokens(full.markdown()) > 200
    now = refreshed(full, [ann("The lighthouse keeper Okafor retires in July.")], 240)
    assert "Okafor" in now.markdown()
    assert set(items(now, Section.DETAILS)) & set(items(full, Section.DETAILS))


def test_only_the_newest_objectives_stand_as_such() -> None:
    goals = [
        [ann(f"I want to repair the {thing} before winter.")] for thing in ("roof", "boat", "pump", "oven")
    ]
    now = after(*[[*goal, model("Good, which tools are there?")] for goal in goals])
    assert [one.rsplit(" ", 3)[-3] for one in items(now, Section.OBJECTIVE)] == ["pump", "oven"]
    assert any("roof" in one for one in items(now, Section.DETAILS))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(utterances, min_size=1, max_size=8), min_size=1, max_size=3), st.integers(240, 600))
def test_it_never_exceeds_its_tokens_and_names_files_to_the_letter(
    rounds: list[list[Utterance]], tokens: int
) -> None:
    summary = RollingSummary()
    said = ""
    for messages in rounds:
        summary = refreshed(summary, messages, tokens)
        said += "\n".join(f"{one.text}\n{one.output}" for one in messages)
        assert estimate_tokens(summary.markdown()) <= tokens
        assert all(one.text in said for one in summary.files)


@settings(max_examples=30, deadline=None)
@given(st.lists(utterances, min_size=1, max_size=10))
def test_the_same_input_gives_the_same_summary(messages: list[Utterance]) -> None:
    vectors = {text: (1.0, 0.0) if len(text) % 2 else (0.6, 0.8) for text in extractive.shortlist(messages)}
    one = refreshed(after(WORK), messages, MOST, vectors)
    assert one == refreshed(after(WORK), messages, MOST, dict(reversed(vectors.items())))


@settings(max_examples=60, deadline=None)
@given(st.lists(utterances, max_size=6))
def test_a_document_gives_back_what_was_written(messages: list[Utterance]) -> None:
    written = ConversationSummary(
        conversation_id="c",
        title="a title",
        summary=after(WORK, messages) if messages else RollingSummary(),
        vibes=("curious",),
        concepts=(Concept(name="dual writes", weight=1.0, count=4),),
        turning_points=(
            TurningPoint(message_id="m5", sequence=5, time="", kind="decision", text="Ann: so", score=0.8),
        ),
        branches=(BranchProposal(name="dual writes", relevance=0.5),),
        up_to=Reached(message_id="m9", sequence=9, depth=8, time="2026-05-03T00:00:00+00:00"),
        message_count=8,
        token_count=400,
        tallies={"dual writes": 4},
        tones={"sentences": 9},
    )
    text = encode_body(to_body(written))
    assert from_body(json.loads(text)) == written


def test_a_document_names_no_more_sources_than_it_may() -> None:
    """The newest ones; the versions before name the others."""
    assert newest_sources(["c/1", "c/2", "c/1"]) == ["c/1", "c/2"]
    many = [f"c/{n}" for n in range(12_000)]
    assert newest_sources(many) == many[-9_999:]
    long = ["x" * 400 + str(n) for n in range(6_000)]
    assert sum(map(len, newest_sources(long))) < 1_048_576
    assert newest_sources(long)[-1] == long[-1]
