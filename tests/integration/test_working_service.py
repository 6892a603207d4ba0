"""WorkingMemoryService through a real stub over a socket, on a real store (SPEC W-1 to W-6, X-1)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias

import grpc
import pytest
from google.protobuf.json_format import MessageToDict
from google.protobuf.struct_pb2 import Struct
from palimpsest.common.v1 import resources_pb2
from palimpsest.working.v1 import checkpoints_pb2 as cp
from palimpsest.working.v1 import context_pb2 as ctx
from palimpsest.working.v1 import notes_pb2, prompt_pb2, working_pb2, working_pb2_grpc

from services.kit.channels import CHANNEL_OPTIONS
from services.kit.context import act_as
from services.kit.errors import PalimpsestError, Reason
from services.kit.identity import Principal, Role, TokenSigner
from services.kit.metrics import Metrics
from services.kit.serving import Service, listening, outgoing
from services.kit.sqlite import Database, SqliteScripts
from services.memory.episodic.adapters.sql import migrations
from services.memory.episodic.adapters.sql.agents import SqlAgents
from services.memory.episodic.adapters.sql.conversations import SqlConversations
from services.memory.episodic.adapters.sql.working import working_stores
from services.memory.episodic.app.blocks import Blocks
from services.memory.episodic.app.checkpoints import Checkpoints
from services.memory.episodic.app.notes import NotesAndTasks
from services.memory.episodic.app.prompts import SystemPrompts
from services.memory.episodic.app.working import Working
from services.memory.episodic.domain.model import Agent, Conversation
from services.memory.episodic.domain.working import WorkingLimits
from services.memory.episodic.rpc.working_servicer import face

SECRET = b"a secret of the tests, 32 bytes or more"
WRITER = Principal(tenant="acme", role=Role.WRITER, subject="test")
READER = Principal(tenant="acme", role=Role.READER, subject="test")
ONLY_B = Principal(tenant="acme", role=Role.WRITER, agents=frozenset({"b"}), subject="test")
OTHER = Principal(tenant="other", role=Role.WRITER, subject="test")
IN: dict[str, Any] = {"agent_id": "a", "conversation_id": "c"}
READONLY, WRITABLE = ctx.CONTEXT_KIND_READONLY, ctx.CONTEXT_KIND_WRITABLE
SEARCHABLE, LOADABLE = ctx.CONTEXT_KIND_SEARCHABLE, ctx.CONTEXT_KIND_LOADABLE
MIB = 1024 * 1024

Stub: TypeAlias = "working_pb2_grpc.WorkingMemoryServiceAsyncStub"


class Watch:
    """A clock that tests put forward."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 9, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def pass_seconds(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


async def ready() -> bool:
    return True


async def populate(database: SqliteScripts) -> None:
    for tenant, agent_id in (("acme", "a"), ("acme", "b"), ("other", "a")):
        agent = Agent(id=agent_id, display_name="", system_prompt="Be kind.", create_time=1)
        await SqlAgents(database).create(tenant, agent)
        for id_ in ("c", "d"):
            conversation = Conversation(
                id=id_, agent_id=agent_id, contact_id="", title="", create_time=1, update_time=1
            )
            await SqlConversations(database).create(tenant, conversation)


@asynccontextmanager
async def served(path: Path, clock: Watch) -> AsyncIterator[Stub]:
    limits = WorkingLimits()
    async with AsyncExitStack() as stack:
        file = await Database.open(path, migrations("sqlite"), readers=2)
        stack.push_async_callback(file.close)
        database = SqliteScripts(file)
        await populate(database)
        stores = working_stores(database, limits)
        working = face(
            notes=NotesAndTasks(stores.notes, stores.tasks, clock, limits),
            checkpoints=Checkpoints(stores.checkpoints, clock, limits),
            blocks=Blocks(stores.blocks, stores.entries, clock, limits),
            prompts=SystemPrompts(stores.prompts, clock),
            working=Working(stores.working, clock, limits),
        )
        service = Service(
            name="palimpsest.episodic.v1.EpisodicService",
            add=lambda server: None,
            roles={},
            ready=ready,
            faces=(working,),
        )
        port = await stack.enter_async_context(
            listening(service, SECRET, Metrics(), "127.0.0.1:0", drain_seconds=0)
        )
        inner = grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=CHANNEL_OPTIONS)
        channel = outgoing(inner, "episodic", TokenSigner(SECRET))
        stack.push_async_callback(channel.close)
        made: Stub = working_pb2_grpc.WorkingMemoryServiceStub(channel)
        with act_as(WRITER):
            yield made


@pytest.fixture
def clock() -> Watch:
    return Watch()


@pytest.fixture
async def stub(tmp_path: Path, clock: Watch) -> AsyncIterator[Stub]:
    async with served(tmp_path / "episodic.db", clock) as made:
        yield made


async def failure(call: Awaitable[Any]) -> PalimpsestError:
    with pytest.raises(PalimpsestError) as caught:
        await call
    return caught.value


