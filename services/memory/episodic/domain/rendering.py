"""A conversation as people read it: overlays over the originals beneath (SPEC E-4, E-7). Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby

from services.memory.episodic.domain.model import Message, Overlay
from services.memory.episodic.domain.parts import words

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
INDENT = "  "
BAR = "│ "


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """Neighbouring messages under one live overlay (None: under none), and the overlays folded into that."""

    overlay: Overlay | None
    folded: tuple[Overlay, ...]
    messages: tuple[Message, ...]


def render(messages: Sequence[Message], overlays: Sequence[Overlay]) -> list[Rendered]:
    """Messages of a path, by depth, parted by the live overlay over each.

    `overlays` are those whose last message lies on the path, folded ones too, as far as they reach to the
    first message given or beyond. What an overlay was folded into reaches as far as itself, so it is live
    where none of that is among them.
    """
    present = {overlay.id for overlay in overlays}
    live = [overlay for overlay in overlays if present.isdisjoint(overlay.superseded_by)]

    def above(message: Message) -> Overlay | None:
        return next((one for one in live if one.from_depth <= message.depth <= one.to_depth), None)

    ranges: list[Rendered] = []
    for overlay, group in groupby(messages, above):
        beneath = tuple(group)
        folded = _folded_into(overlay, overlays, beneath[0].depth, beneath[-1].depth)
        ranges.append(Rendered(overlay=overlay, folded=folded, messages=beneath))
    return ranges


def _folded_into(
    above: Overlay | None, overlays: Sequence[Overlay], first: int, last: int
) -> tuple[Overlay, ...]:
    """All that were folded into an overlay, at any depth, and lie over some of the depths given."""
    if above is None:
        return ()
    found: list[Overlay] = []
    level = {above.id}
    while level:
        next_level = [one for one in overlays if not level.isdisjoint(one.superseded_by)]
        found += next_level
        level = {one.id for one in next_level}
    over = [one for one in found if one.from_depth <= last and first <= one.to_depth]
    return tuple(sorted(over, key=lambda one: (one.from_depth, one.to_depth)))


def as_text(ranges: Sequence[Rendered]) -> str:
    """The rendering as plain text."""
    return "\n".join(line for one in ranges for line in _lines(one))


def _lines(rendered: Rendered) -> list[str]:
    lines: list[str] = []
    overlay = rendered.overlay
    if overlay is not None:
        lines.append(
            f"┌ overlay {overlay.id} over messages {overlay.from_depth} to {overlay.to_depth}:"
            f" {overlay.message_tokens} tokens told in {overlay.token_count}, by {overlay.model}"
        )
        lines += [BAR + line for line in overlay.summary.splitlines()]
        lines += [
            f"├ in place of overlay {one.id} ({one.from_depth} to {one.to_depth})" for one in rendered.folded
        ]
    prefix = INDENT if overlay is not None else ""
    for message in rendered.messages:
        when = EPOCH + timedelta(microseconds=message.time)
        who = " ".join(filter(None, (message.role.name.lower(), message.author)))
        lines.append(f"{prefix}[{message.depth}] {who}, {when:%Y-%m-%d %H:%M}, {message.id}")
        said = "\n".join(words(part) for part in message.parts())
        lines += [f"{prefix}{INDENT}{line}" for line in said.splitlines()]
    return lines
