"""Micro-compaction: what a window shows of long messages that are not among the newest (SPEC E-9)."""

from __future__ import annotations

from dataclasses import replace

from services.kit.tokens import TokenCounter, estimate_tokens
from services.memory.episodic.domain.cutting import Shown, has_tool_traffic, marker, whole
from services.memory.episodic.domain.model import Message
from services.memory.episodic.domain.parts import Part, Text, ToolResult, encode, plain_text

NEWEST_AT_LENGTH = 4  # E-9: messages at the end of a path that are never shortened
MAX_RESULT_CHARACTERS = 500  # E-9, the marker included
MAX_TEXT_CHARACTERS = 10_000  # E-9, the marker included
DIVISORS = (1, 2, 4)  # of the limits; E-10's rates are no further apart than 3.5 to 1.5


def at_its_place(message: Message, path_depth: int, count: TokenCounter) -> Shown:
    """The message as a path of `path_depth` messages shows it: verbatim among the newest, else compacted."""
    if message.depth > path_depth - NEWEST_AT_LENGTH:
        return whole(message, count)
    return compact(message, count)


def compact(message: Message, count: TokenCounter) -> Shown:
    """Its long tool results and texts cut to their limits, each with the marker; the rest as it is.

    By the estimate it never takes more tokens so: a text that begins in a script of few characters a token
    (E-10) is cut to a half or a quarter of its limit instead.
    """
    if not _may_be_long(message.content):
        return whole(message, count)
    parts = message.parts()
    for divisor in DIVISORS:
        short = tuple(_shortened(part, divisor, marker(message)) for part in parts)
        if short == parts:
            break
        text = plain_text(message.author, short)
        if estimate_tokens(text) <= message.token_count:
            cut = replace(message, content=encode(short))
            return Shown(message=cut, token_count=count(text), cut=True, compacted=True)
    return whole(message, count)


def _may_be_long(content: str) -> bool:
    """Cheaper than decoding: canonical text is longer than any text in it."""
    if len(content) > MAX_TEXT_CHARACTERS:
        return True
    return len(content) > MAX_RESULT_CHARACTERS and has_tool_traffic(content)


def _shortened(part: Part, divisor: int, ending: str) -> Part:
    match part:
        case Text(text=text) if len(text) > MAX_TEXT_CHARACTERS:
            return Text(text=_clip(text, MAX_TEXT_CHARACTERS // divisor, ending))
        case ToolResult(content=content) if len(content) > MAX_RESULT_CHARACTERS:
            return replace(part, content=_clip(content, MAX_RESULT_CHARACTERS // divisor, ending))
        case _:
            return part


def _clip(text: str, length: int, ending: str) -> str:
    return text[: max(0, length - len(ending))] + ending
