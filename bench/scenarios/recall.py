"""P-3: recall of memories through every channel, over what it does at the least (`bench.yardstick`)."""

from __future__ import annotations

import asyncio
import random
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from palimpsest.common.v1 import resources_pb2
from palimpsest.gateway.v1 import conversations_pb2, memories_pb2

from bench import fixtures
from bench.result import Result
from bench.suite import Metadata
from bench.yardstick import DEPTH, Measured, Turns, excess

ID = "P-3"
BUDGET_CALLS = 6.0
MEMORIES = 50_000
CONTACTS = 100
MESSAGES_EACH = 20  # with a contact; each is the source of one of the memories, for the channel of messages
LIMIT = 10
WARM_UP = 40
QUERIES = 400
SEED = 3
CHANNELS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A query that nobody asked before, of whom, and the memory that answers it."""

    contact_id: str
    query: str
    answer_id: str


def run() -> Result:
    """The excess of recall's median over the yardstick's, in medians of an empty call."""
    with tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as scratch:
        data = Path(scratch) / "data"
        fill(data, MEMORIES, CONTACTS)
        return measure(data)


def fill(data: Path, memories: int, contacts: int) -> None:
    """Writes a data folder: memories, and a conversation with each contact that some of them came from."""
    sourced = contacts * MESSAGES_EACH
    fixtures.memories(data, memories - sourced, contacts)
    asyncio.run(_add_sourced(data, contacts))


def measure(data: Path) -> Result:
    """Over a folder that `fill` wrote, which is free again afterwards."""
    load = (
        f"{MEMORIES} memories of {CONTACTS} contacts, {CONTACTS * MESSAGES_EACH} of them from messages,"
        f" seeded vectors; {QUERIES} distinct queries after {WARM_UP} others, limit {LIMIT}, depth {DEPTH}"
    )
    measured = Measured(id=ID, budget=BUDGET_CALLS, call="recall", text="query", load=load)
    return excess(data, measured, _recall)


async def _add_sourced(data: Path, contacts: int) -> None:
    dice = random.Random(SEED)
    async with fixtures.serving(data) as (stub, metadata):
        for number in range(contacts):
            person = await _person(stub, metadata, number)
            name = f"c{number}"
            await stub.CreateConversation(
                conversations_pb2.CreateConversationRequest(
                    agent_id=fixtures.AGENT, conversation_id=name, contact_id=person
                ),
                metadata=metadata,
            )
            said = [" ".join(fixtures.word(dice) for _ in range(12)) for _ in range(MESSAGES_EACH)]
            stored = await stub.Ingest(
                conversations_pb2.IngestRequest(
                    agent_id=fixtures.AGENT,
                    conversation_id=name,
                    messages=[fixtures.message(text) for text in said],
                ),
                metadata=metadata,
            )
            for message in stored.messages:
                await stub.Remember(
                    memories_pb2.RememberRequest(
                        agent_id=fixtures.AGENT,
                        contact_id=person,
                        key=f"{fixtures.word(dice)}.from-{message.sequence}",
                        value=" ".join(fixtures.word(dice) for _ in range(12)),
                        provenance=[
                            resources_pb2.MessageRef(conversation_id=name, message_id=message.message_id)
                        ],
                    ),
                    metadata=metadata,
                )
    if not await fixtures.drained(data, {f"c{number}": MESSAGES_EACH for number in range(contacts)}):
        raise RuntimeError("not everything was indexed")


async def _person(stub: Any, metadata: Metadata, number: int) -> str:
    request = conversations_pb2.ResolveContactRequest(agent_id=fixtures.AGENT, identity=f"bench:{number}")
    return str((await stub.ResolveContact(request, metadata=metadata)).contact.id)


async def _questions(stub: Any, metadata: Metadata, count: int) -> list[Question]:
    """Each names the key of a memory, words of its value, and words of a message of the same person."""
    dice = random.Random(SEED)
    questions: dict[str, Question] = {}
    for number in range(CONTACTS):
        person = await _person(stub, metadata, number)
        listing = memories_pb2.ListMemoriesRequest(agent_id=fixtures.AGENT, contact_id=person, page_size=500)
        memories = (await stub.ListMemories(listing, metadata=metadata)).memories
        pages = conversations_pb2.ListMessagesRequest(
            agent_id=fixtures.AGENT, conversation_id=f"c{number}", page_size=MESSAGES_EACH
        )
        messages = (await stub.ListMessages(pages, metadata=metadata)).messages
        for memory in dice.sample(list(memories), -(-count // CONTACTS)):
            key = memory.key.partition(".")[0]
            first, second = dice.sample(memory.value.split(), 2)
            third, fourth = dice.sample(dice.choice(messages).parts[0].text.split(), 2)
            query = f"what became of {key} with the {first} and {second}, since {third} {fourth}?"
            questions[query] = Question(contact_id=person, query=query, answer_id=memory.id)
    found = list(questions.values())
    dice.shuffle(found)
    return found[:count]


async def _recall(stub: Any, metadata: Metadata, turns: Turns) -> dict[str, bool]:
    channels: set[int] = set()
    answered, alike, failures = 0, 0, 0
    for number, asked in enumerate(await _questions(stub, metadata, WARM_UP + QUERIES)):
        if number == WARM_UP:
            turns.warmed_up()
            answered = alike = failures = 0
        request = memories_pb2.RecallRequest(
            agent_id=fixtures.AGENT, contact_id=asked.contact_id, query=asked.query, limit=LIMIT
        )
        answer, near, worded = await turns.take(
            partial(stub.Recall, request, metadata=metadata), asked.contact_id, asked.query
        )
        failures += len(answer.failures)
        answered += any(hit.memory.id == asked.answer_id for hit in answer.hits)
        alike += len(near) == DEPTH and asked.answer_id in worded
        channels |= {rank.channel for hit in answer.hits for rank in hit.explanation.channels}
    return {
        "answered": answered == QUERIES,
        "yardstick_finds_the_same": alike == QUERIES,
        "every_channel": len(channels) == CHANNELS and not failures,
    }
