"""A conversation's rolling summary (SPEC J-6, J-7): its value, its markdown, its JSON. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from services.compactor.domain.documents import (
    MAX_SOURCE_BYTES,
    MAX_SOURCES,
    MAX_SOURCES_BYTES,
    JsonObject,
)
from services.compactor.domain.summaries import BULLET, STATES, WORK_STATE, Section, Statement

FIELDS: Final[Mapping[Section, str]] = {
    section: section.value.casefold().replace(" ", "_") for section in Section
}
"""The names of the sections in JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RollingSummary:
    """What is known of a conversation; a section's statements in the order they were said.

    A file is a statement whose text is its path alone.
    """

    objective: tuple[Statement, ...] = ()
    details: tuple[Statement, ...] = ()
    completed: tuple[Statement, ...] = ()
    active: tuple[Statement, ...] = ()
    blocked: tuple[Statement, ...] = ()
    next_move: tuple[Statement, ...] = ()
    files: tuple[Statement, ...] = ()

    @classmethod
    def of(cls, statements: Iterable[Statement]) -> RollingSummary:
        """Each in its section, in the order given."""
        found: dict[Section, list[Statement]] = {section: [] for section in Section}
        for one in statements:
            found[one.section].append(one)
        return cls(
            objective=tuple(found[Section.OBJECTIVE]),
            details=tuple(found[Section.DETAILS]),
            completed=tuple(found[Section.COMPLETED]),
            active=tuple(found[Section.ACTIVE]),
            blocked=tuple(found[Section.BLOCKED]),
            next_move=tuple(found[Section.NEXT]),
            files=tuple(found[Section.FILES]),
        )

    def statements(self) -> list[Statement]:
        """All, section by section."""
        return [
            *self.objective,
            *self.details,
            *self.completed,
            *self.active,
            *self.blocked,
            *self.next_move,
            *self.files,
        ]

    def markdown(self) -> str:
        """As prompts and people read it; headings only where there is something to say."""
        return markdown(self.statements())


@dataclass(frozen=True, slots=True, kw_only=True)
class Concept:
    """What a conversation speaks of; weight 0 to 1; `count` is how often it was named."""

    name: str
    weight: float
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TurningPoint:
    """A message at which the conversation took another course; score 0 to 1.

    `kind` is "shift" (another topic begins) or "decision".
    """

    message_id: str
    sequence: int
    time: str
    kind: str
    text: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchProposal:
    """A theme that the conversation may be filed under; relevance 0 to 1."""

    name: str
    relevance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """The last message that is summarised: its place on its path, when it was said (ISO 8601, UTC)."""

    message_id: str = ""
    sequence: int = 0
    depth: int = 0
    time: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """What a person had a summary say, when it held all up to a message."""

    summary: RollingSummary
    up_to: Reached


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationSummary:
    """All that a document of kind "summary" says.

    `tallies` counts the messages that named a phrase, `tones` the words of each tone: what the next
    summary goes on counting from. `correction` is the last one; a summary that is derived anew begins with
    it, as long as its message is on the path.
    """

    conversation_id: str
    title: str = ""
    summary: RollingSummary = field(default_factory=RollingSummary)
    vibes: tuple[str, ...] = ()
    concepts: tuple[Concept, ...] = ()
    turning_points: tuple[TurningPoint, ...] = ()
    branches: tuple[BranchProposal, ...] = ()
    up_to: Reached = field(default_factory=Reached)
    message_count: int = 0
    token_count: int = 0
    tallies: Mapping[str, int] = field(default_factory=dict)
    tones: Mapping[str, int] = field(default_factory=dict)
    correction: Correction | None = None


def markdown(statements: Sequence[Statement]) -> str:
    """The anchored text (J-6) as markdown; a day is told once for neighbouring lines of it."""
    lines: list[str] = []
    in_state = False
    for section in Section:
        found = [one for one in statements if one.section is section]
        if not found:
            continue
        if section in STATES and not in_state:
            lines.append(f"## {WORK_STATE}")
            in_state = True
        lines.append(f"### {section.value}" if section in STATES else f"## {section.value}")
        day = ""
        for one in found:
            text = f"`{one.text}`" if section is Section.FILES else one.text
            dated = one.day not in ("", day)
            lines.append(f"{BULLET}{one.day} {text}" if dated else BULLET + text)
            day = one.day or day
    return "\n".join(lines)


