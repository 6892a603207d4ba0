"""The judge of supersession on labelled pairs (S-7): precision and recall of "replaces".

A pair counts as positive when its label is "replaces", as predicted when the judge's probability reaches the
one from which a memory is superseded. Only counts leave this module, never a text.
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from services.memory.semantic.domain.judging import judge
from services.memory.semantic.domain.judging_types import CONTRADICTS_FROM, REPLACES_FROM, Statement, Verdict

ID = "supersession"
PRECISION = 0.98
RECALL = 0.6
LABELS = ("replaces", "contradicts", "both", "unrelated", "same")
VERDICTS = ("replaces", "contradicts", "nothing")

Confusion = Counter[tuple[str, str]]


def run(data: Path) -> dict[str, Any]:
    """The result document for one file of pairs."""
    pairs = [json.loads(line) for line in data.read_text("utf-8").splitlines() if line.strip()]
    confusion: Confusion = Counter()
    languages: dict[str, Confusion] = {}
    for pair in pairs:
        cell = (pair["label"], decided(judge(statement(pair["old"]), statement(pair["new"]))))
        confusion[cell] += 1
        languages.setdefault(pair["lang"], Counter())[cell] += 1
    figures = rates(confusion, "replaces")
    return {
        "id": ID,
        "value": figures,
        "budget": {"precision": PRECISION, "recall": RECALL},
        "ok": figures["precision"] >= PRECISION and figures["recall"] >= RECALL,
        "correct": sum(confusion.values()) == len(pairs) > 0,
        "yardstick": "labels by hand",
        "load": data.name,
        "contradicts": rates(confusion, "contradicts"),
        "confusion": {label: {name: confusion[label, name] for name in VERDICTS} for label in LABELS},
        "by_language": {name: rates(counts, "replaces") for name, counts in sorted(languages.items())},
    }


def statement(side: dict[str, Any]) -> Statement:
    """One side of a pair; days become moments, and a last day is still within."""
    ends = side["valid_to"]
    return Statement(
        key=side["key"],
        value=side["value"],
        valid_from=_day(side["valid_from"]),
        valid_to=_day(ends) + timedelta(days=1) if ends else None,
    )


def decided(verdict: Verdict) -> str:
    """What the verdict leads to (S-7)."""
    if verdict.replaces >= REPLACES_FROM:
        return "replaces"
    return "contradicts" if verdict.contradicts >= CONTRADICTS_FROM else "nothing"


def rates(confusion: Confusion, name: str) -> dict[str, float]:
    """Precision and recall of one verdict and the number of pairs; without a prediction precision is 1."""
    right = confusion[name, name]
    predicted = sum(count for (_, verdict), count in confusion.items() if verdict == name)
    labelled = sum(count for (label, _), count in confusion.items() if label == name)
    return {
        "precision": round(right / predicted, 4) if predicted else 1.0,
        "recall": round(right / labelled, 4) if labelled else 1.0,
        "n": sum(confusion.values()),
    }


def _day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
