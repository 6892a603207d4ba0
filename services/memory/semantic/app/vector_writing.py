"""Making vectors of texts and writing them, in every generation that is written (SPEC S-15, S-17)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final

from services.kit.errors import DataFlowRefused, DependencyDown, InvalidRequest, TextTooLong
from services.memory.semantic.app.generations import Generation, Generations
from services.memory.semantic.domain.vectors import Bucket, VectorPoint

MOST_TEXTS: Final = 256
"""That the embedder takes in a call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vectors:
    """Vectors by item id in each generation, and the ids that the last generation refused."""

    by_generation: Sequence[tuple[Generation, Mapping[str, bytes]]]
    refused: set[str]

    @property
    def deciding(self) -> Mapping[str, bytes]:
        """Those of the last generation."""
        return self.by_generation[-1][1]


class VectorWriter:
    """Embeds and writes; of generations that are given, the last one decides what can be indexed."""

    def __init__(self, generations: Generations) -> None:
        self._generations = generations

    async def embed(
        self, into: Sequence[Generation], wanted: Sequence[tuple[str, str]], *, vectors_only: bool = False
    ) -> Vectors:
        """Vectors of texts, by item id, in these generations; no vector there where a text is refused.

        Texts that must not leave for the deciding model are indexed by their words alone (S-15). Raises
        DataFlowRefused where there are to be vectors only.
        """
        texts = [(id_, text) for id_, text in wanted if text.strip()]
        *others, deciding = into
        made = await asyncio.gather(
            *(self._where_possible(generation, texts) for generation in others),
            _decisive(deciding, texts, vectors_only=vectors_only),
        )
        return Vectors(
            by_generation=[(one, vectors) for one, (vectors, _) in zip(into, made, strict=True)],
            refused=made[-1][1],
        )

    async def upsert(self, made: Vectors, points: Mapping[str, Callable[[bytes], VectorPoint]]) -> None:
        """Of items that have vectors, the points that are made of them; the active generation last."""
        for generation, vectors in made.by_generation:
            known = [make(vectors[item_id]) for item_id, make in points.items() if item_id in vectors]
            if known:
                with self._unless_former(generation):
                    await generation.vectors.upsert(known)

    async def delete(self, bucket: Bucket, item_ids: Sequence[str]) -> None:
        """Out of every generation that is written, the active one last."""
        for generation in self._generations.written:
            with self._unless_former(generation):
                await generation.vectors.delete(bucket, item_ids)

    async def _where_possible(
        self, generation: Generation, texts: Sequence[tuple[str, str]]
    ) -> tuple[dict[str, bytes], set[str]]:
        """As `_embedded`; none where the texts must not leave for the model (S-15), or nobody needs them."""
        with suppress(DataFlowRefused), self._unless_former(generation):
            return await _embedded(generation, texts)
        return {}, {id_ for id_, _ in texts}

    @contextmanager
    def _unless_former(self, generation: Generation) -> Iterator[None]:
        """What was active before may be gone, and its model with it: that is no fault of what is written."""
        try:
            yield
        except DependencyDown:
            if generation is not self._generations.former:
                raise


async def _decisive(
    generation: Generation, texts: Sequence[tuple[str, str]], *, vectors_only: bool
) -> tuple[dict[str, bytes], set[str]]:
    try:
        return await _embedded(generation, texts)
    except DataFlowRefused:
        if vectors_only:
            raise
        return {}, set()


async def _embedded(
    generation: Generation, texts: Sequence[tuple[str, str]]
) -> tuple[dict[str, bytes], set[str]]:
    """Vectors by id; and the ids whose text the embedder refuses, found by halving."""
    if not texts:
        return {}, set()
    if len(texts) <= MOST_TEXTS:
        with suppress(InvalidRequest, TextTooLong):
            vectors = await generation.documents([text for _, text in texts])
            return {id_: vector for (id_, _), vector in zip(texts, vectors, strict=True)}, set()
        if len(texts) == 1:
            return {}, {texts[0][0]}
    half = len(texts) // 2
    left = await _embedded(generation, texts[:half])
    right = await _embedded(generation, texts[half:])
    return left[0] | right[0], left[1] | right[1]
