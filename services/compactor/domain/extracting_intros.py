"""How people introduce themselves and speak of somebody by name (SPEC J-8). Pure.

introduced(sentence, author) -> list[Fact]      "Hi, Elspeth here, retired librarian, 71"
by_name(clause, people) -> Parsed | None        "Mungo has arthritis", of somebody not spoken of before
is_private(fact, near) -> bool                  whether such a person may be one of the author's own
"""

from __future__ import annotations

import re

from services.compactor.domain import extracting_words as words
from services.compactor.domain.extracting_rules import has_capital
from services.compactor.domain.extracting_subjects import Parsed, People, relation_fact, relative_of, slug
from services.compactor.domain.extracting_types import Category, Fact, Subject

_FLAGS = re.IGNORECASE
_GREETING = (
    r"(?:(?:hi+|hey+|hello+|hiya|yo|heya|good (?:morning|afternoon|evening)|morning"
    r"|evening)(?: (?:there|all|everyone|again))?[,! -]*)"
)
_INTRO = re.compile(
    rf"^(?P<hi>{_GREETING})?(?:so )?(?P<lead>I am|my name is|name is|name's|this is|it is"
    r"|I am called|the name is) "
    r"(?P<name>[^\W\d_][\w'-]+(?: (?-i:[A-Z])[\w'-]+)?)(?P<rest>(?:[,.;]| and | from |$| here\b| - ).*)$"
    rf"|^(?P<hi_2>{_GREETING})?(?P<name_2>[^\W\d_][\w'-]+(?: "
    r"(?-i:[A-Z])[\w'-]+)?)(?P<rest_2>(?: here(?:[,. ]|$)).*)$",
    _FLAGS,
)
_NOT_THIS_BUT = re.compile(
    r"\bmy (?:first |last |full )?name is not \S+, (?:but"
    r"|it is) (?P<name>(?-i:[A-Z])[\w'-]+)",
    _FLAGS,
)
_AGE = re.compile(
    r"^(?:and |aged |age )?(?P<n>\d{1,2})(?: ?(?:years? old|yo|y/o))?(?=$| from\b| in\b"
    r"| and\b)",
    _FLAGS,
)
_ORIGIN = re.compile(r"^(?:and |I am |originally )*(?:from|out of) (?P<o>.+)$", _FLAGS)
_BASED = re.compile(
    r"^(?:and |I am |currently |now )*(?:based|living|live) (?:in|near|at) (?P<o>.+)$", _FLAGS
)
_ROLE = re.compile(r"^(?:and |a |an |the |your |just |I am )*(?P<o>[a-z][\w -]{2,50})$", _FLAGS)
_PLACED = re.compile(r"^(?P<a>.+?) (?P<p>from|in|at|for) (?P<o>.+)$", _FLAGS)
_BY_NAME = re.compile(
    r"^(?P<name>(?-i:[A-Z][a-zà-ÿ'-]{1,20})) (?=(?:has|is|was|will|got|had|loves|hates"
    r"|likes|can not|does not|lives|works"
    r"|turns|turned|starts|started|needs|takes|sleeps|plays|goes|moved|moves|broke|quit"
    r"|passed|retires|retired|only|never"
    r"|still|just|also|now)\b)"
)
_MENTIONED = re.compile(
    rf"\bmy (?P<relation>(?:(?:{words.RELATION_ADJECTIVES}) )?(?:{words.RELATIONS})),? "
    r"(?P<name>(?-i:[A-Z][a-zà-ÿ'-]+))(?=[ ,.!]|'s|$)",
    _FLAGS,
)
_NO_PERSON_WORDS = """
    Work School Dinner Lunch Breakfast Coffee Tea Traffic Weather Rain Snow Christmas Easter
    Halloween Winter Summer Autumn Spring Everything Something Nothing Anything Everyone Everybody
    Someone Somebody Nobody No None One Two Three Life Love Music Food Money Time Today Tomorrow
    Yesterday Tonight There Here What When Where Why How Which Who Whoever Whatever English French
    German Spanish Google Netflix Amazon Apple Microsoft Facebook Twitter Python Java Linux Windows
    Docker Postgres Excel Word God Jesus Santa Mum Mom Dad Update News Question Answer Note Reminder
    Basically Honestly Actually Not Also Just Still Only Then Now And But Or So If Because Since
    While Though Although Maybe Perhaps Sure Okay Ok Yes Please Thanks Sorry Well Oh Wow Hi Hello
    Hey Some Most Many All Each Every Both Any Other Another Such Same Your Their His Her Its These
    Those Bank Rent Phone Internet Wifi Parking Training Practice Rehearsal Delivery Europe America
    Britain England Scotland Wales Ireland France Germany Spain Italy London Paris Berlin Rome
    Madrid
"""
_NO_PERSON = frozenset(_NO_PERSON_WORDS.split())
_PRIVATE_SLOTS = re.compile(
    r"\.(?:allergy|has|diet|pregnancy|takes|fear|expecting|cannot|is|diagnosis|health"
    r"|origin|marital-status)(?:\.|$)"
)
_NEAR_SLOTS = re.compile(
    r"\.(?:age|does-not|pets|school|habit|lives-with|former|home|employer|occupation|studies|taste|wears|does"
    r"|never|plays)(?:\.|$)"
)
"""What is told of people in puzzles and on the news as well."""


