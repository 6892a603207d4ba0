"""Who a call is made for, and the signed tokens that say so between services (SPEC SV-6)."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Protocol

import jwt

from services.kit.errors import CredentialInvalid

TOKEN_LIFETIME_SECONDS = 60  # SV-6
RENEW_AFTER_SECONDS = 20  # a cached token is reused while two thirds of its life remain
CACHED_TOKENS = 4096
ALGORITHM = "HS256"
AUTHORIZATION = "authorization"
BEARER = "Bearer "


class Role(IntEnum):
    """What a credential may do; each role may do what those below it may."""

    READER = 1
    WRITER = 2
    ADMIN = 3
    OPERATOR = 4
    SERVICE = 5  # service to service: index, enqueue


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """The verified caller; `agents` is None when it may use every agent of its tenant."""

    tenant: str
    role: Role
    agents: frozenset[str] | None = None
    subject: str = ""

    def may_use(self, agent_id: str) -> bool:
        """Whether the credential reaches this agent."""
        return self.agents is None or agent_id in self.agents


class Authenticator(Protocol):
    """Turns the metadata of a call into its caller."""

    async def authenticate(self, metadata: Mapping[str, str]) -> Principal:
        """Raises CredentialInvalid."""


class TokenSigner:
    """Mints the tokens of outgoing calls; one is reused for calls of the same caller for a while."""

    def __init__(self, secret: bytes, clock: Callable[[], float] = time.time) -> None:
        self._secret = secret
        self._clock = clock
        self._minted: OrderedDict[tuple[Principal, str], tuple[float, str]] = OrderedDict()

    def mint(self, principal: Principal, audience: str) -> str:
        """A token for one service (the proto package's second part, e.g. "episodic")."""
        now = self._clock()
        known = self._minted.get((principal, audience))
        if known and now - known[0] < RENEW_AFTER_SECONDS:
            return known[1]
        claims = {
            "aud": audience,
            "exp": now + TOKEN_LIFETIME_SECONDS,
            "iat": now,
            "ten": principal.tenant,
            "role": int(principal.role),
            "agt": None if principal.agents is None else sorted(principal.agents),
            "sub": principal.subject,
        }
        token = jwt.encode(claims, self._secret, algorithm=ALGORITHM)
        self._minted[principal, audience] = (now, token)
        if len(self._minted) > CACHED_TOKENS:
            self._minted.popitem(last=False)
        return token


class TokenVerifier:
    """Accepts only tokens signed with the deployment's secret, for this audience, within their life."""

    def __init__(self, secret: bytes, audience: str, clock: Callable[[], float] = time.time) -> None:
        self._secret = secret
        self._audience = audience
        self._clock = clock
        self._verified: OrderedDict[str, tuple[float, Principal]] = OrderedDict()

    async def authenticate(self, metadata: Mapping[str, str]) -> Principal:
        """The caller, from `authorization: Bearer <token>`."""
        token = bearer_of(metadata)
        known = self._verified.get(token)
        if known is None:
            known = self._decode(token)
            self._verified[token] = known
            if len(self._verified) > CACHED_TOKENS:
                self._verified.popitem(last=False)
        if known[0] <= self._clock():
            raise CredentialInvalid
        return known[1]

    def _decode(self, token: str) -> tuple[float, Principal]:
        try:
            claims = jwt.decode(
                token,
                self._secret,
                algorithms=[ALGORITHM],
                audience=self._audience,
                options={"require": ["exp", "aud", "iat"], "verify_exp": False, "verify_iat": False},
            )
            agents = claims["agt"]
            principal = Principal(
                tenant=claims["ten"],
                role=Role(claims["role"]),
                agents=None if agents is None else frozenset(agents),
                subject=claims["sub"],
            )
            return float(claims["exp"]), principal
        except (jwt.InvalidTokenError, KeyError, ValueError, TypeError) as error:
            raise CredentialInvalid from error


def bearer_of(metadata: Mapping[str, str]) -> str:
    """The credential of `authorization: Bearer <credential>`; raises CredentialInvalid without one.

    The word is the same in any case (RFC 9110).
    """
    value = metadata.get(AUTHORIZATION, "")
    if value[: len(BEARER)].lower() != BEARER.lower() or len(value) == len(BEARER):
        raise CredentialInvalid("no credential: send metadata 'authorization: Bearer <API key>'")
    return value[len(BEARER) :]


def check_one_credential(metadata: Iterable[tuple[str, Any]]) -> None:
    """Raises CredentialInvalid for more than one: who reads the first and who reads the last would differ."""
    if sum(key == AUTHORIZATION for key, _ in metadata) > 1:
        raise CredentialInvalid("more than one credential")
