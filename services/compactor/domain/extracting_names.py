"""English clauses that name somebody, or something that is theirs (SPEC J-8). Pure."""

from __future__ import annotations

import re

from services.compactor.domain import extracting_words as words
from services.compactor.domain.extracting_states import Clause
from services.compactor.domain.extracting_subjects import People, relation_fact, relative_of, slug
from services.compactor.domain.extracting_types import Category, Fact, Subject
from services.compactor.domain.extracting_verbs import about, trimmed

_FLAGS = re.IGNORECASE
_NAMED = re.compile(
    r"^(?:my"
    rf"|our) (?P<relation>(?:(?:{words.RELATION_ADJECTIVES}) )?(?:{words.RELATIONS}))(?:'s "
    r"name (?P<v1>is|was)"
    r"|s? (?P<v2>is|was) (?:called|named)) (?P<name>(?-i:[^\W\d_a-z])[\w'-]*(?: "
    r"(?-i:[^\W\d_a-z])[\w'-]*)*)$",
    _FLAGS,
)
_IS_RELATIVE = re.compile(
    r"^(?:my|our) (?P<relation>best friend|boss|doctor|dentist|landlord|manager|therapist"
    r"|supervisor) (?:is"
    r"|was) (?P<name>(?-i:[^\W\d_a-z])[\w'-]*(?: (?-i:[^\W\d_a-z])[\w'-]*)*)$",
    _FLAGS,
)
_RELATIVE_IS = re.compile(
    r"^(?P<name>(?-i:[^\W\d_a-z])[\w'-]+) "
    rf"is my (?P<relation>(?:(?:{words.RELATION_ADJECTIVES}) )?(?:{words.RELATIONS}))$",
    _FLAGS,
)
_OWN_NAME = re.compile(
    r"^(?:my (?:full |real )?name is|my name's|I am called|people call me|everyone calls me"
    r"|most people (?:just )?(?:call me|say)|my friends call me)"
    r" (?P<name>(?-i:[^\W\d_a-z])[\w'.-]*(?: (?-i:[^\W\d_a-z])[\w'.-]*){0,3})(?: from .+)?$",
    _FLAGS,
)
_FAVOURITE = re.compile(
    r"^(?P<whose>my|our) (?:all-time |absolute )?(?P<n>fav(?:ou?rite)? (?:[\w'-]+ "
    r"){0,3}?[\w'-]+) (?P<v>is|are|has always been|was always|will always be) (?P<o>.+)$",
    _FLAGS,
)
_IS_FAVOURITE = re.compile(
    r"^(?P<o>(?-i:[A-Z])[\w' -]{1,30}?) (?:is|are) my (?:all-time "
    r"|absolute )?(?P<n>favou?rite (?:[\w'-]+ )?[\w'-]+)$",
    _FLAGS,
)
_ATTRIBUTE = re.compile(
    r"^(?P<whose>my|our) (?P<n>(?:(?:home|work|new|current|mobile|private|postal|former"
    rf"|main) )?(?:{words.ATTRIBUTES})) (?P<v>is|are|=) (?:now )?(?P<o>.+)$",
    _FLAGS,
)
_THING_CALLED = re.compile(
    r"^(?:my|our) (?P<n>(?:[\w-]+ ){0,2}(?:company|school|university|college|team|band"
    r"|start-?up|shop|bakery|boat|project|business|street|village|town|blog|podcast|choir|club"
    r"|horse|car|house|restaurant|café|firm|app|newsletter)) is (?P<o>(?:called"
    r"|named) (?-i:[A-Z]).*)$",
    _FLAGS,
)
_OFFICE = re.compile(
    r"^(?:my|our) (?P<n>office|workplace|shop|studio|school|house|flat|apartment|workshop"
    r"|practice) is (?P<o>(?:in|on|at|near|opposite|above|next to) (?!the (?:phone"
    r"|line)\b).+)$",
    _FLAGS,
)
_DEVICE = re.compile(
    rf"^(?:my|our) (?P<n>(?:work |new |old |current )?(?:{words.DEVICES})) is (?P<o>(?:a"
    rf"|an) (?:[\w'-]+ ){{0,3}}(?-i:[A-Z0-9]).+)$",
    _FLAGS,
)
_BIRTHDAY = re.compile(r"^(?:my|our) birthday is (?:on )?(?P<o>(?:the )?\d.+|(?-i:[A-Z])\w+ \d.+)$", _FLAGS)
_OF_RELATIVE = re.compile(
    rf"^(?:my|our) (?P<relation>(?:(?:{words.RELATION_ADJECTIVES}) )?(?:{words.RELATIONS}))'s "
    r"(?P<rest>(?!name\b).+)$",
    _FLAGS,
)
_NEGATED_ATTRIBUTE = re.compile(
    r"^(?:not|no longer|probably|broken|late|full|empty|wrong|gone|here|there|ready|so|too"
    r"|very|acting|making|being|getting)\b",
    _FLAGS,
)


