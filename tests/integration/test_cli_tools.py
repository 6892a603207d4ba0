"""`palimpsest tools` and `palimpsest mcp`, and a chat whose model uses them (SPEC G-4, G-6, G-10)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from pathlib import Path

import pytest
import pytest_asyncio
from click.testing import CliRunner, Result
from structlog.testing import capture_logs

import palimpsest
from palimpsest.cli.main import main
from palimpsest.models import ToolCallFinished, TurnFinished
from services.gateway.chats import ChatChoices
from services.kit.models.settings import ModelSettings
from tests.integration.chat_suite import tier
from tests.integration.embedded_suite import Running, running
from tests.scripted_model import ScriptedModel, called, calls, scripted_model, stream

pytestmark = pytest.mark.asyncio(loop_scope="module")
Run = Callable[..., Awaitable[Result]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def model() -> AsyncIterator[ScriptedModel]:
    async with scripted_model() as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def suite(model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    """With a model and its own tools. Its log would be taken for the commands' output."""
    choices = ChatChoices(models=ModelSettings(standard=tier(model)))
    with capture_logs():
        async with running(tmp_path_factory.mktemp("suite") / "data", chat=choices) as made:
            yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(suite: Running) -> AsyncIterator[palimpsest.AsyncClient]:
    async with palimpsest.AsyncClient(f"127.0.0.1:{suite.port}", api_key=suite.operator, agent="ada") as made:
        await made.create_agent()
        await made.create_conversation("c")
        yield made


@pytest.fixture
def run(suite: Running, client: palimpsest.AsyncClient, tmp_path: Path) -> Run:
    environment = {
        "PALIMPSEST_TARGET": client.target,
        "PALIMPSEST_API_KEY": suite.operator,
        "PALIMPSEST_AGENT": client.agent,
        "PALIMPSEST_DATA": str(tmp_path / "none"),
    }

    async def call(*arguments: str) -> Result:
        return await asyncio.to_thread(CliRunner(env=environment).invoke, main, arguments)

    return call


async def test_tools_are_listed_for_people_and_for_apis(run: Run) -> None:
    listed = (await run("tools", "list", "c")).stdout.splitlines()
    assert "remember(key, value, [category])  writes" in listed
    assert "get_ongoing_task()" in listed
    made = json.loads((await run("tools", "list", "c", "--format", "anthropic")).stdout)
    assert {"name", "description", "input_schema"} == set(made[0])
    plain = json.loads((await run("tools", "list", "c", "--json")).stdout)
    assert [one["name"] for one in plain] == [one["name"] for one in made]


async def test_a_tool_is_run_and_its_exit_status_tells(run: Run) -> None:
    given = json.dumps({"key": "tea", "value": "Green tea."})
    assert "Remembered." in (await run("tools", "call", "c", "remember", given)).stdout
    found = json.loads((await run("tools", "call", "c", "recall", '{"key": "tea"}', "--json")).stdout)
    assert found["structured"]["value"] == "Green tea."
    bad = await run("tools", "call", "c", "remember", "{}")
    assert bad.exit_code == 1
    assert "key: is required" in bad.stdout
    for arguments, said in (("[1]", "must be a JSON object"), ("{", "no JSON")):
        refused = await run("tools", "call", "c", "recall", arguments)
        assert refused.exit_code == 1
        assert said in refused.stderr
    assert "no such conversation: d" in (await run("tools", "list", "d")).stderr


async def test_a_chat_uses_them(model: ScriptedModel, client: palimpsest.AsyncClient) -> None:
    """G-4: what the model remembers in a chat is remembered, and what it looks up is what was."""
    remember = {"key": "ann.bird", "value": "Ann watches herons."}
    model.script = [
        calls(called(0, "remember", json.dumps(remember)), called(1, "recall", '{"key": "ann.bird"}')),
        stream("I will remember that."),
    ]
    async with aclosing(client.chat("c", "I watch herons.")) as events:
        seen = [event async for event in events]
    results = [one for one in seen if isinstance(one, ToolCallFinished)]
    assert [one.is_error for one in results] == [False, False]
    assert "Ann watches herons." in results[1].preview
    assert isinstance(seen[-1], TurnFinished)
    assert (await client.memory("ann.bird")).source == "explicit"
    offered = [one["function"]["name"] for one in model.asked[0].body["tools"]]
    assert offered == [one.name for one in await client.list_tools("c")]
