"""Tokens of an issuer: which are accepted as whom, and all that is refused, always alike (SPEC G-9)."""

from __future__ import annotations

import json
from typing import Any

import jwt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.gateway.adapters.jwks import KeySet
from services.gateway.adapters.jwt_tokens import MAX_TOKEN_BYTES, JwtAuthenticator
from services.gateway.domain.claims import ClaimNames, Expected
from services.kit.errors import CredentialInvalid
from services.kit.identity import Principal, Role
from tests.unit.issuer_parts import (
    AUDIENCE,
    CLAIMS,
    EXPECTED,
    ISSUER,
    NOW,
    key_set,
    part,
    pem,
    private,
    public,
    raw_token,
    token,
)

DOCUMENT = key_set(
    public("RS256"),
    public("ES256", "e"),
    public("EdDSA", "d"),
    {"kty": "oct", "kid": "o", "k": part(b"a shared secret of 32 bytes or so")},
)


def accepting(document: bytes = DOCUMENT, expected: Expected = EXPECTED) -> JwtAuthenticator:
    async def fetch() -> bytes:
        return document

    return JwtAuthenticator(KeySet(fetch), expected, lambda: NOW)


async def caller(authenticator: JwtAuthenticator, credential: str) -> Principal:
    return await authenticator.authenticate({"authorization": f"Bearer {credential}"})


async def refused(credential: str, authenticator: JwtAuthenticator | None = None) -> None:
    """Its refusal is that of any other credential."""
    with pytest.raises(CredentialInvalid) as caught:
        await caller(authenticator or accepting(), credential)
    assert str(caught.value) == str(CredentialInvalid())
    assert caught.value.metadata == {}


@pytest.mark.parametrize(("algorithm", "kid"), [("RS256", "k"), ("ES256", "e"), ("EdDSA", "d")])
async def test_a_token_of_the_issuer_is_its_subject(algorithm: str, kid: str) -> None:
    assert await caller(accepting(), token(algorithm, kid=kid)) == Principal(
        tenant="one", role=Role.WRITER, agents=frozenset({"ada"}), subject="jwt:ann"
    )


@pytest.mark.parametrize("role", ["reader", "writer", "admin", "operator"])
async def test_roles_and_reach(role: str) -> None:
    made = await caller(accepting(), token(role=role, agents=None))
    assert (made.role.name.lower(), made.agents) == (role, None)
    assert (await caller(accepting(), token(role=role, agents=[]))).agents == frozenset()


async def test_the_claims_have_the_names_that_were_set() -> None:
    names = ClaimNames(tenant="https://example.com/org", role="groups", agents="bots")
    authenticator = accepting(expected=Expected(issuer=ISSUER, audience=AUDIENCE, names=names))
    moved: Any = {"https://example.com/org": "two", "groups": "reader", "bots": ["bea"]}
    made = await caller(authenticator, token(**moved))
    assert (made.tenant, made.role, made.agents) == ("two", Role.READER, frozenset({"bea"}))
    await refused(token(), authenticator)


async def test_one_of_several_audiences_is_enough_and_a_type_may_be_missing() -> None:
    assert await caller(accepting(), token(aud=["other", AUDIENCE]))
    assert await caller(accepting(), token(header={"typ": "at+jwt"}))
    assert await caller(accepting(key_set(public("RS256", None))), token(kid=None))


