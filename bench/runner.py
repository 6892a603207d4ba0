"""`palimpsest bench ID [--json OUT]`: runs a scenario and holds it to its budget."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.result import Result, write
from bench.scenarios import (
    appends,
    attractor,
    chats,
    disk,
    extraction,
    facts,
    freshness,
    hop,
    import_derived,
    indexing,
    ingest,
    ingest_postgres,
    jobs,
    memory,
    million,
    prompts,
    recall,
    recall_mem0,
    remember,
    retrieval,
    start,
    summaries,
    supersession,
    window,
)

RESULTS = Path(__file__).parent / "results"
SCENARIOS: dict[str, Callable[[], Result]] = {
    module.ID: module.run
    for module in (
        *(appends, ingest, ingest_postgres, recall, remember, recall_mem0, indexing),
        *(window, freshness, facts, memory, start, jobs, attractor, disk, hop, chats, prompts),
    )
}

LONG: dict[str, Callable[[], Result]] = {module.ID: module.run for module in (import_derived, million)}
"""Scenarios that take too long for "all"."""

LABELLED: dict[str, Callable[[Path], dict[str, Any]]] = {
    supersession.ID: supersession.run,
    extraction.ID: extraction.run,
    summaries.ID: summaries.run,
}
"""Scenarios over labelled data (tests/data), each with its own budget."""


def main(scenario: str, out: Path | None = None, data: Path | None = None) -> int:
    """Runs one scenario, "all", "retrieval" or one of LABELLED (which need `data`).

    Returns 1 when a budget is missed or a check failed.
    """
    if scenario == "retrieval":
        if data is None:
            sys.exit("error: bench retrieval needs --data FILE")
        document = retrieval.run(data)
        _report(document, out)
        return 0
    if scenario in LABELLED:
        if data is None:
            sys.exit(f"error: bench {scenario} needs --data FILE")
        document = LABELLED[scenario](data)
        _report(document, out)
        return 0 if document["correct"] and document["ok"] else 1
    runnable = SCENARIOS | LONG
    names = list(SCENARIOS) if scenario == "all" else [scenario]
    unknown = [name for name in names if name not in runnable]
    if unknown:
        known = ", ".join([*runnable, "retrieval", *LABELLED, "all"])
        sys.exit(f"error: no scenario {unknown[0]}; there are {known}")
    results = {name: runnable[name]().document() for name in names}
    for name, document in results.items():
        _report(document, (RESULTS / f"{name}.json") if scenario == "all" else out)
    return 0 if all(r["correct"] and r["ok"] is not False for r in results.values()) else 1


def _report(document: dict[str, Any], out: Path | None) -> None:
    if out is not None:
        write(document, out)
    print(json.dumps({k: v for k, v in document.items() if k != "per_question"}, indent=1))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "all"))
