"""The gateway with its keys and settings in PostgreSQL (SPEC G-9, G-12)."""

from __future__ import annotations

from pathlib import Path

import pytest
from google.protobuf.field_mask_pb2 import FieldMask
from palimpsest.gateway.v1 import administration_pb2
from palimpsest.settings.v1 import settings_pb2

from services.gateway.adapters.sql import migrations
from services.gateway.bootstrap import DATABASE_FILE
from tests.integration.embedded_suite import failure, running
from tests.postgres_server import SharedServer, shared_server


@pytest.fixture(scope="session")
def postgres_server(pytestconfig: pytest.Config) -> SharedServer:
    return shared_server(pytestconfig)


async def test_keys_and_settings_outlive_the_machine(
    tmp_path: Path, postgres_server: SharedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """G-9, G-12: a gateway on another machine knows them; each makes an operator's key of its own."""
    async with postgres_server.database(migrations("postgres")) as url:
        monkeypatch.setenv("PALIMPSEST_GATEWAY_DATABASE_URL", url)
        async with running(tmp_path / "one") as suite:
            stub = await suite.stub()
            made = await stub.CreateApiKey(
                administration_pb2.CreateApiKeyRequest(role=administration_pb2.KEY_ROLE_READER)
            )
            await stub.UpdateSettings(
                settings_pb2.UpdateSettingsRequest(
                    settings=settings_pb2.Settings(verify=False), update_mask=FieldMask(paths=["verify"])
                )
            )
            assert not (suite.data / DATABASE_FILE).exists()
        async with running(tmp_path / "two") as other:
            reader = await other.stub(made.secret)
            found = await reader.GetSettings(settings_pb2.GetSettingsRequest())
            assert found.settings == settings_pb2.Settings(verify=False)
            operator = await other.stub()
            keys = await operator.ListApiKeys(administration_pb2.ListApiKeysRequest())
            assert len(keys.keys) == 3
            await operator.RevokeApiKey(administration_pb2.RevokeApiKeyRequest(key_id=made.key.id))
            refused = await failure(reader.GetSettings(settings_pb2.GetSettingsRequest()))
            assert refused[1] == "CREDENTIAL_INVALID"
