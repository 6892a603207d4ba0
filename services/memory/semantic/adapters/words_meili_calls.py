"""Calls to a Meilisearch server: deadlines, retries, tasks, failures as DependencyDown (SPEC X-1, S-11)."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import structlog

from services.kit.errors import DependencyDown
from services.kit.pauses import backoff

if TYPE_CHECKING:
    from meilisearch_python_sdk import AsyncClient

PASSING_STATUSES = frozenset((408, 429, 502, 503, 504))
TIMEOUT, GARBAGE, CLOSED, UNREACHABLE = "timeout", "garbage", "closed", "unreachable"
INDEX_NOT_FOUND = "index_not_found"
INDEX_EXISTS = "index_already_exists"
REFUSALS = frozenset(("invalid_api_key", "missing_authorization_header"))
POLL_GROWTH = 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class MeiliLimits:
    """How long calls may take, in seconds, and how often they are tried."""

    read_seconds: float = 2.0
    """Of one attempt to search."""
    write_seconds: float = 30.0
    """Of one attempt to hand in documents or settings."""
    task_seconds: float = 60.0
    """Until what was handed in is applied."""
    settings_seconds: float = 600.0
    """Until changed settings are, for which the server builds an index again."""
    attempts: int = 4
    first_pause_seconds: float = 0.1
    """At most before the second attempt; each pause may be twice the one before."""
    max_pause_seconds: float = 2.0
    first_poll_seconds: float = 0.01
    """Between two looks at a task; each pause is half as long again as the one before."""
    max_poll_seconds: float = 0.5


DEFAULT_LIMITS = MeiliLimits()


class MeiliDown(DependencyDown):
    """The word engine is not available; try again."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind
        """The server's error code or status, or a word of ours: for logs and decisions, never its text."""


class MeiliCalls:
    """Sends requests until they succeed or give no hope. All of them can be repeated.

    Of the client this uses only the HTTP client with its address and key: its models would send every default
    of a search along with each of the dozens of queries of one request.
    """

    def __init__(
        self,
        client: AsyncClient,
        limits: MeiliLimits = DEFAULT_LIMITS,
        *,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._http = client.http_client
        self._limits = limits
        self._chance = chance
        self._closed = False
        self._log = structlog.get_logger("words")

    async def read(self, method: str, path: str, body: Any = None) -> Any:
        """The JSON of an answer. Raises MeiliDown."""
        return await self._send(method, path, body, self._limits.read_seconds)

    async def enqueue(self, method: str, path: str, body: Any) -> int:
        """Hands in a task; its number. Raises MeiliDown."""
        answer = await self._send(method, path, body, self._limits.write_seconds)
        task: int = _checked(answer, "taskUid", int)
        return task

    async def applied(self, tasks: Sequence[int], seconds: float | None = None) -> None:
        """Returns when all are applied. Raises MeiliDown: one failed, or they were not in time."""
        try:
            async with asyncio.timeout(self._limits.task_seconds if seconds is None else seconds):
                for task in tasks:
                    await self._applied(task)
        except TimeoutError:
            self._log.warning("words_task_late", tasks=len(tasks))
            raise MeiliDown(TIMEOUT) from None

    def close(self) -> None:
        """Lets no more requests start."""
        self._closed = True

    async def _applied(self, task: int) -> None:
        pause = self._limits.first_poll_seconds
        while True:
            answer = await self.read("GET", f"tasks/{task}")
            status = _checked(answer, "status", str)
            if status == "succeeded":
                return
            if status not in ("enqueued", "processing"):
                kind = str((answer.get("error") or {}).get("code", status))
                self._log.warning("words_task_failed", kind=kind)
                raise MeiliDown(kind)
            await asyncio.sleep(pause)
            pause = min(pause * POLL_GROWTH, self._limits.max_poll_seconds)

    async def _send(self, method: str, path: str, body: Any, seconds: float) -> Any:
        for attempt in range(1, self._limits.attempts + 1):
            if self._closed:
                raise MeiliDown(CLOSED)
            answer, kind, passing = await self._attempt(method, path, body, seconds)
            if not kind:
                return answer
            if attempt == self._limits.attempts or not passing:
                if kind not in (INDEX_NOT_FOUND, INDEX_EXISTS):
                    self._log.warning("words_call_failed", method=method, kind=kind)
                raise MeiliDown(kind)
            await asyncio.sleep(self._pause(attempt))
        raise AssertionError("unreachable: the last attempt returns or raises")

    async def _attempt(self, method: str, path: str, body: Any, seconds: float) -> tuple[Any, str, bool]:
        """The answer; else what to call the failure, and whether it may pass by itself."""
        try:
            async with asyncio.timeout(seconds):
                response = await self._http.request(method, path, json=body)
        except TimeoutError:
            return None, TIMEOUT, True
        # Whatever goes wrong below HTTP means the same, and the driver's text is not for logs.
        except Exception as error:  # noqa: BLE001
            return None, f"{UNREACHABLE}:{type(error).__name__}", True
        try:
            answer = response.json()
        except ValueError:
            return None, str(response.status_code) if response.is_error else GARBAGE, _passing(response)
        if response.is_error:
            code = answer.get("code") if isinstance(answer, dict) else None
            return None, str(code or response.status_code), _passing(response)
        return answer, "", False

    def _pause(self, attempt: int) -> float:
        limits = self._limits
        return backoff(
            attempt, first=limits.first_pause_seconds, longest=limits.max_pause_seconds, chance=self._chance()
        )


def _passing(response: Any) -> bool:
    return response.status_code in PASSING_STATUSES


def _checked(answer: Any, name: str, type_: type[Any]) -> Any:
    value = answer.get(name) if isinstance(answer, dict) else None
    if not isinstance(value, type_):
        raise MeiliDown(GARBAGE)
    return value
