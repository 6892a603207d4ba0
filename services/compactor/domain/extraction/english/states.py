"""What English clauses tell of a lasting state: who, where, with whom, what somebody likes (SPEC J-8). Pure.

A rule takes what follows the subject and is anchored to its beginning: "I never said that I work at a bank"
and "I might move to Oslo" match none, for another verb comes first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date

from services.compactor.domain.extraction import dates
from services.compactor.domain.extraction.english import words
from services.compactor.domain.extraction.english.frames import read_frame
from services.compactor.domain.extraction.english.rules import PASSING, State
from services.compactor.domain.extraction.english.rules_health import HEALTH
from services.compactor.domain.extraction.english.rules_life import LIFE
from services.compactor.domain.extraction.english.rules_what import WHAT
from services.compactor.domain.extraction.english.rules_who import WHO
from services.compactor.domain.extraction.english.verbs import MANNER, UNTOLD, about, dated, third, trimmed
from services.compactor.domain.extraction.facts import Category, Fact, Subject, Tense
from services.compactor.domain.extraction.subjects import slug

_FLAGS = re.IGNORECASE
STATES: tuple[State, ...] = (*WHO, *HEALTH, *WHAT, *LIFE)
_GONE = re.compile(r"^(?:do|does) not (.+?) (?:anymore|any more|any longer)$", _FLAGS)
_HABIT = re.compile(rf"^(?:{words.HABITS}) (?P<v>\w+) (?P<o>.+)$", _FLAGS)
_WORK_TAIL = re.compile(
    r"^(?P<a>.+?),?(?: up| down| out| over| back)? (?P<p>in|near) "
    r"(?P<place>(?-i:[A-Z])[\w'-]+(?:[ -](?-i:[A-Z])[\w'-]+)*)"
    r"(?P<after>(?:,? (?:with|since|for|called|named|on|every|where|which|specialising)\b.*)?)$"
)
_APPOSED = re.compile(
    r"(?: and)?, (?:\d+ (?!days|hours|nights|mornings|shifts)\w+|(?:one|two|some) of"
    r"|well\b).*$",
    _FLAGS,
)
"""What is told beside a trade, with a number."""
_AT = re.compile(r"(?P<at> (?:at|for) (?!\w+ (?:\w+ )?(?:years|months|weeks|decades)\b).+)$")
_NARROWED = re.compile(rf"^(?:{words.HABITS}) ", _FLAGS)
_AUX = frozenset(
    [
        "am",
        "is",
        "are",
        "was",
        "were",
        "be",
        "had",
        "do",
        "does",
        "did",
        "can",
        "will",
        "would",
        "may",
        "might",
        "must",
        "should",
        "could",
        "not",
        "never",
    ]
)


_APART = re.compile(
    r"(?:(?:and |but )?(?:I|we|he|she|they|it|you|my|our|your|his|her|their|there|that is|this|these"
    r"|those)\b(?! \w+ly$)"
    r"|please|thanks|thank|can|could|would|should|is|are|do|does|what|how|which|who|why|where|any|so|as"
    r"|help|send|give"
    r"|obviously|honestly|seriously|sorry|sadly|luckily|believe|trust|of course|in case|if (?:that|it)|yes"
    r"|hence"
    r"|thus|therefore|because|guess|don't|do not|let|hope|wish|need|want|ideally|final|long story|no joke"
    r"|pray|fyi|btw"
    r"|by the way|to be|and yes|and no\b|welcome|hello|hi\b)",
    _FLAGS,
)
"""How something begins that does not belong to the statement before it, so that this may be read alone."""
_SINCE = re.compile(r"\b(?:since|born|from)\b", _FLAGS)
_EACH_YEAR = re.compile(
    r"\b(?:birthday|anniversary|at (?:christmas|xmas|easter|new year)"
    r"|the (?:\w+days?) (?-i:[a-z])\w+)\b",
    _FLAGS,
)
"""A day that comes back: "the Thursday class", "at Christmas"."""
_MEANWHILE = re.compile(r" (?:before|after|when|while|until|once) (?:I|we|he|she|they|it) .+$", _FLAGS)
_AUXILIARY = frozenset({"am", "is", "are", "have", "has", "do", "does"})
_NO_HABIT = _AUX | {
    "says",
    "said",
    "tells",
    "tell",
    "thinks",
    "wants",
    "want",
    "asks",
    "ask",
    "know",
    "knows",
    "forgets",
    "get",
    "gets",
    "forget",
    "think",
    "feel",
    "wonder",
    "wanted",
    "thought",
    "say",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A subject and what follows it ("live in Oslo"); `author` is whom "my" means."""

    author: Subject
    subject: Subject
    first: bool
    rest: str
    said: date
    crowded: bool = False
    """Whether its sentence holds several other clauses."""
    due: bool = False
    """Whether the next clause says by when."""


