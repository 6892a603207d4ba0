"""Calls of tools by a model, whole and in pieces, and what servers make of them (SPEC J-16, G-6)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from services.kit.models.client import ModelClient
from services.kit.models.errors import Cause, ModelUnavailable
from services.kit.models.settings import ModelSettings, TierSettings
from services.kit.models.tool_calls import MAX_CALLS, arguments_of
from services.kit.models.types import Delta, Message, StreamEnd, Tier, Tool, ToolCall
from tests.scripted_model import (
    Reply,
    ScriptedModel,
    called,
    calls,
    completion,
    ending,
    event,
    events,
    scripted_model,
    stream,
)

SCHEMA = {"type": "object", "properties": {"word": {"type": "string"}}}
LOOK_UP = Tool(name="look_up", description="Looks a word up.", schema=SCHEMA)
MESSAGES = [
    Message(role="user", text="What is a heron?"),
    Message(
        role="assistant",
        text="",
        calls=(ToolCall(call_id="a", name="look_up", arguments='{"word":"heron"}'),),
    ),
    Message(role="tool", text="A bird.", call_id="a"),
]
HERON = ToolCall(call_id="call-0", name="look_up", arguments='{"word": "heron"}')
FISH = ToolCall(call_id="call-1", name="look_up", arguments='{"word": "fish"}')


@pytest.fixture
async def model() -> AsyncIterator[ScriptedModel]:
    async with scripted_model() as made:
        yield made


@pytest.fixture
async def client(model: ScriptedModel) -> AsyncIterator[ModelClient]:
    async with httpx.AsyncClient(trust_env=False, timeout=None) as http:
        one = TierSettings(url=model.url, name="asked-1", attempts=1)
        yield ModelClient(ModelSettings(fast=one, deep=one.model_copy(update={"tools": False})), http)


async def streamed(client: ModelClient, tier: Tier = Tier.FAST) -> tuple[str, StreamEnd]:
    deltas: list[Delta] = [
        delta async for delta in client.stream(tier, MESSAGES, max_tokens=50, tools=[LOOK_UP])
    ]
    end = deltas[-1].end
    assert end is not None
    return "".join(delta.text for delta in deltas), end


def pieces(*deltas: Any, finish: str = "tool_calls") -> Reply:
    """A stream of deltas, each the value of `tool_calls`."""
    return events((*(event({"tool_calls": delta}) for delta in deltas), *ending(finish=finish)))


def part(arguments: Any = "", name: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"function": {"arguments": arguments} | ({"name": name} if name else {}), **fields}


async def test_tools_and_their_traffic_are_sent_as_the_protocol_has_them(
    model: ScriptedModel, client: ModelClient
) -> None:
    model.script = [stream("A bird."), stream("A bird.")]
    await streamed(client)
    body = model.asked[0].body
    function = {"name": "look_up", "description": "Looks a word up.", "parameters": SCHEMA}
    assert body["tools"] == [{"type": "function", "function": function}]
    assert body["messages"][1]["tool_calls"] == [
        {"id": "a", "type": "function", "function": {"name": "look_up", "arguments": '{"word":"heron"}'}}
    ]
    assert body["messages"][2] == {"role": "tool", "content": "A bird.", "tool_call_id": "a"}
    await streamed(client, Tier.DEEP)
    assert "tools" not in model.asked[1].body, "of a tier whose model takes none"


GOOD = {
    "in pieces": calls(called(0, "look_up", '{"word": "heron"}'), called(1, "look_up", '{"word": "fish"}')),
    "interleaved": pieces(
        [part('{"word": ', "look_up", index=0, id="call-0"), part('{"wo', "look_up", index=1, id="call-1")],
        [part('rd": "fish"}', index=1)],
        [part('"heron"}', index=0)],
    ),
    "without indexes": pieces(
        [part('{"word": ', "look_up", id="call-0")],
        [part('"heron"}')],
        [part('{"word": "fish"}', "look_up", id="call-1")],
    ),
    "id in each piece": pieces(
        [part('{"word": ', "look_up", id="call-0"), part('{"word": "fish"}', "look_up", id="call-1")],
        [part('"heron"}', id="call-0")],
    ),
    "as objects": pieces(
        [
            part({"word": "heron"}, "look_up", index=0, id="call-0"),
            part({"word": "fish"}, "look_up", index=1, id="call-1"),
        ]
    ),
    "finish is stop": pieces(
        [
            part('{"word": "heron"}', "look_up", index=0, id="call-0"),
            part('{"word": "fish"}', "look_up", index=1, id="call-1"),
        ],
        finish="stop",
    ),
}


@pytest.mark.parametrize("reply", GOOD.values(), ids=GOOD.keys())
async def test_streamed_calls_are_put_together(
    model: ScriptedModel, client: ModelClient, reply: Reply
) -> None:
    model.script = [reply]
    text, end = await streamed(client)
    assert (text, end.calls) == ("", (HERON, FISH))
    assert end.first_token_seconds >= 0
    assert end.usage.output_tokens > 0, "calls are paid for"


async def test_a_whole_answer_may_be_calls_alone(model: ScriptedModel, client: ModelClient) -> None:
    model.script = [completion(None, tool_calls=[called(0, "look_up", '{"word": "heron"}')])]
    made = await client.complete(Tier.FAST, MESSAGES, max_tokens=50, tools=[LOOK_UP])
    assert (made.text, made.calls) == ("", (HERON,))


async def test_calls_get_ids_of_their_own(model: ScriptedModel, client: ModelClient) -> None:
    model.script = [
        pieces(
            [part("{}", "a", index=0, id="x")], [part("{}", "b", index=1, id="x")], [part("{}", "c", index=2)]
        )
    ]
    _, end = await streamed(client)
    assert len({call.call_id for call in end.calls}) == 3
    assert [call.name for call in end.calls] == ["a", "b", "c"]


BAD = {
    "no list": pieces({"index": 0}),
    "no function": pieces([{"index": 0}]),
    "a number for arguments": pieces([part(7, "look_up", index=0)]),
    "a word for the index": pieces([part("{}", "look_up", index="0")]),
    "no name": pieces([part("{}", index=0)]),
    "a name without end": pieces([part("{}", "x" * 200, index=0)]),
    "calls without end": pieces(*([part("{}", "look_up", index=n)] for n in range(MAX_CALLS + 1))),
    "too many at once": pieces([part("{}", "look_up", index=n) for n in range(MAX_CALLS + 1)]),
    "a piece of nothing": pieces([part("{}")]),
}


@pytest.mark.parametrize("reply", BAD.values(), ids=BAD.keys())
async def test_calls_that_are_none_are_bad_output(
    model: ScriptedModel, client: ModelClient, reply: Reply
) -> None:
    model.script = [reply]
    with pytest.raises(ModelUnavailable) as caught:
        await streamed(client)
    assert caught.value.cause is Cause.MALFORMED
    assert caught.value.usage.calls == 1


async def test_a_stream_that_is_cut_in_a_call_gives_none(model: ScriptedModel, client: ModelClient) -> None:
    body = calls(called(0, "look_up", '{"word": "heron"}')).body[:3]
    model.script = [events(body, cut=True)]
    with pytest.raises(ModelUnavailable) as caught:
        await streamed(client)
    assert caught.value.cause is Cause.CUT


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", {}),
        (" \n", {}),
        ('{"a": [1, {"b": null}]}', {"a": [1, {"b": None}]}),
        ('{"a": ', None),
        ("[1]", None),
        ('"a"', None),
        ('{"a": NaN}', None),
        ('{"a": 1e999}', None),
        ('{"a": "\\u0000"}', None),
        ('{"a": "\\ud800"}', None),
        ("[" * 100_000, None),
        (json.dumps({"a": None}).replace("null", '{"a":' * 40 + "1" + "}" * 40), None),
    ],
    ids=lambda value: str(value)[:20],
)
def test_arguments_are_a_json_object_or_none(text: str, value: Any) -> None:
    assert arguments_of(ToolCall(call_id="a", name="look_up", arguments=text)) == value
