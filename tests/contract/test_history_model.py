"""Any history, held against plain lists of messages, on SQLite and PostgreSQL (SPEC E-3, E-7, E-8)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.kit.errors import InvalidField, PalimpsestError, ParentConflict, StateConflict
from services.kit.postgres import Postgres
from services.kit.sql import SqlDatabase
from services.kit.sqlite import Database, SqliteScripts
from services.memory.episodic.adapters.sql import migrations, sql_stores
from services.memory.episodic.app.ports import NewOverlay, Position, Stores
from services.memory.episodic.domain.append import Append, Draft
from services.memory.episodic.domain.coverage import CoverRules
from services.memory.episodic.domain.model import Agent, Conversation, ConversationKey, MessageFilter, Role
from services.memory.episodic.domain.parts import Text, encode
from tests.postgres_server import SharedServer
from tests.unit.tree_model import ParentTree

RULES = CoverRules(uncovered_messages=8, uncovered_tokens=None, fold_tokens=100)
EXAMPLES = {"sqlite": 150, "postgres": 10}
MAX_BYTES = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Say:
    """Messages after the leaf (`after` None) or another message, counted back from the newest."""

    after: int | None
    messages: int
    branch: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """To the newest leaf below a message."""

    to: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cover:
    """An overlay over so many messages of a path, up to one."""

    last: int
    messages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverNext:
    """An overlay over what is due to be covered, as a job does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """Some neighbours into one, among the overlays of the active path (`at` None) or of another one."""

    at: int | None
    first: int
    overlays: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldNext:
    """Some neighbours into one among what is to be folded, as a job does."""

    first: int
    overlays: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fork:
    """A new conversation with the path to a message."""

    at: int


Step = Say | Switch | Cover | CoverNext | Fold | FoldNext | Fork
back = st.integers(0, 15)
steps = st.one_of(
    st.builds(Say, after=st.none(), messages=st.integers(1, 6), branch=st.booleans()),
    st.builds(Say, after=back, messages=st.integers(1, 9), branch=st.just(True)),
    st.builds(Say, after=back, messages=st.integers(1, 3), branch=st.just(False)),
    st.builds(Switch, to=back),
    st.builds(Cover, last=back, messages=st.integers(1, 9)),
    st.builds(Cover, last=back, messages=st.integers(1, 9)),
    st.just(CoverNext()),
    st.just(CoverNext()),
    st.builds(Fold, at=st.none(), first=st.integers(0, 5), overlays=st.integers(2, 3)),
    st.builds(Fold, at=back, first=st.integers(0, 5), overlays=st.integers(1, 3)),
    st.builds(FoldNext, first=st.integers(0, 5), overlays=st.integers(2, 3)),
    st.builds(Fork, at=back),
)


@dataclass(slots=True, kw_only=True)
class Covered:
    """An overlay: the messages beneath, in order, and the names of those that it was folded into."""

    numbers: list[int]
    into: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Model:
    """What a conversation should be. Message n has the id m{n} and n % 5 tokens."""

    tree: ParentTree = field(default_factory=ParentTree)
    leaf: int = 0
    overlays: dict[str, Covered] = field(default_factory=dict)

    def pick(self, back: int) -> int:
        return len(self.tree.parents) - back % len(self.tree.parents)

    def on_path(self, leaf: int) -> set[str]:
        """The overlays whose last message lies on a path."""
        path = set(self.tree.path(leaf))
        return {id_ for id_, one in self.overlays.items() if one.numbers[-1] in path}

    def shown(self, leaf: int) -> dict[str, list[int]]:
        """The live overlays of a path, by the place of their last message on it."""
        there = self.on_path(leaf)
        live = [id_ for id_ in there if there.isdisjoint(self.overlays[id_].into)]
        live.sort(key=lambda id_: len(self.tree.path(self.overlays[id_].numbers[-1])))
        return {id_: self.overlays[id_].numbers for id_ in live}

    def add(self, name: str, numbers: list[int], folds: Sequence[str]) -> bool:
        """Adds an overlay, unless its path does not show what it folds, or some path would show two
        overlays over one message."""
        if not set(folds) <= self.shown(numbers[-1]).keys():
            return False
        self.overlays[name] = Covered(numbers=numbers)
        for id_ in folds:
            self.overlays[id_].into.append(name)
        if any(twice(self.shown(end).values()) for end in range(1, len(self.tree.parents) + 1)):
            del self.overlays[name]
            for id_ in folds:
                self.overlays[id_].into.remove(name)
            return False
        return True


