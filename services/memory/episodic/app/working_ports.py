"""What the use cases of working memory need from the stores. All raise DependencyDown when the store fails.

Every method raises NotFound for an agent or a conversation that doesn't exist.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from services.memory.episodic.app.ports import Page
from services.memory.episodic.domain.blocks import ContextBlock, ContextEntry, NewBlock, Owner
from services.memory.episodic.domain.checkpoints import Checkpoint, OpenTurn, Round
from services.memory.episodic.domain.model import ConversationKey
from services.memory.episodic.domain.prompts import SystemPrompt
from services.memory.episodic.domain.working import Edit, Notes, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """What a save of a checkpoint came to."""

    call_count: int
    update_time: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingMemory:
    """What a prompt shows of a conversation's working memory; `turn` is stale."""

    notes: Notes
    task: Task | None
    turn: OpenTurn | None
    loaded: Sequence[ContextEntry]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """Working memory as it is stored at one moment; the checkpoint may be fresh, stale or expired."""

    notes: Notes
    task: Task | None
    checkpoint: Checkpoint | None
    loaded: Sequence[ContextEntry]


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """What a search found: entries and scores, best first, and the terms found, the most telling first."""

    entries: Sequence[tuple[ContextEntry, float]] = ()
    telling: Sequence[str] = ()


class NoteStore(Protocol):
    """The notes of conversations."""

    async def get(self, key: ConversationKey) -> Notes:
        """Those of version 0 where none were written."""

    async def edit(self, key: ConversationKey, edit: Edit, *, most_tokens: int, now: int) -> Notes:
        """The notes after the change. Raises LimitExceeded."""


class TaskStore(Protocol):
    """The ongoing tasks of conversations."""

    async def get(self, key: ConversationKey) -> Task:
        """Raises NotFound where there is none."""

    async def set(self, key: ConversationKey, task: Task) -> None:
        """In the place of the one before."""

    async def clear(self, key: ConversationKey) -> None:
        """No change where there is none."""


class CheckpointStore(Protocol):
    """The records of open turns."""

    async def save(self, key: ConversationKey, round_: Round, *, now: int) -> Saved:
        """Adds a round to its turn's record; to a new one if that is another turn's or expired."""

    async def get(self, key: ConversationKey) -> Checkpoint | None:
        """The record, expired or not."""

    async def delete(self, key: ConversationKey, turn_id: str) -> bool:
        """Whether there was one, of this turn; of any turn for ""."""

    async def delete_expired(self, now: int, limit: int) -> int:
        """Deletes up to `limit` expired records, of all tenants; returns how many it found."""


class BlockStore(Protocol):
    """Context blocks."""

    async def put(self, owner: Owner, new: NewBlock, *, most_blocks: int, now: int) -> ContextBlock:
        """See domain.blocks.put_block. Raises StateConflict, InvalidField, LimitExceeded."""

    async def get(self, owner: Owner, label: str) -> ContextBlock:
        """The owner's own. Raises NotFound."""

    async def list(self, owner: Owner) -> Sequence[ContextBlock]:
        """The owner's own, by label, without content."""

    async def delete(self, owner: Owner, label: str) -> bool:
        """With its entries and their marks; whether there was one."""

    async def edit(self, owner: Owner, label: str, edit: Edit, *, now: int) -> ContextBlock:
        """See domain.blocks.edited; the owner's own block, else the agent's. Raises NotFound."""

    async def effective(self, owner: Owner) -> Sequence[ContextBlock]:
        """See domain.blocks.effective; without content."""


class EntryStore(Protocol):
    """The entries of searchable and loadable blocks."""

    async def put(
        self, owner: Owner, entry: ContextEntry, terms: Mapping[str, int], *, most_entries: int
    ) -> ContextEntry:
        """Without its content; `terms` and how often it holds each are kept in a searchable block.

        Raises NotFound (block), StateConflict, LimitExceeded.
        """

    async def get(self, owner: Owner, label: str, key: str) -> ContextEntry:
        """Raises NotFound (block, entry)."""

    async def delete(self, owner: Owner, label: str, key: str) -> bool:
        """Whether there was one. Raises NotFound (block)."""

    async def list(
        self, owner: Owner, label: str, *, limit: int, after: str | None
    ) -> Page[ContextEntry, str]:
        """By key, without content. Raises NotFound (block)."""

    async def search(self, owner: Owner, label: str, terms: Sequence[str], *, limit: int) -> Matches:
        """In the block of this label, the owner's own, else the agent's; in all of them for "".

        Raises NotFound (block), StateConflict (not searchable).
        """

    async def load(
        self, key: ConversationKey, label: str, entry: str, *, most_loaded: int, now: int
    ) -> ContextEntry:
        """Marks it loaded. Raises NotFound (block, entry), StateConflict (not loadable), LimitExceeded."""

    async def unload(self, key: ConversationKey, label: str, entry: str) -> bool:
        """Whether it was loaded. Raises NotFound (block), StateConflict (not loadable)."""


class PromptStore(Protocol):
    """The system prompts that were written down."""

    async def get(self, key: ConversationKey, *, now: int) -> SystemPrompt:
        """The one that is written down; written down now if there is none yet."""

    async def refresh(self, key: ConversationKey, *, now: int) -> SystemPrompt:
        """Rendered and written down now."""

    async def refresh_all(self, tenant: str, agent_id: str) -> None:
        """Each of the agent's is rendered anew when it is next read."""


class WorkingStore(Protocol):
    """The working memory of a conversation as a whole."""

    async def read(self, key: ConversationKey) -> Stored:
        """All of it at one moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingStores:
    """The stores of working memory, over one database."""

    notes: NoteStore
    tasks: TaskStore
    checkpoints: CheckpointStore
    blocks: BlockStore
    entries: EntryStore
    prompts: PromptStore
    working: WorkingStore
