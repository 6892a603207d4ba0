"""Enumerations: the names of the protos without their prefix, in lower case."""

from __future__ import annotations

from typing import Literal

Role = Literal["system", "user", "assistant", "tool"]
MemoryKind = Literal["fact", "event", "instruction", "task"]
FactType = Literal[
    "fact",
    "preference",
    "identity",
    "relationship",
    "decision",
    "reflection",
    "event",
    "workflow_outcome",
    "workflow_failure",
    "instruction",
    "skill",
    "task",
]
Verification = Literal["not_needed", "pending", "verified"]
SupersessionCause = Literal["key", "judged", "resolved", "consolidated"]
MemorySource = Literal["turn", "pre_compaction", "reflection", "explicit", "consolidation", "import"]
Channel = Literal["vector", "keyword", "key", "messages", "hyde", "remote"]
SearchMode = Literal["semantic", "keyword", "hybrid"]
SearchScope = Literal["contact", "conversation", "all"]
DocumentScope = Literal["contact", "all"]
DocumentType = Literal["summary", "page", "branch", "theme"]
LayerKind = Literal["system", "facts", "working", "history", "retrieved", "message"]
WindowMode = Literal["auto", "full"]
ContextKind = Literal["readonly", "writable", "searchable", "loadable"]
ContextWriter = Literal["application", "model"]
FieldType = Literal["string", "number", "bool", "time"]
JobState = Literal["queued", "running", "succeeded", "failed", "dead", "cancelled"]
BasinChangeKind = Literal["born", "died", "split", "merged", "moved", "renamed"]
InsightKind = Literal["reflection", "goal", "learning"]
GoalState = Literal["open", "achieved", "dropped"]
MergeOutcome = Literal["planned", "merged", "skipped", "undone", "kept"]
BranchState = Literal["seedling", "growing", "established", "dormant"]
BranchEventKind = Literal["created", "merged", "unmerged", "renamed", "split"]
MergeProposalState = Literal["open", "merged", "rejected"]
ReindexState = Literal["running", "done"]
DataFlow = Literal["local_only", "allow_partner"]
Provider = Literal["local", "remote"]
KeyRole = Literal["reader", "writer", "admin", "operator"]
KeyChangeKind = Literal["created", "rotated", "revoked"]
InterruptionCause = Literal["reader_left", "deadline", "failed", "limit_exceeded", "stopped"]
ModelTier = Literal["fast", "standard", "deep"]
NoTextReason = Literal[
    "not_asked",
    "no_evidence",
    "model_not_configured",
    "data_flow_refused",
    "limit_exceeded",
    "model_failed",
    "uncited",
]
UnindexedState = Literal["pending", "dead"]
