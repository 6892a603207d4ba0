"""What of a text's spelling does not matter (SPEC S-18).

fold(text) -> str          without accents and compatibility forms; its letters and case stay
fold_letters(text) -> str  and without what one script writes in two ways: what terms are made of

Both keep the case, for humps are words, and both are the same for text in ASCII.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from .analysis_han import han_folding

_APOSTROPHES = str.maketrans({"\u2019": "'", "\u02bc": "'", "\u05f3": "'", "\uff07": "'"})
_HEBREW_POINTS = "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
_ARABIC_POINTS = "\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0640"
_ACCENTS = re.compile(f"[\u0300-\u036f{_HEBREW_POINTS}{_ARABIC_POINTS}]")
# й is a letter of its own, which nobody writes without its breve; signs that are not seen are no letters:
# soft hyphens, joiners, marks of direction. U+200C is left where it parts a Persian word from its ending.
_MARKS = re.compile(
    f"(?<![\u0418\u0438])\u0306|[\u0300-\u0305\u0307-\u036f\u0483-\u0487\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"
    f"\ufe20-\ufe2f{_HEBREW_POINTS}{_ARABIC_POINTS}\u0730-\u074a\u00ad\u034f\u061c\u200d-\u200f\u202a-\u202e"
    "\u2060-\u2069\ufe00-\ufe0f\ufeff]|(?<![\u0620-\u06ff])\u200c"
)
_UNUSUAL = re.compile("[^\u0000-\u024f\u2000-\u206f]")
_DIGIT = re.compile(r"(?![0-9])\d")

_ARABIC = str.maketrans(
    {
        "\u0671": "\u0627",  # alef wasla
        "\u0649": "\u064a",  # alef maksura, often written for yeh, and yeh for it
        "\u06cc": "\u064a",  # Persian yeh
        "\u06a9": "\u0643",  # Persian kaf
        "\u0629": "\u0647",  # teh marbuta, often written as heh
        "\u06c1": "\u0647",  # Urdu heh
        "\u06d5": "\u0647",
        "\u06c3": "\u0647",
    }
)
_GERSHAYIM = re.compile('(?<=[\u05d0-\u05ea])["\u05f4](?=[\u05d0-\u05ea])')  # within an abbreviation
_HEBREW_FINALS = str.maketrans("\u05da\u05dd\u05df\u05e3\u05e5", "\u05db\u05de\u05e0\u05e4\u05e6")
# A nasal joined to the next consonant may be written as a dot; the dot below marks borrowed sounds, and is
# often left out.
_DEVANAGARI_NASAL = re.compile("[\u0919\u091e\u0923\u0928\u092e]\u094d(?=[\u0915-\u0939])|\u0901")
_INDIC_NUKTA = re.compile("[\u093c\u0a3c\u0abc]")
_HAN = re.compile("[\u3400-\u9fff]")
_THAI_AM = re.compile("\u0e4d([\u0e48-\u0e4b])(?=\u0e32)")  # typed in either order


def fold(text: str) -> str:
    """Return ``text`` decomposed (NFKD), without accents, recomposed."""
    return text if text.isascii() else _recomposed(text, _ACCENTS)


def fold_letters(text: str) -> str:
    """Return ``text`` with one spelling for letters, digits and signs that have several in their script."""
    if text.isascii():
        return text
    folded = _recomposed(text, _MARKS)
    if not _UNUSUAL.search(folded):
        return folded
    folded = folded.translate(_ARABIC)
    folded = _GERSHAYIM.sub("", folded).translate(_HEBREW_FINALS)
    folded = _INDIC_NUKTA.sub("", _DEVANAGARI_NASAL.sub("\u0902", folded))
    folded = _THAI_AM.sub("\\1\u0e4d", folded)
    if _HAN.search(folded):
        folded = folded.translate(_han_folding())
    return _DIGIT.sub(lambda match: str(unicodedata.decimal(match.group())), folded)


def _recomposed(text: str, dropped: re.Pattern[str]) -> str:
    bare = dropped.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFC", bare).translate(_APOSTROPHES)


@lru_cache(maxsize=1)
def _han_folding() -> dict[int, str]:
    return han_folding()
