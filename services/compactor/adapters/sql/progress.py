"""How far conversations are derived; see domain.progress."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Final

from services.compactor.domain.progress import KINDS, OF_AGENTS, OF_WHAT_IS_DUE, Derived, upto
from services.kit.sql import Row, Script, SqlDatabase, Value, execute, execute_many, fetch

_REACH: Final = (
    "INSERT INTO progress (tenant, agent_id, conversation_id, kind, upto) VALUES (?, ?, ?, ?, ?)"
    " ON CONFLICT (tenant, agent_id, conversation_id, kind)"
    " DO UPDATE SET upto = excluded.upto WHERE progress.upto < excluded.upto"
)

_MAKE_UP: Final = (
    "UPDATE jobs SET blocks = NULL"
    " WHERE tenant = ? AND group_id = ? AND conversation_id = ? AND blocks <= ? AND state = 'dead'"
)

_POSTPONE: Final = (
    "INSERT INTO postponed (tenant, agent_id, conversation_id, kind, upto) VALUES (?, ?, ?, ?, ?)"
    " ON CONFLICT (tenant, agent_id, kind, conversation_id)"
    " DO UPDATE SET upto = excluded.upto WHERE postponed.upto < excluded.upto"
)

_CATCH_UP: Final = (
    "INSERT INTO progress (tenant, agent_id, conversation_id, kind, upto)"
    " SELECT tenant, agent_id, conversation_id, kind, upto FROM postponed"
    " WHERE tenant = ? AND agent_id = ? AND kind = ?"
    " ON CONFLICT (tenant, agent_id, conversation_id, kind)"
    " DO UPDATE SET upto = excluded.upto WHERE progress.upto < excluded.upto"
)

_LEFT: Final = (
    "SELECT g.type, j.conversation_id, {what} FROM groups g"
    " JOIN jobs j ON j.tenant = g.tenant AND j.group_id = g.id"
    " WHERE g.tenant = ? AND g.agent_id = ? AND g.type IN ?? AND j.tenant = ? AND j.conversation_id IN ??"
    " AND {which} GROUP BY g.type, j.conversation_id"
)


def record(tenant: str, rows: Sequence[Row], put_off: Set[str]) -> Script[None]:
    """Records that these jobs succeeded, and that they made up for dead ones of their group; those whose id
    is in `put_off` reach what they are about when a later one of their group succeeds."""
    if not rows:
        return
    groups = yield from fetch(
        "SELECT id, agent_id, type FROM groups WHERE tenant = ? AND id IN ?? AND type IN ??",
        tenant,
        sorted({row["group_id"] for row in rows}),
        sorted(KINDS),
    )
    of = {row["id"]: row for row in groups}
    about = [row for row in rows if row["sequence"] is not None and row["group_id"] in of]
    yield from execute_many(_REACH, _reached(tenant, of, (row for row in about if row["id"] not in put_off)))
    whole = [row for row in about if of[row["group_id"]]["type"] in OF_WHAT_IS_DUE]
    yield from execute_many(
        _MAKE_UP,
        [(tenant, group, conversation, last) for (group, conversation), last in _last(whole)],
    )
    yield from execute_many(_POSTPONE, _reached(tenant, of, (row for row in about if row["id"] in put_off)))
    done = {row["group_id"] for row in rows if row["id"] not in put_off}
    for group in sorted(group for group in done if group in of and of[group]["type"] in OF_AGENTS):
        place = (tenant, of[group]["agent_id"], KINDS[of[group]["type"]])
        yield from execute(_CATCH_UP, *place)
        yield from execute("DELETE FROM postponed WHERE tenant = ? AND agent_id = ? AND kind = ?", *place)


def _last(rows: Iterable[Row]) -> list[tuple[tuple[int, str], int]]:
    """The last message that they are about, by group and conversation, in order."""
    last: dict[tuple[int, str], int] = {}
    for row in rows:
        place = (row["group_id"], row["conversation_id"])
        last[place] = max(last.get(place, 0), row["sequence"])
    return sorted(last.items())


def _reached(tenant: str, of: Mapping[int, Row], rows: Iterable[Row]) -> list[tuple[Value, ...]]:
    """Values of _REACH, and of _POSTPONE."""
    return [
        (tenant, of[group]["agent_id"], conversation_id, KINDS[of[group]["type"]], last)
        for (group, conversation_id), last in _last(rows)
    ]


class SqlProgress:
    """A ProgressStore."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def derived(self, tenant: str, agent_id: str, conversation_ids: Sequence[str]) -> list[Derived]:
        """See ProgressStore."""
        return await self._database.read(lambda: _derived(tenant, agent_id, conversation_ids))


def _derived(tenant: str, agent_id: str, conversation_ids: Sequence[str]) -> Script[list[Derived]]:
    conversations = sorted(set(conversation_ids))
    # Two statements, each answered by an index alone: of an import's backlog only numbers are read.
    blocking = yield from fetch(
        _LEFT.format(what="MIN(j.blocks) AS first, COUNT(*) AS n", which="j.blocks IS NOT NULL"),
        *(tenant, agent_id, sorted(KINDS), tenant, conversations),
    )
    given_up = yield from fetch(
        _LEFT.format(
            what="COUNT(*) AS n, MAX(j.id) AS newest", which="j.state = 'dead' AND j.blocks IS NOT NULL"
        ),
        *(tenant, agent_id, sorted(KINDS), tenant, conversations),
    )
    left, dead = _by_place(blocking), _by_place(given_up)
    rows = yield from fetch(
        "SELECT conversation_id, kind, upto FROM progress"
        " WHERE tenant = ? AND agent_id = ? AND conversation_id IN ??",
        tenant,
        agent_id,
        conversations,
    )
    reached = {(row["conversation_id"], row["kind"]): row["upto"] for row in rows}
    put_off = yield from fetch(
        "SELECT conversation_id, kind FROM postponed"
        " WHERE tenant = ? AND agent_id = ? AND kind IN ?? AND conversation_id IN ??",
        tenant,
        agent_id,
        sorted({KINDS[type_] for type_ in OF_AGENTS}),
        conversations,
    )
    later = {(row["conversation_id"], row["kind"]) for row in put_off}
    return [
        _standing(place, reached.get(place, 0), left[place], dead[place], postponed=place in later)
        for place in sorted(reached.keys() | left.keys() | later)
    ]


def _by_place(rows: Iterable[Row]) -> defaultdict[tuple[str, str], list[Row]]:
    """By conversation and kind."""
    found: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        found[row["conversation_id"], KINDS[row["type"]]].append(row)
    return found


def _standing(
    place: tuple[str, str], reached: int, left: Sequence[Row], dead: Sequence[Row], *, postponed: bool
) -> Derived:
    """`left`: what holds the kind back, dead or not, by type of job."""
    conversation_id, kind = place
    given_up = sum(row["n"] for row in dead)
    return Derived(
        conversation_id=conversation_id,
        kind=kind,
        upto=upto(reached, min((row["first"] for row in left), default=None)),
        waiting=sum(row["n"] for row in left) - given_up + postponed,
        dead=given_up,
        dead_job_id=max((row["newest"] for row in dead), default=""),
    )
