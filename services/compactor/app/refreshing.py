"""What was derived follows its sources (SPEC J-17, SV-7).

A change of a source is found here by provenance: what came from it is marked stale, and its derivation asked
for in the transaction of the mark. So whoever dies in between leaves either nothing, or a mark with its job.
A derivation that goes on from a stale state is itself a change of a source, for what came from it: so changes
spread level by level, each by the same job.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from services.compactor.app.attractors import UPDATE_ATTRACTOR
from services.compactor.app.conversation_summaries import refresh_job
from services.compactor.app.documents import Documents
from services.compactor.app.graph_ports import WRITE_WIKI
from services.compactor.domain.documents import DocumentKey, Head, Kind, summary_key
from services.compactor.domain.rolling import source_id
from services.kit.errors import NotFound, StateConflict
from services.kit.outbox import NewJob


class Paths(Protocol):
    """What conversations' summaries are of."""

    async def left(self, tenant: str, agent_id: str, conversation_id: str) -> bool:
        """Whether there is a summary, and of another path than the active one.

        Raises NotFound, DependencyDown.
        """


class StaleInsights(Protocol):
    """Reflections, goals and learnings."""

    async def mark_stale(
        self,
        tenant: str,
        agent_id: str,
        source_ids: Sequence[str],
        *,
        erased: bool = False,
        goals: bool = True,
        again: bool = True,
    ) -> int:
        """Marks the rows that came from these, and with `again` asks for their days to be reflected upon
        again, in one transaction; how many.

        Rows that a caller changed stay as they are unless a source is `erased`. Raises DependencyDown.
        """


class MergedMemories(Protocol):
    """Memories that stand in the place of others."""

    async def undo_merge(self, tenant: str, agent_id: str, memory_id: str) -> None:
        """Takes a merge back; again is no error. Raises StateConflict, DependencyDown, Overloaded."""


class Refreshing:
    """The use cases of the job "refresh_derived". Each may be repeated; all raise DependencyDown."""

    def __init__(
        self,
        documents: Documents,
        insights: StaleInsights,
        merged: MergedMemories,
        wake: Callable[[], None],
    ) -> None:
        """`wake` is told of jobs that insights put into the outbox; documents tell it by themselves."""
        self._documents = documents
        self._insights = insights
        self._merged = merged
        self._wake = wake

    async def messages(
        self, tenant: str, agent_id: str, conversation_id: str, message_ids: Sequence[str], *, erased: bool
    ) -> None:
        """After messages changed. With `erased`, summaries and pages that came from them are erased with all
        their versions before they are derived again (D-2)."""
        sources = [source_id(conversation_id, one) for one in message_ids]
        found = await self._documents.of_sources(tenant, agent_id, sources)
        summaries = [key for key in found if key.kind is Kind.SUMMARY]
        others = [key for key in found if key.kind is not Kind.SUMMARY]
        await self._documents.mark(others, derive_again)
        for key in summaries:
            await self._outdated(key, erased=erased)
        await self._mark_insights(tenant, agent_id, sources, erased=erased)

    async def path(self, tenant: str, agent_id: str, conversation_id: str, paths: Paths) -> None:
        """After another path became the active one: a summary of the path before is out of date."""
        try:
            left = await paths.left(tenant, agent_id, conversation_id)
        except NotFound:
            return  # erased: its summary goes with its refresh
        if left:
            await self._outdated(summary_key(tenant, agent_id, conversation_id), erased=False)

    async def memories(self, tenant: str, agent_id: str, memory_ids: Sequence[str]) -> None:
        """After memories turned out to be wrong, were forgotten, or were brought back."""
        await self._mark_insights(tenant, agent_id, memory_ids)

    async def replaced(self, tenant: str, agent_id: str, memory_ids: Sequence[str]) -> None:
        """After memories ceased to hold. What was a goal stays one: whether it was reached is for the
        reflection on the day that says so."""
        await self._mark_insights(tenant, agent_id, memory_ids, goals=False)

    async def take_apart(self, tenant: str, agent_id: str, memory_ids: Sequence[str]) -> None:
        """After something that these memories were merged from is gone, or was taken out: the rest of it is
        live again. Also raises Overloaded."""
        for memory_id in memory_ids:
            try:
                await self._merged.undo_merge(tenant, agent_id, memory_id)
            except StateConflict:
                continue  # replaced since: it is current no more

    async def summary(self, tenant: str, agent_id: str, conversation_id: str) -> None:
        """After a summary was corrected, or derived from changed sources; attractor, graph and pages follow
        each version of it by themselves."""
        sources = [summary_source(conversation_id)]
        await self._mark_insights(tenant, agent_id, sources)

    async def mark_dependents(self, tenant: str, agent_id: str, conversation_id: str) -> None:
        """Marks what came from a summary that is about to change, each with its job."""
        await self._documents.mark(
            await self._documents.of_summary(tenant, agent_id, conversation_id), derive_again
        )

    async def _outdated(self, key: DocumentKey, *, erased: bool) -> None:
        """A summary, and for as long as it is, what came from it."""
        dependents = await self._documents.of_summary(key.tenant, key.agent_id, key.subject)
        if erased:
            for one in dependents:
                if one.kind is Kind.WIKI:
                    await self._documents.erase(one, derive_again)
            await self._documents.erase(key, derive_again)
        else:
            await self._documents.mark([key], derive_again)
        await self._documents.mark(dependents, derive_again)
        sources = [summary_source(key.subject)]
        # The summary's next version asks for their days: before it there is nothing to reflect upon.
        await self._mark_insights(key.tenant, key.agent_id, sources, erased=erased, again=False)

    async def _mark_insights(
        self,
        tenant: str,
        agent_id: str,
        source_ids: Sequence[str],
        *,
        erased: bool = False,
        goals: bool = True,
        again: bool = True,
    ) -> None:
        marked = await self._insights.mark_stale(
            tenant, agent_id, source_ids, erased=erased, goals=goals, again=again
        )
        if marked:
            self._wake()


def derive_again(key: DocumentKey, head: Head) -> Sequence[NewJob]:
    """The job that derives a document which was marked, or erased, at this revision."""
    match key.kind:
        case Kind.SUMMARY:
            return [refresh_job(key.agent_id, key.subject, f"stale/{head.revision}")]
        case Kind.ATTRACTOR:
            payload: dict[str, object] = {"due": True}
            return [_job(UPDATE_ATTRACTOR, key, key.agent_id, head, payload)]
        case Kind.WIKI:
            return [_job(WRITE_WIKI, key, key.subject, head, {"branch_id": key.subject})]


def summary_source(conversation_id: str) -> str:
    """How insights name a conversation's summary."""
    return f"summary/{conversation_id}"


def _job(type_: str, key: DocumentKey, subject: str, head: Head, payload: dict[str, object]) -> NewJob:
    """No two marks of a document have the same key, so no change is missed."""
    name = f"{type_}/{key.agent_id}/{subject}/stale/{head.revision}"
    return NewJob(type=type_, agent_id=key.agent_id, subject=subject, key=name, payload=payload)
