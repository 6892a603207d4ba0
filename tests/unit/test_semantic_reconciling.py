"""What is lost from the indexes is found and enqueued (SPEC SV-2)."""

from __future__ import annotations

import asyncio
from datetime import datetime

import pytest

from services.kit.errors import DependencyDown
from services.memory.semantic.adapters.memory_items import MemoryItemIndex
from services.memory.semantic.adapters.vectors_memory import MemoryVectorIndex
from services.memory.semantic.app import reconciling
from services.memory.semantic.app.generations import Generation, Generations
from services.memory.semantic.app.indexing import MemoryItem
from services.memory.semantic.app.item_ports import MemoryDocument
from services.memory.semantic.app.ports import KeptMemory, KnownConversation
from services.memory.semantic.app.reconciling import Reconciler, Turns
from services.memory.semantic.app.strangers import Strangers
from services.memory.semantic.domain.memory import FactType
from services.memory.semantic.domain.vectors import Bucket, ContentClass, VectorPoint
from tests.unit.semantic_parts import AGENT, NOW, TENANT, Parts, vector

MEMORIES = Bucket(tenant=TENANT, agent=AGENT, content=ContentClass.MEMORY)


@pytest.fixture
async def parts() -> Parts:
    """Two conversations and three memories, indexed, the first of them among what is past."""
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


class AlwaysOurs:
    """The only replica."""

    async def take(self, lease: str) -> bool:
        return True

    async def give(self, lease: str) -> None:
        pass


def reconciler(
    parts: Parts, woken: list[None], turns: Turns | None = None, lease_seconds: float = 30.0
) -> Reconciler:
    """Over the indexes as they are now."""
    generations = Generations(Generation(vectors=parts.vectors, texts=parts.texts))

    def clock() -> datetime:
        return parts.now

    return Reconciler(
        store=parts.store,
        items=parts.items,
        generations=generations,
        strangers=Strangers(store=parts.store, items=parts.items, generations=generations, clock=clock),
        turns=turns or AlwaysOurs(),
        wake=lambda: woken.append(None),
        clock=clock,
        lease_seconds=lease_seconds,
    )


async def reconcile(parts: Parts) -> tuple[list[str], int]:
    """Keys of new jobs without the suffix that makes them new, and how often the relay was woken."""
    woken: list[None] = []
    await reconciler(parts, woken).once()
    found = list(parts.outbox)
    parts.outbox.clear()
    assert len({key.rpartition(":")[2] for key in found}) <= 1
    return sorted(key.rpartition(":")[0] for key in found), len(woken)


def messages(conversation: str, *sequences: int) -> list[str]:
    return [f"index_message/{AGENT}/{conversation}/{n}" for n in sequences]


async def kept(parts: Parts) -> list[str]:
    """Keys of the jobs for every memory that exists."""
    ids = [m.memory_id for m in await parts.store.kept(0, 100, NOW)]
    found = (await parts.store.get(TENANT, AGENT, ids)).values()
    return sorted(f"index_memory/{AGENT}/{memory.id}/{memory.revision}" for memory in found)


async def where(parts: Parts, content: ContentClass) -> tuple[set[str], set[str]]:
    """The memories that the vectors and the registry have in a class."""
    bucket = MEMORIES.of(content)
    held = (await parts.vectors.ids(bucket, limit=100)).item_ids
    registered = await parts.items.item_ids(TENANT, AGENT, content.value, "", 100)
    return set(held), set(registered)


async def test_nothing_is_done_when_nothing_is_missing(parts: Parts) -> None:
    assert await reconcile(parts) == ([], 0)


async def test_a_lost_item_index_is_built_again_whole(parts: Parts) -> None:
    parts.items = MemoryItemIndex()
    found, woken = await reconcile(parts)
    assert found == sorted([*await kept(parts), *messages("c", 1, 2, 3), *messages("d", 1)])
    assert woken == 1
    assert await parts.items.whole()


async def test_lost_vectors_are_made_again(parts: Parts) -> None:
    parts.vectors = MemoryVectorIndex(parts.vectors.model)
    found, _ = await reconcile(parts)
    assert found == sorted([*await kept(parts), *messages("c", 1, 2, 3), *messages("d", 1)])


