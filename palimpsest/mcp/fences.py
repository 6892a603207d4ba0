"""Fences around what is quoted to a model, as the services make them (SPEC G-3).

The services' code is not installed with the client; tests hold the two against each other.
"""

from __future__ import annotations

OPEN, CLOSE = "⟦", "⟧"
_OPENING, _CLOSING = "⟦〚⟬⦋⦍⦏〘", "⟧〛⟭⦌⦎⦐〙"
_PLAIN = str.maketrans({**dict.fromkeys(_OPENING, "["), **dict.fromkeys(_CLOSING, "]")})


def fenced(name: str, text: str) -> str:
    """The text as data under a name; nothing in it can open or close a fence."""
    plain = text.translate(_PLAIN)
    return f"{OPEN}data: {name.translate(_PLAIN)}{CLOSE}\n{plain}\n{OPEN}/data{CLOSE}"
