"""What calls of models took, in SQL (SPEC G-5)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Final

from services.gateway.domain.budgets import SPEND_KEPT, ModelSpend
from services.kit.sql import Row, Script, SqlDatabase, execute, execute_many, fetch, first

FIGURES: Final = ("calls", "estimated_calls", "input_tokens", "output_tokens", "micros")


class SqlSpend:
    """A SpendStore."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def report(self, tenant: str, reporter_id: str, totals: Sequence[ModelSpend]) -> None:
        """See the port."""
        rows = sorted(
            (
                tenant,
                one.day.isoformat(),
                one.tier,
                one.model,
                reporter_id,
                *(getattr(one, f) for f in FIGURES),
            )
            for one in totals
        )

        def script() -> Script[None]:
            yield from execute_many(
                f"INSERT INTO model_spend (tenant, day, tier, model, reporter_id, {', '.join(FIGURES)})"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (tenant, day, tier, model, reporter_id) DO UPDATE SET"
                f" {', '.join(f'{name} = excluded.{name}' for name in FIGURES)}"
                " WHERE model_spend.calls < excluded.calls",
                rows,
            )
            if rows:
                oldest = max(one.day for one in totals) - SPEND_KEPT
                yield from execute(
                    "DELETE FROM model_spend WHERE tenant = ? AND day < ?", tenant, oldest.isoformat()
                )

        await self._database.write(script)

    async def micros(self, tenant: str, day: date) -> int:
        """See the port."""
        row = await self._database.read(
            lambda: first(
                "SELECT sum(micros) AS total FROM model_spend WHERE tenant = ? AND day = ?",
                tenant,
                day.isoformat(),
            )
        )
        return 0 if row is None else int(row["total"] or 0)

    async def rows(self, tenant: str, since: date, most: int) -> list[ModelSpend]:
        """See the port."""
        found = await self._database.read(
            lambda: fetch(
                f"SELECT day, tier, model, {', '.join(f'sum({name}) AS {name}' for name in FIGURES)}"
                " FROM model_spend WHERE tenant = ? AND day >= ?"
                " GROUP BY day, tier, model ORDER BY day DESC, tier, model LIMIT ?",
                tenant,
                since.isoformat(),
                most,
            )
        )
        return list(map(_spend, found))


def _spend(row: Row) -> ModelSpend:
    return ModelSpend(
        day=date.fromisoformat(row["day"]),
        tier=row["tier"],
        model=row["model"],
        **{name: int(row[name]) for name in FIGURES},
    )
