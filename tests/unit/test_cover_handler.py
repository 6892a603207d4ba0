"""Covering messages and folding overlays, with an Episodic that does as told (SPEC E-7, E-8, J-3)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from palimpsest.common.v1 import resources_pb2
from palimpsest.history.v1 import overlays_pb2 as pb

from services.compactor.adapters.cover_handler import (
    BAD_PAYLOAD,
    CoverHandler,
    FoldHandler,
    fold_id,
    utterance,
)
from services.compactor.app.engines import About
from services.compactor.app.ports import Done, Failed
from services.compactor.app.summarising import Summary
from services.compactor.domain.covering import Covered, Lengths, to_fold
from services.compactor.domain.ledger import Job, JobState
from services.compactor.domain.summaries import Utterance
from services.kit.context import current_principal
from services.kit.errors import (
    DependencyDown,
    Exists,
    Internal,
    NotFound,
    Overloaded,
    PalimpsestError,
    StateConflict,
)
from services.kit.identity import Principal, Role

LENGTHS = Lengths()
SHARE = 960
NOTHING = pb.GetCoverageResponse(share_tokens=SHARE)


class Summariser:
    """Says what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[list[str], str, int]] = []
        self.merged: list[tuple[list[str], int]] = []

    async def summarise(
        self, _about: About, messages: Sequence[Utterance], previous: str, max_tokens: int
    ) -> Summary:
        self.asked.append(([message.text for message in messages], previous, max_tokens))
        return Summary(text="what was said", model="a-model")

    async def merge(self, _about: About, summaries: Sequence[str], max_tokens: int) -> Summary:
        self.merged.append((list(summaries), max_tokens))
        return Summary(text="all of it", model="a-model")


class History:
    """Gives prepared coverages, the last one again and again; each put raises the next error, if any."""

    def __init__(self, *coverages: pb.GetCoverageResponse, errors: Sequence[PalimpsestError | None] = ()):
        self._coverages = list(coverages)
        self._errors = list(errors)
        self.looks: list[str] = []
        self.puts: list[pb.PutOverlayRequest] = []
        self.callers: set[Principal] = set()
        self.away: dict[str, PalimpsestError] = {}

    async def GetCoverage(self, request: pb.GetCoverageRequest) -> pb.GetCoverageResponse:
        self.callers.add(current_principal())
        self.looks.append(request.conversation_id)
        if request.conversation_id in self.away:
            raise self.away[request.conversation_id]
        return self._coverages.pop(0) if len(self._coverages) > 1 else self._coverages[0]

    async def PutOverlay(self, request: pb.PutOverlayRequest) -> pb.PutOverlayResponse:
        self.puts.append(request)
        error = self._errors.pop(0) if self._errors else None
        if error is not None:
            raise error
        return pb.PutOverlayResponse(overlay=pb.Overlay(id=request.overlay_id))


def uncovered(first: int, last: int, *, tokens: int = 20, previous: str = "") -> pb.GetCoverageResponse:
    messages = [
        resources_pb2.Message(
            id=f"m{n}",
            sequence=n,
            role=resources_pb2.ROLE_USER,
            parts=[resources_pb2.Part(text=f"text {n}")],
            token_count=tokens,
        )
        for n in range(first, last + 1)
    ]
    return pb.GetCoverageResponse(uncovered=messages, previous_summary=previous, share_tokens=SHARE)


def over_share(*overlays: tuple[int, int, int]) -> pb.GetCoverageResponse:
    """Live overlays of (first depth, last depth, tokens)."""
    return pb.GetCoverageResponse(
        over_share=[
            pb.Overlay(
                id=f"o{first}",
                from_message_id=f"m{first}",
                to_message_id=f"m{last}",
                from_depth=first,
                to_depth=last,
                token_count=tokens,
                summary=f"summary {first}",
            )
            for first, last, tokens in overlays
        ],
        share_tokens=SHARE,
    )


def job(conversation: str = "c", payload: bytes | None = None) -> Job:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return Job(
        id=f"job-{conversation}",
        tenant="acme",
        agent_id="a",
        type="cover_messages",
        subject="",
        key=conversation,
        payload=payload if payload is not None else b'{"conversation_id":"%s"}' % conversation.encode(),
        state=JobState.RUNNING,
        max_attempts=5,
        created=now,
        updated=now,
        due=None,
        revision=1,
    )


async def cover(history: History, *jobs: Job) -> tuple[list[Done | Failed], Summariser]:
    summariser = Summariser()
    handler = CoverHandler(history, summariser, LENGTHS)
    return list(await handler.run("acme", "a", jobs or [job()])), summariser


