"""The labelled turns for extraction keep the form that tests/data/README.md describes (J-8)."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parents[1] / "data"
FILES = {
    "extraction_dev": "ed",
    "extraction_heldout": "eh",
    "extraction2_dev": "xd",
    "extraction2_heldout": "xh",
    "extraction3_dev": "xe",
    "extraction3_heldout": "xk",
    "extraction4_train": "xr",
    "extraction4_heldout": "xl",
}
PAIRS = [
    ("extraction_dev", "extraction_heldout"),
    ("extraction2_dev", "extraction2_heldout"),
    ("extraction3_dev", "extraction3_heldout"),
    ("extraction4_train", "extraction4_heldout"),
]
ROLES = {"user", "assistant", "tool"}
TYPES = {
    "identity",
    "location",
    "preference",
    "relationship",
    "event",
    "decision",
    "instruction",
    "task",
    "fact",
}
TURN_FIELDS = {"id", "lang", "role", "author", "time", "text", "facts"}
FACT_FIELDS = {"subject", "type", "value", "date"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One labelled line; failures name its id, so that a held-out text is never shown."""

    row: dict[str, Any]

    @property
    def id(self) -> str:
        return str(self.row["id"])

    @property
    def facts(self) -> list[dict[str, Any]]:
        return list(self.row["facts"])

    @property
    def text(self) -> str:
        return str(self.row["text"]).casefold().strip(" .!?")


def turns_of(name: str) -> list[Turn]:
    lines = (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [Turn(row=json.loads(line)) for line in lines]


def has_form(turn: Turn) -> bool:
    strings = [turn.row[field] for field in TURN_FIELDS - {"facts"}]
    return (
        set(turn.row) == TURN_FIELDS
        and all(isinstance(value, str) and value.strip() == value != "" for value in strings)
        and turn.row["role"] in ROLES
        and datetime.fromisoformat(turn.row["time"]).utcoffset() == timedelta(0)
    )


def is_fact(fact: dict[str, Any]) -> bool:
    day = fact["date"]
    return (
        set(fact) - {"evidence"} == FACT_FIELDS
        and fact["type"] in TYPES
        and all(isinstance(fact[field], str) and fact[field].strip() for field in ("subject", "value"))
        and (day is None or date.fromisoformat(day).isoformat() == day)
    )


@pytest.mark.parametrize("name", FILES)
def test_every_turn_has_the_documented_fields(name: str) -> None:
    turns = turns_of(name)
    assert turns
    assert [turn.id for turn in turns if not has_form(turn)] == []


@pytest.mark.parametrize("name", FILES)
def test_every_fact_has_a_known_type_and_a_real_day(name: str) -> None:
    turns = turns_of(name)
    assert {fact["type"] for turn in turns for fact in turn.facts} == TYPES
    assert [turn.id for turn in turns if not all(map(is_fact, turn.facts))] == []


@pytest.mark.parametrize(("name", "prefix"), FILES.items())
def test_ids_are_unique_and_say_their_file(name: str, prefix: str) -> None:
    ids = [turn.id for turn in turns_of(name)]
    assert len(set(ids)) == len(ids)
    assert [key for key in ids if not (key.startswith(prefix) and key[len(prefix) :].isdigit())] == []


@pytest.mark.parametrize(("dev", "heldout"), PAIRS)
def test_the_halves_share_no_text(dev: str, heldout: str) -> None:
    known = {turn.text for turn in turns_of(dev)}
    assert turns_of(dev)[0].text in known
    assert [turn.id for turn in turns_of(heldout) if turn.text in known] == []


def test_the_second_set_repeats_nothing_of_the_first() -> None:
    first = {turn.text for pair in PAIRS[:1] for name in pair for turn in turns_of(name)}
    second = [turn for name in PAIRS[1] for turn in turns_of(name)]
    assert [turn.id for turn in second if turn.text in first] == []
    assert len({turn.text for turn in second}) == len(second) == 600


def test_the_second_set_is_divided_evenly() -> None:
    """Languages and turns without facts are spread alike over both halves."""
    dev, heldout = (
        Counter((turn.row["lang"], bool(turn.facts)) for turn in turns_of(name)) for name in PAIRS[1]
    )
    assert dev.keys() == heldout.keys()
    assert all(abs(dev[key] - heldout[key]) <= 1 for key in dev)
    assert sum(count for (_, stated), count in dev.items() if stated) == 180


def test_the_third_set_repeats_nothing_of_the_others() -> None:
    others = {turn.text for pair in PAIRS[:2] for name in pair for turn in turns_of(name)}
    third = [turn for name in PAIRS[2] for turn in turns_of(name)]
    assert [turn.id for turn in third if turn.text in others] == []
    assert len({turn.text for turn in third}) == len(third) == 2240


def test_the_fourth_set_repeats_nothing_of_the_others() -> None:
    others = {turn.text for pair in PAIRS[:3] for name in pair for turn in turns_of(name)}
    fourth = [turn for name in PAIRS[3] for turn in turns_of(name)]
    assert [turn.id for turn in fourth if turn.text in others] == []
    assert len({turn.text for turn in fourth}) == len(fourth)


def test_facts_to_learn_from_come_with_their_evidence() -> None:
    turns = turns_of("extraction4_train")
    assert [turn.id for turn in turns if any(f["evidence"] not in turn.row["text"] for f in turn.facts)] == []


@pytest.mark.parametrize("pair", PAIRS[1:3])
def test_only_users_of_the_later_sets_state_facts(pair: tuple[str, str]) -> None:
    """J-8: what a tool returned or the assistant suggested is not extracted."""
    turns = [turn for name in pair for turn in turns_of(name)]
    assert {turn.row["role"] for turn in turns} == ROLES
    assert {turn.row["role"] for turn in turns if turn.facts} == {"user"}
