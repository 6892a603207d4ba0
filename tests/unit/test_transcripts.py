"""Reading transcript files: formats, exact places of errors, bounded memory (docs/ingest-formats.md, X-1)."""

from __future__ import annotations

import base64
import hashlib
import io
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from palimpsest.transcripts import (
    AttachmentPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    TranscriptError,
    TranscriptLimits,
    TranscriptMessage,
    read_transcript,
    scan_transcript,
)

GOOD = b'{"role": "user", "content": "fine"}'


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


def line(**fields: Any) -> str:
    return json.dumps({"role": "user", "content": "fine"} | fields, ensure_ascii=False)


class TestJsonLines:
    def test_every_field_of_a_line_is_read(self) -> None:
        fields = {"id": "m1", "author": "Eva", "session": "s1", "time": "2026-03-02T08:15:00Z"}
        assert read(line(**fields)) == [
            TranscriptMessage(
                conversation=None,
                line=1,
                id="m1",
                role="user",
                author="Eva",
                session="s1",
                time=datetime(2026, 3, 2, 8, 15, tzinfo=UTC),
                parts=(TextPart(text="fine"),),
            )
        ]

    def test_optional_fields_may_be_absent_null_or_empty(self) -> None:
        (message,) = read(line(id=None, author="", time=None))
        assert (message.id, message.author, message.session, message.time) == (None, None, None, None)

    def test_byte_order_mark_crlf_and_blank_lines_are_accepted_and_counted(self) -> None:
        messages = read(b"\xef\xbb\xbf" + GOOD + b"\r\n\r\n \t\n" + GOOD)
        assert [message.line for message in messages] == [1, 4]

    @pytest.mark.parametrize(
        ("written", "expected"),
        [
            ("2026-03-02T08:15:00", datetime(2026, 3, 2, 8, 15, tzinfo=UTC)),
            ("2026-03-02T08:15:00+02:00", datetime(2026, 3, 2, 6, 15, tzinfo=UTC)),
            ("2026-03-02 08:15:00.25z", datetime(2026, 3, 2, 8, 15, 0, 250_000, tzinfo=UTC)),
        ],
    )
    def test_times_are_in_utc_and_naive_ones_taken_as_utc(self, written: str, expected: datetime) -> None:
        (message,) = read(line(time=written))
        assert message.time == expected
        assert message.time is not None
        assert message.time.tzinfo is UTC

    @pytest.mark.parametrize(
        "written",
        [
            "yesterday",
            "2026-13-02T08:15:00Z",
            "2026-03-02",
            "0001-01-01T00:00:00+05:00",
            1772439300,
            "٢٠٢٦-03-02T08:15Z",
        ],
    )
    def test_a_bad_time_is_named_with_its_line(self, written: object) -> None:
        error = failure(GOOD + b"\n" + line(time=written).encode())
        assert error.line == 2
        assert error.reason.startswith("bad time")

    def test_a_tool_call_and_its_result(self) -> None:
        call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"q": 1}'}}
        data = "\n".join(
            [
                line(role="assistant", content=None, tool_calls=[call]),
                line(role="tool", content="42", tool_call_id="c1"),
                line(role="tool", content="", tool_call_id="c1"),
            ]
        )
        assert [message.parts for message in read(data)] == [
            (ToolCallPart(call_id="c1", name="find", arguments='{"q": 1}'),),
            (ToolResultPart(call_id="c1", content="42"),),
            (ToolResultPart(call_id="c1", content=""),),
        ]

    def test_content_parts_keep_their_order(self) -> None:
        sound = b"RIFF"
        content = [
            {"type": "text", "text": "look"},
            {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}, "caption": "a pier"},
            {
                "type": "input_audio",
                "input_audio": {"data": base64.b64encode(sound).decode(), "format": "wav"},
            },
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAEC"}},
        ]
        (message,) = read(line(content=content))
        text, picture, audio, inline = message.parts
        assert text == TextPart(text="look")
        assert picture == AttachmentPart(
            uri="https://example.org/a.png", data=None, media_type=None, name=None, caption="a pier"
        )
        assert isinstance(audio, AttachmentPart)
        assert (audio.data, audio.media_type) == (sound, "audio/wav")
        assert audio.uri == f"sha256:{hashlib.sha256(sound).hexdigest()}"
        assert isinstance(inline, AttachmentPart)
        assert (inline.data, inline.media_type) == (b"\x00\x01\x02", "image/png")

    def test_an_unfinished_first_line_of_a_message_is_truncated_not_a_document(self) -> None:
        for cut in ('{"role": "user",', '{"role": "user", "content":', '{"role": "user", "cont'):
            error = failure(cut + "\n" + line())
            assert (error.line, error.reason) == (1, "truncated JSON")


