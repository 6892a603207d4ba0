"""Use cases on derived documents: the truth in SQL, copies in a key-value store (SPEC §9).

A reader takes the copy, and the row where there is none that it can read. A writer sees SQL alone, so it
never takes an unreadable copy, or a store that is away, for "no document". See document_copies for how the
two stay together.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NoReturn

import structlog

from services.compactor.app import document_records as records
from services.compactor.app.document_copies import Copies, KvRules, current_record, single
from services.compactor.app.document_ports import DocumentStore, JobsOf, Kv, Unreadable, no_jobs, no_wake
from services.compactor.domain import documents as rules
from services.compactor.domain.documents import (
    HISTORY_SNAPSHOTS,
    Document,
    DocumentKey,
    Draft,
    FieldChange,
    Head,
    Kind,
    Snapshot,
    VersionInfo,
)
from services.kit.errors import NotFound
from services.kit.outbox import NewJob
from services.kit.times import Clock

PAGE = 100
Position = tuple[str, str, str]  # of a document of a tenant: agent, kind, subject


class Place(StrEnum):
    """Where an answer came from."""

    CACHE = "cache"
    STORE = "store"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which version: one by its number, one by its time, the newest; else the pinned one, or the newest."""

    version: int = 0
    created: datetime | None = None
    newest: bool = False


