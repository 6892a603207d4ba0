"""Who is who in a message that is read by score (SPEC J-8). Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from services.compactor.domain.extraction.english.chat import written
from services.compactor.domain.extraction.facts import Subject
from services.compactor.domain.extraction.reading import words
from services.compactor.domain.extraction.subjects import relative_of, slug

MOST_PEOPLE = 50
"""Of one message."""
CLOSE_BY = 80
"""Characters between whom "his name is" is about and these words."""
NEAR = 1000
"""Characters before a pronoun in which whom it means is looked for."""
_TITLE = (
    r"(?:(?:Dr|Mrs|Mr|Ms|Miss|Prof|Professor|Sister|Father|Brother|Pastor|Coach|Old|old|Auntie|Aunt|Uncle"
    r"|Señora|Señor|Frau|Herr|Madame|Lady|Sir|Captain)\.? )?"
)
NAME = rf"{_TITLE}[A-ZÀ-ÖØ-ÞĀ-ŽȘȚİŞĆČŠŽŁŚ][\w’'-]{{0,40}}[^\W_](?: (?:van|von|de|da|di|al) [A-Z][\w-]+)?"
"""A name in capitals; of several words only the first, but after a title."""
_RELATED = rf"(?:[a-zà-ÿ'-]+\s+){{0,3}}?(?i:{words.RELATIONS})"
_NAMED = re.compile(
    rf"\b(?i:my|our|the|a|an|his|her|their)\s+({_RELATED})(?:(?:,|\s*:)?\s+|\s*\(|'s\s+(?=name\s))"
    rf"(?:(?:is|was)\s+|'s\s+|called\s+|named\s+|name\s+(?:is|'s)\s+)*({NAME})"
)
_SMALL = re.compile(
    rf"\b(?i:my|our)\s+((?:[a-zà-ÿ'-]+\s+){{0,2}}?(?i:{words.RELATIONS})),?\s+([a-zà-ÿ]{{3,}})"
    r"(?=['s]*\s+([a-zà-ÿ]+)|[,.!?]|$)"
)
"""A name in small letters: "my sis kinga is ..."."""
_ANY_NOUN = re.compile(rf"\b(?i:my|our)\s+((?:[a-zà-ÿ-]+\s+){{0,2}}?[a-zà-ÿ-]+)\s+({NAME})(?=[ ,.!?']|$)")
_IS_MINE = re.compile(rf"(?<![\w'’-])({NAME})\s*(?:,|\(|is|was|'s|[-–])\s*(?i:my|our)\s+({_RELATED})\b")
_CALLED = re.compile(
    rf"\b(?:(?i:his|her|their)\s+name(?:'s|s|\s+is|\s+was)"
    rf"|(?i:he|she|they)(?:'s|s|\s+is|\s+was|\s+are|'re)\s+(?:called|named))\s+({NAME})"
)
_RELATION = re.compile(rf"(?i)\b(?:my|our)\s+((?:[a-z'-]+\s+){{0,2}}?(?:{words.RELATIONS}))(?=s?\b)")
_SPOKEN_OF = re.compile(
    r"(?:^|(?<=[a-z,.!?] ))([A-Z][a-zà-ÿ]+)\b(?= (?:is|was|has|had|and|said|told|got|just|who|who's|lives"
    r"|works|from|moved|started|wants|can|will)\b|'s )"
)
_NO_NOUN_END = words.VERBS | words.ADVERBS | words.PAST | {
    "with", "in", "at", "to", "from", "of", "for", "on", "and", "is", "was"
}  # fmt: skip

_NO_RELATION = words.FINITE | {"and", "or", "his", "her", "their", "the", "a", "an"}
"""What a noun that says who somebody is does not hold."""
_OTHERS = frozenset({"late", "ex", "former", "best", "first", "second", "old"})
"""Who is called "my late wife" need not be "my wife"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """Who somebody is to the author, and where the text says so."""

    noun: str
    name: str
    start: int
    end: int


