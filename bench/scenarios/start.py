"""P-10: starting on a folder with 50,000 memories, to the first answer of recall."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from palimpsest.gateway.v1 import memories_pb2

from bench import fixtures
from bench.result import Result
from bench.suite import embedded, gateway

ID = "P-10"
BUDGET_SECONDS = 5.0
MEMORIES = 50_000
CONTACTS = 100
STARTS = 3


def run() -> Result:
    """The median of several starts, from exec to a recall that found something."""
    with tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as scratch:
        data = Path(scratch) / "data"
        began = time.monotonic()
        fixtures.memories(data, MEMORIES, CONTACTS)
        filled = time.monotonic() - began
        times, found = [], True
        for _ in range(STARTS):
            with embedded(data) as running:
                first = time.monotonic()
                found = asyncio.run(_recall(running)) and found
                times.append(running.started_in + time.monotonic() - first)
        size = sum(path.stat().st_size for path in data.rglob("*") if path.is_file())
    value = statistics.median(times)
    return Result(
        id=ID,
        unit="s",
        value=value,
        budget=BUDGET_SECONDS,
        ok=value <= BUDGET_SECONDS,
        correct=found,
        yardstick="none: an absolute bound",
        load=f"{MEMORIES} memories of {CONTACTS} contacts, {STARTS} starts after a clean stop",
        details={
            "starts": [round(t, 3) for t in times],
            "data_mb": round(size / 1e6, 1),
            "fill_seconds": round(filled, 1),
        },
    )


async def _recall(running: Any) -> bool:
    async with gateway(running) as (stub, metadata):
        answer = await stub.Recall(
            memories_pb2.RecallRequest(
                agent_id=fixtures.AGENT, contact_id=await _somebody(stub, metadata), query="bacor"
            ),
            metadata=metadata,
        )
        return bool(answer.hits) and not answer.failures


async def _somebody(stub: Any, metadata: Any) -> str:
    from palimpsest.gateway.v1 import conversations_pb2

    request = conversations_pb2.ListContactsRequest(agent_id=fixtures.AGENT, page_size=1)
    return str((await stub.ListContacts(request, metadata=metadata)).contacts[0].id)
