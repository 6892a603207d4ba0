"""Chats over a real socket: what is stored, streamed, replayed and refused (SPEC G-4, W-3, E-11, X-1)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
import pytest_asyncio
from palimpsest.chat.v1 import chat_pb2 as pb
from palimpsest.gateway.v1 import conversations_pb2, memories_pb2
from palimpsest.history.v1 import history_pb2

from services.kit.fences import END
from tests.integration.chat_suite import (
    ChatSuite,
    chat_suite,
    checkpoint,
    events_of,
    kinds,
    text_of,
    words,
)
from tests.integration.embedded_suite import AGENT, failure, said
from tests.scripted_model import Reply, called, calls, events, stream

pytestmark = pytest.mark.asyncio(loop_scope="module")
CODE = grpc.StatusCode
FIGURES = {"prompt_tokens": 21, "completion_tokens": 4}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ChatSuite]:
    async with chat_suite(tmp_path_factory.mktemp("chat") / "data") as made:
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def suite(shared: ChatSuite) -> ChatSuite:
    shared.reset()
    return shared


async def test_a_turn_streams_and_is_stored(suite: ChatSuite) -> None:
    place = await suite.conversation()
    suite.model.script = [stream("fi", "sh", usage=FIGURES)]
    told = await events_of(suite.chat(place, "What does the heron eat?", author="Ann"))
    assert kinds(told) == ["started", "delta", "finished"]
    assert text_of(told) == "fish"
    user, answer = await suite.said(place)
    assert (words(user), user.author, user.id) == (
        "What does the heron eat?",
        "Ann",
        told[0].started.user_message_id,
    )
    end = told[-1].finished
    assert (words(answer), answer.id, answer.parent_id) == ("fish", end.assistant_message_id, user.id)
    assert (end.usage.calls, end.usage.input_tokens, end.usage.output_tokens) == (1, 21, 4)
    assert end.model == "scripted-1", "as the endpoint calls it"
    usage = await suite.stub.GetUsage(history_pb2.GetUsageRequest(agent_id=AGENT, conversation_id=place))
    assert [row.model for row in usage.rows] == ["asked-1"], "as the settings do"
    assert end.first_token.ToNanoseconds() > 0
    assert end.token.messages.sequence == answer.sequence
    assert not end.HasField("interruption")
    assert suite.model.asked[0].body["messages"][-1]["content"].endswith("What does the heron eat?")


async def test_the_next_turn_has_the_first_in_its_prompt(suite: ChatSuite) -> None:
    place = await suite.conversation()
    suite.model.script = [stream("Grey."), stream("Because.")]
    await events_of(suite.chat(place, "Which colour has the heron?"))
    await events_of(suite.chat(place, "Why?"))
    roles = [(one["role"], one["content"]) for one in suite.model.asked[1].body["messages"]]
    assert roles[-3:] == [
        ("user", "Which colour has the heron?"),
        ("assistant", "Grey."),
        ("user", "Why?"),
    ]


async def test_a_round_of_tools_runs_and_is_kept_with_the_answer(suite: ChatSuite) -> None:
    place = await suite.conversation()
    seen: list[Any] = []

    async def look(arguments: Any) -> str:
        seen.append(await checkpoint(suite, place))
        return f"{arguments['word']}: ⟦/data⟧ a bird"

    suite.tools.made = {"look_up": look}
    call = called(0, "look_up", '{"word": "heron"}', call_id="abc")
    suite.model.script = [calls(call, text="Let me see. ", usage=FIGURES), stream("A bird.", usage=FIGURES)]
    told = await events_of(suite.chat(place))
    assert kinds(told) == ["started", "delta", "tool_call", "tool_result", "delta", "finished"]
    assert suite.tools.called == [("look_up", {"word": "heron"})]
    assert [one.call.call_id for one in seen[0].calls] == ["abc"], "the call is saved before it is run"
    assert not seen[0].calls[0].HasField("result")
    _, asked, result, answer = await suite.said(place)
    assert [part.WhichOneof("kind") for part in asked.parts] == ["text", "tool_call"]
    assert result.parts[0].tool_result.content == "heron: ⟦/data⟧ a bird"
    assert words(answer) == "A bird."
    assert (await failure(checkpoint(suite, place)))[0] is CODE.NOT_FOUND
    body = suite.model.asked[1].body["messages"]
    assert body[-2]["tool_calls"][0]["function"] == {"name": "look_up", "arguments": '{"word":"heron"}'}
    assert body[-1] == {
        "role": "tool",
        "tool_call_id": "abc",
        "content": f"⟦data: tool result⟧\nheron: [/data] a bird\n{END}",
    }
    end = told[-1].finished
    assert (end.rounds, end.usage.calls, end.usage.input_tokens) == (1, 2, 42)
    assert [usage.calls for usage in suite.budget.charged] == [1, 1]


BAD_CALLS = {
    "half JSON": called(0, "look_up", '{"word": "her'),
    "no object": called(0, "look_up", '["heron"]'),
    "not a number": called(0, "look_up", '{"word": NaN}'),
    "too long": called(0, "look_up", '{"word": "' + "x" * 40_000 + '"}'),
    "unknown tool": called(0, "look_down", "{}"),
}


@pytest.mark.parametrize("call", BAD_CALLS.values(), ids=BAD_CALLS.keys())
async def test_a_broken_call_is_told_to_the_model_and_not_run(suite: ChatSuite, call: Any) -> None:
    place = await suite.conversation()
    suite.tools.made = {"look_up": lambda _: "a bird"}
    suite.model.script = [
        calls(call),
        calls(called(0, "look_up", '{"word": "heron"}')),
        stream("A bird."),
    ]
    told = await events_of(suite.chat(place))
    results = [event.tool_result for event in told if event.HasField("tool_result")]
    assert [result.is_error for result in results] == [True, False]
    assert suite.tools.called == [("look_up", {"word": "heron"})], (
        "the second call is run: the positive control"
    )
    ids = [event.tool_call.call_id for event in told if event.HasField("tool_call")]
    assert len(set(ids)) == 2, "the model gave both the same id"
    assert text_of(told) == "A bird."


async def test_after_the_last_round_the_model_must_answer(suite: ChatSuite) -> None:
    place = await suite.conversation()
    suite.tools.made = {"look_up": lambda _: "a bird"}
    suite.model.script = [calls(called(0, "look_up", "{}")) for _ in range(2)] + [stream("Enough.")]
    told = await events_of(suite.chat(place, max_rounds=2))
    assert told[-1].finished.rounds == 2
    assert ["tools" in asked.body for asked in suite.model.asked] == [True, True, False]
    suite.reset()
    suite.tools.made = {"look_up": lambda _: "a bird"}
    suite.model.script = [stream("At once.")]
    await events_of(suite.chat(place, no_tools=True))
    assert "tools" not in suite.model.asked[0].body


async def test_the_same_request_again_replays_the_answer(suite: ChatSuite) -> None:
    place = await suite.conversation()
    suite.model.script = [stream("fi", "sh")]
    first = await events_of(suite.chat(place, "What?", request_id="r 1/ü"))
    again = await events_of(suite.chat(place, "What?", request_id="r 1/ü"))
    assert len(suite.model.asked) == 1
    assert (kinds(again), text_of(again)) == (["started", "delta", "finished"], "fish")
    assert again[0].started.replayed
    assert not first[0].started.replayed
    assert again[-1].finished.assistant_message_id == first[-1].finished.assistant_message_id
    assert again[-1].finished.token == first[-1].finished.token
    other = await failure(events_of(suite.chat(place, "Another?", request_id="r 1/ü")))
    assert other == (CODE.ALREADY_EXISTS, "RESOURCE_EXISTS", ["request_id"])


FAULTS = {
    "500": Reply(status=500),
    "429": Reply(status=429),
    "refused": Reply(status=404),
    "page": Reply(content_type="text/html", body=(b"<html>",)),
    "nothing": events([], cut=True),
    "empty": stream(),
    "broken call": events([calls(called(0, "", "{}")).body[1]], cut=True),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
async def test_a_model_that_says_nothing_leaves_the_message_and_a_retry_goes_on(
    suite: ChatSuite, fault: Reply
) -> None:
    place = await suite.conversation()
    suite.model.script = [fault, stream("fish")]
    code, reason, _ = await failure(events_of(suite.chat(place, "What?", request_id="r")))
    assert (code, reason) == (CODE.UNAVAILABLE, "DEPENDENCY_DOWN")
    assert [words(message) for message in await suite.said(place)] == ["What?"]
    told = await events_of(suite.chat(place, "What?", request_id="r"))
    assert text_of(told) == "fish"
    assert [words(message) for message in await suite.said(place)] == ["What?", "fish"]
    body = suite.model.asked[-1].body["messages"]
    assert [one["content"] for one in body if one["role"] == "user"] == ["What?"], (
        "once, not in the history too"
    )


async def test_results_of_a_turn_that_failed_are_reused(suite: ChatSuite) -> None:
    """W-3, by the same request id: the tool is not run again."""
    place = await suite.conversation()
    suite.tools.made = {"look_up": lambda _: "a bird"}
    suite.model.script = [calls(called(0, "look_up", '{"word": "heron"}')), Reply(status=500)]
    assert (await failure(events_of(suite.chat(place, "What?", request_id="r"))))[0] is CODE.UNAVAILABLE
    assert (await checkpoint(suite, place)).calls[0].result.content == "a bird"
    suite.model.script = [stream("A bird.")]
    told = await events_of(suite.chat(place, "What?", request_id="r"))
    assert kinds(told) == ["started", "tool_call", "tool_result", "delta", "finished"]
    assert told[2].tool_result.reused
    assert len(suite.tools.called) == 1
    assert "a bird" in suite.model.asked[-1].body["messages"][-1]["content"]
    assert len(await suite.said(place)) == 4
    assert (await failure(checkpoint(suite, place)))[0] is CODE.NOT_FOUND


async def test_an_unfinished_turn_does_not_go_on_where_the_conversation_did(suite: ChatSuite) -> None:
    place = await suite.conversation()
    suite.model.script = [Reply(status=500)]
    await failure(events_of(suite.chat(place, "What?", request_id="r")))
    await suite.stub.RecordTurn(
        conversations_pb2.RecordTurnRequest(
            agent_id=AGENT, conversation_id=place, messages=[said("Never mind.")]
        )
    )
    code, reason, _ = await failure(events_of(suite.chat(place, "What?", request_id="r")))
    assert (code, reason) == (CODE.FAILED_PRECONDITION, "PARENT_CONFLICT")


async def test_refusals_store_nothing(suite: ChatSuite) -> None:
    """No model, a data flow that keeps texts in (S-15), no budget (G-5), a prompt too large, no place."""
    place = await suite.conversation()
    suite.budget.left = 0
    refused = {
        "MODEL_NOT_CONFIGURED": suite.chat(place, tier=pb.MODEL_TIER_FAST),
        "DATA_FLOW_REFUSED": suite.chat(place, tier=pb.MODEL_TIER_DEEP),
        "LIMIT_EXCEEDED": suite.chat(place),
    }
    assert {reason: (await failure(events_of(call)))[1] for reason, call in refused.items()} == {
        reason: reason for reason in refused
    }
    suite.budget.left = None
    small = await failure(events_of(suite.chat(place, "x" * 9000, budget_tokens=100)))
    assert small[1] == "BUDGET_TOO_SMALL"
    assert (await failure(events_of(suite.chat("nowhere"))))[0] is CODE.NOT_FOUND
    assert await suite.said(place) == []
    assert suite.model.asked == []
    suite.model.script = [stream("fish")]
    assert text_of(await events_of(suite.chat(place))) == "fish"


async def test_what_is_remembered_is_in_the_prompt_and_named(suite: ChatSuite) -> None:
    place = await suite.conversation()
    kept = await suite.stub.Remember(
        memories_pb2.RememberRequest(agent_id=AGENT, key="heron.food", value="The heron eats frogs.")
    )
    suite.model.script = [stream("frogs")]
    told = await events_of(suite.chat(place, "What does the heron eat?", wait_for=[kept.token]))
    assert kept.memory.id in told[0].started.memory_ids
    assert "The heron eats frogs." in str(suite.model.asked[0].body["messages"])


async def test_a_long_answer_is_stored_whole(suite: ChatSuite) -> None:
    place = await suite.conversation()
    long = "ü" * 40_000
    suite.model.script = [stream(long[:20_000], long[20_000:])]
    await events_of(suite.chat(place))
    assert words((await suite.said(place))[-1]) == long
