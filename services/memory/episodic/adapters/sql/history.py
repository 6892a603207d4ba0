"""The HistoryStore: paths, branches, forks."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

from services.kit.errors import LimitExceeded, NotFound
from services.kit.outbox import put_jobs
from services.kit.refreshing import path_changed
from services.kit.sql import Row, Script, SqlDatabase, execute, execute_many, fetch, first
from services.memory.episodic.adapters.sql import jobs, overlays
from services.memory.episodic.adapters.sql.appending import INSERT_MESSAGE
from services.memory.episodic.adapters.sql.conversations import (
    conversation_of,
    conversation_row,
    insert_conversation,
    leaf_of,
)
from services.memory.episodic.adapters.sql.covering import cover_due, progress_of, range_due
from services.memory.episodic.adapters.sql.paths import (
    SELECT_MESSAGES,
    live_overlays,
    message_of,
    messages_in,
    tokens_in,
    tree_of,
)
from services.memory.episodic.adapters.sql.places import SEQUENCE_MASK, place
from services.memory.episodic.app.ports import (
    Branch,
    Changes,
    NewOverlay,
    Page,
    PathPage,
    PathView,
    Position,
    Uncovered,
)
from services.memory.episodic.domain.append import Draft, derive_id, tenant_key
from services.memory.episodic.domain.checks import utf8_length
from services.memory.episodic.domain.coverage import CoverRules
from services.memory.episodic.domain.model import (
    Conversation,
    ConversationKey,
    Leaf,
    Message,
    Overlay,
    add_authors,
)
from services.memory.episodic.domain.tree import ROOT, Tree
from services.memory.episodic.domain.window import PAGE_ROWS
from services.memory.episodic.domain.window_parts import HEAD_MESSAGES


class SqlHistory:
    """A HistoryStore; `secret` is the installation's, `max_bytes` bounds the content of an answer."""

    def __init__(self, database: SqlDatabase, secret: bytes, *, rules: CoverRules, max_bytes: int) -> None:
        self._database = database
        self._secret = secret
        self._rules = rules
        self._max_bytes = max_bytes

    async def view(
        self, key: ConversationKey, leaf_id: str, enough: Callable[[Sequence[Message]], bool], *, most: int
    ) -> PathView:
        """Reads a path from its end."""
        return await self._database.read(lambda: _view(key, leaf_id, enough, most))

    async def path(
        self, key: ConversationKey, leaf_id: str, *, newest_first: bool, limit: int, after: int | None
    ) -> PathPage:
        """The messages of a path."""

        def script() -> Script[PathPage]:
            row = yield from conversation_row(key)
            tree = yield from tree_of(key.tenant, row)
            leaf = yield from resolve_leaf(key.tenant, row, tree, leaf_id)
            begin, end = _depths(leaf.depth, newest_first, limit, after)
            ranges = tree.stretch(begin, end, leaf.sequence)
            messages = yield from messages_in(key.tenant, row["number"], key.id, tree, ranges)
            items = self._fitting(messages[::-1] if newest_first else messages)
            at_end = not items or items[-1].depth == (1 if newest_first else leaf.depth)
            return PathPage(items=items, last=None if at_end else items[-1].depth, leaf_id=leaf.id)

        return await self._database.read(script)

    async def branches(
        self, key: ConversationKey, message_id: str, *, limit: int, after: int | None
    ) -> Page[Branch, int]:
        """The continuations of a message."""

        def script() -> Script[Page[Branch, int]]:
            row = yield from conversation_row(key)
            tree = yield from tree_of(key.tenant, row)
            sequence = ROOT
            if message_id:
                sequence = (yield from message_row(key, row, message_id))["place"] & SEQUENCE_MASK
            children = [child for child in tree.children(sequence) if child > (after or 0)]
            found = yield from _messages_at(key, row["number"], tree, children[:limit])
            opening = self._fitting(found)
            leaves = yield from _leaves(
                key.tenant, row["number"], tree, [tree.newest_leaf(one.sequence) for one in opening]
            )
            items = [
                Branch(first=one, leaf=leaf, active=tree.on_path(one.sequence, row["leaf_sequence"]))
                for one, leaf in zip(opening, leaves, strict=True)
            ]
            last = opening[-1].sequence if len(opening) < len(children) else None
            return Page(items=items, last=last)

        return await self._database.read(script)

    async def switch(self, key: ConversationKey, message_id: str, now: int) -> Conversation:
        """Makes the newest leaf below a message the active one."""

        def script() -> Script[Conversation]:
            row = yield from conversation_row(key, lock=True)
            tree = yield from tree_of(key.tenant, row)
            chosen = (yield from message_row(key, row, message_id))["place"] & SEQUENCE_MASK
            [leaf] = yield from _leaves(key.tenant, row["number"], tree, [tree.newest_leaf(chosen)])
            if leaf.sequence != row["leaf_sequence"]:
                yield from _set_leaf(key, row, tree, leaf, now, self._rules)
            return conversation_of((yield from conversation_row(key)))

        return await self._database.write(script)

    async def fork(
        self, key: ConversationKey, message_id: str, new: Conversation, *, most: int
    ) -> Conversation:
        """A new conversation with copies of a path."""
        secret = tenant_key(self._secret, key.tenant)
        return await self._database.write(lambda: _fork(key, message_id, new, most, secret))

    async def put_overlay(self, key: ConversationKey, new: NewOverlay, now: int) -> Overlay:
        """Stores an overlay."""
        return await self._database.write(lambda: overlays.put(key, new, now, self._rules))

    async def overlays(
        self, key: ConversationKey, leaf_id: str, *, superseded: bool, limit: int, after: int | None
    ) -> Page[Overlay, int]:
        """The overlays of a path."""

        def script() -> Script[Page[Overlay, int]]:
            row = yield from conversation_row(key)
            tree = yield from tree_of(key.tenant, row)
            leaf = yield from resolve_leaf(key.tenant, row, tree, leaf_id)
            return (yield from overlays.listed(key, row, tree, leaf, superseded, limit, after))

        return await self._database.read(script)

    async def uncovered(self, key: ConversationKey) -> Uncovered:
        """What is to be covered next."""
        return await self._database.read(lambda: overlays.next_uncovered(key, self._max_bytes))

    async def foldable(self, key: ConversationKey) -> Sequence[Overlay]:
        """What is to be folded."""
        return await self._database.read(lambda: overlays.over_share(key, self._rules))

    async def request_cover(self, key: ConversationKey) -> None:
        """Asks for a job that covers messages."""

        def script() -> Script[None]:
            row = yield from conversation_row(key, lock=True)
            tree = yield from tree_of(key.tenant, row)
            _, due = yield from range_due(key.tenant, row["number"], key.id, tree, leaf_of(row))
            if row["cover_requested"] or due is None:
                return
            yield from execute(
                "UPDATE conversations SET cover_requested = ? WHERE tenant = ? AND number = ?",
                row["leaf_depth"],
                key.tenant,
                row["number"],
            )
            cover = jobs.cover_messages(key, row["revision"], leaf_of(row))
            refresh = jobs.refresh_summary(key, row["revision"], leaf_of(row))
            yield from put_jobs(key.tenant, [cover, refresh])

        await self._database.write(script)

    async def over(self, key: ConversationKey, leaf_id: str, from_depth: int) -> Sequence[Overlay]:
        """The overlays over a part of a path."""

        def script() -> Script[Sequence[Overlay]]:
            row = yield from conversation_row(key)
            tree = yield from tree_of(key.tenant, row)
            leaf = yield from resolve_leaf(key.tenant, row, tree, leaf_id)
            return (yield from overlays.over(key, row, tree, from_depth, leaf.sequence))

        return await self._database.read(script)

    async def changes(self, key: ConversationKey, after: Position | None, *, limit: int) -> Changes:
        """What came after a position."""
        return await self._database.read(lambda: overlays.changed(key, after, limit, self._max_bytes))

    def _fitting(self, messages: Sequence[Message]) -> Sequence[Message]:
        """As many as fit an answer, at least one."""
        size = 0
        for count, message in enumerate(messages):
            size += utf8_length(message.content)
            if count and size > self._max_bytes:
                return messages[:count]
        return messages


