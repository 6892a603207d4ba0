"""What people do with an agent's basins: list them, name them, see what became of them (SPEC J-12)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from services.compactor.app.document_ports import Unreadable
from services.compactor.app.documents import DEFAULT, Choice, Comparison, Documents, Served
from services.compactor.domain.attractor import Change
from services.compactor.domain.attractor_changes import changes
from services.compactor.domain.attractor_document import Brief, brief_of, earlier_of, renamed
from services.compactor.domain.documents import Document, Draft, attractor_key
from services.kit.errors import NotFound, StateConflict, VersionConflict

ATTEMPTS: Final = 8
"""How often a name is written anew when an update came first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """The basins of a version, the heaviest first."""

    basins: tuple[Brief, ...]
    conversations: int
    drift: float | None
    served: Served


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A basin with its name, and the version that has it."""

    basin: Brief
    version: int


class Basins:
    """The use cases."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def list_all(self, tenant: str, agent_id: str, choice: Choice = DEFAULT) -> Listed:
        """Raises what Documents.get does; a version that is no attractor has no basins."""
        served = await self._documents.get(attractor_key(tenant, agent_id), choice)
        body = served.document.body
        count, drift = body.get("conversation_count"), body.get("drift")
        return Listed(
            basins=_briefs(served.document),
            conversations=count if isinstance(count, int) else 0,
            drift=drift if isinstance(drift, float) else None,
            served=served,
        )

    async def name(self, tenant: str, agent_id: str, basin_id: str, name: str) -> Named:
        """Raises NotFound, InvalidField, StateConflict, DependencyDown. The same name makes no version."""
        key = attractor_key(tenant, agent_id)
        for _ in range(ATTEMPTS):
            try:
                snapshot = await self._documents.current(key)
            except Unreadable:
                raise StateConflict(
                    "the newest version cannot be read; the next update replaces it"
                ) from None
            if snapshot is None:
                raise NotFound(key.kind, agent_id)
            document = snapshot.document
            if all(basin.id != basin_id for basin in _briefs(document)):
                raise NotFound("basin", basin_id)
            body = renamed(document.body, basin_id, name)
            if body != document.body:
                draft = Draft(body=body, engine=document.engine, source_ids=document.source_ids)
                try:
                    document = await self._documents.put(key, draft, snapshot.head)
                except VersionConflict:
                    continue
            (found,) = (basin for basin in _briefs(document) if basin.id == basin_id)
            return Named(basin=found, version=document.version)
        raise StateConflict("others write this attractor all the time")


def compared(comparison: Comparison) -> tuple[Change, ...]:
    """What became of the basins; nothing where a version is no attractor as this version writes it."""
    before, after = comparison.before.document, comparison.after.document
    try:
        return changes(earlier_of(before.body, before.source_ids), earlier_of(after.body, after.source_ids))
    except ValueError:
        return ()


def _briefs(document: Document) -> tuple[Brief, ...]:
    try:
        return brief_of(document.body)
    except ValueError:
        return ()
