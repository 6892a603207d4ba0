"""Documents and all their versions (SPEC K-2, K-3)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from services.compactor.app.document_ports import JobsOf, Unreadable, no_jobs
from services.compactor.domain import documents as rules
from services.compactor.domain.documents import (
    Document,
    DocumentKey,
    Draft,
    Head,
    Kind,
    Schema,
    Snapshot,
    VersionInfo,
)
from services.kit.errors import NotFound
from services.kit.outbox import NewJob, put_jobs
from services.kit.sql import Row, Script, SqlDatabase, execute, execute_many, fetch, first
from services.kit.times import from_micros, to_micros

WHERE = "tenant = ? AND agent_id = ? AND kind = ? AND subject = ?"
HEAD = "version, revision, stale_revision, pinned, frozen, present, created"
INFO = "version, created, schema_name, schema_version, engine, size"
WHOLE = f"{INFO}, sources, body"
Names = tuple[str, str, str, str]  # the arguments of WHERE


class SqlDocuments:
    """A DocumentStore. What follows a version, or an erasure, is put into the outbox with it (SV-5)."""

    def __init__(self, database: SqlDatabase, follow: JobsOf = no_jobs) -> None:
        self._database = database
        self._follow = follow

    async def put(
        self, key: DocumentKey, draft: Draft, based_on: Head, now: datetime, jobs: Sequence[NewJob] = ()
    ) -> Document:
        """Writes the next version."""
        rules.check_key(key)
        rules.check_draft(draft)
        body = rules.encode_body(draft.body)

        def script() -> Script[Document]:
            document, head = yield from _put(key, draft, body, based_on, now)
            yield from put_jobs(key.tenant, [*jobs, *self._follow(key, head)])
            return document

        return await self._database.write(script)

    async def head(self, key: DocumentKey) -> Head:
        """What is known of a document."""

        def script() -> Script[Head]:
            row = yield from first(f"SELECT {HEAD} FROM documents WHERE {WHERE}", *_names(key))
            return Head() if row is None else _head(row)

        return await self._database.read(script)

    async def recent(self, key: DocumentKey, limit: int) -> tuple[Head, list[Document]]:
        """The head and the newest versions."""

        def script() -> Script[tuple[Head, list[Document]]]:
            row = yield from first(f"SELECT {HEAD} FROM documents WHERE {WHERE}", *_names(key))
            rows = yield from fetch(
                f"SELECT {WHOLE} FROM document_versions WHERE {WHERE} ORDER BY version DESC LIMIT ?",
                *_names(key),
                limit,
            )
            return Head() if row is None else _head(row), _readable(key, rows)

        return await self._database.read(script)

    async def current(self, key: DocumentKey) -> Snapshot | None:
        """The newest version."""

        def script() -> Script[Snapshot | None]:
            row = yield from first(f"SELECT {HEAD} FROM documents WHERE {WHERE}", *_names(key))
            if row is None or not row["present"]:
                return None
            document = yield from _version(key, row["version"])
            if document is None:
                raise Unreadable
            return Snapshot(head=_head(row), document=document)

        return await self._database.read(script)

    async def version(self, key: DocumentKey, version: int) -> Document | None:
        """One version."""
        return await self._database.read(lambda: _version(key, version))

    async def at(self, key: DocumentKey, created: datetime) -> Document | None:
        """The version of a moment."""

        def script() -> Script[Document | None]:
            row = yield from first(
                f"SELECT {WHOLE} FROM document_versions WHERE {WHERE} AND created = ?",
                *_names(key),
                to_micros(created),
            )
            return None if row is None else _document(key, row)

        return await self._database.read(script)

    async def versions(self, key: DocumentKey, before: int | None, limit: int) -> list[VersionInfo]:
        """A page of versions."""

        def script() -> Script[list[VersionInfo]]:
            rows = yield from fetch(
                f"SELECT {INFO} FROM document_versions WHERE {WHERE}"
                f"{'' if before is None else ' AND version < ?'} ORDER BY version DESC LIMIT ?",
                *_names(key),
                *(() if before is None else (before,)),
                limit,
            )
            return [_info(row) for row in rows]

        return await self._database.read(script)

    async def freeze(self, key: DocumentKey, version: int) -> Head:
        """Pins a version."""

        def script() -> Script[Head]:
            head = yield from _lock(key)
            found = yield from first(
                f"SELECT version FROM document_versions WHERE {WHERE} AND version = ?", *_names(key), version
            )
            if head is None or found is None:
                raise NotFound(f"{key.kind} version", str(version))
            return (yield from _keep(key, rules.frozen(head, version)))

        return await self._database.write(script)

    async def unfreeze(self, key: DocumentKey, version: int) -> Head:
        """Lets a frozen version go."""

        def script() -> Script[Head]:
            head = yield from _lock(key)
            return (yield from _keep(key, rules.unfrozen(head or Head(), version)))

        return await self._database.write(script)

    async def of_sources(self, tenant: str, agent_id: str, source_ids: Sequence[str]) -> list[DocumentKey]:
        """The documents that came from these."""

        def script() -> Script[list[DocumentKey]]:
            rows = yield from fetch(
                "SELECT DISTINCT agent_id, kind, subject FROM document_sources"
                " WHERE tenant = ? AND agent_id = ? AND source_id IN ?? ORDER BY agent_id, kind, subject",
                tenant,
                agent_id,
                list(source_ids),
            )
            return [_key(tenant, row) for row in rows]

        return await self._database.read(script)

    async def of_summary(self, tenant: str, agent_id: str, conversation_id: str) -> list[DocumentKey]:
        """Attractors name the conversation, pages and later summaries a version: an id holds no "@"."""

        def script() -> Script[list[DocumentKey]]:
            rows = yield from fetch(
                "SELECT DISTINCT agent_id, kind, subject FROM document_sources"
                " WHERE tenant = ? AND agent_id = ? AND (source_id = ?"
                " OR (source_id > ? AND source_id < ?)) ORDER BY agent_id, kind, subject",
                tenant,
                agent_id,
                conversation_id,
                f"{conversation_id}@",
                f"{conversation_id}{chr(ord('@') + 1)}",
            )
            return [_key(tenant, row) for row in rows]

        return await self._database.read(script)

    async def stale(self, tenant: str, agent_id: str, kind: Kind) -> set[str]:
        """The subjects of stale documents."""
        rows = await self._database.read(
            lambda: fetch(
                "SELECT subject FROM documents WHERE tenant = ? AND agent_id = ? AND kind = ? AND present"
                " AND stale_revision > 0",
                tenant,
                agent_id,
                kind.value,
            )
        )
        return {row["subject"] for row in rows}

    async def mark_stale(self, key: DocumentKey, jobs: JobsOf = no_jobs) -> Head | None:
        """Says that the newest version is out of date."""

        def script() -> Script[Head | None]:
            head = yield from _lock(key)
            if head is None or not head.present:
                return None
            marked = yield from _keep(key, rules.marked_stale(head))
            yield from put_jobs(key.tenant, jobs(key, marked))
            return marked

        return await self._database.write(script)

    async def erase(self, key: DocumentKey, jobs: JobsOf = no_jobs) -> tuple[Head, list[VersionInfo]]:
        """Deletes every version."""

        def script() -> Script[tuple[Head, list[VersionInfo]]]:
            head = yield from _lock(key)
            if head is None:
                return Head(), []
            rows = yield from fetch(f"SELECT {INFO} FROM document_versions WHERE {WHERE}", *_names(key))
            yield from execute(f"DELETE FROM document_versions WHERE {WHERE}", *_names(key))
            yield from execute(f"DELETE FROM document_sources WHERE {WHERE}", *_names(key))
            gone = yield from _keep(key, rules.erased(head))
            mine = jobs(key, gone) if head.present else ()
            yield from put_jobs(key.tenant, [*mine, *self._follow(key, gone)])
            return gone, [_info(row) for row in rows]

        return await self._database.write(script)

    async def page(
        self,
        tenant: str,
        agents: frozenset[str] | None,
        kind: Kind | None,
        after: tuple[str, str, str] | None,
        limit: int,
    ) -> list[DocumentKey]:
        """A page of documents that exist."""
        wanted = (
            " AND present"
            + ("" if agents is None else " AND agent_id IN ??")
            + ("" if kind is None else " AND kind = ?")
            + ("" if after is None else " AND (agent_id, kind, subject) > (?, ?, ?)")
        )

        def script() -> Script[list[DocumentKey]]:
            rows = yield from fetch(
                f"SELECT agent_id, kind, subject FROM documents WHERE tenant = ?{wanted}"
                " ORDER BY agent_id, kind, subject LIMIT ?",
                tenant,
                *(() if agents is None else (sorted(agents),)),
                *(() if kind is None else (kind.value,)),
                *(after or ()),
                limit,
            )
            return [_key(tenant, row) for row in rows]

        return await self._database.read(script)


def _put(
    key: DocumentKey, draft: Draft, body: str, based_on: Head, now: datetime
) -> Script[tuple[Document, Head]]:
    yield from execute(
        f"INSERT INTO documents (tenant, agent_id, kind, subject, {HEAD})"
        " VALUES (?, ?, ?, ?, 0, 0, 0, 0, '[]', FALSE, 0) ON CONFLICT DO NOTHING",
        *_names(key),
    )
    row = yield from first(f"SELECT {HEAD} FROM documents WHERE {WHERE} FOR UPDATE", *_names(key))
    assert row is not None, "it was just inserted"
    head = rules.written(_head(row), based_on, stale=draft.stale)
    # Rises with the versions whatever the clock does, so that a time names one of them.
    created = max(to_micros(now), row["created"] + 1)
    schema = rules.SCHEMAS[key.kind]
    yield from _keep(key, head, created)
    yield from execute(
        f"INSERT INTO document_versions (tenant, agent_id, kind, subject, {WHOLE})"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        *_names(key),
        head.version,
        created,
        schema.name,
        schema.version,
        draft.engine,
        len(body.encode("utf-8")),
        rules.canonical(list(draft.source_ids)),
        body,
    )
    yield from execute_many(
        "INSERT INTO document_sources (tenant, agent_id, kind, subject, source_id)"
        " VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [(*_names(key), source) for source in sorted(set(draft.source_ids))],
    )
    document = Document(
        key=key,
        version=head.version,
        created=from_micros(created),
        schema=schema,
        engine=draft.engine,
        source_ids=tuple(draft.source_ids),
        body=json.loads(body),
    )
    return document, head


def _lock(key: DocumentKey) -> Script[Head | None]:
    """The head; others who change it wait."""
    row = yield from first(f"SELECT {HEAD} FROM documents WHERE {WHERE} FOR UPDATE", *_names(key))
    return None if row is None else _head(row)


def _keep(key: DocumentKey, head: Head, created: int | None = None) -> Script[Head]:
    """Stores a locked head; `created` when it has a new version."""
    yield from execute(
        "UPDATE documents SET version = ?, revision = ?, stale_revision = ?, pinned = ?, frozen = ?,"
        f" present = ?{'' if created is None else ', created = ?'} WHERE {WHERE}",
        head.version,
        head.revision,
        head.stale_revision,
        head.pinned,
        json.dumps(head.frozen),
        head.present,
        *(() if created is None else (created,)),
        *_names(key),
    )
    return head


def _version(key: DocumentKey, version: int) -> Script[Document | None]:
    row = yield from first(
        f"SELECT {WHOLE} FROM document_versions WHERE {WHERE} AND version = ?", *_names(key), version
    )
    return None if row is None else _document(key, row)


def _names(key: DocumentKey) -> Names:
    return key.tenant, key.agent_id, key.kind.value, key.subject


def _key(tenant: str, row: Row) -> DocumentKey:
    return DocumentKey(
        tenant=tenant, agent_id=row["agent_id"], kind=Kind(row["kind"]), subject=row["subject"]
    )


def _head(row: Row) -> Head:
    return Head(
        version=row["version"],
        revision=row["revision"],
        stale_revision=row["stale_revision"],
        pinned=row["pinned"],
        frozen=tuple(json.loads(row["frozen"])),
        present=bool(row["present"]),
    )


def _info(row: Row) -> VersionInfo:
    return VersionInfo(
        version=row["version"],
        created=from_micros(row["created"]),
        schema=Schema(name=row["schema_name"], version=row["schema_version"]),
        engine=row["engine"],
        size=row["size"],
    )


def _readable(key: DocumentKey, rows: Sequence[Row]) -> list[Document]:
    found = []
    for row in rows:
        try:
            found.append(_document(key, row))
        except Unreadable:
            continue
    return found


def _document(key: DocumentKey, row: Row) -> Document:
    """Raises Unreadable."""
    try:
        body, sources = json.loads(row["body"]), json.loads(row["sources"])
    except (ValueError, TypeError, RecursionError) as error:
        raise Unreadable from error
    if not isinstance(body, dict) or not isinstance(sources, list):
        raise Unreadable
    return Document(
        key=key,
        version=row["version"],
        created=from_micros(row["created"]),
        schema=Schema(name=row["schema_name"], version=row["schema_version"]),
        engine=row["engine"],
        source_ids=tuple(sources),
        body=body,
    )
