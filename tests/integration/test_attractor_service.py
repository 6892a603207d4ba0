"""Basins through a real socket, by the client and the command `palimpsest attractor` (SPEC J-12, K-3)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import cast

import pytest
from click.testing import CliRunner, Result

import palimpsest
from palimpsest import models
from palimpsest.cli.main import main
from palimpsest.errors import NotFoundError, PalimpsestError
from services.compactor.app.correcting import Corrections
from services.compactor.domain.documents import summary_key
from services.compactor.rpc.documents_servicer import face
from services.kit.identity import Principal, Role, TokenSigner
from services.kit.metrics import Metrics
from services.kit.serving import Service, listening
from tests.integration.attractor_world import AttractorWorld
from tests.integration.document_world import AGENT, TENANT, world

SECRET = b"a secret of the tests, 32 bytes or more"
DUE = b'{"due":true}'
Run = Callable[..., Awaitable[Result]]
NO_CORRECTIONS = cast("Corrections", None)
"""None is asked for here."""


def token(role: Role) -> str:
    """What the gateway would send: here the test is the gateway."""
    return TokenSigner(SECRET).mint(Principal(tenant=TENANT, role=role, subject="test"), "compactor")


async def ready() -> bool:
    return True


@pytest.fixture
async def made(tmp_path: Path) -> AsyncIterator[AttractorWorld]:
    async with world(tmp_path) as documents:
        yield AttractorWorld(documents)


@pytest.fixture
async def target(made: AttractorWorld) -> AsyncIterator[str]:
    service = Service(
        name="palimpsest.compactor.v1.CompactorService",
        add=lambda _: None,
        roles={},
        ready=ready,
        faces=(face(made.documents, NO_CORRECTIONS),),
    )
    async with AsyncExitStack() as stack:
        port = await stack.enter_async_context(
            listening(service, SECRET, Metrics(), "127.0.0.1:0", drain_seconds=0)
        )
        yield f"127.0.0.1:{port}"


@pytest.fixture
async def client(target: str) -> AsyncIterator[palimpsest.AsyncClient]:
    async with palimpsest.AsyncClient(target, api_key=token(Role.WRITER), agent=AGENT) as opened:
        yield opened


@pytest.fixture
def run(target: str, tmp_path: Path) -> Run:
    environment = {
        "PALIMPSEST_TARGET": target,
        "PALIMPSEST_API_KEY": token(Role.WRITER),
        "PALIMPSEST_AGENT": AGENT,
        "PALIMPSEST_DATA": str(tmp_path / "none"),
    }

    async def call(*arguments: str) -> Result:
        return await asyncio.to_thread(CliRunner(env=environment).invoke, main, ("attractor", *arguments))

    return call


async def two_versions(made: AttractorWorld) -> None:
    """First a garden and a database; then running comes, and the garden's conversations go."""
    await made.tell("garden", "garden", "database", "database")
    await made.said(DUE)
    await made.tell("running", "running", prefix="d", first_day=10)
    for conversation in ("c0", "c1"):
        await made.documents.erase(summary_key(TENANT, AGENT, conversation))
    await made.said(DUE)


async def test_basins_are_listed(made: AttractorWorld, client: palimpsest.AsyncClient) -> None:
    await two_versions(made)
    newest = await client.basins()
    assert [(one.id, one.label, one.member_count) for one in newest] == [
        ("b3", "running", 2),
        ("b2", "database", 2),
    ]
    assert sum(one.weight for one in newest) == pytest.approx(1.0, abs=1e-5)
    assert (newest.version, newest.conversation_count, len(newest)) == (2, 4, 2)
    assert newest.drift is not None
    assert newest.drift > 0.0
    first = await client.basins(version=1)
    assert [one.id for one in first] == ["b2", "b1"]
    assert first.drift is None
    assert first.basins[0].last_visit_time is not None


async def test_the_whole_attractor_is_read(made: AttractorWorld, client: palimpsest.AsyncClient) -> None:
    await two_versions(made)
    found = await client.attractor(version=1)
    assert found.source_ids == ("c0", "c1", "c2", "c3")
    assert [visit["basin"] for visit in found.body["trajectory"]] == ["b1", "b1", "b2", "b2"]
    assert found.state == models.AttractorState(
        newest_version=2, pinned_version=0, frozen_versions=(), stale=False
    )


async def test_a_basin_is_named(made: AttractorWorld, client: palimpsest.AsyncClient) -> None:
    await two_versions(made)
    assert (await client.name_basin("b3", "Sport")).title == "Sport"
    assert (await client.basins()).basins[0].name == "Sport"
    with pytest.raises(NotFoundError):
        await client.name_basin("b1", "gone")
    with pytest.raises(PalimpsestError, match="name"):
        await client.name_basin("b3", "x" * 81)


async def test_a_reader_may_not_name(made: AttractorWorld, target: str) -> None:
    await two_versions(made)
    async with palimpsest.AsyncClient(target, api_key=token(Role.READER), agent=AGENT) as reader:
        assert len(await reader.basins()) == 2
        with pytest.raises(PalimpsestError) as caught:
            await reader.name_basin("b3", "Sport")
    assert caught.value.reason == "NOT_ALLOWED"


async def test_versions_are_compared_and_pinned(made: AttractorWorld, client: palimpsest.AsyncClient) -> None:
    await two_versions(made)
    found = await client.compare_attractor(1)
    assert (found.before_version, found.after_version) == (1, 2)
    assert [(one.kind, one.basin_id) for one in found.changes] == [("died", "b1"), ("born", "b3")]
    assert "basins" in found.fields
    assert (await client.freeze_attractor(1)).pinned_version == 1
    assert (await client.basins()).version == 1
    assert (await client.basins(newest=True)).version == 2
    assert [(one.version, one.pinned) async for one in client.attractor_versions()] == [(2, False), (1, True)]
    assert (await client.unfreeze_attractor(1)).frozen_versions == ()


async def test_without_an_attractor_there_is_none(client: palimpsest.AsyncClient, run: Run) -> None:
    with pytest.raises(NotFoundError):
        await client.basins()
    shown = await run("show")
    assert shown.exit_code == 1
    assert "no such attractor: ada" in shown.output


async def test_the_command_shows_names_and_compares(made: AttractorWorld, run: Run) -> None:
    await two_versions(made)
    assert (await run("name", "b3", "Sport")).output == "b3: Sport\n"
    shown = (await run("show", "--trajectory")).output
    assert "version 3 of " in shown
    assert "4 conversations" in shown
    assert "Sport (running)" in shown
    assert "b2 → b3  1" in shown
    compared = (await run("compare", "1")).output
    assert compared.splitlines() == [
        "version 1 to 3:",
        "  b1 (garden) died",
        "  b3 (Sport) born",
    ]
    assert "no theme changed" in (await run("compare", "1", "1")).output
    whole = json.loads((await run("show", "--json", "--version", "1")).output)
    assert [basin["id"] for basin in whole["body"]["basins"]] == ["b2", "b1"]


async def test_the_command_pins_a_version(made: AttractorWorld, run: Run) -> None:
    await two_versions(made)
    assert (await run("freeze", "1")).output == "pinned: version 1\n"
    assert "version 1 of " in (await run("show")).output
    assert "version 2 of " in (await run("show", "--newest")).output
    listed = (await run("versions")).output.splitlines()
    assert listed[1].endswith("frozen  pinned")
    assert not listed[0].endswith("frozen")
    assert (await run("freeze", "1", "--undo")).output == "let go: version 1; read: the newest, 2\n"
    assert (await run("show", "--newest", "--version", "1")).exit_code == 1
