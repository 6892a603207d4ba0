"""Messages shown shorter than they are: cut to a number of tokens, or with their tool traffic as text.

A result is only shown as a result beside its call, and a call of the head only beside its results, since
model APIs refuse one without the other; alone, either is shown as text (SPEC E-5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from services.kit.tokens import CHARACTERS_PER_TOKEN, estimate_tokens
from services.memory.episodic.domain.model import Message
from services.memory.episodic.domain.parts import (
    Attachment,
    Part,
    Text,
    ToolCall,
    ToolResult,
    encode,
    plain_text,
    words,
)

SHORT_MARKER = "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A message as a window shows it, with its tokens as shown."""

    message: Message
    token_count: int
    cut: bool = False


def whole(message: Message) -> Shown:
    """The message verbatim."""
    return Shown(message=message, token_count=message.token_count)


def calls_of(parts: tuple[Part, ...]) -> set[str]:
    """Ids of the tool calls among the parts."""
    return {part.call_id for part in parts if isinstance(part, ToolCall)}


def results_of(parts: tuple[Part, ...]) -> set[str]:
    """Ids of the tool calls that the parts answer."""
    return {part.call_id for part in parts if isinstance(part, ToolResult)}


def has_tool_traffic(content: str) -> bool:
    """Whether canonical content may hold tool calls or results; cheaper than decoding it."""
    return '["call",' in content or '["result",' in content


def marker(message: Message) -> str:
    """Says that the text goes on, and where the whole is."""
    return f" […cut; whole in message {message.id}]"


def detach(parts: tuple[Part, ...], attached: set[str]) -> tuple[Part, ...]:
    """Tool traffic of calls that are not in `attached`, as text; the other parts as they are."""
    return tuple(_detached(part) if _call_id(part) not in {None, *attached} else part for part in parts)


def fit(message: Message, parts: tuple[Part, ...], budget: int) -> Shown | None:
    """The message with these parts, cut from the end to at most `budget` tokens; None if nothing fits.

    The author is given up last, for budgets of a few tokens.
    """
    for author in dict.fromkeys((message.author, "")):
        shown = _fit_with(message, author, parts, budget)
        if shown is not None:
            return shown
    return None


def fit_together(messages: Sequence[Message], shares: Sequence[int], budget: int) -> list[Shown]:
    """Messages that are shown beside each other, each cut to its share, within `budget` in all.

    What a message leaves of the budget is there for those after it; the last may take all that is left.
    A message of which nothing fits is left out.
    """
    parts = tuple(part for message in messages for part in message.parts())
    paired = calls_of(parts) & results_of(parts)
    shown = _fit_each(messages, shares, budget, paired)
    if not _in_pairs(shown):  # cutting parted a call from its result
        shown = _fit_each(messages, shares, budget, set())
    return shown


def _in_pairs(shown: Sequence[Shown]) -> bool:
    """Whether no result comes before its call, and no call is without a result."""
    called: set[str] = set()
    answered: set[str] = set()
    for one in shown:
        parts = one.message.parts()
        called |= calls_of(parts)
        answered |= results_of(parts)
        if not answered <= called:
            return False
    return called == answered


def _fit_each(
    messages: Sequence[Message], shares: Sequence[int], budget: int, paired: set[str]
) -> list[Shown]:
    shown: list[Shown] = []
    for index, (message, share) in enumerate(zip(messages, shares, strict=True)):
        left = budget - sum(one.token_count for one in shown)
        allowed = left if index == len(messages) - 1 else min(share, left)
        one = fit(message, detach(message.parts(), paired), allowed)
        if one is not None:
            shown.append(one)
    return shown


def _fit_with(message: Message, author: str, parts: tuple[Part, ...], budget: int) -> Shown | None:
    if author == message.author:
        tokens = estimate_tokens(plain_text(author, parts))
        if tokens <= budget:
            changed = encode(parts) != message.content
            return _shown(message, author, parts, tokens, cut=changed)
    for ending in (marker(message), SHORT_MARKER):
        low = _prefix(parts, 0, ending)
        if estimate_tokens(plain_text(author, low)) > budget:
            continue
        best = _longest(author, parts, ending, budget)
        return _shown(message, author, best, estimate_tokens(plain_text(author, best)), cut=True)
    return None


def _longest(author: str, parts: tuple[Part, ...], ending: str, budget: int) -> tuple[Part, ...]:
    """The longest prefix that bisection finds to fit; that of no characters is known to."""
    low, best = 0, _prefix(parts, 0, ending)
    # No token is longer than CHARACTERS_PER_TOKEN characters, so a longer prefix can't fit.
    high = min(sum(len(words(part)) for part in parts), int(budget * CHARACTERS_PER_TOKEN) + 1)
    while low < high:
        middle = (low + high + 1) // 2
        candidate = _prefix(parts, middle, ending)
        if estimate_tokens(plain_text(author, candidate)) <= budget:
            low, best = middle, candidate
        else:
            high = middle - 1
    return best


def _prefix(parts: tuple[Part, ...], length: int, ending: str) -> tuple[Part, ...]:
    """The first `length` characters of the parts' words, and the ending."""
    kept: list[Part] = []
    for part in parts:
        size = len(words(part))
        if size > length or length == 0:
            return (*kept, *_cut_part(part, length, ending))
        kept.append(part)
        length -= size
    return (*kept, Text(text=ending.strip()))


def _cut_part(part: Part, length: int, ending: str) -> tuple[Part, ...]:
    match part:
        case Text(text=text) if length:
            return (Text(text=text[:length] + ending),)
        case ToolResult(content=content):
            return (replace(part, content=(content[:length] + ending).strip()),)
        case Attachment(caption=caption) if length:
            return (replace(part, caption=caption[:length] + ending),)
        case _:
            return (Text(text=ending.strip()),)


def _shown(message: Message, author: str, parts: tuple[Part, ...], tokens: int, *, cut: bool) -> Shown:
    if not cut:
        return whole(message)
    return Shown(message=replace(message, author=author, content=encode(parts)), token_count=tokens, cut=True)


def _call_id(part: Part) -> str | None:
    return part.call_id if isinstance(part, ToolCall | ToolResult) else None


def _detached(part: Part) -> Part:
    if isinstance(part, ToolCall):
        return Text(text=f"[call of a tool, its result is not shown] {words(part)}")
    return Text(text=f"[result of a tool, its call is not shown] {words(part)}")
