"""Leases of turns in memory: for tests, and a contract to hold the real ones to."""

from __future__ import annotations

from datetime import datetime

from services.gateway.domain.turns import Place


class MemoryTurnLeases:
    """A TurnLeases of one process."""

    def __init__(self) -> None:
        self._held: dict[Place, tuple[str, datetime]] = {}

    async def acquire(self, place: Place, holder: str, now: datetime, until: datetime) -> bool:
        """See the port."""
        held = self._held.get(place)
        if held is not None and held[0] != holder and held[1] > now:
            return False
        self._held[place] = (holder, until)
        return True

    async def renew(self, place: Place, holder: str, until: datetime) -> bool:
        """See the port."""
        held = self._held.get(place)
        if held is None or held[0] != holder:
            return False
        self._held[place] = (holder, until)
        return True

    async def release(self, place: Place, holder: str) -> None:
        """See the port."""
        if self._held.get(place, ("",))[0] == holder:
            del self._held[place]
