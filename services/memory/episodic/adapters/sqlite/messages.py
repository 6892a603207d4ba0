"""Reading messages from SQLite, and the MessageStore."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from services.kit.errors import LimitExceeded
from services.kit.sqlite import Database
from services.memory.episodic.adapters.sqlite.agents import require_agent
from services.memory.episodic.adapters.sqlite.appending import Appender
from services.memory.episodic.adapters.sqlite.conversations import conversation_of, conversation_row
from services.memory.episodic.adapters.sqlite.places import SEQUENCE_BITS, SEQUENCE_MASK, place
from services.memory.episodic.app.ports import History, MessageName, Page
from services.memory.episodic.domain.append import Append, Outcome
from services.memory.episodic.domain.checks import utf8_length
from services.memory.episodic.domain.model import (
    Conversation,
    ConversationKey,
    Message,
    MessageFilter,
    MessageInContext,
    Role,
)

T = TypeVar("T")
COLUMNS = "place, id, parent_id, role, author, session, time, create_time, token_count, content"
SELECT = f"SELECT {COLUMNS} FROM messages"


class SqliteMessages:
    """A MessageStore."""

    def __init__(self, database: Database, secret: bytes, *, max_bytes: int, remember_requests: int) -> None:
        self._database = database
        self._max_bytes = max_bytes
        self._appender = Appender(secret, remember_requests)

    async def append(self, append: Append) -> tuple[Outcome, ...]:
        """Stores messages and their outbox rows."""
        return await self._database.write(lambda connection: self._appender.append(connection, append))

    async def list(
        self,
        key: ConversationKey,
        wanted: MessageFilter,
        *,
        newest_first: bool,
        limit: int,
        after: int | None,
    ) -> Page[Message, int]:
        """By sequence number."""

        def work(connection: sqlite3.Connection) -> Page[Message, int]:
            number = conversation_row(connection, key)["number"]
            rows = connection.execute(*_listing(number, wanted, newest_first, limit + 1, after))
            items: list[Message] = []
            size = 0
            for row in rows:
                size += utf8_length(row["content"])
                if items and (len(items) == limit or size > self._max_bytes):
                    return Page(items=items, last=items[-1].sequence)
                items.append(message_of(row, key.id))
            return Page(items=items, last=None)

        return await self._database.read(work)

    async def find(
        self, tenant: str, agent_id: str, names: Sequence[MessageName], neighbours: int
    ) -> Sequence[MessageInContext | None]:
        """For each name the message and its neighbours, or None."""

        def work(connection: sqlite3.Connection) -> Sequence[MessageInContext | None]:
            require_agent(connection, tenant, agent_id)
            numbers = _conversation_numbers(connection, tenant, agent_id, {name[0] for name in names})
            reader = _Reader(connection, self._max_bytes)
            return [
                reader.in_context(numbers[conversation], conversation, message_id, neighbours)
                if conversation in numbers
                else None
                for conversation, message_id in names
            ]

        return await self._database.read(work)

    async def at(
        self, key: ConversationKey, sequences: Sequence[int]
    ) -> tuple[Conversation, Sequence[Message]]:
        """Those that exist, by sequence number."""

        def work(connection: sqlite3.Connection) -> tuple[Conversation, Sequence[Message]]:
            row = conversation_row(connection, key)
            places = [place(row["number"], n) for n in sorted(set(sequences)) if n <= row["stored_count"]]
            found = connection.execute(
                f"{SELECT} WHERE place IN (SELECT value FROM json_each(?)) ORDER BY place",
                (json.dumps(places),),
            )
            return conversation_of(row), _Reader(connection, self._max_bytes).messages(found, key.id)

        return await self._database.read(work)

    async def read(self, key: ConversationKey, work: Callable[[History], T]) -> T:
        """Runs `work` over one moment of a conversation."""
        return await self._database.read(lambda connection: work(_SqliteHistory(connection, key)))


class _SqliteHistory:
    """A History; valid within its read transaction."""

    def __init__(self, connection: sqlite3.Connection, key: ConversationKey) -> None:
        self._connection = connection
        row = conversation_row(connection, key)
        self._number: int = row["number"]
        self._conversation = conversation_of(row)

    @property
    def conversation(self) -> Conversation:
        """The conversation."""
        return self._conversation

    def first(self, limit: int) -> Sequence[Message]:
        """Its first messages."""
        return self._between(1, limit)

    def newest_first(self, page: int, most: int) -> Iterator[Message]:
        """Messages from the newest back."""
        last = self._conversation.stored_count
        end = max(0, last - most)
        while last > end:
            begin = max(end, last - page)
            yield from reversed(self._between(begin + 1, last))
            last = begin

    def _between(self, begin: int, last: int) -> Sequence[Message]:
        rows = self._connection.execute(
            f"{SELECT} WHERE place BETWEEN ? AND ? ORDER BY place",
            (place(self._number, begin), place(self._number, last)),
        )
        return [message_of(row, self._conversation.id) for row in rows]


class _Reader:
    """Collects messages for one answer, up to a number of bytes."""

    def __init__(self, connection: sqlite3.Connection, max_bytes: int) -> None:
        self._connection = connection
        self._max_bytes = max_bytes
        self._size = 0

    def messages(self, rows: Iterable[sqlite3.Row], conversation_id: str) -> list[Message]:
        """Raises LimitExceeded when the answer would be too large."""
        found = []
        for row in rows:
            self._size += utf8_length(row["content"])
            if self._size > self._max_bytes:
                raise LimitExceeded(
                    "the answer would be too large; ask for fewer messages",
                    metadata={"limit": str(self._max_bytes)},
                )
            found.append(message_of(row, conversation_id))
        return found

    def in_context(
        self, number: int, conversation_id: str, message_id: str, neighbours: int
    ) -> MessageInContext | None:
        """A message and its neighbours."""
        row = self._connection.execute(
            "SELECT place FROM messages WHERE conversation = ? AND id = ?", (number, message_id)
        ).fetchone()
        if row is None:
            return None
        middle = row["place"]
        rows = self._connection.execute(
            f"{SELECT} WHERE place BETWEEN ? AND ? AND conversation = ? ORDER BY place",
            (middle - neighbours, middle + neighbours, number),
        )
        found = self.messages(rows, conversation_id)
        at = next(i for i, message in enumerate(found) if message.id == message_id)
        return MessageInContext(message=found[at], before=found[:at], after=found[at + 1 :])


def message_of(row: sqlite3.Row, conversation_id: str) -> Message:
    """From COLUMNS."""
    return Message(
        id=row["id"],
        conversation_id=conversation_id,
        sequence=row["place"] & SEQUENCE_MASK,
        parent_id=row["parent_id"],
        role=Role(row["role"]),
        author=row["author"],
        session=row["session"],
        time=row["time"],
        create_time=row["create_time"],
        token_count=row["token_count"],
        content=row["content"],
    )


def _listing(
    number: int, wanted: MessageFilter, newest_first: bool, limit: int, after: int | None
) -> tuple[str, list[int | str]]:
    """The statement and its arguments."""
    begin, end = number << SEQUENCE_BITS, (number + 1) << SEQUENCE_BITS
    if after is not None:
        begin, end = (begin, place(number, after)) if newest_first else (place(number, after), end)
    conditions = ["place > ? AND place < ?"]
    arguments: list[int | str] = [begin, end]
    if wanted.roles:
        conditions.append("role IN (SELECT value FROM json_each(?))")
        arguments.append(json.dumps(sorted(wanted.roles)))
    if wanted.authors:
        conditions.append("author IN (SELECT value FROM json_each(?))")
        arguments.append(json.dumps(sorted(wanted.authors)))
    if wanted.start is not None:
        conditions.append("time >= ?")
        arguments.append(wanted.start)
    if wanted.end is not None:
        conditions.append("time < ?")
        arguments.append(wanted.end)
    order = "DESC" if newest_first else "ASC"
    return f"{SELECT} WHERE {' AND '.join(conditions)} ORDER BY place {order} LIMIT ?", [*arguments, limit]


def _conversation_numbers(
    connection: sqlite3.Connection, tenant: str, agent_id: str, ids: set[str]
) -> dict[str, int]:
    rows = connection.execute(
        "SELECT id, number FROM conversations"
        " WHERE tenant = ? AND agent_id = ? AND id IN (SELECT value FROM json_each(?))",
        (tenant, agent_id, json.dumps(sorted(ids))),
    )
    return {row["id"]: row["number"] for row in rows}
