"""What an append adds, finds, or refuses, without a store (SPEC E-2, X-2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.kit.errors import Exists, InvalidField, LimitExceeded, PalimpsestError, ParentConflict
from services.memory.episodic.domain.append import (
    Append,
    Draft,
    Growth,
    Known,
    Outcome,
    derive_id,
    from_spans,
    ids_in_question,
    request_digest,
    tenant_key,
    to_spans,
)
from services.memory.episodic.domain.checks import Limits, draft_messages
from services.memory.episodic.domain.model import (
    Conversation,
    ConversationKey,
    Leaf,
    Message,
    NewMessage,
    Role,
)
from services.memory.episodic.domain.parts import (
    Attachment,
    Part,
    Text,
    ToolCall,
    ToolResult,
    decode,
    encode,
)
from services.memory.episodic.domain.tree import Run, Tree
from tests.unit.tree_model import ParentTree

Answer: TypeAlias = "tuple[Outcome, ...] | PalimpsestError"

KEY = ConversationKey(tenant="t", agent_id="a", id="c")
SECRET = tenant_key(b"s" * 32, "t")
LIMITS = Limits(text_bytes=100, argument_bytes=50, append_bytes=300)
EMPTY = Conversation(id="c", agent_id="a", contact_id="", title="", create_time=0, update_time=0)


def draft(text: str, id: str = "", author: str = "Ann") -> Draft:
    return Draft(
        id=id,
        role=Role.USER,
        author=author,
        session="",
        time=0,
        token_count=1,
        content=encode([Text(text=text)]),
    )


class Thread:
    """A conversation that plans are carried out on; `appends` planned together share a transaction."""

    def __init__(self) -> None:
        self.conversation = EMPTY
        self.messages: list[Message] = []
        self.runs: list[Run] = []
        self.growth = Growth(EMPTY, SECRET, {}, None)

    @property
    def tree(self) -> Tree:
        return Tree(len(self.messages), self.runs)

    def plan(self, *appends: Append) -> list[Answer]:
        """As the store does: it tells what it has of the ids in question, and the tree if there are some."""
        leaf = self.conversation.leaf_id if len(appends) == 1 else None
        ids = set().union(*(ids_in_question(append, SECRET, leaf) for append in appends))
        known = {m.id: known_of(m) for m in self.messages if m.id in ids}
        self.growth = Growth(self.conversation, SECRET, known, self.tree if ids else None)
        answers: list[Answer] = []
        for append in appends:
            try:
                answers.append(self.growth.plan(append))
            except (Exists, ParentConflict) as error:
                answers.append(error)
        self.messages += self.growth.new
        self.runs += self.growth.runs
        self.conversation = replace(
            self.conversation,
            stored_count=self.growth.count,
            leaf=self.growth.leaf,
            authors=self.growth.authors,
        )
        return answers

    def append(
        self, *drafts: Draft, parent_id: str | None = None, branch: bool = False, keep_path: bool = False
    ) -> tuple[Outcome, ...]:
        [answer] = self.plan(wanted(*drafts, parent_id=parent_id, branch=branch, keep_path=keep_path))
        if isinstance(answer, PalimpsestError):
            raise answer
        return answer


def known_of(m: Message) -> Known:
    return Known(sequence=m.sequence, parent_id=m.parent_id, role=m.role, author=m.author, content=m.content)


def wanted(
    *drafts: Draft, parent_id: str | None = None, branch: bool = False, keep_path: bool = False
) -> Append:
    return Append(
        key=KEY,
        drafts=drafts,
        parent_id=parent_id,
        request_id="",
        now=1,
        branch=branch,
        keep_path=keep_path,
    )


@settings(deadline=None)
@given(st.lists(st.sampled_from(["yes", "no", "why"]), min_size=1, max_size=20), st.integers(1, 20))
def test_ingesting_again_from_the_root_or_in_chunks_adds_nothing(texts: list[str], size: int) -> None:
    thread = Thread()
    first = thread.append(*map(draft, texts), parent_id="")
    assert [o.sequence for o in first] == list(range(1, len(texts) + 1))
    again = thread.append(*map(draft, texts), parent_id="")
    assert [(o.message_id, o.created) for o in again] == [(o.message_id, False) for o in first]
    parent = ""
    for begin in range(0, len(texts), size):
        chunk = thread.append(*map(draft, texts[begin : begin + size]), parent_id=parent)
        assert not thread.growth.new
        parent = chunk[-1].message_id
    assert len(thread.messages) == len(texts)


def test_a_longer_transcript_adds_only_what_is_new() -> None:
    thread = Thread()
    thread.append(draft("a"), draft("b"), parent_id="")
    outcomes = thread.append(draft("a"), draft("b"), draft("c"), parent_id="")
    assert [o.created for o in outcomes] == [False, False, True]
    assert [m.parent_id for m in thread.messages] == ["", thread.messages[0].id, thread.messages[1].id]
    assert (thread.runs, thread.growth.switched) == ([], False)


def test_saying_the_same_twice_is_two_messages() -> None:
    thread = Thread()
    thread.append(draft("yes"))
    thread.append(draft("yes"))
    assert len({m.id for m in thread.messages}) == 2


def test_a_new_message_must_follow_the_newest_one_unless_a_branch_is_asked_for() -> None:
    """E-3."""
    thread = Thread()
    first = thread.append(draft("a"), draft("b"))[0].message_id
    for parent in ("", first):
        with pytest.raises(ParentConflict) as caught:
            thread.append(draft("other"), parent_id=parent)
        assert [p.field for p in caught.value.fields] == ["parent_id"]
    assert len(thread.messages) == 2
    branch = thread.append(draft("other"), draft("more"), parent_id=first, branch=True)
    assert [m.depth for m in thread.messages] == [1, 2, 2, 3]
    assert (thread.conversation.leaf_id, thread.growth.switched) == (branch[1].message_id, True)
    thread.append(draft("anew"), parent_id="", branch=True)
    assert thread.runs == [Run(first=3, base=1, depth=1), Run(first=5, base=0, depth=0)]
    assert thread.messages[-1].depth == 1


def test_a_branch_may_leave_the_active_path_as_it_is() -> None:
    """E-3, G-4: what is stored beside it has its own depths, and the next message follows the path."""
    thread = Thread()
    thread.append(draft("a", "x"), draft("b", "y"))
    thread.append(draft("c", "p"), draft("d", "q"), parent_id="x", branch=True, keep_path=True)
    assert (thread.conversation.leaf_id, thread.growth.switched) == ("y", False)
    thread.append(draft("e", "z"))
    assert [(m.id, m.parent_id, m.depth) for m in thread.messages[2:]] == [
        *(("p", "x", 2), ("q", "p", 3), ("z", "y", 3))
    ]
    with pytest.raises(ParentConflict):
        thread.append(draft("f"), parent_id="q", keep_path=True)
    thread.append(draft("f", "w"), parent_id="z", branch=True, keep_path=True)
    assert thread.conversation.leaf_id == "w", "what follows the leaf is on the active path"


def test_an_unknown_parent_is_refused_with_and_without_branch() -> None:
    thread = Thread()
    thread.append(draft("a", "x"))
    for branch in (False, True):
        with pytest.raises(ParentConflict) as caught:
            thread.append(draft("b"), parent_id="unknown", branch=branch)
        assert [p.field for p in caught.value.fields] == ["parent_id"]
    assert thread.append(draft("b"), parent_id="x", branch=True)[0].created


def test_a_stored_message_is_not_moved_after_another_not_even_into_a_circle() -> None:
    thread = Thread()
    thread.append(draft("a", "x"), draft("b", "y"), draft("c", "z"))
    for drafts, parent in (
        ([draft("c", "z")], "x"),
        ([draft("a", "x")], "z"),
        ([draft("a", "x")], "x"),
        ([draft("b", "y")], ""),
    ):
        with pytest.raises(ParentConflict) as caught:
            thread.append(*drafts, parent_id=parent, branch=True)
        assert [p.field for p in caught.value.fields] == ["messages[0].id"]
    with pytest.raises(ParentConflict) as caught:
        thread.append(draft("c", "z"), draft("a", "x"), branch=True)
    assert [p.field for p in caught.value.fields] == ["messages[1].id"]
    assert [m.id for m in thread.messages] == ["x", "y", "z"]
    assert [o.sequence for o in thread.append(draft("b", "y"), draft("c", "z"))] == [2, 3]


def test_an_own_id_with_the_same_content_is_stored_once_and_with_other_content_refused() -> None:
    thread = Thread()
    thread.append(draft("a", "x"), draft("b", "y"))
    assert [o.sequence for o in thread.append(draft("a", "x"), draft("b", "y"))] == [1, 2]
    for other in (draft("other", "y"), draft("b", "y", author="Bob")):
        with pytest.raises(Exists) as caught:
            thread.append(draft("a", "x"), other)
        assert [p.field for p in caught.value.fields] == ["messages[1].id"]


def test_an_own_id_twice_in_one_batch_would_follow_itself() -> None:
    for twice, error in ((draft("a", "x"), ParentConflict), (draft("b", "x"), Exists)):
        thread = Thread()
        with pytest.raises(error) as caught:
            thread.append(draft("a", "x"), twice)
        assert [p.field for p in caught.value.fields] == ["messages[1].id"]
        assert thread.messages == []


def test_what_others_of_the_same_transaction_stored_is_known() -> None:
    """E-2: the leaf of the beginning has been followed by the time that the next append names it."""
    thread = Thread()
    thread.append(draft("a", "x"))
    same = wanted(draft("b"), parent_id="x")
    first, second, third = thread.plan(same, same, wanted(draft("c"), parent_id="x", branch=True))
    assert isinstance(first, tuple)
    assert isinstance(third, tuple)
    assert second == (replace(first[0], created=False),)
    assert thread.runs == [Run(first=3, base=1, depth=1)]
    assert [(m.sequence, m.depth) for m in thread.messages] == [(1, 1), (2, 2), (3, 2)]
    late, other = thread.plan(wanted(draft("d")), wanted(draft("e"), parent_id=third[0].message_id))
    assert isinstance(late, tuple)
    assert isinstance(other, ParentConflict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """An append to be made: `parent` counts back from the newest message; None, "" and "?" are themselves."""

    parent: int | str | None
    texts: tuple[str, ...]
    ids: tuple[str, ...]
    branch: bool
    keep_path: bool


choices = st.builds(
    Choice,
    parent=st.one_of(st.sampled_from([None, "", "?", 0]), st.integers(0, 8)),
    texts=st.lists(st.sampled_from(["yes", "no"]), min_size=1, max_size=3).map(tuple),
    ids=st.tuples(*[st.sampled_from(["", "", "", "p", "q", "r"])] * 3),
    branch=st.booleans(),
    keep_path=st.booleans(),
)


class Model:
    """The same conversation, a message at a time: ids, parents and contents in a list, and the leaf."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, str, str]] = []  # id, parent, content
        self.leaf = ""

    def append(self, append: Append) -> list[tuple[int, bool]] | type[PalimpsestError]:
        rows, leaf = list(self.rows), self.leaf
        parent = leaf if append.parent_id is None else append.parent_id
        if parent and parent not in [row[0] for row in rows]:
            return ParentConflict
        answer: list[tuple[int, bool]] = []
        for index, one in enumerate(append.drafts):
            id_ = one.id or derive_id(SECRET, KEY, parent, one)
            at = next((n for n, row in enumerate(rows) if row[0] == id_), None)
            if at is None:
                if parent != leaf and not append.branch:
                    return ParentConflict
                rows.append((id_, parent, one.content))
                if parent == leaf or not append.keep_path:
                    leaf = id_
            elif rows[at][2] != one.content:
                return Exists
            elif rows[at][1] != parent and (index or append.parent_id is not None):
                return ParentConflict
            answer.append((len(rows) if at is None else at + 1, at is None))
            parent = id_
        self.rows, self.leaf = rows, leaf
        return answer


