"""The issuer's keys: fetched once for many, kept while it is down, renewed when it rotates (SPEC G-9)."""

from __future__ import annotations

import asyncio
import gzip
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from services.gateway.adapters.jwks import (
    FRESH_SECONDS,
    KEPT_SECONDS,
    MAX_BYTES,
    PAUSE_SECONDS,
    RETRY_SECONDS,
    KeySet,
    from_file,
    from_url,
    parse,
)
from services.gateway.adapters.jwt_choice import with_tokens
from services.gateway.adapters.jwt_tokens import JwtAuthenticator
from services.gateway.adapters.memory_keys import MemoryKeyStore
from services.gateway.app.credentials import Credentials
from services.gateway.app.keys import Keys
from services.gateway.config import GatewaySettings
from services.kit.errors import CredentialInvalid, DependencyDown, StartupError
from services.kit.identity import Principal, Role
from services.kit.times import now
from tests.unit.issuer_parts import AUDIENCE, EXPECTED, ISSUER, NOW, key_set, public, token

OLD, NEW = public("EdDSA", "old"), public("EdDSA", "new", number=1)


class Issuer:
    """Answers with `document`, after `gate`; None is down. Time stands where it is put."""

    def __init__(self, document: bytes | None = key_set(OLD)) -> None:
        self.document = document
        self.fetches = 0
        self.time = 1000.0
        self.gate = asyncio.Event()
        self.gate.set()
        self.keys = KeySet(self.fetch, lambda: self.time)

    async def fetch(self) -> bytes:
        self.fetches += 1
        await self.gate.wait()
        if self.document is None:
            raise httpx.ConnectError("down")
        return self.document

    async def knows(self, kid: str) -> bool:
        return await self.keys.find(kid, "EdDSA") is not None

    async def settled(self) -> None:
        """What began in the background is done."""
        for _ in range(5):
            await asyncio.sleep(0)


async def test_many_first_tokens_share_one_fetch_which_outlives_the_one_that_began_it() -> None:
    issuer = Issuer()
    issuer.gate.clear()
    waiting = [asyncio.create_task(issuer.knows("old")) for _ in range(50)]
    await issuer.settled()
    waiting[0].cancel()
    await issuer.settled()
    issuer.gate.set()
    outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    assert isinstance(outcomes[0], asyncio.CancelledError)
    assert outcomes[1:] == [True] * 49
    assert issuer.fetches == 1


async def test_an_issuer_that_is_down_at_the_start_is_asked_again_soon_and_not_by_every_token() -> None:
    issuer = Issuer(None)
    for _ in range(10):
        with pytest.raises(DependencyDown) as caught:
            await issuer.knows("old")
        assert caught.value.retry_after == RETRY_SECONDS
    assert issuer.fetches == 1
    issuer.document = key_set(OLD)
    issuer.time += RETRY_SECONDS
    assert await issuer.knows("old")


async def test_an_unknown_key_id_is_looked_for_at_most_once_in_half_a_minute() -> None:
    issuer = Issuer()
    assert await issuer.knows("old")
    assert not any([await issuer.knows(f"guess {n}") for n in range(100)])
    assert issuer.fetches == 1, "the set was just fetched"
    issuer.time += PAUSE_SECONDS
    assert not any(await asyncio.gather(*(issuer.knows(f"guess {n}") for n in range(100))))
    assert issuer.fetches == 2
    assert PAUSE_SECONDS == 30


async def test_a_key_that_the_issuer_rotated_in_is_found_under_load_and_the_old_one_goes() -> None:
    issuer = Issuer()
    assert await issuer.knows("old")
    issuer.time += PAUSE_SECONDS
    issuer.document = key_set(OLD, NEW)
    assert all(await asyncio.gather(*(issuer.knows(kid) for kid in ["new", "old"] * 50)))
    assert issuer.fetches == 2
    issuer.time += PAUSE_SECONDS
    issuer.document = key_set(NEW)
    assert await issuer.knows("old"), "nobody asked the issuer yet"
    issuer.time += FRESH_SECONDS
    await issuer.knows("new")
    await issuer.settled()
    assert not await issuer.knows("old")


