"""P-8: from the acknowledgement of a message to the moment recall finds it, on an idle suite."""

from __future__ import annotations

import asyncio
import random
import time
from typing import Any

from palimpsest.common.v1 import recall_pb2
from palimpsest.gateway.v1 import conversations_pb2, memories_pb2

from bench.fixtures import message
from bench.result import Result, percentile
from bench.suite import embedded, gateway

ID = "P-8"
BUDGET_SECONDS = 1.0
ROUNDS = 60
POLL_SECONDS = 0.01
GIVE_UP_SECONDS = 30.0
WORDS = (
    "harbour",
    "violin",
    "glacier",
    "ledger",
    "orchard",
    "lantern",
    "compass",
    "saffron",
    "tunnel",
    "meadow",
)


def run() -> Result:
    """The 95th percentile over messages sent one at a time; each is a keyword nobody used before."""
    with embedded() as running:
        lags = asyncio.run(_measure(running))
    p95 = percentile(lags, 0.95)
    return Result(
        id=ID,
        unit="s",
        value=p95,
        budget=BUDGET_SECONDS,
        ok=p95 <= BUDGET_SECONDS,
        correct=len(lags) == ROUNDS,
        yardstick="none: an absolute bound",
        load=f"{ROUNDS} messages, one at a time, idle between",
        details={"p50": round(percentile(lags, 0.5), 4), "max": round(max(lags), 4)},
    )


async def _measure(running: Any) -> list[float]:
    dice = random.Random(8)
    async with gateway(running) as (stub, metadata):
        await stub.CreateAgent(conversations_pb2.CreateAgentRequest(agent_id="bench"), metadata=metadata)
        await stub.CreateConversation(
            conversations_pb2.CreateConversationRequest(agent_id="bench", conversation_id="c"),
            metadata=metadata,
        )
        lags = []
        for index in range(ROUNDS + 3):
            marker = f"marker{dice.randrange(10**9)}"
            text = f"{marker} {' '.join(dice.choices(WORDS, k=12))}"
            lag = await _one(stub, metadata, marker, text)
            if index >= 3:  # the first ones warm up
                lags.append(lag)
            await asyncio.sleep(0.05)
        return lags


async def _one(stub: Any, metadata: Any, marker: str, text: str) -> float:
    await stub.RecordTurn(
        conversations_pb2.RecordTurnRequest(agent_id="bench", conversation_id="c", messages=[message(text)]),
        metadata=metadata,
    )
    acknowledged = time.monotonic()
    query = memories_pb2.RecallConversationRequest(
        agent_id="bench",
        conversation_id="c",
        query=marker,
        mode=recall_pb2.SEARCH_MODE_KEYWORD,
        scope=memories_pb2.SEARCH_SCOPE_CONVERSATION,
        limit=1,
    )
    while time.monotonic() - acknowledged < GIVE_UP_SECONDS:
        answer = await stub.RecallConversation(query, metadata=metadata)
        if any(marker in part.text for hit in answer.hits for part in hit.message.parts):
            return time.monotonic() - acknowledged
        await asyncio.sleep(POLL_SECONDS)
    raise RuntimeError("a message was never found")
