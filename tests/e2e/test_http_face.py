"""JSON over HTTP of a suite as a process (SPEC G-10, O-3)."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.e2e.suite import Suite


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Suite]:
    running = Suite(tmp_path_factory.mktemp("suite") / "data")
    running.data.mkdir()
    running.start("--http-port", "0")
    yield running
    running.stop()


def url_of(suite: Suite) -> str:
    return str(json.loads((suite.data / "endpoint.json").read_text())["url"])


def headers_of(suite: Suite) -> dict[str, str]:
    return {"authorization": f"Bearer {(suite.data / 'api-key').read_text().strip()}"}


def test_the_port_is_published_and_answers(suite: Suite) -> None:
    with httpx.Client(base_url=url_of(suite), trust_env=False) as client:
        assert client.get("/healthz").json() == {"status": "alive"}
        assert client.get("/v1/status").status_code == 401
        assert client.get("/v1/status", headers=headers_of(suite)).json()["profile"] == "embedded"


def test_a_port_that_was_named_and_is_taken_is_an_error_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    second = Suite(tmp_path / "data")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        second.start("--http-port", str(taken.getsockname()[1]), wait=False)
        assert second.process is not None
        _, errors = second.process.communicate(timeout=60)
    assert second.process.returncode == 1
    assert errors.decode().strip().endswith("the port is in use")
    assert len(errors.decode().strip().splitlines()) == 1


async def test_a_stop_ends_a_stream_in_order(suite: Suite) -> None:
    """The last test of this suite."""
    client = httpx.AsyncClient(base_url=url_of(suite), headers=headers_of(suite), timeout=30, trust_env=False)
    async with client, client.stream("GET", "/v1/jobs:watch") as response:
        assert response.status_code == 200
        stopping = asyncio.create_task(asyncio.to_thread(suite.stop))
        lines = [line async for line in response.aiter_lines()]
    assert await stopping == 0
    assert "event: error" in lines
    assert not (suite.data / "endpoint.json").exists()
