"""The general frame: what a finite statement tells of somebody, whatever its verb (SPEC J-8). Pure.

Asked when no rule knows the clause. A statement in the simple present, or in the perfect with its span, tells
what lasts, unless it is one of those that pass: moods, places one is at, things at hand, plans, what is said,
thought or wanted, and all that points to something told elsewhere. So the lists here say what is left.
"""

from __future__ import annotations

import re

from services.compactor.domain.extraction.english import words
from services.compactor.domain.extraction.english.passing import (
    BY_CHANCE,
    EVALUATION,
    NO_HABIT,
    NO_THINGS,
    NO_VERB,
    PAST,
    POINTS,
    POINTS_FIRST,
)
from services.compactor.domain.extraction.english.rules_who import NUMBER_WORDS
from services.compactor.domain.extraction.english.verbs import UNTOLD, about, third, trimmed
from services.compactor.domain.extraction.facts import Category, Fact, Subject
from services.compactor.domain.extraction.subjects import slug

_FLAGS = re.IGNORECASE
MOST_WORDS = 14
"""Words of a statement: what is longer was not understood."""
_LASTING_OBJECT = {
    "take": r"(?:the |a )?[\w-]+ for (?:my|his|her|their) |care of ",
    "look": r"after ",
    "do": r"the (?!same|trick|job|math|maths|work|honours|opposite|rest|thing|following|first|second|best"
    r"|right|wrong|usual)[\w-]+ (?!\w)|the (?:\w+ )?(?:books|accounts|payroll|garden|cooking|dishes"
    r"|washing|laundry|cleaning|driving|catering|flowers|ironing|school run|minor surgery|shopping"
    r"|night shift|morning shift|early shift)\b|(?:all|most of) (?:my|the|his|her|their|our) ",
    "sleep": r"(?:on|in|with|badly|under|through) ",
    "sit": r"on the (?:board|council|committee|jury|panel)",
    "answer": r"to ",
    "keep": r"(?!(?!everything\b)\w+ing\b)(?!on\b|up\b|it\b|calm\b|quiet\b|track\b|in mind\b|an eye\b"
    r"|the (?:change|receipt)\b)",
    "call": r"(?:me|us|him|her|them|my \w+|our \w+) (?-i:[A-Z])\w+ $",
    "open": r"at \d",
    "meet": r"(?:at|in|on) .*(?:every|days\b|mornings|evenings)",
    "need": r"(?:a wheelchair|glasses|a stick|a carer|insulin|dialysis)",
    "write": r"(?:children's|crime|romance|poetry|poems|songs|plays|novels|for|the|a) ",
    "read": r"(?:braille|music|lips)",
    "fly": r"(?:helicopters|gliders|planes|drones|for) ",
    "get": r"up |a (?:bouquet|pension|discount)",
    "lie": r"about ",
    "stand": r"\d",
    "make": r"(?:his|her|their|my|our) own |(?:[a-z-]+ ){0,2}(?:cheese|jam|jewellery|jewelry|furniture"
    r"|violins|guitars|pots|candles|soap|hats|shoes|wine|beer|cider|bread|puppets|dolls|knives"
    r"|documentaries|games) ?",
    "pay": r"(?:£|\$|€)?\d",
    "lose": r"(?!my|the|his|her|a\b)",
    "cost": r"(?:£|\$|€)?\d",
    "refuse": r"to (?!say|answer|comment|help|let|give|work|load|start|open|print|die|go\b)",
    "promise": "$^",
    "hate": "$^",
}
"""Verbs of what passes that tell what lasts with these."""
_LASTING_OBJECT_OF = {verb: re.compile(f"(?:{form})", _FLAGS) for verb, form in _LASTING_OBJECT.items()}
_WITH_THE = {"look", "do", "play", "get"}
_EVERYTHING = re.compile(r"^everything (?=in |on |with )", _FLAGS)
_VERB = re.compile(
    r"^(?:(?:still|also|only ever|only|never|always|even) )*(?P<v>[a-z]+)(?: (?P<o>.+))?$", _FLAGS
)
_ADVERBS = re.compile(
    r"^(?:(?:still|also|even|just|really|actually|already|now|then|personally|honestly) )+", _FLAGS
)
_BE = re.compile(r"^(?:am|is|are) (?:(?:still|also|both|now) )*(?P<o>.+)$", _FLAGS)
_HAVE = re.compile(r"^(?:have|has) (?:got )?(?P<o>.+)$", _FLAGS)
_CANNOT = re.compile(
    r"^(?:can not|can't) (?P<o>(?:even |really )?(?:cook|drive|swim|read|write|sing|dance|ski|skate|spell"
    r"|smell|whistle|hear|see|cycle|knit|sew|parallel park|bake|park|add up|roll (?:my|his"
    r"|her) r's)(?: (?:music|maps?|at night|small print|well|in the dark|far|without glasses|out of (?:my"
    r"|his|her) (?:left|right) (?:eye|ear)))?)$",
    _FLAGS,
)
_NUMBER = (
    r"(?:a few|several|a couple of|\d[\d,.]*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty"
    r"|seventy|eighty|ninety|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)[ -]\w+)"
)
_BRACKETS = re.compile(r" \([^()]{2,60}\)$")
_BODY = re.compile(
    r"\b(?:left|right|other) (?:ear|eye|leg|arm|hand|knee|hip|side)\b|\bin the other$|^(?:older|younger"
    r"|taller) than",
    _FLAGS,
)
_TRAIT = re.compile(
    r"^(?:(?:very|quite|pretty|a bit|completely|totally|extremely|rather|so|really|partly) )*(?:"
    rf"(?:{words.TRAITS}|{words.DIETS})$|deaf (?:in|on) .+|blind (?:in|on) .+"
    r"|(?:good|bad|terrible|hopeless|useless|slow|rubbish|handy|great|brilliant|awful|clumsy"
    r"|excellent) (?:at|with) (?!that\b|it\b).+|(?:brand )?new (?:on|at|in|to) (?:the |our )?\w.+|(?:head"
    r"|captain|chair|secretary|treasurer|president|founder|owner|director|vice \w+|co-\w+) of .+"
    rf"|{_NUMBER}(?:\.\d+)? (?:dan|kyu|metres|meters|feet|foot|ft|cm|kilos|kg|stone|handicap)\b.*"
    r"|\d'\d+.*|on the (?:[\w-]+ ){0,3}(?:council|board|committee|panel|jury|team|squad|ward|spectrum|pill"
    r"|crew|roster|rota)\b.*|in charge of .+|responsible for .+|named after .+|short for .+|ex-\w+|older"
    r"|younger than .+|older than .+|taller than .+|fluent (?:in|at) .+|native \w+|obsessed with .+"
    r"|mad (?:about|on) .+|afraid of .+|scared of .+|terrified of (?:dogs|heights|flying|spiders"
    r"|water)\b.*|superstitious|vain|stubborn|shy|deaf|mute|blind|bald|ginger|blonde?|tall|short|petite"
    r"|religious|colou?r[- ]?blind|twins?|left-handed|sensitive to .+|used to (?:be|work|live|have) .+"
    r"|married to .+|related to .+|retired|semi-retired|self-employed|freelance|bilingual|trilingual"
    r"|adopted|double-jointed)$",
    _FLAGS,
)
_HEAD = re.compile(r" (?:of|at|in|for|on|from|with|who|that|to|by|near|and)\b|,")
"""What follows the noun that says what somebody is."""
_ONE_WHO = re.compile(r"^the (?:one|person|only one) (?:who|with) (?!the\b.*\bwins?\b).+$", _FLAGS)
_TWIN = re.compile(
    r"^the (?:older|younger|elder|eldest|youngest|oldest|middle) (?:twin|one|sister|brother|child|sibling"
    r"|of .+)$",
    _FLAGS,
)
_ILLNESS = re.compile(
    r"^(?:(?:severe|mild|bad|chronic|early|early-onset|late-stage|terrible|awful|stage \w+"
    r"|type \w+) )?(?:sickle cell|(?-i:[A-Z]{2,5})|flat feet|whiplash|perfect pitch|absolute pitch"
    r"|poor circulation|low iron|low blood \w+|high \w+|(?:an? )?\w+ (?:condition|disorder|deficiency"
    r"|intolerance|allergy|allergies|sclerosis|disease|syndrome))(?: .+)?$",
    _FLAGS,
)
_HAD_NUMBER = re.compile(
    rf"^(?:{_NUMBER} (?!minutes|hours|days|weeks|months|questions|things|meetings|calls|problems|issues"
    rf"|ideas|options|people\b"
    r"|exams|interviews|appointments|deadlines|tabs|tasks|drafts|emails|messages|slides|versions|points"
    r"|pages|chapters|tickets|assignments|essays|bugs|left|more|files|columns|rows|lines|guests|weekends"
    r"|hrs|mins|errands|jobs|tests)[a-z].*|no (?!(?:"
    rf"{NO_THINGS})\b)[a-z][\w -]+|had .+ for .+|(?:a|an) (?:\w+ )?(?:eye|ear|nose|knack|talent|memory"
    rf"|sense) for .+)$",
    _FLAGS,
)


