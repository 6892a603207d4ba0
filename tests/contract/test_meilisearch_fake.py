"""The fake Meilisearch answers as a server does; runs where PALIMPSEST_TEST_MEILISEARCH_URL names one."""

from __future__ import annotations

import os
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any
from uuid import uuid4

import pytest

from services.memory.semantic.adapters.words_meili import connect
from services.memory.semantic.adapters.words_meili_calls import MeiliCalls, MeiliDown, MeiliLimits
from services.memory.semantic.adapters.words_meili_schema import SETTINGS
from tests.meilisearch_server import KEY_VARIABLE, URL_VARIABLE, MeiliPlace, meilisearch

pytestmark = pytest.mark.skipif(not os.environ.get(URL_VARIABLE), reason=f"{URL_VARIABLE} names no server")

WORDS = ["heron", "stork", "crane", "sun", "flower", "sunflower", "3p11", "u65e5u672c"]
FILTERS = [
    None, 'tenant = "ha"', "tenant = ha", 'tenant = "HA"', 'tenant IN ["ha", "hb"]', "role IN [1, 2]",
    "role = 2", 'tenant = "ha" AND role = 1', 'tenant = "ha" AND role = 1 OR role = 3', "time >= 3",
    "time >= 3 AND time < 6", "NOT role = 1", '(tenant = "ha" OR tenant = "hb") AND time < 9',
    "role != 1", "role IN []", "time >= x",
]  # fmt: skip
WRONG_FILTERS = [
    "tenant", "tenant =", "tenant = ha AND", "unknown = 1", "tenant > 3", "time = 3", "= 3",
    "AND", "tenant = ha ha", "role IN 1", "role IN [1", "terms = heron",
]  # fmt: skip
QUERIES = [
    "", '"heron"', '"heron" "stork"', '"sun" "flower"', '"sun flower"', '"flower sun"', '"nothing"',
    "-heron", 'stork -heron', '"stork" -"heron"', '"heron', '"3p11"', '"u65e5u672c"', '"HERON"', '"he ron"',
    '""', '"-heron"',
]  # fmt: skip


@pytest.fixture
async def twins() -> AsyncIterator[tuple[MeiliCalls, MeiliCalls, str]]:
    """A server and the fake with the same documents under the same index name."""
    uid = f"twin{uuid4().hex}"
    random_ = random.Random(5)
    documents = [
        {
            "id": f"d{n}",
            "item": f"i{n}",
            "tenant": random_.choice(["ha", "hb"]),
            "agent": "hx",
            "role": random_.randint(1, 3),
            "time": random_.randint(0, 9),
            "size": n,  # no two alike: neither says how it orders what is equal
            "terms": " ".join(random_.sample(WORDS, random_.randint(1, 5))),
            "tally": [1],
        }
        for n in range(60)
    ]
    async with AsyncExitStack() as stack:
        real = MeiliPlace(url=os.environ[URL_VARIABLE], api_key=os.environ.get(KEY_VARIABLE, ""), prefix=uid)
        places = [real, await stack.enter_async_context(meilisearch(fake=True))]
        calls = []
        for place in places:
            client = connect(place.url, api_key=place.api_key)
            stack.push_async_callback(client.aclose)
            calls.append(MeiliCalls(client, MeiliLimits(attempts=1)))
            await enqueue(calls[-1], "POST", "indexes", {"uid": uid, "primaryKey": "id"})
            await enqueue(calls[-1], "PATCH", f"indexes/{uid}/settings", dict(SETTINGS))
            await enqueue(calls[-1], "POST", f"indexes/{uid}/documents?primaryKey=id", documents)
            await enqueue(calls[-1], "POST", f"indexes/{uid}/documents/delete-batch", ["d3", "d4", "unknown"])
        yield calls[0], calls[1], uid
        await enqueue(calls[0], "DELETE", f"indexes/{uid}", None)


async def enqueue(calls: MeiliCalls, method: str, path: str, body: Any) -> None:
    await calls.applied([await calls.enqueue(method, path, body)])


async def answer(calls: MeiliCalls, body: Any) -> Any:
    """What comes, without what differs from call to call; the error's code where it is one."""
    try:
        found = await calls.read("POST", "multi-search", body)
    except MeiliDown as error:
        return error.kind
    for part in (found, *found.get("results", ())):
        part.pop("requestUid", None)
        part.pop("processingTimeMs", None)
    return found


async def test_single_searches(twins: tuple[MeiliCalls, MeiliCalls, str]) -> None:
    real, fake, uid = twins
    for filter_ in [*FILTERS, *WRONG_FILTERS]:
        for query in QUERIES if filter_ in FILTERS[:3] else QUERIES[:2]:
            search = {
                "indexUid": uid,
                "q": query,
                "filter": filter_,
                "limit": 100,
                "facets": ["size", "role"],
            }
            expected = await answer(real, {"queries": [search]})
            assert await answer(fake, {"queries": [search]}) == expected, (filter_, query)
            assert isinstance(expected, str) is (filter_ in WRONG_FILTERS), "each kind is what it is called"


