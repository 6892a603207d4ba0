"""Context blocks: parts of the system prompt with a kind and a budget of their own (SPEC W-4)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from services.kit.errors import InvalidField, StateConflict
from services.memory.episodic.domain.working import Edit, check_limit, count_within


class Kind(IntEnum):
    """How a block reaches the model; the numbers are the wire's."""

    READONLY = 1
    WRITABLE = 2
    SEARCHABLE = 3
    LOADABLE = 4


class Writer(IntEnum):
    """Who wrote a block's content last; the numbers are the wire's."""

    NOBODY = 0
    APPLICATION = 1
    MODEL = 2


WITH_CONTENT = frozenset({Kind.READONLY, Kind.WRITABLE})
WITH_ENTRIES = frozenset({Kind.SEARCHABLE, Kind.LOADABLE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """Whose blocks: one conversation's, or with an empty `conversation_id` the agent's."""

    tenant: str
    agent_id: str
    conversation_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBlock:
    """A block. `content` belongs to readonly and writable ones, `entry_count` to the others."""

    label: str
    description: str
    kind: Kind
    max_tokens: int
    content: str = ""
    token_count: int = 0
    written_by: Writer = Writer.NOBODY
    entry_count: int = 0
    create_time: int
    update_time: int
    of_conversation: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NewBlock:
    """A block as the application puts it; content None leaves what is there."""

    label: str
    description: str
    kind: Kind
    max_tokens: int
    content: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextEntry:
    """A piece of a searchable or loadable block; its content is empty in listings."""

    label: str
    key: str
    title: str
    content: str
    token_count: int
    update_time: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextHit:
    """An entry that a search found, with the part of its content around what matches."""

    label: str
    key: str
    title: str
    excerpt: str
    score: float


def put_block(new: NewBlock, old: ContextBlock | None, now: int) -> ContextBlock:
    """The block after a put. Raises InvalidField, StateConflict (another kind), LimitExceeded."""
    if old is not None and old.kind is not new.kind:
        raise StateConflict("the kind of a block can't change; delete the block first")
    if new.content is not None and new.kind in WITH_ENTRIES:
        raise InvalidField("content", "a searchable or loadable block has entries instead")
    content, writer = (old.content, old.written_by) if old is not None else ("", Writer.NOBODY)
    if new.content is not None:
        content, writer = new.content, Writer.APPLICATION if new.content else Writer.NOBODY
    return ContextBlock(
        label=new.label,
        description=new.description,
        kind=new.kind,
        max_tokens=new.max_tokens,
        content=content,
        token_count=count_within("the block", content, new.max_tokens),
        written_by=writer,
        entry_count=old.entry_count if old is not None else 0,
        create_time=old.create_time if old is not None else now,
        update_time=now,
        of_conversation=old.of_conversation if old is not None else False,
    )


def edited(block: ContextBlock, edit: Edit) -> tuple[str, int]:
    """A writable block's content after a change by the model, and its tokens.

    Raises StateConflict (not writable), LimitExceeded.
    """
    require_kind(block, Kind.WRITABLE)
    content = edit.apply(block.content)
    return content, count_within("the block", content, block.max_tokens)


def require_kind(block: ContextBlock, *kinds: Kind) -> None:
    """Raises StateConflict for a block of any other kind."""
    if block.kind not in kinds:
        wanted = " or ".join(kind.name.lower() for kind in kinds)
        raise StateConflict(f"the block is {block.kind.name.lower()}, not {wanted}")


def check_entry_count(count: int, limit: int) -> None:
    """Raises LimitExceeded when a block would have more than `limit` entries."""
    check_limit(f"a block has at most {limit} entries", count, limit)


def effective(blocks: Iterable[ContextBlock]) -> list[ContextBlock]:
    """What counts in a conversation: the agent's blocks, then the conversation's, each by label.

    A conversation's block hides the agent's of the same label.
    """
    every = sorted(blocks, key=lambda block: (block.of_conversation, block.label))
    own = {block.label for block in every if block.of_conversation}
    return [block for block in every if block.of_conversation or block.label not in own]
