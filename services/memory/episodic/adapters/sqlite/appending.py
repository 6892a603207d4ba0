"""The append, in the writer's transaction (SPEC E-1, E-2, SV-5). The hot path: few statements."""

from __future__ import annotations

import json
import sqlite3
from functools import lru_cache

from services.kit import outbox
from services.kit.errors import Exists, FieldProblem
from services.kit.outbox import NewJob
from services.memory.episodic.adapters.sqlite.conversations import conversation_of, conversation_row
from services.memory.episodic.adapters.sqlite.places import SEQUENCE_MASK, place
from services.memory.episodic.domain.append import (
    Append,
    Known,
    Outcome,
    Plan,
    from_runs,
    plan_append,
    request_digest,
    tenant_key,
    to_runs,
)
from services.memory.episodic.domain.model import ConversationKey, Message, Role

PRUNE_STEP = 4  # forgotten request ids deleted by a write that remembers one
CACHED_KEYS = 1024
JOB_TYPE = "index_message"


class Appender:
    """Appends within a transaction; `secret` is the installation's, `remember_requests` microseconds."""

    def __init__(self, secret: bytes, remember_requests: int) -> None:
        self._remember = remember_requests
        self._key = lru_cache(maxsize=CACHED_KEYS)(lambda tenant: tenant_key(secret, tenant))

    def append(self, connection: sqlite3.Connection, append: Append) -> tuple[Outcome, ...]:
        """Carries out an append. Raises NotFound, Exists, ParentConflict; then nothing was changed."""
        row = conversation_row(connection, append.key)
        number: int = row["number"]
        key = self._key(append.key.tenant)
        if not append.request_id:
            return self._store(connection, append, row, key)
        digest = request_digest(key, append)
        answered = _answered(connection, number, append.request_id, digest)
        if answered is not None:
            return answered
        outcomes = self._store(connection, append, row, key)
        self._remember_request(connection, number, append, digest, outcomes)
        return outcomes

    def _store(
        self, connection: sqlite3.Connection, append: Append, row: sqlite3.Row, key: bytes
    ) -> tuple[Outcome, ...]:
        number: int = row["number"]

        def find(message_id: str) -> Known | None:
            found = connection.execute(
                "SELECT place, role, author, content FROM messages WHERE conversation = ? AND id = ?",
                (number, message_id),
            ).fetchone()
            return None if found is None else _known(found)

        conversation = conversation_of(row)
        plan = plan_append(append, conversation, key, find)
        if plan.new:
            _insert(
                connection, append.key, number, plan, authors_changed=plan.authors != conversation.authors
            )
        return plan.outcomes

    def _remember_request(
        self,
        connection: sqlite3.Connection,
        number: int,
        append: Append,
        digest: str,
        outcomes: tuple[Outcome, ...],
    ) -> None:
        connection.execute(
            "INSERT INTO append_requests (conversation, request_id, digest, runs, create_time)"
            " VALUES (?, ?, ?, ?, ?)",
            (number, append.request_id, digest, json.dumps(to_runs(outcomes)), append.now),
        )
        connection.execute(
            "DELETE FROM append_requests WHERE create_time < ? AND number IN"
            " (SELECT number FROM append_requests ORDER BY number LIMIT ?)",
            (append.now - self._remember, PRUNE_STEP),
        )


def _answered(
    connection: sqlite3.Connection, number: int, request_id: str, digest: str
) -> tuple[Outcome, ...] | None:
    """The first answer to a request id, None when it is new."""
    row = connection.execute(
        "SELECT digest, runs FROM append_requests WHERE conversation = ? AND request_id = ?",
        (number, request_id),
    ).fetchone()
    if row is None:
        return None
    if row["digest"] != digest:
        problem = FieldProblem(field="request_id", description="was sent with other content")
        raise Exists("this request id was used with other content", fields=[problem])
    return tuple(
        Outcome(message_id=_id_at(connection, number, sequence), sequence=sequence, created=created)
        for sequence, created in from_runs(json.loads(row["runs"]))
    )


def _id_at(connection: sqlite3.Connection, number: int, sequence: int) -> str:
    row = connection.execute("SELECT id FROM messages WHERE place = ?", (place(number, sequence),)).fetchone()
    return str(row["id"])


def _insert(
    connection: sqlite3.Connection, key: ConversationKey, number: int, plan: Plan, *, authors_changed: bool
) -> None:
    connection.executemany(
        "INSERT INTO messages (place, conversation, id, parent_id, role, author, session, time, create_time,"
        " token_count, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                place(number, m.sequence),
                number,
                m.id,
                m.parent_id,
                m.role,
                m.author,
                m.session,
                m.time,
                m.create_time,
                m.token_count,
                m.content,
            )
            for m in plan.new
        ],
    )
    newest = plan.new[-1]
    connection.execute(
        "UPDATE conversations SET stored_count = ?, leaf_id = ?, update_time = ? WHERE number = ?",
        (newest.sequence, newest.id, newest.create_time, number),
    )
    if authors_changed:
        connection.execute(
            "UPDATE conversations SET authors = ? WHERE number = ?",
            (json.dumps(plan.authors, ensure_ascii=False), number),
        )
    outbox.put(connection, key.tenant, [_index_job(key, message) for message in plan.new])


def _index_job(key: ConversationKey, message: Message) -> NewJob:
    return NewJob(
        type=JOB_TYPE,
        agent_id=key.agent_id,
        subject=f"conversations/{key.id}/messages/{message.sequence}",
        key=f"{JOB_TYPE}/{key.agent_id}/{key.id}/{message.sequence}",
        payload={"conversation_id": key.id, "sequence": message.sequence},
    )


def _known(row: sqlite3.Row) -> Known:
    return Known(
        sequence=row["place"] & SEQUENCE_MASK,
        role=Role(row["role"]),
        author=row["author"],
        content=row["content"],
    )
