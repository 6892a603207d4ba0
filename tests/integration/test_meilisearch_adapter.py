"""The service with its words on a Meilisearch server (SPEC S-9, S-11, S-12, S-16, S-18, SV-2)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import grpc
import pytest
from palimpsest.common.v1 import recall_pb2
from palimpsest.semantic.v1 import semantic_pb2

from services.kit.errors import DependencyDown, StartupError
from services.memory.semantic.adapters.words import INDEX_REVISION
from services.memory.semantic.adapters.words_meili import MeiliOptions, MeiliWords, connect
from services.memory.semantic.adapters.words_meili_calls import MeiliCalls, MeiliLimits
from services.memory.semantic.adapters.words_meili_schema import index_uid
from services.memory.semantic.domain.keywords import WordDocument
from services.memory.semantic.domain.vectors import Bucket, ContentClass
from tests.fake_meilisearch import KEY, FakeMeilisearch
from tests.integration.embedded_suite import failure
from tests.integration.semantic_suite import (
    CODE,
    KEYWORD,
    MESSAGES,
    READER,
    Episodic,
    Semantic,
    found,
    running,
    scope,
    values,
)
from tests.meilisearch_server import LIMITS, MeiliPlace, meilisearch

WORDS = recall_pb2.SEARCH_MODE_KEYWORD
BUCKET = Bucket(tenant="acme", agent="ada", content=ContentClass.MESSAGE)
IMPATIENT = MeiliLimits(read_seconds=0.1, attempts=2, first_pause_seconds=0.001, task_seconds=0.3)


@pytest.fixture
async def place() -> AsyncIterator[MeiliPlace]:
    async with meilisearch(fake=True) as place:
        yield place


@pytest.fixture
def fake(place: MeiliPlace) -> FakeMeilisearch:
    assert place.fake is not None
    return place.fake


def served(folder: Path, place: MeiliPlace, **chosen: Any) -> AbstractAsyncContextManager[Semantic]:
    """The service; its channels may take half a second."""
    settings = {
        "meilisearch_url": place.url,
        "meilisearch_api_key": place.api_key,
        "meilisearch_prefix": place.prefix,
        "channel_seconds": 0.5,
    }
    return running(folder, Episodic(), **settings | chosen)


async def test_what_was_indexed_is_found_by_words(place: MeiliPlace, tmp_path: Path) -> None:
    """S-9, S-12."""
    async with served(tmp_path, place) as semantic:
        await semantic.known("bird", "a heron by the river")
        await semantic.said("the stork has left")
        assert values(await semantic.recall("heron")) == ["a heron by the river"]
        assert found(await semantic.search("stork", mode=WORDS)) == ["c-1"]
        assert found(await semantic.search("zeppelin", mode=WORDS)) == []


@pytest.mark.parametrize(
    "answer",
    [
        (500, b"the whole house is on fire"),
        (503, b'{"code": "unavailable", "message": "secret"}'),
        (200, b"<html>a captive portal</html>"),
        (200, b"[]"),
        (200, b"{}"),
        (200, b'{"results": [], "hits": []}'),
        (200, b'{"results": [{"estimatedTotalHits": "many"}]}'),
        (200, b'{"results": 5, "hits": 5}'),
        (200, b"null"),
        (403, b'{"code": "invalid_api_key"}'),
        (404, b'{"code": "index_not_found"}'),
    ],
)
async def test_an_engine_that_answers_garbage_is_named_and_recall_goes_on(
    place: MeiliPlace, fake: FakeMeilisearch, tmp_path: Path, answer: tuple[int, bytes]
) -> None:
    """S-11: with a constant cause; what the server says stays with us."""
    async with served(tmp_path, place) as semantic:
        await semantic.known("bird", "a heron")
        await semantic.said("a heron")
        fake.fault = answer
        memories, messages = await semantic.recall("heron"), await semantic.search("heron")
        assert [hit.memory.value for hit in memories.hits] == ["a heron"]
        assert [match.ref.message_id for match in messages.matches] == ["c-1"]
        assert {f.channel for f in memories.failures} == {KEYWORD, MESSAGES}
        assert {f.channel for f in messages.failures} == {KEYWORD}
        causes = {f.cause for response in (memories, messages) for f in response.failures}
        assert causes <= {"not available", "timed out"}
        fake.fault = None
        assert values(await semantic.recall("heron")) == ["a heron"], "it comes back by itself"


async def test_a_slow_engine_costs_recall_no_more_than_its_channel(
    place: MeiliPlace, fake: FakeMeilisearch, tmp_path: Path
) -> None:
    """S-11."""
    async with served(tmp_path, place) as semantic:
        await semantic.known("bird", "a heron")
        fake.delay_seconds = 0.7
        slow = await semantic.recall("heron")
        fake.delay_seconds = 0.0
        assert [hit.memory.value for hit in slow.hits] == ["a heron"]
        assert {(f.channel, f.cause) for f in slow.failures} == {
            (KEYWORD, "timed out"),
            (MESSAGES, "timed out"),
        }


async def test_an_engine_that_is_gone_is_named_and_its_writes_fail(
    place: MeiliPlace, fake: FakeMeilisearch, tmp_path: Path
) -> None:
    """S-11, S-16: what has no words is not taken for indexed."""
    async with served(tmp_path, place) as semantic:
        await semantic.known("bird", "a heron")
        fake.stop()
        gone = await semantic.recall("heron")
        assert [hit.memory.value for hit in gone.hits] == ["a heron"]
        assert KEYWORD in {f.channel for f in gone.failures}
        written = await semantic.remember("fish", "a carp")
        with pytest.raises(grpc.aio.AioRpcError):
            await semantic.index(written)
        words_only = semantic.by(READER).RecallMessages(request("heron"))
        assert (await failure(words_only))[:2] == (CODE.UNAVAILABLE, "DEPENDENCY_DOWN")


def request(query: str) -> Any:
    return semantic_pb2.RecallMessagesRequest(scope=scope(), query=query, mode=WORDS)


async def test_lost_words_are_indexed_again_at_the_next_start(place: MeiliPlace, tmp_path: Path) -> None:
    """SV-2: the registry knows which word index it describes, and forgets what was in another."""
    episodic = Episodic()
    settings: dict[str, Any] = {
        "meilisearch_url": place.url,
        "meilisearch_api_key": place.api_key,
        "meilisearch_prefix": place.prefix,
    }
    async with running(tmp_path, episodic, **settings) as semantic:
        await semantic.known("bird", "a heron")
        await semantic.said("a stork")
        await semantic.work_off(at_least=1)
    async with running(tmp_path, episodic, **settings) as semantic:
        assert await semantic.work_off() == 0, "nothing was lost"
    assert place.fake is not None
    place.fake.indexes.clear()
    async with running(tmp_path, episodic, **settings) as semantic:
        assert found(await semantic.search("stork", mode=WORDS)) == []
        assert await semantic.work_off(at_least=2) >= 2
        assert found(await semantic.search("stork", mode=WORDS)) == ["c-1"]
        assert values(await semantic.recall("heron")) == ["a heron"]


async def test_words_move_between_the_file_and_the_server(place: MeiliPlace, tmp_path: Path) -> None:
    """SV-2: whichever has them, a start finds out that they are elsewhere."""
    episodic = Episodic()
    server: dict[str, Any] = {
        "meilisearch_url": place.url,
        "meilisearch_api_key": place.api_key,
        "meilisearch_prefix": place.prefix,
    }
    for chosen in ({}, server, {}, server):
        async with running(tmp_path, episodic, **chosen) as semantic:
            if not episodic.conversations:
                await semantic.said("a stork")
            await semantic.work_off()
            assert found(await semantic.search("stork", mode=WORDS)) == ["c-1"]


async def test_a_revision_of_the_terms_has_indexes_of_its_own(
    place: MeiliPlace, fake: FakeMeilisearch, tmp_path: Path
) -> None:
    """S-18."""
    async with served(tmp_path, place):
        expected = {index_uid(place.prefix, INDEX_REVISION, content) for content in ContentClass}
        assert set(fake.indexes) == expected


async def test_a_start_without_the_server_is_a_clear_error(tmp_path: Path) -> None:
    place = MeiliPlace(url="http://127.0.0.1:1", api_key=KEY, prefix="x")
    with pytest.raises(StartupError, match="Meilisearch server does not answer"):
        async with served(tmp_path, place, meilisearch_wait_seconds=0):
            pass


# The adapter alone


def document(text: str, number: int = 1) -> WordDocument:
    return WordDocument(item_id=f"c/{number:012d}", terms=text)


async def test_faults_that_pass_are_waited_out(place: MeiliPlace, fake: FakeMeilisearch) -> None:
    """A restart of the server, or a moment's overload, is no failure."""
    words = await place.open()
    fake.answers += [(503, b""), (502, b"<html>"), (429, b"{}")]
    await words.put(BUCKET, [document("heron")])
    fake.answers += [(503, b"")]
    assert [id_ for id_, _ in await words.search([BUCKET], ["heron"], limit=5)] == ["c/000000000001"]
    await words.close()


