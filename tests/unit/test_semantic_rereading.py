"""Conversation recall looks twice at its best hits, if it can (SPEC S-9, S-11, S-12)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from services.kit.errors import DependencyDown
from services.memory.semantic.app.recall import MessageHit
from services.memory.semantic.domain.fusion import Default, Reference, Rereading, Strategy
from services.memory.semantic.domain.items import MessageScope
from tests.unit.semantic_parts import AGENT, TENANT, Parts

ASSISTANT = 3
FILLER = "barley wheat oats rye millet sorghum maize"


async def search(
    parts: Parts, query: str, strategy: Strategy | None = None, limit: int = 10
) -> tuple[list[MessageHit], dict[str, str]]:
    return await parts.recall.messages(
        TENANT, AGENT, query, scope=MessageScope(), limit=limit, semantic=True, keyword=True,
        strategy=strategy or Default(), reference=None,
    )  # fmt: skip


@pytest.fixture
async def parts() -> Parts:
    """The harbour is spoken of in the first message, the ferry in the second and the fourth."""
    parts = Parts()
    said = ("harbour", "ferry", "sheep", "ferry", "cows", "lambs", "ferry", "goats")
    texts = [f"{word} {FILLER} {number}" for number, word in enumerate(said)]
    parts.episodes.add("c", *texts, author="Ann", session="s")
    await parts.index_messages("c", *range(1, len(texts) + 1))
    return parts


async def test_the_signals_of_the_look_are_explained(parts: Parts) -> None:
    """S-11."""
    hits, failures = await search(parts, "Which ferry leaves the harbour?")
    assert failures == {}
    by_number = {hit.message.sequence: hit.hit for hit in hits}
    assert "context" in by_number[1].contributions
    assert "context" in by_number[2].contributions
    assert "context" not in by_number[7].contributions
    for hit in by_number.values():
        assert hit.score == pytest.approx(sum(hit.contributions.values()))


@pytest.mark.parametrize("fault", ["down", "slow"])
async def test_recall_goes_without_the_look_when_the_words_cannot_be_had(parts: Parts, fault: str) -> None:
    """S-11: an order without the look is better than none."""

    async def broken(*_: object, **__: object) -> Any:
        if fault == "down":
            raise DependencyDown
        await asyncio.sleep(60)

    looked, _ = await search(parts, "Which ferry leaves the harbour?")
    parts.items.message_terms = broken  # type: ignore[method-assign]
    hits, failures = await search(parts, "Which ferry leaves the harbour?")
    assert failures == {}
    assert {hit.message.sequence for hit in hits} == {hit.message.sequence for hit in looked}
    assert not any("context" in hit.hit.contributions for hit in hits)


async def test_the_reference_looks_once_and_at_the_whole_wording(parts: Parts) -> None:
    """S-9: it stays what it is."""
    asked: list[object] = []

    async def noted(*arguments: object, **__: object) -> Any:
        asked.append(arguments)
        return {}

    parts.items.message_terms = noted  # type: ignore[method-assign]
    query = "Can you tell me about the ferry, in our conversations so far?"
    await search(parts, query, Reference())
    assert parts.texts.calls[-1] == [query]
    assert asked == []
    await search(parts, query)
    assert parts.texts.calls[-1] == ["the ferry?"]
    assert len(asked) == 1


async def test_the_look_reaches_beyond_the_limit(parts: Parts) -> None:
    """S-9: what is looked at may take the place of what would have been returned."""
    beyond, _ = await search(parts, "Which ferry leaves the harbour?", limit=1)
    everything, _ = await search(parts, "Which ferry leaves the harbour?")
    assert len(beyond) == 1
    assert beyond[0] == everything[0]
    never = replace(Default(), reread=Rereading(depth=0))
    assert all("context" not in hit.hit.contributions for hit in (await search(parts, "ferry", never))[0])


async def test_a_standing_wish_comes_up_where_help_is_asked_for() -> None:
    parts = Parts()
    parts.episodes.add("u", f"bread {FILLER} rice", f"always weigh the flour {FILLER}")
    parts.episodes.add("a", f"bread {FILLER} peas", role=ASSISTANT)
    await parts.index_messages("u", 1, 2)
    await parts.index_messages("a", 1)
    found, _ = await search(parts, "How should I bake bread with flour?")
    assert found[0].message.message_id == "u-2"
    told, _ = await search(parts, "Did I bake bread with flour?")
    assert not any("standing" in hit.hit.contributions for hit in told)
