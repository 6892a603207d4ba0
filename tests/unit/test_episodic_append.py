"""What an append adds, finds, or refuses, without a store (SPEC E-2, X-2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.kit.errors import Exists, InvalidField, LimitExceeded, ParentConflict
from services.memory.episodic.domain.append import (
    Append,
    Draft,
    Known,
    Outcome,
    Plan,
    derive_id,
    from_runs,
    plan_append,
    request_digest,
    tenant_key,
    to_runs,
)
from services.memory.episodic.domain.checks import Limits, draft_messages
from services.memory.episodic.domain.model import Conversation, ConversationKey, Message, NewMessage, Role
from services.memory.episodic.domain.parts import (
    Attachment,
    Part,
    Text,
    ToolCall,
    ToolResult,
    decode,
    encode,
)

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
    """A conversation that plans are carried out on."""

    def __init__(self) -> None:
        self.conversation = EMPTY
        self.messages: list[Message] = []

    def find(self, message_id: str) -> Known | None:
        for m in self.messages:
            if m.id == message_id:
                return Known(sequence=m.sequence, role=m.role, author=m.author, content=m.content)
        return None

    def append(self, *drafts: Draft, parent_id: str | None = None) -> Plan:
        wanted = Append(key=KEY, drafts=drafts, parent_id=parent_id, request_id="", now=1)
        plan = plan_append(wanted, self.conversation, SECRET, self.find)
        self.messages.extend(plan.new)
        if self.messages:
            self.conversation = replace(
                self.conversation,
                stored_count=len(self.messages),
                leaf_id=self.messages[-1].id,
                authors=plan.authors,
            )
        return plan


@settings(deadline=None)
@given(st.lists(st.sampled_from(["yes", "no", "why"]), min_size=1, max_size=20), st.integers(1, 20))
def test_ingesting_again_from_the_root_or_in_chunks_adds_nothing(texts: list[str], size: int) -> None:
    thread = Thread()
    first = thread.append(*map(draft, texts), parent_id="")
    assert [o.sequence for o in first.outcomes] == list(range(1, len(texts) + 1))
    again = thread.append(*map(draft, texts), parent_id="")
    assert [(o.message_id, o.created) for o in again.outcomes] == [
        (o.message_id, False) for o in first.outcomes
    ]
    parent = ""
    for begin in range(0, len(texts), size):
        chunk = thread.append(*map(draft, texts[begin : begin + size]), parent_id=parent)
        assert not chunk.new
        parent = chunk.outcomes[-1].message_id
    assert len(thread.messages) == len(texts)


def test_a_longer_transcript_adds_only_what_is_new() -> None:
    thread = Thread()
    thread.append(draft("a"), draft("b"), parent_id="")
    plan = thread.append(draft("a"), draft("b"), draft("c"), parent_id="")
    assert [o.created for o in plan.outcomes] == [False, False, True]
    assert [m.parent_id for m in thread.messages] == ["", thread.messages[0].id, thread.messages[1].id]


def test_saying_the_same_twice_is_two_messages() -> None:
    thread = Thread()
    thread.append(draft("yes"))
    thread.append(draft("yes"))
    assert len({m.id for m in thread.messages}) == 2


def test_a_new_message_must_follow_the_newest_one() -> None:
    thread = Thread()
    first = thread.append(draft("a"), draft("b")).outcomes[0].message_id
    for parent in ("", first):
        with pytest.raises(ParentConflict) as caught:
            thread.append(draft("other"), parent_id=parent)
        assert [p.field for p in caught.value.fields] == ["parent_id"]
    with pytest.raises(ParentConflict):
        thread.append(draft("other"), parent_id="unknown")
    assert len(thread.messages) == 2


def test_an_own_id_with_the_same_content_is_stored_once_and_with_other_content_refused() -> None:
    thread = Thread()
    thread.append(draft("a", "x"), draft("b", "y"))
    assert [o.sequence for o in thread.append(draft("a", "x"), draft("b", "y")).outcomes] == [1, 2]
    for other in (draft("other", "y"), draft("b", "y", author="Bob")):
        with pytest.raises(Exists) as caught:
            thread.append(draft("a", "x"), other)
        assert [p.field for p in caught.value.fields] == ["messages[1].id"]


def test_an_own_id_twice_in_one_batch() -> None:
    thread = Thread()
    assert len(thread.append(draft("a", "x"), draft("a", "x")).new) == 1
    with pytest.raises(Exists):
        Thread().append(draft("a", "x"), draft("b", "x"))


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
def test_runs_hold_every_outcome(pairs: list[tuple[int, bool]]) -> None:
    outcomes = [Outcome(message_id="", sequence=n, created=created) for n, created in pairs]
    assert from_runs(to_runs(outcomes)) == pairs


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
