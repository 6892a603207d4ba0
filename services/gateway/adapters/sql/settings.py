"""Settings in SQL, their changes, and refusals."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date, datetime

from services.gateway.adapters.settings_json import dumped, loaded
from services.gateway.app.settings_ports import May
from services.gateway.domain.settings import (
    REFUSALS_KEPT,
    Change,
    RefusedTexts,
    Settings,
    Stored,
    with_paths,
)
from services.kit.errors import VersionConflict
from services.kit.sql import Row, Script, SqlDatabase, Value, execute, execute_many, fetch, first
from services.kit.times import from_micros, to_micros

COLUMNS = "agent_id, revision, content, updated"


class SqlSettings:
    """A SettingsStore."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def get(self, tenant: str, agent_ids: Sequence[str]) -> dict[str, Stored]:
        """See the port."""
        rows = await self._database.read(
            lambda: fetch(
                f"SELECT {COLUMNS} FROM settings WHERE tenant = ? AND agent_id IN ??", tenant, list(agent_ids)
            )
        )
        return {row["agent_id"]: _stored(row) for row in rows}

    async def update(
        self,
        tenant: str,
        agent_id: str,
        new: Settings,
        paths: Sequence[str],
        *,
        subject: str,
        now: datetime,
        expected_revision: int | None = None,
        may: May | None = None,
    ) -> Stored:
        """See the port."""
        return await self._database.write(
            lambda: _update(tenant, agent_id, new, paths, subject, now, expected_revision, may)
        )

    async def changes(self, tenant: str, agent_id: str, before: int | None, limit: int) -> list[Change]:
        """See the port."""
        earlier: list[Value] = [] if before is None else [before]
        rows = await self._database.read(
            lambda: fetch(
                "SELECT agent_id, revision, subject, time, paths, before, after FROM settings_changes"
                f" WHERE tenant = ? AND agent_id = ?{' AND revision < ?' if earlier else ''}"
                " ORDER BY revision DESC LIMIT ?",
                tenant,
                agent_id,
                *earlier,
                limit,
            )
        )
        return [_change(row) for row in rows]

    async def report_refusals(self, tenant: str, reporter_id: str, totals: Sequence[RefusedTexts]) -> None:
        """See the port."""
        rows = sorted((tenant, one.day.isoformat(), one.kind, reporter_id, one.count) for one in totals)

        def script() -> Script[None]:
            yield from execute_many(
                "INSERT INTO refusals (tenant, day, kind, reporter_id, total) VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT (tenant, day, kind, reporter_id) DO UPDATE SET total = excluded.total"
                " WHERE refusals.total < excluded.total",
                rows,
            )
            if rows:
                oldest = max(one.day for one in totals) - REFUSALS_KEPT
                yield from execute(
                    "DELETE FROM refusals WHERE tenant = ? AND day < ?", tenant, oldest.isoformat()
                )

        await self._database.write(script)

    async def refusals(self, tenant: str, since: date) -> list[RefusedTexts]:
        """See the port."""
        rows = await self._database.read(
            lambda: fetch(
                "SELECT day, kind, sum(total) AS total FROM refusals WHERE tenant = ? AND day >= ?"
                " GROUP BY day, kind ORDER BY day DESC, kind",
                tenant,
                since.isoformat(),
            )
        )
        return [
            RefusedTexts(day=date.fromisoformat(row["day"]), kind=row["kind"], count=int(row["total"]))
            for row in rows
        ]


def _update(
    tenant: str,
    agent_id: str,
    new: Settings,
    paths: Sequence[str],
    subject: str,
    now: datetime,
    expected_revision: int | None,
    may: May | None,
) -> Script[Stored]:
    # The row is there before it is locked, so that the first two writers also go one after the other.
    yield from execute(
        "INSERT INTO settings (tenant, agent_id, revision, content, updated) VALUES (?, ?, 0, ?, ?)"
        " ON CONFLICT (tenant, agent_id) DO NOTHING",
        tenant,
        agent_id,
        dumped(Settings()),
        to_micros(now),
    )
    row = yield from first(
        f"SELECT {COLUMNS} FROM settings WHERE tenant = ? AND agent_id = ? FOR UPDATE", tenant, agent_id
    )
    assert row is not None
    old = _stored(row)
    if expected_revision is not None and old.revision != expected_revision:
        raise VersionConflict
    made = Stored(
        settings=with_paths(old.settings, new, paths),
        revision=old.revision + 1,
        updated=from_micros(to_micros(now)),
    )
    if may is not None:
        may(old.settings, made.settings)
    yield from execute(
        "UPDATE settings SET revision = ?, content = ?, updated = ? WHERE tenant = ? AND agent_id = ?",
        made.revision,
        dumped(made.settings),
        to_micros(now),
        tenant,
        agent_id,
    )
    yield from execute(
        "INSERT INTO settings_changes (tenant, agent_id, revision, subject, time, paths, before, after)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        tenant,
        agent_id,
        made.revision,
        subject,
        to_micros(now),
        json.dumps(list(paths)),
        dumped(old.settings),
        dumped(made.settings),
    )
    return made


def _stored(row: Row) -> Stored:
    return Stored(
        settings=loaded(row["content"]),
        revision=row["revision"],
        updated=from_micros(row["updated"]),
    )


def _change(row: Row) -> Change:
    return Change(
        agent_id=row["agent_id"],
        revision=row["revision"],
        subject=row["subject"],
        time=from_micros(row["time"]),
        paths=tuple(json.loads(row["paths"])),
        before=loaded(row["before"]),
        after=loaded(row["after"]),
    )
