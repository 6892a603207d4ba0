"""Themes of an agent's conversations, as the prompt shows them (SPEC J-12). Values only."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """A basin of the attractor; `title` is a person's name for it or what its concepts make."""

    id: str
    title: str
    weight: float
