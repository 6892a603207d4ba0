"""`palimpsest usage`, budgets in `palimpsest settings`, and the client's calls (SPEC G-5, E-11, G-12)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
import pytest_asyncio
from click.testing import CliRunner, Result
from structlog.testing import capture_logs

import palimpsest
from palimpsest import models
from palimpsest.cli.main import main
from services.gateway.chats import ChatChoices
from services.kit.identity import Role
from services.kit.models.settings import ModelSettings
from services.kit.times import now
from tests.integration.chat_suite import tier
from tests.integration.embedded_suite import Running, running
from tests.scripted_model import ScriptedModel, scripted_model, stream

pytestmark = pytest.mark.asyncio(loop_scope="module")
Run = Callable[..., Awaitable[Result]]
PRICES = '{"standard": {"input": 1000, "output": 10000}}'


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def model() -> AsyncIterator[ScriptedModel]:
    async with scripted_model() as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def suite(tmp_path_factory: pytest.TempPathFactory, model: ScriptedModel) -> AsyncIterator[Running]:
    # Its log would be taken for the commands' output, as all of it is one process.
    with capture_logs(), pytest.MonkeyPatch.context() as environment:
        environment.setenv("PALIMPSEST_GATEWAY_LIMIT_PRICES", PRICES)
        environment.setenv("PALIMPSEST_GATEWAY_LIMIT_CONCURRENT_STREAMS", "9")
        chat = ChatChoices(models=ModelSettings(standard=tier(model)))
        async with running(tmp_path_factory.mktemp("suite") / "data", chat=chat) as made:
            yield made


@pytest_asyncio.fixture(loop_scope="module")
async def client(suite: Running, request: pytest.FixtureRequest) -> AsyncIterator[palimpsest.AsyncClient]:
    """An admin's, of a tenant of its own with the agent "ada"."""
    secret = await suite.key(Role.ADMIN, request.node.name)
    async with palimpsest.AsyncClient(f"127.0.0.1:{suite.port}", api_key=secret, agent="ada") as made:
        await made.create_agent()
        await made.create_conversation("c")
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def run(
    suite: Running, client: palimpsest.AsyncClient, tmp_path: Path, request: pytest.FixtureRequest
) -> Run:
    environment = {
        "PALIMPSEST_TARGET": client.target,
        "PALIMPSEST_API_KEY": await suite.key(Role.ADMIN, request.node.name),
        "PALIMPSEST_DATA": str(tmp_path / "none"),
    }

    async def call(*arguments: str) -> Result:
        return await asyncio.to_thread(CliRunner(env=environment).invoke, main, arguments)

    return call


def words(result: Result) -> list[str]:
    assert result.exit_code == 0, result.output
    return [" ".join(line.split()) for line in result.stdout.splitlines()]


async def test_budgets_are_set_shown_and_cleared(run: Run) -> None:
    """G-12: money in the currency, not in its millionths."""
    flags = ("--requests-per-minute", "600", "--spend-per-day", "2.5", "--concurrent-streams", "0")
    shown = words(await run("settings", "set", *flags))
    assert shown[5:] == [
        "requests-per-minute 600 set here",
        "spend-per-day 2.5 set here",
        "concurrent-streams 0 set here",
        "revision 1",
    ]
    assert "spend-per-day 2.5 the tenant's" in words(await run("settings", "get", "--agent", "ada"))
    shown = words(await run("settings", "set", "--unset", "spend-per-day", "--tokens-per-minute", "5"))
    assert [line.split()[0] for line in shown[5:-1]] == [
        "requests-per-minute",
        "tokens-per-minute",
        "concurrent-streams",
    ]
    changed = (await run("settings", "changes")).stdout.splitlines()
    assert "tokens-per-minute - → 5, spend-per-day 2.5 → -" in changed[0]
    refused = await run("settings", "set", "--concurrent-streams", "10")
    assert refused.exit_code == 1
    assert "only an operator may raise concurrent_streams" in refused.stderr
    agent = await run("settings", "set", "--agent", "ada", "--tokens-per-minute", "10")
    assert "an agent has no budgets" in agent.stderr


async def test_usage_tells_what_models_took_and_what_is_left(
    run: Run, client: palimpsest.AsyncClient, model: ScriptedModel
) -> None:
    """G-5, E-11: of the tenant with its limits; of an agent, also what was recorded for it elsewhere."""
    assert words(await run("usage")) == [
        "no calls of models",
        "concurrent-streams 9 9 left (the deployment's)",
    ]
    await client.update_settings(
        models.Settings(budgets=models.Budgets(spend_per_day_micros=50_000)), tenant=True
    )
    model.script = [stream("fish", usage={"prompt_tokens": 1200, "completion_tokens": 5})]
    async for _ in client.chat("c", "What does it eat?"):
        pass
    today = now().date()
    [head, row, money, streams] = words(await run("usage", "--days", "1"))
    assert head == "day tier calls estimated input output spend model"
    assert row == f"{today} standard 1 0 % 1,200 5 1.2500 asked-1"
    assert money.startswith("spend-per-day 0.0500 -1.2000 left, again in ")
    assert streams == "concurrent-streams 9 9 left (the deployment's)"
    await client.record_usage("other", ("some words", "more of them"), tier="fast", conversation_id="c")
    of_agent = words(await run("usage", "--agent", "ada"))
    assert f"{today} standard 1 0 % 1,200 5 - asked-1" in of_agent
    assert any(line.startswith(f"{today} fast 1 100 %") and line.endswith("- other") for line in of_agent)
    assert len(of_agent) == 3
    found = json.loads((await run("usage", "--json")).stdout)
    assert found["rows"][0]["spend_micros"] == 1_250_000
    assert [one["name"] for one in found["limits"]] == ["spend_per_day_micros", "concurrent_streams"]


async def test_a_command_over_the_budget_says_when_to_come_back(run: Run) -> None:
    await run("settings", "set", "--requests-per-minute", "1")
    await run("usage")
    refused = await run("usage")
    assert refused.exit_code == 1
    assert refused.stderr.startswith("error: over the budget requests_per_minute — again in 0:0")


async def test_the_client_has_the_same(client: palimpsest.AsyncClient) -> None:
    budgets = models.Budgets(requests_per_minute=1, request_burst=4, tokens_per_minute=0)
    changed = await client.update_settings(models.Settings(budgets=budgets), tenant=True)
    assert changed.effective.budgets == budgets
    await client.update_settings(models.Settings(), ["budgets.tokens_per_minute"], tenant=True)
    assert await client.model_spend(days=1) == []
    assert [(one.name, one.most, one.left, one.own) for one in await client.limits()] == [
        ("requests_per_minute", 1, 1, True),
        ("concurrent_streams", 9, 9, False),
    ]
    with pytest.raises(palimpsest.errors.RateLimitedError) as caught:
        for _ in range(3):
            await client.limits()
    assert caught.value.metadata == {"limit": "requests_per_minute"}
    assert caught.value.retry_after
