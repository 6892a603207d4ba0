"""What a call raises: one class for each reason of palimpsest.common.v1.ErrorReason (SPEC X-1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import cleandoc
from typing import ClassVar

from palimpsest.models import Unindexed


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldProblem:
    """What is wrong with one field; `field` is a path such as `messages[3].parts[0].text`."""

    field: str
    description: str


class PalimpsestError(Exception):
    """The call failed.

    `reason` is the name of an ErrorReason without its prefix, empty where the client itself gave up;
    `retry_after` is in seconds; `request_id` finds the call in the server's log.
    """

    reason: ClassVar[str] = ""

    def __init__(
        self,
        message: str = "",
        *,
        fields: Sequence[FieldProblem] = (),
        metadata: Mapping[str, str] | None = None,
        retry_after: float | None = None,
        request_id: str = "",
    ) -> None:
        self.message = message or cleandoc(self.__doc__ or "").split("\n", 1)[0]
        self.fields = tuple(fields)
        self.metadata = dict(metadata or {})
        self.retry_after = retry_after
        self.request_id = request_id
        super().__init__(self.message)


class InvalidArgumentError(PalimpsestError):
    """The request itself is wrong."""


class InvalidFieldError(InvalidArgumentError):
    """A field is missing, out of bounds or malformed."""

    reason = "INVALID_FIELD"


class InvalidPageTokenError(InvalidArgumentError):
    """The page token is not one of this listing."""

    reason = "INVALID_PAGE_TOKEN"


class TextTooLongError(InvalidArgumentError):
    """A text is over its limit."""

    reason = "TEXT_TOO_LONG"


class NotFoundError(PalimpsestError):
    """What the request names does not exist, or is out of this key's reach."""

    reason = "RESOURCE_NOT_FOUND"


class ConflictError(PalimpsestError):
    """What is stored does not allow the change."""


class ExistsError(ConflictError):
    """The id is taken by something else."""

    reason = "RESOURCE_EXISTS"


class ParentConflictError(ConflictError):
    """The parent is not the newest message of its conversation."""

    reason = "PARENT_CONFLICT"


class JobStateError(ConflictError):
    """The job's state does not allow the change."""

    reason = "JOB_STATE"


class StateConflictError(ConflictError):
    """The change would contradict what is stored."""

    reason = "STATE_CONFLICT"


class VersionConflictError(ConflictError):
    """The version given is not the current one."""

    reason = "VERSION_CONFLICT"


class BudgetTooSmallError(PalimpsestError):
    """The budget cannot hold what must be shown whole."""

    reason = "BUDGET_TOO_SMALL"


class OverloadedError(PalimpsestError):
    """A queue of the server stayed full until the deadline."""

    reason = "OVERLOADED"


class LimitExceededError(PalimpsestError):
    """The call, or what it would store, is over a size limit."""

    reason = "LIMIT_EXCEEDED"


class RateLimitedError(LimitExceededError):
    """The tenant is over one of its budgets, which `metadata` names as "limit"."""

    reason = "RATE_LIMITED"


class CredentialError(PalimpsestError):
    """The API key is missing, unknown, expired or revoked."""

    reason = "CREDENTIAL_INVALID"


class NotAllowedError(PalimpsestError):
    """The API key does not allow this call."""

    reason = "NOT_ALLOWED"


class UnavailableError(PalimpsestError):
    """A store or service that the call needs is down."""

    reason = "DEPENDENCY_DOWN"


class UnreachableError(UnavailableError):
    """Nothing answers at the target."""


class DeadlineError(PalimpsestError):
    """The deadline passed; a write may or may not have happened."""

    reason = "DEADLINE"


class InternalError(PalimpsestError):
    """The server failed; its log has the cause under the request id."""

    reason = "INTERNAL"


class UnknownMethodError(PalimpsestError):
    """The server does not have this method."""

    reason = "UNKNOWN_METHOD"


class CallCancelledError(PalimpsestError):
    """The call was cancelled."""

    reason = "CANCELLED"


class DataFlowRefusedError(PalimpsestError):
    """The tenant's data flow lets no text leave."""

    reason = "DATA_FLOW_REFUSED"


class TurnRunningError(ConflictError):
    """Another turn of this conversation runs."""

    reason = "TURN_RUNNING"


class ModelNotConfiguredError(PalimpsestError):
    """The deployment has no model for this tier."""

    reason = "MODEL_NOT_CONFIGURED"


class NotIndexedError(PalimpsestError):
    """What was waited for is not indexed; `unindexed` tells what, and why."""

    def __init__(self, message: str = "", *, unindexed: Sequence[Unindexed]) -> None:
        super().__init__(message)
        self.unindexed = tuple(unindexed)


CLASS_OF_REASON: Mapping[str, type[PalimpsestError]] = {
    kind.reason: kind
    for kind in (
        InvalidFieldError,
        InvalidPageTokenError,
        TextTooLongError,
        NotFoundError,
        ExistsError,
        ParentConflictError,
        JobStateError,
        StateConflictError,
        VersionConflictError,
        BudgetTooSmallError,
        OverloadedError,
        LimitExceededError,
        RateLimitedError,
        CredentialError,
        NotAllowedError,
        UnavailableError,
        DeadlineError,
        InternalError,
        UnknownMethodError,
        CallCancelledError,
        DataFlowRefusedError,
        TurnRunningError,
        ModelNotConfiguredError,
    )
}
