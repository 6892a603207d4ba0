"""Turns a failed gRPC call into the error of its reason."""

from __future__ import annotations

from collections.abc import Mapping

import grpc
from google.protobuf.message import DecodeError
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status

from palimpsest.errors import (
    CLASS_OF_REASON,
    CallCancelledError,
    CredentialError,
    DeadlineError,
    FieldProblem,
    InternalError,
    LimitExceededError,
    PalimpsestError,
    UnknownMethodError,
    UnreachableError,
)

REASON_PREFIX = "ERROR_REASON_"
DETAILS_KEY = "grpc-status-details-bin"
REQUEST_ID_KEY = "x-request-id"

_CLASS_WITHOUT_DETAILS: Mapping[grpc.StatusCode, type[PalimpsestError]] = {
    grpc.StatusCode.UNAVAILABLE: UnreachableError,
    grpc.StatusCode.DEADLINE_EXCEEDED: DeadlineError,
    grpc.StatusCode.CANCELLED: CallCancelledError,
    grpc.StatusCode.RESOURCE_EXHAUSTED: LimitExceededError,
    grpc.StatusCode.UNIMPLEMENTED: UnknownMethodError,
    grpc.StatusCode.UNAUTHENTICATED: CredentialError,
}


def to_error(failure: grpc.aio.AioRpcError, request_id: str) -> PalimpsestError:
    """The error that the server described; without its details, the one that the code suggests."""
    trailing = dict(failure.trailing_metadata() or ())
    request_id = str(trailing.get(REQUEST_ID_KEY, request_id))
    raw = trailing.get(DETAILS_KEY)
    described = _described(raw, request_id) if isinstance(raw, bytes) else None
    if described is not None:
        return described
    return _CLASS_WITHOUT_DETAILS.get(failure.code(), InternalError)(request_id=request_id)


def is_described(failure: grpc.aio.AioRpcError) -> bool:
    """Whether the service itself said what is wrong."""
    return DETAILS_KEY in dict(failure.trailing_metadata() or ())


def _described(raw: bytes, request_id: str) -> PalimpsestError | None:
    info, bad, retry = ErrorInfo(), BadRequest(), RetryInfo()
    try:
        status = Status.FromString(raw)
        for detail in status.details:
            for target in (info, bad, retry):
                detail.Unpack(target)
    except DecodeError:
        return None
    kind = CLASS_OF_REASON.get(info.reason.removeprefix(REASON_PREFIX))
    if kind is None:
        return None
    return kind(
        status.message,
        fields=[FieldProblem(field=v.field, description=v.description) for v in bad.field_violations],
        metadata=dict(info.metadata),
        retry_after=retry.retry_delay.ToNanoseconds() / 1e9 if retry.HasField("retry_delay") else None,
        request_id=request_id,
    )
