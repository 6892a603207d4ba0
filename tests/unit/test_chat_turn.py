"""Turns that are stopped, lose their lease, or can't store (SPEC G-4, W-3)."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from datetime import timedelta
from typing import Any

import pytest

from services.gateway.app.chatting import STOP_MARGIN_SECONDS
from services.gateway.app.turn import STORE_ATTEMPTS
from services.gateway.app.turn_events import EVENTS_AHEAD
from services.gateway.domain.turns import Cause, Event, Finished, Returned, Said, Started
from services.kit.errors import DependencyDown, ModelNotConfigured, TurnRunning
from services.kit.models.types import Delta, Tier, ToolCall
from services.kit.times import now
from tests.unit.chat_parts import Bench, FakeModel, FakeStore, FakeTools, ask, end, for_ever, says

CALL = ToolCall(call_id="a", name="look_up", arguments="{}")
LIMIT = 10.0


async def events_of(bench: Bench, **fields: Any) -> list[Event]:
    async with asyncio.timeout(LIMIT):
        return [event async for event in bench.chatting().chat(ask(**fields), retry=True)]


async def test_events_come_in_order_and_the_lease_is_given_back() -> None:
    bench = Bench(model=FakeModel([says("Let me see. ", calls=(CALL,)), says("A ", "bird.")]))
    told = await events_of(bench)
    assert [type(event).__name__ for event in told] == [
        *("Started", "Said", "Called", "Returned", "Said", "Said", "Finished")
    ]
    last = told[-1]
    assert isinstance(last, Finished)
    assert (last.usage.calls, last.rounds, last.token) == (2, 1, "token")
    assert bench.store.turns["r"].answer == "A bird."
    assert await events_of(bench, request_id="next"), "the conversation is free"


async def test_a_store_that_is_away_for_a_moment_costs_no_answer() -> None:
    bench = Bench(store=FakeStore(down=2))
    assert isinstance((await events_of(bench))[-1], Finished)
    bench = Bench(store=FakeStore(down=9))
    with pytest.raises(DependencyDown):
        await events_of(bench)
    assert isinstance((await events_of(Bench(model=bench.model)))[-1], Finished)


async def test_the_conversation_is_free_before_the_end_is_told() -> None:
    """G-4: also where the reader is too far behind to be told, and the next turn may begin at once."""
    pieces = ["x"] * EVENTS_AHEAD  # which leaves no room for `finished`
    bench = Bench(model=FakeModel([says(*pieces)]))
    chatting = bench.chatting()
    async with aclosing(chatting.chat(ask("first"), retry=True)) as slow:
        assert isinstance(await anext(slow), Started)
        again = [event async for event in chatting.chat(ask("second", wait=LIMIT), retry=True)]
        assert isinstance(again[-1], Finished)


@pytest.mark.parametrize("phase", ["prompt", "first text", "later text", "tool", "storing"])
async def test_a_reader_may_leave_in_every_phase(phase: str) -> None:
    """What was said is stored, once; nothing runs on, and the conversation is free."""
    reached = asyncio.Event()

    async def hang(*_: Any) -> None:
        reached.set()
        await for_ever()

    async def slow() -> None:
        reached.set()
        await asyncio.sleep(0.05)

    bench = Bench()
    match phase:
        case "prompt":
            bench.store.find = hang  # type: ignore[method-assign,assignment]
        case "first text":
            bench.model.steps = [says(then=hang)]
        case "later text":
            bench.model.steps = [says("A bird", then=hang)]
        case "tool":
            bench.tools.run = hang
            bench.model.steps = [says("Let me see.", calls=(CALL,))]
        case "storing":
            bench.store.hold = slow
    chatting = bench.chatting()

    async def read() -> None:
        async with aclosing(chatting.chat(ask(), retry=True)) as events:
            async for _ in events:
                pass

    reader = asyncio.create_task(read())
    async with asyncio.timeout(LIMIT):
        await reached.wait()
        reader.cancel()
        await asyncio.wait({reader})
        if phase == "prompt":
            del bench.store.find
        await chatting.close()
    kept = bench.store.turns.get("r")
    answers = {
        "prompt": None,
        "first text": (None, None),
        "later text": ("A bird", Cause.READER_LEFT),
        "tool": ("", Cause.READER_LEFT),
        "storing": ("fine", None),
    }
    assert (kept and (kept.answer, kept.cause)) == answers[phase]
    assert bench.model.running == 0
    assert isinstance((await events_of(bench, request_id="next"))[-1], Finished)


async def test_a_round_that_is_cut_says_what_was_not_run() -> None:
    reached = asyncio.Event()

    async def hang(_: Any) -> None:
        reached.set()
        await for_ever()

    bench = Bench(model=FakeModel([says("Let me see.", calls=(CALL,))]), tools=FakeTools(run=hang))
    chatting = bench.chatting()
    events = chatting.chat(ask(), retry=True)
    async with asyncio.timeout(LIMIT):
        assert isinstance(await anext(events), Started)
        await reached.wait()
        await events.aclose()
        await chatting.close()
    (round_,) = bench.store.turns["r"].rounds
    assert round_.results["a"].is_error
    assert round_.text == "Let me see."


async def test_a_turn_whose_lease_is_taken_stores_nothing_more() -> None:
    """Another process goes on with it: two answers would contradict each other."""
    bench = Bench(model=FakeModel([says("A bird", then=for_ever)]), lease_seconds=0.3)
    place = ask().place
    async with asyncio.timeout(LIMIT):
        events = bench.chatting().chat(ask(), retry=True)
        assert isinstance(await anext(events), Started)
        assert isinstance(await anext(events), Said)
        later = now() + timedelta(hours=1)
        assert await bench.leases.acquire(place, "other", later, later)
        with pytest.raises(TurnRunning):
            await anext(events)
    assert bench.store.turns["r"].answer is None


async def test_a_slow_reader_holds_the_model_back() -> None:
    """Memory is bounded: a turn is at most so many events ahead."""
    given = 0

    async def step(_: Any) -> Any:
        nonlocal given
        for _number in range(1000):
            given += 1
            yield Delta(text="x")
        yield end()

    bench = Bench(model=FakeModel([step]))
    events = bench.chatting().chat(ask(), retry=True)
    await anext(events)
    for _ in range(50):
        await asyncio.sleep(0)
    assert 0 < given <= EVENTS_AHEAD + 2
    async with asyncio.timeout(LIMIT):
        rest = [event async for event in events]
    assert given == 1000
    assert len(rest) == 1001


async def test_a_process_that_stops_stores_what_was_said_and_says_why() -> None:
    """G-4: turns have the time of other calls to end; those that haven't are told before these are cut."""
    bench = Bench(model=FakeModel([says("A bird", then=for_ever)]))
    chatting = bench.chatting()
    async with asyncio.timeout(LIMIT):
        reading = asyncio.create_task(_all(chatting.chat(ask(), retry=True)))
        while not bench.model.running:  # noqa: ASYNC110 - the model is asked by another task
            await asyncio.sleep(0)
        chatting.stopping(STOP_MARGIN_SECONDS + 0.1)
        assert not reading.done()
        last = (await reading)[-1]
    assert isinstance(last, Finished)
    assert last.interruption is Cause.STOPPED
    kept = bench.store.turns["r"]
    assert (kept.answer, kept.cause) == ("A bird", Cause.STOPPED)