@settings(deadline=None, max_examples=300)
@given(st.lists(st.lists(choices, min_size=1, max_size=4), min_size=1, max_size=8))
def test_any_appends_in_any_batches_are_planned_as_one_at_a_time(batches: list[list[Choice]]) -> None:
    """E-2, E-3: outcomes, errors, leaf, sequence numbers and depths are those of a plain list of messages."""
    thread, model = Thread(), Model()
    for batch in batches:
        stored = list(model.rows)
        appends = [append_of(choice, stored) for choice in batch]
        for answer, expected in zip(thread.plan(*appends), map(model.append, appends), strict=True):
            if isinstance(expected, list):
                assert isinstance(answer, tuple)
                assert [(o.sequence, o.created) for o in answer] == expected
            else:
                assert type(answer) is expected
        assert [(m.id, m.parent_id, m.content) for m in thread.messages] == model.rows
        assert [m.sequence for m in thread.messages] == list(range(1, len(model.rows) + 1))
        assert thread.conversation.leaf_id == model.leaf
        numbers = {row[0]: number for number, row in enumerate(model.rows, 1)}
        shape = ParentTree([numbers.get(row[1], 0) for row in model.rows])
        for m in thread.messages:
            assert m.depth == thread.tree.depth(m.sequence) == len(shape.path(m.sequence))