def struct(**values: Any) -> Struct:
    made = Struct()
    made.update(values)
    return made


async def put_block(stub: Stub, label: str, kind: int, **fields: Any) -> ctx.ContextBlock:
    given = {"agent_id": "a", "label": label, "kind": kind, "max_tokens": 100, **fields}
    return (await stub.PutContextBlock(ctx.PutContextBlockRequest(**given))).block


async def put_entry(stub: Stub, label: str, key: str, content: str, **fields: Any) -> ctx.ContextEntry:
    given = {"agent_id": "a", "label": label, "key": key, "content": content, **fields}
    return (await stub.PutContextEntry(ctx.PutContextEntryRequest(**given))).entry


async def prompt(stub: Stub, **fields: str) -> prompt_pb2.SystemPrompt:
    request = prompt_pb2.GetSystemPromptRequest(**{**IN, **fields})
    return (await stub.GetSystemPrompt(request)).prompt


# What it does


async def test_notes(stub: Stub, clock: Watch) -> None:
    """W-1."""
    empty = (await stub.GetNotes(notes_pb2.GetNotesRequest(**IN))).notes
    assert empty == notes_pb2.Notes()
    for number in range(2):
        answer = await stub.SetNotes(notes_pb2.SetNotesRequest(**IN, append=f"line {number}"))
    assert (answer.notes.text, answer.notes.version) == ("line 0\nline 1", 2)
    assert answer.notes.update_time.ToDatetime(UTC) == clock.now
    assert (await stub.GetNotes(notes_pb2.GetNotesRequest(**IN))).notes == answer.notes
    error = await failure(stub.SetNotes(notes_pb2.SetNotesRequest(**IN, append="x" * 7000)))
    assert (error.reason, error.metadata) == (Reason.LIMIT_EXCEEDED, {"limit": "2000", "actual": "2004"})
    assert (await stub.GetNotes(notes_pb2.GetNotesRequest(**IN))).notes == answer.notes
    whole = await stub.SetNotes(notes_pb2.SetNotesRequest(**IN, replace="x" * 7000))
    assert whole.notes.token_count == 2000
    cleared = await stub.SetNotes(notes_pb2.SetNotesRequest(**IN, clear=notes_pb2.SetNotesRequest.Clear()))
    assert (cleared.notes.text, cleared.notes.version, cleared.notes.token_count) == ("", 4, 0)


async def test_64_callers_append_to_the_notes_and_lose_nothing(stub: Stub) -> None:
    """W-1."""
    appends = (stub.SetNotes(notes_pb2.SetNotesRequest(**IN, append=f"line {n}")) for n in range(64))
    await asyncio.gather(*appends)
    notes = (await stub.GetNotes(notes_pb2.GetNotesRequest(**IN))).notes
    assert sorted(notes.text.splitlines()) == sorted(f"line {n}" for n in range(64))


async def test_task(stub: Stub) -> None:
    """W-2."""
    error = await failure(stub.GetTask(notes_pb2.GetTaskRequest(**IN)))
    assert (error.reason, error.metadata["resource"]) == (Reason.RESOURCE_NOT_FOUND, "task")
    made = await stub.SetTask(notes_pb2.SetTaskRequest(**IN, text="Find a flat."))
    assert (await stub.GetTask(notes_pb2.GetTaskRequest(**IN))).task == made.task
    for _ in range(2):
        await stub.ClearTask(notes_pb2.ClearTaskRequest(**IN))
    assert (await failure(stub.GetTask(notes_pb2.GetTaskRequest(**IN)))).reason is Reason.RESOURCE_NOT_FOUND
    error = await failure(stub.SetTask(notes_pb2.SetTaskRequest(**IN, text="x" * 7001)))
    assert (error.reason, error.metadata) == (Reason.LIMIT_EXCEEDED, {"limit": "2000", "actual": "2001"})


def tool_call(call_id: str = "k", **arguments: Any) -> resources_pb2.ToolCall:
    return resources_pb2.ToolCall(call_id=call_id, name="look", arguments=struct(**arguments))


def save(*calls: cp.CheckpointedCall, **fields: Any) -> cp.SaveCheckpointRequest:
    return cp.SaveCheckpointRequest(**{**IN, "turn_id": "t", "round": 1, "calls": calls, **fields})


