"""Paths of messages and their overlays, for the tests of windows."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from services.kit.tokens import estimate_tokens
from services.memory.episodic.domain.model import Message, Overlay, Role
from services.memory.episodic.domain.parts import (
    Attachment,
    Part,
    Text,
    ToolCall,
    ToolResult,
    encode,
    plain_text,
)


def message(depth: int, *parts: Part, author: str = "") -> Message:
    """The message at this depth; sequence numbers differ from depths as they do on a branch."""
    return Message(
        id=f"m{depth}",
        conversation_id="c",
        sequence=depth + 1000,
        depth=depth,
        parent_id=f"m{depth - 1}" if depth > 1 else "",
        role=Role.USER,
        author=author,
        session="",
        time=depth,
        create_time=depth,
        token_count=estimate_tokens(plain_text(author, parts)),
        content=encode(parts),
    )


def says(*texts: str, start: int = 1) -> list[Message]:
    """Messages of one text each."""
    return [message(depth, Text(text=text)) for depth, text in enumerate(texts, start)]


def of_tokens(*sizes: int, start: int = 1) -> list[Message]:
    """Messages of so many estimated tokens each."""
    return says(*["x" * int(size * 3.5) for size in sizes], start=start)


def overlay(first: int, last: int, summary: str) -> Overlay:
    """A live overlay over these depths."""
    return Overlay(
        id=f"o{first}",
        conversation_id="c",
        from_id=f"m{first}",
        to_id=f"m{last}",
        from_sequence=first + 1000,
        to_sequence=last + 1000,
        from_depth=first,
        to_depth=last,
        message_tokens=0,
        summary=summary,
        token_count=estimate_tokens(summary),
        source_ids=(),
        model="",
        create_time=0,
    )


_SIZES = st.one_of(st.integers(1, 40), st.integers(1, 600), st.sampled_from([2_000, 10_001, 40_000]))


def _stretched(seed: str, size: int) -> str:
    return (seed * (size // len(seed) + 1))[:size]


texts = st.builds(
    _stretched, st.text(st.sampled_from('ab {}[]:"漢字かな\n'), min_size=1, max_size=12), _SIZES
)
call_ids = st.sampled_from(["a", "b", "c"])
calls = st.builds(
    ToolCall,
    call_id=call_ids,
    name=st.just("f"),
    arguments=st.dictionaries(st.sampled_from("pq"), texts, max_size=1),
)
results = st.builds(ToolResult, call_id=call_ids, content=texts, is_error=st.booleans())
plain = st.one_of(st.builds(Text, text=texts), st.builds(Attachment, uri=st.just("file:x"), caption=texts))
Block = list[tuple[Part, ...]]


@st.composite
def _exchanges(draw: st.DrawFn) -> Block:
    """Parallel calls in one message; some results may be missing, or come apart, late or together."""
    made = draw(st.lists(calls, min_size=1, max_size=3, unique_by=lambda call: call.call_id))
    answered = draw(st.permutations(made))[: draw(st.integers(0, len(made)))]
    given = [ToolResult(call_id=call.call_id, content=draw(texts)) for call in answered]
    between: Block = [(draw(plain),) for _ in range(draw(st.integers(0, 2)))]
    replies: Block = [tuple(given)] if given and draw(st.booleans()) else [(result,) for result in given]
    return [(*draw(st.lists(plain, max_size=1)), *made), *between, *replies]


_blocks = st.one_of(
    st.builds(lambda part: [(part,)], plain),
    st.builds(
        lambda parts: [tuple(parts)], st.lists(st.one_of(plain, calls, results), min_size=1, max_size=3)
    ),
    _exchanges(),
    st.builds(lambda count: [(Text(text="and so on"),)] * count, st.sampled_from([3, 20, 70])),
)


@st.composite
def paths(draw: st.DrawFn, *, blocks: st.SearchStrategy[Block] = _blocks) -> list[Message]:
    """A path from its root, oldest first, of any length down to none."""
    every = [parts for block in draw(st.lists(blocks, max_size=12)) for parts in block]
    authors = draw(st.lists(st.sampled_from(["", "Ann", "B" * 100]), min_size=1, max_size=3))
    return [
        message(depth, *parts, author=authors[depth % len(authors)]) for depth, parts in enumerate(every, 1)
    ]


@st.composite
def overlays_of(draw: st.DrawFn, path: Sequence[Message]) -> list[Overlay]:
    """Live overlays of a path, without overlap, from the first message on, up to the last."""
    if not path:
        return []
    made: list[Overlay] = []
    first = draw(st.one_of(st.just(1), st.integers(1, len(path))))
    while first <= len(path) and len(made) < 6:
        last = min(len(path), first + draw(st.integers(0, 30)))
        made.append(overlay(first, last, draw(texts)))
        first = last + 1 + draw(st.sampled_from([0, 0, 1, 4]))
    return made
