"""English clauses that leave out their subject or verb: "lives in Hull, 41, retired" (SPEC J-8). Pure.

continued(clause, carried, before) -> str       with the subject of the clause before
goes_on(sentence) -> bool                       whether a sentence speaks on of somebody else
has_subject(part) -> bool                       whether the first person was not left out
"""

from __future__ import annotations

import re

from services.compactor.domain.extraction.english import words
from services.compactor.domain.extraction.english.verbs import ALSO_DOES, BARE

_FLAGS = re.IGNORECASE
_CARRIED = re.compile(
    rf"^(?:also |now |currently |then )*(?:{words.CARRIED}|still \w+|used to"
    r"|(?:never|always|only) \w+s)\b",
    _FLAGS,
)
_BE = re.compile(r"(?<=^ )(?:am|is|are|was|were)\b", _FLAGS)
_GOES_ON = re.compile(
    r"^(?:still |also |now |never |always |only )*(?:lives|works|loves|hates|likes|plays|speaks|drives"
    r"|runs|teaches|swims"
    r"|keeps|studies|smokes|drinks|collects|wears|retired|has (?:a|an|two|three|four|no|been)|does not"
    r"|can not"
    r"|never \w+s|still \w+s)\b",
    _FLAGS,
)
"""A sentence that goes on about somebody: "Lives in Hull"."""
_HAS_SUBJECT = re.compile(
    r"^(?:my|our|the|an?|his|her|their|this|that|these|those|it|he|she|they|there|I|we|you|\S+'s)\b"
    r"|\b(?:is|are|was|were|am|has|had|will|would|does|did|says?|said)\b",
    _FLAGS,
)
_NOW_IN = re.compile(
    r"^(?:now|currently|still|these days) (?:based "
    r"|living )?in (?P<o>(?-i:[A-Z]).+)$",
    _FLAGS,
)
_ALSO_DOES = re.compile(rf"^{ALSO_DOES}", _FLAGS)
_BARE = re.compile(rf"^(?:{BARE})", _FLAGS)
_DUTY = re.compile(
    r"(?:(?:still|also|really) )*(?:(?:need to|have to|must|have until|have till) "
    r"|have not \w+(?:ed|ne|nt|en|id|ade|ught) )",
    _FLAGS,
)


def goes_on(sentence: str) -> bool:
    """Whether it says more of somebody who was spoken of: "Works nights."."""
    return bool(_GOES_ON.match(sentence))


def has_subject(part: str) -> bool:
    """Whether it names whom or what it is about, or has a verb that needs one."""
    return bool(_HAS_SUBJECT.search(part))


def continued(clause: str, carried: str, before: str) -> str:
    """A clause with the subject of the one `before` it, where it has none."""
    first = carried.lower() in {"i", "we"}
    if carried and (_CARRIED.match(clause) or (not first and _ALSO_DOES.match(clause))):
        return f"{carried} {clause}"
    if carried and (now := _NOW_IN.match(clause)):
        return f"{carried} {'am' if first else 'is'} based in {now['o']}"
    if carried and _BARE.match(clause):
        clause = re.sub(r"^(?=(?:proud )?(?:mum|mom|mother|dad|father) )", "a ", clause, flags=_FLAGS)
        verb = _BE.search(before.removeprefix(carried))
        return f"{carried} {verb.group() if verb else 'am' if first else 'is'} {clause}"
    return f"I {clause}" if not carried and _DUTY.match(clause) else clause
