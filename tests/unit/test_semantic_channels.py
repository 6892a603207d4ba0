"""Recall over its channels (SPEC S-5, S-8 to S-12)."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.kit.errors import DependencyDown, InvalidField
from services.memory.semantic.app.indexing import MemoryItem, MessageItem
from services.memory.semantic.app.memories import Memories
from services.memory.semantic.app.recall import MemoryHit, MessageHit
from services.memory.semantic.domain.fusion import Default, Reference, Strategy
from services.memory.semantic.domain.items import MessageScope
from services.memory.semantic.domain.memory import FactType, Kind, Memory, MessageRef, Scope
from tests.unit.semantic_parts import AGENT, AGENT_WIDE, NOW, TENANT, Parts

ALL = {"vector", "keyword", "key", "messages"}


@pytest.fixture
def parts() -> Parts:
    return Parts()


async def recall(
    parts: Parts, query: str, scope: Scope = AGENT_WIDE, tenant: str = TENANT, **fields: Any
) -> tuple[list[MemoryHit], dict[str, str]]:
    chosen = {"limit": 10, "kinds": frozenset(), "strategy": Default(), "fill": False} | fields
    return await parts.recall.memories(tenant, scope, query, **chosen)


async def values(parts: Parts, query: str, scope: Scope = AGENT_WIDE, **fields: Any) -> list[str]:
    hits, failures = await recall(parts, query, scope, **fields)
    assert failures == {}
    return [hit.memory.value for hit in hits]


async def search(
    parts: Parts, query: str, scope: MessageScope | None = None, tenant: str = TENANT, **fields: Any
) -> list[MessageHit]:
    chosen = {
        "limit": 10,
        "semantic": True,
        "keyword": True,
        "strategy": Default(),
        "reference": None,
    } | fields
    hits, failures = await parts.recall.messages(
        tenant, AGENT, query, scope=scope or MessageScope(), **chosen
    )
    assert failures == {}
    return hits


async def written(parts: Parts, *key_values: str, scope: Scope = AGENT_WIDE, **fields: Any) -> list[Memory]:
    made = [await parts.remember(*pair.split("="), scope=scope, **fields) for pair in key_values]
    await parts.index_memories(*made)
    return made


@pytest.mark.parametrize("strategy", [Default(), Reference()])
async def test_every_channel_finds_and_the_parts_add_up_to_the_score(
    parts: Parts, strategy: Strategy
) -> None:
    """S-9, S-11."""
    parts.episodes.add("c", "a lighthouse")
    await parts.index_messages("c", 1)
    source = MessageRef(conversation_id="c", message_id="c-1")
    await written(parts, "plan.summer=paint the tower", provenance=(source,))
    await written(parts, "other=nothing of the sort")
    hits, _ = await recall(parts, "lighthouse tower plan", strategy=strategy)
    hit = hits[0].hit
    assert hit is not None
    assert hits[0].memory.value == "paint the tower"
    assert set(hit.channels) == ALL
    assert hit.confidence_factor == pytest.approx(0.5 + 0.9)
    assert hit.confidence_factor * sum(hit.contributions.values()) == pytest.approx(hit.score)


@pytest.mark.parametrize("end", ["superseded", "forgotten", "expired"])
async def test_what_is_no_longer_live_leaves_every_channel_before_ranking(parts: Parts, end: str) -> None:
    """S-8: although no index was cleaned yet."""
    parts.episodes.add("c", "a heron")
    await parts.index_messages("c", 1)
    source = MessageRef(conversation_id="c", message_id="c-1")
    kind = FactType.TASK if end == "expired" else FactType.FACT
    (old,) = await written(parts, "heron=a heron nests", provenance=(source,), fact_type=kind)
    (kept,) = await written(parts, "k=another heron")
    assert set(await values(parts, "heron")) == {old.value, kept.value}
    if end == "superseded":
        await parts.remember("heron", "it flew away")
    elif end == "forgotten":
        await parts.store.forget(TENANT, AGENT, old.id)
    else:
        parts.now = NOW + timedelta(days=7)
    hits, _ = await recall(parts, "heron", strategy=Reference())
    found = {hit.memory.id: hit.hit for hit in hits}
    assert old.id not in found
    left = found[kept.id]
    assert left is not None
    assert left.channels["keyword"].rank == 1, "no place is kept for what left"


async def test_one_channel_is_enough_and_the_others_are_named(parts: Parts) -> None:
    """S-11."""
    await written(parts, "heron=a heron nests")
    parts.texts.down = True
    hits, failures = await recall(parts, "heron")
    assert [hit.memory.value for hit in hits] == ["a heron nests"]
    assert failures == {"vector": "not available"}
    assert hits[0].hit is not None
    assert set(hits[0].hit.channels) == {"keyword", "key"}


async def test_a_channel_that_takes_too_long_is_named(parts: Parts) -> None:
    """S-11."""
    await written(parts, "heron=a heron nests")

    async def slow(*_: object, **__: object) -> Any:
        await asyncio.sleep(60)

    parts.items.search_memories = slow  # type: ignore[method-assign]
    hits, failures = await recall(parts, "heron")
    assert len(hits) == 1
    assert failures == {"keyword": "timed out"}


async def test_recall_fails_when_every_channel_does(parts: Parts) -> None:
    """S-11."""

    async def down(*_: object, **__: object) -> Any:
        raise DependencyDown

    parts.texts.down = True
    parts.items.search_memories = parts.items.search_messages = down  # type: ignore[method-assign]
    parts.store.candidates_by_key = down  # type: ignore[method-assign]
    with pytest.raises(DependencyDown):
        await recall(parts, "heron")


async def test_messages_are_found_by_words_while_the_embedder_is_down(parts: Parts) -> None:
    """S-11, S-12."""
    parts.episodes.add("c", "a heron")
    await parts.index_messages("c", 1)
    parts.texts.down = True
    hits, failures = await parts.recall.messages(
        TENANT, AGENT, "heron", scope=MessageScope(), limit=5, semantic=True, keyword=True,
        strategy=Default(), reference=None,
    )  # fmt: skip
    assert [hit.message.message_id for hit in hits] == ["c-1"]
    assert failures == {"vector": "not available"}
    with pytest.raises(DependencyDown):
        await search(parts, "heron", keyword=False)


async def test_a_stale_task_is_not_found_by_likeness(parts: Parts) -> None:
    """S-3, S-9."""
    await written(parts, "todo=renew the passport", fact_type=FactType.TASK)
    hits, _ = await recall(parts, "passport")
    assert hits[0].hit is not None
    assert set(hits[0].hit.channels) == {"keyword"}


async def test_kinds_are_found_however_many_of_another_kind_match_better(parts: Parts) -> None:
    """S-9."""
    await written(parts, *(f"heron.{n}=heron heron heron" for n in range(120)))
    await written(parts, "x=we went to see the heron and its nest", fact_type=FactType.EVENT)
    only = frozenset({Kind.EVENT})
    assert await values(parts, "heron", kinds=only) == ["we went to see the heron and its nest"]
    assert await values(parts, "zebra", kinds=only, fill=True) == ["we went to see the heron and its nest"]
    assert len(await values(parts, "heron", limit=100)) == 100


async def test_places_left_are_filled_pinned_first_and_without_tasks(parts: Parts) -> None:
    """S-10."""
    await written(parts, "a=a heron", "b=a stork")
    await written(parts, "c=a crane", pinned=True)
    await written(parts, "d=a gull", fact_type=FactType.TASK)
    parts.texts.down = True  # to likeness, everything is alike a little
    hits, _ = await recall(parts, "heron", fill=True, limit=3)
    assert [hit.memory.value for hit in hits] == ["a heron", "a crane", "a stork"]
    assert [hit.hit is None for hit in hits] == [False, True, True]
    assert len((await recall(parts, "heron", fill=True))[0]) == 3, "a task fills no place"
    assert len((await recall(parts, "heron", fill=True, limit=2))[0]) == 2
    assert len((await recall(parts, "heron"))[0]) == 1


@pytest.mark.parametrize(
    "query", ["?!", "the of and", '"', "NEAR(a b)", "terms : x", "*", "🙂", "\u200b", "x" * 1024, "a OR b"]
)
async def test_nothing_in_a_query_is_syntax(parts: Parts, query: str) -> None:
    """S-18."""
    await written(parts, "k=a heron")
    parts.episodes.add("c", "a heron")
    await parts.index_messages("c", 1)
    _, failures = await recall(parts, query)
    assert failures == {}
    await search(parts, query)


async def test_filters_hold_in_every_mode(parts: Parts) -> None:
    """S-12."""
    ann = {"author": "Ann", "contact_id": "ann", "time": NOW - timedelta(days=2)}
    parts.episodes.add("c", "a heron", **ann)
    parts.episodes.add("d", "a heron", author="Bob", contact_id="bob", role=3)
    parts.episodes.add("e", "a heron")
    for conversation in "cde":
        await parts.index_messages(conversation, 1)
    cases = {
        MessageScope(): {"c-1", "d-1", "e-1"},
        MessageScope(contact_ids=("ann",)): {"c-1"},
        MessageScope(contact_ids=("ann", "bob")): {"c-1", "d-1"},
        MessageScope(conversation_id="e"): {"e-1"},
        MessageScope(conversation_id="e", contact_ids=("ann",)): set(),
        MessageScope(authors=frozenset({"Ann", "Nobody"})): {"c-1"},
        MessageScope(roles=frozenset({3})): {"d-1"},
        MessageScope(end=NOW): {"c-1"},
        MessageScope(start=NOW): {"d-1", "e-1"},
    }
    for scope, expected in cases.items():
        for mode in ({"keyword": False}, {"semantic": False}, {}):
            found = await search(parts, "heron", scope, **mode)
            assert {hit.message.message_id for hit in found} == expected, (scope, mode)
    assert await search(parts, "heron", tenant="other") == []


async def test_an_update_names_its_memory() -> None:
    """X-1."""
    parts = Parts()
    memories = Memories(store=parts.store, wake=lambda: None, clock=lambda: parts.now)
    with pytest.raises(InvalidField, match=r"memory\.id"):
        await memories.update(TENANT, AGENT, "", pinned=True, paths=["pinned"])
    memory = await parts.remember("k", "v")
    assert (await memories.update(TENANT, AGENT, memory.id, pinned=True, paths=["pinned"])).pinned


PEOPLE = ("", "ann", "bob", "cem")
writes = st.lists(
    st.tuples(
        st.sampled_from(("acme", "other")),
        st.sampled_from(PEOPLE),
        st.sampled_from(("bird.heron", "bird.stork")),
        st.sampled_from(("a heron nests", "a stork nests", "nests")),
    ),
    max_size=8,
)
seen = st.sets(st.sampled_from(PEOPLE[1:]), max_size=2).map(lambda s: tuple(sorted(s)))


@settings(max_examples=60, deadline=None)
@given(writes, seen, st.booleans())
async def test_no_channel_leaves_the_scope(
    written: list[tuple[str, str, str, str]], contacts: tuple[str, ...], fill: bool
) -> None:
    """S-5: the contact's buckets and the agent-wide one of the tenant, all of them and no other."""
    parts = Parts()
    expected: dict[tuple[str, str, str], str] = {}
    for number, (tenant, person, key, value) in enumerate(written):
        conversation = f"c{number}"
        parts.episodes.add(conversation, "a bird nests", contact_id=person)
        scope = Scope(agent_id=AGENT, contact_ids=(person,) if person else ())
        source = MessageRef(conversation_id=conversation, message_id=f"{conversation}-1")
        memory = await parts.remember(key, value, scope, tenant=tenant, provenance=(source,))
        await parts.indexer.index(tenant, AGENT, _items(conversation, memory))
        expected[tenant, person, key] = memory.id
    visible = {
        id_ for (tenant, person, _), id_ in expected.items()
        if tenant == TENANT and person in (*contacts, "")
    }  # fmt: skip
    hits, _ = await recall(parts, "bird nests", Scope(agent_id=AGENT, contact_ids=contacts), fill=fill)
    assert {hit.memory.id for hit in hits} == visible
    assert (await recall(parts, "bird nests", Scope(agent_id="another"), fill=fill))[0] == []


def _items(conversation: str, memory: Memory) -> list[Any]:
    return [MessageItem(conversation_id=conversation, sequence=1), MemoryItem(memory_id=memory.id)]
