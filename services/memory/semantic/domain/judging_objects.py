"""What an ending or a change is about: its object, or the subject if it has none (SPEC S-7).

    targets(reading, span) -> Target

"Sold the house by the sea" ends a house and not the sea; "the flight was cancelled" ends its subject.
Languages differ in the side on which the object stands: behind the phrase in English, French, Spanish,
Chinese and Arabic, before it in Japanese and Hindi, on either side in German.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from services.memory.semantic.domain.judging_cues import Language
from services.memory.semantic.domain.judging_reading import UNSPACED_FROM, Reading, Token, in_cue

OBJECT_WORDS = 4
"""An object is at most so many words of content."""

_BOUNDARY = re.compile(r"[,;:.!?]")
_JOINING = frozenset(
    {"and", "but", "und", "aber", "et", "mais", "y", "pero", "because", "so", "who", "which"}
)
_INTRANSITIVE = re.compile(
    r"died|passed|deceased|retired|moved|any ?more|anymore|closed|shut|broke up|broken up|split|"
    r"fell|came to|expired|ended|finished|resigned"
    r"|(?:is|was|are|were|been|has been) .*|gone|graduated|went|cancell?ed$|stepped|disbanded|"
    r"lapsed|dissolved"
    r"|gestorben|verstorben|ausgezogen|abgesagt|est mort.*|decede.*|annule.*|est fini.*|murio|"
    r"fallecio|cancel.*|cerro|se acabo|termino"
)
_PASSIVE = frozenset(
    ["is", "was", "are", "were", "been", "got", "gets", "a", "ete", "est", "fue", "ha", "sido"]
)
_TIMES = frozenset(
    {"last", "next", "year", "week", "month", "summer", "winter", "autumn", "spring", "yesterday"}
)
_KANA_OR_NAGARI = re.compile("[\u3041-\u30ff\u0900-\u0963]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Stems of what a phrase acts on, and whether that is the subject for want of an object."""

    stems: frozenset[str]
    subject: bool


def targets(reading: Reading, span: tuple[int, int]) -> Target:
    """Returns what the phrase at `span` acts on."""
    if reading.language is Language.OTHER:
        return _other_targets(reading, span)
    behind = _object(reading, span)
    before = _before(reading, span)
    if reading.language is Language.GERMAN:
        return Target(stems=frozenset(behind + before), subject=not behind)
    phrase = reading.folded[span[0] : span[1]].strip()
    leads = phrase.endswith((" from", " of", " off", " with")) or reading.folded[span[1] :].startswith(
        (" of ", " from ")
    )
    passive = " " not in phrase and any(
        token.end == span[0] - 1 and token.word in _PASSIVE for token in reading.tokens
    )
    if behind and not passive and (leads or not _INTRANSITIVE.fullmatch(phrase)):
        return Target(
            stems=frozenset(behind[-1:] if reading.language is Language.ENGLISH else behind), subject=False
        )
    return Target(stems=frozenset(before or behind), subject=bool(before) or not behind)


def _object(reading: Reading, span: tuple[int, int]) -> list[str]:
    """The first noun behind the phrase, led by its attributes; verbs before them are skipped."""
    found: list[str] = []
    position = span[1]
    for token in reading.tokens:
        if token.start < span[1]:
            continue
        closed = _BOUNDARY.search(reading.folded[position : token.start]) or token.word in _JOINING
        if closed or len(found) == OBJECT_WORDS:
            break
        position = token.end
        if _says(token, reading) and token.word not in _TIMES:
            if not (token.word.endswith("ing") and not found):
                found.append(token.stem)
        elif found and token.word in reading.grammar.prepositions:
            break
    return found


def _before(reading: Reading, span: tuple[int, int]) -> list[str]:
    """Content of the clause before the phrase."""
    found: list[str] = []
    for token in reading.tokens:
        if token.start >= span[0]:
            break
        gap = reading.folded[token.end : span[0]]
        if not _BOUNDARY.search(gap) and _says(token, reading):
            found.append(token.stem)
    return found


def _says(token: Token, reading: Reading) -> bool:
    words = reading.grammar
    return not (
        words.says_nothing(token.word)
        or words.finite(token.word)
        or token.dated
        or in_cue(token, reading.cues)
    )


def _other_targets(reading: Reading, span: tuple[int, int]) -> Target:
    """The piece next to the phrase, on the side of the object."""
    left = [token for token in reading.tokens if token.end <= span[0]]
    right = [token for token in reading.tokens if token.start >= span[1]]
    object_first = bool(_KANA_OR_NAGARI.search(reading.folded))
    chosen = left[-1:] if object_first else right[:1] or left[-1:]
    stems = {piece for token in chosen for piece in _pairs(token.stem)}
    return Target(stems=frozenset(stems), subject=bool(left) and chosen == left[:1])


def _pairs(stem: str) -> list[str]:
    if stem.isascii() or ord(stem[0]) <= UNSPACED_FROM or len(stem) == 1:
        return [stem]
    return [stem[at : at + 2] for at in range(len(stem) - 1)]
