"""Updates of an attractor of 10,000 conversations: the first, and one after ten more (SPEC J-12)."""

from __future__ import annotations

import json
import random
import time
from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from bench.result import Result
from services.compactor.adapters.numpy_geometry import NumpyGeometry
from services.compactor.domain.attractor import Attractor, Concept, Earlier, Point
from services.compactor.domain.attractor_document import body_of, sources_of
from services.compactor.domain.attractor_updating import known, updated
from services.compactor.domain.documents import encode_body

ID = "attractor"
BUDGET_SECONDS = 5.0
CONVERSATIONS = 10_000
NEW = 10
THEMES = 24
DIMENSION = 384
LIKENESS = 0.42  # mean cosine of two conversations of a theme, as in the worked example
STRAY = 0.1  # share of conversations about nothing else
SEED = 20260701
MODEL = "bench"
LEAST_PURITY = 0.95


def run() -> Result:
    """Processor seconds of the slower update; correct if basins are themes and ids stayed."""
    points, themes = _conversations()
    began = time.process_time()
    first = updated(Earlier(), points[:-NEW], MODEL, NumpyGeometry)
    first_seconds = time.process_time() - began
    began = time.process_time()
    after = updated(known(first), points, MODEL, NumpyGeometry)
    next_seconds = time.process_time() - began
    body = encode_body(body_of(after, "0" * 64))
    purity = _purity(after, themes)
    kept = {basin.id for basin in first.basins} <= {basin.id for basin in after.basins}
    slower = max(first_seconds, next_seconds)
    return Result(
        id=ID,
        unit="s",
        value=slower,
        budget=BUDGET_SECONDS,
        ok=slower <= BUDGET_SECONDS,
        correct=purity >= LEAST_PURITY and kept,
        yardstick="none: an absolute bound, in processor time",
        load=f"{CONVERSATIONS} conversations, {THEMES} themes, {DIMENSION} dimensions, a tenth about none",
        details={
            "first_seconds": round(first_seconds, 3),
            "next_seconds": round(next_seconds, 3),
            "basins": len(after.basins),
            "purity": round(purity, 4),
            "scattered": round(after.scattered, 4),
            "body_bytes": len(body.encode("utf-8")),
            "source_bytes": len(json.dumps(sources_of(after))),
        },
    )


def _conversations() -> tuple[list[Point], list[int]]:
    """Points, one an hour, and the theme of each; −1 for none."""
    chance, draw = np.random.default_rng(SEED), random.Random(SEED)
    centres = _unit(chance.standard_normal((THEMES, DIMENSION)))
    shares = [1.0 / (place + 2) for place in range(THEMES)]
    themes = draw.choices(range(THEMES), shares, k=CONVERSATIONS)
    themes = [-1 if draw.random() < STRAY else theme for theme in themes]
    noise = _unit(chance.standard_normal((CONVERSATIONS, DIMENSION)))
    own = np.array([[theme >= 0] for theme in themes])
    rows = np.where(own, LIKENESS**0.5 * centres[themes] + (1 - LIKENESS) ** 0.5 * noise, noise)
    start = datetime(2026, 1, 1, tzinfo=UTC)
    points = [
        Point(
            conversation_id=f"{place:026}",
            time=start + timedelta(hours=place),
            version=1,
            vector=row.astype("<f4").tobytes(),
            concepts=(Concept(name=f"theme {theme}"),),
        )
        for place, (row, theme) in enumerate(zip(_unit(rows), themes, strict=True))
    ]
    return points, themes


def _unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    lengths: NDArray[np.float64] = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / lengths


def _purity(attractor: Attractor, themes: list[int]) -> float:
    """The share of conversations with a theme that are in the basin where most of their theme are."""
    found: dict[int, Counter[str]] = defaultdict(Counter)
    for visit, theme in zip(attractor.visits, themes, strict=True):
        if theme >= 0:
            found[theme][visit.basin] += 1
    best = [max((count for basin, count in one.items() if basin), default=0) for one in found.values()]
    return sum(best) / sum(one.total() for one in found.values())


if __name__ == "__main__":
    print(json.dumps(run().document(), indent=1))
