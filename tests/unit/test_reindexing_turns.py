"""Whose run a reindexer works on (SPEC SV-2)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from services.kit.errors import DependencyDown
from services.memory.semantic.app.reindex_ports import Position, Reindexing, ReindexState, lease_of
from services.memory.semantic.app.reindexing import Reindexer
from tests.unit.semantic_parts import NOW


@dataclass
class Runs:
    """Reindexes, of which some are running; notes who was finished."""

    tenants: Sequence[str]
    done: list[str] = field(default_factory=list)
    finished: asyncio.Event = field(default_factory=asyncio.Event)

    async def running(self) -> list[Reindexing]:
        return [
            Reindexing(
                tenant=tenant,
                id="r",
                agent_id="",
                state=ReindexState.RUNNING,
                done=0,
                total=0,
                position=Position(),
                created=NOW,
            )
            for tenant in self.tenants
            if tenant not in self.done
        ]

    async def advance(self, run: Reindexing, holder: str, now: datetime) -> bool:
        self.done.append(run.tenant)
        self.finished.set()
        return True


class Nothing:
    """What there is to be indexed."""

    async def agents(self, tenant: str) -> list[str]:
        return []

    async def buckets(self) -> list[Any]:
        return []


class Turns:
    """A replica for which one lease cannot be had."""

    name = "replica"

    async def take(self, lease: str) -> bool:
        if lease == lease_of("broken"):
            raise DependencyDown
        return True

    async def keep(self, lease: str) -> bool:
        return True

    async def give(self, lease: str) -> None:
        return


async def test_a_run_that_is_interrupted_does_not_keep_others_waiting() -> None:
    """J-3: whoever comes first in order."""
    runs = Runs(["broken", "fine"])
    nothing = cast("Any", Nothing())
    reindexer = Reindexer(
        reindexes=cast("Any", runs),
        canonical=nothing,
        generations=nothing,
        indexer=nothing,
        strangers=nothing,
        replica=cast("Any", Turns()),
        clock=lambda: NOW,
    )
    task = asyncio.create_task(reindexer.run())
    try:
        await asyncio.wait_for(runs.finished.wait(), 30)
    finally:
        task.cancel()
    assert runs.done == ["fine"]
