"""Appends of concurrent callers in one transaction (SPEC E-1, E-2, SV-5). The hot path: few statements."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import TypeAlias

from services.kit.errors import Exists, FieldProblem, NotFound, PalimpsestError
from services.kit.outbox import NewJob, put_jobs
from services.kit.refreshing import path_changed
from services.kit.sql import Row, Script, Value, execute_many, fetch
from services.memory.episodic.adapters.sql import jobs
from services.memory.episodic.adapters.sql.agents import require_agent
from services.memory.episodic.adapters.sql.checkpoints import delete_checkpoint
from services.memory.episodic.adapters.sql.conversations import COLUMN_NAMES, conversation_of
from services.memory.episodic.adapters.sql.covering import cover_due, progress_of
from services.memory.episodic.adapters.sql.paths import live_overlays, tokens_in, tree_of, tree_with
from services.memory.episodic.adapters.sql.places import SEQUENCE_MASK, place
from services.memory.episodic.domain.append import (
    Append,
    Growth,
    Known,
    Outcome,
    from_spans,
    ids_in_question,
    request_digest,
    tenant_key,
    to_spans,
)
from services.memory.episodic.domain.coverage import CoverRules, Progress
from services.memory.episodic.domain.model import ConversationKey, Role, ends_turn
from services.memory.episodic.domain.tree import Tree

CACHED_KEYS = 1024
Answer: TypeAlias = "tuple[Outcome, ...] | PalimpsestError"
Arguments: TypeAlias = "tuple[Value, ...]"

INSERT_MESSAGE = (
    "INSERT INTO messages (tenant, place, conversation, id, parent_id, role, author, session, time,"
    " create_time, token_count, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
INSERT_RUN = "INSERT INTO runs (tenant, conversation, first, base, depth) VALUES (?, ?, ?, ?, ?)"
INSERT_REQUEST = (
    "INSERT INTO append_requests (tenant, conversation, request_id, digest, runs, create_time)"
    " VALUES (?, ?, ?, ?, ?, ?)"
)
UPDATE_CONVERSATION = (
    "UPDATE conversations SET stored_count = ?, leaf_id = ?, leaf_sequence = ?, leaf_depth = ?,"
    " leaf_tokens = ?, covered_count = ?, covered_tokens = ?, cover_requested = ?, revision = ?,"
    " update_time = ?, authors = ? WHERE tenant = ? AND number = ?"
)


class Appender:
    """Carries out appends; `secret` is the installation's, `extract` asks for the facts that people state."""

    def __init__(self, secret: bytes, rules: CoverRules, *, extract: bool) -> None:
        self._rules = rules
        self._extract = extract
        self._key = lru_cache(maxsize=CACHED_KEYS)(lambda tenant: tenant_key(secret, tenant))

    def append_all(self, appends: Sequence[Append]) -> Script[list[Answer]]:
        """The answer to each: its outcomes, or why it failed; one that failed changes nothing.

        All are of one tenant, so that the transaction stays within its shard.
        """
        tenant = appends[0].key.tenant
        threads = yield from self._lock(tenant, appends)
        present = [thread for thread in threads.values() if thread.row is not None]
        yield from _load_requests(tenant, present)
        yield from _load_known(tenant, present)
        answers = [threads[append.key].plan(append) for append in appends]
        yield from self._carry_out(tenant, present)
        return answers

    def _lock(self, tenant: str, appends: Sequence[Append]) -> Script[dict[ConversationKey, _Thread]]:
        """The conversations, locked in one order, so that two transactions never wait for each other."""
        threads: dict[ConversationKey, _Thread] = {}
        for append in appends:
            if append.key not in threads:
                threads[append.key] = _Thread(append.key, self._key(tenant))
            threads[append.key].appends.append(append)
        columns = ", ".join(f"c.{name}" for name in COLUMN_NAMES)
        keys = _padded([(key.agent_id, key.id) for key in threads])
        rows = yield from fetch(
            f"SELECT {columns} FROM ({_values('(?, ?)', keys)}) AS k JOIN conversations c"
            " ON c.tenant = ? AND c.agent_id = k.column1 AND c.id = k.column2"
            " ORDER BY c.number FOR UPDATE OF c",
            *chain.from_iterable(keys),
            tenant,
        )
        for row in rows:
            key = ConversationKey(tenant=tenant, agent_id=row["agent_id"], id=row["id"])
            threads[key].found(row)
        for thread in threads.values():
            if thread.row is None:
                thread.absence = yield from _absence(thread.key)
        return threads

    def _carry_out(self, tenant: str, threads: Sequence[_Thread]) -> Script[None]:
        grown = [thread for thread in threads if thread.growth.new]
        yield from execute_many(INSERT_MESSAGE, [row for thread in grown for row in thread.message_rows()])
        yield from execute_many(INSERT_RUN, [row for thread in grown for row in thread.run_rows()])
        yield from execute_many(INSERT_REQUEST, [row for thread in threads for row in thread.request_rows()])
        due: list[NewJob] = []
        updates = []
        for thread in grown:
            due += (jobs.index_message(thread.key, message.sequence) for message in thread.growth.new)
            if self._extract:
                due += jobs.extract_messages(thread.key, thread.growth.new)
            updates.append((yield from self._update(thread, due)))
        yield from execute_many(UPDATE_CONVERSATION, updates)
        yield from put_jobs(tenant, due)
        for thread in grown:
            if thread.ends_checkpoint:
                yield from delete_checkpoint(tenant, thread.number)

    def _update(self, thread: _Thread, due: list[NewJob]) -> Script[Arguments]:
        """Arguments of UPDATE_CONVERSATION; adds jobs where messages are to be covered (E-8)."""
        growth, row = thread.growth, thread.row
        assert row is not None
        leaf, revision, requested = growth.leaf, row["revision"], row["cover_requested"]
        progress = Progress(
            depth=leaf.depth,
            tokens=leaf.path_tokens,
            covered=row["covered_count"],
            covered_tokens=row["covered_tokens"],
            requested=requested,
        )
        tenant, number = thread.key.tenant, thread.number
        if growth.switched:
            tree = yield from tree_with(tenant, number, growth.count, leaf.depth)
            tokens = yield from tokens_in(tenant, number, tree.path(leaf.sequence))
            leaf = replace(leaf, path_tokens=tokens)
            live = yield from live_overlays(tenant, number, "", tree, leaf.sequence)
            progress, revision, requested = progress_of(leaf, live, 0), revision + 1, 0
            due += path_changed(thread.key.agent_id, thread.key.id)
        if (yield from cover_due(tenant, number, growth.count, leaf, progress, self._rules)):
            requested = leaf.depth
            due.append(jobs.cover_messages(thread.key, revision, leaf))
            due.append(jobs.refresh_summary(thread.key, revision, leaf))
        elif growth.switched:  # the summary is of another branch
            due.append(jobs.refresh_summary(thread.key, revision, leaf))
        newest = growth.new[-1]
        authors = json.dumps(growth.authors, ensure_ascii=False)
        return (
            *(growth.count, leaf.id, leaf.sequence, leaf.depth, leaf.path_tokens),
            *(progress.covered, progress.covered_tokens, requested, revision, newest.create_time, authors),
            *(tenant, number),
        )


