"""API keys in SQL."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from services.gateway.domain.keys import ApiKey
from services.kit.identity import Role
from services.kit.sql import Row, Script, SqlDatabase, execute, fetch, first
from services.kit.times import from_micros, to_micros

COLUMNS = "number, key_id, tenant, display_name, role, agents, digest, created, expires, revoked"
OF_TENANT = f"SELECT {COLUMNS} FROM api_keys WHERE tenant = ? AND key_id = ?"


class SqlKeys:
    """A KeyStore; secrets are stored as digests only."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def add(self, key: ApiKey) -> None:
        """See the port."""
        await self._database.write(
            lambda: execute(
                "INSERT INTO api_keys (key_id, tenant, display_name, role, agents, digest, created, expires,"
                " revoked) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                key.id,
                key.tenant,
                key.display_name,
                int(key.role),
                None if key.agents is None else json.dumps(sorted(key.agents)),
                key.digest,
                to_micros(key.created),
                None if key.expires is None else to_micros(key.expires),
                None if key.revoked is None else to_micros(key.revoked),
            )
        )

    async def get(self, key_id: str) -> ApiKey | None:
        """See the port."""
        row = await self._database.read(
            lambda: first(f"SELECT {COLUMNS} FROM api_keys WHERE key_id = ?", key_id)
        )
        return None if row is None else _key(row)

    async def page(self, tenant: str, after: int, limit: int) -> list[tuple[int, ApiKey]]:
        """See the port."""

        def script() -> Script[Sequence[Row]]:
            return (
                yield from fetch(
                    f"SELECT {COLUMNS} FROM api_keys WHERE tenant = ? AND number > ? ORDER BY number LIMIT ?",
                    tenant,
                    after,
                    limit,
                )
            )

        return [(row["number"], _key(row)) for row in await self._database.read(script)]

    async def revoke(self, tenant: str, key_id: str, now: datetime) -> ApiKey | None:
        """See the port."""

        def script() -> Script[Row | None]:
            yield from execute(
                "UPDATE api_keys SET revoked = ? WHERE tenant = ? AND key_id = ? AND revoked IS NULL",
                to_micros(now),
                tenant,
                key_id,
            )
            return (yield from first(OF_TENANT, tenant, key_id))

        row = await self._database.write(script)
        return None if row is None else _key(row)

    async def any_operator(self, now: datetime) -> bool:
        """See the port."""
        found = await self._database.read(
            lambda: first(
                "SELECT 1 AS one FROM api_keys WHERE role >= ? AND agents IS NULL AND revoked IS NULL"
                " AND (expires IS NULL OR expires > ?) LIMIT 1",
                int(Role.OPERATOR),
                to_micros(now),
            )
        )
        return found is not None


def _key(row: Row) -> ApiKey:
    return ApiKey(
        id=row["key_id"],
        tenant=row["tenant"],
        display_name=row["display_name"],
        role=Role(row["role"]),
        agents=None if row["agents"] is None else frozenset(json.loads(row["agents"])),
        digest=row["digest"],
        created=from_micros(row["created"]),
        expires=None if row["expires"] is None else from_micros(row["expires"]),
        revoked=None if row["revoked"] is None else from_micros(row["revoked"]),
    )
