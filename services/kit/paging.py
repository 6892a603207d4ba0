"""Page tokens: opaque, and good for the listing that made them only."""

from __future__ import annotations

import base64
import hashlib
import json

from services.kit.errors import InvalidPageToken

DEFAULT_PAGE_SIZE = 100
MAX_PAGE_SIZE = 1000
DIGEST_BYTES = 6

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


def _digest(listing: str, body: bytes) -> bytes:
    return hashlib.blake2b(
        body, key=hashlib.sha256(listing.encode("utf-8")).digest(), digest_size=DIGEST_BYTES
    ).digest()