@pytest.mark.parametrize(
    "claims",
    [
        {"exp": None},
        {"exp": NOW - 31},
        {"exp": str(NOW + 300)},
        {"exp": True},
        {"exp": [NOW + 300]},
        {"nbf": NOW + 31},
        {"nbf": "soon"},
        {"iat": NOW + 31},
        {"iss": None},
        {"iss": "https://issuer.example"},
        {"iss": [ISSUER]},
        {"aud": None},
        {"aud": "palimpsest2"},
        {"aud": []},
        {"aud": {"palimpsest": 1}},
        {"aud": [["palimpsest"]]},
        {"sub": None},
        {"sub": ""},
        {"sub": 7},
        {"sub": "x" * 257},
        {"sub": "ann\nforged"},
        {"tenant": None},
        {"tenant": ""},
        {"tenant": ["one"]},
        {"tenant": "one two"},
        {"tenant": "оne"},  # its first letter is Cyrillic
        {"tenant": "x" * 129},
        {"role": None},
        {"role": "service"},
        {"role": "Admin"},
        {"role": "owner"},
        {"role": 4},
        {"role": ["admin"]},
        {"agents": "ada"},
        {"agents": {"ada": 1}},
        {"agents": ["ada", 7]},
        {"agents": [""]},
        {"agents": ["ada"] * 101},
    ],
)
async def test_claims_that_are_missing_wrong_or_odd(claims: dict[str, Any]) -> None:
    await refused(token(**claims))


async def test_clocks_may_be_half_a_minute_apart() -> None:
    near: list[Any] = [{"exp": NOW - 29}, {"nbf": NOW + 29}, {"iat": NOW + 29}, {"exp": 1e300}]
    for claims in near:
        assert await caller(accepting(), token(**claims))


def unsigned(header: dict[str, Any]) -> str:
    return f"{part(json.dumps(header))}.{part(json.dumps(CLAIMS))}."


@pytest.mark.parametrize(
    "name", ["none", "None", "NONE", "nOnE", "", None, 5, ["RS256"], "HS256", "RS512", "PS256"]
)
async def test_no_algorithm_but_the_pinned_ones(name: Any) -> None:
    await refused(unsigned({"alg": name, "kid": "k"}))
    good = token()
    await refused(f"{part(json.dumps({'alg': name, 'kid': 'k'}))}.{good.split('.', 1)[1]}")


async def test_a_public_key_is_no_shared_secret() -> None:
    """The header says HS256, and what is known to everybody signed it."""
    jwk = json.dumps(public("RS256"))
    for secret in (pem("RS256"), pem("RS256").strip(), jwk.encode()):
        for kid in ("k", "o"):
            head = part(json.dumps({"alg": "HS256", "typ": "JWT", "kid": kid}))
            signing = f"{head}.{part(json.dumps(CLAIMS))}".encode()
            signature = jwt.get_algorithm_by_name("HS256").sign(signing, secret)
            await refused(f"{signing.decode()}.{part(signature)}")
    shared = jwt.encode(CLAIMS, "a shared secret of 32 bytes or so", "HS256", headers={"kid": "o"})
    await refused(shared)


async def test_a_key_verifies_its_own_algorithm_only() -> None:
    for header in ({"alg": "ES256", "kid": "k"}, {"alg": "RS256", "kid": "e"}, {"alg": "EdDSA", "kid": "e"}):
        await refused(f"{part(json.dumps(header))}.{token().split('.', 1)[1]}")


@pytest.mark.parametrize(
    "kid",
    [
        "",
        "K",
        "k\0",
        "../../etc/passwd",
        "/dev/null",
        "k' OR '1'='1",
        "http://evil.example/jwks",
        "x" * 257,
        1,
        [],
        {},
    ],
)
async def test_a_key_id_names_a_key_of_the_set_or_nothing(kid: Any) -> None:
    await refused(raw_token(json.dumps(CLAIMS), kid=kid))


async def test_keys_that_a_token_brings_along_are_not_looked_at() -> None:
    """Signed by a stranger, who says where to find the key."""
    bring = {
        "jku": "https://evil.example/jwks.json",
        "x5u": "https://evil.example/cert.pem",
        "jwk": public("RS256", "k", number=1),
        "x5c": ["MIIB"],
    }
    await refused(token(number=1, header=bring))
    assert await caller(accepting(), token(header=bring)), "and of the issuer's own they are no fault"


