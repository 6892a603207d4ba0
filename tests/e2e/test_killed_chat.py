"""A gateway that is killed while a tool runs: the turn goes on after a restart (SPEC G-4, W-3)."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx
import pytest

from palimpsest import models
from palimpsest.client import AsyncClient
from palimpsest.errors import UnavailableError
from tests.scripted_model import called, calls, events, scripted_model, stream, texts

SECONDS = 90


@asynccontextmanager
async def process(data: Path, url: str) -> AsyncIterator[tuple[asyncio.subprocess.Process, AsyncClient]]:
    """The suite, and a client of it; killed when it is left, if it still runs."""
    made = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.e2e.chat_process", str(data), url), stdout=asyncio.subprocess.PIPE
    )
    assert made.stdout
    try:
        target, web = (await made.stdout.readline()).decode().split()
        (data / "web").write_text(web)
        async with AsyncClient(target, api_key=(data / "api-key").read_text().strip()) as client:
            yield made, client
    finally:
        with suppress(ProcessLookupError):
            made.kill()
        await made.wait()


async def test_a_turn_that_was_killed_in_a_round_of_tools_goes_on(tmp_path: Path) -> None:
    """The tool that had returned is not run again; the one that ran is; the message is there once."""
    data = tmp_path / "data"
    round_ = calls(called(0, "note", "{}"), called(1, "wait", "{}"), text="Let me see.")
    async with asyncio.timeout(SECONDS), scripted_model() as model:
        model.script = [round_, stream("Done.")]
        async with process(data, model.url) as (suite, client):
            await client.create_agent()
            await client.create_conversation("c")
            telling = client.chat("c", "Note it, and wait.", request_id="r")
            told = [await anext(telling) for _ in range(5)]
            assert isinstance(told[-1], models.ToolCallStarted)
            while not (data / "waiting").exists():  # noqa: ASYNC110 - another process makes it
                await asyncio.sleep(0.02)
            suite.kill()
            with pytest.raises(UnavailableError):
                await anext(telling)
        (data / "go").touch()
        async with process(data, model.url) as (_, client):
            again = [event async for event in client.chat("c", "Note it, and wait.", request_id="r")]
            results = [event for event in again if isinstance(event, models.ToolCallFinished)]
            assert [(result.preview, result.reused) for result in results] == [
                ("noted", True),
                ("waited", False),
            ]
            assert "".join(event.text for event in again if isinstance(event, models.TextDelta)) == "Done."
            assert (data / "noted").read_text() == "noted\n"
            stored = [message async for message in client.messages("c")]
            assert [message.role for message in stored] == ["user", "assistant", "tool", "assistant"]
            assert stored[1].text == "Let me see."
            shown = await client.assemble_prompt("c", "And now?")
            assert "interrupted turn" not in shown.text
        assert len(model.asked) == 2


async def test_a_turn_that_a_stop_in_order_cuts_off_is_stored_and_told(tmp_path: Path) -> None:
    """G-4: SIGTERM has a cause of its own; the caller gets the end of its turn before the connection ends."""
    data = tmp_path / "data"
    async with asyncio.timeout(SECONDS), scripted_model() as model:
        model.script = [events(texts(["The heron "]), hang=True)]
        async with process(data, model.url) as (suite, client):
            await client.create_agent()
            await client.create_conversation("c")
            telling = client.chat("c", "What?", request_id="r")
            told = [await anext(telling) for _ in range(2)]
            assert isinstance(told[-1], models.TextDelta)
            suite.terminate()
            last = [event async for event in telling][-1]
            assert isinstance(last, models.TurnFinished)
            assert last.interruption == models.Interruption(cause="stopped")
            assert await suite.wait() == 0
        async with process(data, model.url) as (_, client):
            stored = [message async for message in client.messages("c")]
            assert stored[-1].parts[-1] == models.Interruption(cause="stopped")
            assert stored[-1].text == "The heron "


async def test_the_same_over_http(tmp_path: Path) -> None:
    """G-10: a stream that changes something ends as other calls do, with its own end."""
    data = tmp_path / "data"
    async with asyncio.timeout(SECONDS), scripted_model() as model:
        model.script = [events(texts(["The heron "]), hang=True)]
        async with process(data, model.url) as (suite, client):
            await client.create_agent()
            await client.create_conversation("c")
            url = f"http://127.0.0.1:{(data / 'web').read_text()}/v1/agents/default/conversations/c:chat"
            key = (data / "api-key").read_text().strip()
            async with (
                httpx.AsyncClient(timeout=SECONDS, trust_env=False) as caller,
                caller.stream(
                    "POST",
                    url,
                    json={"message": {"text": "What?"}},
                    headers={"authorization": f"Bearer {key}"},
                ) as answer,
            ):
                lines = answer.aiter_lines()
                async for line in lines:
                    if "The heron" in line:
                        break
                suite.terminate()
                rest = [line async for line in lines]
            assert [line for line in rest if line.startswith("event: ")] == ["event: finished", "event: end"]
            assert "INTERRUPTION_CAUSE_STOPPED" in str(rest)
