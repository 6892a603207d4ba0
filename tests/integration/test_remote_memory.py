"""The remote memory's HTTP client against one that is strict, down, slow or talks nonsense (SPEC S-15)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from services.kit.errors import DependencyDown
from services.memory.semantic.adapters.remote_memory import MAX_ANSWER_BYTES, RemoteMemory
from services.memory.semantic.app.providers import Rejected, Unanswered
from services.memory.semantic.domain.memory import FactType, Kind, Memory, Scope, Source
from tests.fake_remote_memory import TOKEN, FakeRemoteMemory

NOW = datetime(2031, 5, 4, 12, 0, 0, 123456, tzinfo=UTC)
ANYONE = Scope(agent_id="ada", contact_ids=("ann",))
EVERY_KIND: frozenset[Kind] = frozenset()


def memory(id_: str, value: str = "the heron eats fish", **fields: Any) -> Memory:
    made: dict[str, Any] = {
        "agent_id": "ada",
        "key": "heron.food",
        "fact_type": FactType.FACT,
        "contact_id": "",
        "pinned": False,
        "confidence": 0.9,
        "source": Source.EXPLICIT,
        "provenance": (),
        "created": NOW,
        "updated": NOW,
        "accessed": None,
        "access_count": 0,
        "valid_from": NOW,
        "valid_to": None,
        "superseded_by": "",
        "supersedes": "",
        "version": 1,
        "expires": None,
        "revision": 1,
        "indexed_revision": 0,
    } | fields
    return Memory(id=id_, value=value, **made)


@pytest.fixture
def server() -> Iterator[FakeRemoteMemory]:
    fake = FakeRemoteMemory()
    fake.start()
    yield fake
    fake.stop()


async def no_pause(_seconds: float) -> None:
    return


def client_of(server: FakeRemoteMemory, *, token: str = TOKEN, seconds: float = 5.0) -> httpx.AsyncClient:
    headers = {"authorization": f"Bearer {token}"}
    return httpx.AsyncClient(base_url=server.url + "/", headers=headers, timeout=seconds)


@pytest.fixture
async def remote(server: FakeRemoteMemory) -> AsyncIterator[RemoteMemory]:
    made = RemoteMemory(client_of(server), sleep=no_pause)
    yield made
    await made.close()


async def recalled(remote: RemoteMemory, query: str = "heron", **fields: Any) -> list[tuple[str, float]]:
    chosen: dict[str, Any] = {"scope": ANYONE, "kinds": EVERY_KIND, "limit": 10} | fields
    return await remote.recall("acme", query=query, **chosen)


async def test_what_is_remembered_and_flushed_is_recalled_until_it_is_forgotten(
    server: FakeRemoteMemory, remote: RemoteMemory
) -> None:
    """S-15: tenant and agent are namespace and profile; again is no change."""
    both = [memory("m1"), memory("m2", "the heron sleeps", contact_id="ann", valid_to=NOW.replace(year=2040))]
    for _ in range(2):
        await remote.remember("acme", "ada", both)
    assert await recalled(remote) == []
    await remote.flush("acme", "ada")
    assert await recalled(remote, "heron fish") == [("m1", 2.0), ("m2", 1.0)]
    assert await recalled(remote, scope=Scope(agent_id="ada")) == [("m1", 1.0)]
    assert await recalled(remote, kinds=frozenset({Kind.TASK})) == []
    assert await remote.recall("other", ANYONE, "heron", EVERY_KIND, 10) == []
    for _ in range(2):
        await remote.forget("acme", "ada", "m1")
    assert await recalled(remote) == [("m2", 1.0)]
    assert server.memories["acme", "ada"].keys() == {"m2"}


@pytest.mark.parametrize("name", ["a/b", "..", ".", "ü ñ", "%2e", "a?b#c", "x" * 128])
async def test_names_are_segments_of_the_path_whatever_they_hold(
    server: FakeRemoteMemory, remote: RemoteMemory, name: str
) -> None:
    """X-4: none reaches another's profile."""
    await remote.remember(name, name, [memory("m1")])
    await remote.forget(name, name, name)
    assert [one.profile for one in server.asked] == [(name, name)] * 2
    assert server.memories[name, name].keys() == {"m1"}


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_what_may_pass_is_tried_again(server: FakeRemoteMemory, status: int) -> None:
    """S-15: and the pause that it asks for is kept."""
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    remote = RemoteMemory(client_of(server), sleep=pause)
    server.answers = [(status, b"busy", {"retry-after": "2"})]
    await remote.remember("acme", "ada", [memory("m1")])
    assert server.values("acme", "ada") == ["the heron eats fish"]
    assert pauses == [2.0]
    server.fault = (status, b"busy")
    with pytest.raises(DependencyDown) as caught:
        await remote.remember("acme", "ada", [memory("m2")])
    assert not isinstance(caught.value, Unanswered), "it answered: nothing is under way"
    await remote.close()