async def test_checkpoints(stub: Stub, clock: Watch) -> None:
    """W-3."""
    get = cp.GetCheckpointRequest(**IN)
    error = await failure(stub.GetCheckpoint(get))
    assert (error.reason, error.metadata["resource"]) == (Reason.RESOURCE_NOT_FOUND, "checkpoint")
    calls = [
        cp.CheckpointedCall(
            call=tool_call("k1", n=1, x=[1.5, None, {"deep": "ü"}]),
            result=cp.ResultPreview(content="y" * 3001),
        ),
        cp.CheckpointedCall(call=resources_pb2.ToolCall(call_id="k2", name="wait")),
        cp.CheckpointedCall(call=tool_call("k3"), result=cp.ResultPreview(is_error=True)),
    ]
    handles = [cp.SessionHandle(name="shell", handle="s-1")]
    saved = await stub.SaveCheckpoint(save(*calls, handles=handles))
    assert (saved.call_count, saved.update_time.ToDatetime(UTC)) == (3, clock.now)
    got = (await stub.GetCheckpoint(get)).checkpoint
    assert [one.call for one in got.calls] == [one.call for one in calls[:2]] + [
        resources_pb2.ToolCall(call_id="k3", name="look")
    ]
    assert (len(got.calls[0].result.content), got.calls[0].result.cut) == (3000, True)
    assert not got.calls[1].HasField("result")
    assert (got.calls[2].result.is_error, got.calls[2].result.cut) == (True, False)
    assert (got.turn_id, got.round, list(got.handles), got.stale) == ("t", 1, handles, False)
    assert (got.expire_time.ToDatetime(UTC) - clock.now) == timedelta(hours=24)
    assert not (await stub.DeleteCheckpoint(cp.DeleteCheckpointRequest(**IN, turn_id="u"))).deleted
    assert (await stub.DeleteCheckpoint(cp.DeleteCheckpointRequest(**IN))).deleted
    assert not (await stub.DeleteCheckpoint(cp.DeleteCheckpointRequest(**IN))).deleted
    assert (await failure(stub.GetCheckpoint(get))).reason is Reason.RESOURCE_NOT_FOUND


async def test_a_checkpoint_holds_the_newest_40_calls(stub: Stub) -> None:
    """W-3."""
    for number in range(1, 6):
        calls = [
            cp.CheckpointedCall(call=tool_call(f"{number}-{n}"), result=cp.ResultPreview()) for n in range(10)
        ]
        saved = await stub.SaveCheckpoint(save(*calls, round=number))
    assert saved.call_count == 40
    got = (await stub.GetCheckpoint(cp.GetCheckpointRequest(**IN))).checkpoint
    ids = [one.call.call_id for one in got.calls]
    assert ids == [f"{number}-{n}" for number in range(2, 6) for n in range(10)]


async def test_an_open_turn_is_told_of_once_stale_and_until_it_expires(stub: Stub, clock: Watch) -> None:
    """W-3, G-1."""

    async def working() -> prompt_pb2.GetWorkingMemoryResponse:
        return await stub.GetWorkingMemory(prompt_pb2.GetWorkingMemoryRequest(**IN))

    await stub.SaveCheckpoint(save(cp.CheckpointedCall(call=tool_call())))
    clock.pass_seconds(44)
    assert not (await working()).HasField("stale_turn")
    clock.pass_seconds(1)
    stale = (await working()).stale_turn
    assert (stale.turn_id, stale.stale, len(stale.calls)) == ("t", True, 1)
    assert (await stub.GetCheckpoint(cp.GetCheckpointRequest(**IN))).checkpoint == stale
    await stub.SaveCheckpoint(save(round=2))
    assert not (await working()).HasField("stale_turn")
    clock.pass_seconds(24 * 3600 - 1)
    assert (await working()).HasField("stale_turn")
    clock.pass_seconds(1)
    assert not (await working()).HasField("stale_turn")
    error = await failure(stub.GetCheckpoint(cp.GetCheckpointRequest(**IN)))
    assert error.reason is Reason.RESOURCE_NOT_FOUND
    await stub.SaveCheckpoint(save())
    assert len((await stub.GetCheckpoint(cp.GetCheckpointRequest(**IN))).checkpoint.calls) == 0


async def test_blocks(stub: Stub, clock: Watch) -> None:
    """W-4."""
    made = await put_block(stub, "persona", WRITABLE, content="Calm.", description="How to be")
    assert (made.written_by, made.token_count) == (ctx.CONTEXT_WRITER_APPLICATION, 2)
    assert made.create_time.ToDatetime(UTC) == clock.now
    await put_block(stub, "persona", WRITABLE, content="Here.", conversation_id="c")
    edit = ctx.SetContextRequest(agent_id="a", label="persona", append="And brief.")
    edited = (await stub.SetContext(edit)).block
    assert (edited.content, edited.written_by) == ("Calm.\nAnd brief.", ctx.CONTEXT_WRITER_MODEL)
    edited = (await stub.SetContext(ctx.SetContextRequest(**IN, label="persona", replace=""))).block
    assert (edited.content, edited.written_by) == ("", ctx.CONTEXT_WRITER_UNSPECIFIED)
    read = await stub.GetContextBlock(ctx.GetContextBlockRequest(agent_id="a", label="persona"))
    assert read.block.content == "Calm.\nAnd brief."
    kept = await put_block(stub, "persona", WRITABLE, description="new")
    assert (kept.content, kept.description) == ("Calm.\nAnd brief.", "new")
    listed = await stub.ListContextBlocks(ctx.ListContextBlocksRequest(agent_id="a"))
    assert [(one.label, one.content, one.token_count) for one in listed.blocks] == [("persona", "", 5)]
    delete = ctx.DeleteContextBlockRequest(agent_id="a", label="persona")
    assert (await stub.DeleteContextBlock(delete)).deleted
    assert not (await stub.DeleteContextBlock(delete)).deleted
    await stub.GetContextBlock(ctx.GetContextBlockRequest(**IN, label="persona"))


