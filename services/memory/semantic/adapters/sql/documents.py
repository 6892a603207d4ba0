"""Derived documents as they are indexed (SPEC S-13)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from services.kit.outbox import put_jobs
from services.kit.sql import Row, Script, SqlDatabase, Value, execute, execute_many, fetch
from services.memory.semantic.adapters.index_jobs import document_job
from services.memory.semantic.app.document_ports import KnownDocument
from services.memory.semantic.domain.documents import (
    SHARED,
    Chunk,
    DocumentSource,
    DocumentType,
    FoundChunk,
    IndexedDocument,
    item_id,
)

WHOSE = "tenant = ? AND agent_id = ?"
PLACE = ("tenant", "agent_id", "document_key")
KNOWN = "tenant, agent_id, document_key, source_type, subject, version, digest, settled, chunk_count"
STEP = 500
"""Ids that a statement names."""


class SqlIndexedDocuments:
    """A DocumentStore."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def known(
        self, tenant: str, agent_id: str, sources: Sequence[DocumentSource]
    ) -> list[KnownDocument]:
        """The documents of sources."""
        by_type: dict[DocumentType, list[str]] = defaultdict(list)
        for source in sources:
            by_type[source.type].append(source.subject)

        def script() -> Script[list[KnownDocument]]:
            found: list[KnownDocument] = []
            for type_ in sorted(by_type):
                rows = yield from fetch(
                    f"SELECT {KNOWN} FROM indexed_documents WHERE {WHOSE}"
                    " AND source_type = ? AND subject IN ?? ORDER BY document_key",
                    tenant,
                    agent_id,
                    int(type_),
                    by_type[type_],
                )
                found += map(_known, rows)
            return sorted(found, key=lambda one: one.key)

        return await self._database.read(script)

    async def write(
        self, tenant: str, agent_id: str, documents: Sequence[IndexedDocument], gone: Sequence[str]
    ) -> None:
        """In the order of their keys, so that no two calls wait for each other."""
        latest = {document.key: document for document in documents}
        in_order = [latest[key] for key in sorted(latest)]
        removed = sorted(set(gone) - latest.keys())

        def script() -> Script[None]:
            yield from execute_many(PUT, [_row(tenant, agent_id, one) for one in in_order])
            yield from execute(
                f"DELETE FROM indexed_documents WHERE {WHOSE} AND document_key IN ??",
                tenant,
                agent_id,
                removed,
            )
            yield from execute(
                f"DELETE FROM indexed_chunks WHERE {WHOSE} AND document_key IN ??",
                tenant,
                agent_id,
                sorted({*latest, *removed}),
            )
            yield from execute_many(
                PUT_CHUNK, [row for one in in_order for row in _chunk_rows(tenant, agent_id, one)]
            )

        await self._database.write(script)

    async def settle(self, tenant: str, agent_id: str, documents: Sequence[IndexedDocument]) -> None:
        """Where the digest is the same."""
        in_order = sorted(documents, key=lambda document: document.key)
        await self._database.write(
            lambda: execute_many(
                f"UPDATE indexed_documents SET settled = TRUE, version = ? WHERE {WHOSE}"
                " AND document_key = ? AND digest = ?",
                [(one.version, tenant, agent_id, one.key, one.digest) for one in in_order],
            )
        )

    async def chunks(self, tenant: str, agent_id: str, item_ids: Sequence[str]) -> dict[str, FoundChunk]:
        """Parts with their documents."""
        wanted = list(dict.fromkeys(item_ids))

        def script() -> Script[dict[str, FoundChunk]]:
            found: dict[str, FoundChunk] = {}
            for begin in range(0, len(wanted), STEP):
                rows = yield from fetch(
                    "SELECT c.item_id, c.number, c.start, c.text, d.document_key, d.source_type, d.subject,"
                    " d.document_id, d.version, d.digest, d.title, d.contact_id, d.chunk_count"
                    " FROM indexed_chunks c JOIN indexed_documents d ON d.tenant = c.tenant"
                    " AND d.agent_id = c.agent_id AND d.document_key = c.document_key"
                    " WHERE c.tenant = ? AND c.agent_id = ? AND c.item_id IN ??",
                    tenant,
                    agent_id,
                    wanted[begin : begin + STEP],
                )
                found |= {row["item_id"]: _found(row) for row in rows}
            return found

        return await self._database.read(script)

    async def contacts(self, tenant: str, agent_id: str, conversation_ids: Sequence[str]) -> dict[str, str]:
        """As their summaries' rows say."""
        wanted = list(dict.fromkeys(conversation_ids))

        def script() -> Script[dict[str, str]]:
            found: dict[str, str] = {}
            for begin in range(0, len(wanted), STEP):
                rows = yield from fetch(
                    f"SELECT subject, contact_id FROM indexed_documents WHERE {WHOSE}"
                    " AND source_type = ? AND subject IN ?? AND contact_id <> ?",
                    tenant,
                    agent_id,
                    int(DocumentType.SUMMARY),
                    wanted[begin : begin + STEP],
                    SHARED,
                )
                found |= {row["subject"]: row["contact_id"] for row in rows}
            return found

        return await self._database.read(script)

    async def page(
        self, after: tuple[str, str, str], limit: int, *, tenant: str = "", agent_id: str = ""
    ) -> list[KnownDocument]:
        """In order; what is given of their place is left out of the range, which the index serves then."""
        given: list[Value] = [value for value in (tenant, agent_id) if value]
        equal = "".join(f"{name} = ? AND " for name in PLACE[: len(given)])
        rest = PLACE[len(given) :]
        beyond = f"({', '.join(rest)}) > ({', '.join('?' for _ in rest)})"
        rows = await self._database.read(
            lambda: fetch(
                f"SELECT {KNOWN} FROM indexed_documents WHERE {equal}{beyond}"
                f" ORDER BY {', '.join(PLACE)} LIMIT ?",
                *given,
                *after[len(given) :],
                limit,
            )
        )
        return [_known(row) for row in rows]

    async def enqueue(
        self, tenant: str, agent_id: str, sources: Sequence[DocumentSource], suffix: str
    ) -> None:
        """By the outbox."""
        jobs = [document_job(agent_id, source, suffix) for source in sorted(set(sources))]
        await self._database.write(lambda: put_jobs(tenant, jobs))


