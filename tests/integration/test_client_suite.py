"""The client over the whole suite: trees, overlays, working memory, state (SPEC E-3 to E-12, W-1 to W-8).

One suite serves all tests; each has an agent of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from itertools import count

import pytest
import pytest_asyncio

import palimpsest
from palimpsest import models
from palimpsest.models import Field, NewMessage
from tests.integration.embedded_suite import Running, running
from tests.waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="module")
C = "c"


@pytest.fixture(scope="module")
def numbers() -> count[int]:
    return count()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def suite(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    async with running(tmp_path_factory.mktemp("suite") / "data") as made:
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def client(suite: Running, numbers: count[int]) -> AsyncIterator[palimpsest.AsyncClient]:
    """A client of an agent that no other test has, with an empty conversation."""
    async with palimpsest.AsyncClient(
        f"127.0.0.1:{suite.port}", api_key=suite.operator, agent=f"agent-{next(numbers)}"
    ) as made:
        await made.create_agent(system_prompt="You are Ada.")
        await made.create_conversation(C)
        yield made


async def say(client: palimpsest.AsyncClient, *texts: str) -> list[str]:
    """The ids of messages, stored at the active leaf by turns of user and assistant."""
    roles: tuple[models.Role, models.Role] = ("user", "assistant")
    messages = [NewMessage(roles[n % 2], text) for n, text in enumerate(texts)]
    return [one.message_id for one in (await client.record_turn(C, messages)).messages]


def texts(window: models.Window) -> list[str]:
    return [shown.message.text for shown in (*window.head, *window.tail)]


def layer(prompt: models.Prompt, kind: models.LayerKind) -> models.Layer:
    (found,) = [one for one in prompt.layers if one.kind == kind]
    return found


async def idle(client: palimpsest.AsyncClient) -> None:
    async for _ in client.watch_jobs(agent_id=client.agent, until_idle=True):
        pass


async def test_an_edited_message_begins_a_branch_and_both_have_windows(
    client: palimpsest.AsyncClient,
) -> None:
    """E-3."""
    ids = await say(client, "Where do herons nest?", "In trees.", "And owls?", "In barns.")
    edited = [NewMessage("user", "And storks?"), NewMessage("assistant", "On chimneys.")]
    with pytest.raises(palimpsest.ParentConflictError):
        await client.record_turn(C, edited, parent_id=ids[1])
    turn = await client.record_turn(C, edited, parent_id=ids[1], branch=True)
    new = [one.message_id for one in turn.messages]

    assert texts(await client.window(C, tokens=1000)) == [
        "Where do herons nest?",
        "In trees.",
        "And storks?",
        "On chimneys.",
    ]
    old = await client.window(C, tokens=1000, leaf_id=ids[3])
    assert texts(old)[2:] == ["And owls?", "In barns."]
    assert [one.message.id for one in (await client.window(C, mode="auto")).tail] == [*ids[:2], *new]

    branches = await client.branches(C, ids[1])
    assert [(one.first_message.text, one.leaf_id, one.depth, one.active) for one in branches] == [
        ("And owls?", ids[3], 4, False),
        ("And storks?", new[1], 4, True),
    ]
    assert [one.first_message.id for one in await client.branches(C)] == [ids[0]]
    assert [one.id async for one in client.path(C, page_size=2)] == [*ids[:2], *new]
    assert [one.depth async for one in client.path(C, leaf_id=ids[3], newest_first=True)] == [4, 3, 2, 1]

    conversation = await client.switch_leaf(C, ids[2])
    assert (conversation.leaf_id, conversation.depth, conversation.stored_count) == (ids[3], 4, 6)
    assert [one.id async for one in client.path(C)] == ids
    prompt = await client.assemble_prompt(C, "Thanks!")
    assert "In barns." in prompt.text
    assert "On chimneys." not in prompt.text


async def test_search_keeps_to_the_active_path(client: palimpsest.AsyncClient) -> None:
    """E-12, G-2: what was said on a branch that was left is found only once it is active again."""
    ids = await say(client, "The heron nests behind the old mill.", "Noted.")
    turn = await client.record_turn(C, [NewMessage("user", "Hello!")], parent_id="", branch=True)
    await client.wait_indexed(turn.token)
    found = await client.recall_conversation("heron", conversation_id=C, mode="keyword")
    assert [hit.message.text for hit in found] == []
    found = await client.recall_conversation(
        "heron", conversation_id=C, mode="keyword", include_inactive=True
    )
    assert [hit.message.id for hit in found] == [ids[0]]
    prompt = await client.assemble_prompt(C, "Where does the heron nest?")
    assert "old mill" not in prompt.text
    await client.switch_leaf(C, ids[1])
    found = await client.recall_conversation("heron", conversation_id=C, mode="keyword")
    assert [hit.message.id for hit in found] == [ids[0]]


async def test_a_fork_goes_its_own_way(client: palimpsest.AsyncClient) -> None:
    ids = await say(client, "one", "two", "three")
    forked = await client.fork(C, ids[1], title="Another way")
    assert forked.forked_from == models.MessageRef(conversation_id=C, message_id=ids[1])
    assert (forked.title, forked.depth) == ("Another way", 2)
    assert await client.fork(C, ids[1], forked.id, title="Another way") == forked, "sent again"
    await client.record_turn(forked.id, [NewMessage("user", "four")])
    assert [one.text async for one in client.path(forked.id)] == ["one", "two", "four"]
    assert [one.text async for one in client.path(C)] == ["one", "two", "three"]


async def test_overlays_show_in_windows_renderings_and_prompts_once_they_are_put(
    client: palimpsest.AsyncClient,
) -> None:
    """E-4, E-5, E-7, G-1: nothing before; afterwards the originals are still there."""
    ids = await say(client, *(f"small talk {n} " + "about nothing at all " * 8 for n in range(12)))
    budget = 650
    before = await client.assemble_prompt(C, "So?", budget_tokens=budget)
    assert layer(before, "history").overlay_ids == ()
    assert [one async for one in client.overlays(C)] == []

    put = await client.put_overlay(C, ids[2], ids[8], "They spoke of herons.", model="by hand")
    again = await client.put_overlay(
        C, ids[2], ids[8], "They spoke of herons.", model="by hand", overlay_id=put.id
    )
    assert again == put
    assert (put.from_depth, put.to_depth, put.message_count) == (3, 9, 7)
    with pytest.raises(palimpsest.StateConflictError):
        await client.put_overlay(C, ids[8], ids[9], "Overlaps.", model="by hand")

    assert [one.id async for one in client.overlays(C)] == [put.id]
    window = await client.window(C, tokens=300)
    assert [one.overlay for one in window.overlays] == [put]
    prompt = before

    async def at_rest() -> bool:
        """What the messages gave is in the indexes, so that the same prompt comes twice."""
        nonlocal prompt
        earlier = prompt
        prompt = await client.assemble_prompt(C, "So?", budget_tokens=budget)
        return prompt == earlier

    await until(at_rest)
    history = layer(prompt, "history")
    assert history.overlay_ids == (put.id,)
    assert "⟦data: summary of messages 3 to 9⟧\nThey spoke of herons.\n⟦/data⟧" in prompt.text
    assert "summary of messages 3 to 9" in " ".join(one.content for one in prompt.openai_messages)
    assert prompt.token_count <= budget

    (page,) = [page async for page in client.render(C)]
    assert [one.overlay.id if one.overlay else "" for one in page.ranges] == ["", put.id, ""]
    assert [one.id for one in page.ranges[1].messages] == ids[2:9]
    assert "They spoke of herons." in page.text
    assert "small talk 5" in page.text
    assert (await client.get_message(C, ids[5])).text.startswith("small talk 5")

    folded = await client.put_overlay(
        C, ids[2], ids[8], "Herons.", model="by hand", folded_overlay_ids=[put.id]
    )
    assert [one.id async for one in client.overlays(C)] == [folded.id]
    superseded = [one async for one in client.overlays(C, include_superseded=True)]
    assert {one.id: one.superseded_by for one in superseded} == {put.id: (folded.id,), folded.id: ()}
    coverage = await client.coverage(C)
    assert all(message.depth not in range(3, 10) for message in coverage.uncovered)


async def test_a_watcher_sees_messages_overlays_and_progress(client: palimpsest.AsyncClient) -> None:
    """E-12: from the first message on, and again from a token without what was seen."""
    ids = await say(client, "one", "two", "three", "four")
    seen: list[models.ConversationEvent] = []
    async with asyncio.timeout(30), aclosing(client.watch_conversation(C, after_sequence=0)) as events:
        async for event in events:
            seen.append(event)
            if event.message is not None and event.message.id == ids[3]:
                overlay = await client.put_overlay(C, ids[0], ids[1], "Counting.", model="by hand")
            covered = event.progress is not None and event.progress.covered_count == 2
            if covered and event.progress is not None and event.progress.indexed_count == 4:
                break
    assert [event.message.id for event in seen if event.message] == ids
    (change,) = [event.overlay_change for event in seen if event.overlay_change]
    assert [one.id for one in change.overlays] == [overlay.id]
    place = next(event for event in seen if event.message and event.message.id == ids[1])
    async with (
        asyncio.timeout(30),
        aclosing(client.watch_conversation(C, resume_token=place.resume_token)) as events,
    ):
        rest = [(await anext(events)).message for _ in range(2)]
    assert [message.id for message in rest if message] == ids[2:]


async def test_usage_is_counted_and_summed(client: palimpsest.AsyncClient) -> None:
    """E-10."""
    counted = await client.record_usage("m", models.CallTokens(input=30, output=5), tier="fast")
    assert counted == models.CallTokens(input=30, output=5)
    estimated = await client.record_usage("m", ("x" * 35, ""), tier="fast", conversation_id=C)
    assert estimated == models.CallTokens(input=10, output=0)
    rows = await client.usage()
    assert {(row.conversation_id, row.calls, row.estimated_calls, row.input_tokens) for row in rows} == {
        ("", 1, 0, 30),
        (C, 1, 1, 10),
    }
    assert [row.conversation_id for row in await client.usage(conversation_id=C)] == [C]


async def test_working_memory_appears_in_the_prompt_and_goes(client: palimpsest.AsyncClient) -> None:
    """W-1, W-2, W-4, G-1."""
    await say(client, "hello", "good day")
    await idle(client)  # what can be found stays the same from here on
    empty = await client.assemble_prompt(C, "hi")
    assert layer(empty, "working").text == ""
    await client.set_notes(C, "likes herons")
    notes = await client.append_notes(C, "and tea")
    assert notes.text == "likes herons\nand tea"
    await client.set_task(C, "Find the nest.")
    await client.put_context_block("docs", kind="loadable", max_tokens=200)
    await client.put_context_entry("docs", "birds", "Herons wade.", title="Birds")
    loaded = await client.load_context(C, "docs", "birds")
    assert loaded.content == "Herons wade."

    memory = await client.working_memory(C)
    assert (memory.notes, memory.task and memory.task.text) == (notes, "Find the nest.")
    assert [entry.key for entry in memory.loaded] == ["birds"]
    prompt = await client.assemble_prompt(C, "hi")
    shown = layer(prompt, "working")
    assert shown.working == models.WorkingSources(
        notes_version=2, task=True, turn_id="", result_count=0, entries=("docs/birds",)
    )
    for text in ("likes herons\nand tea", "Find the nest.", "Herons wade."):
        assert text in shown.text
        assert text in prompt.openai_messages[-1].content
    assert prompt.openai_messages[:-1] == empty.openai_messages[:-1], "the prefix stays"

    await client.set_notes(C, "")
    await client.clear_task(C)
    assert await client.unload_context(C, "docs", "birds")
    assert await client.assemble_prompt(C, "hi") == empty
    with pytest.raises(palimpsest.NotFoundError):
        await client.task(C)


async def test_the_system_prompt_stays_frozen_until_it_is_refreshed(client: palimpsest.AsyncClient) -> None:
    """W-5: neither another prompt of the agent nor a block changes it."""
    first = await client.assemble_prompt(C, "hi")
    assert layer(first, "system").text.startswith("You are Ada.\n")
    await client.update_agent(system_prompt="You are Bob.")
    await client.put_context_block("persona", kind="writable", max_tokens=100, content="kind")
    second = await client.assemble_prompt(C, "hi")
    assert (second.anthropic_system, second.system_prompt_revision) == (first.anthropic_system, 1)

    refreshed = await client.refresh_system_prompt(C)
    assert refreshed is not None
    assert (refreshed.revision, await client.system_prompt(C)) == (2, refreshed)
    third = await client.assemble_prompt(C, "hi")
    assert third.system_prompt_revision == 2
    system = layer(third, "system").text
    assert system.startswith(refreshed.text), "to the letter, with the blocks' own fences"
    assert system.startswith("You are Bob.")
    assert "⟦data: persona⟧\nkind\n⟦/data⟧" in system
    assert await client.refresh_system_prompt() is None


async def test_an_open_turn_is_kept_until_its_answer_is_stored(client: palimpsest.AsyncClient) -> None:
    """W-3."""
    await client.record_turn(C, [NewMessage("user", "Look!")])
    call = models.ToolCall(call_id="k", name="look", arguments={"where": "north"})
    done = models.CheckpointedCall(call=call, result=models.ResultPreview(content="a heron"))
    pending = models.CheckpointedCall(call=models.ToolCall(call_id="p", name="wait"))
    handle = models.SessionHandle(name="shell", handle="s-1")
    assert await client.save_checkpoint(C, "t", 1, [done, pending], handles=[handle]) == 2
    kept = await client.checkpoint(C)
    assert [(one.call, one.result) for one in kept.calls] == [(call, done.result), (pending.call, None)]
    assert (kept.turn_id, kept.handles, kept.stale) == ("t", (handle,), False)
    assert layer(await client.assemble_prompt(C, "hi"), "working").text == "", "not stale yet"
    await client.record_turn(C, [NewMessage("assistant", "A heron.")])
    with pytest.raises(palimpsest.NotFoundError):
        await client.checkpoint(C)
    assert not await client.delete_checkpoint(C)


async def test_context_blocks_are_written_searched_and_give_tools(client: palimpsest.AsyncClient) -> None:
    """W-4, W-6."""
    await client.put_context_block("guide", kind="searchable", max_tokens=100, description="Birds")
    await client.put_context_block(
        "persona", kind="writable", max_tokens=100, content="kind", conversation_id=C
    )
    assert [one.label for one in await client.context_blocks()] == ["guide"]
    changed = await client.set_context("persona", "brief", append=True, conversation_id=C)
    assert (changed.content, changed.written_by) == ("kind\nbrief", "model")
    assert (await client.context_block("persona", conversation_id=C)).content == "kind\nbrief"
    await client.put_context_entry("guide", "heron", "Herons nest in trees.")
    await client.put_context_entry("guide", "owl", "Owls nest in barns.")
    assert [hit.key for hit in await client.search_context("heron", conversation_id=C)] == ["heron"]
    assert [one.key async for one in client.context_entries("guide", page_size=1)] == ["heron", "owl"]
    assert (await client.context_entry("guide", "owl")).content == "Owls nest in barns."
    tools = await client.context_tools(conversation_id=C)
    assert [one.name for one in tools] == ["search_context", "set_context"]
    assert all(one.input_schema["type"] == "object" for one in tools)
    assert await client.delete_context_entry("guide", "owl")
    assert await client.delete_context_block("guide")
    assert not await client.delete_context_block("guide")
    with pytest.raises(palimpsest.LimitExceededError):
        await client.set_context("persona", "x" * 9000, conversation_id=C)


async def test_state_is_compared_set_and_watched(client: palimpsest.AsyncClient) -> None:
    """W-7."""
    with pytest.raises(palimpsest.NotFoundError):
        await client.state()
    first = await client.state(initial={"n": 0})
    assert (first.value, first.version, first.created) == ({"n": 0}, 1, True)
    assert not (await client.state(initial={"n": 9})).created
    await client.set_state({"n": 1}, expected_version=1)
    with pytest.raises(palimpsest.VersionConflictError) as caught:
        await client.set_state({"n": 2}, expected_version=1)
    assert caught.value.metadata["current_version"] == "2"
    async with asyncio.timeout(30), aclosing(client.watch_state(after_version=1)) as changes:
        assert (await anext(changes)).value == {"n": 1}
        coming = asyncio.ensure_future(anext(changes))
        await client.delete_state(expected_version=2)
        change = await coming
    assert (change.deleted, change.value, change.version) == (True, None, 3)
    await client.set_state('{"of": "the conversation"}', "plan", conversation_id=C)
    assert (await client.state("plan", conversation_id=C)).json == '{"of": "the conversation"}'
    with pytest.raises(palimpsest.InvalidFieldError):
        await client.set_state("[]")


async def test_records_are_found_by_filters(client: palimpsest.AsyncClient) -> None:
    """W-8."""
    made = await client.put_collection("birds", {"name": "string", "seen.count": "number"})
    assert made.fields[1] == models.IndexedField(path="seen.count", type="number")
    assert [one.name async for one in client.collections()] == ["birds"]
    for name, seen in (("heron", 7), ("hoopoe", 1), ("owl", 3), ("stork", 3)):
        await client.put_record("birds", {"name": name, "seen": {"count": seen}}, name)
    seen_count, name_of = Field("seen.count"), Field("name")

    async def found(where: models.Filter | None = None, **order: bool) -> list[str]:
        return [
            one.id
            async for one in client.records("birds", where, order_by="seen.count", page_size=2, **order)
        ]

    assert await found() == ["hoopoe", "owl", "stork", "heron"]
    assert await found(descending=True) == ["heron", "stork", "owl", "hoopoe"]
    assert await found(seen_count.at_least(3) & name_of.starts_with("h")) == ["heron"]
    assert await found(name_of.equals("owl") | seen_count.less_than(3)) == ["hoopoe", "owl"]
    assert await found(seen_count.between(2, 3)) == ["owl", "stork"]
    stored = await client.put_record("birds", {"name": "wren"})
    assert (await client.record("birds", stored.record_id)).value == {"name": "wren"}
    with pytest.raises(palimpsest.VersionConflictError):
        await client.delete_record("birds", "owl", expected_version=9)
    await client.delete_record("birds", "owl")
    with pytest.raises(palimpsest.NotFoundError):
        await client.record("birds", "owl")
    with pytest.raises(palimpsest.InvalidFieldError):
        await found(Field("colour").equals("grey"))
    await client.delete_collection("birds")
    with pytest.raises(palimpsest.NotFoundError):
        await client.collection("birds")


async def test_a_transcript_may_begin_a_branch(client: palimpsest.AsyncClient) -> None:
    """E-2, E-3."""
    await client.ingest(C, [NewMessage("user", "one"), NewMessage("assistant", "two")])
    other = [NewMessage("user", "one"), NewMessage("assistant", "three")]
    with pytest.raises(palimpsest.ParentConflictError):
        await client.ingest(C, other)
    assert (await client.ingest(C, other, branch=True)).created_count == 1
    assert [one.text async for one in client.path(C)] == ["one", "three"]
    await idle(client)
