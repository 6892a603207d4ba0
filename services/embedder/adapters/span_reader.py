"""The network that scores stretches of a text; it shares the bundled model's weights (SPEC J-8)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from services.embedder.domain.spans import MOST_LENGTH, SpannedText, SpanScore
from services.kit.errors import DependencyDown, StartupError

READER_FILE = "reader.onnx"
MOST_TOKENS = 256
NOTHING = SpanScore(kinds=(0.0,) * 4, categories=(1 / 9,) * 9)
"""Of a stretch beyond what is read."""


class SpanReader:
    """Scores stretches in one thread of its own, so that whoever searches does not wait for whoever reads.

    The network is loaded when it is asked first: who extracts nothing pays nothing for it (P-9).
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="reader")
        self._loaded: tuple[Any, Any] | None = None

    @classmethod
    def of(cls, folder: Path) -> SpanReader:
        """Raises StartupError where there is no network: jobs that wait for it would wait for ever."""
        if not (folder / READER_FILE).is_file():
            raise StartupError(f"no network that reads facts in {folder}: {READER_FILE} is missing")
        return cls(folder)

    async def score(self, texts: Sequence[SpannedText]) -> list[list[SpanScore]]:
        """The scores of each text's stretches. Raises DependencyDown.

        Each text runs alone: in a batch int8 activations would have one scale, and a text's scores would
        depend on its neighbours.
        """
        loop = asyncio.get_running_loop()
        return list(
            await asyncio.gather(*(loop.run_in_executor(self._executor, self._run, text) for text in texts))
        )

    async def close(self) -> None:
        """Waits for the run under way."""
        await asyncio.to_thread(self._executor.shutdown)

    def _open(self) -> tuple[Any, Any]:
        if self._loaded is None:
            # Imported here: the runtime is large, and may not be needed for embedding.
            from services.embedder.adapters.onnx_folder import TOKENIZER_FILE, load_session, load_tokenizer

            try:
                self._loaded = (
                    load_session(self._folder / READER_FILE),
                    load_tokenizer(self._folder / TOKENIZER_FILE),
                )
            except StartupError as error:
                raise DependencyDown("the network that reads facts cannot be loaded") from error
        return self._loaded

    def _run(self, text: SpannedText) -> list[SpanScore]:
        found = [NOTHING] * len(text.spans)
        session, tokenizer = self._open()
        encoding = tokenizer.encode(text.text)
        ids, offsets = encoding.ids[:MOST_TOKENS], encoding.offsets[:MOST_TOKENS]
        token_of = {at: token for token, (start, end) in enumerate(offsets) for at in range(start, end)}
        rows, scored = list[tuple[int, ...]](), list[int]()
        for place, span in enumerate(text.spans):
            first, last = token_of.get(span.start), token_of.get(span.end - 1)
            if first is not None and last is not None:
                length = min(MOST_LENGTH, last - first + 1)
                rows.append((0, first, last, 2 * span.form + span.asked, span.support, length))
                scored.append(place)
        if not rows:
            return found
        kinds, categories = self._scores(session, ids, rows)
        for place, kind, category in zip(scored, kinds, categories, strict=True):
            found[place] = SpanScore(
                kinds=tuple(map(float, kind[1:])), categories=tuple(map(float, category))
            )
        return found

    @staticmethod
    def _scores(session: Any, ids: Sequence[int], rows: Sequence[tuple[int, ...]]) -> tuple[Any, Any]:
        tokens = np.array([ids], dtype=np.int64)
        feed = {
            "input_ids": tokens,
            "attention_mask": np.ones_like(tokens),
            "spans": np.array(rows, dtype=np.int64),
        }
        try:
            kinds, categories = session.run(None, feed)
        except Exception as error:  # the runtime's errors share no base class
            raise DependencyDown("the network that reads facts failed") from error
        return kinds, categories
