"""What a verified token says of its caller (SPEC G-9)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from services.kit.errors import CredentialInvalid
from services.kit.identity import Principal, Role

LEEWAY_SECONDS = 30.0
"""How far the issuer's clock and ours may be apart."""
MAX_AGENTS = 100
MAX_SUBJECT = 256
ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
ROLES: Mapping[str, Role] = {
    "reader": Role.READER,
    "writer": Role.WRITER,
    "admin": Role.ADMIN,
    "operator": Role.OPERATOR,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimNames:
    """Which claims hold the tenant, the role, and the agents that the caller is limited to."""

    tenant: str = "tenant"
    role: str = "role"
    agents: str = "agents"


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """Whose tokens are accepted, and for whom they must be."""

    issuer: str
    audience: str
    names: ClaimNames


def principal_of(claims: Mapping[str, object], expected: Expected, now: float) -> Principal:
    """The caller, of claims whose signature holds; `now` in seconds since 1970. Raises CredentialInvalid.

    Without a claim of agents the caller reaches every agent of the tenant.
    """
    _check_times(claims, now)
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    if claims.get("iss") != expected.issuer or expected.audience not in audiences:
        raise CredentialInvalid
    tenant, role = claims.get(expected.names.tenant), claims.get(expected.names.role)
    subject = claims.get("sub")
    if not (isinstance(tenant, str) and ID.fullmatch(tenant)):
        raise CredentialInvalid
    if not (isinstance(role, str) and role in ROLES):
        raise CredentialInvalid
    if not (isinstance(subject, str) and 0 < len(subject) <= MAX_SUBJECT and subject.isprintable()):
        raise CredentialInvalid
    return Principal(
        tenant=tenant, role=ROLES[role], agents=_agents(claims, expected.names), subject=f"jwt:{subject}"
    )


def _agents(claims: Mapping[str, object], names: ClaimNames) -> frozenset[str] | None:
    if names.agents not in claims:
        return None
    listed = claims[names.agents]
    if not isinstance(listed, list) or len(listed) > MAX_AGENTS:
        raise CredentialInvalid
    if not all(isinstance(each, str) and ID.fullmatch(each) for each in listed):
        raise CredentialInvalid
    return frozenset(listed)


def _check_times(claims: Mapping[str, object], now: float) -> None:
    expires = _seconds(claims, "exp")
    if expires is None or expires <= now - LEEWAY_SECONDS:
        raise CredentialInvalid
    for name in ("nbf", "iat"):
        begins = _seconds(claims, name)
        if begins is not None and begins > now + LEEWAY_SECONDS:
            raise CredentialInvalid


def _seconds(claims: Mapping[str, object], name: str) -> float | None:
    """A time; None if it is not there. An endless or absurd one compares like any other number."""
    if name not in claims:
        return None
    value = claims[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise CredentialInvalid
    return value
