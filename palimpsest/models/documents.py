"""Derived documents that a search found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from palimpsest.models.memories import ChannelFailure, Explanation
from palimpsest.models.names import DocumentType


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentHit:
    """A document by the part of it that matched best: `snippet`, at `snippet_start` of the indexed text.

    `document_id` is that of the conversation of a summary, of the branch of a page, of the basin of a theme.
    """

    type: DocumentType
    document_id: str
    title: str
    version: int
    snippet: str
    snippet_start: int
    chunk_index: int
    chunk_count: int
    conversation_id: str
    branch_id: str
    explanation: Explanation


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundDocuments:
    """Documents, best first. Iterates over its hits."""

    hits: tuple[DocumentHit, ...]
    failures: tuple[ChannelFailure, ...]

    def __iter__(self) -> Iterator[DocumentHit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)