async def test_entries_are_searched_and_loaded(stub: Stub) -> None:
    """W-4, W-6."""
    await put_block(stub, "faq", SEARCHABLE)
    await put_block(stub, "docs", LOADABLE)
    long = "filler " * 200 + "The refund takes five days. " + "filler " * 200
    entry = await put_entry(stub, "faq", "refunds", long, title="Refunds")
    assert (entry.key, entry.title, entry.content) == ("refunds", "Refunds", "")
    await put_entry(stub, "faq", "hours", "Open from nine to five.")
    hits = (await stub.SearchContext(ctx.SearchContextRequest(**IN, query="REFUND five days"))).hits
    assert [hit.key for hit in hits] == ["refunds", "hours"]
    assert (hits[0].label, hits[0].title) == ("faq", "Refunds")
    assert "The refund takes five days." in hits[0].excerpt
    assert len(hits[0].excerpt) == 1000
    assert hits[0].score > hits[1].score > 0
    one = await stub.SearchContext(ctx.SearchContextRequest(agent_id="a", label="faq", query="five", limit=1))
    assert len(one.hits) == 1
    for key in ("a/1", "a/2", "b"):
        await put_entry(stub, "docs", key, f"text of {key}")
    load = ctx.LoadContextRequest(**IN, label="docs", key="a/2")
    assert (await stub.LoadContext(load)).entry.content == "text of a/2"
    memory = await stub.GetWorkingMemory(prompt_pb2.GetWorkingMemoryRequest(**IN))
    assert [(one.label, one.key, one.content) for one in memory.loaded] == [("docs", "a/2", "text of a/2")]
    unload = ctx.UnloadContextRequest(**IN, label="docs", key="a/2")
    assert (await stub.UnloadContext(unload)).unloaded
    assert not (await stub.UnloadContext(unload)).unloaded
    memory = await stub.GetWorkingMemory(prompt_pb2.GetWorkingMemoryRequest(**IN))
    assert list(memory.loaded) == []
    read = await stub.GetContextEntry(ctx.GetContextEntryRequest(agent_id="a", label="docs", key="b"))
    assert read.entry.content == "text of b"
    first = await stub.ListContextEntries(
        ctx.ListContextEntriesRequest(agent_id="a", label="docs", page_size=2)
    )
    rest = await stub.ListContextEntries(
        ctx.ListContextEntriesRequest(agent_id="a", label="docs", page_token=first.next_page_token)
    )
    assert [one.key for one in (*first.entries, *rest.entries)] == ["a/1", "a/2", "b"]
    assert rest.next_page_token == ""
    delete = ctx.DeleteContextEntryRequest(agent_id="a", label="docs", key="b")
    assert (await stub.DeleteContextEntry(delete)).deleted
    assert not (await stub.DeleteContextEntry(delete)).deleted


async def test_a_conversation_has_at_most_32_entries_loaded(stub: Stub) -> None:
    """W-4."""
    await put_block(stub, "docs", LOADABLE)
    for n in range(33):
        await put_entry(stub, "docs", f"k{n}", "text")
    for n in range(32):
        await stub.LoadContext(ctx.LoadContextRequest(**IN, label="docs", key=f"k{n}"))
    error = await failure(stub.LoadContext(ctx.LoadContextRequest(**IN, label="docs", key="k32")))
    assert (error.reason, error.metadata) == (Reason.LIMIT_EXCEEDED, {"limit": "32", "actual": "33"})


async def test_an_agent_has_at_most_32_blocks(stub: Stub) -> None:
    """W-4."""
    for n in range(32):
        await put_block(stub, f"b{n}", WRITABLE)
    error = await failure(put_block(stub, "more", WRITABLE))
    assert (error.reason, error.metadata) == (Reason.LIMIT_EXCEEDED, {"limit": "32", "actual": "33"})


async def test_tools_follow_from_the_blocks(stub: Stub) -> None:
    """W-6."""
    request = ctx.ListContextToolsRequest(**IN)
    await put_block(stub, "fixed", READONLY, content="x")
    assert list((await stub.ListContextTools(request)).tools) == []
    await put_block(stub, "mine", WRITABLE, conversation_id="c")
    await put_block(stub, "faq", SEARCHABLE)
    await put_block(stub, "docs", LOADABLE)
    tools = (await stub.ListContextTools(request)).tools
    names = ["load_context", "search_context", "set_context", "unload_context"]
    assert [tool.name for tool in tools] == names
    assert all(tool.description for tool in tools)
    schema = MessageToDict(tools[2].input_schema)
    assert schema["properties"]["label"]["enum"] == ["mine"]
    assert schema["properties"]["action"]["enum"] == ["replace", "append"]
    of_agent = await stub.ListContextTools(ctx.ListContextToolsRequest(agent_id="a"))
    assert [tool.name for tool in of_agent.tools] == ["load_context", "search_context", "unload_context"]


