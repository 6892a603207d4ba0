"""What a stretch of a text states, and of whom (SPEC J-8). Pure.

stated(span, tokens, text, people) -> Statement | None
facts(statement, said) -> list[Fact]        the fact that it would be, of each kind
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from services.compactor.domain.extraction.english.chat import written
from services.compactor.domain.extraction.english.verbs import about, dated, third, trimmed
from services.compactor.domain.extraction.facts import MOST_KEY, Category, Fact, Subject, Tense
from services.compactor.domain.extraction.reading import words
from services.compactor.domain.extraction.reading.people import (
    NAME,
    People,
    clean,
    spoken_of_before,
)
from services.compactor.domain.extraction.reading.spans import Form, Span, Token
from services.compactor.domain.extraction.subjects import SLUG_WORDS, noun_at, slug
from services.compactor.domain.extraction.text import visible

KINDS = (Category.FACT, Category.EVENT, Category.TASK, Category.INSTRUCTION)
"""The kinds of memories (S-2), by a category of each, in the order in which the network names them."""
_I = re.compile(r"(?:I|we)\s+", re.IGNORECASE)
_MINE = re.compile(r"(?:my|our)\s+", re.IGNORECASE)
_THEY = re.compile(r"(?:he|she|they|his|her|their)\s+", re.IGNORECASE)
_PERSON = re.compile(rf"(?i)(?:[a-zà-ÿ'-]+ ){{0,2}}?(?:{words.RELATIONS})\b(?![-'])")
_IS_WITHOUT_MARK = re.compile(
    rf"(?i)^((?:my|our) (?:[a-z'-]+ ){{0,2}}?(?:{words.RELATIONS}))s (?=(?:an?|the|in|on|got|been|not|always"
    r"|\w+ing|\w+ed|from|called|named|allergic|very|really|so|obsessed|turning|\d+)\b)"
)
"""The verb in "my mums obsessed"."""
_SOMEBODY = re.compile(
    rf"((?:[a-zà-ÿ-]+ )?[a-zà-ÿ-]+)(?P<name> {NAME})?"
    r"(?= (?:is|was|has|had|are|were|have|can|does|just|also|always|never|\w+s|\w+ed)\b)"
)
_AFTER_NOUN = re.compile(rf"(?:,?\s+|\s*\()({NAME})\b\)?,?")
_AFTER_NOUN_SMALL = re.compile(r",?\s+([a-zà-ÿ]+)\b,?")
_FIRST_WORD = re.compile(rf"((?:(?:{'|'.join(sorted(words.ADVERBS))})\s+)*)([A-Za-z'-]+)", re.IGNORECASE)
_COMING = re.compile(r"(?:is|are|has to|have to|will|needs|need)\b")
_PIECE = re.compile(r"(?:and|or|but|&|[^\w\s'\":$€£#@])(?:\s|$)")
"""The rest of a statement about several."""
_NEEDS = re.compile(
    r"^(?:still |also |really )*(?:has to|have to|needs to|need to|must|should|has got to|remember to|gotta"
    r"|is to)\s+"
)
_ASIDES = {
    Form.ORIGIN: "is from",
    Form.AGED: "is",
}
"""What is said of somebody by an origin or a number alone."""
_PLANNED = re.compile(
    r"(?:has |have |just |finally |already |been )*(?:booked|scheduled|arranged|fixed|planned|reserved"
    r"|invited|summoned|called up|accepted|promised|agreed|signed up|registered"
    r"|got (?:an?|my|the) (?:\w+ )?(?:appointment|interview|exam|tickets?|flight|booking|slot|date))\b"
)
"""What was done for a day to come."""
_VERB_AFTER_NAME = frozenset(
    {"is", "has", "was", "lives", "works", "said", "told", "moved", "got", "just", "who's"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """Of whom something is said, and what."""

    subject: Subject
    predicate: str


def stated(span: Span, found: Sequence[Token], text: str, people: People) -> Statement | None:
    """None where nothing can be made of it."""
    form, front = span.form, ""
    if form is Form.FRONTED:
        front = _line(text[found[span.first].start : found[span.subject - 1].end])
        form = _form_of(found[span.subject])
    said = _IS_WITHOUT_MARK.sub(r"\1 is ", _line(text[found[span.subject].start : found[span.last - 1].end]))
    made = _stated(span, found, text, written(said), form, people)
    if made is None or not made.predicate or _PIECE.match(made.predicate):
        return None
    if not front:
        return made
    lead = about(_small(written(front), people), people.author)
    return replace(made, predicate=f"{made.predicate} {lead}".strip())


def facts(statement: Statement, said: date) -> list[Fact]:
    """The fact that a statement is if it is of a kind, in the order of KINDS."""
    tense = Tense.PAST if _is_past(statement.predicate) else Tense.COMING
    return [_fact(statement, category, said, tense) for category in KINDS]


def recast(fact: Fact) -> list[Fact]:
    """A fact as found, and as each of the other kinds."""
    own = kind_of(fact.category)
    return [
        fact
        if place == own
        else replace(fact, category=category, key=f"{fact.key}.{category.value}"[:MOST_KEY])
        for place, category in enumerate(KINDS)
    ]


def kind_of(category: Category) -> int:
    """The place of a category's kind in KINDS."""
    return KINDS.index(category) if category in KINDS else 0


