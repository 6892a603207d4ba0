"""API keys over a socket: by the RPCs, the client and the command line (SPEC G-9)."""

from __future__ import annotations

import asyncio
import json
import stat
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import grpc
import pytest
import pytest_asyncio
from click.testing import CliRunner, Result
from google.protobuf.duration_pb2 import Duration
from palimpsest.gateway.v1 import administration_pb2 as pb
from structlog.testing import capture_logs

import palimpsest
from palimpsest import errors
from palimpsest.cli.main import main
from services.kit.identity import Role
from tests.integration.embedded_suite import Running, failure, running

pytestmark = pytest.mark.asyncio(loop_scope="module")
CODE = grpc.StatusCode
Run = Callable[..., Awaitable[Result]]
HOUR = Duration(seconds=3600)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def suite(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    # Its log would be taken for the commands' output, as all of it is one process.
    with capture_logs():
        async with running(tmp_path_factory.mktemp("keys") / "data") as made:
            yield made


@pytest_asyncio.fixture(loop_scope="module")
async def stub(suite: Running) -> Any:
    return await suite.stub()


@pytest_asyncio.fixture(loop_scope="module")
async def client(suite: Running) -> AsyncIterator[palimpsest.AsyncClient]:
    async with palimpsest.AsyncClient(f"127.0.0.1:{suite.port}", api_key=suite.operator) as made:
        yield made


@pytest.fixture
def run(suite: Running) -> Run:
    """Runs a command against the suite, which it finds by its data folder."""
    environment = {
        "PALIMPSEST_TARGET": f"127.0.0.1:{suite.port}",
        "PALIMPSEST_API_KEY": None,
        "PALIMPSEST_DATA": str(suite.data),
    }

    async def call(*arguments: str) -> Result:
        runner = CliRunner(env=environment)
        return await asyncio.to_thread(runner.invoke, main, arguments)

    return call


async def opens(suite: Running, secret: str) -> bool:
    stub = await suite.stub(secret)
    try:
        await stub.GetStatus(pb.GetStatusRequest())
    except grpc.aio.AioRpcError as error:
        return error.code() is not CODE.UNAUTHENTICATED
    return True


async def made(stub: Any, **fields: Any) -> pb.CreateApiKeyResponse:
    answer: pb.CreateApiKeyResponse = await stub.CreateApiKey(
        pb.CreateApiKeyRequest(**{"role": pb.KEY_ROLE_READER, **fields})
    )
    return answer


async def test_a_rotated_key_opens_with_both_secrets_for_the_overlap(suite: Running, stub: Any) -> None:
    key = await made(stub)
    rotated = await stub.RotateApiKey(pb.RotateApiKeyRequest(key_id=key.key.id, overlap=HOUR))
    assert rotated.key.id == key.key.id
    assert rotated.secret != key.secret
    assert await opens(suite, key.secret)
    assert await opens(suite, rotated.secret)
    read = (await stub.GetApiKey(pb.GetApiKeyRequest(key_id=key.key.id))).key
    assert read == rotated.key
    ends = read.previous_secret_expire_time.ToMicroseconds() - read.rotate_time.ToMicroseconds()
    assert ends == HOUR.seconds * 1_000_000
    at_once = await stub.RotateApiKey(pb.RotateApiKeyRequest(key_id=key.key.id))
    assert [await opens(suite, s) for s in (key.secret, rotated.secret, at_once.secret)] == [
        False,
        False,
        True,
    ]
    for file in suite.data.glob("gateway.db*"):
        assert not {s for s in (rotated.secret, at_once.secret) if s.encode() in file.read_bytes()}


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"overlap": Duration(seconds=30 * 86_400 + 1)}, "overlap"),
        ({"overlap": Duration(seconds=-1)}, "overlap"),
        ({"lifetime": Duration(seconds=59)}, "lifetime"),
        ({"lifetime": Duration(seconds=200 * 366 * 86_400)}, "lifetime"),
        ({"key_id": ""}, "key_id"),
        ({"key_id": "x" * 65}, "key_id"),
    ],
)
async def test_a_bad_rotation_is_named_and_changes_nothing(
    suite: Running, stub: Any, fields: dict[str, Any], field: str
) -> None:
    key = await made(stub)
    request = pb.RotateApiKeyRequest(**{"key_id": key.key.id, **fields})
    code, reason, named = await failure(stub.RotateApiKey(request))
    assert (code, reason, named) == (CODE.INVALID_ARGUMENT, "INVALID_FIELD", [field])
    assert await opens(suite, key.secret)


async def test_a_foreign_key_is_as_one_that_is_not_there(suite: Running, stub: Any) -> None:
    secret = await suite.key(Role.READER, "elsewhere")
    for key_id in (secret.split("_")[1], "0" * 16):
        for call, request in (
            (stub.GetApiKey, pb.GetApiKeyRequest(key_id=key_id)),
            (stub.RotateApiKey, pb.RotateApiKeyRequest(key_id=key_id)),
            (stub.RevokeApiKey, pb.RevokeApiKeyRequest(key_id=key_id)),
        ):
            assert (await failure(call(request)))[:2] == (CODE.NOT_FOUND, "RESOURCE_NOT_FOUND")
        changes = await stub.ListApiKeyChanges(pb.ListApiKeyChangesRequest(key_id=key_id))
        assert not changes.changes
    assert await opens(suite, secret)