async def test_the_system_prompt_is_frozen_across_restarts(tmp_path: Path, clock: Watch) -> None:
    """W-5."""
    path = tmp_path / "frozen.db"
    async with served(path, clock) as stub:
        await put_block(stub, "b", WRITABLE, content="first")
        frozen = await prompt(stub)
        assert frozen.text.startswith("Be kind.\n\n⟦context b (writable, 2% — 2/100 tokens)⟧\n")
        assert (frozen.revision, frozen.token_count > 0) == (1, True)
        await stub.SetContext(ctx.SetContextRequest(**IN, label="b", replace="second"))
    clock.pass_seconds(60)
    async with served(path, clock) as stub:
        assert await prompt(stub) == frozen
        read = await stub.GetContextBlock(ctx.GetContextBlockRequest(agent_id="a", label="b"))
        assert read.block.content == "second"
        refreshed = await stub.RefreshSystemPrompt(prompt_pb2.RefreshSystemPromptRequest(**IN))
        assert "second" in refreshed.prompt.text
        assert refreshed.prompt.revision == 2
        assert await prompt(stub) == refreshed.prompt
        await stub.SetContext(ctx.SetContextRequest(**IN, label="b", replace="third"))
        every = await stub.RefreshSystemPrompt(prompt_pb2.RefreshSystemPromptRequest(agent_id="a"))
        assert not every.HasField("prompt")
        for conversation in ("c", "d"):
            assert "third" in (await prompt(stub, conversation_id=conversation)).text
        assert (await prompt(stub, agent_id="b")).text == "Be kind."


async def test_readers_read_and_only_writers_write(stub: Stub) -> None:
    """G-9."""
    await put_block(stub, "docs", LOADABLE)
    with act_as(READER):
        assert (await prompt(stub)).text.startswith("Be kind.")
        await stub.GetWorkingMemory(prompt_pb2.GetWorkingMemoryRequest(**IN))
        error = await failure(stub.SetNotes(notes_pb2.SetNotesRequest(**IN, append="x")))
        assert error.reason is Reason.NOT_ALLOWED
        load = ctx.LoadContextRequest(**IN, label="docs", key="k")
        assert (await failure(stub.LoadContext(load))).reason is Reason.NOT_ALLOWED
    with act_as(ONLY_B):
        error = await failure(stub.GetNotes(notes_pb2.GetNotesRequest(**IN)))
        assert error.reason is Reason.NOT_ALLOWED
        await stub.GetNotes(notes_pb2.GetNotesRequest(agent_id="b", conversation_id="c"))


async def test_another_tenant_sees_nothing_of_it(stub: Stub) -> None:
    """The writer's own view is the control."""

    async def view() -> str:
        await put_block(stub, "own", READONLY)
        return repr(
            [
                await stub.GetWorkingMemory(prompt_pb2.GetWorkingMemoryRequest(**IN)),
                await stub.SearchContext(ctx.SearchContextRequest(**IN, query="secret")),
                await stub.ListContextBlocks(ctx.ListContextBlocksRequest(agent_id="a")),
                await prompt(stub),
            ]
        )

    await stub.SetNotes(notes_pb2.SetNotesRequest(**IN, append="secret"))
    await put_block(stub, "secrets", SEARCHABLE)
    await put_entry(stub, "secrets", "k", "secret")
    assert (await view()).count("secret") > 4
    with act_as(OTHER):
        assert "secret" not in await view()


# What it refuses

C: dict[str, Any] = {**IN}
A: dict[str, Any] = {"agent_id": "a"}
CALL = cp.CheckpointedCall(call=tool_call())
BLOCK: dict[str, Any] = {**A, "label": "n", "kind": WRITABLE, "max_tokens": 100}
ENTRY: dict[str, Any] = {**A, "label": "l", "key": "k", "content": "text"}

