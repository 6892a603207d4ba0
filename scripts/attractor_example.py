"""The worked example of docs/attractor.md: two versions of an attractor, by the bundled model.

python -m scripts.attractor_example
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from services.compactor.adapters.numpy_geometry import NumpyGeometry
from services.compactor.domain.attractor import Attractor, Earlier, Point
from services.compactor.domain.attractor_document import body_of
from services.compactor.domain.attractor_reading import reading_of
from services.compactor.domain.attractor_updating import known, updated
from services.embedder.adapters.onnx_folder import OnnxFolder
from services.embedder.bootstrap import default_model_dir

FILE = Path(__file__).parents[1] / "examples" / "attractor.json"
START = datetime(2026, 3, 1, tzinfo=UTC)
MODEL = "bundled"
NAMED = "Sport"


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """The attractor of the first conversations, and, one of its basins named, that of all."""

    first: Attractor
    later: Attractor


async def example() -> Example:
    """Embeds the summaries of the file and updates twice."""
    rows = json.loads(FILE.read_text("utf-8"))
    first, later = [await _points(rows[part]) for part in ("first", "later")]
    made = updated(Earlier(), first, MODEL, NumpyGeometry)
    runs = next(visit.basin for visit in made.visits if visit.conversation_id == "run-1")
    named = tuple(replace(one, name=NAMED) if one.id == runs else one for one in made.basins)
    made = replace(made, basins=named)
    return Example(first=made, later=updated(known(made), [*first, *later], MODEL, NumpyGeometry))


def table(attractor: Attractor) -> list[str]:
    """The rows of docs/attractor.md."""
    body: Any = body_of(attractor, "")
    lines = ["| basin | weight | cohesion | moved | conversations |", "|---|---|---|---|---|"]
    for basin in body["basins"]:
        title = f"{basin['name']} ({basin['label']})" if basin["name"] else basin["label"]
        moved = "–" if basin["moved"] is None else f"{basin['moved']:.2f}"
        members = ", ".join(reversed(basin["members"]))
        figures = f"{basin['weight']:.2f} | {basin['cohesion']:.2f} | {moved}"
        lines.append(f"| `{basin['id']}` {title} | {figures} | {members} |")
    scattered = [visit.conversation_id for visit in attractor.visits if not visit.basin]
    drift = "–" if body["drift"] is None else f"{body['drift']:.3f}"
    changes = "; ".join(" ".join(map(str, change.values())) for change in body["changes"])
    return [
        *lines,
        "",
        f"in no basin: {', '.join(scattered) or '–'} (share {body['scattered']['share']:.2f});"
        f" entropy {body['entropy_bits']:.2f} bits, {body['effective_basins']:.1f} effective basins;"
        f" drift {drift}; changes: {changes or '–'}",
    ]


async def _points(rows: Sequence[dict[str, Any]]) -> list[Point]:
    model = OnnxFolder.load(default_model_dir())
    points = []
    for row in rows:
        body = {
            "title": row["title"],
            "text": row["text"],
            "concepts": [{"name": name, "weight": 1.0} for name in row["concepts"]],
            "sections": {"objective": [{"text": row["text"]}]},
        }
        reading = reading_of(body, START + timedelta(days=row["day"]))
        (vector,) = await model.embed(await model.prepare([reading.text]))
        points.append(
            Point(
                conversation_id=row["conversation"],
                time=reading.time,
                version=1,
                vector=vector,
                title=reading.title,
                concepts=reading.concepts,
            )
        )
    await model.close()
    return points


def main() -> None:
    """Prints both versions."""
    made = asyncio.run(example())
    print("\n".join([*table(made.first), "", *table(made.later)]))


if __name__ == "__main__":
    main()
