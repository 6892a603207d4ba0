"""A branch's page, from the summaries of its conversations (SPEC J-14). Pure; the same for the same sources.

The lead is the sentences that are nearest to all others and not to each other (see nearness); the rest is
what summaries say of turning points, decisions and what is open, by time. What does not name the branch
counts less, by how much of its conversation is about the branch.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from services.compactor.domain.documents import JsonObject
from services.compactor.domain.graph import Branch
from services.compactor.domain.graph_names import SEPARATOR, slugified
from services.compactor.domain.nearness import Nearness, Vectors
from services.compactor.domain.rolling import ConversationSummary, version_id
from services.compactor.domain.summaries import Section, Statement

ENGINE: Final = "wiki-2"
"""The builder's name; another one writes every page anew."""
MOST_SOURCES: Final = 200
"""Conversations that a page is made from, the most relevant."""
MOST_SENTENCES: Final = 120
"""That are compared for the lead."""
LEAD: Final = 4
MOST_TURNS: Final = 30
MOST_DECISIONS: Final = 20
MOST_OPEN: Final = 20
MOST_RELATED: Final = 8
UNNAMED: Final = 0.5
"""What a statement counts that does not name the branch."""
LEAST_WEIGHT: Final = 0.2
"""Below it a statement is not about the branch."""
DECISION: Final = "decision"
OPEN: Final = (Section.BLOCKED, Section.NEXT)
LEADING: Final = (Section.OBJECTIVE, Section.DETAILS, Section.COMPLETED, Section.ACTIVE)
SHORTEST_WORD: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A conversation of the branch, how much of it is about that, and a version of its summary."""

    conversation_id: str
    version: int
    relevance: float
    summary: ConversationSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """Another branch, and how many conversations both have."""

    slug: str
    name: str
    shared: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    weight: float
    text: str
    day: str
    conversation_id: str


def source_ids(sources: Sequence[Source]) -> list[str]:
    """What a page came from: versions of summaries."""
    return [version_id(one.conversation_id, one.version) for one in sources]


def fingerprint(branch: Branch, sources: Sequence[Source], related: Sequence[Related]) -> str:
    """The same for a page that would come out the same."""
    inputs = [
        ENGINE,
        branch.name,
        branch.aliases,
        [[one.conversation_id, one.version, round(one.relevance, 4)] for one in sources],
        [[one.slug, one.name, one.shared] for one in related],
    ]
    return hashlib.sha256(json.dumps(inputs).encode("utf-8")).hexdigest()


def lead_candidates(branch: Branch, sources: Sequence[Source]) -> list[str]:
    """The sentences that may begin the page: to be embedded."""
    return [one.text for one in _leading(branch, sources)]


def build(
    branch: Branch, sources: Sequence[Source], related: Sequence[Related], vectors: Vectors
) -> JsonObject:
    """The page as JSON, schema palimpsest.wiki, version 1; "text" is its markdown."""
    turns = sorted(
        _strongest(branch, sources, MOST_TURNS, decisions=False), key=lambda one: (one.day, one.text)
    )
    decisions = sorted(
        _strongest(branch, sources, MOST_DECISIONS, decisions=True), key=lambda one: (one.day, one.text)
    )
    unsettled = _top(_statements(branch, sources, OPEN), MOST_OPEN)
    page: dict[str, Any] = {
        "branch_id": branch.id,
        "slug": branch.slug,
        "title": branch.name,
        "aliases": list(branch.aliases),
        "lead": _lead(branch, sources, vectors),
        "timeline": [_item(one) for one in turns],
        "decisions": [_item(one) for one in decisions],
        "open_questions": [_item(one) for one in unsettled],
        "related": [
            {"slug": one.slug, "name": one.name, "shared_count": one.shared} for one in related[:MOST_RELATED]
        ],
        "sources": [
            {
                "conversation_id": one.conversation_id,
                "title": one.summary.title,
                "version": one.version,
                "relevance": round(one.relevance, 4),
            }
            for one in sources
        ],
        "inputs": fingerprint(branch, sources, related),
    }
    return {**page, "text": _markdown(page)}


def _lead(branch: Branch, sources: Sequence[Source], vectors: Vectors) -> list[str]:
    """Sentences one after the other: weighty, near to all, unlike those chosen."""
    candidates = _leading(branch, sources)
    nearness = Nearness(vectors, [one.text for one in candidates])
    chosen: list[_Said] = []
    while candidates and len(chosen) < LEAD:
        best = max(
            candidates,
            key=lambda one: (
                one.weight * nearness.centrality(one.text) * nearness.novelty(one.text),
                one.day,
                one.text,
            ),
        )
        chosen.append(best)
        nearness.choose(best.text)
        candidates = [one for one in candidates if one.text != best.text]
    return [one.text for one in sorted(chosen, key=lambda one: (one.day, -one.weight, one.text))]


def _leading(branch: Branch, sources: Sequence[Source]) -> list[_Said]:
    return _top(_statements(branch, sources, LEADING), MOST_SENTENCES)


def _statements(branch: Branch, sources: Sequence[Source], sections: Sequence[Section]) -> list[_Said]:
    words = _words(branch)
    return [
        _Said(
            weight=_weight(words, statement.text, one.relevance),
            text=statement.text,
            day=statement.day,
            conversation_id=one.conversation_id,
        )
        for one in sources
        for statement in _of(one.summary, sections)
    ]


def _of(summary: ConversationSummary, sections: Sequence[Section]) -> Iterable[Statement]:
    return (one for one in summary.summary.statements() if one.section in sections)


def _strongest(branch: Branch, sources: Sequence[Source], limit: int, *, decisions: bool) -> list[_Said]:
    words = _words(branch)
    found = [
        _Said(
            weight=_weight(words, turn.text, one.relevance) * (0.5 + turn.score / 2),
            text=turn.text,
            day=turn.time[:10],
            conversation_id=one.conversation_id,
        )
        for one in sources
        for turn in one.summary.turning_points
        if (turn.kind == DECISION) == decisions
    ]
    return _top(found, limit)


def _top(said: Sequence[_Said], limit: int) -> list[_Said]:
    """The weightiest, each text once."""
    kept: dict[str, _Said] = {}
    for one in sorted(said, key=lambda one: (-one.weight, one.day, one.text, one.conversation_id)):
        if one.weight >= LEAST_WEIGHT and one.text not in kept:
            kept[one.text] = one
    return list(kept.values())[:limit]


def _words(branch: Branch) -> frozenset[str]:
    slugs = (branch.slug, *branch.aliases)
    return frozenset(word for slug in slugs for word in slug.split(SEPARATOR) if len(word) >= SHORTEST_WORD)


def _weight(words: frozenset[str], text: str, relevance: float) -> float:
    slug = slugified(text)
    named = any(word in slug for word in words)
    return 0.5 + relevance / 2 if named else relevance * UNNAMED


def _item(one: _Said) -> dict[str, str]:
    return {"text": one.text, "day": one.day, "conversation_id": one.conversation_id}


def _markdown(page: Mapping[str, Any]) -> str:
    lines = [f"# {page['title']}"]
    if page["lead"]:
        lines += ["", " ".join(page["lead"])]
    for heading, name in (
        ("Timeline", "timeline"),
        ("Decisions", "decisions"),
        ("Open Questions", "open_questions"),
    ):
        if page[name]:
            lines += ["", f"## {heading}", ""]
            lines += [
                f"- {one['day']} {one['text']}" if one["day"] else f"- {one['text']}" for one in page[name]
            ]
    if page["related"]:
        lines += ["", "## Related", "", *(f"- {one['name']}" for one in page["related"])]
    lines += ["", "## Sources", ""]
    lines += [f"- {one['title'] or one['conversation_id']}" for one in page["sources"]]
    return "\n".join(lines)
