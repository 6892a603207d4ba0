"""The layers of memories and of what was retrieved (SPEC G-1, G-2, S-13). Pure.

Tokens are those of `count`: a model's own tokenizer, or by default the estimate (E-10).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, TypeVar

from services.gateway.domain.parts import Fact, Layer, LayerKind, Passage, Turn
from services.kit.fences import fenced
from services.kit.tokens import TokenCounter, estimate_tokens

MAX_RETRIEVED_MESSAGES = 3  # G-2
MAX_DOCUMENTS = 3
RETRIEVED_NOTE = "Chat memory that may bear on the new message. Use its words only where they help."
FACTS_TITLE = "memories"
MEMORIES_SHARE = 0.5
"""Of retrieval's budget, which matching memories get before older messages and documents come."""
MESSAGES_SHARE = 0.75
"""Up to which older messages may fill it before documents come."""


T = TypeVar("T")
Written: TypeAlias = "tuple[T, str]"  # what is shown, and its text


def facts_layer(facts: Sequence[Fact], budget: int, *, count: TokenCounter = estimate_tokens) -> Layer:
    """As many of the facts as fit, in the order given; written by creation and id, to stay stable."""
    lines = {fact.id: _fact_line(fact) for fact in facts}
    chosen: list[Fact] = []
    for fact in facts:
        if count(_facts_text([lines[one.id] for one in (*chosen, fact)])) <= budget:
            chosen.append(fact)
    chosen.sort(key=lambda fact: (fact.created, fact.id))
    text = _facts_text([lines[fact.id] for fact in chosen])
    tokens = count(text)
    if tokens > budget:  # by a tokenizer that counts another order differently
        return Layer(kind=LayerKind.FACTS, text="", tokens=0, budget=budget)
    return Layer(
        kind=LayerKind.FACTS,
        text=text,
        tokens=tokens,
        budget=budget,
        memory_ids=tuple(fact.id for fact in chosen),
    )


class Retrieval:
    """What matches the new message, most relevant first, written once and shown in as much as fits."""

    def __init__(
        self,
        older: Sequence[Turn],
        memories: Sequence[Fact],
        documents: Sequence[Passage] = (),
        *,
        count: TokenCounter = estimate_tokens,
    ) -> None:
        self._older = [(turn, _quoted(turn)) for turn in older]
        self._memories = [(fact, _fact_line(fact)) for fact in memories]
        self._documents = [(passage, _passage_text(passage)) for passage in documents]
        self._count = count

    def layer(self, shown: set[str], budget: int) -> Layer:
        """As much as fits of what is not in `shown`.

        Memories for half of the budget, up to three older messages for a quarter, up to three documents, and
        then more of them in the same order for what is left.
        """
        older = [one for one in self._older if place(one[0]) not in shown]
        memories = [one for one in self._memories if one[0].id not in shown]
        chosen = _Chosen(older, memories, self._documents, self._count)
        chosen.add_memories(int(budget * MEMORIES_SHARE))
        chosen.add_messages(int(budget * MESSAGES_SHARE) if self._documents else budget)
        chosen.add_documents(budget)
        chosen.add_messages(budget)
        chosen.add_memories(budget)
        return chosen.layer(budget)


class _Chosen:
    """What was chosen of each kind so far."""

    def __init__(
        self,
        older: Sequence[Written[Turn]],
        memories: Sequence[Written[Fact]],
        documents: Sequence[Written[Passage]],
        count: TokenCounter,
    ) -> None:
        self._older, self._memories, self._documents = older, memories, documents
        self._count = count
        self._turns: list[tuple[Turn, str]] = []
        self._facts: list[tuple[Fact, str]] = []
        self._passages: list[tuple[Passage, str]] = []

    def add_memories(self, limit: int) -> None:
        """As many as fit."""
        self._add(self._memories, self._facts, len(self._memories), limit)

    def add_messages(self, limit: int) -> None:
        """As many as fit, a few in all."""
        self._add(self._older, self._turns, MAX_RETRIEVED_MESSAGES, limit)

    def add_documents(self, limit: int) -> None:
        """As many as fit, a few in all."""
        self._add(self._documents, self._passages, MAX_DOCUMENTS, limit)

    def layer(self, budget: int) -> Layer:
        """Messages in the order of their time, memories and documents in that of relevance."""
        self._turns.sort(key=lambda one: (one[0].time, one[0].message_id))
        text = self._text()
        tokens = self._count(text)
        if tokens > budget:  # by a tokenizer that counts another order differently
            return Layer(kind=LayerKind.RETRIEVED, text="", tokens=0, budget=budget)
        return Layer(
            kind=LayerKind.RETRIEVED,
            text=text,
            tokens=tokens,
            budget=budget,
            memory_ids=tuple(fact.id for fact, _ in self._facts),
            items=tuple(turn for turn, _ in self._turns),
            documents=tuple(passage for passage, _ in self._passages),
        )

    def _add(self, found: Sequence[Written[T]], chosen: list[Written[T]], most: int, limit: int) -> None:
        for one in found:
            if len(chosen) >= most:
                return
            if one in chosen:
                continue
            chosen.append(one)
            if self._count(self._text()) > limit:
                chosen.pop()

    def _text(self) -> str:
        parts = [
            fenced(name, "\n".join(text for _, text in chosen))
            for name, chosen in (
                ("older messages", self._turns),
                ("matching memories", self._facts),
                ("documents", self._passages),
            )
            if chosen
        ]
        return "\n".join([RETRIEVED_NOTE, *parts]) if parts else ""


def place(turn: Turn) -> str:
    """Names the message among all that a prompt may show; no memory's id has a slash."""
    return f"{turn.conversation_id}/{turn.message_id}"


def one_line(text: str) -> str:
    """The text without line breaks."""
    return " ".join(text.split())


def _facts_text(lines: Sequence[str]) -> str:
    return fenced(FACTS_TITLE, "\n".join(lines)) if lines else ""


def _fact_line(fact: Fact) -> str:
    return f"- {one_line(fact.key)} ({fact.kind}, {fact.created:%Y-%m-%d}): {one_line(fact.value)}"


def _quoted(turn: Turn) -> str:
    """A line that says who and when, and indented lines: no message can pass for two."""
    said = "\n".join(text for text in (turn.text, turn.results) if text)
    who = one_line(turn.author) or turn.role.name.lower()
    return f"{who}, {turn.time:%Y-%m-%d %H:%M}: " + "\n  ".join(said.splitlines())


def _passage_text(passage: Passage) -> str:
    """A line that says of what, and indented lines: no document can pass for two."""
    version = f", version {passage.version}" if passage.version else ""
    title = f": {one_line(passage.title)}" if passage.title.strip() else ""
    text = _without_title(passage)
    return f"- {passage.kind}{version}{title}" + ("\n  " if text else "") + "\n  ".join(text.splitlines())


def _without_title(passage: Passage) -> str:
    """A document's first part begins with its title, which is told already."""
    text, title = passage.text.strip(), passage.title.strip()
    titled = f"{text}\n".startswith(f"{title}\n")
    return text.removeprefix(title).strip() if titled else text
