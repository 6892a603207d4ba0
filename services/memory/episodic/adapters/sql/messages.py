"""The MessageStore: appends go through the coalescer, reads are scripts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from services.kit.errors import LimitExceeded
from services.kit.sql import Row, Script, SqlDatabase, Value, fetch
from services.memory.episodic.adapters.sql.agents import require_agent
from services.memory.episodic.adapters.sql.appending import Appender
from services.memory.episodic.adapters.sql.coalescing import Coalescer
from services.memory.episodic.adapters.sql.conversations import COLUMNS, conversation_of, conversation_row
from services.memory.episodic.adapters.sql.paths import (
    SELECT_MESSAGES,
    message_of,
    messages_in,
    tree_of,
)
from services.memory.episodic.adapters.sql.places import SEQUENCE_BITS, place
from services.memory.episodic.app.ports import MessageName, Page
from services.memory.episodic.domain.append import Append, Outcome
from services.memory.episodic.domain.checks import utf8_length
from services.memory.episodic.domain.coverage import CoverRules
from services.memory.episodic.domain.model import (
    Conversation,
    ConversationKey,
    Message,
    MessageFilter,
    MessageInContext,
)
from services.memory.episodic.domain.tree import Tree


class SqlMessages:
    """A MessageStore; `secret` is the installation's, `max_bytes` bounds the content of an answer.

    `extract` asks for the facts that people state in what is appended.
    """

    def __init__(
        self, database: SqlDatabase, secret: bytes, *, rules: CoverRules, max_bytes: int, extract: bool
    ) -> None:
        self._database = database
        self._max_bytes = max_bytes
        appender = Appender(secret, rules, extract=extract)
        self._appends: Coalescer[str, Append, tuple[Outcome, ...]] = Coalescer(
            lambda appends: database.write(lambda: appender.append_all(appends))
        )

    async def append(self, append: Append) -> tuple[Outcome, ...]:
        """Stores messages and their outbox rows."""
        return await self._appends.ask(append.key.tenant, append)

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

        def script() -> Script[Page[Message, int]]:
            row = yield from conversation_row(key)
            tree = yield from tree_of(key.tenant, row)
            rows = yield from _listing(key.tenant, row["number"], wanted, newest_first, limit + 1, after)
            return self._page((message_of(found, key.id, tree) for found in rows), limit)

        return await self._database.read(script)

    async def find(
        self, tenant: str, agent_id: str, names: Sequence[MessageName], neighbours: int
    ) -> Sequence[MessageInContext | None]:
        """For each name the message and its neighbours, or None."""

        def script() -> Script[Sequence[MessageInContext | None]]:
            yield from require_agent(tenant, agent_id)
            found: dict[MessageName, MessageInContext] = {}
            for row in (yield from _conversations(tenant, agent_id, {name[0] for name in names})):
                ids = [message_id for conversation_id, message_id in names if conversation_id == row["id"]]
                for one in (yield from _in_context(tenant, row, ids, neighbours)):
                    found[row["id"], one.message.id] = one
            answer = [found.get(name) for name in names]
            self._bound(m for one in answer if one for m in (*one.before, one.message, *one.after))
            return answer

        return await self._database.read(script)

    async def at(
        self, key: ConversationKey, sequences: Sequence[int]
    ) -> tuple[Conversation, Sequence[Message]]:
        """Those that exist, by sequence number."""

        def script() -> Script[tuple[Conversation, Sequence[Message]]]:
            row = yield from conversation_row(key)
            tree = yield from tree_of(key.tenant, row)
            places = [place(row["number"], n) for n in sorted(set(sequences)) if n <= row["stored_count"]]
            rows = yield from fetch(
                f"{SELECT_MESSAGES} WHERE tenant = ? AND place IN ?? ORDER BY place", key.tenant, places
            )
            messages = [message_of(found, key.id, tree) for found in rows]
            self._bound(messages)
            return conversation_of(row), messages

        return await self._database.read(script)

    def _page(self, messages: Iterable[Message], limit: int) -> Page[Message, int]:
        """As many as fit an answer, at least one."""
        items: list[Message] = []
        size = 0
        for message in messages:
            size += utf8_length(message.content)
            if items and (len(items) == limit or size > self._max_bytes):
                return Page(items=items, last=items[-1].sequence)
            items.append(message)
        return Page(items=items, last=None)

    def _bound(self, messages: Iterable[Message]) -> None:
        if sum(utf8_length(message.content) for message in messages) > self._max_bytes:
            raise LimitExceeded(
                "the answer would be too large; ask for fewer messages",
                metadata={"limit": str(self._max_bytes)},
            )


def _listing(
    tenant: str, number: int, wanted: MessageFilter, newest_first: bool, limit: int, after: int | None
) -> Script[Sequence[Row]]:
    begin, end = number << SEQUENCE_BITS, (number + 1) << SEQUENCE_BITS
    if after is not None:
        begin, end = (begin, place(number, after)) if newest_first else (place(number, after), end)
    conditions = ["tenant = ? AND place > ? AND place < ?"]
    arguments: list[Value] = [tenant, begin, end]
    if wanted.roles:
        conditions.append("role IN ??")
        arguments.append(sorted(map(int, wanted.roles)))
    if wanted.authors:
        conditions.append("author IN ??")
        arguments.append(sorted(wanted.authors))
    if wanted.start is not None:
        conditions.append("time >= ?")
        arguments.append(wanted.start)
    if wanted.end is not None:
        conditions.append("time < ?")
        arguments.append(wanted.end)
    order = "DESC" if newest_first else "ASC"
    statement = f"{SELECT_MESSAGES} WHERE {' AND '.join(conditions)} ORDER BY place {order} LIMIT ?"
    return (yield from fetch(statement, *arguments, limit))


def _conversations(tenant: str, agent_id: str, ids: set[str]) -> Script[Sequence[Row]]:
    return (
        yield from fetch(
            f"SELECT {COLUMNS} FROM conversations WHERE tenant = ? AND agent_id = ? AND id IN ??",
            tenant,
            agent_id,
            sorted(ids),
        )
    )


def _in_context(
    tenant: str, conversation: Row, ids: list[str], neighbours: int
) -> Script[list[MessageInContext]]:
    """The messages with these ids; neighbours lie on the active path, else on the message's newest branch."""
    tree = yield from tree_of(tenant, conversation)
    rows = yield from fetch(
        f"{SELECT_MESSAGES} WHERE tenant = ? AND conversation = ? AND id IN ??",
        tenant,
        conversation["number"],
        ids,
    )
    found = []
    for row in rows:
        message = message_of(row, conversation["id"], tree)
        active = tree.on_path(message.sequence, conversation["leaf_sequence"])
        leaf = conversation["leaf_sequence"] if active else tree.newest_leaf(message.sequence)
        around: list[Message] = []
        if neighbours:
            around = yield from _around(tenant, conversation, tree, message.depth, neighbours, leaf)
        found.append(
            MessageInContext(
                message=message,
                active=active,
                before=[one for one in around if one.depth < message.depth],
                after=[one for one in around if one.depth > message.depth],
            )
        )
    return found


def _around(
    tenant: str, conversation: Row, tree: Tree, depth: int, neighbours: int, leaf: int
) -> Script[list[Message]]:
    ranges = tree.stretch(depth - neighbours, depth + neighbours, leaf)
    return (yield from messages_in(tenant, conversation["number"], conversation["id"], tree, ranges))