def _view(
    key: ConversationKey, leaf_id: str, enough: Callable[[Sequence[Message]], bool], most: int
) -> Script[PathView]:
    row = yield from conversation_row(key)
    number = row["number"]
    tree = yield from tree_of(key.tenant, row)
    leaf = yield from resolve_leaf(key.tenant, row, tree, leaf_id)
    newest: list[Message] = []
    while len(newest) < min(most, leaf.depth) and not (newest and enough(newest)):
        end = leaf.depth - len(newest)
        rows = min(PAGE_ROWS, most - len(newest))
        ranges = tree.stretch(max(1, end - rows + 1), end, leaf.sequence)
        newest += (yield from messages_in(key.tenant, number, key.id, tree, ranges))[::-1]
    if newest and newest[-1].depth == 1:
        head = newest[: -HEAD_MESSAGES - 1 : -1]
    else:
        ranges = tree.stretch(1, min(HEAD_MESSAGES, leaf.depth), leaf.sequence)
        head = yield from messages_in(key.tenant, number, key.id, tree, ranges)
    live = yield from live_overlays(key.tenant, number, key.id, tree, leaf.sequence)
    return PathView(
        leaf=leaf,
        head=head,
        newest_first=newest,
        overlays=live,
        cover_requested=bool(row["cover_requested"]),
    )


