"""Why there is no usable answer of a model (SPEC J-16)."""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType

from services.kit.errors import DependencyDown
from services.kit.models.types import Usage


class Cause(StrEnum):
    """Constant words for logs, metrics and jobs."""

    NOT_CONFIGURED = "not_configured"
    UNREACHABLE = "unreachable"
    """No connection, or it broke before an answer."""
    TIMEOUT = "timeout"
    BUSY = "busy"
    """The endpoint asked to come back later (429)."""
    FAILED = "failed"
    """The endpoint's own fault (5xx, or an error inside an answer)."""
    REFUSED = "refused"
    """The endpoint does not want this request, however often it comes (other statuses)."""
    FILTERED = "filtered"
    """The model, or a filter over it, declined to answer."""
    MALFORMED = "malformed"
    """The answer is not of the protocol: not UTF-8, not JSON, another content type, fields missing."""
    EMPTY = "empty"
    TOO_LARGE = "too_large"
    CUT = "cut"
    """A stream ended before its end was announced."""
    NOT_JSON = "not_json"
    """No JSON in the text, or pieces that contradict each other."""
    WRONG_SCHEMA = "wrong_schema"


RETRIED = frozenset(Cause) - {Cause.NOT_CONFIGURED, Cause.REFUSED, Cause.FILTERED}
"""J-16: what another attempt may mend."""

BAD_OUTPUT = frozenset(
    {Cause.MALFORMED, Cause.EMPTY, Cause.TOO_LARGE, Cause.CUT, Cause.NOT_JSON, Cause.WRONG_SCHEMA}
)
"""J-16: the model was there, and what it said is of no use."""

_MESSAGES = MappingProxyType(
    {
        Cause.NOT_CONFIGURED: "No model is configured for this tier.",
        Cause.UNREACHABLE: "The model's endpoint cannot be reached.",
        Cause.TIMEOUT: "The model did not answer in time.",
        Cause.BUSY: "The model's endpoint is busy; try again later.",
        Cause.FAILED: "The model's endpoint failed.",
        Cause.REFUSED: "The model's endpoint refused the request.",
        Cause.FILTERED: "The model declined to answer.",
    }
)
_BAD_OUTPUT_MESSAGE = "The model's answer is not usable."


class ModelUnavailable(DependencyDown):
    """A model gave no usable answer; the caller's deterministic engine takes over.

    It never means that there was nothing to find.
    """

    def __init__(
        self,
        cause: Cause,
        *,
        usage: Usage | None = None,
        retry_after: float | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(_MESSAGES.get(cause, _BAD_OUTPUT_MESSAGE), retry_after=retry_after)
        self.cause = cause
        self.usage = usage or Usage()
        """What the useless answers cost all the same (E-11)."""
        self.model = ""
        """Which model it was, as the settings name it."""
        self.status = status
        """Of the endpoint's HTTP answer, if it was the reason."""

    @property
    def bad_output(self) -> bool:
        """Whether the model answered, to no use."""
        return self.cause in BAD_OUTPUT
