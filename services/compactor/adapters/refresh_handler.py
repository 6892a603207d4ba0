"""Jobs of the type "refresh_derived": what was derived follows its sources (SPEC J-17)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from services.compactor.adapters.acting import as_service
from services.compactor.app.calls import describe
from services.compactor.app.ports import Done, Failed, Outcome
from services.compactor.app.refreshing import Paths, Refreshing
from services.compactor.domain import payloads
from services.compactor.domain.ledger import Job
from services.kit.errors import DependencyDown, Overloaded, PalimpsestError, Reason
from services.kit.refreshing import Source

BAD_PAYLOAD = f"{Reason.INVALID_FIELD}: the payload does not say what changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """What a job says of a change; see services.kit.refreshing."""

    source: Source
    conversation_id: str = ""
    ids: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()
    erased: bool = False


class RefreshHandler:
    """Does jobs one by one, each as the agent that it belongs to; what it finds has jobs of its own."""

    def __init__(self, refreshing: Refreshing, paths: Paths) -> None:
        self._refreshing = refreshing
        self._paths = paths

    async def run(self, tenant: str, agent_id: str, jobs: Sequence[Job]) -> Sequence[Outcome]:
        """See Handler."""
        with as_service(tenant, agent_id):
            return [await self._do(tenant, agent_id, job) for job in jobs]

    async def _do(self, tenant: str, agent_id: str, job: Job) -> Outcome:
        changed = changed_of(job.payload)
        if changed is None:
            return Failed(error=BAD_PAYLOAD, hopeless=True)
        try:
            await self._follow(tenant, agent_id, changed)
        except (DependencyDown, Overloaded):
            raise
        except PalimpsestError as error:
            return Failed(error=describe(error))
        return Done()

    async def _follow(self, tenant: str, agent_id: str, changed: Changed) -> None:
        conversation_id = changed.conversation_id
        match changed.source:
            case Source.MESSAGES:
                await self._refreshing.messages(
                    tenant, agent_id, conversation_id, changed.ids, erased=changed.erased
                )
            case Source.PATH:
                await self._refreshing.path(tenant, agent_id, conversation_id, self._paths)
            case Source.MEMORIES:
                await self._refreshing.take_apart(tenant, agent_id, changed.merged)
                await self._refreshing.memories(tenant, agent_id, changed.ids)
                await self._refreshing.replaced(tenant, agent_id, changed.replaced)
            case Source.SUMMARY:
                await self._refreshing.summary(tenant, agent_id, conversation_id)


def changed_of(payload: bytes) -> Changed | None:
    """What a payload says; None for one that says nothing."""
    read = payloads.said(payload)
    try:
        source = Source(str(read.get("source")))
        changed = Changed(
            source=source,
            conversation_id=str(read.get("conversation_id", "")),
            ids=_ids(read, "ids"),
            replaced=_ids(read, "replaced"),
            merged=_ids(read, "merged"),
            erased=read.get("erased") is True,
        )
    except (ValueError, TypeError):
        return None
    if source is not Source.MEMORIES and not changed.conversation_id:
        return None
    return changed


def _ids(read: dict[str, object], name: str) -> tuple[str, ...]:
    """Raises TypeError for what is no list of ids."""
    found = read.get(name, [])
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise TypeError(name)
    return tuple(found)
