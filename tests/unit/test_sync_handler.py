"""Jobs that keep the remote memory, with a Semantic that answers as it is told to (SPEC S-15, J-3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
from palimpsest.semantic.v1 import semantic_pb2

from services.compactor.adapters.sync_handler import BAD_PAYLOAD, NO_REASON, SyncHandler
from services.compactor.app.ports import Done, Failed, Outcome
from services.compactor.domain.ledger import Job, JobState
from services.kit.context import current_principal
from services.kit.errors import DependencyDown
from services.kit.identity import Principal, Role

DOWN = "DEPENDENCY_DOWN: away"
NOW = datetime(2031, 5, 4, tzinfo=UTC)


@dataclass
class Semantic:
    """Gives prepared outcomes: an error each, and whether it is for good."""

    outcomes: Sequence[tuple[str, bool]]
    asked: list[tuple[Principal, list[str]]] = field(default_factory=list)

    async def SyncMemories(
        self, request: semantic_pb2.SyncMemoriesRequest
    ) -> semantic_pb2.SyncMemoriesResponse:
        self.asked.append((current_principal(), list(request.memory_ids)))
        outcomes = [
            semantic_pb2.SyncOutcome(ok=not error and not refused, error=error, refused=refused)
            for error, refused in self.outcomes
        ]
        return semantic_pb2.SyncMemoriesResponse(outcomes=outcomes)


def job(payload: bytes) -> Job:
    return Job(
        id="j",
        tenant="acme",
        agent_id="ada",
        type="sync_memory",
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


async def run(semantic: Any, *payloads: bytes) -> list[Outcome]:
    return list(await SyncHandler(semantic).run("acme", "ada", [job(payload) for payload in payloads]))


async def test_each_memory_has_its_own_outcome() -> None:
    """S-15: one that the data flow keeps in is not tried again."""
    semantic = Semantic([("", False), (DOWN, False), ("DATA_FLOW_REFUSED: x", True), ("", True)])
    payloads = [b'{"memory_id": "m%d"}' % n for n in range(4)]
    assert await run(semantic, *payloads) == [
        Done(),
        Failed(error=DOWN),
        Failed(error="DATA_FLOW_REFUSED: x", hopeless=True),
        Failed(error=NO_REASON, hopeless=True),
    ]
    ((principal, ids),) = semantic.asked
    assert ids == ["m0", "m1", "m2", "m3"]
    assert (principal.tenant, principal.role, principal.agents) == (
        "acme",
        Role.SERVICE,
        frozenset({"ada"}),
    )


@pytest.mark.parametrize("payload", [b"", b"{", b"[]", b"{}", b'{"memory_id": 3}', b'{"memory_id": ""}'])
async def test_a_payload_without_a_memory_is_hopeless_and_holds_up_no_other(payload: bytes) -> None:
    """J-3."""
    semantic = Semantic([("", False)])
    bad = Failed(error=BAD_PAYLOAD, hopeless=True)
    assert await run(semantic, payload, b'{"memory_id": "m"}') == [bad, Done()]
    assert semantic.asked[0][1] == ["m"]
    assert await run(semantic, payload) == [bad]
    assert len(semantic.asked) == 1


async def test_a_remote_memory_that_is_away_is_nobodys_fault() -> None:
    """J-3: the attempt does not count."""
    with pytest.raises(DependencyDown):
        await run(Semantic([(DOWN, False)] * 2), b'{"memory_id": "m"}', b'{"memory_id": "n"}')


async def test_an_answer_for_another_number_of_memories_is_a_fault() -> None:
    with pytest.raises(ValueError, match="another number"):
        await run(Semantic([("", False)] * 2), b'{"memory_id": "m"}')
