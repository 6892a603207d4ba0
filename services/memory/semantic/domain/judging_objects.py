"""What an ending or a change is about: its object, or the subject if it has none (SPEC S-7).

    targets(reading, span) -> Target

"Sold the house by the sea" ends a house and not the sea; "the flight was cancelled" ends its subject.
Languages differ in the side on which the object stands: behind the phrase in English, French, Spanish,
Chinese and Arabic, before it in Japanese and Hindi, on either side in German.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from services.memory.semantic.domain import judging_grammar as grammar
from services.memory.semantic.domain.judging_cues import Language
from services.memory.semantic.domain.judging_reading import UNSPACED_FROM, Reading
from services.memory.semantic.domain.judging_tokens import Token, in_cue
from services.memory.semantic.domain.judging_words import words

OBJECT_WORDS = 4
"""An object is at most so many words of content."""

_FREE_ORDER = frozenset(
    {Language.GERMAN, Language.DUTCH, Language.POLISH, Language.RUSSIAN, Language.TURKISH}
)
"""Languages in which the object of a phrase may stand on either side of it."""
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
_LED = re.compile(r"\s+(?:the|a|an|his|her|its|my|our|their)\s")
_PARTICIPLE = re.compile(r"(?:is|was|are|were|been|has been) \w+ed\b")
_PASSIVE = frozenset(
    ["is", "was", "are", "were", "been", "got", "gets", "a", "ete", "est", "fue", "ha", "sido"]
)
_TIMES = words("last next year week month summer winter autumn spring yesterday today tonight earlier ago")
_NEXT_TO_TIMES = frozenset({"last", "next", "this"})
_NEGATING = re.compile("any ?more|no longer|never again|.* plus|ya no|.* piu|ja nao|.* mais")
_REASONS = frozenset(
    [
        "after",
        "since",
        "before",
        "during",
        "for",
        "when",
        "as",
        "due",
        "until",
        "over",
        "with",
        "apres",
        "depuis",
        "pendant",
        "pour",
        "pendant",
        "despues",
        "desde",
        "por",
        "para",
        "durante",
        "dopo",
        "per",
        "durante",
        "depois",
    ]
)
"""Words that lead to something else than the object."""
_KANA_OR_NAGARI = re.compile("[\u3041-\u30ff\u0900-\u0963\uac00-\ud7ff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Stems of what a phrase acts on, and whether that is the subject for want of an object.

    `beyond` holds all that is said of it: "no longer allergic to *dogs*"; `behind` where it follows, in
    English.
    """

    stems: frozenset[str]
    subject: bool
    beyond: frozenset[str] = frozenset()
    behind: bool = False


def targets(reading: Reading, span: tuple[int, int]) -> Target:
    """Returns what the phrase at `span` acts on."""
    if reading.language is Language.OTHER:
        return _other_targets(reading, span)
    behind = _object(reading, span)
    before = _before(reading, span)
    if reading.language in _FREE_ORDER:
        return Target(stems=frozenset(behind + before), subject=not behind)
    phrase = reading.folded[span[0] : span[1]].strip()
    stretch = _stretch(reading, span)
    follows = bool(stretch) and reading.language is Language.ENGLISH
    beyond = frozenset(stretch or (before if _NEGATING.fullmatch(phrase) else ()))
    leads = phrase.endswith((" from", " of", " off", " with")) or reading.folded[span[1] :].startswith(
        (" of ", " from ")
    )
    passive = " " not in phrase and any(
        token.end == span[0] - 1 and token.word in _PASSIVE for token in reading.tokens
    )
    direct = _LED.match(reading.folded, span[1]) is not None and not _PARTICIPLE.match(phrase)
    if behind and not passive and (leads or direct or not _INTRANSITIVE.fullmatch(phrase)):
        return Target(
            stems=frozenset(behind if reading.language is not Language.ENGLISH else behind[-1:]),
            subject=False,
            beyond=beyond,
            behind=follows,
        )
    return Target(
        stems=frozenset(before or behind),
        subject=bool(before) or not behind,
        beyond=frozenset() if passive else beyond,
        behind=follows and not passive,
    )


def _stretch(reading: Reading, span: tuple[int, int]) -> list[str]:
    """All that follows in the clause, as far as a reason, a time or another phrase."""
    found: list[str] = []
    position = span[1]
    led = dated = False
    for token in reading.tokens:
        if token.start < span[1]:
            led = token.word in reading.grammar.determiners
            continue
        closed = _BOUNDARY.search(reading.folded[position : token.start])
        if closed or token.word in _JOINING or token.word in _REASONS or in_cue(token, reading.cues):
            break
        position = token.end
        verbal = token.word.endswith("ly") or (token.word.endswith("ing") and not led)
        telling = token.word not in _TIMES | grammar.ABSTRACT and not verbal and not dated
        dated = token.word in _NEXT_TO_TIMES
        led = token.word in reading.grammar.determiners
        if telling and _says(token, reading):
            found.append(token.stem)
    return found


def _object(reading: Reading, span: tuple[int, int]) -> list[str]:
    """The first noun behind the phrase, led by its attributes; verbs before them are skipped.

    A noun that says little ("the idea of moving", "the marathon goal") stands for what it is about.
    """
    found: list[Token] = []
    position = span[1]
    led = False
    for token in reading.tokens:
        if token.start < span[1]:
            continue
        closed = _BOUNDARY.search(reading.folded[position : token.start]) or token.word in _JOINING
        if closed or len(found) == OBJECT_WORDS:
            break
        position = token.end
        empty = bool(found) and found[-1].word in grammar.ABSTRACT
        if found and not empty and token.word in reading.grammar.prepositions:
            break
        verbal = token.word.endswith("ing") and not found and not led
        led = token.word in reading.grammar.determiners
        if (empty or _says(token, reading)) and token.word not in _TIMES and not verbal:
            found.append(token)
    telling = [token for token in found if token.word not in grammar.ABSTRACT]
    return [token.stem for token in telling or found]


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
    verbal = words.finite(token.word) and token.stem not in reading.content
    return not (words.says_nothing(token.word) or verbal or token.dated or in_cue(token, reading.cues))


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
