"""What a scenario reports."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

MEASURED = ("grpcio", "protobuf", "onnxruntime", "qdrant-edge-py", "numpy")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One figure, its budget, and what it was measured with; `ok` is None where there is no budget."""

    id: str
    unit: str
    value: float
    budget: float | None
    ok: bool | None
    correct: bool
    yardstick: str
    load: str
    details: dict[str, Any] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """As JSON-ready data, with versions and machine."""
        return asdict(self) | {
            "value": round(self.value, 4),
            "versions": {name: version(name) for name in MEASURED} | {"python": platform.python_version()},
            "machine": {
                "cores": os.cpu_count(),
                "system": platform.system(),
                "processor": platform.machine(),
            },
        }


def write(document: dict[str, Any], path: Path) -> None:
    """Writes a result as indented JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", "utf-8")


def percentile(values: list[float], share: float) -> float:
    """Nearest-rank percentile; `share` between 0 and 1."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, round(share * len(ordered)) - 1))]