def _fact(statement: Statement, category: Category, said: date, tense: Tense) -> Fact:
    told, day = dated(statement.predicate, said, Tense.COMING if category is Category.TASK else tense)
    if category is Category.TASK:
        told = f"needs to {_NEEDS.sub('', told)}"
    fact = Fact(
        key=statement.subject.key,
        subject=statement.subject.name,
        predicate=told,
        category=category,
        day=day,
    )
    return replace(fact, key=_key(fact, statement.subject.key, category))


def _key(fact: Fact, prefix: str, category: Category) -> str:
    """What names it: the kind and what is said, for an event its day as well."""
    day = f"{fact.day}." if category is Category.EVENT and fact.day else ""
    told = fact.predicate.removeprefix("'s ")
    said = slug(told)
    if len(told.split()) > SLUG_WORDS:  # what a slug leaves out tells two statements apart
        said = f"{said}-{hashlib.blake2b(told.encode('utf-8', 'replace'), digest_size=4).hexdigest()}"
    return f"{prefix}.{category.value}.{day}{said}"[:MOST_KEY]


def _stated(
    span: Span, found: Sequence[Token], text: str, said: str, form: Form, people: People
) -> Statement | None:
    author = people.author
    if form in (Form.BARE, Form.DEFINITE):
        form = Form.SPEAKER if _I.match(said) else Form.OWN if _MINE.match(said) else form
    if form is Form.SPEAKER:
        match = _I.match(said)
        return _of_author(said[match.end() :], author) if match else None
    if form in (Form.OWN, Form.SOMEBODY):
        return _of_own(said, people, somebody=form is Form.SOMEBODY)
    if form is Form.NAME:
        return _of_name(said, people)
    if form is Form.PRONOUN:
        match = _THEY.match(said)
        who = spoken_of_before(text, found[span.subject].start, people) if match else None
        if match is None or who is None:
            return None
        made = _of(who, said[match.end() :], author)
        return _owned(made) if match.group().strip().lower() in words.POSSESSIVE else made
    who = _carried(span, found, text, people)
    before = found[span.subject - 2] if span.subject > span.sentence + 1 else None
    if form is Form.AGED and before and _is_named(before):
        who = people.named(before.text)
    if form in _ASIDES:
        return _of(who or author, f"{_ASIDES[form]} {said.removeprefix('from ')}", author)
    if who is None and (first := _FIRST_WORD.match(said)) and first[2].lower() in words.THIRD:
        return None  # "is a nurse", after somebody who is not known
    made = (
        _of(who, said, author)
        if who is not None and who is not author
        else _of_author(said, author, bare=True)
    )
    return made if _is_predicate(made.predicate) else replace(made, predicate=f": {made.predicate}")


def _is_predicate(said: str) -> bool:
    """Whether it begins with a verb; a noun alone follows a colon: "Obi: Chelsea fan"."""
    match = _FIRST_WORD.match(said)
    word = match[2].lower() if match else ""
    return word in words.FINITE or word.endswith("ed")


def _of(subject: Subject, said: str, author: Subject) -> Statement:
    return Statement(subject=subject, predicate=trimmed(about(said.strip(" ,"), author)))


def _of_author(said: str, author: Subject, *, bare: bool = False) -> Statement:
    """In the third person, where its first word is known as a verb."""
    match = _FIRST_WORD.match(said)
    if match:
        first = said.split()[0]
        known = words.VERBS | words.PAST | words.ADVERBS | words.AUXILIARY | words.STATES
        if first[:1].isupper() and (first.lower() in known or first.lower().endswith(("ed", "ing"))):
            said = f"{said[0].lower()}{said[1:]}"
            match = _FIRST_WORD.match(said) or match
        lead, verb, rest = match[1], match[2].lower(), said[match.end() :]
        if verb in ("am", "are", "have", "do", "need") or (
            verb in words.VERBS and verb not in words.SAME_IN_PAST
        ):
            said = f"{lead}{third(verb)}{rest}"
        elif verb in words.STATES or (bare and verb.endswith("ing")):
            said = f"is {said}"
    return _of(author, said, author)


