"""Documents as values of the key-value store: nothing that is no document is taken for one (SPEC K-2)."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from services.compactor.app import document_records as records
from services.compactor.app.document_ports import MAX_VALUE_BYTES, Unreadable, revision_of
from services.compactor.app.document_records import Record
from services.compactor.domain.documents import (
    SCHEMAS,
    Document,
    DocumentKey,
    Head,
    Kind,
    Schema,
    attractor_key,
    summary_key,
)

KEY = attractor_key("acme", "ada")
NAME = records.current_name(KEY)
HEAD = Head(version=3, revision=7, stale_revision=7, pinned=2, frozen=(1, 2), present=True)
DOCUMENT = Document(
    key=KEY,
    version=3,
    created=datetime(2026, 5, 1, 12, 0, 0, 123_456, tzinfo=UTC),
    schema=SCHEMAS[Kind.ATTRACTOR],
    engine="test-1",
    source_ids=("c1", "🦉"),
    body={"themes": [{"label": "dåg", "weight": 0.25}], "none": None, "big": 2**53},
)
RECORD = Record(revision=7, head=HEAD, documents=(DOCUMENT, replace(DOCUMENT, version=2, body={})))
VALUE = records.encode(NAME, RECORD)
IDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8) | st.sampled_from(
    ["a", "a:b", "{a}", "}", "history", "frozen", "%3A", "state"]
)


def unreadable(value: bytes, name: str = NAME, key: DocumentKey = KEY) -> bool:
    try:
        records.decode(name, key, value)
    except Unreadable:
        return True
    return False


def test_a_record_comes_back_as_it_was() -> None:
    """K-3."""
    assert records.decode(NAME, KEY, VALUE) == RECORD
    assert revision_of(VALUE) == 7
    single = Record(revision=9, documents=(DOCUMENT,))
    assert records.decode("x", KEY, records.encode("x", single)) == single


def test_a_value_is_json_that_others_can_read() -> None:
    """K-3."""
    text = VALUE.split(b":", 2)[2]
    assert json.loads(text)["documents"][0]["body"] == DOCUMENT.body


def test_a_mark_holds_no_document() -> None:
    assert records.decode(NAME, KEY, records.mark(8)) == Record(revision=8)


@given(st.integers(0, len(VALUE) - 1), st.integers(1, 255))
def test_a_value_with_one_byte_changed_is_a_mark_of_nothing_or_unreadable(place: int, change: int) -> None:
    """K-2: except for its revision, which is not part of the document."""
    spoilt = bytearray(VALUE)
    spoilt[place] ^= change
    if unreadable(bytes(spoilt)):
        return
    assert place < VALUE.index(b":")
    assert records.decode(NAME, KEY, bytes(spoilt)).documents == RECORD.documents


@given(st.integers(0, len(VALUE) - 1))
def test_a_value_that_was_cut_is_unreadable_or_a_mark(length: int) -> None:
    """K-2."""
    cut = VALUE[:length]
    assert unreadable(cut) or records.decode(NAME, KEY, cut) == Record(revision=7)


@given(st.binary(max_size=60))
@example(b"")
@example(b"null")
@example(b"7:null:null")
@example(b"7::")
def test_bytes_are_no_document(value: bytes) -> None:
    """K-2."""
    assert unreadable(value) or not records.decode(NAME, KEY, value).documents


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{}",
        '{"format":2,"head":null,"documents":[]}',
        '{"format":1,"head":null,"documents":[{}]}',
        '{"format":1,"head":[],"documents":[]}',
        '{"format":1,"head":{"version":1},"documents":[]}',
        '{"format":1,"head":null,"documents":7}',
        "[" * 100_000,
    ],
)
def test_json_of_another_form_is_unreadable(text: str) -> None:
    """K-3: such as another version of this program may write, digest and all."""
    digest = records._digest(NAME, text.encode())
    assert unreadable(b"7:%s:%s" % (digest, text.encode()))


def test_another_schema_is_unreadable() -> None:
    """K-3."""
    schema = SCHEMAS[Kind.ATTRACTOR]
    for other in (
        Schema(name=schema.name, version=schema.version + 1),
        Schema(name="x", version=schema.version),
    ):
        record = Record(revision=7, head=HEAD, documents=(replace(DOCUMENT, schema=other),))
        assert unreadable(records.encode(NAME, record))


def test_a_value_under_another_name_is_unreadable() -> None:
    """K-1: a copied value shows no other agent's document."""
    assert not unreadable(VALUE)
    other = attractor_key("acme", "bea")
    assert unreadable(VALUE, records.current_name(other), other)
    assert unreadable(VALUE, records.history_name(KEY))


@given(st.lists(st.tuples(IDS, IDS, IDS), min_size=2, max_size=6, unique=True), st.integers(1, 9))
def test_no_two_documents_share_a_name(ids: list[tuple[str, str, str]], version: int) -> None:
    """K-1."""
    names: dict[str, object] = {}
    for tenant, agent, conversation in ids:
        attractor, summary = attractor_key(tenant, agent), summary_key(tenant, agent, conversation)
        made = {
            records.current_name(attractor): ("state", tenant, agent),
            records.history_name(attractor): ("history", tenant, agent),
            records.frozen_name(attractor, version): ("frozen", tenant, agent),
            records.current_name(summary): ("summary", tenant, agent, conversation),
            records.moment_name(summary, DOCUMENT.created): ("moment", tenant, agent, conversation),
        }
        assert len(made) == 5
        for name, what in made.items():
            assert names.setdefault(name, what) == what
            assert (name.count("{"), name.count("}"), name[0]) == (1, 1, "{")


def test_a_history_holds_as_many_of_the_newest_versions_as_fit() -> None:
    """K-1."""
    large = [replace(DOCUMENT, version=9 - n, body={"text": "x" * 1_000_000}) for n in range(8)]
    value = records.encode(NAME, Record(revision=9, documents=tuple(large)))
    assert len(value) <= MAX_VALUE_BYTES
    assert [one.version for one in records.decode(NAME, KEY, value).documents] == [9, 8, 7, 6]
