"""The one analyser of every keyword engine (S-18).

    analyse(text)        -> list[str]   index terms, in the order of the text
    analyse_query(text)  -> list[str]   distinct query terms, in the order of the text

Both are pure and deterministic. Store ``ANALYSER_REVISION`` beside an index: terms written by another
revision do not match and have to be rebuilt.

What becomes a term:

* Text is decomposed (NFKD), accents and Hebrew or Arabic vowel points are dropped, then recomposed and
  case-folded; ``ø``, ``ł``, ``æ`` and their like are spelt out. Words of ASCII letters are reduced to their
  English Snowball stem; English stop words are dropped, as are possessives and contractions.
* Scripts written without spaces (Han, Hiragana, Katakana, Thai, Lao, Khmer, Burmese), and Hangul, whose
  particles attach, give character bigrams, and a lone character gives itself. The index also holds each
  single Han and Hangul character, for many of them are words; a query does so only for a lone one.
* An identifier, path, address, version or hyphenated word gives the whole (its parts joined) and its
  parts: ``parse_http_url``, ``parseHttpUrl`` and ``parse-http-url`` all give ``parsehttpurl pars http url``.
  Two numbers are joined by ``p``, so that ``3.11`` (``3p11``) differs from ``311``. Thousands separators
  vanish and ordinals lose their ending: ``1,000`` is ``1000``, ``15th`` is ``15``.
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
from functools import lru_cache

import snowballstemmer

from .words import STOP_WORDS

ANALYSER_REVISION = 1
"""Raised with every change that alters terms (S-18)."""

MAX_TERM_BYTES = 200
"""Below the 250 bytes beyond which Meilisearch drops a word."""

MAX_WHOLE_CHARS = 48
"""Longer compounds (URLs, long paths) are found by their parts only."""

STEM_CACHE_SIZE = 1 << 15
"""Words whose stems are remembered: a stem costs 20 µs or more, a look-up less than one."""

_SPELT_OUT = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ħ": "h", "ı": "i", "ð": "d", "þ": "th"}
)
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u02bc": "'"})
_ACCENTS = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0640]"
)

# Scripts cut into bigrams. The blocks are taken whole: their vowel signs belong to the run.
_THAI_LAO_BURMESE_KHMER = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u103f\u1050-\u108f\u1780-\u17d3"
_HAN = "\u2e80-\u2fdf\u3005\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HANGUL = "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"
_KANA = "\u3031-\u3035\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_UNSPACED = _HAN + _HANGUL + _KANA + _THAI_LAO_BURMESE_KHMER
# Signs of other Indic scripts, which ``\w`` leaves out although words are written with them.
_INDIC_SIGNS = "\u0900-\u0963\u0981-\u0983\u09bc-\u09cd\u0a01-\u0a03\u0a3c-\u0a51\u0a81-\u0a83\u0abc-\u0acd" \
    "\u0b01-\u0b03\u0b3c-\u0b57\u0b82\u0bbe-\u0bcd\u0c00-\u0c04\u0c3e-\u0c56\u0c81-\u0c83\u0cbc-\u0cd6" \
    "\u0d00-\u0d03\u0d3b-\u0d57\u0d81-\u0d83\u0dca-\u0ddf\u0f71-\u0f84"  # fmt: skip
_ALNUM = rf"(?:[^\W_]|[{_INDIC_SIGNS}{_THAI_LAO_BURMESE_KHMER}])"
_PICTOGRAPHS = (
    "\u00a9\u00ae\u203c\u2049\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001f3fa\U0001f400-\U0001faff"
)

_TOKEN = re.compile(
    rf"(?P<sharp>(?<!\w)[A-Za-z](?:\+\+|\#)(?!\w))"
    rf"|(?P<word>{_ALNUM}+(?:(?:[._\-/\\@:'&+=?\#~%]{{1,3}}|,(?=\d\d\d(?!\d))){_ALNUM}+)*)"
    rf"|(?P<flag>[\U0001f1e6-\U0001f1ff]{{2}})"
    rf"|(?P<pictograph>[{_PICTOGRAPHS}])"
)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d\d\d(?!\d))")
_CONTRACTION = re.compile(r"(?:n't|'(?:s|re|ve|ll|d|m|t))(?![^\W_])", re.IGNORECASE)
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)", re.IGNORECASE)
_ACRONYMS = re.compile(r"[A-Z]{2,}s")  # "APIs" is a plural, not a hump
_PIECE = re.compile(
    rf"(?P<unspaced>[{_UNSPACED}]+)"
    r"|\d+|(?<![A-Za-z])[a-z][A-Z][a-z]+|[A-Z]+(?![a-z])|[A-Z]?[a-z]+"
    rf"|(?:(?![A-Za-z\d{_UNSPACED}])(?:[^\W_]|[{_INDIC_SIGNS}]))+"
)
_MIXED_SCRIPT = re.compile(r"[A-Za-z]*[^\W\d_A-Za-z][^\W\d_]*")
_SINGLE_CHARACTER_WORDS = re.compile(f"[{_HAN}{_HANGUL}]")
_TO_ENCODE = re.compile("[^a-z0-9\u00df-\u00f6\u00f8-\u024f\u0370-\u03ff\u0400-\u04ff]")


def analyse(text: str) -> list[str]:
    """Return the index terms of ``text`` in order, repeats included."""
    return list(_terms(text, single_characters=True))


def analyse_query(text: str) -> list[str]:
    """Return the distinct terms of a query in order; a document matches that holds any one of them.

    Empty when the query has nothing but stop words, punctuation or spaces.
    """
    return list(dict.fromkeys(_terms(text, single_characters=False)))


def fold(text: str) -> str:
    """Return ``text`` decomposed, without accents, recomposed; its case is kept, for humps are words."""
    if text.isascii():
        return text
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFC", bare).translate(_APOSTROPHES)


@lru_cache(maxsize=STEM_CACHE_SIZE)
def stem(word: str) -> str:
    """Return the English Snowball stem of a lower-case ASCII word."""
    stemmed: str = snowballstemmer.stemmer("english").stemWord(word)
    return stemmed


def _terms(text: str, *, single_characters: bool) -> Iterator[str]:
    for match in _TOKEN.finditer(fold(text)):
        token = match.group()
        if match.lastgroup == "word":
            yield from _word_terms(token, single_characters=single_characters)
        elif match.lastgroup == "sharp":
            yield token[0].lower() + ("sharp" if token[1] == "#" else "plusplus")
            yield token[0].lower()
        elif match.lastgroup == "flag" or unicodedata.category(token)[0] == "S":
            yield _encode(token)


def _word_terms(token: str, *, single_characters: bool) -> Iterator[str]:
    """Yield the terms of one run of word characters and joining marks."""
    if token.isascii() and token.isalpha() and (token.islower() or token[1:].islower()):
        yield from _plain_word(token.lower())
        return
    token = _CONTRACTION.sub("", _THOUSANDS.sub("", token)).replace("'", "")
    pieces = list(_pieces(token))
    if len(pieces) > 1 and not any(_is_unspaced(piece) for piece in pieces):
        yield from _whole(pieces)
        pieces = [piece for piece in pieces if len(piece) > 1 or not piece.isalpha()]
    for piece in pieces:
        if _is_unspaced(piece):
            yield from _ngrams(piece, single_characters=single_characters)
        else:
            yield from _plain_word(piece.casefold())


def _pieces(token: str) -> Iterator[str]:
    """Split a compound at joining marks, humps of its case, digits and changes of script."""
    for part in re.findall(rf"{_ALNUM}+", token):
        ordinal = _ORDINAL.fullmatch(part)
        if ordinal:
            yield ordinal[1]
        elif _ACRONYMS.fullmatch(part) or (
            _MIXED_SCRIPT.fullmatch(part) and not re.search(f"[{_UNSPACED}]", part)
        ):
            yield part
        else:
            yield from (match.group() for match in _PIECE.finditer(part))


def _whole(pieces: list[str]) -> Iterator[str]:
    """Yield the joined form of a compound, unless it is too long or made of stop words alone."""
    if all(piece.casefold() in STOP_WORDS for piece in pieces):
        return
    joined = pieces[0]
    for piece in pieces[1:]:
        joined += "p" + piece if joined[-1].isdigit() and piece[0].isdigit() else piece
    if len(joined) <= MAX_WHOLE_CHARS:
        yield from _plain_word(joined.casefold())


def _plain_word(word: str) -> Iterator[str]:
    spelt_out = word if word.isascii() else word.translate(_SPELT_OUT)
    if spelt_out not in STOP_WORDS:
        yield _reduced(spelt_out)


def _reduced(word: str) -> str:
    return stem(word)[:MAX_TERM_BYTES] if word.isascii() and word.isalpha() else _encode(word)


def _is_unspaced(piece: str) -> bool:
    match = _PIECE.match(piece)
    return match is not None and match.lastgroup == "unspaced"


def _ngrams(run: str, *, single_characters: bool) -> Iterator[str]:
    """Yield the bigrams of a run, a lone character as it is, and single characters where asked."""
    if len(run) == 1:
        yield _encode(run)
        return
    for position, character in enumerate(run):
        if single_characters and _SINGLE_CHARACTER_WORDS.match(character):
            yield _encode(character)
        if position + 1 < len(run):
            yield _encode(run[position : position + 2])


def _encode(word: str) -> str:
    """Write characters that an engine might split on or drop as ``u`` + code point; cut what is too long."""
    if word.isascii() and word.isalnum():
        return word[:MAX_TERM_BYTES]
    encoded = _TO_ENCODE.sub(lambda match: f"u{ord(match.group()):x}", word)
    return encoded.encode()[:MAX_TERM_BYTES].decode(errors="ignore")
