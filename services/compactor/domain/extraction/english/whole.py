"""Whether a statement stands by itself, whatever found it (SPEC J-8). Pure.

whole(fact) -> Fact | None      without an exclamation at its end; None for a fragment
"""

from __future__ import annotations

import re
from dataclasses import replace

from services.compactor.domain.extraction.english.verbs import third
from services.compactor.domain.extraction.facts import Category, Fact

_FLAGS = re.IGNORECASE
_EXCLAIMED = re.compile(
    r",? (?:(?:and )?guess what|believe (?:me|that|it)|can you believe it|(?-i:HIM|HER|ME|THEM|YES))$", _FLAGS
)
_FRAGMENT = re.compile(
    r"\b(?:and|or|but|the|an?|with one exception|apart from one|except|because|although|than|which|who"
    r"|whose)$"
    r"|^(?:and|or|but|so|because|which|than)\b",
    _FLAGS,
)
"""A piece of a longer statement: what restricts it was cut off."""
_SECOND = re.compile(r"(?<!\w)I (?=[a-z])|\bI'm\b")
"""Another statement within, which was not understood."""
_ELSEWHERE = re.compile(
    r"\bby then\b|\b(?:the stuff|the latter|the former|the lot of (?:it|them)"
    r"|the (?:younger|older|other|first|second|last|new) one)(?! (?:of|with|who|in|at)\b)(?=$|,| and\b)",
    _FLAGS,
)
"""What was named in another sentence."""
_OTHER_VERB = re.compile(
    r"^\S+ \S+(?: (?!(?:that|who|which|whose|where|when|while|what|how|why|because|since|before|after"
    r"|until|as|if|for"
    r"|though|although|but|and|or|than|whatever|whoever|all|everything|anything|nothing|the|a|an)\b)\S+)*"
    r" (?:is|are|am|was|were|does not|did not|do not|will|would)\b",
    _FLAGS,
)
"""A second verb that nothing joins to the first."""
_UNDONE = re.compile(
    r"^(?:was|were) (?:supposed|meant|due|expected|hoping|planning|going|scheduled|about) ", _FLAGS
)
"""What was to happen, and perhaps did not."""
_LASTS = re.compile(r"^(?:have|has) been \w+ for (?:\w+ ){1,2}(?:years?|months?|weeks?)\b", _FLAGS)
_EACH = re.compile(r"\bon (?:mon|tues|wednes|thurs|fri|satur|sun)days\b", _FLAGS)
"""What comes back is no event."""
_DOES = re.compile(r"^(?!is\b|was\b|has\b|does\b|asks\b|needs\b)[a-z]+s\b")
_AND_DO = re.compile(
    r"(\band (?:then |now |also )?)(go|work|live|play|teach|drive|sing|cook|run|walk|sleep|eat|drink|read"
    r"|write|study"
    r"|make|take|keep|use|wear|swim|commute|visit|come|get|help|do|speak)(?= (?!of\b|for me\b)\w)"
)
"""A second verb of the first person."""
_STATED = {Category.EVENT, Category.FACT, Category.IDENTITY, Category.LOCATION, Category.PREFERENCE}
_BARE_MOVE = re.compile(
    r"^(?:has )?(?:flies|goes|leaves|comes|arrives|gets|went|left|came|got|is (?:off|away|back|out)"
    r"|is (?:flying|going|leaving|coming))(?: (?:out|back|off|over|away|home|in))?"
    r" (?:on|by|next|this|\d{4}-|\w+day)\b[^,]*$",
    _FLAGS,
)
"""A journey from nowhere to nowhere."""
MOST_MOVED = 5
"""Words of such a journey with its day."""


def whole(fact: Fact) -> Fact | None:
    """The fact, if it stands by itself."""
    said = _EXCLAIMED.sub("", fact.predicate).replace("’", "'")
    if _FRAGMENT.search(said) or _SECOND.search(said) or _ELSEWHERE.search(said):
        return None
    if fact.category in _STATED and not said.startswith((":", "'s ")) and _OTHER_VERB.match(said):
        return None
    if fact.category is Category.EVENT and fact.day is None and _EACH.search(said):
        return None
    if fact.category is Category.EVENT and (_UNDONE.match(said) or _LASTS.match(said)):
        return None
    if fact.category is Category.EVENT and _BARE_MOVE.match(said) and len(said.split()) <= MOST_MOVED:
        return None
    if _DOES.match(said):
        said = _AND_DO.sub(lambda one: f"{one[1]}{third(one[2])}", said)
    return fact if said == fact.predicate else replace(fact, predicate=said)
