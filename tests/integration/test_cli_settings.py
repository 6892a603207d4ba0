"""`palimpsest settings` and the client's calls, against a whole suite (SPEC G-12, S-15)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import grpc
import pytest
import pytest_asyncio
from click.testing import CliRunner, Result
from palimpsest.settings.v1 import policy_pb2, policy_pb2_grpc
from structlog.testing import capture_logs

import palimpsest
from palimpsest import models
from palimpsest.cli.main import main
from services.kit.identity import Principal, Role, TokenSigner
from services.kit.times import now
from tests.integration.embedded_suite import Keyed, Running, running

pytestmark = pytest.mark.asyncio(loop_scope="module")
Run = Callable[..., Awaitable[Result]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def suite(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    # Its log would be taken for the commands' output, as all of it is one process.
    with capture_logs():
        async with running(tmp_path_factory.mktemp("suite") / "data") as made:
            yield made


@pytest_asyncio.fixture(loop_scope="module")
async def client(suite: Running, request: pytest.FixtureRequest) -> AsyncIterator[palimpsest.AsyncClient]:
    """An admin's, of a tenant of its own with the agent "ada"."""
    secret = await suite.key(Role.ADMIN, request.node.name)
    async with palimpsest.AsyncClient(f"127.0.0.1:{suite.port}", api_key=secret, agent="ada") as made:
        await made.create_agent()
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
        return await asyncio.to_thread(CliRunner(env=environment).invoke, main, ("settings", *arguments))

    return call


async def failed(result: Awaitable[Result]) -> str:
    done = await result
    assert done.exit_code == 1, done.output
    [line] = done.stderr.splitlines()
    return line


async def test_settings_of_the_tenant_and_of_an_agent_are_set_and_shown(run: Run) -> None:
    shown = await run("set", "--data-flow", "local-only", "--no-verify", "--recall-depth", "40")
    assert [" ".join(line.split()) for line in shown.stdout.splitlines()] == [
        "data-flow local-only set here",
        "provider - the default",
        "verify no set here",
        "fusion - the default",
        "recall-depth 40 set here",
        "revision 1",
    ]
    options = ("--fusion", "reference", "--k", "20", "--weight", "key=2", "--weight", "hyde=0")
    await run("set", "--agent", "ada", "--data-flow", "allow-partner", "--provider", "remote", *options)
    shown = await run("get", "--agent", "ada")
    assert [" ".join(line.split()) for line in shown.stdout.splitlines()] == [
        "data-flow local-only the tenant's; allow-partner is set here",
        "provider remote set here",
        "verify no the tenant's",
        "fusion reference k=20 hyde=0 key=2 set here",
        "recall-depth 40 the tenant's",
        "revision 1",
    ]
    await run("set", "--agent", "ada", "--unset", "fusion", "--unset", "data-flow", "--verify")
    found = json.loads((await run("get", "--agent", "ada", "--json")).stdout)
    assert found["settings"] == {
        "data_flow": None,
        "provider": "remote",
        "verify": True,
        "fusion": None,
        "recall_depth": None,
        "budgets": None,
    }
    listed = (await run("changes", "--agent", "ada")).stdout.splitlines()
    assert [line.split()[0] for line in listed] == ["2", "1"]
    assert "verify - → yes" in listed[0]
    assert "fusion reference k=20 hyde=0 key=2 → -" in listed[0]
    assert len(json.loads((await run("changes", "--json", "--limit", "5")).stdout)) == 1


async def test_what_makes_no_sense_is_one_line(run: Run) -> None:
    assert "nothing to change" in await failed(run("set"))
    assert "both set and unset: verify" in await failed(run("set", "--verify", "--unset", "verify"))
    assert "--fusion reference" in await failed(run("set", "--k", "3"))
    assert "channels are vector" in await failed(run("set", "--fusion", "reference", "--weight", "x=1"))
    assert await failed(run("get", "--agent", "nobody")) == "error: no such agent: nobody"
    await run("set", "--verify")
    assert "not the current one" in await failed(run("set", "--expect", "3", "--verify"))


async def test_the_client_has_the_same(client: palimpsest.AsyncClient) -> None:
    assert await client.settings() == models.SettingsState()
    fusion = models.ReciprocalRank(weights={"remote": 2.0})
    await client.update_settings(models.Settings(verify=False, fusion="adaptive"), tenant=True)
    changed = await client.update_settings(models.Settings(fusion=fusion, recall_depth=20))
    assert changed.settings == models.Settings(fusion=fusion, recall_depth=20)
    assert changed.effective == models.Settings(fusion=fusion, recall_depth=20, verify=False)
    await client.update_settings(models.Settings(), ["fusion"], expected_revision=changed.revision)
    assert (await client.settings()).effective.fusion == "adaptive"
    with pytest.raises(palimpsest.VersionConflictError):
        await client.update_settings(models.Settings(verify=True), expected_revision=1)
    assert [one.paths async for one in client.settings_changes(page_size=1)] == [
        ("fusion",),
        ("fusion", "recall_depth"),
    ]


async def test_texts_that_were_kept_in_are_counted(
    suite: Running, run: Run, client: palimpsest.AsyncClient, request: pytest.FixtureRequest
) -> None:
    """S-15: of this tenant."""
    assert (await run("refusals")).stdout == ""
    today = now().date()
    for tenant, count in ((request.node.name, 1234), ("another", 5)):
        token = TokenSigner(suite.secret).mint(Principal(tenant=tenant, role=Role.SERVICE), "gateway")
        await report(suite, token, today.isoformat(), count)
    assert (await run("refusals")).stdout == f"{today}      1234  hyde\n"
    assert json.loads((await run("refusals", "--json", "--days", "1")).stdout) == [
        {"day": today.isoformat(), "kind": "hyde", "count": 1234}
    ]
    assert await client.data_flow_report(days=1) == [
        models.DataFlowRefusals(day=today, kind="hyde", count=1234)
    ]


async def report(suite: Running, token: str, day: str, count: int) -> None:
    """What a service reports."""
    async with grpc.aio.insecure_channel(f"127.0.0.1:{suite.port}") as channel:
        policy = Keyed(policy_pb2_grpc.PolicyServiceStub(channel), token)
        totals = [policy_pb2.RefusalTotal(day=day, kind="hyde", count=count)]
        await policy.ReportRefusals(policy_pb2.ReportRefusalsRequest(reporter_id="p", totals=totals))
