"""The MCP server over a client that does as a test says: cancelled calls and failures (SPEC G-10, X-1)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

from palimpsest.errors import (
    CredentialError,
    DeadlineError,
    InternalError,
    NotFoundError,
    OverloadedError,
    PalimpsestError,
    UnavailableError,
)
from palimpsest.mcp import fences
from palimpsest.mcp.failures import FAILED, UNAVAILABLE
from palimpsest.mcp.place import Place
from palimpsest.mcp.resources import uri
from palimpsest.mcp.server import make_server
from palimpsest.models import ToolOutcome
from services.kit.fences import fenced

SECRET = "the text of a memory"
MODES = ("legacy", "auto")


class FakeClient:
    """Calls of tools do what a test says."""

    def __init__(self, act: Callable[[], Any]) -> None:
        self._act = act
        self.begun, self.cancelled = asyncio.Event(), asyncio.Event()

    async def call_tool(self, conversation_id: str, name: str, arguments: Any) -> ToolOutcome:
        self.begun.set()
        try:
            made = self._act()
            if asyncio.iscoroutine(made):
                await made
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return ToolOutcome(content="done", is_error=False, structured={"secret": SECRET})

    async def list_tools(self, conversation_id: str, *, format: str) -> list[Any]:
        """None: the SDK's client asks for them to check a result."""
        return []

    async def get_conversation(self, conversation_id: str) -> Any:
        raise NotFoundError("no such conversation")

    async def create_agent(self) -> None:
        """Nothing comes of it."""

    async def create_conversation(self, conversation_id: str) -> None:
        """Nothing comes of it."""


def raising(error: Exception) -> Callable[[], Any]:
    def act() -> None:
        raise error

    return act


def connected(fake: FakeClient, mode: str) -> Client:
    place: Any = fake
    return Client(make_server(lambda _context: Place(client=place)), mode=mode)


@pytest.mark.parametrize("mode", MODES)
async def test_a_cancelled_call_is_cancelled_behind(mode: str) -> None:
    fake = FakeClient(asyncio.Event().wait)
    async with connected(fake, mode) as host:
        call = asyncio.ensure_future(host.call_tool("recall", {}))
        await fake.begun.wait()
        call.cancel()
        with suppress(asyncio.CancelledError):
            await call
        async with asyncio.timeout(5):
            await fake.cancelled.wait()
        assert (await host.list_prompts()).prompts, "the connection goes on"


@pytest.mark.parametrize("mode", MODES)
async def test_a_call_that_takes_its_time_is_answered(mode: str) -> None:
    """The control of the one before; only the text goes to the host."""
    async with connected(FakeClient(lambda: asyncio.sleep(0)), mode) as host:
        made = await host.call_tool("recall", {})
    assert [one.text for one in made.content if one.type == "text"] == ["done"]
    assert SECRET not in str(made)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("error", [UnavailableError(), DeadlineError(), OverloadedError()], ids=repr)
async def test_what_may_pass_is_a_result_that_a_model_can_go_on_with(
    mode: str, error: PalimpsestError
) -> None:
    async with connected(FakeClient(raising(error)), mode) as host:
        made = await host.call_tool("recall", {})
    assert made.is_error
    assert [one.text for one in made.content if one.type == "text"] == [UNAVAILABLE]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("error", "said"),
    [
        (RuntimeError(SECRET), FAILED),
        (KeyError(SECRET), FAILED),
        (InternalError(SECRET), FAILED),
        (CredentialError("the credential is not known"), "the credential is not known"),
        (NotFoundError("no such conversation"), "no such conversation"),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_failures_are_errors_of_the_call_without_internals(
    mode: str, error: Exception, said: str
) -> None:
    """X-1, X-3: not the text of an exception that is not made for callers."""
    async with connected(FakeClient(raising(error)), mode) as host:
        with pytest.raises(MCPError) as failure:
            await host.call_tool("recall", {})
    assert failure.value.message == said
    assert SECRET not in str(failure.value.error)


@given(
    st.text() | st.text(alphabet="⟦⟧〚〛⟬⟭〖〗⁅⁆[]/data: \n\u200b\u0335\u20d2\ufe0f"),
    st.sampled_from(["memory", "⟦x⟧", "two\nlines ]\u0335"]),
)
def test_fences_are_those_of_the_services(text: str, name: str) -> None:
    """G-3: the client has its own, as it knows no code of the services."""
    assert fences.fenced(name, text) == fenced(name, text)


def test_fences_treat_every_character_as_the_services_do() -> None:
    """G-3: by itself, after a bracket, and between a bracket and a combining mark."""
    every = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    assert fences.fenced("x", "⁅〗[\u20d2") == "⟦data: x⟧\n[][\n⟦/data⟧"
    for text in ("\n".join(every), "[" + "[".join(every), "".join(f"]{one}\u0335" for one in every)):
        assert fences.fenced("x", text) == fenced("x", text)


def test_an_id_stays_one_part_of_an_address() -> None:
    assert uri("wiki", "a/b?c#d") == "palimpsest://wiki/a%2Fb%3Fc%23d"
