"""Where derived documents are kept (SPEC K-1, K-2): the truth in SQL, copies in a key-value store."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

from services.compactor.domain.documents import (
    Document,
    DocumentKey,
    Draft,
    Head,
    Kind,
    Snapshot,
    VersionInfo,
)
from services.kit.errors import DependencyDown
from services.kit.outbox import NewJob

MAX_VALUE_BYTES = 4 * 1024 * 1024
"""Most bytes of a value in the key-value store: a document with its sources, or a history."""
_REVISION = re.compile(rb"([0-9]{1,15}):")


JobsOf = Callable[[DocumentKey, Head], Sequence[NewJob]]
"""What is to be done about a document that was written, marked, or erased, and has this head since."""


def no_jobs(_key: DocumentKey, _head: Head) -> Sequence[NewJob]:
    """Nothing."""
    return ()


def no_wake() -> None:
    """Nobody is told of jobs in the outbox."""


class Unreadable(Exception):
    """A stored document is no document that this version can read."""


class KvDown(DependencyDown):
    """The key-value store does not answer."""


class DocumentStore(Protocol):
    """The truth. Every method is one transaction; all raise DependencyDown.

    Methods that return a document raise Unreadable where its row is there and holds none.
    """

    async def put(
        self, key: DocumentKey, draft: Draft, based_on: Head, now: datetime, jobs: Sequence[NewJob] = ()
    ) -> Document:
        """Writes the next version, and `jobs` to the outbox with it.

        Raises VersionConflict unless `based_on` has the current version, InvalidField.
        """

    async def head(self, key: DocumentKey) -> Head:
        """What is known of a document; Head() where there never was one."""

    async def recent(self, key: DocumentKey, limit: int) -> tuple[Head, list[Document]]:
        """The head and the newest versions, the newest first; unreadable ones are left out."""

    async def current(self, key: DocumentKey) -> Snapshot | None:
        """The newest version."""

    async def version(self, key: DocumentKey, version: int) -> Document | None:
        """One version."""

    async def at(self, key: DocumentKey, created: datetime) -> Document | None:
        """The version that was written at this moment, to the microsecond."""

    async def versions(self, key: DocumentKey, before: int | None, limit: int) -> list[VersionInfo]:
        """Versions less than `before`, the newest first."""

    async def freeze(self, key: DocumentKey, version: int) -> Head:
        """Pins a version. Raises NotFound, LimitExceeded."""

    async def unfreeze(self, key: DocumentKey, version: int) -> Head:
        """Lets a frozen version go. Raises NotFound."""

    async def of_sources(self, tenant: str, agent_id: str, source_ids: Sequence[str]) -> list[DocumentKey]:
        """The documents any version of which came from one of these, in order."""

    async def of_summary(self, tenant: str, agent_id: str, conversation_id: str) -> list[DocumentKey]:
        """The documents any version of which came from the conversation's summary, in order."""

    async def stale(self, tenant: str, agent_id: str, kind: Kind) -> set[str]:
        """The subjects of documents of a kind that are marked as stale."""

    async def mark_stale(self, key: DocumentKey, jobs: JobsOf = no_jobs) -> Head | None:
        """Says that the newest version is out of date, and writes `jobs` to the outbox with that; None where
        there is no document."""

    async def erase(self, key: DocumentKey, jobs: JobsOf = no_jobs) -> tuple[Head, list[VersionInfo]]:
        """Deletes every version for good, and what is known of it but for its counters; which they were.

        `jobs` come with it where there was a version.
        """

    async def page(
        self,
        tenant: str,
        agents: frozenset[str] | None,
        kind: Kind | None,
        after: tuple[str, str, str] | None,
        limit: int,
    ) -> list[DocumentKey]:
        """Documents that exist, by (agent, kind, subject), after that; of some agents, of a kind, or all."""


class Kv(Protocol):
    """Copies of documents. Losing any of them loses nothing. All methods raise KvDown.

    A value begins with its revision, as decimal digits and a colon (`revision_of`), and is at most
    MAX_VALUE_BYTES.
    """

    async def get(self, key: str) -> bytes | None:
        """A value; None where there is none. What is no value of ours comes back as it is."""

    async def set(self, key: str, value: bytes, *, seconds: float) -> bool:
        """Keeps a value for so long, unless what is there has a greater revision; whether it did.

        What is there without a revision is replaced. One atomic step: of two that set a key, the greater
        revision stays, whoever comes last.
        """

    async def delete(self, key: str) -> None:
        """Forgets a value, whatever its revision."""


def revision_of(value: bytes) -> int | None:
    """The revision that a value begins with; None for what is no value of ours."""
    found = _REVISION.match(value)
    return int(found[1]) if found else None
