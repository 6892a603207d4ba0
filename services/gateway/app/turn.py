"""One turn of a chat, from the user's message to the stored answer (SPEC G-4, W-3).

What can be stopped at any moment (`_work`: the prompt, the model, the tools) runs in a task of its own; what
must not be cut (storing what came of it, ending the lease) does not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal

import structlog

from services.gateway.app.chat_ports import ChatModel, Leave, TurnStore
from services.gateway.app.limit_ports import ModelBudget
from services.gateway.app.prompting import Assembled, Prompting, Resumed
from services.gateway.app.tool_ports import Tools
from services.gateway.app.turn_events import Events
from services.gateway.app.turn_lease import RETRY_AFTER_SECONDS, TAKEN_OVER, Lease, LeaseRules, held
from services.gateway.app.turn_model import Answered, Asking
from services.gateway.app.turn_tools import Toolbox
from services.gateway.domain.parts import LayerKind, Speaker
from services.gateway.domain.turns import Ask, Cause, Finished, Round, Said, Started, Stored
from services.kit.context import current_call, serving
from services.kit.errors import (
    DeadlineExceeded,
    DependencyDown,
    LimitExceeded,
    ModelNotConfigured,
    PalimpsestError,
    ParentConflict,
    TurnRunning,
)
from services.kit.logs import frames_of
from services.kit.models.recording import UsageRecorder
from services.kit.models.types import Message

STORE_ATTEMPTS = 4
STORE_PAUSE_SECONDS = 0.25  # doubled each time: an Episodic that restarts is back by then, or the turn fails
ROLES: Mapping[Speaker, Literal["system", "user", "assistant"]] = MappingProxyType(
    {Speaker.SYSTEM: "system", Speaker.USER: "user", Speaker.ASSISTANT: "assistant"}
)
"""A prompt's message lists have no others."""
STOPPING = "the server is stopping; send the same request again"
WENT_ON = "the conversation went on after this turn's message; send it as a turn of its own"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatParts:
    """What turns are made with; `max_tokens` of one answer of the model."""

    prompting: Prompting
    store: TurnStore
    lease: LeaseRules
    model: ChatModel
    tools: Tools
    budget: ModelBudget
    usage: UsageRecorder
    leave: Leave
    max_tokens: int


