"""Any life of a graph, held against plain sets, on SQLite and PostgreSQL (SPEC J-13)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.compactor.adapters.sql.graph import SqlGraph
from services.compactor.app.graph_ports import BranchQuery
from services.compactor.domain.graph import EventKind, Naming, NewLink
from services.kit.errors import InvalidField, NotFound, StateConflict
from services.kit.postgres import Postgres
from services.kit.sql import SqlDatabase
from services.kit.sqlite import Database, SqliteScripts
from tests.contract.conftest import COMPACTOR
from tests.postgres_server import SharedServer

EXAMPLES = {"sqlite": 80, "postgres": 12}
NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
TENANT = "acme"
NAMES = tuple("abcdef")
FIRST = NAMES[:4]
"""Names that there are from the start."""
CONVERSATIONS = ("c1", "c2", "c3")


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkStep:
    name: str
    conversation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeStep:
    """One pair, or two at once."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoStep:
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameStep:
    name: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitStep:
    name: str
    new: str
    conversation: str


Step = LinkStep | MergeStep | UndoStep | RenameStep | SplitStep
name = st.sampled_from(NAMES)
conversation = st.sampled_from(CONVERSATIONS)
pair = st.tuples(name, name)
steps = st.one_of(
    st.builds(LinkStep, name=name, conversation=conversation),
    st.builds(LinkStep, name=name, conversation=conversation),
    st.builds(MergeStep, pairs=st.tuples(pair)),
    st.builds(MergeStep, pairs=pair.map(lambda both: (both, both[::-1]))),
    st.builds(MergeStep, pairs=st.tuples(pair, pair)),
    st.builds(UndoStep, name=name),
    st.builds(RenameStep, name=name, new=name),
    st.builds(SplitStep, name=name, new=name, conversation=conversation),
)


@dataclass(slots=True)
class Model:
    """Branches by number: who owns a name, what each has by itself, and what it points at."""

    owners: dict[str, int] = field(default_factory=dict)
    own: dict[int, set[str]] = field(default_factory=dict)
    into: dict[int, int] = field(default_factory=dict)
    ids: dict[int, str] = field(default_factory=dict)

    def root(self, name: str) -> int:
        branch = self.owners[name]
        seen = {branch}
        while branch in self.into:
            branch = self.into[branch]
            assert branch not in seen, "a cycle"
            seen.add(branch)
        return branch

    def group(self, name: str) -> set[int]:
        return {self.owners[other] for other in self.owners if self.root(other) == self.root(name)}

    def conversations(self, name: str) -> set[str]:
        return set().union(*(self.own[branch] for branch in self.group(name)))

    def make(self, name: str) -> int:
        branch = len(self.own)
        self.owners[name], self.own[branch] = branch, set()
        return branch


