"""The one analyser of every keyword engine (S-18).

    analyse(text)        -> list[str]   index terms, in the order of the text
    analyse_query(text)  -> list[str]   distinct query terms, in the order of the text

Both are pure and deterministic. Store ``ANALYSER_REVISION`` beside an index: terms written by another
revision do not match and have to be rebuilt.

What becomes a term:

* Text is decomposed (NFKD), accents and vowel points are dropped, then recomposed and case-folded; ``ø``,
  ``ł``, ``æ`` and their like are spelt out; what a script writes in two ways is written in one
  (`analysis_folding`). A word with an umlaut also gives the spelling without: ``Müller`` is ``muller`` and
  ``mueller``. Words of ASCII letters are reduced to their English Snowball stem; English stop words are
  dropped, as are possessives and contractions.
* Words of a text in another language in Latin letters give their stem in that language too, marked by a
  ``0``; in languages that write compounds as one word, so do the ends of a long word. A text in English
  has no such terms, so that English is found as if they did not exist (`analysis_languages`).
* Greek, Cyrillic, Devanagari, Tamil and Arabic words are reduced to a stem; a Hebrew word also gives itself
  without its prefixes (`analysis_scripts`).
* Scripts written without spaces (Han, Hiragana, Katakana, Thai, Lao, Khmer, Burmese), and Hangul, whose
  particles attach, give bigrams: of characters, or of consonants with the vowels around them. A lone one
  gives itself. The index also holds each single one of those that are often words; a query does so only for
  a lone one.
* An identifier, path, address, version or hyphenated word gives the whole (its parts joined) and its
  parts: ``parse_http_url``, ``parseHttpUrl`` and ``parse-http-url`` all give ``parsehttpurl pars http url``.
  Two numbers are joined by ``p``, so that ``3.11`` (``3p11``) differs from ``311``; a version also gives
  what it begins with, and a query for one asks for no short part of it. Thousands separators vanish and
  ordinals lose their ending: ``1,000`` is ``1000``, ``15th`` is ``15``.
* An elided article or an ending behind an apostrophe is left off: ``l'école`` is ``lecole ecole``.
* An emoji or other pictograph is a term; its skin tone and variation selectors are dropped.

Which characters a term may hold: ASCII digits, and lower-case Latin, Greek and Cyrillic letters. Any other
character is written ``u`` + its code point in hexadecimal (``日本`` is ``u65e5u672c``). FTS5's ``unicode61``
and Meilisearch's tokenizer therefore take every term as one token, whatever Unicode version or dictionary
they carry. A term is at most ``MAX_TERM_BYTES`` long in UTF-8; a longer one is cut.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from .analysis_folding import fold, fold_letters
from .analysis_languages import (
    COMPOUNDING,
    ENGLISH,
    LANGUAGES,
    MIN_STEMMED,
    heads,
    is_small_word,
    language_of,
    snowball_stem,
    stems,
)
from .analysis_scripts import THAI_LAO_BURMESE_KHMER, UNSPACED, forms, stands_alone, units
from .words import STOP_WORDS

__all__ = ["ANALYSER_REVISION", "MAX_TERM_BYTES", "analyse", "analyse_query", "fold", "stem"]

ANALYSER_REVISION = 2
"""Raised with every change that alters terms (S-18)."""

MAX_TERM_BYTES = 200
"""Below the 250 bytes beyond which Meilisearch drops a word."""

MAX_WHOLE_CHARS = 48
"""Longer compounds (URLs, long paths) are found by their parts only."""

MAX_BARE_WORDS = 4
"""A query of so few words, none of them of English alone, is stemmed in every language."""

MIN_NUMBER = 3
"""Digits of a part of a version that a query for it asks for: shorter ones are in any other version."""

MIN_ELIDED = 3
"""Letters of a part at an apostrophe that is no article and no ending."""

FOREIGN = "0"
"""Begins stems of languages other than English: no word begins with a digit."""

_SPELT_OUT = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ħ": "h", "ı": "i", "ð": "d", "þ": "th"}
)
_WITHOUT_UMLAUT = {ord("ä"): "ae", ord("ö"): "oe", ord("ü"): "ue", ord("ø"): "oe", ord("å"): "aa"}
_UMLAUT = re.compile(r"[^\W\d_]*[äöüøå][^\W\d_]*")

# Signs of other scripts, which ``\w`` leaves out although words are written with them.
_SIGNS = "\u07a6-\u07b0\u0900-\u0963\u0981-\u0983\u09bc-\u09cd\u0a01-\u0a03\u0a3c-\u0a51\u0a81-\u0a83" \
    "\u0abc-\u0acd" \
    "\u0b01-\u0b03\u0b3c-\u0b57\u0b82\u0bbe-\u0bcd\u0c00-\u0c04\u0c3e-\u0c56\u0c81-\u0c83\u0cbc-\u0cd6" \
    "\u0d00-\u0d03\u0d3b-\u0d57\u0d81-\u0d83\u0dca-\u0ddf\u0f71-\u0f84"  # fmt: skip
_ALNUM = rf"(?:[^\W_]|[{_SIGNS}{THAI_LAO_BURMESE_KHMER}])"
_PICTOGRAPHS = (
    "\u00a9\u00ae\u203c\u2049\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001f3fa\U0001f400-\U0001faff"
)

_TOKEN = re.compile(
    rf"(?P<sharp>(?<!\w)[A-Za-z](?:\+\+|\#)(?!\w))"
    rf"|(?P<word>{_ALNUM}+(?:(?:[._\-/\\@:'&+=?\#~%\u200c]{{1,3}}|,(?=\d\d\d(?!\d))){_ALNUM}+)*)"
    rf"|(?P<flag>[\U0001f1e6-\U0001f1ff]{{2}})"
    rf"|(?P<pictograph>[{_PICTOGRAPHS}])"
)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d\d\d(?!\d))")
_CONTRACTION = re.compile(r"(?:n't|'(?:s|re|ve|ll|d|m|t))(?![^\W_])", re.IGNORECASE)
_UNSPACED_RUN = re.compile(f"([{UNSPACED}]+)")
_PART = re.compile(rf"{_ALNUM}+")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)", re.IGNORECASE)
_ACRONYMS = re.compile(r"[A-Z]{2,}s")  # "APIs" is a plural, not a hump
_PIECE = re.compile(
    r"\d+|(?<![A-Za-z])[a-z][A-Z][a-z]+|[A-Z]+(?![a-z])|[A-Z]?[a-z]+"
    rf"|(?:(?![A-Za-z\d])(?:[^\W_]|[{_SIGNS}]))+"
)
_MIXED_SCRIPT = re.compile(r"[A-Za-z]*[^\W\d_A-Za-z][^\W\d_]*")
_VERSION = re.compile(r"v?\d+(?:\.\d+)+", re.IGNORECASE)
_TO_ENCODE = re.compile("[^a-z0-9\u00df-\u00f6\u00f8-\u024f\u0370-\u03ff\u0400-\u04ff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """How a text is read: for the index or as a query, and in which languages besides English."""

    query: bool = False
    languages: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()
    """Languages whose small words are left out."""


def analyse(text: str) -> list[str]:
    """Return the index terms of ``text`` in order, repeats included."""
    folded = fold_letters(text)
    reading = _Reading(languages=language_of(folded).languages)
    return list(_terms(text, folded, reading))


def analyse_query(text: str) -> list[str]:
    """Return the distinct terms of a query in order; a document matches that holds any one of them.

    Empty when the query has nothing but stop words, punctuation or spaces.
    """
    folded = fold_letters(text)
    guess = language_of(folded)
    if guess.sure:
        reading = _Reading(query=True, languages=guess.languages, silent=guess.languages)
    elif guess.words <= MAX_BARE_WORDS and not guess.english:
        reading = _Reading(query=True, languages=LANGUAGES)
    else:
        reading = _Reading(query=True)
    return list(dict.fromkeys(_terms(text, folded, reading)))


def stem(word: str) -> str:
    """Return the English Snowball stem of a lower-case ASCII word."""
    return snowball_stem(word, ENGLISH)


def _terms(text: str, folded: str, reading: _Reading) -> Iterator[str]:
    for match in _TOKEN.finditer(folded):
        token = match.group()
        if match.lastgroup == "word":
            yield from _word_terms(token, reading)
        elif match.lastgroup == "sharp":
            yield token[0].lower() + ("sharp" if token[1] == "#" else "plusplus")
            yield token[0].lower()
        elif match.lastgroup == "flag" or unicodedata.category(token)[0] == "S":
            yield _encode(token)
    if not text.isascii():
        for word in _UMLAUT.findall(unicodedata.normalize("NFC", text).lower()):
            yield from _word_terms(fold_letters(word.translate(_WITHOUT_UMLAUT)), reading)


def _word_terms(token: str, reading: _Reading) -> Iterator[str]:
    """Yield the terms of one run of word characters and joining marks."""
    if token.isascii() and token.isalpha() and (token.islower() or token[1:].islower()):
        yield from _plain_word(token.lower(), reading)
        return
    token = _CONTRACTION.sub("", _THOUSANDS.sub("", token))
    for position, run in enumerate(_UNSPACED_RUN.split(token)):
        if position % 2:
            yield from _ngrams(run, reading)
        elif "'" in run:
            yield from _elided(run, reading)
        else:
            yield from _compound(run, reading)


def _elided(token: str, reading: _Reading) -> Iterator[str]:
    """Yield a word with its apostrophes left out, and what stands at them but articles and endings."""
    terms = list(_compound(token.replace("'", ""), reading))
    parts = token.split("'")
    longest = max(map(len, parts))
    for part in parts:
        if len(part) >= min(MIN_ELIDED, longest):
            terms += _compound(part, reading)
    yield from dict.fromkeys(terms)


def _compound(token: str, reading: _Reading) -> Iterator[str]:
    """Yield a word, or the whole and the parts of something joined."""
    pieces = list(_pieces(token))
    if len(pieces) > 1:
        yield from _whole(pieces)
        yield from _numbers(pieces)
        pieces = [piece for piece in pieces if len(piece) > 1 or not piece.isalpha()]
        if reading.query and _VERSION.fullmatch(token) and len(token) <= MAX_WHOLE_CHARS:
            pieces = [piece for piece in pieces if len(piece) >= MIN_NUMBER]
    for piece in pieces:
        yield from _plain_word(piece.casefold(), reading)


def _pieces(token: str) -> Iterator[str]:
    """Split a compound at joining marks, humps of its case, digits and changes of script."""
    for part in _PART.findall(token):
        ordinal = _ORDINAL.fullmatch(part)
        if ordinal:
            yield ordinal[1]
        elif _ACRONYMS.fullmatch(part) or _MIXED_SCRIPT.fullmatch(part):
            yield part
        else:
            yield from _PIECE.findall(part)


def _whole(pieces: list[str]) -> Iterator[str]:
    """Yield the joined form of a compound, unless it is too long or made of stop words alone."""
    if all(piece.casefold() in STOP_WORDS for piece in pieces):
        return
    joined = pieces[0]
    for piece in pieces[1:]:
        joined += "p" + piece if joined[-1].isdigit() and piece[0].isdigit() else piece
    if len(joined) <= MAX_WHOLE_CHARS:
        yield from _plain_word(joined.casefold(), _Reading())


def _numbers(pieces: list[str]) -> Iterator[str]:
    """Yield numbers that are joined within a compound, and what they begin with: ``3.11.2`` is a ``3.11``."""
    for numeric, run in groupby(pieces, str.isdigit):
        numbers = list(run)
        if not numeric:
            continue
        longest = len(numbers) - 1 if len(numbers) == len(pieces) else len(numbers)
        for length in range(longest, 1, -1):
            joined = "p".join(numbers[:length])
            if len(joined) <= MAX_WHOLE_CHARS:
                yield joined


def _plain_word(word: str, reading: _Reading) -> Iterator[str]:
    spelt_out = word if word.isascii() else word.translate(_SPELT_OUT)
    if spelt_out in STOP_WORDS or (reading.silent and is_small_word(spelt_out, reading.silent)):
        return
    if not spelt_out.isascii():
        yield from map(_encode, forms(spelt_out))
    elif spelt_out.isalpha():
        yield stem(spelt_out)[:MAX_TERM_BYTES]
        if MIN_STEMMED <= len(spelt_out) < MAX_WHOLE_CHARS:
            yield from _foreign(spelt_out, reading)
    else:
        yield _encode(spelt_out)


def _foreign(word: str, reading: _Reading) -> Iterator[str]:
    """Yield a word's stems in other languages, and for the index those of what it ends with."""
    if not reading.languages or (not reading.query and is_small_word(word, reading.languages)):
        return
    found = dict.fromkeys(stems(word, reading.languages))
    compounding = [] if reading.query else [name for name in reading.languages if name in COMPOUNDING]
    if compounding:
        for head in heads(word):
            found |= dict.fromkeys(stems(head, compounding))
    for stemmed in found:
        yield FOREIGN + fold(stemmed)


def _ngrams(run: str, reading: _Reading) -> Iterator[str]:
    """Yield the bigrams of a run, a lone unit as it is, and single units where a text is indexed."""
    parts = units(run)
    if len(parts) == 1:
        yield _encode(parts[0])
        return
    for position, part in enumerate(parts):
        if not reading.query and stands_alone(part):
            yield _encode(part)
        if position + 1 < len(parts):
            yield _encode(part + parts[position + 1])


def _encode(word: str) -> str:
    """Write characters that an engine might split on or drop as ``u`` + code point; cut what is too long."""
    if word.isascii() and word.isalnum():
        return word[:MAX_TERM_BYTES]
    encoded = _TO_ENCODE.sub(lambda match: f"u{ord(match.group()):x}", word)
    return encoded.encode()[:MAX_TERM_BYTES].decode(errors="ignore")
