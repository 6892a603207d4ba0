"""The embedded suite as a process whose chats have two tools, for tests that kill it while one runs.

`python -m tests.e2e.chat_process DATA MODEL_URL` writes its address and its HTTP port on a line once it
serves. The tool `note` adds a line to DATA/noted; the tool `wait` makes DATA/waiting and then waits for
DATA/go.
"""

from __future__ import annotations

import asyncio
import secrets
import sys
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from services.embedded import compose, lock_data
from services.gateway.app.chatting import STOP_MARGIN_SECONDS
from services.gateway.app.tool_ports import ToolDefinition, ToolOutcome
from services.gateway.chats import ChatChoices
from services.kit.logs import configure_logging
from services.kit.metrics import Metrics
from services.kit.models.settings import ModelSettings, TierSettings
from services.kit.serving import listening, stop_signal, web_listening

DRAIN_SECONDS = STOP_MARGIN_SECONDS + 1


class FileTools:
    """The two tools."""

    def __init__(self, data: Path) -> None:
        self._data = data

    async def definitions(self, agent_id: str, conversation_id: str) -> Sequence[ToolDefinition]:
        return [
            ToolDefinition(name=name, description=name, input_schema={"type": "object"})
            for name in ("note", "wait")
        ]

    async def call(
        self, agent_id: str, conversation_id: str, name: str, arguments: Mapping[str, Any]
    ) -> ToolOutcome:
        if name == "note":
            with (self._data / "noted").open("a") as file:
                file.write("noted\n")
            return ToolOutcome(content="noted")
        (self._data / "waiting").touch()
        while not (self._data / "go").exists():  # noqa: ASYNC110 - the test is another process
            await asyncio.sleep(0.02)
        return ToolOutcome(content="waited")


async def serve(data: Path, model_url: str) -> None:
    """Until SIGTERM."""
    async with AsyncExitStack() as stack:
        lock_data(data, stack)
        secret = secrets.token_bytes(32)
        one = TierSettings(url=model_url, name="scripted", partner=False, attempts=1)
        choices = ChatChoices(models=ModelSettings(standard=one), tools=FileTools(data))
        gateway = await compose(data, secret, Metrics(), stack, chat=choices)
        stop = stop_signal()
        async with (
            listening(gateway, secret, Metrics(), "127.0.0.1:0", drain_seconds=DRAIN_SECONDS) as port,
            web_listening(gateway, secret, Metrics(), "127.0.0.1", 0, drain_seconds=DRAIN_SECONDS) as web,
        ):
            print(f"127.0.0.1:{port} {web}", flush=True)
            await stop.wait()


if __name__ == "__main__":
    configure_logging("ERROR")
    asyncio.run(serve(Path(sys.argv[1]), sys.argv[2]))
