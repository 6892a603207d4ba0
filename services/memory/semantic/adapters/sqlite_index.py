"""Words and the registry of what is indexed, in SQLite with FTS5."""

from __future__ import annotations

import hashlib
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import islice

from services.kit.sqlite import Database
from services.kit.times import from_micros, to_micros
from services.memory.semantic.app.ports import MemoryDocument, MessageDocument
from services.memory.semantic.domain.items import IndexedMessage, MessageScope, Progress
from services.memory.semantic.domain.memory import Kind

MESSAGE = "message"
MEMORY = "memory"
MAX_AUTHORS = 64
WHOLE_FACT = "whole"
MAX_VARIABLES = 500

SEARCH = (
    "SELECT i.item_id AS item_id, -bm25(keywords, 0.0, 0.0, 1.0) AS score"
    " FROM keywords JOIN items AS i ON i.number = keywords.rowid WHERE keywords MATCH :match"
)
BEST_FIRST = " ORDER BY score DESC, item_id LIMIT :limit"


class SqliteItemIndex:
    """One file, derived from the canonical stores."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put_messages(self, tenant: str, agent_id: str, documents: Sequence[MessageDocument]) -> None:
        """See the port."""

        def work(c: sqlite3.Connection) -> None:
            fresh: dict[str, int] = defaultdict(int)
            authors: set[tuple[str, str, str]] = set()
            for document in documents:
                message = document.message
                row = {
                    "item_id": message.item_id,
                    "contact_id": message.contact_id,
                    "conversation_id": message.conversation_id,
                    "sequence": message.sequence,
                    "message_id": message.message_id,
                    "role": message.role,
                    "author": message.author,
                    "session": message.session,
                    "time": to_micros(message.time),
                }
                places = [_conversation(message.conversation_id), _contact(message.contact_id)]
                authors.add((message.conversation_id, message.contact_id, message.author))
                if _put(c, tenant, agent_id, MESSAGE, row, places, document.terms):
                    fresh[message.conversation_id] += 1
            c.executemany(
                "INSERT OR IGNORE INTO authors VALUES (?, ?, ?, ?, ?)",
                [(tenant, agent_id, *place) for place in sorted(authors) if place[-1]],
            )
            for conversation_id, count in fresh.items():
                _advance(c, tenant, agent_id, conversation_id, count)

        await self._database.write(work)

    async def put_memories(self, tenant: str, agent_id: str, documents: Sequence[MemoryDocument]) -> None:
        """See the port."""

        def work(c: sqlite3.Connection) -> None:
            for document in documents:
                row: dict[str, object] = {"item_id": document.memory_id, "contact_id": document.contact_id}
                places = [_contact(document.contact_id), _kind(document.kind)]
                _put(c, tenant, agent_id, MEMORY, row, places, document.terms)

        await self._database.write(work)

    async def remove_memories(self, tenant: str, agent_id: str, memory_ids: Sequence[str]) -> None:
        """See the port."""

        def work(c: sqlite3.Connection) -> None:
            for memory_id in memory_ids:
                _remove(c, tenant, agent_id, MEMORY, memory_id)

        await self._database.write(work)

    async def search_messages(
        self, tenant: str, agent_id: str, terms: Sequence[str], scope: MessageScope, limit: int
    ) -> list[tuple[str, float]]:
        """See the port."""
        if scope.conversation_id:
            places = [_conversation(scope.conversation_id)]
        else:
            places = [_contact(contact_id) for contact_id in scope.contact_ids]
        where, values = _conditions(scope)
        return await self._search(tenant, agent_id, MESSAGE, terms, [places], where, values, limit)

    async def search_memories(
        self,
        tenant: str,
        agent_id: str,
        terms: Sequence[str],
        contact_ids: Sequence[str],
        limit: int,
        kinds: frozenset[Kind] = frozenset(),
    ) -> list[tuple[str, float]]:
        """See the port."""
        places = [
            [_contact(contact_id) for contact_id in contact_ids],
            [_kind(kind) for kind in sorted(kinds)],
        ]
        return await self._search(tenant, agent_id, MEMORY, terms, places, "", {}, limit)

    async def _search(
        self,
        tenant: str,
        agent_id: str,
        class_: str,
        terms: Sequence[str],
        places: Sequence[Sequence[str]],
        where: str,
        values: dict[str, object],
        limit: int,
    ) -> list[tuple[str, float]]:
        if not terms:
            return []
        match = f'bucket : "{_bucket(tenant, agent_id, class_)}" AND terms : ({_any(terms)})'
        for any_of in filter(None, places):
            match += f" AND place : ({_any(any_of)})"
        values |= {"match": match, "limit": limit}
        rows = await self._database.read(lambda c: c.execute(SEARCH + where + BEST_FIRST, values).fetchall())
        return [(row["item_id"], row["score"]) for row in rows]

    async def features(
        self, tenant: str, agent_id: str, item_ids: Sequence[str]
    ) -> dict[str, IndexedMessage]:
        """See the port."""

        def work(c: sqlite3.Connection) -> list[sqlite3.Row]:
            rows: list[sqlite3.Row] = []
            for start in range(0, len(item_ids), MAX_VARIABLES):
                some = item_ids[start : start + MAX_VARIABLES]
                rows += c.execute(
                    "SELECT * FROM items WHERE tenant = ? AND agent_id = ? AND class = ?"
                    f" AND item_id IN ({', '.join('?' for _ in some)})",
                    (tenant, agent_id, MESSAGE, *some),
                ).fetchall()
            return rows

        return {row["item_id"]: _indexed(row) for row in await self._database.read(work)}

    async def authors(
        self, tenant: str, agent_id: str, conversation_id: str, contact_ids: Sequence[str] = ()
    ) -> list[str]:
        """See the port."""
        where, values = _conditions(
            MessageScope(conversation_id=conversation_id, contact_ids=tuple(contact_ids))
        )
        rows = await self._database.read(
            lambda c: c.execute(
                "SELECT DISTINCT author FROM authors AS i WHERE tenant = :tenant AND agent_id = :agent"
                f"{where} LIMIT {MAX_AUTHORS}",
                {"tenant": tenant, "agent": agent_id} | values,
            ).fetchall()
        )
        return sorted(row["author"] for row in rows)

    async def progress(
        self, tenant: str, agent_id: str, conversation_ids: Sequence[str]
    ) -> dict[str, Progress]:
        """See the port."""

        def work(c: sqlite3.Connection) -> list[sqlite3.Row | None]:
            return [
                c.execute(
                    "SELECT * FROM conversation_progress"
                    " WHERE tenant = ? AND agent_id = ? AND conversation_id = ?",
                    (tenant, agent_id, conversation_id),
                ).fetchone()
                for conversation_id in conversation_ids
            ]

        return {
            row["conversation_id"]: Progress(
                conversation_id=row["conversation_id"],
                count=row["indexed_count"],
                sequence=row["indexed_sequence"],
            )
            for row in await self._database.read(work)
            if row is not None
        }

    async def missing(
        self, tenant: str, agent_id: str, conversation_id: str, upto: int, *, limit: int
    ) -> list[int]:
        """See the port."""
        reached = (await self.progress(tenant, agent_id, [conversation_id])).get(conversation_id)
        after = reached.sequence if reached else 0
        rows = await self._database.read(
            lambda c: c.execute(
                "SELECT sequence FROM items INDEXED BY items_place WHERE tenant = ? AND agent_id = ?"
                " AND conversation_id = ? AND sequence > ? AND sequence <= ?",
                (tenant, agent_id, conversation_id, after, upto),
            ).fetchall()
        )
        known = {row["sequence"] for row in rows}
        return list(islice((n for n in range(after + 1, upto + 1) if n not in known), limit))

    async def buckets(self) -> list[tuple[str, str, str]]:
        """See the port."""
        rows = await self._database.read(
            lambda c: c.execute("SELECT DISTINCT tenant, agent_id, class FROM items").fetchall()
        )
        return [(row["tenant"], row["agent_id"], row["class"]) for row in rows]

    async def item_ids(self, tenant: str, agent_id: str, class_: str, after: str, limit: int) -> list[str]:
        """See the port."""
        rows = await self._database.read(
            lambda c: c.execute(
                "SELECT item_id FROM items WHERE tenant = ? AND agent_id = ? AND class = ? AND item_id > ?"
                " ORDER BY item_id LIMIT ?",
                (tenant, agent_id, class_, after, limit),
            ).fetchall()
        )
        return [row["item_id"] for row in rows]

    async def known_memories(self, tenant: str, agent_id: str, memory_ids: Sequence[str]) -> set[str]:
        """See the port."""

        def work(c: sqlite3.Connection) -> set[str]:
            known: set[str] = set()
            for start in range(0, len(memory_ids), MAX_VARIABLES):
                some = memory_ids[start : start + MAX_VARIABLES]
                rows = c.execute(
                    "SELECT item_id FROM items WHERE tenant = ? AND agent_id = ? AND class = ?"
                    f" AND item_id IN ({', '.join('?' for _ in some)})",
                    (tenant, agent_id, MEMORY, *some),
                )
                known.update(row["item_id"] for row in rows)
            return known

        return await self._database.read(work)

    async def whole(self) -> bool:
        """See the port."""
        row = await self._database.read(
            lambda c: c.execute("SELECT value FROM index_facts WHERE name = ?", (WHOLE_FACT,)).fetchone()
        )
        return row is not None and row["value"] == "yes"

    async def set_whole(self, whole: bool) -> None:
        """See the port."""
        value = "yes" if whole else "no"
        await self._database.write(
            lambda c: c.execute("INSERT OR REPLACE INTO index_facts VALUES (?, ?)", (WHOLE_FACT, value))
        )


def _put(
    c: sqlite3.Connection,
    tenant: str,
    agent_id: str,
    class_: str,
    row: dict[str, object],
    places: Iterable[str],
    terms: str,
) -> bool:
    """Adds or replaces an item and its words; whether it is new."""
    values = {"tenant": tenant, "agent_id": agent_id, "class": class_, **row}
    known = c.execute(
        "SELECT number FROM items WHERE tenant = ? AND agent_id = ? AND class = ? AND item_id = ?",
        (tenant, agent_id, class_, row["item_id"]),
    ).fetchone()
    if known is not None:
        c.execute("DELETE FROM keywords WHERE rowid = ?", (known["number"],))
        values["number"] = known["number"]
    names = ", ".join(values)
    number = c.execute(
        f"INSERT OR REPLACE INTO items ({names}) VALUES ({', '.join(f':{n}' for n in values)})", values
    ).lastrowid
    c.execute(
        "INSERT INTO keywords (rowid, bucket, place, terms) VALUES (?, ?, ?, ?)",
        (number, _bucket(tenant, agent_id, class_), " ".join(places), terms),
    )
    return known is None


def _remove(c: sqlite3.Connection, tenant: str, agent_id: str, class_: str, item_id: str) -> None:
    gone = c.execute(
        "DELETE FROM items WHERE tenant = ? AND agent_id = ? AND class = ? AND item_id = ? RETURNING number",
        (tenant, agent_id, class_, item_id),
    ).fetchall()
    c.executemany("DELETE FROM keywords WHERE rowid = ?", [(row["number"],) for row in gone])


def _advance(c: sqlite3.Connection, tenant: str, agent_id: str, conversation_id: str, fresh: int) -> None:
    """Counts what is new, and moves the sequence on over what follows without a gap."""
    where = (tenant, agent_id, conversation_id)
    c.execute("INSERT OR IGNORE INTO conversation_progress VALUES (?, ?, ?, 0, 0)", where)
    reached = c.execute(
        "SELECT indexed_sequence FROM conversation_progress"
        " WHERE tenant = ? AND agent_id = ? AND conversation_id = ?",
        where,
    ).fetchone()[0]
    rows = c.execute(
        "SELECT sequence FROM items WHERE tenant = ? AND agent_id = ? AND conversation_id = ?"
        " AND sequence > ? ORDER BY sequence",
        (*where, reached),
    )
    for row in rows:
        if row["sequence"] != reached + 1:
            break
        reached += 1
    c.execute(
        "UPDATE conversation_progress SET indexed_count = indexed_count + ?, indexed_sequence = ?"
        " WHERE tenant = ? AND agent_id = ? AND conversation_id = ?",
        (fresh, reached, *where),
    )


def _conditions(scope: MessageScope) -> tuple[str, dict[str, object]]:
    """What the words' places don't already say."""
    where, values = "", dict[str, object]()
    if scope.conversation_id:
        where += " AND i.conversation_id = :conversation"
        values["conversation"] = scope.conversation_id
    if scope.contact_ids:
        names = {f"c{index}": contact_id for index, contact_id in enumerate(scope.contact_ids)}
        where += f" AND i.contact_id IN ({', '.join(f':{n}' for n in names)})"
        values |= names
    if scope.roles:
        where += f" AND i.role IN ({', '.join(str(role) for role in sorted(scope.roles))})"
    if scope.authors:
        names = {f"a{index}": author for index, author in enumerate(sorted(scope.authors))}
        where += f" AND i.author IN ({', '.join(f':{n}' for n in names)})"
        values |= names
    if scope.start:
        where += " AND i.time >= :start"
        values["start"] = to_micros(scope.start)
    if scope.end:
        where += " AND i.time < :end"
        values["end"] = to_micros(scope.end)
    return where, values


def _indexed(row: sqlite3.Row) -> IndexedMessage:
    return IndexedMessage(
        conversation_id=row["conversation_id"],
        sequence=row["sequence"],
        message_id=row["message_id"],
        contact_id=row["contact_id"],
        role=row["role"],
        author=row["author"],
        session=row["session"],
        time=from_micros(row["time"]),
    )


def _any(tokens: Iterable[str]) -> str:
    """Any of the tokens; quoted, so that nothing in them is syntax."""
    return " OR ".join('"' + token.replace('"', '""') + '"' for token in tokens)


def _token(kind: str, *parts: str) -> str:
    """One token that stands for some ids, whatever characters they have."""
    digest = hashlib.blake2b(digest_size=12)
    for part in parts:
        digest.update(f"{len(part)}:{part}".encode())
    return kind + digest.hexdigest()


def _bucket(tenant: str, agent_id: str, class_: str) -> str:
    return _token("b", tenant, agent_id, class_)


def _conversation(conversation_id: str) -> str:
    return _token("v", conversation_id)


def _contact(contact_id: str) -> str:
    return _token("c", contact_id)


def _kind(kind: Kind) -> str:
    return f"k{int(kind)}"
