"""What a turn asks the model, what it says, and what that costs (SPEC G-4, E-11, G-5, S-15)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass

from services.gateway.app.chat_ports import ChatModel, Leave
from services.gateway.app.limit_ports import ModelBudget
from services.gateway.app.turn_events import Events
from services.gateway.domain.turns import NO_USAGE, Ask, Said
from services.kit.models.errors import Cause as ModelCause
from services.kit.models.errors import ModelUnavailable
from services.kit.models.recording import UsageRecorder
from services.kit.models.types import Message, StreamEnd, Tool, ToolCall, Usage
from services.kit.tokens import estimate_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What the model said, and the tools that it calls."""

    text: str
    calls: tuple[ToolCall, ...]
    truncated: bool


class Asking:
    """The calls of the model in one turn, one after the other."""

    def __init__(
        self,
        model: ChatModel,
        ask: Ask,
        *,
        budget: ModelBudget,
        usage: UsageRecorder,
        leave: Leave,
        max_tokens: int,
    ) -> None:
        self._model = model
        self._ask = ask
        self._budget = budget
        self._recorder = usage
        self._leave = leave
        self._max_tokens = max_tokens
        self._said: list[str] = []
        self._open: Sequence[Message] | None = None  # what a call was asked whose cost is not known yet
        self._begun: float | None = None
        self.first_token: float | None = None
        """Seconds from asking the model first to its first text."""
        self.usage = NO_USAGE
        """Of all calls so far."""
        self.model = ""
        """As the endpoint names it."""

    @property
    def said(self) -> str:
        """The text of the answer that is being given; of one that called tools it is the round's."""
        return "".join(self._said)

    async def check(self) -> None:
        """Whether the texts may go to the model, and the tenant may spend. Raises DataFlowRefused,
        LimitExceeded."""
        place = self._ask.place
        if self._model.leaves(self._ask.tier):
            await self._leave(place.tenant, place.agent_id)
        await self._budget.check()

    async def answer(self, messages: Sequence[Message], tools: Sequence[Tool], events: Events) -> Answered:
        """One answer, its text told as it comes. Raises ModelUnavailable, and what `check` raises."""
        await self.check()
        self._open, self._said = list(messages), []
        if self._begun is None:
            self._begun = asyncio.get_running_loop().time()
        try:
            end = await self._stream(messages, tools, events)
        except ModelUnavailable as error:
            self._open = None
            await self._spend(error.usage)
            raise
        self._open = None
        self.model = end.model
        await self._spend(end.usage)
        calls = end.calls if tools else ()  # a model may call what it was not offered
        if not self._said and not calls:
            raise ModelUnavailable(ModelCause.EMPTY)
        text = self.said
        if calls:
            self._said = []
        return Answered(text=text, calls=calls, truncated=end.truncated)

    async def account(self) -> None:
        """Counts a call that was cut off, by estimate: its endpoint tells nothing, and charges for it."""
        messages, self._open = self._open, None
        if messages is None or not self._said:
            return
        usage = Usage(
            calls=1,
            estimated_calls=1,
            input_tokens=sum(estimate_tokens(message.text) for message in messages),
            output_tokens=estimate_tokens(self.said),
        )
        await self._spend(usage)

    async def _stream(self, messages: Sequence[Message], tools: Sequence[Tool], events: Events) -> StreamEnd:
        stream = self._model.stream(self._ask.tier, messages, max_tokens=self._max_tokens, tools=tools)
        async with aclosing(stream) as deltas:
            async for delta in deltas:
                if delta.text:
                    if self.first_token is None and self._begun is not None:
                        self.first_token = asyncio.get_running_loop().time() - self._begun
                    self._said.append(delta.text)
                    await events.put(Said(text=delta.text))
                if delta.end is not None:
                    return delta.end
        raise ModelUnavailable(ModelCause.CUT)

    async def _spend(self, usage: Usage) -> None:
        """By the settings' name of the model: an endpoint's own would make a row for each that it says."""
        self.usage += usage
        if not usage.calls:
            return
        place, tier = self._ask.place, self._ask.tier
        name = self._model.name(tier)
        await self._recorder.record(place.agent_id, place.conversation_id, tier, name, usage)
        await self._budget.charge(tier, usage)
