"""The stores of working memory over both engines (SPEC W-1 to W-5)."""

from __future__ import annotations

import asyncio
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import pytest

from services.kit.errors import InvalidField, LimitExceeded, NotFound, StateConflict
from services.kit.sql import Script, SqlDatabase, first
from services.kit.tokens import estimate_tokens
from services.memory.episodic.adapters.sql import sql_stores
from services.memory.episodic.adapters.sql.agents import SqlAgents
from services.memory.episodic.adapters.sql.checkpoints import delete_checkpoint
from services.memory.episodic.adapters.sql.conversations import SqlConversations, conversation_row
from services.memory.episodic.adapters.sql.working import working_stores
from services.memory.episodic.app.working_ports import Matches, WorkingStores
from services.memory.episodic.domain.append import Append
from services.memory.episodic.domain.blocks import ContextBlock, ContextEntry, Kind, NewBlock, Owner, Writer
from services.memory.episodic.domain.blocks_search import entry_terms, query_terms
from services.memory.episodic.domain.checkpoints import Checkpoint, Handle, Preview, Round, SavedCall
from services.memory.episodic.domain.checks import Limits, draft_messages
from services.memory.episodic.domain.coverage import CoverRules
from services.memory.episodic.domain.model import Agent, Conversation, ConversationKey, NewMessage, Role
from services.memory.episodic.domain.parts import Part, Text, ToolCall, ToolResult
from services.memory.episodic.domain.working import SECOND, Edit, Task, WorkingLimits

LIMITS = WorkingLimits(checkpoint_calls=4)
DAY = 24 * 3600 * SECOND
KEY = ConversationKey(tenant="acme", agent_id="a", id="c")
SECOND_KEY = replace(KEY, id="d")
AGENT = Owner(tenant="acme", agent_id="a")
TALK = Owner(tenant="acme", agent_id="a", conversation_id="c")
NOW = 1_700_000_000 * SECOND
PLACES = [("acme", "a", "c"), ("acme", "a", "d"), ("acme", "b", "c"), ("other", "a", "c")]


async def populate(database: SqlDatabase) -> None:
    agents, conversations = SqlAgents(database), SqlConversations(database)
    for tenant, agent_id, conversation_id in PLACES:
        agent = Agent(id=agent_id, display_name="", system_prompt="Be kind.", create_time=1)
        await agents.create(tenant, agent)
        conversation = Conversation(
            id=conversation_id, agent_id=agent_id, contact_id="", title="", create_time=1, update_time=1
        )
        await conversations.create(tenant, conversation)


@pytest.fixture
async def replicas(
    episodic_sql_pair: tuple[SqlDatabase, SqlDatabase],
) -> tuple[WorkingStores, WorkingStores]:
    await populate(episodic_sql_pair[0])
    return working_stores(episodic_sql_pair[0], LIMITS), working_stores(episodic_sql_pair[1], LIMITS)


@pytest.fixture
def stores(replicas: tuple[WorkingStores, WorkingStores]) -> WorkingStores:
    return replicas[0]


async def note(stores: WorkingStores, text: str, *, append: bool = False, most: int = 2000) -> str:
    edit = Edit(text=text, append=append)
    return (await stores.notes.edit(KEY, edit, most_tokens=most, now=NOW)).text


# Notes and tasks


async def test_notes_are_replaced_appended_and_cleared(stores: WorkingStores) -> None:
    """W-1."""
    before = await stores.notes.get(KEY)
    assert (before.text, before.version, before.update_time) == ("", 0, 0)
    assert await note(stores, "one", append=True) == "one"
    assert await note(stores, "two", append=True) == "one\ntwo"
    assert await note(stores, "three") == "three"
    after = await stores.notes.get(KEY)
    assert (after.text, after.version, after.update_time) == ("three", 3, NOW)
    assert after.token_count == estimate_tokens("three")
    assert await note(stores, "") == ""
    assert (await stores.notes.get(KEY)).version == 4
    assert (await stores.notes.get(SECOND_KEY)).version == 0


async def test_notes_over_their_limit_change_nothing(stores: WorkingStores) -> None:
    """W-1."""
    await note(stores, "x" * 35, most=10)
    before = await stores.notes.get(KEY)
    with pytest.raises(LimitExceeded) as caught:
        await note(stores, "y", append=True, most=10)
    assert caught.value.metadata == {"limit": "10", "actual": "11"}
    assert await stores.notes.get(KEY) == before


async def test_concurrent_appends_to_notes_are_all_kept(
    replicas: tuple[WorkingStores, WorkingStores],
) -> None:
    """W-1: 64 callers over two replicas."""
    await asyncio.gather(*(note(replicas[n % 2], f"line {n}", append=True) for n in range(64)))
    notes = await replicas[0].notes.get(KEY)
    assert sorted(notes.text.splitlines()) == sorted(f"line {n}" for n in range(64))
    assert notes.version == 64


