"""How people introduce themselves and speak of somebody by name (SPEC J-8). Pure.

introduced(sentence, author) -> list[Fact]      "Hi, Elspeth here, retired librarian, 71"
by_name(clause, people) -> Parsed | None        "Mungo has arthritis", of somebody not spoken of before
is_private(fact, near) -> bool                  whether such a person may be one of the author's own
"""

from __future__ import annotations

import re

from services.compactor.domain.extraction.english import kin, words
from services.compactor.domain.extraction.english.rules import has_capital
from services.compactor.domain.extraction.english.rules_who import NATIONS
from services.compactor.domain.extraction.facts import Category, Fact, Subject
from services.compactor.domain.extraction.subjects import Parsed, People, slug

_FLAGS = re.IGNORECASE
_GREETING = (
    r"(?:(?:hi+|hey+|hello+|hiya|yo|heya|good (?:morning|afternoon|evening)|morning|evening)(?: (?:there"
    r"|all|everyone|again))?[,! -]*)"
)
_INTRO = re.compile(
    rf"^(?P<hi>{_GREETING})?(?:(?:so|ok|er|um|oh|also|well|and|btw),? )?"
    r"(?P<lead>I am|my name is|my name's|name is|name's|this is|it is|I am called"
    r"|the name is) (?P<name>[^\W\d_][\w'-]+(?: (?-i:[A-Z])[\w'-]+)?)(?P<rest>(?:[,.;]| and | from |$"
    r"| here\b| - ).*)$"
    rf"|^(?P<hi_2>{_GREETING})?(?P<name_2>[^\W\d_][\w'-]+(?: (?-i:[A-Z])[\w'-]+)?)"
    r"(?P<rest_2>(?: (?:here|speaking)(?:[,. ]|$)).*)$",
    _FLAGS,
)
_NATION = re.compile(rf"^(?P<o>{NATIONS})$", _FLAGS)
_SPEAK = re.compile(r"^(?:I )?speaks? (?P<o>[\w, ]{3,40})$", _FLAGS)
_SAID_OF_NAME = re.compile(r"^(?:not \S+|short for \S+|with an? \S+|but .*call me \S+)$", _FLAGS)
_PARENT = re.compile(
    r"^(?:a |proud |single |and )*(?P<o>(?:mum|mom|mother|dad|father|parent|grandmother|grandfather) (?:of"
    r"|to) .{2,30})$",
    _FLAGS,
)
_NOT_THIS_BUT = re.compile(
    r"\bmy (?:first |last |full )?name is not \S+, (?:but|it is) (?P<name>(?-i:[A-Z])[\w'-]+)",
    _FLAGS,
)
_AGE = re.compile(
    r"^(?:and |aged |age )?(?P<n>\d{1,2})(?: ?(?:years? old|yo|y/o))?(?=$| from\b| in\b| and\b)",
    _FLAGS,
)
_ORIGIN = re.compile(r"^(?:and |I am |originally )*(?:from|out of) (?P<o>.+)$", _FLAGS)
_BASED = re.compile(
    r"^(?:and |I am |currently |now )*(?:based|living|live) (?:in|near|at) (?P<o>.+)$", _FLAGS
)
_ROLE = re.compile(r"^(?:and |a |an |the |your |just |I am )*(?P<o>[a-z][\w -]{2,50})$", _FLAGS)
_PLACED = re.compile(r"^(?P<a>.+?) (?P<p>from|in|at|for) (?P<o>.+)$", _FLAGS)
_STUDENT = re.compile(
    r"\b(?:student|pupil|undergrad(?:uate)?|fresher|postgrad|first[- ]year|final[- ]year)$", _FLAGS
)
_BY_NAME = re.compile(
    r"^(?P<name>(?-i:[A-Z][a-zà-ÿ'-]{1,20})) (?=(?:has|is|was|will|got|had|loves|hates|likes|can not"
    r"|does not|lives|works|turns|turned|starts|started|needs|takes|sleeps|plays|goes|moved|moves|broke"
    r"|quit|passed|retires|retired|only|never|still|just|also|now)\b)"
)
_PRIVATE_SLOTS = re.compile(
    r"\.(?:allergy|has|diet|pregnancy|takes|fear|expecting|cannot|is|diagnosis|health|origin"
    r"|marital-status)(?:\.|$)"
)
_NEAR_SLOTS = re.compile(
    r"\.(?:age|does-not|pets|school|habit|lives-with|former|home|employer|occupation|studies|taste|wears"
    r"|does|never|plays)(?:\.|$)"
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
    own = _same_name(name.split()[0], author.name.split(" ")[0])
    greeted = bool(match["hi"] or match["hi_2"])
    capital = name[:1].isupper() and name.split()[0] not in words.NOT_NAMES and name not in kin.NO_PERSON
    sure = re.match(r"(?:my name|name|I am called|the name)", match["lead"] or "", _FLAGS) or (
        match["name_2"] and greeted
    )
    if not own and not (capital and (sure or (greeted and match["lead"]))):
        return []
    shown = " ".join(part[:1].upper() + part[1:] for part in name.split())
    parts = re.split(r"\s*(?:[,.;]| - | and (?!\w+ing\b))\s*", re.sub(r"^ (?:here|speaking)\b", "", rest))
    parts = [part for part in parts if part]
    while parts and _SAID_OF_NAME.match(parts[0]):
        shown += f", {parts.pop(0)}"
    found = [_fact(author, Category.IDENTITY, "name", f"is called {shown}")]
    for part in parts:
        if re.match(r"(?:I|we|my|but|so|can|could|what|how|new|need|please|first)\b(?! am)", part, _FLAGS):
            break
        found += _described(part.strip(), author)
    return found


def _same_name(said: str, known: str) -> bool:
    """Whether it is the author's own name, or a short form of it."""
    one, other = sorted((said.casefold(), known.casefold()), key=len)
    return one == other or (len(one) > 2 and other[: min(3, len(one))] == one[:3])


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
    if match := _NATION.match(part):
        return [_fact(author, Category.IDENTITY, "nationality", f"is {match['o']}")]
    if match := _SPEAK.match(part):
        return [_fact(author, Category.IDENTITY, f"speaks.{slug(match['o'])}", f"speaks {match['o']}")]
    if match := _PARENT.match(part):
        return [_fact(author, Category.RELATIONSHIP, "parenthood", f"is a {match['o']}")]
    tail: list[Fact] = []
    if placed := _PLACED.match(part):
        if placed["p"].lower() == "from" and has_capital(placed["o"]):
            tail = [_fact(author, Category.IDENTITY, "origin", f"comes from {placed['o']}")]
        elif has_capital(placed["o"]):
            studies = bool(_STUDENT.search(placed["a"]))
            slot, does = ("study-place", "studies") if studies else ("work-place", "works")
            tail = [_fact(author, Category.LOCATION, slot, f"{does} {placed['p']} {placed['o']}")]
        part = placed["a"] if tail else part
    if (match := _ROLE.match(part)) and words.is_role(match["o"]):
        article = "an" if match["o"][:1].lower() in "aeiou" else "a"
        return [_fact(author, Category.IDENTITY, "occupation", f"is {article} {match['o']}"), *tail]
    return []


def by_name(clause: str, people: People) -> Parsed | None:
    """Somebody whom the author calls by a first name alone."""
    match = _BY_NAME.match(clause)
    if match is None or match["name"] in kin.NO_PERSON or match["name"] in words.NOT_NAMES:
        return None
    if match["name"] == people.author.name.split(" ")[0]:
        return Parsed(subject=people.author, first=False, rest=clause[match.end() :], phrase=match["name"])
    subject = Subject(name=match["name"], key=people.author.attribute(f"knows.{slug(match['name'])}"))
    return Parsed(subject=subject, first=False, rest=clause[match.end() :], phrase=subject.name)


_COUNTED = re.compile(r"^(?:has|had) \d")
"""Figures are told of people in puzzles."""


def is_private(fact: Fact, *, near: bool) -> bool:
    """Whether it is what one knows of one's own people: of what is public nothing is kept.

    `near` says that the author speaks of themselves in the same message.
    """
    if not near and _COUNTED.match(fact.predicate):
        return False
    if fact.category is Category.EVENT or _PRIVATE_SLOTS.search(fact.key):
        return True
    return near and bool(_NEAR_SLOTS.search(fact.key))


def _fact(author: Subject, category: Category, slot: str, predicate: str) -> Fact:
    return Fact(
        key=author.attribute(slot), subject=author.name, predicate=predicate.strip(" ,."), category=category
    )
