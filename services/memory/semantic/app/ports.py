"""What the use cases need of stores and of other services."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from services.memory.semantic.domain.items import (
    SourceConversation,
)
from services.memory.semantic.domain.memory import (
    Cause,
    Contradiction,
    Kind,
    Memory,
    MessageRef,
    NewMemory,
    Scope,
    Verification,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What became of a write."""

    memory: Memory
    created: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryQuery:
    """Which memories a listing returns: what is live, with `as_of` what was valid then, else all.

    `after` is the number of the last one seen.
    """

    scope: Scope
    kinds: frozenset[Kind] = frozenset()
    key_prefix: str = ""
    include_superseded: bool = False
    as_of: datetime | None = None
    after: int = 0
    limit: int = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a judge, named, found of two memories with a probability: `new_id` against `old_id` (S-7)."""

    old_id: str
    new_id: str
    probability: float
    judge: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Supersession:
    """That a memory was replaced by another, why and when; `undone` is when that was taken back."""

    old_id: str
    new_id: str
    cause: Cause
    probability: float
    judge: str
    created: datetime
    undone: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryHistory:
    """Memories in order of writing, and how they replaced one another."""

    memories: tuple[Memory, ...]
    supersessions: tuple[Supersession, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContradictionQuery:
    """Which contradictions a listing returns: those between memories of a scope, after an id."""

    scope: Scope
    after: str = ""
    limit: int = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownConversation:
    """A conversation that was indexed up to a sequence number at the least."""

    tenant: str
    agent_id: str
    conversation_id: str
    highest: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptMemory:
    """A memory that exists, and whether it is live or will be; numbers grow in the order of writing."""

    number: int
    tenant: str
    agent_id: str
    memory_id: str
    lasts: bool


class MemoryStore(Protocol):
    """The canonical rows. Changes of what is live put index jobs into the outbox, in the same transaction.

    `now` decides what is live (`Memory.live`). With `as_of`, a read finds what was valid at that moment by
    all that is known today (S-8): it is about the time when statements held, not when they were written.
    What was forgotten is gone for every moment.
    """

    async def remember(self, tenant: str, new: NewMemory, now: datetime) -> Remembered:
        """Writes a version, or finds that nothing changed (S-6).

        What would hold beside it, of its key in the scope's buckets, ends where it begins. Raises Exists for
        a request_id that came with another memory.
        """

    async def get(self, tenant: str, agent_id: str, memory_ids: Sequence[str]) -> dict[str, Memory]:
        """Memories by id; unknown ids are left out."""

    async def pick(
        self,
        tenant: str,
        scope: Scope,
        memory_ids: Sequence[str],
        now: datetime,
        kinds: frozenset[Kind],
        choose: Callable[[Mapping[str, float]], Sequence[str]],
        *,
        as_of: datetime | None = None,
    ) -> dict[str, Memory]:
        """Those that `choose` chooses, by id, out of one snapshot.

        It is given the confidences, by id, of those of the memories that are live, in the scope's buckets
        and of any of the kinds. It may be called again, from another thread: it must only compute.
        """

    async def live_of_key(
        self, tenant: str, scope: Scope, key: str, now: datetime, *, as_of: datetime | None = None
    ) -> Memory | None:
        """The contact's live memory of a key, else the agent-wide one."""

    async def page(self, tenant: str, query: MemoryQuery, now: datetime) -> list[tuple[int, Memory]]:
        """A page, in order of writing, with the numbers that a next page begins after."""

    async def history(self, tenant: str, agent_id: str, memory_id: str) -> MemoryHistory:
        """All versions of a memory's key and bucket, and what replaced any of them, under whatever key.

        Versions under the same key in another bucket, of a contact that was merged, are among them when one
        replaced the other. Empty if the memory is unknown; the newest 1,000 if there are more.
        """

    async def set_pinned(
        self,
        tenant: str,
        agent_id: str,
        memory_id: str,
        pinned: bool,
        now: datetime,
        *,
        edits: int | None = None,
    ) -> Memory | None:
        """Pins or unpins, unless it is so already; None if it is unknown.

        Raises VersionConflict where there is something to change and it has not `edits`.
        """

    async def forget(self, tenant: str, agent_id: str, memory_id: str) -> list[str]:
        """Deletes all versions of the memory's key and bucket and returns their ids.

        And what they replaced under the same key in the bucket of a contact that was merged.
        """

    async def candidates_by_key(
        self,
        tenant: str,
        scope: Scope,
        words: Sequence[str],
        limit: int,
        now: datetime,
        kinds: frozenset[Kind] = frozenset(),
        *,
        as_of: datetime | None = None,
    ) -> list[tuple[str, float]]:
        """Live memories with key segments among `words`, and how many match, best first.

        A word that is in more than 100 of their keys does not count: it tells nothing.
        Only of these kinds, if any are given; likewise elsewhere.
        """

    async def of_messages(
        self,
        tenant: str,
        scope: Scope,
        refs: Sequence[MessageRef],
        now: datetime,
        *,
        as_of: datetime | None = None,
    ) -> dict[MessageRef, list[str]]:
        """Ids of live memories that came from messages."""

    async def standing(
        self,
        tenant: str,
        scope: Scope,
        now: datetime,
        kinds: frozenset[Kind] = frozenset(),
        *,
        as_of: datetime | None = None,
    ) -> list[Memory]:
        """Live memories that are not tasks: pinned ones, and the most recently accessed or written."""

    async def standing_choice(
        self,
        tenant: str,
        scope: Scope,
        limit: int,
        now: datetime,
        choose: Callable[[Sequence[Memory]], Sequence[Memory]],
    ) -> list[Memory]:
        """What `choose` made of `standing` when memories of the scope changed last, at most so many.

        The same until one is written, pinned, unpinned or brought back, one begins to hold, or one that was
        chosen no longer does; accesses, verification and decay are no changes.
        """

    async def count_access(
        self, tenant: str, agent_id: str, memory_ids: Sequence[str], now: datetime
    ) -> None:
        """Counts one access of each."""

    async def mark_indexed(self, tenant: str, agent_id: str, revisions: Mapping[str, int]) -> None:
        """Records up to which revision memories are indexed."""

    async def note_messages(self, tenant: str, agent_id: str, highest: Mapping[str, int]) -> None:
        """Records the highest sequence number indexed, by conversation."""

    async def known_conversations(
        self, after: KnownConversation | None, limit: int
    ) -> list[KnownConversation]:
        """Of those that were ever indexed, of every tenant, the next after one (None: the first), in order
        of tenant, agent and id."""

    async def enqueue_messages(self, known: KnownConversation, sequences: Sequence[int], suffix: str) -> None:
        """Enqueues index jobs under keys ending in `suffix`."""

    async def enqueue_memories(
        self, tenant: str, agent_id: str, memory_ids: Sequence[str], suffix: str
    ) -> None:
        """Likewise; unknown ids are left out."""

    async def kept(self, after: int, limit: int, now: datetime) -> list[KeptMemory]:
        """Memories of every tenant, past ones too, in order of their numbers, after one."""

    async def lasting(
        self, tenant: str, agent_id: str, memory_ids: Sequence[str], now: datetime
    ) -> dict[str, bool]:
        """Of those that exist, whether they last (`Memory.lasts`)."""


