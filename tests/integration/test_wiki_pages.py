"""Pages of branches, from summaries over a real store (SPEC J-14, J-17)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from services.compactor.adapters.graph_handler import WikiHandler
from services.compactor.adapters.kv_memory import MemoryKv
from services.compactor.adapters.sql.documents import SqlDocuments
from services.compactor.adapters.sql.graph import SqlGraph
from services.compactor.app.document_copies import KvRules
from services.compactor.app.documents import Documents
from services.compactor.app.graph_ports import WRITE_WIKI
from services.compactor.app.ports import Done, Failed
from services.compactor.app.wiki import Wiki
from services.compactor.domain.documents import Draft, summary_key, wiki_key
from services.compactor.domain.graph import ESTABLISHED_AT, Naming, NewLink
from services.compactor.domain.graph_names import slug_of
from services.compactor.domain.ledger import Job, JobState
from services.compactor.domain.nearness import NO_VECTORS, Vectors
from services.compactor.domain.rolling import ConversationSummary, RollingSummary, TurningPoint, to_body
from services.compactor.domain.summaries import Section, Statement
from services.kit.errors import NotFound
from services.kit.outbox import SqlOutbox
from services.kit.sqlite import Database, SqliteScripts

TENANT, AGENT = "acme", "ada"
NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


class Embeddings:
    """All sentences but one are near each other."""

    def __init__(self) -> None:
        self.down = False
        self.asked = 0

    async def vectors(self, texts: Sequence[str]) -> Vectors:
        self.asked += 1
        if self.down:
            return NO_VECTORS
        return {text: (0.0, 1.0) if "stray" in text else (1.0, 0.0) for text in texts}


class World:
    """An agent's summaries, graph and pages."""

    def __init__(self, scripts: SqliteScripts) -> None:
        rules = KvRules(keep_seconds=60, mark_seconds=60)
        self.documents = Documents(SqlDocuments(scripts), MemoryKv(1 << 24), lambda: NOW, rules)
        self.store = SqlGraph(scripts)
        self.outbox = SqlOutbox(scripts)
        self.embeddings = Embeddings()
        self.wiki = Wiki(self.store, self.documents, self.embeddings)

    async def summarise(self, conversation: str, *details: str) -> int:
        """A summary with these details, a decision, a shift and a question."""
        number = conversation.removeprefix("c")
        summary = ConversationSummary(
            conversation_id=conversation,
            title=f"Talk {number}",
            summary=RollingSummary.of(
                [
                    *(Statement(section=Section.DETAILS, text=text, day="2026-04-01") for text in details),
                    Statement(section=Section.BLOCKED, text=f"Who paints barge {number}?", day="2026-04-02"),
                ]
            ),
            turning_points=(
                turn(f"barge {number} is painted blue", "decision", f"2026-04-{10 + int(number)}T10:00:00Z"),
                turn(f"on to the barge engine {number}", "shift", f"2026-04-{20 - int(number)}T10:00:00Z"),
            ),
        )
        key = summary_key(TENANT, AGENT, conversation)
        head = await self.documents.head(key)
        return (await self.documents.put(key, Draft(body=to_body(summary), engine="test"), head)).version

    async def file(self, conversation: str, *names: str, version: int = 1) -> str:
        """The branch of the first name."""
        links = [NewLink(naming=Naming(slug=slug_of(name), name=name), relevance=0.75) for name in names]
        await self.store.file(TENANT, AGENT, conversation, version, links, (), NOW)
        return (await self.store.branch(TENANT, AGENT, names[0])).id

    async def establish(self) -> str:
        """A branch with as many conversations as a page takes."""
        for place in range(ESTABLISHED_AT):
            conversation = f"c{place}"
            await self.summarise(conversation, f"The barge carries {place} tons.")
            branch_id = await self.file(conversation, "River Barge", *(["paint"] if place < 2 else []))
        return branch_id

    async def write(self, branch_id: str) -> int:
        return await self.wiki.write(TENANT, AGENT, branch_id)

    async def body(self, branch: str, version: int = 0) -> dict[str, Any]:
        _, served = await self.wiki.page(TENANT, AGENT, branch, version)
        return dict(served.document.body)

    async def asked(self) -> set[str]:
        """The branches whose pages jobs were put down for, since this was last asked."""
        rows = await self.outbox.claim(100)
        await self.outbox.settle(rows)
        return {str(row.job.payload["branch_id"]) for row in rows if row.job.type == WRITE_WIKI}


