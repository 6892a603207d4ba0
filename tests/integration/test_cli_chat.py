"""`palimpsest chat` as a process, reading from a pipe (SPEC G-4, E-11)."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from palimpsest.common.v1 import resources_pb2
from palimpsest.gateway.v1 import memories_pb2
from palimpsest.history.v1 import history_pb2

from tests.integration.chat_suite import ChatSuite, chat_suite, interruption, words
from tests.integration.embedded_suite import AGENT
from tests.scripted_model import Reply, events, stream, texts

pytestmark = pytest.mark.asyncio(loop_scope="module")
FIGURES = {"prompt_tokens": 21, "completion_tokens": 4}
SECONDS = 60


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ChatSuite]:
    async with chat_suite(tmp_path_factory.mktemp("chat") / "data") as made:
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def suite(shared: ChatSuite) -> ChatSuite:
    shared.reset()
    return shared


async def start(suite: ChatSuite, *arguments: str) -> asyncio.subprocess.Process:
    """The command, its input a pipe."""
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "palimpsest", "chat", *arguments, "--agent", AGENT),
        *("--target", f"127.0.0.1:{suite.running.port}"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=os.environ | {"PALIMPSEST_API_KEY": suite.running.operator, "CHAT_KEY": "k3y"},
        # As at a terminal: where tests run in the background, children would be born to ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


async def run(suite: ChatSuite, lines: str, *arguments: str) -> tuple[int, str, str]:
    """Exit code, output and errors of the command with these lines."""
    process = await start(suite, *arguments)
    async with asyncio.timeout(SECONDS):
        out, error = await process.communicate(lines.encode())
    return process.returncode or 0, out.decode(), error.decode()


async def test_lines_of_a_pipe_are_answered_one_after_the_other(suite: ChatSuite) -> None:
    suite.model.script = [stream("Gr", "ey."), stream("Because.")]
    code, out, error = await run(
        suite, "Which colour?\n\nWhy?\n/quit\nNever sent.\n", "new", "--author", "Ann"
    )
    assert (code, out, error) == (0, "Grey.\nBecause.\n", "")
    assert [words(message) for message in await suite.said("new")] == [
        "Which colour?",
        "Grey.",
        "Why?",
        "Because.",
    ]
    assert (await suite.said("new"))[0].author == "Ann"


async def test_memory_shows_what_was_recalled(suite: ChatSuite) -> None:
    await suite.stub.Remember(
        memories_pb2.RememberRequest(agent_id=AGENT, key="heron.food", value="The heron eats frogs.")
    )
    suite.model.script = [stream("Frogs.")]
    _, out, _ = await run(suite, "/memory\nWhat does the heron eat?\n/memory\n", "recalling")
    assert out == "nothing was recalled\nFrogs.\nmemory heron.food: The heron eats frogs.\n"


async def test_an_endpoint_of_ones_own_is_asked_around_the_memory(suite: ChatSuite) -> None:
    suite.model.script = [stream("fi", "sh", usage=FIGURES), stream("Yes.", usage=FIGURES)]
    code, out, error = await run(
        suite,
        "What does it eat?\nSure?\n",
        *("own", "--url", suite.model.url, "--model", "mine-1", "--key-env", "CHAT_KEY"),
    )
    assert (code, out, error) == (0, "fish\nYes.\n", "")
    assert [words(message) for message in await suite.said("own")] == [
        "What does it eat?",
        "fish",
        "Sure?",
        "Yes.",
    ]
    assert [asked.body["model"] for asked in suite.model.asked] == ["mine-1"] * 2
    assert suite.model.asked[0].headers["authorization"] == "Bearer k3y"
    usage = await suite.stub.GetUsage(history_pb2.GetUsageRequest(agent_id=AGENT, conversation_id="own"))
    assert [(row.calls, row.input_tokens) for row in usage.rows] == [(2, 42)]


@pytest.mark.parametrize("own", [False, True], ids=["suite", "endpoint"])
async def test_an_interrupt_keeps_what_came(suite: ChatSuite, own: bool) -> None:
    place = f"interrupted-{own}"
    suite.model.script = [events(texts(["The heron"]), hang=True), stream("Frogs.")]
    process = await start(suite, place, *(["--url", suite.model.url, "--model", "m"] if own else []))
    assert process.stdin
    assert process.stdout
    process.stdin.write(b"What does it eat?\n")
    async with asyncio.timeout(SECONDS):
        assert await process.stdout.readexactly(9) == b"The heron"
        process.send_signal(signal.SIGINT)
        out, error = await process.communicate(b"Go on.\n")
    assert (process.returncode, out.decode(), error.decode()) == (0, "Frogs.\n", "\n(interrupted)\n")
    stored = await suite.said(place)
    assert [words(message) for message in stored] == ["What does it eat?", "The heron", "Go on.", "Frogs."]
    assert interruption(stored[1]) == resources_pb2.INTERRUPTION_CAUSE_READER_LEFT


async def test_failures_are_one_line(suite: ChatSuite) -> None:
    suite.model.script = [Reply(status=404)] * 8
    code, out, error = await run(suite, "What?\nAnd?\n", "failing", "--url", suite.model.url, "--model", "m")
    assert (code, out, error) == (1, "", "error: The model's endpoint refused the request.\n")
    code, _, error = await run(suite, "", "failing", "--url", "ftp://x", "--model", "m")
    assert (code, error.count("\n")) == (1, 1)
    assert "url" in error
    code, _, error = await run(suite, "", "failing", "--url", suite.model.url)
    assert (code, error) == (1, "error: --url needs --model\n")
    code, _, error = await run(
        suite, "", "failing", "--url", suite.model.url, "--model", "m", "--key-env", "NOT_SET"
    )
    assert (code, error) == (1, "error: the environment variable NOT_SET is not set\n")
