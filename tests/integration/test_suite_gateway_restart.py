"""The gateway goes and comes back, and a turn that was interrupted goes on (SPEC E-12, W-3, O-3)."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import AsyncExitStack, aclosing
from pathlib import Path

import pytest

import palimpsest
from palimpsest import models
from palimpsest.models import NewMessage
from services.embedded import compose
from services.gateway.domain.working import STALE_NOTE
from services.kit.metrics import Metrics
from services.kit.serving import listening
from tests.integration.embedded_suite import running

RETRIES = palimpsest.RetryPolicy(max_attempts=50, initial_backoff=0.05, max_backoff=0.2, multiplier=1.5)


async def prepared(client: palimpsest.AsyncClient) -> None:
    await client.create_agent(system_prompt="You are Ada.")
    await client.create_conversation("c")


async def test_a_watch_outlives_the_gateways_socket(tmp_path: Path, unused_tcp_port: int) -> None:
    """What was stored while nobody listened arrives, once and in order."""
    address = f"127.0.0.1:{unused_tcp_port}"
    secret = secrets.token_bytes(32)
    seen: list[str] = []
    noticed = asyncio.Event()
    async with AsyncExitStack() as stack:
        gateway = await compose(tmp_path / "data", secret, Metrics(), stack)
        key = (tmp_path / "data" / "api-key").read_text("utf-8").strip()
        watcher = palimpsest.AsyncClient(address, api_key=key, agent="ada", retries=RETRIES)
        writer = palimpsest.AsyncClient(address, api_key=key, agent="ada", retries=RETRIES)
        for client in (watcher, writer):
            await stack.enter_async_context(client)

        async def watch() -> None:
            async with aclosing(watcher.watch_conversation("c", after_sequence=0)) as events:
                async for event in events:
                    if event.message is not None:
                        seen.append(event.message.text)
                        noticed.set()
                    if len(seen) == 4:
                        return

        async def say(*texts: str) -> None:
            await writer.record_turn("c", [NewMessage("user", text) for text in texts])

        async with listening(gateway, secret, Metrics(), address, drain_seconds=0):
            await prepared(writer)
            watching = asyncio.create_task(watch())
            await say("one", "two")
            async with asyncio.timeout(30):
                await noticed.wait()
        writing = asyncio.create_task(say("three", "four"))
        async with listening(gateway, secret, Metrics(), address, drain_seconds=0), asyncio.timeout(30):
            await writing
            await watching
    assert seen == ["one", "two", "three", "four"]


async def test_an_interrupted_turn_is_in_the_next_prompt_until_it_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W-3, with a turn that counts as stale after a tenth of a second."""
    monkeypatch.setenv("PALIMPSEST_EPISODIC_STALE_SECONDS", "0.1")
    async with (
        running(tmp_path / "data") as suite,
        palimpsest.AsyncClient(
            f"127.0.0.1:{suite.port}", api_key=suite.operator, agent="ada", retries=RETRIES
        ) as client,
    ):
        await prepared(client)
        await client.record_turn("c", [NewMessage("user", "Look!")])
        calls = [
            models.CheckpointedCall(
                call=models.ToolCall(call_id=f"k{n}", name=f"look{n}"),
                result=models.ResultPreview(content=f"heron {n} " + "word " * 100),
            )
            for n in range(30)
        ]
        handle = models.SessionHandle(name="shell", handle="s-1")
        await client.save_checkpoint("c", "t", 1, calls, handles=[handle])
        while not (await client.checkpoint("c")).stale:  # noqa: ASYNC110 - the server tells no one
            await asyncio.sleep(0.05)

        prompt = await client.assemble_prompt("c", "Well?", budget_tokens=4000)
        (working,) = [layer for layer in prompt.layers if layer.kind == "working"]
        assert working.working is not None
        assert working.working.turn_id == "t"
        assert 0 < working.working.result_count < 30
        assert working.token_count <= working.budget_tokens
        for text in (STALE_NOTE, "open session shell: s-1", "heron 29"):
            assert text in prompt.text
            assert text in prompt.openai_messages[-1].content
        assert "heron 0 " not in prompt.text

        await client.record_turn("c", [NewMessage("assistant", "Thirty herons.")])
        prompt = await client.assemble_prompt("c", "Well?", budget_tokens=4000)
        assert STALE_NOTE not in prompt.text
        assert "Thirty herons." in prompt.text
