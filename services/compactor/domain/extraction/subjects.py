"""Whom an English clause is about, and how keys and statements name them (SPEC J-8). Pure."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass, field, replace

from services.compactor.domain.extraction.english import kin, words
from services.compactor.domain.extraction.facts import Category, Fact, Subject

OWNER = "user"
"""The beginning of the keys of the person whose memories these are."""
SLUG_WORDS, SLUG_LENGTH = 6, 48
_SKIPPED = frozenset(
    [
        "a",
        "an",
        "the",
        "my",
        "our",
        "your",
        "his",
        "her",
        "their",
        "its",
        "to",
        "of",
        "in",
        "on",
        "at",
        "for",
        "with",
        "and",
        "is",
        "are",
        "was",
        "be",
        "der",
        "die",
        "das",
        "den",
        "dem",
        "ein",
        "eine",
        "einen",
        "einem",
        "le",
        "la",
        "les",
        "un",
        "une",
        "des",
        "du",
        "de",
        "el",
        "los",
        "las",
        "una",
        "mon",
        "ma",
        "mes",
        "mi",
        "mis",
        "mein",
        "meine",
        "meinen",
    ]
)
NAME = kin.NAME
_MOST_NOUN = 5
"""Words of a noun phrase that means somebody."""
_MINE = re.compile(r"^(?:my|our)(?:'s)? (?=[a-z])", re.IGNORECASE)
_NEW = re.compile(r"^(?:the|my|our) (?=(?:new|other) [a-z])", re.IGNORECASE)
_WORDS = re.compile(r"[a-zà-ÿ][\w-]*")
_THEIR_PLACE = re.compile(
    r",? (?P<p>in|near|at|from|over in|back in|up in"
    r"|down in) (?P<place>(?-i:[A-Z])[\w'-]+(?: (?-i:[A-Z])[\w'-]+)*|(?:the |my |our )?(?:office|work"
    r"|church|school|uni|university|college|clinic|lab|gym|club|team|choir|book club|second floor"
    r"|ground floor|shop|practice|hospital)|(?:the|my|our) [a-zà-ÿ]+(?= (?-i:[A-Z])))(?=[ ,]|$)"
)
_THEIR_NAME = re.compile(rf",? (?P<name>(?:the )?{NAME})(?:,(?= (?!and\b|or\b)))?(?= |$|,(?! and\b))")
_THEIR_NAMES = re.compile(rf"(?:,|:)? {NAME}(?:, {NAME})*,? (?:and|&) {NAME},?(?= |$)")
_I = re.compile(r"^(?:I|we)(?= |$)", re.IGNORECASE)
_KNOWN = re.compile(rf"^(?P<name>{NAME})(?= |$)")


@dataclass(slots=True)
class People:
    """The author of a message and those that it has named so far."""

    author: Subject
    by_name: dict[str, Subject] = field(default_factory=dict)
    others: list[Subject] = field(default_factory=list)
    renamed: dict[str, Subject] = field(default_factory=dict)
    """Whose name was told only after something else about them, by how they were called before."""
    passers: list[str] = field(default_factory=list)
    """Who was spoken of on the way ("a guy", "her son"), without being anybody's subject."""
    owners: list[Subject] = field(default_factory=list)
    """Relatives of whom only something that is theirs was named: "my aunt's flat"."""
    spoken: str = ""
    """How the last clause called the other person that it was about."""
    near: bool = True
    """Whether the author speaks of themselves too: then people called by a first name are theirs."""
    last: Fact | None = None
    """What was told last."""
    topic: Subject | None = None
    """Whom the clause before was about, other than the author."""
    seen: frozenset[str] = frozenset()
    """The names in a message."""
    crowded: bool = False
    """Whether the sentence holds so many clauses that one alone may be misunderstood."""
    introduced: bool = False
    """Whether the sentence before gave the author's name."""

    def add(self, subject: Subject, name: str = "") -> Subject:
        """Notes that somebody was spoken of."""
        if subject not in self.others:
            self.others.append(subject)
        if name:
            self.by_name[name] = subject
        self.topic = subject
        return subject

    def called(self) -> str:
        """The name of whom was spoken last, "" without one."""
        return next((name for name, subject in self.by_name.items() if subject == self.topic), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """A clause's subject, what follows it, and what its naming tells."""

    subject: Subject
    first: bool
    rest: str
    phrase: str
    told: tuple[Fact, ...] = ()


def author_of(name: str, *, owner: bool, unnamed: str) -> Subject:
    """Who says "I"; `unnamed` stands for a name that is not known."""
    return Subject(name=name or unnamed, key=OWNER if owner or not name else f"person.{slug(name)}")


def parse(clause: str, people: People) -> Parsed | None:
    """Understood are I and we, relatives and the like, and who was named in the same message."""
    if match := _I.match(clause):
        return _parsed(people.author, clause, match.end(), first=True)
    if match := _MINE.match(clause) or _NEW.match(clause):
        return _relative(clause, match.end(), people)
    if (match := _KNOWN.match(clause)) and match["name"] in people.by_name:
        people.topic = people.by_name[match["name"]]
        return _parsed(people.topic, clause, match.end())
    return None


def relation_fact(author: Subject, relation: str, name: str, verb: str = "has") -> Fact:
    """That somebody has a relative (or an animal) of that name."""
    noun = relation_noun(relation)
    key = slug(relation)
    single = bool(words.SINGLE.match(relation)) or bool(words.SINGLE.match(noun) and noun == relation)
    article = "" if kin.is_group(relation) else "an " if relation[:1] in "aeiou" else "a "
    return Fact(
        key=author.attribute(f"{key}.name" if single else f"{key}.{slug(name)}.name"),
        subject=author.name,
        predicate=f"{verb} {article}{relation} called {name}",
        category=Category.FACT if kin.is_animal(noun) else Category.RELATIONSHIP,
    )


def relation_noun(relation: str) -> str:
    """Without adjectives, but "best friend" whole."""
    if words.KINSHIP.match(relation):
        return relation
    return relation.rsplit(" ", 1)[-1]


def relative_of(author: Subject, relation: str, name: str = "") -> Subject:
    """The subject of statements about a relative."""
    of = possessive(author.name)
    single = bool(words.SINGLE.match(relation))
    key = slug(relation) if single or not name else f"{slug(relation)}.{slug(name)}"
    return Subject(
        name=f"{name} ({of} {relation})" if name else f"{of} {relation}",
        key=author.attribute(key),
        plural=kin.is_group(relation),
    )


def possessive(name: str) -> str:
    """Whose."""
    return f"{name}'s"


def slug(text: str, *, most: int = SLUG_WORDS) -> str:
    """What of a key names a thing: its first words, or a digest where it has no Latin letters."""
    folded = unicodedata.normalize(
        "NFKD", text.casefold().replace("ß", "ss").replace("œ", "oe").replace("ø", "o")
    )
    found = re.findall(
        r"[a-z0-9]+", "".join(c for c in folded if not unicodedata.combining(c)).replace("'", "")
    )
    chosen = [word for word in found if word not in _SKIPPED] or found
    made = "-".join(chosen[:most])[:SLUG_LENGTH].strip("-")
    lost = sum(map(str.isalnum, text)) > 2 * sum(map(len, found))
    if made and not lost:
        return made
    return hashlib.blake2b(text.casefold().encode("utf-8", "replace"), digest_size=6).hexdigest()


def _parsed(
    subject: Subject, clause: str, end: int, *, first: bool = False, told: tuple[Fact, ...] = ()
) -> Parsed:
    return Parsed(
        subject=subject,
        first=first,
        rest=clause[end:].strip(" ,"),
        phrase=clause[:end].strip(" ,"),
        told=told,
    )


def _relative(clause: str, start: int, people: People) -> Parsed | None:
    """From "my older sister Ann ...", "our neighbours in Turku, the Lunds, ...", "my wife's cousin ..."."""
    found = noun_at(clause, start)
    if found is None:
        return None
    relation, end = found
    base = people.author
    if (of := re.match(r"'s (?=[a-z])", clause[end:])) and (theirs := noun_at(clause, end + of.end())):
        base = relative_of(people.author, relation)
        relation, end = theirs
    told: list[Fact] = []
    place = _THEIR_PLACE.match(clause, end)
    end = place.end() if place else end
    named = _THEIR_NAME.match(clause, end)
    name = named["name"] if named else ""
    if name.split(" ")[0] in words.NOT_NAMES or (
        name and name.startswith("the ") is not kin.is_group(relation)
    ):
        named, name = None, ""
    several = ""
    if kin.is_group(relation) and not name and (names := _THEIR_NAMES.match(clause, end)):
        several, end = names.group().strip(" ,:"), names.end()
    if clause[end : end + 2] == "'s" or (named and clause[named.end() : named.end() + 2] == "'s"):
        return None
    end = named.end() if named else end
    if name:
        told.append(relation_fact(base, relation, name))
    subject = relative_of(base, relation, name)
    if several:
        subject = replace(subject, name=f"{several} ({subject.name})")
    elif not name:  # "my sister" may have been named before
        known = [other for other in people.others if other.name.endswith(f"{subject.name})")]
        subject = known[0] if len(known) == 1 else subject
    if (
        place
        and place["p"].endswith(("in", "near"))
        and kin.is_kin(relation)
        and place["place"][:1].isupper()
    ):
        told.append(
            Fact(
                key=subject.attribute("home"),
                subject=subject.name,
                predicate=f"lives {place['p'].rsplit(' ', 1)[-1]} {place['place']}",
                category=Category.LOCATION,
            )
        )
    return _parsed(people.add(subject, name), clause, end, told=tuple(told))


def noun_at(clause: str, start: int) -> tuple[str, int] | None:
    """The longest noun phrase there that means somebody, and its end."""
    best, at = None, start
    for _ in range(_MOST_NOUN):
        word = _WORDS.match(clause, at)
        if word is None or word.group().lower() in kin.NO_NOUN:
            break
        phrase = clause[start : word.end()]
        if kin.is_person(phrase.lower()) or kin.is_group(phrase):
            best = (phrase.lower(), word.end())
        elif best:
            break
        at = word.end() + 1
        if clause[word.end() : at] != " ":
            break
    return best
