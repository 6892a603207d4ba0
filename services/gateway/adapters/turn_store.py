"""What is kept of turns, in Episodic (SPEC G-4, W-3)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from google.protobuf.json_format import MessageToDict
from palimpsest.common.v1 import recall_pb2
from palimpsest.common.v1 import resources_pb2 as common
from palimpsest.episodic.v1 import episodic_pb2
from palimpsest.semantic.v1 import semantic_pb2
from palimpsest.working.v1 import checkpoints_pb2

from services.gateway.app.backends import Backends
from services.gateway.app.turn_lease import RETRY_AFTER_SECONDS, TAKEN_OVER
from services.gateway.domain.turns import (
    SAID_CHARACTERS,
    Ask,
    Call,
    Cause,
    Result,
    Round,
    Stored,
    shortened,
    text_parts,
)
from services.kit.errors import DependencyDown, Exists, FieldProblem, NotFound, ParentConflict, TurnRunning

OTHER_MESSAGE = "this request id was used with another message"
ENDED_ELSEWHERE = "another process ended this turn; the same request tells its answer"
PLACES_TRIED = 16
"""How often a message's place is looked for while others store messages; then it is the end of the path."""
ANY_WORD = "x"


class EpisodicTurns:
    """A TurnStore over stubs."""

    def __init__(self, backends: Backends) -> None:
        self._backends = backends

    async def find(self, ask: Ask) -> Stored | None:
        """See the port."""
        ids, by_id = ask.ids, await self._messages(ask)
        user, answer = by_id.get(ids.user), by_id.get(ids.answer)
        if user is None:
            return None
        if (_text(user.message), user.message.author) != (ask.text, ask.author):
            problem = FieldProblem(field="request_id", description="was sent with another message")
            raise Exists(OTHER_MESSAGE, fields=[problem])
        stored = Stored(newest=user.active and not user.after)
        return stored if answer is None else _answered(stored, answer.message)

    async def indexed(self, ask: Ask) -> tuple[object, ...]:
        """See the port. A search by keyword: it asks no model, and what it finds is not looked at."""
        if not ask.wait_for:
            return ()
        request = semantic_pb2.RecallMessagesRequest(
            scope=semantic_pb2.Scope(agent_id=ask.place.agent_id),
            query=ANY_WORD,
            mode=recall_pb2.SEARCH_MODE_KEYWORD,
            limit=1,
            wait_for=ask.wait_for,  # type: ignore[arg-type]
        )
        try:
            return tuple((await self._backends.semantic.RecallMessages(request)).unindexed)
        except DependencyDown:  # the prompt says so
            return ()

    async def put_user(self, ask: Ask, ours: Callable[[], Awaitable[bool]]) -> None:
        """See the port. The parent is the fence, as that of an answer: see `finish`."""
        message = common.NewMessage(
            id=ask.ids.user,
            role=common.ROLE_USER,
            author=ask.author,
            parts=[common.Part(text=ask.text)],
        )
        parent: str | None = await self._leaf(ask)
        for _ in range(PLACES_TRIED):
            await _check(ours)
            try:
                await self._append(ask, [message], parent)
            except ParentConflict:
                stored = ask.ids.user in await self._messages(ask)
                parent = None if stored else await self._leaf(ask)
                continue
            return
        await self._append(ask, [message], None)

    async def rounds(self, ask: Ask) -> tuple[Round, ...]:
        """See the port."""
        place = ask.place
        request = checkpoints_pb2.GetCheckpointRequest(
            agent_id=place.agent_id, conversation_id=place.conversation_id
        )
        try:
            found = (await self._backends.working.GetCheckpoint(request)).checkpoint
        except NotFound:
            return ()
        if found.turn_id != ask.ids.turn:
            return ()
        return tuple(
            _round(number, list(calls)) for number, calls in groupby(found.calls, lambda call: call.round)
        )

    async def save(self, ask: Ask, round_: Round) -> None:
        """See the port."""
        place = ask.place
        await self._backends.working.SaveCheckpoint(
            checkpoints_pb2.SaveCheckpointRequest(
                agent_id=place.agent_id,
                conversation_id=place.conversation_id,
                turn_id=ask.ids.turn,
                round=round_.number,
                calls=_saved(round_),
            )
        )

    async def finish(
        self,
        ask: Ask,
        rounds: Sequence[Round],
        answer: str,
        interruption: Cause | None,
        ours: Callable[[], Awaitable[bool]],
    ) -> object:
        """See the port. Where others stored something since, the answer comes after it; where another path
        became the active one, the answer stays with its question and that path active.

        The parent is the fence: it was the path's end before `ours` was asked, so a process that was stopped
        after that finds another end, if another turn has begun meanwhile.
        """
        messages = [message for round_ in rounds for message in _messages(ask, round_)]
        messages.append(_answer(ask, answer, interruption))
        parent, aside = ask.ids.user, False
        for _ in range(PLACES_TRIED):
            await _check(ours)
            try:
                return await self._append(ask, messages, parent, aside=aside)
            except (ParentConflict, Exists):
                leaf = await self._leaf(ask)
                found = await self._messages(ask)
                if answered := found.get(ask.ids.answer):
                    return self._kept(ask, messages[-1], answered.message)
                if ask.ids.user not in found:
                    raise
            aside = not found[ask.ids.user].active
            parent = ask.ids.user if aside else leaf
        return await self._append(ask, messages, None)

    def _kept(self, ask: Ask, sent: common.NewMessage, stored: common.Message) -> object:
        """Of an answer that is stored: by a try of ours that seemed to fail, or by another process."""
        if list(sent.parts) != list(stored.parts):
            raise TurnRunning(ENDED_ELSEWHERE, retry_after=RETRY_AFTER_SECONDS)
        return self.token(ask, stored.sequence)

    async def _leaf(self, ask: Ask) -> str:
        """The end of the active path."""
        place = ask.place
        asked = episodic_pb2.GetConversationRequest(
            agent_id=place.agent_id, conversation_id=place.conversation_id
        )
        return (await self._backends.episodic.GetConversation(asked)).conversation.leaf_id

    async def _messages(self, ask: Ask) -> dict[str, episodic_pb2.MessageInContext]:
        """The user's message and the answer, those that are stored, by id."""
        place = ask.place
        refs = [
            common.MessageRef(conversation_id=place.conversation_id, message_id=message_id)
            for message_id in (ask.ids.user, ask.ids.answer)
        ]
        found = await self._backends.episodic.GetMessages(
            episodic_pb2.GetMessagesRequest(agent_id=place.agent_id, refs=refs, neighbours=1)
        )
        return {one.message.id: one for one in found.messages}

    def token(self, ask: Ask, sequence: int) -> object:
        """See the port."""
        place = ask.place
        return common.FreshnessToken(
            agent_id=place.agent_id,
            messages=common.MessageMark(conversation_id=place.conversation_id, sequence=sequence),
        )

    async def _append(
        self,
        ask: Ask,
        messages: Sequence[common.NewMessage],
        parent_id: str | None,
        *,
        aside: bool = False,
    ) -> common.FreshnessToken:
        place = ask.place
        response = await self._backends.episodic.AppendMessages(
            episodic_pb2.AppendMessagesRequest(
                agent_id=place.agent_id,
                conversation_id=place.conversation_id,
                messages=messages,
                parent_id=parent_id,
                branch=aside,
                keep_path=aside,
            )
        )
        return response.token


