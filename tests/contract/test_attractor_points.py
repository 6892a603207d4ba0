"""What is kept of each summary for the attractor, over both engines (SPEC J-12)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from services.compactor.adapters.sql.attractor_points import SqlAttractorPoints
from services.compactor.adapters.sql.documents import SqlDocuments
from services.compactor.domain.attractor import Concept, Point
from services.compactor.domain.attractor_geometry import pack
from services.compactor.domain.documents import Draft, attractor_key, summary_key
from services.kit.sql import SqlDatabase

TENANT, AGENT = "acme", "ada"
NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
MODEL = "model-1"
VECTOR = pack((0.6, 0.8))


@pytest.fixture
def points(compactor_sql: SqlDatabase) -> SqlAttractorPoints:
    return SqlAttractorPoints(compactor_sql)


@pytest.fixture
def documents(compactor_sql: SqlDatabase) -> SqlDocuments:
    return SqlDocuments(compactor_sql)


async def summarise(
    documents: SqlDocuments, conversation: str, tenant: str = TENANT, agent: str = AGENT, minute: int = 0
) -> int:
    """The next version of a summary."""
    key = summary_key(tenant, agent, conversation)
    draft = Draft(body={"text": "x"}, engine="test")
    written = NOW + timedelta(minutes=minute)
    return (await documents.put(key, draft, await documents.head(key), written)).version


def point(conversation: str, version: int = 1, hour: int = 0, vector: bytes = VECTOR) -> Point:
    return Point(
        conversation_id=conversation,
        version=version,
        time=NOW + timedelta(hours=hour, microseconds=7),
        vector=vector,
        title="Titel 🦉",
        concepts=(Concept(name='Wörter, "und"', relevance=0.25), Concept(name="b")),
    )


async def test_a_summary_is_changed_until_there_is_a_point_of_its_version_and_model(
    points: SqlAttractorPoints, documents: SqlDocuments
) -> None:
    for minute, conversation in enumerate(("c1", "c2", "c3")):
        await summarise(documents, conversation, minute=minute)
    await summarise(documents, "else", agent="bea")
    await summarise(documents, "else", tenant="other")
    await documents.put(
        attractor_key(TENANT, AGENT),
        Draft(body={}, engine="test"),
        await documents.head(attractor_key(TENANT, AGENT)),
        NOW,
    )
    assert await points.changed(TENANT, AGENT, MODEL, 10) == ["c3", "c2", "c1"]
    assert await points.changed(TENANT, AGENT, MODEL, 2) == ["c3", "c2"]
    await points.put(TENANT, AGENT, MODEL, [point("c1"), point("c3", vector=b"")])
    assert await points.changed(TENANT, AGENT, MODEL, 10) == ["c2"]
    assert await summarise(documents, "c1", minute=9) == 2
    assert await points.changed(TENANT, AGENT, MODEL, 10) == ["c1", "c2"]
    assert await points.changed(TENANT, AGENT, "model-2", 10) == ["c1", "c3", "c2"]


async def test_a_point_comes_back_as_it_was(points: SqlAttractorPoints) -> None:
    await points.put(TENANT, AGENT, MODEL, [point("c1", hour=1), point("c2", hour=2)])
    await points.put(TENANT, AGENT, MODEL, [point("c1", version=2, hour=3)])
    assert await points.newest(TENANT, AGENT, MODEL, 10) == (
        [point("c1", version=2, hour=3), point("c2", hour=2)],
        2,
    )


async def test_the_newest_points_of_the_model_that_say_something_are_given(
    points: SqlAttractorPoints,
) -> None:
    await points.put(TENANT, AGENT, MODEL, [point(f"c{hour}", hour=hour) for hour in range(5)])
    await points.put(TENANT, AGENT, MODEL, [point("empty", hour=9, vector=b"")])
    await points.put(TENANT, AGENT, "model-2", [point("newer", hour=9)])
    await points.put(TENANT, "bea", MODEL, [point("hers", hour=9)])
    found, count = await points.newest(TENANT, AGENT, MODEL, 3)
    assert [one.conversation_id for one in found] == ["c4", "c3", "c2"]
    assert count == 5
    assert await points.newest("other", AGENT, MODEL, 3) == ([], 0)


async def test_points_without_a_summary_are_deleted(
    points: SqlAttractorPoints, documents: SqlDocuments
) -> None:
    """SPEC D-2: what was derived from an erased conversation goes with the next update."""
    for conversation in ("c1", "c2"):
        await summarise(documents, conversation)
    await summarise(documents, "c1", agent="bea")
    await points.put(TENANT, AGENT, MODEL, [point("c1"), point("c2"), point("never")])
    await points.put(TENANT, "bea", MODEL, [point("c1")])
    await documents.erase(summary_key(TENANT, AGENT, "c1"))
    await points.prune(TENANT, AGENT)
    found, _ = await points.newest(TENANT, AGENT, MODEL, 10)
    assert [one.conversation_id for one in found] == ["c2"]
    assert (await points.newest(TENANT, "bea", MODEL, 10))[1] == 1
