"""Leases of turns in SQL (SPEC G-4)."""

from __future__ import annotations

from datetime import datetime

from services.gateway.domain.turns import Place
from services.kit.sql import Script, SqlDatabase, execute, first
from services.kit.times import to_micros

OF_PLACE = "tenant = ? AND agent_id = ? AND conversation_id = ?"


class SqlTurnLeases:
    """A TurnLeases; of callers that come together one gets the row."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def acquire(self, place: Place, holder: str, now: datetime, until: datetime) -> bool:
        """See the port."""
        return await self._database.write(lambda: _acquire(place, holder, to_micros(now), to_micros(until)))

    async def renew(self, place: Place, holder: str, until: datetime) -> bool:
        """See the port."""

        def script() -> Script[bool]:
            row = yield from first(
                f"UPDATE turn_leases SET until = ? WHERE {OF_PLACE} AND holder = ? RETURNING holder",
                to_micros(until),
                *_key(place),
                holder,
            )
            return row is not None

        return await self._database.write(script)

    async def clear(self) -> None:
        """Ends all leases: for a process that knows that there is no other."""
        await self._database.write(lambda: execute("DELETE FROM turn_leases"))

    async def release(self, place: Place, holder: str) -> None:
        """See the port."""
        await self._database.write(
            lambda: execute(f"DELETE FROM turn_leases WHERE {OF_PLACE} AND holder = ?", *_key(place), holder)
        )


def _key(place: Place) -> tuple[str, str, str]:
    return place.tenant, place.agent_id, place.conversation_id


def _acquire(place: Place, holder: str, now: int, until: int) -> Script[bool]:
    row = yield from first(
        "INSERT INTO turn_leases (tenant, agent_id, conversation_id, holder, until) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (tenant, agent_id, conversation_id) DO UPDATE SET holder = excluded.holder,"
        " until = excluded.until WHERE turn_leases.until <= ? OR turn_leases.holder = excluded.holder"
        " RETURNING holder",
        *_key(place),
        holder,
        until,
        now,
    )
    return row is not None
