"""P-15: from the acknowledgement of a turn to the moment the fact that a person stated in it is a memory.

On an idle suite: before each turn all derived work of those before it is done. Afterwards every fact is
looked for again: it says what was said, of the message that it was said in, and there is no other.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import grpc
from palimpsest.gateway.v1 import conversations_pb2, memories_pb2

from bench import fixtures
from bench.result import Result, percentile
from bench.suite import Metadata, Running, embedded, gateway

ID = "P-15"
BUDGET_SECONDS = 2.0
TURNS = 200
WARM_UP = 5
TURNS_EACH = 20  # of a conversation
POLL_SECONDS = 0.01
GIVE_UP_SECONDS = 60.0
SEED = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A fact that was stated: the key and the words of its memory, and the message."""

    key: str
    words: str
    message_id: str


def run() -> Result:
    """The 95th percentile over turns sent one at a time."""
    with embedded() as running:
        lags, checks = asyncio.run(_measure(running))
    p95 = percentile(lags, 0.95)
    return Result(
        id=ID,
        unit="s",
        value=p95,
        budget=BUDGET_SECONDS,
        ok=p95 <= BUDGET_SECONDS,
        correct=all(checks.values()),
        yardstick="none: an absolute bound",
        load=(
            f"{TURNS} turns of a person and an assistant, one at a time, each with a fact that nobody stated"
            f" before, {TURNS_EACH} a conversation; other derived work done between"
        ),
        details={
            "p50": round(percentile(lags, 0.5), 4),
            "max": round(max(lags), 4),
            "turns": len(lags),
            "checks": checks,
        },
    )


async def _measure(running: Running) -> tuple[list[float], dict[str, bool]]:
    dice = random.Random(SEED)
    async with gateway(running) as (stub, metadata):
        talk = Talk(stub, metadata)
        await talk.call("CreateAgent", conversations_pb2.CreateAgentRequest(agent_id=fixtures.AGENT))
        lags: list[float] = []
        told: list[Told] = []
        for number in range(WARM_UP + TURNS):
            if number % TURNS_EACH == 0:
                await talk.begin(f"c{number // TURNS_EACH}")
            fact, lag = await talk.tell(dice)
            told.append(fact)
            lags.append(lag)
            dead = await talk.settled()
        return lags[WARM_UP:], {"facts": await talk.all_kept(told), "no_job_failed": not dead}


class Talk:
    """A person who states facts in one conversation after the other."""

    def __init__(self, stub: Any, metadata: Metadata) -> None:
        self._stub = stub
        self._metadata = metadata
        self._conversation = ""

    async def call(self, method: str, request: Any) -> Any:
        """As the key's owner."""
        return await getattr(self._stub, method)(request, metadata=self._metadata)

    async def begin(self, conversation_id: str) -> None:
        """Another conversation."""
        self._conversation = conversation_id
        await self.call(
            "CreateConversation",
            conversations_pb2.CreateConversationRequest(
                agent_id=fixtures.AGENT, conversation_id=conversation_id
            ),
        )

    async def tell(self, dice: random.Random) -> tuple[Told, float]:
        """A turn; and the seconds from its acknowledgement until its fact is a memory."""
        words = [fixtures.word(dice) for _ in range(3)]
        said = f"I like {' '.join(words)}. What is the way to {fixtures.word(dice)}?"
        answered = f"Past the {fixtures.word(dice)}, then to the left."
        stored = await self.call(
            "RecordTurn",
            conversations_pb2.RecordTurnRequest(
                agent_id=fixtures.AGENT,
                conversation_id=self._conversation,
                messages=[fixtures.message(said), fixtures.message(answered, fixtures.ASSISTANT)],
            ),
        )
        acknowledged = time.monotonic()
        key = f"user.taste.{'-'.join(words)}"
        while await self.kept(key) is None:
            if time.monotonic() - acknowledged > GIVE_UP_SECONDS:
                raise RuntimeError("a fact never became a memory")
            await asyncio.sleep(POLL_SECONDS)
        lag = time.monotonic() - acknowledged
        return Told(key=key, words=" ".join(words), message_id=stored.messages[0].message_id), lag

    async def kept(self, key: str) -> Any:
        """The live memory of a key; None while there is none."""
        request = memories_pb2.GetMemoryByKeyRequest(agent_id=fixtures.AGENT, key=key)
        try:
            return (await self.call("GetMemoryByKey", request)).memory
        except grpc.aio.AioRpcError as error:
            if error.code() is not grpc.StatusCode.NOT_FOUND:
                raise
            return None

    async def settled(self) -> int:
        """Waits until no job is left; how many were given up."""
        return (await fixtures.until_idle(self._stub, self._metadata)).dead

    async def all_kept(self, told: Sequence[Told]) -> bool:
        """Whether the agent's memories are those that were told, each of its message."""
        expected = {one.key: one for one in told}
        request = memories_pb2.ListMemoriesRequest(agent_id=fixtures.AGENT, page_size=1000)
        found = (await self.call("ListMemories", request)).memories
        return len(expected) == len(told) == len(found) and all(
            one.key in expected
            and expected[one.key].words in one.value
            and [ref.message_id for ref in one.provenance] == [expected[one.key].message_id]
            for one in found
        )
