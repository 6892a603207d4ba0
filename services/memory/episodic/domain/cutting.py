"""Messages shown shorter than they are: cut to a number of tokens, or with their tool traffic as text.

A result is only shown as a result beside its call, and a call of the head only beside its results, since
model APIs refuse one without the other; alone, either is shown as text (SPEC E-5).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from services.kit.tokens import CHARACTERS_PER_TOKEN, TokenCounter, estimate_tokens
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
LEAST_MARKER = "."  # a single token, for tokenizers that take more than one for "…"

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A message as a window shows it, with its tokens as shown.

    `cut`: not as it is stored. `compacted`: shortened by micro-compaction (E-9), not to fit the budget.
    """

    message: Message
    token_count: int
    cut: bool = False
    compacted: bool = False

    @property
    def verbatim(self) -> bool:
        """Whether the budget cost it nothing, so that no overlay needs to stand for it (E-5)."""
        return not self.cut or self.compacted


def tokens_of(message: Message, count: TokenCounter) -> int:
    """Tokens of a message by `count`; the estimate is stored with it (E-10)."""
    if count is estimate_tokens:
        return message.token_count
    return count(plain_text(message.author, message.parts()))


def whole(message: Message, count: TokenCounter) -> Shown:
    """The message verbatim."""
    return Shown(message=message, token_count=tokens_of(message, count))


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


def with_parts(candidate: Shown, parts: tuple[Part, ...], count: TokenCounter) -> Shown:
    """The same message with other parts; itself when they are those that it has."""
    message = candidate.message
    content = encode(parts)
    if content == message.content:
        return candidate
    tokens = count(plain_text(message.author, parts))
    return replace(candidate, message=replace(message, content=content), token_count=tokens, cut=True)


def fit(candidate: Shown, parts: tuple[Part, ...], budget: int, count: TokenCounter) -> Shown | None:
    """The message with these parts, cut from the end to at most `budget` tokens; None if nothing fits.

    The author is given up last, for budgets of a few tokens.
    """
    shown = with_parts(candidate, parts, count)
    if shown.token_count <= budget:
        return shown
    for author in dict.fromkeys((candidate.message.author, "")):
        cut = _cut(candidate.message, author, parts, budget, count)
        if cut is not None:
            return cut
    return None


def fit_together(
    candidates: Sequence[Shown], shares: Sequence[int], budget: int, count: TokenCounter
) -> list[Shown]:
    """Messages that are shown beside each other, each cut to its share, within `budget` in all.

    What a message leaves of the budget is there for those after it; the last may take all that is left.
    A message of which nothing fits is left out.
    """
    parts = tuple(part for one in candidates for part in one.message.parts())
    paired = calls_of(parts) & results_of(parts)
    shown = _fit_each(candidates, shares, budget, paired, count)
    if not _in_pairs(shown):  # cutting parted a call from its result
        shown = _fit_each(candidates, shares, budget, set(), count)
    return shown


def cut_text(text: str, budget: int, count: TokenCounter) -> str:
    """The text, cut from the end with a marker to at most `budget` tokens; empty if nothing fits."""
    if count(text) <= budget:
        return text

    def fits(candidate: str) -> bool:
        return count(candidate) <= budget

    return longest(len(text), budget, lambda length: text[:length] + SHORT_MARKER, fits) or ""


def longest(total: int, budget: int, make: Callable[[int], T], fits: Callable[[T], bool]) -> T | None:
    """The longest `make(length)`, 0 <= length <= total, that bisection finds to fit; None if not even 0 does.

    The search starts at the estimate's most characters for `budget` tokens: a long text is not counted whole.
    """
    best = make(0)
    if not fits(best):
        return None
    low, high = 0, min(total, int(budget * CHARACTERS_PER_TOKEN) + 1)
    while high < total and fits(candidate := make(high)):
        low, best, high = high, candidate, min(total, 2 * high)
    while low < high:
        middle = (low + high + 1) // 2
        candidate = make(middle)
        if fits(candidate):
            low, best = middle, candidate
        else:
            high = middle - 1
    return best


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
    candidates: Sequence[Shown], shares: Sequence[int], budget: int, paired: set[str], count: TokenCounter
) -> list[Shown]:
    shown: list[Shown] = []
    for index, (candidate, share) in enumerate(zip(candidates, shares, strict=True)):
        left = budget - sum(one.token_count for one in shown)
        allowed = left if index == len(candidates) - 1 else min(share, left)
        one = fit(candidate, detach(candidate.message.parts(), paired), allowed, count)
        if one is not None:
            shown.append(one)
    return shown


def _cut(
    message: Message, author: str, parts: tuple[Part, ...], budget: int, count: TokenCounter
) -> Shown | None:
    def fits(candidate: tuple[Part, ...]) -> bool:
        return count(plain_text(author, candidate)) <= budget

    total = sum(len(words(part)) for part in parts)
    for ending in (marker(message), SHORT_MARKER, LEAST_MARKER):
        kept = longest(total, budget, partial(_prefix, parts, ending), fits)
        if kept is not None:
            cut = replace(message, author=author, content=encode(kept))
            return Shown(message=cut, token_count=count(plain_text(author, kept)), cut=True)
    return None


def _prefix(parts: tuple[Part, ...], ending: str, length: int) -> tuple[Part, ...]:
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


def _call_id(part: Part) -> str | None:
    return part.call_id if isinstance(part, ToolCall | ToolResult) else None


def _detached(part: Part) -> Part:
    if isinstance(part, ToolCall):
        return Text(text=f"[call of a tool, its result is not shown] {words(part)}")
    return Text(text=f"[result of a tool, its call is not shown] {words(part)}")