INVALID: list[tuple[str, Any, str]] = [
    ("GetNotes", notes_pb2.GetNotesRequest(conversation_id="c"), "agent_id"),
    ("GetNotes", notes_pb2.GetNotesRequest(agent_id="a"), "conversation_id"),
    ("SetNotes", notes_pb2.SetNotesRequest(**C), "change"),
    ("SetNotes", notes_pb2.SetNotesRequest(**C, append=""), "append"),
    ("SetNotes", notes_pb2.SetNotesRequest(**C, replace=""), "replace"),
    ("SetNotes", notes_pb2.SetNotesRequest(**C, append="a\0"), "append"),
    ("SetNotes", notes_pb2.SetNotesRequest(**C, replace="\0"), "replace"),
    ("SetNotes", notes_pb2.SetNotesRequest(**C, replace="x" * (MIB + 1)), "replace"),
    ("SetTask", notes_pb2.SetTaskRequest(**C), "text"),
    ("SetTask", notes_pb2.SetTaskRequest(**C, text="\0"), "text"),
    ("SaveCheckpoint", save(turn_id=""), "turn_id"),
    ("SaveCheckpoint", save(turn_id="a b"), "turn_id"),
    ("SaveCheckpoint", save(round=0), "round"),
    ("SaveCheckpoint", save(*[CALL] * 101), "calls"),
    ("SaveCheckpoint", save(cp.CheckpointedCall()), "calls[0].call"),
    ("SaveCheckpoint", save(CALL, CALL), "calls[1].call.call_id"),
    (
        "SaveCheckpoint",
        save(CALL, cp.CheckpointedCall(call=resources_pb2.ToolCall(call_id="x"))),
        "calls[1].call.name",
    ),
    ("SaveCheckpoint", save(cp.CheckpointedCall(call=tool_call(x="\0"))), "calls[0].call.arguments"),
    (
        "SaveCheckpoint",
        save(cp.CheckpointedCall(call=tool_call(x="y" * 32_768))),
        "calls[0].call.arguments",
    ),
    (
        "SaveCheckpoint",
        save(cp.CheckpointedCall(call=tool_call(x=float("inf")))),
        "calls[0].call.arguments",
    ),
    (
        "SaveCheckpoint",
        save(cp.CheckpointedCall(call=tool_call(), result=cp.ResultPreview(content="\0"))),
        "calls[0].result.content",
    ),
    ("SaveCheckpoint", save(handles=[cp.SessionHandle(handle="h")]), "handles[0].name"),
    ("SaveCheckpoint", save(handles=[cp.SessionHandle(name="n")]), "handles[0].handle"),
    ("SaveCheckpoint", save(handles=[cp.SessionHandle(name="n", handle="h")] * 2), "handles[1].name"),
    ("SaveCheckpoint", save(handles=[cp.SessionHandle(name="n", handle="h")] * 33), "handles"),
    ("PutContextBlock", ctx.PutContextBlockRequest(**{**BLOCK, "label": ""}), "label"),
    ("PutContextBlock", ctx.PutContextBlockRequest(**{**BLOCK, "label": "a b"}), "label"),
    ("PutContextBlock", ctx.PutContextBlockRequest(**{**BLOCK, "label": "a\n"}), "label"),
    ("PutContextBlock", ctx.PutContextBlockRequest(**{**BLOCK, "label": "x" * 65}), "label"),
    ("PutContextBlock", ctx.PutContextBlockRequest(**{**BLOCK, "label": "ü"}), "label"),
    ("PutContextBlock", ctx.PutContextBlockRequest(**BLOCK, description="x" * 1025), "description"),
    ("PutContextBlock", ctx.PutContextBlockRequest(**BLOCK, description="\0"), "description"),
    ("PutContextBlock", ctx.PutContextBlockRequest(**{**BLOCK, "kind": 0}), "kind"),
    ("PutContextBlock", ctx.PutContextBlockRequest(**{**BLOCK, "kind": 9}), "kind"),
    ("PutContextBlock", ctx.PutContextBlockRequest(**{**BLOCK, "max_tokens": 0}), "max_tokens"),
    ("PutContextBlock", ctx.PutContextBlockRequest(**{**BLOCK, "max_tokens": 16_001}), "max_tokens"),
    ("PutContextBlock", ctx.PutContextBlockRequest(**BLOCK, content="\0"), "content"),
    (
        "PutContextBlock",
        ctx.PutContextBlockRequest(**{**BLOCK, "kind": SEARCHABLE}, content="x"),
        "content",
    ),
    ("GetContextBlock", ctx.GetContextBlockRequest(agent_id="a"), "label"),
    ("DeleteContextBlock", ctx.DeleteContextBlockRequest(agent_id="a"), "label"),
    ("SetContext", ctx.SetContextRequest(**C, label="w"), "change"),
    ("SetContext", ctx.SetContextRequest(**C, label="w", append=""), "append"),
    ("SetContext", ctx.SetContextRequest(**C, label="w", append="\0"), "append"),
    ("SetContext", ctx.SetContextRequest(**C, label="w", replace="\0"), "replace"),
    ("SetContext", ctx.SetContextRequest(**C, label="", replace="x"), "label"),
    ("PutContextEntry", ctx.PutContextEntryRequest(**{**ENTRY, "key": ""}), "key"),
    ("PutContextEntry", ctx.PutContextEntryRequest(**{**ENTRY, "key": "a b"}), "key"),
    ("PutContextEntry", ctx.PutContextEntryRequest(**{**ENTRY, "key": "x" * 129}), "key"),
    ("PutContextEntry", ctx.PutContextEntryRequest(**{**ENTRY, "content": ""}), "content"),
    ("PutContextEntry", ctx.PutContextEntryRequest(**{**ENTRY, "content": "\0"}), "content"),
    ("PutContextEntry", ctx.PutContextEntryRequest(**ENTRY, title="x" * 257), "title"),
    ("PutContextEntry", ctx.PutContextEntryRequest(**ENTRY, title="\0"), "title"),
    ("GetContextEntry", ctx.GetContextEntryRequest(agent_id="a", label="l"), "key"),
    ("DeleteContextEntry", ctx.DeleteContextEntryRequest(agent_id="a", label="l"), "key"),
    (
        "ListContextEntries",
        ctx.ListContextEntriesRequest(agent_id="a", label="l", page_size=1001),
        "page_size",
    ),
    ("SearchContext", ctx.SearchContextRequest(**C), "query"),
    ("SearchContext", ctx.SearchContextRequest(**C, query=" \n"), "query"),
    ("SearchContext", ctx.SearchContextRequest(**C, query="\0"), "query"),
    ("SearchContext", ctx.SearchContextRequest(**C, query="x" * 1025), "query"),
    ("SearchContext", ctx.SearchContextRequest(**C, query="x", limit=51), "limit"),
    ("SearchContext", ctx.SearchContextRequest(**C, query="x", limit=-1), "limit"),
    ("SearchContext", ctx.SearchContextRequest(**C, query="x", label="a b"), "label"),
    ("LoadContext", ctx.LoadContextRequest(agent_id="a", label="l", key="k"), "conversation_id"),
    ("UnloadContext", ctx.UnloadContextRequest(agent_id="a", label="l", key="k"), "conversation_id"),
    ("ListContextTools", ctx.ListContextToolsRequest(), "agent_id"),
    ("GetSystemPrompt", prompt_pb2.GetSystemPromptRequest(agent_id="a"), "conversation_id"),
    ("RefreshSystemPrompt", prompt_pb2.RefreshSystemPromptRequest(), "agent_id"),
    ("GetWorkingMemory", prompt_pb2.GetWorkingMemoryRequest(agent_id="a"), "conversation_id"),
]


