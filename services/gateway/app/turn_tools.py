"""The tools that a turn runs, and its checkpoint (SPEC G-4, G-6, W-3)."""

from __future__ import annotations

from collections.abc import Sequence

from services.gateway.app.chat_ports import TurnStore
from services.gateway.app.tool_ports import Tools
from services.gateway.app.turn_events import Events
from services.gateway.domain.tool_texts import told
from services.gateway.domain.turns import (
    BAD_ARGUMENTS,
    NO_SUCH_TOOL,
    UNAVAILABLE,
    Ask,
    Call,
    Called,
    Result,
    Returned,
    Round,
    own_id,
    readable,
)
from services.kit.errors import DeadlineExceeded, DependencyDown
from services.kit.models.tool_calls import arguments_of
from services.kit.models.types import Message, Tool, ToolCall


class Toolbox:
    """Runs rounds of calls, one call after the other, and saves each result before the next call.

    So a tool is run again only where the process died, or the turn was stopped, while it ran.
    """

    def __init__(self, tools: Tools, store: TurnStore, ask: Ask) -> None:
        self._tools = tools
        self._store = store
        self._ask = ask
        self._known: frozenset[str] = frozenset()
        self.rounds: list[Round] = []
        """Those begun so far, with the results that are there."""

    async def definitions(self) -> tuple[Tool, ...]:
        """What the model is offered. Raises NotFound, DependencyDown."""
        place = self._ask.place
        found = await self._tools.definitions(place.agent_id, place.conversation_id)
        self._known = frozenset(one.name for one in found)
        return tuple(
            Tool(name=one.name, description=one.description, schema=one.input_schema) for one in found
        )

    async def run_new(self, text: str, calls: Sequence[ToolCall], events: Events) -> list[Message]:
        """A round that the model asks for; returns the messages that tell it what came of it."""
        number = max((round_.number for round_ in self.rounds), default=0) + 1
        taken = {call.call_id for round_ in self.rounds for call in round_.calls}
        own: list[Call] = []
        for call in calls:
            call_id = own_id(call.call_id, number, taken)
            taken.add(call_id)
            own.append(Call(call_id=call_id, name=call.name, arguments=readable(arguments_of(call))))
        return await self.run(Round(number=number, calls=tuple(own), text=text), events)

    async def run(self, round_: Round, events: Events) -> list[Message]:
        """A round; results that it has already are used as they are."""
        self.rounds.append(round_)
        if len(round_.results) < len(round_.calls):
            await self._store.save(self._ask, round_)
        for call in round_.calls:
            await events.put(Called(call=call))
            result = round_.results.get(call.call_id)
            if result is not None:
                await events.put(Returned(call=call, result=result, reused=True))
                continue
            result = await self._call(call)
            round_ = self.rounds[-1] = round_.with_result(call, result)
            await self._store.save(self._ask, round_)
            await events.put(Returned(call=call, result=result))
        return _told(round_)

    async def _call(self, call: Call) -> Result:
        if call.arguments is None:
            return Result.of(BAD_ARGUMENTS, is_error=True)
        if not self._known:
            await self.definitions()  # a turn that goes on runs a tool before it asks the model
        if call.name not in self._known:
            return Result.of(NO_SUCH_TOOL, is_error=True)
        place = self._ask.place
        try:
            outcome = await self._tools.call(place.agent_id, place.conversation_id, call.name, call.arguments)
        except (DependencyDown, DeadlineExceeded):
            return Result.of(UNAVAILABLE, is_error=True)
        return Result.of(outcome.content, is_error=outcome.is_error)


def _told(round_: Round) -> list[Message]:
    """The calls as the model made them, and what came of each, in fences (G-3)."""
    calls = tuple(
        ToolCall(call_id=call.call_id, name=call.name, arguments=call.json) for call in round_.calls
    )
    messages = [Message(role="assistant", text=round_.text, calls=calls)]
    for call in round_.calls:
        result = round_.results[call.call_id]
        text = told(result.content, is_error=result.is_error)
        messages.append(Message(role="tool", text=text, call_id=call.call_id))
    return messages
