"""Words of a statement, and which of them are spelt like names (SPEC S-7).

    tokens_of(text, language, nouns, moves) -> list[Token]

A first word has a capital anyway: it is a name if a verb follows and it is no known word.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from services.memory.semantic.domain import judging_grammar as grammar
from services.memory.semantic.domain import judging_values as values
from services.memory.semantic.domain.analysis import stem
from services.memory.semantic.domain.analysis_languages import snowball_stem
from services.memory.semantic.domain.judging_cues import Cues, Language, fold_case
from services.memory.semantic.domain.judging_words import Grammar

STEM_LETTERS = 6
"""Words are compared by so many first letters of their stem: "allergy" and "allergic" are one."""
OTHER_STEM_LETTERS = 5
"""Likewise in languages other than English."""

_SNOWBALL = {
    Language.ITALIAN: "italian",
    Language.PORTUGUESE: "portuguese",
    Language.DUTCH: "dutch",
    Language.POLISH: "polish",
    Language.RUSSIAN: "russian",
    Language.TURKISH: "turkish",
}
"""Languages whose endings are taken off; the others are cut."""
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A word as written (folded), as compared, whether it is spelt like a name, and where it stands."""

    word: str
    stem: str
    name: bool
    start: int

    @property
    def end(self) -> int:
        """Where it ends in the folded text."""
        return self.start + len(self.word)

    @property
    def dated(self) -> bool:
        """Whether it names a month or a day of the week."""
        return self.word in values.MONTHS or self.word in values.WEEKDAYS


def tokens_of(text: str, language: Language, nouns: frozenset[str], moves: frozenset[int]) -> list[Token]:
    """Returns words with their places in the folded text, as long as `text` but for rare ligatures."""
    words = grammar.GRAMMARS[language]
    found = []
    for match in _WORD.finditer(text):
        if language is Language.TURKISH and text[match.start() - 1 : match.start()] in {"'", "’"}:
            continue  # the case of a name
        word = fold_case(match.group())
        first = not text[: match.start()].strip(" \"'¿¡")
        capital = match.group()[0].isupper() and (language is not Language.GERMAN or first)
        name = capital and not first and word not in values.MONTHS and word not in values.WEEKDAYS
        stemmed = stem_of(match.group().casefold(), language)
        found.append(
            Token(word=word, stem=stemmed, name=name and not words.says_nothing(word), start=match.start())
        )
    return [_first_name(found, words, nouns, moves), *found[1:]] if found else []


def stem_of(word: str, language: Language) -> str:
    """As words are compared; a stemmer wants the accents. A name that holds digits is compared whole."""
    if any(letter.isdigit() for letter in word):
        return fold_case(word)
    if language is Language.ENGLISH:
        folded = fold_case(word)
        if "-" in folded:
            return folded
        return stem(grammar.IRREGULAR.get(folded, folded))[:STEM_LETTERS]
    name = _SNOWBALL.get(language)
    return fold_case(snowball_stem(word, name) if name else word)[:OTHER_STEM_LETTERS]


def _first_name(tokens: list[Token], words: Grammar, nouns: frozenset[str], moves: frozenset[int]) -> Token:
    """The first word has a capital anyway: it is a name if a verb follows and it is no known word."""
    first = tokens[0]
    known = words.says_nothing(first.word) or words.finite(first.word) or grammar.is_kin(first.word)
    attribute = len(tokens) > 1 and not words.finite(tokens[1].word) and tokens[1].start not in moves
    known = known or first.word in nouns or (attribute and f"{first.word}s" in nouns) or first.start in moves
    follows = any(
        words.finite(token.word) or token.word in grammar.AFTER_NAME or token.start in moves
        for token in tokens[1:4]
    )
    plural = first.word.endswith("s") and len(tokens) > 1 and tokens[1].word in grammar.PLURAL_VERBS
    known = known or plural
    follows = follows or verb_like(tokens[1:3], words)
    return Token(word=first.word, stem=first.stem, name=follows and not known, start=first.start)


def verb_like(tokens: list[Token], words: Grammar) -> bool:
    """Whether a word with the ending of an English verb stands before one that is no noun: "intends to"."""
    if words is not grammar.GRAMMARS[Language.ENGLISH] or len(tokens) < len(("verb", "next")):
        return False
    verb, following = tokens
    inflected = verb.word.endswith(("s", "ed")) and not verb.word.endswith(("ss", "us", "is"))
    return inflected and not verb.name and words.says_nothing(following.word)


def small_words(text: str) -> frozenset[str]:
    """Returns the words that a text writes small."""
    return frozenset(word for word in _WORD.findall(text) if word.islower())


def in_cue(token: Token, cues: Cues) -> bool:
    """Tells whether the token is part of a cue."""
    return any(start <= token.start < end for spans in cues.values() for start, end in spans)
