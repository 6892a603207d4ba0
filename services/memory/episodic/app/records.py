"""Use cases on collections of records (SPEC W-8)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from services.kit.times import Clock, to_micros
from services.memory.episodic.app.ports import Page
from services.memory.episodic.domain.checks import check_text
from services.memory.episodic.domain.records import (
    Collection,
    CollectionKey,
    Document,
    IndexedField,
    Record,
    Stamp,
    in_order,
)
from services.memory.episodic.domain.records_filters import Position, Query, check_shape
from services.memory.episodic.domain.state import parse_document


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordPage:
    """Some records of a query; `last` is the position to go on after, None on the last page."""

    records: Sequence[Record]
    last: Position | None


class RecordStore(Protocol):
    """Collections and records. All calls raise NotFound for an unknown agent, collection or record."""

    async def put_collection(
        self, key: CollectionKey, fields: tuple[IndexedField, ...], time: int
    ) -> Collection:
        """Creates it or changes its fields, which are in order. Raises LimitExceeded, StateConflict."""

    async def get_collection(self, key: CollectionKey) -> Collection:
        """Reads one."""

    async def list_collections(
        self, tenant: str, agent_id: str, *, limit: int, after: str | None
    ) -> Page[Collection, str]:
        """By name."""

    async def delete_collection(self, key: CollectionKey) -> None:
        """With its records."""

    async def put(
        self, key: CollectionKey, record_id: str, document: Document, time: int, expected: int | None
    ) -> Stamp:
        """Raises InvalidField (a text that is too long to index), VersionConflict (0: there is none)."""

    async def get(self, key: CollectionKey, record_id: str) -> Record:
        """Reads one."""

    async def delete(self, key: CollectionKey, record_id: str, expected: int | None) -> None:
        """Raises VersionConflict."""

    async def query(self, key: CollectionKey, query: Query) -> RecordPage:
        """Those that match. Raises InvalidField (fields and types that the collection doesn't declare)."""


class Records:
    """Keeps records; `new_id` makes their ids."""

    def __init__(self, store: RecordStore, clock: Clock, new_id: Callable[[], str]) -> None:
        self._store = store
        self._clock = clock
        self._new_id = new_id

    async def put_collection(self, key: CollectionKey, fields: Sequence[IndexedField]) -> Collection:
        """Raises InvalidField, NotFound, LimitExceeded, StateConflict."""
        _check_key(key)
        return await self._store.put_collection(key, in_order(fields), to_micros(self._clock()))

    async def get_collection(self, key: CollectionKey) -> Collection:
        """Raises NotFound."""
        _check_key(key)
        return await self._store.get_collection(key)

    async def list_collections(
        self, tenant: str, agent_id: str, *, limit: int, after: str | None
    ) -> Page[Collection, str]:
        """By name. Raises InvalidField, NotFound."""
        check_text("agent_id", agent_id)
        check_text("page_token", after or "")
        return await self._store.list_collections(tenant, agent_id, limit=limit, after=after)

    async def delete_collection(self, key: CollectionKey) -> None:
        """Raises NotFound."""
        _check_key(key)
        await self._store.delete_collection(key)

    async def put(self, key: CollectionKey, record_id: str, json: str, expected: int | None) -> Stamp:
        """The record as it is now; an empty id gets one. Raises InvalidField, NotFound, VersionConflict."""
        _check_key(key)
        document = Document(json=json, value=parse_document("json", json))
        time = to_micros(self._clock())
        return await self._store.put(key, record_id or self._new_id(), document, time, expected)

    async def get(self, key: CollectionKey, record_id: str) -> Record:
        """Raises NotFound."""
        _check_key(key)
        check_text("record_id", record_id)
        return await self._store.get(key, record_id)

    async def delete(self, key: CollectionKey, record_id: str, expected: int | None) -> None:
        """Raises NotFound, VersionConflict."""
        _check_key(key)
        check_text("record_id", record_id)
        await self._store.delete(key, record_id, expected)

    async def query(self, key: CollectionKey, query: Query) -> RecordPage:
        """Raises InvalidField, NotFound."""
        _check_key(key)
        if query.filter is not None:
            check_shape(query.filter)
        return await self._store.query(key, query)


def _check_key(key: CollectionKey) -> None:
    check_text("agent_id", key.agent_id)
    check_text("collection", key.name)
