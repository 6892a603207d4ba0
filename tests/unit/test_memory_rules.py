"""Rules of memories: kinds, confidence, relevance, keys (SPEC S-1, S-2, S-4, S-5, S-10)."""

from __future__ import annotations

import dataclasses
import math
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.kit.errors import InvalidField
from services.memory.semantic.domain.memory import (
    CONFIDENCE,
    FactType,
    Kind,
    Memory,
    NewMemory,
    Scope,
    Source,
    Verification,
    by_relevance,
    check_new,
    key_segments,
    kind_of,
    relevance,
    verification_of,
)

NOW = datetime(2031, 5, 4, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)
PLAIN = Memory(
    id="m",
    agent_id="ada",
    key="k",
    value="v",
    fact_type=FactType.FACT,
    contact_id="",
    pinned=False,
    confidence=0.9,
    source=Source.EXPLICIT,
    provenance=(),
    created=NOW,
    updated=NOW,
    accessed=None,
    access_count=0,
    valid_from=NOW,
    valid_to=None,
    superseded_by="",
    supersedes="",
    version=1,
    expires=None,
    revision=1,
    indexed_revision=0,
)


def memory(**fields: Any) -> Memory:
    return dataclasses.replace(PLAIN, **fields)


# S-2


@pytest.mark.parametrize(
    ("fact_type", "kind"),
    [
        (FactType.FACT, Kind.FACT),
        (FactType.PREFERENCE, Kind.FACT),
        (FactType.IDENTITY, Kind.FACT),
        (FactType.RELATIONSHIP, Kind.FACT),
        (FactType.DECISION, Kind.FACT),
        (FactType.REFLECTION, Kind.FACT),
        (FactType.EVENT, Kind.EVENT),
        (FactType.WORKFLOW_OUTCOME, Kind.EVENT),
        (FactType.WORKFLOW_FAILURE, Kind.EVENT),
        (FactType.INSTRUCTION, Kind.INSTRUCTION),
        (FactType.SKILL, Kind.INSTRUCTION),
        (FactType.TASK, Kind.TASK),
    ],
)
def test_fact_types_fold_into_kinds(fact_type: FactType, kind: Kind) -> None:
    """S-2."""
    assert kind_of(fact_type) is kind
    assert memory(fact_type=fact_type).kind is kind


def test_every_fact_type_of_the_proto_has_a_kind() -> None:
    """S-2: numbers and names are those of the wire."""
    from palimpsest.common.v1 import resources_pb2

    def named(enum: Any, prefix: str) -> dict[str, int]:
        return {name.removeprefix(prefix): number for name, number in enum.items() if number}

    assert {t.name: t.value for t in FactType} == named(resources_pb2.FactType, "FACT_TYPE_")
    assert {k.name: k.value for k in Kind} == named(resources_pb2.MemoryKind, "MEMORY_KIND_")
    assert {s.name: s.value for s in Source} == named(resources_pb2.MemorySource, "MEMORY_SOURCE_")


def test_confidence_by_source() -> None:
    """S-4."""
    assert CONFIDENCE == {
        Source.TURN: 0.5,
        Source.PRE_COMPACTION: 0.6,
        Source.REFLECTION: 0.85,
        Source.EXPLICIT: 0.9,
    }


# S-10


@pytest.mark.parametrize(
    ("days", "accesses", "expected"),
    [
        (0, 0, 0.7),
        (30, 0, 0.7 * math.exp(-1)),
        (0, 100, 1.0),
        (0, 10, 0.7 + 0.3 * math.log(11) / math.log(101)),
        (60, 1, 0.7 * math.exp(-2) + 0.3 * math.log(2) / math.log(101)),
        (0.5, 1_000_000, 0.7 * math.exp(-0.5 / 30) + 0.3),
    ],
)
def test_relevance_follows_its_formula(days: float, accesses: int, expected: float) -> None:
    """S-10: 0.7 exp(-days / 30) + 0.3 min(1, ln(1 + n) / ln 101)."""
    seen = memory(accessed=NOW - days * DAY, access_count=accesses, created=NOW - 900 * DAY)
    assert relevance(seen, NOW) == pytest.approx(expected, rel=1e-12)


