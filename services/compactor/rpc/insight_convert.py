"""Between InsightService's messages and the domain."""

from __future__ import annotations

from collections.abc import Sequence

from palimpsest.common.v1 import resources_pb2
from palimpsest.insight.v1 import insight_pb2 as pb

from services.compactor.domain.consolidation import Merge, Outcome, Run
from services.compactor.domain.insights import Change, GoalState, Insight, Kind
from services.kit.errors import InvalidField
from services.kit.times import to_timestamp

_KINDS = {
    Kind.REFLECTION: pb.INSIGHT_KIND_REFLECTION,
    Kind.GOAL: pb.INSIGHT_KIND_GOAL,
    Kind.LEARNING: pb.INSIGHT_KIND_LEARNING,
}
_STATES = {
    GoalState.NONE: pb.GOAL_STATE_UNSPECIFIED,
    GoalState.OPEN: pb.GOAL_STATE_OPEN,
    GoalState.ACHIEVED: pb.GOAL_STATE_ACHIEVED,
    GoalState.DROPPED: pb.GOAL_STATE_DROPPED,
}
_STATES_BACK = {number: state for state, number in _STATES.items()}
_OUTCOMES = {
    Outcome.PLANNED: pb.MERGE_OUTCOME_PLANNED,
    Outcome.MERGED: pb.MERGE_OUTCOME_MERGED,
    Outcome.SKIPPED: pb.MERGE_OUTCOME_SKIPPED,
    Outcome.UNDONE: pb.MERGE_OUTCOME_UNDONE,
    Outcome.KEPT: pb.MERGE_OUTCOME_KEPT,
}


def insight(row: Insight) -> pb.Insight:
    """As on the wire."""
    return pb.Insight(
        id=row.id,
        kind=_KINDS[row.kind],
        contact_id=row.contact_id,
        topic=row.topic,
        text=row.text,
        state=_STATES[row.state],
        day=row.day,
        provenance=[
            resources_pb2.MessageRef(conversation_id=conversation, message_id=message)
            for conversation, message in row.provenance
        ],
        source_ids=row.source_ids,
        memory_id=row.memory_id,
        kept=row.kept,
        revision=row.revision,
        create_time=to_timestamp(row.created),
        update_time=to_timestamp(row.updated),
        stale=row.stale > 0,
    )


def states(numbers: Sequence[pb.GoalState.ValueType]) -> frozenset[GoalState]:
    """As in the domain."""
    return frozenset(_STATES_BACK[number] for number in numbers)


def change(
    wanted: pb.Insight, paths: Sequence[str], allowed: frozenset[str], expected_revision: int
) -> Change:
    """What `paths` name. Raises InvalidField for a path that is not `allowed`, and for none."""
    for path in paths:
        if path not in allowed:
            raise InvalidField("update_mask", f"{path!r} cannot be changed; {', '.join(sorted(allowed))} can")
    if not paths:
        raise InvalidField("update_mask", "names no field")
    if wanted.state not in _STATES_BACK:
        raise InvalidField("state", "is not known")
    return Change(
        text=wanted.text if "text" in paths else None,
        state=_STATES_BACK[wanted.state] if "state" in paths else None,
        expected_revision=expected_revision or None,
    )


def run(value: Run) -> pb.ConsolidationRun:
    """As on the wire."""
    return pb.ConsolidationRun(
        id=value.id,
        agent_id=value.agent_id,
        dry_run=value.dry,
        create_time=to_timestamp(value.created),
        finish_time=to_timestamp(value.finished),
        undo_time=to_timestamp(value.undone),
        compared_count=value.compared,
        decayed_count=value.decayed,
        restored_count=value.restored,
        merges=map(_merge, value.merges),
    )


def _merge(value: Merge) -> pb.Merge:
    return pb.Merge(
        memory_id=value.memory_id,
        member_ids=[memory_id for memory_id, _ in value.members],
        contact_id=value.contact_id,
        key=value.key,
        cosine=value.cosine,
        outcome=_OUTCOMES[value.outcome],
    )
