"""Which statement says all that another says (SPEC J-10)."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from services.memory.semantic.domain.judging import judge
from services.memory.semantic.domain.judging_types import CONTRADICTS_FROM, REPLACES_FROM, Statement
from services.memory.semantic.domain.memory import Kind
from services.memory.semantic.domain.merging import covers

NOW = datetime(2031, 5, 4, tzinfo=UTC)
PAIRS = Path(__file__).parents[1] / "data" / "supersession_dev.jsonl"


def said(value: str, kind: Kind = Kind.FACT) -> Statement:
    return Statement(key="k", value=value, valid_from=NOW, kind=kind)


@pytest.mark.parametrize(
    ("kept", "other"),
    [
        ("Likes jazz", "likes  jazz"),
        ("The user lives in Oslo, near the fjord", "The user lives in Oslo"),
        ("Does not eat meat", "Never eats meat"),
        ("Helen is employed by the city council", "Helen works for the city council"),
        ("Farid is allergic to nuts; hazelnuts are the worst", "Farid is allergic to nuts"),
    ],
)
def test_the_same_or_more_covers(kept: str, other: str) -> None:
    assert covers(said(kept), said(other))


@pytest.mark.parametrize(
    ("kept", "other"),
    [
        ("The user lives in Oslo", "The user lives in Oslo, near the fjord"),
        ("Likes jazz", "Likes rock"),
        ("Likes green tea", "Does not like green tea"),
        ("Owns two cats", "Owns three cats"),
        ("Anna lives in Graz", "Peter lives in Graz"),
        ("Oscar beat Jonas in the final of 2022", "Jonas beat Oscar in the final of 2022"),
        ("The band closed the 2018 festival", "The band opened the 2018 festival"),
        ("Wants to move to Oslo", "Moved to Oslo"),
        ("Has a dog, Biscuit", "Has a dog biscuit"),
        ("The user has a dog called Biscuit", "The user has a dog biscuit"),
    ],
)
def test_what_says_something_else_does_not_cover(kept: str, other: str) -> None:
    assert not covers(said(kept), said(other))


def test_kinds_are_kept_apart_and_tasks_left_alone() -> None:
    assert not covers(said("Call Ann", Kind.EVENT), said("Call Ann"))
    assert not covers(said("Call Ann", Kind.TASK), said("Call Ann", Kind.TASK))
    assert covers(said("Call Ann", Kind.EVENT), said("Call Ann", Kind.EVENT))


def test_labelled_pairs_that_differ_are_not_merged() -> None:
    """Among pairs that nothing bars, those labelled "both" are additions, of which the fuller one stays."""
    merged: Counter[str] = Counter()
    for line in PAIRS.read_text("utf-8").splitlines():
        pair = json.loads(line)
        old, new = _statement(pair["old"]), _statement(pair["new"])
        found = judge(old, new)
        if found.replaces >= REPLACES_FROM or found.contradicts >= CONTRADICTS_FROM:
            continue
        by = [covers(new, old), covers(old, new)]
        if any(by):
            merged[pair["label"]] += 1
        if pair["label"] == "both" and any(by):
            assert by == [True, False], pair["id"]
    assert set(merged) == {"same", "both"}
    assert merged["same"] >= 9


def _statement(one: dict[str, Any]) -> Statement:
    ends = one["valid_to"]
    return Statement(
        key=one["key"],
        value=one["value"],
        valid_from=datetime.fromisoformat(one["valid_from"]).replace(tzinfo=UTC),
        valid_to=None if ends is None else datetime.fromisoformat(ends).replace(tzinfo=UTC),
    )
