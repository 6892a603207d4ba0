"""What a job "index_document" names, for Semantic (SPEC S-13)."""

from __future__ import annotations

from palimpsest.search.v1 import search_pb2, sources_pb2
from palimpsest.semantic.v1 import semantic_pb2

from services.compactor.domain.searchable import DocumentType

NUMBERS = {
    DocumentType.SUMMARY: search_pb2.DOCUMENT_TYPE_SUMMARY,
    DocumentType.PAGE: search_pb2.DOCUMENT_TYPE_PAGE,
    DocumentType.BRANCH: search_pb2.DOCUMENT_TYPE_BRANCH,
    DocumentType.THEME: search_pb2.DOCUMENT_TYPE_THEME,
}


def document_item(payload: dict[str, object]) -> semantic_pb2.IndexItem:
    """From {"type", "subject"}; raises ValueError."""
    type_, subject = DocumentType(str(payload.get("type"))), payload.get("subject")
    if not isinstance(subject, str) or (type_ is DocumentType.THEME) == bool(subject):
        raise ValueError("subject")
    return semantic_pb2.IndexItem(document=sources_pb2.DocumentSource(type=NUMBERS[type_], subject=subject))