class History:
    """A conversation in the store, and its model; every step is made in both."""

    def __init__(self, stores: Stores, name: str) -> None:
        self.stores = stores
        self.key = ConversationKey(tenant="t", agent_id="a", id=name)
        self.model = Model()
        self.names = count(1)
        self.forks = 0

    async def make(self, steps: Sequence[Step]) -> None:
        await self.stores.conversations.create("t", new_conversation(self.key.id))
        for step in steps:
            await self.take(step)
            await self.check()
        await self.check_paths()

    async def take(self, step: Step) -> None:
        model = self.model
        if isinstance(step, Say):
            await self.say(step)
        elif not model.tree.parents:
            return
        elif isinstance(step, Switch):
            number = model.pick(step.to)
            model.leaf = model.tree.newest_leaf(number)
            await self.stores.history.switch(self.key, f"m{number}", 5)
        elif isinstance(step, Cover):
            path = model.tree.path(model.pick(step.last))
            await self.cover(path[-step.messages :])
        elif isinstance(step, CoverNext):
            due = (await self.stores.history.uncovered(self.key)).messages
            if due:
                assert 3 <= len(due) <= 60
                path = model.tree.path(model.leaf)
                assert due[-1].sequence in path[:-5]
                await self.cover([m.sequence for m in due], certain=True)
        elif isinstance(step, Fold):
            end = model.leaf if step.at is None else model.pick(step.at)
            await self.fold(list(model.shown(end))[step.first :][: step.overlays])
        elif isinstance(step, FoldNext):
            over = [one.id for one in await self.stores.history.foldable(self.key)]
            assert set(over) <= model.shown(model.leaf).keys()
            chosen = over[step.first :][: step.overlays]
            await self.fold(chosen, certain=self.are_neighbours(chosen))
        else:
            await self.fork(model.pick(step.at))

    async def say(self, step: Say) -> None:
        model = self.model
        parent = model.leaf
        if step.after is not None:
            parent = model.pick(step.after) if model.tree.parents else 0
        first = len(model.tree.parents) + 1
        drafts = tuple(draft(number) for number in range(first, first + step.messages))
        after = None if step.after is None else f"m{parent}" if parent else ""
        append = Append(
            key=self.key, drafts=drafts, parent_id=after, request_id="", now=5, branch=step.branch
        )
        if parent != model.leaf and not step.branch:
            assert await failure(self.stores.messages.append(append)) is ParentConflict
            return
        for _ in drafts:
            parent = model.leaf = model.tree.add(parent)
        outcomes = await self.stores.messages.append(append)
        assert [o.sequence for o in outcomes] == list(range(first, first + step.messages))

    async def cover(self, numbers: list[int], folds: Sequence[str] = (), *, certain: bool = False) -> None:
        name = f"o{next(self.names)}"
        wanted = NewOverlay(
            id=name,
            from_id=f"m{numbers[0]}",
            to_id=f"m{numbers[-1]}",
            summary="s",
            token_count=40,
            model="test",
            folds=tuple(folds),
        )
        beneath = sum(len(self.model.overlays[id_].numbers) for id_ in folds)
        refused = bool(folds) and beneath != len(numbers)
        refused = refused or not self.model.add(name, numbers, folds)
        put = self.stores.history.put_overlay(self.key, wanted, 5)
        if refused:
            assert not certain
            assert await failure(put) is StateConflict
            return
        made = await put
        assert (made.message_count, made.message_tokens) == (len(numbers), sum(n % 5 for n in numbers))

    def are_neighbours(self, chosen: Sequence[str]) -> bool:
        numbers = [number for id_ in chosen for number in self.model.overlays[id_].numbers]
        return bool(numbers) and numbers == self.model.tree.path(numbers[-1])[-len(numbers) :]

    async def fold(self, chosen: Sequence[str], *, certain: bool = False) -> None:
        if chosen:
            first, last = (self.model.overlays[id_].numbers for id_ in (chosen[0], chosen[-1]))
            path = self.model.tree.path(last[-1])
            await self.cover(path[path.index(first[0]) :], chosen, certain=certain)

    async def fork(self, number: int) -> None:
        self.forks += 1
        new = new_conversation(f"{self.key.id}.{self.forks}")
        made = await self.stores.history.fork(self.key, f"m{number}", new, most=1000)
        path = self.model.tree.path(number)
        assert (made.stored_count, made.leaf.depth, made.leaf_id) == (len(path), len(path), f"m{number}")
        assert made.leaf.path_tokens == sum(n % 5 for n in path)
        key = ConversationKey(tenant="t", agent_id="a", id=new.id)
        copies = await self.stores.messages.list(
            key, MessageFilter(), newest_first=False, limit=1000, after=None
        )
        assert [(m.sequence, m.depth, m.id) for m in copies.items] == [
            (place, place, f"m{n}") for place, n in enumerate(path, 1)
        ]

    async def check(self) -> None:
        """What the conversation counts along its active path."""
        model = self.model
        found = await self.stores.conversations.get(self.key)
        path = model.tree.path(model.leaf)
        assert found.stored_count == len(model.tree.parents)
        assert (found.leaf.sequence, found.leaf.depth) == (model.leaf, len(path))
        assert found.leaf.path_tokens == sum(n % 5 for n in path)
        shown = model.shown(model.leaf).values()
        assert found.covered_count == sum(map(len, shown))
        assert not twice(shown)

    async def check_paths(self) -> None:
        """Every path, every branching, every overlay, and all as a watcher sees it."""
        model, history = self.model, self.stores.history
        numbers = range(1, len(model.tree.parents) + 1)
        for leaf in numbers:
            page = await history.path(self.key, f"m{leaf}", newest_first=False, limit=1000, after=None)
            assert [(m.sequence, m.depth) for m in page.items] == [
                (n, depth) for depth, n in enumerate(model.tree.path(leaf), 1)
            ]
            listed = await history.overlays(self.key, f"m{leaf}", superseded=False, limit=1000, after=None)
            shown = model.shown(leaf)
            assert {one.id: (one.from_sequence, one.to_sequence) for one in listed.items} == {
                id_: (one[0], one[-1]) for id_, one in shown.items()
            }
            assert not twice(shown.values())
            view = await history.view(self.key, f"m{leaf}", lambda _: True, most=1)
            assert [one.id for one in view.overlays] == list(shown)
            every = await history.overlays(self.key, f"m{leaf}", superseded=True, limit=1000, after=None)
            assert {one.id for one in every.items} == model.on_path(leaf)
        for number in (0, *numbers):
            branches = await history.branches(
                self.key, f"m{number}" if number else "", limit=1000, after=None
            )
            found = branches.items
            assert [(one.first.sequence, one.leaf.sequence) for one in found] == [
                (child, model.tree.newest_leaf(child)) for child in model.tree.children(number)
            ]
            active = [one.first.sequence for one in found if one.active]
            on_path = set(model.tree.path(model.leaf))
            assert active == [child for child in model.tree.children(number) if child in on_path]
        changes = await history.changes(self.key, Position(sequence=0, revision=0), limit=1000)
        assert [m.sequence for m in changes.messages] == list(numbers)
        assert {one.id: list(one.superseded_by) for one in changes.overlays} == {
            id_: one.into for id_, one in model.overlays.items()
        }


