"""Errors that carry a reason and know nothing of gRPC (SPEC X-1).

The reasons are those of palimpsest.common.v1.ErrorReason; an interceptor turns them into status codes.
A message reaches the caller: it never holds content, a key, or the text of a driver's exception.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from inspect import cleandoc
from typing import ClassVar


class Reason(StrEnum):
    """Why a call failed: the values of ErrorReason without their prefix."""

    INVALID_FIELD = "INVALID_FIELD"
    INVALID_PAGE_TOKEN = "INVALID_PAGE_TOKEN"
    TEXT_TOO_LONG = "TEXT_TOO_LONG"
    RESOURCE_NOT_FOUND = "RESOURCE_NOT_FOUND"
    RESOURCE_EXISTS = "RESOURCE_EXISTS"
    PARENT_CONFLICT = "PARENT_CONFLICT"
    JOB_STATE = "JOB_STATE"
    BUDGET_TOO_SMALL = "BUDGET_TOO_SMALL"
    STATE_CONFLICT = "STATE_CONFLICT"
    VERSION_CONFLICT = "VERSION_CONFLICT"
    OVERLOADED = "OVERLOADED"
    LIMIT_EXCEEDED = "LIMIT_EXCEEDED"
    CREDENTIAL_INVALID = "CREDENTIAL_INVALID"
    NOT_ALLOWED = "NOT_ALLOWED"
    DEPENDENCY_DOWN = "DEPENDENCY_DOWN"
    DEADLINE = "DEADLINE"
    INTERNAL = "INTERNAL"
    UNKNOWN_METHOD = "UNKNOWN_METHOD"
    CANCELLED = "CANCELLED"
    DATA_FLOW_REFUSED = "DATA_FLOW_REFUSED"
    TURN_RUNNING = "TURN_RUNNING"
    MODEL_NOT_CONFIGURED = "MODEL_NOT_CONFIGURED"
    RATE_LIMITED = "RATE_LIMITED"


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldProblem:
    """What is wrong with one field; `field` is a path such as `messages[3].parts[0].text`."""

    field: str
    description: str


class PalimpsestError(Exception):
    """Something went wrong."""

    reason: ClassVar[Reason] = Reason.INTERNAL

    def __init__(
        self,
        message: str = "",
        *,
        fields: Sequence[FieldProblem] = (),
        metadata: Mapping[str, str] | None = None,
        retry_after: float | None = None,
    ) -> None:
        self.message = message or cleandoc(self.__doc__ or "").split("\n", 1)[0]
        self.fields = tuple(fields)
        self.metadata = dict(metadata or {})
        self.retry_after = retry_after
        super().__init__(self.message)


class InvalidField(PalimpsestError):
    """A field is missing, out of bounds or malformed."""

    reason = Reason.INVALID_FIELD

    def __init__(self, field: str, description: str) -> None:
        super().__init__(
            f"{field}: {description}", fields=[FieldProblem(field=field, description=description)]
        )


class InvalidRequest(PalimpsestError):
    """Fields are missing, out of bounds or malformed."""

    reason = Reason.INVALID_FIELD


class InvalidPageToken(PalimpsestError):
    """The page token was not made by this server, or was made for another listing."""

    reason = Reason.INVALID_PAGE_TOKEN

    def __init__(self, message: str = "") -> None:
        super().__init__(
            message, fields=[FieldProblem(field="page_token", description="not a token of this listing")]
        )


class TextTooLong(PalimpsestError):
    """A text is over its limit."""

    reason = Reason.TEXT_TOO_LONG

    def __init__(self, message: str, *, field: str = "", limit: int, actual: int) -> None:
        problems = [FieldProblem(field=field, description=message)] if field else []
        super().__init__(message, fields=problems, metadata={"limit": str(limit), "actual": str(actual)})


class NotFound(PalimpsestError):
    """What the request names does not exist, or is out of this credential's reach."""

    reason = Reason.RESOURCE_NOT_FOUND

    def __init__(self, resource: str, id: str) -> None:
        super().__init__(f"no such {resource}", metadata={"resource": resource, "id": id})


class Exists(PalimpsestError):
    """The id is taken by something else."""

    reason = Reason.RESOURCE_EXISTS


class ParentConflict(PalimpsestError):
    """The parent is not the newest message of this conversation."""

    reason = Reason.PARENT_CONFLICT


class JobStateConflict(PalimpsestError):
    """The job's state does not allow this."""

    reason = Reason.JOB_STATE


class BudgetTooSmall(PalimpsestError):
    """The budget cannot hold what must be shown whole."""

    reason = Reason.BUDGET_TOO_SMALL


class StateConflict(PalimpsestError):
    """The change would contradict what is stored."""

    reason = Reason.STATE_CONFLICT


class VersionConflict(PalimpsestError):
    """The version given is not the current one."""

    reason = Reason.VERSION_CONFLICT


class Overloaded(PalimpsestError):
    """A queue is full; try again later."""

    reason = Reason.OVERLOADED


class LimitExceeded(PalimpsestError):
    """The call, or what it would store, is over a size limit."""

    reason = Reason.LIMIT_EXCEEDED


class RateLimited(LimitExceeded):
    """The tenant is over one of its budgets."""

    reason = Reason.RATE_LIMITED

    def __init__(self, limit: str, retry_after: float | None) -> None:
        """`limit` names the budget; None where waiting does not help."""
        super().__init__(f"over the budget {limit}", metadata={"limit": limit}, retry_after=retry_after)


class CredentialInvalid(PalimpsestError):
    """The credential is missing, unknown, expired or revoked."""

    reason = Reason.CREDENTIAL_INVALID


class NotAllowed(PalimpsestError):
    """The credential does not allow this call."""

    reason = Reason.NOT_ALLOWED


class DependencyDown(PalimpsestError):
    """A store or service that this call needs is not available; try again."""

    reason = Reason.DEPENDENCY_DOWN


class DeadlineExceeded(PalimpsestError):
    """The deadline passed."""

    reason = Reason.DEADLINE


class Internal(PalimpsestError):
    """The server failed; its log has the cause under this request id."""

    reason = Reason.INTERNAL


class UnknownMethod(PalimpsestError):
    """This server has no such method."""

    reason = Reason.UNKNOWN_METHOD


class Cancelled(PalimpsestError):
    """The call was cancelled."""

    reason = Reason.CANCELLED


class DataFlowRefused(PalimpsestError):
    """The tenant's data flow lets no text leave."""

    reason = Reason.DATA_FLOW_REFUSED


class TurnRunning(PalimpsestError):
    """Another turn of this conversation runs; try again later, or wait for it."""

    reason = Reason.TURN_RUNNING


class ModelNotConfigured(PalimpsestError):
    """This deployment has no model for this tier."""

    reason = Reason.MODEL_NOT_CONFIGURED


class StartupError(Exception):
    """A service cannot start; the message is one line for the person who starts it."""