@pytest.mark.parametrize("said", ["", "A bird"])
async def test_a_turn_still_running_when_all_is_closed_is_stored(said: str) -> None:
    bench = Bench(model=FakeModel([says(*([said] if said else []), then=for_ever)]))
    chatting = bench.chatting()
    reading = asyncio.create_task(_all(chatting.chat(ask(), retry=True)))
    async with asyncio.timeout(LIMIT):
        while not bench.model.running:  # noqa: ASYNC110 - the model is asked by another task
            await asyncio.sleep(0)
        await chatting.close()
        if said:
            assert isinstance((await reading)[-1], Finished)
        else:  # which a caller tries again
            with pytest.raises(DependencyDown):
                await reading
    assert bench.store.turns["r"].answer == (said or None)


async def test_a_fault_in_the_middle_of_a_text_is_an_answer_that_failed() -> None:
    """Whatever it is: the reader has seen the text, so it is kept."""

    def fault() -> None:
        raise RuntimeError

    bench = Bench(model=FakeModel([says("A bird", then=fault)]))
    last = (await events_of(bench))[-1]
    assert isinstance(last, Finished)
    assert last.interruption is Cause.FAILED
    assert bench.store.turns["r"].answer == "A bird"
    bench = Bench(model=FakeModel([says(then=fault)]))
    with pytest.raises(RuntimeError):
        await events_of(bench)
    assert bench.store.turns["r"].answer is None


