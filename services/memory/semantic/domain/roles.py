"""Roles by number (as in the proto) and by name (as in the indexes)."""

from __future__ import annotations

ROLE_NAMES = {1: "system", 2: "user", 3: "assistant", 4: "tool"}


def role_name(role: int) -> str:
    """The name of a role; "" for one that is unknown."""
    return ROLE_NAMES.get(role, "")