async def everything(stub: Stub) -> list[bytes]:
    """All that can be seen of the agent's working memory, to show that nothing was changed."""
    seen = [
        await stub.GetWorkingMemory(prompt_pb2.GetWorkingMemoryRequest(**IN)),
        await stub.ListContextTools(ctx.ListContextToolsRequest(**IN)),
        await stub.ListContextBlocks(ctx.ListContextBlocksRequest(agent_id="a")),
        await stub.ListContextBlocks(ctx.ListContextBlocksRequest(**IN)),
        *[await stub.GetContextBlock(ctx.GetContextBlockRequest(**A, label=label)) for label in "rwsl"],
        await stub.ListContextEntries(ctx.ListContextEntriesRequest(agent_id="a", label="l")),
        await stub.GetCheckpoint(cp.GetCheckpointRequest(**IN)),
    ]
    return [answer.SerializeToString(deterministic=True) for answer in seen]


async def prepare(stub: Stub) -> None:
    for label, kind in (("r", READONLY), ("w", WRITABLE), ("s", SEARCHABLE), ("l", LOADABLE)):
        await put_block(stub, label, kind)
    await put_entry(stub, "l", "k", "text")
    await stub.SaveCheckpoint(save(cp.CheckpointedCall(call=tool_call("first"))))


async def test_bad_input_is_refused_by_field_and_changes_nothing(stub: Stub) -> None:
    """X-1."""
    await prepare(stub)
    before = await everything(stub)
    for method, request, field in INVALID:
        error = await failure(getattr(stub, method)(request))
        assert (method, error.reason) == (method, Reason.INVALID_FIELD)
        assert (method, [problem.field for problem in error.fields]) == (method, [field])
    assert await everything(stub) == before


METHODS: list[tuple[str, Any, dict[str, Any]]] = [
    ("GetNotes", notes_pb2.GetNotesRequest, {}),
    ("SetNotes", notes_pb2.SetNotesRequest, {"append": "x"}),
    ("GetTask", notes_pb2.GetTaskRequest, {}),
    ("SetTask", notes_pb2.SetTaskRequest, {"text": "x"}),
    ("ClearTask", notes_pb2.ClearTaskRequest, {}),
    ("SaveCheckpoint", cp.SaveCheckpointRequest, {"turn_id": "t", "round": 1}),
    ("GetCheckpoint", cp.GetCheckpointRequest, {}),
    ("DeleteCheckpoint", cp.DeleteCheckpointRequest, {}),
    ("PutContextBlock", ctx.PutContextBlockRequest, BLOCK),
    ("GetContextBlock", ctx.GetContextBlockRequest, {"label": "w"}),
    ("ListContextBlocks", ctx.ListContextBlocksRequest, {}),
    ("DeleteContextBlock", ctx.DeleteContextBlockRequest, {"label": "w"}),
    ("SetContext", ctx.SetContextRequest, {"label": "w", "append": "x"}),
    ("PutContextEntry", ctx.PutContextEntryRequest, ENTRY),
    ("GetContextEntry", ctx.GetContextEntryRequest, {"label": "l", "key": "k"}),
    ("DeleteContextEntry", ctx.DeleteContextEntryRequest, {"label": "l", "key": "k"}),
    ("ListContextEntries", ctx.ListContextEntriesRequest, {"label": "l"}),
    ("SearchContext", ctx.SearchContextRequest, {"query": "x"}),
    ("LoadContext", ctx.LoadContextRequest, {"label": "l", "key": "k"}),
    ("UnloadContext", ctx.UnloadContextRequest, {"label": "l", "key": "k"}),
    ("ListContextTools", ctx.ListContextToolsRequest, {}),
    ("GetSystemPrompt", prompt_pb2.GetSystemPromptRequest, {}),
    ("RefreshSystemPrompt", prompt_pb2.RefreshSystemPromptRequest, {}),
    ("GetWorkingMemory", prompt_pb2.GetWorkingMemoryRequest, {}),
]

