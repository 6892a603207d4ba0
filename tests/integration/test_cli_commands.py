"""The commands against a gateway over a socket: output, exit codes, and errors in one line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import grpc
import pytest
from click.testing import CliRunner, Result

from palimpsest.cli.main import COMMANDS, main
from tests.integration.fake_gateway import FakeGateway, Fault, serving_fake

Run = Callable[..., Result]


@pytest.fixture
def gateway() -> Iterator[FakeGateway]:
    with serving_fake() as fake:
        yield fake


@pytest.fixture
def run(gateway: FakeGateway, tmp_path: Path) -> Run:
    """Runs the command line against the gateway, in an environment of its own."""

    def call(*arguments: str, **environment: str | None) -> Result:
        defaults = {
            "PALIMPSEST_TARGET": gateway.target,
            "PALIMPSEST_API_KEY": gateway.api_key,
            "PALIMPSEST_DATA": str(tmp_path / "none"),
        }
        return CliRunner(env={**defaults, **environment}).invoke(main, arguments)

    return call


def failed(result: Result) -> str:
    """The one line on standard error of a command that failed."""
    assert result.exit_code == 1, result.output
    [line] = result.stderr.splitlines()
    assert result.stdout == ""
    return line


def test_help_names_every_command_and_every_command_has_help(run: Run) -> None:
    shown = run("--help")
    assert shown.exit_code == 0
    for name in COMMANDS:
        assert f"\n  {name}" in shown.stdout
        assert run(name, "--help").exit_code == 0
    assert run("--version").stdout.startswith("palimpsest 0")


def test_wrong_usage_is_exit_code_2(run: Run, gateway: FakeGateway) -> None:
    for arguments in (
        ["nonsense"],
        ["recall"],
        ["recall", "x", "--limit", "0"],
        ["forget"],
        ["recall", "x", "--mode", "keyword"],
        ["remember", "k", "v", "--type", "rumour"],
    ):
        assert run(*arguments).exit_code == 2, arguments
    assert not gateway.calls


def test_remember_recall_list_forget(run: Run, gateway: FakeGateway) -> None:
    assert "remembered: tea" in run("remember", "tea", "green, no sugar", "--type", "preference").stdout
    assert set(gateway.agents) == {"default"}
    assert "already known: tea" in run("remember", "tea", "green, no sugar", "--type", "preference").stdout

    found = run("recall", "what tea?", "--explain")
    assert "1. tea  green, no sugar" in found.stdout
    assert "vector rank 1" in found.stdout
    assert "warning: the channel keyword gave nothing: timed out" in found.stderr

    listed = json.loads(run("memories", "--json").stdout)
    assert [(each["key"], each["fact_type"]) for each in listed] == [("tea", "preference")]
    assert "tea  green, no sugar" in run("memories").stdout

    assert run("forget", "tea").stdout == "forgotten: tea (1 version)\n"
    assert failed(run("forget", "tea")) == "error: no such memory: tea"


def test_json_of_recall(run: Run) -> None:
    run("remember", "tea", "grön 茶")
    document = json.loads(run("recall", "tea", "--json").stdout)
    assert document["hits"][0]["memory"]["value"] == "grön 茶"
    assert document["hits"][0]["explanation"]["channels"][0]["channel"] == "vector"


def test_a_contact_is_an_id_or_an_identity(run: Run, gateway: FakeGateway) -> None:
    run("recall", "x", "--contact", "telegram:123")
    run("recall", "x", "--contact", "c42")
    assert [request.contact_id for request in gateway.requests("Recall")] == ["contact-1", "c42"]
    assert [request.identity for request in gateway.requests("ResolveContact")] == ["telegram:123"]


def test_the_agent_comes_from_the_option_or_the_environment(run: Run, gateway: FakeGateway) -> None:
    run("recall", "x", "--agent", "ada")
    run("recall", "x", PALIMPSEST_AGENT="bob")
    assert [request.agent_id for request in gateway.requests("Recall")] == ["ada", "bob"]


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("text", "prompt: hi\n"),
        ("openai", [{"role": "user", "content": "hi"}]),
        ("anthropic", {"system": "be kind", "messages": [{"role": "user", "content": "hi"}]}),
    ],
)
def test_the_prompt_in_every_form(run: Run, gateway: FakeGateway, form: str, expected: object) -> None:
    shown = run("prompt", "hi", "--conversation", "c", "--format", form, "--budget", "500").stdout
    assert (shown if form == "text" else json.loads(shown)) == expected
    assert gateway.requests("AssemblePrompt")[0].budget_tokens == 500


def test_layers_of_the_prompt(run: Run) -> None:
    lines = run("prompt", "hi", "--conversation", "c", "--format", "layers").stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["message", "total"]


def test_status(run: Run, gateway: FakeGateway) -> None:
    assert f"palimpsest 0.1.0, embedded, at {gateway.target}" in run("status").stdout
    document = json.loads(run("status", "--json").stdout)
    assert (document["model_name"], document["jobs"]["dead"]) == ("mini", 0)


def test_jobs(run: Run, gateway: FakeGateway) -> None:
    assert run("jobs", "list", "--state", "dead").stdout.split()[:2] == ["j1", "dead"]
    assert run("jobs", "retry", "j7").stdout == "j7 is queued\n"
    assert json.loads(run("jobs", "cancel", "j7", "--json").stdout)["state"] == "cancelled"
    watched = run("jobs", "watch", "--until-idle")
    assert "0 left, 0 dead, 1 done" in watched.stdout
    assert "ada/conversations/c/messages/1" in watched.stdout


def test_no_suite(run: Run, unused_tcp_port: int) -> None:
    target = f"127.0.0.1:{unused_tcp_port}"
    line = failed(run("status", "--target", target))
    assert line == f"error: no suite is running at {target} — start one with `palimpsest up`"


def test_a_wrong_key(run: Run, gateway: FakeGateway) -> None:
    line = failed(run("status", PALIMPSEST_API_KEY="pk_wrong"))
    assert "does not accept the API key" in line
    assert "pk_wrong" not in line


def test_a_bad_field_is_named(run: Run, gateway: FakeGateway) -> None:
    gateway.faults["Recall"].append(
        Fault(
            code=grpc.StatusCode.INVALID_ARGUMENT,
            reason="INVALID_FIELD",
            field="query",
            message="at most 1024 bytes",
        )
    )
    assert failed(run("recall", "x")) == "error: query: at most 1024 bytes"


def test_the_suite_over_a_data_folder_is_found(run: Run, gateway: FakeGateway, tmp_path: Path) -> None:
    import os

    data = tmp_path / "data"
    data.mkdir()
    (data / "endpoint.json").write_text(json.dumps({"target": gateway.target, "pid": os.getpid()}))
    (data / "api-key").write_text(gateway.api_key + "\n")
    found = run("status", "--data", str(data), PALIMPSEST_TARGET=None, PALIMPSEST_API_KEY=None)
    assert gateway.target in found.stdout
    found = run("status", PALIMPSEST_DATA=str(data), PALIMPSEST_TARGET=None, PALIMPSEST_API_KEY=None)
    assert gateway.target in found.stdout
