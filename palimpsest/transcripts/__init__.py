"""Reads transcript files: JSON lines, OpenAI-style message lists and ShareGPT (docs/ingest-formats.md)."""

from __future__ import annotations

from palimpsest.transcripts.model import (
    AttachmentPart,
    Part,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    TranscriptError,
    TranscriptFormat,
    TranscriptLimits,
    TranscriptMessage,
)
from palimpsest.transcripts.reader import read_transcript, scan_transcript

__all__ = [
    "AttachmentPart",
    "Part",
    "Role",
    "TextPart",
    "ToolCallPart",
    "ToolResultPart",
    "TranscriptError",
    "TranscriptFormat",
    "TranscriptLimits",
    "TranscriptMessage",
    "read_transcript",
    "scan_transcript",
]
