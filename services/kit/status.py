"""Errors as gRPC statuses and back: google.rpc.Status with ErrorInfo, BadRequest, RetryInfo (SPEC X-1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import grpc
from google.protobuf.any_pb2 import Any
from google.protobuf.message import DecodeError
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status

from services.kit import errors
from services.kit.errors import FieldProblem, PalimpsestError, Reason

ERROR_DOMAIN = "palimpsest"
REASON_PREFIX = "ERROR_REASON_"
DETAILS_KEY = "grpc-status-details-bin"
REQUEST_ID_KEY = "x-request-id"

CODE_OF_REASON: Final[Mapping[Reason, grpc.StatusCode]] = {
    Reason.INVALID_FIELD: grpc.StatusCode.INVALID_ARGUMENT,
    Reason.INVALID_PAGE_TOKEN: grpc.StatusCode.INVALID_ARGUMENT,
    Reason.TEXT_TOO_LONG: grpc.StatusCode.INVALID_ARGUMENT,
    Reason.RESOURCE_NOT_FOUND: grpc.StatusCode.NOT_FOUND,
    Reason.RESOURCE_EXISTS: grpc.StatusCode.ALREADY_EXISTS,
    Reason.PARENT_CONFLICT: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.JOB_STATE: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.BUDGET_TOO_SMALL: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.STATE_CONFLICT: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.VERSION_CONFLICT: grpc.StatusCode.ABORTED,
    Reason.OVERLOADED: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Reason.LIMIT_EXCEEDED: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Reason.RATE_LIMITED: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Reason.CREDENTIAL_INVALID: grpc.StatusCode.UNAUTHENTICATED,
    Reason.NOT_ALLOWED: grpc.StatusCode.PERMISSION_DENIED,
    Reason.DEPENDENCY_DOWN: grpc.StatusCode.UNAVAILABLE,
    Reason.DEADLINE: grpc.StatusCode.DEADLINE_EXCEEDED,
    Reason.INTERNAL: grpc.StatusCode.INTERNAL,
    Reason.UNKNOWN_METHOD: grpc.StatusCode.UNIMPLEMENTED,
    Reason.CANCELLED: grpc.StatusCode.CANCELLED,
    Reason.DATA_FLOW_REFUSED: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.TURN_RUNNING: grpc.StatusCode.ABORTED,
    Reason.MODEL_NOT_CONFIGURED: grpc.StatusCode.FAILED_PRECONDITION,
}

_CLASS_OF_REASON: Final[Mapping[Reason, type[PalimpsestError]]] = {
    kind.reason: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, PalimpsestError) and kind is not errors.InvalidField
}

_REASON_WITHOUT_DETAILS: Final[Mapping[grpc.StatusCode, Reason]] = {
    grpc.StatusCode.UNAVAILABLE: Reason.DEPENDENCY_DOWN,
    grpc.StatusCode.DEADLINE_EXCEEDED: Reason.DEADLINE,
    grpc.StatusCode.CANCELLED: Reason.CANCELLED,
    grpc.StatusCode.RESOURCE_EXHAUSTED: Reason.LIMIT_EXCEEDED,
    grpc.StatusCode.UNIMPLEMENTED: Reason.UNKNOWN_METHOD,
}


def to_status(error: PalimpsestError) -> Status:
    """The status that a caller sees."""
    code: tuple[int, str] = CODE_OF_REASON[error.reason].value
    status = Status(code=code[0], message=error.message)
    info = ErrorInfo(reason=REASON_PREFIX + error.reason, domain=ERROR_DOMAIN, metadata=error.metadata)
    _pack(status, info)
    if error.fields:
        violations = [
            BadRequest.FieldViolation(field=problem.field, description=problem.description)
            for problem in error.fields
        ]
        _pack(status, BadRequest(field_violations=violations))
    if error.retry_after is not None:
        retry = RetryInfo()
        retry.retry_delay.FromNanoseconds(int(error.retry_after * 1e9))
        _pack(status, retry)
    return status


def from_rpc_error(error: grpc.aio.AioRpcError) -> PalimpsestError:
    """The error that a called service raised; UNAVAILABLE without details is DependencyDown."""
    status = sent_status(error)
    if status is not None:
        try:
            return _from_status(status)
        except (ValueError, DecodeError):
            pass  # a reason not known here, or details that cannot be read: judged by its code, below
    reason = _REASON_WITHOUT_DETAILS.get(error.code(), Reason.INTERNAL)
    return _rebuild(reason)


def sent_status(error: grpc.aio.AioRpcError) -> Status | None:
    """The status that a call ended with, whole; None where there is none, or none that can be read."""
    details: dict[str, str | bytes] = dict(error.trailing_metadata() or ())
    raw = details.get(DETAILS_KEY)
    try:
        return Status.FromString(raw) if isinstance(raw, bytes) else None
    except DecodeError:
        return None


def _from_status(status: Status) -> PalimpsestError:
    info, bad, retry = ErrorInfo(), BadRequest(), RetryInfo()
    for detail in status.details:
        for target in (info, bad, retry):
            detail.Unpack(target)
    return _rebuild(
        Reason(info.reason.removeprefix(REASON_PREFIX)),
        status.message,
        tuple(FieldProblem(field=v.field, description=v.description) for v in bad.field_violations),
        dict(info.metadata),
        retry.retry_delay.ToNanoseconds() / 1e9 if retry.HasField("retry_delay") else None,
    )


def _rebuild(
    reason: Reason,
    message: str = "",
    fields: tuple[FieldProblem, ...] = (),
    metadata: Mapping[str, str] | None = None,
    retry_after: float | None = None,
) -> PalimpsestError:
    kind = _CLASS_OF_REASON[reason]
    error = kind.__new__(kind)
    PalimpsestError.__init__(error, message, fields=fields, metadata=metadata, retry_after=retry_after)
    return error


def _pack(status: Status, message: ErrorInfo | BadRequest | RetryInfo) -> None:
    detail = Any()
    detail.Pack(message)
    status.details.append(detail)
