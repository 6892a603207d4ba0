"""The worked example of docs/attractor.md, by the bundled model (SPEC J-12)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from scripts.attractor_example import FILE, NAMED, Example, example, table
from services.compactor.domain.attractor import Attractor

DOCS = Path(__file__).parents[2] / "docs" / "attractor.md"
THEMES = {"billing", "garden", "run", "portuguese"}


@pytest.fixture(scope="module")
def made() -> Example:
    return asyncio.run(example())


def by_basin(attractor: Attractor) -> dict[str, set[str]]:
    """The written themes of the conversations in each basin."""
    found: dict[str, set[str]] = {}
    for visit in attractor.visits:
        if visit.basin:
            found.setdefault(visit.basin, set()).add(visit.conversation_id.rpartition("-")[0])
    return found


def test_each_basin_is_a_theme(made: Example) -> None:
    for attractor in (made.first, made.later):
        basins = by_basin(attractor)
        assert all(len(themes) == 1 for themes in basins.values())
        assert sorted(theme for (theme,) in basins.values()) == sorted(THEMES)
        in_none = [visit.conversation_id for visit in attractor.visits if not visit.basin]
        assert "tax-1" in in_none
        assert len(in_none) <= 3


def test_a_theme_that_moves_keeps_its_id_and_name(made: Example) -> None:
    """From marathons to mountains."""
    assert by_basin(made.first) == by_basin(made.later)
    (first,) = (basin for basin in made.first.basins if basin.name == NAMED)
    (later,) = (basin for basin in made.later.basins if basin.name == NAMED)
    assert first.id == later.id
    assert later.moved is not None
    assert later.moved > 0.05
    assert "mountains" in {term.text for term in later.terms}
    assert "mountains" not in {term.text for term in first.terms}


def test_the_docs_show_it(made: Example) -> None:
    """But for figures, which differ a little from processor to processor."""
    text = DOCS.read_text("utf-8")
    count = len(json.loads(FILE.read_text("utf-8"))["first"])
    assert len(made.first.visits) == count
    for attractor in (made.first, made.later):
        for line in table(attractor)[2:-2]:
            title, *_, members = line.split("|")[1:-1]
            assert any(title in row and members in row for row in text.splitlines())
