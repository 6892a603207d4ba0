"""P-14: disk of the embedded profile's environment: its packages, the interpreter's own, the model."""

from __future__ import annotations

import sysconfig
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

from bench.result import Result

ID = "P-14"
BUDGET_MB = 350.0
PROJECT = "palimpsest"
EXTRA = "embedded"


def run() -> Result:
    """Bytes of every file of the packages that `palimpsest[embedded]` asks for, and of the project."""
    sizes = {name: _installed(dist) for name, dist in _closure(PROJECT, EXTRA).items()}
    root = Path(__file__).parents[2]
    sizes[PROJECT] = sum(
        path.stat().st_size
        for folder in ("palimpsest", "services", "gen")
        for path in (root / folder).rglob("*")
        if path.is_file()
    )
    total = sum(sizes.values()) / 1e6
    largest = sorted(sizes.items(), key=lambda item: -item[1])[:12]
    return Result(
        id=ID,
        unit="MB",
        value=total,
        budget=BUDGET_MB,
        ok=total <= BUDGET_MB,
        correct=len(sizes) > 10,
        yardstick="none: an absolute bound",
        load="files as installed, with byte code where the installer wrote it",
        details={
            "packages": len(sizes),
            "largest_mb": {name: round(size / 1e6, 1) for name, size in largest},
        },
    )


def _closure(name: str, *extras: str) -> dict[str, Distribution]:
    """Distributions that a requirement brings in, by name, without itself."""
    found: dict[str, Distribution] = {}
    todo = [(name, frozenset(extras))]
    seen: set[tuple[str, frozenset[str]]] = set()
    while todo:
        item = todo.pop()
        if item in seen:
            continue
        seen.add(item)
        try:
            dist = distribution(item[0])
        except PackageNotFoundError:
            continue
        if item[0] != name:
            found[item[0]] = dist
        for text in dist.requires or []:
            need = Requirement(text)
            if need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in (*item[1], "")):
                todo.append((need.name.lower(), frozenset(need.extras)))
    return found


def _installed(dist: Distribution) -> int:
    base = Path(sysconfig.get_paths()["purelib"])
    files = [Path(str(file.locate())) for file in dist.files or []]
    return sum(file.stat().st_size for file in files if file.is_file() and base in file.parents)
