"""What of each type of document is found: no transcript, no headings, nothing of others (SPEC S-13)."""

from __future__ import annotations

from typing import Any

import pytest

from services.compactor.adapters.document_item import document_item
from services.compactor.app.searching import follow_document, index_job
from services.compactor.domain.documents import Head, Kind, attractor_key, summary_key, wiki_key
from services.compactor.domain.graph import Names
from services.compactor.domain.rolling import Concept, ConversationSummary, RollingSummary, TurningPoint
from services.compactor.domain.searchable import DocumentType, Source, of_branch, of_page, of_summary
from services.compactor.domain.summaries import Section, Statement


def summary(**fields: Any) -> ConversationSummary:
    statements = [
        Statement(section=Section.OBJECTIVE, text="Plan the irrigation.", day="2026-03-01"),
        Statement(section=Section.DETAILS, text="The hose is 12 m long.", day=""),
    ]
    return ConversationSummary(
        conversation_id="c",
        title="Greenhouse",
        summary=RollingSummary.of(statements),
        vibes=("calm",),
        concepts=(Concept(name="drip hose", weight=0.9, count=3), Concept(name="May", weight=0.2, count=1)),
        turning_points=(
            TurningPoint(
                message_id="m4",
                sequence=4,
                time="2026-03-02T10:00:00Z",
                kind="decision",
                text="We take drip hoses.",
                score=0.8,
            ),
        ),
        tallies={"secret transcript word": 1},
        **fields,
    )


def test_a_conversation_is_its_summary_turning_points_concepts_and_vibes() -> None:
    made = of_summary(summary(), 7)
    assert made.text.splitlines() == [
        "Greenhouse",
        "2026-03-01 Plan the irrigation.",
        "The hose is 12 m long.",
        "2026-03-02 We take drip hoses.",
        "drip hose, May",
        "calm",
    ]
    assert (made.title, made.version, made.document_id) == ("Greenhouse", 7, "c")
    assert made.source == Source(type=DocumentType.SUMMARY, subject="c")
    assert made.conversation_ids == ("c",)


NAMES = Names(title="Greenhouse", slug="greenhouse", slugs=("green-house",))


def page(**fields: Any) -> dict[str, Any]:
    made = {
        "title": "Lover's nest",
        "aliases": ["green-house", "lover-s-nest"],
        "lead": ["It is of glass.", "It leaks."],
        "timeline": [{"text": "Built.", "day": "2026-01-01", "conversation_id": "c"}],
        "decisions": [{"text": "Drip hoses.", "day": "", "conversation_id": "d"}],
        "open_questions": [],
        "related": [{"slug": "diary", "name": "Diary of somebody else", "shared_count": 1}],
        "sources": [{"conversation_id": "c", "title": "Talk", "version": 1, "relevance": 1.0}],
    }
    return made | fields


def test_a_page_tells_of_its_branch_alone() -> None:
    """By the names that its people gave it, whatever it says that it is called."""
    made = of_page(page(), 2, "b1", NAMES, ["c", "d", "e"])
    assert made.text.splitlines() == [
        "Greenhouse",
        "It is of glass. It leaks.",
        "2026-01-01 Built.",
        "Drip hoses.",
        "green house",
    ]
    assert made.conversation_ids == ("c", "d", "e")


@pytest.mark.parametrize("fields", [{"lead": 3}, {"timeline": ["x"]}, {"sources": None}])
def test_what_is_no_page_is_none(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="no page"):
        of_page(page(**fields), 1, "b1", NAMES, [])


def test_a_branch_is_the_names_that_lead_to_it() -> None:
    names = Names(title="Greenhouse", slug="greenhouse", slugs=("green-house", "glass-house"))
    made = of_branch("b1", names, ["c", "d", "c"])
    assert made.text == "Greenhouse\ngreen house\nglass house"
    assert made.conversation_ids == ("c", "d")


def test_a_change_of_a_document_asks_for_its_index_once_a_change() -> None:
    keys = {Kind.SUMMARY: summary_key("t", "a", "c"), Kind.WIKI: wiki_key("t", "a", "b")}
    for kind, type_ in ((Kind.SUMMARY, "summary"), (Kind.WIKI, "page")):
        (job,) = follow_document(keys[kind], Head(revision=4))
        assert job.payload == {"type": type_, "subject": keys[kind].subject}
        assert job.key == f"index_document/a/{type_}/{keys[kind].subject}/4"
    (job,) = follow_document(attractor_key("t", "a"), Head(revision=1))
    assert job.payload == {"type": "theme", "subject": ""}


def test_a_payload_names_what_is_written_at_once() -> None:
    job = index_job("a", Source(type=DocumentType.BRANCH, subject="b"), "x")
    item = document_item(dict(job.payload)).document
    assert (item.type, item.subject) == (3, "b")
    assert document_item({"type": "theme", "subject": ""}).document.type == 4


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"type": "summary"},
        {"type": "summary", "subject": ""},
        {"type": "summary", "subject": 3},
        {"type": "theme", "subject": "x"},
        {"type": "poem", "subject": "x"},
    ],
)
def test_other_payloads_name_nothing(payload: dict[str, object]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - of whichever field
        document_item(payload)
