"""LlamaIndex: a memory for its chat engines that loses nothing, and a memory block that recalls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

import pytest
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ImageBlock,
    MessageRole,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms.mock import MockLLM
from llama_index.core.memory import ChatMemoryBuffer, Memory
from pydantic import PrivateAttr
from sqlalchemy.ext.asyncio import create_async_engine

import palimpsest
from palimpsest import NewMessage, models
from palimpsest.integrations.llama_index import PalimpsestMemory, PalimpsestRecallBlock
from tests.integration.framework_suite import FrameworkSuite, framework_suite

EVERY_KIND = [
    ChatMessage("Be brief.", role=MessageRole.SYSTEM),
    ChatMessage("Zoë 🚲 \0", role=MessageRole.USER, additional_kwargs={"n": 1, "nested": {"a": [None, 2.5]}}),
    ChatMessage(
        role=MessageRole.ASSISTANT,
        blocks=[
            ThinkingBlock(content="hm", additional_information={"signature": "s"}),
            TextBlock(text="Let me look."),
            ToolCallBlock(tool_call_id="c1", tool_name="look", tool_kwargs={"n": 1, "big": 2**70}),
        ],
    ),
    ChatMessage("42", role=MessageRole.TOOL, additional_kwargs={"tool_call_id": "c1", "name": "look"}),
    ChatMessage(
        role=MessageRole.USER,
        blocks=[TextBlock(text="this"), ImageBlock(image=b"aGk=", image_mimetype="image/png")],
    ),
    ChatMessage(role=MessageRole.ASSISTANT, blocks=[]),
    ChatMessage("as a chatbot", role=MessageRole.CHATBOT),
    ChatMessage("long " * 30_000),
]


class RecordingLLM(MockLLM):
    """Says what it was asked, and keeps it."""

    _asked: list[list[ChatMessage]] = PrivateAttr(default_factory=list)

    @property
    def asked(self) -> list[list[str | None]]:
        """The texts of each call."""
        return [[one.content for one in messages] for messages in self._asked]

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        self._asked.append(list(messages))
        return ChatResponse(message=ChatMessage(f"answer {len(self._asked)}", role=MessageRole.ASSISTANT))

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return self.chat(messages)


def user(text: str) -> ChatMessage:
    return ChatMessage(text, role=MessageRole.USER)


def assistant(text: str) -> ChatMessage:
    return ChatMessage(text, role=MessageRole.ASSISTANT)


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FrameworkSuite]:
    with framework_suite(tmp_path_factory.mktemp("suite") / "data") as made:
        yield made


@pytest.fixture(scope="module")
def client(suite: FrameworkSuite) -> Iterator[palimpsest.Client]:
    with suite.client("ada") as made:
        yield made


@pytest.fixture(scope="module")
def numbers() -> Iterator[int]:
    return count()


@pytest.fixture
def memory(client: palimpsest.Client, numbers: Iterator[int]) -> PalimpsestMemory:
    return PalimpsestMemory.from_defaults(client=client, conversation_id=f"conversation-{next(numbers)}")


def test_messages_come_back_as_they_were(client: palimpsest.Client, memory: PalimpsestMemory) -> None:
    assert memory.get() == memory.get_all() == []
    memory.put_messages(EVERY_KIND[:3])
    for message in EVERY_KIND[3:]:
        memory.put(message)
    assert memory.get_all() == EVERY_KIND
    assert [one.role for one in client.path(memory.conversation_id)][:4] == [
        "system",
        "user",
        "assistant",
        "tool",
    ]
    large = PalimpsestMemory(client=client, conversation_id=memory.conversation_id, token_limit=200_000)
    assert large.get()[:7] == EVERY_KIND[:7]
    assert "client" not in memory.to_dict()


def test_a_history_fits_its_budget(client: palimpsest.Client, memory: PalimpsestMemory) -> None:
    """E-5. Twenty-four messages are too few for a job to summarise them meanwhile."""
    said = [
        f"This is sentence number {n} of a rather long talk about bicycles and canoes." for n in range(24)
    ]
    memory.put_messages([(user, assistant)[n % 2](text) for n, text in enumerate(said)])
    path = list(client.path(memory.conversation_id))
    client.put_overlay(
        memory.conversation_id, path[2].id, path[17].id, "They talked of bicycles.", model="by hand"
    )
    small = PalimpsestMemory(client=client, conversation_id=memory.conversation_id, token_limit=300)
    shown = small.get()
    assert str(shown[0].content).startswith("This is sent"), "the window shows the first message shorter"
    (summary,) = [one for one in shown if one.role == MessageRole.SYSTEM]
    assert "They talked of bicycles." in str(summary.content)
    tail = [one.content for one in shown[shown.index(summary) + 1 :]]
    assert tail == said[-len(tail) :]
    assert 3 < len(tail) < 20
    assert len(small.get(initial_token_count=40)) < len(shown)
    assert [one.content for one in small.get_all()] == said
    everything = PalimpsestMemory(client=client, conversation_id=memory.conversation_id)
    assert everything.get() == everything.get_all()


def test_setting_goes_on_or_branches_off(client: palimpsest.Client, memory: PalimpsestMemory) -> None:
    """E-4: what is replaced stays on a branch that was left."""
    first, second, third, other = user("one"), assistant("two"), user("three"), EVERY_KIND[2]
    for messages in (
        [first, second],
        [first, second, third],  # goes on
        [first, other, third],  # branches off
        [first],  # shorter
        [],
        [first, other],
        [second, other],
        [second, other],  # no change
    ):
        memory.set(messages)
        assert memory.get_all() == messages
        assert memory.get() == messages
    texts = [one.text for one in client.messages(memory.conversation_id)]
    assert texts.count("three") == 2
    assert texts.count("one") == 2
    memory.reset()
    assert memory.get_all() == memory.get() == []
    memory.put(third)
    assert memory.get_all() == [third]


def test_a_chat_engine_does_the_same_as_with_a_buffer(memory: PalimpsestMemory) -> None:
    asked = []
    for one in (memory, ChatMemoryBuffer.from_defaults(token_limit=8000)):
        llm = RecordingLLM()
        engine = SimpleChatEngine.from_defaults(llm=llm, memory=one, system_prompt="Be brief.")
        engine.chat("I am Marta")
        engine.chat("Who am I?")
        engine.chat("And now?", chat_history=[user("I am Nils"), assistant("Hello Nils")])
        history = engine.chat_history
        engine.reset()
        engine.chat("Again")
        asked.append([llm.asked, history, engine.chat_history])
    assert asked[0] == asked[1]
    assert asked[0][0][2][1:] == ["I am Nils", "Hello Nils", "And now?"]


async def test_an_asynchronous_chat_goes_on_elsewhere(suite: FrameworkSuite) -> None:
    async with suite.async_client("loop") as client:
        await client.create_agent()
        for question, seen in (("one", ["one"]), ("two", ["one", "answer 1", "two"])):
            llm = RecordingLLM()
            memory = PalimpsestMemory(client=client, conversation_id="c")
            engine = SimpleChatEngine.from_defaults(llm=llm, memory=memory)
            await engine.achat(question)
            assert llm.asked == [seen]
        assert [one.content for one in await memory.aget_all()] == ["one", "answer 1", "two", "answer 1"]
        await memory.aset([user("x")])
        assert await memory.aget() == [user("x")]
        await memory.areset()
        assert await memory.aget() == []


def test_recall_comes_before_the_model(client: palimpsest.Client, numbers: Iterator[int]) -> None:
    marta = client.resolve_contact("mailto:marta@example.org")
    made = client.remember("coffee.milk", "Marta takes oat milk in her coffee", contact_id=marta.id)
    client.wait_indexed(made.token)
    llm = RecordingLLM()
    memory = PalimpsestMemory(
        client=client, conversation_id=f"conversation-{next(numbers)}", contact_id=marta.id, recall_limit=3
    )
    SimpleChatEngine.from_defaults(llm=llm, memory=memory).chat("What milk goes in Marta's coffee?")
    (asked,) = llm.asked
    assert asked[0] is not None
    assert "Marta takes oat milk in her coffee" in asked[0]
    assert asked[1:] == ["What milk goes in Marta's coffee?"]
    assert client.get_conversation(memory.conversation_id).contact_id == marta.id


async def test_a_memory_block_recalls(client: palimpsest.Client) -> None:
    made = client.remember("tea", "The Darjeeling is in the blue tin")
    client.wait_indexed(made.token)
    engine = create_async_engine("sqlite+aiosqlite:///:memory:")
    blocks = [PalimpsestRecallBlock(client=client, limit=3)]
    memory = Memory.from_defaults(
        session_id="s", token_limit=4000, memory_blocks=blocks, tokenizer_fn=str.split, async_engine=engine
    )
    llm = RecordingLLM()
    try:
        await SimpleChatEngine.from_defaults(llm=llm, memory=memory).achat("Where is the Darjeeling?")
        (asked,) = llm.asked
        assert "The Darjeeling is in the blue tin" in str(asked[0])
        assert asked[-1] == "Where is the Darjeeling?"
        assert "blue tin" not in str([one.content for one in await memory.aget_all()])
    finally:
        await engine.dispose()


def test_what_others_stored_is_read_too(client: palimpsest.Client, memory: PalimpsestMemory) -> None:
    client.create_conversation(memory.conversation_id)
    client.record_turn(
        memory.conversation_id,
        [
            NewMessage("user", "hello"),
            NewMessage("assistant", [models.TextPart("hm"), models.ToolCall(call_id="c", name="f")]),
            NewMessage("tool", [models.ToolResult(call_id="c", content="r")]),
        ],
    )
    call = ToolCallBlock(tool_call_id="c", tool_name="f", tool_kwargs={})
    assert memory.get_all() == [
        user("hello"),
        ChatMessage(role=MessageRole.ASSISTANT, blocks=[TextBlock(text="hm"), call]),
        ChatMessage("r", role=MessageRole.TOOL, additional_kwargs={"tool_call_id": "c"}),
    ]
    assert memory.get() == memory.get_all()


def test_what_json_cannot_say_is_refused_whole(memory: PalimpsestMemory) -> None:
    with pytest.raises(ValueError, match="JSON"):
        memory.put_messages([user("a"), ChatMessage("b", additional_kwargs={"x": object()})])
    assert memory.get_all() == []
