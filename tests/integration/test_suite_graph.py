"""The graph of themes through the client and the command, against a whole suite (SPEC J-13, X-1)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from structlog.testing import capture_logs

import palimpsest
from palimpsest import errors
from palimpsest.cli.main import main
from services.kit.identity import Role
from tests.integration.embedded_suite import Running, running

AGENT = "ada"


@pytest.fixture
async def suite(tmp_path: Path) -> AsyncIterator[Running]:
    # Its log would be taken for the commands' output, as all of it is one process.
    with capture_logs():
        async with running(tmp_path / "data") as made:
            yield made


@pytest.fixture
async def client(suite: Running) -> AsyncIterator[palimpsest.AsyncClient]:
    """Of an agent with the conversations c0 to c3."""
    async with palimpsest.AsyncClient(f"127.0.0.1:{suite.port}", api_key=suite.operator, agent=AGENT) as made:
        await made.create_agent()
        for place in range(4):
            await made.create_conversation(f"c{place}")
        yield made


async def test_branches_are_made_merged_split_and_renamed_by_any_of_their_names(
    client: palimpsest.AsyncClient,
) -> None:
    for place in range(3):
        boat = await client.link_conversation(f"c{place}", "Narrow Boat", relevance=0.5)
    ship = await client.link_conversation("c3", "Ocean liner")
    assert (boat.slug, boat.state, boat.conversation_count) == ("narrow-boat", "growing", 3)
    merged = await client.merge_branches("narrow boat", ship.id)
    assert (merged.id, merged.aliases, merged.conversation_count) == (ship.id, ("narrow-boat",), 4)
    assert [one.id async for one in client.theme_branches(states=["growing"])] == [ship.id]
    links = [one async for one in client.branch_conversations("NARROW BOAT", page_size=2)]
    assert [(one.conversation_id, one.relevance, one.by_hand) for one in links] == [
        *((f"c{place}", 0.5, True) for place in range(3)),
        ("c3", 1.0, True),
    ]
    apart = await client.undo_branch_merge("narrow boat")
    assert (apart.id, apart.conversation_count) == (boat.id, 3)
    renamed = await client.rename_branch(boat.id, "Barges")
    assert (renamed.name, renamed.aliases) == ("Barges", ("narrow-boat",))
    split = await client.split_branch("barges", "Coal barges", ["c0"])
    assert (split.branch.conversation_count, split.remaining.conversation_count) == (1, 2)
    details = await client.theme_branch("narrow boat")
    assert [one.kind for one in details.events] == ["split", "renamed", "unmerged", "merged", "created"]


async def test_near_synonyms_are_proposed_with_evidence_and_decided(client: palimpsest.AsyncClient) -> None:
    await client.link_conversation("c0", "car")
    await client.link_conversation("c1", "automobile")
    (proposal,) = [one async for one in client.merge_proposals()]
    assert {proposal.branch.slug, proposal.into.slug} == {"car", "automobile"}
    assert proposal.cosine is not None
    assert proposal.cosine > 0.7
    done = await client.resolve_merge_proposal(proposal.id, accept=True)
    assert (done.state, done.into.conversation_count) == ("merged", 2)
    assert [one async for one in client.merge_proposals()] == []


async def test_what_is_no_name_is_refused(client: palimpsest.AsyncClient) -> None:
    """SPEC X-1."""
    for name in ("", "...", "x" * 10_240, "a\0b"):
        with pytest.raises(errors.InvalidFieldError):
            await client.link_conversation("c0", name)
    assert (await client.link_conversation("c0", "🚀")).slug == "🚀"
    with pytest.raises(errors.NotFoundError):
        await client.link_conversation("c9", "x")
    with pytest.raises(errors.NotFoundError):
        await client.theme_branch("x")
    with pytest.raises(errors.InvalidFieldError):
        await client.merge_branches("🚀", "🚀")


async def test_a_reader_reads_and_another_tenant_sees_nothing(
    suite: Running, client: palimpsest.AsyncClient
) -> None:
    await client.link_conversation("c0", "barge")
    target = f"127.0.0.1:{suite.port}"
    reader = await suite.key(Role.READER)
    async with palimpsest.AsyncClient(target, api_key=reader, agent=AGENT) as other:
        assert (await other.theme_branch("barge")).branch.conversation_count == 1
        with pytest.raises(errors.NotAllowedError):
            await other.rename_branch("barge", "boat")
    stranger = await suite.key(Role.WRITER, tenant="other")
    async with palimpsest.AsyncClient(target, api_key=stranger, agent=AGENT) as other:
        with pytest.raises(errors.NotFoundError):
            await other.theme_branch("barge")
        with pytest.raises(errors.NotFoundError):
            assert [one async for one in other.theme_branches()]


async def test_the_command_lists_and_changes_branches(suite: Running, client: palimpsest.AsyncClient) -> None:
    environment = {
        "PALIMPSEST_TARGET": client.target,
        "PALIMPSEST_API_KEY": suite.operator,
        "PALIMPSEST_AGENT": AGENT,
    }

    async def run(*arguments: str) -> str:
        result = await asyncio.to_thread(CliRunner().invoke, main, ["graph", *arguments], env=environment)
        assert result.exit_code == 0, result.output
        return result.output

    await run("link", "c0", "Car")
    await run("link", "c1", "Automobile", "--relevance", "0.5")
    assert "'" in await run("proposals")
    (proposal,) = json.loads(await run("proposals", "--json"))
    assert "rejected" in await run("resolve", proposal["id"], "--reject")
    assert "2 conversations, also automobile" in await run("merge", "automobile", "car")
    assert "Automobile: seedling, 1 conversation" in await run("unmerge", "automobile")
    assert "also automobile" in await run("rename", "automobile", "Motor car")
    await run("split", "car", "Race car", "c0")
    listed = json.loads(await run("list", "--json"))
    assert [one["slug"] for one in listed] == ["car", "motor-car", "race-car"]
    shown = await run("show", "automobile")
    assert "c1  0.50  by hand" in shown
    assert "renamed" in shown
