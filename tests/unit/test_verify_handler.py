"""Jobs that verify memories, from the worker's side (SPEC S-7, J-3, J-16)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, cast

import pytest
from palimpsest.semantic.v1 import upkeep_pb2 as pb

from services.compactor.adapters.upkeep_calls import SemanticUpkeep
from services.compactor.adapters.verify_handler import BAD_PAYLOAD, VERIFY_MEMORY, VerifyHandler
from services.compactor.app.ports import Done, Failed, Outcome
from services.compactor.domain.ledger import Job, JobState
from services.kit.context import current_principal
from services.kit.errors import DependencyDown
from services.kit.identity import Role

NOW = datetime(2031, 5, 4, 3, tzinfo=UTC)
SECONDS = 17.0


class Stub:
    """UpkeepService.VerifyMemory, which notes who calls, for what, and for how long."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Role, frozenset[str] | None, str, str, float]] = []
        self.down = False

    async def VerifyMemory(
        self, request: pb.VerifyMemoryRequest, *, timeout: float
    ) -> pb.VerifyMemoryResponse:
        caller = current_principal()
        self.calls.append(
            (caller.tenant, caller.role, caller.agents, request.agent_id, request.memory_id, timeout)
        )
        if self.down:
            raise DependencyDown
        return pb.VerifyMemoryResponse(engine=f"model/1 {request.memory_id}")


def job(payload: bytes) -> Job:
    return Job(
        id="j",
        tenant="acme",
        agent_id="ada",
        type=VERIFY_MEMORY,
        subject="memories/m",
        key="k",
        payload=payload,
        state=JobState.RUNNING,
        max_attempts=5,
        created=NOW,
        updated=NOW,
        due=None,
        revision=1,
    )


async def done(stub: Stub, *payloads: bytes) -> list[Outcome]:
    handler = VerifyHandler(SemanticUpkeep(cast("Any", stub)), SECONDS)
    return list(await handler.run("acme", "ada", [job(payload) for payload in payloads]))


async def test_a_memory_is_verified_for_its_agent_within_the_calls_time_and_the_job_says_by_whom() -> None:
    """SV-6, J-16."""
    stub = Stub()
    assert await done(stub, b'{"memory_id":"m"}') == [Done(engine="model/1 m")]
    assert stub.calls == [("acme", Role.SERVICE, frozenset({"ada"}), "ada", "m", SECONDS)]


@pytest.mark.parametrize("payload", [b"", b"{}", b'{"memory_id":7}', b'{"memory_id":""}', b"[1]"])
async def test_a_payload_that_names_no_memory_is_hopeless(payload: bytes) -> None:
    """J-3: and costs no other job."""
    stub = Stub()
    bad, good = await done(stub, payload, b'{"memory_id":"m"}')
    assert (bad, good) == (Failed(error=BAD_PAYLOAD, hopeless=True), Done(engine="model/1 m"))
    assert len(stub.calls) == 1


async def test_while_semantic_is_away_the_job_waits() -> None:
    """J-2: by the exception for which the worker holds nothing against it."""
    stub = Stub()
    stub.down = True
    with pytest.raises(DependencyDown):
        await done(stub, b'{"memory_id":"m"}')
