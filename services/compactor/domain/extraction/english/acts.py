"""What English clauses tell of events, decisions and tasks (SPEC J-8). Pure."""

from __future__ import annotations

import re

from services.compactor.domain.extraction import dates
from services.compactor.domain.extraction.english import words
from services.compactor.domain.extraction.english.days import read_dated
from services.compactor.domain.extraction.english.decisions import read_decision
from services.compactor.domain.extraction.english.events import read_coming, read_happened
from services.compactor.domain.extraction.english.states import Clause, made
from services.compactor.domain.extraction.english.tasks import read_tasks
from services.compactor.domain.extraction.english.verbs import MANNER, about, dated
from services.compactor.domain.extraction.facts import Category, Fact, Tense

_FLAGS = re.IGNORECASE
_HABITUALLY = re.compile(rf"^(?:{words.HABITS}|never) (?!\w+ed\b)", _FLAGS)
"""What is told with these is a habit."""
_BORN = re.compile(r"^(?:was|were) born(?: (?P<o>.+))?$", _FLAGS)


def read_act(clause: Clause) -> list[Fact]:
    """The event, decision or task that a clause tells; none when it tells neither."""
    if _HABITUALLY.match(clause.rest):
        return []
    rest = MANNER.sub("", clause.rest.strip(" ,"))
    for reader in (read_decision, _birth):
        if found := reader(clause, rest):
            return [found]
    if tasks := read_tasks(clause, rest):
        return tasks
    for reader in (read_happened, read_coming, read_dated):
        if found := reader(clause, rest):
            return [found]
    return []


def _birth(clause: Clause, rest: str) -> Fact | None:
    match = _BORN.match(rest)
    mention = dates.find(rest, clause.said, Tense.PAST) if match else None
    if mention is None:
        return None
    if clause.first and not re.search(r"\d", rest):
        return None
    own = clause.first and mention.day is not None and not re.search(r"\b(?:19|20)\d\d\b", rest)
    text, day = (rest, None) if own else dated(rest, clause.said, Tense.PAST)
    text = re.sub(r"^were", "was", text)
    return made(clause.subject, Category.IDENTITY, "birth-date", about(text, clause.author), day)
