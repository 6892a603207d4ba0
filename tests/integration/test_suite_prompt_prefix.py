"""What stands before the new message stays byte for byte while nothing is stored (SPEC G-1, S-10).

Each prompt counts an access of the memories that it shows; the choice of them must not follow from that.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
import pytest_asyncio
from palimpsest.common.v1 import resources_pb2
from palimpsest.gateway.v1 import conversations_pb2, memories_pb2, prompt_pb2

from tests.integration.embedded_suite import AGENT, Running, contact, failure, idle, prepare, running, said

pytestmark = pytest.mark.asyncio(loop_scope="module")
WORDS = (
    "heron",
    "mill",
    "river",
    "barge",
    "nest",
    "garden",
    "invoice",
    "postgres",
    "rain",
    "bread",
    "winter",
)
MEMORIES = 30
"""More than are shown."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def suite(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    folder: Path = tmp_path_factory.mktemp("prefix")
    async with running(folder / "data") as made:
        yield made


def words(dice: random.Random, most: int) -> str:
    return " ".join(dice.choices(WORDS, k=dice.randint(1, most)))


async def prompt(stub: Any, conversation: str, message: str, **fields: Any) -> Any:
    request = prompt_pb2.AssemblePromptRequest(
        agent_id=AGENT, conversation_id=conversation, message=message, author="Ann", **fields
    )
    return await stub.AssemblePrompt(request)


def before_the_message(answer: Any) -> list[bytes]:
    messages = [one.SerializeToString() for one in answer.openai_messages]
    return messages[:-1]


async def record(stub: Any, conversation: str, parent_id: str, dice: random.Random) -> str:
    """Stores a turn and waits for what is derived from it; the id of its last message."""
    answer = said(words(dice, 30))
    answer.role = resources_pb2.ROLE_ASSISTANT
    stored = await stub.Ingest(
        conversations_pb2.IngestRequest(
            agent_id=AGENT,
            conversation_id=conversation,
            parent_id=parent_id,
            messages=[said(words(dice, 30), author="Ann"), answer],
        )
    )
    await idle(stub)
    return str(stored.messages[-1].message_id)


async def remember(stub: Any, person: str, key: str, dice: random.Random) -> None:
    await stub.Remember(
        memories_pb2.RememberRequest(agent_id=AGENT, contact_id=person, key=key, value=words(dice, 12))
    )


async def test_prompts_share_their_beginning_until_something_is_stored(suite: Running) -> None:
    stub = await suite.stub()
    dice = random.Random(1)
    await prepare(stub)
    person = await contact(stub, "test:ann")
    for number in range(MEMORIES):
        await remember(stub, person, f"k{number}", dice)
    for conversation in ("one", "two"):
        await stub.CreateConversation(
            conversations_pb2.CreateConversationRequest(
                agent_id=AGENT, conversation_id=conversation, contact_id=person
            )
        )
        previous: list[bytes] = []
        newest = ""
        for _ in range(4):
            newest = await record(stub, conversation, newest, dice)
            made = [await prompt(stub, conversation, words(dice, 40)) for _ in range(3)]
            beginnings = [before_the_message(one) for one in made]
            assert beginnings[0] == beginnings[1] == beginnings[2]
            assert beginnings[0][: len(previous)] == previous
            assert len(beginnings[0]) == len(previous or [b""]) + 2, "the turn that was stored"
            assert len({one.anthropic_system for one in made}) == 1
            assert len({len(one.layers[1].memory_ids) for one in made} | {20}) == 1
            previous = beginnings[0]
    shown = set(made[0].layers[1].memory_ids)
    await remember(stub, person, "news", dice)
    after = await prompt(stub, "two", "hi")
    assert set(after.layers[1].memory_ids) != shown, "memories changed, and they are chosen anew"


async def test_a_version_of_the_attractor_that_is_not_there_is_not_found(suite: Running) -> None:
    """K-3."""
    stub = await suite.stub()
    answer = await prompt(stub, "c", "hi")
    assert answer.layers[1].attractor_version == 0
    assert not answer.exact_tokens
    code, reason, _ = await failure(prompt(stub, "c", "hi", attractor_version=5))
    assert (code, reason) == (grpc.StatusCode.NOT_FOUND, "RESOURCE_NOT_FOUND")
