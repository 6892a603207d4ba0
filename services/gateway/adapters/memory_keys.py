"""Keys in memory, for tests."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from services.gateway.domain.keys import ApiKey
from services.kit.identity import Role


class MemoryKeyStore:
    """A dictionary in order of making."""

    def __init__(self) -> None:
        self._keys: dict[str, ApiKey] = {}

    async def add(self, key: ApiKey) -> None:
        """See the port."""
        self._keys[key.id] = key

    async def get(self, key_id: str) -> ApiKey | None:
        """See the port."""
        return self._keys.get(key_id)

    async def page(self, tenant: str, after: int, limit: int) -> list[tuple[int, ApiKey]]:
        """See the port."""
        numbered = enumerate(self._keys.values(), start=1)
        return [(n, key) for n, key in numbered if key.tenant == tenant and n > after][:limit]

    async def revoke(self, tenant: str, key_id: str, now: datetime) -> ApiKey | None:
        """See the port."""
        key = self._keys.get(key_id)
        if key is None or key.tenant != tenant:
            return None
        if key.revoked is None:
            key = self._keys[key_id] = replace(key, revoked=now)
        return key

    async def any_operator(self, now: datetime) -> bool:
        """See the port."""
        return any(
            key.role >= Role.OPERATOR and key.agents is None and key.usable(now)
            for key in self._keys.values()
        )
