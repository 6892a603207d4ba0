"""Records of open turns (W-3)."""

from __future__ import annotations

import json
from collections.abc import Sequence

from services.kit.sql import Row, Script, SqlDatabase, execute, execute_many, fetch, first
from services.memory.episodic.adapters.sql.conversations import conversation_row, set_checkpoint_mark
from services.memory.episodic.app.working_ports import Saved
from services.memory.episodic.domain.checkpoints import (
    Checkpoint,
    Handle,
    Preview,
    Round,
    SavedCall,
    expired,
)
from services.memory.episodic.domain.model import ConversationKey
from services.memory.episodic.domain.parts import canonical_json
from services.memory.episodic.domain.working import WorkingLimits

OF_CONVERSATION = "WHERE tenant = ? AND conversation = ?"


class SqlCheckpoints:
    """A CheckpointStore."""

    def __init__(self, database: SqlDatabase, limits: WorkingLimits) -> None:
        self._database = database
        self._limits = limits

    async def save(self, key: ConversationKey, round_: Round, *, now: int) -> Saved:
        """Adds a round."""
        return await self._database.write(lambda: _save(key, round_, now, self._limits))

    async def get(self, key: ConversationKey) -> Checkpoint | None:
        """Reads the record."""

        def script() -> Script[Checkpoint | None]:
            row = yield from conversation_row(key)
            return (yield from select_checkpoint(key.tenant, row["number"]))

        return await self._database.read(script)

    async def delete(self, key: ConversationKey, turn_id: str) -> bool:
        """Deletes the record."""

        def script() -> Script[bool]:
            number = (yield from conversation_row(key, lock=True))["number"]
            head = yield from _head(key.tenant, number)
            if head is None or (turn_id and head["turn_id"] != turn_id):
                return False
            yield from delete_checkpoint(key.tenant, number)
            return True

        return await self._database.write(script)

    async def delete_expired(self, now: int, limit: int) -> int:
        """Deletes some that have expired, each in a transaction of its own."""
        oldest = now - self._limits.expires_after

        def find() -> Script[Sequence[Row]]:
            # Housekeeping is no tenant's call: this looks at all of them.
            return (
                yield from fetch(
                    "SELECT tenant, conversation FROM checkpoints WHERE update_time <= ?"
                    " ORDER BY update_time LIMIT ?",
                    oldest,
                    limit,
                )
            )

        found = await self._database.read(find)
        for row in found:
            await self._delete_if_expired(row["tenant"], row["conversation"], now)
        return len(found)

    async def _delete_if_expired(self, tenant: str, number: int, now: int) -> None:
        """It may have been saved again since it was found."""

        def script() -> Script[None]:
            yield from execute(
                "SELECT number FROM conversations WHERE tenant = ? AND number = ? FOR UPDATE", tenant, number
            )
            head = yield from _head(tenant, number)
            if head is not None and expired(head["update_time"], now, self._limits):
                yield from delete_checkpoint(tenant, number)

        await self._database.write(script)


def delete_checkpoint(tenant: str, conversation: int) -> Script[None]:
    """Deletes the record of a conversation's open turn; the caller has locked the conversation's row."""
    yield from _delete_rows(tenant, conversation)
    yield from set_checkpoint_mark(tenant, conversation, False)


def _delete_rows(tenant: str, conversation: int) -> Script[None]:
    yield from execute(f"DELETE FROM checkpoint_calls {OF_CONVERSATION}", tenant, conversation)
    yield from execute(f"DELETE FROM checkpoints {OF_CONVERSATION}", tenant, conversation)


def select_checkpoint(tenant: str, conversation: int) -> Script[Checkpoint | None]:
    """The record, expired or not; None where there is none."""
    head = yield from _head(tenant, conversation)
    if head is None:
        return None
    rows = yield from fetch(
        "SELECT call_id, round, name, arguments, complete, is_error, cut, content, said FROM checkpoint_calls"
        f" {OF_CONVERSATION} ORDER BY round, place, call_id",
        tenant,
        conversation,
    )
    return Checkpoint(
        turn_id=head["turn_id"],
        round=head["round"],
        calls=tuple(map(_call, rows)),
        handles=tuple(Handle(name=name, handle=handle) for name, handle in json.loads(head["handles"])),
        create_time=head["create_time"],
        update_time=head["update_time"],
    )


