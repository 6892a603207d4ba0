"""Turns, histories and ingredients for tests of the prompt."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from services.gateway.domain.parts import (
    Fact,
    History,
    Ingredients,
    Layer,
    LayerKind,
    Overlay,
    Prompt,
    Speaker,
    Turn,
)

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
EMPTY = Ingredients(system_prompt="", message="hi", author="")


def said(
    number: int,
    text: str,
    role: Speaker = Speaker.USER,
    *,
    results: str = "",
    author: str = "",
    depth: int | None = None,
) -> Turn:
    """Message m<number>, the next after that of the number before."""
    return Turn(
        conversation_id="c",
        message_id=f"m{number}",
        role=role,
        author=author,
        time=START + timedelta(minutes=number),
        text=text,
        results=results,
        depth=number + 1 if depth is None else depth,
    )


def known(number: int, value: str) -> Fact:
    """Memory f<number>."""
    return Fact(id=f"f{number}", kind="fact", key=f"k{number}", value=value, created=START)


def overlay(first: int, last: int, summary: str = "what was said") -> Overlay:
    """A summary of the messages from one depth to another."""
    return Overlay(id=f"o{first}-{last}", from_depth=first, to_depth=last, summary=summary)


def history(turns: Sequence[Turn], head: int = 0, overlays: Sequence[Overlay] = ()) -> History:
    """A window whose first `head` turns are its head; the path ends with the last turn."""
    depth = max((turn.depth for turn in turns), default=0)
    return History(head=tuple(turns[:head]), overlays=tuple(overlays), tail=tuple(turns[head:]), depth=depth)


def layer(prompt: Prompt, kind: LayerKind) -> Layer:
    """The prompt's layer of a kind."""
    (found,) = [one for one in prompt.layers if one.kind is kind]
    return found
