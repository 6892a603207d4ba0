"""What is kept of turns, over a real Episodic, while other processes store too (SPEC G-4, E-3, W-3)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import pytest
from palimpsest.common.v1 import resources_pb2
from palimpsest.episodic.v1 import episodic_pb2 as pb
from palimpsest.working.v1 import working_pb2_grpc

from services.gateway.adapters.turn_store import EpisodicTurns
from services.gateway.app.backends import Backends
from services.gateway.domain.turns import Ask, Call, Cause, Place, Result, Round
from services.kit.context import act_as
from services.kit.errors import TurnRunning
from services.kit.models.types import Tier
from tests.integration.episodic_server import WRITER
from tests.integration.history_service import Replica, replicas

PLACE = Place(tenant="acme", agent_id="a", conversation_id="c")
ASK = Ask(place=PLACE, request_id="r", text="What?", author="", tier=Tier.STANDARD, rounds=8, budget=0)
NEXT = replace(ASK, request_id="next", text="And then?")
ROUND = Round(
    number=1,
    text="Let me see.",
    calls=(
        Call(call_id="1", name="look_up", arguments={"word": "heron"}),
        Call(call_id="2", name="x", arguments={}),
    ),
    results={"1": Result(content="a bird")},
)


@dataclass
class Bench:
    """A gateway's store, and Episodic for all the others; but for it and working memory nothing is behind."""

    others: Replica
    turns: EpisodicTurns

    async def ours(self) -> bool:
        return True

    async def ask(self, ask: Ask, ours: Any = None) -> None:
        with act_as(WRITER):
            await self.turns.put_user(ask, ours or self.ours)

    async def finish(self, answer: str, rounds: Sequence[Round] = (), ours: Any = None) -> Any:
        with act_as(WRITER):
            return await self.turns.finish(ASK, rounds, answer, None, ours or self.ours)

    async def path(self) -> tuple[str, list[tuple[str, str]]]:
        """The active leaf, and all messages with their parents."""
        asked = pb.GetConversationRequest(agent_id="a", conversation_id="c")
        leaf = (await self.others.episodic.GetConversation(asked)).conversation.leaf_id
        listed = await self.others.episodic.ListMessages(
            pb.ListMessagesRequest(agent_id="a", conversation_id="c")
        )
        return leaf, [(one.id, one.parent_id) for one in listed.messages]


@pytest.fixture(params=["sqlite", "postgres"])
async def bench(
    request: pytest.FixtureRequest, tmp_path: Path, pytestconfig: pytest.Config
) -> AsyncIterator[Bench]:
    async with replicas(request.param, tmp_path, pytestconfig) as [one]:
        behind: dict[str, Any] = dict.fromkeys((field.name for field in fields(Backends)), None)
        behind["episodic"] = one.episodic
        behind["working"] = working_pb2_grpc.WorkingMemoryServiceStub(one.channel)
        with act_as(WRITER):
            await one.say("first")
            bench = Bench(one, EpisodicTurns(Backends(**behind)))
            await bench.ask(ASK)
            yield bench


USER, ANSWER = ASK.ids.user, ASK.ids.answer


async def test_an_answer_on_a_path_that_was_left_is_stored_in_one_call(bench: Bench) -> None:
    """E-3: a process that is killed at any moment leaves the path active that its user chose."""
    with act_as(WRITER):
        await bench.others.say("edited", parent_id="first", branch=True)
        await bench.finish("A bird.", [ROUND.ended()])
        leaf, stored = await bench.path()
    assert leaf == "edited"
    assert stored[-3:] == [
        (ASK.ids.calls(1), USER),
        (ASK.ids.results(1), ASK.ids.calls(1)),
        (ANSWER, ASK.ids.results(1)),
    ]


async def test_an_answer_comes_after_what_was_stored_on_its_path(bench: Bench) -> None:
    """The control of the one above and the one below."""
    with act_as(WRITER):
        await bench.others.say("more")
        token = await bench.finish("A bird.")
        assert await bench.path() == (
            ANSWER,
            [("first", ""), (USER, "first"), ("more", USER), (ANSWER, "more")],
        )
        again = await bench.finish("A bird.")
    assert again == token, "the first answer was lost on its way: it is told again"


async def test_a_process_that_stood_still_stores_nothing_once_another_turn_has_begun(bench: Bench) -> None:
    """G-4: stopped after it was told that the turn is its own, it finds the path's end moved."""
    asked = 0

    async def ours() -> bool:
        nonlocal asked
        asked += 1
        if asked == 2:
            await bench.others.say("next-turn")
        return asked <= 2

    with act_as(WRITER):
        await bench.others.say("more")
        with pytest.raises(TurnRunning):
            await bench.finish("A bird.", ours=ours)
        leaf, _ = await bench.path()
    assert (leaf, asked) == ("next-turn", 3)


@pytest.mark.parametrize("rounds", [[], [ROUND.ended()]])
async def test_of_two_answers_of_a_turn_the_first_stays_and_is_told(
    bench: Bench, rounds: list[Round]
) -> None:
    """G-4: the other is told that the turn is another's, and its next try what is stored."""
    with act_as(WRITER):
        await bench.finish("A bird.")
        with pytest.raises(TurnRunning) as caught:
            await bench.finish("A fish.", rounds)
        stored = await bench.turns.find(ASK)
    assert caught.value.retry_after
    assert stored is not None
    assert (stored.answer, stored.interruption) == ("A bird.", None)


async def test_a_round_comes_back_as_it_was_saved(bench: Bench) -> None:
    """W-3: with what the model said before its calls."""
    with act_as(WRITER):
        await bench.turns.save(ASK, ROUND)
        assert await bench.turns.rounds(ASK) == (ROUND,)
        await bench.turns.finish(ASK, [ROUND.ended()], "", Cause.STOPPED, bench.ours)
        assert await bench.turns.rounds(ASK) == ()
        stored = await bench.turns.find(ASK)
    assert stored is not None
    assert (stored.answer, stored.interruption) == ("", Cause.STOPPED)
    assert resources_pb2.INTERRUPTION_CAUSE_STOPPED == Cause.STOPPED


async def test_a_process_that_stood_still_stores_no_question_once_another_turn_has_begun(
    bench: Bench,
) -> None:
    """G-4: nobody would answer it, and the turn that runs would stand above a question it never saw."""
    asked = 0

    async def ours() -> bool:
        nonlocal asked
        asked += 1
        if asked == 1:
            await bench.others.say("next-turn")
        return asked == 1

    with pytest.raises(TurnRunning):
        await bench.ask(NEXT, ours)
    with act_as(WRITER):
        assert await bench.path() == ("next-turn", [("first", ""), (USER, "first"), ("next-turn", USER)])


async def test_a_question_comes_after_what_others_stored_while_the_turn_is_its_own(bench: Bench) -> None:
    """The control of the one above; again is no change."""

    async def ours() -> bool:
        await bench.others.say("more")
        return True

    for _ in range(2):
        await bench.ask(NEXT, ours)
    with act_as(WRITER):
        leaf, stored = await bench.path()
    assert (leaf, stored[2:]) == (NEXT.ids.user, [("more", USER), (NEXT.ids.user, "more")])
