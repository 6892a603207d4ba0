"""A word engine on a Meilisearch server, which several replicas may share (SPEC O-5, S-3, S-18).

Meilisearch joins the words of a query by AND, gives up words until something matches, and ranks by rules of
its own; it has no OR and no BM25. Here a search is two requests:

1. How many items pass the filters, how long they are, and how many of them hold each term.
2. The candidates: each rare term is a query of its own, weighted by its idf, and federation merges their
   hits (`domain.ranking.plan`). A hit brings its terms with their counts.

The candidates are then ranked by BM25 (`domain.ranking.best`), exactly, with numbers of the place that is
searched. Federation alone would not do: it keeps an item's best query and adds nothing up, so an item with
three of the words would rank no higher than one with the rarest of them.

The server must be 1.14 or newer: some settings are younger than 1.12, and the suite runs on 1.50.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import structlog

from services.kit.errors import StartupError
from services.memory.semantic.adapters import words_meili_schema as schema
from services.memory.semantic.adapters.words_meili_calls import (
    CLOSED,
    DEFAULT_LIMITS,
    GARBAGE,
    INDEX_EXISTS,
    INDEX_NOT_FOUND,
    REFUSALS,
    TIMEOUT,
    MeiliCalls,
    MeiliDown,
    MeiliLimits,
)
from services.memory.semantic.domain.keywords import NO_FILTERS, WordDocument, WordFilters
from services.memory.semantic.domain.ranking import Held, Place, TermQuery, best, plan
from services.memory.semantic.domain.vectors import Bucket, ContentClass

if TYPE_CHECKING:
    from meilisearch_python_sdk import AsyncClient

T = TypeVar("T")

DEFAULT_PREFIX = "palimpsest"
BATCH_DOCUMENTS = 1_000  # of one task, at most
BATCH_BYTES = 4 << 20
BATCH_IDS = 5_000
START_POLL_SECONDS = 0.5
PASSING_KINDS = frozenset((TIMEOUT, CLOSED, GARBAGE))
"""Failures that say nothing of the index."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeiliOptions:
    """How indexes are named, and how wide a search is."""

    prefix: str = DEFAULT_PREFIX
    """What the names of all indexes begin with; suites that share a server take different ones."""
    revision: str = "1"
    """Of the terms (S-18); each has indexes of its own."""
    max_terms: int = 24
    """Terms of a query that are looked for, the rarest ones."""
    asked_terms: int = 128
    """Terms of a query whose rarity is asked, the first ones."""
    max_joined: int = 8
    """Of them, those that are also looked for together; Meilisearch reads ten words of a query."""
    candidates_per_hit: int = 3
    min_candidates: int = 200


DEFAULT_OPTIONS = MeiliOptions()


