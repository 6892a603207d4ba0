"""Whom "he", "she" and "they" mean in an English clause, and whose "his band" is (SPEC J-8). Pure.

    referent(clause, people) -> Parsed | None       a clause that begins with such a pronoun
    resolved(fact, people) -> Fact | None           a statement of the author's with such a pronoun in it

A pronoun means somebody only when nobody else of the message could be meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from services.compactor.domain.extraction.english import kin, words
from services.compactor.domain.extraction.facts import Fact, Subject
from services.compactor.domain.extraction.subjects import NAME, Parsed, People, possessive, relative_of, slug

_FLAGS = re.IGNORECASE
_PRONOUN = re.compile(r"^(?P<p>he|she|they)(?= |$)", _FLAGS)
_MALE = re.compile(
    r"\b(?:husband|boyfriend|fiancé|fiance|father|dad|stepdad|landlord|brother|son|uncle|nephew"
    r"|grandfather|grandpa|granddad|grandad|grandson|stepfather|stepson|stepbrother|godfather|godson"
    r"|half-brother|boy|great-uncle|great-grandfather|(?:brother|father|son)-in-law|ex-husband|tomcat)\)?$",
    _FLAGS,
)
_FEMALE = re.compile(
    r"\b(?:wife|girlfriend|fiancée|fiancee|mother|mum|mom|stepmum|stepmom|landlady|sister|daughter|aunt"
    r"|auntie|niece|grandmother|grandma|granny|gran|nan|nana|granddaughter|stepmother|stepdaughter"
    r"|stepsister|godmother|goddaughter|half-sister|girl|great-aunt|great-grandmother|(?:sister|mother"
    r"|daughter)-in-law|ex-wife|birth mother|mare|hen)\)?$",
    _FLAGS,
)
_OWN = re.compile(
    rf"(?:\b(?:my|our)|^(?:I|we) (?:have|had"
    rf"|got) an?) (?P<r>(?:(?:{words.RELATION_ADJECTIVES}) )?(?:{words.RELATIONS}))\b(?!-| (?-i:[A-Z])"
    rf"|,? (?:called|named)\b)",
    _FLAGS,
)
"""A relative of the author's who is spoken of on the way."""
_PERSON = re.compile(
    rf"(?:\b(?:an?|the|his|her|their|another|new|one)|'s) (?:\w+ )?(?P<r>{words.RELATIONS}|guy|man|woman"
    rf"|lady"
    r"|bloke|client|customer|colleague)\b(?!'s)",
    _FLAGS,
)
"""Anybody else of whom that is true."""
_THING_OF = re.compile(
    r" (?!(?:since|for|in|on|at|to|with|and|or|but|when|before|after|until|again|yet|by|from|about|as|so"
    r"|off|up"
    r"|out|over|back|down|there|today|tomorrow|yesterday|every|a|an|the)\b)[a-z]"
)
"""What "her" has: without it, somebody is meant herself."""
_HAS = re.compile(
    rf"has an? (?P<r>(?:(?:{words.RELATION_ADJECTIVES}) )?"
    rf"(?:{words.SINGLE_RELATIONS}|{words.PLURAL_RELATIONS}))",
    _FLAGS,
)
_CAPITALISED = re.compile(r"(?<=\w )(?-i:[A-Z])[a-zà-ÿ]+\b")
_NO_ANTECEDENT = "in at from near to the a an my of on for speak speaks"
_SEEN = re.compile(
    r"(?<=[a-z,] )"
    + "".join(rf"(?<!\b{word} )" for word in _NO_ANTECEDENT.split())
    + r"(?P<name>(?:(?:Dr|Mrs|Mr|Ms)\.? )?[A-Z][a-zà-ÿ]+(?:-[A-Za-z]+)?)\b(?! [A-Z])"
)
_NAMED_SO = re.compile(r"\b(?:called|named|name's|name is) (?P<name>[A-Z][a-zà-ÿ-]+)")
_OTHERS_IN = re.compile(r"\b(?P<p>his|him|her|hers|he|she)\b", _FLAGS)
_ANTECEDENT = re.compile(
    rf"(?<!^)\b(?-i:[A-Z])[\w'-]+|\b(?:{words.RELATIONS}|{words.GROUPS}|friends|people|guests|customers"
    rf"|clients"
    r"|students|pupils|patients|children|staff|team|guy|man|woman|lady|bloke|tenants?|nurse|doctor)\b",
    _FLAGS,
)
"""What within the statement itself a pronoun may mean."""


