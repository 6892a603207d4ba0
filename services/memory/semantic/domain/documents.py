"""Derived documents as they are indexed: in parts, each document with whose it is (SPEC S-13). Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from hashlib import sha256
from typing import Final

from services.memory.semantic.domain.passages import passages, units

SHARED: Final = "*"
"""In place of a contact: the document came from conversations with several people. No contact has this id."""
TITLE_UNITS: Final = 24
"""Up to so many units a title is embedded with each part."""


class DocumentType(IntEnum):
    """What a document is; the numbers of the protos."""

    SUMMARY = 1
    PAGE = 2
    BRANCH = 3
    THEME = 4


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class DocumentSource:
    """What is written at once: one document; or all themes of an agent, without a subject."""

    type: DocumentType
    subject: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceDocument:
    """A document as the Compactor has it, and the conversations that it came from."""

    source: DocumentSource
    id: str
    version: int
    title: str
    text: str
    conversation_ids: tuple[str, ...]

    @property
    def key(self) -> str:
        """Its name among all documents of an agent."""
        return f"{self.source.type.name.lower()}/{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A part of a document, and where it begins in the text (code points)."""

    number: int
    start: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedDocument:
    """A document in its parts; `contact_id` is "" for an agent-wide one, SHARED for one of several people."""

    key: str
    id: str
    source: DocumentSource
    version: int
    digest: str
    title: str
    contact_id: str
    chunks: tuple[Chunk, ...]

    def item_ids(self) -> list[str]:
        """The names of its parts in every index."""
        return [item_id(self.key, chunk.number) for chunk in self.chunks]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundChunk:
    """A part that is canonical, and its document without the other parts."""

    document: IndexedDocument
    chunk: Chunk
    chunk_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentScope:
    """Whose documents are searched: agent-wide ones and those of these contacts; None: all of the agent."""

    contact_ids: tuple[str, ...] | None = ()
    types: frozenset[DocumentType] = frozenset()
    """Any of these; empty: any."""

    @property
    def buckets(self) -> tuple[str, ...]:
        """The contact ids that pass, "" among them; empty: all."""
        return () if self.contact_ids is None else ("", *self.contact_ids)

    def admits(self, document: IndexedDocument) -> bool:
        """Whether a document may be shown."""
        return (not self.types or document.source.type in self.types) and (
            self.contact_ids is None or document.contact_id in self.buckets
        )


def item_id(key: str, number: int) -> str:
    """Ids of a document's parts sort by number."""
    return f"{key}#{number:05d}"


def owner(contact_ids: Iterable[str | None]) -> str:
    """Whose a document is that came from conversations with these contacts ("": with nobody).

    It is one person's if it came from that person's alone, and nobody's if from nobody's. One of several
    people is shown to none of them; likewise where it is not known with whom a conversation was (None).
    """
    found = {one for one in contact_ids if one != ""}
    if not found:
        return ""
    only = next(iter(found))
    return only if len(found) == 1 and only is not None else SHARED


def indexed(document: SourceDocument, contact_id: str) -> IndexedDocument:
    """A document in its parts."""
    chunks = tuple(
        Chunk(number=number, start=span.start, text=document.text[span.start : span.end])
        for number, span in enumerate(passages(document.text))
    )
    told = json.dumps([document.title, document.text, contact_id], ensure_ascii=False)
    return IndexedDocument(
        key=document.key,
        id=document.id,
        source=document.source,
        version=document.version,
        digest=sha256(told.encode("utf-8", "surrogatepass")).hexdigest(),
        title=document.title,
        contact_id=contact_id,
        chunks=chunks,
    )


def embedded_text(document: IndexedDocument, chunk: Chunk) -> str:
    """What of a part is embedded: a later one with the title before it, if that is short."""
    if chunk.number == 0 or not document.title or units(document.title) > TITLE_UNITS:
        return chunk.text
    return f"{document.title}\n{chunk.text}"


def searched_text(document: IndexedDocument, chunk: Chunk) -> str:
    """What of a part is found by words."""
    return chunk.text if chunk.number == 0 else f"{document.title}\n{chunk.text}"
