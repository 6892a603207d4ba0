"""What the use cases of conversation summaries need from the outside (SPEC J-5 to J-7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from services.compactor.domain.nearness import Vectors
from services.compactor.domain.rolling import Reached
from services.compactor.domain.themes import Corpus
from services.compactor.domain.turning import Placed


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """The end of a conversation's active path.

    `messages` are those after the place that was asked for, the oldest first; `before` a few that precede
    them. `follows` is false where that place does not lie on the path: then `messages` are the whole path, or
    as much of its end as is read. `tokens` are those of `messages`. `more` says that the path goes on after
    them.
    """

    title: str
    before: Sequence[Placed]
    messages: Sequence[Placed]
    follows: bool
    tokens: int
    reached: Reached
    more: bool = False


class Conversations(Protocol):
    """Where messages are."""

    async def after(self, agent_id: str, conversation_id: str, reached: Reached) -> Stretch:
        """What was said after that; everything after Reached(). Raises NotFound, DependencyDown."""

    async def holds(self, agent_id: str, conversation_id: str, reached: Reached) -> bool:
        """Whether the active path holds a message at its place. Raises NotFound, DependencyDown."""


class Embeddings(Protocol):
    """Vectors of texts."""

    async def vectors(self, texts: Sequence[str]) -> Vectors:
        """Of each; none at all where the embedder is away, which is no error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Conversations that were chosen to be summarised, and how many are left (of very many, not all)."""

    chosen: int
    left: int


class SummaryIndex(Protocol):
    """What is summarised, and which conversation has which concept. All may raise DependencyDown."""

    async def corpus(self, tenant: str, agent_id: str, besides: str, names: Sequence[str]) -> Corpus:
        """How many of the agent's summaries have each concept, without that of the conversation `besides`."""

    async def record(
        self, tenant: str, agent_id: str, conversation_id: str, up_to: int, names: Sequence[str]
    ) -> None:
        """Says up to which message (sequence) a conversation is summarised, and what its concepts are."""

    async def forget(self, tenant: str, agent_id: str, conversation_id: str) -> None:
        """Forgets what was recorded of a conversation (D-2)."""

    async def choose(self, tenant: str, least_messages: int, batch: int, root: str, place: int) -> Batch:
        """Asks for a job "summarize_conversation" for up to `batch` conversations of at least that many
        messages, with newer ones than were summarised or asked for; and, while some are left, for the next
        job "summarize_batch", whose key follows from `root` and `place`. All in one transaction."""

    async def spread(self, root: str) -> int:
        """Asks for a job "summarize_batch" for each tenant; how many."""
