"""Filling the indexes (SPEC S-3, S-16, J-3)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from services.kit.errors import DependencyDown
from services.memory.semantic.app.indexing import GONE, UNUSABLE, MemoryItem, MessageItem
from services.memory.semantic.domain.items import MessageScope, message_item_id
from services.memory.semantic.domain.memory import FactType
from services.memory.semantic.domain.vectors import Bucket, ContentClass
from tests.unit.semantic_parts import AGENT, TENANT, Parts

MESSAGES = Bucket(tenant=TENANT, agent=AGENT, content=ContentClass.MESSAGE)
MEMORIES = Bucket(tenant=TENANT, agent=AGENT, content=ContentClass.MEMORY)


@pytest.fixture
def parts() -> Parts:
    return Parts()


async def words(parts: Parts, *terms: str) -> list[str]:
    hits = await parts.items.search_messages(TENANT, AGENT, terms, MessageScope(), 50)
    return [item_id for item_id, _ in hits]


async def held(parts: Parts, bucket: Bucket) -> set[str]:
    return set((await parts.vectors.ids(bucket, limit=100)).item_ids)


async def test_messages_of_many_conversations_are_embedded_in_one_call(parts: Parts) -> None:
    """J-3: a batch costs one embedding, however its messages are spread."""
    for n in range(10):
        parts.episodes.add(f"c{n}", "a heron", "a stork")
    items = [MessageItem(conversation_id=f"c{n}", sequence=s) for n in range(10) for s in (1, 2)]
    assert await parts.indexer.index(TENANT, AGENT, items) == [""] * 20
    assert [len(call) for call in parts.texts.calls] == [20]
    assert sorted(parts.episodes.asked) == [(f"c{n}", (1, 2)) for n in range(10)]
    assert len(await held(parts, MESSAGES)) == 20
    progress = await parts.items.progress(TENANT, AGENT, [f"c{n}" for n in range(10)])
    assert {(p.count, p.sequence) for p in progress.values()} == {(2, 2)}
    known = await parts.store.known_conversations()
    assert {(k.conversation_id, k.highest) for k in known} == {(f"c{n}", 2) for n in range(10)}


async def test_indexing_an_item_again_changes_nothing(parts: Parts) -> None:
    parts.episodes.add("c", "a heron")
    twice = [MessageItem(conversation_id="c", sequence=1)] * 2
    assert await parts.indexer.index(TENANT, AGENT, twice) == ["", ""]
    assert await parts.index_messages("c", 1) == [""]
    assert await held(parts, MESSAGES) == {message_item_id("c", 1)}
    assert await words(parts, "heron") == [message_item_id("c", 1)]
    assert (await parts.items.progress(TENANT, AGENT, ["c"]))["c"].count == 1


async def test_what_does_not_exist_fails_alone(parts: Parts) -> None:
    """J-3."""
    parts.episodes.add("c", "a heron")
    batch = [
        MessageItem(conversation_id="nowhere", sequence=1),
        MessageItem(conversation_id="c", sequence=1),
        MessageItem(conversation_id="c", sequence=2),
    ]
    assert await parts.indexer.index(TENANT, AGENT, batch) == [GONE, "", GONE]
    assert await words(parts, "heron") == [message_item_id("c", 1)]


async def test_a_text_that_the_embedder_refuses_fails_alone(parts: Parts) -> None:
    """J-3."""
    parts.texts.refused = "poison"
    parts.episodes.add("c", *("poison" if n == 5 else f"heron {n}" for n in range(1, 9)))
    errors = await parts.index_messages("c", *range(1, 9))
    assert [sequence for sequence, error in enumerate(errors, start=1) if error == UNUSABLE] == [5]
    assert errors.count("") == 7
    assert await words(parts, "poison") == []
    assert len(await words(parts, "heron")) == 7
    progress = (await parts.items.progress(TENANT, AGENT, ["c"]))["c"]
    assert (progress.count, progress.sequence) == (7, 4)


async def test_nothing_is_registered_while_the_embedder_is_down(parts: Parts) -> None:
    parts.episodes.add("c", "a heron")
    parts.texts.down = True
    with pytest.raises(DependencyDown):
        await parts.index_messages("c", 1)
    assert await words(parts, "heron") == []
    parts.texts.down = False
    assert await parts.index_messages("c", 1) == [""]
    assert await words(parts, "heron") == [message_item_id("c", 1)]


async def test_an_empty_message_counts_as_indexed(parts: Parts) -> None:
    parts.episodes.add("c", "", " ")
    assert await parts.index_messages("c", 1, 2) == ["", ""]
    assert parts.texts.calls == []
    assert (await parts.items.progress(TENANT, AGENT, ["c"]))["c"].sequence == 2


async def test_names_stay_out_of_what_is_embedded_and_tools_stand_in_for_silence(parts: Parts) -> None:
    parts.episodes.add("c", "Marta, I saw a heron", author="Marta", tool_text="a tool's zebra")
    parts.episodes.add("d", "", tool_text="a tool's zebra")
    await parts.index_messages("c", 1)
    await parts.index_messages("d", 1)
    (first,), (second,) = parts.texts.calls
    assert "heron" in first
    assert "Marta" not in first
    assert second == "a tool's zebra"
    assert set(await words(parts, "zebra")) == {message_item_id("c", 1), message_item_id("d", 1)}
    assert await words(parts, "marta") == [message_item_id("c", 1)]


async def test_tasks_have_words_but_no_vector(parts: Parts) -> None:
    """S-3."""
    fact = await parts.remember("a", "renew the passport")
    task = await parts.remember("b", "renew the passport", fact_type=FactType.TASK)
    assert await parts.index_memories(fact, task) == ["", ""]
    assert await held(parts, MEMORIES) == {fact.id}
    assert await parts.items.known_memories(TENANT, AGENT, [fact.id, task.id]) == {fact.id, task.id}
    assert all(m.indexed for m in (await parts.store.get(TENANT, AGENT, [fact.id, task.id])).values())


async def test_superseded_forgotten_and_unknown_memories_are_taken_out(parts: Parts) -> None:
    """S-8."""
    old = await parts.remember("k", "a heron")
    gone = await parts.remember("l", "a stork")
    await parts.index_memories(old, gone)
    assert await held(parts, MEMORIES) == {old.id, gone.id}
    new = await parts.remember("k", "a crane")
    await parts.store.forget(TENANT, AGENT, gone.id)
    assert await parts.index_memories(old, new, gone) == ["", "", ""]
    assert await held(parts, MEMORIES) == {new.id}
    assert await parts.items.known_memories(TENANT, AGENT, [old.id, new.id, gone.id]) == {new.id}


async def test_one_that_is_forgotten_while_it_is_indexed_does_not_stay(parts: Parts) -> None:
    """S-8: its removal may have run before it was put in."""
    kept, memory = await parts.remember("kept", "a stork"), await parts.remember("k", "a heron")
    put = parts.items.put_memories

    async def forget_then_put(tenant: str, agent_id: str, documents: Sequence[object]) -> None:
        await parts.store.forget(TENANT, AGENT, memory.id)
        await parts.indexer.index(TENANT, AGENT, [MemoryItem(memory_id=memory.id)])
        await put(tenant, agent_id, documents)  # type: ignore[arg-type]

    parts.items.put_memories = forget_then_put  # type: ignore[method-assign]
    await parts.index_memories(kept, memory)
    assert await held(parts, MEMORIES) == {kept.id}
    assert await parts.items.known_memories(TENANT, AGENT, [kept.id, memory.id]) == {kept.id}


async def test_the_lag_of_what_was_indexed_is_observed(parts: Parts) -> None:
    """S-16."""
    parts.episodes.add("c", "a heron")
    parts.texts.refused = "poison"
    memory, refused = await parts.remember("k", "v"), await parts.remember("l", "poison")
    await parts.index_messages("c", 1, 2)
    await parts.index_memories(memory, refused)
    assert parts.lags == [3.0, 0.0]


async def test_those_who_wait_for_a_change_are_told(parts: Parts) -> None:
    """S-16."""
    parts.episodes.add("c", "a heron")
    waiting = asyncio.ensure_future(parts.indexer.changed())
    await asyncio.sleep(0)
    assert not waiting.done()
    await parts.index_messages("c", 1)
    await asyncio.wait_for(waiting, 1)
