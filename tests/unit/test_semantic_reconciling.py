"""What is lost from the indexes is found and enqueued (SPEC SV-2)."""

from __future__ import annotations

import asyncio

import pytest

from services.kit.errors import DependencyDown
from services.memory.semantic.adapters.memory_items import MemoryItemIndex
from services.memory.semantic.adapters.vectors_memory import MemoryVectorIndex
from services.memory.semantic.app.reconciling import Reconciler
from services.memory.semantic.domain.memory import FactType
from services.memory.semantic.domain.vectors import Bucket, ContentClass
from tests.unit.semantic_parts import AGENT, NOW, TENANT, Parts

MEMORIES = Bucket(tenant=TENANT, agent=AGENT, content=ContentClass.MEMORY)


@pytest.fixture
async def parts() -> Parts:
    """Two conversations and three memories, indexed; one memory is superseded."""
    made = Parts()
    made.episodes.add("c", "a heron", "a stork", "a crane")
    made.episodes.add("d", "a gull")
    await made.index_messages("c", 1, 2, 3)
    await made.index_messages("d", 1)
    old = await made.remember("bird", "a heron")
    await made.index_memories(old)
    written = [await made.remember("bird", "a stork"), await made.remember("fish", "a pike")]
    await made.index_memories(old, *written)
    await made.items.set_whole(True)
    made.vectors.opened_clean = True
    made.outbox.clear()
    return made


async def reconcile(parts: Parts) -> tuple[list[str], int]:
    """Keys of new jobs without the suffix that makes them new, and how often the relay was woken."""
    woken: list[None] = []
    await Reconciler(
        store=parts.store,
        items=parts.items,
        vectors=parts.vectors,
        wake=lambda: woken.append(None),
        clock=lambda: parts.now,
    ).run()
    found = list(parts.outbox)
    parts.outbox.clear()
    assert len({key.rpartition(":")[2] for key in found}) <= 1
    return sorted(key.rpartition(":")[0] for key in found), len(woken)


def messages(conversation: str, *sequences: int) -> list[str]:
    return [f"index_message/{AGENT}/{conversation}/{n}" for n in sequences]


async def live(parts: Parts) -> list[str]:
    return sorted(f"index_memory/{AGENT}/{m.memory_id}/1" for m in await parts.store.live_ids(0, 100, NOW))


async def test_nothing_is_done_when_nothing_is_missing(parts: Parts) -> None:
    assert await reconcile(parts) == ([], 0)


async def test_a_lost_item_index_is_built_again_whole(parts: Parts) -> None:
    parts.items = MemoryItemIndex()
    found, woken = await reconcile(parts)
    assert found == sorted([*await live(parts), *messages("c", 1, 2, 3), *messages("d", 1)])
    assert woken == 1
    assert await parts.items.whole()


async def test_lost_vectors_are_made_again(parts: Parts) -> None:
    parts.vectors = MemoryVectorIndex(parts.vectors.model)
    found, _ = await reconcile(parts)
    assert found == sorted([*await live(parts), *messages("c", 1, 2, 3), *messages("d", 1)])


async def test_a_lost_tail_is_found_after_an_unclean_end(parts: Parts) -> None:
    """A power cut may take the last writes of both derived stores, which sync less than the truth."""
    lost = (await parts.store.live_ids(0, 100, NOW))[-1]
    await parts.items.remove_memories(TENANT, AGENT, [lost.memory_id])
    await parts.vectors.delete(MEMORIES, [lost.memory_id])
    parts.vectors.opened_clean = False
    assert (await reconcile(parts))[0] == [f"index_memory/{AGENT}/{lost.memory_id}/1"]


async def test_one_lost_vector_is_one_job(parts: Parts) -> None:
    bucket = Bucket(tenant=TENANT, agent=AGENT, content=ContentClass.MESSAGE)
    (some, *_) = (await parts.vectors.ids(bucket, limit=10)).item_ids
    await parts.vectors.delete(bucket, [some])
    parts.vectors.opened_clean = False
    assert (await reconcile(parts))[0] == messages("c", 1)


async def test_memories_that_are_gone_are_taken_out(parts: Parts) -> None:
    """Should the removal of a forgotten memory have been lost with its job."""
    (gone, kept) = [m.memory_id for m in await parts.store.live_ids(0, 100, NOW)]
    await parts.store.forget(TENANT, AGENT, gone)
    parts.outbox.clear()
    parts.vectors.opened_clean = False
    assert await reconcile(parts) == ([], 0)
    assert (await parts.vectors.ids(MEMORIES, limit=10)).item_ids == (kept,)
    assert await parts.items.known_memories(TENANT, AGENT, [gone, kept]) == {kept}


async def test_tasks_which_never_had_a_vector_are_merely_indexed_again(parts: Parts) -> None:
    """S-3: and only after an unclean end."""
    task = await parts.remember("todo", "feed the pike", fact_type=FactType.TASK)
    await parts.index_memories(task)
    parts.outbox.clear()
    parts.vectors.opened_clean = False
    assert (await reconcile(parts))[0] == [f"index_memory/{AGENT}/{task.id}/1"]
    parts.vectors.opened_clean = True
    assert await reconcile(parts) == ([], 0)


async def test_half_a_reconciliation_begins_again(parts: Parts) -> None:
    """A clean stop half-way must not make the next start believe that all is there."""
    parts.vectors = MemoryVectorIndex(parts.vectors.model)
    stuck = asyncio.Event()

    async def never(*_: object) -> None:
        await stuck.wait()

    enqueue, parts.store.enqueue_memories = parts.store.enqueue_memories, never  # type: ignore[method-assign]
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(reconcile(parts), 0.05)
    parts.store.enqueue_memories = enqueue  # type: ignore[method-assign]
    parts.outbox.clear()
    parts.vectors.opened_clean = True
    assert set(await live(parts)) <= set((await reconcile(parts))[0])


async def test_a_store_that_is_down_is_tried_again(parts: Parts) -> None:
    parts.items = MemoryItemIndex()
    known, failures = parts.store.known_conversations, [DependencyDown(), None]

    async def flaky() -> object:
        failure = failures.pop(0)
        if failure:
            raise failure
        return await known()

    parts.store.known_conversations = flaky  # type: ignore[method-assign, assignment]
    found, woken = await reconcile(parts)
    assert len(found) == 6
    assert woken == 1
