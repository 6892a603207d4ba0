"""Page tokens: opaque, and good for the listing that made them only."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence

from services.kit.errors import InvalidPageToken

DEFAULT_PAGE_SIZE = 100
MAX_PAGE_SIZE = 1000
DIGEST_BYTES = 6
MAX_NUMBER = 2**32
"""Beyond every number that a listing goes by; a token may be forged."""

Position = tuple[str | int | float, ...]


def page_size(requested: int) -> int:
    """The size to use: the default for 0, never over the maximum."""
    return min(requested or DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)


def encode(listing: str, position: Position) -> str:
    """A token for the page after `position`; `listing` names the RPC and its filters."""
    body = json.dumps(position, separators=(",", ":")).encode("utf-8")
    return base64.urlsafe_b64encode(_digest(listing, body) + body).decode("ascii")


def decode(listing: str, token: str) -> Position | None:
    """The position of a token of the same listing; None for the first page ("")."""
    if not token:
        return None
    try:
        raw = base64.urlsafe_b64decode(token.encode("ascii"))
        digest, body = raw[:DIGEST_BYTES], raw[DIGEST_BYTES:]
        if digest != _digest(listing, body):
            raise InvalidPageToken
        return tuple(json.loads(body))
    except (ValueError, TypeError) as error:
        raise InvalidPageToken from error


def text_position(listing: str, token: str) -> str | None:
    """Where a page by a text goes on; None for the first one. Raises InvalidPageToken."""
    match decode(listing, token):
        case None:
            return None
        case (str(last),):
            return last
    raise InvalidPageToken


def number_position(listing: str, token: str) -> int | None:
    """Where a page by a number goes on; None for the first one. Raises InvalidPageToken."""
    match decode(listing, token):
        case None:
            return None
        case (int(last),) if 0 <= last < MAX_NUMBER:
            return last
    raise InvalidPageToken


def next_token(listing: str, last: str | int | None) -> str:
    """The token of the page after `last`; "" where there is none."""
    return "" if last is None else encode(listing, (last,))


def token_after(listing: str, places: Sequence[str], size: int) -> str:
    """The token of the page after one with these places; "" if it was not full."""
    return next_token(listing, places[-1] if places and len(places) == size else None)


def _digest(listing: str, body: bytes) -> bytes:
    return hashlib.blake2b(
        body, key=hashlib.sha256(listing.encode("utf-8")).digest(), digest_size=DIGEST_BYTES
    ).digest()
