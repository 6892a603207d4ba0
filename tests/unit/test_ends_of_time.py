"""Moments at the ends of the calendar, and moments that are none (SPEC S-3, S-12, X-1)."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import given
from hypothesis import strategies as st

from services.kit.times import from_timestamp, micros_to_timestamp, to_micros, to_timestamp
from services.memory.semantic.domain.dates import dates_mentioned
from services.memory.semantic.domain.memory import END_OF_TIME, FactType, expiry
from tests.unit.semantic_parts import Parts

DAY = timedelta(days=1)
RELATIVE = (
    *("today", "yesterday", "last night", "last day", "last week", "last weekend", "last month", "last year"),
    *("this week", "this weekend", "monday", "sunday", "3 days ago", "999 years ago", "12 months ago"),
)


@pytest.mark.parametrize("words", RELATIVE)
@pytest.mark.parametrize("day", [date.min, date.min + 6 * DAY, date.max - 6 * DAY, date.max])
def test_what_lies_beyond_the_calendar_is_no_date(words: str, day: date) -> None:
    """S-12: from whatever day it is asked."""
    for span in dates_mentioned(f"what was said {words}", day):
        assert date.min <= span.start <= span.end <= date.max
    assert len(dates_mentioned(f"what was said {words}", date(2024, 5, 1))) == 1, "the positive control"


@given(st.datetimes(timezones=st.just(UTC)))
def test_stored_microseconds_are_the_same_moment_on_the_wire(moment: datetime) -> None:
    """X-1: also before 1970, where nanos still count upwards."""
    stamp = micros_to_timestamp(to_micros(moment))
    assert stamp == to_timestamp(moment)
    assert from_timestamp(stamp) == moment


@given(begins=st.datetimes(timezones=st.just(UTC)), days=st.integers(0, 10**7))
def test_a_task_expires_after_its_lifetime_or_at_the_end_of_time(begins: datetime, days: int) -> None:
    """S-3."""
    lifetime = timedelta(days=days)
    expires = expiry(begins, lifetime)
    assert expires - begins == lifetime or (expires == END_OF_TIME and lifetime > END_OF_TIME - begins)


async def test_a_task_of_the_last_day_is_written() -> None:
    """S-3."""
    written = await Parts().remember("k", "v", fact_type=FactType.TASK, valid_from=END_OF_TIME - DAY)
    assert written.expires == END_OF_TIME


@given(moment=st.datetimes(timezones=st.just(UTC)))
def test_a_moment_survives_the_wire(moment: datetime) -> None:
    stamp = to_timestamp(moment)
    assert stamp is not None
    assert from_timestamp(stamp) == moment


@pytest.mark.parametrize(
    ("seconds", "nanos"),
    [(0, -1), (0, 10**9), (0, 2**31 - 1), (-62_135_596_801, 0), (253_402_300_800, 0), (2**62, 0)],
)
def test_what_is_no_moment_is_refused(seconds: int, nanos: int) -> None:
    """X-1: nanos out of their range, years out of the calendar."""
    with pytest.raises(ValueError, match="a time"):
        from_timestamp(Timestamp(seconds=seconds, nanos=nanos))
