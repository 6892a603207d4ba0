"""P-12: the prompt of the next turn of a long conversation, over P-3's yardstick for the same questions.

One conversation of ten thousand messages with a person whom the agent knows a share of its memories of;
everything is indexed, covered and summarised as the suite does it by itself. What AssemblePrompt takes beyond
embedding the message, one vector query and one FTS query is counted in empty calls.
"""

from __future__ import annotations

import asyncio
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from grpc_health.v1 import health_pb2, health_pb2_grpc
from palimpsest.common.v1 import resources_pb2
from palimpsest.gateway.v1 import conversations_pb2, gateway_pb2_grpc, memories_pb2, prompt_pb2

from bench import fixtures
from bench.result import Result, percentile
from bench.scenarios.recall import Yardstick, milliseconds, yardstick
from bench.suite import Running, embedded, gateway_channel

ID = "P-12"
BUDGET_CALLS = 12.0
MEMORIES = 5_000
CONTACTS = 10
MESSAGES = 10_000
CONVERSATION = "long"
CHUNK = 250
WORDS = (8, 40)
TOKENS = 8_000  # G-1
WARM_UP = 40
PROMPTS = 300
SEED = 12
LAYERS = (
    prompt_pb2.LAYER_KIND_SYSTEM,
    prompt_pb2.LAYER_KIND_FACTS,
    prompt_pb2.LAYER_KIND_HISTORY,
    prompt_pb2.LAYER_KIND_RETRIEVED,
    prompt_pb2.LAYER_KIND_MESSAGE,
)


def run() -> Result:
    """The excess of AssemblePrompt's median over the yardstick's, in medians of an empty call."""
    with tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as scratch:
        data = Path(scratch) / "data"
        fill(data)
        return measure(data)


def fill(data: Path) -> None:
    """Writes a data folder: memories of several people, and a long conversation with one of them."""
    fixtures.memories(data, MEMORIES, CONTACTS)
    asyncio.run(_talk(data))


def measure(data: Path) -> Result:
    """Over a folder that `fill` wrote, which is free again afterwards."""
    copy = data.with_name("yardstick")
    shutil.copytree(data, copy)
    with yardstick(copy) as bare, embedded(data) as running:
        seconds, correct = asyncio.run(_interleave(running, bare))
    typical = {name: statistics.median(values) for name, values in seconds.items()}
    value = (typical["prompt"] - typical["yardstick"]) / typical["empty"]
    return Result(
        id=ID,
        unit="empty calls",
        value=value,
        budget=BUDGET_CALLS,
        ok=value <= BUDGET_CALLS,
        correct=all(correct.values()),
        yardstick=(
            "in one process, in sequence, over a copy of the same index: the message embedded, one vector"
            " query, one FTS5 query; and the health check of the suite as an empty call"
        ),
        load=(
            f"{MEMORIES} memories of {CONTACTS} contacts, a conversation of {MESSAGES} messages with one of"
            f" them, seeded vectors; {PROMPTS} distinct messages after {WARM_UP} others, a budget of {TOKENS}"
            " tokens, one at a time, each followed by the yardstick and an empty call"
        ),
        details={
            "p50_ms": milliseconds(typical),
            "p95_ms": milliseconds({name: percentile(values, 0.95) for name, values in seconds.items()}),
            "yardstick_p50_ms": milliseconds({k: statistics.median(v) for k, v in bare.parts.items()}),
            "checks": correct,
        },
    )


