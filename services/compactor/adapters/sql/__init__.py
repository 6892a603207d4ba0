"""The ledger on SQL: each operation is one script, for SQLite and PostgreSQL alike (SPEC J-1)."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable


def migrations(engine: str) -> Traversable:
    """The numbered SQL files of an engine: "sqlite" or "postgres"."""
    return files("services.compactor") / "migrations" / engine