_IDIOM = re.compile(
    r"^(?:runs? a tight ship|plays? the (?:long game|fool|field|victim|market)|drives? .+ (?:mad|crazy"
    r"|nuts|insane|up the wall|(?:a)?round the bend)|wears? (?:many|several|two"
    r"|\w+ different)"
    r" hats|lives? (?:off (?!the )|on (?!(?:the|an?|my|our|his|her|their|this|that|one|two|campus|base"
    r"|board|site|top|land)\b"
    r"|(?-i:[A-Z]))|on the \d|(?:on|in) (?:hope|fear|borrowed time|another planet|denial))"
    r"|(?:go|goes) (?:way )?back\b|(?:is|am|are) (?:married to (?:the|my|his|her)|allergic to (?:hard work"
    r"|mornings))"
    r"|has \w+ hands full|(?:have|has) (?:a|an) (?:[\w-]+ )?(?:mouthful|handful|bone to pick)\b"
    r"|(?:have|has) (?:half an hour|an hour|\w+ (?:minutes|hours|seconds))\b)",
    _FLAGS,
)
"""What is not meant to the letter, or holds for the hour."""


def read_state(clause: Clause) -> list[Fact]:
    """The statements of a clause; none when it tells no state."""
    rest = trimmed(clause.rest)
    if _IDIOM.match(rest):
        return []
    if habit := _habit(clause, rest):
        return [habit]
    lead = _NARROWED.match(rest)
    plain = MANNER.sub("", _GONE.sub(r"no longer \1", clause.rest) if _GONE.match(clause.rest) else rest)
    first, _, after = plain.partition(", ")
    for said in (plain, first) if _APART.match(after) else (plain,):
        for one in STATES:
            match = one.pattern.match(said)
            if match and one.accepts(match["o"] or "") and _agree(clause, one, match):
                found = _facts(clause, one, match)
                return [_narrowed(fact, lead.group()) for fact in found] if lead else found
    if clause.crowded:
        return []
    framed = read_frame(clause.subject, clause.author, clause.rest, first=clause.first)
    return [framed] if framed else []


def _narrowed(fact: Fact, how: str) -> Fact:
    """With the adverb that narrows it: "only eats fish"."""
    adverb = how.strip().lower()
    if fact.predicate.startswith((":", "'s ", "is ", "are ", "was ", "has been ")):
        first, _, rest = fact.predicate.partition(" ")
        return replace(fact, predicate=f"{first} {adverb} {rest}")
    return replace(fact, predicate=f"{adverb} {fact.predicate}")


def _agree(clause: Clause, one: State, match: re.Match[str]) -> bool:
    """Whether a verb that no rule names has the person of its subject, and so is a verb."""
    if one not in LIFE or "v" not in match.re.groupindex or match["v"].lower() in _AUXILIARY:
        return True
    verb = match["v"].lower()
    is_third = verb.endswith("s") and not verb.endswith("ss")
    return is_third is not (clause.first or clause.subject.plural)


