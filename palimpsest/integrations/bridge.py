"""Either client behind one face, for frameworks that call from plain code and from event loops."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from palimpsest.client import AsyncClient
from palimpsest.sync import Client

R = TypeVar("R")
Work = Callable[[AsyncClient], Coroutine[Any, Any, R]]
"""Something to be done with the asynchronous client."""


class WrongClientError(RuntimeError):
    """An AsyncClient has no calls without an event loop; give a palimpsest.Client."""

    def __init__(self) -> None:
        super().__init__(self.__doc__)


class Bridge:
    """Runs work with a client. A Client serves plain code and any event loop, an AsyncClient its own loop."""

    def __init__(self, client: Client | AsyncClient) -> None:
        self._client = client

    def run(self, work: Work[R]) -> R:
        """The result, for plain code; WrongClientError with an AsyncClient."""
        if isinstance(self._client, AsyncClient):
            raise WrongClientError
        return self._client.run(work)

    async def run_async(self, work: Work[R]) -> R:
        """The result, for code in an event loop."""
        if isinstance(self._client, AsyncClient):
            return await work(self._client)
        return await self._client.run_async(work)