def _depths(depth: int, newest_first: bool, limit: int, after: int | None) -> tuple[int, int]:
    """The first and last depth of a page."""
    if newest_first:
        end = depth if after is None else after - 1
        return max(1, end - limit + 1), end
    begin = 1 if after is None else after + 1
    return begin, min(depth, begin + limit - 1)


def message_row(key: ConversationKey, conversation: Row, message_id: str) -> Script[Row]:
    """A message by id. Raises NotFound."""
    row = yield from first(
        f"{SELECT_MESSAGES} WHERE tenant = ? AND conversation = ? AND id = ?",
        key.tenant,
        conversation["number"],
        message_id,
    )
    if row is None:
        raise NotFound("message", message_id)
    return row


def resolve_leaf(tenant: str, conversation: Row, tree: Tree, leaf_id: str) -> Script[Leaf]:
    """The end of a path: the active leaf for "", else that message, whether or not others follow it.

    Raises NotFound. Its `path_tokens` are those of the active leaf only.
    """
    if leaf_id in {"", conversation["leaf_id"]}:
        return leaf_of(conversation)
    key = ConversationKey(tenant=tenant, agent_id=conversation["agent_id"], id=conversation["id"])
    sequence = (yield from message_row(key, conversation, leaf_id))["place"] & SEQUENCE_MASK
    return Leaf(id=leaf_id, sequence=sequence, depth=tree.depth(sequence))


def _messages_at(
    key: ConversationKey, number: int, tree: Tree, sequences: Sequence[int]
) -> Script[list[Message]]:
    """The messages with these sequence numbers, in order."""
    rows = yield from fetch(
        f"{SELECT_MESSAGES} WHERE tenant = ? AND place IN ?? ORDER BY place",
        *(key.tenant, [place(number, sequence) for sequence in sequences]),
    )
    return [message_of(row, key.id, tree) for row in rows]


def _leaves(tenant: str, number: int, tree: Tree, sequences: Sequence[int]) -> Script[list[Leaf]]:
    """The leaves with these sequence numbers, without their `path_tokens`."""
    rows = yield from fetch(
        "SELECT place, id FROM messages WHERE tenant = ? AND place IN ??",
        *(tenant, [place(number, sequence) for sequence in sequences]),
    )
    ids = {row["place"] & SEQUENCE_MASK: row["id"] for row in rows}
    return [Leaf(id=ids[one], sequence=one, depth=tree.depth(one)) for one in sequences]


