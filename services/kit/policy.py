"""What a tenant and its agents chose, as services learn it at the time of use (SPEC S-15, G-12).

Whoever sends a text to an endpoint that is somebody else's asks `Policies` first, each time; a policy that
is not known lets nothing leave.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Protocol

from services.kit.errors import DataFlowRefused, DependencyDown
from services.kit.times import Clock


class DataFlow(StrEnum):
    """Where texts may go (S-15)."""

    LOCAL_ONLY = "local-only"
    ALLOW_PARTNER = "allow-partner"


class Provider(StrEnum):
    """Where memories are kept, beside the canonical store (S-15)."""

    LOCAL = "local"
    REMOTE = "remote"


class FusionKind(StrEnum):
    """The strategies of recall (S-9)."""

    ADAPTIVE = "adaptive"
    REFERENCE = "reference"


@dataclass(frozen=True, slots=True, kw_only=True)
class FusionChoice:
    """How recall fuses; `k` and `weights` (by channel) are the reference's, with its defaults."""

    kind: FusionKind
    k: float | None = None
    weights: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectiveSettings:
    """What holds for an agent; None is the deployment's default.

    `known` is False where the settings could not be read: then no text may leave, and work that can wait
    should.
    """

    data_flow: DataFlow | None = None
    provider: Provider | None = None
    verify: bool | None = None
    fusion: FusionChoice | None = None
    recall_depth: int | None = None
    known: bool = True

    @property
    def may_leave(self) -> bool:
        """Whether texts may be sent to a partner. Unset is no: a deployment's default was put in before."""
        return self.data_flow is DataFlow.ALLOW_PARTNER

    @property
    def undecided(self) -> bool:
        """Whether texts are kept in only because nothing is known: what can wait is to be tried again."""
        return not self.known and self.data_flow is None

    @property
    def remote(self) -> bool:
        """Whether memories are to be kept in the remote memory too."""
        return self.provider is Provider.REMOTE


CLOSED = EffectiveSettings(data_flow=DataFlow.LOCAL_ONLY, known=False)
"""What holds where nothing is known."""


class Policies(Protocol):
    """The settings in force."""

    async def of(self, tenant: str, agent_id: str = "") -> EffectiveSettings:
        """Of an agent, or of the tenant. Never raises: what can't be read is CLOSED."""


class Refused(Protocol):
    """Who counts the texts that were kept in."""

    def __call__(self, tenant: str, kind: str) -> None:
        """One more of a kind, e.g. "hyde"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounded:
    """Policies within a deployment's own: its default, which none can loosen (S-15).

    Where the deployment is local-only nothing else needs to be known; else what is not known stays undecided.
    """

    policies: Policies
    deployment: DataFlow

    async def of(self, tenant: str, agent_id: str = "") -> EffectiveSettings:
        """See the port."""
        found = await self.policies.of(tenant, agent_id)
        if self.deployment is DataFlow.LOCAL_ONLY:
            return replace(found, data_flow=DataFlow.LOCAL_ONLY)
        if not found.known:
            return replace(found, data_flow=None)
        return replace(found, data_flow=found.data_flow or self.deployment)


Leave = Callable[[str, str], Awaitable[None]]
"""Raises DataFlowRefused where a tenant's and agent's texts must not leave."""


class Gate:
    """Before an endpoint that is somebody else's: lets texts of a kind through, or counts that it did not."""

    def __init__(self, policies: Policies, refused: Refused, kind: str) -> None:
        self._policies = policies
        self._refused = refused
        self._kind = kind

    async def check(self, tenant: str, agent_id: str = "", *, can_wait: bool = False) -> None:
        """Raises DataFlowRefused where the text must not leave.

        A text that can wait is not refused where nothing is known: that is DependencyDown.
        """
        settings = await self._policies.of(tenant, agent_id)
        if settings.may_leave:
            return
        if can_wait and settings.undecided:
            raise DependencyDown("the data-flow policy is not known")
        self._refused(tenant, self._kind)
        raise DataFlowRefused

    def before(self, *, partner: bool) -> Leave:
        """What is asked before an endpoint: `check` where it is a partner's, else nothing (one's own)."""
        return self.check if partner else _stays


async def _stays(_tenant: str, _agent_id: str) -> None:
    """Nothing leaves."""


Totals = dict[tuple[str, str], int]  # by day and kind


class RefusalTally:
    """Counts of this process by tenant, day (UTC) and kind, until they are reported.

    They are totals of a day: a report that arrives twice changes nothing.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._totals: dict[str, Totals] = defaultdict(dict)
        self._changed: dict[str, set[tuple[str, str]]] = {}

    def add(self, tenant: str, kind: str) -> None:
        """One more."""
        key = (self._today(), kind)
        totals = self._totals[tenant]
        totals[key] = totals.get(key, 0) + 1
        self._changed.setdefault(tenant, set()).add(key)

    def take(self) -> dict[str, Totals]:
        """What changed since it was taken last, by tenant."""
        changed, self._changed = self._changed, {}
        taken = {
            tenant: {key: self._totals[tenant][key] for key in sorted(keys)}
            for tenant, keys in changed.items()
        }
        self._forget_past()
        return taken

    def give_back(self, tenant: str, totals: Totals) -> None:
        """What could not be reported; newer totals stand."""
        for key, count in totals.items():
            self._totals[tenant][key] = max(count, self._totals[tenant].get(key, 0))
            self._changed.setdefault(tenant, set()).add(key)

    def _forget_past(self) -> None:
        """Totals of days that are over grow no more."""
        today = self._today()
        for tenant in list(self._totals):
            kept = {key: count for key, count in self._totals[tenant].items() if key[0] == today}
            if kept:
                self._totals[tenant] = kept
            else:
                del self._totals[tenant]

    def _today(self) -> str:
        return self._clock().date().isoformat()