async def test_faults_that_do_not_pass_are_not_repeated(place: MeiliPlace, fake: FakeMeilisearch) -> None:
    """What follows is a look whether the index is there."""
    words = await place.open()
    fake.fault = (400, b'{"code": "invalid_search_filter", "message": "secret"}')
    before = len(fake.requests)
    with pytest.raises(DependencyDown) as raised:
        await words.search([BUCKET], ["heron"], limit=5)
    assert [request.method for request in fake.requests[before:]] == ["POST", "GET"]
    assert "secret" not in str(raised.value)
    await words.close()


async def test_a_task_that_is_never_applied_ends_the_write(place: MeiliPlace, fake: FakeMeilisearch) -> None:
    words = await place.open(IMPATIENT)
    fake.answers += [None]
    fake.fault = (200, b'{"status": "processing"}')
    with pytest.raises(DependencyDown):
        await words.put(BUCKET, [document("heron")])
    fake.fault = None
    await words.put(BUCKET, [document("heron")])
    assert len(await words.search([BUCKET], ["heron"], limit=5)) == 1
    await words.close()


async def test_an_answer_that_does_not_come_is_given_up(place: MeiliPlace, fake: FakeMeilisearch) -> None:
    words = await place.open(IMPATIENT)
    fake.delay_seconds = 0.5
    with pytest.raises(DependencyDown):
        await words.search([BUCKET], ["heron"], limit=5)
    fake.delay_seconds = 0.0
    await words.close()
    with pytest.raises(DependencyDown):
        await words.search([BUCKET], ["heron"], limit=5)