async def test_a_lost_tail_is_found_after_an_unclean_end(parts: Parts) -> None:
    """A power cut may take the last writes of both derived stores, which sync less than the truth."""
    lost = (await parts.store.kept(0, 100, NOW))[-1]
    await parts.items.remove_memories(MEMORIES, [lost.memory_id])
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
    old, new, other = [m.memory_id for m in await parts.store.kept(0, 100, NOW)]
    assert await where(parts, ContentClass.PAST) == ({old}, {old})
    assert await where(parts, ContentClass.MEMORY) == ({new, other}, {new, other})
    assert set(await parts.store.forget(TENANT, AGENT, old)) == {old, new}
    parts.outbox.clear()
    parts.vectors.opened_clean = False
    assert await reconcile(parts) == ([], 0)
    assert await where(parts, ContentClass.PAST) == (set(), set())
    assert await where(parts, ContentClass.MEMORY) == ({other}, {other})


async def test_memories_that_are_past_are_found_again(parts: Parts) -> None:
    """S-8: what a crash between taking out and putting in left nowhere."""
    old = (await parts.store.kept(0, 100, NOW))[0].memory_id
    past = MEMORIES.of(ContentClass.PAST)
    await parts.vectors.delete(past, [old])
    await parts.items.remove_memories(past, [old])
    parts.vectors.opened_clean = False
    assert await reconcile(parts) == ([f"index_memory/{AGENT}/{old}/2"], 1)
    await parts.indexer.index(TENANT, AGENT, [MemoryItem(memory_id=old)])
    assert await where(parts, ContentClass.PAST) == ({old}, {old})
    parts.vectors.opened_clean = False
    assert await reconcile(parts) == ([], 0)


@pytest.mark.parametrize("also_there", [False, True])
async def test_what_is_in_the_wrong_class_is_mended(parts: Parts, also_there: bool) -> None:
    """S-8: what ended leaves the live ones at once, and what was brought back the past ones."""
    old, new, other = [m.memory_id for m in await parts.store.kept(0, 100, NOW)]
    past = MEMORIES.of(ContentClass.PAST)
    stray = await parts.remember("lake", "a tench")
    for memory_id, wrong, right in ((old, MEMORIES, past), (stray.id, past, MEMORIES)):
        document = MemoryDocument(memory_id=memory_id, contact_id="", terms="x", begins=NOW)
        await parts.vectors.upsert([VectorPoint(bucket=wrong, item_id=memory_id, vector=vector("x"))])
        await parts.items.put_memories(wrong, [document])
        await parts.vectors.delete(right, [memory_id])
        await parts.items.remove_memories(right, [memory_id])
        if also_there:
            await parts.index_memories(*(await parts.store.get(TENANT, AGENT, [memory_id])).values())
            await parts.vectors.upsert([VectorPoint(bucket=wrong, item_id=memory_id, vector=vector("x"))])
            await parts.items.put_memories(wrong, [document])
    parts.outbox.clear()
    parts.vectors.opened_clean = False
    expected = (
        [] if also_there else [f"index_memory/{AGENT}/{id_}/{n}" for id_, n in ((old, 2), (stray.id, 1))]
    )
    assert (await reconcile(parts))[0] == sorted(expected)
    assert await where(parts, ContentClass.MEMORY) == (
        ({new, other, stray.id},) * 2 if also_there else ({new, other},) * 2
    )
    await parts.indexer.index(TENANT, AGENT, [MemoryItem(memory_id=id_) for id_ in (old, stray.id)])
    assert await where(parts, ContentClass.PAST) == ({old}, {old})
    assert await where(parts, ContentClass.MEMORY) == ({new, other, stray.id},) * 2


async def test_it_is_not_whole_before_the_first_job_is_written(parts: Parts) -> None:
    """SV-2: an end between finding messages and looking at memories must not look like an end in order."""
    parts.vectors.opened_clean = False
    seen: list[bool] = []
    known = parts.store.known_conversations

    async def noted(after: KnownConversation | None, limit: int) -> list[KnownConversation]:
        seen.append(await parts.items.whole())
        return await known(after, limit)

    parts.store.known_conversations = noted  # type: ignore[method-assign]
    await reconcile(parts)
    assert (seen, await parts.items.whole()) == ([False, False], True)


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
    assert set(await kept(parts)) <= set((await reconcile(parts))[0])


async def test_a_store_that_is_down_is_tried_again(parts: Parts) -> None:
    parts.items = MemoryItemIndex()
    known, failures = parts.store.known_conversations, [DependencyDown(), None]

    async def flaky(after: KnownConversation | None, limit: int) -> object:
        failure = failures.pop(0) if failures else None
        if failure:
            raise failure
        return await known(after, limit)

    parts.store.known_conversations = flaky  # type: ignore[method-assign, assignment]
    found, woken = await reconcile(parts)
    assert len(found) == 7
    assert woken == 1


