"""Memories, recall, and the prompt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from palimpsest.models.conversations import FreshnessToken, Message, MessageRef
from palimpsest.models.names import (
    Channel,
    DocumentType,
    FactType,
    LayerKind,
    MemoryKind,
    MemorySource,
    Role,
    SupersessionCause,
    UnindexedState,
    Verification,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A distilled statement.

    It is live from `valid_from_time` until `valid_to_time` (None: for good); `superseded_by` names what
    replaced it, or will then. `contradicts` are ids of memories that cannot hold beside it.
    """

    id: str
    key: str
    value: str
    fact_type: FactType
    kind: MemoryKind
    contact_id: str
    pinned: bool
    confidence: float
    source: MemorySource
    provenance: tuple[MessageRef, ...]
    create_time: datetime | None
    update_time: datetime | None
    access_time: datetime | None
    access_count: int
    valid_from_time: datetime | None
    valid_to_time: datetime | None
    superseded_by: str
    supersedes: str
    version: int
    expire_time: datetime | None
    indexed: bool
    verification: Verification
    contradicts: tuple[str, ...]
    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A memory that was written; `created` is False when nothing changed."""

    memory: Memory
    created: bool
    token: FreshnessToken | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Supersession:
    """That a memory was replaced by another, and why: a new value of its key, a judge, or somebody's choice.

    `probability` is how sure the judge was, 1 where there was none. `undo_time` is when it was taken back.
    """

    old_memory_id: str
    new_memory_id: str
    cause: SupersessionCause
    probability: float
    judge: str
    create_time: datetime | None
    undo_time: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryHistory:
    """The versions of a memory, and what replaced any of them; both oldest first.

    Iterates over its memories.
    """

    memories: tuple[Memory, ...]
    supersessions: tuple[Supersession, ...]

    def __iter__(self) -> Iterator[Memory]:
        return iter(self.memories)

    def __len__(self) -> int:
        return len(self.memories)


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """A memory that was brought back, as it is now."""

    memory: Memory
    token: FreshnessToken | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """Two live memories that cannot both hold, as a judge found."""

    id: str
    memories: tuple[Memory, ...]
    probability: float
    judge: str
    create_time: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReciprocalRank:
    """Reciprocal rank fusion: the sum over channels of weight / (k + rank), rank from 1."""

    k: float | None = None
    weights: Mapping[Channel, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelRank:
    """Where a hit stood in one channel, and what that added to its score."""

    channel: Channel
    rank: int
    score: float
    contribution: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """Something other than a channel that moved a hit."""

    name: str
    contribution: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why a hit stands where it does; the contributions add up to the score."""

    score: float
    channels: tuple[ChannelRank, ...]
    signals: tuple[Signal, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryHit:
    """A memory that recall found, or one that fills a place that was left (`filled`)."""

    memory: Memory
    explanation: Explanation
    filled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageHit:
    """The exact original of a message that was found, with its neighbours, oldest first."""

    message: Message
    explanation: Explanation
    before: tuple[Message, ...]
    after: tuple[Message, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelFailure:
    """A channel that gave nothing because it failed; where it is "", `cause` says what else was missing."""

    channel: Channel
    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unindexed:
    """Something that a read waited for in vain."""

    token: FreshnessToken | None
    state: UnindexedState
    job_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledMemories:
    """Memories, best first. Iterates over its hits."""

    hits: tuple[MemoryHit, ...]
    failures: tuple[ChannelFailure, ...]
    unindexed: tuple[Unindexed, ...]

    def __iter__(self) -> Iterator[MemoryHit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledMessages:
    """Messages, best first. Iterates over its hits."""

    hits: tuple[MessageHit, ...]
    failures: tuple[ChannelFailure, ...]
    unindexed: tuple[Unindexed, ...]

    def __iter__(self) -> Iterator[MessageHit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingSources:
    """What of the working memory a prompt shows, whole or cut; `entries` are "label/key"."""

    notes_version: int
    task: bool
    turn_id: str
    result_count: int
    entries: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentSource:
    """A derived document of which a prompt shows a part; `version` is 0 for a branch, which has none."""

    type: DocumentType
    document_id: str
    version: int
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """A part of the prompt with a share of the budget, and where it came from.

    Versions are 0 where nothing of the attractor, or of the rolling summary, is shown.
    """

    kind: LayerKind
    text: str
    token_count: int
    budget_tokens: int
    memory_ids: tuple[str, ...]
    messages: tuple[MessageRef, ...]
    omitted_count: int
    overlay_ids: tuple[str, ...]
    working: WorkingSources | None
    documents: tuple[DocumentSource, ...] = ()
    attractor_version: int = 0
    summary_version: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptMessage:
    """A message as model APIs take it."""

    role: Role
    content: str

    def as_dict(self) -> dict[str, str]:
        """The form that OpenAI's and Anthropic's libraries accept."""
        return {"role": self.role, "content": self.content}


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """The prompt of the next turn as one text, as OpenAI's messages, as Anthropic's system and turns.

    `exact_tokens`: whether tokens are those of the model's tokenizer rather than an estimate.
    """

    layers: tuple[Layer, ...]
    text: str
    openai_messages: tuple[PromptMessage, ...]
    anthropic_system: str
    anthropic_messages: tuple[PromptMessage, ...]
    token_count: int
    budget_tokens: int
    failures: tuple[ChannelFailure, ...]
    unindexed: tuple[Unindexed, ...]
    system_prompt_revision: int
    exact_tokens: bool = False
