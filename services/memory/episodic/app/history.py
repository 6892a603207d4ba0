"""Use cases on paths, branches and overlays."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from services.kit.errors import InvalidField
from services.kit.times import Clock, to_micros
from services.kit.tokens import TokenCounter, estimate_tokens
from services.kit.watching import Signal, follow
from services.memory.episodic.app.ports import (
    Branch,
    Changes,
    HistoryStore,
    NewOverlay,
    Page,
    PathPage,
    Position,
    Progress,
    Uncovered,
)
from services.memory.episodic.domain.checks import check_text
from services.memory.episodic.domain.coverage import is_due
from services.memory.episodic.domain.model import Conversation, ConversationKey, Message, Overlay
from services.memory.episodic.domain.rendering import Rendered, render
from services.memory.episodic.domain.window import (
    MAX_ROWS,
    Mode,
    Window,
    build_window,
    mode_read_enough,
    mode_window,
    read_enough,
)
from services.memory.episodic.domain.window_parts import HEAD_MESSAGES

WATCH_PAGE = 100  # messages that a watcher reads at once
Event: TypeAlias = "Message | tuple[Overlay, ...] | Progress"


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryRules:
    """`fork_messages`: the longest path that is copied. `poll_seconds`: how often a watcher looks anew."""

    fork_messages: int
    poll_seconds: float


class History:
    """What lies along a conversation.

    `counters` are exact tokenizers by model; `changed` wakes watchers, `on_stored` the relay of the outbox.
    """

    def __init__(
        self,
        store: HistoryStore,
        clock: Clock,
        new_id: Callable[[], str],
        *,
        counters: Mapping[str, TokenCounter],
        rules: HistoryRules,
        changed: Signal[ConversationKey],
        on_stored: Callable[[], None],
    ) -> None:
        self._store = store
        self._clock = clock
        self._new_id = new_id
        self._counters = counters
        self._rules = rules
        self._changed = changed
        self._on_stored = on_stored

    async def window(
        self, key: ConversationKey, leaf_id: str, budget: int, *, model: str, rolling_summary: str
    ) -> tuple[Window, int, bool]:
        """What fits `budget` tokens (E-5), the path's depth, and whether tokens were counted exactly.

        Asks for a job where the stretch between head and tail is not covered (E-7).

        Raises InvalidField, NotFound.
        """
        check_text("leaf_id", leaf_id)
        count = self._counters.get(model, estimate_tokens)
        view = await self._store.view(
            key,
            leaf_id,
            lambda rows: read_enough(rows, budget, count=count),
            most=MAX_ROWS - HEAD_MESSAGES,
        )
        window = build_window(
            view.head,
            view.newest_first,
            view.overlays,
            budget,
            rolling_summary=rolling_summary,
            count=count,
        )
        depth = view.leaf.depth
        shown_from = window.tail[0].message.depth if window.tail else depth + 1
        if not leaf_id and not view.cover_requested and is_due(view.overlays, depth, shown_from):
            await self._store.request_cover(key)
            self._on_stored()
        return window, depth, count is not estimate_tokens

    async def newest(self, key: ConversationKey, leaf_id: str, mode: Mode) -> tuple[Window, int]:
        """The newest messages (E-6), and the path's depth. Raises InvalidField, NotFound."""
        check_text("leaf_id", leaf_id)
        view = await self._store.view(key, leaf_id, lambda rows: mode_read_enough(rows, mode), most=MAX_ROWS)
        return mode_window(view.newest_first, mode), view.leaf.depth

    async def path(
        self, key: ConversationKey, leaf_id: str, *, newest_first: bool, limit: int, after: int | None
    ) -> PathPage:
        """The messages of a path, by depth. Raises InvalidField, NotFound."""
        check_text("leaf_id", leaf_id)
        return await self._store.path(key, leaf_id, newest_first=newest_first, limit=limit, after=after)

    async def branches(
        self, key: ConversationKey, message_id: str, *, limit: int, after: int | None
    ) -> Page[Branch, int]:
        """The continuations of a message ("": the first messages). Raises InvalidField, NotFound."""
        check_text("message_id", message_id)
        return await self._store.branches(key, message_id, limit=limit, after=after)

    async def switch(self, key: ConversationKey, message_id: str) -> Conversation:
        """Makes the newest leaf below a message the active one. Raises InvalidField, NotFound."""
        check_text("message_id", message_id)
        conversation = await self._store.switch(key, message_id, to_micros(self._clock()))
        self._changed.notify(key)
        self._on_stored()
        return conversation

    async def fork(self, key: ConversationKey, message_id: str, new_id: str, title: str) -> Conversation:
        """A new conversation with copies of a path (E-3).

        Raises InvalidField, NotFound, Exists, LimitExceeded.
        """
        check_text("message_id", message_id)
        check_text("title", title)
        now = to_micros(self._clock())
        new = Conversation(
            id=new_id or self._new_id(),
            agent_id=key.agent_id,
            contact_id="",
            title=title,
            create_time=now,
            update_time=now,
        )
        forked = await self._store.fork(key, message_id, new, most=self._rules.fork_messages)
        self._on_stored()
        return forked

    async def put_overlay(
        self,
        key: ConversationKey,
        overlay_id: str,
        from_id: str,
        to_id: str,
        summary: str,
        model: str,
        folds: Sequence[str],
        *,
        replace: bool = False,
    ) -> Overlay:
        """Stores an overlay (E-7). Raises InvalidField, NotFound, Exists, StateConflict."""
        check_text("from_message_id", from_id)
        check_text("to_message_id", to_id)
        check_text("summary", summary)
        check_text("model", model)
        for index, folded in enumerate(folds):
            check_text(f"folded_overlay_ids[{index}]", folded)
        if not summary.strip():
            raise InvalidField("summary", "is empty")
        new = NewOverlay(
            id=overlay_id or self._new_id(),
            from_id=from_id,
            to_id=to_id,
            summary=summary,
            token_count=estimate_tokens(summary),
            model=model,
            folds=tuple(dict.fromkeys(folds)),
            replace=replace,
        )
        overlay = await self._store.put_overlay(key, new, to_micros(self._clock()))
        self._changed.notify(key)
        self._on_stored()
        return overlay

    async def overlays(
        self, key: ConversationKey, leaf_id: str, *, superseded: bool, limit: int, after: int | None
    ) -> Page[Overlay, int]:
        """The overlays of a path, in the order of their last change. Raises InvalidField, NotFound."""
        check_text("leaf_id", leaf_id)
        return await self._store.overlays(key, leaf_id, superseded=superseded, limit=limit, after=after)

    async def coverage(self, key: ConversationKey) -> tuple[Uncovered, Sequence[Overlay]]:
        """What is to be covered, and what is to be folded, on the active path. Raises NotFound."""
        return await self._store.uncovered(key), await self._store.foldable(key)

    async def rendering(
        self, key: ConversationKey, leaf_id: str, *, limit: int, after: int | None
    ) -> tuple[Sequence[Rendered], PathPage]:
        """Messages of a path with the overlays over them, and the page of the path that they are.

        Raises InvalidField, NotFound.
        """
        page = await self.path(key, leaf_id, newest_first=False, limit=limit, after=after)
        if not page.items:
            return (), page
        overlays = await self._store.over(key, page.leaf_id, page.items[0].depth)
        return render(page.items, overlays), page

    async def start_of(self, key: ConversationKey) -> Position:
        """The position after all that there is now. Raises NotFound."""
        return (await self._store.changes(key, None, limit=0)).position

    def watch(self, key: ConversationKey, after: Position) -> AsyncGenerator[tuple[Event, Position], None]:
        """What comes after a position, each event with its own (E-12), and how far derived work is."""
        begun = False

        async def read(position: Position) -> Sequence[tuple[Event, Position]]:
            nonlocal begun
            changes = await self._store.changes(key, position, limit=WATCH_PAGE)
            found = events(changes, position, anyway=not begun)
            begun = begun or not changes.more
            return found

        return follow(after, read, self._changed, key, poll_seconds=self._rules.poll_seconds)


def events(changes: Changes, after: Position, *, anyway: bool) -> list[tuple[Event, Position]]:
    """Changes as events in order: messages, then overlays by revision, then how far derived work has come
    (`anyway`: even if nothing changed).

    Each event's position says that all before it was handed over, so that nothing is repeated or missed.
    """
    found: list[tuple[Event, Position]] = []
    reached = after
    for message in changes.messages:
        reached = Position(sequence=message.sequence, revision=reached.revision)
        found.append((message, reached))
    together: dict[int, list[Overlay]] = {}
    for overlay in changes.overlays:
        together.setdefault(overlay.revision, []).append(overlay)
    for revision, overlays in together.items():
        reached = Position(sequence=reached.sequence, revision=revision)
        found.append((tuple(overlays), reached))
    if (anyway or changes.position != after) and not changes.more:
        found.append((changes.progress, changes.position))
    return found
