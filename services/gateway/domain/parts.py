"""What a prompt is made of and what it is made into (SPEC G-1). Values only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from typing import TypeAlias

from services.gateway.domain.themes import Theme


class LayerKind(IntEnum):
    """A part of the prompt; numbers as in the proto."""

    SYSTEM = 1
    FACTS = 2
    HISTORY = 3
    RETRIEVED = 4
    MESSAGE = 5
    WORKING = 6


ORDER = (
    LayerKind.SYSTEM,
    LayerKind.FACTS,
    LayerKind.WORKING,
    LayerKind.HISTORY,
    LayerKind.RETRIEVED,
    LayerKind.MESSAGE,
)
"""How layers follow each other in the text."""


class Speaker(IntEnum):
    """Who speaks; numbers as in the proto."""

    SYSTEM = 1
    USER = 2
    ASSISTANT = 3
    TOOL = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A memory as the prompt shows it."""

    id: str
    kind: str
    key: str
    value: str
    created: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A part of a derived document as the prompt shows it; `kind` is summary, page, branch or theme."""

    kind: str
    document_id: str
    version: int
    title: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A message as the prompt shows it: what it says, and what tools returned in it.

    `depth` is its place on its path, from 1. Of a tool's message all is `text`.
    """

    conversation_id: str
    message_id: str
    role: Speaker
    author: str
    time: datetime
    text: str
    results: str = ""
    depth: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlay:
    """A summary of the messages of a path from one place to another; the rolling summary has no id, and a
    version."""

    id: str
    from_depth: int
    to_depth: int
    summary: str
    version: int = 0


Item: TypeAlias = "Turn | Overlay"


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """A window over a path of `depth` messages: its first ones, overlays, its newest ones (E-5)."""

    head: tuple[Turn, ...] = ()
    overlays: tuple[Overlay, ...] = ()
    tail: tuple[Turn, ...] = ()
    depth: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutcome:
    """A call of a tool that was completed, and what came of it."""

    name: str
    arguments: str
    content: str
    is_error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleTurn:
    """A turn that was left without an answer (W-3): completed calls, oldest first; open sessions.

    A session is its name and the handle that reaches it again.
    """

    turn_id: str
    outcomes: tuple[ToolOutcome, ...] = ()
    sessions: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedEntry:
    """An entry of a loadable context block (W-4)."""

    label: str
    key: str
    title: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Working:
    """A conversation's working memory; entries in the order of loading."""

    notes: str = ""
    notes_version: int = 0
    task: str = ""
    stale: StaleTurn | None = None
    loaded: tuple[LoadedEntry, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingSources:
    """What of the working memory is shown; `entries` are "label/key"."""

    notes_version: int = 0
    task: bool = False
    turn_id: str = ""
    result_count: int = 0
    entries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingredients:
    """What the prompt is made of, most relevant first where order matters."""

    system_prompt: str
    message: str
    author: str
    facts: tuple[Fact, ...] = ()
    themes: tuple[Theme, ...] = ()
    attractor_version: int = 0
    working: Working = Working()
    history: History = History()
    older: tuple[Turn, ...] = ()
    memories: tuple[Fact, ...] = ()
    documents: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """A layer as it stands in the prompt, with where it came from; `items` in order.

    `tokens` of the text as they were counted; `attractor_version` is 0 where no theme of it is shown.
    """

    kind: LayerKind
    text: str
    tokens: int
    budget: int
    memory_ids: tuple[str, ...] = ()
    items: tuple[Item, ...] = ()
    documents: tuple[Passage, ...] = ()
    working: WorkingSources = WorkingSources()
    omitted: int = 0
    attractor_version: int = 0

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The messages in it."""
        return tuple(item for item in self.items if isinstance(item, Turn))

    @property
    def overlay_ids(self) -> tuple[str, ...]:
        """The stored overlays in it."""
        return tuple(item.id for item in self.items if isinstance(item, Overlay) and item.id)

    @property
    def summary_version(self) -> int:
        """The rolling summary's in it; 0 without one."""
        return max((item.version for item in self.items if isinstance(item, Overlay)), default=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message as model APIs take it."""

    role: Speaker
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """Layers in order, and the prompt in the forms that applications need; `tokens` are those of the text."""

    layers: tuple[Layer, ...]
    budget: int
    tokens: int
    text: str
    openai: tuple[Said, ...]
    anthropic_system: str
    anthropic: tuple[Said, ...]
