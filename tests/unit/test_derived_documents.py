"""What a derived document may hold, and how its head changes (SPEC K-2, K-3, J-17)."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.compactor.domain.documents import (
    EXACT_INTEGERS,
    MAX_DOCUMENT_BYTES,
    MAX_DOCUMENT_DEPTH,
    MAX_SOURCE_BYTES,
    MAX_SOURCES,
    DocumentKey,
    Draft,
    Head,
    Kind,
    changes,
    check_draft,
    check_key,
    encode_body,
    erased,
    frozen,
    marked_stale,
    unfrozen,
    written,
)
from services.kit.errors import InvalidField, NotFound, VersionConflict

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20)
NUMBERS = st.integers(-EXACT_INTEGERS, EXACT_INTEGERS) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
BODIES = st.dictionaries(TEXTS, VALUES, max_size=5)


def nested(depth: int) -> dict[str, Any]:
    body: dict[str, Any] = {}
    for _ in range(depth - 1):
        body = {"a": body}
    return body


@given(BODIES)
def test_what_is_taken_comes_back_equal_and_in_one_form(body: dict[str, Any]) -> None:
    """K-3."""
    text = encode_body(body)
    assert json.loads(text) == body
    assert encode_body(dict(reversed(body.items()))) == text


@pytest.mark.parametrize(
    "body",
    [
        [],
        {"a": "\x00"},
        {"\x00": 1},
        {"a": ["\ud800"]},
        {"a": math.nan},
        {"a": [math.inf]},
        {"a": EXACT_INTEGERS + 1},
        {"a": -EXACT_INTEGERS - 1},
        {1: "a"},
        {"a": {None: 1}},
        {"a": (1, 2)},
        {"a": b"x"},
        nested(MAX_DOCUMENT_DEPTH + 1),
        {"a": "x" * MAX_DOCUMENT_BYTES},
        {"a": "ü" * (MAX_DOCUMENT_BYTES // 2)},
    ],
)
def test_what_would_come_back_changed_is_refused(body: Any) -> None:
    """K-3, X-1."""
    with pytest.raises(InvalidField) as caught:
        encode_body(body)
    assert caught.value.fields[0].field == "body"


def test_the_limits_are_inclusive() -> None:
    encode_body(nested(MAX_DOCUMENT_DEPTH))
    encode_body({"a": EXACT_INTEGERS})
    assert len(encode_body({"a": "x" * (MAX_DOCUMENT_BYTES - len('{"a":""}'))})) == MAX_DOCUMENT_BYTES
    check_draft(Draft(body={}, engine="e", source_ids=["s"] * MAX_SOURCES))
    check_draft(Draft(body={}, engine="e", source_ids=["s" * MAX_SOURCE_BYTES]))


@pytest.mark.parametrize(
    ("field", "draft"),
    [
        ("engine", Draft(body={}, engine="")),
        ("engine", Draft(body={}, engine="e" * 201)),
        ("engine", Draft(body={}, engine="\x00")),
        ("source_ids", Draft(body={}, engine="e", source_ids=[""])),
        ("source_ids", Draft(body={}, engine="e", source_ids=["\ud800"])),
        ("source_ids", Draft(body={}, engine="e", source_ids=["s" * (MAX_SOURCE_BYTES + 1)])),
        ("source_ids", Draft(body={}, engine="e", source_ids=["s"] * (MAX_SOURCES + 1))),
        ("source_ids", Draft(body={}, engine="e", source_ids=["s" * MAX_SOURCE_BYTES] * 2_049)),
    ],
)
def test_a_draft_has_an_engine_and_sources_that_can_be_kept(field: str, draft: Draft) -> None:
    """SV-7."""
    with pytest.raises(InvalidField) as caught:
        check_draft(draft)
    assert caught.value.fields[0].field == field


@pytest.mark.parametrize(
    ("kind", "agent_id", "subject"),
    [(Kind.ATTRACTOR, "a", "c"), (Kind.SUMMARY, "a", ""), (Kind.SUMMARY, "a\x00", "c")],
)
def test_a_key_fits_its_kind(kind: Kind, agent_id: str, subject: str) -> None:
    with pytest.raises(InvalidField):
        check_key(DocumentKey(tenant="t", agent_id=agent_id, kind=kind, subject=subject))
    check_key(DocumentKey(tenant="t", agent_id="a", kind=Kind.SUMMARY, subject="c"))
    check_key(DocumentKey(tenant="t", agent_id="a", kind=Kind.ATTRACTOR))


STEPS = st.lists(st.sampled_from(["write", "stale", "freeze", "unfreeze", "erase"]), max_size=30)


@given(STEPS, st.data())
def test_heads_keep_their_promises(steps: list[str], data: st.DataObject) -> None:
    """K-2: revisions and versions only rise; what is pinned is frozen, and there."""
    head = Head()
    for step in steps:
        before, versions = head, st.integers(1, max(1, head.version))
        match step:
            case "write":
                head = written(head, head)
                assert (head.version, head.current, head.stale) == (
                    before.version + 1,
                    head.version,
                    False,
                )
            case "stale" if head.present:
                head = marked_stale(head)
                assert head.stale
            case "freeze" if head.present:
                version = data.draw(versions)
                head = frozen(head, version)
                assert head.pinned == version
            case "unfreeze":
                version = data.draw(versions)
                try:
                    head = unfrozen(head, version)
                except NotFound:
                    assert version not in head.frozen
                    continue
                assert version not in head.frozen
            case "erase":
                head = erased(head)
                assert (head.current, head.frozen, head.stale) == (0, (), False)
            case _:
                continue
        assert head.revision == before.revision + 1
        assert head.version >= before.version
        assert head.pinned == 0 or head.pinned in head.frozen
        assert all(1 <= version <= head.version for version in head.frozen)


def test_a_writer_that_saw_another_head_with_the_same_version_does_not_conflict() -> None:
    """A freeze meanwhile is nobody's conflict; a stale mark stays."""
    seen = written(Head(), Head())
    assert written(frozen(seen, 1), seen).pinned == 1
    assert written(marked_stale(seen), seen).stale
    assert not written(marked_stale(seen), marked_stale(seen)).stale
    with pytest.raises(VersionConflict):
        written(erased(seen), seen)


def test_versions_are_compared_field_by_field() -> None:
    """K-3."""
    before = {"same": [1, {"a": 1}], "gone": None, "true": True, "deep": {"a": [1]}, "order": [1, 2]}
    after = {"same": [1.0, {"a": 1}], "came": 1, "true": 1, "deep": {"a": [2]}, "order": [2, 1]}
    found = {one.name: one for one in changes(before, after)}
    assert sorted(found) == ["came", "deep", "gone", "order", "true"]
    assert (found["gone"].present, found["came"].present) == ((True, False), (False, True))
    assert (found["deep"].before, found["deep"].after) == ({"a": [1]}, {"a": [2]})
    assert changes(before, before) == []


@given(BODIES, BODIES)
def test_applying_the_changes_gives_the_other_version(before: dict[str, Any], after: dict[str, Any]) -> None:
    """K-3: nothing that differs is left out."""
    made = dict(before)
    for one in changes(before, after):
        if one.present[1]:
            made[one.name] = one.after
        else:
            del made[one.name]
    assert made == after