NOT_FOUND: list[tuple[str, Any, str]] = [
    (method, request(**{**fields, **where}), resource)
    for method, request, fields in METHODS
    for where, resource in [
        ({"agent_id": "zz", "conversation_id": "c"}, "agent"),
        ({"agent_id": "a", "conversation_id": "zz"}, "conversation"),
    ]
]


async def test_every_method_names_an_unknown_agent_or_conversation(stub: Stub) -> None:
    """X-1."""
    await prepare(stub)
    methods = {
        method.name for method in working_pb2.DESCRIPTOR.services_by_name["WorkingMemoryService"].methods
    }
    assert {method for method, _, _ in NOT_FOUND} == methods
    for method, request, resource in NOT_FOUND:
        error = await failure(getattr(stub, method)(request))
        assert (method, error.reason) == (method, Reason.RESOURCE_NOT_FOUND)
        assert (method, error.metadata["resource"]) == (method, resource)


REFUSED: list[tuple[str, Any, Reason]] = [
    (
        "GetContextBlock",
        ctx.GetContextBlockRequest(**IN, label="w"),  # it is the agent's
        Reason.RESOURCE_NOT_FOUND,
    ),
    ("PutContextBlock", ctx.PutContextBlockRequest(**{**BLOCK, "label": "s"}), Reason.STATE_CONFLICT),
    ("PutContextBlock", ctx.PutContextBlockRequest(**BLOCK, content="x" * 351), Reason.LIMIT_EXCEEDED),
    ("SetContext", ctx.SetContextRequest(**C, label="r", append="x"), Reason.STATE_CONFLICT),
    ("SetContext", ctx.SetContextRequest(**C, label="s", append="x"), Reason.STATE_CONFLICT),
    ("SetContext", ctx.SetContextRequest(**C, label="none", append="x"), Reason.RESOURCE_NOT_FOUND),
    ("SetContext", ctx.SetContextRequest(**C, label="w", append="x" * 351), Reason.LIMIT_EXCEEDED),
    ("PutContextEntry", ctx.PutContextEntryRequest(**{**ENTRY, "label": "w"}), Reason.STATE_CONFLICT),
    ("PutContextEntry", ctx.PutContextEntryRequest(**{**ENTRY, "label": "none"}), Reason.RESOURCE_NOT_FOUND),
    (
        "PutContextEntry",
        ctx.PutContextEntryRequest(**{**ENTRY, "content": "é" * 32_769}),
        Reason.LIMIT_EXCEEDED,
    ),
    (
        "GetContextEntry",
        ctx.GetContextEntryRequest(agent_id="a", label="l", key="none"),
        Reason.RESOURCE_NOT_FOUND,
    ),
    ("SearchContext", ctx.SearchContextRequest(**C, label="l", query="x"), Reason.STATE_CONFLICT),
    ("SearchContext", ctx.SearchContextRequest(**C, label="none", query="x"), Reason.RESOURCE_NOT_FOUND),
    ("LoadContext", ctx.LoadContextRequest(**C, label="s", key="k"), Reason.STATE_CONFLICT),
    ("LoadContext", ctx.LoadContextRequest(**C, label="l", key="none"), Reason.RESOURCE_NOT_FOUND),
    ("UnloadContext", ctx.UnloadContextRequest(**C, label="w", key="k"), Reason.STATE_CONFLICT),
    (
        "ListContextEntries",
        ctx.ListContextEntriesRequest(agent_id="a", label="l", page_token="abc"),
        Reason.INVALID_PAGE_TOKEN,
    ),
]


async def test_what_the_store_contradicts_is_refused_and_changes_nothing(stub: Stub) -> None:
    """W-4, X-1."""
    await prepare(stub)
    before = await everything(stub)
    for method, request, reason in REFUSED:
        error = await failure(getattr(stub, method)(request))
        assert (method, error.reason) == (method, reason)
        if reason is Reason.LIMIT_EXCEEDED:
            assert int(error.metadata["actual"]) > int(error.metadata["limit"])
    assert await everything(stub) == before