async def test_what_was_refused_is_not_tried_again(server: FakeRemoteMemory) -> None:
    """S-15: a wrong token."""
    remote = RemoteMemory(client_of(server, token="wrong"), sleep=no_pause)
    for call in (remote.flush("acme", "ada"), recalled(remote), remote.forget("acme", "ada", "m")):
        with pytest.raises(Rejected):
            await call
    assert server.asked == []
    await remote.close()


async def test_a_redirect_is_not_followed(server: FakeRemoteMemory, remote: RemoteMemory) -> None:
    """S-15: the token goes nowhere else."""
    server.answers = [(307, b"", {"location": server.url + "/v1/namespaces/acme/profiles/ada/flush"})]
    with pytest.raises(DependencyDown):
        await remote.flush("acme", "ada")
    assert server.asked == []


async def test_one_that_is_down_or_silent_is_told_apart(server: FakeRemoteMemory) -> None:
    """S-15: of a request that was not sent nothing can come later."""
    remote = RemoteMemory(client_of(server, seconds=0.2), sleep=no_pause)
    server.slow_seconds = 0.5
    with pytest.raises(Unanswered):
        await remote.flush("acme", "ada")
    server.slow_seconds, server.swallows = 0, True
    with pytest.raises(Unanswered):
        await remote.remember("acme", "ada", [memory("m1")])
    assert server.values("acme", "ada") == ["the heron eats fish"], "it had arrived"
    server.stop()
    fresh = RemoteMemory(client_of(server), sleep=no_pause)
    with pytest.raises(DependencyDown) as caught:
        await fresh.flush("acme", "ada")
    assert not isinstance(caught.value, Unanswered)
    for one in (remote, fresh):
        await one.close()


@pytest.mark.parametrize("status", [502, 504])
async def test_one_in_between_that_gave_up_leaves_the_request_open(
    server: FakeRemoteMemory, remote: RemoteMemory, status: int
) -> None:
    """S-15, D-2: what is behind it may do it later."""
    server.fault = (status, b"gave up")
    with pytest.raises(Unanswered):
        await remote.remember("acme", "ada", [memory("m1")])


@pytest.mark.parametrize("status", [503, 400])
async def test_what_an_attempt_left_open_stays_so_whatever_the_next_one_is_told(
    server: FakeRemoteMemory, remote: RemoteMemory, status: int
) -> None:
    """S-15, D-2."""
    server.answers = [(504, b"gave up", {}), *[(status, b"no", {})] * 2]
    with pytest.raises(Unanswered):
        await remote.remember("acme", "ada", [memory("m1")])


GARBAGE: list[bytes] = [
    b"<html>",
    b"[]",
    b"{",
    b"\xff\xfe",
    b'"text"',
    b"[" * 100_000,
    b'{"hits": {}}',
    b'{"hits": ["m1"]}',
    b'{"hits": [{"id": 1, "score": 1}]}',
    b'{"hits": [{"id": "m1"}]}',
    b'{"hits": [{"id": "m1", "score": "1"}]}',
    b'{"hits": [{"id": "m1", "score": true}]}',
    b'{"hits": [{"id": "m1", "score": NaN}]}',
    b'{"hits": [{"id": "m1", "score": 1e999}]}',
    b'{"hits": [{"id": "m1", "score": 1' + b"0" * 400 + b"}]}",
    b'{"accepted": "m1"}',
    b'{"accepted": ["m2"]}',
    b'{"accepted": []}',
    b"{}",
    b"",
    b" " * (MAX_ANSWER_BYTES + 1),
]


@pytest.mark.parametrize("body", GARBAGE, ids=range(len(GARBAGE)))
async def test_an_answer_that_makes_no_sense_is_a_failure(
    server: FakeRemoteMemory, remote: RemoteMemory, body: bytes
) -> None:
    """S-15: and nothing but that."""
    server.fault = (200, body)
    with pytest.raises(DependencyDown):
        await remote.remember("acme", "ada", [memory("m1")])
    with pytest.raises(DependencyDown):
        await recalled(remote)


async def test_hits_that_cannot_be_ours_are_left_out(server: FakeRemoteMemory, remote: RemoteMemory) -> None:
    """S-15: ids are looked up in a database, which takes no NUL and no lone surrogate."""
    ids = ["", "a\x00b", "\ud800", "x" * 129, "ü", "a b", "m9", "m1", "m9"]
    server.fault = (200, json.dumps({"hits": [{"id": id_, "score": 2} for id_ in ids]}).encode())
    assert await recalled(remote) == [("m1", 2.0), ("m9", 2.0)]
