"""What an attractor takes from a conversation's summary (SPEC J-6, J-7, J-12). Pure.

A field that is absent, or not of its type, is done without: summaries of other engines may say less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from services.compactor.domain.attractor import Concept
from services.compactor.domain.attractor_labels import cut
from services.compactor.domain.documents import JsonObject

MOST_CONCEPTS: Final = 12
MOST_OBJECTIVES: Final = 3
MAX_TEXT_CHARACTERS: Final = 8000
MOST_RELEVANT: Final = 1e6
BETWEEN: Final = ". "


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """`text` is what is embedded, "" where the summary says nothing; `time` that of the last message."""

    text: str
    title: str
    time: datetime
    concepts: tuple[Concept, ...]


def reading_of(body: JsonObject, written: datetime) -> Reading:
    """`written` is when the summary was, which stands in for the time of its last message.

    What is embedded is the title, the concepts and the objective: the rest of a summary, with people's names
    and its own headings, is much the same in all conversations of an agent. Without concepts it is the text.
    """
    concepts = _concepts(body.get("concepts"))
    objectives = _objectives(body.get("sections"))
    title = _text(body.get("title")) or next(iter(objectives), "") or _first_line(_text(body.get("text")))
    names = ", ".join(concept.name for concept in concepts)
    said = [title, names, *objectives] if names else [title, _text(body.get("text"))]
    text = BETWEEN.join(dict.fromkeys(filter(None, said)))
    up_to = body.get("up_to")
    time = _time(up_to.get("time")) if isinstance(up_to, dict) else None
    return Reading(text=text[:MAX_TEXT_CHARACTERS], title=cut(title), time=time or written, concepts=concepts)


def _concepts(read: Any) -> tuple[Concept, ...]:
    found = []
    for one in read if isinstance(read, list) else ():
        name = _text(one.get("name")) if isinstance(one, dict) else _text(one)
        if name:
            found.append(Concept(name=name, relevance=_relevance(one)))
    return tuple(found[:MOST_CONCEPTS])


def _relevance(read: Any) -> float:
    """A positive number, else 1."""
    given = read.get("weight", read.get("relevance")) if isinstance(read, dict) else None
    if isinstance(given, int | float) and not isinstance(given, bool) and 0.0 < given < MOST_RELEVANT:
        return float(given)
    return 1.0


def _objectives(sections: Any) -> Sequence[str]:
    read = sections.get("objective") if isinstance(sections, dict) else None
    items = read if isinstance(read, list) else ()
    texts = [_text(one.get("text")) for one in items if isinstance(one, dict)]
    return [text for text in texts if text][:MOST_OBJECTIVES]


def _first_line(text: str) -> str:
    lines = (line.strip("#-* \t") for line in text.splitlines() if not line.startswith("#"))
    return next(filter(None, lines), "")


def _text(read: Any) -> str:
    return read.strip() if isinstance(read, str) else ""


def _time(read: Any) -> datetime | None:
    try:
        found = datetime.fromisoformat(read) if isinstance(read, str) and read else None
    except ValueError:
        return None
    if found is None:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