def append_of(choice: Choice, stored: list[tuple[str, str, str]]) -> Append:
    parent = choice.parent
    if isinstance(parent, int):
        parent = stored[-1 - parent % len(stored)][0] if stored else ""
    drafts = [draft(text, id_) for text, id_ in zip(choice.texts, choice.ids, strict=False)]
    return wanted(*drafts, parent_id=parent, branch=choice.branch, keep_path=choice.keep_path)


@settings(deadline=None)
@given(st.integers(1, 9), st.lists(st.sampled_from([1, 50]), min_size=1, max_size=5))
def test_tokens_are_counted_along_an_unbroken_path(start: int, sizes: list[int]) -> None:
    leaf = Leaf(id="x", sequence=3, depth=3, path_tokens=start)
    growth = Growth(replace(EMPTY, stored_count=3, leaf=leaf), SECRET, {}, None)
    growth.plan(wanted(*(replace(draft("a"), token_count=size) for size in sizes)))
    assert (growth.leaf.path_tokens, growth.switched) == (start + sum(sizes), False)


def test_ids_depend_on_tenant_conversation_parent_role_author_and_content_only() -> None:
    base = draft("a")
    ids = {
        derive_id(SECRET, KEY, "", base),
        derive_id(tenant_key(b"s" * 32, "u"), KEY, "", base),
        derive_id(SECRET, replace(KEY, id="d"), "", base),
        derive_id(SECRET, replace(KEY, agent_id="b"), "", base),
        derive_id(SECRET, KEY, "p", base),
        derive_id(SECRET, KEY, "", replace(base, role=Role.TOOL)),
        derive_id(SECRET, KEY, "", replace(base, author="")),
        derive_id(SECRET, KEY, "", draft("b")),
    }
    assert len(ids) == 8
    assert {len(id_) for id_ in ids} == {32}
    assert derive_id(SECRET, KEY, "", replace(base, time=9, session="s")) in ids


