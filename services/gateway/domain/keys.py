"""API keys (SPEC G-9)."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import datetime

from services.kit.identity import Role

PREFIX = "pk"
ID_BYTES = 8
SECRET_BYTES = 32  # 256 bits of chance: a plain SHA-256 is enough, there is nothing to guess
FORM = re.compile(r"pk_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A key without its secret; `agents` is None when it reaches every agent of the tenant."""

    id: str
    tenant: str
    display_name: str
    role: Role
    agents: frozenset[str] | None
    digest: bytes
    created: datetime
    expires: datetime | None
    revoked: datetime | None

    def usable(self, now: datetime) -> bool:
        """Neither revoked nor expired."""
        return self.revoked is None and (self.expires is None or self.expires > now)

    def opens_with(self, secret: str) -> bool:
        """Whether this is its secret; takes the same time for any."""
        return hmac.compare_digest(self.digest, digest_of(secret))


def new_secret() -> tuple[str, str]:
    """A key's id, and the secret that contains it: `pk_<id>_<random>`."""
    key_id = secrets.token_hex(ID_BYTES)
    return key_id, f"{PREFIX}_{key_id}_{secrets.token_urlsafe(SECRET_BYTES)}"


def id_of(secret: str) -> str | None:
    """The id within a secret; None if it does not have the form of one."""
    match = FORM.fullmatch(secret)
    return match.group(1) if match else None


def digest_of(secret: str) -> bytes:
    """What is stored of a secret."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()
