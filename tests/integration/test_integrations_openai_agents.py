"""OpenAI Agents SDK: a session that loses nothing, in real runs with a scripted model."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from itertools import count
from typing import Any, cast

import pytest
from agents import Agent, Model, ModelResponse, RunConfig, Runner, SessionSettings, Usage, function_tool
from agents.items import TResponseInputItem, TResponseStreamEvent
from agents.memory import Session, SQLiteSession
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

import palimpsest
from palimpsest import NewMessage, models
from palimpsest.integrations.openai_agents import PalimpsestSession, recall_before_model
from tests.integration.framework_suite import FrameworkSuite, framework_suite

ITEMS: list[dict[str, Any]] = [
    {"role": "user", "content": "hello"},
    {"content": "hello", "role": "user"},
    {"role": "developer", "content": "Be brief."},
    {
        "role": "user",
        "content": [{"type": "input_text", "text": "Zoë 🚲 \0 \ud800"}, {"type": "input_image"}],
    },
    {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "Hi.", "annotations": [], "logprobs": []}],
    },
    {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "gAAA" * 100},
    {
        "id": "fc_1",
        "type": "function_call",
        "call_id": "c1",
        "name": "look",
        "arguments": '{"n": 1, "x":2.0}',
    },
    {"id": "fc_2", "type": "function_call", "call_id": "c2", "name": "look", "arguments": "not JSON"},
    {"type": "function_call_output", "call_id": "c1", "output": "42"},
    {"type": "function_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "x"}]},
    {
        "type": "web_search_call",
        "id": "ws_1",
        "status": "completed",
        "action": {"type": "search", "n": 2**70},
    },
    {"role": "user", "content": ""},
    {"role": "user", "content": "long " * 30_000},
]
OPERATIONS = st.one_of(
    st.tuples(st.just("add"), st.lists(st.sampled_from(ITEMS[:-1]), max_size=3)),
    st.tuples(st.just("get"), st.none() | st.integers(-1, 4)),
    st.tuples(st.just("pop"), st.none()),
    st.tuples(st.just("clear"), st.none()),
)


class ScriptedModel(Model):
    """Answers as the script says, and keeps what it was given."""

    def __init__(self, *script: Any) -> None:
        self._script = list(script)
        self.inputs: list[Any] = []
        self.instructions: list[str | None] = []

    async def get_response(
        self, system_instructions: Any, input: Any, *args: Any, **kwargs: Any
    ) -> ModelResponse:
        self.inputs.append(json.loads(json.dumps(input)))
        self.instructions.append(system_instructions)
        return ModelResponse(output=[self._script.pop(0)], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **kwargs: Any) -> AsyncIterator[TResponseStreamEvent]:
        raise NotImplementedError


def says(text: str, number: int = 1) -> ResponseOutputMessage:
    content = ResponseOutputText(type="output_text", text=text, annotations=[], logprobs=[])
    return ResponseOutputMessage(
        id=f"msg_{number}", type="message", role="assistant", status="completed", content=[content]
    )


def calls(name: str, arguments: str) -> ResponseFunctionToolCall:
    return ResponseFunctionToolCall(
        id="fc_1", type="function_call", call_id="call_1", name=name, arguments=arguments
    )


@function_tool
def weather(city: str) -> str:
    """Tells the weather."""
    return f"rain in {city}"


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
    return f"session-{next(numbers)}"


def items(*given_: dict[str, Any]) -> list[TResponseInputItem]:
    return cast("list[TResponseInputItem]", list(given_))


async def test_items_come_back_as_they_were(client: palimpsest.Client, name: str) -> None:
    session = PalimpsestSession(client, name)
    assert isinstance(session, Session)
    assert await session.get_items() == []
    await session.add_items(items(*ITEMS))
    assert await session.get_items() == ITEMS
    assert [list(one) for one in await session.get_items()] == [list(one) for one in ITEMS]
    assert await PalimpsestSession(client, name).get_items(3) == ITEMS[-3:]
    limited = PalimpsestSession(client, name, session_settings=SessionSettings(limit=2))
    assert await limited.get_items() == ITEMS[-2:]
    assert await limited.get_items(1) == ITEMS[-1:]


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(operations=st.lists(OPERATIONS, max_size=10))
async def test_it_does_what_the_sdks_own_session_does(
    client: palimpsest.Client, numbers: Iterator[int], operations: list[tuple[str, Any]]
) -> None:
    ours, theirs = PalimpsestSession(client, f"session-{next(numbers)}"), SQLiteSession("s")
    try:
        for operation, argument in [*operations, ("get", None)]:
            for session, results in ((ours, mine := []), (theirs, expected := [])):
                match operation:
                    case "add":
                        await session.add_items(items(*argument))
                    case "get":
                        results.append(await session.get_items(argument))
                    case "pop":
                        results.append(await session.pop_item())
                    case "clear":
                        await session.clear_session()
            assert mine == expected, operation
    finally:
        theirs.close()


async def test_what_is_popped_is_off_the_path_and_still_there(client: palimpsest.Client, name: str) -> None:
    """E-4: nothing is deleted."""
    session = PalimpsestSession(client, name)
    await session.add_items(items({"role": "user", "content": "one"}, {"role": "user", "content": "two"}))
    assert await session.pop_item() == {"role": "user", "content": "two"}
    await session.add_items(items({"role": "user", "content": "three"}))
    assert await session.get_items() == items(
        {"role": "user", "content": "one"}, {"role": "user", "content": "three"}
    )
    assert [one.text for one in client.messages(name) if not one.id.startswith("anew.")] == [
        "one",
        "two",
        "three",
    ]
    assert "two" not in [one.text for one in client.path(name)]
    assert "two" not in client.assemble_prompt(name, "next").text
    for _ in range(2):
        await session.pop_item()
    assert await session.pop_item() is None
    assert await session.get_items() == []


async def test_what_others_stored_is_read_and_popped_item_by_item(
    client: palimpsest.Client, name: str
) -> None:
    client.create_conversation(name)
    client.record_turn(
        name,
        [
            NewMessage("user", "hello"),
            NewMessage("assistant", [models.TextPart("hm"), models.ToolCall(call_id="c", name="f")]),
        ],
    )
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    read = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hm"}, call]
    session = PalimpsestSession(client, name)
    assert await session.get_items() == read
    assert await session.get_items(1) == [call]
    assert await session.pop_item() == call
    assert await session.get_items() == read[:2]


async def test_a_runner_goes_on_where_it_ended(client: palimpsest.Client, name: str) -> None:
    given_to: list[list[Any]] = []
    for session in (PalimpsestSession(client, name), SQLiteSession("s")):
        script = (calls("weather", '{"city": "Oslo"}'), says("Rain."), says("Oslo.", 2))
        model = ScriptedModel(*script)
        agent = Agent(name="ada", instructions="Be brief.", model=model, tools=[weather])
        config = RunConfig(tracing_disabled=True)
        first = await Runner.run(agent, "Weather in Oslo?", session=session, run_config=config)
        second = await Runner.run(agent, "Which city?", session=session, run_config=config)
        assert (first.final_output, second.final_output) == ("Rain.", "Oslo.")
        given_to.append([model.inputs, await session.get_items()])
        if isinstance(session, SQLiteSession):
            session.close()
    assert given_to[0] == given_to[1]
    ran = PalimpsestSession(client, name)
    assert [one.get("type", "message") for one in cast("list[dict[str, Any]]", await ran.get_items())] == [
        "message",
        "function_call",
        "function_call_output",
        "message",
        "message",
        "message",
    ]
    stored = list(client.path(name))
    assert [one.role for one in stored] == ["user", "assistant", "tool", "assistant", "user", "assistant"]
    assert stored[1].parts == (models.ToolCall(call_id="call_1", name="weather", arguments={"city": "Oslo"}),)
    assert stored[2].parts == (models.ToolResult(call_id="call_1", content="rain in Oslo"),)


async def test_recall_comes_before_the_model(client: palimpsest.Client, name: str) -> None:
    marta = client.resolve_contact("mailto:marta@example.org")
    made = client.remember("coffee.milk", "Marta takes oat milk in her coffee", contact_id=marta.id)
    client.wait_indexed(made.token)
    for contact_id, shown in ((marta.id, True), ("", False)):
        model = ScriptedModel(says("Oat milk."))
        config = RunConfig(
            tracing_disabled=True,
            call_model_input_filter=recall_before_model(client, contact_id=contact_id),
        )
        agent = Agent(name="ada", instructions="Be brief.", model=model)
        await Runner.run(agent, "What milk goes in Marta's coffee?", run_config=config)
        (instructions,) = model.instructions
        assert instructions is not None
        assert instructions.startswith("Be brief.")
        assert ("Marta takes oat milk in her coffee" in instructions) == shown


async def test_what_json_cannot_say_is_refused_whole(client: palimpsest.Client, name: str) -> None:
    session = PalimpsestSession(client, name)
    with pytest.raises(ValueError, match="JSON"):
        await session.add_items(
            items({"role": "user", "content": "a"}, {"role": "user", "content": object()})
        )
    assert await session.get_items() == []
