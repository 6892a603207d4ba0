"""Settings in memory, for tests."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

from services.gateway.app.settings_ports import May
from services.gateway.domain.settings import (
    REFUSALS_KEPT,
    Change,
    RefusedTexts,
    Settings,
    Stored,
    with_paths,
)
from services.kit.errors import VersionConflict


class MemorySettings:
    """A SettingsStore in dictionaries."""

    def __init__(self) -> None:
        self._stored: dict[tuple[str, str], Stored] = {}
        self._changes: dict[tuple[str, str], list[Change]] = {}
        self._refusals: dict[tuple[str, date, str, str], int] = {}

    async def get(self, tenant: str, agent_ids: Sequence[str]) -> dict[str, Stored]:
        """See the port."""
        return {id_: self._stored[tenant, id_] for id_ in agent_ids if (tenant, id_) in self._stored}

    async def update(
        self,
        tenant: str,
        agent_id: str,
        new: Settings,
        paths: Sequence[str],
        *,
        subject: str,
        now: datetime,
        expected_revision: int | None = None,
        may: May | None = None,
    ) -> Stored:
        """See the port."""
        old = self._stored.get((tenant, agent_id), Stored())
        if expected_revision is not None and old.revision != expected_revision:
            raise VersionConflict
        made = Stored(settings=with_paths(old.settings, new, paths), revision=old.revision + 1, updated=now)
        if may is not None:
            may(old.settings, made.settings)
        change = Change(
            agent_id=agent_id,
            revision=made.revision,
            subject=subject,
            time=now,
            paths=tuple(paths),
            before=old.settings,
            after=made.settings,
        )
        self._stored[tenant, agent_id] = made
        self._changes.setdefault((tenant, agent_id), []).append(change)
        return made

    async def changes(self, tenant: str, agent_id: str, before: int | None, limit: int) -> list[Change]:
        """See the port."""
        known = reversed(self._changes.get((tenant, agent_id), []))
        return [change for change in known if before is None or change.revision < before][:limit]

    async def report_refusals(self, tenant: str, reporter_id: str, totals: Sequence[RefusedTexts]) -> None:
        """See the port."""
        for one in totals:
            key = (tenant, one.day, one.kind, reporter_id)
            self._refusals[key] = max(one.count, self._refusals.get(key, 0))
        oldest = max((one.day for one in totals), default=date.min + REFUSALS_KEPT) - REFUSALS_KEPT
        self._refusals = {
            key: count for key, count in self._refusals.items() if key[0] != tenant or key[1] >= oldest
        }

    async def refusals(self, tenant: str, since: date) -> list[RefusedTexts]:
        """See the port."""
        sums: dict[tuple[date, str], int] = {}
        for (owner, day, kind, _), count in self._refusals.items():
            if owner == tenant and day >= since:
                sums[day, kind] = sums.get((day, kind), 0) + count
        ordered = sorted(sums.items(), key=lambda item: (-item[0][0].toordinal(), item[0][1]))
        return [RefusedTexts(day=day, kind=kind, count=count) for (day, kind), count in ordered]
