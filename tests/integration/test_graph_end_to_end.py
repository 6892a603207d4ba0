"""Themes and their pages come by themselves: turns make summaries, these branches and pages (J-13, J-14)."""

from __future__ import annotations

import asyncio
from pathlib import Path

from click.testing import CliRunner

import palimpsest
from palimpsest import errors, models
from palimpsest.cli.main import main
from services.compactor.domain.graph import ESTABLISHED_AT
from tests.integration.embedded_suite import AGENT, running
from tests.waiting import until

MESSAGES = 26
"""More than may be without an overlay (E-8): each conversation is summarised."""
GOODS = ["barley", "copper wire", "oak boards", "linen", "salt", "lamp glass", "wool", "tin", "paper", "rope"]


def text(conversation: int, number: int) -> str:
    goods = GOODS[(conversation + number) % len(GOODS)]
    return (
        f"The lighthouse keeper ordered {number * 17} crates of {goods}. We decided to pay on day {number}."
    )


async def test_a_theme_of_many_conversations_grows_and_gets_its_page(tmp_path: Path) -> None:
    async with (
        running(tmp_path / "data") as suite,
        palimpsest.AsyncClient(f"127.0.0.1:{suite.port}", api_key=suite.operator, agent=AGENT) as client,
    ):
        await client.create_agent()
        for place in range(ESTABLISHED_AT):
            await client.create_conversation(f"c{place}")
            messages = [models.NewMessage("user", text(place, number)) for number in range(1, MESSAGES + 1)]
            await client.record_turn(f"c{place}", messages)

        found: list[models.ThemeBranch] = []

        async def grown() -> bool:
            found[:] = [one async for one in client.theme_branches(states=["established"])]
            return any("lighthouse" in one.slug for one in found)

        await until(grown)
        (branch,) = [one for one in found if "lighthouse" in one.slug]
        links = [one async for one in client.branch_conversations(branch.id)]
        assert [one.conversation_id for one in links] == [f"c{place}" for place in range(ESTABLISHED_AT)]
        assert all(0 < one.relevance <= 1 and not one.by_hand for one in links)

        page: list[models.WikiPage] = []

        async def written() -> bool:
            try:
                page[:] = [await client.wiki_page(branch.slug)]
            except errors.NotFoundError:
                return False
            return len(page[0].source_ids) == ESTABLISHED_AT

        await until(written)
        assert page[0].text.startswith(f"# {branch.name}")
        assert any("lighthouse" in one for one in page[0].body["lead"])
        assert {one.partition("@")[0] for one in page[0].source_ids} == {one.conversation_id for one in links}
        environment = {
            "PALIMPSEST_TARGET": client.target,
            "PALIMPSEST_API_KEY": suite.operator,
            "PALIMPSEST_AGENT": AGENT,
        }
        for arguments, expected in (
            (("show", branch.slug), "## Sources"),
            (("versions", branch.id), "wiki-2"),
        ):
            result = await asyncio.to_thread(
                CliRunner().invoke, main, ["wiki", *arguments], env=environment, catch_exceptions=False
            )
            assert result.exit_code == 0
            assert expected in result.output
        versions = [one.version async for one in client.wiki_versions(branch.id)]
        assert versions == list(range(page[0].newest_version, 0, -1))
