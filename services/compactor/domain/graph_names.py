"""Names of branches and their slugs (SPEC J-13). Pure.

A slug is the form in which names are compared: after compatibility composition and case folding (Unicode
Standard Annex 15; Unicode, section 3.13, toNFKC_Casefold), letters, digits and the marks on them are kept, in
any script, and everything between them is one hyphen. `+` and `#` stay behind a letter or digit: "C", "C++"
and "C#" are three names. A name of symbols alone, of emoji say, is its symbols.
"""

from __future__ import annotations

import unicodedata
from typing import Final

from services.kit.errors import InvalidField

MAX_NAME_CHARS: Final = 200
MAX_SLUG_BYTES: Final = 1024
"""Composition may make a name longer: one character may stand for eighteen."""
MOST_FOLDS: Final = 5
"""Folding and composing are repeated until nothing changes; twice is the most that was seen."""
SEPARATOR: Final = "-"
KEPT_BEHIND: Final = "+#"
VARIATIONS: Final = range(0xFE00, 0xFE10)
"""Selectors of a look: a heart in colour is a heart."""


def slug_of(name: str) -> str:
    """The slug of a name. Raises InvalidField("name") for one that says nothing, or too much (X-1)."""
    if len(name) > MAX_NAME_CHARS:
        raise InvalidField("name", f"over {MAX_NAME_CHARS} characters")
    if "\0" in name:
        raise InvalidField("name", "must not hold a NUL character")
    slug = slugified(name)
    if not slug:
        raise InvalidField("name", "has neither letters nor digits nor symbols")
    if len(slug.encode("utf-8", "surrogatepass")) > MAX_SLUG_BYTES:
        raise InvalidField("name", "is too long")
    return slug


def slugified(text: str) -> str:
    """The slug of any text; "" for one of punctuation and blanks. A slug is its own slug."""
    folded = _folded(text)
    if any(_is_word(character) for character in folded):
        return _words(folded)
    return "".join(character for character in folded if _category(character)[0] == "S")


def spelled(slug: str) -> str:
    """A slug as words."""
    return slug.replace(SEPARATOR, " ")


def tidy(name: str) -> str:
    """A name on one line, without blanks around it."""
    return " ".join(name.split())


def _folded(text: str) -> str:
    for _ in range(MOST_FOLDS):
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
        folded = "".join(one for one in folded if _category(one) != "Cf" and ord(one) not in VARIATIONS)
        if folded == text:
            break
        text = folded
    return text


def _words(folded: str) -> str:
    kept: list[str] = []
    for character in folded:
        behind = bool(kept) and kept[-1] != SEPARATOR
        if _is_word(character) or (behind and (_is_mark(character) or character in KEPT_BEHIND)):
            kept.append(character)
        elif behind:
            kept.append(SEPARATOR)
    return "".join(kept).strip(SEPARATOR)


def _is_word(character: str) -> bool:
    return _category(character)[0] in "LN"


def _is_mark(character: str) -> bool:
    return _category(character)[0] == "M"


def _category(character: str) -> str:
    return unicodedata.category(character)
