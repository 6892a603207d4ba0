"""The graph of themes over both engines (SPEC J-13)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from services.compactor.adapters.sql.graph import SqlGraph
from services.compactor.app.graph_ports import BranchQuery
from services.compactor.domain.graph import (
    DORMANT_AFTER,
    Branch,
    EventKind,
    Evidence,
    Finding,
    Naming,
    NewLink,
    ProposalState,
    State,
)
from services.compactor.domain.graph_names import slug_of
from services.kit.errors import InvalidField, NotFound, StateConflict
from services.kit.sql import SqlDatabase, fetch

TENANT, AGENT = "acme", "ada"
NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
EVIDENCE = Evidence(cosine=0.75, spelling=0.5, words=0.25, shared=1)

Pair = tuple[SqlDatabase, SqlDatabase]


@pytest.fixture
def graph(compactor_sql: SqlDatabase) -> SqlGraph:
    return SqlGraph(compactor_sql)


@pytest.fixture
def replicas(compactor_sql_pair: Pair) -> tuple[SqlGraph, SqlGraph]:
    return SqlGraph(compactor_sql_pair[0]), SqlGraph(compactor_sql_pair[1])


def naming(name: str) -> Naming:
    return Naming(slug=slug_of(name), name=name, vector=b"\0\0\x80?", model="model-1")


def new_link(name: str, relevance: float = 0.5) -> NewLink:
    return NewLink(naming=naming(name), relevance=relevance)


async def file(
    graph: SqlGraph,
    conversation: str,
    *names: str,
    version: int = 1,
    told: Sequence[str] = (),
    now: datetime = NOW,
    agent: str = AGENT,
) -> list[str]:
    links = [new_link(name) for name in names]
    return await graph.file(TENANT, agent, conversation, version, links, set(map(slug_of, told)), now)


async def branch(graph: SqlGraph, ref: str) -> Branch:
    return await graph.branch(TENANT, AGENT, ref)


async def conversations(graph: SqlGraph, ref: str) -> list[str]:
    return [one.conversation_id for one in await graph.links(TENANT, AGENT, ref, "", 100)]


async def slugs(graph: SqlGraph, *states: State, now: datetime = NOW) -> list[str]:
    query = BranchQuery(now=now, states=frozenset(states))
    return [one.slug for one in await graph.page(TENANT, AGENT, query)]


async def test_a_branch_is_made_once_and_found_by_any_spelling_of_its_name(graph: SqlGraph) -> None:
    (made,) = await file(graph, "c1", "River Barge")
    assert await file(graph, "c2", "river  barge") == [made]
    found = await branch(graph, "RIVER-BARGE")
    assert (found.id, found.slug, found.name, found.conversations) == (made, "river-barge", "River Barge", 2)
    assert found == await branch(graph, made)
    assert await conversations(graph, made) == ["c1", "c2"]
    with pytest.raises(NotFound):
        await branch(graph, "bridge")


async def test_graphs_of_agents_and_tenants_are_apart(graph: SqlGraph) -> None:
    await file(graph, "c1", "barge")
    await file(graph, "c1", "barge", agent="bea")
    with pytest.raises(NotFound):
        await graph.branch("other", AGENT, "barge")
    assert (await branch(graph, "barge")).id != (await graph.branch(TENANT, "bea", "barge")).id
    await graph.rename(TENANT, "bea", "barge", naming("boat"), NOW)
    assert (await branch(graph, "barge")).slug == "barge"


async def test_it_grows_falls_dormant_and_is_revived_by_a_link(graph: SqlGraph) -> None:
    """SPEC J-13: growing at 3 conversations, established at 8, dormant 90 days after the last link."""
    states = []
    for count in range(1, 10):
        await file(graph, f"c{count}", "barge")
        states.append((await branch(graph, "barge")).state(NOW))
    assert states == [State.SEEDLING] * 2 + [State.GROWING] * 5 + [State.ESTABLISHED] * 2
    late = NOW + DORMANT_AFTER
    just_before = late - timedelta(microseconds=1)
    assert await slugs(graph, State.ESTABLISHED, now=just_before) == ["barge"]
    assert await slugs(graph, State.DORMANT, now=just_before) == []
    assert await slugs(graph, State.ESTABLISHED, State.GROWING, State.SEEDLING, now=late) == []
    assert await slugs(graph, State.DORMANT, now=late) == ["barge"]
    assert (await branch(graph, "barge")).state(late) is State.DORMANT
    await file(graph, "c1", "barge", version=2, now=late)
    assert (await branch(graph, "barge")).state(late) is State.ESTABLISHED


async def test_pages_of_branches_go_on_where_the_last_ended(graph: SqlGraph) -> None:
    await file(graph, "c1", "é", "b", "c", "ж", "🚀")
    found: list[str] = []
    while page := await graph.page(
        TENANT, AGENT, BranchQuery(now=NOW, after=found[-1] if found else "", limit=2)
    ):
        found += [one.slug for one in page]
    assert found == sorted(["b", "c", "é", "ж", "🚀"])
    assert found == await slugs(graph, State.SEEDLING)


async def test_an_earlier_version_of_a_summary_comes_too_late(graph: SqlGraph) -> None:
    await file(graph, "c1", "barge", version=2)
    before = await branch(graph, "barge")
    ids = await file(graph, "c1", "bridge", version=1, now=NOW + timedelta(days=1))
    assert ids == [before.id] == await file(graph, "c1", "bridge", version=2)
    assert await branch(graph, "barge") == before
    assert await slugs(graph) == ["barge"]


async def test_what_a_summary_does_not_name_any_more_goes_and_what_it_still_tells_of_stays(
    graph: SqlGraph,
) -> None:
    """SPEC J-17."""
    await file(graph, "c1", "barge", "bridge", "bread")
    await file(graph, "c2", "bridge")
    await graph.link(TENANT, AGENT, "c1", new_link("baking"), NOW)
    await file(graph, "c1", "barge", version=2, told=["bread", "nothing of ours"])
    assert await slugs(graph) == ["baking", "barge", "bread", "bridge"]
    assert await conversations(graph, "bridge") == ["c2"]
    assert await conversations(graph, "bread") == ["c1"]
    await file(graph, "c1", "barge", version=3)
    assert await slugs(graph) == ["baking", "barge", "bridge"]


async def test_an_erased_conversation_leaves_no_name_behind(graph: SqlGraph) -> None:
    """SPEC D-2."""
    await file(graph, "c1", "barge", "bridge")
    await file(graph, "c2", "bridge")
    await graph.merge(TENANT, AGENT, "barge", "bridge", NOW)
    await graph.forget(TENANT, AGENT, "c2", 1)
    assert await slugs(graph) == ["bridge"]
    await graph.forget(TENANT, AGENT, "c1", 2)
    assert await slugs(graph) == []
    assert await graph.taken(TENANT, AGENT, ["barge", "bridge"]) == set()
    assert await file(graph, "c1", "barge", version=1) == []
    assert await file(graph, "c1", "barge", version=3) != []


async def test_a_merge_keeps_conversations_and_names_and_is_taken_back(graph: SqlGraph) -> None:
    await file(graph, "c1", "boat", "ship")
    await file(graph, "c2", "boat")
    await file(graph, "c3", "ship")
    boat, ship = await branch(graph, "boat"), await branch(graph, "ship")
    merged = await graph.merge(TENANT, AGENT, "Boat", "ship", NOW + timedelta(hours=1))
    assert (merged.id, merged.conversations) == (ship.id, 3)
    assert (merged.aliases, merged.merged_ids) == (("boat",), (boat.id,))
    assert await branch(graph, boat.id) == merged == await branch(graph, "boat")
    assert await conversations(graph, "boat") == ["c1", "c2", "c3"]
    assert await slugs(graph) == ["ship"]
    await file(graph, "c4", "boat")
    assert (await branch(graph, "ship")).conversations == 4
    apart = await graph.undo_merge(TENANT, AGENT, "boat", NOW + timedelta(hours=2))
    assert (apart.id, apart.conversations, apart.aliases, apart.merged_ids) == (boat.id, 3, (), ())
    assert await conversations(graph, "boat") == ["c1", "c2", "c4"]
    assert await conversations(graph, "ship") == ["c1", "c3"]
    with pytest.raises(StateConflict):
        await graph.undo_merge(TENANT, AGENT, "boat", NOW)
    kinds = [one.kind for one in await graph.events(TENANT, AGENT, "boat", 10)]
    assert kinds == [EventKind.UNMERGED, EventKind.MERGED, EventKind.CREATED]


async def test_what_was_taken_back_is_not_merged_by_itself_again(graph: SqlGraph) -> None:
    await file(graph, "c1", "boat", "ship")
    boat, ship = await branch(graph, "boat"), await branch(graph, "ship")
    finding = Finding(branch_id=boat.id, into_id=ship.id, score=0.99, evidence=EVIDENCE)
    assert await graph.merge_found(TENANT, AGENT, finding, NOW)
    assert [one.automatic for one in await graph.events(TENANT, AGENT, "ship", 1)] == [True]
    (done,) = await graph.proposals(TENANT, AGENT, ProposalState.MERGED, None, 10)
    assert (done.score, done.evidence, done.branch.id) == (0.99, EVIDENCE, ship.id)
    assert not await graph.merge_found(TENANT, AGENT, finding, NOW)
    await graph.undo_merge(TENANT, AGENT, boat.id, NOW)
    assert not await graph.merge_found(TENANT, AGENT, finding, NOW)
    await graph.propose(TENANT, AGENT, finding, NOW)
    assert await graph.proposals(TENANT, AGENT, ProposalState.OPEN, None, 10) == []
    assert (await graph.merge(TENANT, AGENT, boat.id, ship.id, NOW)).id == ship.id


async def test_a_branch_is_not_merged_into_itself(graph: SqlGraph) -> None:
    await file(graph, "c1", "boat", "ship")
    with pytest.raises(InvalidField):
        await graph.merge(TENANT, AGENT, "boat", "BOAT", NOW)
    with pytest.raises(NotFound):
        await graph.merge(TENANT, AGENT, "boat", "plane", NOW)
    await graph.merge(TENANT, AGENT, "boat", "ship", NOW)
    assert (await graph.merge(TENANT, AGENT, "ship", "boat", NOW)).slug == "ship"


async def test_chains_of_merges_lead_to_one_root_and_come_apart_where_they_are_undone(
    graph: SqlGraph,
) -> None:
    await file(graph, "c1", "a", "b", "c", "d")
    for one, into in (("a", "b"), ("b", "c"), ("c", "d")):
        await graph.merge(TENANT, AGENT, one, into, NOW)
    assert {(await branch(graph, one)).slug for one in "abcd"} == {"d"}
    await graph.undo_merge(TENANT, AGENT, "b", NOW)
    assert [(await branch(graph, one)).slug for one in "abcd"] == ["b", "b", "d", "d"]


async def test_of_opposite_merges_at_once_one_is_done_and_there_is_no_cycle(
    replicas: tuple[SqlGraph, SqlGraph],
) -> None:
    one, other = replicas
    for place in range(8):
        names = (f"left {place}", f"right {place}")
        await file(one, f"c{place}", *names)
        first, second = await asyncio.gather(
            one.merge(TENANT, AGENT, names[0], names[1], NOW),
            other.merge(TENANT, AGENT, names[1], names[0], NOW),
        )
        assert first.id == second.id
        assert {(await branch(one, name)).id for name in names} == {first.id}


async def test_a_name_that_two_link_at_once_is_one_branch(replicas: tuple[SqlGraph, SqlGraph]) -> None:
    found = await asyncio.gather(
        *(file(replicas[place % 2], f"c{place}", "barge", "bridge") for place in range(8))
    )
    assert len({tuple(ids) for ids in found}) == 1
    assert (await branch(replicas[0], "barge")).conversations == 8


async def test_an_old_name_stays_and_is_nobody_elses(graph: SqlGraph) -> None:
    await file(graph, "c1", "boat", "ship")
    renamed = await graph.rename(TENANT, AGENT, "boat", naming("Narrowboat"), NOW)
    assert (renamed.slug, renamed.name, renamed.aliases) == ("narrowboat", "Narrowboat", ("boat",))
    assert await file(graph, "c2", "boat") == [renamed.id]
    with pytest.raises(StateConflict):
        await graph.rename(TENANT, AGENT, "ship", naming("boat"), NOW)
    back = await graph.rename(TENANT, AGENT, "narrowboat", naming("boat"), NOW)
    assert (back.slug, back.aliases) == ("boat", ("narrowboat",))
    assert next(one.slug for one in await graph.events(TENANT, AGENT, "boat", 2)) == "boat"


async def test_what_was_split_off_stays_apart_when_its_summary_changes(graph: SqlGraph) -> None:
    for place in range(4):
        await file(graph, f"c{place}", "bank")
    made, rest = await graph.split(TENANT, AGENT, "bank", naming("river bank"), ["c0", "c1"], NOW)
    assert (made.slug, made.conversations, rest.slug, rest.conversations) == ("river-bank", 2, "bank", 2)
    await file(graph, "c0", "bank", version=2)
    await file(graph, "c2", "bank", version=2)
    assert await conversations(graph, "bank") == ["c2", "c3"]
    assert await conversations(graph, "river bank") == ["c0", "c1"]
    await graph.merge(TENANT, AGENT, "river bank", "bank", NOW)
    await file(graph, "c0", "bank", version=3)
    assert await conversations(graph, "bank") == ["c0", "c1", "c2", "c3"]
    assert (await branch(graph, "bank")).conversations == 4


async def test_a_split_takes_what_is_there_and_a_name_that_is_free(graph: SqlGraph) -> None:
    await file(graph, "c1", "bank", "shore")
    with pytest.raises(NotFound):
        await graph.split(TENANT, AGENT, "bank", naming("beach"), ["c1", "c9"], NOW)
    assert await graph.taken(TENANT, AGENT, ["beach", "bank"]) == {"bank"}
    for name in ("shore", "bank"):
        with pytest.raises(StateConflict):
            await graph.split(TENANT, AGENT, "bank", naming(name), ["c1"], NOW)


async def test_proposals_are_decided_once(graph: SqlGraph) -> None:
    await file(graph, "c1", "boat", "ship", "yacht", "ferry")
    ids = {slug: (await branch(graph, slug)).id for slug in ("boat", "ship", "yacht", "ferry")}

    def finding(one: str, into: str, score: float = 0.8) -> Finding:
        return Finding(branch_id=ids[one], into_id=ids[into], score=score, evidence=EVIDENCE)

    for one, into in (("boat", "ship"), ("yacht", "ferry"), ("ferry", "ship")):
        await graph.propose(TENANT, AGENT, finding(one, into), NOW)
    await graph.propose(TENANT, AGENT, finding("ship", "boat", 0.85), NOW)
    proposals = await graph.proposals(TENANT, AGENT, ProposalState.OPEN, None, 10)
    by_pair = {(one.branch.slug, one.into.slug): one for one in proposals}
    assert set(by_pair) == {("ship", "boat"), ("yacht", "ferry"), ("ferry", "ship")}
    assert by_pair["ship", "boat"].score == 0.85
    yes = await graph.resolve(TENANT, AGENT, by_pair["ship", "boat"].id, NOW, accept=True)
    assert (yes.state, yes.resolved, yes.into.merged_ids) == (ProposalState.MERGED, NOW, (ids["ship"],))
    assert (await graph.resolve(TENANT, AGENT, yes.id, NOW, accept=True)).state is ProposalState.MERGED
    no = await graph.resolve(TENANT, AGENT, by_pair["yacht", "ferry"].id, NOW, accept=False)
    assert no.state is ProposalState.REJECTED
    with pytest.raises(StateConflict):
        await graph.resolve(TENANT, AGENT, no.id, NOW, accept=True)
    (left,) = await graph.proposals(TENANT, AGENT, ProposalState.OPEN, None, 10)
    assert (left.branch.slug, left.into.slug) == ("ferry", "boat"), "the roots of now"
    with pytest.raises(NotFound):
        await graph.resolve(TENANT, AGENT, "none", NOW, accept=True)


async def test_conversations_in_common_are_counted_by_root(graph: SqlGraph) -> None:
    await file(graph, "c1", "boat", "ship", "rope")
    await file(graph, "c2", "boat", "rope")
    await file(graph, "c3", "ship", "rope")
    await graph.merge(TENANT, AGENT, "boat", "ship", NOW)
    ship, rope = (await branch(graph, "ship")).id, (await branch(graph, "rope")).id
    assert await graph.shared(TENANT, AGENT, [rope]) == {(rope, ship): 3}
    candidates = await graph.candidates(TENANT, AGENT, 10)
    assert {(one.slug, one.model, one.vector) for one in candidates} == {
        ("ship", "model-1", b"\0\0\x80?"),
        ("rope", "model-1", b"\0\0\x80?"),
    }


async def called(graph: SqlGraph, ref: str) -> tuple[str, ...]:
    names = await graph.names(TENANT, AGENT, ref)
    return () if names is None else (names.title, *names.slugs)


async def test_a_branch_is_called_by_names_of_conversations_that_are_in_it(graph: SqlGraph) -> None:
    """S-13: a merged branch keeps a name whose conversations are gone, which is nobody else's to see."""
    await file(graph, "anns", "Leave of absence")
    await file(graph, "bobs", "Burn-out")
    assert await called(graph, "burn-out") == ("Burn-out",)
    await graph.merge(TENANT, AGENT, "leave of absence", "burn-out", NOW)
    assert await called(graph, "burn-out") == ("Burn-out", "leave-of-absence")
    await graph.forget(TENANT, AGENT, "bobs", 2)
    assert (await branch(graph, "burn-out")).name == "Burn-out", "it leads there still"
    assert await called(graph, "burn-out") == ("Leave of absence",)
    await file(graph, "cys", "burn out")
    assert await called(graph, "burn-out") == ("Burn-out", "leave-of-absence")
    await file(graph, "cys", "Bicycles", version=2)
    assert await called(graph, "burn-out") == ("Leave of absence",)


