"""P-7: a window of a long conversation over one of a short conversation; the whole prompt is reported.

Both conversations lie in one suite and are covered as the job that covers messages would leave them: overlays
over 60 messages each, the oldest folded into one whenever they exceed their share. How many are live goes up
and down with that, whatever the length; the long conversation gets a few more messages until it has as many
as the short one. Nothing is relayed, so nothing is indexed or covered meanwhile, and prompts have no
retrieved context.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import time
from collections.abc import Awaitable, Callable
from typing import Any

from palimpsest.gateway.v1 import conversations_pb2, prompt_pb2
from palimpsest.history.v1 import history_pb2_grpc, overlays_pb2, windows_pb2

from bench.fixtures import AGENT, ingest, message
from bench.load import text
from bench.result import Result, percentile
from bench.scenarios.appends import PAUSED
from bench.suite import Running, embedded, gateway, gateway_channel

ID = "P-7"
BUDGET = 1.2
SIZES = {"short": 1_000, "long": 100_000}
TOKENS = 8_000
TEXT_BYTES = (80, 400)
COVERED = 60  # messages that an overlay covers
SUMMARY_BYTES = 420  # about 120 tokens for 60 messages
CALLS = 400
PROMPTS = 60
WARM_UP = 30
SEED = 7
MODEL = "bench"


def run() -> Result:
    """The median GetWindow of the long conversation over that of the short one."""
    settings = {f"PALIMPSEST_EPISODIC_{name}": value for name, value in PAUSED.items()}
    with embedded(settings=settings) as running:
        found = asyncio.run(_measure(running))
    value = found["window_ms"]["long"]["p50"] / found["window_ms"]["short"]["p50"]
    return Result(
        id=ID,
        unit="ratio",
        value=value,
        budget=BUDGET,
        ok=value <= BUDGET,
        correct=all(found["checks"].values()),
        yardstick=f"the same call for a conversation of {SIZES['short']} messages, call by call in turn",
        load=(
            f"GetWindow with a budget of {TOKENS} tokens through the embedded suite's gateway, one caller,"
            f" {CALLS} calls for each conversation, {SIZES['long']} messages of {TEXT_BYTES[0]} to"
            f" {TEXT_BYTES[1]} bytes in the long one, covered by overlays; AssemblePrompt with distinct"
            " messages, nothing indexed"
        ),
        details=found,
    )


async def _measure(running: Running) -> dict[str, Any]:
    dice = random.Random(SEED)
    async with gateway(running) as (stub, metadata), gateway_channel(running) as channel:
        history: Any = history_pb2_grpc.HistoryServiceStub(channel)
        await stub.CreateAgent(conversations_pb2.CreateAgentRequest(agent_id=AGENT), metadata=metadata)
        ids: dict[str, list[str]] = {}
        covered: dict[str, int] = {}
        for name, size in SIZES.items():
            conversation = conversations_pb2.CreateConversationRequest(agent_id=AGENT, conversation_id=name)
            await stub.CreateConversation(conversation, metadata=metadata)
            ids[name] = await _fill(stub, metadata, name, size, dice, "")
            covered[name] = await _cover(history, metadata, name, dice, 0)
        while covered["long"] != covered["short"]:
            ids["long"] += await _fill(stub, metadata, "long", COVERED, dice, ids["long"][-1])
            covered["long"] = await _cover(history, metadata, "long", dice, covered["long"])
        windows: dict[str, Any] = {}

        async def window(name: str) -> None:
            windows[name] = await history.GetWindow(
                windows_pb2.GetWindowRequest(
                    agent_id=AGENT, conversation_id=name, budget=windows_pb2.BudgetWindow(tokens=TOKENS)
                ),
                metadata=metadata,
            )

        async def prompt(name: str) -> None:
            request = prompt_pb2.AssemblePromptRequest(
                agent_id=AGENT, conversation_id=name, message=text(dice, 60)
            )
            await stub.AssemblePrompt(request, metadata=metadata)

        return {
            "window_ms": await _in_turn(window, CALLS),
            "prompt_ms": await _in_turn(prompt, PROMPTS),
            "window": {name: _shape(answer) for name, answer in windows.items()},
            "live_overlays": covered,
            "checks": {name: _holds(windows[name], ids[name]) for name in SIZES},
        }


async def _fill(
    stub: Any, metadata: Any, name: str, size: int, dice: random.Random, parent_id: str
) -> list[str]:
    """Stores messages after the parent; their ids."""
    made = [message(text(dice, dice.randint(*TEXT_BYTES))) for _ in range(size)]
    return await ingest(stub, metadata, name, made, parent_id)


async def _cover(history: Any, metadata: Any, name: str, dice: random.Random, live: int) -> int:
    """Does what the covering jobs would do until nothing is due; how many overlays are live then."""
    asked = overlays_pb2.GetCoverageRequest(agent_id=AGENT, conversation_id=name)
    while True:
        due = await history.GetCoverage(asked, metadata=metadata)
        if due.over_share:
            folded = due.over_share[:-1]
            begin, end = folded[0].from_message_id, folded[-1].to_message_id
        elif due.uncovered:
            folded = []
            begin, end = due.uncovered[0].id, due.uncovered[-1].id
        else:
            return live
        request = overlays_pb2.PutOverlayRequest(
            agent_id=AGENT,
            conversation_id=name,
            from_message_id=begin,
            to_message_id=end,
            summary=text(dice, SUMMARY_BYTES),
            model=MODEL,
            folded_overlay_ids=[overlay.id for overlay in folded],
        )
        await history.PutOverlay(request, metadata=metadata)
        live += 1 - len(folded)


async def _in_turn(call: Callable[[str], Awaitable[None]], count: int) -> dict[str, dict[str, float]]:
    """Milliseconds of calls for each conversation in turn."""
    taken: dict[str, list[float]] = {name: [] for name in SIZES}
    for number in range(WARM_UP + count):
        for name, times in taken.items():
            began = time.perf_counter()
            await call(name)
            if number >= WARM_UP:
                times.append((time.perf_counter() - began) * 1000)
    return {
        name: {"p50": round(statistics.median(times), 3), "p95": round(percentile(times, 0.95), 3)}
        for name, times in taken.items()
    }


def _shape(window: windows_pb2.GetWindowResponse) -> dict[str, int]:
    return {
        "head": len(window.head),
        "overlays": len(window.overlays),
        "tail": len(window.tail),
        "omitted": window.omitted_count,
        "tokens": window.token_count,
    }


def _holds(window: windows_pb2.GetWindowResponse, ids: list[str]) -> bool:
    """Whether a window has the first two messages, the newest ones without a gap, and keeps to its budget."""
    tail = [one.message.id for one in window.tail]
    return (
        [one.message.id for one in window.head] == ids[:2]
        and tail == ids[len(ids) - len(tail) :]
        and len(tail) > 10
        and len(window.overlays) > 0
        and window.depth == len(ids)
        and window.token_count <= TOKENS
    )
