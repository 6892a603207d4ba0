"""Faults of what the Semantic service stands on, each met by the calls of one tenant, for tests.

Ports are wrapped where the service opens its stores; of the services around it, the handlers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import inf, nan
from typing import Any

import grpc
from palimpsest.embedder.v1 import embedder_pb2
from palimpsest.episodic.v1 import episodic_pb2

from services.kit.context import current_principal
from services.kit.errors import DependencyDown
from services.memory.semantic.adapters.sql.memories import SqlMemories
from services.memory.semantic.adapters.vectors import open_vectors
from services.memory.semantic.adapters.words import open_items
from services.memory.semantic.bootstrap import Openers
from services.memory.semantic.domain.vectors import Bucket, VectorHit, VectorPoint, pack

LONG_SECONDS = 600


class Part(StrEnum):
    """What may fail; `KEYS` are the readers of memories by key, `STORE` all of the memories' store."""

    VECTORS = "vectors"
    WORDS = "words"
    REGISTRY = "registry"
    KEYS = "keys"
    STORE = "store"
    EMBEDDER = "embedder"
    EPISODIC = "episodic"


class Mode(StrEnum):
    """How it fails."""

    DOWN = "down"
    SLOW = "slow"
    NONSENSE = "nonsense"
    """Answers that can't be: not a number, of another size, of something else than was asked."""
    STRANGE = "strange"
    """Answers of the right form about what is unknown, or another's."""


Spoil = Callable[[Any], Any]
Invent = Callable[[list[str]], Any]

GARBAGE: Mapping[tuple[Part, str], tuple[Spoil, Invent]] = {
    (Part.VECTORS, "search"): (
        lambda hits: [replace(hit, cosine=nan) for hit in hits],
        lambda ids: [VectorHit(item_id=id_, cosine=0.99) for id_ in ids],
    ),
    (Part.VECTORS, "similarities"): (
        lambda found: dict.fromkeys(found, nan),
        lambda ids: dict.fromkeys(ids, 0.99),
    ),
    (Part.WORDS, "search_memories"): (
        lambda ranked: [(id_, inf) for id_, _ in ranked],
        lambda ids: [(id_, 99.0) for id_ in ids],
    ),
    (Part.WORDS, "search_messages"): (
        lambda ranked: [(id_, -inf) for id_, _ in ranked],
        lambda ids: [(id_, 99.0) for id_ in ids],
    ),
    (Part.WORDS, "message_terms"): (
        lambda held: dict.fromkeys(held, ("",)),
        lambda ids: dict.fromkeys(ids, ("heron",)),
    ),
    (Part.KEYS, "candidates_by_key"): (
        lambda ranked: [(id_, 1e300) for id_, _ in ranked],
        lambda ids: [(id_, 99.0) for id_ in ids],
    ),
}
"""Nonsense of what a call answers, and what is strange, of foreign ids. Other calls have no garbage."""

CALLS: Mapping[Part, frozenset[str]] = {
    Part.VECTORS: frozenset({"search", "similarities", "upsert", "delete"}),
    Part.WORDS: frozenset(
        {"search_memories", "search_messages", "message_terms", "put_memories", "put_messages"}
        | {"remove_memories"}
    ),
    Part.REGISTRY: frozenset({"features", "authors", "progress", "missing"}),
    Part.KEYS: frozenset({"candidates_by_key"}),
    Part.STORE: frozenset(
        {"remember", "get", "pick", "live_of_key", "page", "history", "candidates_by_key", "of_messages"}
        | {
            "standing",
            "standing_choice",
            "set_pinned",
            "forget",
            "count_access",
            "mark_indexed",
            "note_messages",
        }
    ),
}