async def _check(ours: Callable[[], Awaitable[bool]]) -> None:
    """Raises TurnRunning."""
    if not await ours():
        raise TurnRunning(TAKEN_OVER, retry_after=RETRY_AFTER_SECONDS)


def struct(arguments: Any) -> dict[str, Any]:
    """Arguments as a Struct takes them."""
    return dict(arguments or {})


def call_of(call: Call) -> common.ToolCall:
    """On the wire; arguments that can't be read are none."""
    made = common.ToolCall(call_id=call.call_id, name=call.name)
    made.arguments.update(struct(call.arguments))
    return made


def _text(message: common.Message) -> str:
    return "".join(part.text for part in message.parts if part.WhichOneof("kind") == "text")


def _answered(stored: Stored, answer: common.Message) -> Stored:
    broken = [part.interruption for part in answer.parts if part.WhichOneof("kind") == "interruption"]
    return replace(
        stored,
        answer=_text(answer),
        interrupted=bool(broken),
        interruption=Cause(broken[0].cause) if broken and broken[0].cause else None,
        sequence=answer.sequence,
    )


def _saved(round_: Round) -> list[checkpoints_pb2.CheckpointedCall]:
    """The text stands with the first call."""
    saved = [_saved_call(call, round_.results.get(call.call_id)) for call in round_.calls]
    saved[0].said = shortened(round_.text, SAID_CHARACTERS)
    return saved


def _saved_call(call: Call, result: Result | None) -> checkpoints_pb2.CheckpointedCall:
    preview = None
    if result is not None:
        preview = checkpoints_pb2.ResultPreview(content=result.content, is_error=result.is_error)
    return checkpoints_pb2.CheckpointedCall(call=call_of(call), result=preview)


def _round(number: int, calls: Sequence[checkpoints_pb2.CheckpointedCall]) -> Round:
    return Round(
        number=number,
        text="".join(one.said for one in calls),
        calls=tuple(
            Call(
                call_id=one.call.call_id,
                name=one.call.name,
                arguments=MessageToDict(one.call.arguments),
            )
            for one in calls
        ),
        results={
            one.call.call_id: Result.of(one.result.content, is_error=one.result.is_error)
            for one in calls
            if one.HasField("result")
        },
    )


def _messages(ask: Ask, round_: Round) -> list[common.NewMessage]:
    said = [common.Part(text=text) for text in text_parts(round_.text)]
    results = [
        common.ToolResult(call_id=call.call_id, content=result.content, is_error=result.is_error)
        for call in round_.calls
        if (result := round_.results.get(call.call_id)) is not None
    ]
    return [
        common.NewMessage(
            id=ask.ids.calls(round_.number),
            role=common.ROLE_ASSISTANT,
            parts=[*said, *(common.Part(tool_call=call_of(call)) for call in round_.calls)],
        ),
        common.NewMessage(
            id=ask.ids.results(round_.number),
            role=common.ROLE_TOOL,
            parts=[common.Part(tool_result=result) for result in results],
        ),
    ]


def _answer(ask: Ask, answer: str, interruption: Cause | None) -> common.NewMessage:
    parts = [common.Part(text=text) for text in text_parts(answer)]
    if interruption is not None:
        broken = common.Interruption(cause=int(interruption))  # type: ignore[arg-type]
        parts.append(common.Part(interruption=broken))
    return common.NewMessage(id=ask.ids.answer, role=common.ROLE_ASSISTANT, parts=parts)
