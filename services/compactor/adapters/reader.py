"""Reads facts by score: the domain says what a message may state, the Embedder's network how likely (J-8)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from palimpsest.embedder.v1 import embedder_pb2, embedder_pb2_grpc

from services.compactor.app.engines import About
from services.compactor.app.extracting import Extracted
from services.compactor.domain.extraction.facts import Fact, Turn
from services.compactor.domain.extraction.grammar import extract
from services.compactor.domain.extraction.reading.passages import (
    LEAST,
    NAME,
    Passage,
    Score,
    chosen,
    is_scored,
    passages,
    unread,
)
from services.compactor.domain.extraction.reading.windows import Window, windows

TURNS_AT_ONCE: Final = 8
"""Turns whose passages are held at a time."""
AT_ONCE: Final = 16
"""Windows of one call: the Embedder serves others in between."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Heard:
    """A turn's passages, and the windows of its text in which they are scored."""

    passages: list[Passage]
    windows: list[Window]
    plain: list[Fact]
    """What is found without scores."""


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
        heard = await asyncio.to_thread(_heard, turns)
        scores = [[unread(passage) for passage in one.passages] for one in heard]
        for part in _parts([(turn, window) for turn, one in enumerate(heard) for window in one.windows]):
            request = embedder_pb2.ScoreSpansRequest(
                texts=[_spanned(heard[turn].passages, window) for turn, window in part]
            )
            answer = await self._stub.ScoreSpans(request)
            for (turn, window), told in zip(part, answer.texts, strict=True):
                for place, one in zip(window.passages, told.scores, strict=True):
                    scores[turn][place] = Score(kinds=tuple(one.kinds), categories=tuple(one.categories))
        return await asyncio.to_thread(_chosen, heard, scores)


def _heard(turns: Sequence[Turn]) -> list[_Heard]:
    found = []
    for turn in turns:
        if is_scored(turn):
            made = passages(turn)
            found.append(_Heard(passages=made, windows=windows(turn, made), plain=[]))
        else:
            found.append(_Heard(passages=[], windows=[], plain=extract(turn)))
    return found


def _chosen(heard: Sequence[_Heard], scores: Sequence[Sequence[Score]]) -> list[list[Fact]]:
    return [one.plain or chosen(one.passages, told, LEAST) for one, told in zip(heard, scores, strict=True)]


def _parts(windows: Sequence[tuple[int, Window]]) -> Iterator[Sequence[tuple[int, Window]]]:
    for begin in range(0, len(windows), AT_ONCE):
        yield windows[begin : begin + AT_ONCE]


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
