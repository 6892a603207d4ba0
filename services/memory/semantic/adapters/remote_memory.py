"""A remote memory over HTTP, by the requests of docs/providers.md (SPEC S-15)."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import httpx
import structlog

from services.kit.errors import DependencyDown
from services.kit.pauses import backoff
from services.memory.semantic.app.providers import Rejected, Unanswered
from services.memory.semantic.domain.memory import Kind, Memory, Scope

ATTEMPTS = 3
FIRST_PAUSE_SECONDS = 0.2
MAX_PAUSE_SECONDS = 5.0
CONNECT_SECONDS = 5.0
MAX_ANSWER_BYTES = 1024 * 1024
MAX_QUERY_CHARACTERS = 4000
RETRIED_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})
OPEN_STATUS = frozenset({502, 504})
"""Of one in between: what is behind it may have the request, and do it later."""
MAX_SCORE = 1e9
MEMORY_ID = re.compile(r"[\x21-\x7e]{1,128}")
NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)

AWAY = "the remote memory does not answer"
REFUSED = "the remote memory refused the request"
NONSENSE = "the remote memory's answer makes no sense"

Answer = Mapping[str, Any]


class RemoteMemory:
    """A MemoryProvider. Redirects are not followed: the token is for this address alone."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        *,
        attempts: int = ATTEMPTS,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._client = client
        self._attempts = attempts
        self._sleep = sleep
        self._log = structlog.get_logger("remote_memory")

    @classmethod
    def connect(cls, url: str, token: str, *, seconds: float) -> RemoteMemory:
        """To an address, up to and without "/v1"; a request may take so many seconds."""
        headers = {"authorization": f"Bearer {token}"} if token else {}
        timeout = httpx.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds))
        return cls(httpx.AsyncClient(base_url=url.rstrip("/") + "/", headers=headers, timeout=timeout))

    async def remember(self, tenant: str, agent_id: str, memories: Sequence[Memory]) -> None:
        """See the port."""
        body = {"memories": [_memory(memory) for memory in memories]}
        answer = await self._request("POST", _path(tenant, agent_id, "memories"), body)
        accepted = answer.get("accepted")
        if not isinstance(accepted, list) or set(map(str, accepted)) != {memory.id for memory in memories}:
            raise DependencyDown(NONSENSE)

    async def recall(
        self, tenant: str, scope: Scope, query: str, kinds: frozenset[Kind], limit: int
    ) -> list[tuple[str, float]]:
        """See the port. One attempt: recall does not wait for another."""
        body = {
            "query": query[:MAX_QUERY_CHARACTERS],
            "limit": limit,
            "contact_ids": list(scope.read_buckets),
            "kinds": sorted(kind.name.lower() for kind in kinds),
        }
        path = _path(tenant, scope.agent_id, "recall")
        answer = await self._request("POST", path, body, attempts=1)
        return _hits(answer, limit)

    async def flush(self, tenant: str, agent_id: str) -> None:
        """See the port."""
        await self._request("POST", _path(tenant, agent_id, "flush"), {})

    async def forget(self, tenant: str, agent_id: str, memory_id: str) -> None:
        """See the port."""
        await self._request("DELETE", _path(tenant, agent_id, "memories", memory_id), None, absent=True)

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.aclose()

    async def _request(
        self,
        method: str,
        path: str,
        body: Mapping[str, object] | None,
        *,
        attempts: int | None = None,
        absent: bool = False,
    ) -> Answer:
        """The answer's object. With `absent`, "not found" is a success.

        Raises DependencyDown; Unanswered if any attempt may take effect later, whatever became of the others.
        """
        last = attempts or self._attempts
        is_open = False
        retry_after = 0.0
        for attempt in range(1, last + 1):
            retry_after = 0.0
            try:
                async with self._client.stream(method, path, json=body) as response:
                    status = response.status_code
                    if absent and status == httpx.codes.NOT_FOUND:
                        return {}
                    if httpx.codes.is_success(status):
                        return _object(await _bounded(response))
                    retry_after = _retry_after(response)
                if status not in RETRIED_STATUS:
                    self._log.error("remote_refused", status=status)
                    raise (Unanswered if is_open else Rejected)(REFUSED)
                is_open = is_open or status in OPEN_STATUS
            except NOT_SENT as error:
                self._log.warning("remote_unreachable", error=type(error).__name__, attempt=attempt)
            except httpx.RequestError as error:
                is_open = True
                self._log.warning("remote_unanswered", error=type(error).__name__, attempt=attempt)
            if attempt < last:
                pause = backoff(
                    attempt, first=FIRST_PAUSE_SECONDS, longest=MAX_PAUSE_SECONDS, chance=random.random()
                )
                await self._sleep(min(MAX_PAUSE_SECONDS, max(retry_after, pause)))
        raise (Unanswered if is_open else DependencyDown)(AWAY, retry_after=retry_after or None)


def _path(tenant: str, agent_id: str, *rest: str) -> str:
    parts = ("v1", "namespaces", tenant, "profiles", agent_id, *rest)
    return "/".join(_segment(part) for part in parts)


def _segment(text: str) -> str:
    """One segment of a path, whatever the name holds: "." and ".." would be taken for folders."""
    quoted = quote(text, safe="")
    return quoted.replace(".", "%2E") if not quoted.strip(".") else quoted


def _memory(memory: Memory) -> dict[str, object]:
    return {
        "id": memory.id,
        "revision": memory.revision,
        "key": memory.key,
        "value": memory.value,
        "kind": memory.kind.name.lower(),
        "contact_id": memory.contact_id,
        "valid_from": memory.valid_from.isoformat(),
        "valid_to": memory.valid_to.isoformat() if memory.valid_to else None,
    }


async def _bounded(response: httpx.Response) -> bytes:
    """The body. Raises DependencyDown for one that is too large."""
    body = bytearray()
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > MAX_ANSWER_BYTES:
            raise DependencyDown(NONSENSE)
    return bytes(body)


def _object(body: bytes) -> Answer:
    """A JSON object; nothing at all is an empty one. Raises DependencyDown for anything else."""
    if not body.strip():
        return {}
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise DependencyDown(NONSENSE) from error
    if not isinstance(found, dict):
        raise DependencyDown(NONSENSE)
    return found


def _hits(answer: Answer, limit: int) -> list[tuple[str, float]]:
    """Best first; each once."""
    rows = answer.get("hits")
    if not isinstance(rows, list):
        raise DependencyDown(NONSENSE)
    found: dict[str, float] = {}
    for row in rows[:limit]:
        id_, score = _hit(row)
        if MEMORY_ID.fullmatch(id_):  # another cannot be one of ours, nor be looked up
            found.setdefault(id_, score)
    return sorted(found.items(), key=lambda hit: (-hit[1], hit[0]))


def _hit(row: object) -> tuple[str, float]:
    id_, score = (row.get("id"), row.get("score")) if isinstance(row, dict) else (None, None)
    if not isinstance(id_, str) or not isinstance(score, int | float) or isinstance(score, bool):
        raise DependencyDown(NONSENSE)
    if not -MAX_SCORE <= score <= MAX_SCORE:
        raise DependencyDown(NONSENSE)
    return id_, float(score)


def _retry_after(response: httpx.Response) -> float:
    try:
        return max(0.0, float(response.headers.get("retry-after", 0)))
    except ValueError:
        return 0.0