DEFAULT = Choice()


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """An answer: the version used, where it came from, and the head at that time."""

    document: Document
    head: Head
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two versions, and the top-level fields that differ."""

    before: Served
    after: Served
    changes: list[FieldChange]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilt:
    """What a rebuild did: documents looked at, values set, and where to go on unless it was the end."""

    documents: int
    values: int
    last: Position | None


class Documents:
    """Reads and writes documents. `monotonic` gives seconds that never go back."""

    def __init__(
        self,
        store: DocumentStore,
        kv: Kv,
        clock: Clock,
        kv_rules: KvRules,
        monotonic: Callable[[], float] = time.monotonic,
        wake: Callable[[], None] = no_wake,
    ) -> None:
        """`wake` is told of jobs that were committed to the outbox."""
        self._wake = wake
        self._store = store
        self._copies = Copies(store, kv, kv_rules, monotonic)
        self._clock = clock
        self._log = structlog.get_logger("documents")

    # For those who read. All raise InvalidField and NotFound, and DependencyDown when a row is needed and SQL
    # is away.

    async def get(self, key: DocumentKey, choice: Choice = DEFAULT) -> Served:
        """A document, from the cache where it is there and readable, else from its row.

        A version that nobody named and that cannot be read is replaced by the newest one before it that can.
        """
        rules.check_key(key)
        current = await self._current(key)
        if choice.created is not None:
            return await self._at(current, choice.created)
        wanted = choice.version or (0 if choice.newest else current.head.pinned)
        if wanted in (0, current.document.version):
            return current
        found = await self._version(key, current.head, wanted)
        if found is None:
            if choice.version:
                raise NotFound(f"{key.kind} version", str(wanted))
            return current
        return found

    async def versions(
        self, key: DocumentKey, before: int | None, limit: int
    ) -> tuple[Head, list[VersionInfo]]:
        """The head, and a page of versions less than `before`, the newest first."""
        rules.check_key(key)
        head = await self._store.head(key)
        if not head.present:
            raise _missing(key)
        return head, await self._store.versions(key, before, limit)

    async def compare(self, key: DocumentKey, before: int, after: int) -> Comparison:
        """Two versions; 0 is the newest."""
        one = await self.get(key, Choice(version=before, newest=True))
        other = await self.get(key, Choice(version=after, newest=True))
        return Comparison(
            before=one, after=other, changes=rules.changes(one.document.body, other.document.body)
        )

    # For those who write. They see SQL alone.

    async def head(self, key: DocumentKey) -> Head:
        """What a writer takes before it reads its sources, and hands to `put`; Head() for no document."""
        rules.check_key(key)
        return await self._store.head(key)

    async def current(self, key: DocumentKey) -> Snapshot | None:
        """The newest version and its head. Raises Unreadable, which is not None: there is a document."""
        rules.check_key(key)
        return await self._store.current(key)

    async def each(self, tenant: str, agent_id: str, kind: Kind) -> AsyncIterator[Snapshot]:
        """The newest version of every readable document of an agent, by subject."""
        after: Position | None = None
        while True:
            page = await self._store.page(tenant, frozenset({agent_id}), kind, after, PAGE)
            for key in page:
                try:
                    snapshot = await self._store.current(key)
                except Unreadable:
                    self._log.error("document_row_unreadable", kind=key.kind)
                    continue
                if snapshot is not None:
                    yield snapshot
            if len(page) < PAGE:
                return
            after = _position(page[-1])

    async def put(
        self, key: DocumentKey, draft: Draft, based_on: Head, jobs: Sequence[NewJob] = ()
    ) -> Document:
        """Writes the next version, and `jobs` to the outbox in the same transaction.

        `based_on` is the head as it was before the sources were read. Raises InvalidField, VersionConflict
        (its metadata has "current_version"), DependencyDown; never for the key-value store.
        """
        rules.check_key(key)
        head = await self._store.head(key)
        rules.written(head, based_on)  # who is told here of a conflict has marked nothing
        await self._copies.mark(key, head)
        document = await self._store.put(key, draft, based_on, self._clock(), jobs)
        self._wake()
        await self._copies.publish(key)
        return document

    async def of_sources(self, tenant: str, agent_id: str, source_ids: Sequence[str]) -> list[DocumentKey]:
        """The documents any version of which came from these sources."""
        return await self._store.of_sources(tenant, agent_id, source_ids)

    async def of_summary(self, tenant: str, agent_id: str, conversation_id: str) -> list[DocumentKey]:
        """The other documents any version of which came from a conversation's summary."""
        found = await self._store.of_summary(tenant, agent_id, conversation_id)
        return [key for key in found if key.kind is not Kind.SUMMARY]

    async def stale(self, tenant: str, agent_id: str, kind: Kind) -> set[str]:
        """The subjects of documents of a kind that are marked as stale."""
        return await self._store.stale(tenant, agent_id, kind)

    async def mark(self, keys: Sequence[DocumentKey], jobs: JobsOf = no_jobs) -> list[DocumentKey]:
        """Marks documents as stale (J-17), each with its jobs in the same transaction, and names those that
        there are. May be repeated."""
        marked = []
        for key in keys:
            await self._copies.mark(key, await self._store.head(key))
            if await self._store.mark_stale(key, jobs):
                await self._copies.publish(key)
                marked.append(key)
        if marked:
            self._wake()
        return marked

    async def freeze(self, key: DocumentKey, version: int) -> Head:
        """Pins a version of an attractor: it is read from now on. Raises NotFound, LimitExceeded."""
        _check_attractor(key)
        found = await self._store.versions(key, version + 1, 1)
        if not found or found[0].version != version:
            raise NotFound(f"{key.kind} version", str(version))
        await self._copies.mark(key, await self._store.head(key))
        head = await self._store.freeze(key, version)
        await self._copies.publish(key, frozen=version)
        return head

    async def unfreeze(self, key: DocumentKey, version: int) -> Head:
        """Lets a frozen version go; where it was the pinned one, the newest is read. Raises NotFound."""
        _check_attractor(key)
        head = await self._store.head(key)
        rules.unfrozen(head, version)
        await self._copies.mark(key, head)
        head = await self._store.unfreeze(key, version)
        await self._copies.publish(key, unfrozen=version)
        return head

    async def erase(self, key: DocumentKey, jobs: JobsOf = no_jobs) -> None:
        """Deletes every version, here and there (D-2), with jobs that follow where there was one.

        Raises KvDown too: to be repeated until it is done.
        """
        rules.check_key(key)
        head = await self._store.head(key)
        await self._copies.forget(key, _earlier(key, await self._all_versions(key)), head.revision + 1)
        head, infos = await self._store.erase(key, jobs)
        self._wake()
        # Again: a writer may have come in between.
        await self._copies.forget(key, _earlier(key, infos), head.revision)

    async def keep_up(self) -> NoReturn:
        """Runs beside: copies what the key-value store missed while it was away."""
        await self._copies.keep_up()

    # For operators

    async def rebuild(
        self, tenant: str, agents: frozenset[str] | None, after: Position | None, limit: int
    ) -> Rebuilt:
        """Fills the key-value store from SQL for a page of documents; of some agents or all.

        What is there and newer stays; what is unreadable is replaced. Raises KvDown.
        """
        page = await self._store.page(tenant, agents, None, after, limit)
        values = sum([await self._copies.rebuild(key) for key in page])
        last = _position(page[-1]) if len(page) == limit else None
        return Rebuilt(documents=len(page), values=values, last=last)

    # How it is read

    async def _current(self, key: DocumentKey) -> Served:
        """The newest readable version."""
        name = records.current_name(key)
        record = await self._copies.look(name, key)
        if record is not None and record.head is not None and record.documents:
            return Served(document=record.documents[0], head=record.head, place=Place.CACHE)
        try:
            snapshot = await self._store.current(key)
        except Unreadable:
            return await self._before_unreadable(key)
        if snapshot is None:
            raise _missing(key)
        await self._copies.put_back(name, key, current_record(snapshot.head, snapshot.document))
        return Served(document=snapshot.document, head=snapshot.head, place=Place.STORE)

    async def _before_unreadable(self, key: DocumentKey) -> Served:
        self._log.error("document_row_unreadable", kind=key.kind)
        head, recent = await self._store.recent(key, HISTORY_SNAPSHOTS)
        if not recent:
            raise _missing(key)
        return Served(document=recent[0], head=head, place=Place.STORE)

    async def _version(self, key: DocumentKey, head: Head, version: int) -> Served | None:
        """A version that is not the newest; None where there is none that can be read."""
        frozen = records.frozen_name(key, version) if version in head.frozen else ""
        recent = key.kind is Kind.ATTRACTOR and version > head.version - HISTORY_SNAPSHOTS
        for name in filter(None, (frozen, records.history_name(key) if recent else "")):
            record = await self._copies.look(name, key)
            for document in record.documents if record else ():
                if document.version == version:
                    return Served(document=document, head=head, place=Place.CACHE)
        try:
            found = await self._store.version(key, version)
        except Unreadable:
            self._log.error("document_row_unreadable", kind=key.kind)
            return None
        if found is None:
            return None
        if frozen:
            await self._copies.put_back(frozen, key, single(head, found))
        return Served(document=found, head=head, place=Place.STORE)

    async def _at(self, current: Served, created: datetime) -> Served:
        """The version of a moment."""
        key, head = current.document.key, current.head
        if current.document.created == created:
            return current
        name = records.moment_name(key, created) if key.kind is not Kind.ATTRACTOR else ""
        record = await self._copies.look(name, key) if name else None
        if record is not None and record.documents:
            return Served(document=record.documents[0], head=head, place=Place.CACHE)
        try:
            found = await self._store.at(key, created)
        except Unreadable:
            self._log.error("document_row_unreadable", kind=key.kind)
            found = None
        if found is None:
            raise NotFound(f"{key.kind} version", created.isoformat())
        if name:
            await self._copies.put_back(name, key, single(head, found))
        return Served(document=found, head=head, place=Place.STORE)

    async def _all_versions(self, key: DocumentKey) -> list[VersionInfo]:
        infos: list[VersionInfo] = []
        while page := await self._store.versions(key, infos[-1].version if infos else None, PAGE):
            infos += page
        return infos


def _earlier(key: DocumentKey, infos: Sequence[VersionInfo]) -> list[str]:
    """Every name that may hold one of these versions, but for that of the newest."""
    if key.kind is not Kind.ATTRACTOR:
        return [records.moment_name(key, info.created) for info in infos]
    return [records.history_name(key), *(records.frozen_name(key, info.version) for info in infos)]


def _check_attractor(key: DocumentKey) -> None:
    rules.check_key(key)
    assert key.kind is Kind.ATTRACTOR, "versions of an attractor alone are frozen (K-3)"


def _missing(key: DocumentKey) -> NotFound:
    return NotFound(key.kind, key.subject or key.agent_id)


def _position(key: DocumentKey) -> Position:
    return key.agent_id, key.kind.value, key.subject