PUT = (
    "INSERT INTO indexed_documents (tenant, agent_id, document_key, source_type, subject, document_id,"
    " version, digest, title, contact_id, chunk_count, settled)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, FALSE)"
    " ON CONFLICT (tenant, agent_id, document_key) DO UPDATE SET source_type = excluded.source_type,"
    " subject = excluded.subject, document_id = excluded.document_id, version = excluded.version,"
    " digest = excluded.digest, title = excluded.title, contact_id = excluded.contact_id,"
    " chunk_count = excluded.chunk_count, settled = FALSE"
)
PUT_CHUNK = (
    "INSERT INTO indexed_chunks (tenant, agent_id, item_id, document_key, number, start, text)"
    " VALUES (?, ?, ?, ?, ?, ?, ?)"
)


def _row(tenant: str, agent_id: str, document: IndexedDocument) -> Sequence[Value]:
    return (
        tenant,
        agent_id,
        document.key,
        int(document.source.type),
        document.source.subject,
        document.id,
        document.version,
        document.digest,
        document.title,
        document.contact_id,
        len(document.chunks),
    )


def _chunk_rows(tenant: str, agent_id: str, document: IndexedDocument) -> list[Sequence[Value]]:
    return [
        (
            tenant,
            agent_id,
            item_id(document.key, chunk.number),
            document.key,
            chunk.number,
            chunk.start,
            chunk.text,
        )
        for chunk in document.chunks
    ]


def _source(row: Row) -> DocumentSource:
    return DocumentSource(type=DocumentType(row["source_type"]), subject=row["subject"])


def _known(row: Row) -> KnownDocument:
    return KnownDocument(
        tenant=row["tenant"],
        agent_id=row["agent_id"],
        key=row["document_key"],
        source=_source(row),
        version=row["version"],
        digest=row["digest"],
        settled=bool(row["settled"]),
        chunk_count=row["chunk_count"],
    )


def _found(row: Row) -> FoundChunk:
    document = IndexedDocument(
        key=row["document_key"],
        id=row["document_id"],
        source=_source(row),
        version=row["version"],
        digest=row["digest"],
        title=row["title"],
        contact_id=row["contact_id"],
        chunks=(),
    )
    chunk = Chunk(number=row["number"], start=row["start"], text=row["text"])
    return FoundChunk(document=document, chunk=chunk, chunk_count=row["chunk_count"])