def _head(tenant: str, conversation: int) -> Script[Row | None]:
    return first(
        f"SELECT turn_id, round, handles, create_time, update_time FROM checkpoints {OF_CONVERSATION}",
        tenant,
        conversation,
    )


def _call(row: Row) -> SavedCall:
    preview = Preview(content=row["content"], is_error=bool(row["is_error"]), cut=bool(row["cut"]))
    return SavedCall(
        call_id=row["call_id"],
        name=row["name"],
        arguments=json.loads(row["arguments"]),
        result=preview if row["complete"] else None,
        round=row["round"],
        said=row["said"],
    )


def _save(key: ConversationKey, round_: Round, now: int, limits: WorkingLimits) -> Script[Saved]:
    conversation = yield from conversation_row(key, lock=True)
    number = conversation["number"]
    head = yield from _head(key.tenant, number)
    if head is not None and (head["turn_id"] != round_.turn_id or expired(head["update_time"], now, limits)):
        yield from _delete_rows(key.tenant, number)
        head = None
    # A save that comes late must not bring back the handles of an earlier round.
    late = head is not None and head["round"] > round_.number
    yield from _put_head(key.tenant, number, round_, head if late else None, now)
    yield from _put_calls(key.tenant, number, round_)
    count = yield from _drop_oldest(key.tenant, number, limits.checkpoint_calls)
    if not conversation["has_checkpoint"]:
        yield from set_checkpoint_mark(key.tenant, number, True)
    return Saved(call_count=count, update_time=now)


def _put_head(tenant: str, number: int, round_: Round, newer: Row | None, now: int) -> Script[None]:
    handles = canonical_json([[handle.name, handle.handle] for handle in round_.handles])
    yield from execute(
        "INSERT INTO checkpoints (tenant, conversation, turn_id, round, handles, create_time, update_time)"
        " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tenant, conversation) DO UPDATE SET"
        " round = excluded.round, handles = excluded.handles, update_time = excluded.update_time",
        tenant,
        number,
        round_.turn_id,
        newer["round"] if newer else round_.number,
        newer["handles"] if newer else handles,
        now,
        now,
    )


def _put_calls(tenant: str, number: int, round_: Round) -> Script[None]:
    """A call that is known keeps its place, and its result unless another one comes."""
    yield from execute_many(
        "INSERT INTO checkpoint_calls (tenant, conversation, call_id, round, place, name, arguments,"
        " complete, is_error, cut, content, said) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (tenant, conversation, call_id) DO UPDATE SET name = excluded.name,"
        " arguments = excluded.arguments, complete = excluded.complete, is_error = excluded.is_error,"
        " cut = excluded.cut, content = excluded.content, said = excluded.said"
        " WHERE excluded.complete OR NOT checkpoint_calls.complete",
        [
            (
                tenant,
                number,
                call.call_id,
                round_.number,
                place,
                call.name,
                canonical_json(call.arguments),
                call.result is not None,
                call.result is not None and call.result.is_error,
                call.result is not None and call.result.cut,
                call.result.content if call.result is not None else "",
                call.said,
            )
            for place, call in enumerate(round_.calls)
        ],
    )


def _drop_oldest(tenant: str, number: int, keep: int) -> Script[int]:
    """Leaves the newest calls; returns how many there are."""
    rows = yield from fetch(
        f"SELECT call_id FROM checkpoint_calls {OF_CONVERSATION}"
        " ORDER BY round DESC, place DESC, call_id DESC",
        tenant,
        number,
    )
    old = [row["call_id"] for row in rows[keep:]]
    if old:
        yield from execute(
            f"DELETE FROM checkpoint_calls {OF_CONVERSATION} AND call_id IN ??", tenant, number, old
        )
    return len(rows) - len(old)
