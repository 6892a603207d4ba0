"""From messages to themes: conversations are summed up, and the attractor follows (SPEC J-5, J-12, K-3)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from palimpsest.derived.v1 import derived_pb2, derived_pb2_grpc
from palimpsest.gateway.v1 import conversations_pb2

import palimpsest
from palimpsest.errors import NotFoundError
from services.compactor.adapters.summary_handler import BATCHES
from tests.integration.embedded_suite import AGENT, Keyed, prepare, running, said
from tests.waiting import until

GARDEN = (
    "I want to grow tomatoes and beans in the vegetable beds this spring.",
    "The soil of the vegetable beds needs compost before the tomatoes are planted.",
    "We decided to plant the tomatoes against the south wall.",
    "Water the tomatoes and the beans in the evening.",
    "Next step: sow the beans beside the fence.",
)
DATABASE = (
    "I want to move the billing service to PostgreSQL.",
    "The invoices table of the billing service is the largest in PostgreSQL.",
    "We decided to add indexes to the invoices table before the migration.",
    "The migration of the billing service to PostgreSQL took five hours.",
    "Next step: rehearse the migration of the invoices at night.",
)


@pytest.fixture
async def suite(tmp_path: Path) -> AsyncIterator[tuple[Any, Any, palimpsest.AsyncClient]]:
    async with (
        running(tmp_path / "data") as made,
        grpc.aio.insecure_channel(f"127.0.0.1:{made.port}") as channel,
        palimpsest.AsyncClient(f"127.0.0.1:{made.port}", api_key=made.operator, agent=AGENT) as client,
    ):
        gateway = await made.stub()
        await prepare(gateway)
        yield gateway, Keyed(derived_pb2_grpc.DerivedWorkServiceStub(channel), made.operator), client


async def test_conversations_about_two_things_make_two_basins(
    suite: tuple[Any, Any, palimpsest.AsyncClient],
) -> None:
    gateway, derived, client = suite
    talks = {f"{name}{place}": texts for place in (1, 2) for name, texts in (("g", GARDEN), ("d", DATABASE))}
    for conversation, texts in talks.items():
        await gateway.CreateConversation(
            conversations_pb2.CreateConversationRequest(agent_id=AGENT, conversation_id=conversation)
        )
        await gateway.RecordTurn(
            conversations_pb2.RecordTurnRequest(
                agent_id=AGENT,
                conversation_id=conversation,
                messages=[said(text, author="Ann") for text in texts],
            )
        )
    with pytest.raises(NotFoundError):
        await client.basins()

    async def all_in() -> bool:
        # Batches choose what is indexed by now, so they are asked for until nothing is left.
        await derived.TriggerSchedule(derived_pb2.TriggerScheduleRequest(name=BATCHES.name))
        try:
            return set((await client.attractor()).source_ids) == set(talks)
        except NotFoundError:
            return False

    await until(all_in)
    body = (await client.attractor()).body
    members = [set(basin["members"]) for basin in body["basins"]]
    assert sorted(map(sorted, members)) == [["d1", "d2"], ["g1", "g2"]]
    garden = next(one for one in await client.basins() if one.member_count == 2 and "omato" in one.label)
    assert (await client.name_basin(garden.id, "Garden")).title == "Garden"
    prompt = await client.assemble_prompt("g1", "What next?")
    assert "- Garden" in prompt.text  # G-1
