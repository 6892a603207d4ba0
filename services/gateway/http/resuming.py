"""Streams that go on where they were left: ids of their events, and `Last-Event-ID`."""

from __future__ import annotations

from typing import Any

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message

from services.kit.errors import InvalidField

HEADER = "last-event-id"
MAX_TOKEN = 1024
PAIRS = (("resume_token", "resume_token"), ("version", "after_version"))
"""What an event is resumed by: a field of the response, and the field of the request that takes it."""


def event_id(response: Message, request: Descriptor) -> str:
    """The id of an event; "" where the stream cannot be resumed."""
    pair = _pair(response.DESCRIPTOR, request)
    return str(getattr(response, pair[0])) if pair else ""


def resume(request: Message, response: Descriptor, last: str) -> None:
    """Makes the request go on after the event with the id `last`. Raises InvalidField."""
    pair = _pair(response, request.DESCRIPTOR)
    if pair is None or not last:
        return
    try:
        if len(last) > MAX_TOKEN:
            raise ValueError(last)
        setattr(request, pair[1], int(last) if isinstance(getattr(request, pair[1]), int) else last)
    except ValueError as error:
        raise InvalidField(HEADER, "is no id of an event of this stream") from error


def _pair(response: Any, request: Any) -> tuple[str, str] | None:
    for from_field, to_field in PAIRS:
        if from_field in response.fields_by_name and to_field in request.fields_by_name:
            return from_field, to_field
    return None
