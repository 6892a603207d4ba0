"""The derived work that Episodic asks for (SPEC SV-5): job types, their keys and payloads."""

from __future__ import annotations

from services.kit.outbox import NewJob
from services.memory.episodic.domain.model import ConversationKey

INDEX_MESSAGE = "index_message"
COVER_MESSAGES = "cover_messages"
FOLD_OVERLAYS = "fold_overlays"


def index_message(key: ConversationKey, sequence: int) -> NewJob:
    """Makes one message searchable."""
    return NewJob(
        type=INDEX_MESSAGE,
        agent_id=key.agent_id,
        subject=f"conversations/{key.id}/messages/{sequence}",
        key=f"{INDEX_MESSAGE}/{key.agent_id}/{key.id}/{sequence}",
        payload={"conversation_id": key.id, "sequence": sequence},
    )


def cover_messages(key: ConversationKey, revision: int, depth: int) -> NewJob:
    """Covers the oldest uncovered range of the active path (E-7, E-8)."""
    return _of_conversation(COVER_MESSAGES, key, f"{revision}/{depth}")


def fold_overlays(key: ConversationKey, revision: int) -> NewJob:
    """Folds the oldest overlays of the active path into one (E-7)."""
    return _of_conversation(FOLD_OVERLAYS, key, str(revision))


def _of_conversation(type_: str, key: ConversationKey, state: str) -> NewJob:
    """`state` tells apart what the conversation was like when the job was asked for."""
    return NewJob(
        type=type_,
        agent_id=key.agent_id,
        subject=f"conversations/{key.id}",
        key=f"{type_}/{key.agent_id}/{key.id}/{state}",
        payload={"conversation_id": key.id},
    )
