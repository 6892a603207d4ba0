"""Memories that an index holds where they do not belong (SPEC SV-2, S-8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

import pytest

from services.memory.semantic.adapters.memory_items import MemoryItemIndex
from services.memory.semantic.adapters.vectors_memory import MemoryVectorIndex
from services.memory.semantic.app.generations import Generation, Generations
from services.memory.semantic.app.strangers import Strangers
from services.memory.semantic.domain.vectors import Bucket, ContentClass, VectorModel
from tests.unit.semantic_parts import AGENT, NOW, TENANT


@dataclass
class Rows:
    """Says of each memory whether it lasts, by turns; notes for which of them jobs are enqueued."""

    answers: list[dict[str, bool]]
    enqueued: list[str] = field(default_factory=list)

    async def lasting(
        self, tenant: str, agent_id: str, memory_ids: Sequence[str], now: datetime
    ) -> dict[str, bool]:
        lasting = self.answers.pop(0)
        return {id_: lasting[id_] for id_ in memory_ids if id_ in lasting}

    async def enqueue_memories(
        self, tenant: str, agent_id: str, memory_ids: Sequence[str], suffix: str
    ) -> None:
        self.enqueued += memory_ids


@pytest.mark.parametrize(
    ("content", "before"), [(ContentClass.MEMORY, False), (ContentClass.PAST, True)], ids=str
)
async def test_what_comes_to_belong_where_it_is_taken_out_is_indexed_again(
    content: ContentClass, before: bool
) -> None:
    """S-8: a supersession that is undone just then; what stays a stranger, or is gone, has no job."""
    rows = Rows([{"back": before, "stays": before}, {"back": not before, "stays": before}])
    vectors = MemoryVectorIndex(VectorModel(revision="r", dimension=3))
    strangers = Strangers(
        store=cast("Any", rows),
        items=MemoryItemIndex(),
        generations=Generations(Generation(vectors=vectors, texts=cast("Any", None))),
        clock=lambda: NOW,
    )
    bucket = Bucket(tenant=TENANT, agent=AGENT, content=content)
    assert await strangers.take_out(bucket, ["back", "stays", "gone"]) == {"back", "stays", "gone"}
    assert rows.enqueued == ["back"]