def turn(text: str, kind: str, time: str) -> TurningPoint:
    return TurningPoint(message_id="m", sequence=1, time=time, kind=kind, text=text, score=0.5)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    database = await Database.open(
        tmp_path / "compactor.db", files("services.compactor") / "migrations" / "sqlite", readers=2
    )
    yield World(SqliteScripts(database))
    await database.close()


async def test_a_branch_gets_a_page_when_it_is_established_and_not_before(world: World) -> None:
    for place in range(ESTABLISHED_AT - 1):
        await world.summarise(f"c{place}")
        branch_id = await world.file(f"c{place}", "barge")
    assert await world.asked() == set()
    assert await world.write(branch_id) == 0
    with pytest.raises(NotFound):
        await world.wiki.page(TENANT, AGENT, "barge", 0)
    await world.summarise("c7")
    await world.file("c7", "barge")
    assert await world.asked() == {branch_id}
    assert await world.write(branch_id) == 1


async def test_a_page_has_a_lead_a_timeline_decisions_questions_relations_and_sources(world: World) -> None:
    branch_id = await world.establish()
    await world.write(branch_id)
    body = await world.body("river barge")
    assert body["title"] == "River Barge"
    assert len(body["lead"]) == 4
    assert all("barge" in one for one in body["lead"])
    assert [one["day"] for one in body["timeline"]] == [f"2026-04-{day}" for day in range(13, 21)]
    assert [one["text"] for one in body["decisions"]][:2] == [
        "barge 0 is painted blue",
        "barge 1 is painted blue",
    ]
    assert len(body["open_questions"]) == ESTABLISHED_AT
    assert body["related"] == [{"slug": "paint", "name": "paint", "shared_count": 2}]
    assert [one["conversation_id"] for one in body["sources"]] == [f"c{n}" for n in range(ESTABLISHED_AT)]
    for heading in (
        "# River Barge",
        "## Timeline",
        "## Decisions",
        "## Open Questions",
        "- paint",
        "- Talk 0",
    ):
        assert heading in body["text"].splitlines()
    _, served = await world.wiki.page(TENANT, AGENT, branch_id, 0)
    assert served.document.source_ids == tuple(f"c{n}@1" for n in range(ESTABLISHED_AT))


async def test_a_sentence_that_is_near_to_no_other_is_not_in_the_lead(world: World) -> None:
    branch_id = await world.establish()
    await world.summarise("c0", "The barge is a stray one.")
    await world.write(branch_id)
    assert all("stray" not in one for one in (await world.body(branch_id))["lead"])


async def test_a_page_is_written_again_when_a_source_changed_and_at_no_other_time(world: World) -> None:
    """SPEC J-17."""
    branch_id = await world.establish()
    assert [await world.write(branch_id) for _ in range(3)] == [1, 1, 1]
    assert world.embeddings.asked == 1
    await world.summarise("c0", "The barge carries coal.")
    assert await world.write(branch_id) == 2
    assert (await world.body(branch_id, 1))["sources"][0]["version"] == 1
    assert (await world.body(branch_id))["sources"][0]["version"] == 2
    await world.documents.mark(await world.documents.of_sources(TENANT, AGENT, ["c3@1"]))
    assert await world.write(branch_id) == 3
    head, versions = await world.wiki.versions(TENANT, AGENT, branch_id, None, 10)
    assert [one.version for one in versions] == [3, 2, 1]
    assert not head.stale


async def test_a_page_is_the_same_for_the_same_sources(world: World) -> None:
    branch_id = await world.establish()
    await world.write(branch_id)
    before = await world.body(branch_id)
    await world.documents.mark(await world.documents.of_sources(TENANT, AGENT, ["c3@1"]))
    await world.write(branch_id)
    assert await world.body(branch_id) == before


async def test_a_page_is_written_without_an_embedder(world: World) -> None:
    """SPEC J-16."""
    world.embeddings.down = True
    branch_id = await world.establish()
    assert await world.write(branch_id) == 1
    assert len((await world.body(branch_id))["lead"]) == 4


async def test_a_merged_branchs_page_is_the_other_ones(world: World) -> None:
    branch_id = await world.establish()
    await world.write(branch_id)
    await world.file("c9", "canal boats")
    await world.asked()
    await world.store.merge(TENANT, AGENT, "river barge", "canal boats", NOW)
    root = (await world.store.branch(TENANT, AGENT, "canal boats")).id
    assert await world.asked() == {branch_id, root}
    assert await world.write(branch_id) == 1
    assert not (await world.documents.head(wiki_key(TENANT, AGENT, branch_id))).present
    assert (await world.body("river barge"))["aliases"] == ["river-barge"]
    await world.store.undo_merge(TENANT, AGENT, "river barge", NOW)
    assert await world.asked() == {branch_id, root}
    assert await world.write(branch_id) > 1
    assert (await world.body("river barge"))["title"] == "River Barge"