async def fold(history: History) -> tuple[list[Done | Failed], Summariser]:
    summariser = Summariser()
    return list(await FoldHandler(history, summariser, LENGTHS).run("acme", "a", [job()])), summariser


async def test_what_is_uncovered_is_summarised_and_stored_under_an_id_of_its_range() -> None:
    history = History(uncovered(3, 27, previous="before"))
    outcomes, summariser = await cover(history)
    assert outcomes == [Done(result_ids=("cover-3-27",), engine="a-model")]
    assert summariser.asked == [([f"text {n}" for n in range(3, 28)], "before", 60)]
    assert history.puts == [
        pb.PutOverlayRequest(
            agent_id="a",
            conversation_id="c",
            overlay_id="cover-3-27",
            from_message_id="m3",
            to_message_id="m27",
            summary="what was said",
            model="a-model",
        )
    ]


async def test_it_acts_as_the_jobs_agent_in_its_tenant_and_nowhere_else() -> None:
    history = History(uncovered(1, 3))
    await cover(history)
    (caller,) = history.callers
    assert (caller.tenant, caller.agents, caller.role) == ("acme", frozenset({"a"}), Role.SERVICE)


async def test_with_nothing_due_there_is_nothing_to_do() -> None:
    history = History(NOTHING)
    assert (await cover(history))[0] == [Done()]
    assert (await fold(history))[0] == [Done()]
    assert history.puts == []


@pytest.mark.parametrize("error", [Exists(), StateConflict()])
async def test_when_another_worker_was_faster_it_looks_once_more(error: PalimpsestError) -> None:
    """It may find nothing left, or what came after."""
    nothing_left = History(uncovered(1, 25), NOTHING, errors=[error])
    assert (await cover(nothing_left))[0] == [Done()]
    assert len(nothing_left.puts) == 1

    more = History(uncovered(1, 25), uncovered(26, 40), errors=[error])
    assert (await cover(more))[0] == [Done(result_ids=("cover-26-40",), engine="a-model")]


async def test_when_others_are_faster_twice_it_leaves_the_rest_to_them() -> None:
    history = History(uncovered(1, 25), errors=[StateConflict(), StateConflict(), StateConflict()])
    assert (await cover(history))[0] == [Done()]
    assert (len(history.looks), len(history.puts)) == (2, 2)


async def test_an_erased_conversation_needs_no_overlay() -> None:
    """Erased before it is looked at, or before the overlay is stored."""
    history = History(uncovered(1, 25))
    history.away["c"] = NotFound("conversation", "c")
    assert (await cover(history))[0] == [Done()]
    meanwhile = History(uncovered(1, 25), errors=[NotFound("conversation", "c")])
    assert (await cover(meanwhile))[0] == [Done()]


async def test_one_bad_job_costs_one_job() -> None:
    """J-3: its neighbours in the call are done."""
    history = History(uncovered(1, 25))
    history.away["broken"] = Internal()
    jobs = [job("x"), job("broken"), job("y"), job(payload=b"[1]"), job(payload=b"{"), job(payload=b"{}")]
    outcomes, _ = await cover(history, *jobs)
    done, bad = Done(result_ids=("cover-1-25",), engine="a-model"), Failed(error=BAD_PAYLOAD, hopeless=True)
    assert outcomes[0] == outcomes[2] == done
    assert outcomes[3:] == [bad, bad, bad]
    broken = outcomes[1]
    assert isinstance(broken, Failed)
    assert broken.error.startswith("INTERNAL: ")
    assert not broken.hopeless


@pytest.mark.parametrize("error", [DependencyDown(), Overloaded()])
async def test_a_dependency_that_is_down_is_nobodys_fault(error: PalimpsestError) -> None:
    history = History(uncovered(1, 25), errors=[error])
    with pytest.raises(type(error)):
        await cover(history)


@pytest.mark.parametrize(("tokens", "expected"), [(1, 40), (333, 40), (334, 41), (1000, 120), (9000, 200)])
def test_a_summary_is_a_part_of_what_it_covers_within_bounds(tokens: int, expected: int) -> None:
    assert LENGTHS.of_messages(tokens) == expected


@pytest.mark.parametrize(("share", "expected"), [(100, 40), (960, 320), (1_000_000, 2000)])
def test_a_fold_is_a_part_of_the_share_within_bounds(share: int, expected: int) -> None:
    assert LENGTHS.of_fold(share) == expected


