"""What the engines that read and write for jobs have in common (SPEC J-16)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field

MOST_NAME = 128
"""Characters of an engine's name: what an overlay keeps."""


def _now() -> float:
    return asyncio.get_running_loop().time()


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """Whose texts an engine is given, and since when it works for the job (a time of the running loop)."""

    tenant: str
    agent_id: str
    conversation_id: str
    begun: float = field(default_factory=_now)


def in_place(engine: str, cause: str) -> str:
    """The name of a deterministic engine that took a model's work over; `cause` is a constant word."""
    return f"{engine} because {cause}"


def together(engines: Iterable[str]) -> str:
    """The names of all that worked on one thing, each once, as far as a name may go."""
    return "; ".join(dict.fromkeys(name for name in engines if name))[:MOST_NAME]