async def test_keys_that_are_not_fresh_serve_while_they_are_renewed() -> None:
    issuer = Issuer()
    assert await issuer.knows("old")
    issuer.time += FRESH_SECONDS
    issuer.gate.clear()
    assert await issuer.knows("old"), "who has a key does not wait"
    assert await issuer.knows("old")
    await issuer.settled()
    assert issuer.fetches == 2
    issuer.gate.set()
    await issuer.keys.close()


@pytest.mark.parametrize(
    "broken", [None, b"", b"{}", b"[" * 5000, key_set(), b"\xff", b'{"keys": {"old": 1}}']
)
async def test_keys_are_kept_for_an_hour_while_they_cannot_be_renewed(broken: bytes | None) -> None:
    issuer = Issuer()
    assert await issuer.knows("old")
    issuer.document = broken
    for _ in range(3):
        issuer.time += KEPT_SECONDS / 4
        assert await issuer.knows("old")
        await issuer.settled()
    assert issuer.fetches == 4
    issuer.time += KEPT_SECONDS / 4
    with pytest.raises(DependencyDown):
        await issuer.knows("old")
    issuer.document = key_set(OLD)
    issuer.time += RETRY_SECONDS
    assert await issuer.knows("old")


def good(key_id: str, **fields: Any) -> dict[str, Any]:
    return {**public("RS256", key_id), **fields}


@pytest.mark.parametrize(
    "key",
    [
        good("k", use="enc"),
        good("k", key_ops=["sign"]),
        good("k", key_ops="verify"),
        good("k", alg="RS512"),
        good("k", alg="HS256"),
        good("k", d="AQAB"),
        good("k", n="AQAB"),
        good("k", n="not base64!"),
        good("k", n=7),
        good("k", kid=7),
        good("k", kty="EC"),
        public("RS256", "k", bits=1024),
        public("ES384", "k"),
        {"kty": "oct", "kid": "k", "k": "AQAB"},
        {"kty": "OKP", "crv": "X25519", "kid": "k", "x": "A" * 43},
        {"kid": "k"},
        {},
        None,
        "k",
        [],
    ],
)
async def test_keys_that_are_weak_private_or_for_something_else_are_left_out(key: Any) -> None:
    assert [each.id for each in parse(key_set(good("good"), key))] == ["good"]
    with pytest.raises(ValueError, match="no key"):
        parse(key_set(key))


async def test_of_keys_that_share_an_id_none_is_chosen() -> None:
    issuer = Issuer(key_set(OLD, {**NEW, "kid": "old"}))
    assert not await issuer.knows("old")
    assert await Issuer(key_set(OLD, public("RS256", "old"))).knows("old"), "the algorithm tells them apart"
    assert await issuer.keys.find(None, "EdDSA") is None
    assert await Issuer(key_set(OLD)).keys.find(None, "EdDSA") is not None


def answered(code: int, content: bytes, headers: dict[str, str] | None = None) -> httpx.Response:
    """An answer that is still to be read."""
    return httpx.Response(code, headers=headers, stream=httpx.ByteStream(content))


def served(*answers: httpx.Response) -> tuple[httpx.AsyncClient, list[httpx.Request]]:
    asked: list[httpx.Request] = []
    left = list(answers)

    def handle(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return left.pop(0)

    return httpx.AsyncClient(transport=httpx.MockTransport(handle)), asked


URL = "https://issuer.example/jwks.json"


async def test_a_set_is_fetched_from_its_url() -> None:
    http, asked = served(answered(200, key_set(OLD)))
    assert await from_url(URL, http)() == key_set(OLD)
    assert str(asked[0].url) == URL
    assert "authorization" not in asked[0].headers


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(302, headers={"location": "http://169.254.169.254/latest"}),
        answered(404, key_set(OLD)),
        httpx.Response(500),
        answered(200, b" " * MAX_BYTES + key_set(OLD)),
        answered(200, gzip.compress(key_set(OLD)), {"content-encoding": "gzip"}),
    ],
    ids=["redirect", "missing", "failing", "huge", "compressed"],
)
async def test_other_answers_give_no_keys_and_lead_nowhere(answer: httpx.Response) -> None:
    http, asked = served(answer)
    keys = KeySet(from_url(URL, http))
    with pytest.raises(DependencyDown):
        await keys.find("old", "EdDSA")
    assert len(asked) == 1


