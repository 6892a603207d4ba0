"""What the use cases of settings need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime
from typing import Protocol

from services.gateway.domain.settings import Change, RefusedTexts, Settings, Stored

May = Callable[[Settings, Settings], None]
"""Looks at settings before and after a change, in its transaction; raises where it may not be."""


class SettingsStore(Protocol):
    """Settings of tenants and agents, and what became of texts under them."""

    async def get(self, tenant: str, agent_ids: Sequence[str]) -> dict[str, Stored]:
        """By agent id; those that nothing was ever set for are left out."""

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
        """Changes what `paths` name and notes who did; again the same is a change too.

        Raises VersionConflict when the revision is another one, InvalidField, and what `may` raises.
        """

    async def changes(self, tenant: str, agent_id: str, before: int | None, limit: int) -> list[Change]:
        """Newest first, of revisions below `before` if given."""

    async def report_refusals(self, tenant: str, reporter_id: str, totals: Sequence[RefusedTexts]) -> None:
        """Keeps a process's totals; smaller ones than are known change nothing."""

    async def refusals(self, tenant: str, since: date) -> list[RefusedTexts]:
        """Summed over processes, newest day first, then by kind."""


class Agents(Protocol):
    """Which agents there are (Episodic)."""

    async def check(self, agent_id: str) -> None:
        """Raises NotFound for one that does not exist."""