def _habit(clause: Clause, rest: str) -> Fact | None:
    match = _HABIT.match(rest)
    if match is None or match["v"].lower() in _NO_HABIT:
        return None
    if match["v"].lower().endswith("ed") or PASSING.search(match["o"]):
        return None
    if any(one.pattern.match(f"{match['v']} {match['o']}") for one in (*WHO, *HEALTH, *WHAT)):
        return None
    predicate = about(f"{rest.split(' ', 1)[0].lower()} {third(match['v'])} {match['o']}", clause.author)
    return made(
        clause.subject, Category.FACT, f"habit.{slug(match['v'] + ' ' + match['o'])}", predicate, None
    )


def _facts(clause: Clause, one: State, match: re.Match[str]) -> list[Fact]:
    text = about(_said(clause.subject, one, match), clause.author)
    if _on_a_day(text, clause.said):
        return []
    if not _EACH_YEAR.search(text) or "birthday" in text:
        text, _ = dated(text, clause.said, Tense.PAST)
    if one.category in {Category.IDENTITY, Category.LOCATION}:
        text = _MEANWHILE.sub("", text)
    slot = f"{one.slot}.{slug(match['o'] or match['v'])}" if one.plural else one.slot
    if one.slot in {"occupation", "former-occupation"}:
        text = _APPOSED.sub("", text)
    tail = _WORK_TAIL.match(text) if one.slot in {"occupation", "employer", "studies"} else None
    if tail and len(tail["a"].split()) > 1:
        verb = "studies" if one.slot == "studies" else "works"
        verb = {"studies": "study", "works": "work"}[verb] if clause.subject.plural else verb
        at = _AT.search(tail["a"])
        where = Fact(
            key=clause.subject.attribute("study-place" if verb.startswith("stud") else "work-place"),
            subject=clause.subject.name,
            predicate=f"{verb}{at['at'] if at else ''} {tail['p']} {tail['place']}",
            category=Category.LOCATION,
        )
        whole = re.fullmatch(r"works(?: \S+)?", tail["a"])
        what = made(clause.subject, one.category, slot, tail["a"] + tail["after"], None)
        return [where] if whole else [what, where] if what else []
    found = made(clause.subject, one.category, slot, text)
    return [found] if found else []


def _on_a_day(text: str, said: date) -> bool:
    """Whether it holds on one day only: "lands on Friday" is no state."""
    mention = dates.find(text, said, Tense.PAST)
    if mention is None or mention.day is None or _EACH_YEAR.search(text):
        return False
    return not _SINCE.search(text[: mention.start + len("since ")]) and not text.startswith(("was ", "were "))


def _said(subject: Subject, one: State, match: re.Match[str]) -> str:
    if subject.plural:
        return match.group()
    return one.says(match) if one.says else _in_third(match)


def _in_third(match: re.Match[str]) -> str:
    if "v" not in match.re.groupindex:
        return match.group()
    verb = match["v"]
    begin = match.start("v")
    return f"{match.string[:begin]}{_third_of(verb)}{match.string[match.end('v') :]}"


def _third_of(verb: str) -> str:
    head, _, rest = verb.partition(" ")
    past = head.lower() in {
        "grew",
        "was",
        "were",
        "worked",
        "retrained",
        "trained",
        "qualified",
        "studied",
        "graduated",
        "quit",
        "gave",
        "given",
        "stopped",
    }
    return " ".join(
        part for part in (("was" if head.lower() == "were" else head) if past else third(head), rest) if part
    )


def made(
    subject: Subject, category: Category, slot: str, predicate: str, day: date | None = None
) -> Fact | None:
    """A fact, unless it says nothing, what nobody should keep, or names a thing that was told elsewhere."""
    predicate = trimmed(predicate)
    if not predicate or words.SECRETS.search(predicate) or UNTOLD.search(predicate):
        return None
    return Fact(
        key=subject.attribute(slot), subject=subject.name, predicate=predicate, category=category, day=day
    )
