"""Whatever arguments a model gives, its tools reach nothing but what is its conversation's (SPEC G-6, S-5).

Two tenants with two agents each use the same names for everything. Each conversation's tools are called with
names, ids and page tokens of the others; every text has a word that tells whose it is.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from google.protobuf.struct_pb2 import Struct
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from palimpsest.common.v1 import resources_pb2
from palimpsest.gateway.v1 import memories_pb2
from palimpsest.tools.v1 import tools_pb2
from palimpsest.working.v1 import context_pb2, notes_pb2

from services.gateway.app.tool_calls import HANDLERS
from services.gateway.domain.tools import ALL
from tests.integration.embedded_suite import running
from tests.integration.scope_world import (
    COMMON,
    NOBODY,
    OWNERS,
    PERSONS,
    TASK,
    Owner,
    Who,
    World,
    all_marks,
    marks_of,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")
VIEWERS = (NOBODY, *PERSONS)
FACT = resources_pb2.FACT_TYPE_FACT
KINDS = (
    (context_pb2.CONTEXT_KIND_WRITABLE, "diary"),
    (context_pb2.CONTEXT_KIND_SEARCHABLE, "books"),
    (context_pb2.CONTEXT_KIND_LOADABLE, "skills"),
)
TAG = re.compile(r"by-[0-9]-[0-9]-[a-z]+")
OTHERS = "others' ids"
"""Stands for an id, drawn by number."""


def tag(owner: Owner, who: Who) -> str:
    """A word that says whose tools wrote a text."""
    return f"by-{owner.tenant}-{owner.agent}-{who}"


class Tried:
    """The world, and the ids and page tokens in it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.ids: list[str] = []

    async def call(
        self, owner: Owner, who: Who, name: str, arguments: dict[str, Any]
    ) -> tools_pb2.CallToolResponse:
        given = Struct()
        given.update(arguments)
        request = tools_pb2.CallToolRequest(
            agent_id=self.world.agent(owner), conversation_id=who, name=name, arguments=given
        )
        answer: tools_pb2.CallToolResponse = await self.world.stubs[owner].CallTool(request)
        return answer

    def visible(self, owner: Owner, who: Who) -> set[str]:
        """The words that a conversation's tools may bring."""
        world = self.world
        memories = {row.mark for row in world.written(owner, who)}
        return memories | {line.mark for line in world.heard(owner, who)} | self.blocks[owner, who]

    blocks: dict[tuple[Owner, Who], set[str]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tried(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Tried]:
    async with running(tmp_path_factory.mktemp("tool-scopes") / "data") as suite:
        world = World(suite, all_marks(), ("one", "two"))
        await world.begin()
        made = Tried(world)
        made.blocks = {}
        for owner in OWNERS:
            for who in VIEWERS:
                await filled(made, owner, who)
        for owner in OWNERS:
            await world.stubs[owner].Recall(
                memories_pb2.RecallRequest(
                    agent_id=world.agent(owner), query=COMMON, wait_for=world.tokens[owner]
                )
            )
        yield made


async def filled(tried: Tried, owner: Owner, who: Who) -> None:
    """A message, memories, context blocks of the same labels, and a page token of more memories."""
    world = tried.world
    stub, agent = world.stubs[owner], world.agent(owner)
    await world.say(owner, who)
    for fact_type in (FACT, TASK):
        await world.remember(
            owner, who, fact_type=fact_type, shared=fact_type == FACT, pinned=False, sourced=True
        )
    tried.blocks[owner, who] = {next(world.marks) for _ in range(2)}
    for kind, label in KINDS:
        block = context_pb2.PutContextBlockRequest(
            agent_id=agent, conversation_id=who, label=label, kind=kind, max_tokens=500
        )
        await stub.PutContextBlock(block)
    for (_, label), mark in zip(KINDS[1:], tried.blocks[owner, who], strict=True):
        await stub.PutContextEntry(
            context_pb2.PutContextEntryRequest(
                agent_id=agent, conversation_id=who, label=label, key=COMMON, content=f"{COMMON} {mark}"
            )
        )
    page = await stub.ListMemories(
        memories_pb2.ListMemoriesRequest(agent_id=agent, contact_id=world.contact_id(owner, who), page_size=1)
    )
    tried.ids += [page.next_page_token, world.contact_id(owner, who) or agent, world.rows[-1].id]


owners, viewers = st.sampled_from(OWNERS), st.sampled_from(VIEWERS)
NAMES = (
    *("key", "value", "category", "page_token", "query", "limit", "mode", "role", "scope", "types", "text"),
    *("action", "label", "content"),
)
STRANGE = (
    *(
        "agent_id",
        "agentId",
        "contact_id",
        "contact_ids",
        "conversation_id",
        "tenant",
        "request_id",
        "filter",
    ),
    *("wait_for", "fusion", "neighbours", "include_inactive", "key_prefix", "__class__", ""),
)
texts = st.one_of(
    st.sampled_from(
        (COMMON, f"{COMMON}.shared", "diary", "books", "skills", *VIEWERS, "ada", "bea", "one", "two")
    ),
    st.sampled_from(
        (ALL, "contact", "conversation", "append", "replace", "keyword", "hybrid", "*", "%", "' OR 1=1 --")
    ),
    st.text(max_size=12),
    st.just("é" * 70_000),
)
values = st.one_of(
    texts,
    st.integers(-2, 200),
    st.booleans(),
    st.none(),
    st.lists(texts, max_size=3),
    st.just({"a": {"b": [1]}}),
)


def well_formed(name: str, word: str) -> dict[str, Any]:
    """Arguments that the tool takes, so that what is drawn on top is all that is wrong."""
    made: dict[str, dict[str, Any]] = {
        "remember": {"key": f"{COMMON}.shared", "value": word},
        "recall": {},
        "recall_conversation": {"query": COMMON},
        "search_memory": {"query": COMMON},
        "search_documents": {"query": COMMON},
        "set_notes": {"text": word},
        "set_ongoing_task": {"text": word},
        "set_context": {"label": "diary", "content": word, "action": "replace"},
        "search_context": {"query": COMMON},
        "load_context": {"label": "skills", "key": COMMON},
        "unload_context": {"label": "skills", "key": COMMON},
    }
    return made.get(name, {})


@example(owner=OWNERS[0], who="ann", name="recall_conversation", drawn={"scope": ALL}, strange={}, number=0)
@example(owner=OWNERS[0], who=NOBODY, name="recall_conversation", drawn={"scope": ALL}, strange={}, number=0)
@example(owner=OWNERS[2], who="bob", name="recall", drawn={}, strange={"contact_id": OTHERS}, number=4)
@example(owner=OWNERS[2], who="bob", name="recall", drawn={"page_token": OTHERS}, strange={}, number=0)
@example(owner=OWNERS[1], who="cyd", name="remember", drawn={}, strange={"conversation_id": OTHERS}, number=1)
@settings(
    max_examples=150,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(
    owner=owners,
    who=viewers,
    name=st.sampled_from(sorted(HANDLERS)) | st.text(min_size=1, max_size=9),
    drawn=st.dictionaries(st.sampled_from(NAMES), values | st.just(OTHERS), max_size=3),
    strange=st.dictionaries(st.sampled_from(STRANGE), values | st.just(OTHERS), max_size=1),
    number=st.integers(0, 47),
)
async def test_hostile_arguments_reach_nothing_else(
    tried: Tried,
    owner: Owner,
    who: Who,
    name: str,
    drawn: dict[str, Any],
    strange: dict[str, Any],
    number: int,
) -> None:
    """G-6: no text of another comes back, and a call with arguments that the tool lacks is refused."""
    other = tried.ids[number % len(tried.ids)]
    word = tag(owner, who)
    given_ = {**well_formed(name, word), **drawn, **strange}
    # What is written is always the writer's word, so that it is known again wherever it lands.
    given_ = {key: word if key in ("value", "text", "content") else value for key, value in given_.items()}
    arguments = {key: other if value == OTHERS else value for key, value in given_.items()}
    answer = await tried.call(owner, who, name, arguments)
    assert marks_of(answer) <= tried.visible(owner, who)
    assert set(TAG.findall(str(answer))) <= {word, tag(owner, NOBODY)}
    if any(value is not None for value in strange.values()):
        assert answer.is_error
    assert len(answer.content.encode("utf-8")) < 17 * 1024


@pytest.mark.parametrize("owner", OWNERS, ids=str)
async def test_what_is_ones_own_is_found(tried: Tried, owner: Owner) -> None:
    """The control: each conversation's tools bring all that is its own."""
    for who in VIEWERS:
        found: set[str] = set()
        for name in ("recall", "search_memory", "recall_conversation", "search_context", "load_context"):
            answer = await tried.call(owner, who, name, well_formed(name, ""))
            assert not answer.is_error, answer.content
            found |= marks_of(answer)
        held = {row.mark for row in tried.world.held(owner, who)}
        said = {line.mark for line in tried.world.heard(owner, who)}
        # A statement that the first test replaced under the shared key is no longer held.
        assert found >= said | tried.blocks[owner, who]
        assert found & held


async def test_what_was_written_is_nowhere_else(tried: Tried) -> None:
    """G-6, G-7: each conversation's tools write; afterwards each word is where it belongs, and only there."""
    world = tried.world
    for owner in OWNERS:
        for who in VIEWERS:
            for name in ("remember", "set_notes", "set_ongoing_task", "set_context"):
                answer = await tried.call(owner, who, name, well_formed(name, tag(owner, who)))
                assert not answer.is_error, answer.content
    for owner in OWNERS:
        stub, agent = world.stubs[owner], world.agent(owner)
        for who in VIEWERS:
            memories = await stub.ListMemories(
                memories_pb2.ListMemoriesRequest(agent_id=agent, contact_id=world.contact_id(owner, who))
            )
            assert set(TAG.findall(str(memories))) == {tag(owner, who), tag(owner, NOBODY)}
            place = {"agent_id": agent, "conversation_id": who}
            for written in (
                await stub.GetNotes(notes_pb2.GetNotesRequest(**place)),
                await stub.GetTask(notes_pb2.GetTaskRequest(**place)),
                await stub.GetContextBlock(context_pb2.GetContextBlockRequest(**place, label="diary")),
            ):
                assert set(TAG.findall(str(written))) == {tag(owner, who)}
