"""The remote memory as it is configured, or its absence (SPEC S-15)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass

from services.kit.policy import Policies, Refused
from services.kit.sql import SqlDatabase
from services.kit.times import Clock
from services.memory.semantic.adapters.sql.remote_copies import SqlRemoteCopies
from services.memory.semantic.app.ports import MemoryStore
from services.memory.semantic.app.providers import RemotePolicy, RemoteRecall
from services.memory.semantic.app.syncing import Syncing
from services.memory.semantic.config import SemanticSettings

HELD_FACTOR = 24
"""S-15: for how many times a request's time a memory is left alone that one was not answered about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remote:
    """Recall's channel, and what keeps the contents."""

    recall: RemoteRecall
    syncing: Syncing


def open_remote(
    settings: SemanticSettings,
    database: SqlDatabase,
    store: MemoryStore,
    stack: AsyncExitStack,
    *,
    policies: Policies,
    refused: Refused,
    wake: Callable[[], None],
    clock: Clock,
) -> Remote | None:
    """The remote memory; None where no address is set."""
    if not settings.remote_url:
        return None
    # Imported here: without a remote memory the service is installed without an HTTP client.
    from services.memory.semantic.adapters.remote_memory import RemoteMemory

    provider = RemoteMemory.connect(
        settings.remote_url, settings.remote_token.get_secret_value(), seconds=settings.remote_seconds
    )
    stack.push_async_callback(provider.close)
    policy = RemotePolicy(policies, refused, partner=settings.remote_partner)
    syncing = Syncing(
        store=store,
        copies=SqlRemoteCopies(database),
        provider=provider,
        policy=policy,
        wake=wake,
        clock=clock,
        sweep_seconds=settings.remote_sweep_seconds,
        held_seconds=HELD_FACTOR * settings.remote_seconds,
    )
    return Remote(recall=RemoteRecall(provider, policy), syncing=syncing)
