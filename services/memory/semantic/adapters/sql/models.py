"""Which model is active, who writes whose vectors, and leases (SPEC S-17)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from services.kit.sql import Script, SqlDatabase, execute, fetch, first
from services.kit.times import from_micros, to_micros
from services.memory.semantic.app.generation_ports import FILL, SWEPT, ActiveModel
from services.memory.semantic.domain.vectors import VectorModel

ACTIVE, FILLING = "active", "filling"


class SqlModels:
    """`Models` over a SqlDatabase. Who changes anything locks the row of the active model first."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def forget_replicas(self) -> None:
        """Ends all registrations and leases: for a store that only ever has one owner, at its start."""

        def script() -> Script[None]:
            yield from execute("DELETE FROM vector_writers")
            yield from execute("DELETE FROM work_leases")

        await self._database.write(script)

    async def active(self, default: VectorModel, now: datetime) -> ActiveModel:
        """See the port."""

        def script() -> Script[ActiveModel]:
            yield from execute(
                "INSERT INTO vector_models (name, revision, dimension, since) VALUES (?, ?, ?, ?)"
                " ON CONFLICT (name) DO NOTHING",
                ACTIVE,
                default.revision,
                default.dimension,
                to_micros(now),
            )
            return (yield from _locked())

        return await self._database.write(script)

    async def abandon(self, model: VectorModel, now: datetime) -> None:
        """See the port."""

        def script() -> Script[None]:
            yield from _locked()
            yield from _set(ACTIVE, model, now)
            yield from execute("DELETE FROM vector_models WHERE name = ?", FILLING)

        await self._database.write(script)

    async def register(
        self, replica: str, models: Sequence[VectorModel], now: datetime, until: datetime
    ) -> ActiveModel:
        """See the port."""
        revisions = [model.revision for model in models]

        def script() -> Script[ActiveModel]:
            active = yield from _locked()
            yield from execute(
                "INSERT INTO vector_writers (replica, revisions, expires) VALUES (?, ?, ?)"
                " ON CONFLICT (replica) DO UPDATE"
                " SET revisions = excluded.revisions, expires = excluded.expires",
                replica,
                json.dumps(revisions),
                to_micros(until),
            )
            yield from execute("DELETE FROM vector_writers WHERE expires <= ?", to_micros(now))
            filling = yield from _filling()
            if filling is not None and filling[0] not in revisions:
                yield from execute("DELETE FROM vector_models WHERE name = ?", FILLING)
            return active

        return await self._database.write(script)

    async def only(self, model: VectorModel, now: datetime) -> bool:
        """See the port."""
        found = await self._database.read(lambda: _written(now))
        return all(revisions == [model.revision] for revisions in found)

    async def resume(self, replica: str, model: VectorModel, now: datetime) -> str | None:
        """See the port."""

        def script() -> Script[str | None]:
            yield from _locked()
            if not (yield from _may_fill(replica, model, now)):
                return None
            filling = yield from _filling()
            if filling is not None and filling[0] == model.revision:
                return filling[1]
            yield from _set(FILLING, model, now)
            return ""

        return await self._database.write(script)

    async def advance(self, replica: str, model: VectorModel, position: str, now: datetime) -> bool:
        """See the port."""

        def script() -> Script[bool]:
            yield from _locked()
            if (yield from _position(replica, model, now)) is None:
                return False
            yield from execute("UPDATE vector_models SET position = ? WHERE name = ?", position, FILLING)
            return True

        return await self._database.write(script)

    async def switch(self, replica: str, model: VectorModel, now: datetime) -> bool:
        """See the port."""

        def script() -> Script[bool]:
            yield from _locked()
            if (yield from _position(replica, model, now)) != SWEPT:
                return False
            yield from _set(ACTIVE, model, now)
            yield from execute("DELETE FROM vector_models WHERE name = ?", FILLING)
            return True

        return await self._database.write(script)


class SqlLeases:
    """`Leases` over a SqlDatabase."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def take(self, name: str, holder: str, now: datetime, until: datetime) -> bool:
        """See the port."""
        return (
            await self._database.write(
                lambda: first(
                    "INSERT INTO work_leases (name, holder, expires) VALUES (?, ?, ?)"
                    " ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires = excluded.expires"
                    " WHERE work_leases.holder = excluded.holder OR work_leases.expires <= ?"
                    " RETURNING name",
                    name,
                    holder,
                    to_micros(until),
                    to_micros(now),
                )
            )
            is not None
        )

    async def give(self, name: str, holder: str) -> None:
        """See the port."""
        await self._database.write(
            lambda: execute("DELETE FROM work_leases WHERE name = ? AND holder = ?", name, holder)
        )


def holds(name: str, holder: str, now: datetime) -> Script[bool]:
    """Whether a lease is held by one; it stays so until the end of the transaction."""
    row = yield from first("SELECT holder, expires FROM work_leases WHERE name = ? FOR UPDATE", name)
    return row is not None and row["holder"] == holder and row["expires"] > to_micros(now)


def _locked() -> Script[ActiveModel]:
    row = yield from first(
        "SELECT revision, dimension, since FROM vector_models WHERE name = ? FOR UPDATE", ACTIVE
    )
    if row is None:
        raise LookupError("no model is active")
    return ActiveModel(
        model=VectorModel(revision=row["revision"], dimension=row["dimension"]),
        since=from_micros(row["since"]),
    )


def _filling() -> Script[tuple[str, str] | None]:
    """The revision of the model that is being filled, and the position."""
    row = yield from first("SELECT revision, position FROM vector_models WHERE name = ?", FILLING)
    return None if row is None else (str(row["revision"]), str(row["position"]))


def _set(name: str, model: VectorModel, now: datetime) -> Script[None]:
    yield from execute(
        "INSERT INTO vector_models (name, revision, dimension, since) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (name) DO UPDATE SET revision = excluded.revision,"
        " dimension = excluded.dimension, since = excluded.since, position = ''",
        name,
        model.revision,
        model.dimension,
        to_micros(now),
    )


def _written(now: datetime) -> Script[list[list[str]]]:
    """The models that each registered replica writes."""
    rows = yield from fetch("SELECT revisions FROM vector_writers WHERE expires > ?", to_micros(now))
    return [json.loads(row["revisions"]) for row in rows]


def _may_fill(replica: str, model: VectorModel, now: datetime) -> Script[bool]:
    """Whether a replica has the lease, and no other one leaves out a model's vectors."""
    if not (yield from holds(FILL, replica, now)):
        return False
    written = yield from _written(now)
    return all(model.revision in revisions for revisions in written)


def _position(replica: str, model: VectorModel, now: datetime) -> Script[str | None]:
    """Of the filling of a model that a replica may go on with."""
    filling = yield from _filling()
    if filling is None or filling[0] != model.revision:
        return None
    return filling[1] if (yield from _may_fill(replica, model, now)) else None
