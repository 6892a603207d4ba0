"""What is told of something that is the author's, such as "our shop opens at 6" (SPEC J-8). Pure.

read_thing_state(clause, author) -> Fact | None
date_last(clause, said) -> str  "three days ago I moved" as "I moved three days ago"
fronted(clause) -> str          "as a boy I lived in Oslo" as "I lived in Oslo as a boy"
"""

from __future__ import annotations

import re
from datetime import date

from services.compactor.domain.extraction import dates
from services.compactor.domain.extraction.english import kin, words
from services.compactor.domain.extraction.english.passing import EVALUATION, POINTS
from services.compactor.domain.extraction.english.verbs import about, trimmed
from services.compactor.domain.extraction.facts import Category, Fact, Subject, Tense
from services.compactor.domain.extraction.subjects import slug

_FLAGS = re.IGNORECASE
MOST_WORDS = 12
_HOUSEHOLD = (
    r"(?:rent|mortgage|child support|take-home|take-home pay|net pay|income|salary|wage|pension|loan"
    r"|council tax|commute|mileage)"
)
_OWNED = (
    r"(?:flat|house|cottage|bungalow|cabin|caravan|van|car|boat|shop|garden|allotment|studio|workshop"
    r"|bakery|farm|barn|kiln|piano|motorbike|cellar|loft|balcony|kitchen)"
)
"""Of whom one speaks, if it is said without "my"."""
_THING = re.compile(
    rf"^(?:(?:my|our) |(?:the )?(?={_HOUSEHOLD} )|the (?={_OWNED} ))"
    r"(?P<n>(?-i:(?:[a-zà-ÿ][\w-]* ){0,2}?[a-zà-ÿ][\w-]*)) (?P<rest>(?P<v>is|are|has|have|costs?|weighs?"
    r"|opens?|closes?|meets?|rehearses?|trains?|uses?|runs?|faces?|belongs? to|dates? (?:from|back to)"
    r"|does|do|sells?|makes?|plays?|serves?|sits?|eats|employs?|covers?|comes? (?:from|to)|goes|starts?"
    r"|ends?|lasts|looks? after|supplies|supply|exports?|specialises in) (?P<o>.+))$",
    _FLAGS,
)
_NO_THING = re.compile(
    r"\b(?:guess|question|problem|point|issue|plan|idea|goal|dream|advice|answer|opinion|turn|bad"
    r"|apologies|thanks|flight|train|bus|order|package|parcel|delivery|phone|brain|head|mind|heart|mood"
    r"|day|week|night|morning|weekend|life|luck|worry|fear|concern|aim|target|understanding|impression"
    r"|feeling|take|theory|hope|wish|task|homework|assignment|essay|paper|thesis|draft|cv|resume"
    r"|presentation|slides|report|letter|speech|text|message|mail|email|exam|interview|appointment|back"
    r"|throat|stomach|hands?|eyes|feet|legs?|arms?|face|hair|skin|knees?|budget|deadline|score|version|way"
    r"|time|place is (?:a mess|tiny)|favou?rite .*|name|age)$",
    _FLAGS,
)
_PLACED = re.compile(
    r"^(?:in|at|on|near|opposite|above|next to|outside|by|behind|over) (?:the "
    r"|an? )?(?:[\w'-]+ ){0,5}?(?-i:[A-Z])",
    _FLAGS,
)
_NUMBERED = re.compile(
    r"^(?:(?:at|about|around|only|just|up to|down to|over|under|from) )*(?:£|\$|€)?\d|^(?:on|at"
    r"|every) (?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|^every |^.{3,40} (?:at \d|on (?:mon|tues"
    r"|wednes|thurs|fri|satur|sun)days\b|every )",
    _FLAGS,
)
_SETTLED = re.compile(
    r"^(?:leased|rented|insured|registered|made (?:of|by|in)|built|illegible|north-facing|south-facing"
    r"|listed|off-grid)\b",
    _FLAGS,
)
_FRONT = re.compile(
    r"^(?P<w>(?:since|for|on|in|at|as|before|after|during|by|every|each|most"
    r"|until) (?P<n>[^,]{2,40}?)),? (?P<s>(?-i:I|[Ww]e|[Hh]e|[Ss]he|[Tt]hey|[Mm]y|[Oo]ur|(?:Dr|Mrs|Mr|Ms"
    r"|Professor) [A-Z]\w+) .+)$",
    _FLAGS,
)
_NO_FRONT = re.compile(
    r"\b(?:is|are|was|were|I|we|he|she|they|you|it|has|have|had|that|if|this|ago|last|next|monday|tuesday"
    r"|wednesday|thursday|friday|saturday|sunday|today|tomorrow|yesterday|experience|opinion|view|mind"
    r"|general|fact|particular|addition|short|meantime|end|least|moment|first|example|instance|way|hand"
    r"|whole|balance|sake|reference|record|context|now|once|usual|always|well|honest|people)\b",
    _FLAGS,
)


