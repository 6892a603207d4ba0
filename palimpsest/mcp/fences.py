"""Fences around what is quoted to a model: those of services/kit/fences.py (SPEC G-3).

The client knows no code of the services (.importlinter). A test holds the two against each other, for every
character.
"""

from __future__ import annotations

import re

OPEN, CLOSE = "⟦", "⟧"
_OPENING, _CLOSING = "⟦〚⟬⦋⦍⦏〘〖⁅⹕⹗︗", "⟧〛⟭⦌⦎⦐〙〗⁆⹖⹘︘"
_PLAIN = str.maketrans({**dict.fromkeys(_OPENING, "["), **dict.fromkeys(_CLOSING, "]")})
_MARKS = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f"
_UNSEEN = "\u200b-\u200f\u2060-\u2064\ufeff\u034f"
_MARKED = re.compile(f"([\\[\\]])[{_UNSEEN}]*[{_MARKS}][{_MARKS}{_UNSEEN}]*")
"""A bracket that combining marks make look like one of a fence."""


def fenced(name: str, text: str) -> str:
    """The text as data under a name, which is one line; nothing in it can open or close a fence."""
    return f"{OPEN}data: {_plain(' '.join(name.split()))}{CLOSE}\n{_plain(text)}\n{OPEN}/data{CLOSE}"


def _plain(text: str) -> str:
    return _MARKED.sub(r"\1", text.translate(_PLAIN))
