"""How far conversations are derived; see domain.progress."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from services.compactor.domain.progress import KINDS, Derived, upto
from services.kit.sql import Row, Script, SqlDatabase, execute_many, fetch

_REACH: Final = (
    "INSERT INTO progress (tenant, agent_id, conversation_id, kind, upto) VALUES (?, ?, ?, ?, ?)"
    " ON CONFLICT (tenant, agent_id, conversation_id, kind)"
    " DO UPDATE SET upto = excluded.upto WHERE progress.upto < excluded.upto"
)


def record(tenant: str, rows: Iterable[Row]) -> Script[None]:
    """Records that these jobs succeeded."""
    last: dict[tuple[int, str], int] = {}
    for row in rows:
        if row["sequence"] is not None:
            place = (row["group_id"], row["conversation_id"])
            last[place] = max(last.get(place, 0), row["sequence"])
    if not last:
        return
    groups = yield from fetch(
        "SELECT id, agent_id, type FROM groups WHERE tenant = ? AND id IN ??",
        tenant,
        sorted({group for group, _ in last}),
    )
    names = {row["id"]: (row["agent_id"], KINDS[row["type"]]) for row in groups}
    yield from execute_many(
        _REACH,
        [
            (tenant, names[group][0], conversation_id, names[group][1], sequence)
            for (group, conversation_id), sequence in sorted(last.items())
        ],
    )


class SqlProgress:
    """A ProgressStore."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def derived(self, tenant: str, agent_id: str, conversation_ids: Sequence[str]) -> list[Derived]:
        """See ProgressStore."""
        return await self._database.read(lambda: _derived(tenant, agent_id, conversation_ids))


def _derived(tenant: str, agent_id: str, conversation_ids: Sequence[str]) -> Script[list[Derived]]:
    conversations = sorted(set(conversation_ids))
    blocking = yield from fetch(
        "SELECT g.type, j.conversation_id, MIN(j.blocks) AS first FROM groups g"
        " JOIN jobs j ON j.tenant = g.tenant AND j.group_id = g.id"
        " WHERE g.tenant = ? AND g.agent_id = ? AND g.type IN ?? AND j.tenant = ? AND j.conversation_id IN ??"
        " AND j.blocks IS NOT NULL GROUP BY g.type, j.conversation_id",
        tenant,
        agent_id,
        sorted(KINDS),
        tenant,
        conversations,
    )
    first: dict[tuple[str, str], int] = {}
    for row in blocking:
        place = (row["conversation_id"], KINDS[row["type"]])
        first[place] = min(row["first"], first.get(place, row["first"]))
    rows = yield from fetch(
        "SELECT conversation_id, kind, upto FROM progress"
        " WHERE tenant = ? AND agent_id = ? AND conversation_id IN ??",
        tenant,
        agent_id,
        conversations,
    )
    reached = {(row["conversation_id"], row["kind"]): row["upto"] for row in rows}
    return [
        Derived(
            conversation_id=conversation_id,
            kind=kind,
            upto=upto(reached.get((conversation_id, kind), 0), first.get((conversation_id, kind))),
        )
        for conversation_id, kind in sorted(reached.keys() | first.keys())
    ]
