"""InsightService: convert, await the use case, convert back."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from palimpsest.insight.v1 import insight_pb2 as pb
from palimpsest.insight.v1 import insight_pb2_grpc

from services.compactor.app.consolidation import Consolidation
from services.compactor.app.reflection import InsightQuery, Reflection
from services.compactor.domain.insights import Kind
from services.compactor.rpc import insight_convert as convert
from services.kit import paging
from services.kit.context import current_principal
from services.kit.serving import Face, roles_of

DESCRIPTOR = pb.DESCRIPTOR.services_by_name["InsightService"]
OF_GOALS = frozenset({"state", "text"})
OF_INSIGHTS = frozenset({"text"})

Context = Any
Listing = pb.ListReflectionsRequest | pb.ListGoalsRequest | pb.ListLearningsRequest


def face(reflection: Reflection, consolidation: Consolidation) -> Face:
    """InsightService over the use cases."""
    servicer = InsightServicer(reflection, consolidation)
    return Face(
        name=DESCRIPTOR.full_name,
        add=partial(insight_pb2_grpc.add_InsightServiceServicer_to_server, servicer),
        roles=roles_of(DESCRIPTOR),
    )


class InsightServicer(insight_pb2_grpc.InsightServiceServicer):
    """InsightService over the use cases."""

    def __init__(self, reflection: Reflection, consolidation: Consolidation) -> None:
        self._reflection = reflection
        self._consolidation = consolidation

    async def ListReflections(
        self, request: pb.ListReflectionsRequest, context: Context
    ) -> pb.ListReflectionsResponse:
        """See the proto."""
        rows, token = await self._page(request, Kind.REFLECTION)
        return pb.ListReflectionsResponse(reflections=rows, next_page_token=token)

    async def ListGoals(self, request: pb.ListGoalsRequest, context: Context) -> pb.ListGoalsResponse:
        """See the proto."""
        rows, token = await self._page(request, Kind.GOAL, request.states)
        return pb.ListGoalsResponse(goals=rows, next_page_token=token)

    async def ListLearnings(
        self, request: pb.ListLearningsRequest, context: Context
    ) -> pb.ListLearningsResponse:
        """See the proto."""
        rows, token = await self._page(request, Kind.LEARNING)
        return pb.ListLearningsResponse(learnings=rows, next_page_token=token)

    async def GetInsight(self, request: pb.GetInsightRequest, context: Context) -> pb.GetInsightResponse:
        """See the proto."""
        row = await self._reflection.get(current_principal().tenant, request.agent_id, request.insight_id)
        return pb.GetInsightResponse(insight=convert.insight(row))

    async def UpdateGoal(self, request: pb.UpdateGoalRequest, context: Context) -> pb.UpdateGoalResponse:
        """See the proto."""
        change = convert.change(request.goal, request.update_mask.paths, OF_GOALS, request.expected_revision)
        row = await self._reflection.update(
            current_principal().tenant, request.agent_id, request.goal.id, change, goal=True
        )
        return pb.UpdateGoalResponse(goal=convert.insight(row))

    async def UpdateInsight(
        self, request: pb.UpdateInsightRequest, context: Context
    ) -> pb.UpdateInsightResponse:
        """See the proto."""
        change = convert.change(
            request.insight, request.update_mask.paths, OF_INSIGHTS, request.expected_revision
        )
        row = await self._reflection.update(
            current_principal().tenant, request.agent_id, request.insight.id, change, goal=False
        )
        return pb.UpdateInsightResponse(insight=convert.insight(row))

    async def RunConsolidation(
        self, request: pb.RunConsolidationRequest, context: Context
    ) -> pb.RunConsolidationResponse:
        """See the proto."""
        run = await self._consolidation.run(current_principal().tenant, request.agent_id, dry=request.dry_run)
        return pb.RunConsolidationResponse(run=convert.run(run))

    async def GetConsolidationRun(
        self, request: pb.GetConsolidationRunRequest, context: Context
    ) -> pb.GetConsolidationRunResponse:
        """See the proto."""
        run = await self._consolidation.get(current_principal().tenant, request.agent_id, request.run_id)
        return pb.GetConsolidationRunResponse(run=convert.run(run))

    async def ListConsolidationRuns(
        self, request: pb.ListConsolidationRunsRequest, context: Context
    ) -> pb.ListConsolidationRunsResponse:
        """See the proto."""
        listing = f"ListConsolidationRuns {request.agent_id}"
        size = paging.page_size(request.page_size)
        before = paging.text_position(listing, request.page_token)
        runs = await self._consolidation.page(current_principal().tenant, request.agent_id, before, size)
        return pb.ListConsolidationRunsResponse(
            runs=map(convert.run, runs),
            next_page_token=paging.token_after(listing, [run.id for run in runs], size),
        )

    async def UndoConsolidation(
        self, request: pb.UndoConsolidationRequest, context: Context
    ) -> pb.UndoConsolidationResponse:
        """See the proto."""
        run = await self._consolidation.undo(current_principal().tenant, request.agent_id, request.run_id)
        return pb.UndoConsolidationResponse(run=convert.run(run))

    async def _page(
        self, request: Listing, kind: Kind, states: Sequence[pb.GoalState.ValueType] = ()
    ) -> tuple[list[pb.Insight], str]:
        """A page of rows, and the token of the next."""
        contact_id, size = request.filter.contact_id, paging.page_size(request.page_size)
        listing = f"{kind} {request.agent_id} {contact_id} {sorted(states)}"
        query = InsightQuery(
            kind=kind,
            contact_id=contact_id or None,
            states=convert.states(states),
            before=paging.text_position(listing, request.page_token),
            limit=size,
        )
        rows = await self._reflection.page(current_principal().tenant, request.agent_id, query)
        token = paging.token_after(listing, [row.id for row in rows], size)
        return [convert.insight(row) for row in rows], token