_TURNED = re.compile(
    rf"^(?:have |has )?(?:just |recently |only )?turned (?P<n>{NUMBER_WORDS}|\d{{1,3}})$", _FLAGS
)
_HAS_NOT = re.compile(
    r"^(?:have|has) not (?:got )?(?P<o>(?:a|an|any) (?:[\w-]+ ){0,2}?(?:licen[cs]e|car|garden|oven|freezer"
    r"|dishwasher|tv|telly|bike|passport|degree|balcony|bath|microwave|smartphone|driveway|kids|children"
    r"|siblings|pets|spleen|tonsils|appendix|sense of \w+))$",
    _FLAGS,
)
_IN_FLAT = re.compile(
    r"^(?:am|is|are) in (?P<o>an? (?:[\w-]+ ){0,3}?(?:one-bed|two-bed|flat|house|studio|cottage|apartment"
    r"|bedsit|caravan|houseshare|flatshare|bungalow|loft|village|hostel) (?:in|near|outside|on|by) .+)$",
    _FLAGS,
)
_LIVED = re.compile(
    r"^(?:lived|was living) (?P<o>(?:in|on|at|near) .+ (?:as an? (?:child|boy|girl|kid|teenager|student"
    r"|baby)|when I was .+|until I was .+|for (?:\w+ ){1,2}years))$",
    _FLAGS,
)


