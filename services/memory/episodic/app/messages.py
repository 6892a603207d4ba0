"""Use cases on messages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from services.kit.times import Clock, to_micros
from services.kit.watching import Signal
from services.memory.episodic.app.ports import MessageName, MessageStore, Page
from services.memory.episodic.domain.append import Append, Outcome
from services.memory.episodic.domain.checks import Limits, check_text, draft_messages
from services.memory.episodic.domain.model import (
    Conversation,
    ConversationKey,
    Message,
    MessageFilter,
    MessageInContext,
    NewMessage,
)

LARGE_BATCH = 32  # messages; checking more than these would hold up the other calls


class Messages:
    """Stores and reads messages; after each append that is committed, `changed` and `on_stored` are told."""

    def __init__(
        self,
        store: MessageStore,
        clock: Clock,
        limits: Limits,
        changed: Signal[ConversationKey],
        on_stored: Callable[[], None],
    ) -> None:
        self._store = store
        self._clock = clock
        self._limits = limits
        self._changed = changed
        self._on_stored = on_stored

    async def append(
        self,
        key: ConversationKey,
        messages: Sequence[NewMessage],
        *,
        parent_id: str | None,
        request_id: str,
        branch: bool,
        keep_path: bool = False,
    ) -> tuple[Outcome, ...]:
        """Stores messages in order, all or none; durable when it returns (E-1, E-2).

        Raises InvalidField, LimitExceeded, NotFound, Exists, ParentConflict.
        """
        check_text("request_id", request_id)
        check_text("parent_id", parent_id or "")
        now = to_micros(self._clock())
        if len(messages) > LARGE_BATCH:
            drafts = await asyncio.to_thread(draft_messages, messages, now, self._limits)
        else:
            drafts = draft_messages(messages, now, self._limits)
        outcomes = await self._store.append(
            Append(
                key=key,
                drafts=drafts,
                parent_id=parent_id,
                request_id=request_id,
                now=now,
                branch=branch,
                keep_path=keep_path,
            )
        )
        self._changed.notify(key)
        self._on_stored()
        return outcomes

    async def list(
        self,
        key: ConversationKey,
        wanted: MessageFilter,
        *,
        newest_first: bool,
        limit: int,
        after: int | None,
    ) -> Page[Message, int]:
        """By sequence number. Pages of large messages are shorter than `limit`. Raises NotFound."""
        return await self._store.list(key, wanted, newest_first=newest_first, limit=limit, after=after)

    async def find(
        self, tenant: str, agent_id: str, names: Sequence[MessageName], neighbours: int
    ) -> Sequence[MessageInContext | None]:
        """For each name the message and its neighbours, or None. Raises NotFound (agent), LimitExceeded."""
        return await self._store.find(tenant, agent_id, names, neighbours)

    async def at(
        self, key: ConversationKey, sequences: Sequence[int]
    ) -> tuple[Conversation, Sequence[Message]]:
        """Those that exist, by sequence number. Raises NotFound, LimitExceeded."""
        return await self._store.at(key, sequences)
