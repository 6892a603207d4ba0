"""German, French and Spanish sentences in their basic forms (SPEC J-8). Pure.

Each language knows its own first person, so that no sentence is read in two of them. A rule matches a whole
clause; its template says the same of somebody in the third person.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial

from services.compactor.domain import extracting_dates as dates
from services.compactor.domain.extracting_subjects import slug
from services.compactor.domain.extracting_types import Category, Fact, Subject, Tense

MOST_WORDS = 16
"""Words of an object: what is longer was not understood."""
NAME = r"(?-i:[^\W\d_a-zà-öø-ÿ][\w'-]*(?: [^\W\d_a-zà-öø-ÿ][\w'-]*){0,2})"
"""One to three words with capitals."""


_AND = re.compile(r"^(?:und|et|y) ")
_HABITUAL = frozenset({Category.PREFERENCE, Category.FACT})


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

    `relative` finds "my sister Anna" before a verb in the third person, to which `third` applies; `owned` (of
    an author's name and the relation) and `called` name such a person in a statement; `day` says a day. With
    `pronoun` or a verb in `carried` a clause goes on about the person of the one before. `place` finds where
    somebody works behind a trade, said by `works`; `intro` an introduction ("ich bin die Anna, 19"), said by
    `named` and `aged`. A clause with `denied` is left, a sentence with `unsure` as a whole.
    """

    unnamed: str
    split: re.Pattern[str]
    unsure: re.Pattern[str]
    denied: re.Pattern[str] | None
    foreign: re.Pattern[str]
    order: tuple[tuple[re.Pattern[str], str], ...]
    rules: tuple[Rule, ...]
    relative: re.Pattern[str]
    third: tuple[Rule, ...]
    pronoun: re.Pattern[str]
    carried: re.Pattern[str]
    place: re.Pattern[str]
    works: str
    intro: re.Pattern[str]
    named: str
    aged: str
    owned: Callable[[str, str], str]
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
        yield from _introduced(language, sentence, author)
        last: Subject | None = None
        for clause in _clauses(language, sentence):
            found, last = _of_clause(language, clause, author, said, last)
            yield from found


def _clauses(language: Language, sentence: str) -> Iterator[str]:
    for part in language.split.split(sentence):
        clause = part.strip(" ,")
        for pattern, form in language.order:
            clause = pattern.sub(form, clause).strip(" ,")
        if clause and not (language.denied and language.denied.search(clause)):
            yield clause


def _introduced(language: Language, sentence: str, author: Subject) -> Iterator[Fact]:
    """From "hi, ich bin die Anna, 19": only where the name is the author's."""
    match = language.intro.match(sentence)
    name = author.name.split(" ")[0]
    if match is None or match["name"].casefold() != name.casefold():
        return
    named = (("name", language.named.format(o=name)), ("age", language.aged.format(o=match["age"] or "")))
    for slot, predicate in named[: 2 if match["age"] else 1]:
        yield Fact(
            key=author.attribute(slot), subject=author.name, predicate=predicate, category=Category.IDENTITY
        )


def _of_clause(
    language: Language, clause: str, author: Subject, said: date, last: Subject | None
) -> tuple[list[Fact], Subject | None]:
    """The facts of a clause, and of whom the next one may go on to tell."""
    if found := _first(language, language.rules, clause, author, said):
        return _placed(language, found), None
    match = language.relative.match(clause)
    if match is None:
        rest, pronouns = language.pronoun.subn("", clause, count=1)
        rest = _AND.sub("", rest)
        if last is None or not (pronouns or language.carried.match(rest)):
            return [], last
        found = _first(language, language.third, rest, last, said)
        return _placed(language, found) if found else [], last
    relation, name = match["relation"], match["name"] or ""
    owned = language.owned(author.name, relation)
    key = author.attribute(slug(f"{relation} {name}") if name else slug(relation))
    person = Subject(name=f"{name} ({owned})" if name else owned, key=key)
    told = []
    if name:
        predicate = f"{language.called} {name}"
        told = [Fact(key=f"{key}.name", subject=owned, predicate=predicate, category=Category.RELATIONSHIP)]
    found = _first(language, language.third, clause[match.end() :].strip(" ,"), person, said)
    if (
        found and found.category is Category.RELATIONSHIP and not name
    ):  # "is called Ann": of Ann the rest tells
        person = replace(person, name=f"{found.predicate.rsplit(' ', 1)[-1]} ({owned})")
    return [*told, *(_placed(language, found) if found else [])], person


def _placed(language: Language, found: Fact) -> list[Fact]:
    """A trade, and apart from it the place where it is practised."""
    match = language.place.match(found.predicate) if found.key.endswith(".occupation") else None
    if match is None:
        return [found]
    where = Fact(
        key=found.key.removesuffix("occupation") + "work-place",
        subject=found.subject,
        predicate=language.works.format(o=match["o"]),
        category=Category.LOCATION,
    )
    return [replace(found, predicate=match["a"]), where]


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
    if (one.dated and mention is None) or (mention and mention.recurring and one.category not in _HABITUAL):
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
