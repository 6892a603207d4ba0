"""Whom an English clause is about, and how keys and statements name them (SPEC J-8). Pure."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass, field

from services.compactor.domain import extracting_words as words
from services.compactor.domain.extracting_types import Category, Fact, Subject

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
NAME = (
    r"(?-i:[^\W\d_a-zà-öø-ÿ][\w'-]*(?: (?:van|von|de|da|di|del|la"
    r"|el)(?= [^\W\d_a-z]))?(?: [^\W\d_a-z][\w'-]*){0,2})"
)
_MINE = re.compile(
    rf"^(?:my|our) (?P<relation>(?:(?:{words.RELATION_ADJECTIVES}) )?(?:{words.GROUPS}"
    rf"|{words.RELATIONS}))"
    rf"(?: (?:from|at) [\w' ]{{2,20}})?(?:,? (?P<name>{NAME})(?:,(?= (?!and\b)))?)?(?= |$|,)",
    re.IGNORECASE,
)
_GROUP = re.compile(rf"\b(?:{words.GROUPS})$", re.IGNORECASE)
_I = re.compile(r"^(?:I|we)(?= |$)", re.IGNORECASE)
_PRONOUN = re.compile(r"^(?:he|she|they)(?= |$)", re.IGNORECASE)
_KNOWN = re.compile(rf"^(?P<name>{NAME})(?= |$)")


@dataclass(slots=True)
class People:
    """The author of a message and those that it has named so far."""

    author: Subject
    by_name: dict[str, Subject] = field(default_factory=dict)
    others: list[Subject] = field(default_factory=list)
    renamed: dict[str, Subject] = field(default_factory=dict)
    """Whose name was told only after something else about them, by how they were called before."""
    near: bool = True
    """Whether the author speaks of themselves too: then people called by a first name are theirs."""
    last: Fact | None = None
    """What was told last."""
    introduced: bool = False
    """Whether the sentence before gave the author's name."""

    def add(self, subject: Subject, name: str = "") -> Subject:
        """Notes that somebody was spoken of."""
        if subject not in self.others:
            self.others.append(subject)
        if name:
            self.by_name[name] = subject
        return subject


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
    """Understood are I and we, relatives and the like, who was named in the same message, and he, she or they
    when only one other person was."""
    if match := _I.match(clause):
        return _parsed(people.author, clause, match, first=True)
    if match := _MINE.match(clause):
        return _relative(clause, match, people)
    if (match := _PRONOUN.match(clause)) and len(people.others) == 1:
        return _parsed(people.others[0], clause, match)
    if (match := _KNOWN.match(clause)) and match["name"] in people.by_name:
        return _parsed(people.by_name[match["name"]], clause, match)
    return None


def relation_fact(author: Subject, relation: str, name: str, verb: str = "has") -> Fact:
    """That somebody has a relative (or an animal) of that name."""
    kin = relation_noun(relation)
    key = slug(relation)
    single = bool(words.SINGLE.match(relation)) or bool(words.SINGLE.match(kin) and kin == relation)
    article = "an" if relation[:1] in "aeiou" else "a"
    return Fact(
        key=author.attribute(f"{key}.name" if single else f"{key}.{slug(name)}.name"),
        subject=author.name,
        predicate=f"{verb} {article} {relation} called {name}",
        category=Category.RELATIONSHIP if words.KINSHIP.match(kin) else Category.FACT,
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
        plural=bool(_GROUP.search(relation)),
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
    subject: Subject,
    clause: str,
    match: re.Match[str],
    *,
    first: bool = False,
    told: tuple[Fact, ...] = (),
) -> Parsed:
    return Parsed(
        subject=subject,
        first=first,
        rest=clause[match.end() :].strip(" ,"),
        phrase=match.group().strip(" ,"),
        told=told,
    )


def _relative(clause: str, match: re.Match[str], people: People) -> Parsed | None:
    relation, name = match["relation"].lower(), match["name"] or ""
    if name.split(" ")[0] in words.NOT_NAMES or (name and _GROUP.search(relation)):
        return None
    told = (relation_fact(people.author, relation, name),) if name else ()
    subject = relative_of(people.author, relation, name)
    if not name:  # "my sister" may have been named before
        known = [other for other in people.others if other.name.endswith(f"{subject.name})")]
        subject = known[0] if len(known) == 1 else subject
    return _parsed(people.add(subject, name), clause, match, told=told)
