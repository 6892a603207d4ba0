"""Entries of searchable and loadable blocks, and which of them a conversation has loaded (W-4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from services.kit.errors import NotFound
from services.kit.sql import Row, Script, SqlDatabase, execute, execute_many, fetch, first
from services.memory.episodic.adapters.sql.blocks import (
    OF_AGENT,
    BlockRow,
    block_at,
    own_block,
)
from services.memory.episodic.adapters.sql.blocks_search import search
from services.memory.episodic.adapters.sql.conversations import conversation_row
from services.memory.episodic.app.ports import Page
from services.memory.episodic.app.working_ports import Matches
from services.memory.episodic.domain.blocks import (
    WITH_ENTRIES,
    ContextEntry,
    Kind,
    Owner,
    check_entry_count,
    require_kind,
)
from services.memory.episodic.domain.model import ConversationKey
from services.memory.episodic.domain.working import check_limit

BRIEF = "number, key, title, token_count, term_count, update_time"
COLUMNS = f"{BRIEF}, content"
OF_BLOCK = "WHERE tenant = ? AND block = ?"


class SqlEntries:
    """An EntryStore."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def put(
        self, owner: Owner, entry: ContextEntry, terms: Mapping[str, int], *, most_entries: int
    ) -> ContextEntry:
        """Adds or replaces it, with its terms in a searchable block."""
        return await self._database.write(lambda: _put(owner, entry, terms, most_entries))

    async def get(self, owner: Owner, label: str, key: str) -> ContextEntry:
        """Reads one."""

        def script() -> Script[ContextEntry]:
            block = yield from own_block(owner, label)
            return entry_of((yield from _entry_row(owner.tenant, block.number, key)), label)

        return await self._database.read(script)

    async def delete(self, owner: Owner, label: str, key: str) -> bool:
        """With its terms and marks."""
        return await self._database.write(lambda: _delete(owner, label, key))

    async def list(
        self, owner: Owner, label: str, *, limit: int, after: str | None
    ) -> Page[ContextEntry, str]:
        """By key."""
        return await self._database.read(lambda: _list(owner, label, limit, after))

    async def search(self, owner: Owner, label: str, terms: Sequence[str], *, limit: int) -> Matches:
        """Best first."""
        return await self._database.read(lambda: search(owner, label, terms, limit))

    async def load(
        self, key: ConversationKey, label: str, entry: str, *, most_loaded: int, now: int
    ) -> ContextEntry:
        """Marks it."""
        return await self._database.write(lambda: _load(key, label, entry, most_loaded, now))

    async def unload(self, key: ConversationKey, label: str, entry: str) -> bool:
        """Removes the mark."""
        return await self._database.write(lambda: _unload(key, label, entry))


def select_loaded(tenant: str, conversation: int) -> Script[Sequence[ContextEntry]]:
    """What a conversation has loaded, in the order of loading."""
    rows = yield from fetch(
        "SELECT b.label AS label, e.key AS key, e.title AS title, e.content AS content,"
        " e.token_count AS token_count, e.update_time AS update_time FROM loaded_entries l"
        " JOIN context_entries e ON e.tenant = l.tenant AND e.number = l.entry"
        " JOIN context_blocks b ON b.tenant = l.tenant AND b.number = l.block"
        " WHERE l.tenant = ? AND l.conversation = ? ORDER BY l.load_time, l.entry",
        tenant,
        conversation,
    )
    return [entry_of(row, row["label"]) for row in rows]


def first_keys(tenant: str, block: int, limit: int) -> Script[Sequence[tuple[str, str]]]:
    """Key and title of a block's first entries by key."""
    rows = yield from fetch(
        f"SELECT key, title FROM context_entries {OF_BLOCK} ORDER BY key LIMIT ?", tenant, block, limit
    )
    return [(row["key"], row["title"]) for row in rows]


def entry_of(row: Row, label: str, *, brief: bool = False) -> ContextEntry:
    """From COLUMNS, or with `brief` from BRIEF."""
    return ContextEntry(
        label=label,
        key=row["key"],
        title=row["title"],
        content="" if brief else row["content"],
        token_count=row["token_count"],
        update_time=row["update_time"],
    )


def _find(tenant: str, block: int, key: str) -> Script[Row | None]:
    return first(f"SELECT {COLUMNS} FROM context_entries {OF_BLOCK} AND key = ?", tenant, block, key)


def _entry_row(tenant: str, block: int, key: str) -> Script[Row]:
    row = yield from _find(tenant, block, key)
    if row is None:
        raise NotFound("context entry", key)
    return row