async def test_all_but_the_newest_overlays_are_folded_into_one() -> None:
    """E-7: the newest that fit half of the share stay; the fold gets a third of it."""
    history = History(over_share((1, 60, 300), (61, 120, 200), (121, 180, 240), (181, 240, 240)))
    outcomes, summariser = await fold(history)
    assert summariser.merged == [(["summary 1", "summary 61"], 320)]
    (put,) = history.puts
    assert (put.from_message_id, put.to_message_id) == ("m1", "m120")
    assert list(put.folded_overlay_ids) == ["o1", "o61"]
    assert (put.agent_id, put.conversation_id, put.model) == ("a", "c", "a-model")
    assert outcomes == [Done(result_ids=(put.overlay_id,), engine="a-model")]
    assert put.overlay_id.startswith("fold-1-120-")


def test_a_folds_id_tells_branches_apart() -> None:
    here = [Covered(id=f"o{n}", from_depth=n, to_depth=n, tokens=1) for n in (1, 2)]
    there = [here[0], Covered(id="p2", from_depth=2, to_depth=2, tokens=1)]
    assert fold_id(here) == fold_id(list(here))
    assert fold_id(here) != fold_id(there)


def places(*overlays: tuple[int, int, int]) -> list[Covered]:
    return [
        Covered(id=f"o{first}", from_depth=first, to_depth=last, tokens=tokens)
        for first, last, tokens in overlays
    ]


def folded(*overlays: tuple[int, int, int], share: int = SHARE) -> list[str]:
    return [one.id for one in to_fold(places(*overlays), share, LENGTHS)]


def test_at_least_two_are_folded() -> None:
    assert folded((1, 60, 900), (61, 120, 100)) == ["o1", "o61"]


def test_overlays_with_messages_between_them_are_not_folded_together() -> None:
    """The oldest neighbours are; without any there is nothing to do."""
    assert folded((1, 20, 300), (21, 40, 300), (43, 60, 300), (61, 80, 300), (81, 90, 480)) == ["o1", "o21"]
    assert folded((1, 20, 300), (23, 40, 300), (41, 60, 300), (61, 90, 480)) == ["o23", "o41"]
    assert folded((1, 20, 600), (23, 40, 600)) == []


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 60), st.integers(1, 500)), max_size=30))
def test_folding_ends_and_leaves_overlays_within_their_share(
    made: list[tuple[int, int, int]],
) -> None:
    """E-7: each fold covers neighbours only; once none is left to fold, no two neighbours are over it."""
    live, depth = [], 0
    for number, (gap, length, tokens) in enumerate(made):
        begin = depth + 1 + gap
        depth = begin + length - 1
        live.append(Covered(id=str(number), from_depth=begin, to_depth=depth, tokens=tokens))
    steps = 0
    while len(live) > 1 and sum(one.tokens for one in live) > SHARE:
        chosen = list(to_fold(live, SHARE, LENGTHS))
        if not chosen:
            break
        assert len(chosen) >= 2
        assert all(one.to_depth + 1 == after.from_depth for one, after in pairwise(chosen))
        one = Covered(
            id=f"f{steps}",
            from_depth=chosen[0].from_depth,
            to_depth=chosen[-1].to_depth,
            tokens=LENGTHS.of_fold(SHARE),
        )
        live = sorted([one, *(o for o in live if o not in chosen)], key=lambda o: o.from_depth)
        steps += 1
    assert steps < max(len(made), 1)
    if all(gap == 0 for gap, _, _ in made[1:]) and len(live) > 1:
        assert sum(one.tokens for one in live) <= SHARE


def test_a_message_is_read_as_who_said_what_and_when() -> None:
    message = resources_pb2.Message(role=resources_pb2.ROLE_USER)
    message.parts.add().text = "hello"
    message.parts.add().attachment.MergeFrom(resources_pb2.Attachment(uri="s3://b/k", caption="a cat"))
    message.parts.add().attachment.uri = "s3://b/other"
    said = "hello\na cat\ns3://b/other"
    assert utterance(message) == Utterance(author="user", text=said, asks=True)

    message.author, message.role = " Ann\nObjective: ", resources_pb2.ROLE_ASSISTANT
    message.time.FromJsonString("2026-05-03T23:59:59Z")
    assert utterance(message) == Utterance(author="Ann Objective:", text=said, day="2026-05-03")


def test_what_tools_returned_is_kept_apart_from_what_was_said() -> None:
    called = resources_pb2.Message(role=resources_pb2.ROLE_ASSISTANT)
    called.parts.add().text = "I look it up."
    called.parts.add().tool_call.name = "search"
    assert utterance(called) == Utterance(author="assistant", text="I look it up.", output="search")
    returned = resources_pb2.Message(role=resources_pb2.ROLE_TOOL)
    returned.parts.add().tool_result.content = "3 results"
    returned.parts.add().text = "raw"
    assert utterance(returned) == Utterance(author="tool", text="", output="3 results\nraw")