async def test_a_task_is_set_read_and_cleared(stores: WorkingStores) -> None:
    """W-2."""
    with pytest.raises(NotFound) as caught:
        await stores.tasks.get(KEY)
    assert caught.value.metadata["resource"] == "task"
    await stores.tasks.clear(KEY)
    for text in ("find a flat", "find a house"):
        task = Task(text=text, token_count=4, update_time=NOW)
        await stores.tasks.set(KEY, task)
        assert await stores.tasks.get(KEY) == task
    await stores.tasks.clear(KEY)
    with pytest.raises(NotFound):
        await stores.tasks.get(KEY)


async def test_unknown_agents_and_conversations_are_named(stores: WorkingStores) -> None:
    """X-1."""
    for key, resource in ((replace(KEY, id="zz"), "conversation"), (replace(KEY, agent_id="zz"), "agent")):
        task = Task(text="t", token_count=1, update_time=NOW)
        owner = Owner(tenant=key.tenant, agent_id=key.agent_id, conversation_id=key.id)
        calls = [
            stores.notes.get(key),
            stores.notes.edit(key, Edit(text="x"), most_tokens=9, now=NOW),
            stores.tasks.get(key),
            stores.tasks.set(key, task),
            stores.tasks.clear(key),
            stores.checkpoints.save(key, saved("t", 1), now=NOW),
            stores.checkpoints.get(key),
            stores.checkpoints.delete(key, ""),
            stores.blocks.put(owner, block("x"), most_blocks=9, now=NOW),
            stores.blocks.list(owner),
            stores.blocks.delete(owner, "x"),
            stores.blocks.edit(owner, "x", Edit(text="x"), now=NOW),
            stores.blocks.effective(owner),
            stores.entries.search(owner, "", ["x"], limit=5),
            stores.entries.load(key, "x", "y", most_loaded=9, now=NOW),
            stores.entries.unload(key, "x", "y"),
            stores.prompts.get(key, now=NOW),
            stores.prompts.refresh(key, now=NOW),
            stores.working.read(key),
        ]
        for call in calls:
            with pytest.raises(NotFound) as caught:
                await call
            assert caught.value.metadata["resource"] == resource
    with pytest.raises(NotFound):
        await stores.prompts.refresh_all("acme", "zz")


# Checkpoints


def call(call_id: str, result: str | None = "done", **fields: object) -> SavedCall:
    arguments = fields.pop("arguments", {"n": 1})
    preview = None if result is None else Preview(content=result, **fields)  # type: ignore[arg-type]
    return SavedCall(call_id=call_id, name="look", arguments=arguments, result=preview)  # type: ignore[arg-type]


def saved(turn: str, number: int, *calls: SavedCall, handles: Sequence[tuple[str, str]] = ()) -> Round:
    return Round(
        turn_id=turn,
        number=number,
        calls=calls,
        handles=[Handle(name=name, handle=handle) for name, handle in handles],
    )


async def checkpoint(stores: WorkingStores) -> Checkpoint:
    found = await stores.checkpoints.get(KEY)
    assert found is not None
    return found


async def test_a_turn_is_recorded_round_by_round(stores: WorkingStores) -> None:
    """W-3."""
    assert await stores.checkpoints.get(KEY) is None
    arguments = {"z": [1, 2.5, None, {"deep": "ü"}], "a": True}
    first_round = saved(
        "t", 1, call("k1", arguments=arguments), call("k0", None), handles=[("sh", "1"), ("b", "2")]
    )
    assert (await stores.checkpoints.save(KEY, first_round, now=NOW)).call_count == 2
    second = saved("t", 2, call("k2", "no", is_error=True, cut=True), handles=[("sh", "3")])
    assert (await stores.checkpoints.save(KEY, second, now=NOW + 5)).call_count == 3
    got = await checkpoint(stores)
    assert (got.turn_id, got.round, got.create_time, got.update_time) == ("t", 2, NOW, NOW + 5)
    assert [(one.call_id, one.round) for one in got.calls] == [("k1", 1), ("k0", 1), ("k2", 2)]
    assert got.calls[0].arguments == arguments
    assert [one.result for one in got.calls[1:]] == [None, Preview(content="no", is_error=True, cut=True)]
    assert got.handles == (Handle(name="sh", handle="3"),)


async def test_the_same_round_saved_twice_is_one(stores: WorkingStores) -> None:
    """W-3."""
    round_ = saved("t", 1, call("k1"), call("k2"), handles=[("sh", "1")])
    await stores.checkpoints.save(KEY, round_, now=NOW)
    once = await checkpoint(stores)
    assert (await stores.checkpoints.save(KEY, round_, now=NOW)).call_count == 2
    assert await checkpoint(stores) == once


async def test_a_pending_call_gets_its_result_and_keeps_it(stores: WorkingStores) -> None:
    """W-3."""
    await stores.checkpoints.save(KEY, saved("t", 1, call("k1", None), call("k2", None)), now=NOW)
    await stores.checkpoints.save(KEY, saved("t", 2, call("k1", "found"), call("k3")), now=NOW)
    late = saved("t", 1, call("k1", None), call("k4"), handles=[("old", "1")])
    await stores.checkpoints.save(KEY, late, now=NOW)
    got = await checkpoint(stores)
    results = {one.call_id: one.result and one.result.content for one in got.calls}
    assert results == {"k1": "found", "k2": None, "k3": "done", "k4": "done"}
    assert (got.round, got.handles) == (2, ())
    assert [one.call_id for one in got.calls] == ["k1", "k2", "k4", "k3"]


