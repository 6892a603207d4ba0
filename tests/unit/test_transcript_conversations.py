"""Transcript files that hold whole conversations: OpenAI-style lists, ShareGPT (docs/ingest-formats.md)."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest

from palimpsest.transcripts import (
    TextPart,
    TranscriptError,
    TranscriptFormat,
    TranscriptMessage,
    read_transcript,
    scan_transcript,
)


def read(data: bytes | str, **options: Any) -> list[TranscriptMessage]:
    raw = data.encode() if isinstance(data, str) else data
    return list(read_transcript(io.BytesIO(raw), **options))


def scan(data: bytes | str, **options: Any) -> list[TranscriptMessage | TranscriptError]:
    raw = data.encode() if isinstance(data, str) else data
    return list(scan_transcript(io.BytesIO(raw), **options))


def failure(data: bytes | str, **options: Any) -> TranscriptError:
    with pytest.raises(TranscriptError) as caught:
        read(data, **options)
    return caught.value


def texts(messages: list[TranscriptMessage]) -> list[str]:
    return [part.text for message in messages for part in message.parts if isinstance(part, TextPart)]


GOOD = b'{"role": "user", "content": "fine"}'


def openai_document(indent: int | None) -> str:
    return json.dumps(
        {
            "id": 7,
            "messages": [
                {"role": "user", "content": "a", "name": "Eva"},
                {"role": "assistant", "content": "b"},
            ],
        },
        indent=indent,
    )


class TestConversations:
    def test_an_indented_document_gives_each_message_its_line(self) -> None:
        messages = read(openai_document(indent=1))
        assert [(message.conversation, message.line) for message in messages] == [("7", 4), ("7", 9)]
        assert messages[0].author == "Eva"

    def test_a_compact_document_holds_the_same_messages(self) -> None:
        compact, indented = read(openai_document(indent=None)), read(openai_document(indent=2))
        assert [message.parts for message in compact] == [message.parts for message in indented]
        assert {message.conversation for message in compact} == {"7"}

    def test_the_last_of_two_equal_keys_counts_and_gives_the_lines(self) -> None:
        data = '{"messages": [\n{"role": "user", "content": "a"}],\n"messages": [\n' + GOOD.decode() + "]}"
        assert [(message.line, *texts([message])) for message in read(data)] == [(4, "fine")]

    @pytest.mark.parametrize("indent", [None, 2])
    def test_a_bare_list_is_one_conversation(self, indent: int | None) -> None:
        rows = [{"role": "system", "content": "a"}, {"role": "user", "content": "b"}]
        messages = read(json.dumps(rows, indent=indent))
        assert texts(messages) == ["a", "b"]
        assert {message.conversation for message in messages} == {None}

    def test_fine_tuning_lines_are_a_conversation_each(self) -> None:
        rows = [json.dumps({"messages": [{"role": "user", "content": text}]}) for text in ("a", "b")]
        messages = read("\n\n".join(rows))
        assert [(message.conversation, message.line) for message in messages] == [
            ("line-1", 1),
            ("line-3", 3),
        ]

    def test_the_message_of_a_conversation_is_named(self) -> None:
        rows = {
            "messages": [{"role": "user", "content": "a"}, {"role": "user"}, {"role": "user", "content": "c"}]
        }
        first, error, last = scan(json.dumps(rows))
        assert isinstance(error, TranscriptError)
        assert error.reason == "message 2: missing content"
        assert isinstance(first, TranscriptMessage)
        assert isinstance(last, TranscriptMessage)

    @pytest.mark.parametrize("wrap", ["single", "list", "lines", "indented"])
    def test_sharegpt_single_list_and_lines(self, wrap: str) -> None:
        one = {
            "conversations": [
                {"from": "system", "value": "s"},
                {"from": "human", "value": "h"},
                {"from": "gpt", "value": "g"},
                {"from": "tool", "value": "t"},
            ],
            "id": "first",
        }
        two = {"id": "second", "conversations": [{"from": "human", "value": "h2"}]}
        render: dict[str, Callable[[], str]] = {
            "single": lambda: json.dumps(one),
            "list": lambda: json.dumps([one, two]),
            "lines": lambda: f"{json.dumps(one)}\n{json.dumps(two)}\n",
            "indented": lambda: json.dumps([one, two], indent=2),
        }
        messages = read(render[wrap]())
        assert [message.role for message in messages[:4]] == ["system", "user", "assistant", "tool"]
        assert [message.conversation for message in messages] == ["first"] * 4 + ["second"] * (
            wrap != "single"
        )

    def test_an_empty_conversation_in_a_list_does_not_hide_the_next(self) -> None:
        data = '[{"conversations": []},\n {"conversations": [{"from": "human", "value": "h"}]}]'
        error, message = scan(data)
        assert isinstance(error, TranscriptError)
        assert error.line == 1
        assert isinstance(message, TranscriptMessage)
        assert message.line == 2

    @pytest.mark.parametrize(
        ("turn", "reason"),
        [
            ({"value": "x"}, "missing from"),
            ({"from": "narrator", "value": "x"}, "unknown sender"),
            ({"from": "human"}, "missing value"),
            ({"from": "human", "value": ""}, "empty content"),
            ({"from": "human", "value": 1}, "value must be a string"),
            (3, "not a JSON object"),
        ],
    )
    def test_bad_sharegpt_turns(self, turn: object, reason: str) -> None:
        error = failure(json.dumps({"conversations": [turn]}))
        assert error.reason == f"message 1: {reason}" or error.reason.startswith(f"message 1: {reason}:")

    def test_a_syntax_error_in_a_document_has_its_line_and_column(self) -> None:
        error = failure('\n[\n  {"role": "user", "content": "a"}\n  {"role": "user", "content": "b"}\n]')
        assert (error.line, error.column) == (4, 3)

    def test_invalid_utf8_in_a_document_has_its_line(self) -> None:
        error = failure(b'[\n{"role": "user",\n"content": "\xc3"}]')
        assert (error.line, error.column, error.byte_offset) == (3, 13, 31)

    def test_a_forced_format_is_not_guessed(self) -> None:
        sharegpt = '{"conversations": [{"from": "human", "value": "h"}]}'
        assert texts(read(sharegpt, file_format=TranscriptFormat.SHAREGPT)) == ["h"]
        assert failure(sharegpt, file_format=TranscriptFormat.JSONL).reason == "missing role"
        assert failure(sharegpt, file_format=TranscriptFormat.OPENAI).reason.startswith("messages must")
        assert failure(GOOD, file_format=TranscriptFormat.SHAREGPT).reason.startswith("conversations must")