class Taken(AlwaysOurs):
    """Another replica is about it."""

    async def take(self, lease: str) -> bool:
        return False


async def until_restored(parts: Parts, turns: Turns | None = None, seconds: float = 10) -> list[None]:
    """Runs a reconciler until the vectors are no longer lost; how often the relay was woken."""
    woken: list[None] = []
    run = asyncio.ensure_future(reconciler(parts, woken, turns).run())
    try:
        async with asyncio.timeout(seconds):
            while parts.vectors.lost or not (woken and await parts.items.whole()):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
    finally:
        run.cancel()
    return woken


async def test_vectors_that_are_lost_while_the_service_runs_are_made_again(parts: Parts) -> None:
    """SV-2: once, and by one replica."""
    parts.vectors = MemoryVectorIndex(parts.vectors.model)
    parts.vectors.opened_clean = True
    parts.vectors.lost = True
    with pytest.raises(TimeoutError):
        await until_restored(parts, Taken(), 1.5)
    assert list(parts.outbox) == []
    assert len(await until_restored(parts)) == 1
    assert len(list(parts.outbox)) == len(await kept(parts)) + 4


async def test_nothing_is_held_whole_however_much_there_is(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SV-2: in pages, of conversations as of items; and what is lost on any of them is found."""
    monkeypatch.setattr(reconciling, "PAGE", 2)
    for number in range(5):
        parts.episodes.add(f"e{number}", "a coot")
        await parts.index_messages(f"e{number}", 1)
    parts.vectors = MemoryVectorIndex(parts.vectors.model)
    asked: list[int] = []
    known = parts.store.known_conversations

    async def counted(after: KnownConversation | None, limit: int) -> list[KnownConversation]:
        page = await known(after, limit)
        asked.append(len(page))
        return page

    parts.store.known_conversations = counted  # type: ignore[method-assign]
    parts.outbox.clear()
    found, _ = await reconcile(parts)
    assert asked == [2, 2, 2, 1, 0]
    new = [key for number in range(5) for key in messages(f"e{number}", 1)]
    assert found == sorted([*await kept(parts), *messages("c", 1, 2, 3), *messages("d", 1), *new])


class Renewed(AlwaysOurs):
    """A lease that is ours so many times, then another's."""

    def __init__(self, times: int) -> None:
        self.left = times
        self.given = 0

    async def take(self, lease: str) -> bool:
        self.left -= 1
        return self.left >= 0

    async def give(self, lease: str) -> None:
        self.given += 1


@pytest.mark.parametrize(("times", "whole"), [(1000, True), (3, False)])
async def test_the_lease_is_renewed_while_an_index_is_made_again(
    parts: Parts, times: int, whole: bool
) -> None:
    """SV-2: and who lost it leaves the work to whoever has it."""
    parts.vectors = MemoryVectorIndex(parts.vectors.model)
    parts.vectors.opened_clean = True
    parts.vectors.lost = True
    turns, kept_of = Renewed(times), parts.store.kept

    async def slowly(after: int, limit: int, now: datetime) -> list[KeptMemory]:
        while turns.left > times - 3:  # noqa: ASYNC110 - until the lease was renewed twice
            await asyncio.sleep(0.001)
        await asyncio.sleep(0.05)
        return await kept_of(after, limit, now)

    parts.store.kept = slowly  # type: ignore[method-assign]
    run = asyncio.ensure_future(reconciler(parts, [], turns, lease_seconds=0.03).run())
    try:
        async with asyncio.timeout(10):
            while not (turns.given or turns.left < 0):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)  # what goes on after its lease was lost would have ended by then
    finally:
        run.cancel()
    assert (await parts.items.whole(), bool(turns.given)) == (whole, whole)


async def test_what_another_replica_made_again_is_not_enqueued_twice(parts: Parts) -> None:
    class Already(MemoryVectorIndex):
        async def restore(self) -> bool:
            self.lost = False
            return False

    parts.vectors = Already(parts.vectors.model)
    parts.vectors.opened_clean = True
    parts.vectors.lost = True
    with pytest.raises(TimeoutError):
        await until_restored(parts, seconds=1.5)
    assert not parts.vectors.lost
    assert await parts.items.whole()
    assert list(parts.outbox) == []
