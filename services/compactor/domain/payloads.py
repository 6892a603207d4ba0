"""What the payload of a job says. Pure; a payload may be anything, for anybody may enqueue."""

from __future__ import annotations

import json


def said(payload: bytes) -> dict[str, object]:
    """The JSON object; empty for whatever is none."""
    try:
        read = json.loads(payload)
    except (ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def of_conversation(conversation_id: str, to_sequence: int = 0) -> dict[str, object]:
    """That a job is about a conversation, up to one of its messages (0: it names none); see progress."""
    upto = {"to_sequence": to_sequence} if to_sequence > 0 else {}
    return {"conversation_id": conversation_id, **upto}


def text(payload: bytes, name: str) -> str:
    """A text that it names; empty where it names none."""
    found = said(payload).get(name)
    return found if isinstance(found, str) else ""
