"""No call of a store or an index is for nobody: each names a tenant and an agent (SPEC S-3, S-5, X-1)."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import MISSING, fields
from typing import Any, Protocol, get_type_hints

import pytest

from services.memory.semantic.adapters.memory_items import MemoryItemIndex
from services.memory.semantic.adapters.sql.items import SqlRegistry
from services.memory.semantic.adapters.sql.judgements import SqlJudgements
from services.memory.semantic.adapters.sql.memories import SqlMemories
from services.memory.semantic.adapters.sqlite_index import SqliteItemIndex
from services.memory.semantic.adapters.vectors_edge import EdgeVectorIndex
from services.memory.semantic.adapters.vectors_memory import MemoryVectorIndex
from services.memory.semantic.adapters.vectors_qdrant import QdrantVectors
from services.memory.semantic.adapters.words_fts import FtsWords
from services.memory.semantic.adapters.words_meili import MeiliWords
from services.memory.semantic.app.item_ports import ItemIndex, Registered, Registry, Words
from services.memory.semantic.app.items import SplitItems
from services.memory.semantic.app.ports import (
    ContradictionQuery,
    JudgementStore,
    KnownConversation,
    MemoryQuery,
    MemoryStore,
)
from services.memory.semantic.app.vectors import VectorIndex
from services.memory.semantic.domain.memory import NewMemory, Scope
from services.memory.semantic.domain.vectors import Bucket, ContentClass, VectorPoint

PLACES: dict[type, list[type]] = {
    VectorIndex: [EdgeVectorIndex, QdrantVectors, MemoryVectorIndex],
    Words: [FtsWords, MeiliWords],
    Registered: [],
    Registry: [SqlRegistry],
    ItemIndex: [SplitItems, SqliteItemIndex, MemoryItemIndex],
    MemoryStore: [SqlMemories],
    JudgementStore: [SqlJudgements],
}
"""Ports, and what stands behind them."""

OF_THE_WHOLE = {
    "close": "ends it",
    "flush": "syncs the engine",
    "restore": "makes lost indexes again, empty",
    "adopt": "ties the registry to a word engine",
    "whole": "a flag of the whole index",
    "set_whole": "a flag of the whole index",
    "count": "a number, for reports and tests; a bucket narrows it",
    "list_models": "collections of the server",
    "drop_model": "collections of the server",
    "buckets": "whose items there are, for reconciling; no items",
    "known_conversations": "whose conversations there are, for reconciling; no texts",
    "kept": "whose memories there are, for reconciling; ids alone, each with its tenant and agent",
}
"""Calls that are about everything, with the reason."""

WITH_BUCKET = (Bucket, Sequence[Bucket], Sequence[VectorPoint], KnownConversation)
"""Arguments that say both."""
WITH_AGENT = (Scope, NewMemory, MemoryQuery, ContradictionQuery)
"""Arguments that say the agent."""


class Unbound(Protocol):
    """What the rule is there to refuse."""

    async def search(self, tenant: str, terms: Sequence[str]) -> list[str]:
        """Of any agent."""

    async def find(self, agent_id: str, terms: Sequence[str]) -> list[str]:
        """Of any tenant."""

    async def page(self, bucket: Bucket | None = None) -> list[str]:
        """Of anybody, if left out."""

    async def read(self, tenant: str, agent_id: str = "") -> list[str]:
        """Likewise."""


def coroutines(owner: type) -> Iterator[tuple[str, Any]]:
    """Its public calls; what makes it is none."""
    for name, call in inspect.getmembers(owner, inspect.isfunction):
        if not name.startswith("_") and inspect.iscoroutinefunction(call):
            yield name, call


def bound(call: Any) -> bool:
    """Whether what must be given says a tenant and an agent."""
    hints = get_type_hints(call)
    required = [
        (name, hints[name])
        for name, parameter in inspect.signature(call).parameters.items()
        if parameter.default is inspect.Parameter.empty and name in hints
    ]
    if any(hint in WITH_BUCKET for _, hint in required):
        return True
    tenant = ("tenant", str) in required
    return tenant and any((name, hint) == ("agent_id", str) or hint in WITH_AGENT for name, hint in required)


EVERY = [owner for port, behind in PLACES.items() for owner in (port, *behind)]


@pytest.mark.parametrize("owner", EVERY, ids=lambda owner: owner.__name__)
def test_every_call_names_a_tenant_and_an_agent(owner: type) -> None:
    """S-3, S-5: but for those about everything, which are listed."""
    calls = dict(coroutines(owner))
    assert calls
    assert {name for name, call in calls.items() if not bound(call)} <= OF_THE_WHOLE.keys()


@pytest.mark.parametrize("port", PLACES, ids=lambda port: port.__name__)
def test_what_stands_behind_a_port_takes_what_the_port_says(port: type) -> None:
    """By the same names and types, so that the rule for the one holds for the other."""
    for behind in PLACES[port]:
        theirs = dict(coroutines(behind))
        for name, call in coroutines(port):
            expected = list(inspect.signature(call).parameters)
            assert list(inspect.signature(theirs[name]).parameters)[: len(expected)] == expected, name


def test_every_exception_is_needed() -> None:
    """One that names no unbound call would hide the next of its name."""
    unbound = {name for owner in EVERY for name, call in coroutines(owner) if not bound(call)}
    assert unbound == OF_THE_WHOLE.keys()


def test_the_rule_refuses_calls_for_nobody() -> None:
    """The positive control."""
    calls = dict(coroutines(Unbound))
    assert calls.keys() == {"search", "find", "page", "read"}
    assert not any(bound(call) for call in calls.values())


@pytest.mark.parametrize(
    "kind", [Bucket, Scope, KnownConversation, MemoryQuery, ContradictionQuery, NewMemory]
)
def test_what_says_whose_it_is_cannot_be_made_without(kind: type) -> None:
    """S-5: none of them has a default for it."""
    said = {"tenant", "agent", "agent_id", "scope"}
    whose = [field for field in fields(kind) if field.name in said]
    assert whose
    assert all(field.default is MISSING and field.default_factory is MISSING for field in whose)


@pytest.mark.parametrize(("tenant", "agent"), [("", "ada"), ("acme", ""), ("", "")])
def test_a_bucket_of_nobody_cannot_be_made(tenant: str, agent: str) -> None:
    """S-3."""
    assert Bucket(tenant="acme", agent="ada", content=ContentClass.MEMORY).key
    with pytest.raises(ValueError, match="tenant and an agent"):
        Bucket(tenant=tenant, agent=agent, content=ContentClass.MEMORY)
