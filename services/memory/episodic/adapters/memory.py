"""The stores in memory: for tests, and for trying things out. Nothing is durable; outbox rows are a list."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from services.kit.errors import Exists, FieldProblem, LimitExceeded, NotFound, StateConflict
from services.memory.episodic.app.ports import History, MessageName, Page, Stores
from services.memory.episodic.domain.append import (
    Append,
    Known,
    Outcome,
    plan_append,
    request_digest,
    tenant_key,
)
from services.memory.episodic.domain.checks import utf8_length
from services.memory.episodic.domain.contacts import must_merge
from services.memory.episodic.domain.model import (
    Agent,
    Contact,
    Conversation,
    ConversationKey,
    Message,
    MessageFilter,
    MessageInContext,
)

T = TypeVar("T")
AgentKey = tuple[str, str]


@dataclass(slots=True)
class _Thread:
    """A conversation with what belongs to it; `number` orders by creation."""

    number: int
    conversation: Conversation
    messages: list[Message] = field(default_factory=list)
    by_id: dict[str, Message] = field(default_factory=dict)
    requests: dict[str, tuple[int, str, tuple[Outcome, ...]]] = field(default_factory=dict)


@dataclass(slots=True)
class _Space:
    """What belongs to an agent."""

    agent: Agent
    contacts: dict[str, Contact] = field(default_factory=dict)
    identities: dict[str, str] = field(default_factory=dict)
    threads: dict[str, _Thread] = field(default_factory=dict)


@dataclass(slots=True)
class Everything:
    """All that the stores hold; `outbox` lists (tenant, agent, conversation, sequence) of stored messages."""

    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    spaces: dict[AgentKey, _Space] = field(default_factory=dict)
    outbox: list[tuple[str, str, str, int]] = field(default_factory=list)

    def space(self, tenant: str, agent_id: str) -> _Space:
        """Raises NotFound."""
        try:
            return self.spaces[tenant, agent_id]
        except KeyError:
            raise NotFound("agent", agent_id) from None

    def thread(self, key: ConversationKey) -> _Thread:
        """Raises NotFound."""
        try:
            return self.space(key.tenant, key.agent_id).threads[key.id]
        except KeyError:
            raise NotFound("conversation", key.id) from None


def memory_stores(*, max_bytes: int, remember_requests: int, everything: Everything | None = None) -> Stores:
    """The stores, over `everything` or over nothing yet; figures as for `sqlite_stores`."""
    data = everything or Everything()
    return Stores(
        agents=MemoryAgents(data),
        contacts=MemoryContacts(data),
        conversations=MemoryConversations(data),
        messages=MemoryMessages(data, max_bytes, remember_requests),
    )


class MemoryAgents:
    """An AgentStore."""

    def __init__(self, data: Everything) -> None:
        self._data = data

    async def create(self, tenant: str, agent: Agent) -> Agent:
        """Adds it, or returns the one with the same id and fields."""
        stored = self._data.spaces.setdefault((tenant, agent.id), _Space(agent)).agent
        if replace(stored, create_time=agent.create_time) != agent:
            problem = FieldProblem(field="agent_id", description="taken by an agent with other fields")
            raise Exists("an agent with this id has other fields", fields=[problem])
        return stored

    async def get(self, tenant: str, agent_id: str) -> Agent:
        """Reads one."""
        return self._data.space(tenant, agent_id).agent

    async def list(
        self, tenant: str, among: frozenset[str] | None, *, limit: int, after: str | None
    ) -> Page[Agent, str]:
        """By id."""
        ids = sorted(
            id_
            for owner, id_ in self._data.spaces
            if owner == tenant and id_ > (after or "") and (among is None or id_ in among)
        )
        items = [self._data.spaces[tenant, id_].agent for id_ in ids[:limit]]
        return Page(items=items, last=ids[limit - 1] if len(ids) > limit else None)

    async def update(
        self, tenant: str, agent_id: str, *, display_name: str | None, system_prompt: str | None
    ) -> Agent:
        """Changes what is not None."""
        space = self._data.space(tenant, agent_id)
        if display_name is not None:
            space.agent = replace(space.agent, display_name=display_name)
        if system_prompt is not None:
            space.agent = replace(space.agent, system_prompt=system_prompt)
        return space.agent


class MemoryContacts:
    """A ContactStore."""

    def __init__(self, data: Everything) -> None:
        self._data = data

    async def resolve(self, tenant: str, identity: str, new: Contact) -> tuple[Contact, bool]:
        """The contact with the identity; else adds `new` with it."""
        space = self._data.space(tenant, new.agent_id)
        holder = space.identities.get(identity)
        if holder is None:
            space.contacts[new.id] = new
            space.identities[identity] = new.id
        return _seen(space, _final(space, holder or new.id)), holder is None

    async def get(self, tenant: str, agent_id: str, contact_id: str) -> Contact:
        """Reads one."""
        space = self._data.space(tenant, agent_id)
        return _seen(space, _final(space, contact_id))

    async def list(self, tenant: str, agent_id: str, *, limit: int, after: str | None) -> Page[Contact, str]:
        """By id, without merged ones."""
        space = self._data.space(tenant, agent_id)
        ids = sorted(c.id for c in space.contacts.values() if not c.merged_into and c.id > (after or ""))
        items = [_seen(space, id_) for id_ in ids[:limit]]
        return Page(items=items, last=ids[limit - 1] if len(ids) > limit else None)

    async def link(self, tenant: str, agent_id: str, contact_id: str, identity: str) -> Contact:
        """Adds an identity to a contact."""
        space = self._data.space(tenant, agent_id)
        final = _final(space, contact_id)
        if _final(space, space.identities.get(identity, final)) != final:
            raise StateConflict("another contact holds this identity")
        space.identities.setdefault(identity, contact_id)
        return _seen(space, final)

    async def merge(self, tenant: str, agent_id: str, source: str, target: str) -> Contact:
        """Makes one contact part of another."""
        space = self._data.space(tenant, agent_id)
        final = _final(space, target)
        source_final = _final(space, source)
        if must_merge(source=source, target=target, source_final=source_final, target_final=final):
            space.contacts[source] = replace(space.contacts[source], merged_into=final)
        return _seen(space, final)

    async def unmerge(self, tenant: str, agent_id: str, contact_id: str) -> Contact:
        """Undoes a merge."""
        space = self._data.space(tenant, agent_id)
        if _final(space, contact_id) == contact_id:
            raise StateConflict("the contact is not merged into another")
        space.contacts[contact_id] = replace(space.contacts[contact_id], merged_into="")
        return _seen(space, contact_id)


def _final(space: _Space, contact_id: str) -> str:
    current = contact_id
    while current in space.contacts:
        if not space.contacts[current].merged_into:
            return current
        current = space.contacts[current].merged_into
    raise NotFound("contact", contact_id)


def _members(space: _Space, contact_id: str) -> list[str]:
    """A contact and all that were merged into it: itself, then by depth, each depth by id."""
    members = [contact_id]
    level = {contact_id}
    while level:
        level = {c.id for c in space.contacts.values() if c.merged_into in level}
        members.extend(sorted(level))
    return members


def _seen(space: _Space, contact_id: str) -> Contact:
    members = _members(space, contact_id)
    identities = [i for member in members for i, holder in space.identities.items() if holder == member]
    return replace(space.contacts[contact_id], identities=tuple(identities), merged_ids=tuple(members[1:]))


class MemoryConversations:
    """A ConversationStore."""

    def __init__(self, data: Everything) -> None:
        self._data = data

    async def create(self, tenant: str, conversation: Conversation) -> Conversation:
        """Adds it, or returns the one with the same id and fields."""
        space = self._data.space(tenant, conversation.agent_id)
        if conversation.contact_id:
            _final(space, conversation.contact_id)
        thread = space.threads.setdefault(
            conversation.id, _Thread(number=len(space.threads) + 1, conversation=conversation)
        )
        stored = thread.conversation
        if (stored.contact_id, stored.title) != (conversation.contact_id, conversation.title):
            problem = FieldProblem(
                field="conversation_id", description="taken by a conversation with other fields"
            )
            raise Exists("a conversation with this id has other fields", fields=[problem])
        return stored

    async def get(self, key: ConversationKey) -> Conversation:
        """Reads one."""
        return self._data.thread(key).conversation

    async def list(
        self, tenant: str, agent_id: str, contact_id: str, *, limit: int, after: int | None
    ) -> Page[Conversation, int]:
        """By creation."""
        space = self._data.space(tenant, agent_id)
        members = set(_members(space, _final(space, contact_id))) if contact_id else set()
        found = [
            thread
            for thread in space.threads.values()
            if thread.number > (after or 0) and (not contact_id or thread.conversation.contact_id in members)
        ]
        items = [thread.conversation for thread in found[:limit]]
        return Page(items=items, last=found[limit - 1].number if len(found) > limit else None)


class MemoryMessages:
    """A MessageStore."""

    def __init__(self, data: Everything, max_bytes: int, remember_requests: int) -> None:
        self._data = data
        self._max_bytes = max_bytes
        self._remember = remember_requests

    async def append(self, append: Append) -> tuple[Outcome, ...]:
        """Stores messages."""
        thread = self._data.thread(append.key)
        key = tenant_key(self._data.secret, append.key.tenant)
        if not append.request_id:
            return self._store(thread, append, key)
        digest = request_digest(key, append)
        self._forget(thread, append.now)
        if append.request_id in thread.requests:
            _, known, answer = thread.requests[append.request_id]
            if known != digest:
                problem = FieldProblem(field="request_id", description="was sent with other content")
                raise Exists("this request id was used with other content", fields=[problem])
            return answer
        outcomes = self._store(thread, append, key)
        thread.requests[append.request_id] = (append.now, digest, outcomes)
        return outcomes

    def _forget(self, thread: _Thread, now: int) -> None:
        for request_id, (stored, _, _) in list(thread.requests.items()):
            if stored < now - self._remember:
                del thread.requests[request_id]

    def _store(self, thread: _Thread, append: Append, key: bytes) -> tuple[Outcome, ...]:
        def find(message_id: str) -> Known | None:
            found = thread.by_id.get(message_id)
            if found is None:
                return None
            return Known(sequence=found.sequence, role=found.role, author=found.author, content=found.content)

        plan = plan_append(append, thread.conversation, key, find)
        for message in plan.new:
            thread.messages.append(message)
            thread.by_id[message.id] = message
            owner = append.key
            self._data.outbox.append((owner.tenant, owner.agent_id, owner.id, message.sequence))
        if plan.new:
            thread.conversation = replace(
                thread.conversation,
                stored_count=plan.new[-1].sequence,
                leaf_id=plan.new[-1].id,
                update_time=append.now,
                authors=plan.authors,
            )
        return plan.outcomes

    async def list(
        self,
        key: ConversationKey,
        wanted: MessageFilter,
        *,
        newest_first: bool,
        limit: int,
        after: int | None,
    ) -> Page[Message, int]:
        """By sequence number."""
        items: list[Message] = []
        size = 0
        messages = self._data.thread(key).messages
        for message in reversed(messages) if newest_first else messages:
            past = after is None or (message.sequence < after if newest_first else message.sequence > after)
            if not past or not wanted.takes(message):
                continue
            size += utf8_length(message.content)
            if items and (len(items) == limit or size > self._max_bytes):
                return Page(items=items, last=items[-1].sequence)
            items.append(message)
        return Page(items=items, last=None)

    async def find(
        self, tenant: str, agent_id: str, names: Sequence[MessageName], neighbours: int
    ) -> Sequence[MessageInContext | None]:
        """For each name the message and its neighbours, or None."""
        space = self._data.space(tenant, agent_id)
        found: list[MessageInContext | None] = []
        for conversation, message_id in names:
            thread = space.threads.get(conversation)
            message = thread.by_id.get(message_id) if thread else None
            if thread is None or message is None:
                found.append(None)
                continue
            at = message.sequence - 1
            before = thread.messages[max(0, at - neighbours) : at]
            after = thread.messages[at + 1 : at + 1 + neighbours]
            found.append(MessageInContext(message=message, before=before, after=after))
        self._bound(m for one in found if one for m in (*one.before, one.message, *one.after))
        return found

    async def at(
        self, key: ConversationKey, sequences: Sequence[int]
    ) -> tuple[Conversation, Sequence[Message]]:
        """Those that exist, by sequence number."""
        thread = self._data.thread(key)
        messages = [thread.messages[n - 1] for n in sorted(set(sequences)) if n <= len(thread.messages)]
        self._bound(iter(messages))
        return thread.conversation, messages

    def _bound(self, messages: Iterator[Message]) -> None:
        if sum(utf8_length(message.content) for message in messages) > self._max_bytes:
            raise LimitExceeded(
                "the answer would be too large; ask for fewer messages",
                metadata={"limit": str(self._max_bytes)},
            )

    async def read(self, key: ConversationKey, work: Callable[[History], T]) -> T:
        """Runs `work` over one moment of a conversation."""
        return work(_MemoryHistory(self._data.thread(key)))


class _MemoryHistory:
    """A History."""

    def __init__(self, thread: _Thread) -> None:
        self._thread = thread

    @property
    def conversation(self) -> Conversation:
        """The conversation."""
        return self._thread.conversation

    def first(self, limit: int) -> Sequence[Message]:
        """Its first messages."""
        return self._thread.messages[:limit]

    def newest_first(self, page: int, most: int) -> Iterator[Message]:
        """Messages from the newest back."""
        messages = self._thread.messages[: -most - 1 : -1]
        for begin in range(0, len(messages), page):
            yield from messages[begin : begin + page]
