"""Runs of consolidation (SPEC J-10)."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

from services.compactor.domain.consolidation import Merge, Outcome, Run
from services.kit.sql import Row, Script, SqlDatabase, execute, fetch, first
from services.kit.times import from_micros, to_micros

COLUMNS = "run_id, agent_id, dry, created, finished, undone, planned, compared, decayed, restored, merges"

KEPT = timedelta(days=30)
"""How long a run that changed nothing stays; those that did stay for good, to be taken back."""
NOTHING = "[]"


class SqlConsolidations:
    """`Runs` over a SqlDatabase."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def start(self, tenant: str, run: Run) -> Run:
        """Inserts it, unless it is there; drops old runs that changed nothing."""

        def script() -> Script[Run]:
            yield from execute(
                "DELETE FROM consolidation_runs WHERE tenant = ? AND agent_id = ? AND finished < ?"
                " AND (dry OR (decayed = 0 AND merges = ?))",
                tenant,
                run.agent_id,
                to_micros(run.created - KEPT),
                NOTHING,
            )
            yield from execute(
                f"INSERT INTO consolidation_runs (tenant, {COLUMNS})"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                tenant,
                run.id,
                run.agent_id,
                run.dry,
                to_micros(run.created),
                _micros(run.finished),
                _micros(run.undone),
                run.planned,
                run.compared,
                run.decayed,
                run.restored,
                _written(run),
            )
            found = yield from _get(tenant, run.agent_id, run.id)
            assert found is not None, "it was just inserted"
            return found

        return await self._database.write(script)

    async def settle(self, tenant: str, run: Run) -> Run:
        """The first plan stays."""

        def script() -> Script[Run]:
            yield from _save(tenant, run, " AND NOT planned")
            found = yield from _get(tenant, run.agent_id, run.id)
            assert found is not None, "a run that is under way is not deleted"
            return found

        return await self._database.write(script)

    async def save(self, tenant: str, run: Run) -> None:
        """All of it."""
        unless = " AND finished IS NULL" if run.finished is None else ""
        await self._database.write(lambda: _save(tenant, run, unless))

    async def get(self, tenant: str, agent_id: str, run_id: str) -> Run | None:
        """By id."""
        return await self._database.read(lambda: _get(tenant, agent_id, run_id))

    async def page(self, tenant: str, agent_id: str, before: str | None, limit: int) -> list[Run]:
        """Newest first."""
        older = "" if before is None else " AND run_id < ?"

        def script() -> Script[list[Run]]:
            rows = yield from fetch(
                f"SELECT {COLUMNS} FROM consolidation_runs WHERE tenant = ? AND agent_id = ?{older}"
                " ORDER BY run_id DESC LIMIT ?",
                tenant,
                agent_id,
                *(() if before is None else (before,)),
                limit,
            )
            return [_run(row) for row in rows]

        return await self._database.read(script)


def _save(tenant: str, run: Run, unless: str) -> Script[None]:
    yield from execute(
        "UPDATE consolidation_runs SET finished = ?, undone = ?, planned = ?, compared = ?, decayed = ?,"
        f" restored = ?, merges = ? WHERE tenant = ? AND agent_id = ? AND run_id = ?{unless}",
        _micros(run.finished),
        _micros(run.undone),
        run.planned,
        run.compared,
        run.decayed,
        run.restored,
        _written(run),
        tenant,
        run.agent_id,
        run.id,
    )


def _get(tenant: str, agent_id: str, run_id: str) -> Script[Run | None]:
    row = yield from first(
        f"SELECT {COLUMNS} FROM consolidation_runs WHERE tenant = ? AND agent_id = ? AND run_id = ?",
        tenant,
        agent_id,
        run_id,
    )
    return None if row is None else _run(row)


def _run(row: Row) -> Run:
    return Run(
        id=row["run_id"],
        agent_id=row["agent_id"],
        dry=bool(row["dry"]),
        created=from_micros(row["created"]),
        finished=_moment(row["finished"]),
        undone=_moment(row["undone"]),
        planned=bool(row["planned"]),
        compared=row["compared"],
        decayed=row["decayed"],
        restored=row["restored"],
        merges=tuple(_merge(one) for one in json.loads(row["merges"])),
    )


def _written(run: Run) -> str:
    merges = [
        {
            "memory_id": one.memory_id,
            "members": one.members,
            "contact_id": one.contact_id,
            "key": one.key,
            "cosine": one.cosine,
            "outcome": one.outcome.value,
        }
        for one in run.merges
    ]
    return json.dumps(merges, ensure_ascii=False)


def _merge(one: dict[str, Any]) -> Merge:
    return Merge(
        memory_id=one["memory_id"],
        members=tuple((id_, revision) for id_, revision in one["members"]),
        contact_id=one["contact_id"],
        key=one["key"],
        cosine=one["cosine"],
        outcome=Outcome(one["outcome"]),
    )


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else to_micros(moment)


def _moment(micros: int | None) -> datetime | None:
    return None if micros is None else from_micros(micros)