class _Thread:
    """A conversation while appends to it are carried out."""

    def __init__(self, key: ConversationKey, secret: bytes) -> None:
        self.key = key
        self.secret = secret
        self.appends: list[Append] = []
        self.row: Row | None = None
        self.absence: PalimpsestError = NotFound("conversation", key.id)
        self.number = 0
        self.known: dict[str, Known] = {}
        self.tree: Tree | None = None
        self.answered: dict[str, tuple[str, tuple[Outcome, ...]]] = {}
        self._fresh: list[tuple[Append, str, tuple[Outcome, ...]]] = []
        self._growth: Growth | None = None

    def found(self, row: Row) -> None:
        """Takes the conversation's row."""
        self.row, self.number = row, row["number"]

    @property
    def growth(self) -> Growth:
        """What is planned; to be asked for once all that is known was loaded."""
        if self._growth is None:
            assert self.row is not None
            self._growth = Growth(conversation_of(self.row), self.secret, self.known, self.tree)
        return self._growth

    def plan(self, append: Append) -> Answer:
        """The answer to an append, as soon as the plan is carried out."""
        if self.row is None:
            return self.absence
        digest = request_digest(self.secret, append) if append.request_id else ""
        if append.request_id in self.answered:
            known, answer = self.answered[append.request_id]
            return answer if known == digest else _other_content()
        try:
            outcomes = self.growth.plan(append)
        except PalimpsestError as error:
            return error
        if append.request_id:
            self.answered[append.request_id] = (digest, outcomes)
            self._fresh.append((append, digest, outcomes))
        return outcomes

    @property
    def ends_checkpoint(self) -> bool:
        """Whether the turn whose checkpoint is kept was saved (W-3)."""
        assert self.row is not None
        return bool(self.row["has_checkpoint"]) and any(map(ends_turn, self.growth.new))

    def message_rows(self) -> Iterable[Arguments]:
        """Arguments of INSERT_MESSAGE."""
        for m in self.growth.new:
            yield (
                *(
                    self.key.tenant,
                    place(self.number, m.sequence),
                    self.number,
                    m.id,
                    m.parent_id,
                    int(m.role),
                ),
                *(m.author, m.session, m.time, m.create_time, m.token_count, m.content),
            )

    def run_rows(self) -> Iterable[Arguments]:
        """Arguments of INSERT_RUN."""
        for run in self.growth.runs:
            yield self.key.tenant, self.number, run.first, run.base, run.depth

    def request_rows(self) -> Iterable[Arguments]:
        """Arguments of INSERT_REQUEST."""
        for append, digest, outcomes in self._fresh:
            spans = json.dumps(to_spans(outcomes))
            yield self.key.tenant, self.number, append.request_id, digest, spans, append.now