@pytest.mark.parametrize(
    "header",
    [{"crit": ["exp"]}, {"crit": []}, {"b64": False}, {"cty": "JWT"}, {"typ": "logout+jwt"}, {"typ": 1}],
)
async def test_headers_that_would_change_what_a_token_means(header: dict[str, Any]) -> None:
    await refused(token(header=header))


async def test_names_that_stand_twice() -> None:
    """Who reads the first and who reads the last would see two callers."""
    body = json.dumps(CLAIMS)
    await refused(raw_token(body[:-1] + ', "tenant": "two"}'))
    await refused(raw_token('{"role": "operator", ' + body[1:]))
    await refused(raw_token(body, head='{"alg":"RS256","kid":"k","alg":"none"}'))
    assert await caller(accepting(), raw_token(body))


@pytest.mark.parametrize(
    "body",
    [
        "",
        "null",
        "[]",
        '"one"',
        "7",
        json.dumps(CLAIMS) + "x",
        json.dumps(CLAIMS)[:-1],
        json.dumps({**CLAIMS, "exp": float("inf")}),
        json.dumps({**CLAIMS, "exp": float("nan")}),
        json.dumps({**CLAIMS, "nbf": 0}).replace('"nbf": 0', '"nbf": 1e999'),
        json.dumps({**CLAIMS, "exp": 0}).replace('"exp": 0', '"exp": -1e999'),
        "[" * 5000,
        '{"a":' * 900,
        json.dumps(CLAIMS).encode("utf-16"),
        b"\xff\xfe",
        json.dumps({**CLAIMS, "tenant": "\ud800"}),
        json.dumps({**CLAIMS, "sub": "ann\u202eboss\u0000"}),
    ],
)
async def test_bodies_that_are_none(body: str | bytes) -> None:
    await refused(raw_token(body))


async def test_every_bit_of_a_signature_and_of_what_is_signed_counts() -> None:
    head, body, signature = token().split(".")
    other = part(json.dumps({**CLAIMS, "role": "operator"}))
    for credential in (
        f"{head}.{other}.{signature}",
        f"{head}.{body}.",
        f"{head}.{body}.{signature[:-4]}",
        f"{head}.{body}.{'A' if signature[0] != 'A' else 'B'}{signature[1:]}",
        f"{head}.{body}.{signature}.{signature}",
        f"{head}.{body}",
        f".{body}.{signature}",
        f"{head}..{signature}",
        "..",
        f"{head}.{body}.{signature} ",
        f"{head}.{body}\n.{signature}",
        token(number=1),
    ):
        await refused(credential)


async def test_a_token_is_of_bounded_size() -> None:
    room = MAX_TOKEN_BYTES - len(token(pad=""))
    fits = token(pad="x" * (room * 3 // 4 - 8))
    assert MAX_TOKEN_BYTES - 32 <= len(fits) <= MAX_TOKEN_BYTES
    assert await caller(accepting(), fits)
    await refused(token(pad="x" * room))
    await refused("a." * 100_000)
    await refused("é.é.é")


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60) | st.lists(st.text(max_size=30), min_size=3, max_size=3).map(".".join))
async def test_no_text_is_an_error_of_another_kind(text: str) -> None:
    with pytest.raises(CredentialInvalid):
        await accepting().authenticate({"authorization": f"Bearer {text}"})


@settings(max_examples=100, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(sorted(CLAIMS)),
        st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists),
    )
)
async def test_no_claims_are_an_error_of_another_kind(claims: dict[str, Any]) -> None:
    """Whatever the issuer signs: a caller as it says, or the refusal."""
    authenticator = accepting()
    try:
        made = await caller(authenticator, raw_token(json.dumps({**CLAIMS, **claims}), "EdDSA", kid="d"))
    except CredentialInvalid:
        return
    assert made.tenant == {**CLAIMS, **claims}["tenant"]
    assert made.role is not Role.SERVICE


def test_the_helper_signs_with_different_keys() -> None:
    """The control of the tests above: a stranger's key is another one."""
    assert private("RS256", 0) is not private("RS256", 1)
