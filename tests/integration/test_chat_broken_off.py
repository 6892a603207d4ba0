"""Chats that break off, and readers that leave or come second (SPEC G-4, W-3, E-11)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
import pytest_asyncio
from palimpsest.common.v1 import resources_pb2
from palimpsest.gateway.v1 import conversations_pb2
from palimpsest.history.v1 import history_pb2

from tests.integration.chat_suite import (
    ChatSuite,
    chat_suite,
    events_of,
    failed,
    interruption,
    request,
    text_of,
    until_free,
    until_stored,
    words,
)
from tests.integration.embedded_suite import AGENT, failure, said
from tests.scripted_model import Reply, called, calls, events, stream, texts

pytestmark = pytest.mark.asyncio(loop_scope="module")
CODE = grpc.StatusCode
HANGING = events(texts(["The heron", " eats"]), hang=True)
CUT = events(texts(["The heron", " eats"]), cut=True)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ChatSuite]:
    async with chat_suite(tmp_path_factory.mktemp("chat") / "data") as made:
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def suite(shared: ChatSuite) -> ChatSuite:
    shared.reset()
    return shared


async def test_a_stream_that_is_cut_is_stored_as_broken_off(suite: ChatSuite) -> None:
    place = await suite.conversation()
    suite.model.script = [CUT]
    told = await events_of(suite.chat(place, request_id="r"))
    assert told[-1].finished.interruption.cause == resources_pb2.INTERRUPTION_CAUSE_FAILED
    _, answer = await suite.said(place)
    assert (words(answer), interruption(answer)) == (
        "The heron eats",
        resources_pb2.INTERRUPTION_CAUSE_FAILED,
    )
    again = await events_of(suite.chat(place, request_id="r"))
    assert again[-1].finished.interruption.cause == resources_pb2.INTERRUPTION_CAUSE_FAILED


async def test_a_reader_that_leaves_leaves_what_it_heard(suite: ChatSuite) -> None:
    place = await suite.conversation()
    suite.model.script = [HANGING]
    call = suite.chat(place)
    heard = ""
    async for event in call:
        heard += event.delta.text
        if heard == "The heron eats":
            break
    call.cancel()
    _, answer = await until_stored(suite, place, 2)
    assert (words(answer), interruption(answer)) == (heard, resources_pb2.INTERRUPTION_CAUSE_READER_LEFT)
    await suite.model.hung_up.wait()
    await until_free(suite, place)
    usage = await suite.stub.GetUsage(history_pb2.GetUsageRequest(agent_id=AGENT, conversation_id=place))
    assert [(row.model, row.calls, row.estimated_calls) for row in usage.rows] == [("asked-1", 1, 1)]
    suite.model.script = [stream("Go on.")]
    await events_of(suite.chat(place, "And then?"))
    turns = [one["content"] for one in suite.model.asked[-1].body["messages"]]
    assert "The heron eats\n(broken off here)" in turns


@pytest.mark.parametrize("phase", ["silent model", "no text yet", "running tool"])
async def test_a_reader_that_leaves_before_any_text_leaves_its_message(suite: ChatSuite, phase: str) -> None:
    """The turn can go on: nothing of an answer is stored, and the conversation is free at once."""
    place = await suite.conversation()
    reached = asyncio.Event()

    async def hang(_: Any) -> str:
        reached.set()
        await asyncio.Event().wait()
        return ""

    suite.tools.made = {"hang": hang}
    suite.model.script = [
        {
            "silent model": Reply(silent=True),
            "no text yet": events([], hang=True),
            "running tool": calls(called(0, "hang", "{}")),
        }[phase]
    ]
    call = suite.chat(place, "What?", request_id="r")
    assert (await anext(aiter(call))).HasField("started")
    await (reached if phase == "running tool" else suite.model.received).wait()
    call.cancel()
    await until_free(suite, place)
    assert [words(message) for message in await suite.said(place)] == ["What?"]
    suite.tools.made = {"hang": lambda _: "done"}
    suite.model.script = [stream("fish")]
    told = await events_of(suite.chat(place, "What?", request_id="r"))
    assert text_of(told) == "fish"
    results = [event.tool_result for event in told if event.HasField("tool_result")]
    assert [(result.preview, result.reused) for result in results] == (
        [("done", False)] if phase == "running tool" else []
    )


async def test_a_deadline_ends_the_turn_in_time_to_tell(suite: ChatSuite) -> None:
    place = await suite.conversation()
    suite.model.script = [HANGING]
    told = await events_of(suite.stub.Chat(request(place), timeout=3))
    assert told[-1].finished.interruption.cause == resources_pb2.INTERRUPTION_CAUSE_DEADLINE
    assert interruption((await suite.said(place))[-1]) == resources_pb2.INTERRUPTION_CAUSE_DEADLINE


async def test_one_turn_at_a_time(suite: ChatSuite) -> None:
    place = await suite.conversation()
    suite.model.script = [HANGING]
    running = suite.chat(place, "First.")
    first = aiter(running)
    await anext(first)
    await suite.model.received.wait()
    code, retry = await failed(suite.chat(place, "Second."))
    assert (code, retry) == (CODE.ABORTED, 1.0)
    assert [words(message) for message in await suite.said(place)] == ["First."]
    elsewhere = await suite.conversation()
    suite.model.script = [stream("Free.")]
    assert text_of(await events_of(suite.chat(elsewhere))) == "Free."
    suite.model.script = [stream("Next.")]
    waiting = asyncio.ensure_future(events_of(suite.chat(place, "Second.", wait=20)))
    left = suite.chat(place, "Third.", wait=20)
    left.cancel()
    await asyncio.sleep(0.2)
    assert not waiting.done()
    running.cancel()
    assert text_of(await waiting) == "Next."
    assert [words(message) for message in await suite.said(place)] == [
        "First.",
        "The heron eats",
        "Second.",
        "Next.",
    ]


async def test_a_token_of_what_was_never_stored_keeps_nobody_out(suite: ChatSuite) -> None:
    """G-4: it is waited for before the conversation is taken; what is there is waited for and goes on."""
    place = await suite.conversation()
    never = resources_pb2.FreshnessToken(
        agent_id=AGENT, messages=resources_pb2.MessageMark(conversation_id=place, sequence=99)
    )
    waiting = asyncio.ensure_future(events_of(suite.chat(place, "First.", wait_for=[never])))
    await asyncio.sleep(0.2)
    suite.model.script = [stream("Free."), stream("Again.")]
    told = await events_of(suite.chat(place, "Second."))
    assert text_of(told) == "Free."
    again = await events_of(suite.chat(place, "Third.", wait_for=[told[-1].finished.token]))
    assert (text_of(again), list(again[0].started.unindexed)) == ("Again.", [])
    assert not waiting.done()
    waiting.cancel()


async def test_a_budget_that_ends_within_a_turn_breaks_it_off(suite: ChatSuite) -> None:
    place = await suite.conversation()
    suite.budget.left = 2
    suite.tools.made = {"look_up": lambda _: "a bird"}
    suite.model.script = [calls(called(0, "look_up", "{}"), text="Let me see.")]
    told = await events_of(suite.chat(place))
    assert told[-1].finished.interruption.cause == resources_pb2.INTERRUPTION_CAUSE_LIMIT_EXCEEDED
    stored = await suite.said(place)
    assert [len(message.parts) for message in stored] == [1, 2, 1, 1]
    assert interruption(stored[-1]) == resources_pb2.INTERRUPTION_CAUSE_LIMIT_EXCEEDED


async def answered_while(suite: ChatSuite, **stored: Any) -> tuple[str, list[resources_pb2.Message]]:
    """The leaf, and what is stored, after a message was stored in the middle of an answer."""
    place = await suite.conversation()
    await suite.stub.RecordTurn(
        conversations_pb2.RecordTurnRequest(
            agent_id=AGENT, conversation_id=place, messages=[said("First.", id="first")]
        )
    )
    suite.model.script = [HANGING]
    call = suite.chat(place)
    async for event in call:
        if event.delta.text:
            break
    await suite.stub.RecordTurn(
        conversations_pb2.RecordTurnRequest(
            agent_id=AGENT, conversation_id=place, messages=[said("Edited.", id="edited")], **stored
        )
    )
    call.cancel()
    messages = await until_stored(suite, place, 4)
    await until_free(suite, place)
    asked = conversations_pb2.GetConversationRequest(agent_id=AGENT, conversation_id=place)
    return (await suite.stub.GetConversation(asked)).conversation.leaf_id, messages


async def test_an_answer_stays_with_its_question_when_another_path_became_active(suite: ChatSuite) -> None:
    """E-3, G-4: else it would stand as the answer to a message that the model never saw."""
    leaf, (_, question, edited, answer) = await answered_while(suite, parent_id="first", branch=True)
    assert (answer.parent_id, edited.parent_id, leaf) == (question.id, "first", "edited")


async def test_an_answer_comes_after_what_others_stored_on_its_path(suite: ChatSuite) -> None:
    """The control of the one above."""
    leaf, (_, question, edited, answer) = await answered_while(suite)
    assert (edited.parent_id, answer.parent_id, leaf) == (question.id, "edited", answer.id)


async def test_a_text_with_nul_is_refused_by_the_name_that_the_caller_gave_it(suite: ChatSuite) -> None:
    """X-1"""
    place = await suite.conversation()
    for name, call in (
        ("text", suite.chat(place, "a\0b")),
        ("author", suite.chat(place, author="a\0b")),
    ):
        _, reason, named = await failure(events_of(call))
        assert (reason, named) == ("INVALID_FIELD", [f"message.{name}"])
