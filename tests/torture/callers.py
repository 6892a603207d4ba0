"""Callers that write to Episodic while it is killed, and repeat what was not acknowledged (SPEC E-1, E-2)."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

from palimpsest.common.v1 import resources_pb2
from palimpsest.episodic.v1 import episodic_pb2, episodic_pb2_grpc
from palimpsest.history.v1 import history_pb2, history_pb2_grpc, overlays_pb2
from palimpsest.state.v1 import state_pb2, state_pb2_grpc
from palimpsest.working.v1 import checkpoints_pb2, notes_pb2, working_pb2_grpc

from services.kit.channels import ServiceChannel
from services.kit.errors import DeadlineExceeded, DependencyDown, VersionConflict
from tests.torture.journal import Journal, Stored

AGENT = "ada"
PAUSE_SECONDS = 0.05  # between a failure and the next attempt
Call = Callable[[Any], Awaitable[Any]]


class Stubs:
    """Episodic's services over one channel; counts how calls ended."""

    def __init__(self, channel: ServiceChannel) -> None:
        self.episodic: Any = episodic_pb2_grpc.EpisodicServiceStub(channel)
        self.history: Any = history_pb2_grpc.HistoryServiceStub(channel)
        self.working: Any = working_pb2_grpc.WorkingMemoryServiceStub(channel)
        self.state: Any = state_pb2_grpc.StateServiceStub(channel)
        self.outcomes: Counter[str] = Counter()  # by reason

    async def until_answered(self, call: Call, request: Any) -> tuple[Any, bool]:
        """The answer, and whether earlier attempts, which may have been carried out, were not answered.

        Only "unavailable" and a passed deadline are repeated; whatever else comes is raised.
        """
        repeated = False
        while True:
            try:
                answer = await call(request)
            except (DependencyDown, DeadlineExceeded) as error:
                self.outcomes[error.reason.value] += 1
                repeated = True
                await asyncio.sleep(PAUSE_SECONDS)
            else:
                self.outcomes["OK"] += 1
                return answer, repeated