_MORE = re.compile(
    r"\b(?:he|she|they|it|him|her|them|his|their|its|this|that|when|who|which|what|while|because|ones?"
    r"|someone|anyone"
    r"|everyone|people)\b"
)
"""More than subject, verb and complement: a clause within it, or what another sentence would have to tell."""


def read_frame(subject: Subject, author: Subject, rest: str, *, first: bool) -> Fact | None:
    """The fact of a clause whose verb no rule knows."""
    rest = _ADVERBS.sub("", trimmed(rest))
    if len(rest.split()) > MOST_WORDS or words.CODE_TALK.search(rest) or words.SECRETS.search(rest):
        return None
    said, slot, category = _state_of(rest, first=first), "is", Category.FACT
    if said is None and (where := _IN_FLAT.match(rest) or _LIVED.match(rest)):
        lives = "lives in" if rest.split(" ", 1)[0] in {"am", "is", "are"} else "lived"
        said, slot, category = (
            f"{lives} {where['o']}",
            "home" if lives == "lives in" else "lived",
            Category.LOCATION,
        )
    elif said is None and (age := _TURNED.match(rest)):
        said, slot, category = f"is {age['n']}", "age", Category.IDENTITY
    elif said is None and (lacking := _HAS_NOT.match(rest)):
        said = f"hasn't got {lacking['o']}"
    if said is None:
        said, slot = _done(rest, first=first or subject.plural), "does"
    if said is None:
        return None
    if subject.plural and not first:
        said = rest
    predicate = about(said, author)
    if (
        not predicate
        or UNTOLD.search(predicate)
        or _MORE.search(re.sub(r"^is the (?:only )?one (?:who|with)\b", "", predicate))
    ):
        return None
    return Fact(
        key=subject.attribute(slot if slot in {"home", "age"} else f"{slot}.{slug(predicate)}"),
        subject=subject.name,
        predicate=predicate,
        category=category,
    )


