"""An issuer of tokens with keys of its own, for tests."""

from __future__ import annotations

import base64
import json
from functools import cache
from typing import Any

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from services.gateway.domain.claims import ClaimNames, Expected

NOW = 1_800_000_000.0
ISSUER, AUDIENCE = "https://issuer.example/", "palimpsest"
EXPECTED = Expected(issuer=ISSUER, audience=AUDIENCE, names=ClaimNames())
CLAIMS: dict[str, Any] = {
    "iss": ISSUER,
    "aud": AUDIENCE,
    "sub": "ann",
    "exp": NOW + 300,
    "iat": NOW,
    "tenant": "one",
    "role": "writer",
    "agents": ["ada"],
}


def private(algorithm: str, number: int = 0, bits: int = 2048) -> Any:
    """A key of its own for each number."""
    return _private(algorithm, number, bits)


@cache
def _private(algorithm: str, _number: int, bits: int) -> Any:
    match algorithm:
        case "RS256":
            return rsa.generate_private_key(public_exponent=65537, key_size=bits)
        case "ES256":
            return ec.generate_private_key(ec.SECP256R1())
        case "ES384":
            return ec.generate_private_key(ec.SECP384R1())
        case _:
            return ed25519.Ed25519PrivateKey.generate()


def public(
    algorithm: str, kid: str | None = "k", number: int = 0, bits: int = 2048, **more: Any
) -> dict[str, Any]:
    """A key's public part as a JWK."""
    key = private(algorithm, number, bits).public_key()
    convert: Any = {"RS256": RSAAlgorithm, "ES256": ECAlgorithm, "ES384": ECAlgorithm}.get(
        algorithm, OKPAlgorithm
    )
    made = json.loads(convert.to_jwk(key))
    return {**made, **({} if kid is None else {"kid": kid}), **more}


def key_set(*keys: Any) -> bytes:
    """The document."""
    return json.dumps({"keys": keys}).encode()


def pem(algorithm: str) -> bytes:
    """A public key as text that might be taken for a shared secret."""
    made: bytes = (
        private(algorithm)
        .public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    return made


def token(
    algorithm: str = "RS256", *, kid: str | None = "k", number: int = 0, header: Any = None, **claims: Any
) -> str:
    """A token; a claim None is left out."""
    merged = {name: value for name, value in {**CLAIMS, **claims}.items() if value is not None}
    return raw_token(json.dumps(merged), algorithm, kid=kid, number=number, header=header)


def raw_token(
    body: str | bytes,
    algorithm: str = "RS256",
    *,
    kid: Any = "k",
    number: int = 0,
    header: Any = None,
    head: str | None = None,
) -> str:
    """A token, properly signed, whose parts are any text."""
    fields = {"alg": algorithm, "typ": "JWT", **({} if kid is None else {"kid": kid}), **(header or {})}
    text = json.dumps(fields) if head is None else head
    signing = f"{part(text)}.{part(body)}".encode()
    signer = jwt.get_algorithm_by_name(algorithm)
    return f"{signing.decode()}.{part(signer.sign(signing, private(algorithm, number)))}"


def part(content: str | bytes) -> str:
    """base64url without padding."""
    raw = content.encode() if isinstance(content, str) else content
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")
