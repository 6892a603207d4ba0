"""What of a derived document is found by a search: its title and its text (SPEC S-13). Pure.

Each type has a function of its own. A text has no headings or labels: they would be in every document, and in
English. Its first line is the title.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from services.compactor.domain.attractor_document import earlier_of
from services.compactor.domain.documents import Document, JsonObject
from services.compactor.domain.graph import Names
from services.compactor.domain.graph_names import spelled
from services.compactor.domain.rolling import ConversationSummary


class DocumentType(StrEnum):
    """What is searched."""

    SUMMARY = "summary"
    PAGE = "page"
    BRANCH = "branch"
    THEME = "theme"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Names what is written at once: one document, or for THEME all of an agent, without a subject."""

    type: DocumentType
    subject: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Searchable:
    """A document as it is to be indexed, and the conversations that it came from."""

    source: Source
    document_id: str
    version: int
    title: str
    text: str
    conversation_ids: tuple[str, ...]


def of_summary(summary: ConversationSummary, version: int) -> Searchable:
    """What is said of a conversation, and its turning points, concepts and vibes: not its transcript."""
    lines = [
        *(_dated(one.day, one.text) for one in summary.summary.statements()),
        *(_dated(one.time[:10], one.text) for one in summary.turning_points),
        ", ".join(one.name for one in summary.concepts),
        ", ".join(summary.vibes),
    ]
    title = summary.title or next(iter(lines), "")
    return Searchable(
        source=Source(type=DocumentType.SUMMARY, subject=summary.conversation_id),
        document_id=summary.conversation_id,
        version=version,
        title=_line(title),
        text=_text(title, lines),
        conversation_ids=(summary.conversation_id,),
    )


def of_page(
    body: JsonObject, version: int, branch_id: str, names: Names, linked: Iterable[str]
) -> Searchable:
    """What a page tells of its branch; not its lists of other branches and of sources, and of its names those
    that are left of the people in it.

    `linked` are the branch's conversations: its names may come from any of them. Raises ValueError for what
    is no page.
    """
    try:
        items = [*body["timeline"], *body["decisions"], *body["open_questions"]]
        lines = [
            " ".join(map(str, body["lead"])),
            *(_dated(str(one["day"]), str(one["text"])) for one in items),
            *map(spelled, names.slugs),
        ]
        used = [str(one["conversation_id"]) for one in body["sources"]]
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("no page") from error
    return Searchable(
        source=Source(type=DocumentType.PAGE, subject=branch_id),
        document_id=branch_id,
        version=version,
        title=_line(names.title),
        text=_text(names.title, lines),
        conversation_ids=_once([*used, *linked]),
    )


def of_branch(branch_id: str, names: Names, linked: Iterable[str]) -> Searchable:
    """The names that lead to a branch; it has no versions."""
    return Searchable(
        source=Source(type=DocumentType.BRANCH, subject=branch_id),
        document_id=branch_id,
        version=0,
        title=_line(names.title),
        text=_text(names.title, map(spelled, names.slugs)),
        conversation_ids=_once(linked),
    )


def of_themes(document: Document) -> list[Searchable]:
    """What each basin of an attractor is called, and what is said there. Raises ValueError for none."""
    read = earlier_of(document.body, document.source_ids)
    members: dict[str, list[str]] = {}
    for conversation_id, basin_id in read.labels.items():
        members.setdefault(basin_id, []).append(conversation_id)
    return [
        Searchable(
            source=Source(type=DocumentType.THEME),
            document_id=basin.id,
            version=document.version,
            title=_line(basin.name or basin.label),
            text=_text(
                basin.name or basin.label, [basin.label, ", ".join(term.text for term in basin.terms)]
            ),
            conversation_ids=_once(members.get(basin.id, ())),
        )
        for basin in read.basins
    ]


def _text(title: str, lines: Iterable[str]) -> str:
    """Title and lines, each once, and none that is empty."""
    return "\n".join(filter(None, _once([_line(title), *map(_line, lines)])))


def _line(text: str) -> str:
    return " ".join(text.split())


def _dated(day: str, text: str) -> str:
    return f"{day} {text}" if day else text


def _once(values: Iterable[str]) -> tuple[str, ...]:
    known: Mapping[str, None] = dict.fromkeys(values)
    return tuple(known)
