"""The slice of a path that a prompt shows: by a budget of tokens (SPEC E-5), or by mode (E-6).

By budget: the head (the first two messages) may take 10 %, overlays 20 %, and the newest messages have the
rest, with what those leave. The tail is the longest that fits, unbroken and verbatim (long messages that are
not among the newest are shortened, E-9); only its newest message, or the tool exchange that this message
ends, is cut when it alone is over what it may have. An overlay stands for the messages of its range that are
not verbatim, and is not shown where all of them are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import takewhile

from services.kit.tokens import TokenCounter, estimate_tokens
from services.memory.episodic.domain.coverage import uncovered
from services.memory.episodic.domain.cutting import Shown, calls_of, detach, fit, fit_together, results_of
from services.memory.episodic.domain.exchanges import Run, runs
from services.memory.episodic.domain.model import DepthRange, Message, Overlay
from services.memory.episodic.domain.window_parts import HEAD_MESSAGES, Front, Fronts

PAGE_ROWS = 10  # E-5
MAX_ROWS = 200  # E-5, head included
MAX_TAIL_CHARACTERS = 4 * 1024 * 1024  # so that an answer fits a gRPC message


class Mode(IntEnum):
    """A window without a budget (E-6); the numbers are the wire's."""

    AUTO = 1
    FULL = 2


MODE_MESSAGES = {Mode.AUTO: 4, Mode.FULL: 12}  # E-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What is shown: the head (those that are not in the tail), overlays in order, the newest messages.

    Each overlay `stands_for` the messages between two depths: those of its range that are not verbatim here.
    `rolling_summary` is there instead of overlays, as shown. `omitted_count`: messages neither shown nor in
    the range of a shown overlay. `overlays_left_out` are those that were over their share. `uncovered_*` is
    the oldest stretch between head and tail that no live overlay covers (E-7), 0 if there is none.
    """

    head: tuple[Shown, ...] = ()
    overlays: tuple[Overlay, ...] = ()
    stands_for: tuple[DepthRange, ...] = ()
    rolling_summary: str = ""
    tail: tuple[Shown, ...] = ()
    omitted_count: int = 0
    overlays_left_out: int = 0
    uncovered_from_depth: int = 0
    uncovered_to_depth: int = 0
    latest_time: int | None = None
    head_tokens: int = 0
    overlay_tokens: int = 0
    tail_tokens: int = 0

    @property
    def overlays_over_share(self) -> bool:
        """Whether overlays are due to be folded (E-7)."""
        return self.overlays_left_out > 0

    @property
    def token_count(self) -> int:
        """Tokens of all that is shown, the rolling summary counting with the overlays."""
        return self.head_tokens + self.overlay_tokens + self.tail_tokens


def read_enough(
    newest_first: Sequence[Message], budget: int, *, count: TokenCounter = estimate_tokens
) -> bool:
    """Whether no window of `budget` tokens needs more rows of the path than these.

    `newest_first` runs from the path's last message back without a gap; it need not reach into the head.
    """
    if newest_first and newest_first[-1].depth <= HEAD_MESSAGES + 1:
        return True
    if count is estimate_tokens and _surely_fit(newest_first, budget):
        return False
    tokens = characters = 0
    for number, run in enumerate(takewhile(lambda run: run.settled, runs(newest_first, count))):
        tokens += run.token_count
        characters += run.characters
        if tokens > budget or (number and characters > MAX_TAIL_CHARACTERS):
            return True
    return False


def build_window(
    head: Sequence[Message],
    newest_first: Sequence[Message],
    overlays: Sequence[Overlay],
    budget: int,
    *,
    rolling_summary: str = "",
    count: TokenCounter = estimate_tokens,
) -> Window:
    """Chooses what to show within `budget` tokens (at least 1), each text counted by `count`.

    `head` holds the path's first two messages, `newest_first` as many rows back from its last message as
    `read_enough` asks for. `overlays` are the path's live ones, by depth; without any, the rolling summary
    takes their place. Equal input gives an equal window.
    """
    rows = _joined(head, newest_first)
    if not rows:
        return Window()
    depth = rows[0].depth
    fronts = Fronts(head, overlays, rolling_summary, path_depth=depth, budget=budget, count=count)
    front, tail = _longest_tail(rows, fronts, budget, count) or _cut_tail(rows, fronts, budget, count)
    return _window(front, tail, overlays, rows[0])


def mode_read_enough(newest_first: Sequence[Message], mode: Mode) -> bool:
    """Whether the window of this mode needs no more rows of the path than these."""
    if newest_first and newest_first[-1].depth == 1:
        return True
    settled = takewhile(lambda run: run.settled, runs(newest_first, estimate_tokens))
    return sum(len(run.shown) for run in settled) >= MODE_MESSAGES[mode]


def mode_window(
    newest_first: Sequence[Message], mode: Mode, *, count: TokenCounter = estimate_tokens
) -> Window:
    """The newest messages, verbatim but for E-9; more of them where the oldest is a tool's result (E-6)."""
    tail: tuple[Shown, ...] = ()
    characters = 0
    for run in runs(newest_first, count):
        characters += run.characters
        if len(tail) >= MODE_MESSAGES[mode] or (tail and characters > MAX_TAIL_CHARACTERS):
            break
        tail = run.shown + tail
    if not tail:
        return Window()
    newest = newest_first[0]
    return Window(
        tail=tail,
        omitted_count=newest.depth - len(tail),
        latest_time=newest.time,
        tail_tokens=sum(one.token_count for one in tail),
    )


