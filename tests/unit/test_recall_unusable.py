"""Channels that are turned off, and answers by which nothing can be ranked (SPEC S-5, S-9, S-11)."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan
from typing import Any

import pytest

from services.kit.errors import DependencyDown
from services.memory.semantic.adapters.memory_items import MemoryItemIndex
from services.memory.semantic.app.indexing import Indexer
from services.memory.semantic.app.recall import Recall, RecallSettings
from services.memory.semantic.domain.fusion import REFERENCE_WEIGHTS, Default, Reference, Strategy
from services.memory.semantic.domain.items import MessageScope
from services.memory.semantic.domain.memory import Scope
from tests.unit.semantic_parts import AGENT, AGENT_WIDE, TENANT, Parts

UNUSABLE = "gave no usable answer"


class Answering(MemoryItemIndex):
    """Words that find the same, whatever is looked for."""

    def __init__(self, found: Sequence[tuple[str, float]]) -> None:
        super().__init__()
        self.found = list(found)
        self.asked = 0

    async def search_messages(self, *arguments: Any, **named: Any) -> list[tuple[str, float]]:
        self.asked += 1
        return self.found

    async def search_memories(self, *arguments: Any, **named: Any) -> list[tuple[str, float]]:
        return await self.search_messages()


async def parts_with(found: Sequence[tuple[str, float]]) -> tuple[Parts, Answering, Recall]:
    """Two people's messages and an agent-wide memory, indexed."""
    parts, items = Parts(), Answering(found)
    parts.indexer = Indexer(
        store=parts.store,
        items=items,
        generations=parts.generations,
        conversations=parts.episodes,
        observe_lag=parts.lags.append,
        clock=lambda: parts.now,
    )
    for who in ("ann", "bob"):
        parts.episodes.add(who, "a heron", contact_id=who)
        await parts.index_messages(who, 1)
    await parts.index_memories(await parts.remember("heron", "a heron"))
    recall = Recall(
        store=parts.store,
        items=items,
        generations=parts.generations,
        settings=RecallSettings(channel_seconds=5),
        clock=lambda: parts.now,
    )
    return parts, items, recall


async def memories(
    recall: Recall, strategy: Strategy | None = None, scope: Scope = AGENT_WIDE
) -> tuple[list[set[str]], dict[str, str]]:
    """The channels of each hit, and what failed."""
    chosen = strategy or Default()
    hits, failures = await recall.memories(
        TENANT, scope, "heron", limit=10, kinds=frozenset(), strategy=chosen, fill=False
    )
    return [set(hit.hit.channels) if hit.hit else set() for hit in hits], failures


async def messages(recall: Recall, strategy: Strategy | None = None) -> tuple[list[str], dict[str, str]]:
    """The conversations of Ann's messages that are found, and what failed."""
    hits, failures = await recall.messages(
        TENANT,
        AGENT,
        "heron",
        scope=MessageScope(contact_ids=("ann",)),
        limit=10,
        semantic=True,
        keyword=True,
        strategy=strategy or Default(),
        reference=None,
    )
    return [hit.message.conversation_id for hit in hits], failures


@pytest.mark.parametrize("score", [nan, inf, -inf, 1e39, -1e300])
async def test_scores_that_are_none_fail_their_channel_alone(score: float) -> None:
    """S-11: and reach nobody."""
    _, _, recall = await parts_with([("ann/000000000001", score), ("unknown", 1.0)])
    found, failures = await memories(recall)
    assert (found, failures) == ([{"vector", "key"}], {"keyword": UNUSABLE, "messages": UNUSABLE})
    assert await messages(recall) == (["ann"], {"keyword": UNUSABLE})


async def test_messages_of_others_are_left_out_by_the_registry() -> None:
    """S-5: whatever an engine says."""
    _, items, recall = await parts_with([("bob/000000000001", 9.0), ("ann/000000000001", 1.0)])
    assert await messages(recall) == (["ann"], {})
    items.found = [("bob/000000000001", 9.0)]
    assert await messages(recall, off("vector")) == ([], {})


async def test_a_weight_of_nothing_turns_a_channel_off() -> None:
    """S-9: it is not asked, finds nothing and cannot fail."""
    parts, items, recall = await parts_with([])
    assert await memories(recall, off("keyword", "messages")) == ([{"vector", "key"}], {})
    assert items.asked == 0
    parts.texts.down = True
    assert await memories(recall, off("vector")) == ([{"key"}], {})
    with pytest.raises(DependencyDown):
        await memories(recall, off("keyword", "messages", "key"))
    assert await memories(recall, off("vector", "keyword", "messages", "key")) == ([], {})
    assert await messages(recall, off("vector", "keyword")) == ([], {})


def off(*channels: str) -> Reference:
    return Reference(weights=dict(REFERENCE_WEIGHTS) | dict.fromkeys(channels, 0.0))
