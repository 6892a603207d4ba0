"""What an append does to a conversation: what is there already, what is new, what contradicts (SPEC E-2).

Pure: the store gives the conversation's state and a way to look up messages by id, and carries out the plan
in the same transaction.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from services.kit.errors import Exists, FieldProblem, ParentConflict
from services.kit.ids import keyed_hash
from services.memory.episodic.domain.model import (
    Conversation,
    ConversationKey,
    Message,
    Role,
    add_authors,
)

KEY_PURPOSE = b"palimpsest message id\x00"
DIGEST_PURPOSE = "append request"


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A checked message without its place; `content` is canonical, `id` empty when it is to be derived."""

    id: str
    role: Role
    author: str
    session: str
    time: int
    token_count: int
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Append:
    """Messages to be stored in order, each the parent of the next.

    `parent_id`: None for the newest message, "" for the root. `now` is when they are stored.
    """

    key: ConversationKey
    drafts: tuple[Draft, ...]
    parent_id: str | None
    request_id: str
    now: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What must be known of a stored message to compare another with it."""

    sequence: int
    role: Role
    author: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one message."""

    message_id: str
    sequence: int
    created: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The answer, the messages to insert, and the conversation's authors after it."""

    outcomes: tuple[Outcome, ...]
    new: tuple[Message, ...]
    authors: tuple[str, ...]


def tenant_key(secret: bytes, tenant: str) -> bytes:
    """The tenant's key for ids, from the installation's secret: HMAC-SHA256, 32 bytes."""
    return hmac.digest(secret, KEY_PURPOSE + tenant.encode("utf-8"), hashlib.sha256)


def derive_id(key: bytes, conversation: ConversationKey, parent_id: str, draft: Draft) -> str:
    """The id of a message that came without one (E-2)."""
    return keyed_hash(
        key,
        conversation.agent_id,
        conversation.id,
        parent_id,
        draft.role.name,
        draft.author,
        draft.content,
    )


def request_digest(key: bytes, append: Append) -> str:
    """Tells whether a request id came with the same content: parent, ids, roles, authors, parts."""
    parts = [DIGEST_PURPOSE, "latest" if append.parent_id is None else f"after {append.parent_id}"]
    for draft in append.drafts:
        parts.extend((draft.id, draft.role.name, draft.author, draft.content))
    return keyed_hash(key, *parts)


def plan_append(
    append: Append, conversation: Conversation, key: bytes, find: Callable[[str], Known | None]
) -> Plan:
    """Decides what to insert.

    `find` looks up a stored message of this conversation by id. Raises Exists for a known id with other
    content, ParentConflict where a new message would not follow the newest one.
    """
    return _Planner(append, conversation, key, find).run()


class _Planner:
    def __init__(
        self, append: Append, conversation: Conversation, key: bytes, find: Callable[[str], Known | None]
    ) -> None:
        self._append = append
        self._conversation = conversation
        self._key = key
        self._find = find
        self._leaf = conversation.leaf_id
        self._count = conversation.stored_count
        self._fresh: dict[str, Known] = {}
        self._new: list[Message] = []

    def run(self) -> Plan:
        parent = self._first_parent()
        outcomes = []
        for index, draft in enumerate(self._append.drafts):
            outcome = self._place(index, draft, parent)
            outcomes.append(outcome)
            parent = outcome.message_id
        known = self._conversation.authors
        return Plan(
            outcomes=tuple(outcomes),
            new=tuple(self._new),
            authors=add_authors(known, [message.author for message in self._new]),
        )

    def _first_parent(self) -> str:
        parent = self._append.parent_id
        if parent is None:
            return self._leaf
        if parent and parent != self._leaf and self._find(parent) is None:
            problem = FieldProblem(field="parent_id", description="not a message of this conversation")
            raise ParentConflict("the parent is not a message of this conversation", fields=[problem])
        return parent

    def _place(self, index: int, draft: Draft, parent: str) -> Outcome:
        message_id = draft.id or derive_id(self._key, self._append.key, parent, draft)
        known = self._lookup(message_id, given=bool(draft.id), parent=parent)
        if known is None:
            return self._add(index, message_id, draft, parent)
        if (known.role, known.author, known.content) != (draft.role, draft.author, draft.content):
            problem = FieldProblem(field=f"messages[{index}].id", description="taken by another message")
            raise Exists("a message with this id has other content", fields=[problem])
        return Outcome(message_id=message_id, sequence=known.sequence, created=False)

    def _lookup(self, message_id: str, *, given: bool, parent: str) -> Known | None:
        if not given and parent == self._leaf:
            return None  # nothing follows the newest message, so nothing has this id
        return self._fresh.get(message_id) or self._find(message_id)

    def _add(self, index: int, message_id: str, draft: Draft, parent: str) -> Outcome:
        if parent != self._leaf:
            field = "parent_id" if index == 0 else f"messages[{index}]"
            problem = FieldProblem(field=field, description="would not follow the newest message")
            raise ParentConflict(fields=[problem])
        self._count += 1
        self._leaf = message_id
        self._fresh[message_id] = Known(
            sequence=self._count, role=draft.role, author=draft.author, content=draft.content
        )
        self._new.append(
            Message(
                id=message_id,
                conversation_id=self._append.key.id,
                sequence=self._count,
                parent_id=parent,
                role=draft.role,
                author=draft.author,
                session=draft.session,
                time=draft.time,
                create_time=self._append.now,
                token_count=draft.token_count,
                content=draft.content,
            )
        )
        return Outcome(message_id=message_id, sequence=self._count, created=True)


def to_runs(outcomes: Sequence[Outcome]) -> list[tuple[int, int, bool]]:
    """Outcomes as runs of (first sequence, count, created): small, and without ids."""
    runs: list[tuple[int, int, bool]] = []
    for outcome in outcomes:
        if runs:
            first, count, created = runs[-1]
            if outcome.sequence == first + count and outcome.created == created:
                runs[-1] = (first, count + 1, created)
                continue
        runs.append((outcome.sequence, 1, outcome.created))
    return runs


def from_runs(runs: Sequence[Sequence[int]]) -> list[tuple[int, bool]]:
    """The (sequence, created) pairs of runs, in order."""
    return [(first + offset, bool(created)) for first, count, created in runs for offset in range(count)]