class Caller:
    """Writes everything that can be written, to a conversation of its own."""

    def __init__(self, stubs: Stubs, conversation: str, dice: random.Random) -> None:
        self._stubs = stubs
        self._dice = dice
        self._made = 0
        self.journal = Journal(conversation)

    async def run(self, stop: asyncio.Event) -> None:
        """Goes on until told to stop; what it began it brings to its end."""
        request = episodic_pb2.CreateConversationRequest(**self._place)
        await self._stubs.until_answered(self._stubs.episodic.CreateConversation, request)
        steps: list[tuple[Callable[[], Awaitable[None]], int]] = [
            (self._append, 8),
            (self._append_after_leaf, 4),
            (self._branch, 2),
            (self._switch, 1),
            (self._cover, 2),
            (self._checkpoint, 3),
            (self._answer, 2),
            (self._set_state, 3),
            (self._add_notes, 2),
        ]
        while not stop.is_set():
            step = self._dice.choices([s for s, _ in steps], [w for _, w in steps])[0]
            await step()

    @property
    def _place(self) -> dict[str, Any]:
        return {"agent_id": AGENT, "conversation_id": self.journal.conversation}

    def _next(self, what: str) -> str:
        self._made += 1
        return f"{what}-{self.journal.conversation}-{self._made}"

    # Messages

    async def _append(self) -> None:
        """At the leaf, whatever that is; a request id makes the repetition harmless."""
        await self._store(self.journal.leaf, self._texts(), request_id=self._next("r"))

    async def _append_after_leaf(self) -> None:
        """After the leaf by name: ids derived from content, or given ones, make the repetition harmless."""
        given = self._dice.random() < 0.5
        await self._store(self.journal.leaf, self._texts(), explicit=True, given=given)

    async def _branch(self) -> None:
        if self.journal.messages:
            parent = self._dice.choice(self.journal.messages).id
            await self._store(parent, self._texts(), explicit=True, request_id=self._next("r"))

    async def _answer(self) -> None:
        """The assistant's message that ends a turn, and its checkpoint with it (W-3)."""
        role = resources_pb2.ROLE_ASSISTANT
        await self._store(self.journal.leaf, [self._next("answer")], request_id=self._next("r"), role=role)
        self.journal.turn = ""
        self.journal.calls = []

    def _texts(self) -> list[str]:
        return [self._next("text") for _ in range(self._dice.randint(1, 5))]

    async def _store(
        self,
        parent: str,
        texts: list[str],
        *,
        explicit: bool = False,
        given: bool = False,
        request_id: str = "",
        role: int = resources_pb2.ROLE_USER,
    ) -> None:
        messages = [new_message(text, role, id=self._next("m") if given else "") for text in texts]
        request = episodic_pb2.AppendMessagesRequest(
            **self._place,
            messages=messages,
            parent_id=parent if explicit else None,
            request_id=request_id,
            branch=explicit,
        )
        answer, _ = await self._stubs.until_answered(self._stubs.episodic.AppendMessages, request)
        assert len(answer.results) == len(texts)
        for result, text in zip(answer.results, texts, strict=True):
            stored = Stored(id=result.message_id, sequence=result.sequence, parent=parent, text=text)
            self.journal.add(stored)
            parent = stored.id

    async def _switch(self) -> None:
        if not self.journal.messages:
            return
        chosen = self._dice.choice(self.journal.messages).id
        request = history_pb2.SwitchLeafRequest(**self._place, message_id=chosen)
        answer, _ = await self._stubs.until_answered(self._stubs.history.SwitchLeaf, request)
        self.journal.leaf = answer.conversation.leaf_id

    async def _cover(self) -> None:
        """What is due to be covered, under an id of ours (E-7)."""
        asked = overlays_pb2.GetCoverageRequest(**self._place)
        due, _ = await self._stubs.until_answered(self._stubs.history.GetCoverage, asked)
        if len(due.uncovered) == 0:
            return
        overlay_id, summary = self._next("o"), self._next("summary")
        request = overlays_pb2.PutOverlayRequest(
            **self._place,
            overlay_id=overlay_id,
            from_message_id=due.uncovered[0].id,
            to_message_id=due.uncovered[-1].id,
            summary=summary,
            model="none",
        )
        answer, _ = await self._stubs.until_answered(self._stubs.history.PutOverlay, request)
        assert answer.overlay.id == overlay_id
        self.journal.overlays[overlay_id] = summary

    # Working memory and state

    async def _checkpoint(self) -> None:
        """A round more of the open turn, or the first of a new one."""
        turn = self.journal.turn or self._next("turn")
        calls = [*self.journal.calls, self._next("call")][-20:]
        request = checkpoints_pb2.SaveCheckpointRequest(**self._place, turn_id=turn, round=len(calls))
        for call in calls:
            saved = request.calls.add()
            saved.call.call_id = saved.call.name = call
            saved.result.content = f"result of {call}"
        await self._stubs.until_answered(self._stubs.working.SaveCheckpoint, request)
        self.journal.turn, self.journal.calls = turn, calls

    async def _set_state(self) -> None:
        """Compare-and-set (W-7): repeated, it may find its own version there already."""
        document = json.dumps({"value": self._next("state")})
        request = state_pb2.SetStateRequest(
            **self._place, json=document, expected_version=self.journal.state_version
        )
        wanted = self.journal.state_version + 1
        try:
            answer, _ = await self._stubs.until_answered(self._stubs.state.SetState, request)
            assert answer.version == wanted
        except VersionConflict:
            asked = state_pb2.GetStateRequest(**self._place)
            known, _ = await self._stubs.until_answered(self._stubs.state.GetState, asked)
            assert (known.document.version, json.loads(known.document.json)) == (wanted, json.loads(document))
        self.journal.state, self.journal.state_version = document, wanted

    async def _add_notes(self) -> None:
        """Replaced with a line more, which is harmless to repeat; the oldest lines give way (W-1)."""
        lines = [*self.journal.notes.splitlines(), self._next("note")][-20:]
        request = notes_pb2.SetNotesRequest(**self._place, replace="\n".join(lines))
        await self._stubs.until_answered(self._stubs.working.SetNotes, request)
        self.journal.notes = "\n".join(lines)


class Crowd:
    """Callers that append to one conversation at once; what each was told is kept (E-3)."""

    def __init__(self, stubs: Stubs, conversation: str, size: int) -> None:
        self._stubs = stubs
        self._size = size
        self.conversation = conversation
        self.told: dict[str, tuple[str, int]] = {}  # id and sequence number by text

    async def run(self, stop: asyncio.Event) -> None:
        """Goes on until told to stop."""
        request = episodic_pb2.CreateConversationRequest(agent_id=AGENT, conversation_id=self.conversation)
        await self._stubs.until_answered(self._stubs.episodic.CreateConversation, request)
        await asyncio.gather(*(self._member(number, stop) for number in range(self._size)))

    async def _member(self, number: int, stop: asyncio.Event) -> None:
        made = 0
        while not stop.is_set():
            made += 1
            text = f"crowd-{self.conversation}-{number}-{made}"
            request = episodic_pb2.AppendMessagesRequest(
                agent_id=AGENT,
                conversation_id=self.conversation,
                messages=[new_message(text)],
                request_id=text,
            )
            answer, _ = await self._stubs.until_answered(self._stubs.episodic.AppendMessages, request)
            self.told[text] = answer.results[0].message_id, answer.results[0].sequence


def new_message(text: str, role: int = resources_pb2.ROLE_USER, **fields: Any) -> resources_pb2.NewMessage:
    """A message of one text."""
    made = resources_pb2.NewMessage(role=role, **fields)  # type: ignore[arg-type]
    made.parts.add().text = text
    return made


async def make_agent(stubs: Stubs) -> None:
    """The agent of all callers."""
    request = episodic_pb2.CreateAgentRequest(agent_id=AGENT)
    await stubs.until_answered(stubs.episodic.CreateAgent, request)
