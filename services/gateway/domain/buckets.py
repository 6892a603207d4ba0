"""Token buckets in whole numbers: nothing is lost to rounding (SPEC G-5).

A bucket fills at a steady rate up to its capacity, where it stands when nobody has used it yet. Taking is all
or nothing; charging may leave it in debt, which the same rate pays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MINUTE: Final = 60_000_000
"""Microseconds. Levels are counted in parts of a token: what a rate of 1 a minute brings in one of them."""
MICROS: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """How fast a bucket fills, at least 1 a minute, and how much it holds, at least 1."""

    per_minute: int
    capacity: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """A level, in parts of a token, and the microsecond at which it was that."""

    level: int
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """Whole tokens that are left, below 0 in debt; seconds until what was asked for is there, 0 if it is."""

    left: int
    wait: float = 0.0


def refilled(bucket: Bucket | None, rate: Rate, now: int) -> Bucket:
    """The bucket as it stands. A clock that went back brings nothing, and goes on from there."""
    full = rate.capacity * MINUTE
    if bucket is None:
        return Bucket(level=full, at=now)
    gained = max(0, now - bucket.at) * rate.per_minute
    return Bucket(level=min(full, bucket.level + gained), at=now)


def taken(bucket: Bucket, rate: Rate, cost: int) -> tuple[Bucket, Level]:
    """After taking `cost` tokens if they are there; the level says how long to wait if not."""
    level = level_of(bucket, rate, cost)
    if level.wait:
        return bucket, level
    bucket = charged(bucket, cost)
    return bucket, level_of(bucket, rate, 0)


def charged(bucket: Bucket, cost: int) -> Bucket:
    """After taking `cost` tokens, there or not."""
    return Bucket(level=bucket.level - cost * MINUTE, at=bucket.at)


def level_of(bucket: Bucket, rate: Rate, cost: int) -> Level:
    """What is left, and how long until `cost` tokens are there: to the microsecond."""
    missing = cost * MINUTE - bucket.level if cost else 0
    wait = -(-missing // rate.per_minute) / MICROS if missing > 0 else 0.0
    return Level(left=bucket.level // MINUTE, wait=wait)
