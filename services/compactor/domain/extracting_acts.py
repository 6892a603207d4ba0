"""What English clauses tell of events, decisions and tasks (SPEC J-8). Pure."""

from __future__ import annotations

import re

from services.compactor.domain import extracting_dates as dates
from services.compactor.domain.extracting_decisions import read_decision
from services.compactor.domain.extracting_events import read_coming, read_happened
from services.compactor.domain.extracting_states import Clause, made
from services.compactor.domain.extracting_tasks import read_task
from services.compactor.domain.extracting_types import Category, Fact, Tense
from services.compactor.domain.extracting_verbs import MANNER, about, dated

_FLAGS = re.IGNORECASE
_BORN = re.compile(r"^(?:was|were) born(?: (?P<o>.+))?$", _FLAGS)


def read_act(clause: Clause) -> list[Fact]:
    """The event, decision or task that a clause tells; none when it tells neither."""
    rest = MANNER.sub("", clause.rest.strip(" ,"))
    for reader in (read_decision, _birth, read_task, read_happened, read_coming):
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
