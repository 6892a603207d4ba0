"""Context blocks (W-4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from services.kit.errors import NotFound
from services.kit.sql import Row, Script, SqlDatabase, execute, fetch, first
from services.memory.episodic.adapters.sql.agents import require_agent
from services.memory.episodic.adapters.sql.conversations import conversation_row
from services.memory.episodic.domain.blocks import (
    ContextBlock,
    Kind,
    NewBlock,
    Owner,
    Writer,
    edited,
    effective,
    put_block,
)
from services.memory.episodic.domain.model import ConversationKey
from services.memory.episodic.domain.working import Edit, check_limit

OF_AGENT = 0  # in the place of a conversation's number
BRIEF = (
    "number, conversation, label, description, kind, max_tokens, token_count, written_by, entry_count,"
    " term_count, create_time, update_time"
)
COLUMNS = f"{BRIEF}, content"


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockRow:
    """A block with what stands for it in other tables, and how many terms its entries have together."""

    number: int
    block: ContextBlock
    term_count: int


class SqlBlocks:
    """A BlockStore."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def put(self, owner: Owner, new: NewBlock, *, most_blocks: int, now: int) -> ContextBlock:
        """Creates or changes it."""
        return await self._database.write(lambda: _put(owner, new, most_blocks, now))

    async def get(self, owner: Owner, label: str) -> ContextBlock:
        """Reads it."""

        def script() -> Script[ContextBlock]:
            return (yield from own_block(owner, label)).block

        return await self._database.read(script)

    async def list(self, owner: Owner) -> Sequence[ContextBlock]:
        """By label."""

        def script() -> Script[Sequence[ContextBlock]]:
            place = yield from place_of(owner)
            rows = yield from blocks_in(owner, [place])
            return [row.block for row in rows]

        return await self._database.read(script)

    async def delete(self, owner: Owner, label: str) -> bool:
        """With all that belongs to it."""
        return await self._database.write(lambda: _delete(owner, label))

    async def edit(self, owner: Owner, label: str, edit: Edit, *, now: int) -> ContextBlock:
        """One caller after the other."""
        return await self._database.write(lambda: _edit(owner, label, edit, now))

    async def effective(self, owner: Owner) -> Sequence[ContextBlock]:
        """Of the conversation and the agent."""

        def script() -> Script[Sequence[ContextBlock]]:
            places = yield from places_of(owner)
            rows = yield from blocks_in(owner, places)
            return effective(row.block for row in rows)

        return await self._database.read(script)


def place_of(owner: Owner, *, lock: bool = False) -> Script[int]:
    """The conversation's number; OF_AGENT for the agent. With `lock`, writers go one after the other.

    Raises NotFound.
    """
    if not owner.conversation_id:
        yield from require_agent(owner.tenant, owner.agent_id, lock=lock)
        return OF_AGENT
    key = ConversationKey(tenant=owner.tenant, agent_id=owner.agent_id, id=owner.conversation_id)
    number: int = (yield from conversation_row(key, lock=lock))["number"]
    return number


def places_of(owner: Owner) -> Script[list[int]]:
    """Where blocks may lie that count for the owner. Raises NotFound."""
    place = yield from place_of(owner)
    return [OF_AGENT] if place == OF_AGENT else [OF_AGENT, place]


def blocks_in(owner: Owner, places: list[int], *, columns: str = BRIEF) -> Script[Sequence[BlockRow]]:
    """The blocks at these places, the agent's first, by label; their content only with COLUMNS."""
    rows = yield from fetch(
        f"SELECT {columns} FROM context_blocks WHERE tenant = ? AND agent_id = ? AND conversation IN ??"
        " ORDER BY conversation, label",
        owner.tenant,
        owner.agent_id,
        places,
    )
    return [_block_row(row, content=columns == COLUMNS) for row in rows]