async def test_the_oldest_calls_give_way(stores: WorkingStores) -> None:
    """W-3: as many rows as the limit says, here 4."""
    for number in range(1, 4):
        await stores.checkpoints.save(
            KEY, saved("t", number, call(f"{number}b"), call(f"{number}a")), now=NOW
        )
    expected = ["2b", "2a", "3b", "3a"]
    assert [one.call_id for one in (await checkpoint(stores)).calls] == expected
    again = await stores.checkpoints.save(KEY, saved("t", 1, call("1b"), call("1a")), now=NOW)
    assert again.call_count == 4
    assert [one.call_id for one in (await checkpoint(stores)).calls] == expected


async def test_another_turn_and_an_expired_one_start_anew(stores: WorkingStores) -> None:
    """W-3."""
    await stores.checkpoints.save(KEY, saved("t", 7, call("k1"), handles=[("sh", "1")]), now=NOW)
    await stores.checkpoints.save(KEY, saved("u", 1, call("k2")), now=NOW + 1)
    got = await checkpoint(stores)
    assert (got.turn_id, got.round, [one.call_id for one in got.calls], got.handles) == ("u", 1, ["k2"], ())
    assert got.create_time == NOW + 1
    await stores.checkpoints.save(KEY, saved("u", 2, call("k3")), now=NOW + DAY)
    assert len((await checkpoint(stores)).calls) == 2
    await stores.checkpoints.save(KEY, saved("u", 1, call("k4")), now=NOW + 2 * DAY)
    got = await checkpoint(stores)
    assert (got.round, [one.call_id for one in got.calls], got.create_time) == (1, ["k4"], NOW + 2 * DAY)


async def marked(database: SqlDatabase) -> bool:
    def script() -> Script[bool]:
        return bool((yield from conversation_row(KEY))["has_checkpoint"])

    return await database.read(script)


async def rows_of(database: SqlDatabase, table: str) -> int:
    def script() -> Script[int]:
        row = yield from first(f"SELECT COUNT(*) AS found FROM {table} WHERE tenant = ?", "acme")
        assert row is not None
        found: int = row["found"]
        return found

    return await database.read(script)


async def test_the_conversation_says_whether_a_checkpoint_is_kept(
    stores: WorkingStores, episodic_sql: SqlDatabase
) -> None:
    """W-3: what an append looks at, and the script that it runs."""
    assert not await marked(episodic_sql)
    assert not await stores.checkpoints.delete(KEY, "")
    for end in ("delete", "script"):
        await stores.checkpoints.save(KEY, saved("t", 1, call("k1")), now=NOW)
        await stores.checkpoints.save(KEY, saved("u", 1, call("k1")), now=NOW)
        assert await marked(episodic_sql)
        if end == "delete":
            assert not await stores.checkpoints.delete(KEY, "t")
            assert await marked(episodic_sql)
            assert await stores.checkpoints.delete(KEY, "u")
        else:

            def script() -> Script[None]:
                row = yield from conversation_row(KEY, lock=True)
                yield from delete_checkpoint(KEY.tenant, row["number"])

            await episodic_sql.write(script)
        assert not await marked(episodic_sql)
        assert await stores.checkpoints.get(KEY) is None
        assert await rows_of(episodic_sql, "checkpoint_calls") == 0


async def test_an_append_of_the_assistants_message_deletes_the_checkpoint(
    stores: WorkingStores, episodic_sql: SqlDatabase
) -> None:
    """W-3: not one of the user, of a tool, or that calls tools itself; nor one elsewhere."""
    rules = CoverRules(uncovered_messages=25, uncovered_tokens=None, fold_tokens=1000)
    messages = (await sql_stores(episodic_sql, rules=rules, max_bytes=1 << 20)).messages

    async def append(key: ConversationKey, role: Role, *parts: Part) -> None:
        new = NewMessage(id="", role=role, author="", session="", time=None, parts=parts)
        drafts = draft_messages([new], NOW, Limits(text_bytes=99, argument_bytes=99, append_bytes=999))
        await messages.append(Append(key=key, drafts=drafts, parent_id=None, request_id="", now=NOW))

    await stores.checkpoints.save(KEY, saved("t", 1, call("k1")), now=NOW)
    tool_call = ToolCall(call_id="k1", name="look", arguments={})
    await append(KEY, Role.USER, Text(text="Look."))
    await append(KEY, Role.ASSISTANT, Text(text="I will."), tool_call)
    await append(KEY, Role.TOOL, ToolResult(call_id="k1", content="seen"))
    await append(SECOND_KEY, Role.ASSISTANT, Text(text="Done."))
    assert await stores.checkpoints.get(KEY) is not None
    await append(KEY, Role.ASSISTANT, Text(text="Done."))
    assert await stores.checkpoints.get(KEY) is None
    assert not await marked(episodic_sql)


