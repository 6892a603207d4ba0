"""From one turn of a ShareGPT conversation to a TranscriptMessage."""

from __future__ import annotations

from typing import Any

from palimpsest.transcripts.model import UNNAMED_CALL, MessageError, Role, ToolResultPart, TranscriptMessage
from palimpsest.transcripts.openai import optional_text, parse_time, text_part

_SENDERS: dict[str, Role] = {
    "system": "system",
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "assistant": "assistant",
    "tool": "tool",
}


def sharegpt_message(value: Any, *, conversation: str | None, line: int) -> TranscriptMessage:
    """The message that `value` describes; raises MessageError."""
    if not isinstance(value, dict):
        raise MessageError("not a JSON object")
    role = _sender(value)
    text = value.get("value")
    if text is None:
        raise MessageError("missing value")
    if not isinstance(text, str):
        raise MessageError("value must be a string")
    return TranscriptMessage(
        conversation=conversation,
        line=line,
        id=optional_text(value, "id"),
        role=role,
        author=optional_text(value, "author"),
        session=optional_text(value, "session"),
        time=parse_time(value.get("time")),
        parts=(ToolResultPart(call_id=UNNAMED_CALL, content=text) if role == "tool" else text_part(text),),
    )


def _sender(value: dict[str, Any]) -> Role:
    if value.get("from") is None:
        raise MessageError("missing from")
    sender = value["from"]
    if not isinstance(sender, str) or sender not in _SENDERS:
        raise MessageError("unknown sender: expected human, gpt, system or tool")
    return _SENDERS[sender]