class TestBadLines:
    @pytest.mark.parametrize(
        ("bad", "reason"),
        [
            ('{"role": "user", "content": "cut of', "truncated JSON"),
            ('{"role": "user" "content": "x"}', "invalid JSON"),
            ('{"role": "user", "content": "x"} {}', "invalid JSON: extra data"),
            ('{"role": "user", "content": "x", "n": NaN}', "invalid JSON: number"),
            ('{"role": "user", "content": "x", "n": 1e999}', "invalid JSON: number"),
            ('{"role": "user", "content": "x", "n": ' + "9" * 5000 + "}", "invalid JSON: number"),
            ('{"role": "user", "content": "x", "n": ' + "9" * 400 + "}", "invalid JSON: number"),
            ("7", "not a JSON object"),
            ('["role"]', "not a JSON object"),
            ('{"content": "x"}', "missing role"),
            ('{"role": "narrator", "content": "x"}', "unknown role"),
            ('{"role": ["user"], "content": "x"}', "unknown role"),
            ('{"role": "user"}', "missing content"),
            ('{"role": "user", "content": null}', "missing content"),
            ('{"role": "user", "content": " \\n"}', "empty content"),
            ('{"role": "user", "content": []}', "empty content"),
            ('{"role": "user", "content": [{"type": "text", "text": ""}]}', "empty content"),
            ('{"role": "user", "content": 5}', "content must be"),
            ('{"role": "user", "content": [{"type": "hologram"}]}', "unknown type"),
            ('{"role": "user", "content": [{"type": "image_url"}]}', "image_url must"),
            ('{"role": "user", "content": "\\ud800"}', "lone surrogate"),
            ('{"role": "user", "content": "x", "\\udfff": 1}', "lone surrogate"),
            ('{"role": "user", "content": "a\\u0000b"}', "NUL character"),
            ('{"role": "user", "content": "x", "author": 3}', "author must be a string"),
            ('{"role": "user", "content": "x", "tool_call_id": "c"}', "tool_call_id belongs"),
            ('{"role": "user", "content": "x", "tool_calls": 1}', "tool_calls must be a list"),
            ('{"role": "user", "content": "x", "e": ' + "[" * 64 + "]" * 64 + "}", "nested deeper than 64"),
            (
                '{"role": "user", "content": "x", "e": ' + "[" * 90_000 + "]" * 90_000 + "}",
                "nested deeper than 64",
            ),
            ('{"messages": []}', "messages holds no messages"),
            ('{"messages": "none"}', "messages must be a list"),
        ],
    )
    def test_the_reason_and_the_exact_line(self, bad: str, reason: str) -> None:
        """The good lines around it are the control: skipping yields them."""
        found = scan(b"\n".join([GOOD, b"", bad.encode(), GOOD]))
        first, error, last = found
        assert isinstance(error, TranscriptError)
        assert error.reason.startswith(reason)
        assert error.line == 3
        assert texts([item for item in (first, last) if isinstance(item, TranscriptMessage)]) == [
            "fine",
            "fine",
        ]

    @pytest.mark.parametrize(
        "arguments", ["{", "[1]", '{"a": NaN}', '{"a": "\\ud800"}', '{"a": ' * 70 + "1" + "}" * 70, 5]
    )
    def test_tool_arguments_that_no_store_takes(self, arguments: object) -> None:
        call = {"id": "c1", "function": {"name": "find", "arguments": arguments}}
        assert failure(line(role="assistant", tool_calls=[call])).line == 1

    def test_depth_within_the_limit_is_read(self) -> None:
        assert texts(read('{"role": "user", "content": "x", "e": ' + "[" * 63 + "]" * 63 + "}")) == ["x"]

    def test_invalid_utf8_names_line_column_and_byte_offset(self) -> None:
        bad = '{"role": "user", "content": "Å'.encode() + b'\xff"}'
        error = failure(GOOD + b"\n" + bad)
        assert (error.line, error.column) == (2, 31)
        assert error.byte_offset == len(GOOD) + 1 + 31
        assert "invalid UTF-8" in error.reason

    def test_a_nul_byte_is_named(self) -> None:
        error = failure(b"\xef\xbb\xbf" + GOOD + b"\n" + GOOD + b"\0")
        assert (error.line, error.column) == (2, len(GOOD) + 1)
        assert error.byte_offset == 3 + 2 * len(GOOD) + 1

    def test_syntax_errors_have_a_column(self) -> None:
        assert failure('{"role": "user" "content": "x"}').column == 17

    def test_the_reason_quotes_nothing_from_the_file(self) -> None:
        """X-3: an error may be logged."""
        for bad in (line(role="hunter2"), line(time="hunter2"), line(content=[{"type": "hunter2"}])):
            assert "hunter2" not in str(failure(bad))

    @pytest.mark.parametrize("data", [b"", b"\n\r\n  ", b"\xef\xbb\xbf", b"[]", b"[\n]"])
    def test_a_file_without_messages_is_an_error(self, data: bytes) -> None:
        assert failure(data).reason == "no messages"


