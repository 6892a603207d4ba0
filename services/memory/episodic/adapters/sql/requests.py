"""Remembered request ids of appends, forgotten after a while (SPEC E-2)."""

from __future__ import annotations

from services.kit.sql import Script, SqlDatabase, execute_many, fetch


class AppendRequests:
    """What `delete_expired` of the housekeeping works on; `keep` is how long they are kept, microseconds."""

    def __init__(self, database: SqlDatabase, keep: int) -> None:
        self._database = database
        self._keep = keep

    async def delete_expired(self, now: int, limit: int) -> int:
        """Deletes the oldest ones whose time is over, of all tenants; how many it were."""

        def script() -> Script[int]:
            rows = yield from fetch(
                "SELECT number, tenant, create_time FROM append_requests ORDER BY number LIMIT ?", limit
            )
            old = [(row["tenant"], row["number"]) for row in rows if row["create_time"] < now - self._keep]
            yield from execute_many("DELETE FROM append_requests WHERE tenant = ? AND number = ?", old)
            return len(old)

        return await self._database.write(script)
