"""What a change of models needs of the relational store (SPEC S-17)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from services.memory.semantic.domain.vectors import VectorModel


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveModel:
    """The model whose vectors answer queries, and since when."""

    model: VectorModel
    since: datetime


SWEPT = "swept"
"""Position of a filling that has gone through everything once."""


class Models(Protocol):
    """The facts about models that all replicas share. Times are the caller's clock.

    A replica registers with the models whose vectors it writes, and again before its registration expires.
    Whoever registers without the model that is being filled ends its filling, so that a filling which is
    there has seen every write of every replica since it began.
    """

    async def active(self, default: VectorModel, now: datetime) -> ActiveModel:
        """The active model; `default`, from now on, where there was none."""

    async def abandon(self, model: VectorModel, now: datetime) -> None:
        """Makes a model the active one whether its vectors are there or not; no filling is left."""

    async def register(
        self, replica: str, models: Sequence[VectorModel], now: datetime, until: datetime
    ) -> ActiveModel:
        """Registers a replica until a moment; the active model. There must be one."""

    async def only(self, model: VectorModel, now: datetime) -> bool:
        """Whether every replica that is registered writes the vectors of this model alone."""

    async def resume(self, replica: str, model: VectorModel, now: datetime) -> str | None:
        """The position of a model's filling, "" for one that begins now.

        None, and nothing is begun, unless the replica has the lease FILL and every replica that is registered
        writes these vectors.
        """

    async def advance(self, replica: str, model: VectorModel, position: str, now: datetime) -> bool:
        """Keeps how far a filling is; False, and nothing done, if it was ended or is another replica's."""

    async def switch(self, replica: str, model: VectorModel, now: datetime) -> bool:
        """Makes a model active; False, and nothing done, unless its filling is this replica's and SWEPT."""


class Leases(Protocol):
    """Work that one replica does at a time."""

    async def take(self, name: str, holder: str, now: datetime, until: datetime) -> bool:
        """Takes a lease, or renews it; False while somebody else's has not expired."""

    async def give(self, name: str, holder: str) -> None:
        """Gives a lease back; nothing if it is somebody else's by now."""


FILL = "fill"
"""Lease of the replica that fills the vectors of a next model."""
RESTORE = "restore"
"""Lease of the replica that makes a lost index again."""