async def test_expired_checkpoints_are_deleted_some_at_a_time(
    stores: WorkingStores, episodic_sql: SqlDatabase
) -> None:
    """W-3, J-15: of every tenant, and only expired ones."""
    elsewhere = replace(KEY, tenant="other")
    for key, age in ((KEY, 0), (SECOND_KEY, 1), (elsewhere, 2)):
        await stores.checkpoints.save(key, saved("t", 1, call("k1")), now=NOW - age)
    assert await stores.checkpoints.delete_expired(NOW + DAY - 1, 1) == 1
    assert await stores.checkpoints.get(elsewhere) is None
    assert await stores.checkpoints.get(SECOND_KEY) is not None
    assert await stores.checkpoints.delete_expired(NOW + DAY - 1, 9) == 1
    assert await stores.checkpoints.get(SECOND_KEY) is None
    assert await stores.checkpoints.get(KEY) is not None
    assert await stores.checkpoints.delete_expired(NOW + DAY - 1, 9) == 0
    assert await marked(episodic_sql)
    assert await stores.checkpoints.delete_expired(NOW + DAY, 9) == 1
    assert not await marked(episodic_sql)


# Blocks


def block(label: str, kind: Kind = Kind.WRITABLE, content: str | None = None, most: int = 100) -> NewBlock:
    return NewBlock(label=label, description=f"about {label}", kind=kind, max_tokens=most, content=content)


async def put(stores: WorkingStores, owner: Owner, new: NewBlock, now: int = NOW) -> ContextBlock:
    return await stores.blocks.put(owner, new, most_blocks=3, now=now)


async def test_a_block_is_put_read_changed_and_deleted(stores: WorkingStores) -> None:
    """W-4."""
    made = await put(stores, AGENT, block("persona", content="Calm."))
    assert made == ContextBlock(
        label="persona",
        description="about persona",
        kind=Kind.WRITABLE,
        max_tokens=100,
        content="Calm.",
        token_count=estimate_tokens("Calm."),
        written_by=Writer.APPLICATION,
        create_time=NOW,
        update_time=NOW,
    )
    assert await stores.blocks.get(AGENT, "persona") == made
    changed = await put(stores, AGENT, replace(block("persona", most=50), description="new"), NOW + 1)
    assert (changed.content, changed.description, changed.max_tokens) == ("Calm.", "new", 50)
    assert (changed.create_time, changed.update_time) == (NOW, NOW + 1)
    assert (await put(stores, AGENT, block("persona", content=""))).written_by is Writer.NOBODY
    await put(stores, AGENT, block("Apart"))
    listed = await stores.blocks.list(AGENT)
    assert [one.label for one in listed] == ["Apart", "persona"]
    assert await stores.blocks.delete(AGENT, "persona")
    assert not await stores.blocks.delete(AGENT, "persona")
    with pytest.raises(NotFound) as caught:
        await stores.blocks.get(AGENT, "persona")
    assert caught.value.metadata == {"resource": "context block", "id": "persona"}


async def test_a_put_that_is_refused_changes_nothing(stores: WorkingStores) -> None:
    """W-4, X-1."""
    made = await put(stores, AGENT, block("b", content="x" * 100))
    await put(stores, AGENT, block("s", Kind.SEARCHABLE))
    with pytest.raises(StateConflict):
        await put(stores, AGENT, block("b", Kind.READONLY))
    with pytest.raises(InvalidField):
        await put(stores, AGENT, block("s", Kind.SEARCHABLE, "content"))
    with pytest.raises(LimitExceeded) as caught:
        await put(stores, AGENT, block("b", most=20))
    assert caught.value.metadata == {"limit": "20", "actual": "29"}
    await put(stores, AGENT, block("third"))
    with pytest.raises(LimitExceeded) as caught:
        await put(stores, AGENT, block("fourth"))
    assert caught.value.metadata == {"limit": "3", "actual": "4"}
    await put(stores, AGENT, block("third"))  # it is there already
    await put(stores, TALK, block("fourth"))  # the conversation counts for itself
    assert await stores.blocks.get(AGENT, "b") == made
    assert len(await stores.blocks.list(AGENT)) == 3


async def test_the_model_writes_to_writable_blocks_only(stores: WorkingStores) -> None:
    """W-4."""
    await put(stores, AGENT, block("w", most=16))
    await put(stores, AGENT, block("r", Kind.READONLY, "fixed"))
    edited = await stores.blocks.edit(TALK, "w", Edit(text="one", append=True), now=NOW + 1)
    edited = await stores.blocks.edit(TALK, "w", Edit(text="two", append=True), now=NOW + 2)
    assert (edited.content, edited.written_by, edited.update_time) == ("one\ntwo", Writer.MODEL, NOW + 2)
    assert await stores.blocks.get(AGENT, "w") == edited
    with pytest.raises(LimitExceeded) as caught:
        await stores.blocks.edit(TALK, "w", Edit(text="x" * 60, append=True), now=NOW)
    assert caught.value.metadata == {"limit": "16", "actual": "20"}
    with pytest.raises(StateConflict):
        await stores.blocks.edit(TALK, "r", Edit(text="mine"), now=NOW)
    with pytest.raises(NotFound):
        await stores.blocks.edit(TALK, "none", Edit(text="mine"), now=NOW)
    assert await stores.blocks.get(AGENT, "w") == edited
    emptied = await stores.blocks.edit(TALK, "w", Edit(text=""), now=NOW)
    assert (emptied.content, emptied.written_by) == ("", Writer.NOBODY)


