"""P-17: 200 chats at a time: none is starved, and memory stays flat.

A model of the loopback streams its answers at a pace. Each of the callers has a conversation of its own and
takes turn after turn in it. The figure is the longest that a caller took for all of its turns, over the
median of the callers. Beside it, the anonymous memory (what no file holds) of the suite's processes in the
second half of the time is held against that in the first quarter.

`python -m bench.scenarios.chats [--streams N] [--turns N] [--json OUT]`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from palimpsest.chat.v1 import chat_pb2, chat_pb2_grpc
from palimpsest.gateway.v1 import conversations_pb2

from bench.result import Result, percentile, write
from bench.suite import Metadata, Running, embedded, gateway, gateway_channel

ID = "P-17"
STREAMS = 200
TURNS = 8
BUDGET_RATIO = 2.0
BUDGET_MB = 64.0
"""Of growth. What may grow by design is the vector engine's table of ids, and the prompts, as conversations
get longer; the rest is the allocators' play."""
PIECES = 40
PACE_SECONDS = 0.05
SAMPLE_SECONDS = 0.5
GIVE_UP_SECONDS = 900.0
MEGABYTE = 1e6
AGENT = "bench"
SETTINGS = {
    "PALIMPSEST_MODEL_STANDARD_NAME": "paced-1",
    "PALIMPSEST_MODEL_STANDARD_PARTNER": "false",
}


def run() -> Result:
    """With the full number of callers."""
    return measure(STREAMS, TURNS)


def measure(streams: int, turns: int) -> Result:
    """The slowest caller over the median one."""
    found = asyncio.run(_measure(streams, turns))
    ratio = max(found.seconds) / statistics.median(found.seconds)
    growth = found.growth()
    return Result(
        id=ID,
        unit="ratio",
        value=ratio,
        budget=BUDGET_RATIO,
        ok=ratio <= BUDGET_RATIO and growth <= BUDGET_MB,
        correct=all(found.checks.values()),
        yardstick="the median caller",
        load=f"{streams} callers, {turns} turns each; answers of {PIECES} pieces, one each {PACE_SECONDS} s",
        details={
            "checks": found.checks,
            "caller_seconds": {
                "least": round(min(found.seconds), 2),
                "p50": round(statistics.median(found.seconds), 2),
                "most": round(max(found.seconds), 2),
            },
            "first_text_seconds": {
                "p50": round(percentile(found.first_text, 0.5), 3),
                "p95": round(percentile(found.first_text, 0.95), 3),
                "max": round(max(found.first_text), 3),
            },
            "answers_seconds_at_pace": PIECES * PACE_SECONDS,
            "turns_per_second": round(streams * turns / max(found.seconds), 1),
            "memory_growth_mb": round(growth, 1),
            "memory_budget_mb": BUDGET_MB,
            "memory_mb": round(statistics.median(found.memory), 1),
        },
    )