@pytest.mark.parametrize(
    "url",
    [
        "http://issuer.example/jwks.json",
        "http://127.0.0.1.evil.example/",
        "http://10.0.0.1/jwks.json",
        "ftp://issuer.example/jwks.json",
        "file:///etc/passwd",
        "https:///jwks.json",
        "https://user:password@issuer.example/",
        "issuer.example",
    ],
)
def test_urls_that_somebody_on_the_way_could_answer(url: str) -> None:
    with pytest.raises(StartupError) as caught:
        from_url(url, httpx.AsyncClient())
    assert "password" not in str(caught.value)


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost", "[::1]:9"])
def test_this_machine_may_answer_in_the_clear(host: str) -> None:
    assert callable(from_url(f"http://{host}/jwks.json", httpx.AsyncClient()))


async def test_a_file_is_read_again_when_it_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "jwks.json"
    fetch = from_file(path)
    with pytest.raises(FileNotFoundError):
        await fetch()
    path.write_bytes(key_set(OLD))
    assert await fetch() == key_set(OLD)
    path.write_bytes(b" " * (MAX_BYTES + 1))
    with pytest.raises(ValueError, match="too large"):
        await fetch()


@pytest.mark.parametrize(
    "chosen",
    [
        {"jwt_issuer": ISSUER},
        {"jwt_audience": AUDIENCE},
        {"jwt_jwks_url": URL},
        {"jwt_issuer": ISSUER, "jwt_audience": AUDIENCE},
        {"jwt_issuer": ISSUER, "jwt_jwks_url": URL},
        {"jwt_audience": AUDIENCE, "jwt_jwks_url": URL},
        {"jwt_issuer": ISSUER, "jwt_audience": AUDIENCE, "jwt_jwks_url": URL, "jwt_jwks_file": "keys.json"},
        {"jwt_issuer": ISSUER, "jwt_audience": AUDIENCE, "jwt_jwks_url": "http://issuer.example"},
    ],
)
async def test_half_of_the_settings_is_an_error_at_the_start(chosen: dict[str, Any]) -> None:
    async with AsyncExitStack() as stack:
        with pytest.raises(StartupError, match="jwt_"):
            with_tokens(Keys(MemoryKeyStore(), now), GatewaySettings(**chosen), stack)


async def test_with_the_settings_keys_and_tokens_are_accepted_and_without_them_keys_alone(
    tmp_path: Path,
) -> None:
    path = tmp_path / "jwks.json"
    path.write_bytes(key_set(OLD))
    keys = Keys(MemoryKeyStore(), now)
    maker = Principal(tenant="one", role=Role.OPERATOR)
    _, secret = await keys.create(maker, display_name="", role=Role.READER, agents=(), lifetime=None)
    signed = token("EdDSA", kid="old", exp=now().timestamp() + 60, iat=None)

    async def subject(authenticator: Any, credential: str) -> str:
        made: Principal = await authenticator.authenticate({"authorization": f"Bearer {credential}"})
        return made.subject

    async with AsyncExitStack() as stack:
        assert with_tokens(keys, GatewaySettings(), stack) is keys
        both = with_tokens(
            keys, GatewaySettings(jwt_issuer=ISSUER, jwt_audience=AUDIENCE, jwt_jwks_file=path), stack
        )
        assert await subject(both, signed) == "jwt:ann"
        assert (await subject(both, secret)).startswith("key:")
        for refused, authenticator in (
            (signed, keys),
            ("nonsense", both),
            (secret + "x", both),
            ("a.b.c", both),
        ):
            with pytest.raises(CredentialInvalid) as caught:
                await subject(authenticator, refused)
            assert str(caught.value) == str(CredentialInvalid())


async def test_while_the_issuer_is_down_keys_work_and_tokens_may_be_tried_again() -> None:
    issuer = Issuer(None)
    keys = Keys(MemoryKeyStore(), now)
    both = Credentials(keys, JwtAuthenticator(issuer.keys, EXPECTED, lambda: NOW))
    maker = Principal(tenant="one", role=Role.OPERATOR)
    _, secret = await keys.create(maker, display_name="", role=Role.READER, agents=(), lifetime=None)
    assert await both.authenticate({"authorization": f"Bearer {secret}"})
    with pytest.raises(DependencyDown):
        await both.authenticate({"authorization": f"Bearer {token('EdDSA', kid='old')}"})
    for malformed in ("nonsense", "a.b.c"):
        with pytest.raises(CredentialInvalid):
            await both.authenticate({"authorization": f"Bearer {malformed}"})
