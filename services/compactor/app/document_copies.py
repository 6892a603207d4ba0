"""Copies of documents in the key-value store, and how none stays wrong (SPEC K-2).

- Every value carries its revision (the head's, which counts every change of a document), and the store keeps
  the greater one of two. So a slow reader that puts back what it read cannot undo a later write; and it looks
  at the head once more, for the store may have lost its memory meanwhile.
- Before its transaction a writer *marks* the key with the revision that it is about to make. From then on
  readers go to the row, and only that revision or a later one ends the mark. So a writer may die at any
  point: readers see its change as soon as it is committed, and never again what was before it.
- A process that could not reach the store copies what it wrote as soon as it can (`keep_up`).
- Marks and values end by themselves. Where a mark could not be set, or was lost with the store's memory, and
  the writer then died as well, what was before is read for `keep_seconds` at most.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

import structlog

from services.compactor.app import document_records as records
from services.compactor.app.document_ports import DocumentStore, Kv, KvDown, Unreadable, revision_of
from services.compactor.app.document_records import Record
from services.compactor.domain.documents import (
    HISTORY_SNAPSHOTS,
    SCHEMAS,
    Document,
    DocumentKey,
    Head,
    Kind,
)
from services.kit.errors import DependencyDown

KEEP_SECONDS = 600.0
MARK_SECONDS = 60.0
SKIP_SECONDS = 1.0
CATCH_UP_SECONDS = 1.0
MAX_BEHIND = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class KvRules:
    """For how long things stay in the key-value store, and are looked for there."""

    keep_seconds: float = KEEP_SECONDS
    """A value's life; the longest that a wrong one can be read, should a mark be lost and its writer die."""
    mark_seconds: float = MARK_SECONDS
    """A mark's life: longer than a writer's transaction takes."""
    skip_seconds: float = SKIP_SECONDS
    """After a failure of the store readers do without it for so long; writers always try."""
    catch_up_seconds: float = CATCH_UP_SECONDS
    """How often what could not be copied is tried again."""