def introduced(sentence: str, author: Subject, *, after: bool = False) -> list[Fact]:
    """What an introduction tells: a name, and what stands after it, between commas or in the next sentence.

    `after` says that the sentence before gave the name.
    """
    if match := _NOT_THIS_BUT.search(sentence):
        return [_fact(author, Category.IDENTITY, "name", f"is called {match['name']}")]
    match = _INTRO.match(sentence)
    if match is None:
        first = re.split(r",| so | and | but ", sentence)[0]
        return _described(first, author) if after and len(first.split()) < 6 else []
    name = match["name"] or match["name_2"] or ""
    rest = match["rest"] or match["rest_2"] or ""
    own = name.split()[0].casefold() == author.name.split(" ")[0].casefold()
    greeted = bool(match["hi"] or match["hi_2"])
    capital = name[:1].isupper() and name.split()[0] not in words.NOT_NAMES and name not in _NO_PERSON
    sure = re.match(r"(?:my name|name|I am called|the name)", match["lead"] or "", _FLAGS) or (
        match["name_2"] and greeted
    )
    if not own and not (capital and (sure or (greeted and match["lead"]))):
        return []
    shown = " ".join(part[:1].upper() + part[1:] for part in name.split())
    found = [_fact(author, Category.IDENTITY, "name", f"is called {shown}")]
    parts = re.split(r"\s*(?:[,.;]| - | and (?=\d|a |an |from |based ))\s*", re.sub(r"^ here\b", "", rest))
    for part in parts:
        if re.match(r"(?:I|we|my|but|so|can|could|what|how|new|need|please|first)\b(?! am)", part, _FLAGS):
            break
        found += _described(part.strip(), author)
    return found


def _described(part: str, author: Subject) -> list[Fact]:
    """A piece such as "71", "retired librarian", "nurse from Leeds", "based in Cork"."""
    if match := _AGE.match(part):
        rest = part[match.end() :].strip()
        return [
            _fact(author, Category.IDENTITY, "age", f"is {match['n']}"),
            *(_described(rest, author) if rest else []),
        ]
    if (match := _ORIGIN.match(part)) and has_capital(match["o"]):
        return [_fact(author, Category.IDENTITY, "origin", f"comes from {match['o']}")]
    if (match := _BASED.match(part)) and has_capital(match["o"]):
        return [_fact(author, Category.LOCATION, "home", f"lives in {match['o']}")]
    tail: list[Fact] = []
    if placed := _PLACED.match(part):
        if placed["p"].lower() == "from" and has_capital(placed["o"]):
            tail = [_fact(author, Category.IDENTITY, "origin", f"comes from {placed['o']}")]
        elif has_capital(placed["o"]):
            tail = [_fact(author, Category.LOCATION, "work-place", f"works {placed['p']} {placed['o']}")]
        part = placed["a"] if tail else part
    if (match := _ROLE.match(part)) and words.is_role(match["o"]):
        article = "an" if match["o"][:1].lower() in "aeiou" else "a"
        return [_fact(author, Category.IDENTITY, "occupation", f"is {article} {match['o']}"), *tail]
    return []


def by_name(clause: str, people: People) -> Parsed | None:
    """Somebody whom the author calls by a first name alone."""
    match = _BY_NAME.match(clause)
    if match is None or match["name"] in _NO_PERSON or match["name"] in words.NOT_NAMES:
        return None
    if match["name"] == people.author.name.split(" ")[0]:
        return Parsed(subject=people.author, first=False, rest=clause[match.end() :], phrase=match["name"])
    subject = Subject(name=match["name"], key=people.author.attribute(f"knows.{slug(match['name'])}"))
    return Parsed(subject=subject, first=False, rest=clause[match.end() :], phrase=subject.name)


def mentioned(clause: str, people: People) -> list[Fact]:
    """Relatives and animals that a clause names by the way: "the flat of my cousin Bea"."""
    found = []
    for match in _MENTIONED.finditer(clause):
        name = match["name"]
        if (
            match.start()
            and name not in _NO_PERSON
            and name not in words.NOT_NAMES
            and name not in people.by_name
        ):
            relation = match["relation"].lower()
            people.add(relative_of(people.author, relation, name), name)
            found.append(relation_fact(people.author, relation, name))
    return found


def is_private(fact: Fact, *, near: bool) -> bool:
    """Whether it is what one knows of one's own people: of what is public nothing is kept.

    `near` says that the author speaks of themselves in the same message.
    """
    if fact.category is Category.EVENT or _PRIVATE_SLOTS.search(fact.key):
        return True
    return near and bool(_NEAR_SLOTS.search(fact.key))


def _fact(author: Subject, category: Category, slot: str, predicate: str) -> Fact:
    return Fact(
        key=author.attribute(slot), subject=author.name, predicate=predicate.strip(" ,."), category=category
    )
