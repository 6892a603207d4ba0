"""Odd headers over gRPC: a clear refusal, and no key in an answer or a log (SPEC G-9, X-1, X-3)."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
import pytest_asyncio
from google.rpc.status_pb2 import Status
from palimpsest.gateway.v1 import administration_pb2 as pb
from palimpsest.gateway.v1 import gateway_pb2_grpc
from structlog.testing import capture_logs

from services.gateway.adapters.jwt_tokens import MAX_TOKEN_BYTES
from services.gateway.domain.keys import new_secret
from services.kit.identity import Role
from tests.integration.embedded_suite import Running, running

pytestmark = pytest.mark.asyncio(loop_scope="module")
CODE = grpc.StatusCode
Metadata = tuple[tuple[str, Any], ...]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def suite(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    async with running(tmp_path_factory.mktemp("headers") / "data") as made:
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def stub(suite: Running) -> AsyncIterator[Any]:
    async with grpc.aio.insecure_channel(f"127.0.0.1:{suite.port}") as channel:
        yield gateway_pb2_grpc.GatewayServiceStub(channel)


class Answer:
    """What a call with these headers gives: its code, and all of the text that comes back."""

    def __init__(self, code: CODE, text: str, headers: dict[str, Any]) -> None:
        self.code = code
        self.text = text
        self.headers = headers


async def answer(stub: Any, *metadata: tuple[str, Any]) -> Answer:
    call = stub.GetStatus(pb.GetStatusRequest(), metadata=metadata, timeout=10)
    try:
        text = str(await call)
        code = CODE.OK
    except grpc.aio.AioRpcError as error:
        code = error.code()
        raw = dict(error.trailing_metadata() or ()).get("grpc-status-details-bin", b"")
        text = f"{error.details()} {Status.FromString(raw)}"
    headers = dict((*(await call.initial_metadata()), *(await call.trailing_metadata())))
    return Answer(code, text, headers)


def bearer(secret: str, word: str = "Bearer") -> tuple[str, str]:
    return ("authorization", f"{word} {secret}")


@pytest.mark.parametrize("word", ["Bearer", "bearer", "BEARER", "bEaReR"])
async def test_the_word_before_the_key_is_the_same_in_any_case(suite: Running, stub: Any, word: str) -> None:
    """RFC 9110, 11.1."""
    assert (await answer(stub, bearer(suite.operator, word))).code is CODE.OK


async def test_no_credential_or_one_of_another_form(suite: Running, stub: Any) -> None:
    key = suite.operator
    odd: list[Metadata] = [
        (),
        (("authorization", ""),),
        (("authorization", "Bearer"),),
        (("authorization", "Bearer "),),
        (("authorization", key),),
        (("authorization", f"Basic {key}"),),
        (("authorization", f"Bearer  {key}"),),
        (("authorization", f"Bearer {key},Bearer {key}"),),
        (("authorization", f'Bearer "{key}"'),),
        (("authorization", f"Bearer {key[:-1]}"),),
        (("authorization", f"Bearer {key}x"),),
        (("authorization", f"Bearer {key.upper()}"),),
        (("authorization-bin", f"Bearer {key}".encode()),),
        (("x-authorization", f"Bearer {key}"),),
        (("proxy-authorization", f"Bearer {key}"),),
        (("cookie", f"authorization=Bearer {key}"),),
        (("authorization", f"Bearer {'.' * 3000}"),),
    ]
    for metadata in odd:
        refused = await answer(stub, *metadata)
        assert refused.code is CODE.UNAUTHENTICATED, metadata
        assert key not in refused.text
    assert (await answer(stub, bearer(key))).code is CODE.OK


async def test_two_credentials_are_none(suite: Running, stub: Any) -> None:
    reader = await suite.key(Role.READER)
    for first, second in (
        (suite.operator, reader),
        (reader, suite.operator),
        (reader, reader),
        ("nonsense", reader),
        (reader, ""),
    ):
        refused = await answer(stub, bearer(first), bearer(second))
        assert (refused.code, "more than one credential" in refused.text) == (CODE.UNAUTHENTICATED, True)
        assert reader not in refused.text


async def test_what_claims_to_come_from_a_service_does_not(suite: Running, stub: Any) -> None:
    """Headers of proxies and of other services count for nothing."""
    forged = (
        ("x-forwarded-user", "operator"),
        ("x-tenant", "other"),
        ("x-palimpsest-role", "service"),
        ("grpc-internal-encoding-request", "identity"),
    )
    assert (await answer(stub, *forged)).code is CODE.UNAUTHENTICATED
    reader = await suite.key(Role.READER, "elsewhere")
    call = stub.ListApiKeys(pb.ListApiKeysRequest(), metadata=(bearer(reader), *forged), timeout=10)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    assert caught.value.code() is CODE.PERMISSION_DENIED


async def test_a_long_token_gets_through_and_headers_beyond_any_use_do_not(suite: Running, stub: Any) -> None:
    """The longest that may be a token is judged as one; far more ends the call, not the server."""
    for _ in range(20):  # gRPC refuses by chance between its two bounds: this must be below both
        assert (await answer(stub, bearer("x" * MAX_TOKEN_BYTES))).code is CODE.UNAUTHENTICATED
    huge = (("x-padding", "x" * 200_000), bearer(suite.operator))
    assert (await code_of(stub, *huge)) in (CODE.RESOURCE_EXHAUSTED, CODE.INTERNAL, CODE.UNAVAILABLE)
    many = (*((f"x-{n}", "y" * 100) for n in range(1000)), bearer(suite.operator))
    assert (await code_of(stub, *many)) in (CODE.RESOURCE_EXHAUSTED, CODE.INTERNAL, CODE.UNAVAILABLE)
    assert (await answer(stub, bearer(suite.operator))).code is CODE.OK


async def code_of(stub: Any, *metadata: tuple[str, Any]) -> CODE:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stub.GetStatus(pb.GetStatusRequest(), metadata=metadata, timeout=10)
    return caught.value.code()


@pytest.mark.parametrize(
    "given",
    ['x", "code": "OK', "x} {", "\\u000a", "%0a%0d", "x" * 129, "x" * 5000, ""],
)
async def test_a_request_id_is_one_value_in_the_log_or_is_replaced(
    suite: Running, stub: Any, given: str
) -> None:
    with capture_logs() as logs:
        refused = await answer(stub, bearer("nonsense"), ("x-request-id", given))
    [line] = [line for line in logs if line["event"] == "call_failed"]
    kept = 0 < len(given) <= 128 and given.isprintable()
    assert (line["request_id"] == given) == kept
    assert line["code"] == "CREDENTIAL_INVALID"
    assert refused.headers["x-request-id"] == line["request_id"]
    assert set(line) == {"event", "rpc", "request_id", "code", "seconds", "log_level"}


async def test_a_key_that_is_sent_as_request_id_is_not_written_down(suite: Running, stub: Any) -> None:
    key = await suite.key(Role.READER)
    with capture_logs() as logs:
        call = stub.ListApiKeys(
            pb.ListApiKeysRequest(), metadata=(bearer(key), ("x-request-id", f"id {key}")), timeout=10
        )
        with pytest.raises(grpc.aio.AioRpcError):
            await call
    assert any(line["event"] == "call_failed" for line in logs)
    assert key not in str(logs)
    assert key not in dict(await call.trailing_metadata())["x-request-id"]


async def test_no_key_is_in_any_log_line_nor_in_an_answer(suite: Running) -> None:
    """Whatever is done with it: used, refused, made, rotated, revoked, malformed (X-3)."""
    async with grpc.aio.insecure_channel(f"127.0.0.1:{suite.port}") as channel:
        stub: Any = gateway_pb2_grpc.GatewayServiceStub(channel)
        operator = (bearer(suite.operator),)
        with capture_logs() as logs:
            made = await stub.CreateApiKey(
                pb.CreateApiKeyRequest(role=pb.KEY_ROLE_READER, display_name="plain"), metadata=operator
            )
            rotated = await stub.RotateApiKey(pb.RotateApiKeyRequest(key_id=made.key.id), metadata=operator)
            secrets = [suite.operator, made.secret, rotated.secret, new_secret()[1], "eyJ.not-a.token"]
            texts = []
            for secret in secrets:
                texts.append((await answer(stub, bearer(secret))).text)
                with pytest.raises(grpc.aio.AioRpcError) as caught:
                    await stub.GetApiKey(
                        pb.GetApiKeyRequest(key_id=secret[:64]), metadata=(bearer(secret),), timeout=10
                    )
                assert caught.value.code() in (CODE.UNAUTHENTICATED, CODE.PERMISSION_DENIED, CODE.NOT_FOUND)
            listed = await stub.ListApiKeys(pb.ListApiKeysRequest(), metadata=operator)
            changes = await stub.ListApiKeyChanges(pb.ListApiKeyChangesRequest(), metadata=operator)
            await stub.RevokeApiKey(pb.RevokeApiKeyRequest(key_id=made.key.id), metadata=operator)
        everything = f"{logs} {texts} {listed} {changes}"
        assert sum(line["event"] == "call_failed" for line in logs) >= len(secrets)
        assert made.key.id in everything, "ids are no secrets: the control of the search"
        for secret in secrets:
            parts = (secret, secret.split("_", 2)[-1], base64.b64encode(secret.encode()).decode())
            assert not [part for part in parts if part in everything], secret[:3]
