"""LangChain: a chat message history that loses nothing, and recall as a retriever."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.runnables.history import RunnableWithMessageHistory

import palimpsest
from palimpsest import NewMessage, models
from palimpsest.integrations.langchain import PalimpsestChatMessageHistory, PalimpsestRetriever
from tests.integration.framework_suite import FrameworkSuite, framework_suite

# LangChain 1 warns of what it will take out in 2, as soon as somebody makes one.
pytestmark = pytest.mark.filterwarnings(
    "ignore:The class `InMemoryChatMessageHistory`", "ignore:RunnableWithMessageHistory is deprecated"
)

EVERY_KIND: list[BaseMessage] = [
    SystemMessage("Be brief.", additional_kwargs={"cache": {"ttl": 5}}),
    HumanMessage("Zoë says 🚲 \0 and \ud800", id="h1", name="zoe"),
    HumanMessage(""),
    HumanMessage(
        [
            {"type": "text", "text": "What is this?"},
            {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
            {"type": "image", "base64": "aGk=", "mime_type": "image/png"},
        ]
    ),
    AIMessage(
        "Let me look.",
        id="run-1",
        tool_calls=[
            {"id": "c1", "name": "look", "args": {"n": 1, "big": 2**70, "f": 1.0, "z": [None, True]}}
        ],
        invalid_tool_calls=[{"id": "c2", "name": "look", "args": "{", "error": "no JSON"}],
        additional_kwargs={"reasoning": "hm", "signature": "aGk="},
        response_metadata={"model": "m", "logprobs": [0.1, -2]},
        usage_metadata={"input_tokens": 3, "output_tokens": 4, "total_tokens": 7},
    ),
    ToolMessage("42", tool_call_id="c1", name="look", artifact={"rows": [1, 2]}),
    ToolMessage([{"type": "text", "text": "it failed"}], tool_call_id="c2", status="error"),
    AIMessage([{"type": "thinking", "thinking": "so", "signature": "s"}, {"type": "text", "text": "Done."}]),
    ChatMessage("as the narrator", role="narrator"),
    FunctionMessage("result", name="old_style"),
    AIMessageChunk("part", id="run-2", chunk_position="last"),
    RemoveMessage(id="h1"),
    HumanMessage("long " * 60_000),
]


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
def name(numbers: Iterator[int]) -> str:
    return f"conversation-{next(numbers)}"


def test_every_kind_of_message_comes_back_as_it_was(client: palimpsest.Client, name: str) -> None:
    history, reference = PalimpsestChatMessageHistory(client, name), InMemoryChatMessageHistory()
    for messages in (EVERY_KIND[:4], EVERY_KIND[4:]):
        history.add_messages(messages)
        reference.add_messages(messages)
    assert history.messages == reference.messages == EVERY_KIND
    assert [type(one) for one in history.messages] == [type(one) for one in EVERY_KIND]


def test_people_and_models_read_what_was_said(client: palimpsest.Client, name: str) -> None:
    PalimpsestChatMessageHistory(client, name).add_messages(EVERY_KIND)
    stored = list(client.path(name))
    assert [one.role for one in stored[:6]] == ["system", "user", "user", "user", "assistant", "tool"]
    assert stored[1].text == "Zoë says 🚲 \ufffd and ?"
    assert stored[3].parts[1] == models.Attachment(uri="https://example.org/a.png")
    assert [type(part) for part in stored[4].parts] == [models.TextPart, models.ToolCall]
    assert stored[5].parts == (models.ToolResult(call_id="c1", content="42"),)
    assert stored[6].parts == (models.ToolResult(call_id="c2", content="it failed", is_error=True),)
    assert len(stored[-1].text) > 290_000


def test_what_others_stored_is_read_too(client: palimpsest.Client, name: str) -> None:
    client.create_conversation(name)
    client.record_turn(
        name,
        [
            NewMessage("user", "hello", author="Marta"),
            NewMessage("assistant", [models.TextPart("hm"), models.ToolCall(call_id="c", name="f")]),
            NewMessage("tool", [models.ToolResult(call_id="c", content="r", is_error=True)]),
            NewMessage("system", "note"),
        ],
    )
    assert PalimpsestChatMessageHistory(client, name).messages == [
        HumanMessage("hello"),
        AIMessage("hm", tool_calls=[{"id": "c", "name": "f", "args": {}}]),
        ToolMessage("r", tool_call_id="c", status="error"),
        SystemMessage("note"),
    ]


def test_a_message_with_an_id_is_stored_once(client: palimpsest.Client, name: str) -> None:
    history = PalimpsestChatMessageHistory(client, name)
    first, answer, more = HumanMessage("hi", id="1"), AIMessage("hello", id="2"), HumanMessage("and?", id="3")
    history.add_messages([first, answer])
    history.add_messages([first, answer])
    PalimpsestChatMessageHistory(client, name).add_messages([first, answer, more])
    assert history.messages == [first, answer, more]
    changed = AIMessage("hello again", id="2")
    history.add_message(changed)
    history.add_messages([HumanMessage("ok"), HumanMessage("ok")])
    assert history.messages == [first, answer, more, changed, HumanMessage("ok"), HumanMessage("ok")]


def test_an_id_counts_on_the_active_path_alone(client: palimpsest.Client, name: str) -> None:
    """What somebody else branched off is not taken for what is there."""
    history = PalimpsestChatMessageHistory(client, name)
    first, second, third = HumanMessage("a", id="1"), HumanMessage("b", id="2"), HumanMessage("c", id="3")
    history.add_messages([first, second, second, third, first])
    assert history.messages == [first, second, third]
    stored = list(client.path(name))
    client.record_turn(name, [NewMessage("user", "instead")], parent_id=stored[0].id, branch=True)
    assert history.messages == [first, HumanMessage("instead")]
    for _ in range(2):
        history.add_messages([first, second, third])
        assert history.messages == [first, HumanMessage("instead"), second, third]
    client.switch_leaf(name, stored[-1].id)
    history.add_messages([first, second, third])
    assert history.messages == [first, second, third]


async def test_many_callers_add_at_once(suite: FrameworkSuite, client: palimpsest.Client, name: str) -> None:
    """Nothing is lost, what one adds stands together, and a message with an id is there once."""
    histories = [PalimpsestChatMessageHistory(client, name) for _ in range(6)]
    shared = AIMessage("shared", id="s")
    await histories[0].aadd_messages([HumanMessage("begin")])
    await asyncio.gather(
        *(
            one.aadd_messages([AIMessage(f"{n}.{m}", id=f"{n}.{m}") for m in range(3)])
            for n, one in enumerate(histories)
        ),
        *(one.aadd_messages([shared]) for one in histories),
    )
    texts = [str(one.content) for one in histories[0].messages]
    assert sorted(texts) == sorted(["begin", "shared", *(f"{n}.{m}" for n in range(6) for m in range(3))])
    for n in range(6):
        at = texts.index(f"{n}.0")
        assert texts[at : at + 3] == [f"{n}.0", f"{n}.1", f"{n}.2"]


class Failing(palimpsest.AsyncClient):
    """Whose next turn is not stored, or whose answer to it is lost."""

    broken: str = "before"

    async def record_turn(self, *args: Any, **kwargs: Any) -> models.RecordedTurn:
        if self.broken == "before":
            raise palimpsest.UnavailableError
        turn = await super().record_turn(*args, **kwargs)
        if self.broken == "after":
            raise palimpsest.DeadlineError
        return turn


async def test_what_broke_off_is_added_again_once(
    suite: FrameworkSuite, client: palimpsest.Client, name: str
) -> None:
    async with Failing(suite.target, api_key=suite.key, agent=client.agent) as failing:
        history = PalimpsestChatMessageHistory(failing, name)
        messages: list[BaseMessage] = [HumanMessage("a", id="1"), AIMessage("b", id="2")]
        with pytest.raises(palimpsest.UnavailableError):
            await history.aadd_messages(messages)
        assert await history.aget_messages() == []
        failing.broken = "after"
        with pytest.raises(palimpsest.DeadlineError):
            await history.aadd_messages(messages)
        failing.broken = "no"
        await history.aadd_messages(messages)
        assert await history.aget_messages() == messages


def test_a_reader_reads(suite: FrameworkSuite, client: palimpsest.Client, name: str) -> None:
    made = client.create_key("reader", agent_ids=[client.agent])
    PalimpsestChatMessageHistory(client, name).add_messages(EVERY_KIND)
    with palimpsest.Client(suite.target, api_key=made.secret, agent=client.agent) as reader:
        history = PalimpsestChatMessageHistory(reader, name)
        assert history.messages == EVERY_KIND
        with pytest.raises(palimpsest.NotAllowedError):
            history.add_message(HumanMessage("a"))


def test_clearing_begins_anew_and_deletes_nothing(client: palimpsest.Client, name: str) -> None:
    """E-4."""
    history = PalimpsestChatMessageHistory(client, name)
    history.clear()
    said = HumanMessage("the marmalade recipe", id="1")
    history.add_messages([said, AIMessage("noted", id="2")])
    history.clear()
    history.clear()
    assert history.messages == []
    history.add_message(said)
    history.add_message(said)
    assert history.messages == [said]
    assert [one.text for one in client.messages(name)].count("the marmalade recipe") == 2
    history.clear()
    client.wait_indexed(client.record_turn(name, [NewMessage("user", "something else")]).token)
    found = client.recall_conversation("marmalade recipe", conversation_id=name)
    assert not [hit for hit in found if "marmalade" in hit.message.text]
    found = client.recall_conversation("marmalade recipe", conversation_id=name, include_inactive=True)
    assert [hit for hit in found if "marmalade" in hit.message.text]


def test_forks_keep_originals(client: palimpsest.Client, name: str) -> None:
    history = PalimpsestChatMessageHistory(client, name)
    history.add_messages(EVERY_KIND[:6])
    last = list(client.path(name))[-1]
    fork = client.fork(name, last.id)
    assert PalimpsestChatMessageHistory(client, fork.id).messages == EVERY_KIND[:6]


def test_long_histories(client: palimpsest.Client, name: str) -> None:
    history = PalimpsestChatMessageHistory(client, name)
    messages = [AIMessage(f"m{n}", response_metadata={"n": n}) for n in range(520)]
    history.add_messages(messages)
    assert history.messages == messages
    fork = client.fork(name, list(client.path(name))[40].id)
    assert PalimpsestChatMessageHistory(client, fork.id).messages == messages[:41]


def test_what_json_cannot_say_is_refused_whole(client: palimpsest.Client, name: str) -> None:
    history = PalimpsestChatMessageHistory(client, name)
    with pytest.raises(ValueError, match="JSON"):
        history.add_messages([HumanMessage("a"), ToolMessage("b", tool_call_id="c", artifact=object())])
    assert history.messages == []
    history.add_message(HumanMessage("a"))
    assert history.messages == [HumanMessage("a")]


async def test_a_chain_with_history_over_an_event_loop(suite: FrameworkSuite, name: str) -> None:
    async with suite.async_client("loop") as client:
        await client.create_agent()
        prompt = ChatPromptTemplate.from_messages([MessagesPlaceholder("history"), ("human", "{question}")])
        seen: list[list[BaseMessage]] = []

        def note(value: object) -> object:
            seen.append(list(value.to_messages()))  # type: ignore[attr-defined]
            return value

        model = FakeListChatModel(responses=["hello Marta", "you are Marta"])
        chain = RunnableWithMessageHistory(
            prompt | RunnableLambda(note) | model,
            lambda session_id: PalimpsestChatMessageHistory(client, session_id),
            input_messages_key="question",
            history_messages_key="history",
        )
        config = {"configurable": {"session_id": name}}
        await chain.ainvoke({"question": "I am Marta"}, config)
        await chain.ainvoke({"question": "Who am I?"}, config)
        assert [[one.content for one in each] for each in seen] == [
            ["I am Marta"],
            ["I am Marta", "hello Marta", "Who am I?"],
        ]
        history = PalimpsestChatMessageHistory(client, name)
        texts = [one.content for one in await history.aget_messages()]
        assert texts == ["I am Marta", "hello Marta", "Who am I?", "you are Marta"]
        await history.aclear()
        assert await history.aget_messages() == []


async def test_a_retriever_finds_memories_and_messages(client: palimpsest.Client, name: str) -> None:
    marta = client.resolve_contact("mailto:marta@example.org")
    client.create_conversation(name, contact_id=marta.id)
    turn = client.record_turn(
        name, [NewMessage("user", "Does the canoe lie at the northern jetty?", author="Marta")]
    )
    made = client.remember("canoe.colour", "Marta's canoe is green", contact_id=marta.id)
    client.wait_indexed(turn.token, made.token)

    memories = PalimpsestRetriever(client=client, contact_id=marta.id, limit=3)
    (first, *_) = memories.invoke("Which colour has the canoe?")
    assert isinstance(first, Document)
    assert first.page_content == "Marta's canoe is green"
    assert first.metadata["key"] == "canoe.colour"
    assert first.metadata["score"] > 0
    assert first.id == made.memory.id
    assert not [
        one for one in PalimpsestRetriever(client=client).invoke("canoe") if "canoe" in one.page_content
    ]

    messages = PalimpsestRetriever(client=client, source="messages", conversation_id=name)
    (found, *_) = await messages.ainvoke("Where is the canoe?")
    assert found.page_content == "Does the canoe lie at the northern jetty?"
    assert (found.metadata["role"], found.metadata["author"]) == ("user", "Marta")
    chain = {"context": memories, "question": RunnablePassthrough()} | RunnableLambda(
        lambda given: f"{given['context'][0].page_content}: {given['question']}"
    )
    assert await chain.ainvoke("canoe?") == "Marta's canoe is green: canoe?"
