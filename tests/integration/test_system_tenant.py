"""The tenant that services work for all tenants under is nobody's (SPEC J-5, SV-6)."""

from __future__ import annotations

from pathlib import Path

import grpc
from palimpsest.derived.v1 import derived_pb2
from palimpsest.gateway.v1 import administration_pb2

from services.kit.identity import Role
from services.kit.tenants import SYSTEM_TENANT
from tests.integration.embedded_suite import failure, running


async def test_no_key_is_of_the_system_tenant(tmp_path: Path) -> None:
    """Its jobs concern every tenant: a key of that name would trigger them, and read their errors."""
    async with running(tmp_path / "data") as suite:
        other = await suite.stub(await suite.key(Role.OPERATOR, tenant="systems"))
        await other.TriggerSchedule(derived_pb2.TriggerScheduleRequest(name="reflect"))
        stub = await suite.stub(await suite.key(Role.OPERATOR, tenant=SYSTEM_TENANT))
        for call in (
            stub.TriggerSchedule(derived_pb2.TriggerScheduleRequest(name="reflect")),
            stub.ListJobs(administration_pb2.ListJobsRequest()),
        ):
            assert (await failure(call))[0] is grpc.StatusCode.UNAUTHENTICATED
