"""Which failures a model is told of, and which are the call's (SPEC G-6, X-1)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from palimpsest.episodic.v1 import episodic_pb2
from palimpsest.working.v1 import context_pb2

from services.gateway.adapters.tool_arguments import problems
from services.gateway.app.tool_calls import ToolResult
from services.gateway.app.tools import GatewayTools
from services.kit.context import act_as
from services.kit.errors import (
    DeadlineExceeded,
    DependencyDown,
    Internal,
    InvalidField,
    LimitExceeded,
    NotAllowed,
    NotFound,
    Overloaded,
    PalimpsestError,
    StateConflict,
)
from services.kit.identity import Principal, Role

WRITER = Principal(tenant="t", role=Role.WRITER)
SECRET = "kept-in-the-metadata"


class Failing:
    """Services of which all that a tool calls fails alike; what comes before it does not."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    async def GetConversation(self, _request: Any) -> Any:
        return episodic_pb2.GetConversationResponse()

    async def ListContextTools(self, _request: Any) -> Any:
        return context_pb2.ListContextToolsResponse()

    def __getattr__(self, name: str) -> Any:
        async def call(_request: Any) -> Any:
            raise self._error

        return call


async def called(error: Exception, name: str, **arguments: Any) -> ToolResult:
    failing = Failing(error)
    backends: Any = SimpleNamespace(episodic=failing, working=failing, semantic=failing, search=failing)
    with act_as(WRITER):
        return await GatewayTools(backends, problems).call("a", "c", name, arguments)


@pytest.mark.parametrize(
    "error", [DependencyDown(), DeadlineExceeded(), Internal(), Overloaded(), RuntimeError()], ids=repr
)
async def test_what_no_model_can_put_right_is_the_calls_own_error(error: Exception) -> None:
    with pytest.raises(type(error)):
        await called(error, "set_ongoing_task", text="Book a table.")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (InvalidField("text", "is too strange"), "text: is too strange"),
        (LimitExceeded("the task would take 9 tokens"), "the task would take 9 tokens"),
        (StateConflict("the block is not writable"), "the block is not writable"),
        (NotFound("block", SECRET), "no such block"),
        (NotAllowed("about a method that it should not know"), "may only read"),
    ],
    ids=repr,
)
async def test_what_it_can_is_an_outcome_without_anything_of_the_calls_behind(
    error: PalimpsestError, said: str
) -> None:
    made = await called(error, "set_ongoing_task", text="Book a table.")
    assert made.is_error
    assert said in made.content
    assert SECRET not in made.content
    assert "method" not in made.content


async def test_arguments_are_judged_before_anything_is_done() -> None:
    made = await called(AssertionError("must not be called"), "set_ongoing_task", text=5)
    assert made.content == "text: must be of type string"
