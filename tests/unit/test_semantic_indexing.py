"""Filling the indexes (SPEC S-3, S-16, J-3)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import pytest

from services.kit.errors import DependencyDown
from services.memory.semantic.app.indexing import GONE, UNUSABLE, MemoryItem, MessageItem
from services.memory.semantic.app.item_ports import MemoryDocument
from services.memory.semantic.app.ports import Verdict
from services.memory.semantic.domain.items import MessageScope, message_item_id
from services.memory.semantic.domain.memory import FactType
from services.memory.semantic.domain.vectors import Bucket, ContentClass, Filters
from tests.unit.semantic_parts import AGENT, TENANT, Parts

MESSAGES = Bucket(tenant=TENANT, agent=AGENT, content=ContentClass.MESSAGE)
MEMORIES = Bucket(tenant=TENANT, agent=AGENT, content=ContentClass.MEMORY)
PAST = MEMORIES.of(ContentClass.PAST)


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
    known = await parts.store.known_conversations(None, 10)
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


async def test_texts_that_must_not_leave_are_indexed_by_their_words(parts: Parts) -> None:
    """S-15: the tenant's data flow keeps them from a model of somebody else's; vectors follow once it may."""
    parts.texts.kept_in = True
    parts.episodes.add("c", "a heron")
    assert await parts.index_messages("c", 1) == [""]
    assert await words(parts, "heron") == [message_item_id("c", 1)]
    assert await held(parts, MESSAGES) == set()
    parts.texts.kept_in = False
    assert await parts.index_messages("c", 1) == [""]
    assert await held(parts, MESSAGES) == {message_item_id("c", 1)}


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
    assert await parts.items.known_memories(MEMORIES, [fact.id, task.id]) == {fact.id, task.id}
    assert all(m.indexed for m in (await parts.store.get(TENANT, AGENT, [fact.id, task.id])).values())


async def test_what_is_superseded_goes_to_the_past_and_what_is_forgotten_nowhere(parts: Parts) -> None:
    """S-8."""
    old = await parts.remember("k", "a heron")
    gone = await parts.remember("l", "a stork")
    await parts.index_memories(old, gone)
    assert await held(parts, MEMORIES) == {old.id, gone.id}
    new = await parts.remember("k", "a crane")
    await parts.store.forget(TENANT, AGENT, gone.id)
    assert await parts.index_memories(old, new, gone) == ["", "", ""]
    every = [old.id, new.id, gone.id]
    for bucket, expected in ((MEMORIES, {new.id}), (PAST, {old.id})):
        assert await held(parts, bucket) == await parts.items.known_memories(bucket, every) == expected
    await parts.store.forget(TENANT, AGENT, old.id)
    assert await parts.index_memories(old, new) == ["", ""]
    for bucket in (MEMORIES, PAST):
        assert await held(parts, bucket) == await parts.items.known_memories(bucket, every) == set()


async def test_one_that_ends_is_out_of_the_live_ones_before_it_is_among_the_past(parts: Parts) -> None:
    """S-8: whatever fails between the two, and the job that runs again ends it."""
    old = await parts.remember("k", "a heron")
    await parts.index_memories(old)
    await parts.remember("k", "a crane")
    parts.texts.down = True
    with pytest.raises(DependencyDown):
        await parts.index_memories(old)
    for bucket in (MEMORIES, PAST):
        assert await held(parts, bucket) == await parts.items.known_memories(bucket, [old.id]) == set()
    parts.texts.down = False
    assert await parts.index_memories(old) == [""]
    assert await held(parts, PAST) == await parts.items.known_memories(PAST, [old.id]) == {old.id}


async def test_one_that_is_brought_back_leaves_the_past(parts: Parts) -> None:
    """S-8: with an undone supersession."""
    old, new = await parts.remember("k", "a heron"), await parts.remember("l", "a crane")
    verdict = Verdict(old_id=old.id, new_id=new.id, probability=1.0, judge="test")
    await parts.judgements.supersede(TENANT, AGENT, verdict, parts.now)
    await parts.index_memories(old, new)
    assert await held(parts, PAST) == {old.id}
    await parts.judgements.undo_supersession(TENANT, AGENT, old.id, parts.now)
    await parts.index_memories(old, new)
    for bucket, expected in ((MEMORIES, {old.id, new.id}), (PAST, set())):
        assert (
            await held(parts, bucket)
            == await parts.items.known_memories(bucket, [old.id, new.id])
            == expected
        )


async def test_a_batch_costs_one_embedding_and_one_write_of_each_kind(parts: Parts) -> None:
    """J-3: whatever its memories are."""
    old = [await parts.remember(f"k{n}", f"heron {n}") for n in range(5)]
    new = [await parts.remember(f"k{n}", f"crane {n}") for n in range(5)]
    calls: list[tuple[ContentClass, int]] = []
    put = parts.items.put_memories

    async def noted(bucket: Bucket, documents: Sequence[MemoryDocument]) -> None:
        calls.append((bucket.content, len(documents)))
        await put(bucket, documents)

    parts.items.put_memories = noted  # type: ignore[method-assign]
    assert await parts.index_memories(*old, *new) == [""] * 10
    assert [len(texts) for texts in parts.texts.calls] == [10]
    assert sorted(calls) == [(ContentClass.MEMORY, 5), (ContentClass.PAST, 5)]


async def test_past_tasks_have_words_but_no_vector(parts: Parts) -> None:
    """S-3, S-8."""
    task = await parts.remember("todo", "renew the passport", fact_type=FactType.TASK)
    await parts.index_memories(task)
    parts.now += timedelta(days=8)
    assert await parts.index_memories(task) == [""]
    assert await held(parts, PAST) == set()
    assert await parts.items.known_memories(PAST, [task.id]) == {task.id}
    assert await parts.items.known_memories(MEMORIES, [task.id]) == set()


@pytest.mark.parametrize("change", ["ends by itself", "is superseded", "is brought back"])
async def test_one_that_moves_while_it_is_indexed_ends_where_it_belongs(parts: Parts, change: str) -> None:
    """S-8: also when the job of the change ran in between, and when there is none."""
    memory, new = await parts.remember("k", "a heron"), await parts.remember("l", "a crane")
    verdict = Verdict(old_id=memory.id, new_id=new.id, probability=1.0, judge="test")
    expected = PAST
    if change == "ends by itself":
        memory = await parts.remember("m", "a stork", valid_to=parts.now + timedelta(seconds=1))
    elif change == "is brought back":
        await parts.judgements.supersede(TENANT, AGENT, verdict, parts.now)
        expected = MEMORIES
    put, changed = parts.items.put_memories, False

    async def change_then_put(bucket: Bucket, documents: Sequence[MemoryDocument]) -> None:
        nonlocal changed
        if not changed:
            changed = True
            if change == "ends by itself":
                parts.now += timedelta(seconds=1)
            elif change == "is superseded":
                await parts.judgements.supersede(TENANT, AGENT, verdict, parts.now)
                await parts.indexer.index(TENANT, AGENT, [MemoryItem(memory_id=memory.id)])
            else:
                await parts.judgements.undo_supersession(TENANT, AGENT, memory.id, parts.now)
                await parts.indexer.index(TENANT, AGENT, [MemoryItem(memory_id=memory.id)])
        await put(bucket, documents)

    parts.items.put_memories = change_then_put  # type: ignore[method-assign]
    await parts.index_memories(memory)
    other = MEMORIES if expected is PAST else PAST
    assert (
        await held(parts, expected) == await parts.items.known_memories(expected, [memory.id]) == {memory.id}
    )
    assert await held(parts, other) == await parts.items.known_memories(other, [memory.id]) == set()


async def test_an_end_that_is_recorded_while_it_is_indexed_is_kept(parts: Parts) -> None:
    """S-8: an older state, written last, must not hide what the newer one says."""
    memory = await parts.remember("k", "a heron")
    put, changed = parts.items.put_memories, False

    async def change_then_put(bucket: Bucket, documents: Sequence[MemoryDocument]) -> None:
        nonlocal changed
        if not changed:
            changed = True
            await parts.remember("k", "a crane", valid_from=parts.now + timedelta(days=1))
            await parts.indexer.index(TENANT, AGENT, [MemoryItem(memory_id=memory.id)])
        await put(bucket, documents)

    parts.items.put_memories = change_then_put  # type: ignore[method-assign]
    await parts.index_memories(memory)
    where = (TENANT, AGENT, ["heron"], [""], 5)
    assert await parts.items.search_memories(*where, valid_at=parts.now + timedelta(days=1)) == []
    assert len(await parts.items.search_memories(*where, valid_at=parts.now)) == 1
    then = Filters(valid_at=(parts.now + timedelta(days=1)).timestamp())
    assert (await parts.vectors.count(MEMORIES, then), await parts.vectors.count(MEMORIES)) == (0, 1)


async def test_one_that_is_forgotten_while_it_is_indexed_does_not_stay(parts: Parts) -> None:
    """S-8: its removal may have run before it was put in."""
    kept, memory = await parts.remember("kept", "a stork"), await parts.remember("k", "a heron")
    put = parts.items.put_memories

    async def forget_then_put(bucket: Bucket, documents: Sequence[MemoryDocument]) -> None:
        await parts.store.forget(TENANT, AGENT, memory.id)
        await parts.indexer.index(TENANT, AGENT, [MemoryItem(memory_id=memory.id)])
        await put(bucket, documents)

    parts.items.put_memories = forget_then_put  # type: ignore[method-assign]
    await parts.index_memories(kept, memory)
    assert await held(parts, MEMORIES) == {kept.id}
    assert await parts.items.known_memories(MEMORIES, [kept.id, memory.id]) == {kept.id}


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
