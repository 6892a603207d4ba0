"""Which English sentences and clauses their author does not vouch for (SPEC J-8). Pure."""

from __future__ import annotations

import re

from services.compactor.domain.extraction.english.verbs import clauses

_FLAGS = re.IGNORECASE
_UNSURE = re.compile(
    r"\b(?:if|unless|whether|not true|never said|did not say|not saying|misunderstanding"
    r"|dreamt|dreamed|in (?:my|the|a|this|one|last night's) dreams?"
    r"|dream of|wish(?! (?:me|us) luck)|claim(?:s|ed)|horoscope|supposedly|allegedly|rumou?r"
    r"|in theory|would have"
    r"|as though|were I|had I"
    r"|according to|quote|motto|caption|example\b(?!\.)|says? here|evil twin|in this game"
    r"|my (?:character|avatar|sim|npc|paladin|protagonist|heroine|villain|narrator)|fortune cookie"
    r"|(?<!favourite )(?<!favorite )(?<!a )(?<!long )(?<!long-)(?:novel|story|film|movie)|fiction|sitcom"
    r"|episode|screenplay|role of|the role)\b"
    r"|\b(?:says|write|writes|reads?|draft|text|title|subject line|template|headline"
    r"|answer with|something like)\b[^:]*:"
    r"|\b(?:will not|not going to) happen\b|\bnot happening\b"
    r"|\b(?:says|said|reckons|swears|insists) (?:that )?(?:I|he|she|they|we)\b.*\bbut\b"
    r"|^(?:maybe|perhaps|possibly|probably|presumably|ideally|hopefully|in another life|in an ideal)\b",
    _FLAGS,
)
_OF_CLAUSE = {"if", "unless", "whether", "wish", "would have"}
"""Doubts that are of their clause only, when another one stands before it."""
_UNSURE_CLAUSE = re.compile(
    r"\b(?:might|maybe|perhaps|would|could|probably|possibly|presumably|(?-i:may)|some ?day"
    r"|one day|who knows|almost|nearly"
    r"|hope to|plan to|want to|thinking (?:of|about)|considering|tempted|pretended|kind of"
    r"|sort of|as a joke|apparently"
    r"|practically|virtually|basically|theoretically|metaphorically|literally|not sure)\b",
    _FLAGS,
)
_DENYING = re.compile(
    r"^(?:(?:haha|lol|oh|um|uh|er|well|sorry|actually)[, ]+)*(?:no|nope|nah|na)(?=,|$"
    r"| (?:I|we|my|our|that|it|he|she)\b)",
    _FLAGS,
)
_MISTAKEN = re.compile(
    r"\bwhatever (?:[\w']+ ){1,4}(?:told|tells) you\b|\bmix(?:ed|ing) (?:me|us) up\b"
    r"|\b(?:me|us) (?:mixed up|confused)\b|\bwrong (?:guy|person"
    r"|girl|man"
    r"|woman|chat|number)\b|\bconfus(?:ed|ing) (?:me|us) with\b",
    _FLAGS,
)
_NEGATED = re.compile(r"(?<!, )(?<!but )\b(?:not|never|no)\b", _FLAGS)
"""What is said against a wrong belief says nothing more."""


def unsure(sentence: str) -> bool:
    """Whether it is supposed, dreamt, told by others or part of a fiction."""
    return bool(_UNSURE.search(sentence))


def vouched(sentence: str) -> str:
    """What stands before the doubt, where that is of a single clause; "" when it may be of all."""
    if any(match.group().lower() not in _OF_CLAUSE for match in _UNSURE.finditer(sentence)):
        return ""
    parts = list(clauses(sentence))
    first = next((place for place, part in enumerate(parts) if _UNSURE.search(part)), 0)
    if re.match(r"(?:if|unless|whether)\b", parts[first] if parts else "", _FLAGS):
        first -= 1  # it is a condition of the clause before
    return "; ".join(parts[: max(first, 0)])


def unsure_clause(clause: str) -> bool:
    """Whether a clause is only thinkable, wished or nearly so."""
    return bool(_UNSURE_CLAUSE.search(clause))


def denies(sentence: str) -> bool:
    """Whether it is said against a wrong belief."""
    return bool(_DENYING.match(sentence) or _MISTAKEN.search(sentence))


def negated(clause: str) -> bool:
    """Whether it says that something is not so."""
    return bool(_NEGATED.search(clause))
