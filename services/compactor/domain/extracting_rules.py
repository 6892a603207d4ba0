"""What a rule about somebody's state is made of (SPEC J-8). Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from services.compactor.domain import extracting_words as words
from services.compactor.domain.extracting_types import Category

_FLAGS = re.IGNORECASE
N = (
    r"(?:\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|several|a few"
    r"|a couple of)"
)
ADJ = r"(?:[\w'-]+ ){0,3}?"
NOW = r"(?P<v>am|is|are)"
"""The verb of a present state."""
MOST_LIKED = 14
"""Words of what somebody likes: what is longer was not understood."""
PASSING = re.compile(
    r"^(?:option \w+|version \w+|it|this|that|these|those|him|her|them|one|ones|so|how"
    r"|what|when|where|why|to be"
    r"|to hear|to see|to know"
    r"|to think|to say|to ask|the (?!window|aisle|front|back row|smell|sound|taste|sea"
    r"|mountains|ocean|outdoors|beach"
    r"|opera|theatre|theater|rain"
    r"|colou?r|idea of|feel|feeling|cold|heat|dark|city|country\b|countryside|(?!tone|look"
    r"|style|structure|sound|end|beginning|start|first|second|last|rest|part|way|wording"
    r"|length|idea)\w+ of\b)"
    r"|(?:a|an|some|any) (?:bit|lot|idea|moment)|being here|everything|nothing|something"
    r"|anything(?: (?:you|else|that|I|he|she|from|in)\b|$)|all|each|every"
    r"|my (?:new )?(?:order|question|point)|working with|talking to|not|no|such|and|as|me|I|we"
    r"|their|your|us)\b|\b(?:like this|them|it|here|there|you)\b",
    _FLAGS,
)
UNTIMELY = re.compile(
    r"\b(?:as a (?:child|kid|student|teenager)|back then|when I was|for a (?:while|year|week"
    r"|month)|temporarily"
    r"|this (?:week|month|summer)|for the (?:week|weekend|month|summer|winter)|for (?:two"
    r"|three|a few|\d+) \w+"
    r"|tonight|today|tomorrow|yesterday|next \w+)\b",
    _FLAGS,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """A kind of statement: `o` in the pattern is its object, `slot` its key.

    A plural slot ("likes") has a key for each object. `says` gives the predicate from the match, in place of
    the clause as it stands.
    """

    pattern: re.Pattern[str]
    category: Category
    slot: str
    plural: bool = False
    says: Callable[[re.Match[str]], str] | None = None
    accepts: Callable[[str], bool] = lambda _: True


def state(
    pattern: str,
    category: Category,
    slot: str,
    *,
    plural: bool = False,
    says: Callable[[re.Match[str]], str] | None = None,
    accepts: Callable[[str], bool] = lambda _: True,
) -> State:
    """A state with its pattern compiled."""
    return State(
        pattern=re.compile(f"^{pattern}$", _FLAGS),
        category=category,
        slot=slot,
        plural=plural,
        says=says,
        accepts=accepts,
    )


def liked(text: str) -> bool:
    """Whether it is a thing that one likes for long: no pronoun, nothing that was just said or shown."""
    return not PASSING.search(text) and len(text.split()) <= MOST_LIKED


def has_capital(text: str) -> bool:
    """Whether a name stands among the first words."""
    return any(word[:1].isupper() for word in re.split(r"[ -]", text)[:3])


def settled(text: str) -> bool:
    """Whether it is a place for more than a while."""
    return not UNTIMELY.search(text) and not re.search(
        r"^(?:the |a |an )?(?:\w+ )?(?:hope|fear|dread|peace|denial|past|moment|times|society"
        r"|world|era|age|bubble|dream|shadow|wild|weekend)\b",
        text,
    )


_TYPED_PLACE = re.compile(
    r"(?!work|home|school|here|there|where|hell|scratch|memory|bed|earth|abroad|scotch"
    r"|another|outside|inside|afar|mars|space|stock|above|below|behind|town|uni"
    r"|university|nowhere|somewhere|jail|prison|hospital|church|college|today|then"
    r"|before)(?:(?:new|south|north|east|west|san|st) )?[a-zà-ÿ]{4,}(?: originally)?"
)
"""One word in small letters, as people type the names of towns."""


def is_place(text: str) -> bool:
    """Whether it is a named place for more than a while."""
    return settled(text) and (
        has_capital(text)
        or bool(_TYPED_PLACE.fullmatch(text) or re.search(r" (?:near|outside|in|of) (?-i:[A-Z])", text))
    )


_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_ONES = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


def in_figures(age: str) -> str:
    """An age with its number in figures: "forty six years old" as "46 years old"."""
    number, _, rest = age.partition(" years")
    tens, _, ones = number.lower().replace("-", " ").partition(" ")
    if tens not in _TENS or (ones and ones not in _ONES):
        return age
    return f"{20 + 10 * _TENS.index(tens) + (1 + _ONES.index(ones) if ones else 0)} years{rest}"


def is_trade(text: str) -> bool:
    """Whether it names what somebody is by trade or standing."""
    return words.is_role(text) and not re.search(
        r"^(?:bit|good|great|bad|terrible|lousy|big|little|better)\b", text
    )


def without_date(text: str) -> str:
    """A place without what is told of when and with whom."""
    place = re.split(
        r" (?:(?:\w+|a few|a couple of) (?:days?|weeks?|months?|years?) ago|in (?:\w+ )?(?:19"
        r"|20)\d\d|in (?:January|February|March|April|May|June|July|August|September|October"
        r"|November|December)|last \w+|this \w+|with|for|when|to|from|on|about|around|because"
        r"|yesterday|today|recently|last|before|during|after|in the)\b",
        text,
        flags=_FLAGS,
    )[0]
    return place.strip(" ,")
