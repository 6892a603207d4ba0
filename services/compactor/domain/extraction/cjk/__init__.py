"""Chinese and Japanese, by frames without a dictionary."""

from __future__ import annotations

from services.compactor.domain.extraction.cjk.shared import JAPANESE
from services.compactor.domain.extraction.facts import Reader


def reader(tongue: str) -> tuple[str, Reader]:
    """How it calls an author without a name, and what reads its sentences; put together when needed."""
    from services.compactor.domain.extraction.cjk import chinese, japanese

    language = japanese if tongue == JAPANESE else chinese
    return language.UNNAMED, language.read
