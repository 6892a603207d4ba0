"""The semantic service's use cases over adapters in memory, with services that a test can take away."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from services.kit.errors import DataFlowRefused, DependencyDown, InvalidRequest, NotFound
from services.kit.sql import Script
from services.kit.sqlite import migrate, run_script
from services.memory.semantic.adapters.memory_items import MemoryItemIndex
from services.memory.semantic.adapters.sql import migrations
from services.memory.semantic.adapters.sql.judgements import SqlJudgements
from services.memory.semantic.adapters.sql.memories import SqlMemories
from services.memory.semantic.adapters.sql.memories_writing import WriteRules
from services.memory.semantic.adapters.sql.upkeep import SqlUpkeep
from services.memory.semantic.adapters.vectors_memory import MemoryVectorIndex
from services.memory.semantic.app.generations import Generation, Generations
from services.memory.semantic.app.hyde import Hyde
from services.memory.semantic.app.indexing import Indexer, MemoryItem, MessageItem
from services.memory.semantic.app.ports import JobState
from services.memory.semantic.app.recall import Recall, RecallSettings
from services.memory.semantic.domain.analysis import analyse
from services.memory.semantic.domain.items import SourceConversation, SourceMessage
from services.memory.semantic.domain.memory import FactType, Memory, NewMemory, Scope, Source
from services.memory.semantic.domain.vectors import VectorModel, pack

TENANT, AGENT = "acme", "ada"
NOW = datetime(2031, 5, 4, 12, 0, tzinfo=UTC)
DIMENSION = 32
AGENT_WIDE = Scope(agent_id=AGENT)
USER = 2
T = TypeVar("T")


@dataclass
class Hashing:
    """Vectors that are alike where words are shared; refuses texts with `refused` in them, or all."""

    refused: str = ""
    down: bool = False
    kept_in: bool = False
    calls: list[list[str]] = field(default_factory=list)

    async def query(self, text: str) -> bytes:
        return (await self.documents([text]))[0]

    async def documents(self, texts: Sequence[str]) -> list[bytes]:
        if self.down:
            raise DependencyDown
        if self.kept_in:
            raise DataFlowRefused
        self.calls.append(list(texts))
        if self.refused and any(self.refused in text for text in texts):
            raise InvalidRequest("refused")
        return [vector(text) for text in texts]


def vector(text: str) -> bytes:
    values = [0.0] * DIMENSION
    for term in analyse(text):
        values[hashlib.blake2b(term.encode(), digest_size=2).digest()[0] % DIMENSION] += 1.0
    return pack(values)


class Episodes:
    """Conversations of an Episodic service."""

    def __init__(self) -> None:
        self.sources: dict[str, SourceConversation] = {}
        self.asked: list[tuple[str, tuple[int, ...]]] = []

    def add(self, conversation_id: str, *texts: str, contact_id: str = "", **fields: Any) -> None:
        chosen = {"role": USER, "author": "", "session": "", "time": NOW, "tool_text": ""} | fields
        self.sources[conversation_id] = SourceConversation(
            authors=tuple({chosen["author"]} - {""}),
            messages=tuple(
                SourceMessage(
                    conversation_id=conversation_id,
                    contact_id=contact_id,
                    sequence=sequence,
                    message_id=f"{conversation_id}-{sequence}",
                    created=NOW - timedelta(seconds=3),
                    text=text,
                    **chosen,
                )
                for sequence, text in enumerate(texts, start=1)
            ),
        )

    async def messages(
        self, agent_id: str, conversation_id: str, sequences: Sequence[int]
    ) -> SourceConversation:
        self.asked.append((conversation_id, tuple(sequences)))
        if conversation_id not in self.sources:
            raise NotFound("conversation", conversation_id)
        source = self.sources[conversation_id]
        found = tuple(m for m in source.messages if m.sequence in sequences)
        return SourceConversation(authors=source.authors, messages=found)


@dataclass
class Ledger:
    """States of jobs by key."""

    states: dict[str, JobState] = field(default_factory=dict)
    down: bool = False

    async def lookup(self, keys: Sequence[str]) -> dict[str, JobState]:
        if self.down:
            raise DependencyDown
        return {key: self.states[key] for key in keys if key in self.states}


class Sql:
    """A SqlDatabase in memory, empty: scripts run one after the other, on the spot."""

    def __init__(self) -> None:
        self.connection = sqlite3.connect(":memory:", isolation_level=None)
        self.connection.row_factory = sqlite3.Row
        migrate(self.connection, migrations("sqlite"), Path("memory"))

    async def write(self, script: Callable[[], Script[T]]) -> T:
        self.connection.execute("BEGIN")
        try:
            result = run_script(self.connection, script())
        except BaseException:
            self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")
        return result

    async def read(self, script: Callable[[], Script[T]]) -> T:
        return run_script(self.connection, script())


class Outbox:
    """The idempotency keys of the jobs that wait, in the order of writing."""

    def __init__(self, sql: Sql) -> None:
        self._connection = sql.connection

    def __iter__(self) -> Iterator[str]:
        rows = self._connection.execute("SELECT key FROM outbox ORDER BY id").fetchall()
        return iter([row["key"] for row in rows])

    def clear(self) -> None:
        self._connection.execute("DELETE FROM outbox")


class Parts:
    """Everything, wired."""

    def __init__(self) -> None:
        self.now = NOW
        sql = Sql()
        self.store = SqlMemories(sql, WriteRules(task_lifetime=timedelta(days=7)))
        self.judgements = SqlJudgements(sql)
        self.upkeep = SqlUpkeep(sql)
        self.outbox = Outbox(sql)
        self.items = MemoryItemIndex()
        self.vectors = MemoryVectorIndex(VectorModel(revision="r", dimension=DIMENSION))
        self.texts = Hashing()
        self.generations = Generations(Generation(vectors=self.vectors, texts=self.texts))
        self.episodes = Episodes()
        self.ledger = Ledger()
        self.lags: list[float] = []
        self.indexer = Indexer(
            store=self.store,
            items=self.items,
            generations=self.generations,
            conversations=self.episodes,
            observe_lag=self.lags.append,
            clock=lambda: self.now,
        )
        self.recall = self.recalling()

    def recalling(self, hyde: Hyde | None = None) -> Recall:
        """Recall over all of this, with or without a model."""
        return Recall(
            store=self.store,
            items=self.items,
            generations=self.generations,
            settings=RecallSettings(channel_seconds=2.0),
            clock=lambda: self.now,
            hyde=hyde,
        )

    async def remember(self, key: str, value: str, scope: Scope = AGENT_WIDE, **fields: Any) -> Memory:
        chosen = {
            "fact_type": FactType.FACT,
            "pinned": False,
            "source": Source.EXPLICIT,
            "provenance": (),
            "valid_from": None,
            "request_id": "",
        } | fields
        tenant = chosen.pop("tenant", TENANT)
        new = NewMemory(scope=scope, key=key, value=value, **chosen)
        return (await self.store.remember(tenant, new, self.now)).memory

    async def index_messages(self, conversation_id: str, *sequences: int) -> list[str]:
        items = [MessageItem(conversation_id=conversation_id, sequence=n) for n in sequences]
        return await self.indexer.index(TENANT, AGENT, items)

    async def index_memories(self, *memories: Memory) -> list[str]:
        return await self.indexer.index(TENANT, AGENT, [MemoryItem(memory_id=m.id) for m in memories])