def _surely_fit(rows: Sequence[Message], budget: int) -> bool:
    """Cheaper than compacting: whether the rows fit as they are stored. A few more may be read for it."""
    tokens = sum(message.token_count for message in rows)
    return tokens <= budget and sum(len(message.content) for message in rows) <= MAX_TAIL_CHARACTERS


def _joined(head: Sequence[Message], newest_first: Sequence[Message]) -> Sequence[Message]:
    """The rows, with the head behind them where nothing lies between."""
    if not newest_first:
        return head[::-1]
    older = [message for message in reversed(head) if message.depth < newest_first[-1].depth]
    if older and older[0].depth == newest_first[-1].depth - 1:
        return [*newest_first, *older]
    return newest_first


def _longest_tail(
    rows: Sequence[Message], fronts: Fronts, budget: int, count: TokenCounter
) -> tuple[Front, tuple[Shown, ...]] | None:
    """The longest tail that fits with its front; None if not even the newest run does.

    A longer tail may fit where a shorter one doesn't: it can spare the head, an overlay or the summary. So
    the longest is tried first.
    """
    taken: list[tuple[Run, int]] = []  # newest first, each with the tokens up to it
    tokens = characters = 0
    for run in runs(rows, count):
        tokens += run.token_count
        characters += run.characters
        if tokens > budget or (taken and characters > MAX_TAIL_CHARACTERS):
            break
        taken.append((run, tokens))
    while taken:
        first, tokens = taken[-1]
        front = fronts.before(first.start, verbatim_from=first.start)
        if front.token_count + tokens <= budget:
            return front, tuple(one for run, _ in reversed(taken) for one in run.shown)
        taken.pop()
    return None


def _cut_tail(
    rows: Sequence[Message], fronts: Fronts, budget: int, count: TokenCounter
) -> tuple[Front, tuple[Shown, ...]]:
    """The newest exchange, each message cut to an equal share; if it won't go, the newest message alone."""
    exchange = next(runs(rows, count)).shown
    beyond = rows[0].depth + 1
    if len(exchange) > 1:
        front = fronts.before(exchange[0].message.depth, verbatim_from=beyond)
        allowed = budget - front.token_count
        shown = fit_together(exchange, [allowed // len(exchange)] * len(exchange), allowed, count)
        if len(shown) == len(exchange):
            return front.beside(shown), tuple(shown)
    front = fronts.before(rows[0].depth, verbatim_from=beyond)
    alone = _fit_alone(exchange[-1], budget - front.token_count, count)
    return front, (alone,) if alone is not None else ()


def _fit_alone(newest: Shown, budget: int, count: TokenCounter) -> Shown | None:
    """A call that awaits its result is shown as it is; a result whose call is not shown, as text."""
    parts = newest.message.parts()
    shown = fit(newest, detach(parts, calls_of(parts)), budget, count)
    if shown is None:
        return None
    kept = shown.message.parts()
    if results_of(kept) <= calls_of(kept):
        return shown
    return fit(newest, detach(parts, calls_of(parts) - results_of(parts)), budget, count)


def _window(front: Front, tail: tuple[Shown, ...], overlays: Sequence[Overlay], newest: Message) -> Window:
    start = tail[0].message.depth if tail else newest.depth + 1
    first, last = _uncovered(overlays, start)
    return Window(
        head=front.head,
        overlays=tuple(overlay for overlay, _ in front.overlays),
        stands_for=tuple(front.stands_for(overlay, tail) for overlay, _ in front.overlays),
        rolling_summary=front.rolling_summary,
        tail=tail,
        omitted_count=start - 1 - _accounted(start, front),
        overlays_left_out=len(front.left_out),
        uncovered_from_depth=first,
        uncovered_to_depth=last,
        latest_time=newest.time,
        head_tokens=front.head_tokens,
        overlay_tokens=front.overlay_tokens,
        tail_tokens=sum(one.token_count for one in tail),
    )


def _accounted(start: int, front: Front) -> int:
    """How many messages before the tail are in the head or in the range of a shown overlay."""
    head = {one.message.depth for one in front.head}
    covered = [range(overlay.from_depth, min(overlay.to_depth + 1, start)) for overlay, _ in front.overlays]
    return len(head) + sum(len(depths) - sum(depth in depths for depth in head) for depths in covered)


def _uncovered(overlays: Sequence[Overlay], start: int) -> tuple[int, int]:
    """The oldest stretch between the head and a tail from `start` on without an overlay; zeros for none."""
    for first, last in uncovered(overlays, start - 1):
        first, last = max(first, HEAD_MESSAGES + 1), min(last, start - 1)
        if first <= last:
            return first, last
    return 0, 0