def _of_own(said: str, people: People, *, somebody: bool) -> Statement | None:
    """From "my sister Ann has ...", "my aunt's flat is ..."; of what is no person the author has it."""
    author = people.author
    match = _MINE.match(said)
    if match is None:
        return None
    found = noun_at(said, match.end())
    if found is None and (person := _PERSON.match(said, match.end())):
        found = person.group().lower(), person.end()
    if somebody:
        return None if found else _of_somebody(said[match.end() :], people)
    if found is None:
        thing = _of(author, said[match.end() :], author)
        return replace(thing, predicate=f"'s {thing.predicate}") if thing.predicate else None
    noun, end = found
    after = said[end:]
    named = _AFTER_NOUN.match(after)
    if named is None and (small := _AFTER_NOUN_SMALL.match(after)) and small[1] in people.nouns:
        named = small
    if named and clean(named[1]).lower() not in words.NO_NAMES:
        after = after[named.end() :]
        if named[1].endswith("'s"):
            return _owned(_of(people.named(named[1]), after, author))
    if after.startswith("'s "):
        if theirs := noun_at(said, end + 3):
            whose = people.relative(noun)
            subject = Subject(name=f"{whose.name}'s {theirs[0]}", key=whose.attribute(slug(theirs[0])))
            return _of(subject, said[theirs[1] :], author)
        return _of(people.relative(noun), after[3:], author)
    return _of(people.relative(noun), after, author)


def _of_somebody(said: str, people: People) -> Statement | None:
    match = _SOMEBODY.match(said)
    if match is None:
        return None
    author, name = people.author, (match["name"] or "").strip()
    called = f"{author.name}'s {match[1]}"
    subject = Subject(
        name=f"{name} ({called})" if name else called,
        key=author.attribute(f"{slug(match[1])}.{slug(name)}" if name else slug(match[1])),
    )
    return _of(subject, said[match.end() :], author)


def _of_name(said: str, people: People) -> Statement | None:
    match = re.match(NAME, said)
    if match is None:
        return None
    made = _of(people.named(match.group()), said[match.end() :], people.author)
    return _owned(made) if match.group().endswith("'s") else made


def _owned(made: Statement) -> Statement:
    """Of what is theirs: "Ann's boss is ..."."""
    return replace(made, predicate=f"'s {made.predicate}") if made.predicate else made


def _carried(span: Span, found: Sequence[Token], text: str, people: People) -> Subject | None:
    """Whom the clause before is about."""
    for place in range(span.subject - 1, span.sentence - 1, -1):
        token = found[place]
        low = token.low
        if low in words.SPEAKER:
            return people.author
        if low in words.OWN:
            said = written(_line(text[token.start : found[span.subject - 1].end]))
            match = _MINE.match(said)
            if match and (noun := noun_at(said, match.end())):
                return people.relative(noun[0])
            continue
        if low in words.PRONOUN and low not in words.POSSESSIVE:
            return spoken_of_before(text, token.start, people)
        if token.text in people.nouns:
            return people.named(token.text)
        if place == span.sentence and _is_named(token) and found[place + 1].low in _VERB_AFTER_NAME:
            return people.named(token.text)
    return None


def _is_named(token: Token) -> bool:
    low = token.low
    known = words.NO_NAMES | words.VERBS | words.PAST | words.ADVERBS
    return token.text[0].isupper() and low not in known


def _form_of(token: Token) -> Form:
    if token.low in words.SPEAKER:
        return Form.SPEAKER
    if token.low in words.OWN:
        return Form.OWN
    return Form.PRONOUN if token.low in words.PRONOUN else Form.NAME


def _is_past(told: str) -> bool:
    first = told.split()[:3]
    if _PLANNED.match(told):
        return False
    return any(word in words.PAST or (word.endswith("ed") and len(word) > 3) for word in first) and not (
        _COMING.match(told)
    )


def _small(front: str, people: People) -> str:
    """Its first word in small letters, unless that is a name or a day."""
    first = front.split()[0] if front.split() else ""
    keeps = re.match(r"[A-Z][a-z]+day|I\b", front) or first in people.nouns
    return front if keeps or not front else f"{front[0].lower()}{front[1:]}"


def _line(text: str) -> str:
    return " ".join(visible(text).split()).strip(" ,")
