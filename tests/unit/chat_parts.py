"""What a chat stands on, in memory, for tests of its turns."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from services.gateway.adapters.memory_turn_leases import MemoryTurnLeases
from services.gateway.app.chat_ports import TurnLeases
from services.gateway.app.chatting import Chatting
from services.gateway.app.ports import ConversationView, Found, Rolling, Told
from services.gateway.app.prompting import Prompting
from services.gateway.app.tool_ports import ToolDefinition, ToolOutcome
from services.gateway.app.turn import ChatParts
from services.gateway.app.turn_lease import LeaseRules
from services.gateway.domain.parts import History, Working
from services.gateway.domain.turns import Ask, Cause, Place, Round, Stored
from services.kit.errors import DependencyDown, TurnRunning
from services.kit.models.types import Delta, Message, StreamEnd, Tier, Tool, ToolCall, Usage
from services.kit.times import Clock, now

Step = Callable[[Sequence[Message]], AsyncGenerator[Delta, None]]
COST = Usage(calls=1, input_tokens=10, output_tokens=2)
SECONDS = 30.0


class NoBudget:
    """A ModelBudget without limits."""

    async def check(self) -> None:
        """See the port."""

    async def charge(self, tier: Tier, usage: Usage) -> None:
        """See the port."""


class NoRecord:
    """A UsageRecorder that keeps nothing."""

    async def record(self, agent_id: str, conversation_id: str, tier: Tier, model: str, usage: Usage) -> None:
        """See the port."""


def end(calls: tuple[ToolCall, ...] = ()) -> Delta:
    """How an answer ends."""
    return Delta(
        end=StreamEnd(usage=COST, model="scripted-1", truncated=False, first_token_seconds=0.1, calls=calls)
    )


def says(*pieces: str, calls: tuple[ToolCall, ...] = (), then: Callable[[], Any] | None = None) -> Step:
    """An answer of these pieces; `then` is awaited, or raises, before its end."""

    async def step(_: Sequence[Message]) -> AsyncGenerator[Delta, None]:
        for piece in pieces:
            yield Delta(text=piece)
        if then is not None:
            await then()
        yield end(calls)

    return step


async def for_ever() -> None:
    """Until it is cancelled."""
    await asyncio.Event().wait()


@dataclass
class FakeModel:
    """Gives its steps in turn, then `otherwise`."""

    steps: list[Step] = field(default_factory=list)
    otherwise: Step = field(default_factory=lambda: says("fine"))
    asked: list[Sequence[Message]] = field(default_factory=list)
    running: int = 0
    most_running: int = 0

    def has(self, tier: Tier) -> bool:
        return tier is Tier.STANDARD

    def leaves(self, tier: Tier) -> bool:
        return tier is not Tier.STANDARD

    def name(self, tier: Tier) -> str:
        return "scripted"

    async def complete(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    async def stream(
        self,
        tier: Tier,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        temperature: float | None = None,
        deadline: float | None = None,
        tools: Sequence[Tool] = (),
    ) -> AsyncGenerator[Delta, None]:
        self.asked.append(messages)
        step = self.steps.pop(0) if self.steps else self.otherwise
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            async for delta in step(messages):
                yield delta
        finally:
            self.running -= 1


@dataclass
class Kept:
    """What is stored of a turn."""

    ask: Ask
    rounds: tuple[Round, ...] = ()
    answer: str | None = None
    cause: Cause | None = None


@dataclass
class FakeStore:
    """A TurnStore; `down` finishes fail, and `hold` is awaited in each, `indexing` where one waits.

    What is waited for is never indexed.
    """

    turns: dict[str, Kept] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)
    down: int = 0
    hold: Callable[[], Any] | None = None
    indexing: Callable[[], Any] | None = None
    saves: int = 0

    async def find(self, ask: Ask) -> Stored | None:
        kept = self.turns.get(ask.request_id)
        if kept is None:
            return None
        return Stored(
            newest=self.order[-1] == ask.request_id,
            answer=kept.answer,
            interrupted=kept.cause is not None,
            interruption=kept.cause,
            sequence=7,
        )

    async def put_user(self, ask: Ask, ours: Callable[[], Awaitable[bool]]) -> None:
        if not await ours():
            raise TurnRunning
        if ask.request_id not in self.turns:
            self.turns[ask.request_id] = Kept(ask)
            self.order.append(ask.request_id)

    async def indexed(self, ask: Ask) -> tuple[object, ...]:
        if ask.wait_for and self.indexing is not None:
            await self.indexing()
        return tuple(ask.wait_for)

    async def rounds(self, ask: Ask) -> tuple[Round, ...]:
        return self.turns[ask.request_id].rounds

    async def save(self, ask: Ask, round_: Round) -> None:
        self.saves += 1
        kept = self.turns[ask.request_id]
        others = tuple(one for one in kept.rounds if one.number != round_.number)
        kept.rounds = (*others, round_)

    async def finish(
        self,
        ask: Ask,
        rounds: Sequence[Round],
        answer: str,
        interruption: Cause | None,
        ours: Callable[[], Awaitable[bool]],
    ) -> object:
        if self.hold is not None:
            await self.hold()
        if self.down:
            self.down -= 1
            raise DependencyDown
        if not await ours():
            raise TurnRunning
        kept = self.turns[ask.request_id]
        kept.answer, kept.cause, kept.rounds = answer, interruption, tuple(rounds)
        return "token"

    def token(self, ask: Ask, sequence: int) -> object:
        return f"token of {sequence}"


class FakeSources:
    """A conversation about which nothing is known."""

    async def conversation(self, agent_id: str, conversation_id: str) -> ConversationView:
        return ConversationView(system_prompt="You are Ada.", prompt_revision=1, contact_ids=())

    async def working(self, agent_id: str, conversation_id: str) -> Working:
        return Working()

    async def rolling(self, agent_id: str, conversation_id: str) -> Rolling:
        return Rolling()

    async def window(
        self, agent_id: str, conversation_id: str, budget: int, rolling: Rolling, *, model: str = ""
    ) -> History:
        return History()

    async def standing(self, agent_id: str, contact_ids: Sequence[str]) -> Found:
        return Found()

    async def themes(self, agent_id: str, contact_ids: Sequence[str], version: int = 0) -> Told:
        return Told()

    async def find(self, *_: Any) -> Found:
        return Found()

    async def count_access(self, agent_id: str, memory_ids: Sequence[str]) -> None:
        return None


@dataclass
class FakeTools:
    """One tool, `look_up`."""

    run: Callable[[Mapping[str, Any]], Any] | None = None
    called: int = 0

    async def definitions(self, agent_id: str, conversation_id: str) -> Sequence[ToolDefinition]:
        return [ToolDefinition(name="look_up", description="", input_schema={"type": "object"})]

    async def call(
        self, agent_id: str, conversation_id: str, name: str, arguments: Mapping[str, Any]
    ) -> ToolOutcome:
        self.called += 1
        if self.run is not None:
            await self.run(arguments)
        return ToolOutcome(content="a bird")


async def nothing_refused(tenant: str, agent_id: str) -> None:
    """Texts may leave."""


@dataclass
class Bench:
    """Chats in memory."""

    model: FakeModel = field(default_factory=FakeModel)
    store: FakeStore = field(default_factory=FakeStore)
    tools: FakeTools = field(default_factory=FakeTools)
    leases: TurnLeases = field(default_factory=MemoryTurnLeases)
    clock: Clock = now
    lease_seconds: float = 15.0
    seconds: float = SECONDS

    def chatting(self) -> Chatting:
        """A process's chats."""
        parts = ChatParts(
            prompting=Prompting(FakeSources()),
            store=self.store,
            lease=LeaseRules(leases=self.leases, clock=self.clock, seconds=self.lease_seconds),
            model=self.model,
            tools=self.tools,
            budget=NoBudget(),
            usage=NoRecord(),
            leave=nothing_refused,
            max_tokens=100,
        )
        return Chatting(parts, seconds=self.seconds)


def ask(request_id: str = "r", **fields: Any) -> Ask:
    """A request."""
    defaults: dict[str, Any] = {
        "place": Place(tenant="bank", agent_id="ada", conversation_id="c"),
        "text": "What?",
        "author": "",
        "tier": Tier.STANDARD,
        "rounds": 8,
        "budget": 0,
    }
    return Ask(request_id=request_id, **(defaults | fields))
