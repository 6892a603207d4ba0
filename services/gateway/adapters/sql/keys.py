"""API keys and their changes in SQL."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from services.gateway.domain.keys import ApiKey, ChangeKind, KeyChange, Rotation, check_not_last
from services.kit.identity import Role
from services.kit.sql import Row, Script, SqlDatabase, Value, execute, fetch, first
from services.kit.times import from_micros, to_micros

COLUMNS = (
    "number, key_id, tenant, display_name, role, agents, digest, created, expires, revoked, rotated,"
    " previous_digest, previous_expires"
)
OF_TENANT = f"SELECT {COLUMNS} FROM api_keys WHERE tenant = ? AND key_id = ? FOR UPDATE"
GOVERNING = "role >= ? AND agents IS NULL AND revoked IS NULL AND (expires IS NULL OR expires > ?)"


class SqlKeys:
    """A KeyStore; secrets are stored as digests only."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def add(self, key: ApiKey, subject: str) -> None:
        """See the port."""

        def script() -> Script[None]:
            yield from execute(
                "INSERT INTO api_keys (key_id, tenant, display_name, role, agents, digest, created, expires,"
                " revoked) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                key.id,
                key.tenant,
                key.display_name,
                int(key.role),
                None if key.agents is None else json.dumps(sorted(key.agents)),
                key.digest,
                to_micros(key.created),
                _micros(key.expires),
                _micros(key.revoked),
            )
            yield from _record(key, ChangeKind.CREATED, subject, key.created)

        await self._database.write(script)

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

    async def rotate(self, tenant: str, key_id: str, rotation: Rotation) -> ApiKey | None:
        """See the port."""
        return await self._database.write(lambda: _rotate(tenant, key_id, rotation))

    async def revoke(self, tenant: str, key_id: str, now: datetime, subject: str) -> ApiKey | None:
        """See the port."""
        return await self._database.write(lambda: _revoke(tenant, key_id, now, subject))

    async def changes(
        self, tenant: str, key_id: str | None, before: int | None, limit: int
    ) -> list[tuple[int, KeyChange]]:
        """See the port."""
        where, values = "tenant = ?", list[Value]([tenant])
        if key_id is not None:
            where, values = f"{where} AND key_id = ?", [*values, key_id]
        if before is not None:
            where, values = f"{where} AND number < ?", [*values, before]
        rows = await self._database.read(
            lambda: fetch(
                f"SELECT number, key_id, kind, subject, time FROM api_key_changes WHERE {where}"
                " ORDER BY number DESC LIMIT ?",
                *values,
                limit,
            )
        )
        return [(row["number"], _change(row)) for row in rows]

    async def any_operator(self, now: datetime) -> bool:
        """See the port."""
        found = await self._database.read(
            lambda: first(
                f"SELECT 1 AS one FROM api_keys WHERE {GOVERNING} LIMIT 1", int(Role.OPERATOR), to_micros(now)
            )
        )
        return found is not None


def _rotate(tenant: str, key_id: str, rotation: Rotation) -> Script[ApiKey | None]:
    row = yield from first(OF_TENANT, tenant, key_id)
    if row is None:
        return None
    made = _key(row).rotated_by(rotation)
    yield from execute(
        "UPDATE api_keys SET digest = ?, rotated = ?, previous_digest = ?, previous_expires = ?, expires = ?"
        " WHERE tenant = ? AND key_id = ?",
        made.digest,
        _micros(made.rotated),
        made.previous_digest,
        _micros(made.previous_expires),
        _micros(made.expires),
        tenant,
        key_id,
    )
    yield from _record(made, ChangeKind.ROTATED, rotation.subject, rotation.time)
    return made


def _revoke(tenant: str, key_id: str, now: datetime, subject: str) -> Script[ApiKey | None]:
    # The keys that govern are locked first and in order: of two that are revoked at once one is the last.
    governing = yield from fetch(
        f"SELECT key_id FROM api_keys WHERE tenant = ? AND {GOVERNING} ORDER BY number FOR UPDATE",
        tenant,
        int(Role.OPERATOR),
        to_micros(now),
    )
    row = yield from first(OF_TENANT, tenant, key_id)
    if row is None:
        return None
    key = _key(row)
    if key.revoked is not None:
        return key
    check_not_last(key, sum(other["key_id"] != key_id for other in governing), now)
    yield from execute(
        "UPDATE api_keys SET revoked = ? WHERE tenant = ? AND key_id = ?", to_micros(now), tenant, key_id
    )
    yield from _record(key, ChangeKind.REVOKED, subject, now)
    return replace(key, revoked=from_micros(to_micros(now)))


def _record(key: ApiKey, kind: ChangeKind, subject: str, time: datetime) -> Script[None]:
    yield from execute(
        "INSERT INTO api_key_changes (tenant, key_id, kind, subject, time) VALUES (?, ?, ?, ?, ?)",
        key.tenant,
        key.id,
        int(kind),
        subject,
        to_micros(time),
    )


def _key(row: Row) -> ApiKey:
    return ApiKey(
        id=row["key_id"],
        tenant=row["tenant"],
        display_name=row["display_name"],
        role=Role(row["role"]),
        agents=None if row["agents"] is None else frozenset(json.loads(row["agents"])),
        digest=row["digest"],
        created=from_micros(row["created"]),
        expires=_time(row["expires"]),
        revoked=_time(row["revoked"]),
        rotated=_time(row["rotated"]),
        previous_digest=row["previous_digest"],
        previous_expires=_time(row["previous_expires"]),
    )


def _change(row: Row) -> KeyChange:
    return KeyChange(
        key_id=row["key_id"],
        kind=ChangeKind(row["kind"]),
        subject=row["subject"],
        time=from_micros(row["time"]),
    )


def _micros(time: datetime | None) -> int | None:
    return None if time is None else to_micros(time)


def _time(micros: int | None) -> datetime | None:
    return None if micros is None else from_micros(micros)
