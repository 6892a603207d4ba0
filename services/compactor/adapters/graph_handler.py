"""Jobs of the types "grow_graph" and "write_wiki" (SPEC J-13, J-14).

The first files a conversation as its summary says, the second writes a branch's page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from services.compactor.adapters.acting import as_service
from services.compactor.adapters.cover_handler import BAD_PAYLOAD, conversation_of
from services.compactor.app.calls import describe
from services.compactor.app.document_ports import Unreadable
from services.compactor.app.graph import Graph
from services.compactor.app.ports import Done, Failed, Outcome
from services.compactor.app.wiki import Wiki
from services.compactor.domain import payloads
from services.compactor.domain.ledger import Job
from services.kit.errors import DependencyDown, Overloaded, PalimpsestError

BAD_SUMMARY: Final = "the summary cannot be read"


class GrowHandler:
    """Does jobs one by one, each as the agent that it belongs to; their results are branches."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def run(self, tenant: str, agent_id: str, jobs: Sequence[Job]) -> Sequence[Outcome]:
        """See Handler."""
        with as_service(tenant, agent_id):
            return [await self._do(tenant, agent_id, job) for job in jobs]

    async def _do(self, tenant: str, agent_id: str, job: Job) -> Outcome:
        conversation_id = conversation_of(job.payload)
        if not conversation_id:
            return Failed(error=BAD_PAYLOAD, hopeless=True)
        try:
            ids = await self._graph.grow(tenant, agent_id, conversation_id)
        except (DependencyDown, Overloaded):
            raise
        except Unreadable:
            return Failed(error=BAD_SUMMARY, hopeless=True)
        except PalimpsestError as error:
            return Failed(error=describe(error))
        return Done(result_ids=tuple(f"branch/{one}" for one in ids))


class WikiHandler:
    """Writes each branch's page once, however many jobs of a call ask for it."""

    def __init__(self, wiki: Wiki) -> None:
        self._wiki = wiki

    async def run(self, tenant: str, agent_id: str, jobs: Sequence[Job]) -> Sequence[Outcome]:
        """See Handler."""
        done: dict[str, Outcome] = {"": Failed(error=BAD_PAYLOAD, hopeless=True)}
        with as_service(tenant, agent_id):
            for branch_id in map(_branch_of, jobs):
                if branch_id not in done:
                    done[branch_id] = await self._do(tenant, agent_id, branch_id)
        return [done[_branch_of(job)] for job in jobs]

    async def _do(self, tenant: str, agent_id: str, branch_id: str) -> Outcome:
        try:
            version = await self._wiki.write(tenant, agent_id, branch_id)
        except (DependencyDown, Overloaded):
            raise
        except PalimpsestError as error:
            return Failed(error=describe(error))
        return Done(result_ids=(f"wiki/{branch_id}/{version}",) if version else ())


def _branch_of(job: Job) -> str:
    """From {"branch_id"}; "" when there is none."""
    return payloads.text(job.payload, "branch_id")
