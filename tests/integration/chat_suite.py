"""The embedded suite with a scripted model and scripted tools, for tests of chats."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from palimpsest.chat.v1 import chat_pb2 as pb
from palimpsest.common.v1 import resources_pb2
from palimpsest.gateway.v1 import conversations_pb2
from palimpsest.working.v1 import checkpoints_pb2

from services.gateway.app.tool_ports import ToolDefinition, ToolOutcome
from services.gateway.chats import ChatChoices
from services.kit.errors import LimitExceeded
from services.kit.models.settings import ModelSettings, TierSettings
from services.kit.models.types import Tier, Usage
from tests.integration.embedded_suite import AGENT, Running, failure, running
from tests.scripted_model import ScriptedModel, scripted_model

SCHEMA = {"type": "object", "properties": {"word": {"type": "string"}}}
TIMEOUT_SECONDS = 30.0


@dataclass
class ScriptedTools:
    """Tools that do what a test says; calls are noted."""

    made: dict[str, Callable[[Mapping[str, Any]], Any]] = field(default_factory=dict)
    called: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)

    async def definitions(self, agent_id: str, conversation_id: str) -> Sequence[ToolDefinition]:
        return [ToolDefinition(name=name, description=name, input_schema=SCHEMA) for name in self.made]

    async def call(
        self,
        agent_id: str,
        conversation_id: str,
        name: str,
        arguments: Mapping[str, Any],
    ) -> ToolOutcome:
        self.called.append((name, arguments))
        outcome = self.made[name](arguments)
        if asyncio.iscoroutine(outcome):
            outcome = await outcome
        return outcome if isinstance(outcome, ToolOutcome) else ToolOutcome(content=str(outcome))


@dataclass
class ScriptedBudget:
    """A budget that lasts for so many more checks."""

    left: int | None = None
    charged: list[Usage] = field(default_factory=list)

    async def check(self) -> None:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise LimitExceeded("the budget is used up", retry_after=7.0)

    async def charge(self, tier: Tier, usage: Usage) -> None:
        self.charged.append(usage)


def tier(model: ScriptedModel, **fields: Any) -> TierSettings:
    """A tier of one's own machines, asked once."""
    return TierSettings(url=model.url, **{"name": "asked-1", "attempts": 1, "partner": False, **fields})


@dataclass
class ChatSuite:
    """A suite, its model and its tools."""

    running: Running
    model: ScriptedModel
    tools: ScriptedTools
    budget: ScriptedBudget
    stub: Any

    async def conversation(self) -> str:
        """A new one."""
        request = conversations_pb2.CreateConversationRequest(agent_id=AGENT)
        return str((await self.stub.CreateConversation(request)).conversation.id)

    def chat(self, conversation: str, text: str = "Hello.", *, wait: float = 0.0, **fields: Any) -> Any:
        """A call of Chat."""
        waited = Duration()
        waited.FromNanoseconds(int(wait * 1e9))
        return self.stub.Chat(request(conversation, text, wait=waited, **fields), timeout=TIMEOUT_SECONDS)

    async def said(self, conversation: str) -> list[resources_pb2.Message]:
        """What is stored of a conversation."""
        asked = conversations_pb2.ListMessagesRequest(agent_id=AGENT, conversation_id=conversation)
        return list((await self.stub.ListMessages(asked)).messages)

    def reset(self) -> None:
        """For the next test."""
        self.model.script, self.model.asked = [], []
        self.model.hung_up.clear()
        self.model.received.clear()
        self.tools.made, self.tools.called = {}, []
        self.budget.left, self.budget.charged = None, []


def request(conversation: str, text: str = "Hello.", author: str = "", **fields: Any) -> pb.ChatRequest:
    return pb.ChatRequest(
        agent_id=AGENT,
        conversation_id=conversation,
        message=pb.UserMessage(text=text, author=author),
        **fields,
    )


@asynccontextmanager
async def chat_suite(data: Path, **fields: Any) -> AsyncIterator[ChatSuite]:
    """Running until left, with the tiers standard and (a partner's) deep; `fields` are theirs."""
    async with scripted_model() as model:
        tools, budget = ScriptedTools(), ScriptedBudget()
        models = ModelSettings(standard=tier(model, **fields), deep=tier(model, **fields, partner=True))
        choices = ChatChoices(models=models, tools=tools, budget=budget)
        async with running(data, chat=choices) as suite:
            stub = await suite.stub()
            await stub.CreateAgent(conversations_pb2.CreateAgentRequest(agent_id=AGENT))
            yield ChatSuite(running=suite, model=model, tools=tools, budget=budget, stub=stub)


async def events_of(call: Any) -> list[pb.ChatResponse]:
    """All that a call tells."""
    return [event async for event in call]


def kinds(events: Sequence[pb.ChatResponse]) -> list[str]:
    """The events by kind, deltas that follow each other as one."""
    found: list[str] = []
    for event in events:
        kind = event.WhichOneof("event") or ""
        if kind != "delta" or found[-1:] != ["delta"]:
            found.append(kind)
    return found


def text_of(events: Sequence[pb.ChatResponse]) -> str:
    """The answer."""
    return "".join(event.delta.text for event in events)


def words(message: resources_pb2.Message) -> str:
    """What a stored message says."""
    return "".join(part.text for part in message.parts)


def interruption(message: resources_pb2.Message) -> int | None:
    """Why it broke off; None for one that is whole."""
    found = [part.interruption.cause for part in message.parts if part.HasField("interruption")]
    return found[0] if found else None


async def failed(call: Any) -> tuple[grpc.StatusCode, float | None]:
    """Code of a stream that must fail, and after how many seconds to try again."""
    try:
        await events_of(call)
    except grpc.aio.AioRpcError as error:
        raw = dict(error.trailing_metadata() or ()).get("grpc-status-details-bin", b"")
        retry = RetryInfo()
        for detail in Status.FromString(raw).details:
            if detail.Unpack(retry):
                return error.code(), retry.retry_delay.ToNanoseconds() / 1e9
        return error.code(), None
    raise AssertionError("the call did not fail")


async def checkpoint(suite: ChatSuite, place: str) -> Any:
    """The record of the open turn."""
    asked = checkpoints_pb2.GetCheckpointRequest(agent_id=AGENT, conversation_id=place)
    return (await suite.stub.GetCheckpoint(asked)).checkpoint


async def until_stored(suite: ChatSuite, place: str, count: int) -> list[resources_pb2.Message]:
    """The messages, once there are so many."""
    async with asyncio.timeout(20):
        while len(found := await suite.said(place)) < count:  # noqa: ASYNC110 - another process stores
            await asyncio.sleep(0.02)
    return found


async def until_free(suite: ChatSuite, place: str) -> None:
    """Returns once no turn runs: one of a question that is refused for its size says so."""
    async with asyncio.timeout(20):
        while (await failure(events_of(suite.chat(place, "x" * 30_000))))[1] == "TURN_RUNNING":  # noqa: ASYNC110
            await asyncio.sleep(0.02)
