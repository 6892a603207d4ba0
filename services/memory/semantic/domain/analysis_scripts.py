"""Words of scripts other than Latin: where they are cut, and which of their forms are one (SPEC S-18).

    units(run) -> list[str]             what bigrams of a run without spaces are made of
    stands_alone(unit) -> bool          whether a unit is often a word
    forms(word) -> tuple[str, ...]      what a word in another script is found by

A query's forms and a text's are made alike, whatever the language: words of Ukrainian lose Russian endings on
both sides.
"""

from __future__ import annotations

import re

from .analysis_languages import snowball_stem

# Scripts written without spaces between words, and Hangul, whose particles attach. The blocks are taken
# whole: their vowel signs belong to the run.
THAI_LAO_BURMESE_KHMER = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u103f\u1050-\u108f\u1780-\u17d3"
HAN = "\u2e80-\u2fdf\u3005\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
HANGUL = "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"
KANA = "\u3031-\u3035\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
UNSPACED = HAN + HANGUL + KANA + THAI_LAO_BURMESE_KHMER

# A consonant with what is written around it: a word begins and ends with whole ones. Burmese and Khmer
# consonants that end a syllable or are stacked belong to the one before.
_CLUSTER = re.compile(
    "[\u0e40-\u0e44]?[\u0e01-\u0e2e][\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]*[\u0e30\u0e32\u0e33\u0e45]*"
    "|[\u0ec0-\u0ec4]?[\u0e81-\u0eae\u0edc-\u0edf][\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece]*[\u0eb0\u0eb2\u0eb3\u0ebd]*"
    "|[\u1000-\u102a\u103f\u1050-\u1055](?:\u1039[\u1000-\u1021])*[\u102b-\u103e\u1056-\u108f]*"
    "(?:[\u1000-\u1021](?:\u103a|\u1037\u103a)[\u1037\u1038]*)*"
    "|[\u1780-\u17b3](?:\u17d2[\u1780-\u17b3]|[\u17b4-\u17d1\u17d3])*"
    "|.",
    re.DOTALL,
)
_OFTEN_WORDS = re.compile(f"[{HAN}{HANGUL}{THAI_LAO_BURMESE_KHMER}]")

_SNOWBALL = (
    (re.compile("[\u0370-\u03ff]+"), "greek"),
    (re.compile("[\u0400-\u04ff]+"), "russian"),
    (re.compile("[\u0900-\u097f]+"), "hindi"),
    (re.compile("[\u0b80-\u0bff]+"), "tamil"),
)
_ARABIC_WORD = re.compile("[\u0620-\u06ff]+")
_HEBREW_WORD = re.compile("[\u05d0-\u05ea]+")
# As in "light stemming" (Larkey, Ballesteros, Connell 2002), without the bare conjunction, which is also the
# first letter of many words; longest first.
_ARTICLES = ("\u0648\u0627\u0644", "\u0628\u0627\u0644", "\u0643\u0627\u0644", "\u0641\u0627\u0644",
             "\u0644\u0644", "\u0627\u0644")  # fmt: skip
_ENDINGS = ("\u0647\u0627", "\u0627\u0646", "\u0627\u062a", "\u0648\u0646", "\u064a\u0646", "\u064a\u0647",
            "\u0647", "\u064a", "\u0627")  # fmt: skip
_HEBREW_PREFIXES = "\u05d5\u05d4\u05d1\u05db\u05dc\u05de\u05e9"  # and, the, in, as, to, from, that
MAX_HEBREW_PREFIXES = 2
MIN_LETTERS = 3
"""What is left of an Arabic or Hebrew word at the least: a root."""


def units(run: str) -> list[str]:
    """Return a run's characters; of scripts that write vowels around consonants, what stands together."""
    return _CLUSTER.findall(run)


def stands_alone(unit: str) -> bool:
    """Whether the index holds this unit by itself."""
    return _OFTEN_WORDS.match(unit) is not None


def forms(word: str) -> tuple[str, ...]:
    """Return the stem of a folded word in lower case, or in Hebrew the word with and without prefixes."""
    if _HEBREW_WORD.fullmatch(word):
        return _without_prefixes(word)
    if _ARABIC_WORD.fullmatch(word):
        return (_light_stem(word),)
    for script, language in _SNOWBALL:
        if script.fullmatch(word):
            return (snowball_stem(word, language) or word,)
    return (word,)


def _light_stem(word: str) -> str:
    for article in _ARTICLES:
        if word.startswith(article) and len(word) >= len(article) + MIN_LETTERS:
            word = word[len(article) :]
            break
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) >= len(ending) + MIN_LETTERS:
            word = word[: -len(ending)]
    return word


def _without_prefixes(word: str) -> tuple[str, ...]:
    """A prefix and the first letter of a word look alike: the word itself is always among them."""
    found = [word]
    while len(found) <= MAX_HEBREW_PREFIXES and found[-1][0] in _HEBREW_PREFIXES:
        if len(found[-1]) <= MIN_LETTERS:
            break
        found.append(found[-1][1:])
    return tuple(found)
