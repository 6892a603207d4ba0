"""Indexing derived documents: the newest version of each, in parts, with whose it is (SPEC S-13).

The canonical rows come first, then vectors, words and registry; then the rows are settled. A search shows
what the rows have alone. What a crash leaves unsettled is written again by the same job.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Final

from services.memory.semantic.app.document_ports import (
    Contacts,
    DerivedDocuments,
    DocumentStore,
    KnownDocument,
)
from services.memory.semantic.app.entries import chunk_document, chunk_point
from services.memory.semantic.app.generations import Generation
from services.memory.semantic.app.item_ports import ItemIndex, MemoryDocument
from services.memory.semantic.app.vector_writing import VectorWriter
from services.memory.semantic.domain.documents import (
    DocumentSource,
    FoundChunk,
    IndexedDocument,
    SourceDocument,
    embedded_text,
    indexed,
    item_id,
    owner,
)
from services.memory.semantic.domain.vectors import Bucket, ContentClass

ROUNDS: Final = 8
"""How often what changes while it is written is written again, before it is left to the job of the change."""


class DocumentIndexer:
    """Indexes documents. Running a source twice changes nothing."""

    def __init__(
        self,
        *,
        store: DocumentStore,
        texts: DerivedDocuments,
        contacts: Contacts,
        items: ItemIndex,
        writer: VectorWriter,
    ) -> None:
        self._store = store
        self._texts = texts
        self._contacts = contacts
        self._items = items
        self._writer = writer

    async def index(
        self,
        tenant: str,
        agent_id: str,
        sources: Collection[DocumentSource],
        into: Sequence[Generation],
        *,
        again: bool,
    ) -> set[DocumentSource]:
        """Brings sources to their newest versions; those of which the embedder refused a part.

        Of those it has the words alone. With `again` what is indexed already is written anew. What another
        call wrote meanwhile, of another version, is seen by reading once more afterwards.
        """
        bucket = documents_bucket(tenant, agent_id)
        ordered = sorted(sources)
        written: dict[str, IndexedDocument] = {}
        refused: set[DocumentSource] = set()
        for round_ in range(ROUNDS):
            documents = {one.key: one for one in await self._read(tenant, agent_id, ordered)}
            if round_ and documents == written:
                break
            forced = {key for key, one in documents.items() if again or (round_ and written.get(key) != one)}
            refused |= await self._write(bucket, ordered, list(documents.values()), into, forced)
            again, written = False, documents
        return refused

    async def fill(self, bucket: Bucket, item_ids: Sequence[str], into: Generation) -> set[str]:
        """Makes the vectors of parts in one generation, as the rows have them; the ids that it refused."""
        found = await self._store.chunks(bucket.tenant, bucket.agent, item_ids)
        made = await self._writer.embed(
            [into],
            [(id_, embedded_text(one.document, one.chunk)) for id_, one in found.items()],
            vectors_only=True,
        )
        await self._writer.upsert(
            made, {id_: partial(chunk_point, bucket, one) for id_, one in found.items()}
        )
        return made.refused | (set(item_ids) - found.keys())

    async def _read(
        self, tenant: str, agent_id: str, sources: Sequence[DocumentSource]
    ) -> list[IndexedDocument]:
        documents = await self._texts.read(agent_id, sources)
        contacts = await self._contacts_of(tenant, agent_id, documents)
        return await asyncio.to_thread(_indexed, documents, contacts)

    async def _contacts_of(
        self, tenant: str, agent_id: str, documents: Sequence[SourceDocument]
    ) -> dict[str, str]:
        """With whom the documents' conversations are: as their summaries' rows say, else Episodic."""
        wanted = list(dict.fromkeys(id_ for one in documents for id_ in one.conversation_ids))
        known = await self._store.contacts(tenant, agent_id, wanted)
        return known | await self._contacts.of(agent_id, [id_ for id_ in wanted if id_ not in known])

    async def _write(
        self,
        bucket: Bucket,
        sources: Sequence[DocumentSource],
        documents: Sequence[IndexedDocument],
        into: Sequence[Generation],
        forced: Collection[str],
    ) -> set[DocumentSource]:
        tenant, agent_id = bucket.tenant, bucket.agent
        known = {one.key: one for one in await self._store.known(tenant, agent_id, sources)}
        leaving = _leaving(known, documents)
        if leaving:
            await self._writer.delete(bucket, leaving)
            await self._items.remove_memories(bucket, leaving)
        whole = await self._whole(bucket, documents, known, into[-1])
        fresh = [one for one in documents if one.key in forced or one.key not in whole]
        gone = sorted(known.keys() - {document.key for document in documents})
        if fresh or gone:
            await self._store.write(tenant, agent_id, fresh, gone)
        refused = await self._put(bucket, fresh, into)
        written = {one.key for one in fresh}
        news = [one for one in documents if one.key in written or known[one.key].version != one.version]
        if news:
            await self._store.settle(tenant, agent_id, news)
        return refused

    async def _put(
        self, bucket: Bucket, documents: Sequence[IndexedDocument], into: Sequence[Generation]
    ) -> set[DocumentSource]:
        """Into every index; the sources of which the embedder refused a part."""
        chunks = {
            item_id(document.key, chunk.number): FoundChunk(
                document=document, chunk=chunk, chunk_count=len(document.chunks)
            )
            for document in documents
            for chunk in document.chunks
        }
        if not chunks:
            return set()
        made = await self._writer.embed(
            into, [(id_, embedded_text(one.document, one.chunk)) for id_, one in chunks.items()]
        )
        if bare := [id_ for id_ in chunks if any(id_ not in vectors for _, vectors in made.by_generation)]:
            await self._writer.delete(bucket, bare)  # the vectors there are of what it said before
        await self._writer.upsert(
            made, {id_: partial(chunk_point, bucket, one) for id_, one in chunks.items()}
        )
        words = await asyncio.to_thread(_words, chunks)
        await self._items.put_memories(bucket, words)
        return {chunks[id_].document.source for id_ in made.refused}

    async def _whole(
        self,
        bucket: Bucket,
        documents: Sequence[IndexedDocument],
        known: Mapping[str, KnownDocument],
        deciding: Generation,
    ) -> set[str]:
        """Those that are indexed as they are: settled, registered, and with vectors."""
        same = [one for one in documents if _settled(one, known.get(one.key))]
        ids = [id_ for one in same for id_ in one.item_ids()]
        if not ids:
            return {one.key for one in same}
        held = await self._items.known_memories(bucket, ids) & await deciding.held(bucket, ids)
        return {one.key for one in same if held.issuperset(one.item_ids())}


def documents_bucket(tenant: str, agent_id: str) -> Bucket:
    """Where an agent's documents are indexed."""
    return Bucket(tenant=tenant, agent=agent_id, content=ContentClass.DOCUMENT)


def _indexed(documents: Sequence[SourceDocument], contacts: Mapping[str, str]) -> list[IndexedDocument]:
    return [indexed(one, owner(map(contacts.get, one.conversation_ids))) for one in documents]


def _settled(document: IndexedDocument, known: KnownDocument | None) -> bool:
    return known is not None and known.settled and known.digest == document.digest


def _words(chunks: Mapping[str, FoundChunk]) -> list[MemoryDocument]:
    return [chunk_document(id_, one) for id_, one in chunks.items()]


def _leaving(known: Mapping[str, KnownDocument], documents: Sequence[IndexedDocument]) -> list[str]:
    """Parts that were indexed and are no more: of documents that are gone, or became shorter."""
    counts = {document.key: len(document.chunks) for document in documents}
    return [
        item_id(one.key, number)
        for one in known.values()
        for number in range(counts.get(one.key, 0), one.chunk_count)
    ]
