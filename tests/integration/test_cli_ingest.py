"""`palimpsest ingest`: all or nothing, lines named, again without doubling."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from click.testing import CliRunner, Result
from palimpsest.common.v1 import resources_pb2

from palimpsest.cli.main import main
from tests.integration.fake_gateway import DOWN, FakeGateway, Fault, serving_fake

Run = Callable[..., Result]
EXAMPLE = Path(__file__).parents[2] / "examples" / "conversation.jsonl"


@pytest.fixture
def gateway() -> Iterator[FakeGateway]:
    with serving_fake() as fake:
        yield fake


@pytest.fixture
def run(gateway: FakeGateway, tmp_path: Path) -> Run:
    def call(*arguments: object) -> Result:
        environment = {
            "PALIMPSEST_TARGET": gateway.target,
            "PALIMPSEST_API_KEY": gateway.api_key,
            "PALIMPSEST_DATA": str(tmp_path / "none"),
        }
        return CliRunner(env=environment).invoke(main, ["ingest", *map(str, arguments)])

    return call


def lines(*messages: Any) -> str:
    return "".join((m if isinstance(m, str) else json.dumps(m)) + "\n" for m in messages)


def say(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, **more}


def texts(gateway: FakeGateway, conversation: str) -> list[str]:
    return [message.parts[0].text for message in gateway.stored[conversation]]


def failed(result: Result) -> str:
    assert result.exit_code == 1, result.output
    [line] = result.stderr.splitlines()
    return line


def test_the_example_goes_in_once_and_again_adds_nothing(run: Run, gateway: FakeGateway) -> None:
    count = len(EXAMPLE.read_text("utf-8").splitlines())
    first = run(EXAMPLE, "--agent", "ada", "--contact", "mailto:marta@example.org", "--wait")
    assert (
        first.stdout == f"{count} messages in conversation conversation of agent ada, {count} of them new\n"
    )
    assert first.stderr == ""
    assert gateway.conversations["conversation"].contact_id == "contact-1"
    assert gateway.requests("RecallConversation")[0].wait_for[0].messages.sequence == count
    again = json.loads(run(EXAMPLE, "--agent", "ada", "--json").stdout)
    assert (again["message_count"], again["created_count"], again["bad_count"]) == (count, 0, 0)
    assert again["conversation_ids"] == ["conversation"]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ('{"role": "user", "content"', ""),
        (json.dumps({"content": "no role"}), "missing role"),
        (json.dumps(say("x", author="a" * 129)), "author is over 128 characters"),
        (json.dumps(say("x", id="with blank")), "id must be"),
        (json.dumps(say("x" * 32769)), "a text is over 32768 bytes"),
    ],
)
def test_a_bad_line_is_named_and_nothing_is_stored(
    run: Run, gateway: FakeGateway, tmp_path: Path, bad: str, reason: str
) -> None:
    file = tmp_path / "talk.jsonl"
    file.write_text(lines(*(say(f"m{n}") for n in range(300)), bad, say("after")))
    line = failed(run(file))
    assert line.startswith(f"error: {file}:301: ")
    assert reason in line
    assert not gateway.calls


def test_bad_lines_are_left_out_on_request(run: Run, gateway: FakeGateway, tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    file.write_text(lines(say("one"), "{", say("two"), {"role": "user"}, say("three")))
    done = run(file, "--skip-bad")
    assert done.exit_code == 0
    assert (
        "3 messages in conversation talk of agent default, 3 of them new, 2 bad ones left out" in done.stdout
    )
    assert [line.split(": ")[1] for line in done.stderr.splitlines()] == [f"{file}:2", f"{file}:4"]
    assert texts(gateway, "talk") == ["one", "two", "three"]


def test_a_longer_text_where_the_suite_allows_it(run: Run, gateway: FakeGateway, tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    file.write_text(lines(say("x" * 40000)))
    assert run(file, "--max-text-bytes", 65536).exit_code == 0
    assert len(texts(gateway, "talk")[0]) == 40000


@pytest.mark.parametrize("content", ["", "\n\n"])
def test_a_file_without_messages(run: Run, gateway: FakeGateway, tmp_path: Path, content: str) -> None:
    file = tmp_path / "talk.jsonl"
    file.write_text(content)
    assert "no messages" in failed(run(file))
    assert not gateway.calls


def test_only_bad_lines(run: Run, gateway: FakeGateway, tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    file.write_text("{\n")
    done = run(file, "--skip-bad")
    assert done.exit_code == 1
    assert done.stderr.splitlines()[-1] == f"error: {file}: no messages to store"
    assert not gateway.calls


def test_a_missing_file_is_wrong_usage(run: Run, tmp_path: Path) -> None:
    assert run(tmp_path / "none.jsonl").exit_code == 2


def test_several_conversations_of_one_file(run: Run, gateway: FakeGateway, tmp_path: Path) -> None:
    file = tmp_path / "my chats!.jsonl"
    chats = [{"id": f"chat {n}", "messages": [say(f"a{n}"), say(f"b{n}")]} for n in range(40)]
    file.write_text(lines(*chats))
    names = json.loads(run(file, "--conversation", "import", "--json").stdout)["conversation_ids"]
    assert len(set(names)) == 40
    assert all(name.startswith("import:chat-") for name in names)
    assert [texts(gateway, name) for name in names] == [[f"a{n}", f"b{n}"] for n in range(40)]
    assert run(file, "--conversation", "import").stdout.startswith("80 messages in 40 conversations")
    assert sum(len(stored) for stored in gateway.stored.values()) == 80


def test_an_interrupted_ingest_goes_on(run: Run, gateway: FakeGateway, tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    file.write_text(lines(*(say(f"m{n}") for n in range(950))))
    gateway.faults["chunk"].extend([None, None, None, *[DOWN] * 20])
    assert "scripted" in failed(run(file))
    stored = len(gateway.stored["talk"])
    assert 0 < stored < 950
    gateway.faults["chunk"].clear()
    done = json.loads(run(file, "--json").stdout)
    assert (done["message_count"], done["created_count"]) == (950, 950 - stored)
    assert texts(gateway, "talk") == [f"m{n}" for n in range(950)]


def test_what_the_service_refuses_is_named_by_its_line(
    run: Run, gateway: FakeGateway, tmp_path: Path
) -> None:
    file = tmp_path / "talk.jsonl"
    file.write_text("\n" + lines(*(say(f"m{n}") for n in range(250))))
    refused = Fault(
        code=grpc.StatusCode.INVALID_ARGUMENT,
        reason="INVALID_FIELD",
        field="chunk.messages[7].parts[0].text",
        message="not like this",
    )
    gateway.faults["chunk"].extend([None, *[refused] * 9])
    assert failed(run(file)) == f"error: {file}:109: not like this"


def test_jobs_that_were_given_up_end_the_wait(run: Run, gateway: FakeGateway, tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    file.write_text(lines(say("one")))
    pending = resources_pb2.Unindexed(state=resources_pb2.UNINDEXED_STATE_PENDING)
    dead = resources_pb2.Unindexed(state=resources_pb2.UNINDEXED_STATE_DEAD)
    gateway.unindexed.extend([[pending], [dead]])
    assert "jobs were given up" in failed(run(file, "--wait"))
    assert texts(gateway, "talk") == ["one"]
    assert len(gateway.requests("RecallConversation")) == 2