@dataclass
class Faults:
    """Which parts fail for whom, and how; `strangers` are ids of items that are not a tenant's to see."""

    chosen: dict[tuple[str, Part], Mode] = field(default_factory=dict)
    strangers: list[str] = field(default_factory=list)

    def set(self, tenant: str, faults: Mapping[Part, Mode]) -> None:
        """These and no others."""
        self.chosen = {key: mode for key, mode in self.chosen.items() if key[0] != tenant}
        self.chosen |= {(tenant, part): mode for part, mode in faults.items()}

    async def meet(self, part: Part, tenant: str, name: str, call: Callable[[], Awaitable[Any]]) -> Any:
        """The call, or what becomes of it."""
        mode = self.chosen.get((tenant, part))
        if mode is Mode.DOWN:
            raise DependencyDown
        if mode is Mode.SLOW:
            await asyncio.sleep(LONG_SECONDS)
        answer = await call()
        if mode is None or (part, name) not in GARBAGE:
            return answer
        spoil, invent = GARBAGE[part, name]
        return spoil(answer) if mode is Mode.NONSENSE else invent(self.strangers)

    def openers(self) -> Openers:
        """The service's stores, as they are configured, with the faults before them."""

        async def items(settings: Any, database: Any, stack: AsyncExitStack) -> Any:
            opened = await open_items(settings, database, stack)
            return Before(opened, self, (Part.WORDS, Part.REGISTRY))

        async def vectors(settings: Any, model: Any) -> Any:
            return Before(await open_vectors(settings, model), self, (Part.VECTORS,))

        def memories(database: Any, rules: Any) -> Any:
            return Before(SqlMemories(database, rules), self, (Part.STORE, Part.KEYS))

        return Openers(memories=memories, items=items, vectors=vectors)

    def within(self) -> dict[str, grpc.aio.ServerInterceptor]:
        """For the services around."""
        return {part.value: Within(self, part) for part in (Part.EMBEDDER, Part.EPISODIC)}


class Before:
    """Stands before a port."""

    def __init__(self, port: Any, faults: Faults, parts: tuple[Part, ...]) -> None:
        self._port = port
        self._faults = faults
        self._parts = parts

    def __getattr__(self, name: str) -> Any:
        inner = getattr(self._port, name)
        parts = [part for part in self._parts if name in CALLS[part]]
        if not parts:
            return inner

        async def call(whose: Any, *arguments: Any, **named: Any) -> Any:
            async def made() -> Any:
                return await inner(whose, *arguments, **named)

            met: Callable[[], Awaitable[Any]] = made
            for part in parts:
                met = _met(self._faults, part, tenant_of(whose), name, met)
            return await met()

        return call


def _met(
    faults: Faults, part: Part, tenant: str, name: str, call: Callable[[], Awaitable[Any]]
) -> Callable[[], Awaitable[Any]]:
    return lambda: faults.meet(part, tenant, name, call)


def tenant_of(whose: Any) -> str:
    """Of a call's first argument."""
    if isinstance(whose, Bucket):
        return whose.tenant
    if isinstance(whose, str):
        return whose
    point: VectorPoint = whose[0]
    return point.bucket.tenant


class Within(grpc.aio.ServerInterceptor):
    """Stands before a service's handlers, behind what lets callers in."""

    def __init__(self, faults: Faults, part: Part) -> None:
        self._faults = faults
        self._part = part

    async def intercept_service(self, continuation: Any, details: grpc.HandlerCallDetails) -> Any:
        handler = await continuation(details)
        if handler is None or handler.unary_unary is None:
            return handler

        async def behave(request: Any, context: Any) -> Any:
            mode = self._faults.chosen.get((current_principal().tenant, self._part))
            if mode is Mode.DOWN:
                raise DependencyDown
            if mode is Mode.SLOW:
                await asyncio.sleep(LONG_SECONDS)
            response = await handler.unary_unary(request, context)
            return response if mode is None else spoilt(response, mode)

        return grpc.unary_unary_rpc_method_handler(
            behave,
            request_deserializer=handler.request_deserializer,
            response_serializer=handler.response_serializer,
        )


def spoilt(response: Any, mode: Mode) -> Any:
    """A service's answer as it should not be."""
    if isinstance(response, embedder_pb2.EmbedResponse):
        for one in response.embeddings:
            size = len(one.vector) // 4
            one.vector = pack([nan] * size) if mode is Mode.NONSENSE else pack([1.0] * (size - 1))
    elif isinstance(response, episodic_pb2.GetMessageRangeResponse):
        for message in response.messages:
            if mode is Mode.NONSENSE:
                message.sequence = -message.sequence
            else:
                message.conversation_id = "another"
    return response