def test_a_request_digest_tells_parents_apart() -> None:
    append = Append(key=KEY, drafts=(draft("a"),), parent_id=None, request_id="r", now=1)
    digests = {request_digest(SECRET, replace(append, parent_id=parent)) for parent in (None, "", "latest")}
    assert len(digests) == 3
    assert request_digest(SECRET, replace(append, now=2)) in digests


def test_authors_are_kept_in_order_up_to_64() -> None:
    thread = Thread()
    thread.append(*(draft("x", author=f"p{n}") for n in (*range(60), 3, 1)), draft("x", author=""))
    thread.append(*(draft("x", author=f"q{n}") for n in range(10)))
    assert thread.conversation.authors == (*(f"p{n}" for n in range(60)), *(f"q{n}" for n in range(4)))


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 30), st.booleans()), min_size=1))
def test_spans_hold_every_outcome(pairs: list[tuple[int, bool]]) -> None:
    outcomes = [Outcome(message_id="", sequence=n, created=created) for n, created in pairs]
    assert from_spans(to_spans(outcomes)) == pairs


PARTS: Sequence[Part] = (
    Text(text='quo"te [“ü'),
    ToolCall(call_id="k", name="f", arguments={"b": [1, 2.5, None, True], "a": {"x": "y"}}),
    ToolResult(call_id="k", content="ok", is_error=True),
    Attachment(uri="file:x", media_type="image/png", caption="a dog"),
)


def test_canonical_parts_come_back_and_do_not_depend_on_the_order_of_keys() -> None:
    assert decode(encode(PARTS)) == tuple(PARTS)
    swapped = ToolCall(call_id="k", name="f", arguments={"a": {"x": "y"}, "b": [1, 2.5, None, True]})
    assert encode([swapped]) == encode([PARTS[1]])


def new(*parts: Part, author: str = "", session: str = "") -> NewMessage:
    return NewMessage(id="", role=Role.USER, author=author, session=session, time=None, parts=parts)


@pytest.mark.parametrize(
    ("message", "field"),
    [
        (new(Text(text="x" * 101)), "parts[0].text"),
        (new(Text(text="ü" * 51)), "parts[0].text"),
        (new(Text(text="ok"), Text(text="a\0b")), "parts[1].text"),
        (new(Text(text="\ud800")), "parts[0].text"),
        (new(ToolResult(call_id="k", content="x" * 101)), "parts[0].tool_result.content"),
        (new(ToolResult(call_id="k\0", content="x")), "parts[0].tool_result.call_id"),
        (new(ToolCall(call_id="k", name="f\0", arguments={})), "parts[0].tool_call.name"),
        (new(ToolCall(call_id="k", name="f", arguments={"a": "x" * 50})), "parts[0].tool_call.arguments"),
        (new(ToolCall(call_id="k", name="f", arguments={"a": ["\0"]})), "parts[0].tool_call.arguments"),
        (new(ToolCall(call_id="k", name="f", arguments={"a": float("nan")})), "parts[0].tool_call.arguments"),
        (new(Attachment(uri="u", caption="\0")), "parts[0].attachment.caption"),
        (new(Text(text="x"), author="\0"), "author"),
        (new(Text(text="x"), session="\0"), "session"),
    ],
)
def test_what_cannot_be_stored_is_refused_by_the_path_of_its_field(message: NewMessage, field: str) -> None:
    good = new(Text(text="é" * 50))
    assert len(draft_messages([good, good], 1, LIMITS)) == 2
    with pytest.raises(InvalidField) as caught:
        draft_messages([good, message], 1, LIMITS)
    assert [p.field for p in caught.value.fields] == [f"messages[1].{field}"]


def test_messages_too_large_together_are_refused() -> None:
    with pytest.raises(LimitExceeded):
        draft_messages([new(Text(text="x" * 90))] * 3, 1, LIMITS)