class Graph:
    """The store and its model; every step is made in both. All links are by hand: they stay."""

    def __init__(self, replicas: tuple[SqlDatabase, SqlDatabase], agent: str) -> None:
        self.replicas = [SqlGraph(one) for one in replicas]
        self.store = self.replicas[0]
        self.agent = agent
        self.model = Model()
        self.ticks = count(1)

    def now(self) -> datetime:
        """A later time at each call, so that events have an order."""
        return NOW + timedelta(microseconds=next(self.ticks))

    async def take(self, step: Step) -> None:
        model = self.model
        match step:
            case LinkStep():
                branch = model.owners.get(step.name)
                link = NewLink(naming=named(step.name), relevance=1.0)
                found = await self.store.link(TENANT, self.agent, step.conversation, link, self.now())
                if branch is None:
                    branch = model.make(step.name)
                    model.ids[branch] = found.id
                model.own[branch].add(step.conversation)
            case MergeStep():
                await self.merge(step.pairs)
            case UndoStep():
                branch = model.owners.get(step.name, -1)
                if branch in model.into:
                    del model.into[branch]
                    await self.store.undo_merge(TENANT, self.agent, step.name, self.now())
                else:
                    with pytest.raises((NotFound, StateConflict)):
                        await self.store.undo_merge(TENANT, self.agent, step.name, self.now())
            case RenameStep():
                await self.rename(step)
            case SplitStep():
                await self.split(step)

    async def merge(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Those at once are done in some order, which the store's answers tell."""
        results = await asyncio.gather(
            *(
                self.replicas[place % 2].merge(TENANT, self.agent, one, into, self.now())
                for place, (one, into) in enumerate(pairs)
            ),
            return_exceptions=True,
        )
        model = self.model
        for (one, into), result in zip(pairs, results, strict=True):
            valid = {one, into} <= set(model.owners) and model.owners[one] != model.owners[into]
            assert isinstance(result, InvalidField | NotFound) != valid, result
        valid_pairs = [both for both in pairs if set(both) <= set(model.owners)]
        orders = [valid_pairs, valid_pairs[::-1]]
        before = dict(model.into)
        for order in orders:
            model.into = dict(before)
            for one, into in order:
                if model.root(one) != model.root(into):
                    model.into[model.root(one)] = model.root(into)
            if await self.agrees() and await self.points():
                return
        raise AssertionError("no order of the merges explains what is there")

    async def points(self) -> bool:
        """Whether each merged branch was merged into the one that it points at in the model.

        Of merges at once the order matters: a branch is merged into what another was just merged into.
        """
        into: dict[str, str] = {}
        for one in self.model.owners:
            events = await self.store.events(TENANT, self.agent, one, 100)
            for event in events:
                if event.kind in (EventKind.MERGED, EventKind.UNMERGED):
                    target = event.other_id if event.kind is EventKind.MERGED else ""
                    into.setdefault(event.branch_id, target)
        ids = self.model.ids
        return {ids[one]: ids[other] for one, other in self.model.into.items()} == {
            one: other for one, other in into.items() if other
        }

    async def rename(self, step: RenameStep) -> None:
        model = self.model
        if step.name in model.owners and model.owners.get(step.new) in (None, model.root(step.name)):
            model.owners[step.new] = model.root(step.name)
            found = await self.store.rename(TENANT, self.agent, step.name, named(step.new), self.now())
            assert found.slug == step.new
        else:
            with pytest.raises((NotFound, StateConflict)):
                await self.store.rename(TENANT, self.agent, step.name, named(step.new), self.now())

    async def split(self, step: SplitStep) -> None:
        model, taken = self.model, [step.conversation]
        free = step.name in model.owners and step.new not in model.owners
        if free and step.conversation in model.conversations(step.name):
            for branch in model.group(step.name):
                model.own[branch].discard(step.conversation)
            made, _ = await self.store.split(
                TENANT, self.agent, step.name, named(step.new), taken, self.now()
            )
            branch = model.make(step.new)
            model.own[branch].add(step.conversation)
            model.ids[branch] = made.id
            return
        with pytest.raises((NotFound, StateConflict)):
            await self.store.split(TENANT, self.agent, step.name, named(step.new), taken, self.now())

    async def agrees(self) -> bool:
        """Whether names that are one in the model are one in the store, and under the same root."""
        slugs = {}
        for one in self.model.owners:
            slugs[one] = (await self.store.branch(TENANT, self.agent, one)).id
        together = {(a, b) for a in slugs for b in slugs if self.model.root(a) == self.model.root(b)}
        roots = {self.model.root(one): slugs[one] for one in slugs}
        own = {self.model.owners[one]: one for one in slugs}
        return together == {(a, b) for a in slugs for b in slugs if slugs[a] == slugs[b]} and all(
            [await self.is_root(roots[root], own[root]) for root in roots]
        )

    async def is_root(self, branch_id: str, name: str) -> bool:
        """Whether a branch is the one that has a name by itself: it cannot be undone."""
        found = await self.store.branch(TENANT, self.agent, name)
        return found.id == branch_id and name in (found.slug, *found.aliases)

    async def check(self) -> None:
        assert await self.agrees()
        for one in self.model.owners:
            found = await self.store.branch(TENANT, self.agent, one)
            links = await self.store.links(TENANT, self.agent, one, "", 10)
            assert {link.conversation_id for link in links} == self.model.conversations(one)
            assert found.conversations == len(links)
            names = {other for other in self.model.owners if self.model.root(other) == self.model.root(one)}
            assert {found.slug, *found.aliases} == names
            assert len(found.merged_ids) == len(self.model.group(one)) - 1
        listed = await self.store.page(TENANT, self.agent, BranchQuery(now=NOW))
        assert len(listed) == len({self.model.root(one) for one in self.model.owners})


def named(name: str) -> Naming:
    return Naming(slug=name, name=name)


async def open_replicas(
    engine: str, request: pytest.FixtureRequest, path: Path, stack: AsyncExitStack
) -> tuple[SqlDatabase, SqlDatabase]:
    if engine == "sqlite":
        file = await Database.open(path / "graph.db", COMPACTOR / "sqlite", readers=2)
        stack.push_async_callback(file.close)
        return SqliteScripts(file), SqliteScripts(file)
    server: SharedServer = request.getfixturevalue("postgres_server")
    url = await stack.enter_async_context(server.database(COMPACTOR / "postgres"))
    opened = [await Postgres.open(url, COMPACTOR / "postgres", pool_size=3) for _ in range(2)]
    for one in opened:
        stack.push_async_callback(one.close)
    return opened[0], opened[1]


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_merges_renames_and_splits_keep_every_name_and_conversation_and_make_no_cycle(
    engine: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Merges of opposite directions at once among them."""
    agents = count(1)
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        replicas = runner.run(open_replicas(engine, request, tmp_path, stack))

        async def life(chosen: Sequence[Step]) -> None:
            graph = Graph(replicas, f"agent-{next(agents)}")
            for place, one in enumerate(FIRST):
                await graph.take(LinkStep(name=one, conversation=CONVERSATIONS[place % 3]))
            for step in chosen:
                await graph.take(step)
                await graph.check()

        @settings(
            max_examples=EXAMPLES[engine],
            deadline=None,
            suppress_health_check=list(HealthCheck),
            database=None,
        )
        @given(st.lists(steps, min_size=4, max_size=16))
        def lives(chosen: Sequence[Step]) -> None:
            runner.run(life(chosen))

        try:
            lives()
        finally:
            runner.run(stack.aclose())
