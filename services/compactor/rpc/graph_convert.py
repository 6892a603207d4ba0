"""Between GraphService's messages and the domain."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from palimpsest.graph.v1 import graph_pb2 as pb

from services.compactor.domain.graph import (
    Branch,
    Event,
    EventKind,
    Link,
    Proposal,
    ProposalState,
    State,
)
from services.kit.times import to_timestamp

_STATES = {
    State.SEEDLING: pb.BRANCH_STATE_SEEDLING,
    State.GROWING: pb.BRANCH_STATE_GROWING,
    State.ESTABLISHED: pb.BRANCH_STATE_ESTABLISHED,
    State.DORMANT: pb.BRANCH_STATE_DORMANT,
}
_STATES_BACK = {number: state for state, number in _STATES.items()}
_EVENTS = {
    EventKind.CREATED: pb.BRANCH_EVENT_KIND_CREATED,
    EventKind.MERGED: pb.BRANCH_EVENT_KIND_MERGED,
    EventKind.UNMERGED: pb.BRANCH_EVENT_KIND_UNMERGED,
    EventKind.RENAMED: pb.BRANCH_EVENT_KIND_RENAMED,
    EventKind.SPLIT: pb.BRANCH_EVENT_KIND_SPLIT,
}
_PROPOSALS = {
    ProposalState.OPEN: pb.MERGE_PROPOSAL_STATE_OPEN,
    ProposalState.MERGED: pb.MERGE_PROPOSAL_STATE_MERGED,
    ProposalState.REJECTED: pb.MERGE_PROPOSAL_STATE_REJECTED,
}
_PROPOSALS_BACK = {number: state for state, number in _PROPOSALS.items()}


def branch(value: Branch, now: datetime) -> pb.Branch:
    """As on the wire, with its state at a moment."""
    return pb.Branch(
        id=value.id,
        slug=value.slug,
        name=value.name,
        state=_STATES[value.state(now)],
        conversation_count=value.conversations,
        aliases=value.aliases,
        merged_ids=value.merged_ids,
        link_time=to_timestamp(value.last_link),
        create_time=to_timestamp(value.created),
        update_time=to_timestamp(value.updated),
    )


def event(value: Event) -> pb.BranchEvent:
    """As on the wire."""
    return pb.BranchEvent(
        branch_id=value.branch_id,
        kind=_EVENTS[value.kind],
        other_id=value.other_id,
        automatic=value.automatic,
        slug=value.slug,
        time=to_timestamp(value.time),
    )


def link(value: Link) -> pb.BranchLink:
    """As on the wire."""
    return pb.BranchLink(
        conversation_id=value.conversation_id,
        relevance=value.relevance,
        by_hand=value.by_hand,
        link_time=to_timestamp(value.linked),
    )


def proposal(value: Proposal, now: datetime) -> pb.MergeProposal:
    """As on the wire."""
    evidence = value.evidence
    return pb.MergeProposal(
        id=value.id,
        branch=branch(value.branch, now),
        into=branch(value.into, now),
        score=value.score,
        evidence=pb.MergeEvidence(
            cosine=evidence.cosine,
            spelling=evidence.spelling,
            words=evidence.words,
            shared_count=evidence.shared,
        ),
        state=_PROPOSALS[value.state],
        create_time=to_timestamp(value.created),
        resolve_time=to_timestamp(value.resolved),
    )


def states(numbers: Sequence[pb.BranchState.ValueType]) -> frozenset[State]:
    """As in the domain."""
    return frozenset(_STATES_BACK[number] for number in numbers)


def proposal_state(number: pb.MergeProposalState.ValueType) -> ProposalState:
    """As in the domain; open by default."""
    return _PROPOSALS_BACK.get(number, ProposalState.OPEN)
