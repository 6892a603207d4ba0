"""P-1: durable appends by many callers, over a bare server that answers each request with itself.

Derived work is paused while it is measured (the outbox is not relayed), then done and checked: each message
that was acknowledged is stored once, under dense sequence numbers, and indexed.
"""

from __future__ import annotations

import asyncio
import random
import sqlite3
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
from palimpsest.episodic.v1 import episodic_pb2, episodic_pb2_grpc
from palimpsest.gateway.v1 import conversations_pb2

from bench import fixtures
from bench.load import ECHO_METHOD, echo_server, interleaved, medians, rate, rounded, text
from bench.result import Result
from bench.suite import Alone, Metadata, Running, channel_to, embedded, episodic, gateway

ID = "P-1"
BUDGET = 0.4
CALLERS = 64
TEXT_BYTES = 1024
TEXTS = 512
ROUNDS = 5
SECONDS = 3.0
WARM_UP_SECONDS = 1.0
SEED = 1
AGENT = fixtures.AGENT
PAUSED = {"RELAY": "false"}
PAGE = 500


@dataclass(slots=True)
class Journal:
    """What was acknowledged: by conversation, (sequence number, message id, text)."""

    stored: dict[str, list[tuple[int, str, str]]] = field(default_factory=lambda: defaultdict(list))

    @property
    def count(self) -> int:
        """Messages."""
        return sum(map(len, self.stored.values()))

    def agrees(self, conversation: str, messages: Sequence[Any]) -> bool:
        """Whether a conversation holds what was acknowledged, each once, and nothing else."""
        expected = sorted(self.stored[conversation])
        found = [(m.sequence, m.id, m.parts[0].text) for m in messages]
        return found == expected and [sequence for sequence, *_ in found] == list(range(1, len(found) + 1))


def run() -> Result:
    """The median rate of RecordTurn through the gateway over that of the echo server."""
    with tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as scratch:
        suite, alone = Path(scratch) / "suite", Path(scratch) / "alone"
        with (
            embedded(suite, {f"PALIMPSEST_EPISODIC_{k}": v for k, v in PAUSED.items()}) as running,
            episodic(alone, PAUSED) as service,
            echo_server() as echo,
        ):
            rates, journals, correct = asyncio.run(_measure(running, service, echo))
        waiting = _waiting(alone / "episodic.db")
        correct["outbox_of_episodic"] = waiting == journals[1].count
        began = time.monotonic()
        correct["indexed"] = asyncio.run(_drain(suite, journals[0]))
        drained = time.monotonic() - began
    typical = medians(rates)
    value = typical["gateway"] / typical["echo"]
    return Result(
        id=ID,
        unit="ratio",
        value=value,
        budget=BUDGET,
        ok=value >= BUDGET,
        correct=all(correct.values()),
        yardstick="a bare grpc.aio server that answers the same requests with themselves, the same client",
        load=(
            f"{CALLERS} callers over {CALLERS} conversations, one connection, RecordTurn of the embedded"
            f" suite's gateway with one message of {TEXT_BYTES} bytes and a request id; derived work paused;"
            f" {ROUNDS} interleaved rounds of {SECONDS:g} s, medians"
        ),
        details={
            "per_second": {name: round(value, 1) for name, value in typical.items()},
            "episodic_alone_ratio": round(typical["episodic"] / typical["echo"], 4),
            "rounds": rounded(rates),
            "messages_checked": [journal.count for journal in journals],
            "checks": correct,
            "drain_seconds": round(drained, 1),
            "sqlite": sqlite3.sqlite_version,
        },
    )


async def _measure(
    running: Running, service: Alone, echo: str
) -> tuple[dict[str, list[float]], list[Journal], dict[str, bool]]:
    texts = [text(dice, TEXT_BYTES) for dice in [random.Random(SEED)] for _ in range(TEXTS)]
    async with AsyncExitStack() as stack:
        stub, key = await stack.enter_async_context(gateway(running))
        through = Through(stub, lambda: key, texts)
        channel, metadata = await stack.enter_async_context(channel_to(service, "episodic"))
        direct = Direct(episodic_pb2_grpc.EpisodicServiceStub(channel), metadata, texts)
        bare = Echo(
            (await stack.enter_async_context(grpc.aio.insecure_channel(echo))).unary_unary(
                ECHO_METHOD,
                request_serializer=conversations_pb2.RecordTurnRequest.SerializeToString,
                response_deserializer=conversations_pb2.RecordTurnRequest.FromString,
            ),
            lambda: key,
            texts,
        )
        await through.prepare()
        await direct.prepare()

        def subject(call: Callable[[int], Awaitable[int]]) -> Callable[[float], Awaitable[float]]:
            return lambda seconds: rate(call, CALLERS, seconds)

        rates = await interleaved(
            {
                "echo": subject(bare.call),
                "gateway": subject(through.call),
                "episodic": subject(direct.call),
            },
            rounds=ROUNDS,
            seconds=SECONDS,
            warm_up=WARM_UP_SECONDS,
        )
        correct = {
            "stored_by_gateway": await through.check(),
            "stored_by_episodic": await direct.check(),
        }
        return rates, [through.journal, direct.journal], correct


