"""The issuer's public keys: a JSON Web Key Set, fetched, remembered and renewed (SPEC G-9; RFC 7517)."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

import httpx
import jwt
import structlog
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from services.kit.errors import DependencyDown, StartupError

MAX_BYTES = 256 * 1024
MAX_KEYS = 100
MIN_RSA_BITS, MAX_RSA_BITS = 2048, 8192
FETCH_SECONDS = 5.0
FRESH_SECONDS = 300.0
"""After this long the next use of the keys begins to renew them: one that was withdrawn is then out."""
KEPT_SECONDS = 3600.0
"""How long they are trusted while they can't be renewed."""
PAUSE_SECONDS = 30.0
"""Least time between two fetches, however many tokens name a key that is not known."""
RETRY_SECONDS = 5.0
"""Least time after a fetch that failed."""
LOOPBACK = ("localhost", "127.0.0.1", "::1")

PublicKey: TypeAlias = "RSAPublicKey | EllipticCurvePublicKey | Ed25519PublicKey"
Fetch: TypeAlias = "Callable[[], Awaitable[bytes]]"
"""Gets the document, at most MAX_BYTES. Raises OSError, ValueError or httpx.HTTPError."""
FAILURES: Final = (OSError, ValueError, RecursionError, httpx.HTTPError, httpx.InvalidURL)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyKey:
    """A public key, and the one algorithm that it verifies."""

    id: str | None
    algorithm: str
    key: PublicKey


class KeySet:
    """The keys by id. One fetch at a time serves all who wait for it; who need not wait don't."""

    def __init__(self, fetch: Fetch, stopwatch: Callable[[], float] = time.monotonic) -> None:
        self._fetch = fetch
        self._stopwatch = stopwatch
        self._keys: tuple[VerifyKey, ...] = ()
        self._fetched: float | None = None
        self._not_before = float("-inf")
        self._fetching: asyncio.Task[None] | None = None
        self._log = structlog.get_logger("jwks")

    async def find(self, key_id: str | None, algorithm: str) -> PublicKey | None:
        """The key of a token; None if there is none, or more than one. DependencyDown if none can be had."""
        if not self._trusted():
            await self._renew()
            if not self._trusted():
                raise DependencyDown(
                    "the keys of the tokens' issuer cannot be had; try again", retry_after=RETRY_SECONDS
                )
        elif self._stopwatch() - (self._fetched or 0) >= FRESH_SECONDS:
            self._begin()
        found = self._matching(key_id, algorithm)
        if found is None:
            await self._renew()
            found = self._matching(key_id, algorithm)
        return found

    def _trusted(self) -> bool:
        return self._fetched is not None and self._stopwatch() - self._fetched < KEPT_SECONDS

    def _matching(self, key_id: str | None, algorithm: str) -> PublicKey | None:
        found = [
            each.key
            for each in self._keys
            if each.algorithm == algorithm and (key_id is None or each.id == key_id)
        ]
        return found[0] if len(found) == 1 else None

    async def _renew(self) -> None:
        """Waits for the fetch that is under way, or for one that may begin now."""
        self._begin()
        if self._fetching is not None:
            # Shielded: the others wait for it too.
            await asyncio.shield(self._fetching)

    def _begin(self) -> None:
        if self._fetching is None and self._stopwatch() >= self._not_before:
            self._fetching = asyncio.create_task(self._load())

    async def _load(self) -> None:
        try:
            self._keys = parse(await self._fetch())
        except FAILURES as error:
            self._not_before = self._stopwatch() + RETRY_SECONDS
            self._log.warning("jwks_unavailable", error=type(error).__name__)
        else:
            self._fetched = self._stopwatch()
            self._not_before = self._fetched + PAUSE_SECONDS
        finally:
            self._fetching = None

    async def close(self) -> None:
        """Ends a fetch that is under way."""
        if self._fetching is not None:
            self._fetching.cancel()
            await asyncio.gather(self._fetching, return_exceptions=True)


def parse(document: bytes) -> tuple[VerifyKey, ...]:
    """The keys of a set that are good for verifying; others are left out. Raises ValueError if none is."""
    content = json.loads(document)
    listed = content.get("keys") if isinstance(content, dict) else None
    if not isinstance(listed, list) or len(listed) > MAX_KEYS:
        raise ValueError("not a key set")
    keys = tuple(key for each in listed if (key := _verify_key(each)) is not None)
    if not keys:
        raise ValueError("no key that verifies")
    return keys


def _verify_key(given: Any) -> VerifyKey | None:
    """None for a key of another kind or use, a weak one, and one with its private part."""
    if not isinstance(given, dict) or "d" in given or given.get("use", "sig") != "sig":
        return None
    key_id, operations = given.get("kid"), given.get("key_ops", ["verify"])
    if not (key_id is None or isinstance(key_id, str)):
        return None
    if not (isinstance(operations, list) and "verify" in operations):
        return None
    try:
        algorithm, key = _public(given)
    except (jwt.PyJWTError, ValueError, TypeError, KeyError):
        return None
    if given.get("alg", algorithm) != algorithm:
        return None
    return VerifyKey(id=key_id, algorithm=algorithm, key=key)


def _public(given: Mapping[str, Any]) -> tuple[str, PublicKey]:
    """Raises ValueError for what none of the accepted algorithms verifies by."""
    match given.get("kty"):
        case "RSA":
            rsa = RSAAlgorithm.from_jwk(dict(given))
            if isinstance(rsa, RSAPublicKey) and MIN_RSA_BITS <= rsa.key_size <= MAX_RSA_BITS:
                return "RS256", rsa
        case "EC":
            point = ECAlgorithm.from_jwk(dict(given))
            if isinstance(point, EllipticCurvePublicKey) and isinstance(point.curve, SECP256R1):
                return "ES256", point
        case "OKP":
            edwards = OKPAlgorithm.from_jwk(dict(given))
            if isinstance(edwards, Ed25519PublicKey):
                return "EdDSA", edwards
    raise ValueError("no key of an accepted algorithm")


def from_url(url: str, http: httpx.AsyncClient) -> Fetch:
    """Fetches the set by HTTPS, or by HTTP from this machine; raises StartupError for other URLs.

    Redirects are not followed: they could lead anywhere. Nor is it compressed: a little could become a lot.
    """
    parts = urlsplit(url)
    local = parts.scheme == "http" and parts.hostname in LOOPBACK
    if not parts.hostname or not (parts.scheme == "https" or local) or parts.username is not None:
        raise StartupError(
            "jwt_jwks_url must be an https URL without credentials (http only on this machine)"
        )

    async def fetch() -> bytes:
        request = http.build_request("GET", url, headers={"accept-encoding": "identity"})
        async with asyncio.timeout(FETCH_SECONDS), _sent(http, request) as answer:
            if answer.status_code != httpx.codes.OK:
                raise ValueError("the key set is not there")
            content = bytearray()
            async for piece in answer.aiter_raw():
                content += piece
                if len(content) > MAX_BYTES:
                    raise ValueError("the key set is too large")
            return bytes(content)

    return fetch


@asynccontextmanager
async def _sent(http: httpx.AsyncClient, request: httpx.Request) -> AsyncIterator[httpx.Response]:
    answer = await http.send(request, stream=True, follow_redirects=False)
    try:
        yield answer
    finally:
        await answer.aclose()


def from_file(path: Path) -> Fetch:
    """Reads the set from a file, again and again, so that it can be replaced."""

    def read() -> bytes:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise ValueError("the key set is too large")
        return content

    async def fetch() -> bytes:
        return await asyncio.to_thread(read)

    return fetch
