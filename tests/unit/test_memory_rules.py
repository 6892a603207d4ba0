"""Rules of memories: kinds, confidence, relevance, keys (SPEC S-1, S-2, S-4, S-5, S-10)."""

from __future__ import annotations

import dataclasses
import math
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.memory.semantic.domain.memory import (
    CONFIDENCE,
    FactType,
    Kind,
    Memory,
    Scope,
    Source,
    by_relevance,
    key_segments,
    kind_of,
    relevance,
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


def test_a_memory_is_live_until_it_is_superseded_or_expires() -> None:
    """S-3, S-8."""
    assert memory().live(NOW)
    assert not memory(superseded_by="other").live(NOW)
    assert memory(expires=NOW + DAY).live(NOW)
    assert not memory(expires=NOW).live(NOW)


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
