"""A remote memory beside the canonical store: its port, and recall through it (SPEC S-15).

The canonical store is always written first and is what answers: the remote one is sent copies, and is asked
which of them match. What it answers are ids, which are looked up here, so that it can show nothing that was
replaced or forgotten, and nothing of its own. The provider `local` is to have none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from services.kit.errors import DataFlowRefused, DependencyDown
from services.kit.policy import EffectiveSettings, Policies, Refused
from services.memory.semantic.domain.memory import Kind, Memory, Scope

REMOTE = "remote"
"""The channel's name."""
SENT, ASKED = "remote_memory", "remote_recall"
"""What refusals are counted as."""


class Unanswered(DependencyDown):
    """The remote memory did not answer; the request may have arrived, or may yet."""


class Rejected(DependencyDown):
    """The remote memory refused the request; it may take another one."""


class MemoryProvider(Protocol):
    """A remote memory: the tenant's namespace, in it a profile for each agent.

    Every call may be repeated. All raise DependencyDown, also for an answer that makes no sense; of those
    Unanswered where the request may take effect later, else Rejected where it was refused.
    """

    async def remember(self, tenant: str, agent_id: str, memories: Sequence[Memory]) -> None:
        """Keeps memories by their ids, in place of what it has under these."""

    async def recall(
        self, tenant: str, scope: Scope, query: str, kinds: frozenset[Kind], limit: int
    ) -> list[tuple[str, float]]:
        """Ids of memories in the scope and their scores, best first."""

    async def flush(self, tenant: str, agent_id: str) -> None:
        """Returns once what was remembered before can be recalled."""

    async def forget(self, tenant: str, agent_id: str, memory_id: str) -> None:
        """Deletes one; one that it does not have is deleted."""


class RemotePolicy:
    """Whether an agent's memories are to be in the remote memory, and may be."""

    def __init__(self, policies: Policies, refused: Refused, *, partner: bool) -> None:
        """`partner` says that the remote memory is somebody else's, so that what is sent to it leaves."""
        self._policies = policies
        self._refused = refused
        self._partner = partner

    async def of(self, tenant: str, agent_id: str) -> EffectiveSettings:
        """The settings in force."""
        return await self._policies.of(tenant, agent_id)

    def allows(self, settings: EffectiveSettings) -> bool:
        """Whether texts may be sent there."""
        return not self._partner or settings.may_leave

    def refuse(self, tenant: str, kind: str) -> None:
        """Counts a text that is kept in."""
        self._refused(tenant, kind)


class RemoteRecall:
    """Recall's channel through the remote memory."""

    def __init__(self, provider: MemoryProvider, policy: RemotePolicy) -> None:
        self._provider = provider
        self._policy = policy

    async def wanted(self, tenant: str, agent_id: str) -> bool:
        """Whether the agent's settings name the remote memory."""
        return (await self._policy.of(tenant, agent_id)).remote

    async def ranked(
        self, tenant: str, scope: Scope, query: str, kinds: frozenset[Kind], limit: int
    ) -> list[tuple[str, float]]:
        """As MemoryProvider.recall. Raises DataFlowRefused before any text has left, DependencyDown."""
        if not self._policy.allows(await self._policy.of(tenant, scope.agent_id)):
            self._policy.refuse(tenant, ASKED)
            raise DataFlowRefused
        return await self._provider.recall(tenant, scope, query, kinds, limit)
