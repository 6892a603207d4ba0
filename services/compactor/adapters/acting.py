"""On whose behalf a worker calls other services (SPEC SV-6)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from services.kit.context import act_as
from services.kit.identity import Principal, Role

WORKER = "worker"


@contextmanager
def as_service(tenant: str, agent_id: str | None = None) -> Iterator[None]:
    """Calls inside are a service's, for one agent of a tenant or for all."""
    agents = None if agent_id is None else frozenset({agent_id})
    with act_as(Principal(tenant=tenant, role=Role.SERVICE, agents=agents, subject=WORKER)):
        yield