async def test_a_long_query_asks_for_no_more_than_its_rarest_words(
    place: MeiliPlace, fake: FakeMeilisearch
) -> None:
    options = MeiliOptions(prefix=place.prefix, max_terms=3, asked_terms=6, max_joined=2)
    words = await place.open(LIMITS, options)
    texts = [" ".join(f"w{n}" for n in range(number)) for number in range(1, 9)]
    await words.put(BUCKET, [document(text, number) for number, text in enumerate(texts, 1)])
    await words.search([BUCKET], [f"w{n}" for n in range(8)], limit=2)
    asked, sought = (request.body["queries"] for request in fake.requests[-2:])
    assert len(asked) == 1 + 6
    assert [query["q"] for query in sought] == ['"w5"', '"w4"', '"w3"']
    weights = [query["federationOptions"]["weight"] for query in sought]
    assert weights == sorted(weights, reverse=True)
    await words.close()


async def test_the_key_is_sent_and_an_open_without_one_is_refused(place: MeiliPlace) -> None:
    with pytest.raises(StartupError, match="refuses"):
        await MeiliWords.open(connect(place.url), options=place.options)
    client = connect(place.url, api_key=place.api_key)
    calls = MeiliCalls(client)
    with pytest.raises(DependencyDown):
        await calls.read("GET", "indexes/nowhere")
    await client.aclose()
