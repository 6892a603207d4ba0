"""Meilisearch for tests: the server that PALIMPSEST_TEST_MEILISEARCH_URL names, else the fake."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import uuid4

from services.memory.semantic.adapters.words_meili import MeiliOptions, MeiliWords, connect
from services.memory.semantic.adapters.words_meili_calls import (
    INDEX_NOT_FOUND,
    MeiliCalls,
    MeiliDown,
    MeiliLimits,
)
from services.memory.semantic.adapters.words_meili_schema import index_uid
from services.memory.semantic.domain.vectors import ContentClass
from tests.fake_meilisearch import KEY, FakeMeilisearch

URL_VARIABLE = "PALIMPSEST_TEST_MEILISEARCH_URL"
KEY_VARIABLE = "PALIMPSEST_TEST_MEILISEARCH_API_KEY"
LIMITS = MeiliLimits(first_pause_seconds=0.001, max_pause_seconds=0.002, first_poll_seconds=0.001)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeiliPlace:
    """A server, and the prefix of index names that one test has for itself."""

    url: str
    api_key: str
    prefix: str
    fake: FakeMeilisearch | None = None

    @property
    def options(self) -> MeiliOptions:
        """What `MeiliWords.open` takes."""
        return MeiliOptions(prefix=self.prefix)

    async def open(self, limits: MeiliLimits = LIMITS, options: MeiliOptions | None = None) -> MeiliWords:
        """The word engine."""
        client = connect(self.url, api_key=self.api_key)
        return await MeiliWords.open(client, options=options or self.options, limits=limits)

    async def drop(self) -> None:
        """Deletes the indexes."""
        client = connect(self.url, api_key=self.api_key)
        calls = MeiliCalls(client)
        for content in ContentClass:
            uid = index_uid(self.prefix, self.options.revision, content)
            try:
                await calls.applied([await calls.enqueue("DELETE", f"indexes/{uid}", None)])
            except MeiliDown as error:
                if error.kind != INDEX_NOT_FOUND:
                    raise
        await client.aclose()


@asynccontextmanager
async def meilisearch(*, fake: bool = False) -> AsyncIterator[MeiliPlace]:
    """A place of its own on the server; with `fake`, on the fake in any case."""
    prefix = f"test{uuid4().hex}"
    url = "" if fake else os.environ.get(URL_VARIABLE, "")
    if url:
        place = MeiliPlace(url=url, api_key=os.environ.get(KEY_VARIABLE, ""), prefix=prefix)
        try:
            yield place
        finally:
            await place.drop()
        return
    server = FakeMeilisearch()
    server.start()
    try:
        yield MeiliPlace(url=server.url, api_key=KEY, prefix=prefix, fake=server)
    finally:
        server.stop()
