"""The graph of themes grows by summaries over a real store (SPEC J-13)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from services.compactor.adapters.graph_handler import GrowHandler
from services.compactor.adapters.kv_memory import MemoryKv
from services.compactor.adapters.sql.documents import SqlDocuments
from services.compactor.adapters.sql.graph import SqlGraph
from services.compactor.app.document_copies import KvRules
from services.compactor.app.documents import Documents
from services.compactor.app.graph import GROW_GRAPH, Graph, follow_up
from services.compactor.app.graph_ports import BranchQuery
from services.compactor.app.ports import Done, Failed
from services.compactor.domain.attractor_geometry import pack
from services.compactor.domain.documents import Draft, summary_key
from services.compactor.domain.graph import Branch, Naming, ProposalState
from services.compactor.domain.ledger import Job, JobState
from services.compactor.domain.rolling import BranchProposal, ConversationSummary, to_body
from services.kit.errors import DependencyDown, InvalidField, NotFound
from services.kit.sqlite import Database, SqliteScripts

TENANT, AGENT = "acme", "ada"
NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
VECTORS = {
    "tax return": (1.0, 0.0),
    "tax returns": (0.96, 0.28),
    "tax returns!": (0.96, 0.28),
    "car": (0.0, 1.0),
    "automobile": (0.28, 0.96),
}


@dataclass
class Names:
    """NameVectors; it knows no difference between names that are not in VECTORS."""

    model: str = "model-1"
    down: bool = False
    asked: list[str] = field(default_factory=list)

    async def named(self, names: Mapping[str, str]) -> list[Naming]:
        if self.down:
            raise DependencyDown
        self.asked += names.values()
        return [
            Naming(slug=slug, name=name, vector=pack(VECTORS.get(name, (-1.0, 0.0))), model=self.model)
            for slug, name in names.items()
        ]


class Known:
    """KnownConversations: all whose ids begin with "c"."""

    async def check(self, agent_id: str, conversation_id: str) -> None:
        assert agent_id == AGENT
        if not conversation_id.startswith("c"):
            raise NotFound("conversation", conversation_id)


class World:
    """An agent's summaries and graph."""

    def __init__(self, scripts: SqliteScripts) -> None:
        self.names = Names()
        rules = KvRules(keep_seconds=60, mark_seconds=60)
        self.documents = Documents(SqlDocuments(scripts), MemoryKv(0), lambda: NOW, rules)
        self.store = SqlGraph(scripts)
        self.graph = Graph(self.store, self.documents, self.names, Known(), lambda: NOW)
        self.handler = GrowHandler(self.graph)

    async def write(self, conversation: str, body: Mapping[str, Any]) -> None:
        key = summary_key(TENANT, AGENT, conversation)
        head = await self.documents.head(key)
        await self.documents.put(key, Draft(body=body, engine="test"), head)

    async def summarise(
        self, conversation: str, *branches: tuple[str, float], told: tuple[str, ...] = ()
    ) -> None:
        summary = ConversationSummary(
            conversation_id=conversation,
            branches=tuple(BranchProposal(name=name, relevance=relevance) for name, relevance in branches),
            tallies=dict.fromkeys(told, 2),
        )
        await self.write(conversation, to_body(summary))

    async def grow(self, conversation: str) -> list[str]:
        """The names of the branches that it is filed under."""
        ids = await self.graph.grow(TENANT, AGENT, conversation)
        return [(await self.store.branch(TENANT, AGENT, one)).name for one in ids]

    async def branches(self) -> list[Branch]:
        return await self.graph.page(TENANT, AGENT, BranchQuery(now=NOW))

    async def open_pairs(self) -> list[set[str]]:
        found = await self.graph.proposals(TENANT, AGENT, ProposalState.OPEN, None, 10)
        return [{one.branch.slug, one.into.slug} for one in found]


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    database = await Database.open(
        tmp_path / "compactor.db", files("services.compactor") / "migrations" / "sqlite", readers=2
    )
    yield World(SqliteScripts(database))
    await database.close()


def job(payload: object) -> Job:
    return Job(
        id="j1",
        tenant=TENANT,
        type=GROW_GRAPH,
        agent_id=AGENT,
        subject="c1",
        key="k",
        payload=json.dumps(payload).encode(),
        state=JobState.RUNNING,
        max_attempts=5,
        created=NOW,
        updated=NOW,
        due=None,
        revision=1,
    )


async def test_a_conversation_is_filed_as_its_summary_proposes_with_relevance(world: World) -> None:
    await world.summarise("c1", ("River Barge", 0.75), ("bread", 1.5), ("...", 0.9), ("river-barge", 0.5))
    assert sorted(await world.grow("c1")) == ["River Barge", "bread"]
    links = {
        one.slug: (await world.graph.links(TENANT, AGENT, one.id, "", 10))[0].relevance
        for one in await world.branches()
    }
    assert links == {"bread": 1.0, "river-barge": 0.75}


async def test_growing_again_asks_nothing_and_changes_nothing(world: World) -> None:
    await world.summarise("c1", ("bread", 0.5), ("car", 0.5))
    first = await world.grow("c1")
    before, asked = await world.branches(), len(world.names.asked)
    assert await world.grow("c1") == first
    assert (await world.branches(), len(world.names.asked)) == (before, asked)


async def test_names_are_embedded_at_once_or_nothing_is_made(world: World) -> None:
    await world.summarise("c1", ("bread", 0.5))
    world.names.down = True
    with pytest.raises(DependencyDown):
        await world.grow("c1")
    assert await world.branches() == []
    world.names.down = False
    await world.grow("c1")
    (candidate,) = await world.store.candidates(TENANT, AGENT, 10)
    assert (candidate.model, candidate.vector) == ("model-1", pack((-1.0, 0.0)))


