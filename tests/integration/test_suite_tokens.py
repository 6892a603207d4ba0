"""Tokens of an issuer beside API keys, over a socket: what they may do, and who they are on record (G-9)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
import pytest_asyncio
from palimpsest.gateway.v1 import administration_pb2 as pb
from palimpsest.gateway.v1 import conversations_pb2, memories_pb2
from structlog.testing import capture_logs

from services.kit.errors import CredentialInvalid
from services.kit.identity import TokenVerifier
from services.kit.times import now
from tests.integration.embedded_suite import AGENT, Running, failure, prepare, running
from tests.unit.issuer_parts import AUDIENCE, ISSUER, key_set, public, token

pytestmark = pytest.mark.asyncio(loop_scope="module")
CODE = grpc.StatusCode
KEYS = "keys.json"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def suite(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    """Its tokens' keys are in a file that is not there yet."""
    folder = tmp_path_factory.mktemp("tokens")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PALIMPSEST_GATEWAY_JWT_ISSUER", ISSUER)
        environment.setenv("PALIMPSEST_GATEWAY_JWT_AUDIENCE", AUDIENCE)
        environment.setenv("PALIMPSEST_GATEWAY_JWT_JWKS_FILE", str(folder / KEYS))
        async with running(folder / "data") as made:
            assert await code_of(made, signed()) is CODE.UNAVAILABLE, "it starts without the issuer's keys"
            assert await code_of(made, made.operator) is CODE.OK, "and API keys work"
            (folder / KEYS).write_bytes(key_set(public("EdDSA", "d")))
            yield made


def signed(**claims: Any) -> str:
    begins = now().timestamp()
    return token("EdDSA", kid="d", **{"tenant": "default", "iat": begins, "exp": begins + 300, **claims})


async def code_of(suite: Running, credential: str) -> CODE:
    stub = await suite.stub(credential)
    try:
        await stub.GetStatus(pb.GetStatusRequest())
    except grpc.aio.AioRpcError as error:
        code: CODE = error.code()
        return code
    return CODE.OK


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def ready(suite: Running) -> Running:
    """The issuer's keys are read: a while after the first failure, as its pause demands."""
    for _ in range(100):
        if await code_of(suite, signed()) is CODE.OK:
            return suite
        await asyncio.sleep(0.1)
    raise AssertionError("the keys were not read")


async def test_a_token_reads_and_writes_as_it_says_and_no_further(ready: Running) -> None:
    await prepare(await ready.stub())
    writer = await ready.stub(signed(role="writer", agents=[AGENT]))
    remember = memories_pb2.RememberRequest(agent_id=AGENT, key="k", value="v")
    assert (await writer.Remember(remember)).created, "the services behind take the gateway's word"
    reader = await ready.stub(signed(role="reader", agents=[AGENT]))
    assert (await failure(reader.Remember(remember)))[:2] == (CODE.PERMISSION_DENIED, "NOT_ALLOWED")
    read = conversations_pb2.GetAgentRequest(agent_id=AGENT)
    assert (await reader.GetAgent(read)).agent.id == AGENT
    for claims, code in (
        ({"agents": ["bea"]}, CODE.PERMISSION_DENIED),
        ({"agents": []}, CODE.PERMISSION_DENIED),
        ({"tenant": "elsewhere", "agents": None}, CODE.NOT_FOUND),
        ({"exp": now().timestamp() - 60}, CODE.UNAUTHENTICATED),
        ({"role": "service"}, CODE.UNAUTHENTICATED),
    ):
        stub = await ready.stub(signed(**claims))
        assert (await failure(stub.GetAgent(read)))[0] is code, claims


async def test_what_a_token_does_to_keys_is_on_record_and_in_no_log(ready: Running) -> None:
    credential = signed(role="admin", agents=None, sub="ops@example.org")
    admin = await ready.stub(credential)
    with capture_logs() as logs:
        made = await admin.CreateApiKey(pb.CreateApiKeyRequest(role=pb.KEY_ROLE_READER))
        over = pb.CreateApiKeyRequest(role=pb.KEY_ROLE_OPERATOR)
        assert (await failure(admin.CreateApiKey(over)))[0] is CODE.PERMISSION_DENIED
    changes = await admin.ListApiKeyChanges(pb.ListApiKeyChangesRequest(key_id=made.key.id))
    assert [change.subject for change in changes.changes] == ["jwt:ops@example.org"]
    assert any(line["event"] == "call_failed" for line in logs)
    for secret in (made.secret, credential, credential.split(".")[2], "ops@example.org"):
        assert secret not in str(logs)


async def test_services_behind_take_neither_keys_nor_tokens_of_the_issuer(ready: Running) -> None:
    """SV-6: what the gateway accepts is not what they accept."""
    verifier = TokenVerifier(ready.secret, "episodic")
    for credential in (signed(), ready.operator):
        with pytest.raises(CredentialInvalid):
            await verifier.authenticate({"authorization": f"Bearer {credential}"})