def _load_requests(tenant: str, threads: Sequence[_Thread]) -> Script[None]:
    """The first answers to request ids that were sent before."""
    asked = [
        (thread.number, append.request_id)
        for thread in threads
        for append in thread.appends
        if append.request_id
    ]
    if not asked:
        return
    keys = _padded(asked)
    rows = yield from fetch(
        "SELECT r.conversation, r.request_id, r.digest, r.runs"
        f" FROM ({_values('(CAST(? AS BIGINT), ?)', keys)}) AS k JOIN append_requests r"
        " ON r.tenant = ? AND r.conversation = k.column1 AND r.request_id = k.column2",
        *chain.from_iterable(keys),
        tenant,
    )
    by_number = {thread.number: thread for thread in threads}
    for row in rows:
        thread = by_number[row["conversation"]]
        if row["request_id"] not in thread.answered:
            outcomes = yield from _outcomes(thread, json.loads(row["runs"]))
            thread.answered[row["request_id"]] = (row["digest"], outcomes)


def _outcomes(thread: _Thread, spans: Sequence[Sequence[int]]) -> Script[tuple[Outcome, ...]]:
    pairs = from_spans(spans)
    rows = yield from fetch(
        "SELECT place, id FROM messages WHERE tenant = ? AND place IN ??",
        thread.key.tenant,
        [place(thread.number, sequence) for sequence, _ in pairs],
    )
    ids = {row["place"] & SEQUENCE_MASK: row["id"] for row in rows}
    return tuple(
        Outcome(message_id=ids[sequence], sequence=sequence, created=created) for sequence, created in pairs
    )


def _load_known(tenant: str, threads: Sequence[_Thread]) -> Script[None]:
    """What is stored under the ids in question, and the trees of conversations where a branch may begin."""
    wanted: list[Arguments] = []
    for thread in threads:
        assert thread.row is not None
        leaf = thread.row["leaf_id"] if len(thread.appends) == 1 else None
        ids = {i for append in thread.appends for i in ids_in_question(append, thread.secret, leaf)}
        wanted += [(thread.number, i) for i in sorted(ids)]
        if ids:
            thread.tree = yield from tree_of(tenant, thread.row)
    if not wanted:
        return
    keys = _padded(wanted)
    rows = yield from fetch(
        "SELECT m.conversation, m.id, m.place, m.parent_id, m.role, m.author, m.content"
        f" FROM ({_values('(CAST(? AS BIGINT), ?)', keys)}) AS k JOIN messages m"
        " ON m.tenant = ? AND m.conversation = k.column1 AND m.id = k.column2",
        *chain.from_iterable(keys),
        tenant,
    )
    by_number = {thread.number: thread for thread in threads}
    for row in rows:
        by_number[row["conversation"]].known[row["id"]] = _known(row)


def _absence(key: ConversationKey) -> Script[PalimpsestError]:
    try:
        yield from require_agent(key.tenant, key.agent_id)
    except NotFound as error:
        return error
    return NotFound("conversation", key.id)


def _other_content() -> Exists:
    problem = FieldProblem(field="request_id", description="was sent with other content")
    return Exists("this request id was used with other content", fields=[problem])


def _padded(rows: Sequence[Arguments]) -> list[Arguments]:
    """The last row repeated up to a power of two, so that few different statements are prepared."""
    size = 1 << (len(rows) - 1).bit_length()
    return [*rows, *[rows[-1]] * (size - len(rows))]


def _values(item: str, rows: Sequence[Arguments]) -> str:
    return "VALUES " + ", ".join([item] * len(rows))


def _known(row: Row) -> Known:
    return Known(
        sequence=row["place"] & SEQUENCE_MASK,
        parent_id=row["parent_id"],
        role=Role(row["role"]),
        author=row["author"],
        content=row["content"],
    )