class TestLineLimit:
    def test_a_line_of_exactly_the_limit_is_read_with_any_ending(self) -> None:
        limits = TranscriptLimits(line_bytes=len(GOOD))
        for ending in (b"", b"\n", b"\r\n"):
            assert len(read(b"\xef\xbb\xbf" + GOOD + ending, limits=limits)) == 1

    @pytest.mark.parametrize("ending", [b"", b"\n", b"\r\n"])
    def test_one_byte_more_than_the_limit_is_refused(self, ending: bytes) -> None:
        limits = TranscriptLimits(line_bytes=len(GOOD))
        assert failure(GOOD + b" " + ending, limits=limits).reason == f"the line is over {len(GOOD)} bytes"

    def test_a_longer_line_is_skipped_whole_and_the_next_is_read(self) -> None:
        limits = TranscriptLimits(line_bytes=len(GOOD))
        long = line(content="x" * 300_000).encode()
        _, error, last = scan(GOOD + b"\r\n" + long + b"\r\n" + GOOD, limits=limits)
        assert isinstance(error, TranscriptError)
        assert (error.line, error.reason) == (2, f"the line is over {len(GOOD)} bytes")
        assert isinstance(last, TranscriptMessage)
        assert last.line == 3

    def test_the_limit_counts_bytes_not_characters(self) -> None:
        data = line(content="汉字")
        limits = TranscriptLimits(line_bytes=len(data) + 1)
        assert len(data.encode()) > limits.line_bytes > len(data)
        assert "over" in failure(data, limits=limits).reason

    def test_no_read_asks_for_more_than_the_limit_and_a_margin(self) -> None:
        """An endless line is refused after a bounded read; lines are yielded before the next is read."""
        stream = EndlessLine(GOOD + b"\n")
        items = scan_transcript(stream, limits=TranscriptLimits(line_bytes=4096))
        assert isinstance(next(items), TranscriptMessage)
        assert stream.served <= len(GOOD) + 1
        assert isinstance(next(items), TranscriptError)
        assert stream.served <= len(GOOD) + 1 + 4096 + 8

    def test_a_document_over_its_limit_is_refused(self) -> None:
        limits = TranscriptLimits(document_bytes=200)
        assert len(read(b"[" + GOOD + b"]", limits=limits)) == 1
        assert "over 200 bytes" in failure(b"[" + b",\n".join([GOOD] * 9) + b"]", limits=limits).reason


class EndlessLine(io.BytesIO):
    """The given lines, then a line without end; counts what was read."""

    served = 0

    def readline(self, size: int | None = -1, /) -> bytes:
        assert size is not None
        assert size > 0
        piece = super().readline(size) or b"x" * size
        self.served += len(piece)
        return piece


class TestDuplicateIds:
    def test_the_same_id_with_other_content_names_both_lines(self) -> None:
        error = failure("\n".join([line(id="a"), line(id="b"), line(id="a", content="other")]))
        assert (error.line, error.reason) == (3, "the id of line 1 again, with other content")

    def test_the_same_id_with_the_same_content_is_no_error(self) -> None:
        """E-2: storing it again adds nothing."""
        assert len(read("\n".join([line(id="a"), line(id="a")]))) == 2

    def test_ids_are_unique_within_a_conversation_only(self) -> None:
        rows = [{"messages": [{"role": "user", "content": text, "id": "1"}]} for text in ("a", "b")]
        assert texts(read("\n".join(map(json.dumps, rows)))) == ["a", "b"]

    def test_at_least_the_window_of_ids_is_remembered(self) -> None:
        limits = TranscriptLimits(id_window=3)
        rows = [line(id=f"m{n}") for n in range(3)]
        assert failure("\n".join([*rows, line(id="m0", content="other")]), limits=limits).line == 4
        later = [line(id=f"m{n}") for n in range(5)]
        assert failure("\n".join([*later, line(id="m2", content="other")]), limits=limits).line == 6
        many = [line(id=f"m{n}") for n in range(7)]
        assert len(read("\n".join([*many, line(id="m0", content="other")]), limits=limits)) == 8
