"""Callers by signed tokens of an issuer that the operator trusts (SPEC G-9; RFC 7519, RFC 8725)."""

from __future__ import annotations

import base64
import binascii
import json
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

import jwt

from services.gateway.adapters.jwks import PublicKey
from services.gateway.domain.claims import Expected, principal_of
from services.kit.errors import CredentialInvalid
from services.kit.identity import Principal, bearer_of

MAX_TOKEN_BYTES = 8 * 1024
ALGORITHMS: Final = frozenset({"RS256", "ES256", "EdDSA"})
"""Pinned: with none of them is a public key also a secret, and "none" is not among them."""
TYPES: Final = frozenset({"jwt", "at+jwt"})
MAX_KEY_ID = 256


class IssuerKeys(Protocol):
    """The public keys of the issuer."""

    async def find(self, key_id: str | None, algorithm: str) -> PublicKey | None:
        """The key that verifies a token; None if there is none. Raises DependencyDown."""


class JwtAuthenticator:
    """Accepts tokens that the issuer signed for this audience, and trusts nothing in them before that.

    The key is found by the token's `kid` among the issuer's only: `jku`, `x5u`, `jwk` and `x5c` are not
    looked at. Every refusal is the same.
    """

    def __init__(self, keys: IssuerKeys, expected: Expected, clock: Callable[[], float] = time.time) -> None:
        self._keys = keys
        self._expected = expected
        self._clock = clock

    async def authenticate(self, metadata: Mapping[str, str]) -> Principal:
        """The token's caller. Raises CredentialInvalid, and DependencyDown while there are no keys."""
        token = bearer_of(metadata)
        try:
            key_id, algorithm, claims = _read(token)
            key = await self._keys.find(key_id, algorithm)
            if key is None:
                raise CredentialInvalid
            # The signature alone: what the claims must be is checked below, by our clock.
            jwt.decode(token, key, algorithms=[algorithm], options=_SIGNATURE_ONLY)
            return principal_of(claims, self._expected, self._clock())
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError) as error:
            raise CredentialInvalid from error


_SIGNATURE_ONLY: Any = {
    "verify_signature": True,
    "require": [],
    **dict.fromkeys(("verify_exp", "verify_nbf", "verify_iat", "verify_aud", "verify_iss"), False),
    **dict.fromkeys(("verify_sub", "verify_jti"), False),
}


def _read(token: str) -> tuple[str | None, str, dict[str, Any]]:
    """Key id, algorithm and claims of a well-formed token; raises ValueError or TypeError for any other."""
    if len(token) > MAX_TOKEN_BYTES or not token.isascii() or token.count(".") != 2:
        raise ValueError("not a token")
    head, body, _ = token.split(".")
    header = _json_object(head)
    key_id, algorithm = header.get("kid"), header.get("alg")
    if algorithm not in ALGORITHMS or "crit" in header or "cty" in header or "b64" in header:
        raise ValueError("not an accepted token")
    if str(header.get("typ", "jwt")).lower() not in TYPES:
        raise ValueError("a token of another type")
    if not (key_id is None or (isinstance(key_id, str) and len(key_id) <= MAX_KEY_ID)):
        raise ValueError("not a key id")
    return key_id, algorithm, _json_object(body)


def _json_object(segment: str) -> dict[str, Any]:
    """A part of a token, with each name once and no constants that JSON does not have."""
    padded = segment + "=" * (-len(segment) % 4)
    try:
        raw = base64.b64decode(padded, altchars=b"-_", validate=True)
    except binascii.Error as error:
        raise ValueError("not base64url") from error
    value = json.loads(raw.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_constant)
    if not isinstance(value, dict):
        raise TypeError("not an object")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a name twice")
    return made


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