def _state_of(rest: str, *, first: bool) -> str | None:
    """From "am deaf in one ear", "has sickle cell", "can not swim"."""
    if match := _CANNOT.match(rest):
        return f"can't {match['o']}"
    if match := _BE.match(rest):
        o = match["o"]
        if _TRAIT.match(_BRACKETS.sub("", o)) or _TWIN.match(o):
            return None if POINTS.search(_BODY.sub("", o)) and not _TWIN.match(o) else f"is {o}"
        if _ONE_WHO.match(o) and not POINTS.search(o[8:]):
            return f"is {o}"
        if (
            first
            and re.match(r"(?:a|an|the) ", o)
            and not EVALUATION.search(_HEAD.split(o, maxsplit=1)[0])
            and not POINTS.search(o)
        ):
            return f"is {o}"
        if (
            not first
            and re.match(r"(?:in|on|with) (?![A-Z])", o)
            and not BY_CHANCE.search(o)
            and not POINTS.search(o)
        ):
            return f"is {o}"
        return None
    if match := _HAVE.match(rest):
        o = match["o"]
        if POINTS.search(o):
            return None
        return f"has {o}" if _ILLNESS.match(o) or _HAD_NUMBER.match(o) else None
    return None


def _done(rest: str, *, first: bool) -> str | None:
    """From "snores like a tractor": a verb in the present, in agreement with its subject."""
    match = _VERB.match(rest)
    if match is None:
        return None
    verb, object_ = match["v"].lower(), match["o"] or ""
    if (
        not object_
        or verb.endswith(("ed", "ing"))
        or verb in PAST
        or verb in NO_VERB
        or not _agrees(verb, first=first)
    ):
        return None
    if (
        verb == "does"
        and not first
        and not POINTS.search(object_)
        and not re.match(
            r"(?:not|it|that|this|so|well|need|have|want|(?:his|her|the|their) (?:best|thing|job|homework"
            r"|bit|part|worst))\b",
            object_,
        )
    ):
        return rest
    if not _lasting(verb, object_) or (first and verb not in _WITH_THE and object_.startswith("the ")):
        return None
    return rest[: match.start("v")] + third(verb) + rest[match.end("v") :]


def _agrees(verb: str, *, first: bool) -> bool:
    is_third = verb.endswith("s") and not verb.endswith(("ss", "us"))
    return is_third is not first


def _base(verb: str) -> str:
    if verb.endswith("ies") and len(verb) > 4:
        return f"{verb[:-3]}y"
    if verb.endswith(("shes", "ches", "sses", "xes", "zes", "oes")):
        return verb[:-2]
    return verb[:-1] if verb.endswith("s") and not verb.endswith("ss") else verb


def _lasting(verb: str, object_: str) -> bool:
    base = _base(verb)
    if lasting := _LASTING_OBJECT_OF.get(base):
        return bool(lasting.match(f"{object_} ")) and not POINTS.search(_EVERYTHING.sub("", object_))
    if POINTS.search(object_) or POINTS_FIRST.search(object_):
        return False
    return base not in NO_HABIT and verb not in NO_HABIT
