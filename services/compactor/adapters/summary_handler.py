"""Jobs of the types "refresh_summary", "summarize_conversation", "summarize_batch" (SPEC J-5, J-6).

The first two name a conversation and do the same: what is new is looked up when the job is done, so one that
is done twice, late, or by two workers at once adds nothing. The third only chooses (J-3): one bad
conversation costs one job.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from services.compactor.adapters.acting import as_service
from services.compactor.adapters.cover_handler import BAD_PAYLOAD, conversation_of
from services.compactor.app.calls import describe
from services.compactor.app.conversation_summaries import ConversationSummaries
from services.compactor.app.ports import Done, Failed, Outcome
from services.compactor.app.summary_ports import SummaryIndex
from services.compactor.domain import payloads
from services.compactor.domain.ledger import Job
from services.compactor.domain.schedules import SYSTEM_TENANT, Spec
from services.kit.errors import DependencyDown, NotFound, Overloaded, PalimpsestError

SUMMARIZE_CONVERSATION: Final = "summarize_conversation"
SUMMARIZE_BATCH: Final = "summarize_batch"
BATCHES: Final = Spec(name="summarize", job_type=SUMMARIZE_BATCH, cron="0 */6 * * *")
"""Every 6 hours (J-5)."""
LEAST_MESSAGES: Final = 4
"""Of a conversation that is summarised in a batch (J-5)."""
BATCH: Final = 20
"""Conversations of the first batch (J-5)."""
MOST_IN_BATCH: Final = 200
"""Of any batch."""
BACKLOG_PART: Final = 4
"""The next batch takes a quarter of what is left, within the two figures above."""


class SummaryHandler:
    """Does jobs one by one, each as the agent that it belongs to."""

    def __init__(self, summaries: ConversationSummaries) -> None:
        self._summaries = summaries

    async def run(self, tenant: str, agent_id: str, jobs: Sequence[Job]) -> Sequence[Outcome]:
        """See Handler. After an outage in the middle, what was written before it is found written."""
        with as_service(tenant, agent_id):
            return [await self._do(tenant, agent_id, job) for job in jobs]

    async def _do(self, tenant: str, agent_id: str, job: Job) -> Outcome:
        conversation_id = conversation_of(job.payload)
        if not conversation_id:
            return Failed(error=BAD_PAYLOAD, hopeless=True)
        try:
            made = await self._summaries.refresh(tenant, agent_id, conversation_id)
        except (DependencyDown, Overloaded):
            raise
        except NotFound:
            return Done()  # the conversation was erased: nothing is to be said of it
        except PalimpsestError as error:
            return Failed(error=describe(error))
        if not made.version:
            return Done()
        return Done(result_ids=(f"summary/{conversation_id}/{made.version}",), engine=made.engine)


class BatchHandler:
    """Chooses what is to be summarised; `wake` says that something was put into the outbox."""

    def __init__(self, index: SummaryIndex, wake: Callable[[], None]) -> None:
        self._index = index
        self._wake = wake

    async def run(self, tenant: str, _agent_id: str, jobs: Sequence[Job]) -> Sequence[Outcome]:
        """See Handler."""
        for job in jobs:
            if tenant == SYSTEM_TENANT:
                await self._index.spread(job.key)
            else:
                root, place, size = batch_of(job)
                await self._index.choose(tenant, LEAST_MESSAGES, size, root, place)
            self._wake()
        return [Done() for _ in jobs]


def batch_of(job: Job) -> tuple[str, int, int]:
    """The key of the first batch, the place in the row of batches from 0, and the size of this one."""
    said = payloads.said(job.payload)
    left = said.get("left")
    if not isinstance(left, int):
        return job.key, 0, BATCH
    root, place = said.get("root"), said.get("place")
    return (
        root if isinstance(root, str) else job.key,
        place if isinstance(place, int) else 0,
        size_of(left),
    )


def size_of(left: int) -> int:
    """How many conversations a batch takes, by how many were left before it."""
    return min(max(BATCH, left // BACKLOG_PART), MOST_IN_BATCH)
