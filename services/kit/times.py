"""Time as the services handle it: aware datetimes in UTC."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from google.protobuf.timestamp_pb2 import Timestamp

Clock = Callable[[], datetime]

NANOS_PER_SECOND = 1_000_000_000
MICROS_PER_SECOND = 1_000_000
NANOS_PER_MICRO = 1000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


def now() -> datetime:
    """The present, in UTC."""
    return datetime.now(UTC)


def to_timestamp(moment: datetime | None) -> Timestamp | None:
    """As protobuf; None stays None (an unset field)."""
    if moment is None:
        return None
    return micros_to_timestamp(to_micros(moment))


def micros_to_timestamp(micros: int) -> Timestamp:
    """As protobuf, from microseconds since 1970."""
    seconds, rest = divmod(micros, MICROS_PER_SECOND)
    return Timestamp(seconds=seconds, nanos=rest * NANOS_PER_MICRO)


def from_timestamp(stamp: Timestamp) -> datetime:
    """From protobuf, to the microsecond; raises ValueError outside the years 1 to 9999, and for odd nanos."""
    if not 0 <= stamp.nanos < NANOS_PER_SECOND:
        raise ValueError("a time whose nanos are not from 0 to 999,999,999")
    try:
        return EPOCH + timedelta(seconds=stamp.seconds, microseconds=stamp.nanos // 1000)
    except OverflowError as error:
        raise ValueError("a time outside the years 1 to 9999") from error


def to_micros(moment: datetime) -> int:
    """Microseconds since 1970, exact; how stores keep a time."""
    return (moment - EPOCH) // MICROSECOND


def from_micros(micros: int) -> datetime:
    """The inverse of `to_micros`."""
    return EPOCH + timedelta(microseconds=micros)
