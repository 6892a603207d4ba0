"""Figures, labels, changes, the document and what is read of summaries, each by itself (SPEC J-12)."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.compactor.domain.attractor import (
    NOWHERE,
    Attractor,
    Basin,
    Change,
    ChangeKind,
    Concept,
    Earlier,
    Visit,
)
from services.compactor.domain.attractor_changes import changes
from services.compactor.domain.attractor_document import (
    SHOWN_MEMBERS,
    SHOWN_VISITS,
    body_of,
    brief_of,
    earlier_of,
    renamed,
    sources_of,
)
from services.compactor.domain.attractor_dynamics import (
    Dwell,
    dwells,
    effective,
    entropy,
    recencies,
    stays,
    transitions,
)
from services.compactor.domain.attractor_labels import MAX_LABEL_LENGTH, label_of, terms_of
from services.compactor.domain.attractor_reading import reading_of
from services.compactor.domain.attractor_updating import known
from services.compactor.domain.documents import MAX_DOCUMENT_BYTES, encode_body
from services.kit.errors import InvalidField, NotFound
from tests.unit.attractor_parts import START, labels, points, update

HOUR = timedelta(hours=1)
FEW = settings(max_examples=40, deadline=None)
WRITTEN = datetime(2026, 5, 1, tzinfo=UTC)


def visits(basins: str) -> list[Visit]:
    """A visit an hour; a dot is none."""
    return [
        Visit(conversation_id=f"c{hour}", time=START + hour * HOUR, basin="" if basin == "." else basin)
        for hour, basin in enumerate(basins)
    ]


def basin(id_: str, *centroid: float, name: str = "") -> Basin:
    return Basin(id=id_, label="", name=name, weight=0.5, cohesion=1.0, centroid=centroid or (1.0, 0.0))


def version(memberships: dict[str, str], *basins: Basin, model: str = "m") -> Earlier:
    """Basins, with their conversations as letters."""
    held = {letter: id_ for id_, letters in memberships.items() for letter in letters}
    return Earlier(model=model, basins=basins or [basin(id_) for id_ in memberships if id_], labels=held)


# Dynamics


def test_a_stay_ends_with_the_first_visit_elsewhere() -> None:
    found = stays(visits("aab.a"))
    assert [(stay.basin, stay.visits) for stay in found] == [("a", 2), ("b", 1), (NOWHERE, 1), ("a", 1)]
    assert [(stay.end - stay.start) / HOUR for stay in found] == [2, 1, 1, 0]
    assert dwells(found) == {
        "a": Dwell(stays=2, visits=1.5, time=HOUR),
        "b": Dwell(stays=1, visits=1.0, time=HOUR),
    }
    assert stays([]) == []


@FEW
@given(st.text("abc.", max_size=30))
def test_transitions_and_stays_count_every_visit_once(basins: str) -> None:
    trajectory = visits(basins)
    assert sum(transitions(trajectory).values()) == max(0, len(basins) - 1)
    assert sum(stay.visits for stay in stays(trajectory)) == len(basins)


def test_transitions_are_counted_by_pair() -> None:
    assert transitions(visits("aab.a")) == {
        ("a", "a"): 1,
        ("a", "b"): 1,
        ("b", NOWHERE): 1,
        (NOWHERE, "a"): 1,
    }


def test_recency_halves_with_each_half_life_from_the_newest() -> None:
    assert recencies([START, START + HOUR, START + 2 * HOUR], HOUR) == [0.25, 0.5, 1.0]
    assert recencies([], HOUR) == []


@pytest.mark.parametrize(
    ("shares", "bits", "number"),
    [((), 0.0, 0.0), ((1.0,), 0.0, 1.0), ((0.5, 0.5, 0.0), 1.0, 2.0), ((0.25,) * 4, 2.0, 4.0)],
)
def test_entropy_is_in_bits(shares: tuple[float, ...], bits: float, number: float) -> None:
    assert entropy(shares) == bits
    assert math.copysign(1.0, entropy(shares)) == 1.0
    assert effective(shares) == number


# Labels


def test_terms_are_weighted_as_class_based_tf_idf() -> None:
    """By hand: A = 5 / 2; "bread" is 2 of 3 in one, "oven" 1 in each."""
    baking = [Concept(name="Bread"), Concept(name="bread "), Concept(name="oven")]
    repair = [Concept(name="oven"), Concept(name="fuse")]
    first, second = terms_of([baking, repair])
    assert [term.text for term in first] == ["Bread", "oven"]
    assert [term.score for term in first] == pytest.approx(
        [2 / 3 * math.log(1 + 2.5 / 2), 1 / 3 * math.log(1 + 2.5 / 2)]
    )
    assert [term.text for term in second] == ["fuse", "oven"]
    assert second[0].score == pytest.approx(math.log(1 + 2.5) / 2)


def test_relevance_counts() -> None:
    (terms,) = terms_of([[Concept(name="a", relevance=0.2), Concept(name="b", relevance=0.9)]])
    assert [term.text for term in terms] == ["b", "a"]


def test_a_label_is_terms_or_a_title_or_nothing() -> None:
    (terms,) = terms_of([[Concept(name=name) for name in ("d", "c", "b", "a")]])
    assert label_of(terms, ["title"]) == "a, b, c"
    assert label_of((), ["", "The\n title"]) == "The title"
    assert label_of((), []) == ""
    assert len(label_of((), ["x" * 500])) == MAX_LABEL_LENGTH
    assert terms_of([]) == []
    assert terms_of([[]]) == [()]


# Changes


def test_what_is_gone_was_merged_or_died() -> None:
    before = version({"b1": "abcd", "b2": "efg", "b3": "hi"})
    after = version({"b1": "abcdef", NOWHERE: "ghi"})
    assert changes(before, after) == (
        Change(kind=ChangeKind.MERGED, basin="b2", others=("b1",)),
        Change(kind=ChangeKind.DIED, basin="b3"),
    )


def test_what_is_new_was_split_or_born() -> None:
    before = version({"b1": "abcdef", NOWHERE: "g"})
    after = version({"b1": "ab", "b2": "cd", "b3": "efx", "b4": "gyz"})
    assert changes(before, after) == (
        Change(kind=ChangeKind.SPLIT, basin="b1", others=("b2", "b3")),
        Change(kind=ChangeKind.BORN, basin="b4"),
    )


def test_moves_are_told_of_one_model_only_and_new_names() -> None:
    before = version({"b1": "ab", "b2": "cd"}, basin("b1", 1.0, 0.0), basin("b2", 0.0, 1.0))
    moved = (basin("b1", 0.6, 0.8), basin("b2", 0.0, 1.0, name="Mine"))
    after = version({"b1": "ab", "b2": "cd"}, *moved)
    (far, other) = changes(before, after)
    assert (far.kind, far.basin) == (ChangeKind.MOVED, "b1")
    assert far.distance == pytest.approx(0.4)
    assert other == Change(kind=ChangeKind.RENAMED, basin="b2")
    assert changes(before, version({"b1": "ab", "b2": "cd"}, *moved, model="n")) == (other,)
    assert changes(after, after) == ()


# The document


@FEW
@given(st.lists(st.integers(0, 4), max_size=30))
def test_a_version_hands_on_what_the_next_update_needs(themes: list[int]) -> None:
    made = update(None, points(themes))
    body = json.loads(encode_body(body_of(made, "f")))
    read, wanted = earlier_of(body, sources_of(made)), known(made)
    assert (read.model, read.last_basin, read.labels) == (wanted.model, wanted.last_basin, wanted.labels)
    assert [one.id for one in read.basins] == [one.id for one in wanted.basins]
    for one, other in zip(read.basins, wanted.basins, strict=True):
        assert one.centroid == pytest.approx(other.centroid, abs=1e-6)
    more = [*points(themes), *points([4, 4], first_day=90, prefix="d")]
    assert labels(update(read, more)) == labels(update(wanted, more))


def test_the_json_tells_of_each_basin() -> None:
    body = body_of(update(None, points([0, 0, 1, 0, 1, 2])), "f")
    first, second = body["basins"]
    assert (first["id"], first["member_count"], first["label"]) == ("b1", 3, "topic 0")
    assert first["members"] == ["c0003", "c0001", "c0000"]
    assert (first["first_visit"], first["last_visit"]) == ("2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z")
    assert (first["stay_count"], first["mean_stay_visits"]) == (2, 1.5)
    assert first["mean_stay_seconds"] == 1.5 * 86_400
    assert first["weight"] + second["weight"] == pytest.approx(1.0, abs=1e-5)
    assert body["scattered"]["member_count"] == 1
    assert body["trajectory"][-1] == {"time": "2026-01-06T00:00:00Z", "basin": "", "conversation": "c0005"}
    assert {"from": "b2", "to": "", "count": 1} in body["transitions"]
    assert body["changes"] == [{"kind": "born", "basin": "b1"}, {"kind": "born", "basin": "b2"}]
    assert [(one.id, one.members, one.name) for one in brief_of(body)] == [("b1", 3, ""), ("b2", 2, "")]


def test_the_largest_attractor_fits_into_a_document() -> None:
    """10,000 conversations in 32 basins of 1,024 dimensions; the ids at their bound are in the sources."""
    basins = tuple(replace(basin(f"b{n}", *([0.03125] * 1024)), label="x" * 80) for n in range(1, 33))
    trajectory = tuple(
        Visit(conversation_id=f"{n:036}", time=START + n * HOUR, basin=f"b{n % 32 + 1}")
        for n in range(10_000)
    )
    made = Attractor(model="m" * 64, last_basin=32, basins=basins, visits=trajectory, mean=(0.03125,) * 1024)
    text = encode_body(body_of(made, "f" * 64))
    assert len(text.encode()) < MAX_DOCUMENT_BYTES
    body = json.loads(text)
    assert len(body["trajectory"]) == SHOWN_VISITS
    assert len(body["basins"][0]["members"]) == SHOWN_MEMBERS
    assert len(earlier_of(body, sources_of(made)).labels) == 10_000


@pytest.mark.parametrize("spoilt", ["model", "basins", "assignments", "mean", "last_basin"])
def test_what_is_no_attractor_is_told_from_one(spoilt: str) -> None:
    made = update(None, points([0, 0, 1, 1]))
    body = dict(body_of(made, "f"))
    assert earlier_of(body, sources_of(made)).basins
    for bad in ({**body, spoilt: None}, {one: value for one, value in body.items() if one != spoilt}):
        if spoilt == "model" and spoilt in bad:
            continue  # any text names a model
        with pytest.raises(ValueError, match="attractor"):
            earlier_of(bad, sources_of(made))
    with pytest.raises(ValueError, match="sources"):
        earlier_of(body, ["c0000"])


def test_a_basin_is_named_and_the_name_taken_away() -> None:
    body = body_of(update(None, points([0, 0])), "f")
    mine = renamed(body, "b1", "  My \n garden ")
    assert brief_of(mine)[0].name == "My garden"
    assert mine["changes"] == [{"kind": "renamed", "basin": "b1"}]
    assert renamed(mine, "b1", "My garden") == mine
    assert brief_of(renamed(mine, "b1", ""))[0].name == ""
    with pytest.raises(NotFound):
        renamed(body, "b2", "x")
    with pytest.raises(InvalidField):
        renamed(body, "b1", "x" * 81)


# What is read of a summary


def test_a_summary_is_read() -> None:
    reading = reading_of(
        {
            "title": "Beds",
            "text": "## Objective\n- plan the beds",
            "sections": {"objective": [{"text": "plan the beds", "day": ""}]},
            "concepts": [{"name": "tomatoes", "weight": 0.8, "count": 3}, {"name": "soil", "weight": 0.4}],
            "up_to": {"time": "2026-03-04T05:06:07+00:00"},
        },
        WRITTEN,
    )
    assert reading.text == "Beds. tomatoes, soil. plan the beds"
    assert reading.title == "Beds"
    assert reading.time == datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
    assert reading.concepts == (Concept(name="tomatoes", relevance=0.8), Concept(name="soil", relevance=0.4))


def test_without_concepts_the_text_is_read() -> None:
    reading = reading_of({"text": "## Objective\n- plan the beds\n- dig"}, WRITTEN)
    assert reading.text == "plan the beds. ## Objective\n- plan the beds\n- dig"
    assert (reading.title, reading.time, reading.concepts) == ("plan the beds", WRITTEN, ())


ANYTHING: Any = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@FEW
@given(
    st.fixed_dictionaries(
        {},
        optional=dict.fromkeys(("title", "text", "sections", "concepts", "up_to"), ANYTHING),
    )
)
def test_whatever_a_summary_holds_is_read(body: dict[str, Any]) -> None:
    reading = reading_of(body, WRITTEN)
    assert reading.time.tzinfo is not None
    assert all(concept.name and 0.0 < concept.relevance < math.inf for concept in reading.concepts)
