"""What messages, memories and parts of documents are in the indexes: point, words (SPEC S-3, S-13, S-18)."""

from __future__ import annotations

from datetime import UTC, datetime

from services.memory.semantic.app.item_ports import MemoryDocument, MessageDocument
from services.memory.semantic.domain.analysis import analyse
from services.memory.semantic.domain.documents import FoundChunk, item_id, searched_text
from services.memory.semantic.domain.items import SourceConversation, SourceMessage
from services.memory.semantic.domain.memory import Memory
from services.memory.semantic.domain.names import strip_names
from services.memory.semantic.domain.roles import role_name
from services.memory.semantic.domain.vectors import Bucket, ContentClass, VectorPoint

TIMELESS = datetime(1970, 1, 1, tzinfo=UTC)
"""From when on a document holds: no search of documents asks."""


def embedded_text(message: SourceMessage, source: SourceConversation) -> str:
    """What of a message is embedded: its words without the participants' names, else what its tools said."""
    stripped = strip_names(message.text, source.authors)
    if stripped.strip():
        return stripped
    return message.text if message.text.strip() else message.tool_text


def message_point(tenant: str, agent_id: str, message: SourceMessage, vector: bytes) -> VectorPoint:
    """With what searches of messages are narrowed by."""
    return VectorPoint(
        bucket=Bucket(tenant=tenant, agent=agent_id, content=ContentClass.MESSAGE),
        item_id=message.item_id,
        vector=vector,
        contact_id=message.contact_id,
        conversation_id=message.conversation_id,
        role=role_name(message.role),
        author=message.author,
        time=message.time.timestamp(),
        sequence=message.sequence,
        session=message.session,
    )


def message_document(message: SourceMessage) -> MessageDocument:
    """Its words, its author's and its tools' among them."""
    terms = analyse(f"{message.author} {message.text} {message.tool_text}")
    return MessageDocument(message=message, terms=" ".join(terms))


def memory_document(memory: Memory) -> MemoryDocument:
    """The words of its key and value, and when it holds."""
    return MemoryDocument(
        memory_id=memory.id,
        contact_id=memory.contact_id,
        terms=" ".join(analyse(f"{memory.key} {memory.value}")),
        begins=memory.valid_from,
        ends=memory.ends,
        kind=memory.kind,
    )


def memory_point(bucket: Bucket, memory: Memory, vector: bytes) -> VectorPoint:
    """With what searches of memories are narrowed by; its time is when it begins to hold."""
    return VectorPoint(
        bucket=bucket,
        item_id=memory.id,
        vector=vector,
        contact_id=memory.contact_id,
        kind=memory.kind.name.lower(),
        time=memory.valid_from.timestamp(),
        ends=None if memory.ends is None else memory.ends.timestamp(),
    )


def chunk_document(id_: str, found: FoundChunk) -> MemoryDocument:
    """The words of a part, with those of the document's title."""
    return MemoryDocument(
        memory_id=id_,
        contact_id=found.document.contact_id,
        terms=" ".join(analyse(searched_text(found.document, found.chunk))),
        begins=TIMELESS,
        kind=found.document.source.type,
    )


def chunk_point(bucket: Bucket, found: FoundChunk, vector: bytes) -> VectorPoint:
    """With what searches of documents are narrowed by."""
    return VectorPoint(
        bucket=bucket,
        item_id=item_id(found.document.key, found.chunk.number),
        vector=vector,
        contact_id=found.document.contact_id,
        kind=found.document.source.type.name.lower(),
    )