def fronted(clause: str) -> str:
    """A clause with the circumstance that opens it at its end."""
    match = _FRONT.match(clause)
    if (
        match is None
        or _NO_FRONT.search(match["n"])
        or match["w"].lower().startswith(("for my ", "on my own"))
    ):
        return clause
    return f"{trimmed(match['s'])} {match['w'][0].lower()}{match['w'][1:]}"


def read_thing_state(clause: str, author: Subject) -> Fact | None:
    """The fact of a clause whose subject is something of the author's."""
    match = _THING.match(trimmed(clause))
    if match is None or len(clause.split()) > MOST_WORDS:
        return None
    noun, verb, object_ = match["n"].lower(), match["v"].lower(), match["o"]
    if kin.is_person(noun) or kin.is_group(noun) or _NO_THING.search(noun) or words.CODE_TALK.search(clause):
        return None
    if re.search(r"\b(?:today|tonight|now|again|yet)$", clause.strip(" ,.!"), _FLAGS):
        return None
    if not _lasting(verb, object_) or POINTS.search(
        re.sub(r"until (?=\d{4}\b)|(?<=every )other\b", "", object_)
    ):
        return None
    if (mention := dates.find(object_, date.min, Tense.COMING)) and mention.day and not mention.recurring:
        return None  # on that day only
    said = about(f"'s {noun} {match['rest']}", author)
    if not said:
        return None
    return Fact(
        key=author.attribute(slug(noun)),
        subject=author.name,
        predicate=said,
        category=Category.LOCATION if _PLACED.match(object_) and verb in {"is", "are"} else Category.FACT,
    )


def _lasting(verb: str, object_: str) -> bool:
    if verb in {"is", "are"}:
        if re.match(r"(?:a|an|the) ", object_):
            return not EVALUATION.search(object_) and bool(re.search(r"(?-i:[A-Z])|\d", object_))
        plural = verb == "are" and words.is_role(re.sub(r"s$", "", object_))
        return bool(_PLACED.match(object_) or _NUMBERED.match(object_) or _SETTLED.match(object_)) or plural
    if verb in {"has", "have"}:
        return bool(
            re.match(
                r"(?:no|an?|one|two|three|four|five|six|seven|eight|nine|ten|\d+|\w+teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:-\w+)?"
                r"|a hundred) ",
                object_,
            )
        )
    return True


def date_last(clause: str, said: date) -> str:
    """With a date that opens it at its end: "Three days ago I started" as "I started three days ago"."""
    if (moved := fronted(clause)) != clause:
        return moved
    mention = dates.find(clause, said, Tense.PAST)
    if (
        mention is None
        or mention.start > 0
        or not re.match(r"[ ,]+(?:I|we|my|our|the|he|she|they)\b", clause[mention.end :], _FLAGS)
    ):
        return clause
    when = clause[: mention.end]
    if re.match(
        r"(?:last|next|this|yesterday|today|tomorrow|tonight|in|on|two|three|four|five|a)\b", when, _FLAGS
    ):
        when = when[0].lower() + when[1:]
    return f"{clause[mention.end :].strip(' ,')} {when}"