def test_a_memory_never_accessed_counts_from_its_writing() -> None:
    """S-10."""
    assert relevance(memory(created=NOW - 30 * DAY), NOW) == pytest.approx(0.7 * math.exp(-1))


def test_a_clock_that_was_set_back_raises_nothing() -> None:
    assert relevance(memory(created=NOW + 5 * DAY), NOW) == pytest.approx(0.7)


@given(
    days=st.floats(min_value=0, max_value=5000),
    later=st.floats(min_value=0, max_value=5000),
    accesses=st.integers(min_value=0, max_value=10**9),
)
def test_relevance_is_a_share_that_time_lowers_and_use_raises(
    days: float, later: float, accesses: int
) -> None:
    """S-10."""
    seen = memory(accessed=NOW - days * DAY, access_count=accesses)
    assert 0 <= relevance(seen, NOW) <= 1 + 1e-12
    assert relevance(seen, NOW + later * DAY) <= relevance(seen, NOW)
    more = dataclasses.replace(seen, access_count=accesses + 1)
    assert relevance(more, NOW) >= relevance(seen, NOW)


def test_pinned_ones_come_first_then_the_most_relevant_then_by_id() -> None:
    """S-10, S-9."""
    memories = [
        memory(id="fresh"),
        memory(id="old pinned", pinned=True, created=NOW - 900 * DAY),
        memory(id="b", created=NOW - DAY),
        memory(id="a", created=NOW - DAY),
        memory(id="pinned", pinned=True),
    ]
    expected = ["pinned", "old pinned", "fresh", "a", "b"]
    assert [m.id for m in by_relevance(memories, NOW)] == expected
    assert [m.id for m in by_relevance(memories[::-1], NOW)] == expected


# S-1, S-5, S-6


def test_a_memory_is_live_until_it_ends_or_expires() -> None:
    """S-3, S-8."""
    assert memory().live(NOW)
    assert not memory(superseded_by="other", valid_to=NOW, ended=NOW).live(NOW)
    assert memory(expires=NOW + DAY).live(NOW)
    assert not memory(expires=NOW).live(NOW)


def test_what_is_planned_becomes_live_and_ends_when_its_time_comes() -> None:
    """S-8: what is live is decided by time, whatever is already known to replace it."""
    planned = memory(valid_from=NOW + DAY, valid_to=NOW + 2 * DAY, ended=NOW, superseded_by="other")
    lived = [planned.live(NOW + days * DAY) for days in (0, 1, 1.9, 2)]
    lasted = [planned.lasts(NOW + days * DAY) for days in (0, 1, 1.9, 2)]
    valid = [planned.valid_at(NOW + days * DAY) for days in (0, 1, 1.9, 2)]
    assert lived == valid == [False, True, True, False]
    assert lasted == [True, True, True, False]


def test_a_clock_that_is_behind_sees_what_another_machine_wrote() -> None:
    """What was no plan when it was recorded counts at once; at a moment asked for, time alone decides."""
    behind = NOW - timedelta(seconds=1)
    assert memory().live(behind)
    assert not memory().valid_at(behind)
    ended = memory(created=NOW - DAY, valid_from=NOW - DAY, valid_to=NOW, ended=NOW)
    assert not ended.live(behind)
    assert ended.valid_at(behind)


@given(
    begins=st.integers(-5, 5),
    lasts=st.none() | st.integers(0, 5),
    expires=st.none() | st.integers(-5, 5),
    now=st.integers(-5, 5),
)
def test_what_is_live_is_what_is_valid_now(
    begins: int, lasts: int | None, expires: int | None, now: int
) -> None:
    """S-8: for a clock that is not behind those that recorded it."""
    end = None if lasts is None else NOW + (begins + lasts) * DAY
    past = NOW - 9 * DAY
    some = memory(
        created=past,
        ended=past if end else None,
        valid_from=NOW + begins * DAY,
        valid_to=end,
        expires=None if expires is None else NOW + expires * DAY,
    )
    moment = NOW + now * DAY
    assert some.live(moment) == some.valid_at(moment)
    if some.live(moment):
        assert some.lasts(moment)


