"""Whose a derived document is, and who may be shown it (SPEC S-5, S-13)."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from services.memory.semantic.domain.documents import (
    SHARED,
    DocumentScope,
    DocumentSource,
    DocumentType,
    SourceDocument,
    embedded_text,
    indexed,
    owner,
    searched_text,
)

PEOPLE = ["", "ann", "anna", "bob", "cleo"]
CONTACTS = st.lists(st.sampled_from([*PEOPLE, None]), max_size=6)


def document(text: str = "title\nsaid", title: str = "title") -> SourceDocument:
    return SourceDocument(
        source=DocumentSource(type=DocumentType.PAGE, subject="b1"),
        id="b1",
        version=3,
        title=title,
        text=text,
        conversation_ids=("c",),
    )


@settings(max_examples=200)
@given(contacts=CONTACTS, asked=st.sets(st.sampled_from(PEOPLE[1:])), type_=st.sampled_from(DocumentType))
def test_a_document_is_shown_to_those_alone_with_whom_all_of_it_was_said(
    contacts: list[str | None], asked: set[str], type_: DocumentType
) -> None:
    """Whatever a search is narrowed to, nothing that came from somebody else's conversation passes."""
    made = indexed(document(), owner(contacts))
    scope = DocumentScope(contact_ids=tuple(sorted(asked)))
    if scope.admits(made):
        assert set(contacts) <= {"", *asked}
    elif len(set(contacts) - {""}) < 2 and None not in contacts:
        assert set(contacts) - {""} - asked, "one person's, or nobody's, is found there"
    assert DocumentScope(contact_ids=None).admits(made), "and with everything, always"
    assert DocumentScope(contact_ids=None, types=frozenset({type_})).admits(made) == (
        type_ is DocumentType.PAGE
    )
    assert scope.admits(made) == (made.contact_id in scope.buckets)


def test_owners() -> None:
    assert owner([]) == owner(["", ""]) == ""
    assert owner(["ann", "", "ann"]) == "ann"
    assert owner(["ann", "bob"]) == owner([None]) == owner(["ann", None]) == SHARED


def test_a_long_document_is_found_by_its_title_in_each_part() -> None:
    long = indexed(document("The lighthouse\n" + "It rained all day. " * 200, "The lighthouse"), "")
    assert len(long.chunks) > 2
    assert [chunk.number for chunk in long.chunks] == list(range(len(long.chunks)))
    for chunk in long.chunks:
        assert searched_text(long, chunk).count("The lighthouse") == 1
        assert embedded_text(long, chunk).startswith("The lighthouse\n")
    wordy = indexed(document("x " * 500, "a title of far too many words " * 10), "")
    assert embedded_text(wordy, wordy.chunks[1]) == wordy.chunks[1].text
    assert len(set(long.item_ids())) == len(long.chunks)
    assert long.item_ids() == sorted(long.item_ids())


def test_the_digest_tells_title_text_and_whose_it_is() -> None:
    made = [
        indexed(document(), ""),
        indexed(document("title\nelse"), ""),
        indexed(document(title="other"), ""),
        indexed(document(), "ann"),
    ]
    assert len({one.digest for one in made}) == 4
    assert indexed(document(), "").digest == made[0].digest
