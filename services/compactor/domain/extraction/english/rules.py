"""What a rule about somebody's state is made of (SPEC J-8). Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from services.compactor.domain.extraction.english import words
from services.compactor.domain.extraction.facts import Category

_FLAGS = re.IGNORECASE
N = r"(?:\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|several|a few|a couple of)"
ADJ = r"(?:[\w'-]+ ){0,3}?"
NOW = r"(?P<v>am|is|are)"
"""The verb of a present state."""
MOST_LIKED = 14
"""Words of what somebody likes: what is longer was not understood."""
PASSING = re.compile(
    r"^(?:option \w+|version \w+|it|this|that|these|those|him|her|them|one|ones|so|how|what|when|where|why"
    r"|to be|to hear|to see|to know|to think|to say|to ask|the (?!window|aisle|front|back row|smell|sound"
    r"|taste|sea|mountains|ocean|outdoors|beach|opera|theatre|theater|rain|colou?r|idea of|feel|feeling"
    r"|cold|heat|dark|city|country\b|countryside|(?!tone|look|style|structure|sound|end|beginning|start"
    r"|first|second|last|rest|part|way|wording|length|idea)\w+ of\b)|(?:a|an|some|any) (?:bit|lot|idea"
    r"|moment)|being here|everything|nothing|something|anything(?: (?:you|else|that|I|he|she|from|in)\b|$)"
    r"|all|each|every|my (?:new )?(?:order|question|point)|working with|talking to|not|no|such|and|as|me|I"
    r"|we|their|your|us)\b|\b(?:like this|them|it|here|there|you)\b",
    _FLAGS,
)
UNTIMELY = re.compile(
    r"\b(?:as a (?:child|kid|student|teenager)|back then|when I was|for a (?:while|year|week|month)"
    r"|temporarily|this (?:week|month|summer)|for the (?:week|weekend|month|summer|winter)|for (?:two"
    r"|three|a few|\d+) \w+|tonight|today|tomorrow|yesterday|next \w+)\b",
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
        r"^(?:the |a |an )?(?:\w+ )?(?:hope|fear|dread|peace|denial|past|moment|times|society|world|era"
        r"|age|bubble|dream|shadow|wild|weekend)\b",
        text,
    )


_TYPED_PLACE = re.compile(
    r"(?!work|home|school|here|there|where|hell|scratch|memory|bed|earth|abroad|scotch|another|outside"
    r"|inside|afar|mars|space|stock|above|below|behind|town|uni|university|nowhere|somewhere|jail|prison"
    r"|hospital|church|college|today|then|before)(?:(?:new|south|north|east|west|san"
    r"|st) )?[a-zà-ÿ]{4,}(?: originally)?"
)
"""One word in small letters, as people type the names of towns."""


def is_place(text: str) -> bool:
    """Whether it is a named place for more than a while."""
    return settled(text) and (
        has_capital(text)
        or bool(_TYPED_PLACE.fullmatch(text) or re.search(r" (?:near|outside|in|of) (?-i:[A-Z])", text))
    )


def is_trade(text: str) -> bool:
    """Whether it names what somebody is by trade or standing."""
    return words.is_role(text) and not re.search(
        r"^(?:bit|good|great|bad|terrible|lousy|big|little|better|happy|lucky|proud|sad|busy|free|changed"
        r"|different|new|broken|rich|poor|simple|grown|nice|lovely|real|huge|total|complete|absolute|old"
        r"|wise|dead|tired)\b",
        text,
    )


def without_date(text: str) -> str:
    """A place without what is told of when and with whom."""
    place = re.split(
        r" (?:(?:\w+|a few|a couple of) (?:days?|weeks?|months?|years?) ago|in (?:\w+ )?(?:19|20)\d\d"
        r"|in (?:January|February|March|April|May|June|July|August|September|October|November|December)"
        r"|last \w+|this \w+|with|for|when|to|from|on|about|around|because|yesterday|today|recently|last"
        r"|before|during|after|in the)\b",
        text,
        flags=_FLAGS,
    )[0]
    return place.strip(" ,")
