"""The example data is readable, consistent and holds what the demonstration relies on."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from palimpsest.transcripts import (
    AttachmentPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    TranscriptMessage,
    read_transcript,
)

EXAMPLES = Path(__file__).parents[2] / "examples"
KEY_CHARACTERS = set("abcdefghijklmnopqrstuvwxyz0123456789._:-")
FACT_TYPES = {"preference", "identity", "relationship", "task", "decision", "event", "instruction"}


@pytest.fixture(scope="module")
def messages() -> dict[str, TranscriptMessage]:
    with (EXAMPLES / "conversation.jsonl").open("rb") as stream:
        return {message.id or "": message for message in read_transcript(stream)}


def load(name: str) -> Any:
    return json.loads((EXAMPLES / name).read_text(encoding="utf-8"))


def text_of(message: TranscriptMessage) -> str:
    return "\n".join(part.text for part in message.parts if isinstance(part, TextPart))


def test_three_sessions_of_two_people_and_an_assistant(messages: dict[str, TranscriptMessage]) -> None:
    assert len(messages) >= 90
    assert {message.session for message in messages.values()} == {"2026-03-02", "2026-03-24", "2026-04-19"}
    people = Counter(message.author for message in messages.values() if message.role == "user")
    assert set(people) == {"Marta", "Tomás"}
    assert {message.author for message in messages.values() if message.role == "assistant"} == {"Ada"}


def test_times_grow_and_agree_with_the_sessions(messages: dict[str, TranscriptMessage]) -> None:
    times = [message.time for message in messages.values() if message.time]
    assert len(times) == len(messages)
    assert times == sorted(times)
    assert all(m.time and m.time.date().isoformat() == m.session for m in messages.values())


def test_every_kind_of_part_occurs(messages: dict[str, TranscriptMessage]) -> None:
    kinds = {type(part) for message in messages.values() for part in message.parts}
    assert kinds == {TextPart, ToolCallPart, ToolResultPart, AttachmentPart}


def test_a_tool_result_answers_a_call(messages: dict[str, TranscriptMessage]) -> None:
    parts = [part for message in messages.values() for part in message.parts]
    calls = {part.call_id for part in parts if isinstance(part, ToolCallPart)}
    results = {part.call_id for part in parts if isinstance(part, ToolResultPart)}
    assert calls
    assert calls == results


def test_the_evidence_of_each_question_is_in_the_conversation(messages: dict[str, TranscriptMessage]) -> None:
    evidence = {
        row["id"]: [text_of(messages[key]) for key in row["evidence"]] for row in load("questions.json")
    }
    assert "black filter coffee" in evidence["q1"][0]
    assert "杭州" in evidence["q2"][0]
    assert "parse_http_url" in evidence["q3"][0]


def test_what_is_outdated_precedes_what_replaces_it(messages: dict[str, TranscriptMessage]) -> None:
    order = list(messages)
    (changed,) = [row for row in load("questions.json") if row["outdated"]]
    assert max(map(order.index, changed["outdated"])) < min(map(order.index, changed["evidence"]))


def test_eight_memories_with_valid_keys_some_of_a_contact() -> None:
    """S-1: the characters of a key; S-2: the fact types; S-5: both scopes."""
    memories = load("memories.json")
    assert len({row["key"] for row in memories}) == len(memories) == 8
    assert all(set(row["key"]) <= KEY_CHARACTERS for row in memories)
    assert {row["fact_type"] for row in memories} <= FACT_TYPES
    assert {row["contact"] for row in memories} == {"Marta", None}
