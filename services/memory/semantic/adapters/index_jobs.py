"""The jobs that the semantic service enqueues."""

from __future__ import annotations

from services.kit.outbox import NewJob
from services.memory.semantic.app.ports import KnownConversation


def index_job(agent_id: str, memory_id: str, revision: int, suffix: str = "") -> NewJob:
    """Indexes a memory, or takes it out; `suffix` makes a job of its own."""
    return NewJob(
        type="index_memory",
        agent_id=agent_id,
        subject=f"memories/{memory_id}",
        key=f"index_memory/{agent_id}/{memory_id}/{revision}{suffix}",
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