class MeiliWords:
    """`Words` over one index for each content class. Made by `open`; `close` closes the client too."""

    def __init__(
        self,
        client: AsyncClient,
        options: MeiliOptions = DEFAULT_OPTIONS,
        limits: MeiliLimits = DEFAULT_LIMITS,
    ) -> None:
        self.identity = ""
        """Another one when an index was made anew: what was in it is gone."""
        self.lost = False
        self._made: dict[str, str] = {}
        self._client = client
        self._options = options
        self._limits = limits
        self._calls = MeiliCalls(client, limits)
        self._log = structlog.get_logger("words")

    @classmethod
    async def open(
        cls,
        client: AsyncClient,
        *,
        options: MeiliOptions = DEFAULT_OPTIONS,
        limits: MeiliLimits = DEFAULT_LIMITS,
        patience: float = 0.0,
    ) -> MeiliWords:
        """Finds the indexes, or makes them, and gives them the settings they lack.

        Waits up to `patience` seconds for the server. Raises StartupError when it does not answer or refuses
        the key; the client is closed then.
        """
        words = cls(client, options, limits)
        try:
            words.identity = await _patiently(words._open_indexes, patience)
        except BaseException:
            await words.close()
            raise
        return words

    async def restore(self) -> bool:
        """Makes the indexes again that are not there, and gives back the settings that they lack."""
        before = self.identity
        self.identity = await self._open_indexes()
        self.lost = False
        return self.identity != before

    async def put(self, bucket: Bucket, documents: Sequence[WordDocument]) -> None:
        """Adds or replaces; waits for the tasks."""
        uid = self._uid(bucket.content)
        latest = {document.item_id: document for document in documents}
        tasks = []
        for batch in _batches(schema.document(bucket, document) for document in latest.values()):
            path = f"indexes/{uid}/documents?primaryKey={schema.PRIMARY_KEY}"
            tasks.append(await self._calls.enqueue("POST", path, batch))
            await asyncio.sleep(0)  # making the next batch must not hold up the loop at once
        await self._calls.applied(tasks)
        await self._check_there(uid)  # the server makes an index that is missing, without our settings

    async def remove(self, bucket: Bucket, item_ids: Sequence[str]) -> None:
        """Removes; waits for the tasks."""
        uid = self._uid(bucket.content)
        ids = [schema.document_id(bucket, item_id) for item_id in dict.fromkeys(item_ids)]
        tasks = [
            await self._calls.enqueue(
                "POST", f"indexes/{uid}/documents/delete-batch", ids[start : start + BATCH_IDS]
            )
            for start in range(0, len(ids), BATCH_IDS)
        ]
        async with self._watching(uid):
            await self._calls.applied(tasks)

    async def search(
        self,
        buckets: Sequence[Bucket],
        terms: Sequence[str],
        filters: WordFilters = NO_FILTERS,
        *,
        limit: int,
    ) -> list[tuple[str, float]]:
        """By BM25 over candidates; buckets are one place, so that scores compare."""
        words = list(dict.fromkeys(filter(None, map(schema.encoded, terms))))[: self._options.asked_terms]
        if not words:
            return []
        uids = [self._uid(bucket.content) for bucket in buckets]
        passing = schema.filter_expression(buckets[0], filters)
        async with self._watching(*uids):
            return await self._search(uids, passing, words, limit)

    async def _search(
        self, uids: Sequence[str], passing: str, words: Sequence[str], limit: int
    ) -> list[tuple[str, float]]:
        place = await self._numbers(uids, passing, words)
        candidates = max(self._options.min_candidates, limit * self._options.candidates_per_hit)
        queries = plan(
            place, candidates, max_terms=self._options.max_terms, max_joined=self._options.max_joined
        )
        if not queries:
            return []
        return best(await self._candidates(uids, passing, queries, candidates), place, words, limit)

    async def terms_of(
        self, bucket: Bucket, item_ids: Sequence[str], *, most: int
    ) -> dict[str, tuple[str, ...]]:
        """Each distinct term once, in the order of the text."""
        if not item_ids or most <= 0:
            return {}
        uid, request = self._uid(bucket.content), schema.documents_request(bucket, item_ids)
        async with self._watching(uid):
            answer = await self._calls.read("POST", f"indexes/{uid}/documents/fetch", request)
        with _making_sense():
            return dict(schema.first_terms(document, most) for document in answer["results"])

    async def close(self) -> None:
        """Closes the client."""
        self._calls.close()
        await self._client.aclose()

    async def _numbers(self, uids: Sequence[str], passing: str, words: Sequence[str]) -> Place:
        answer = await self._calls.read("POST", "multi-search", schema.numbers_request(uids, passing, words))
        with _making_sense():
            return schema.numbers(answer["results"], words)

    async def _candidates(
        self, uids: Sequence[str], passing: str, queries: Sequence[TermQuery], limit: int
    ) -> Collection[Held]:
        request = schema.candidates_request(uids, passing, queries, limit)
        answer = await self._calls.read("POST", "multi-search", request)
        with _making_sense():
            found = [schema.held(hit) for hit in answer["hits"]]
        return {item.item_id: item for item in found}.values()

    def _uid(self, content: ContentClass) -> str:
        return schema.index_uid(self._options.prefix, self._options.revision, content)

    async def _open_indexes(self) -> str:
        return "/".join([await self._open_index(self._uid(content)) for content in ContentClass])

    async def _open_index(self, uid: str) -> str:
        """The index with our settings; when it was made."""
        found = await self._index(uid)
        if found is None:
            await self._create(uid)
            found = await self._index(uid)
        with _making_sense():
            key, made = (found or {})["primaryKey"], str((found or {})["createdAt"])
        if key != schema.PRIMARY_KEY:
            raise StartupError(f"the Meilisearch index {uid} is not one of Palimpsest's")
        await self._apply_settings(uid)
        self._made[uid] = made
        return made

    async def _index(self, uid: str) -> Mapping[str, Any] | None:
        try:
            found: Mapping[str, Any] = await self._calls.read("GET", f"indexes/{uid}")
        except MeiliDown as error:
            if error.kind == INDEX_NOT_FOUND:
                return None
            raise
        return found

    @asynccontextmanager
    async def _watching(self, *uids: str) -> AsyncIterator[None]:
        """Sees whether the indexes are there when a call fails for another reason than the connection."""
        try:
            yield
        except MeiliDown as error:
            if error.kind not in PASSING_KINDS:
                for uid in uids:
                    await self._check_there(uid)
            raise

    async def _check_there(self, uid: str) -> None:
        """Notes the loss and raises MeiliDown where an index is gone, or was made at another time."""
        found = await self._index(uid)
        if found is None or str(found.get("createdAt")) != self._made.get(uid):
            self.lost = True
            raise MeiliDown(INDEX_NOT_FOUND)

    async def _create(self, uid: str) -> None:
        body = {"uid": uid, "primaryKey": schema.PRIMARY_KEY}
        try:
            await self._calls.applied([await self._calls.enqueue("POST", "indexes", body)])
        except MeiliDown as error:
            if error.kind != INDEX_EXISTS:  # another replica was first
                raise

    async def _apply_settings(self, uid: str) -> None:
        found = await self._calls.read("GET", f"indexes/{uid}/settings")
        with _making_sense():
            lacking = schema.drifted(found)
        if lacking:
            self._log.info("words_settings_changed", index=uid, settings=sorted(lacking))
            task = await self._calls.enqueue("PATCH", f"indexes/{uid}/settings", lacking)
            await self._calls.applied([task], self._limits.settings_seconds)


