"""What is summarised, and the anchored form of a summary (SPEC J-6). Pure.

A summary is text: a heading on its own line, ended by a colon, and under it one line per statement, begun by
"- ". A statement is one line, so no statement can pass for a heading and merging can't nest them. A statement
begins with the day on which it was said where that is another than the one before under its heading.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

BULLET = "- "


class Section(StrEnum):
    """Where a statement stands; the order is that of the text (J-6)."""

    OBJECTIVE = "Objective"
    DETAILS = "Important Details"
    COMPLETED = "Completed"
    ACTIVE = "Active"
    BLOCKED = "Blocked"
    NEXT = "Next Move"
    FILES = "Relevant Files"


WORK_STATE = "Work State"  # the heading over Completed, Active and Blocked
STATES = frozenset({Section.COMPLETED, Section.ACTIVE, Section.BLOCKED})
DAY = re.compile(r"(\d{4}-\d{2}-\d{2}) (?=\S)")
_SECTIONS = {f"{section.value}:": section for section in Section}


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """One message as a summariser reads it.

    `author` is who speaks, never empty. `text` is what was said, `output` what tools returned; either may be
    empty. `asks` says whether a person speaks, whose wishes are the objective. `day` is the date (ISO 8601,
    UTC) on which it was said, "" when unknown.
    """

    author: str
    text: str
    output: str = ""
    asks: bool = False
    day: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A line of a summary; `text` holds no line break. `day` is that of Utterance."""

    section: Section
    text: str
    day: str = ""


def render(statements: Sequence[Statement]) -> str:
    """The anchored text; headings only where there is something to say."""
    lines: list[str] = []
    in_state = False
    for section in Section:
        found = [statement for statement in statements if statement.section is section]
        if not found:
            continue
        if section in STATES and not in_state:
            lines.append(f"{WORK_STATE}:")
            in_state = True
        lines.append(f"{section.value}:")
        day = ""
        for statement in found:
            dated = statement.day not in ("", day)
            lines.append(f"{BULLET}{statement.day} {statement.text}" if dated else BULLET + statement.text)
            day = statement.day or day
    return "\n".join(lines)


def parse(summary: str) -> list[Statement]:
    """The statements of a summary, in its order. Prose without headings counts as important details."""
    statements = []
    section, day = Section.DETAILS, ""
    for line in map(str.strip, summary.splitlines()):
        if line in _SECTIONS:
            section, day = _SECTIONS[line], ""
            continue
        text = line.removeprefix(BULLET).strip()
        if dated := DAY.match(text):
            day, text = dated[1], text[dated.end() :]
        if text and line != f"{WORK_STATE}:":
            statements.append(Statement(section=section, text=text, day=day))
    return statements