async def test_a_conversation_that_came_by_several_names_of_a_branch_keeps_them_all(graph: SqlGraph) -> None:
    """After a rename, or a split, one summary may tell of a branch by more names than one."""
    await file(graph, "bobs", "Burn-out")
    await graph.rename(TENANT, AGENT, "burn-out", naming("Health"), NOW)
    await file(graph, "anns", "Burn-out", "Health")
    await graph.forget(TENANT, AGENT, "bobs", 2)
    assert await called(graph, "health") == ("Health", "burn-out"), "Ann said both"
    await file(graph, "anns", "Health", version=2, told=["Health"])
    assert await called(graph, "health") == ("Health",), "and now only one"
    await file(graph, "anns", "Health", version=3, told=["Burn-out"])
    assert await called(graph, "health") == ("Health", "burn-out"), "what her summary tells is hers too"
    await graph.forget(TENANT, AGENT, "anns", 4)
    assert await called(graph, "health") == ("Health",), "the caller's stays"


async def test_a_name_by_which_a_caller_linked_a_conversation_outlives_its_summaries(graph: SqlGraph) -> None:
    await file(graph, "bobs", "Burn-out")
    await graph.rename(TENANT, AGENT, "burn-out", naming("Health"), NOW)
    await graph.link(TENANT, AGENT, "anns", new_link("Burn-out"), NOW)
    await file(graph, "anns", "Health")
    await graph.forget(TENANT, AGENT, "bobs", 2)
    assert await called(graph, "health") == ("Health", "burn-out")


