"""The table of transitions, backoff and the verdict on refusals (SPEC J-2, J-3)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.compactor.domain.ledger import (
    FINAL,
    TRANSITIONS,
    Backoff,
    Event,
    Job,
    JobState,
    failed,
    refusal_counts,
    target,
)

T0 = datetime(2026, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)
JOB = Job(
    id="j",
    tenant="t",
    agent_id="a",
    type="index_message",
    subject="s",
    key="k",
    payload=b"{}",
    state=JobState.RUNNING,
    attempt=1,
    max_attempts=5,
    created=T0,
    updated=T0,
    due=T0,
    revision=1,
)


def test_nothing_leaves_success() -> None:
    """J-2: succeeded is final; dead and cancelled are left by a retry only."""
    leaving = {
        state: {event for event in Event if target(event, state) not in (None, state)} for state in FINAL
    }
    assert leaving == {
        JobState.SUCCEEDED: set(),
        JobState.DEAD: {Event.RETRY},
        JobState.CANCELLED: {Event.RETRY},
    }


def test_every_state_is_reached_and_no_live_state_is_stuck() -> None:
    reached = {after for moves in TRANSITIONS.values() for after in moves.values()}
    assert reached == set(JobState)
    for state in set(JobState) - FINAL:
        assert any(target(event, state) not in (None, state) for event in Event), state


def test_only_what_runs_gets_a_verdict() -> None:
    for event in (
        Event.SUCCEED,
        Event.FAIL,
        Event.DEFER,
        Event.GIVE_UP,
        Event.RELEASE,
        Event.FREE,
        Event.LOSE,
    ):
        assert set(TRANSITIONS[event]) == {JobState.RUNNING}


@given(failures=st.integers(1, 10_000), draw=st.floats(0, 1, exclude_max=True))
def test_pauses_are_within_full_jitter(failures: int, draw: float) -> None:
    """J-2: between 0 and min(60 s, 1 s doubled each time)."""
    backoff = Backoff(base=SECOND, cap=60 * SECOND, random=lambda: draw)
    longest = backoff.longest(failures)
    assert timedelta() <= backoff.pause(failures) <= longest <= 60 * SECOND
    assert longest == min(60 * SECOND, SECOND * 2 ** min(failures - 1, 10))


@pytest.mark.parametrize("attempt", range(1, 6))
def test_the_fifth_failure_is_the_end(attempt: int) -> None:
    verdict = failed(
        replace(JOB, attempt=attempt), "X", T0, Backoff(base=SECOND, cap=SECOND, random=lambda: 0.0)
    )
    assert verdict.event is (Event.GIVE_UP if attempt == 5 else Event.FAIL)


@pytest.mark.parametrize(
    ("alone", "suspicion", "last_success", "counts"),
    [
        (True, 3, T0 + SECOND, True),  # others got through since it was refused
        (True, 3, T0 - SECOND, False),  # nobody did: an outage
        (True, 3, None, False),
        (False, 3, T0 + SECOND, False),  # any of the batch may be the cause
        (True, 99, None, False),
        (True, 100, None, True),  # patience is at its end
    ],
)
def test_a_refusal_counts_on_evidence_only(
    alone: bool, suspicion: int, last_success: datetime | None, counts: bool
) -> None:
    job = replace(JOB, suspicion=suspicion, deferred=T0)
    assert refusal_counts(job, alone=alone, last_success=last_success, patience=100) is counts


def test_the_first_refusal_never_counts() -> None:
    assert not refusal_counts(JOB, alone=True, last_success=T0 + SECOND, patience=100)