async def test_near_synonyms_are_merged_and_less_near_ones_proposed_with_evidence(world: World) -> None:
    await world.summarise("c1", ("tax return", 1.0), ("car", 0.5))
    await world.grow("c1")
    await world.summarise("c2", ("tax returns", 1.0), ("automobile", 0.5))
    await world.grow("c2")
    branches = {one.slug: one for one in await world.branches()}
    assert set(branches) == {"tax-return", "car", "automobile"}, "of two alike the older stays"
    assert branches["tax-return"].aliases == ("tax-returns",)
    assert branches["tax-return"].conversations == 2
    (proposal,) = await world.graph.proposals(TENANT, AGENT, ProposalState.OPEN, None, 10)
    assert {proposal.branch.slug, proposal.into.slug} == {"car", "automobile"}
    assert proposal.evidence.cosine == pytest.approx(0.96)
    assert proposal.evidence.shared == 0


async def test_what_somebody_kept_apart_stays_apart(world: World) -> None:
    await world.summarise("c1", ("tax return", 1.0), ("tax returns", 1.0), ("car", 1.0), ("automobile", 1.0))
    await world.grow("c1")
    branches = await world.branches()
    assert len(branches) == 3
    (merged_id,) = (one for branch in branches for one in branch.merged_ids)
    await world.graph.undo_merge(TENANT, AGENT, merged_id)
    (proposal,) = await world.graph.proposals(TENANT, AGENT, ProposalState.OPEN, None, 10)
    await world.graph.resolve(TENANT, AGENT, proposal.id, accept=False)
    await world.summarise("c2", ("tax return", 1.0), ("tax returns", 1.0), ("car", 1.0), ("automobile", 1.0))
    await world.grow("c2")
    assert len(await world.branches()) == 4
    assert await world.open_pairs() == []


async def test_a_new_model_gives_the_names_new_vectors(world: World) -> None:
    """SPEC S-17."""
    await world.summarise("c1", ("car", 1.0))
    await world.grow("c1")
    world.names.model = "model-2"
    await world.summarise("c2", ("automobile", 1.0))
    await world.grow("c2")
    assert {one.model for one in await world.store.candidates(TENANT, AGENT, 10)} == {"model-2"}
    assert await world.open_pairs() == [{"car", "automobile"}]


async def test_what_a_summary_still_tells_of_stays_and_the_rest_goes(world: World) -> None:
    """SPEC J-17."""
    await world.summarise("c1", ("bread", 0.5), ("car", 0.5))
    await world.grow("c1")
    await world.summarise("c1", ("boat", 0.5), told=("bread",))
    assert sorted(await world.grow("c1")) == ["boat", "bread"]
    assert [one.slug for one in await world.branches()] == ["boat", "bread"]


async def test_an_erased_summary_takes_its_links_with_it(world: World) -> None:
    """SPEC D-2."""
    await world.summarise("c1", ("bread", 0.5))
    await world.grow("c1")
    await world.documents.erase(summary_key(TENANT, AGENT, "c1"))
    assert await world.grow("c1") == []
    assert await world.branches() == []


async def test_a_conversation_filed_by_hand_stays_there(world: World) -> None:
    made = await world.graph.link(TENANT, AGENT, "c1", "  My   Garden ", 0.25)
    assert (made.slug, made.name) == ("my-garden", "My Garden")
    await world.summarise("c1", ("my garden", 0.5))
    await world.grow("c1")
    await world.summarise("c1", ("bread", 0.5))
    await world.grow("c1")
    (link,) = await world.graph.links(TENANT, AGENT, "my garden", "", 10)
    assert (link.relevance, link.by_hand) == (0.25, True)


@pytest.mark.parametrize(
    ("conversation", "name", "relevance"), [("c1", "!", 1), ("c1", "x", 1.1), ("c1", "x", float("nan"))]
)
async def test_what_cannot_be_filed_is_refused(
    world: World, conversation: str, name: str, relevance: float
) -> None:
    with pytest.raises(InvalidField):
        await world.graph.link(TENANT, AGENT, conversation, name, relevance)
    assert await world.branches() == []


async def test_only_conversations_that_there_are_can_be_filed(world: World) -> None:
    with pytest.raises(NotFound):
        await world.graph.link(TENANT, AGENT, "unknown", "x", 1.0)
    assert await world.branches() == []


async def test_jobs_say_what_they_did_and_which_are_hopeless(world: World) -> None:
    await world.summarise("c1", ("bread", 0.5))
    await world.write("c2", {"branches": "none"})
    jobs = [
        job({"conversation_id": "c1"}),
        job({"conversation_id": "c2"}),
        job([]),
        job({"conversation_id": "c9"}),
    ]
    done, unreadable, bad, nothing = await world.handler.run(TENANT, AGENT, jobs)
    (branch,) = await world.branches()
    assert done == Done(result_ids=(f"branch/{branch.id}",))
    assert isinstance(unreadable, Failed)
    assert unreadable.hopeless
    assert isinstance(bad, Failed)
    assert bad.hopeless
    assert nothing == Done()


def test_each_version_of_a_summary_asks_once() -> None:
    one, again, other = (follow_up("ada", "c1", version)[0] for version in (1, 1, 2))
    assert one == again
    assert one.key != other.key
    assert (one.type, one.payload) == (GROW_GRAPH, {"conversation_id": "c1"})
