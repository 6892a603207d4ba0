"""P-12: the prompt of the next turn of a long conversation, over P-3's yardstick for the same questions.

One conversation of ten thousand messages with a person whom the agent knows a share of its memories of;
everything is indexed, covered and summarised as the suite does it by itself. What AssemblePrompt takes beyond
embedding the message, one vector query and one FTS query is counted in empty calls.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from palimpsest.common.v1 import resources_pb2
from palimpsest.gateway.v1 import conversations_pb2, memories_pb2, prompt_pb2

from bench import fixtures
from bench.result import Result
from bench.suite import Metadata
from bench.yardstick import Measured, Turns, excess

ID = "P-12"
BUDGET_CALLS = 12.0
MEMORIES = 5_000
CONTACTS = 10
MESSAGES = 10_000
CONVERSATION = "long"
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
    load = (
        f"{MEMORIES} memories of {CONTACTS} contacts, a conversation of {MESSAGES} messages with one of them,"
        f" seeded vectors; {PROMPTS} distinct messages after {WARM_UP} others, a budget of {TOKENS} tokens"
    )
    measured = Measured(id=ID, budget=BUDGET_CALLS, call="prompt", text="message", load=load)
    return excess(data, measured, _assemble)


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
        messages = [_message(dice, number) for number in range(MESSAGES)]
        await fixtures.ingest(stub, metadata, CONVERSATION, messages)
    if not await fixtures.drained(data, {CONVERSATION: MESSAGES}):
        raise RuntimeError("not everything was indexed")


def _message(dice: random.Random, number: int) -> resources_pb2.NewMessage:
    text = " ".join(fixtures.word(dice) for _ in range(dice.randint(*WORDS)))
    return fixtures.message(text, fixtures.ASSISTANT if number % 2 else fixtures.USER)


async def _person(stub: Any, metadata: Any) -> str:
    request = conversations_pb2.ResolveContactRequest(agent_id=fixtures.AGENT, identity="bench:0")
    return str((await stub.ResolveContact(request, metadata=metadata)).contact.id)


async def _assemble(stub: Any, metadata: Metadata, turns: Turns) -> dict[str, bool]:
    whole, found, failures = 0, 0, 0
    person = await _person(stub, metadata)
    for number, message in enumerate(await _new_messages(stub, metadata, person)):
        if number == WARM_UP:
            turns.warmed_up()
            whole = found = failures = 0
        request = prompt_pb2.AssemblePromptRequest(
            agent_id=fixtures.AGENT,
            conversation_id=CONVERSATION,
            message=message,
            budget_tokens=TOKENS,
        )
        prompt, _, _ = await turns.take(
            partial(stub.AssemblePrompt, request, metadata=metadata), person, message
        )
        failures += len(prompt.failures)
        shown = {layer.kind: layer for layer in prompt.layers if layer.text}
        whole += all(kind in shown for kind in LAYERS) and prompt.token_count <= TOKENS
        found += bool(
            prompt_pb2.LAYER_KIND_RETRIEVED in shown and shown[prompt_pb2.LAYER_KIND_RETRIEVED].memory_ids
        )
    return {
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
