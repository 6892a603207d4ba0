"""The client without an event loop."""

from __future__ import annotations

import gc
import inspect
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

import palimpsest
from palimpsest import models
from tests.integration.fake_gateway import FakeGateway, serving_fake

THREAD = "palimpsest-client"


@pytest.fixture
def gateway() -> Iterator[FakeGateway]:
    with serving_fake() as fake:
        yield fake


@pytest.fixture
def client(gateway: FakeGateway) -> Iterator[palimpsest.Client]:
    with palimpsest.Client(gateway.target, api_key=gateway.api_key, agent="ada") as made:
        yield made


def client_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == THREAD]


def test_it_has_every_method_of_the_asynchronous_one() -> None:
    """One core: a method that is added there and not here fails this test."""
    own = {"close", "with_agent", "agent", "target"}
    own |= {"over", "sharing", "with_key"}  # about a channel of an event loop
    methods = {
        name
        for name, value in inspect.getmembers(palimpsest.AsyncClient, callable)
        if not name.startswith("_")
    }
    for name in methods - own:
        asynchronous = getattr(palimpsest.AsyncClient, name)
        assert inspect.signature(getattr(palimpsest.Client, name)) == inspect.signature(asynchronous), name
    assert len(methods) > 30


def test_calls_listings_and_errors(gateway: FakeGateway, client: palimpsest.Client) -> None:
    client.create_agent()
    assert client.record_turn("c", [models.NewMessage("user", "hello")]).messages[0].created
    assert [message.text for message in client.messages("c", page_size=1)] == ["hello"]
    client.remember("tea", "green")
    assert client.memory("tea").value == "green"
    assert client.recall("tea").hits[0].memory.key == "tea"
    with pytest.raises(palimpsest.NotFoundError):
        client.memory("coffee")
    assert client.with_agent("bob").create_agent().id == "bob"


def test_ingest_reads_the_callers_iterator_which_may_itself_call(
    gateway: FakeGateway, client: palimpsest.Client
) -> None:
    def messages() -> Iterator[models.NewMessage]:
        for n in range(5):
            yield models.NewMessage("user", f"m{n} of {client.status().version}")

    assert client.ingest("c", messages()).created_count == 5
    chunks = [models.IngestChunk(conversation_id="d", messages=[models.NewMessage("user", "x")])]
    assert [ack.created_count for ack in client.ingest_stream(chunks)] == [1]


def test_threads_share_one_client(gateway: FakeGateway, client: palimpsest.Client) -> None:
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda n: client.remember(f"k{n}", f"v{n}").memory.value, range(40)))
    assert done == [f"v{n}" for n in range(40)]
    assert len(gateway.memories) == 40
    assert len(client_threads()) == 1


def test_leaving_a_loop_early_ends_the_stream(gateway: FakeGateway, client: palimpsest.Client) -> None:
    for update in client.watch_jobs():
        assert update.counts.left == 1
        break
    gc.collect()
    assert gateway.cancelled.wait(10)


def test_a_stream_may_outlive_its_client(gateway: FakeGateway) -> None:
    client = palimpsest.Client(gateway.target, api_key=gateway.api_key)
    updates = client.watch_jobs()
    next(updates)
    client.close()
    assert gateway.cancelled.wait(10)
    del updates
    gc.collect()


def test_closing_ends_a_call_of_another_thread(gateway: FakeGateway) -> None:
    client = palimpsest.Client(gateway.target, api_key=gateway.api_key)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(client.record_turn, "c", [models.NewMessage("user", "x", author="slow")])
        assert gateway.started.wait(10)
        client.close()
        with pytest.raises(RuntimeError, match="closed"):
            waiting.result(10)


def test_a_closed_client_says_so_and_leaves_no_thread(gateway: FakeGateway) -> None:
    client = palimpsest.Client(gateway.target, api_key=gateway.api_key)
    client.status()
    assert len(client_threads()) == 1
    client.close()
    client.close()
    assert not client_threads()
    with pytest.raises(RuntimeError, match="closed"):
        client.status()


def test_a_program_that_ends_without_closing_ends_quietly(gateway: FakeGateway) -> None:
    program = (
        "import palimpsest\n"
        f"client = palimpsest.Client({gateway.target!r}, api_key={gateway.api_key!r})\n"
        "client.ingest('c', [palimpsest.NewMessage('user', 'x')])\n"
        "next(client.watch_jobs())\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_client_that_is_dropped_cleans_up(gateway: FakeGateway) -> None:
    client = palimpsest.Client(gateway.target, api_key=gateway.api_key)
    client.status()
    other = client.with_agent("bob")
    del client
    gc.collect()
    assert other.status().profile == "embedded"
    del other
    gc.collect()
    assert not client_threads()