def to_body(summary: ConversationSummary) -> JsonObject:
    """The document's JSON, schema palimpsest.summary, version 1."""
    correction = summary.correction
    corrected: JsonObject = {}
    if correction is not None:
        said = {"sections": _sections(correction.summary), "up_to": _place(correction.up_to)}
        corrected = {"correction": said}
    return {
        **corrected,
        "conversation_id": summary.conversation_id,
        "title": summary.title,
        "text": summary.summary.markdown(),
        "sections": _sections(summary.summary),
        "vibes": list(summary.vibes),
        "concepts": [
            {"name": one.name, "weight": one.weight, "count": one.count} for one in summary.concepts
        ],
        "turning_points": [
            {
                "message_id": one.message_id,
                "sequence": one.sequence,
                "time": one.time,
                "kind": one.kind,
                "text": one.text,
                "score": one.score,
            }
            for one in summary.turning_points
        ],
        "branches": [{"name": one.name, "relevance": one.relevance} for one in summary.branches],
        "up_to": _place(summary.up_to),
        "message_count": summary.message_count,
        "token_count": summary.token_count,
        "tallies": dict(summary.tallies),
        "tones": dict(summary.tones),
    }


def from_body(body: JsonObject) -> ConversationSummary:
    """What `to_body` wrote. Raises KeyError, TypeError or ValueError for anything else."""
    corrected = body.get("correction")
    return ConversationSummary(
        conversation_id=str(body["conversation_id"]),
        title=str(body["title"]),
        summary=_rolling(body["sections"]),
        vibes=tuple(map(str, body["vibes"])),
        concepts=tuple(
            Concept(name=str(one["name"]), weight=float(one["weight"]), count=int(one["count"]))
            for one in body["concepts"]
        ),
        turning_points=tuple(_turning_point(one) for one in body["turning_points"]),
        branches=tuple(
            BranchProposal(name=str(one["name"]), relevance=float(one["relevance"]))
            for one in body["branches"]
        ),
        up_to=_reached(body["up_to"]),
        message_count=int(body["message_count"]),
        token_count=int(body["token_count"]),
        tallies=_counts(body["tallies"]),
        tones=_counts(body["tones"]),
        correction=None
        if corrected is None
        else Correction(summary=_rolling(corrected["sections"]), up_to=_reached(corrected["up_to"])),
    )


def _sections(summary: RollingSummary) -> JsonObject:
    return {
        FIELDS[section]: [
            {"text": one.text, "day": one.day} for one in summary.statements() if one.section is section
        ]
        for section in Section
    }


def _rolling(sections: Mapping[str, Any]) -> RollingSummary:
    return RollingSummary.of(
        Statement(section=section, text=str(item["text"]), day=str(item["day"]))
        for section in Section
        for item in sections[FIELDS[section]]
    )


def _place(reached: Reached) -> JsonObject:
    return {
        "message_id": reached.message_id,
        "sequence": reached.sequence,
        "depth": reached.depth,
        "time": reached.time,
    }


def _reached(place: Mapping[str, Any]) -> Reached:
    return Reached(
        message_id=str(place["message_id"]),
        sequence=int(place["sequence"]),
        depth=int(place["depth"]),
        time=str(place["time"]),
    )


def source_id(conversation_id: str, message_id: str) -> str:
    """How a summary names a message that it came from."""
    return f"{conversation_id}/{message_id}"


def version_id(conversation_id: str, version: int) -> str:
    """How a summary names the version that it went on from."""
    return f"{conversation_id}@{version}"


def newest_sources(source_ids: Sequence[str]) -> list[str]:
    """The last of them, as many as a document may name beside one more."""
    kept: list[str] = []
    size = 0
    for one in reversed(list(dict.fromkeys(source_ids))):
        size += len(one.encode("utf-8"))
        if len(kept) == MAX_SOURCES - 1 or size > MAX_SOURCES_BYTES - MAX_SOURCE_BYTES:
            break
        kept.append(one)
    return kept[::-1]


def _turning_point(one: Mapping[str, Any]) -> TurningPoint:
    return TurningPoint(
        message_id=str(one["message_id"]),
        sequence=int(one["sequence"]),
        time=str(one["time"]),
        kind=str(one["kind"]),
        text=str(one["text"]),
        score=float(one["score"]),
    )


def _counts(counts: Mapping[str, Any]) -> dict[str, int]:
    return {str(name): int(count) for name, count in counts.items()}
