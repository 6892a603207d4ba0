"""The embedder's use cases: embed, count, describe (SPEC M-1, M-3, M-4)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from services.embedder.app.batcher import Batcher
from services.embedder.app.cache import VectorCache
from services.embedder.app.ports import EmbeddingBackend
from services.embedder.domain.chunking import Span, chunk
from services.embedder.domain.model import ChunkingRule, Embedded, ModelDescription, Prepared, Purpose
from services.kit.errors import InvalidField, TextTooLong

SPECIAL_TOKENS = 2  # a begin and an end mark around each text
RETOKENISED = 8  # a part may count a few tokens more alone than inside its text


_Part = tuple[int, Span, Prepared]  # which text of the request, its characters, and they tokenised


class Embedder:
    """Embeds texts, long ones in chunks if asked."""

    def __init__(self, backend: EmbeddingBackend, batcher: Batcher, cache: VectorCache) -> None:
        self._backend = backend
        self._batcher = batcher
        self._cache = cache

    @property
    def description(self) -> ModelDescription:
        """The model."""
        return self._backend.description

    async def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, special ones included."""
        return [text.token_count for text in await self._backend.prepare(texts)]

    async def embed(
        self, texts: Sequence[str], purpose: Purpose, chunking: ChunkingRule | None
    ) -> list[Embedded]:
        """Vectors in the order of the texts.

        Raises TextTooLong naming the text, Overloaded, DependencyDown.
        """
        if chunking and chunking.overlap_tokens > self.description.max_tokens // 2:
            raise InvalidField("chunking.overlap_tokens", "at most half of the model's limit")
        parts = await self._parts(texts, chunking)
        vectors = await self._vectors(texts, parts, purpose)
        return [
            Embedded(text_index=index, start=span.start, end=span.end, vector=vector)
            for (index, span, _), vector in zip(parts, vectors, strict=True)
        ]

    def forget(self, texts: Sequence[str]) -> int:
        """Drops what is cached of erased texts, their chunks too; returns how many vectors (M-6)."""
        return self._cache.forget(texts)

    async def _parts(self, texts: Sequence[str], chunking: ChunkingRule | None) -> list[_Part]:
        parts: list[_Part] = []
        for index, prepared in enumerate(await self._backend.prepare(texts)):
            if prepared.token_count <= self.description.max_tokens:
                parts.append((index, Span(start=0, end=len(prepared.text)), prepared))
            elif chunking is None:
                raise TextTooLong(
                    f"{prepared.token_count} tokens; the model takes {self.description.max_tokens}",
                    field=f"texts[{index}]",
                    limit=self.description.max_tokens,
                    actual=prepared.token_count,
                )
            else:
                parts += [(index, span, part) for span, part in await self._chunks(prepared, chunking)]
        return parts

    async def _chunks(self, text: Prepared, rule: ChunkingRule) -> list[tuple[Span, Prepared]]:
        """A long text's chunks; tighter ones where a chunk on its own counts more tokens than in place."""
        limit = self.description.max_tokens - SPECIAL_TOKENS
        while True:
            cut = chunk(text.text, text.spans, limit=limit, overlap=min(rule.overlap_tokens, limit - 1))
            spans = list(islice(cut, rule.max_chunks or None))
            parts = await self._backend.prepare([text.text[span.start : span.end] for span in spans])
            if limit <= RETOKENISED or all(part.token_count <= self.description.max_tokens for part in parts):
                return list(zip(spans, parts, strict=True))
            limit -= RETOKENISED

    async def _vectors(self, texts: Sequence[str], parts: Sequence[_Part], purpose: Purpose) -> list[bytes]:
        """A vector for each part: from the cache, or made once for parts of the same text."""
        keys = [self._cache.content_key(text) for text in texts]
        vectors = [self._cache.get(keys[index], span) for index, span, _ in parts]
        missing = {
            part.text: part for (_, _, part), known in zip(parts, vectors, strict=True) if known is None
        }
        made: dict[str, bytes] = {}
        if missing:
            made = dict(zip(missing, await self._batcher.embed(list(missing.values()), purpose), strict=True))
        found: list[bytes] = []
        for (index, span, part), known in zip(parts, vectors, strict=True):
            vector = made[part.text] if known is None else known
            if known is None:
                self._cache.put(keys[index], span, vector)
            found.append(vector)
        return found
