"""Calls about reflections, goals and learnings, and about consolidation."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from google.protobuf.field_mask_pb2 import FieldMask

from palimpsest import models
from palimpsest.client import incoming, names
from palimpsest.client.base import Calls
from palimpsest.insight.v1 import insight_pb2 as pb


class InsightCalls(Calls):
    """What was worked out of the agent's days. Without a contact: of anybody, agent-wide ones too."""

    async def reflections(self, *, contact_id: str = "", page_size: int = 0) -> AsyncIterator[models.Insight]:
        """What recurred, newest first."""
        request = pb.ListReflectionsRequest(
            agent_id=self._agent, filter=pb.InsightFilter(contact_id=contact_id), page_size=page_size
        )
        async for page in self._pages(self._transport.stubs.insights.ListReflections, request):
            for proto in page.reflections:
                yield _insight(proto)

    async def goals(
        self, *, states: Sequence[models.GoalState] = (), contact_id: str = "", page_size: int = 0
    ) -> AsyncIterator[models.Insight]:
        """Goals, newest first; in any state unless some are named."""
        request = pb.ListGoalsRequest(
            agent_id=self._agent,
            filter=pb.InsightFilter(contact_id=contact_id),
            states=[names.GOAL_STATES.number(state) for state in states],
            page_size=page_size,
        )
        async for page in self._pages(self._transport.stubs.insights.ListGoals, request):
            for proto in page.goals:
                yield _insight(proto)

    async def learnings(self, *, contact_id: str = "", page_size: int = 0) -> AsyncIterator[models.Insight]:
        """What was found out, or decided, newest first."""
        request = pb.ListLearningsRequest(
            agent_id=self._agent, filter=pb.InsightFilter(contact_id=contact_id), page_size=page_size
        )
        async for page in self._pages(self._transport.stubs.insights.ListLearnings, request):
            for proto in page.learnings:
                yield _insight(proto)

    async def insight(self, insight_id: str) -> models.Insight:
        """One of them, by id."""
        request = pb.GetInsightRequest(agent_id=self._agent, insight_id=insight_id)
        return _insight(
            (await self._transport.call(self._transport.stubs.insights.GetInsight, request)).insight
        )

    async def update_goal(
        self,
        goal_id: str,
        *,
        state: models.GoalState | None = None,
        text: str | None = None,
        expected_revision: int = 0,
    ) -> models.Insight:
        """Changes a goal; reflection leaves it as it is from then on.

        With an `expected_revision`, only if that is the current one: raises VersionConflictError.
        """
        goal = pb.Insight(id=goal_id, state=names.GOAL_STATES.optional(state), text=text or "")
        paths = [name for name, value in (("state", state), ("text", text)) if value is not None]
        request = pb.UpdateGoalRequest(
            agent_id=self._agent,
            goal=goal,
            update_mask=FieldMask(paths=paths),
            expected_revision=expected_revision,
        )
        return _insight((await self._transport.call(self._transport.stubs.insights.UpdateGoal, request)).goal)

    async def update_insight(
        self, insight_id: str, text: str, *, expected_revision: int = 0
    ) -> models.Insight:
        """Changes the text of any of them; likewise."""
        request = pb.UpdateInsightRequest(
            agent_id=self._agent,
            insight=pb.Insight(id=insight_id, text=text),
            update_mask=FieldMask(paths=["text"]),
            expected_revision=expected_revision,
        )
        method = self._transport.stubs.insights.UpdateInsight
        return _insight((await self._transport.call(method, request)).insight)

    async def consolidate(self, *, dry_run: bool = False) -> models.ConsolidationRun:
        """Consolidates the agent's memories now; a dry run only tells what that would do."""
        request = pb.RunConsolidationRequest(agent_id=self._agent, dry_run=dry_run)
        method = self._transport.stubs.insights.RunConsolidation
        return _run((await self._transport.call(method, request)).run)

    async def consolidation_run(self, run_id: str) -> models.ConsolidationRun:
        """A run, by id."""
        request = pb.GetConsolidationRunRequest(agent_id=self._agent, run_id=run_id)
        method = self._transport.stubs.insights.GetConsolidationRun
        return _run((await self._transport.call(method, request)).run)

    async def consolidation_runs(self, *, page_size: int = 0) -> AsyncIterator[models.ConsolidationRun]:
        """Runs, newest first."""
        request = pb.ListConsolidationRunsRequest(agent_id=self._agent, page_size=page_size)
        async for page in self._pages(self._transport.stubs.insights.ListConsolidationRuns, request):
            for proto in page.runs:
                yield _run(proto)

    async def undo_consolidation(self, run_id: str) -> models.ConsolidationRun:
        """Takes a run back, as far as nothing else came since."""
        request = pb.UndoConsolidationRequest(agent_id=self._agent, run_id=run_id)
        method = self._transport.stubs.insights.UndoConsolidation
        return _run((await self._transport.call(method, request)).run)


def _insight(proto: pb.Insight) -> models.Insight:
    return models.Insight(
        id=proto.id,
        kind=names.INSIGHT_KINDS.name(proto.kind),
        contact_id=proto.contact_id,
        topic=proto.topic,
        text=proto.text,
        state=names.GOAL_STATES.name(proto.state) if proto.state else None,
        day=proto.day,
        provenance=incoming.refs(proto.provenance),
        source_ids=tuple(proto.source_ids),
        memory_id=proto.memory_id,
        kept=proto.kept,
        stale=proto.stale,
        revision=proto.revision,
        create_time=incoming.time_of(proto, "create_time"),
        update_time=incoming.time_of(proto, "update_time"),
    )


def _run(proto: pb.ConsolidationRun) -> models.ConsolidationRun:
    return models.ConsolidationRun(
        id=proto.id,
        agent_id=proto.agent_id,
        dry_run=proto.dry_run,
        compared_count=proto.compared_count,
        decayed_count=proto.decayed_count,
        restored_count=proto.restored_count,
        merges=tuple(
            models.Merge(
                memory_id=one.memory_id,
                member_ids=tuple(one.member_ids),
                contact_id=one.contact_id,
                key=one.key,
                cosine=one.cosine,
                outcome=names.MERGE_OUTCOMES.name(one.outcome),
            )
            for one in proto.merges
        ),
        create_time=incoming.time_of(proto, "create_time"),
        finish_time=incoming.time_of(proto, "finish_time"),
        undo_time=incoming.time_of(proto, "undo_time"),
    )
