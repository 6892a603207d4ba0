"""API keys (SPEC G-9)."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import IntEnum

from services.kit.errors import StateConflict
from services.kit.identity import Role

PREFIX = "pk"
ID_BYTES = 8
SECRET_BYTES = 32  # 256 bits of chance: a plain SHA-256 is enough, there is nothing to guess
FORM = re.compile(r"pk_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")
MAX_OVERLAP = timedelta(days=30)
"""Longest time for which a secret goes on working after the next one was made."""
NO_DIGEST = bytes(hashlib.sha256().digest_size)
"""The digest of no secret that anybody knows; stands where there is none to compare with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A key without its secrets; `agents` is None when it reaches every agent of the tenant."""

    id: str
    tenant: str
    display_name: str
    role: Role
    agents: frozenset[str] | None
    digest: bytes
    created: datetime
    expires: datetime | None
    revoked: datetime | None
    rotated: datetime | None = None
    """When it got its present secret; None if that is its first."""
    previous_digest: bytes | None = None
    """Of the secret before the present one."""
    previous_expires: datetime | None = None
    """From when that one no longer works."""

    def usable(self, now: datetime) -> bool:
        """Neither revoked nor expired."""
        return self.revoked is None and (self.expires is None or self.expires > now)

    def opens_with(self, digest: bytes, now: datetime) -> bool:
        """Whether this is the digest of a secret that works; takes the same time for any."""
        present = hmac.compare_digest(self.digest, digest)
        before = hmac.compare_digest(self.previous_digest or NO_DIGEST, digest)
        return present | (before & (self.previous_expires is not None and self.previous_expires > now))

    def rotated_by(self, rotation: Rotation) -> ApiKey:
        """With the new secret; the present one becomes the one before. Raises StateConflict if unusable."""
        if not self.usable(rotation.time):
            raise StateConflict("the key is revoked or expired")
        return replace(
            self,
            digest=rotation.digest,
            rotated=rotation.time,
            previous_digest=self.digest if rotation.overlap else None,
            previous_expires=rotation.time + rotation.overlap,
            expires=self.expires if rotation.expires is None else rotation.expires,
        )

    @property
    def governs(self) -> bool:
        """Whether it is an operator's and reaches every agent."""
        return self.role >= Role.OPERATOR and self.agents is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotation:
    """Another secret for a key; the present one works for `overlap` more. `expires` None: as before."""

    digest: bytes
    time: datetime
    overlap: timedelta
    expires: datetime | None
    subject: str


class ChangeKind(IntEnum):
    """What was done to a key: the numbers of ApiKeyChangeKind."""

    CREATED = 1
    ROTATED = 2
    REVOKED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyChange:
    """Who did what to which key, and when."""

    key_id: str
    kind: ChangeKind
    subject: str
    time: datetime


def new_secret(key_id: str | None = None) -> tuple[str, str]:
    """A key's id, by default a new one, and a secret that contains it: `pk_<id>_<random>`."""
    chosen = key_id or secrets.token_hex(ID_BYTES)
    return chosen, f"{PREFIX}_{chosen}_{secrets.token_urlsafe(SECRET_BYTES)}"


def check_not_last(key: ApiKey, others: int, now: datetime) -> None:
    """Raises StateConflict if without the key no usable one would govern the tenant's keys any more.

    `others` is how many do besides it.
    """
    if key.governs and key.usable(now) and not others:
        raise StateConflict("this is the last operator's key without limits: make another one first")


def id_of(secret: str) -> str | None:
    """The id within a secret; None if it does not have the form of one."""
    match = FORM.fullmatch(secret)
    return match.group(1) if match else None


def digest_of(secret: str) -> bytes:
    """What is stored of a secret."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()