class Turn:
    """Runs once. Its events are in `events`; it ends by itself, and soon after `stop`."""

    def __init__(self, parts: ChatParts, ask: Ask, *, retry: bool, seconds: float) -> None:
        """`retry`: whether an earlier attempt may have stored something; `seconds` until it is cut off."""
        self.events = Events()
        self._parts = parts
        self._ask = ask
        self._retry = retry
        self._ends = asyncio.get_running_loop().time() + seconds
        self._stopped = asyncio.Event()
        self._cause = Cause.DEADLINE
        self._lost = False
        self._replayed = False
        self._unindexed: tuple[object, ...] = ()
        self._asking = Asking(
            parts.model,
            ask,
            budget=parts.budget,
            usage=parts.usage,
            leave=parts.leave,
            max_tokens=parts.max_tokens,
        )
        self._toolbox = Toolbox(parts.tools, parts.store, ask)
        self._answered: Answered | None = None

    def stop(self, cause: Cause) -> None:
        """Cuts the turn off; again is no change."""
        if not self._stopped.is_set():
            self._cause = cause
            self._stopped.set()

    def leave(self, cause: Cause = Cause.READER_LEFT) -> None:
        """The reader is gone: cuts the turn off."""
        self.stop(cause)
        self.events.leave()

    async def run(self) -> None:
        """The whole turn; what it raises is its reader's."""
        error: BaseException | None = None
        try:
            if not await self._within_time(self._begin()):
                raise self._cut_off()
            if not self._replayed:
                await self._run()
        except Exception as raised:  # noqa: BLE001 - it is raised where the events are read
            error = raised
            if self._stopped.is_set():  # perhaps by nobody
                structlog.get_logger("chat").warning("turn_failed", error=type(raised).__name__)
        await self.events.end(error)

    async def _begin(self) -> None:
        """Replays a finished turn; else looks whether the model may be asked, before anything is stored.

        What is to be indexed first is waited for here, while others may have the conversation.
        """
        if await self._replay(await self._found()):
            return
        tier = self._ask.tier
        if not self._parts.model.has(tier):
            raise ModelNotConfigured(metadata={"tier": tier.value})
        await self._asking.check()
        self._unindexed = await self._parts.store.indexed(self._ask)

    async def _run(self) -> None:
        finished = await self._hold()
        if finished is not None:
            # Only now: who reads that the turn is over may begin the next one, and who doesn't read holds
            # up nobody.
            await self.events.put(finished)

    async def _hold(self) -> Finished | None:
        """The turn while the conversation is its own; None where its events tell the end already."""
        ask, parts = self._ask, self._parts
        async with AsyncExitStack() as stack:
            taking = asyncio.ensure_future(
                stack.enter_async_context(held(parts.lease, ask.place, ask.wait, self._lose))
            )
            if not await self._within_time(taking):
                raise self._cut_off()
            failure: Exception | None = None
            complete = False
            try:
                complete = await self._within_time(self._work(taking.result()))
            except Exception as error:  # noqa: BLE001 - whatever it is, what was said is stored
                failure = error
                if not isinstance(error, PalimpsestError):
                    _log_fault(error)
            return None if self._replayed else await self._settle(complete, failure, taking.result())

    async def _within_time(self, work: Awaitable[Any]) -> bool:
        """Whether the work came to its end; else it was cancelled, as the turn was stopped or time is up."""
        task = asyncio.ensure_future(work)
        stopped = asyncio.ensure_future(self._stopped.wait())
        try:
            left = max(0.0, self._ends - asyncio.get_running_loop().time())
            await asyncio.wait({task, stopped}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                task.cancel()
                await asyncio.wait({task})
        finally:
            stopped.cancel()
            task.cancel()
        if task.cancelled():
            return False
        task.result()
        return True

    async def _replay(self, stored: Stored | None) -> bool:
        """Tells the answer that is stored, if there is one."""
        if stored is None or stored.answer is None:
            return False
        self._replayed = True
        ids = self._ask.ids
        await self.events.put(Started(user_message_id=ids.user, replayed=True))
        if stored.answer:
            await self.events.put(Said(text=stored.answer))
        await self.events.put(
            Finished(
                assistant_message_id=ids.answer,
                token=self._parts.store.token(self._ask, stored.sequence),
                interrupted=stored.interrupted,
                interruption=stored.interruption,
            )
        )
        return True

    async def _found(self) -> Stored | None:
        return await self._parts.store.find(self._ask) if self._retry else None

    async def _work(self, lease: Lease) -> None:
        ask, parts = self._ask, self._parts
        stored = await self._found()
        if await self._replay(stored):  # it was finished by the turn that was waited for
            return
        if stored is not None and not stored.newest:
            raise ParentConflict(WENT_ON)
        assembled = await parts.prompting.assemble(
            ask.place.agent_id,
            ask.place.conversation_id,
            ask.text,
            author=ask.author,
            budget=ask.budget,
            wait_for=(),  # waited for before the conversation was taken
            resumed=Resumed(message_id=ask.ids.user, turn_id=ask.ids.turn) if stored else None,
            model=parts.model.name(ask.tier),
        )
        await parts.store.put_user(ask, lease.ours)
        await self.events.put(_started(ask, assembled, self._unindexed))
        messages = [Message(role=ROLES[said.role], text=said.content) for said in assembled.prompt.openai]
        for round_ in await parts.store.rounds(ask) if stored else ():
            messages += await self._toolbox.run(round_, self.events)
        await self._converse(messages)

    async def _converse(self, messages: list[Message]) -> None:
        """Asks the model, runs its tools and asks again, until it answers."""
        tools = await self._toolbox.definitions() if self._ask.rounds else ()
        while True:
            offered = tools if len(self._toolbox.rounds) < self._ask.rounds else ()
            answered = await self._asking.answer(messages, offered, self.events)
            if not answered.calls or not offered:
                self._answered = answered
                return
            messages += await self._toolbox.run_new(answered.text, answered.calls, self.events)

    async def _settle(self, complete: bool, failure: Exception | None, lease: Lease) -> Finished:
        """Stores what came, or raises why nothing did. Not to be cut: its time is the store's."""
        with _without_deadline():
            await self._asking.account()
            if self._lost:
                raise TurnRunning(TAKEN_OVER, retry_after=RETRY_AFTER_SECONDS)
            rounds = self._toolbox.rounds
            spoke = bool(self._asking.said) or any(round_.text for round_ in rounds)
            if not complete and not spoke:
                raise failure or self._cut_off()
            cause = None if complete else self._cause_of(failure)
            token = await self._finish(rounds, cause, lease)
        return self._finished(token, cause)

    def _cut_off(self) -> PalimpsestError:
        """Of a turn that was cut off before anything was said."""
        return DependencyDown(STOPPING) if self._cause is Cause.STOPPED else DeadlineExceeded()

    def _cause_of(self, failure: Exception | None) -> Cause:
        if failure is None:
            return self._cause
        return Cause.LIMIT_EXCEEDED if isinstance(failure, LimitExceeded) else Cause.FAILED

    async def _finish(self, rounds: list[Round], cause: Cause | None, lease: Lease) -> object:
        """A store that is away for a moment costs no answer: its messages have ids, so again is no change."""
        ended = [round_.ended() for round_ in rounds]
        for attempt in range(STORE_ATTEMPTS):
            try:
                return await self._parts.store.finish(self._ask, ended, self._asking.said, cause, lease.ours)
            except DependencyDown:
                if attempt == STORE_ATTEMPTS - 1:
                    raise
            await asyncio.sleep(STORE_PAUSE_SECONDS * 2**attempt)
        raise AssertionError("unreachable")

    def _finished(self, token: object, cause: Cause | None) -> Finished:
        asking = self._asking
        return Finished(
            assistant_message_id=self._ask.ids.answer,
            token=token,
            usage=asking.usage,
            model=asking.model,
            truncated=self._answered is not None and self._answered.truncated,
            interrupted=cause is not None,
            interruption=cause,
            first_token=asking.first_token,
            rounds=len(self._toolbox.rounds),
        )

    def _lose(self) -> None:
        self._lost = True
        self.stop(Cause.FAILED)


def _log_fault(error: Exception) -> None:
    structlog.get_logger("chat").error("turn_fault", error=type(error).__name__, trace=frames_of(error))


def _started(ask: Ask, assembled: Assembled, unindexed: tuple[object, ...]) -> Started:
    found, layers = assembled.found, assembled.prompt.layers
    return Started(
        user_message_id=ask.ids.user,
        prompt_revision=assembled.prompt_revision,
        unindexed=(*unindexed, *found.unindexed),
        failures=found.failures,
        memory_ids=tuple(dict.fromkeys(id_ for layer in layers for id_ in layer.memory_ids)),
        messages=tuple(
            (turn.conversation_id, turn.message_id)
            for layer in layers
            if layer.kind is LayerKind.RETRIEVED
            for turn in layer.turns
        ),
    )


@contextmanager
def _without_deadline() -> Iterator[None]:
    """The caller's deadline may be over; what is stored now has the stores' own."""
    call = current_call()
    if call is None:
        yield
        return
    with serving(replace(call, deadline=None)):
        yield