def _set_leaf(
    key: ConversationKey, row: Row, tree: Tree, leaf: Leaf, now: int, rules: CoverRules
) -> Script[None]:
    """Makes a leaf the active one; asks for its path's summary, and for a job where messages of it are to be
    covered (E-8)."""
    number, revision = row["number"], row["revision"] + 1
    tokens = yield from tokens_in(key.tenant, number, tree.path(leaf.sequence))
    leaf = replace(leaf, path_tokens=tokens)
    live = yield from live_overlays(key.tenant, number, key.id, tree, leaf.sequence)
    progress = progress_of(leaf, live, 0)
    requested = 0
    due = [*path_changed(key.agent_id, key.id), jobs.refresh_summary(key, revision, leaf)]
    if (yield from cover_due(key.tenant, number, tree.count, leaf, progress, rules)):
        requested = leaf.depth
        due.append(jobs.cover_messages(key, revision, leaf))
    yield from put_jobs(key.tenant, due)
    yield from execute(
        "UPDATE conversations SET leaf_id = ?, leaf_sequence = ?, leaf_depth = ?, leaf_tokens = ?,"
        " covered_count = ?, covered_tokens = ?, cover_requested = ?, revision = ?,"
        " update_time = ? WHERE tenant = ? AND number = ?",
        *(leaf.id, leaf.sequence, leaf.depth, leaf.path_tokens),
        *(progress.covered, progress.covered_tokens, requested, revision),
        *(now, key.tenant, number),
    )


def _fork(
    key: ConversationKey, message_id: str, new: Conversation, most: int, secret: bytes
) -> Script[Conversation]:
    row = yield from conversation_row(key)
    tree = yield from tree_of(key.tenant, row)
    sequence = (yield from message_row(key, row, message_id))["place"] & SEQUENCE_MASK
    depth = tree.depth(sequence)
    if depth > most:
        raise LimitExceeded(
            "the path is too long to be copied", metadata={"limit": str(most), "actual": str(depth)}
        )
    forked = replace(new, contact_id=row["contact_id"], forked_from=(key.id, message_id))
    target, added = yield from insert_conversation(key.tenant, forked)
    if not added:
        return conversation_of(target)
    ranges = tree.path(sequence)[::-1]
    originals = yield from messages_in(key.tenant, row["number"], key.id, tree, ranges)
    copies = _copied(originals, key, replace(key, id=new.id), secret)
    yield from execute_many(
        INSERT_MESSAGE,
        [
            (
                *(key.tenant, place(target["number"], m.sequence), target["number"], m.id, m.parent_id),
                *(int(m.role), m.author, m.session, m.time, m.create_time, m.token_count, m.content),
            )
            for m in copies
        ],
    )
    authors = add_authors((), [m.author for m in copies])
    yield from execute(
        "UPDATE conversations SET stored_count = ?, leaf_id = ?, leaf_sequence = ?, leaf_depth = ?,"
        " leaf_tokens = ?, authors = ? WHERE tenant = ? AND number = ?",
        *(len(copies), copies[-1].id, len(copies), len(copies), sum(m.token_count for m in copies)),
        *(json.dumps(authors, ensure_ascii=False), key.tenant, target["number"]),
    )
    owner = replace(key, id=new.id)
    yield from put_jobs(key.tenant, [jobs.index_message(owner, m.sequence) for m in copies])
    return conversation_of((yield from conversation_row(owner)))


def _copied(
    originals: Sequence[Message], source: ConversationKey, target: ConversationKey, secret: bytes
) -> list[Message]:
    """The messages as the new conversation's own: given ids stay, derived ones are derived anew (E-2)."""
    copies: list[Message] = []
    for number, message in enumerate(originals, 1):
        draft = Draft(
            id="",
            role=message.role,
            author=message.author,
            session=message.session,
            time=message.time,
            token_count=message.token_count,
            content=message.content,
        )
        parent = copies[-1].id if copies else ""
        derived = message.id == derive_id(secret, source, message.parent_id, draft)
        copies.append(
            replace(
                message,
                id=derive_id(secret, target, parent, draft) if derived else message.id,
                conversation_id=target.id,
                sequence=number,
                depth=number,
                parent_id=parent,
            )
        )
    return copies