def _put(
    owner: Owner, entry: ContextEntry, terms: Mapping[str, int], most_entries: int
) -> Script[ContextEntry]:
    block = yield from own_block(owner, entry.label, lock=True)
    require_kind(block.block, *sorted(WITH_ENTRIES))
    searchable = block.block.kind is Kind.SEARCHABLE
    length = sum(terms.values()) if searchable else 0
    old = yield from _find(owner.tenant, block.number, entry.key)
    if old is None:
        check_entry_count(block.block.entry_count + 1, most_entries)
    number = yield from _write(owner.tenant, block.number, entry, length)
    if searchable:
        if old is not None:
            yield from _forget_terms(owner.tenant, block.number, number)
        yield from execute_many(
            "INSERT INTO context_terms (tenant, block, term, entry, frequency, length)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            [(owner.tenant, block.number, term, number, count, length) for term, count in terms.items()],
        )
    before = old["term_count"] if old is not None else 0
    yield from _count(owner.tenant, block, 0 if old is not None else 1, length - before)
    return replace(entry, content="")


def _write(tenant: str, block: int, entry: ContextEntry, length: int) -> Script[int]:
    rows = yield from fetch(
        "INSERT INTO context_entries (tenant, block, key, title, content, token_count, term_count,"
        " update_time) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (tenant, block, key) DO UPDATE SET title = excluded.title,"
        " content = excluded.content, token_count = excluded.token_count, term_count = excluded.term_count,"
        " update_time = excluded.update_time RETURNING number",
        tenant,
        block,
        entry.key,
        entry.title,
        entry.content,
        entry.token_count,
        length,
        entry.update_time,
    )
    number: int = rows[0]["number"]
    return number


def _count(tenant: str, block: BlockRow, entries: int, terms: int) -> Script[None]:
    """Adds to a block's counts."""
    yield from execute(
        "UPDATE context_blocks SET entry_count = ?, term_count = ? WHERE tenant = ? AND number = ?",
        block.block.entry_count + entries,
        block.term_count + terms,
        tenant,
        block.number,
    )


def _forget_terms(tenant: str, block: int, entry: int) -> Script[None]:
    yield from execute(f"DELETE FROM context_terms {OF_BLOCK} AND entry = ?", tenant, block, entry)


def _delete(owner: Owner, label: str, key: str) -> Script[bool]:
    block = yield from own_block(owner, label, lock=True)
    row = yield from _find(owner.tenant, block.number, key)
    if row is None:
        return False
    yield from execute(
        f"DELETE FROM loaded_entries {OF_BLOCK} AND entry = ?", owner.tenant, block.number, row["number"]
    )
    yield from _forget_terms(owner.tenant, block.number, row["number"])
    yield from execute(f"DELETE FROM context_entries {OF_BLOCK} AND key = ?", owner.tenant, block.number, key)
    yield from _count(owner.tenant, block, -1, -row["term_count"])
    return True


def _list(owner: Owner, label: str, limit: int, after: str | None) -> Script[Page[ContextEntry, str]]:
    block = yield from own_block(owner, label)
    rows = yield from fetch(
        f"SELECT {BRIEF} FROM context_entries {OF_BLOCK} AND key > ? ORDER BY key LIMIT ?",
        owner.tenant,
        block.number,
        after or "",
        limit + 1,
    )
    items = [entry_of(row, label, brief=True) for row in rows[:limit]]
    return Page(items=items, last=items[-1].key if len(rows) > limit else None)


def _loadable(key: ConversationKey, number: int, label: str, *, lock: bool) -> Script[BlockRow]:
    owner = Owner(tenant=key.tenant, agent_id=key.agent_id, conversation_id=key.id)
    block = yield from block_at(owner, [OF_AGENT, number], label, lock=lock)
    require_kind(block.block, Kind.LOADABLE)
    return block


def _load(key: ConversationKey, label: str, entry: str, most_loaded: int, now: int) -> Script[ContextEntry]:
    number = (yield from conversation_row(key, lock=True))["number"]
    # Locked, so that the entry isn't deleted before its mark is there to be deleted with it.
    block = yield from _loadable(key, number, label, lock=True)
    row = yield from _entry_row(key.tenant, block.number, entry)
    others = yield from first(
        "SELECT COUNT(*) AS marks FROM loaded_entries WHERE tenant = ? AND conversation = ? AND entry <> ?",
        key.tenant,
        number,
        row["number"],
    )
    loaded = 1 + (others["marks"] if others is not None else 0)
    check_limit(f"at most {most_loaded} entries are loaded at one time", loaded, most_loaded)
    yield from execute(
        "INSERT INTO loaded_entries (tenant, conversation, block, entry, load_time) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (tenant, conversation, block, entry) DO NOTHING",
        key.tenant,
        number,
        block.number,
        row["number"],
        now,
    )
    return entry_of(row, label)


def _unload(key: ConversationKey, label: str, entry: str) -> Script[bool]:
    number = (yield from conversation_row(key, lock=True))["number"]
    block = yield from _loadable(key, number, label, lock=False)
    row = yield from _find(key.tenant, block.number, entry)
    if row is None:
        return False
    gone = yield from fetch(
        "DELETE FROM loaded_entries WHERE tenant = ? AND conversation = ? AND block = ? AND entry = ?"
        " RETURNING entry",
        key.tenant,
        number,
        block.number,
        row["number"],
    )
    return bool(gone)
