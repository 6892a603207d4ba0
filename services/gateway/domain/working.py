"""The layer of working memory: task, notes, loaded entries, an interrupted turn (SPEC W-1 to W-4, G-1). Pure.

What doesn't fit the layer's share is shared out fairly: parts that need little get it, the others get
equal shares of the rest. Of each part the newest stays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from services.gateway.domain.layers import one_line
from services.gateway.domain.parts import (
    Layer,
    LayerKind,
    LoadedEntry,
    StaleTurn,
    ToolOutcome,
    Working,
    WorkingSources,
)
from services.kit.fences import fenced, header
from services.kit.tokens import TokenCounter, estimate_tokens, most_characters

CUT = "[…cut]"
MAX_ARGUMENT_CHARACTERS = 300  # of an interrupted turn's call: enough to know it by
TASK_TITLE = "ongoing task"
NOTES_TITLE = "notes"
STALE_TITLE = "interrupted turn"
STALE_NOTE = (
    "The last turn was interrupted before it was answered. Use the results and the open sessions below again"
    " rather than run their tools again."
)
SEPARATOR = "\n"

T = TypeVar("T")
Part = tuple[str, WorkingSources]  # its text and what it shows; empty when it has no room
NOTHING: Part = ("", WorkingSources())
NO_WORKING = Working()
Fit = Callable[[int], Part]  # a part within a number of tokens


def working_layer(working: Working, budget: int, *, count: TokenCounter = estimate_tokens) -> Layer:
    """As much of the working memory as fits `budget` tokens."""
    if working == NO_WORKING:
        return Layer(kind=LayerKind.WORKING, text="", tokens=0, budget=budget)
    fits: tuple[Fit, ...] = (
        lambda limit: _task(working, limit, count),
        lambda limit: _notes(working, limit, count),
        lambda limit: _loaded(working.loaded, limit, count),
        lambda limit: _stale(working.stale, limit, count),
    )
    limit = budget
    while True:
        parts = _shared_out(fits, limit, count) if limit >= 0 else [NOTHING] * len(fits)
        text = SEPARATOR.join(part for part, _ in parts if part)
        tokens = count(text)
        over = tokens - budget
        if over <= 0:
            sources = _merged([source for _, source in parts])
            return Layer(kind=LayerKind.WORKING, text=text, tokens=tokens, budget=budget, working=sources)
        limit = max(0, limit - over) if limit else -1  # counts of parts don't add up exactly


def _shared_out(fits: Sequence[Fit], limit: int, count: TokenCounter) -> list[Part]:
    """Max-min fair: a part that needs less than an equal share leaves the rest of it to the others."""
    wholes = [fit(limit)[0] for fit in fits]
    needs = [count(whole) + 1 if whole else 0 for whole in wholes]
    parts = [NOTHING] * len(fits)
    left = limit + 1  # the last part has no separator behind it
    by_need = sorted(range(len(fits)), key=lambda number: needs[number])
    for waiting, number in zip(range(len(fits), 0, -1), by_need, strict=True):
        granted = min(needs[number], left // waiting)
        parts[number] = fits[number](granted - 1)
        left -= granted
    return parts


def _merged(sources: Sequence[WorkingSources]) -> WorkingSources:
    task, notes, loaded, stale = sources
    return replace(stale, task=task.task, notes_version=notes.notes_version, entries=loaded.entries)


def _task(working: Working, limit: int, count: TokenCounter) -> Part:
    task = working.task
    length = _longest(len(task), lambda n: fenced(TASK_TITLE, _beginning(task, n)), limit, count)
    if not length:
        return NOTHING
    return fenced(TASK_TITLE, _beginning(task, length)), WorkingSources(task=True)


def _notes(working: Working, limit: int, count: TokenCounter) -> Part:
    """Their end: what was added last stays."""
    notes = working.notes
    length = _longest(len(notes), lambda n: fenced(NOTES_TITLE, _end(notes, n)), limit, count)
    if not length:
        return NOTHING
    sources = WorkingSources(notes_version=working.notes_version)
    return fenced(NOTES_TITLE, _end(notes, length)), sources


def _loaded(entries: Sequence[LoadedEntry], limit: int, count: TokenCounter) -> Part:
    def text(shown: Sequence[LoadedEntry]) -> str:
        hidden = len(entries) - len(shown)
        note = [header(f"{hidden} loaded entries not shown")] if hidden else []
        return SEPARATOR.join([*note, *map(_entry_text, shown)])

    def cut(entry: LoadedEntry, length: int) -> LoadedEntry:
        return replace(entry, content=_beginning(entry.content, length))

    shown = _newest(entries, text, cut, lambda entry: len(entry.content), limit, count)
    if not shown:
        return NOTHING
    names = tuple(f"{entry.label}/{entry.key}" for entry in shown)
    return text(shown), WorkingSources(entries=names)


def _stale(turn: StaleTurn | None, limit: int, count: TokenCounter) -> Part:
    """The newest results; of the open sessions those that leave them half of the room."""
    if turn is None or not (turn.outcomes or turn.sessions):
        return NOTHING
    sessions = _open_sessions(turn, limit, count)

    def text(shown: Sequence[ToolOutcome]) -> str:
        return _stale_text(turn, sessions, shown)

    def cut(outcome: ToolOutcome, length: int) -> ToolOutcome:
        return replace(outcome, content=_beginning(outcome.content, length))

    shown = _newest(turn.outcomes, text, cut, lambda outcome: len(outcome.content), limit, count)
    if not shown and not sessions:
        return NOTHING
    return text(shown), WorkingSources(turn_id=turn.turn_id, result_count=len(shown))


def _open_sessions(turn: StaleTurn, limit: int, count: TokenCounter) -> Sequence[tuple[str, str]]:
    """All if everything fits, else those that fit in half of the room."""
    if count(_stale_text(turn, turn.sessions, turn.outcomes)) <= limit:
        return turn.sessions
    room = limit // 2 if turn.outcomes else limit
    chosen: list[tuple[str, str]] = []
    for session in turn.sessions:
        if count(_stale_text(turn, [*chosen, session], ())) <= room:
            chosen.append(session)
    return chosen


def _stale_text(turn: StaleTurn, sessions: Sequence[tuple[str, str]], outcomes: Sequence[ToolOutcome]) -> str:
    lines = [f"open session {one_line(name)}: {one_line(handle)}" for name, handle in sessions]
    if hidden := len(turn.sessions) - len(sessions):
        lines.append(f"({hidden} open sessions not shown)")
    if hidden := len(turn.outcomes) - len(outcomes):
        lines.append(f"({hidden} older results not shown)")
    lines += map(_outcome_text, outcomes)
    return f"{STALE_NOTE}\n{fenced(STALE_TITLE, SEPARATOR.join(lines))}"


def _outcome_text(outcome: ToolOutcome) -> str:
    """A line for the call, and the result indented: no result can pass for two."""
    content = ("error: " if outcome.is_error else "") + outcome.content
    body = "\n  ".join(content.splitlines())
    arguments = _beginning(one_line(outcome.arguments), MAX_ARGUMENT_CHARACTERS)
    return f"{one_line(outcome.name)} {arguments}:\n  {body}"


def _entry_text(entry: LoadedEntry) -> str:
    title = f", {one_line(entry.title)}" if entry.title.strip() else ""
    return fenced(f"context {entry.label}/{entry.key}{title}", entry.content)


def _newest(
    items: Sequence[T],
    text: Callable[[Sequence[T]], str],
    cut: Callable[[T, int], T],
    size: Callable[[T], int],
    limit: int,
    count: TokenCounter,
) -> list[T]:
    """The newest items whose text fits, and before them as much of the next one as does."""
    first = most = len(items)
    room = most_characters(limit, count)
    while first and size(items[first - 1]) <= room:  # nothing before these can fit: not tried
        first -= 1
        room -= size(items[first])
    if count(text(items[first:])) <= limit:  # all may be shorter than a note on what is left out
        most = first
    while first < most:
        middle = (first + most) // 2
        if count(text(items[middle:])) <= limit:
            most = middle
        else:
            first = middle + 1
    kept = list(items[most:])
    if not most:
        return kept
    before = items[most - 1]
    length = _longest(size(before) - 1, lambda n: text([cut(before, n), *kept]), limit, count)
    return [cut(before, length), *kept] if length > 0 else kept


def _longest(size: int, text: Callable[[int], str], limit: int, count: TokenCounter) -> int:
    """The largest length up to `size` whose text fits the limit; 0 if none does."""
    fewest, most = 0, max(min(size, most_characters(limit, count)), 0)
    if most == size and count(text(size)) <= limit:  # the whole may be shorter than a cut one
        return size
    while fewest < most:
        length = (fewest + most + 1) // 2
        if count(text(length)) <= limit:
            fewest = length
        else:
            most = length - 1
    return fewest


def _beginning(text: str, length: int) -> str:
    return text if length >= len(text) else f"{text[:length]} {CUT}"


def _end(text: str, length: int) -> str:
    return text if length >= len(text) else f"{CUT} {text[len(text) - length :]}"
