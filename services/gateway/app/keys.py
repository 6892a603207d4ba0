"""Making, checking and revoking API keys (SPEC G-9)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import structlog

from services.gateway.app.ports import KeyStore
from services.gateway.domain.keys import ApiKey, digest_of, id_of, new_secret
from services.kit.errors import CredentialInvalid, NotAllowed, NotFound, StartupError
from services.kit.identity import Principal, Role, bearer_of
from services.kit.times import Clock

DEFAULT_TENANT = "default"
FIRST_KEY_FILE = "api-key"
FIRST_KEY_NAME = "first start"
CACHE_SECONDS = 5.0
CACHED_KEYS = 10_000


class Keys:
    """Keys of all tenants; also the gateway's authenticator.

    A key that was checked is remembered for a few seconds; revoking forgets it at once in this process.
    """

    def __init__(self, store: KeyStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._checked: dict[str, tuple[datetime, ApiKey]] = {}
        self._revocations = 0

    async def authenticate(self, metadata: Mapping[str, str]) -> Principal:
        """The key's principal. Unknown, malformed, expired and revoked keys are told apart by nobody."""
        secret = bearer_of(metadata)
        now = self._clock()
        known = self._checked.get(secret)
        if known is not None and now - known[0] < timedelta(seconds=CACHE_SECONDS):
            key: ApiKey | None = known[1]
        else:
            key = await self._check(secret, now)
        if key is None or not key.usable(now):
            raise CredentialInvalid
        return Principal(tenant=key.tenant, role=key.role, agents=key.agents, subject=f"key:{key.id}")

    async def _check(self, secret: str, now: datetime) -> ApiKey | None:
        key_id = id_of(secret)
        revocations = self._revocations
        key = await self._store.get(key_id) if key_id else None
        if key is None or not key.opens_with(secret):
            return None
        if revocations == self._revocations:  # else what was read may be out of date
            if len(self._checked) >= CACHED_KEYS:
                self._checked.clear()
            self._checked[secret] = (now, key)
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
        return await self._make(maker.tenant, display_name, role, wanted, lifetime)

    async def page(self, tenant: str, after: int, limit: int) -> list[tuple[int, ApiKey]]:
        """Keys of a tenant, oldest first."""
        return await self._store.page(tenant, after, limit)

    async def revoke(self, by: Principal, key_id: str) -> ApiKey:
        """Revokes for good. Raises NotFound, and NotAllowed for a key that `by` could not have made."""
        known = await self._store.get(key_id)
        if known is not None and known.tenant == by.tenant:
            within = by.agents is None or (known.agents is not None and known.agents <= by.agents)
            if known.role > by.role or not within:
                raise NotAllowed("a key cannot revoke one that reaches further than itself")
        key = await self._store.revoke(by.tenant, key_id, self._clock())
        if key is None:
            raise NotFound("key", key_id)
        self._revocations += 1
        self._checked = {secret: entry for secret, entry in self._checked.items() if entry[1].id != key_id}
        return key

    async def ensure_first_key(self, data_dir: Path) -> None:
        """Makes an operator's key in `data_dir`/api-key (mode 0600) unless its file is there and works.

        A lost file is replaced by a new key; the old key stays valid until it is revoked.
        Raises StartupError.
        """
        path = data_dir / FIRST_KEY_FILE
        now = self._clock()
        known = await self._check(_content(path), now)
        if known is not None and known.usable(now):
            return
        if await self._store.any_operator(now):
            structlog.get_logger("keys").warning("first_key_replaced", file=FIRST_KEY_FILE)
        _, secret = await self._make(DEFAULT_TENANT, FIRST_KEY_NAME, Role.OPERATOR, None, None)
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
        await self._store.add(key)
        return key, secret


def _content(path: Path) -> str:
    """A key file's content; empty if there is none. Raises StartupError."""
    try:
        return path.read_text("utf-8", "replace").strip()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise StartupError(f"cannot read {path}: {error.strerror}") from error
