"""Notes that people make of what they have to do, as things to be reminded of (SPEC J-8). Pure.

tasks_noted(sentences) -> list[str]       "to-do: ring Mum" as "remind me to ring Mum"; a list, item by item
by_then(clause, last) -> str        "by then" as the day that was told last
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from services.compactor.domain.extraction.english import words
from services.compactor.domain.extraction.facts import Fact

_FLAGS = re.IGNORECASE
_NOTED = re.compile(
    r"^(?:note to self|to-?do|reminder(?: to self| for me)?(?: for tomorrow)?|must remember"
    r"|mustn't forget)\s*[:,-]\s*(?:remember to |don't forget to )?",
    _FLAGS,
)
_DOINGS = "get|find|tell|sort|patch|defrost|rehome|move|check|clear|hoover|chase|take|put up|set up"
"|top up|swap|pick"
_TO_DOS = re.compile(
    r"^(?:(?:I|we) (?:still )?have (?:got )?|I've (?:still )?(?:got )?|still |here is )?(?:(?:my|the|a"
    r"|two|three|four|five|some|few|big|\d) )*"
    r"(?:to-?dos?|to do|chores?|errands?|things? (?:left|to do)|jobs?|tasks?|on (?:my"
    r"|the) list)(?: (?:left|to do|for me|still|remaining))*"
    r"(?: (?P<w>(?:by|before|for|on|this|today|tomorrow|tonight)\b[^:,]*))?[:,] (?P<l>.+)$",
    _FLAGS,
)
_NOTED_FOR = re.compile(
    r"^(?:note to self|to-?do|reminder|remember)(?: to self| for me)?(?: for)? (?P<w>tomorrow|tonight"
    r"|(?:on )?\w+day(?: \w+)?)"
    r"\s*[:,-]\s*(?P<o>.+)$",
    _FLAGS,
)


def tasks_noted(sentences: Iterable[str]) -> list[str]:
    """The sentences, with each note as a thing to be reminded of."""
    return [
        _NOTED.sub("remind me to ", _NOTED_FOR.sub(r"remind me to \g<o> \g<w>", item))
        for sentence in sentences
        for item in _listed(sentence)
    ]


def _listed(sentence: str) -> list[str]:
    """From "two chores by Saturday: mow the lawn and ring Mum": each as a thing to be reminded of."""
    match = _TO_DOS.match(sentence)
    parts = re.split(r",? and (?=[a-z]+ )|, (?:and )?", match["l"]) if match else []
    if match is None or not all(
        re.match(rf"(?:{words.ERRANDS}|{_DOINGS})\b", part, _FLAGS) for part in parts
    ):
        return [sentence]
    when = re.sub(r"^for (?!the\b)", "", match["w"] or "")
    return [f"remind me to {part} {when}".strip() for part in parts]


def by_then(clause: str, last: Fact | None) -> str:
    """A clause with the day that "by then" means, where what was told last has one."""
    if last is None or last.day is None:
        return clause
    return re.sub(
        r"\b(by|before) (?:then|that)(?=$|[,.])", rf"\1 {last.day.isoformat()}", clause, flags=_FLAGS
    )
