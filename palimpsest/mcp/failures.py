"""What a host is told of a call that failed: never the text of an exception that is not meant for it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST

from palimpsest.errors import (
    BudgetTooSmallError,
    CredentialError,
    DeadlineError,
    InvalidArgumentError,
    LimitExceededError,
    NotAllowedError,
    NotFoundError,
    OverloadedError,
    PalimpsestError,
    UnavailableError,
)

PASSING = (UnavailableError, DeadlineError, OverloadedError)
UNAVAILABLE = "The memory does not answer at the moment; try again later, or go on without it."
FAILED = "The memory failed."

ParamsT = TypeVar("ParamsT")
ContextT = TypeVar("ContextT")
ResultT = TypeVar("ResultT")

_log = logging.getLogger(__name__)


def told(
    handler: Callable[[ContextT, ParamsT], Awaitable[ResultT]],
) -> Callable[[ContextT, ParamsT], Awaitable[ResultT]]:
    """The handler with every exception as an error of the protocol."""

    async def call(context: ContextT, params: ParamsT) -> ResultT:
        try:
            return await handler(context, params)
        except MCPError:
            raise
        except PalimpsestError as error:
            raise to_mcp(error) from error
        except Exception as error:
            # The last line of defence: the SDK would send the text of the exception, which may be content.
            _log.error("handler_failed error=%s", type(error).__name__)
            raise MCPError(INTERNAL_ERROR, FAILED) from error

    return call


def to_mcp(error: PalimpsestError) -> MCPError:
    """With the code of its kind."""
    if isinstance(error, PASSING):
        return MCPError(INTERNAL_ERROR, UNAVAILABLE)
    match error:
        case InvalidArgumentError() | NotFoundError() | BudgetTooSmallError():
            return MCPError(INVALID_PARAMS, error.message)
        case CredentialError() | NotAllowedError() | LimitExceededError():
            return MCPError(INVALID_REQUEST, error.message)
        case _:
            return MCPError(INTERNAL_ERROR, FAILED)
