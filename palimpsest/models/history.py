"""Windows, branches, overlays, what happens in a conversation, and what models have cost."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from palimpsest.models.conversations import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlay:
    """A stored summary over an unbroken range of a path.

    `superseded_by` are the overlays that it was folded into, more than one where several branches did so.
    Depths are places on the path, from 1. `source_ids` are what it was written from: messages, or the
    overlays that were folded into it.
    """

    id: str
    conversation_id: str
    from_message_id: str
    to_message_id: str
    from_depth: int
    to_depth: int
    message_count: int
    message_tokens: int
    summary: str
    token_count: int
    source_ids: tuple[str, ...]
    model: str
    create_time: datetime | None
    superseded_by: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowMessage:
    """A message of a window; `cut` if it is shown shorter than it is."""

    message: Message
    cut: bool
    token_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowOverlay:
    """An overlay of a window; it stands for the messages from one depth to the other, not shown verbatim."""

    overlay: Overlay
    from_depth: int
    to_depth: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The slice of a path that fits a budget: head, overlays or the rolling summary, tail."""

    head: tuple[WindowMessage, ...]
    overlays: tuple[WindowOverlay, ...]
    rolling_summary: str
    tail: tuple[WindowMessage, ...]
    omitted_count: int
    overlays_left_out: int
    token_count: int
    head_tokens: int
    overlay_tokens: int
    tail_tokens: int
    exact_tokens: bool
    latest_time: datetime | None
    depth: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """A continuation of a message, with the leaf below it that was stored last."""

    first_message: Message
    leaf_id: str
    depth: int
    active: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What is due to be summarised: messages to be covered, overlays to be folded."""

    uncovered: tuple[Message, ...]
    previous_summary: str
    over_share: tuple[Overlay, ...]
    share_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedRange:
    """Neighbouring messages, the overlay over them if there is one, and those folded into it."""

    overlay: Overlay | None
    folded: tuple[Overlay, ...]
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedPage:
    """A page of a path with its overlays over the originals, also as text for people to read."""

    ranges: tuple[RenderedRange, ...]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlayChange:
    """Overlays that changed together: the new one, if there is one, and those that it superseded."""

    overlays: tuple[Overlay, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedProgress:
    """How far derived work has come along the active path."""

    leaf_id: str
    stored_count: int
    depth: int
    covered_count: int
    indexed_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationEvent:
    """One thing that happened; exactly one of the first three is set. `resume_token` goes on after it."""

    message: Message | None = None
    overlay_change: OverlayChange | None = None
    progress: DerivedProgress | None = None
    resume_token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTokens:
    """Tokens of calls of a model: what it was given, and what it wrote."""

    input: int
    output: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageRow:
    """What one model was used for on one day (UTC)."""

    day: datetime | None
    conversation_id: str
    tier: str
    model: str
    calls: int
    estimated_calls: int
    input_tokens: int
    output_tokens: int