async def test_what_is_to_be_indexed_is_waited_for_before_the_conversation_is_taken() -> None:
    """G-4: a token of what never comes must not keep others out."""
    bench = Bench(store=FakeStore(indexing=for_ever))
    chatting = bench.chatting()
    waiting = asyncio.create_task(_all(chatting.chat(ask("waits", wait_for=["mark"]), retry=True)))
    await asyncio.sleep(0.05)
    async with asyncio.timeout(LIMIT):
        assert isinstance((await _all(chatting.chat(ask("next"), retry=True)))[-1], Finished)
    assert not waiting.done()
    waiting.cancel()
    bench.store.indexing = None
    first = (await events_of(bench, request_id="in vain", wait_for=["mark"]))[0]
    assert isinstance(first, Started)
    assert first.unindexed == ("mark",)


async def test_a_process_that_stood_still_for_longer_than_its_lease_stores_nothing() -> None:
    """G-4: it was stopped (SIGSTOP) just before it stored, and goes on when another has the conversation."""
    place, later = ask().place, now() + timedelta(hours=1)
    bench = Bench(lease_seconds=0.2)

    async def stand_still() -> None:
        assert await bench.leases.acquire(place, "other", later, later)
        time.sleep(0.3)  # noqa: ASYNC251 - nothing of the process goes on

    bench.store.hold = stand_still
    with pytest.raises(TurnRunning):
        await events_of(bench)
    assert bench.store.turns["r"].answer is None


async def test_a_turn_that_went_through_while_it_was_waited_for_is_replayed() -> None:
    go_on = asyncio.Event()
    bench = Bench(model=FakeModel([says("A bird.", then=go_on.wait)]))
    chatting = bench.chatting()
    async with asyncio.timeout(LIMIT):
        first = chatting.chat(ask(), retry=True)
        await anext(first)
        again = asyncio.create_task(_all(chatting.chat(ask(wait=LIMIT), retry=True)))
        await asyncio.sleep(0.05)
        go_on.set()
        _ = [event async for event in first]
        told = await again
    assert isinstance(told[0], Started)
    assert told[0].replayed
    assert len(bench.model.asked) == 1


async def test_texts_and_results_of_an_earlier_attempt_are_reused() -> None:
    """W-3: what was said before the calls is in the prompt and in the history, as if nothing had happened."""
    bench = Bench(
        model=FakeModel([says("Let me see.", calls=(CALL,)), says("A ")]),
        store=FakeStore(down=STORE_ATTEMPTS),
    )
    with pytest.raises(DependencyDown):
        await events_of(bench)
    told = await events_of(bench)
    assert [event.reused for event in told if isinstance(event, Returned)] == [True]
    assert bench.tools.called == 1
    assert [(one.role, one.text) for one in bench.model.asked[-1][-2:-1]] == [("assistant", "Let me see.")]
    assert [one.text for one in bench.store.turns["r"].rounds] == ["Let me see."]


async def test_a_tier_without_a_model_is_told_before_anything_is_stored() -> None:
    bench = Bench()
    with pytest.raises(ModelNotConfigured):
        await events_of(bench, tier=Tier.DEEP)
    assert bench.store.turns == {}


async def _all(events: Any) -> list[Event]:
    return [event async for event in events]