async def test_a_name_that_was_given_by_hand_stays_and_the_one_before_goes_with_its_people(
    graph: SqlGraph,
) -> None:
    await file(graph, "bobs", "Burn-out")
    await graph.rename(TENANT, AGENT, "burn-out", naming("Health"), NOW)
    assert await called(graph, "health") == ("Health", "burn-out")
    await file(graph, "anns", "health")
    await graph.forget(TENANT, AGENT, "bobs", 2)
    assert await called(graph, "health") == ("Health",)
    made, rest = await graph.split(TENANT, AGENT, "health", naming("Sleep"), ["anns"], NOW)
    assert await called(graph, made.id) == ("Sleep",)
    assert await called(graph, rest.id) == ("Health",)


async def test_a_split_branch_that_is_merged_back_is_called_by_what_its_people_say(graph: SqlGraph) -> None:
    """Their links stay with the branch that the split made, their name belongs to the other."""
    await file(graph, "e1", "Tea")
    await file(graph, "e2", "Tea")
    made, rest = await graph.split(TENANT, AGENT, "tea", naming("Green tea"), ["e1", "e2"], NOW)
    assert await called(graph, made.id) == ("Green tea",)
    assert await called(graph, rest.id) == (), "nobody is left there"
    await graph.merge(TENANT, AGENT, "green tea", "tea", NOW)
    assert await called(graph, "tea") == ("Tea", "green-tea")
    await file(graph, "e1", "Tea", version=2)
    await graph.forget(TENANT, AGENT, "e2", 2)
    assert await called(graph, "tea") == ("Tea", "green-tea"), "e1 came by it again"
    await graph.undo_merge(TENANT, AGENT, "green tea", NOW)
    assert await called(graph, "green tea") == ("Green tea",)


async def test_names_of_a_conversation_that_came_by_others_are_indexed_again(
    graph: SqlGraph, compactor_sql: SqlDatabase
) -> None:
    """Also where it stays in the same branch."""

    async def asked() -> int:
        found = await compactor_sql.read(
            lambda: fetch("SELECT count(*) AS jobs FROM outbox WHERE type = ?", "index_document")
        )
        return int(found[0]["jobs"])

    await file(graph, "c1", "boat")
    await file(graph, "c2", "ship")
    await graph.merge(TENANT, AGENT, "boat", "ship", NOW)
    before = await asked()
    await file(graph, "c1", "boat", version=2)
    assert await asked() == before
    await file(graph, "c1", "ship", version=3)
    assert await asked() == before + 1