class Copies:
    """What the key-value store holds of documents. `monotonic` gives seconds that never go back."""

    def __init__(
        self, store: DocumentStore, kv: Kv, kv_rules: KvRules, monotonic: Callable[[], float]
    ) -> None:
        self._store = store
        self._kv = kv
        self._rules = kv_rules
        self._monotonic = monotonic
        self._skip_until = float("-inf")
        self._behind: dict[DocumentKey, None] = {}  # in the order in which they fell behind
        self._log = structlog.get_logger("documents")

    # For readers: nothing here fails them.

    async def look(self, name: str, key: DocumentKey) -> Record | None:
        """What is there; None for nothing, nothing readable, or no answer."""
        if self._skipped():
            return None
        try:
            value = await self._kv.get(name)
        except KvDown:
            self._skip()
            return None
        if value is None:
            return None
        try:
            return records.decode(name, key, value)
        except Unreadable:
            self._log.warning("document_copy_unreadable", kind=key.kind)
            return None

    async def put_back(self, name: str, key: DocumentKey, record: Record) -> None:
        """Keeps what was read from a row for the next reader."""
        if self._skipped() or any(one.schema != SCHEMAS[key.kind] for one in record.documents):
            return  # the next reader would not take another schema
        try:
            if await self.restore(name, key, record) and not await self._holds(key, record.revision):
                await self._kv.delete(name)
        except KvDown:
            self._skip()

    async def _holds(self, key: DocumentKey, revision: int) -> bool:
        """Whether the row has still this revision."""
        try:
            return (await self._store.head(key)).revision == revision
        except DependencyDown:
            return False

    def _skipped(self) -> bool:
        return self._monotonic() < self._skip_until

    def _skip(self) -> None:
        self._log.warning("kv_down", skipped_seconds=self._rules.skip_seconds)
        self._skip_until = self._monotonic() + self._rules.skip_seconds

    # For writers: nothing here fails them either.

    async def mark(self, key: DocumentKey, head: Head) -> None:
        """Sends readers to the row, until the revision after `head` is there."""
        value = records.mark(head.revision + 1)
        try:
            await self._kv.set(records.current_name(key), value, seconds=self._rules.mark_seconds)
        except KvDown:
            self._fall_behind(key, "mark")

    async def publish(self, key: DocumentKey, *, frozen: int = 0, unfrozen: int = 0) -> None:
        """Copies what is committed, and the version that was frozen, or forgets the one that was let go."""
        try:
            limit = HISTORY_SNAPSHOTS if key.kind is Kind.ATTRACTOR else 2
            head, recent = await self._store.recent(key, limit)
            pinned = await self._frozen([frozen] if frozen else [], key)
            for name, record in values(key, head, recent, pinned):
                await self._set(name, record)
            if unfrozen:
                await self._forget(records.frozen_name(key, unfrozen), head.revision)
            self._behind.pop(key, None)
        except DependencyDown:
            self._fall_behind(key, "publish")

    async def keep_up(self) -> NoReturn:
        """Copies, every so often, what could not be copied when it was written."""
        while True:
            await asyncio.sleep(self._rules.catch_up_seconds)
            for key in list(self._behind):
                await self.publish(key)
                if key in self._behind:
                    break  # the store is still away

    def _fall_behind(self, key: DocumentKey, step: str) -> None:
        self._log.warning("kv_behind", step=step, kind=key.kind)
        if len(self._behind) < MAX_BEHIND:
            self._behind[key] = None

    # For operators and erasures, who want to know. All raise KvDown, DependencyDown.

    async def rebuild(self, key: DocumentKey) -> int:
        """Copies all that belongs there of one document; how many values were set."""
        head, recent = await self._store.recent(key, HISTORY_SNAPSHOTS)
        frozen = await self._frozen(head.frozen, key)
        return sum(
            [await self.restore(name, key, record) for name, record in values(key, head, recent, frozen)]
        )

    async def forget(self, key: DocumentKey, names: Sequence[str], revision: int) -> None:
        """Replaces the newest version and these values by marks, which no reader's put-back undoes."""
        for name in (records.current_name(key), *names):
            await self._forget(name, revision)

    async def _forget(self, name: str, revision: int) -> None:
        await self._kv.set(name, records.mark(revision), seconds=self._rules.keep_seconds)

    async def restore(self, name: str, key: DocumentKey, record: Record) -> bool:
        """Sets a value unless a newer one is there that a writer can have set; whether it did."""
        if await self._set(name, record):
            return True
        there = await self._kv.get(name) or b""
        try:
            records.decode(name, key, there)
            # Nothing is ahead of the row but a mark, by one.
            bad = (revision_of(there) or 0) > (await self._store.head(key)).revision + 1
        except Unreadable:
            bad = True
        if bad:
            await self._kv.delete(name)
            return await self._set(name, record)
        return False

    async def _set(self, name: str, record: Record) -> bool:
        value = records.encode(name, record)
        return await self._kv.set(name, value, seconds=self._rules.keep_seconds)

    async def _frozen(self, versions: Sequence[int], key: DocumentKey) -> list[Document]:
        found = []
        for version in versions:
            try:
                document = await self._store.version(key, version)
            except Unreadable:
                self._log.error("document_row_unreadable", kind=key.kind)
                continue
            found += [document] if document else []
        return found


def values(
    key: DocumentKey, head: Head, recent: Sequence[Document], frozen: Sequence[Document]
) -> list[tuple[str, Record]]:
    """What the key-value store holds of a document, by name; `recent` begins with the newest version.

    Where the newest version cannot be read, nothing stands for it: readers go to the row.
    """
    if not head.present or not recent:
        return []
    made = []
    if recent[0].version == head.version:
        made.append((records.current_name(key), current_record(head, recent[0])))
    if key.kind is Kind.ATTRACTOR:
        history = Record(revision=head.revision, documents=tuple(recent))
        made.append((records.history_name(key), history))
        made += [(records.frozen_name(key, one.version), single(head, one)) for one in frozen]
    else:
        made += [(records.moment_name(key, one.created), single(head, one)) for one in recent[1:]]
    return made


def current_record(head: Head, document: Document) -> Record:
    """The newest version with its head."""
    return Record(revision=head.revision, head=head, documents=(document,))


def single(head: Head, document: Document) -> Record:
    """An earlier version alone."""
    return Record(revision=head.revision, documents=(document,))
