"""German, French and Spanish sentences in their basic forms (SPEC J-8). Pure.

Each language knows its own first person, so that no sentence is read in two of them. A rule matches a whole
clause; its template says the same of somebody in the third person.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial

from services.compactor.domain import extracting_dates as dates
from services.compactor.domain.extracting_subjects import slug
from services.compactor.domain.extracting_types import Category, Fact, Subject, Tense

MOST_WORDS = 16
"""Words of an object: what is longer was not understood."""
NAME = r"(?-i:[^\W\d_a-zà-öø-ÿ][\w'-]*(?: [^\W\d_a-zà-öø-ÿ][\w'-]*){0,2})"
"""One to three words with capitals."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A clause, and what it says; "*" at the end of the slot: a key for each object `o`.

    `dated` demands that the clause names a day, past or coming.
    """

    pattern: re.Pattern[str]
    category: Category
    slot: str
    says: str
    dated: Tense | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """The grammar of a language.

    `relative` finds "my sister Anna" before a verb in the third person, to which `third` applies; `owned` and
    `called` name such a person in a statement; `day` says a day.
    """

    unnamed: str
    split: re.Pattern[str]
    unsure: re.Pattern[str]
    foreign: re.Pattern[str]
    order: tuple[tuple[re.Pattern[str], str], ...]
    rules: tuple[Rule, ...]
    relative: re.Pattern[str]
    third: tuple[Rule, ...]
    owned: str
    called: str
    day: str
    whose: tuple[tuple[re.Pattern[str], str], ...] = ()


def rule(pattern: str, category: Category, slot: str, says: str, dated: Tense | None = None) -> Rule:
    """A rule with its pattern compiled."""
    return Rule(
        pattern=re.compile(f"^{pattern}$", re.IGNORECASE),
        category=category,
        slot=slot,
        says=says,
        dated=dated,
    )


def compiled(pattern: str) -> re.Pattern[str]:
    """Letter case is ignored."""
    return re.compile(pattern, re.IGNORECASE)


def read(language: Language, sentences: Sequence[str], author: Subject, said: date) -> Iterator[Fact]:
    """What sentences tell in one language."""
    for sentence in sentences:
        if language.unsure.search(sentence):
            continue
        for clause in _clauses(language, sentence):
            yield from _of_clause(language, clause, author, said)


def _clauses(language: Language, sentence: str) -> Iterator[str]:
    for part in language.split.split(sentence):
        clause = part.strip(" ,")
        for pattern, form in language.order:
            clause = pattern.sub(form, clause).strip(" ,")
        if clause:
            yield clause


def _of_clause(language: Language, clause: str, author: Subject, said: date) -> Iterator[Fact]:
    if found := _first(language, language.rules, clause, author, said):
        yield found
        return
    match = language.relative.match(clause)
    if match is None:
        return
    relation, name = match["relation"], match["name"] or ""
    owned = language.owned.format(author=author.name, relation=relation)
    key = author.attribute(slug(f"{relation} {name}") if name else slug(relation))
    person = Subject(name=f"{name} ({owned})" if name else owned, key=key)
    if name:
        predicate = f"{language.called} {name}"
        yield Fact(key=f"{key}.name", subject=owned, predicate=predicate, category=Category.RELATIONSHIP)
    if found := _first(language, language.third, clause[match.end() :].strip(" ,"), person, said):
        yield found


def _first(
    language: Language, rules: Sequence[Rule], clause: str, subject: Subject, said: date
) -> Fact | None:
    for one in rules:
        match = one.pattern.match(clause)
        if match and (fact := _fact(language, one, match, subject, said)):
            return fact
    return None


def _fact(language: Language, one: Rule, match: re.Match[str], subject: Subject, said: date) -> Fact | None:
    found = {name: text or "" for name, text in match.groupdict().items()}
    text = " ".join(one.says.format(**found).split())
    if language.foreign.search(text) or len(text.split()) > MOST_WORDS:
        return None
    for pattern, form in language.whose:
        text = pattern.sub(form, text)
    tense = one.dated or (Tense.COMING if one.category is Category.TASK else Tense.PAST)
    mention = dates.find(text, said, tense)
    if (one.dated and mention is None) or (
        mention and mention.recurring and one.category is not Category.PREFERENCE
    ):
        return None
    day, thing = None, found.get("o") or text
    if mention and (one.dated or one.category is Category.TASK):
        day = mention.day
        text = f"{dates.without(text, mention)} {language.day.format(day=day.isoformat())}" if day else text
        within = dates.find(thing, said, tense)
        thing = dates.without(thing, within) if within else thing
    slot = one.slot
    if slot.endswith("*"):
        when = f"{day.isoformat()}." if day and one.category is Category.EVENT else ""
        slot = f"{slot[:-1]}.{when}{slug(thing)}"
    return Fact(
        key=subject.attribute(slot),
        subject=subject.name,
        predicate=text.strip(" ,"),
        category=one.category,
        day=day,
    )


Reader = Callable[[Sequence[str], Subject, date], Iterator[Fact]]


def reader(language: Language) -> tuple[str, Reader]:
    """How an unnamed author is called, and the language's reader."""
    return language.unnamed, partial(read, language)
