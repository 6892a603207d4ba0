"""Evidence as a model reads it (SPEC G-8)."""

from __future__ import annotations

from palimpsest.common.v1 import recall_pb2
from palimpsest.search.v1 import search_pb2

from services.gateway.adapters.texts import shown_text
from services.gateway.app.answering import Hit
from services.gateway.app.words import document_kind, speaker


def described(hit: Hit) -> tuple[str, str]:
    """Who and when, and what."""
    if isinstance(hit, recall_pb2.MemoryHit):
        memory = hit.memory
        return f"memory {memory.key}, {memory.create_time.ToDatetime():%Y-%m-%d}", memory.value
    if isinstance(hit, search_pb2.DocumentHit):
        return f"{document_kind(hit)} {hit.title}".strip(), hit.snippet
    message = hit.message
    said = "\n".join(text for text in shown_text(message) if text)
    return f"{speaker(message)}, {message.time.ToDatetime():%Y-%m-%d %H:%M}", said
