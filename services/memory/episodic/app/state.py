"""Use cases on state documents (SPEC W-7)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol

from services.kit.errors import NotFound
from services.kit.times import Clock, to_micros
from services.kit.watching import Signal, follow
from services.memory.episodic.domain.checks import check_text
from services.memory.episodic.domain.state import StateKey, StateVersion, parse_document

PAGE = 4  # versions that a watcher reads at once; each may hold 256 KiB
POLL_SECONDS = 1.0
PATIENCE_SECONDS = 30.0  # W-7


class StateStore(Protocol):
    """State documents. All calls raise NotFound for an unknown agent or conversation."""

    async def newest(self, key: StateKey) -> StateVersion | None:
        """The newest version, a deletion too; None if there was never a document."""

    async def initialise(self, key: StateKey, json: str, time: int) -> tuple[StateVersion, bool]:
        """The document, or this one if there is none; whether it is this one."""

    async def set(self, key: StateKey, json: str, time: int, expected: int | None) -> StateVersion:
        """Raises VersionConflict unless `expected` is None or the current version, 0 for no document."""

    async def delete(self, key: StateKey, time: int, expected: int | None) -> StateVersion:
        """Raises VersionConflict as `set` does, NotFound for no document."""

    async def after(self, key: StateKey, version: int, limit: int) -> Sequence[StateVersion]:
        """The next changes after a version, in order; see domain.state.changes_after. Raises InvalidField."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchSettings:
    """How often a watcher looks for other processes' writes, and how long it waits for its consumer."""

    poll_seconds: float = POLL_SECONDS
    patience_seconds: float = PATIENCE_SECONDS


class States:
    """Reads, changes and watches state documents."""

    def __init__(self, store: StateStore, clock: Clock, settings: WatchSettings) -> None:
        self._store = store
        self._clock = clock
        self._settings = settings
        self._signal: Signal[StateKey] = Signal()

    @property
    def patience_seconds(self) -> float:
        """How long a watcher's consumer may take for an event."""
        return self._settings.patience_seconds

    async def get(self, key: StateKey, initial_json: str | None) -> tuple[StateVersion, bool]:
        """The document, and whether this call stored it. Raises InvalidField, NotFound."""
        _check_key(key)
        if initial_json is not None:
            parse_document("initial_json", initial_json)
        newest = await self._store.newest(key)
        if newest is not None and newest.json is not None:
            return newest, False
        if initial_json is None:
            raise NotFound("state", key.name)
        try:
            return await self._store.initialise(key, initial_json, self._now())
        finally:
            self._signal.notify(key)

    async def set(self, key: StateKey, json: str, expected: int | None) -> StateVersion:
        """Replaces the document. Raises InvalidField, NotFound, VersionConflict."""
        _check_key(key)
        parse_document("json", json)
        try:
            return await self._store.set(key, json, self._now(), expected)
        finally:
            self._signal.notify(key)

    async def delete(self, key: StateKey, expected: int | None) -> StateVersion:
        """Deletes the document; the version of that. Raises NotFound, VersionConflict."""
        _check_key(key)
        try:
            return await self._store.delete(key, self._now(), expected)
        finally:
            self._signal.notify(key)

    async def watch(self, key: StateKey, after: int) -> AsyncGenerator[tuple[StateVersion, int], None]:
        """Every change after a version, each with its version; never ends. Raises InvalidField, NotFound.

        After 0, begins with the newest version if there is one.
        """
        _check_key(key)
        if after == 0:
            newest = await self._store.newest(key)
            if newest is not None:
                after = newest.version
                yield newest, after

        async def read(version: int) -> Sequence[tuple[StateVersion, int]]:
            return [(change, change.version) for change in await self._store.after(key, version, PAGE)]

        changes = follow(after, read, self._signal, key, poll_seconds=self._settings.poll_seconds)
        async with aclosing(changes):
            async for change in changes:
                yield change

    def _now(self) -> int:
        return to_micros(self._clock())


def _check_key(key: StateKey) -> None:
    check_text("agent_id", key.agent_id)
    check_text("conversation_id", key.conversation_id)
