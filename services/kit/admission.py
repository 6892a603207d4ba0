"""Whether a caller may call now, whatever the call (SPEC G-5)."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Protocol

from services.kit.identity import Principal


class Admission(Protocol):
    """Asked once for each call, when its caller is known and before its request is looked at."""

    def enter(self, principal: Principal, *, streaming: bool) -> AbstractAsyncContextManager[None]:
        """Held while the call runs; `streaming` says whether it answers with a stream.

        Entering raises RateLimited, and DependencyDown where it can't be told.
        """


class Unlimited:
    """An Admission of everybody."""

    def __init__(self) -> None:
        self._free = nullcontext()

    def enter(self, principal: Principal, *, streaming: bool) -> AbstractAsyncContextManager[None]:  # noqa: ARG002
        """See the port."""
        return self._free
