"""Errors and results as HTTP answers."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import grpc
from google.protobuf.duration_pb2 import Duration
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status

from services.kit.errors import PalimpsestError
from services.kit.status import from_rpc_error, sent_status, to_status

JSON_TYPE = "application/json"
HTTP_OF_CODE: Final[Mapping[int, int]] = {
    code.value[0]: status
    for code, status in {
        grpc.StatusCode.OK: 200,
        grpc.StatusCode.CANCELLED: 499,
        grpc.StatusCode.UNKNOWN: 500,
        grpc.StatusCode.INVALID_ARGUMENT: 400,
        grpc.StatusCode.DEADLINE_EXCEEDED: 504,
        grpc.StatusCode.NOT_FOUND: 404,
        grpc.StatusCode.ALREADY_EXISTS: 409,
        grpc.StatusCode.PERMISSION_DENIED: 403,
        grpc.StatusCode.RESOURCE_EXHAUSTED: 429,
        grpc.StatusCode.FAILED_PRECONDITION: 400,
        grpc.StatusCode.ABORTED: 409,
        grpc.StatusCode.OUT_OF_RANGE: 400,
        grpc.StatusCode.UNIMPLEMENTED: 501,
        grpc.StatusCode.INTERNAL: 500,
        grpc.StatusCode.UNAVAILABLE: 503,
        grpc.StatusCode.DATA_LOSS: 500,
        grpc.StatusCode.UNAUTHENTICATED: 401,
    }.items()
}
"""As google/rpc/code.proto says."""
COMMON_HEADERS = {"cache-control": "no-store", "x-content-type-options": "nosniff"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What is sent back, whole."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


class Refused(Exception):
    """A request that HTTP has a status of its own for."""

    def __init__(self, status: int, error: PalimpsestError, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(error.message)
        self.status = status
        self.error = error
        self.headers = dict(headers or {})


def result(message: Message) -> Answer:
    """A call's response."""
    return Answer(status=200, body=dump(message))


def dump(message: Message) -> bytes:
    """A message as JSON on one line."""
    return _text(MessageToDict(message))


def failed(error: PalimpsestError) -> Answer:
    """An error that was raised here."""
    return of_status(to_status(error))


def refused(error: Refused) -> Answer:
    """As `failed`, with the status that HTTP has for it; the rest of the request is not read."""
    headers = {"connection": "close", **error.headers}
    return of_status(to_status(error.error), code=error.status, extra=headers)


def status_of(error: grpc.aio.AioRpcError) -> Status:
    """The status that a call ended with, whole; one that was not sent is made from its code."""
    sent = sent_status(error)
    return to_status(from_rpc_error(error)) if sent is None else sent


def of_status(status: Status, *, code: int | None = None, extra: Mapping[str, str] | None = None) -> Answer:
    """A status as JSON, under the HTTP status of its code or another."""
    code = code or HTTP_OF_CODE.get(status.code, 500)
    headers = dict(extra or {})
    if (seconds := _retry_seconds(status)) is not None:
        headers["retry-after"] = str(max(1, math.ceil(seconds)))
    if code == HTTP_OF_CODE[grpc.StatusCode.UNAUTHENTICATED.value[0]]:
        headers["www-authenticate"] = 'Bearer realm="palimpsest"'
    return Answer(status=code, body=status_json(status), headers=headers)


def status_json(status: Status) -> bytes:
    """google.rpc.Status as JSON on one line."""
    document = MessageToDict(status)
    return _text({"code": status.code, "message": status.message, "details": document.get("details", [])})


def _retry_seconds(status: Status) -> float | None:
    info = RetryInfo()
    for detail in status.details:
        if detail.Unpack(info):
            delay: Duration = info.retry_delay
            return delay.ToNanoseconds() / 1e9
    return None


def _text(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