# S-7, X-1


def test_tasks_are_not_verified_nor_anything_where_it_is_off() -> None:
    """S-7."""
    assert verification_of(FactType.FACT, verify=True) is Verification.PENDING
    assert verification_of(FactType.TASK, verify=True) is Verification.NOT_NEEDED
    assert verification_of(FactType.FACT, verify=False) is Verification.NOT_NEEDED


def new(**fields: Any) -> NewMemory:
    chosen: dict[str, Any] = {
        "scope": Scope(agent_id="ada"),
        "key": "k",
        "value": "v",
        "fact_type": FactType.FACT,
        "pinned": False,
        "source": Source.EXPLICIT,
        "provenance": (),
        "valid_from": None,
        "request_id": "",
    }
    return NewMemory(**(chosen | fields))


@pytest.mark.parametrize(
    "good",
    [
        {"key": "a.b_c:d-9" + "e" * 191},
        {"value": "é" * 4096},
        {"valid_from": NOW + DAY},
        {"valid_from": NOW - DAY, "valid_to": NOW},
        {"valid_to": NOW + DAY},
    ],
)
def test_what_may_be_written_is_let_through(good: dict[str, Any]) -> None:
    """S-1, S-8: a beginning in the future is a plan."""
    check_new(new(**good), NOW)


@pytest.mark.parametrize(
    ("bad", "field"),
    [
        ({"key": ""}, "key"),
        ({"key": "a" * 201}, "key"),
        ({"key": "City"}, "key"),
        ({"key": "a b"}, "key"),
        ({"key": "city\n"}, "key"),
        ({"key": "stra\u00dfe"}, "key"),
        ({"value": ""}, "value"),
        ({"value": "a\0b"}, "value"),
        ({"value": "\ud800"}, "value"),
        ({"value": "é" * 4097}, "value"),
        ({"valid_to": NOW}, "valid_to_time"),
        ({"valid_from": NOW + DAY, "valid_to": NOW + DAY}, "valid_to_time"),
    ],
)
def test_what_no_store_may_hold_is_refused(bad: dict[str, Any], field: str) -> None:
    """X-1: the field is named."""
    with pytest.raises(InvalidField) as refused:
        check_new(new(**bad), NOW)
    assert [problem.field for problem in refused.value.fields] == [field]


def test_a_memory_is_indexed_when_its_newest_revision_is() -> None:
    """S-16."""
    assert not memory(revision=2, indexed_revision=1).indexed
    assert memory(revision=2, indexed_revision=2).indexed


def test_a_scope_writes_to_its_first_contact_and_reads_agent_wide_too() -> None:
    """S-5."""
    alone, merged = Scope(agent_id="ada"), Scope(agent_id="ada", contact_ids=("ann", "ann-too"))
    assert (alone.write_bucket, alone.read_buckets) == ("", ("",))
    assert (merged.write_bucket, merged.read_buckets) == ("ann", ("ann", "ann-too", ""))


@pytest.mark.parametrize(
    ("key", "segments"),
    [
        ("city", ["city"]),
        ("user.city", ["user", "city", "user.city"]),
        ("a-b_c:d.e", ["a", "b", "c", "d", "e", "a-b_c:d.e"]),
        ("user..city.", ["user", "city", "user..city."]),
        ("a.a", ["a", "a.a"]),
        ("...", ["..."]),
    ],
)
def test_segments_of_a_key_are_its_parts_and_the_whole(key: str, segments: list[str]) -> None:
    """S-9: the key channel."""
    assert key_segments(key) == segments