def read_names(clause: str, own: Clause, people: People) -> list[Fact]:
    """From "my name is Ann", "my wife's name is Ann", "Ann is my sister"."""
    author = own.author
    clause = trimmed(clause)
    if match := _OWN_NAME.match(clause):
        nick = not re.match(r"my (?:full |real )?name", clause, _FLAGS)
        slot, verb = ("nickname", "is called") if nick else ("name", "name is")
        predicate = f"{verb} {match['name']}" if nick else f"is called {match['name']}"
        return [plain(author, Category.IDENTITY, slot, predicate)]
    if match := _NAMED.match(clause):
        relation, name = match["relation"].lower(), match["name"]
        people.add(relative_of(author, relation, name), name)
        past = (match["v1"] or match["v2"]).lower() == "was"
        return [relation_fact(author, relation, name, "had" if past else "has")]
    if match := _IS_RELATIVE.match(clause) or _RELATIVE_IS.match(clause):
        relation, name = match["relation"].lower(), match["name"]
        if name in words.NOT_NAMES:
            return []
        people.add(relative_of(author, relation, name), name)
        return [relation_fact(author, relation, name)]
    return []


def read_attributes(clause: str, own: Clause, people: People) -> list[Fact]:
    """From "my favourite colour is blue", "my wife's birthday is on 4 June", "our shop is called Heron"."""
    subject = own.author
    if match := _OF_RELATIVE.match(clause):
        subject, clause = (
            people.add(relative_of(own.author, match["relation"].lower())),
            f"my {match['rest']}",
        )
    for reader in (_favourite, _birthday, _office, _attribute):
        if found := reader(clause, subject, own.author):
            return [found] if found.predicate and not words.SECRETS.search(clause) else []
    return []


def _favourite(clause: str, subject: Subject, author: Subject) -> Fact | None:
    match = _IS_FAVOURITE.match(clause)
    said = f"{match['n']} is {match['o']}" if match else ""
    if match is None and (match := _FAVOURITE.match(clause)):
        said = f"{match['n']} {match['v']} {match['o']}"
    return plain(subject, Category.PREFERENCE, slug(match["n"]), _owned(said, author)) if match else None


def _birthday(clause: str, subject: Subject, author: Subject) -> Fact | None:
    match = _BIRTHDAY.match(clause)
    said = f"birthday is on {match['o']}" if match else ""
    return plain(subject, Category.IDENTITY, "birthday", _owned(said, author)) if match else None


def _office(clause: str, subject: Subject, author: Subject) -> Fact | None:
    match = _OFFICE.match(clause)
    if match is None:
        return None
    said = f"{match['n']} is {match['o']}"
    return plain(subject, Category.LOCATION, f"{slug(match['n'])}.place", _owned(said, author))


def _attribute(clause: str, subject: Subject, author: Subject) -> Fact | None:
    match = _ATTRIBUTE.match(clause) or _THING_CALLED.match(clause) or _DEVICE.match(clause)
    if match is None or _NEGATED_ATTRIBUTE.match(match["o"]):
        return None
    said = f"{match['n']} is {match['o']}".replace("pronouns is", "pronouns are")
    return plain(subject, _category(match["n"]), slug(match["n"]), _owned(said, author))


def _category(attribute: str) -> Category:
    if re.search(r"(?<!mail )address", attribute, _FLAGS):
        return Category.LOCATION
    identity = r"name|pronoun|nationality|language|tongue|profession|job|town|religion"
    return Category.IDENTITY if re.search(identity, attribute, _FLAGS) else Category.FACT


def _owned(said: str, author: Subject) -> str:
    """As the predicate of its owner; "" when it cannot be said of them."""
    text = about(said, author)
    return f"'s {text}" if text else ""


def plain(subject: Subject, category: Category, slot: str, predicate: str) -> Fact:
    """A fact without a day."""
    return Fact(
        key=subject.attribute(slot), subject=subject.name, predicate=trimmed(predicate), category=category
    )
