"""The system prompt of a conversation: the agent's own, and its context blocks (SPEC W-4, W-5). Pure.

What the application alone writes stands as it is; what a model or a user may have written (the content of
writable blocks, keys and titles of entries) is fenced inside its block (G-3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from services.kit.fences import fenced, header
from services.kit.tokens import estimate_tokens
from services.memory.episodic.domain.blocks import ContextBlock, Kind

SEPARATOR = "\n\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemPrompt:
    """A system prompt as it was written down; `revision` counts how often."""

    text: str
    token_count: int
    revision: int
    create_time: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownBlock:
    """A block and, of a loadable one, the key and title of its first entries by key."""

    block: ContextBlock
    listed: Sequence[tuple[str, str]] = ()


def render(system_prompt: str, blocks: Sequence[ShownBlock]) -> str:
    """The whole text, the blocks in the order given; without blocks exactly `system_prompt`."""
    pieces = [system_prompt, *map(block_text, blocks)] if system_prompt else map(block_text, blocks)
    return SEPARATOR.join(pieces)


def block_text(shown: ShownBlock) -> str:
    """A block: a line that says what it is and how full, and its content."""
    block = shown.block
    if block.kind is Kind.READONLY:
        return "\n".join([_title(block, block.token_count), *([block.content] if block.content else ())])
    if block.kind is Kind.WRITABLE:
        return f"{_title(block, block.token_count)}\n{fenced(block.label, block.content)}"
    count = f"{block.entry_count} {'entry' if block.entry_count == 1 else 'entries'} indexed"
    if block.kind is Kind.SEARCHABLE:
        return f"{_title(block, estimate_tokens(count))}\n{count}"
    listing = _listing(count, shown)
    body = [count, fenced(block.label, listing)] if listing else [count]
    used = estimate_tokens("\n".join([count, listing]) if listing else count)
    return "\n".join([_title(block, used), *body])


def _title(block: ContextBlock, used: int) -> str:
    """Ends with the use of the budget: "45% — 495/1100 tokens"; 100% is only what is full."""
    about = f": {block.description}" if block.description.strip() else ""
    budget = f"{100 * used // block.max_tokens}% — {used}/{block.max_tokens} tokens"
    return header(f"context {block.label} ({block.kind.name.lower()}, {budget}){about}")


def _listing(count: str, shown: ShownBlock) -> str:
    """As many of the entries as fit the budget, one a line; the rest counted."""
    fits, over = 0, len(shown.listed) + 1
    while over - fits > 1:
        middle = (fits + over) // 2
        if estimate_tokens(f"{count}\n{_lines(shown, middle)}") <= shown.block.max_tokens:
            fits = middle
        else:
            over = middle
    return _lines(shown, fits) if fits else ""


def _lines(shown: ShownBlock, number: int) -> str:
    lines = [_line(key, " ".join(title.split())) for key, title in shown.listed[:number]]
    rest = shown.block.entry_count - number
    return "\n".join([*lines, f"… and {rest} more"] if rest > 0 else lines)


def _line(key: str, title: str) -> str:
    return f"- {key}: {title}" if title else f"- {key}"
