"""Ids: sortable random ones, and keyed hashes of content (SPEC E-2)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import time

HASH_BYTES = 16  # 128 bits, E-2


def new_id() -> str:
    """26 characters of lower-case base32hex: 48 bits of milliseconds, then 80 random bits.

    Ids made later sort later (to the millisecond); the layout is ULID's, without its alphabet.
    """
    raw = int(time.time() * 1000).to_bytes(6, "big") + secrets.token_bytes(10)
    return base64.b32hexencode(raw).decode("ascii").rstrip("=").lower()


def keyed_hash(key: bytes, *parts: bytes | str) -> str:
    """HMAC-SHA256 over the length-prefixed parts, cut to 128 bits, as 32 hex digits."""
    pieces: list[bytes] = []
    for part in parts:
        data = part.encode("utf-8") if isinstance(part, str) else part
        pieces += (len(data).to_bytes(8, "big"), data)
    return hmac.digest(key, b"".join(pieces), hashlib.sha256)[:HASH_BYTES].hex()