async def test_a_conversations_block_hides_the_agents(stores: WorkingStores) -> None:
    """W-4."""
    for owner, label in ((AGENT, "x"), (AGENT, "z"), (TALK, "y"), (TALK, "x")):
        await put(stores, owner, block(label, content=f"of {'the agent' if owner is AGENT else 'here'}"))
    shown = [(one.label, one.of_conversation) for one in await stores.blocks.effective(TALK)]
    assert shown == [("z", False), ("x", True), ("y", True)]
    assert [one.label for one in await stores.blocks.effective(AGENT)] == ["x", "z"]
    await stores.blocks.edit(TALK, "x", Edit(text="changed"), now=NOW)
    assert (await stores.blocks.get(TALK, "x")).content == "changed"
    assert (await stores.blocks.get(AGENT, "x")).content == "of the agent"
    with pytest.raises(NotFound):
        await stores.blocks.edit(AGENT, "y", Edit(text="z"), now=NOW)


async def test_concurrent_writes_of_a_block_are_all_kept(
    replicas: tuple[WorkingStores, WorkingStores],
) -> None:
    """W-4."""
    await put(replicas[0], AGENT, block("w", most=1000))
    edits = (
        replicas[n % 2].blocks.edit(TALK, "w", Edit(text=f"line {n}", append=True), now=NOW)
        for n in range(32)
    )
    await asyncio.gather(*edits)
    content = (await replicas[0].blocks.get(AGENT, "w")).content
    assert sorted(content.splitlines()) == sorted(f"line {n}" for n in range(32))


# Entries


def entry(label: str, key: str, content: str, title: str = "") -> ContextEntry:
    return ContextEntry(
        label=label,
        key=key,
        title=title,
        content=content,
        token_count=estimate_tokens(content),
        update_time=NOW,
    )


async def add(stores: WorkingStores, owner: Owner, new: ContextEntry, most: int = 100) -> ContextEntry:
    terms = entry_terms(new.key, new.title, new.content)
    return await stores.entries.put(owner, new, terms, most_entries=most)


async def find(stores: WorkingStores, query: str, label: str = "", limit: int = 50) -> list[str]:
    found = await stores.entries.search(TALK, label, query_terms(query), limit=limit)
    return [one.key for one, _ in found.entries]


async def test_entries_are_put_read_listed_and_deleted(stores: WorkingStores) -> None:
    """W-4."""
    await put(stores, AGENT, block("faq", Kind.SEARCHABLE))
    for key in ("b", "a", "C", "c"):
        made = await add(stores, AGENT, entry("faq", key, f"text {key}", "Title"))
        assert made == replace(entry("faq", key, f"text {key}", "Title"), content="")
    assert await stores.entries.get(AGENT, "faq", "a") == entry("faq", "a", "text a", "Title")
    page = await stores.entries.list(AGENT, "faq", limit=3, after=None)
    rest = await stores.entries.list(AGENT, "faq", limit=3, after=page.last)
    assert [one.key for one in (*page.items, *rest.items)] == ["C", "a", "b", "c"]
    assert (rest.last, page.items[0].content) == (None, "")
    await add(stores, AGENT, entry("faq", "a", "another"))
    assert (await stores.entries.get(AGENT, "faq", "a")).content == "another"
    assert (await stores.blocks.get(AGENT, "faq")).entry_count == 4
    assert await stores.entries.delete(AGENT, "faq", "a")
    assert not await stores.entries.delete(AGENT, "faq", "a")
    assert (await stores.blocks.get(AGENT, "faq")).entry_count == 3
    with pytest.raises(NotFound) as caught:
        await stores.entries.get(AGENT, "faq", "a")
    assert caught.value.metadata == {"resource": "context entry", "id": "a"}
    with pytest.raises(NotFound):
        await add(stores, AGENT, entry("none", "a", "x"))


async def test_blocks_with_content_take_no_entries_and_others_only_so_many(stores: WorkingStores) -> None:
    """W-4."""
    await put(stores, AGENT, block("w"))
    with pytest.raises(StateConflict):
        await add(stores, AGENT, entry("w", "a", "x"))
    await put(stores, AGENT, block("l", Kind.LOADABLE))
    await add(stores, AGENT, entry("l", "a", "x"), most=1)
    await add(stores, AGENT, entry("l", "a", "y"), most=1)
    with pytest.raises(LimitExceeded) as caught:
        await add(stores, AGENT, entry("l", "b", "x"), most=1)
    assert caught.value.metadata == {"limit": "1", "actual": "2"}


async def test_concurrent_puts_of_entries_are_all_counted(
    replicas: tuple[WorkingStores, WorkingStores],
) -> None:
    """W-4."""
    await put(replicas[0], AGENT, block("faq", Kind.SEARCHABLE))
    puts = (add(replicas[n % 2], AGENT, entry("faq", f"k{n % 20}", f"words {n}")) for n in range(40))
    await asyncio.gather(*puts)
    assert (await replicas[0].blocks.get(AGENT, "faq")).entry_count == 20
    assert len(await find(replicas[0], "words")) == 20