async def test_federated_searches(twins: tuple[MeiliCalls, MeiliCalls, str]) -> None:
    real, fake, uid = twins
    random_ = random.Random(7)
    for _ in range(40):
        queries = [
            {
                "indexUid": uid,
                "q": " ".join(f'"{word}"' for word in random_.sample(WORDS, random_.randint(1, 3))),
                "filter": random_.choice(FILTERS[:8]),
                "attributesToRetrieve": ["item", "terms"],
                "federationOptions": {"weight": random_.choice([0.5, 1.0, 1.5, 4.25])},
            }
            for _ in range(random_.randint(1, 6))
        ]
        limits = {"limit": random_.choice([3, 20, 100]), "offset": 0}
        body = {"federation": limits, "queries": queries}
        assert await answer(fake, body) == await answer(real, body), body


async def test_documents_by_id(twins: tuple[MeiliCalls, MeiliCalls, str]) -> None:
    real, fake, uid = twins
    path = f"indexes/{uid}/documents/fetch"
    for filter_ in FILTERS[:4]:
        ids = ["d7", "d3", "unknown", "d21", "d50", "d8"]
        body = {"ids": ids, "filter": filter_, "fields": ["item", "terms"], "limit": len(ids)}
        found, expected = await fake.read("POST", path, body), await real.read("POST", path, body)
        for answered in (found, expected):
            answered["results"].sort(key=lambda document: document["item"])  # in no order that is promised
        assert found == expected


@pytest.mark.parametrize(
    "change",
    [
        {"limit": 3}, {"offset": 1}, {"facets": ["size"]}, {"unknown": 1}, {"indexUid": "nowhere"},
        {"federationOptions": {"weight": -1}}, {"federationOptions": {"unknown": 1}}, {"filter": "terms = x"},
    ],
)  # fmt: skip
async def test_refusals(twins: tuple[MeiliCalls, MeiliCalls, str], change: dict[str, Any]) -> None:
    real, fake, uid = twins
    body = {"federation": {}, "queries": [{"indexUid": uid, "q": '"heron"'} | change]}
    expected = await answer(real, body)
    assert isinstance(expected, str)
    assert await answer(fake, body) == expected


async def test_settings_and_descriptions(twins: tuple[MeiliCalls, MeiliCalls, str]) -> None:
    real, fake, uid = twins
    path = f"indexes/{uid}/settings"
    assert await fake.read("GET", path) == await real.read("GET", path)
    for calls in (real, fake):
        assert (await calls.read("GET", f"indexes/{uid}")).keys() == {
            "uid",
            "createdAt",
            "updatedAt",
            "primaryKey",
        }


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "indexes/nowhere", None),
        ("GET", "tasks/999999999", None),
        ("GET", "nothing/here", None),
        ("POST", "indexes", {"primaryKey": "id"}),
        ("POST", "indexes", {"uid": "a", "unknown": 1}),
        ("POST", "multi-search", {"queries": [], "unknown": 1}),
        ("POST", "multi-search", {}),
        ("PATCH", "indexes/{uid}/settings", {"unknown": 1}),
        ("PATCH", "indexes/{uid}/settings", {"rankingRules": ["nonsense"]}),
        ("PATCH", "indexes/{uid}/settings", {"typoTolerance": {"unknown": 1}}),
        ("PATCH", "indexes/{uid}/settings", {"prefixSearch": "nonsense"}),
        ("PATCH", "indexes/{uid}/settings", {"facetSearch": "nonsense"}),
        ("POST", "indexes/{uid}/documents?unknown=1", [{"id": "a"}]),
        ("POST", "indexes/nowhere/documents/fetch", {"ids": ["d1"]}),
        ("POST", "indexes/{uid}/documents/fetch", {"unknown": 1}),
    ],
)
async def test_wrong_requests(
    twins: tuple[MeiliCalls, MeiliCalls, str], method: str, path: str, body: Any
) -> None:
    real, fake, uid = twins
    kinds = []
    for calls in (real, fake):
        with pytest.raises(MeiliDown) as raised:
            await calls.read(method, path.format(uid=uid), body)
        kinds.append(raised.value.kind)
    assert kinds[0] == kinds[1]


@pytest.mark.parametrize("document", [{"id": "with space"}, {"item": "x"}, {"id": "ä"}])
async def test_documents_that_fail_their_task(
    twins: tuple[MeiliCalls, MeiliCalls, str], document: dict[str, Any]
) -> None:
    real, fake, uid = twins
    kinds = []
    for calls in (real, fake):
        with pytest.raises(MeiliDown) as raised:
            await enqueue(calls, "POST", f"indexes/{uid}/documents?primaryKey=id", [document])
        kinds.append(raised.value.kind)
    assert kinds[0] == kinds[1]
