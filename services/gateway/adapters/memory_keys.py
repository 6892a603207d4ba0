"""Keys in memory, for tests."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from services.gateway.domain.keys import ApiKey, ChangeKind, KeyChange, Rotation, check_not_last


class MemoryKeyStore:
    """A dictionary in order of making."""

    def __init__(self) -> None:
        self._keys: dict[str, ApiKey] = {}
        self._changes: list[tuple[str, KeyChange]] = []

    async def add(self, key: ApiKey, subject: str) -> None:
        """See the port."""
        self._put(key, ChangeKind.CREATED, subject, key.created)

    async def get(self, key_id: str) -> ApiKey | None:
        """See the port."""
        return self._keys.get(key_id)

    async def page(self, tenant: str, after: int, limit: int) -> list[tuple[int, ApiKey]]:
        """See the port."""
        numbered = enumerate(self._keys.values(), start=1)
        return [(n, key) for n, key in numbered if key.tenant == tenant and n > after][:limit]

    async def rotate(self, tenant: str, key_id: str, rotation: Rotation) -> ApiKey | None:
        """See the port."""
        key = self._keys.get(key_id)
        if key is None or key.tenant != tenant:
            return None
        made = key.rotated_by(rotation)
        self._put(made, ChangeKind.ROTATED, rotation.subject, rotation.time)
        return made

    async def revoke(self, tenant: str, key_id: str, now: datetime, subject: str) -> ApiKey | None:
        """See the port."""
        key = self._keys.get(key_id)
        if key is None or key.tenant != tenant:
            return None
        if key.revoked is None:
            others = (each for each in self._keys.values() if each.tenant == tenant and each.id != key_id)
            check_not_last(key, sum(each.governs and each.usable(now) for each in others), now)
            key = replace(key, revoked=now)
            self._put(key, ChangeKind.REVOKED, subject, now)
        return key

    async def changes(
        self, tenant: str, key_id: str | None, before: int | None, limit: int
    ) -> list[tuple[int, KeyChange]]:
        """See the port."""
        found = [
            (number, change)
            for number, (owner, change) in enumerate(self._changes, start=1)
            if owner == tenant
            and (key_id is None or change.key_id == key_id)
            and (before is None or number < before)
        ]
        return found[::-1][:limit]

    async def any_operator(self, now: datetime) -> bool:
        """See the port."""
        return any(key.governs and key.usable(now) for key in self._keys.values())

    def _put(self, key: ApiKey, kind: ChangeKind, subject: str, time: datetime) -> None:
        self._keys[key.id] = key
        self._changes.append((key.tenant, KeyChange(key_id=key.id, kind=kind, subject=subject, time=time)))
