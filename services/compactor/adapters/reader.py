"""Reads facts by score: the domain says what a message may state, the Embedder's network how likely (J-8)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from palimpsest.embedder.v1 import embedder_pb2, embedder_pb2_grpc

from services.compactor.app.engines import About
from services.compactor.app.extracting import Extracted
from services.compactor.domain.extraction.facts import Fact, Turn
from services.compactor.domain.extraction.reading.passages import (
    LEAST,
    NAME,
    Heard,
    Passage,
    Score,
    chosen,
    heard,
    unread,
)
from services.compactor.domain.extraction.reading.windows import Window, windows

TURNS_AT_ONCE: Final = 8
"""Turns whose passages are held at a time."""
AT_ONCE: Final = 16
"""Windows of one call: the Embedder serves others in between."""


class Reader:
    """See Extractor. Raises DependencyDown while the Embedder is down: then the job waits."""

    def __init__(self, stub: embedder_pb2_grpc.EmbedderServiceAsyncStub) -> None:
        self._stub = stub

    async def extract(self, _about: About, turns: Sequence[Turn]) -> Extracted:
        """See Extractor."""
        facts: list[Sequence[Fact]] = []
        for begin in range(0, len(turns), TURNS_AT_ONCE):
            facts += await self._read(turns[begin : begin + TURNS_AT_ONCE])
        return Extracted(facts=facts, engine=NAME if turns else "")

    async def _read(self, turns: Sequence[Turn]) -> list[list[Fact]]:
        messages, parts = await asyncio.to_thread(_heard, turns)
        scores = [[unread(passage) for passage in one.passages] for one in messages]
        for begin in range(0, len(parts), AT_ONCE):
            part = parts[begin : begin + AT_ONCE]
            request = embedder_pb2.ScoreSpansRequest(
                texts=[_spanned(messages[place].passages, window) for place, window in part]
            )
            answer = await self._stub.ScoreSpans(request)
            for (place, window), told in zip(part, answer.texts, strict=True):
                for at, one in zip(window.passages, told.scores, strict=True):
                    if any(one.kinds):  # beyond what the network reads there are none
                        scores[place][at] = Score(kinds=tuple(one.kinds), categories=tuple(one.categories))
        return await asyncio.to_thread(_chosen, messages, scores)


def _heard(turns: Sequence[Turn]) -> tuple[list[Heard], list[tuple[int, Window]]]:
    """The messages, and all their windows, each with the place of its message."""
    messages = [heard(turn) for turn in turns]
    return messages, [(place, window) for place, one in enumerate(messages) for window in windows(one)]


def _chosen(messages: Sequence[Heard], scores: Sequence[Sequence[Score]]) -> list[list[Fact]]:
    return [
        one.plain or chosen(one.passages, told, LEAST) for one, told in zip(messages, scores, strict=True)
    ]


def _spanned(found: Sequence[Passage], window: Window) -> embedder_pb2.SpannedText:
    return embedder_pb2.SpannedText(
        text=window.text,
        spans=[
            embedder_pb2.Span(
                start=found[place].start - window.start,
                end=found[place].end - window.start,
                form=found[place].form,
                support=found[place].support,
                asked=found[place].asked,
            )
            for place in window.passages
        ],
    )
