"""Server-sent events, as much of them as completions use.

Source: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
"""

from __future__ import annotations

import re

LINE_END = re.compile(rb"\r\n|\n|\r")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class EventParser:
    """Takes bytes as they come, gives the data of events that are complete."""

    def __init__(self) -> None:
        self._line: list[bytes] = []
        self._data: list[bytes] = []
        self._after_return = False
        self._first = True

    def feed(self, chunk: bytes) -> list[bytes]:
        """The data of the events that end in `chunk`; an event without data is none."""
        if self._after_return and chunk:
            chunk = chunk.removeprefix(b"\n")  # of a line end that was cut in two
            self._after_return = False
        if not chunk:
            return []
        self._after_return = chunk.endswith(b"\r")
        head, *rest = LINE_END.split(chunk)
        self._line.append(head)
        events: list[bytes] = []
        for beginning in rest:
            self._end_line(events)
            self._line = [beginning]
        return events

    def _end_line(self, events: list[bytes]) -> None:
        line = b"".join(self._line)
        if self._first:
            line, self._first = line.removeprefix(BYTE_ORDER_MARK), False
        if not line:
            if self._data:
                events.append(b"\n".join(self._data))
            self._data = []
            return
        field, _, value = line.partition(b":")
        if field == b"data":
            self._data.append(value.removeprefix(b" "))
