"""The id that ties together the log lines of a request (SPEC X-3)."""

from __future__ import annotations

import random
from collections.abc import Iterable

MAX_REQUEST_ID = 128


def request_id(given: object, authorizations: Iterable[str]) -> str:
    """The caller's id where it may be logged: short, printable ASCII, no credential in it; else a new one.

    `authorizations` are the values that were sent under that name, such as "Bearer <credential>".
    """
    if isinstance(given, str) and _is_plain(given):
        credentials = (value.partition(" ")[2] for value in authorizations)
        if not any(credential and credential in given for credential in credentials):
            return given
    return f"{random.getrandbits(128):032x}"  # it need not be unguessable


def _is_plain(text: str) -> bool:
    return 0 < len(text) <= MAX_REQUEST_ID and text.isascii() and text.isprintable()
