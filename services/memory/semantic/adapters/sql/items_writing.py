"""Scripts that register what is indexed, and take it out again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from services.kit.sql import Row, Script, Value, execute, execute_many, fetch
from services.kit.times import to_micros
from services.memory.semantic.app.item_ports import MemoryDocument
from services.memory.semantic.domain.items import SourceMessage
from services.memory.semantic.domain.vectors import Bucket, ContentClass

MESSAGE = ContentClass.MESSAGE.value

PUT = (
    "INSERT INTO items (tenant, agent_id, class, item_id, contact_id, conversation_id, sequence, message_id,"
    " role, author, session, time, ends) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (tenant, agent_id, class, item_id) DO UPDATE SET contact_id = excluded.contact_id,"
    " conversation_id = excluded.conversation_id, sequence = excluded.sequence,"
    " message_id = excluded.message_id, role = excluded.role, author = excluded.author,"
    " session = excluded.session, time = excluded.time, ends = excluded.ends"
)


def register_messages(tenant: str, agent_id: str, messages: Sequence[SourceMessage]) -> Script[None]:
    """Adds or replaces messages, and moves their conversations' progress.

    Conversations are locked, in order, before it is seen which messages are new: each is counted once.
    """
    latest = {message.item_id: message for message in messages}
    held = yield from _lock(tenant, agent_id, sorted({m.conversation_id for m in latest.values()}))
    known = yield from fetch(
        "SELECT item_id FROM items WHERE tenant = ? AND agent_id = ? AND class = ? AND item_id IN ??",
        tenant,
        agent_id,
        MESSAGE,
        list(latest),
    )
    yield from execute_many(PUT, [_message_row(tenant, agent_id, m) for m in latest.values()])
    yield from _add_authors(tenant, agent_id, latest.values())
    fresh = latest.keys() - {row["item_id"] for row in known}
    counts = Counter(latest[item_id].conversation_id for item_id in fresh)
    for progress in held:
        count = counts[progress["conversation_id"]]
        if count:
            yield from _advance(tenant, agent_id, progress, count)


def register_memories(bucket: Bucket, documents: Sequence[MemoryDocument]) -> Script[None]:
    """Adds or replaces memories."""
    latest = {document.memory_id: document for document in documents}
    in_order = [latest[memory_id] for memory_id in sorted(latest)]  # so that no two wait for each other
    yield from execute_many(PUT, [_memory_row(bucket, document) for document in in_order])


def unregister_memories(bucket: Bucket, memory_ids: Sequence[str]) -> Script[None]:
    """Removes memories; unknown ids change nothing."""
    yield from execute(
        "DELETE FROM items WHERE tenant = ? AND agent_id = ? AND class = ? AND item_id IN ??",
        bucket.tenant,
        bucket.agent,
        bucket.content.value,
        sorted(set(memory_ids)),
    )


def forget(tenant: str, agent_id: str) -> Script[None]:
    """Removes all that is known of an agent."""
    for table in ("items", "authors", "conversation_progress"):
        yield from execute(f"DELETE FROM {table} WHERE tenant = ? AND agent_id = ?", tenant, agent_id)


def _lock(tenant: str, agent_id: str, conversation_ids: list[str]) -> Script[Sequence[Row]]:
    """The conversations' progress, made where there is none."""
    yield from execute_many(
        "INSERT INTO conversation_progress"
        " (tenant, agent_id, conversation_id, indexed_count, indexed_sequence)"
        " VALUES (?, ?, ?, 0, 0) ON CONFLICT (tenant, agent_id, conversation_id) DO NOTHING",
        [(tenant, agent_id, conversation_id) for conversation_id in conversation_ids],
    )
    return (
        yield from fetch(
            "SELECT conversation_id, indexed_count, indexed_sequence FROM conversation_progress"
            " WHERE tenant = ? AND agent_id = ? AND conversation_id IN ??"
            " ORDER BY conversation_id FOR UPDATE",
            tenant,
            agent_id,
            conversation_ids,
        )
    )


def _advance(tenant: str, agent_id: str, progress: Row, fresh: int) -> Script[None]:
    """Counts what is new, and moves the sequence on over what follows without a gap."""
    reached = int(progress["indexed_sequence"])
    rows = yield from fetch(
        "SELECT sequence FROM items WHERE tenant = ? AND agent_id = ? AND conversation_id = ?"
        " AND sequence > ? ORDER BY sequence",
        tenant,
        agent_id,
        progress["conversation_id"],
        reached,
    )
    for row in rows:
        if row["sequence"] != reached + 1:
            break
        reached += 1
    yield from execute(
        "UPDATE conversation_progress SET indexed_count = indexed_count + ?, indexed_sequence = ?"
        " WHERE tenant = ? AND agent_id = ? AND conversation_id = ?",
        fresh,
        reached,
        tenant,
        agent_id,
        progress["conversation_id"],
    )


def _add_authors(tenant: str, agent_id: str, messages: Iterable[SourceMessage]) -> Script[None]:
    places = sorted({(m.conversation_id, m.contact_id, m.author) for m in messages if m.author})
    yield from execute_many(
        "INSERT INTO authors (tenant, agent_id, conversation_id, contact_id, author) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (tenant, agent_id, conversation_id, contact_id, author) DO NOTHING",
        [(tenant, agent_id, *place) for place in places],
    )


def _message_row(tenant: str, agent_id: str, message: SourceMessage) -> Sequence[Value]:
    return (
        tenant,
        agent_id,
        MESSAGE,
        message.item_id,
        message.contact_id,
        message.conversation_id,
        message.sequence,
        message.message_id,
        message.role,
        message.author,
        message.session,
        to_micros(message.time),
        None,
    )


def _memory_row(bucket: Bucket, document: MemoryDocument) -> Sequence[Value]:
    return (
        bucket.tenant,
        bucket.agent,
        bucket.content.value,
        document.memory_id,
        document.contact_id,
        "",
        0,
        "",
        0,
        "",
        "",
        to_micros(document.begins),
        None if document.ends is None else to_micros(document.ends),
    )