CORPUS = {
    "refund": "A refund takes five days. Refunds go to the card that paid for the order.",
    "shipping": "Shipping takes two days, in December up to five days.",
    "returns": "Send the order back within thirty days; the refund follows.",
    "hours": "We are open from nine to five.",
    "tokyo": "東京の店は九時から開いています。",
}


def reference_bm25(query: str) -> list[tuple[str, float]]:
    """The formula of domain/blocks_search.py, straight from its docstring."""
    terms = {key: entry_terms(key, "", text) for key, text in CORPUS.items()}
    average = sum(counts.total() for counts in terms.values()) / len(terms)
    scores: dict[str, float] = defaultdict(float)
    for term in query_terms(query):
        holding = [key for key, counts in terms.items() if counts[term]]
        idf = math.log(1 + (len(terms) - len(holding) + 0.5) / (len(holding) + 0.5))
        for key in holding:
            frequency, length = terms[key][term], terms[key].total()
            scores[key] += idf * frequency * 2.2 / (frequency + 1.2 * (0.25 + 0.75 * length / average))
    return sorted(scores.items(), key=lambda pair: -pair[1])


async def test_search_ranks_by_bm25(stores: WorkingStores) -> None:
    """W-4."""
    await put(stores, AGENT, block("faq", Kind.SEARCHABLE))
    for key, text in CORPUS.items():
        await add(stores, AGENT, entry("faq", key, text))
    for query in ("refund order", "five days", "how long is REFUND?", "東京", "open", "to to to"):
        found = await stores.entries.search(TALK, "faq", query_terms(query), limit=50)
        expected = reference_bm25(query)
        assert expected
        assert [one.key for one, _ in found.entries] == [key for key, _ in expected]
        assert [score for _, score in found.entries] == pytest.approx([score for _, score in expected])
    assert await find(stores, "refund order", limit=1) == [reference_bm25("refund order")[0][0]]
    assert (await stores.entries.search(TALK, "faq", ["absent"], limit=5)) == Matches()
    assert (await stores.entries.search(TALK, "faq", [], limit=5)) == Matches()
    telling = (await stores.entries.search(TALK, "", ["the", "refund", "absent", "card"], limit=5)).telling
    assert list(telling) == ["card", "the", "refund"]


async def test_search_knows_only_what_is_there_now(stores: WorkingStores) -> None:
    """W-4."""
    await put(stores, AGENT, block("faq", Kind.SEARCHABLE))
    await add(stores, AGENT, entry("faq", "a", "alpha beta", "gamma"))
    await add(stores, AGENT, entry("faq", "b", "alpha"))
    assert await find(stores, "alpha") == ["b", "a"]
    assert await find(stores, "GAMMA") == ["a"]
    await add(stores, AGENT, entry("faq", "a", "delta"))
    assert (await find(stores, "beta gamma"), await find(stores, "delta")) == ([], ["a"])
    await stores.entries.delete(AGENT, "faq", "b")
    assert (await find(stores, "alpha"), await find(stores, "delta")) == ([], ["a"])


async def test_search_looks_in_one_block_or_in_all_that_count(stores: WorkingStores) -> None:
    """W-4."""
    for owner, label in ((AGENT, "one"), (AGENT, "two"), (TALK, "two")):
        await put(stores, owner, block(label, Kind.SEARCHABLE))
        key = f"{label}-{'agent' if owner is AGENT else 'talk'}"
        await add(stores, owner, entry(label, key, "word"))
    await put(stores, AGENT, block("l", Kind.LOADABLE))
    await add(stores, AGENT, entry("l", "loadable", "word"))
    assert sorted(await find(stores, "word")) == ["one-agent", "two-talk"]
    assert await find(stores, "word", "two") == ["two-talk"]
    own = await stores.entries.search(AGENT, "two", ["word"], limit=5)
    assert [one.key for one, _ in own.entries] == ["two-agent"]
    with pytest.raises(StateConflict):
        await find(stores, "word", "l")
    with pytest.raises(NotFound):
        await find(stores, "word", "none")


async def loaded(stores: WorkingStores, key: ConversationKey = KEY) -> list[tuple[str, str]]:
    return [(one.key, one.content) for one in (await stores.working.read(key)).loaded]


async def load(stores: WorkingStores, key: str, at: int = 0, label: str = "l") -> ContextEntry:
    return await stores.entries.load(KEY, label, key, most_loaded=2, now=NOW + at)


