"""The jobs that the semantic service enqueues."""

from __future__ import annotations

from services.kit.outbox import NewJob
from services.memory.semantic.app.ports import KnownConversation
from services.memory.semantic.domain.documents import DocumentSource


def index_job(agent_id: str, memory_id: str, revision: int, suffix: str = "") -> NewJob:
    """Indexes a memory, or takes it out; `suffix` makes a job of its own."""
    return NewJob(
        type="index_memory",
        agent_id=agent_id,
        subject=f"memories/{memory_id}",
        key=f"index_memory/{agent_id}/{memory_id}/{revision}{suffix}",
        payload={"memory_id": memory_id},
    )


def verify_job(agent_id: str, memory_id: str, revision: int) -> NewJob:
    """Verifies a memory that is indexed, by a model."""
    return NewJob(
        type="verify_memory",
        agent_id=agent_id,
        subject=f"memories/{memory_id}",
        key=f"verify_memory/{agent_id}/{memory_id}/{revision}",
        payload={"memory_id": memory_id},
    )


def message_job(known: KnownConversation, sequence: int, suffix: str) -> NewJob:
    """Indexes a message again."""
    return NewJob(
        type="index_message",
        agent_id=known.agent_id,
        subject=f"conversations/{known.conversation_id}/messages/{sequence}",
        key=f"index_message/{known.agent_id}/{known.conversation_id}/{sequence}{suffix}",
        payload={"conversation_id": known.conversation_id, "sequence": sequence},
    )


def document_job(agent_id: str, source: DocumentSource, suffix: str) -> NewJob:
    """Indexes documents again; as the Compactor asks for it when they change."""
    type_ = source.type.name.lower()
    return NewJob(
        type="index_document",
        agent_id=agent_id,
        subject=f"documents/{type_}/{source.subject}",
        key=f"index_document/{agent_id}/{type_}/{source.subject}/{suffix}",
        payload={"type": type_, "subject": source.subject},
    )
