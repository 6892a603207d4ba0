"""The services behind the gateway, for tests of what it does with them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from services.gateway.app.backends import Backends
from services.kit.errors import NotFound


class NoAttractor:
    """Documents of an agent that has no attractor."""

    async def ListBasins(self, request: Any) -> Any:
        raise NotFound("attractor", request.agent_id)


def backends(**stubs: Any) -> Backends:
    """These stubs, by their names, and none of the others: a call of one of those fails."""
    return Backends(**{field.name: stubs.pop(field.name, None) for field in fields(Backends)}, **stubs)