def block_at(owner: Owner, places: list[int], label: str, *, lock: bool = False) -> Script[BlockRow]:
    """The block of this label, the conversation's before the agent's. Raises NotFound."""
    row = yield from first(
        f"SELECT {COLUMNS} FROM context_blocks WHERE tenant = ? AND agent_id = ? AND label = ?"
        f" AND conversation IN ?? ORDER BY conversation DESC LIMIT 1{' FOR UPDATE' if lock else ''}",
        owner.tenant,
        owner.agent_id,
        label,
        places,
    )
    if row is None:
        raise NotFound("context block", label)
    return _block_row(row, content=True)


def own_block(owner: Owner, label: str, *, lock: bool = False) -> Script[BlockRow]:
    """The owner's own block. Raises NotFound."""
    place = yield from place_of(owner)
    return (yield from block_at(owner, [place], label, lock=lock))


def _block_row(row: Row, *, content: bool) -> BlockRow:
    block = ContextBlock(
        label=row["label"],
        description=row["description"],
        kind=Kind(row["kind"]),
        max_tokens=row["max_tokens"],
        content=row["content"] if content else "",
        token_count=row["token_count"],
        written_by=Writer(row["written_by"]),
        entry_count=row["entry_count"],
        create_time=row["create_time"],
        update_time=row["update_time"],
        of_conversation=row["conversation"] != OF_AGENT,
    )
    return BlockRow(number=row["number"], block=block, term_count=row["term_count"])


def _put(owner: Owner, new: NewBlock, most_blocks: int, now: int) -> Script[ContextBlock]:
    place = yield from place_of(owner, lock=True)
    rows = yield from fetch(
        f"SELECT {COLUMNS} FROM context_blocks WHERE tenant = ? AND agent_id = ? AND conversation = ?"
        " AND label = ? FOR UPDATE",
        owner.tenant,
        owner.agent_id,
        place,
        new.label,
    )
    old = _block_row(rows[0], content=True).block if rows else None
    block = replace(put_block(new, old, now), of_conversation=place != OF_AGENT)
    if old is None:
        others = yield from blocks_in(owner, [place])
        check_limit(f"at most {most_blocks} blocks", len(others) + 1, most_blocks)
    yield from execute(
        "INSERT INTO context_blocks (tenant, agent_id, conversation, label, description, kind, max_tokens,"
        " content, token_count, written_by, create_time, update_time)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (tenant, agent_id, conversation, label) DO UPDATE SET"
        " description = excluded.description, max_tokens = excluded.max_tokens,"
        " content = excluded.content, token_count = excluded.token_count,"
        " written_by = excluded.written_by, update_time = excluded.update_time",
        owner.tenant,
        owner.agent_id,
        place,
        block.label,
        block.description,
        int(block.kind),
        block.max_tokens,
        block.content,
        block.token_count,
        int(block.written_by),
        block.create_time,
        block.update_time,
    )
    return block


def _delete(owner: Owner, label: str) -> Script[bool]:
    place = yield from place_of(owner, lock=True)
    row = yield from first(
        "SELECT number FROM context_blocks WHERE tenant = ? AND agent_id = ? AND conversation = ?"
        " AND label = ? FOR UPDATE",
        owner.tenant,
        owner.agent_id,
        place,
        label,
    )
    if row is None:
        return False
    for table in ("loaded_entries", "context_terms", "context_entries"):
        yield from execute(f"DELETE FROM {table} WHERE tenant = ? AND block = ?", owner.tenant, row["number"])
    yield from execute(
        "DELETE FROM context_blocks WHERE tenant = ? AND number = ?", owner.tenant, row["number"]
    )
    return True


def _edit(owner: Owner, label: str, edit: Edit, now: int) -> Script[ContextBlock]:
    places = yield from places_of(owner)
    row = yield from block_at(owner, places, label, lock=True)
    content, token_count = edited(row.block, edit)
    writer = Writer.MODEL if content else Writer.NOBODY
    yield from execute(
        "UPDATE context_blocks SET content = ?, token_count = ?, written_by = ?, update_time = ?"
        " WHERE tenant = ? AND number = ?",
        content,
        token_count,
        int(writer),
        now,
        owner.tenant,
        row.number,
    )
    return replace(row.block, content=content, token_count=token_count, written_by=writer, update_time=now)
