"""What appends do to a conversation: what is there already, what is new, what contradicts (SPEC E-2, E-3).

Pure: the store locks the conversation, says what it knows of the ids in question, and carries out what was
planned in the same transaction. Several appends may be planned one after the other, so that concurrent
callers share a transaction.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from services.kit.errors import Exists, FieldProblem, ParentConflict
from services.kit.ids import keyed_hash
from services.memory.episodic.domain.model import (
    NO_LEAF,
    Conversation,
    ConversationKey,
    Leaf,
    Message,
    Role,
    add_authors,
)
from services.memory.episodic.domain.tree import Run, Tree

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

    `parent_id`: None for the end of the active path, "" for the root. Only with `branch` may they follow
    another message than the leaf; with `keep_path` too, the active path stays as it is then. `now` is when
    they are stored.
    """

    key: ConversationKey
    drafts: tuple[Draft, ...]
    parent_id: str | None
    request_id: str
    now: int
    branch: bool = False
    keep_path: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What must be known of a stored message to compare another with it, or to follow it."""

    sequence: int
    parent_id: str
    role: Role
    author: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one message."""

    message_id: str
    sequence: int
    created: bool


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


def ids_in_question(append: Append, key: bytes, leaf_id: str | None) -> set[str]:
    """The ids that may be stored already: given ones, and those derived from a message that may be.

    Nothing follows the leaf, so nothing that is derived from it is stored. `leaf_id` is None when other
    appends are planned too: the message that is the leaf now may be followed by then.
    """
    parent = append.parent_id
    ids = {parent} if parent and parent != leaf_id else set()
    stored = parent is not None and parent != leaf_id
    for draft in append.drafts:
        stored = stored or bool(draft.id)
        if stored:
            parent = draft.id or derive_id(key, append.key, parent or "", draft)
            ids.add(parent)
    return ids


class Growth:
    """A conversation that appends are planned for, in one transaction.

    `known` answers for all of `ids_in_question`; `tree` is needed (else None) where an append may follow
    another message than the leaf. Afterwards `leaf`, `count`, `authors` say what the conversation becomes,
    `new` and `runs` what is to be inserted, and `switched` whether the active path is another one, so that
    what is counted along it (the leaf's `path_tokens` too) must be counted anew.
    """

    def __init__(
        self,
        conversation: Conversation,
        key: bytes,
        known: Mapping[str, Known],
        tree: Tree | None,
    ) -> None:
        self.leaf = conversation.leaf
        self.count = conversation.stored_count
        self.authors = conversation.authors
        self.new: list[Message] = []
        self.runs: list[Run] = []
        self.switched = False
        self._key = key
        self._known = dict(known)
        self._tree = tree or Tree(self.count)

    def plan(self, append: Append) -> tuple[Outcome, ...]:
        """Adds an append to the plan, all or nothing.

        Raises Exists for a stored id with other content. Raises ParentConflict for a parent that is no
        message of the conversation, or not the one that a stored message follows, and for a branch that was
        not asked for.
        """
        step = _Step(self, append)
        outcomes = step.run()
        self.leaf, self.count = step.leaf, step.count
        self.switched |= step.switched
        self.new += step.new
        self.runs += step.runs
        self.authors = add_authors(self.authors, [message.author for message in step.new])
        self._known.update(step.fresh)
        return outcomes

    def find(self, message_id: str) -> Known | None:
        """A message that is stored or planned."""
        return self._known.get(message_id)

    def derive(self, append: Append, parent_id: str, draft: Draft) -> str:
        """The id of a draft."""
        return draft.id or derive_id(self._key, append.key, parent_id, draft)

    def depth(self, sequence: int) -> int:
        """The depth of a message that was stored or planned before this step."""
        return Tree(self.count, [*self._tree.later, *self.runs]).depth(sequence)


