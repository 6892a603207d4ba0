"""Making, checking, rotating and revoking API keys (SPEC G-9)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import structlog

from services.gateway.app.ports import KeyStore
from services.gateway.domain.keys import ApiKey, KeyChange, Rotation, digest_of, id_of, new_secret
from services.kit.errors import CredentialInvalid, NotAllowed, NotFound, StartupError
from services.kit.identity import Principal, Role, bearer_of
from services.kit.times import Clock

DEFAULT_TENANT = "default"
FIRST_KEY_FILE = "api-key"
FIRST_KEY_NAME = "first start"
FIRST_START = "start"
"""Who makes the first key, in its changes."""
CACHE_SECONDS = 5.0
"""After this long, a rotation or revocation by another process holds here too."""
CACHED_KEYS = 10_000


class Keys:
    """Keys of all tenants; also the gateway's authenticator of callers with one.

    A key that was checked is remembered for CACHE_SECONDS. Rotating and revoking forget it at once in this
    process; another one goes by what it remembers until then.
    """

    def __init__(self, store: KeyStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._checked: dict[bytes, tuple[datetime, ApiKey]] = {}  # by the digest of the secret
        self._changes = 0

    async def authenticate(self, metadata: Mapping[str, str]) -> Principal:
        """The key's principal. Unknown, malformed, expired and revoked keys are told apart by nobody."""
        secret = bearer_of(metadata)
        key = await self._usable(secret, self._clock())
        if key is None:
            raise CredentialInvalid
        return Principal(tenant=key.tenant, role=key.role, agents=key.agents, subject=f"key:{key.id}")

    async def _usable(self, secret: str, now: datetime) -> ApiKey | None:
        digest = digest_of(secret)
        known = self._checked.get(digest)
        if known is not None and now - known[0] < timedelta(seconds=CACHE_SECONDS):
            key: ApiKey | None = known[1]
        else:
            key = await self._look_up(secret, digest, now)
        return key if key is not None and key.opens_with(digest, now) and key.usable(now) else None

    async def _look_up(self, secret: str, digest: bytes, now: datetime) -> ApiKey | None:
        key_id = id_of(secret)
        changes = self._changes
        key = await self._store.get(key_id) if key_id else None
        if key is None or not key.opens_with(digest, now):
            return None
        if changes == self._changes:  # else what was read may be out of date
            if len(self._checked) >= CACHED_KEYS:
                self._checked.clear()
            self._checked[digest] = (now, key)
        return key

    async def create(
        self,
        maker: Principal,
        *,
        display_name: str,
        role: Role,
        agents: Sequence[str],
        lifetime: timedelta | None,
    ) -> tuple[ApiKey, str]:
        """A key and its secret. Raises NotAllowed when it would reach further than its maker."""
        if role > maker.role:
            raise NotAllowed("a key cannot have a higher role than the one that makes it")
        wanted = frozenset(agents) or None
        if maker.agents is not None:
            if wanted is not None and not wanted <= maker.agents:
                raise NotAllowed("a key cannot reach agents that the one that makes it does not")
            wanted = wanted or maker.agents
            if not wanted:  # an empty list would read as all agents
                raise NotAllowed("a credential that reaches no agent makes no key")
        return await self._make(maker.tenant, display_name, role, wanted, lifetime, maker.subject)

    async def page(self, tenant: str, after: int, limit: int) -> list[tuple[int, ApiKey]]:
        """Keys of a tenant, oldest first."""
        return await self._store.page(tenant, after, limit)

    async def get(self, tenant: str, key_id: str) -> ApiKey:
        """A key of a tenant. Raises NotFound."""
        key = await self._store.get(key_id)
        if key is None or key.tenant != tenant:
            raise NotFound("key", key_id)
        return key

    async def changes(
        self, tenant: str, key_id: str | None, before: int | None, limit: int
    ) -> list[tuple[int, KeyChange]]:
        """What was done to a key, or to all of a tenant, newest first."""
        return await self._store.changes(tenant, key_id, before, limit)

    async def rotate(
        self, by: Principal, key_id: str, *, overlap: timedelta, lifetime: timedelta | None
    ) -> tuple[ApiKey, str]:
        """A key with a new secret, and that; the one before works for `overlap` more, at most MAX_OVERLAP.

        `lifetime` None leaves until when the key works. Raises NotFound, StateConflict for a key that is
        revoked or expired, and NotAllowed for one that `by` could not have made.
        """
        check_reach(by, await self.get(by.tenant, key_id))
        now = self._clock()
        _, secret = new_secret(key_id)
        rotation = Rotation(
            digest=digest_of(secret),
            time=now,
            overlap=overlap,
            expires=now + lifetime if lifetime else None,
            subject=by.subject,
        )
        key = await self._store.rotate(by.tenant, key_id, rotation)
        if key is None:
            raise NotFound("key", key_id)
        self._forget(key_id)
        return key, secret

    async def revoke(self, by: Principal, key_id: str) -> ApiKey:
        """Revokes for good.

        Raises NotFound, NotAllowed for a key that `by` could not have made, and StateConflict for the last
        usable one that governs the tenant's keys.
        """
        check_reach(by, await self.get(by.tenant, key_id))
        key = await self._store.revoke(by.tenant, key_id, self._clock(), by.subject)
        if key is None:
            raise NotFound("key", key_id)
        self._forget(key_id)
        return key

    def _forget(self, key_id: str) -> None:
        self._changes += 1
        self._checked = {digest: entry for digest, entry in self._checked.items() if entry[1].id != key_id}

    async def ensure_first_key(self, data_dir: Path) -> None:
        """Makes an operator's key in `data_dir`/api-key (mode 0600) unless its file is there and works.

        A lost file is replaced by a new key; the old key stays valid until it is revoked.
        Raises StartupError.
        """
        path = data_dir / FIRST_KEY_FILE
        now = self._clock()
        if await self._usable(_content(path), now) is not None:
            return
        if await self._store.any_operator(now):
            structlog.get_logger("keys").warning("first_key_replaced", file=FIRST_KEY_FILE)
        _, secret = await self._make(DEFAULT_TENANT, FIRST_KEY_NAME, Role.OPERATOR, None, None, FIRST_START)
        try:
            path.unlink(missing_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            raise StartupError(f"cannot write {path}: {error.strerror}") from error
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(secret + "\n")

    async def _make(
        self,
        tenant: str,
        display_name: str,
        role: Role,
        agents: frozenset[str] | None,
        lifetime: timedelta | None,
        subject: str,
    ) -> tuple[ApiKey, str]:
        key_id, secret = new_secret()
        now = self._clock()
        key = ApiKey(
            id=key_id,
            tenant=tenant,
            display_name=display_name,
            role=role,
            agents=agents,
            digest=digest_of(secret),
            created=now,
            expires=now + lifetime if lifetime else None,
            revoked=None,
        )
        await self._store.add(key, subject)
        return key, secret


def check_reach(by: Principal, key: ApiKey) -> None:
    """Raises NotAllowed for a key that `by` could not have made."""
    within = by.agents is None or (key.agents is not None and key.agents <= by.agents)
    if key.role > by.role or not within:
        raise NotAllowed("a key cannot change one that reaches further than itself")


def _content(path: Path) -> str:
    """A key file's content; empty if there is none. Raises StartupError."""
    try:
        return path.read_text("utf-8", "replace").strip()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise StartupError(f"cannot read {path}: {error.strerror}") from error
