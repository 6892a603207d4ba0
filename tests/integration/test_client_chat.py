"""Chats and answers through the client, asynchronous and not (SPEC G-4, G-8)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import timedelta

import pytest
import pytest_asyncio

from palimpsest import models, sync
from palimpsest.client import AsyncClient
from palimpsest.errors import (
    DataFlowRefusedError,
    ExistsError,
    ModelNotConfiguredError,
    TurnRunningError,
    UnavailableError,
)
from tests.integration.chat_suite import ChatSuite, chat_suite, interruption
from tests.integration.embedded_suite import AGENT
from tests.scripted_model import Reply, called, calls, completion, events, stream, texts

pytestmark = pytest.mark.asyncio(loop_scope="module")
FIGURES = {"prompt_tokens": 21, "completion_tokens": 4}
HANGING = events(texts(["The heron"]), hang=True)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ChatSuite]:
    async with chat_suite(tmp_path_factory.mktemp("chat") / "data") as made:
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def suite(shared: ChatSuite) -> ChatSuite:
    shared.reset()
    return shared


@pytest_asyncio.fixture(loop_scope="module")
async def client(suite: ChatSuite) -> AsyncIterator[AsyncClient]:
    target = f"127.0.0.1:{suite.running.port}"
    async with AsyncClient(target, api_key=suite.running.operator, agent=AGENT) as made:
        yield made


async def test_events_are_typed(suite: ChatSuite, client: AsyncClient) -> None:
    place = await suite.conversation()
    suite.tools.made = {"look_up": lambda _: "a bird"}
    suite.model.script = [
        calls(called(0, "look_up", '{"word": "heron"}', call_id="a"), usage=FIGURES),
        stream("A ", "bird.", usage=FIGURES),
    ]
    told = [event async for event in client.chat(place, "What is it?", author="Ann")]
    started, call, result, *deltas, finished = told
    assert isinstance(started, models.TurnStarted)
    assert call == models.ToolCallStarted(
        models.ToolCall(call_id="a", name="look_up", arguments={"word": "heron"})
    )
    assert result == models.ToolCallFinished(call_id="a", is_error=False, preview="a bird", reused=False)
    assert deltas == [models.TextDelta("A "), models.TextDelta("bird.")]
    assert isinstance(finished, models.TurnFinished)
    assert finished.usage == models.ModelUsage(calls=2, estimated_calls=0, input_tokens=42, output_tokens=8)
    assert finished.first_token is not None
    assert finished.first_token > timedelta(0)
    assert finished.token is not None
    await client.wait_indexed(finished.token)
    assert (await client.get_message(place, finished.assistant_message_id)).text == "A bird."


async def test_leaving_interrupts_and_the_message_says_so(suite: ChatSuite, client: AsyncClient) -> None:
    place = await suite.conversation()
    suite.model.script = [HANGING]
    chat = client.chat(place, "What?")
    async for event in chat:
        if isinstance(event, models.TextDelta):
            break
    await chat.aclose()
    async with asyncio.timeout(20):
        while len(stored := await suite.said(place)) < 2:  # noqa: ASYNC110 - the server stores it
            await asyncio.sleep(0.02)
    assert interruption(stored[1]) is not None
    message = await client.get_message(place, stored[1].id)
    assert message.parts == (models.TextPart("The heron"), models.Interruption(cause="reader_left"))


async def test_errors_are_typed(suite: ChatSuite, client: AsyncClient) -> None:
    place = await suite.conversation()

    async def chat(text: str = "What?", **fields: object) -> None:
        async for _ in client.chat(place, text, **fields):  # type: ignore[arg-type]
            pass

    with pytest.raises(ModelNotConfiguredError) as missing:
        await chat(tier="fast")
    assert missing.value.metadata["tier"] == "fast"
    with pytest.raises(DataFlowRefusedError):
        await chat(tier="deep")
    suite.model.script = [HANGING]
    running = client.chat(place, "First.")
    await anext(running)
    with pytest.raises(TurnRunningError) as busy:
        await chat()
    assert busy.value.retry_after == 1.0
    await running.aclose()
    suite.model.script = [stream("fine")]
    await chat(request_id="r", wait=timedelta(seconds=20))
    with pytest.raises(ExistsError):
        await chat("Another?", request_id="r")


async def test_a_model_that_fails_is_asked_again_under_the_same_request(
    suite: ChatSuite, client: AsyncClient
) -> None:
    """As long as nothing of an answer has come; the message is stored once."""
    place = await suite.conversation()
    suite.model.script = [Reply(status=500), stream("fine")]
    with pytest.raises(UnavailableError):
        async for _ in client.chat(place, "What?", request_id="r"):
            pass
    told = [event async for event in client.chat(place, "What?", request_id="r")]
    assert isinstance(told[-1], models.TurnFinished)
    assert len(await suite.said(place)) == 2


async def test_answers_come_with_their_evidence(suite: ChatSuite, client: AsyncClient) -> None:
    kept = await client.remember("heron.food", "The heron eats fish.")
    suite.model.script = [completion("Fish [1].", usage=FIGURES)]
    found = await client.answer("What does the heron eat?", wait_for=[kept.token])
    assert (found.text, found.cited, found.no_text_reason) == ("Fish [1].", (1,), None)
    source = found.evidence[0].source
    assert isinstance(source, models.Memory)
    assert source.value == "The heron eats fish."
    alone = await client.answer("What does the heron eat?", evidence_only=True)
    assert (alone.text, alone.no_text_reason) == ("", "not_asked")


async def test_without_a_loop_it_is_a_plain_iterator(suite: ChatSuite) -> None:
    place = await suite.conversation()
    suite.model.script = [stream("fi", "sh"), HANGING]
    target = f"127.0.0.1:{suite.running.port}"

    def talk() -> str:
        with sync.Client(target, api_key=suite.running.operator, agent=AGENT) as client:
            said = [e.text for e in client.chat(place, "What?") if isinstance(e, models.TextDelta)]
            with closing(client.chat(place, "And?")) as events:  # type: ignore[type-var]
                for event in events:
                    if isinstance(event, models.TextDelta):
                        break
            return "".join(said)

    assert await asyncio.to_thread(talk) == "fish"
    async with asyncio.timeout(20):
        while len(stored := await suite.said(place)) < 4:  # noqa: ASYNC110 - the server stores it
            await asyncio.sleep(0.02)
    assert interruption(stored[3]) is not None