class _Step:
    """The planning of one append."""

    def __init__(self, growth: Growth, append: Append) -> None:
        self._growth = growth
        self._append = append
        self.leaf = growth.leaf
        self.count = growth.count
        self.new: list[Message] = []
        self.runs: list[Run] = []
        self.fresh: dict[str, Known] = {}
        self.switched = False
        self._aside: Leaf | None = None  # the last message that was stored beside the active path

    def run(self) -> tuple[Outcome, ...]:
        parent = self._first_parent()
        explicit = self._append.parent_id is not None
        outcomes = []
        for index, draft in enumerate(self._append.drafts):
            outcome = self._place(index, draft, parent, explicit=explicit)
            outcomes.append(outcome)
            parent, explicit = outcome.message_id, True
        return tuple(outcomes)

    def _first_parent(self) -> str:
        parent = self._append.parent_id
        if parent is None:
            return self.leaf.id
        if parent and parent != self.leaf.id and self._growth.find(parent) is None:
            problem = FieldProblem(field="parent_id", description="not a message of this conversation")
            raise ParentConflict("the parent is not a message of this conversation", fields=[problem])
        return parent

    def _place(self, index: int, draft: Draft, parent: str, *, explicit: bool) -> Outcome:
        message_id = self._growth.derive(self._append, parent, draft)
        known = self.fresh.get(message_id) or self._growth.find(message_id)
        if known is None:
            return self._add(index, message_id, draft, parent)
        if (known.role, known.author, known.content) != (draft.role, draft.author, draft.content):
            problem = FieldProblem(field=f"messages[{index}].id", description="taken by another message")
            raise Exists("a message with this id has other content", fields=[problem])
        if explicit and known.parent_id != parent:
            problem = FieldProblem(field=f"messages[{index}].id", description="follows another message")
            raise ParentConflict("a stored message cannot be moved after another one", fields=[problem])
        return Outcome(message_id=message_id, sequence=known.sequence, created=False)

    def _add(self, index: int, message_id: str, draft: Draft, parent: str) -> Outcome:
        base = self._base(parent)
        if base.id != self.leaf.id and not self._append.branch:
            field = "parent_id" if index == 0 else f"messages[{index}]"
            problem = FieldProblem(field=field, description="would begin a branch, which was not asked for")
            raise ParentConflict(fields=[problem])
        if base.sequence != self.count:
            self.runs.append(Run(first=self.count + 1, base=base.sequence, depth=base.depth))
        self.count += 1
        added = Leaf(
            id=message_id,
            sequence=self.count,
            depth=base.depth + 1,
            path_tokens=base.path_tokens + draft.token_count,
        )
        if base.id != self.leaf.id and self._append.keep_path:
            self._aside = added
        else:
            self.switched |= base.id != self.leaf.id
            self.leaf = added
        self.fresh[message_id] = Known(
            sequence=self.count, parent_id=parent, role=draft.role, author=draft.author, content=draft.content
        )
        self.new.append(self._message(added, draft, parent))
        return Outcome(message_id=message_id, sequence=self.count, created=True)

    def _base(self, parent: str) -> Leaf:
        """The message to follow, as if it were the leaf."""
        if parent == self.leaf.id:
            return self.leaf
        if self._aside is not None and parent == self._aside.id:
            return self._aside
        known = self._growth.find(parent)
        if known is None:
            return NO_LEAF  # the root: any other parent was found before
        depth = self._growth.depth(known.sequence)
        return Leaf(id=parent, sequence=known.sequence, depth=depth, path_tokens=0)

    def _message(self, added: Leaf, draft: Draft, parent: str) -> Message:
        return Message(
            id=added.id,
            conversation_id=self._append.key.id,
            sequence=added.sequence,
            depth=added.depth,
            parent_id=parent,
            role=draft.role,
            author=draft.author,
            session=draft.session,
            time=draft.time,
            create_time=self._append.now,
            token_count=draft.token_count,
            content=draft.content,
        )


def to_spans(outcomes: Sequence[Outcome]) -> list[tuple[int, int, bool]]:
    """Outcomes as spans of (first sequence, count, created): small, and without ids."""
    spans: list[tuple[int, int, bool]] = []
    for outcome in outcomes:
        if spans:
            first, count, created = spans[-1]
            if outcome.sequence == first + count and outcome.created == created:
                spans[-1] = (first, count + 1, created)
                continue
        spans.append((outcome.sequence, 1, outcome.created))
    return spans


def from_spans(spans: Sequence[Sequence[int]]) -> list[tuple[int, bool]]:
    """The (sequence, created) pairs of spans, in order."""
    return [(first + offset, bool(created)) for first, count, created in spans for offset in range(count)]