def twice(overlays: Iterable[Sequence[int]]) -> bool:
    """Whether two overlays cover the same message."""
    covered = [number for numbers in overlays for number in numbers]
    return len(covered) > len(set(covered))


def draft(number: int) -> Draft:
    return Draft(
        id=f"m{number}",
        role=Role.USER,
        author="",
        session="",
        time=number,
        token_count=number % 5,
        content=encode([Text(text=str(number))]),
    )


def new_conversation(id: str) -> Conversation:
    return Conversation(id=id, agent_id="a", contact_id="", title="", create_time=1, update_time=1)


async def failure(call: object) -> type[PalimpsestError]:
    with pytest.raises((ParentConflict, StateConflict, InvalidField)) as caught:
        await call  # type: ignore[misc]
    return caught.type


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as made:
        yield made


async def opened(stack: AsyncExitStack, engine: str, folder: Path, request: pytest.FixtureRequest) -> Stores:
    database: SqlDatabase
    if engine == "sqlite":
        file = await Database.open(folder / "e.db", migrations("sqlite"), readers=1, synchronous="NORMAL")
        stack.push_async_callback(file.close)
        database = SqliteScripts(file)
    else:
        server: SharedServer = request.getfixturevalue("postgres_server")
        url = await stack.enter_async_context(server.database(migrations("postgres")))
        postgres = await Postgres.open(url, migrations("postgres"), pool_size=3)
        stack.push_async_callback(postgres.close)
        database = postgres
    stores = await sql_stores(database, rules=RULES, max_bytes=MAX_BYTES)
    await stores.agents.create("t", Agent(id="a", display_name="", system_prompt="", create_time=1))
    return stores


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_any_history_is_that_of_messages_with_parents(
    engine: str, runner: asyncio.Runner, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Numbers are dense, paths and branches right, overlays never overlap, counts are as recounted."""
    stack = AsyncExitStack()
    stores = runner.run(opened(stack, engine, tmp_path, request))
    names = count(1)

    @settings(
        deadline=None,
        max_examples=EXAMPLES[engine],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(st.lists(steps, min_size=8, max_size=30))
    def histories(made: list[Step]) -> None:
        begin = Say(after=None, messages=12, branch=False)
        runner.run(History(stores, f"c{next(names)}").make([begin, *made]))

    try:
        histories()
    finally:
        runner.run(stack.aclose())