async def test_the_last_operator_cannot_lock_everybody_out(suite: Running) -> None:
    tenant = "alone"
    only = await suite.key(Role.OPERATOR, tenant)
    await suite.key(Role.ADMIN, tenant)
    await suite.key(Role.OPERATOR, tenant, frozenset({"ada"}))
    stub = await suite.stub(only)
    mine = pb.RevokeApiKeyRequest(key_id=only.split("_")[1])
    assert (await failure(stub.RevokeApiKey(mine)))[:2] == (CODE.FAILED_PRECONDITION, "STATE_CONFLICT")
    assert await opens(suite, only)
    second = await made(stub, role=pb.KEY_ROLE_OPERATOR)
    await stub.RevokeApiKey(mine)
    assert (await opens(suite, only), await opens(suite, second.secret)) == (False, True)


async def test_changes_say_who_and_page(suite: Running) -> None:
    tenant = "audited"
    secret = await suite.key(Role.ADMIN, tenant)
    stub = await suite.stub(secret)
    key = await made(stub)
    await stub.RotateApiKey(pb.RotateApiKeyRequest(key_id=key.key.id))
    await stub.RevokeApiKey(pb.RevokeApiKeyRequest(key_id=key.key.id))
    listed = await stub.ListApiKeyChanges(pb.ListApiKeyChangesRequest(key_id=key.key.id))
    by = f"key:{secret.split('_')[1]}"
    assert [(change.kind, change.subject) for change in listed.changes] == [
        (pb.API_KEY_CHANGE_KIND_REVOKED, by),
        (pb.API_KEY_CHANGE_KIND_ROTATED, by),
        (pb.API_KEY_CHANGE_KIND_CREATED, by),
    ]
    everything = (await stub.ListApiKeyChanges(pb.ListApiKeyChangesRequest())).changes
    assert len(everything) == 4
    found, token = [], ""
    while True:
        page = await stub.ListApiKeyChanges(pb.ListApiKeyChangesRequest(page_size=3, page_token=token))
        found += page.changes
        token = page.next_page_token
        if not token:
            break
    assert found == list(everything)
    odd = pb.ListApiKeyChangesRequest(key_id=key.key.id, page_size=1, page_token="abc")
    assert (await failure(stub.ListApiKeyChanges(odd)))[:2] == (CODE.INVALID_ARGUMENT, "INVALID_PAGE_TOKEN")


async def test_the_client_knows_keys_and_their_changes(client: palimpsest.AsyncClient) -> None:
    created = await client.create_key("writer", display_name="importer", agent_ids=["ada"])
    rotated = await client.rotate_key(created.key.id)
    key = await client.key(created.key.id)
    assert (key.rotate_time, key.agent_ids) == (rotated.key.rotate_time, ("ada",))
    assert rotated.secret not in repr(rotated)
    await client.revoke_key(key.id)
    assert [change.kind async for change in client.key_changes(key_id=key.id, page_size=2)] == [
        "revoked",
        "rotated",
        "created",
    ]
    with pytest.raises(errors.StateConflictError):
        await client.rotate_key(key.id)


async def test_the_command_prints_a_secret_once_and_alone(suite: Running, run: Run) -> None:
    created = await run("keys", "create", "--role", "reader", "--name", "for reading", "--expires-in", "7d")
    assert created.exit_code == 0, created.output
    secret = created.stdout.strip()
    assert await opens(suite, secret)
    key_id = secret.split("_")[1]
    assert f"created: {key_id} (reader, until " in created.stderr
    listed = await run("keys", "list")
    [line] = [line for line in listed.stdout.splitlines() if line.startswith(key_id)]
    assert "reader" in line
    assert line.endswith("all agents  for reading")
    assert secret not in listed.output
    rotated = await run("keys", "rotate", key_id, "--overlap", "1h", "--json")
    assert await opens(suite, json.loads(rotated.stdout)["secret"])
    assert f"revoked: {key_id}" in (await run("keys", "revoke", key_id)).stdout
    assert not await opens(suite, secret)
    changes = await run("keys", "changes", key_id, "--limit", "2")
    assert [line.split()[3] for line in changes.stdout.splitlines()] == ["revoked", "rotated"]
    for arguments in (["create"], ["create", "--role", "owner"], ["rotate", key_id, "--overlap", "soon"]):
        assert (await run("keys", *arguments)).exit_code == 2


async def test_rotating_the_key_of_the_data_folder_renews_its_file(suite: Running, run: Run) -> None:
    path = suite.data / "api-key"
    old = path.read_text().strip()
    rotated = await run("keys", "rotate", old.split("_")[1], "--overlap", "1h")
    assert f"written to {path}" in rotated.stderr
    assert path.read_text().strip() == rotated.stdout.strip() != old
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert (await run("status")).exit_code == 0
    other = (await run("keys", "create", "--role", "reader")).stdout.split("_")[1]
    kept = path.read_text()
    await run("keys", "rotate", other)
    assert path.read_text() == kept, "another key's file is left alone"
