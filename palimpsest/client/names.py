"""Enumerations as strings."""

from __future__ import annotations

from typing import Any, Generic, TypeVar, cast

from google.protobuf.descriptor import EnumDescriptor

from palimpsest import models
from palimpsest.chat.v1 import chat_pb2
from palimpsest.common.v1 import indexes_pb2, jobs_pb2, recall_pb2, resources_pb2
from palimpsest.documents.v1 import documents_pb2
from palimpsest.gateway.v1 import administration_pb2, memories_pb2, prompt_pb2
from palimpsest.graph.v1 import graph_pb2
from palimpsest.history.v1 import windows_pb2
from palimpsest.insight.v1 import insight_pb2
from palimpsest.search.v1 import search_pb2
from palimpsest.settings.v1 import settings_pb2
from palimpsest.state.v1 import records_pb2
from palimpsest.tools.v1 import tools_pb2
from palimpsest.working.v1 import context_pb2

NameT = TypeVar("NameT", bound=str)


class Names(Generic[NameT]):
    """The names of one enumeration, without their prefix, in lower case."""

    def __init__(self, enum: EnumDescriptor, prefix: str) -> None:
        self._title = prefix.removesuffix("_").replace("_", " ").lower()
        self._number_of = {
            value.name.removeprefix(prefix).lower(): value.number
            for value in enum.values
            if value.number != 0
        }
        self._name_of = {number: name for name, number in self._number_of.items()}

    def number(self, name: NameT) -> Any:
        """The number of `name`; ValueError if there is none."""
        if name not in self._number_of:
            raise ValueError(f"no {self._title} {name!r}; there are {', '.join(self._number_of)}")
        return self._number_of[name]

    def optional(self, name: NameT | None) -> Any:
        """The number of `name`; 0 for None."""
        return 0 if name is None else self.number(name)

    def name(self, number: int) -> NameT:
        """The name of `number`; one that is newer than this client in decimal; empty for 0."""
        known = self._name_of.get(number, str(number) if number else "")
        return cast(NameT, known)


ROLES: Names[models.Role] = Names(resources_pb2.Role.DESCRIPTOR, "ROLE_")
KINDS: Names[models.MemoryKind] = Names(resources_pb2.MemoryKind.DESCRIPTOR, "MEMORY_KIND_")
FACT_TYPES: Names[models.FactType] = Names(resources_pb2.FactType.DESCRIPTOR, "FACT_TYPE_")
SOURCES: Names[models.MemorySource] = Names(resources_pb2.MemorySource.DESCRIPTOR, "MEMORY_SOURCE_")
VERIFICATIONS: Names[models.Verification] = Names(resources_pb2.Verification.DESCRIPTOR, "VERIFICATION_")
BASIN_CHANGES: Names[models.BasinChangeKind] = Names(
    documents_pb2.BasinChangeKind.DESCRIPTOR, "BASIN_CHANGE_KIND_"
)
CAUSES: Names[models.SupersessionCause] = Names(
    resources_pb2.SupersessionCause.DESCRIPTOR, "SUPERSESSION_CAUSE_"
)
UNINDEXED: Names[models.UnindexedState] = Names(resources_pb2.UnindexedState.DESCRIPTOR, "UNINDEXED_STATE_")
CHANNELS: Names[models.Channel] = Names(recall_pb2.Channel.DESCRIPTOR, "CHANNEL_")
MODES: Names[models.SearchMode] = Names(recall_pb2.SearchMode.DESCRIPTOR, "SEARCH_MODE_")
SCOPES: Names[models.SearchScope] = Names(memories_pb2.SearchScope.DESCRIPTOR, "SEARCH_SCOPE_")
DOCUMENT_TYPES: Names[models.DocumentType] = Names(search_pb2.DocumentType.DESCRIPTOR, "DOCUMENT_TYPE_")
DOCUMENT_SCOPES: Names[models.DocumentScope] = Names(search_pb2.DocumentScope.DESCRIPTOR, "DOCUMENT_SCOPE_")
LAYERS: Names[models.LayerKind] = Names(prompt_pb2.LayerKind.DESCRIPTOR, "LAYER_KIND_")
INTERRUPTION_CAUSES: Names[models.InterruptionCause] = Names(
    resources_pb2.InterruptionCause.DESCRIPTOR, "INTERRUPTION_CAUSE_"
)
MODEL_TIERS: Names[models.ModelTier] = Names(chat_pb2.ModelTier.DESCRIPTOR, "MODEL_TIER_")
NO_TEXT_REASONS: Names[models.NoTextReason] = Names(chat_pb2.NoTextReason.DESCRIPTOR, "NO_TEXT_REASON_")
JOB_STATES: Names[models.JobState] = Names(jobs_pb2.JobState.DESCRIPTOR, "JOB_STATE_")
DATA_FLOWS: Names[models.DataFlow] = Names(settings_pb2.DataFlow.DESCRIPTOR, "DATA_FLOW_")
PROVIDERS: Names[models.Provider] = Names(settings_pb2.Provider.DESCRIPTOR, "PROVIDER_")
INSIGHT_KINDS: Names[models.InsightKind] = Names(insight_pb2.InsightKind.DESCRIPTOR, "INSIGHT_KIND_")
GOAL_STATES: Names[models.GoalState] = Names(insight_pb2.GoalState.DESCRIPTOR, "GOAL_STATE_")
MERGE_OUTCOMES: Names[models.MergeOutcome] = Names(insight_pb2.MergeOutcome.DESCRIPTOR, "MERGE_OUTCOME_")
BRANCH_STATES: Names[models.BranchState] = Names(graph_pb2.BranchState.DESCRIPTOR, "BRANCH_STATE_")
BRANCH_EVENT_KINDS: Names[models.BranchEventKind] = Names(
    graph_pb2.BranchEventKind.DESCRIPTOR, "BRANCH_EVENT_KIND_"
)
MERGE_PROPOSAL_STATES: Names[models.MergeProposalState] = Names(
    graph_pb2.MergeProposalState.DESCRIPTOR, "MERGE_PROPOSAL_STATE_"
)
REINDEX_STATES: Names[models.ReindexState] = Names(indexes_pb2.ReindexState.DESCRIPTOR, "REINDEX_STATE_")
KEY_ROLES: Names[models.KeyRole] = Names(administration_pb2.KeyRole.DESCRIPTOR, "KEY_ROLE_")
KEY_CHANGES: Names[models.KeyChangeKind] = Names(
    administration_pb2.ApiKeyChangeKind.DESCRIPTOR, "API_KEY_CHANGE_KIND_"
)
TOOL_FORMATS: Names[models.ToolFormat] = Names(tools_pb2.ToolFormat.DESCRIPTOR, "TOOL_FORMAT_")
WINDOWS: Names[models.WindowMode] = Names(windows_pb2.WindowMode.DESCRIPTOR, "WINDOW_MODE_")
CONTEXTS: Names[models.ContextKind] = Names(context_pb2.ContextKind.DESCRIPTOR, "CONTEXT_KIND_")
WRITERS: Names[models.ContextWriter] = Names(context_pb2.ContextWriter.DESCRIPTOR, "CONTEXT_WRITER_")
FIELDS: Names[models.FieldType] = Names(records_pb2.FieldType.DESCRIPTOR, "FIELD_TYPE_")