async def test_what_was_erased_is_on_no_page(world: World) -> None:
    """SPEC D-2."""
    branch_id = await world.establish()
    await world.write(branch_id)
    await world.documents.erase(summary_key(TENANT, AGENT, "c0"))
    await world.store.forget(TENANT, AGENT, "c0", 1)
    assert branch_id in await world.asked()
    await world.write(branch_id)
    assert "carries 0 tons" not in json.dumps(await world.body(branch_id))
    head, versions = await world.wiki.versions(TENANT, AGENT, branch_id, None, 10)
    assert [one.version for one in versions] == [head.version] == [2], "the first told of it"
    for place in range(1, ESTABLISHED_AT):
        await world.store.forget(TENANT, AGENT, f"c{place}", 1)
    assert await world.write(branch_id) == 0
    assert not (await world.documents.head(wiki_key(TENANT, AGENT, branch_id))).present


async def test_jobs_of_one_branch_are_done_by_one_write(world: World) -> None:
    branch_id = await world.establish()
    payloads = [{"branch_id": branch_id}, {"branch_id": branch_id}, {"branch_id": 1}, {"branch_id": "gone"}]
    jobs = [
        Job(
            id=f"j{place}",
            tenant=TENANT,
            type=WRITE_WIKI,
            agent_id=AGENT,
            subject=branch_id,
            key=f"k{place}",
            payload=json.dumps(payload).encode(),
            state=JobState.RUNNING,
            max_attempts=5,
            created=NOW,
            updated=NOW,
            due=None,
            revision=1,
        )
        for place, payload in enumerate(payloads)
    ]
    one, other, bad, gone = await WikiHandler(world.wiki).run(TENANT, AGENT, jobs)
    assert one == other == Done(result_ids=(f"wiki/{branch_id}/1",))
    assert world.embeddings.asked == 1
    assert isinstance(bad, Failed)
    assert bad.hopeless
    assert gone == Done()


async def test_a_page_of_a_stale_summary_stays_stale_until_its_next_version(world: World) -> None:
    """J-17: what is written of it meanwhile says so, and nothing is written twice."""
    branch_id = await world.establish()
    first = await world.write(branch_id)
    key, page = summary_key(TENANT, AGENT, "c0"), wiki_key(TENANT, AGENT, branch_id)
    await world.documents.mark([key, page])
    assert await world.write(branch_id) == first, "it would say the same"
    await world.summarise("c1", "The barge carries coal.")
    second = await world.write(branch_id)
    assert (second, (await world.documents.head(page)).stale) == (first + 1, True)
    await world.summarise("c0", "The barge carries nothing.")
    assert (await world.write(branch_id), (await world.documents.head(page)).stale) == (second + 1, False)


async def test_a_branch_that_fell_below_keeps_its_page_up_to_date(world: World) -> None:
    """J-14, J-17: a summary's next version asks for every page that its conversation is on."""
    branch_id = await world.establish()
    await world.write(branch_id)
    await world.store.forget(TENANT, AGENT, "c7", 2)
    await world.asked()
    await world.summarise("c0", "The barge carries nothing.")
    await world.file("c0", "River Barge", "paint", version=2)
    assert await world.asked() == {branch_id}, "and no page is asked for that there is not"


async def test_a_page_calls_branches_by_names_that_its_people_know(world: World) -> None:
    """S-13: others' words for the same are nowhere in it."""
    branch_id = await world.establish()
    await world.file("c9", "Midlife crisis")
    await world.file("c10", "Pigment", "Varnish and despair")
    for one, into in (("river barge", "midlife crisis"), ("paint", "varnish and despair")):
        await world.store.merge(TENANT, AGENT, one, into, NOW)
    await world.store.forget(TENANT, AGENT, "c9", 2)
    root = await world.store.branch(TENANT, AGENT, branch_id)
    assert root.name == "Midlife crisis", "the control: it goes by that"
    await world.write(root.id)
    body = await world.body(root.id)
    assert (body["title"], body["slug"], body["aliases"]) == ("River Barge", "river-barge", [])
    assert body["related"] == [{"slug": "paint", "name": "paint", "shared_count": 2}]
    assert not any(word in json.dumps(body) for word in ("crisis", "despair"))
    assert (await world.store.branch(TENANT, AGENT, body["slug"])).id == root.id, "it leads there"