async def _talk(data: Path) -> None:
    dice = random.Random(SEED)
    async with fixtures.serving(data) as (stub, metadata):
        await stub.CreateConversation(
            conversations_pb2.CreateConversationRequest(
                agent_id=fixtures.AGENT,
                conversation_id=CONVERSATION,
                contact_id=await _person(stub, metadata),
            ),
            metadata=metadata,
        )

        async def chunks() -> AsyncIterator[conversations_pb2.IngestStreamRequest]:
            for start in range(0, MESSAGES, CHUNK):
                yield conversations_pb2.IngestStreamRequest(
                    chunk=conversations_pb2.IngestRequest(
                        agent_id=fixtures.AGENT,
                        conversation_id=CONVERSATION,
                        messages=[_message(dice, start + number) for number in range(CHUNK)],
                    )
                )

        async for _ in stub.IngestStream(chunks(), metadata=metadata):
            pass
    if not await fixtures.drained(data, {CONVERSATION: MESSAGES}):
        raise RuntimeError("not everything was indexed")


def _message(dice: random.Random, number: int) -> resources_pb2.NewMessage:
    text = " ".join(fixtures.word(dice) for _ in range(dice.randint(*WORDS)))
    role = resources_pb2.ROLE_ASSISTANT if number % 2 else resources_pb2.ROLE_USER
    return resources_pb2.NewMessage(role=role, parts=[resources_pb2.Part(text=text)])


async def _person(stub: Any, metadata: Any) -> str:
    request = conversations_pb2.ResolveContactRequest(agent_id=fixtures.AGENT, identity="bench:0")
    return str((await stub.ResolveContact(request, metadata=metadata)).contact.id)


async def _interleave(running: Running, bare: Yardstick) -> tuple[dict[str, list[float]], dict[str, bool]]:
    seconds: dict[str, list[float]] = {"prompt": [], "yardstick": [], "empty": []}
    whole, found, failures = 0, 0, 0
    async with gateway_channel(running) as channel:
        stub: Any = gateway_pb2_grpc.GatewayServiceStub(channel)
        health: Any = health_pb2_grpc.HealthStub(channel)
        metadata = (("authorization", f"Bearer {running.api_key}"),)
        person = await _person(stub, metadata)
        for number, message in enumerate(await _new_messages(stub, metadata, person)):
            if number == WARM_UP:
                for values in (*seconds.values(), *bare.parts.values()):
                    values.clear()
                whole = found = failures = 0
            request = prompt_pb2.AssemblePromptRequest(
                agent_id=fixtures.AGENT,
                conversation_id=CONVERSATION,
                message=message,
                budget_tokens=TOKENS,
            )
            began = time.perf_counter()
            prompt = await stub.AssemblePrompt(request, metadata=metadata)
            seconds["prompt"].append(time.perf_counter() - began)
            began = time.perf_counter()
            bare.ask(person, message)
            seconds["yardstick"].append(time.perf_counter() - began)
            began = time.perf_counter()
            await health.Check(health_pb2.HealthCheckRequest(), metadata=metadata)
            seconds["empty"].append(time.perf_counter() - began)
            failures += len(prompt.failures)
            shown = {layer.kind: layer for layer in prompt.layers if layer.text}
            whole += all(kind in shown for kind in LAYERS) and prompt.token_count <= TOKENS
            found += bool(
                prompt_pb2.LAYER_KIND_RETRIEVED in shown and shown[prompt_pb2.LAYER_KIND_RETRIEVED].memory_ids
            )
    return seconds, {
        "every_layer": whole == PROMPTS,
        "memories_are_retrieved": found == PROMPTS,
        "no_channel_failed": not failures,
    }


async def _new_messages(stub: Any, metadata: Any, person: str) -> list[str]:
    """Each names the key of one of the person's memories and words of its value, and is asked once."""
    dice = random.Random(SEED)
    listing = memories_pb2.ListMemoriesRequest(agent_id=fixtures.AGENT, contact_id=person, page_size=500)
    memories = list((await stub.ListMemories(listing, metadata=metadata)).memories)
    asked: dict[str, None] = {}
    while len(asked) < WARM_UP + PROMPTS:
        memory = dice.choice(memories)
        first, second = dice.sample(memory.value.split(), 2)
        asked[f"what became of {memory.key.partition('.')[0]} with the {first} and {second}?"] = None
    return list(asked)