async def test_entries_are_loaded_and_unloaded_for_a_conversation(stores: WorkingStores) -> None:
    """W-4, W-6."""
    await put(stores, AGENT, block("l", Kind.LOADABLE))
    await put(stores, AGENT, block("s", Kind.SEARCHABLE))
    for key in ("a", "b", "c"):
        await add(stores, AGENT, entry("l", key, f"text {key}"))
    assert await load(stores, "b") == entry("l", "b", "text b")
    await load(stores, "a", at=1)
    await load(stores, "b", at=2)
    assert await loaded(stores) == [("b", "text b"), ("a", "text a")]
    assert await loaded(stores, SECOND_KEY) == []
    with pytest.raises(LimitExceeded) as caught:
        await load(stores, "c")
    assert caught.value.metadata == {"limit": "2", "actual": "3"}
    with pytest.raises(NotFound):
        await load(stores, "none")
    with pytest.raises(StateConflict):
        await load(stores, "x", label="s")
    with pytest.raises(StateConflict):
        await stores.entries.unload(KEY, "s", "x")
    assert await stores.entries.unload(KEY, "l", "b")
    assert not await stores.entries.unload(KEY, "l", "b")
    assert not await stores.entries.unload(KEY, "l", "none")
    await add(stores, AGENT, entry("l", "a", "new"))
    assert await loaded(stores) == [("a", "new")]
    await stores.entries.delete(AGENT, "l", "a")
    await add(stores, AGENT, entry("l", "a", "again"))
    assert await loaded(stores) == []


async def test_deleting_a_block_leaves_nothing_of_it(
    stores: WorkingStores, episodic_sql: SqlDatabase
) -> None:
    """W-4."""
    tables = ("context_blocks", "context_entries", "context_terms", "loaded_entries")
    for owner in (AGENT, TALK):
        for label, kind in (("s", Kind.SEARCHABLE), ("l", Kind.LOADABLE)):
            await put(stores, owner, block(label, kind))
            await add(stores, owner, entry(label, "k", "one two"))
    await load(stores, "k")
    kept = {"context_blocks": 2, "context_entries": 2, "context_terms": 3, "loaded_entries": 0}
    assert {table: await rows_of(episodic_sql, table) for table in tables} == {
        table: 2 * count or 1 for table, count in kept.items()
    }
    for label in ("s", "l"):
        assert await stores.blocks.delete(TALK, label)
    assert {table: await rows_of(episodic_sql, table) for table in tables} == kept
    assert (await stores.entries.get(AGENT, "l", "k")).content == "one two"


# System prompts


async def prompt(stores: WorkingStores, key: ConversationKey = KEY) -> str:
    return (await stores.prompts.get(key, now=NOW)).text


async def test_without_blocks_the_prompt_is_the_agents_own(stores: WorkingStores) -> None:
    """W-5."""
    got = await stores.prompts.get(KEY, now=NOW)
    assert (got.text, got.token_count, got.revision, got.create_time) == ("Be kind.", 3, 1, NOW)


async def test_the_prompt_is_frozen_until_it_is_refreshed(
    replicas: tuple[WorkingStores, WorkingStores], episodic_sql: SqlDatabase
) -> None:
    """W-5."""
    stores, other = replicas
    await put(stores, TALK, block("b", content="first"))
    frozen = await stores.prompts.get(KEY, now=NOW)
    assert "first" in frozen.text
    await put(stores, TALK, block("b", content="second"))
    await put(stores, AGENT, block("c", content="third"))
    await SqlAgents(episodic_sql).update("acme", "a", display_name=None, system_prompt="Be brief.")
    assert await other.prompts.get(KEY, now=NOW + 1) == frozen
    anew = await other.prompts.refresh(KEY, now=NOW + 2)
    assert anew.text.startswith("Be brief.")
    assert anew.text.index("third") < anew.text.index("second")
    assert (anew.revision, anew.create_time) == (2, NOW + 2)
    assert await stores.prompts.get(KEY, now=NOW + 3) == anew


async def test_all_prompts_of_an_agent_are_refreshed(stores: WorkingStores) -> None:
    """W-5."""
    elsewhere = (replace(KEY, agent_id="b"), replace(KEY, tenant="other"))
    before = {key: await prompt(stores, key) for key in (KEY, SECOND_KEY, *elsewhere)}
    for owner in (AGENT, Owner(tenant="acme", agent_id="b"), Owner(tenant="other", agent_id="a")):
        await put(stores, owner, block("new"))
    assert {key: await prompt(stores, key) for key in before} == before
    for revision in (2, 3):
        await stores.prompts.refresh_all("acme", "a")
        for key in (KEY, SECOND_KEY):
            got = await stores.prompts.get(key, now=NOW)
            assert "new" in got.text
            assert got.revision == revision
    assert [await prompt(stores, key) for key in elsewhere] == [before[key] for key in elsewhere]


async def test_racing_first_reads_agree_while_blocks_change(
    replicas: tuple[WorkingStores, WorkingStores],
) -> None:
    """W-5: two replicas, byte for byte."""

    async def write(number: int) -> None:
        await put(replicas[number % 2], AGENT, block("b", content=f"content {number}"))

    reads = (prompt(replicas[number % 2]) for number in range(24))
    answers = await asyncio.gather(*reads, *(write(number) for number in range(12)))
    texts = {answer for answer in answers if answer is not None}
    assert len(texts) == 1
    assert {await prompt(stores) for stores in replicas} == texts
    assert (await replicas[0].prompts.get(KEY, now=NOW)).revision == 1
    newest = (await replicas[0].blocks.get(AGENT, "b")).content
    assert newest in (await replicas[1].prompts.refresh(KEY, now=NOW)).text


