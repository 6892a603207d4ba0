"""Transcript messages on their way to the service: nothing that it would refuse gets through."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from palimpsest.gateway.v1 import conversations_pb2

from palimpsest import models
from palimpsest.cli.ingest_file import MAX_ID, safe_id
from palimpsest.client import outgoing
from palimpsest.client.transcripts import first_problem, to_new_message
from palimpsest.transcripts import (
    AttachmentPart,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    TranscriptMessage,
)
from services.kit.errors import PalimpsestError
from services.kit.identity import Principal, Role
from services.kit.validation import check_request

WRITER = Principal(tenant="t", role=Role.WRITER, agents=None, subject="test")

_texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
_names = st.one_of(_texts, st.sampled_from(["", "a" * 128, "a" * 129, "é" * 256, "é" * 257, "u" * 2049]))
_numbers = st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.just(10**400))
_parts: st.SearchStrategy[Part] = st.one_of(
    st.builds(TextPart, text=_texts.filter(str.strip)),
    st.builds(
        ToolCallPart,
        call_id=_names,
        name=_names,
        arguments=st.dictionaries(_texts, st.one_of(_texts, _numbers), max_size=3).map(json.dumps),
    ),
    st.builds(ToolResultPart, call_id=_names, content=_texts),
    st.builds(
        AttachmentPart,
        uri=_names,
        data=st.none(),
        media_type=st.one_of(st.none(), _names),
        name=st.one_of(st.none(), _names),
        caption=st.one_of(st.none(), _names, st.just("c" * 4097)),
    ),
)
_messages = st.builds(
    TranscriptMessage,
    conversation=st.none(),
    line=st.just(1),
    id=st.one_of(st.none(), st.text("aZ0._:-", min_size=1, max_size=5), _names.filter(bool)),
    role=st.sampled_from(["system", "user", "assistant", "tool"]),
    author=st.one_of(st.none(), _names),
    session=st.one_of(st.none(), _names),
    time=st.none(),
    parts=st.one_of(st.lists(_parts, min_size=1, max_size=3).map(tuple), st.just((TextPart(text="x"),) * 65)),
)


def message(*parts: Part, **more: Any) -> TranscriptMessage:
    given_: dict[str, Any] = {"id": None, "role": "user", "author": None, "session": None, "time": None}
    return TranscriptMessage(conversation=None, line=1, parts=parts, **given_ | more)


def accepted(value: TranscriptMessage) -> bool:
    """Whether the rules in the protos let the message through."""
    try:
        message = outgoing.new_message(to_new_message(value))
        request = conversations_pb2.RecordTurnRequest(agent_id="a", conversation_id="c", messages=[message])
        check_request(request, WRITER)
    except (PalimpsestError, ValueError, OverflowError):
        return False
    return True


@given(_messages)
def test_the_check_before_storing_agrees_with_the_rules_of_the_protos(value: TranscriptMessage) -> None:
    """All or nothing: a line that passes the check is not refused by the service."""
    problem = first_problem(value)
    if problem is None:
        assert accepted(value)
    else:
        assert not accepted(value)


def test_texts_are_measured_in_bytes() -> None:
    """X-2."""
    assert first_problem(message(TextPart(text="é" * 16384))) is None
    assert first_problem(message(TextPart(text="é" * 16384 + "x"))) == "a text is over 32768 bytes"
    assert first_problem(message(TextPart(text="abc")), text_bytes=2) == "a text is over 2 bytes"
    result = ToolResultPart(call_id="1", content="abc")
    assert first_problem(message(result), text_bytes=2) == "a tool's result is over 2 bytes"


def test_parts_become_parts() -> None:
    parts = (
        TextPart(text="look"),
        ToolCallPart(call_id="1", name="f", arguments='{"x": [1, null]}'),
        ToolResultPart(call_id="1", content=""),
        AttachmentPart(uri="sha256:00", data=b"x", media_type=None, name="a.png", caption=None),
    )
    assert to_new_message(message(*parts)).content == [
        models.TextPart("look"),
        models.ToolCall(call_id="1", name="f", arguments={"x": [1, None]}),
        models.ToolResult(call_id="1", content=""),
        models.Attachment(uri="sha256:00", caption="a.png"),
    ]


@pytest.mark.parametrize("good", ["a", "a.b:c-d_e", "x" * MAX_ID])
def test_an_id_that_will_do_stays(good: str) -> None:
    assert safe_id(good) == good


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(exclude_categories=["Cs"])))
def test_any_name_becomes_an_id_and_different_names_different_ones(one: str, other: str) -> None:
    assert set(safe_id(one)) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-")
    assert 1 <= len(safe_id(one)) <= MAX_ID
    assert (safe_id(one) == safe_id(other)) == (one == other)
