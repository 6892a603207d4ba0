"""The derived work that Episodic asks for (SPEC SV-5): job types, their keys and payloads."""

from __future__ import annotations

from collections.abc import Sequence

from services.kit.outbox import NewJob
from services.memory.episodic.domain.model import ConversationKey, Leaf, Message, Role

INDEX_MESSAGE = "index_message"
COVER_MESSAGES = "cover_messages"
FOLD_OVERLAYS = "fold_overlays"
EXTRACT_MESSAGES = "extract_messages"
REFRESH_SUMMARY = "refresh_summary"
EXTRACTED_AT_ONCE = 50
"""Most messages of one job of extraction (J-8)."""


def index_message(key: ConversationKey, sequence: int) -> NewJob:
    """Makes one message searchable."""
    return NewJob(
        type=INDEX_MESSAGE,
        agent_id=key.agent_id,
        subject=f"conversations/{key.id}/messages/{sequence}",
        key=f"{INDEX_MESSAGE}/{key.agent_id}/{key.id}/{sequence}",
        payload={"conversation_id": key.id, "sequence": sequence},
    )


def extract_messages(key: ConversationKey, messages: Sequence[Message]) -> list[NewJob]:
    """Reads the facts that people state in messages just stored, which are in order (J-8).

    None for messages of which no person said one: an answer or the output of a tool states no fact of theirs.
    """
    jobs = []
    for begin in range(0, len(messages), EXTRACTED_AT_ONCE):
        said = [m.sequence for m in messages[begin : begin + EXTRACTED_AT_ONCE] if m.role is Role.USER]
        if said:
            jobs.append(_extraction(key, said[0], said[-1]))
    return jobs


def _extraction(key: ConversationKey, first: int, last: int) -> NewJob:
    return NewJob(
        type=EXTRACT_MESSAGES,
        agent_id=key.agent_id,
        subject=f"conversations/{key.id}",
        key=f"{EXTRACT_MESSAGES}/{key.agent_id}/{key.id}/{first}-{last}",
        payload={"conversation_id": key.id, "from_sequence": first, "to_sequence": last},
    )


def cover_messages(key: ConversationKey, revision: int, leaf: Leaf) -> NewJob:
    """Covers the oldest uncovered range of the active path (E-7, E-8)."""
    return _of_path(COVER_MESSAGES, key, f"{revision}/{leaf.depth}", leaf)


def refresh_summary(key: ConversationKey, revision: int, leaf: Leaf) -> NewJob:
    """Brings the rolling summary up to the end of the active path (E-8, J-6)."""
    return _of_path(REFRESH_SUMMARY, key, f"{revision}/{leaf.sequence}", leaf)


def fold_overlays(key: ConversationKey, revision: int, leaf: Leaf) -> NewJob:
    """Folds the oldest overlays of the active path into one (E-7)."""
    return _of_path(FOLD_OVERLAYS, key, str(revision), leaf)


def _of_path(type_: str, key: ConversationKey, state: str, leaf: Leaf) -> NewJob:
    """`state` tells apart what the conversation was like when the job was asked for; the payload names the
    end of the active path by then, for derived progress."""
    return NewJob(
        type=type_,
        agent_id=key.agent_id,
        subject=f"conversations/{key.id}",
        key=f"{type_}/{key.agent_id}/{key.id}/{state}",
        payload={"conversation_id": key.id, "to_sequence": leaf.sequence},
    )
