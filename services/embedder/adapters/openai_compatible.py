"""A remote model behind an OpenAI-compatible `/v1/embeddings` (SPEC M-5)."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import httpx
import numpy as np
import structlog

from services.embedder.domain.model import ModelDescription, Prepared
from services.kit.errors import DependencyDown, StartupError
from services.kit.pauses import backoff

PIECE = re.compile(r"\w{1,4}|[^\w\s]")  # about a token each; the remote tokenizer is not known here
RETRIED_STATUS = frozenset({408, 409, 429, 500, 502, 503, 504})
MAX_PAUSE_SECONDS = 30.0


class OpenAiCompatible:
    """Sends batches, retries what may pass, checks what comes back."""

    def __init__(
        self,
        *,
        client: httpx.AsyncClient,
        model: str,
        dimension: int,
        max_tokens: int,
        attempts: int = 4,
        pause: float = 0.5,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.description = ModelDescription(
            name=model, dimension=dimension, max_tokens=max_tokens, revision=f"remote:{model}:{dimension}"
        )
        self._client = client
        self._attempts = attempts
        self._pause = pause
        self._sleep = sleep
        self._log = structlog.get_logger("embedder")

    @classmethod
    def connect(
        cls,
        *,
        base_url: str,
        api_key: str,
        model: str,
        dimension: int,
        max_tokens: int,
        timeout_seconds: float,
    ) -> OpenAiCompatible:
        """A backend for `base_url` (up to and without "/embeddings")."""
        if not base_url.startswith(("http://", "https://")):
            raise StartupError("openai_base_url must begin with http:// or https://")
        headers = {"authorization": f"Bearer {api_key}"} if api_key else {}
        timeout = httpx.Timeout(timeout_seconds, connect=min(5.0, timeout_seconds))
        client = httpx.AsyncClient(base_url=base_url.rstrip("/") + "/", headers=headers, timeout=timeout)
        return cls(client=client, model=model, dimension=dimension, max_tokens=max_tokens)

    async def prepare(self, texts: Sequence[str]) -> list[Prepared]:
        """Estimated tokens: up to four characters of a word, or a sign."""
        spans = [tuple(match.span() for match in PIECE.finditer(text)) for text in texts]
        return [Prepared(text=t, token_count=len(s), spans=s) for t, s in zip(texts, spans, strict=True)]

    async def embed(self, texts: Sequence[Prepared]) -> list[bytes]:
        """One request; raises DependencyDown after the last attempt or for an answer that makes no sense."""
        body = {"model": self.description.name, "input": [t.text for t in texts], "encoding_format": "float"}
        for attempt in range(1, self._attempts + 1):
            retry_after = 0.0
            try:
                response = await self._client.post("embeddings", json=body)
                if response.status_code == httpx.codes.OK:
                    return self._vectors(response, len(texts))
                if response.status_code not in RETRIED_STATUS:
                    self._log.error("embedding_refused", status=response.status_code)
                    raise DependencyDown("the embedding endpoint refused the request")
                retry_after = _retry_after(response)
            except httpx.RequestError as error:
                self._log.warning("embedding_unreachable", error=type(error).__name__, attempt=attempt)
            if attempt < self._attempts:
                pause = backoff(attempt, first=self._pause, longest=MAX_PAUSE_SECONDS, chance=random.random())
                await self._sleep(min(MAX_PAUSE_SECONDS, max(retry_after, pause)))
        raise DependencyDown("the embedding endpoint does not answer")

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.aclose()

    def _vectors(self, response: httpx.Response, count: int) -> list[bytes]:
        try:
            rows: dict[int, Any] = {row["index"]: row["embedding"] for row in response.json()["data"]}
            matrix = np.array([rows[index] for index in range(count)], dtype=np.float64)
        except (ValueError, KeyError, TypeError) as error:
            raise DependencyDown("the embedding endpoint's answer makes no sense") from error
        if matrix.shape != (count, self.description.dimension) or not np.isfinite(matrix).all():
            raise DependencyDown(
                f"the embedding endpoint's vectors are not {self.description.dimension} finite values each"
            )
        norms = np.linalg.norm(matrix, axis=1, keepdims=True)
        if not (norms.all() and np.isfinite(norms).all()):
            raise DependencyDown("the embedding endpoint sent a vector without a direction")
        return [row.tobytes() for row in (matrix / norms).astype("<f4")]


def _retry_after(response: httpx.Response) -> float:
    try:
        return float(response.headers.get("retry-after", 0))
    except ValueError:
        return 0.0
