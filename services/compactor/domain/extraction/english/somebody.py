"""English clauses about people whom the author names through others: "my wife's brother" (SPEC J-8). Pure.

known_from(clause, people) -> Parsed | None             "Anna from my book club is expecting"
relative_of_somebody(clause, people) -> Parsed | None   "Ewa's brother drives a tram"
"""

from __future__ import annotations

import re

from services.compactor.domain.extraction.english import words
from services.compactor.domain.extraction.english.verbs import about
from services.compactor.domain.extraction.facts import Category, Fact, Subject
from services.compactor.domain.extraction.subjects import (
    NAME,
    Parsed,
    People,
    relation_fact,
    relative_of,
    slug,
)

_FLAGS = re.IGNORECASE
_FROM_MY = re.compile(
    r"^(?P<name>(?-i:[^\W\d_a-z])[\w'-]+) (?P<p>from|at"
    r"|in) (?P<o>my (?:[\w'-]+ ){0,2}?[\w'-]+|work|school|uni|church|college) (?=(?:is|has|was|lives|works"
    r"|loves|hates|likes"
    r"|got|just|moved|told)\b)",
    _FLAGS,
)
_OF_SOMEBODY = re.compile(
    rf"^(?:my (?P<of>(?:(?:{words.RELATION_ADJECTIVES}) )?(?:{words.SINGLE_RELATIONS}"
    rf"|{words.PLURAL_RELATIONS}))"
    rf"|(?P<name>(?-i:[A-Z])[a-zà-ÿ-]+))'s (?P<relation>(?:(?:{words.RELATION_ADJECTIVES}) "
    rf")?(?:{words.RELATIONS}))"
    rf"(?:,? (?P<own>{NAME}))? (?=[a-z])",
    _FLAGS,
)


def known_from(clause: str, people: People) -> Parsed | None:
    """From "Anna from my book club is expecting"."""
    match = _FROM_MY.match(clause)
    if match is None or match["name"] in words.NOT_NAMES:
        return None
    subject = Subject(name=match["name"], key=people.author.attribute(f"knows.{slug(match['name'])}"))
    where = f"is {match['p'].lower()} {about(match['o'], people.author)}"
    known = Fact(
        key=subject.attribute("known"), subject=subject.name, predicate=where, category=Category.RELATIONSHIP
    )
    people.add(subject, subject.name)
    told = (known,) if match["o"].lower().startswith("my ") else ()
    return Parsed(subject=subject, first=False, rest=clause[match.end() :], phrase=subject.name, told=told)


def relative_of_somebody(clause: str, people: People) -> Parsed | None:
    """From "my wife's brother drives a tram", "Ewa's brother drives a tram"."""
    match = _OF_SOMEBODY.match(clause)
    if match is None:
        return None
    if match["of"]:
        base = people.add(relative_of(people.author, match["of"].lower()))
    else:
        known = people.by_name.get(match["name"])
        if known is None and (not people.near or match["name"] in words.NOT_NAMES):
            return None
        base = known or Subject(
            name=match["name"], key=people.author.attribute(f"knows.{slug(match['name'])}")
        )
    base = Subject(name=base.name.split(" (")[0], key=base.key)
    own = match["own"] or ""
    subject = people.add(relative_of(base, match["relation"].lower(), own), own)
    told = (relation_fact(base, match["relation"].lower(), own),) if own else ()
    return Parsed(
        subject=subject, first=False, rest=clause[match.end() :], phrase=own or match.group(), told=told
    )
