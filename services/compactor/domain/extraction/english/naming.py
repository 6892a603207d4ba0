"""English clauses that say what somebody or something is called (SPEC J-8). Pure.

read_names(clause, own, people) -> list[Fact]   "my name is Ann", "Ann is my sister"
apposed(sentence) -> str                        "Jude, my partner, is ..." as "my partner Jude is ..."
mentioned(clause, people) -> list[Fact]         whom and what a clause names by the way
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from services.compactor.domain.extraction.english import kin, words
from services.compactor.domain.extraction.english.chat import written
from services.compactor.domain.extraction.english.states import Clause
from services.compactor.domain.extraction.english.verbs import about, trimmed
from services.compactor.domain.extraction.facts import Category, Fact, Subject
from services.compactor.domain.extraction.subjects import People, relation_fact, relative_of, slug

_FLAGS = re.IGNORECASE
_NP = kin.NOUN_PHRASE
_NAME = kin.NAME
_ANYBODY = r"(?:guy|man|woman|bloke|chap|lady|girl|boy|lad|person|fellow|dude)"
_SOMEBODY = rf"(?:a|an|this) (?:[a-z-]+ )?{_ANYBODY}"
_NAMED = re.compile(
    rf"^(?:my|our|the) (?P<relation>{_NP})(?: (?:at|in|from) (?:the "
    rf"|my )?[\w'-]+(?: [\w'-]+)?)?(?:'s name (?P<v1>is|was)|s? (?P<v2>is|was) (?:{_SOMEBODY} )?(?:called"
    rf"|named)) (?P<name>{_NAME}(?: and {_NAME})?)(?:,.*)?$",
    _FLAGS,
)
_IS_RELATIVE = re.compile(
    rf"^(?:my|our) (?P<relation>{_NP})(?: (?:at|in|from) (?:the |my )?[\w'-]+(?: [\w'-]+)?)? (?P<v>is"
    rf"|was) (?P<name>{_NAME})$",
    _FLAGS,
)
_RELATIVE_IS = re.compile(rf"^(?P<name>{_NAME}) (?P<v>is|was) (?:my|our) (?P<relation>{_NP})$", _FLAGS)
_OWN_NAME = re.compile(
    r"^(?:my (?:full |real )?name is|my name's|I am called|(?:(?P<by>people|everyone|everybody|most people"
    r"|my \w+|the \w+) (?:just |all |only )?(?:calls?|say|know"
    r"|knows) me(?: as)?)) (?P<name>(?-i:[^\W\d_a-z])[\w'.-]*(?: (?-i:[^\W\d_a-z])[\w'.-]*){0,3})(?: from"
    r" .+)?$",
    _FLAGS,
)
_GIVEN = re.compile(
    r"^(?:I|we) (?:have |are |just |finally )*(?:named|called|calling|naming|christened) "
    rf"(?:my|our|the) (?P<relation>{_NP}) (?P<name>{_NAME})$",
    _FLAGS,
)
_APPOSED = re.compile(
    rf"(?:^|(?<=, )|(?<=[;:] )|(?<=\band )|(?<=\bso ))(?P<name>{_NAME}), (?P<o>my"
    rf"|our) (?P<noun>{_NP})(?P<at> (?:at|from|in) (?:the |my |our )?[\w-]+)?"
    r"(?:,(?= )|$|(?= and\b))"
)
_APPOSED_NAME = re.compile(
    rf"\b(?P<o>(?i:my|our"
    rf"|the new)) (?P<noun>{_NP})(?P<of>'s [a-z-]+)?(?P<p> in (?-i:[A-Z])\w+)?(?: since \w+)?, "
    rf"(?P<name>(?:the )?{_NAME}), (?!and\b|or\b|(?-i:[A-Z]))"
)
_MENTIONED = re.compile(
    rf"\b(?i:my|our) (?:(?P<of>[a-z-]+)'s )?(?P<relation>{_NP})(?: (?P<name>{_NAME})(?=[ ,.!?]|'s|$)"
    rf"|, (?P<name_2>{_NAME})(?=[,.!?]|$))"
)
_SEVERAL = re.compile(
    rf"\b(?i:my|our) (?P<relation>(?:(?:two|three|four|\d|older|younger|little|big|twin|late"
    rf"|old) )*(?:{words.GROUPS}))(?:,|:| -)? (?:(?:who are )?(?:called"
    rf"|named) )?(?P<names>{_NAME}(?:, {_NAME})*,? (?:and|&) {_NAME})(?=[ ,.!?]|$)"
)
_CALLED = re.compile(
    r"\b(?:have|has|got|with|is|are|and|from|about|adopted|bought|keep|own|raising|by|to|of) (?:a|an"
    r"|another|one) "
    rf"(?P<relation>{_NP})(?P<p> (?:in|from|near) (?-i:[A-Z])[\w-]+(?: (?-i:[A-Z])[\w-]+)?)?,? (?:called"
    rf"|named|by the name of) (?P<name>{_NAME})"
)
_ILL = re.compile(
    rf"\bmy (?P<relation>{_NP})'s (?P<o>asthma|epilepsy|diabetes|dementia|parkinson's|alzheimer's"
    rf"|arthritis|adhd|autism|coeliac disease"
    r"|celiac disease|eczema|dyslexia|hearing aids?|nut allergy|peanut allergy|wheelchair|allergies)\b",
    _FLAGS,
)
_THING_IS = re.compile(rf"\b(?:my|our) (?P<noun>{_NP}), (?P<o>an? [^,]{{3,40}}), (?=[a-z])", _FLAGS)


def read_names(clause: str, own: Clause, people: People) -> list[Fact]:
    """From "my name is Ann", "my wife's name is Ann", "Ann is my sister"."""
    author = own.author
    clause = trimmed(clause)
    if match := _OWN_NAME.match(clause):
        if match["by"] and match["name"] == author.name:
            return []
        return [_own_name(match, author)]
    if match := _NAMED.match(clause) or _GIVEN.match(clause):
        relation, name = match["relation"].lower(), match["name"]
        if not kin.is_person(relation):
            return _thing(clause, match, author)
        past = "v1" in match.re.groupindex and (match["v1"] or match["v2"]).lower() == "was"
        return _of(people, relation, name, past=past)
    if match := _IS_RELATIVE.match(clause) or _RELATIVE_IS.match(clause):
        relation, name = match["relation"].lower(), match["name"]
        if name.split(" ")[0] in words.NOT_NAMES or name in kin.NO_PERSON or not kin.is_person(relation):
            return []
        return _of(people, relation, name, past=match["v"].lower() == "was")
    return []


def _own_name(match: re.Match[str], author: Subject) -> Fact:
    nick = not re.match(r"my (?:full |real )?name", match.group(), _FLAGS)
    by = (match["by"] or "").lower()
    if by in {"everyone", "everybody", "most people"}:
        return Fact(
            key=author.attribute("nickname"),
            subject=author.name,
            predicate=f"goes by {match['name']} with {by}",
            category=Category.IDENTITY,
        )
    by = "" if by in {"people", "most people", ""} else f" by {about(by, author)}"
    return Fact(
        key=author.attribute("nickname" if nick else "name"),
        subject=author.name,
        predicate=f"is called {match['name']}{by}",
        category=Category.IDENTITY,
    )


def _of(people: People, relation: str, name: str, *, past: bool) -> list[Fact]:
    people.add(relative_of(people.author, relation, name), name)
    return [relation_fact(people.author, relation, name, "had" if past else "has")]


def _thing(clause: str, match: re.Match[str], author: Subject) -> list[Fact]:
    """From "our quiz team is called Norfolk and Chance"."""
    if "v2" not in match.re.groupindex or not match["v2"] or words.CODE_TALK.search(clause):
        return []
    noun = match["relation"].lower()
    said = about(f"my {noun} {match['v2']} called {match['name']}", author)
    return [
        Fact(
            key=author.attribute(slug(noun)),
            subject=author.name,
            predicate=said.removeprefix(author.name),
            category=Category.FACT,
        )
    ]


def apposed(sentence: str) -> str:
    """A sentence with names in apposition behind their nouns."""
    sentence = _APPOSED.sub(
        lambda m: f"my {m['noun']}{m['at'] or ''} {m['name']}" if kin.is_person(m["noun"]) else m.group(),
        sentence,
    )
    return _APPOSED_NAME.sub(
        lambda m: (
            f"{m['o']} {m['noun']}{m['of'] or ''}{m['p'] or ''} {m['name']} "
            if kin.is_person(m["noun"] if not m["of"] else m["of"][3:]) or kin.is_group(m["noun"])
            else m.group()
        ),
        sentence,
    )


def mentioned(clause: str, people: People) -> list[Fact]:
    """Relatives and animals that a clause names by the way: "the flat of my cousin Bea"."""
    return [*_by_the_way(clause, people), *_ill(clause, people)]


def presupposed(sentences: Iterable[str], author: Subject) -> Iterator[Fact]:
    """Whom questions name: "what do I cook for my boyfriend Luca?"."""
    people = People(author=author)
    for sentence in sentences:
        asked = apposed(written(sentence))
        yield from (*_by_the_way(asked, people), *_several(asked, people))


def _by_the_way(clause: str, people: People) -> Iterator[Fact]:
    for match in [*_MENTIONED.finditer(clause), *_CALLED.finditer(clause)]:
        called = match.re is _CALLED
        name, relation = match["name"] or match["name_2"], match["relation"].lower()
        first = name.split(" ")[0]
        if (
            first in kin.NO_PERSON
            or first in words.NOT_NAMES
            or name in people.by_name
            or not kin.is_person(relation)
            or relation in {"guy", "man", "girl", "dude", "boy"}
        ):
            continue
        if called and (
            re.search(rf"\b{_ANYBODY}$", relation)
            or not (kin.is_kin(relation) or re.match(r"have|has|got|with", match.group()))
        ):
            continue
        if not called and match["of"]:
            yield from _of_theirs(people, match["of"], relation, name)
            continue
        yield from _of(people, relation, name, past=False)
        if called and match["p"] and kin.is_kin(relation):
            yield _at_home(people.by_name[name], match["p"])


def _of_theirs(people: People, of: str, relation: str, name: str) -> Iterator[Fact]:
    """From "my wife's cousin Bea"."""
    if kin.is_person(of.lower()):
        base = relative_of(people.author, of.lower())
        people.add(relative_of(base, relation, name), name)
        yield relation_fact(base, relation, name)


def apart(sentence: str, people: People) -> Iterator[Fact]:
    """What stands between commas, which part clauses: "our twins, Ada and Ben", "my car, a 2009 Saab"."""
    yield from _several(sentence, people)
    yield from _things(sentence, people)


def _several(sentence: str, people: People) -> Iterator[Fact]:
    """From "our twins Ada and Ben"."""
    for match in _SEVERAL.finditer(sentence):
        relation = match["relation"].lower()
        animals = bool(re.search(rf"\b(?:{words.PET_PLURALS})$", relation))
        yield Fact(
            key=people.author.attribute(f"{slug(relation)}.names"),
            subject=people.author.name,
            predicate=f"has {relation} called {match['names']}",
            category=Category.FACT if animals else Category.RELATIONSHIP,
        )


def _at_home(subject: Subject, place: str) -> Fact:
    preposition, _, where = place.strip().partition(" ")
    verb = "comes" if preposition == "from" else "lives"
    return Fact(
        key=subject.attribute("origin" if verb == "comes" else "home"),
        subject=subject.name,
        predicate=f"{verb} {preposition} {where}",
        category=Category.IDENTITY if verb == "comes" else Category.LOCATION,
    )


def _ill(clause: str, people: People) -> Iterator[Fact]:
    """From "because of my wife's asthma"."""
    for match in _ILL.finditer(clause):
        relation = match["relation"].lower()
        if kin.is_person(relation):
            subject = people.add(relative_of(people.author, relation))
            what = match["o"].lower()
            article = "a " if re.search(r"(?:allergy|wheelchair|aid)$", what) else ""
            yield Fact(
                key=subject.attribute(f"has.{slug(what)}"),
                subject=subject.name,
                predicate=f"has {article}{what}",
                category=Category.FACT,
            )


def _things(clause: str, people: People) -> Iterator[Fact]:
    """From "my car, a 2009 Saab, failed its test"."""
    for match in _THING_IS.finditer(clause):
        noun, said = match["noun"].lower(), about(match["o"], people.author)
        if not said or words.CODE_TALK.search(match.group()):
            continue
        if kin.is_person(noun):
            if words.is_role(match["o"]):
                subject = people.add(relative_of(people.author, noun))
                yield Fact(
                    key=subject.attribute("occupation"),
                    subject=subject.name,
                    predicate=f"is {said}",
                    category=Category.IDENTITY,
                )
            continue
        yield Fact(
            key=people.author.attribute(slug(noun)),
            subject=people.author.name,
            predicate=f"'s {noun} is {said}",
            category=Category.FACT,
        )