class JudgementStore(Protocol):
    """What was found of memories: which replaced which, which contradict each other (S-7, S-8).

    As with MemoryStore, index jobs come with what changes.
    """

    async def supersede(self, tenant: str, agent_id: str, verdict: Verdict, now: datetime) -> bool:
        """Ends the old memory where the new one begins; whether the old one is replaced by it now.

        Nothing is done, and the answer False, if one of them is gone, if either has been replaced meanwhile,
        or if this verdict was undone before. The same again is True and changes nothing. Raises StateConflict
        for a contact's and an agent-wide memory.
        """

    async def undo_supersession(self, tenant: str, agent_id: str, memory_id: str, now: datetime) -> Memory:
        """Takes back the newest supersession of a memory, which is then as it was before.

        Raises NotFound; StateConflict if it is not superseded, or another version holds its key and bucket.
        """

    async def record_contradiction(self, tenant: str, agent_id: str, verdict: Verdict, now: datetime) -> bool:
        """Notes, once for two memories, that they cannot both hold; whether that is new.

        Nothing is done if one of them is gone or replaced, nor once it was resolved. Raises StateConflict for
        a contact's and an agent-wide memory.
        """

    async def contradictions(
        self, tenant: str, query: ContradictionQuery, now: datetime
    ) -> list[Contradiction]:
        """Unresolved ones between live memories, in order of being found."""

    async def resolve_contradiction(
        self, tenant: str, agent_id: str, contradiction_id: str, kept_id: str, now: datetime
    ) -> Contradiction:
        """Settles one: the memory `kept_id` replaces the other; "" lets both stand.

        The same again changes nothing. Raises NotFound; InvalidField if `kept_id` is neither; StateConflict
        if it was resolved otherwise, or one of the two is no longer live.
        """

    async def ask_verification(self, tenant: str, agent_id: str, memory_ids: Sequence[str]) -> None:
        """Asks for a job for each of these memories that is pending still, once for each revision."""

    async def set_verification(
        self, tenant: str, agent_id: str, memory_id: str, verification: Verification, now: datetime
    ) -> bool:
        """Records how far a memory is verified; False if it is unknown."""


class Texts(Protocol):
    """Vectors of texts (the embedder)."""

    async def query(self, text: str) -> bytes:
        """A query's vector, float32 little endian. A long query stands by its beginning."""

    async def documents(self, texts: Sequence[str]) -> list[bytes]:
        """Documents' vectors; a long text stands by its beginning."""


class Conversations(Protocol):
    """Texts of messages (Episodic)."""

    async def messages(
        self, agent_id: str, conversation_id: str, sequences: Sequence[int]
    ) -> SourceConversation:
        """Those of the messages that exist. Raises NotFound for an unknown conversation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobState:
    """A job's id, and whether nothing will come of it."""

    job_id: str
    dead: bool


class Jobs(Protocol):
    """The ledger of derived work (Compactor)."""

    async def lookup(self, keys: Sequence[str]) -> dict[str, JobState]:
        """Jobs by idempotency key; unknown keys are left out."""