@dataclass
class _Found:
    seconds: list[float] = field(default_factory=list)
    first_text: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    checks: dict[str, bool] = field(default_factory=dict)

    def growth(self) -> float:
        """Of the medians of the second half and the first quarter of the samples, in MB."""
        count = len(self.memory)
        early, late = self.memory[: max(1, count // 4)], self.memory[count // 2 :]
        return statistics.median(late) - statistics.median(early)


async def _measure(streams: int, turns: int) -> _Found:
    async with _paced_model() as url:
        concurrency = {"PALIMPSEST_MODEL_STANDARD_CONCURRENCY": str(streams)}
        made = embedded(settings=SETTINGS | concurrency | {"PALIMPSEST_MODEL_STANDARD_URL": url})
        running = await asyncio.to_thread(made.__enter__)
        try:
            return await _load(running, streams, turns)
        finally:
            await asyncio.to_thread(made.__exit__, None, None, None)


async def _load(running: Running, streams: int, turns: int) -> _Found:
    found = _Found()
    async with gateway(running) as (stub, metadata), gateway_channel(running) as channel:
        chats = chat_pb2_grpc.ChatServiceStub(channel)
        await stub.CreateAgent(conversations_pb2.CreateAgentRequest(agent_id=AGENT), metadata=metadata)
        for number in range(streams):
            request = conversations_pb2.CreateConversationRequest(
                agent_id=AGENT, conversation_id=f"c{number}"
            )
            await stub.CreateConversation(request, metadata=metadata)
        await _caller(chats, metadata, 0, 1, _Found())  # warms up
        sampling = asyncio.create_task(_sample(running.process.pid, found.memory))
        whole = await asyncio.gather(
            *(_caller(chats, metadata, number, turns, found) for number in range(streams))
        )
        sampling.cancel()
        found.checks["every answer came whole"] = all(whole)
        stored = [await _stored(stub, metadata, number) for number in range(streams)]
        found.checks["every turn is stored"] = stored == [2 * (turns + (n == 0)) for n in range(streams)]
    return found


async def _caller(chats: Any, metadata: Metadata, number: int, turns: int, found: _Found) -> bool:
    """All turns of one caller; whether each answer came whole."""
    whole = True
    begun = time.monotonic()
    for turn in range(turns):
        request = chat_pb2.ChatRequest(
            agent_id=AGENT,
            conversation_id=f"c{number}",
            message=chat_pb2.UserMessage(text=f"Question {turn} of caller {number}: what comes next?"),
        )
        asked, pieces, finished = time.monotonic(), 0, False
        async for event in chats.Chat(request, metadata=metadata, timeout=GIVE_UP_SECONDS):
            if event.HasField("delta"):
                if not pieces:
                    found.first_text.append(time.monotonic() - asked)
                pieces += event.delta.text.count("word")
            finished = event.HasField("finished") and not event.finished.HasField("interruption")
        whole = whole and finished and pieces == PIECES
    found.seconds.append(time.monotonic() - begun)
    return whole


async def _stored(stub: Any, metadata: Metadata, number: int) -> int:
    request = conversations_pb2.GetConversationRequest(agent_id=AGENT, conversation_id=f"c{number}")
    return int((await stub.GetConversation(request, metadata=metadata)).conversation.stored_count)


async def _sample(pid: int, memory: list[float]) -> None:
    """The anonymous memory of a process and its children, in MB, until cancelled."""
    main = psutil.Process(pid)
    tree = [main, *main.children(recursive=True)]
    while True:
        total = 0
        for process in tree:
            info = process.memory_info()
            total += info.rss - info.shared
        memory.append(total / MEGABYTE)
        await asyncio.sleep(SAMPLE_SECONDS)


@asynccontextmanager
async def _paced_model() -> AsyncIterator[str]:
    """An endpoint that streams PIECES words, one each PACE_SECONDS; yields its base URL."""
    server = await asyncio.start_server(_answer, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        server.close()


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Requests of one connection, one after the other."""
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            length = next(
                int(line.split(b":")[1])
                for line in head.lower().split(b"\r\n")
                if line.startswith(b"content-length:")
            )
            await reader.readexactly(length)
            writer.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
            )
            for number in range(PIECES):
                _chunk(writer, {"content": f"word{number} "})
                await writer.drain()
                await asyncio.sleep(PACE_SECONDS)
            _chunk(writer, {}, finish="stop")
            writer.write(b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


def _chunk(writer: asyncio.StreamWriter, delta: dict[str, str], finish: str | None = None) -> None:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    data = b"data: %b\n\n" % json.dumps({"model": "paced-1", "choices": [choice]}).encode()
    writer.write(b"%x\r\n%b\r\n" % (len(data), data))


def main() -> None:
    """A run of another size."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--streams", type=int, default=STREAMS)
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    document = measure(chosen.streams, chosen.turns).document()
    if chosen.json is not None:
        write(document, chosen.json)
    print(json.dumps(document, indent=1))


if __name__ == "__main__":
    main()
