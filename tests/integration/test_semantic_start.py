"""How the Semantic service starts: without its embedder, with another model, over older data (SV-2, S-17)."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import AsyncExitStack, closing
from pathlib import Path

import pytest

from services.embedder.bootstrap import build as build_embedder
from services.embedder.config import EmbedderSettings
from services.kit.channels import Channels
from services.kit.errors import StartupError
from services.kit.identity import TokenSigner
from services.kit.inprocess import InProcessServer
from services.kit.metrics import Metrics
from services.kit.serving import Service, interceptor, outgoing
from services.memory.semantic.adapters.words import INDEX_FILE, INDEX_REVISION
from services.memory.semantic.bootstrap import build
from services.memory.semantic.config import SemanticSettings
from tests.integration.semantic_suite import SECRET, Switch


async def start(
    folder: Path, stack: AsyncExitStack, *, dimension: int = 64, wait: float = 0.0, down: Switch | None = None
) -> Service:
    """Builds the service beside an embedder of a dimension, which `down` takes away."""
    service = await build_embedder(EmbedderSettings(backend="hashing", dimension=dimension), None, stack)
    server = InProcessServer()
    server.add_interceptor(down or Switch())
    server.add_interceptor(interceptor(service, SECRET, Metrics()))
    service.add_to(server)
    channel = outgoing(server.channel(), "embedder", TokenSigner(SECRET))
    channels = Channels(
        embedder=channel, episodic=channel, semantic=channel, compactor=channel, gateway=channel
    )
    return await build(SemanticSettings(data_dir=folder, embedder_wait_seconds=wait), channels, stack)


async def test_an_embedder_that_does_not_answer_is_a_clear_error(tmp_path: Path) -> None:
    switch = Switch()
    switch.down = True
    async with AsyncExitStack() as stack:
        with pytest.raises(StartupError, match="the embedder does not answer"):
            await start(tmp_path, stack, down=switch)
    async with AsyncExitStack() as stack:
        assert await (await start(tmp_path, stack)).ready()


async def test_an_embedder_that_starts_later_is_waited_for(tmp_path: Path) -> None:
    switch = Switch()
    switch.down = True
    async with AsyncExitStack() as stack:
        starting = asyncio.ensure_future(start(tmp_path, stack, wait=60, down=switch))
        done, _ = await asyncio.wait({starting}, timeout=0.3)
        assert not done
        switch.down = False
        assert await (await asyncio.wait_for(starting, 30)).ready()


async def test_vectors_of_another_dimension_are_a_clear_error(tmp_path: Path) -> None:
    """S-17."""
    async with AsyncExitStack() as stack:
        await start(tmp_path, stack)
    async with AsyncExitStack() as stack:
        with pytest.raises(StartupError, match=r"model|dimension"):
            await start(tmp_path, stack, dimension=32)
    async with AsyncExitStack() as stack:
        assert await (await start(tmp_path, stack)).ready()


def facts(path: Path) -> dict[str, str]:
    with closing(sqlite3.connect(path)) as connection:
        return dict(connection.execute("SELECT name, value FROM index_facts").fetchall())


async def test_an_item_index_of_another_revision_is_made_anew(tmp_path: Path) -> None:
    """SV-2, S-18: terms of an older analyser would not be found."""
    path = tmp_path / INDEX_FILE
    async with AsyncExitStack() as stack:
        await start(tmp_path, stack)
        for _ in range(200):
            if "whole" not in facts(path):
                await asyncio.sleep(0.05)
    assert facts(path) == {"revision": INDEX_REVISION, "whole": "yes"}
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE index_facts SET value = '0.0' WHERE name = 'revision'")
        connection.execute(
            "INSERT INTO items (tenant, agent_id, class, item_id, contact_id)"
            " VALUES ('t', 'a', 'memory', 'x', '')"
        )
    async with AsyncExitStack() as stack:
        await start(tmp_path, stack)
    assert facts(path)["revision"] == INDEX_REVISION
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM items").fetchone() == (0,)
