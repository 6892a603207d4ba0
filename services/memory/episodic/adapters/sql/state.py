"""State documents and their newest versions (SPEC W-7)."""

from __future__ import annotations

from collections.abc import Sequence

from services.kit.errors import NotFound
from services.kit.sql import Row, Script, SqlDatabase, execute, fetch, first
from services.memory.episodic.adapters.sql.agents import require_agent
from services.memory.episodic.adapters.sql.conversations import conversation_row
from services.memory.episodic.domain.model import ConversationKey
from services.memory.episodic.domain.state import (
    KEPT_VERSIONS,
    StateKey,
    StateVersion,
    changes_after,
    check_expected,
)

OF_AGENT = 0  # in place of a conversation's number
WHERE = "tenant = ? AND agent_id = ? AND conversation = ? AND name = ?"
Names = tuple[str, str, int, str]  # the arguments of WHERE


class SqlStates:
    """A StateStore."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def newest(self, key: StateKey) -> StateVersion | None:
        """The newest version, a deletion too."""

        def script() -> Script[StateVersion | None]:
            return (yield from _newest((yield from _names(key))))

        return await self._database.read(script)

    async def initialise(self, key: StateKey, json: str, time: int) -> tuple[StateVersion, bool]:
        """The document, or this one if there is none."""

        def script() -> Script[tuple[StateVersion, bool]]:
            names = yield from _names(key)
            version, present = yield from _lock(names)
            if not present:
                return (yield from _add(names, version + 1, json, time)), True
            newest = yield from _newest(names)
            assert newest is not None, "the row of a document that is present has a version"
            return newest, False

        return await self._database.write(script)

    async def set(self, key: StateKey, json: str, time: int, expected: int | None) -> StateVersion:
        """Replaces the document."""

        def script() -> Script[StateVersion]:
            names = yield from _names(key)
            version, present = yield from _lock(names)
            check_expected(expected, version if present else 0)
            return (yield from _add(names, version + 1, json, time))

        return await self._database.write(script)

    async def delete(self, key: StateKey, time: int, expected: int | None) -> StateVersion:
        """Deletes the document."""

        def script() -> Script[StateVersion]:
            names = yield from _names(key)
            version, present = yield from _lock(names)
            if not present:
                raise NotFound("state", key.name)
            check_expected(expected, version)
            return (yield from _add(names, version + 1, None, time))

        return await self._database.write(script)

    async def after(self, key: StateKey, version: int, limit: int) -> Sequence[StateVersion]:
        """The next changes after a version."""

        def script() -> Script[Sequence[StateVersion]]:
            names = yield from _names(key)
            kept = yield from fetch(
                f"SELECT version, json, time FROM state_versions WHERE {WHERE} AND version > ?"
                " ORDER BY version LIMIT ?",
                *names,
                version,
                limit,
            )
            newest = yield from _newest(names)
            return changes_after(version, [_version(row) for row in kept], newest)

        return await self._database.read(script)


def _names(key: StateKey) -> Script[Names]:
    """Raises NotFound for an unknown agent or conversation."""
    number = OF_AGENT
    if key.conversation_id:
        owner = ConversationKey(tenant=key.tenant, agent_id=key.agent_id, id=key.conversation_id)
        number = (yield from conversation_row(owner))["number"]
    else:
        yield from require_agent(key.tenant, key.agent_id)
    return key.tenant, key.agent_id, number, key.name


def _lock(names: Names) -> Script[tuple[int, bool]]:
    """The newest version, 0 before the first, and whether it is a document; other writers wait."""
    yield from execute(
        "INSERT INTO states (tenant, agent_id, conversation, name, version, present)"
        " VALUES (?, ?, ?, ?, 0, FALSE) ON CONFLICT DO NOTHING",
        *names,
    )
    row = yield from first(f"SELECT version, present FROM states WHERE {WHERE} FOR UPDATE", *names)
    assert row is not None, "it was just inserted"
    return row["version"], bool(row["present"])


def _add(names: Names, version: int, json: str | None, time: int) -> Script[StateVersion]:
    """Makes a version the newest, and forgets those that are too old."""
    yield from execute(
        f"UPDATE states SET version = ?, present = ? WHERE {WHERE}", version, json is not None, *names
    )
    yield from execute(
        "INSERT INTO state_versions (tenant, agent_id, conversation, name, version, json, time)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        *names,
        version,
        json,
        time,
    )
    yield from execute(
        f"DELETE FROM state_versions WHERE {WHERE} AND version <= ?", *names, version - KEPT_VERSIONS
    )
    return StateVersion(version=version, json=json, time=time)


def _newest(names: Names) -> Script[StateVersion | None]:
    row = yield from first(
        f"SELECT version, json, time FROM state_versions WHERE {WHERE} ORDER BY version DESC LIMIT 1", *names
    )
    return None if row is None else _version(row)


def _version(row: Row) -> StateVersion:
    return StateVersion(version=row["version"], json=row["json"], time=row["time"])