def connect(url: str, *, api_key: str = "") -> AsyncClient:
    """A client of the server at `url` ("http://meilisearch:7700"). It connects with the first request."""
    # Imported here: the embedded profile is installed without the driver.
    from meilisearch_python_sdk import AsyncClient as Client

    return Client(url, api_key or None)


class _making_sense:  # noqa: N801 - used as a function
    """Turns what goes wrong with an answer of an unexpected shape into MeiliDown."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, _type: Any, error: BaseException | None, _traceback: Any) -> None:
        if isinstance(error, (KeyError, TypeError, ValueError, AttributeError)):
            raise MeiliDown(GARBAGE) from None


def _batches(documents: Iterator[schema.Json]) -> Iterator[list[schema.Json]]:
    batch: list[schema.Json] = []
    size = 0
    for document in documents:
        length = len(json.dumps(document))
        if batch and (len(batch) == BATCH_DOCUMENTS or size + length > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(document)
        size += length
    if batch:
        yield batch


async def _patiently(attempt: Callable[[], Awaitable[T]], patience: float) -> T:
    """What `attempt` returns, tried again for `patience` seconds while the server does not answer."""
    deadline = asyncio.get_running_loop().time() + patience
    while True:
        try:
            return await attempt()
        except MeiliDown as error:
            if error.kind in REFUSALS:
                raise StartupError("the Meilisearch server refuses the API key") from error
            if asyncio.get_running_loop().time() >= deadline:
                raise StartupError(f"the Meilisearch server does not answer ({error.kind})") from error
            await asyncio.sleep(START_POLL_SECONDS)