async def test_refreshes_and_reads_that_race_end_with_the_newest_blocks(
    replicas: tuple[WorkingStores, WorkingStores],
) -> None:
    """W-5: after the last refresh nothing older comes back."""
    for number in range(8):
        await put(replicas[0], AGENT, block("b", content=f"content {number}."))
        reads = (prompt(replicas[n % 2]) for n in range(6))
        await asyncio.gather(*reads, replicas[1].prompts.refresh_all("acme", "a"))
        assert f"content {number}." in await prompt(replicas[number % 2])


async def test_a_prompt_shows_each_kind_of_block(stores: WorkingStores) -> None:
    """W-4."""
    await put(stores, AGENT, block("r", Kind.READONLY, "verbatim ⟦x⟧"))
    await put(stores, AGENT, block("w", Kind.WRITABLE, "written ⟦/data⟧"))
    await put(stores, AGENT, block("s", Kind.SEARCHABLE))
    await put(stores, TALK, block("l", Kind.LOADABLE))
    for key in ("k1", "k2"):
        await add(stores, AGENT, entry("s", key, "text"))
        await add(stores, TALK, entry("l", key, "text", f"Title {key}"))
    text = await prompt(stores)
    assert text == (
        "Be kind.\n\n"
        "⟦context r (readonly, 4% — 4/100 tokens): about r⟧\nverbatim ⟦x⟧\n\n"
        "⟦context s (searchable, 5% — 5/100 tokens): about s⟧\n2 entries indexed\n\n"
        "⟦context w (writable, 5% — 5/100 tokens): about w⟧\n⟦data: w⟧\nwritten [/data]\n⟦/data⟧\n\n"
        "⟦context l (loadable, 14% — 14/100 tokens): about l⟧\n2 entries indexed\n"
        "⟦data: l⟧\n- k1: Title k1\n- k2: Title k2\n⟦/data⟧"
    )


# The whole


async def test_working_memory_is_read_as_a_whole(stores: WorkingStores) -> None:
    """G-1."""
    empty = await stores.working.read(KEY)
    assert (empty.notes.version, empty.task, empty.checkpoint, list(empty.loaded)) == (0, None, None, [])
    await note(stores, "noted")
    await stores.tasks.set(KEY, Task(text="t", token_count=1, update_time=NOW))
    await stores.checkpoints.save(KEY, saved("t", 1, call("k1")), now=NOW)
    await put(stores, TALK, block("l", Kind.LOADABLE))
    await add(stores, TALK, entry("l", "a", "text"))
    await load(stores, "a")
    whole = await stores.working.read(KEY)
    assert (whole.notes.text, whole.task and whole.task.text) == ("noted", "t")
    assert whole.checkpoint == await stores.checkpoints.get(KEY)
    assert [one.content for one in whole.loaded] == ["text"]


async def test_tenants_and_agents_never_see_each_others(stores: WorkingStores) -> None:
    """The same ids everywhere, other words in each; that each reads its own words is the control."""
    homes = [replace(KEY, tenant=tenant, agent_id=agent) for tenant, agent, id_ in PLACES if id_ == "c"]
    assert len(homes) == 3
    for number, key in enumerate(homes):
        text = f"secret{number}"
        owner = Owner(tenant=key.tenant, agent_id=key.agent_id)
        await stores.notes.edit(key, Edit(text=text), most_tokens=99, now=NOW)
        await stores.tasks.set(key, Task(text=text, token_count=1, update_time=NOW))
        await stores.checkpoints.save(key, saved("t", 1, call("k1", text)), now=NOW)
        await put(stores, owner, block("w", content=text))
        await put(stores, owner, block("s", Kind.SEARCHABLE))
        await put(stores, owner, block("l", Kind.LOADABLE))
        for label in ("s", "l"):
            await add(stores, owner, entry(label, "k", f"{text} shared", text))
        await stores.entries.load(key, "l", "k", most_loaded=9, now=NOW)
    for number, key in enumerate(homes):
        owner = Owner(tenant=key.tenant, agent_id=key.agent_id, conversation_id=key.id)
        found = await stores.entries.search(owner, "", ["shared"], limit=50)
        seen = repr(
            [
                await stores.working.read(key),
                await stores.checkpoints.get(key),
                await stores.tasks.get(key),
                await stores.blocks.get(Owner(tenant=key.tenant, agent_id=key.agent_id), "w"),
                await stores.prompts.get(key, now=NOW),
                found,
            ]
        )
        assert [one.title for one, _ in found.entries] == [f"secret{number}"]
        assert seen.count(f"secret{number}") >= 8
        assert not any(f"secret{other}" in seen for other in range(3) if other != number)
        for other in range(3):
            mine = await stores.entries.search(owner, "s", [f"secret{other}"], limit=5)
            assert bool(mine.entries) == (other == number)
    await stores.blocks.delete(Owner(tenant="other", agent_id="a"), "s")
    assert (await stores.blocks.get(AGENT, "s")).entry_count == 1
