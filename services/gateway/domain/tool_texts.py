"""Results of tools as text: bounded, and one thing a line, so that none can pass for another (SPEC G-3)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from services.kit.fences import fenced

TOOL_RESULT = "tool result"
"""What the fence of a result is called."""
RESULT_BYTES = 16 * 1024
"""Most bytes of a result."""
ITEM_CHARACTERS = 2000
"""Most characters of a text in a list of what was found."""
LISTED_CHARACTERS = 120
"""Most characters of a value where memories are listed by key; a page of them fits a result."""
CUT = "… (cut)"
LEFT_OUT = "({} more did not fit; ask for fewer, or for something narrower)"


def shortened(text: str, most: int = ITEM_CHARACTERS) -> str:
    """The text, cut with a mark where it is longer."""
    return text if len(text) <= most else text[:most] + CUT


def bounded(text: str, most: int = RESULT_BYTES) -> str:
    """The text, cut with a mark to so many bytes."""
    raw = text.encode("utf-8")
    if len(raw) <= most:
        return text
    return raw[: most - len(CUT.encode("utf-8"))].decode("utf-8", "ignore") + CUT


def line(item: Mapping[str, Any]) -> str:
    """A thing as JSON on one line: a line break within is no line break of the result."""
    return json.dumps(item, ensure_ascii=False)


def told(content: str, *, is_error: bool) -> str:
    """A result as a model reads it, in a fence: it is data, whoever wrote it (G-3)."""
    return fenced(TOOL_RESULT, f"error: {content}" if is_error else content)


def fitting(items: Sequence[Mapping[str, Any]]) -> tuple[list[Mapping[str, Any]], str]:
    """As many as fit a result, at least one, and their lines; the last line says how many do not fit."""
    room = RESULT_BYTES - len(LEFT_OUT.encode("utf-8")) - 20
    shown: list[Mapping[str, Any]] = []
    lines: list[str] = []
    for item in items:
        written = line(item) if shown else bounded(line(item), room - 1)
        room -= len(written.encode("utf-8")) + 1
        if room < 0:
            lines.append(LEFT_OUT.format(len(items) - len(shown)))
            break
        shown.append(item)
        lines.append(written)
    return shown, "\n".join(lines)
