"""What English clauses tell of a lasting state: who, where, with whom, what somebody likes (SPEC J-8). Pure.

A rule takes what follows the subject and is anchored to its beginning: "I never said that I work at a bank"
and "I might move to Oslo" match none, for another verb comes first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from services.compactor.domain import extracting_words as words
from services.compactor.domain.extracting_rules import PASSING, State
from services.compactor.domain.extracting_rules_health import HEALTH
from services.compactor.domain.extracting_rules_life import LIFE
from services.compactor.domain.extracting_rules_what import WHAT
from services.compactor.domain.extracting_rules_who import WHO
from services.compactor.domain.extracting_subjects import slug
from services.compactor.domain.extracting_types import Category, Fact, Subject, Tense
from services.compactor.domain.extracting_verbs import MANNER, UNTOLD, about, dated, third, trimmed

_FLAGS = re.IGNORECASE
STATES: tuple[State, ...] = (*WHO, *HEALTH, *WHAT, *LIFE)
_GONE = re.compile(r"^(?:do|does) not (.+?) (?:anymore|any more|any longer)$", _FLAGS)
_HABIT = re.compile(rf"^(?:{words.HABITS}) (?P<v>\w+) (?P<o>.+)$", _FLAGS)
_WORK_TAIL = re.compile(
    r"^(?P<a>.+?),?(?: up| down| out| over| back)? (?:in"
    r"|near) (?P<place>(?-i:[A-Z])[\w'-]+(?:[ -](?-i:[A-Z])[\w'-]+)*)$"
)
_AUX = frozenset(
    [
        "am",
        "is",
        "are",
        "was",
        "were",
        "be",
        "had",
        "do",
        "does",
        "did",
        "can",
        "will",
        "would",
        "may",
        "might",
        "must",
        "should",
        "could",
        "not",
        "never",
    ]
)


_MODIFIES = re.compile(
    r"(?:not|if|unless|or|just kidding|kidding|only|as if|in theory|according|supposedly"
    r"|allegedly|apparently|they say|he says|she says|right|no|yeah right|except|but)\b",
    _FLAGS,
)
"""What may take back the statement before it."""
_AUXILIARY = frozenset({"am", "is", "are", "have", "has", "do", "does"})
_NO_HABIT = _AUX | {
    "says",
    "said",
    "tells",
    "tell",
    "thinks",
    "wants",
    "want",
    "asks",
    "ask",
    "know",
    "knows",
    "forgets",
    "get",
    "gets",
    "forget",
    "think",
    "feel",
    "wonder",
    "wanted",
    "thought",
    "say",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A subject and what follows it ("live in Oslo"); `author` is whom "my" means."""

    author: Subject
    subject: Subject
    first: bool
    rest: str
    said: date
    due: bool = False
    """Whether the next clause says by when."""


def read_state(clause: Clause) -> list[Fact]:
    """The statements of a clause; none when it tells no state."""
    rest = trimmed(clause.rest)
    if habit := _habit(clause, rest):
        return [habit]
    plain = MANNER.sub("", _GONE.sub(r"no longer \1", clause.rest) if _GONE.match(clause.rest) else rest)
    first, _, after = plain.partition(", ")
    for said in (plain, first) if after and not _MODIFIES.match(after) else (plain,):
        for one in STATES:
            match = one.pattern.match(said)
            if match and one.accepts(match["o"] or "") and _agree(clause, one, match):
                return _facts(clause, one, match)
    return []


def _agree(clause: Clause, one: State, match: re.Match[str]) -> bool:
    """Whether a verb that no rule names has the person of its subject, and so is a verb."""
    if one not in LIFE or "v" not in match.re.groupindex or match["v"].lower() in _AUXILIARY:
        return True
    verb = match["v"].lower()
    is_third = verb.endswith("s") and not verb.endswith("ss")
    return is_third is not (clause.first or clause.subject.plural)


def _habit(clause: Clause, rest: str) -> Fact | None:
    match = _HABIT.match(rest)
    if match is None or match["v"].lower() in _NO_HABIT:
        return None
    if match["v"].lower().endswith("ed") or PASSING.search(match["o"]):
        return None
    if any(one.pattern.match(f"{match['v']} {match['o']}") for one in (*WHO, *HEALTH, *WHAT)):
        return None
    predicate = about(f"{rest.split(' ', 1)[0].lower()} {third(match['v'])} {match['o']}", clause.author)
    return made(
        clause.subject, Category.FACT, f"habit.{slug(match['v'] + ' ' + match['o'])}", predicate, None
    )


def _facts(clause: Clause, one: State, match: re.Match[str]) -> list[Fact]:
    text = about(_said(clause.subject, one, match), clause.author)
    text, _ = dated(text, clause.said, Tense.PAST)
    slot = f"{one.slot}.{slug(match['o'] or match['v'])}" if one.plural else one.slot
    tail = _WORK_TAIL.match(text) if one.slot in {"occupation", "employer", "studies"} else None
    if tail and len(tail["a"].split()) > 1:
        verb = "studies" if one.slot == "studies" else "works"
        where = Fact(
            key=clause.subject.attribute("study-place" if verb == "studies" else "work-place"),
            subject=clause.subject.name,
            predicate=f"{verb} in {tail['place']}",
            category=Category.LOCATION,
        )
        whole = re.fullmatch(r"works(?: \S+)?", tail["a"])
        what = made(clause.subject, one.category, slot, tail["a"], None)
        return [where] if whole or what is None else [what, where]
    found = made(clause.subject, one.category, slot, text)
    return [found] if found else []


def _said(subject: Subject, one: State, match: re.Match[str]) -> str:
    if subject.plural:
        return match.group()
    return one.says(match) if one.says else _in_third(match)


def _in_third(match: re.Match[str]) -> str:
    if "v" not in match.re.groupindex:
        return match.group()
    verb = match["v"]
    begin = match.start("v")
    return f"{match.string[:begin]}{_third_of(verb)}{match.string[match.end('v') :]}"


def _third_of(verb: str) -> str:
    head, _, rest = verb.partition(" ")
    past = head.lower() in {
        "grew",
        "was",
        "were",
        "worked",
        "retrained",
        "trained",
        "qualified",
        "studied",
        "graduated",
        "quit",
        "gave",
        "given",
        "stopped",
    }
    return " ".join(
        part for part in (("was" if head.lower() == "were" else head) if past else third(head), rest) if part
    )


def made(
    subject: Subject, category: Category, slot: str, predicate: str, day: date | None = None
) -> Fact | None:
    """A fact, unless it says nothing, what nobody should keep, or names a thing that was told elsewhere."""
    predicate = trimmed(predicate)
    if not predicate or words.SECRETS.search(predicate) or UNTOLD.search(predicate):
        return None
    return Fact(
        key=subject.attribute(slot), subject=subject.name, predicate=predicate, category=category, day=day
    )
