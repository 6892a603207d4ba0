"""The one tenant that is nobody's."""

from __future__ import annotations

from typing import Final

SYSTEM_TENANT: Final = "system"
"""In the place of a tenant where a service works for all of them. No caller from outside is of it."""