def fits(subject: Subject, pronoun: str) -> bool:
    """Whether somebody may be meant by "he", "she" or "they"."""
    low = pronoun.lower()
    if subject.plural:
        return low.startswith("the")
    if low.startswith("the"):
        return False
    other = _FEMALE if low in {"he", "his", "him"} else _MALE
    return not other.search(subject.name)


def referent(clause: str, people: People) -> Parsed | None:
    """The clause of somebody spoken of before."""
    match = _PRONOUN.match(clause)
    subject = (_just_had(match["p"], people) or _meant(match["p"], people)) if match else None
    if match is None or subject is None:
        return None
    return Parsed(
        subject=subject,
        first=False,
        rest=clause[match.end() :].strip(" ,"),
        phrase=match.group(),
    )


_IS_NAMED = re.compile(rf"^(?P<p>his|her) name is (?P<name>{NAME})$", _FLAGS)


def named(clause: str, people: People) -> Parsed | None:
    """From "her name is Ann", said of somebody spoken of before."""
    match = _IS_NAMED.match(clause)
    subject = _meant(match["p"], people) if match else None
    if match is None or subject is None:
        return None
    return Parsed(subject=subject, first=False, rest=f"is called {match['name']}", phrase="")


def seen(sentences: Iterable[str], author: Subject) -> frozenset[str]:
    """The names of people in a message, other than its author's: of nobody else can "he" or "she" be said."""
    own = author.name.split(" ")[0]
    found = {match["name"] for sentence in sentences for match in _SEEN.finditer(sentence)}
    named_so = {match["name"] for sentence in sentences for match in _NAMED_SO.finditer(sentence)}
    names = frozenset(
        name
        for name in found
        if name.split(" ")[0] not in kin.NO_PERSON | words.NOT_NAMES | {own}
        and not re.match(r"[A-Z][a-z]+day\b", name)
    )
    return frozenset() if names <= named_so else names


def noted(clause: str, people: People) -> None:
    """Remembers who is spoken of without being anybody's subject: "he" may be that one."""
    for match in _OWN.finditer(clause):
        subject = relative_of(people.author, match["r"].lower())
        if clause.startswith("'s", match.end()):
            people.owners.append(subject)
        elif not any(
            one.name == subject.name or one.name.endswith(f"({subject.name})") for one in people.others
        ):
            people.add(subject)
    people.passers += [match["r"].lower() for match in _PERSON.finditer(_OWN.sub("", clause))]


def resolved(fact: Fact, people: People, sentence: str) -> Fact | None:
    """The fact of a sentence with such pronouns by name; none when they mean nobody who was named."""
    if fact.subject != people.author.name:
        return fact
    match = _OTHERS_IN.search(fact.predicate)
    if match is None or _ANTECEDENT.search(fact.predicate[: match.start()]):
        return fact
    subject = _meant(match["p"], people, people.owners) or _named_before(match["p"], sentence)
    if subject is None:
        return None
    name, low = subject.name, match["p"].lower()
    after = fact.predicate[match.end() :]
    theirs = low == "his" or (low == "her" and _THING_OF.match(after) is not None)
    said = possessive(re.sub(r" \(.+\)$", "", name)) if theirs else name
    return replace(fact, predicate=f"{fact.predicate[: match.start()]}{said}{after}")


def _just_had(pronoun: str, people: People) -> Subject | None:
    """The one of whom only was told that the author has them: "I've got a tutor, she's called Wanda"."""
    told = _HAS.fullmatch(people.last.predicate) if people.last else None
    if told is None:
        return None
    subject = relative_of(people.author, told["r"].lower())
    return people.add(subject) if fits(subject, pronoun) else None


def _named_before(pronoun: str, sentence: str) -> Subject | None:
    """The only one whom the sentence names before the pronoun: "I promised Ade to read his book"."""
    before = re.split(rf"\b{pronoun}\b", sentence, maxsplit=1)[0]
    names = {name for name in _CAPITALISED.findall(before) if name not in words.NOT_NAMES}
    return Subject(name=names.pop(), key="") if len(names) == 1 else None


def _meant(pronoun: str, people: People, more: Iterable[Subject] = ()) -> Subject | None:
    fitting = [one for one in dict.fromkeys([*people.others, *more]) if fits(one, pronoun)]
    passing = any(_gender(one, pronoun) for one in people.passers)
    if len(fitting) == 1 and not passing:
        return fitting[0]
    if people.others or passing or len(people.seen) != 1 or pronoun.lower().startswith("the"):
        return None
    (name,) = people.seen
    return people.add(Subject(name=name, key=people.author.attribute(f"knows.{slug(name)}")), name)


def _gender(relation: str, pronoun: str) -> bool:
    """Whether a passer-by may be meant."""
    return fits(Subject(name=relation, key=""), pronoun)
