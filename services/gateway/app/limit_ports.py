"""What a tenant may spend, as calls of models ask for it (SPEC G-5)."""

from __future__ import annotations

from typing import Protocol

from services.kit.models.types import Tier, Usage


class ModelBudget(Protocol):
    """Tokens a minute and spend a day of the caller's tenant."""

    async def check(self) -> None:
        """Before a call of a model. Raises LimitExceeded, with `retry_after`, when nothing is left."""

    async def charge(self, tier: Tier, usage: Usage) -> None:
        """What a call took; it never fails for being over a limit, which the next check tells."""