@dataclass(slots=True)
class People:
    """The author of a message, and those whom it calls by name."""

    author: Subject
    relations: list[Relation] = field(default_factory=list)
    nouns: dict[str, str] = field(default_factory=dict)
    """What a name is to the author."""

    def relative(self, noun: str) -> Subject:
        """A relative, by the name that the message gives them."""
        exact = {one.name for one in self.relations if one.noun == noun}
        longer = {
            one.name
            for one in self.relations
            if one.noun.endswith(f" {noun}") and one.noun.split()[0] not in _OTHERS
        }
        fitting = exact or longer
        return relative_of(self.author, noun, fitting.pop() if len(fitting) == 1 else "")

    def named(self, name: str) -> Subject:
        """Somebody called by their name."""
        name = clean(name)
        noun = self.nouns.get(name)
        if noun:
            return relative_of(self.author, noun, name)
        return Subject(name=name, key=self.author.attribute(f"knows.{slug(name)}"))


def people_of(text: str, author: Subject) -> People:
    """Those of a masked text."""
    people = People(author=author)
    for match in _NAMED.finditer(text):
        _add(people, match[1], match[2], match.start(), match.end())
    for match in _IS_MINE.finditer(text):
        _add(people, match[2], match[1], match.start(), match.end())
    for match in _CALLED.finditer(text):
        before = list(_RELATION.finditer(text, 0, match.start()))
        if before and match.start() - before[-1].end() <= CLOSE_BY:
            _add(people, before[-1][1], match[1], before[-1].start(), match.end())
    for match in _SMALL.finditer(text):
        if _is_small_name(match[2], (match[3] or "").lower()):
            _add(people, match[1], match[2], match.start(), match.end(2))
    for match in _ANY_NOUN.finditer(text):
        if match[1].split()[-1].lower() not in _NO_NOUN_END:
            _add(people, match[1], match[2], match.start(), match.end())
    return people


def spoken_of_before(text: str, place: int, people: People) -> Subject | None:
    """Who was last spoken of before a place, not long ago."""
    begin = max(0, place - NEAR)
    found = [
        (match.start(), people.relative(plain(match[1]))) for match in _RELATION.finditer(text, begin, place)
    ]
    found += [
        (at, people.named(name)) for name in people.nouns if (at := text.rfind(name, begin, place)) >= 0
    ]
    if not found:
        found = [
            (match.start(), people.named(match[1]))
            for match in _SPOKEN_OF.finditer(text[begin:place])
            if match[1].lower() not in words.NO_NAMES
        ]
    return max(found, key=lambda one: (one[0], one[1].name))[1] if found else None


def plain(noun: str) -> str:
    """A relation by its usual name: "bro" is a brother."""
    told = written(f"my {noun.lower()} x")
    return told[3:-2] if told.startswith("my ") and told.endswith(" x") else told


def clean(name: str) -> str:
    """Without the genitive."""
    return re.sub(r"['’]s$", "", name).strip()


def _is_small_name(word: str, following: str) -> bool:
    low = word.lower()
    if low in words.NO_SMALL_NAMES or low.endswith(("ing", "ed", "ly", "s")):
        return False
    if re.fullmatch(words.RELATIONS, low) or following in ("of", "for"):
        return False
    return not following or following in words.NO_SMALL_NAMES or following.endswith(("s", "ed"))


def _add(people: People, noun: str, name: str, start: int, end: int) -> None:
    name = clean(name)
    if not noun or "'s " in noun or len(people.relations) == MOST_PEOPLE:
        return
    if any(word in _NO_RELATION or word.endswith("ed") for word in noun.lower().split()):
        return
    if name in people.nouns or name == people.author.name:
        return
    if name.lower() in words.NO_NAMES or name.lower() in words.VERBS:
        return
    noun = re.sub(r"^(?:is|was|called|named)\s+", "", plain(noun))
    people.nouns[name] = noun
    people.relations.append(Relation(noun=noun, name=name, start=start, end=end))
