"""Whatever the bytes of a transcript file are, the reader raises nothing but TranscriptError (X-1)."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


SCRAPS = st.sampled_from(
    [
        b'{"role":"user","content":"x"}',
        b'{"messages":[',
        b'{"conversations":[',
        b'{"from":"human","value":"x"}',
        b'"role":',
        b'"id":"a",',
        b"\\ud800",
        b"\\u0000",
        b"\xef\xbb\xbf",
        b"\r\n",
        b"\n",
        b"\0",
        b"\xff",
        b"[" * 70,
        b"1e999",
        b"9" * 400,
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b'"',
        b" ",
    ]
)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda children: (
        st.lists(children, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "role",
                    "content",
                    "messages",
                    "conversations",
                    "from",
                    "value",
                    "type",
                    "text",
                    "image_url",
                    "input_audio",
                    "data",
                    "file",
                    "file_data",
                    "tool_calls",
                    "tool_call_id",
                    "function",
                    "function_call",
                    "name",
                    "arguments",
                    "time",
                    "id",
                    "url",
                ]
            ),
            children
            | st.sampled_from(
                ["user", "assistant", "tool", "human", "text", "image_url", "file", "input_audio"]
            ),
            max_size=4,
        )
    ),
    max_leaves=12,
)


class TestAnyBytes:
    """Whatever the bytes are, the parser raises nothing but TranscriptError."""

    @given(st.one_of(st.binary(max_size=200), st.lists(SCRAPS, max_size=12).map(b"".join)))
    def test_bytes_give_messages_or_errors(self, data: bytes) -> None:
        check_items(data)

    @given(st.lists(JSON_VALUES, max_size=3), st.sampled_from(list(TranscriptFormat)))
    def test_json_gives_messages_or_errors(self, values: list[Any], file_format: TranscriptFormat) -> None:
        for data in (json.dumps(values, indent=1), "\n".join(map(json.dumps, values))):
            check_items(data.encode(), file_format=file_format)

    @given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), max_size=4))
    def test_text_comes_back_as_written(self, contents: list[str]) -> None:
        written = [content for content in contents if content.strip()]
        data = "\n".join(
            json.dumps({"role": "user", "content": content}, ensure_ascii=False) for content in written
        )
        assert texts([item for item in scan(data) if isinstance(item, TranscriptMessage)]) == written


def check_items(data: bytes, **options: Any) -> None:
    items = scan(data, **options)
    assert items
    newlines = data.count(b"\n") + 1
    for item in items:
        assert 1 <= item.line <= newlines
        if isinstance(item, TranscriptMessage):
            assert item.parts
            repr(item).encode("utf-8")
    errors = [item for item in items if isinstance(item, TranscriptError)]
    if errors:
        assert str(failure(data, **options)) == str(errors[0])
    else:
        assert read(data, **options) == items
