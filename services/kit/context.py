"""What the code of a call may ask about the call it serves."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

from services.kit.errors import CredentialInvalid
from services.kit.identity import Principal
from services.kit.ids import new_id


@dataclass(frozen=True, slots=True, kw_only=True)
class CallInfo:
    """The call being served; `deadline` is on the monotonic clock, None without one."""

    request_id: str
    principal: Principal | None = None
    deadline: float | None = None


_call: ContextVar[CallInfo | None] = ContextVar("palimpsest_call", default=None)


def current_call() -> CallInfo | None:
    """The call being served, None outside of one."""
    return _call.get()


def current_principal() -> Principal:
    """The verified caller; raises CredentialInvalid where there is none."""
    call = _call.get()
    if call is None or call.principal is None:
        raise CredentialInvalid
    return call.principal


def time_remaining() -> float | None:
    """Seconds until the call's deadline (0 at the least); None without one."""
    call = _call.get()
    if call is None or call.deadline is None:
        return None
    return max(0.0, call.deadline - time.monotonic())


def enter(call: CallInfo) -> None:
    """Makes `call` the current one for the rest of this task."""
    _call.set(call)


@contextmanager
def serving(call: CallInfo) -> Iterator[None]:
    """Makes `call` the current one."""
    token = _call.set(call)
    try:
        yield
    finally:
        _call.reset(token)


@contextmanager
def act_as(principal: Principal) -> Iterator[None]:
    """Background work on behalf of `principal`: outgoing calls carry its token."""
    current = _call.get()
    call = (
        replace(current, principal=principal)
        if current
        else CallInfo(request_id=new_id(), principal=principal)
    )
    with serving(call):
        yield