def conversation(number: int) -> str:
    """The conversation of a caller."""
    return f"c{number}"


class Calls:
    """Requests that differ by their text and their id, and a journal of what was acknowledged."""

    def __init__(self, stub: Any, metadata: Callable[[], Metadata], texts: Sequence[str]) -> None:
        self.stub = stub
        self.metadata = metadata
        self.texts = texts
        self.journal = Journal()
        self._number = 0

    def turn(self, caller: int) -> tuple[conversations_pb2.RecordTurnRequest, str]:
        """A request to append one message, and its text."""
        self._number += 1
        said = self.texts[self._number % len(self.texts)]
        request = conversations_pb2.RecordTurnRequest(
            agent_id=AGENT,
            conversation_id=conversation(caller),
            messages=[fixtures.message(said)],
            request_id=f"r{self._number:09d}",
        )
        return request, said

    def note(self, caller: int, stored: Any, said: str) -> int:
        """Enters an acknowledged message in the journal."""
        entry = (stored.sequence, stored.message_id, said)
        self.journal.stored[conversation(caller)].append(entry)
        return 1

    async def check(self) -> bool:
        """Whether each conversation holds what was acknowledged."""
        return all(
            [self.journal.agrees(name, await listed(self, name)) for name in list(self.journal.stored)]
        )


class Echo(Calls):
    """The yardstick: `stub` is a channel to the echo server."""

    async def call(self, caller: int) -> int:
        """Sends a request and gets it back."""
        request, _ = self.turn(caller)
        await self.stub(request)
        return 1


class Through(Calls):
    """RecordTurn of the gateway."""

    requests: Any = conversations_pb2

    async def prepare(self, conversations: int = CALLERS) -> None:
        """An agent and its conversations."""
        await prepare(self, conversations)

    async def call(self, caller: int) -> int:
        """Appends one message."""
        request, said = self.turn(caller)
        answer = await self.stub.RecordTurn(request, metadata=self.metadata())
        return self.note(caller, answer.messages[0], said)


class Direct(Calls):
    """AppendMessages of Episodic."""

    requests: Any = episodic_pb2

    async def prepare(self, conversations: int = CALLERS) -> None:
        """An agent and its conversations."""
        await prepare(self, conversations)

    async def call(self, caller: int) -> int:
        """Appends one message."""
        turn, said = self.turn(caller)
        request = episodic_pb2.AppendMessagesRequest(
            agent_id=turn.agent_id,
            conversation_id=turn.conversation_id,
            messages=turn.messages,
            request_id=turn.request_id,
        )
        answer = await self.stub.AppendMessages(request, metadata=self.metadata())
        return self.note(caller, answer.results[0], said)


async def prepare(calls: Any, conversations: int) -> None:
    """An agent with conversations."""
    await calls.stub.CreateAgent(calls.requests.CreateAgentRequest(agent_id=AGENT), metadata=calls.metadata())
    for number in range(conversations):
        request = calls.requests.CreateConversationRequest(
            agent_id=AGENT, conversation_id=conversation(number)
        )
        await calls.stub.CreateConversation(request, metadata=calls.metadata())


async def listed(calls: Any, name: str) -> list[Any]:
    """All messages of a conversation."""
    messages: list[Any] = []
    token = ""
    while True:
        request = calls.requests.ListMessagesRequest(
            agent_id=AGENT, conversation_id=name, page_size=PAGE, page_token=token
        )
        page = await calls.stub.ListMessages(request, metadata=calls.metadata())
        messages += page.messages
        token = page.next_page_token
        if not token:
            return messages


def _waiting(database: Path) -> int:
    """Index jobs in an outbox that nobody relayed."""
    connection = sqlite3.connect(database)
    try:
        return int(
            connection.execute("SELECT count(*) FROM outbox WHERE type = 'index_message'").fetchone()[0]
        )
    finally:
        connection.close()


async def _drain(data: Path, journal: Journal) -> bool:
    """Does the derived work that was paused, with seeded vectors; whether all of it was done."""
    return await fixtures.drained(data, {name: len(stored) for name, stored in journal.stored.items()})
