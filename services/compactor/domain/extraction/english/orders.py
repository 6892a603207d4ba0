"""What English imperatives ask to be noted, or to be done from now on (SPEC J-8). Pure."""

from __future__ import annotations

import re

from services.compactor.domain.extraction.english.states import Clause
from services.compactor.domain.extraction.english.tasks import to_do
from services.compactor.domain.extraction.english.verbs import trimmed
from services.compactor.domain.extraction.english.wishes import standing_wish
from services.compactor.domain.extraction.facts import Fact

_FLAGS = re.IGNORECASE
_REMIND = re.compile(
    r"^(?:please )?(?:remind me (?:(?P<w>(?:on|next|this|tomorrow|tonight"
    r"|in) ?[^,]{0,20}?) )?(?:to|2|(?:that )?I (?:need|have|must|am supposed)(?: to)?)|(?:I )?(?:must"
    r"|have to|need to)"
    r" remember(?:: | to)|do not let me forget to"
    r"|help me remember to) (?P<o>.+)$",
    _FLAGS,
)
_REMIND_ABOUT = re.compile(
    r"^(?:please )?(?:remind me (?P<w>(?:on|next|tomorrow|tonight) ?[^,]{0,20}? )?(?:about|of)"
    r"|do not let me forget(?: about)?) "
    r"(?P<o>(?:the|my|our|mum's|dad's|(?-i:[A-Z])[\w-]*'s) .+)$",
    _FLAGS,
)
_ERRAND_NOTED = re.compile(
    r"^(?:(?:and|then|also) )?(?P<o>(?:collect|pick up|ring|phone|hand (?:in|back|over)|hand (?=the|my"
    r"|our)|return|post|drop off|water|feed"
    r"|buy|fetch|renew|pay|clean|wash|mow|defrost|bleed|empty|mend|walk|vacuum|iron|descale|bin|top up"
    r"|sweep|take (?=the|my|our)"
    r"|drop (?=the|my|our)|get (?=the|my|our)(?=.* (?:to|from|back|done|fixed|serviced|checked|cut)\b)) ?"
    r"(?:the|my|our|a|an|some|more|two|three|mum|dad|new|\d+|(?-i:[A-Z])\w+|\w+s)\b.*)$",
    _FLAGS,
)
"""A note of an errand that no assistant can run."""
_LISTED = re.compile(
    r"^(?:please )?(?:add|put|note) (?P<o>.+?) (?:on|to|onto|in) (?:my|the|our) (?:(?:to-?do|task"
    r"|todo)s?(?: list)?|list)$",
    _FLAGS,
)


def read_order(text: str, clause: Clause) -> list[Fact]:
    """From an imperative: a task to be reminded of, or a standing wish about how the assistant behaves."""
    whole, text = text, trimmed(text)
    if match := _REMIND.match(text) or _LISTED.match(text):
        when = match["w"] if match.re is _REMIND and match["w"] else ""
        found = to_do(clause, f"{match['o']} {when}".strip(), asked=True)
        return [found] if found else []
    if match := _REMIND_ABOUT.match(text):
        found = to_do(clause, f"remember {match['o']} {match['w'] or ''}".strip(), asked=True)
        return [found] if found else []
    if (match := _ERRAND_NOTED.match(text)) and not re.search(r"\b(?:you|your|me|us)\b", text, _FLAGS):
        found = to_do(clause, match["o"])
        return [found] if found and found.day else []
    return standing_wish(whole, clause.author)
