"""Episodic's services as the gateway offers them: reach of keys, bad input, streams (SPEC G-9, X-1, X-2).

One suite serves all tests; each has agents of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from itertools import count
from typing import Any

import grpc
import pytest
import pytest_asyncio
from palimpsest.common.v1 import resources_pb2
from palimpsest.gateway.v1 import administration_pb2 as admin
from palimpsest.gateway.v1 import conversations_pb2 as conv
from palimpsest.history.v1 import history_pb2 as history
from palimpsest.history.v1 import overlays_pb2 as overlays
from palimpsest.history.v1 import windows_pb2 as windows
from palimpsest.state.v1 import records_pb2 as records
from palimpsest.state.v1 import state_pb2 as state
from palimpsest.working.v1 import checkpoints_pb2 as checkpoints
from palimpsest.working.v1 import context_pb2 as context
from palimpsest.working.v1 import notes_pb2 as notes
from palimpsest.working.v1 import prompt_pb2 as prompts
from palimpsest.working.v1 import working_pb2 as working

from services.kit.identity import Role
from tests.integration.embedded_suite import Running, failure, running, said

pytestmark = pytest.mark.asyncio(loop_scope="module")
CODE = grpc.StatusCode
METHODS = {
    method.name: method
    for service in (
        history.DESCRIPTOR.services_by_name["HistoryService"],
        working.DESCRIPTOR.services_by_name["WorkingMemoryService"],
        state.DESCRIPTOR.services_by_name["StateService"],
    )
    for method in service.methods
}


@pytest.fixture(scope="module")
def numbers() -> count[int]:
    return count()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def suite(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    async with running(tmp_path_factory.mktemp("suite") / "data") as made:
        yield made


@pytest.fixture
def agent(numbers: count[int]) -> str:
    """An agent's id that no other test has."""
    return f"agent-{next(numbers)}"


@pytest_asyncio.fixture(loop_scope="module")
async def stub(suite: Running, agent: str) -> Any:
    """The operator's stub; the agent and its conversation "c" are there."""
    made = await suite.stub()
    await made.CreateAgent(conv.CreateAgentRequest(agent_id=agent))
    await made.CreateConversation(conv.CreateConversationRequest(agent_id=agent, conversation_id="c"))
    return made


async def called(stub: Any, method: str, request: Any) -> Any:
    """The answer; of a stream the first one."""
    call = getattr(stub, method)(request)
    if not METHODS[method].server_streaming:
        return await call
    try:
        return await anext(aiter(call))
    finally:
        call.cancel()


async def requests_of(stub: Any, agent: str) -> dict[str, Any]:
    """A request for each RPC, about things that exist by the time it is made; deletions come last."""
    turn = await stub.RecordTurn(
        conv.RecordTurnRequest(
            agent_id=agent, conversation_id="c", messages=[said(f"message {n}") for n in range(4)]
        )
    )
    ids = [one.message_id for one in turn.messages]
    owner: dict[str, Any] = {"agent_id": agent}
    here: dict[str, Any] = {**owner, "conversation_id": "c"}
    call = checkpoints.CheckpointedCall(call=resources_pb2.ToolCall(call_id="k", name="look"))
    docs: dict[str, Any] = {**owner, "label": "docs"}
    block = context.PutContextBlockRequest(**docs, kind=context.CONTEXT_KIND_LOADABLE, max_tokens=100)
    entry = context.PutContextEntryRequest(**docs, key="k", content="herons")
    persona = context.PutContextBlockRequest(
        **owner, label="persona", kind=context.CONTEXT_KIND_WRITABLE, max_tokens=100
    )
    await stub.PutContextBlock(persona)
    birds: dict[str, Any] = {**owner, "collection": "birds"}
    given: list[Any] = [
        windows.GetWindowRequest(**here, budget=windows.BudgetWindow(tokens=100)),
        history.ListPathRequest(**here),
        history.ListBranchesRequest(**here),
        history.SwitchLeafRequest(**here, message_id=ids[3]),
        history.ForkConversationRequest(**here, message_id=ids[1], new_conversation_id="d"),
        overlays.PutOverlayRequest(
            **here, overlay_id="o", from_message_id=ids[0], to_message_id=ids[1], summary="s", model="m"
        ),
        overlays.ListOverlaysRequest(**here),
        overlays.GetCoverageRequest(**here),
        history.RenderConversationRequest(**here),
        history.WatchConversationRequest(**here, after_sequence=0),
        history.RecordUsageRequest(
            **here, tier="fast", model="m", tokens=history.CallTokens(input=1, output=1)
        ),
        history.GetUsageRequest(**owner),
        notes.SetNotesRequest(**here, append="likes herons"),
        notes.GetNotesRequest(**here),
        notes.SetTaskRequest(**here, text="find the nest"),
        notes.GetTaskRequest(**here),
        notes.ClearTaskRequest(**here),
        checkpoints.SaveCheckpointRequest(**here, turn_id="t", round=1, calls=[call]),
        checkpoints.GetCheckpointRequest(**here),
        block,
        context.GetContextBlockRequest(**docs),
        context.ListContextBlocksRequest(**owner),
        context.SetContextRequest(**owner, label="persona", replace="kind"),
        entry,
        context.GetContextEntryRequest(**docs, key="k"),
        context.ListContextEntriesRequest(**docs),
        context.SearchContextRequest(**owner, query="herons"),
        context.LoadContextRequest(**here, label="docs", key="k"),
        context.UnloadContextRequest(**here, label="docs", key="k"),
        context.ListContextToolsRequest(**owner),
        prompts.GetSystemPromptRequest(**here),
        prompts.RefreshSystemPromptRequest(**here),
        prompts.GetWorkingMemoryRequest(**here),
        state.SetStateRequest(**owner, json='{"n": 1}'),
        state.GetStateRequest(**owner),
        state.WatchStateRequest(**owner),
        records.PutCollectionRequest(**birds),
        records.GetCollectionRequest(**birds),
        records.ListCollectionsRequest(**owner),
        records.PutRecordRequest(**birds, record_id="r", json="{}"),
        records.GetRecordRequest(**birds, record_id="r"),
        records.QueryRecordsRequest(**birds),
        records.DeleteRecordRequest(**birds, record_id="r"),
        records.DeleteCollectionRequest(**birds),
        state.DeleteStateRequest(**owner),
        context.DeleteContextEntryRequest(**docs, key="k"),
        context.DeleteContextBlockRequest(**docs),
        checkpoints.DeleteCheckpointRequest(**here),
    ]
    return {type(one).__name__.removesuffix("Request"): one for one in given}


async def test_a_limited_key_and_another_tenant_reach_nothing_of_an_agent(
    suite: Running, stub: Any, agent: str
) -> None:
    """G-9, X-1. Its owner, last of all, may do the same things; a stranger's own agent is another one."""
    requests = await requests_of(stub, agent)
    assert set(requests) == set(METHODS), "a new RPC belongs here"
    elsewhere = await suite.stub(await suite.key(Role.OPERATOR, agents=frozenset({"elsewhere"})))
    stranger = await suite.stub(await suite.key(Role.OPERATOR, tenant="other"))
    for method, request in requests.items():
        refused = await failure(called(elsewhere, method, request))
        assert refused[:2] == (CODE.PERMISSION_DENIED, "NOT_ALLOWED"), method
        missing = await failure(called(stranger, method, request))
        assert missing[:2] == (CODE.NOT_FOUND, "RESOURCE_NOT_FOUND"), method
    own = await suite.stub(await suite.key(Role.WRITER, agents=frozenset({agent})))
    for method, request in requests.items():
        assert type(await called(own, method, request)).__name__ == f"{method}Response", method


async def test_the_same_ids_of_two_tenants_are_two(suite: Running, stub: Any, agent: str) -> None:
    """A stranger with an agent and conversation of the same names sees their own, and changes only that."""
    stranger = await suite.stub(await suite.key(Role.OPERATOR, tenant="other"))
    await stranger.CreateAgent(conv.CreateAgentRequest(agent_id=agent))
    await stranger.CreateConversation(conv.CreateConversationRequest(agent_id=agent, conversation_id="c"))
    here: dict[str, Any] = {"agent_id": agent, "conversation_id": "c"}
    for one, text in ((stub, "ours"), (stranger, "theirs")):
        await one.SetNotes(notes.SetNotesRequest(**here, replace=text))
        await one.SetState(state.SetStateRequest(**here, json=f'{{"of": "{text}"}}'))
        await one.RecordTurn(conv.RecordTurnRequest(**here, messages=[said(text)]))
    for one, text in ((stub, "ours"), (stranger, "theirs")):
        assert (await one.GetNotes(notes.GetNotesRequest(**here))).notes.text == text
        assert text in (await one.GetState(state.GetStateRequest(**here))).document.json
        path = (await one.ListPath(history.ListPathRequest(**here))).messages
        assert [message.parts[0].text for message in path] == [text]
        first = await called(
            one, "WatchConversation", history.WatchConversationRequest(**here, after_sequence=0)
        )
        assert first.message.parts[0].text == text


async def test_a_reader_reads_and_writes_nothing_not_even_a_first_value(
    suite: Running, stub: Any, agent: str
) -> None:
    """W-7: with an initial value a read is a write."""
    reader = await suite.stub(await suite.key(Role.READER))
    asked = state.GetStateRequest(agent_id=agent, initial_json="{}")
    assert (await failure(reader.GetState(asked)))[:2] == (CODE.PERMISSION_DENIED, "NOT_ALLOWED")
    asked.ClearField("initial_json")
    assert (await failure(reader.GetState(asked)))[0] is CODE.NOT_FOUND
    await stub.SetState(state.SetStateRequest(agent_id=agent, json='{"n": 1}'))
    assert (await reader.GetState(asked)).document.json == '{"n": 1}'
    prompt = prompts.GetSystemPromptRequest(agent_id=agent, conversation_id="c")
    assert (await reader.GetSystemPrompt(prompt)).prompt.revision == 1


async def test_every_request_without_its_agent_or_with_one_too_long_names_the_field(
    stub: Any, agent: str
) -> None:
    """X-2."""
    for method, request in (await requests_of(stub, agent)).items():
        for bad in ("", "a" * 129):
            broken = type(request)()
            broken.CopyFrom(request)
            broken.agent_id = bad
            wrong = await failure(called(stub, method, broken))
            assert wrong == (CODE.INVALID_ARGUMENT, "INVALID_FIELD", ["agent_id"]), (method, bad)


def bad_requests(agent: str) -> list[tuple[Any, str]]:
    owner: dict[str, Any] = {"agent_id": agent}
    here: dict[str, Any] = {**owner, "conversation_id": "c"}
    no_such: Any = 9
    deep = records.Filter(equals=records.Equals(field="f", value=records.FilterValue(text="x")))
    for _ in range(9):
        deep = records.Filter(all=records.FilterList(filters=[deep]))
    return [
        (windows.GetWindowRequest(**here), "choice"),
        (windows.GetWindowRequest(**here, budget=windows.BudgetWindow(tokens=0)), "budget.tokens"),
        (windows.GetWindowRequest(**here, mode=windows.ModeWindow(mode=no_such)), "mode.mode"),
        (history.SwitchLeafRequest(**here), "message_id"),
        (
            history.ForkConversationRequest(**here, message_id="m", new_conversation_id="a/b"),
            "new_conversation_id",
        ),
        (history.WatchConversationRequest(**here, after_sequence=-1), "after_sequence"),
        (history.WatchConversationRequest(**here, resume_token="forged"), "resume_token"),
        (
            overlays.PutOverlayRequest(**here, from_message_id="a", to_message_id="b", model="m"),
            "summary",
        ),
        (history.RecordUsageRequest(**owner, tier="fast", model="m"), "spent"),
        (notes.SetNotesRequest(**here), "change"),
        (notes.SetTaskRequest(**here, text="a\x00b"), "text"),
        (checkpoints.SaveCheckpointRequest(**here, turn_id="a b", round=1), "turn_id"),
        (checkpoints.SaveCheckpointRequest(**here, turn_id="t"), "round"),
        (context.PutContextBlockRequest(**owner, label="x", max_tokens=100), "kind"),
        (
            context.PutContextBlockRequest(
                **owner, label="x", kind=context.CONTEXT_KIND_WRITABLE, max_tokens=15
            ),
            "max_tokens",
        ),
        (context.SetContextRequest(**owner, label="a/b", replace="x"), "label"),
        (state.SetStateRequest(**owner, json="[]"), "json"),
        (state.SetStateRequest(**owner, json='{"a": 1, "a": 2}'), "json"),
        (state.GetStateRequest(**owner, name="a/b"), "name"),
        (records.PutCollectionRequest(**owner, collection="a/b"), "collection"),
        (records.QueryRecordsRequest(**owner, collection="birds", filter=deep), "filter"),
    ]


async def test_bad_fields_are_named(stub: Any, agent: str) -> None:
    """X-2: by the same name as where the service is called directly."""
    await stub.PutCollection(records.PutCollectionRequest(agent_id=agent, collection="birds"))
    for request, field in bad_requests(agent):
        method = type(request).__name__.removesuffix("Request")
        code, reason, fields = await failure(called(stub, method, request))
        assert (code, reason) == (CODE.INVALID_ARGUMENT, "INVALID_FIELD"), (method, field)
        assert any(found.startswith(field) for found in fields), (method, fields)


async def test_pages_cannot_be_read_with_another_lists_token(stub: Any, agent: str) -> None:
    here: dict[str, Any] = {"agent_id": agent, "conversation_id": "c"}
    await stub.RecordTurn(conv.RecordTurnRequest(**here, messages=[said(str(n)) for n in range(3)]))
    token = (await stub.ListPath(history.ListPathRequest(**here, page_size=1))).next_page_token
    assert token
    for call in (
        stub.ListPath(history.ListPathRequest(**here, page_token="forged")),
        stub.ListPath(history.ListPathRequest(**here, newest_first=True, page_token=token)),
        stub.RenderConversation(history.RenderConversationRequest(**here, page_token=token)),
        stub.ListCollections(records.ListCollectionsRequest(agent_id=agent, page_token=token)),
    ):
        assert (await failure(call))[:2] == (CODE.INVALID_ARGUMENT, "INVALID_PAGE_TOKEN")
    rest = await stub.ListPath(history.ListPathRequest(**here, page_token=token))
    assert [message.sequence for message in rest.messages] == [2, 3]


async def test_a_watch_tells_how_far_messages_are_indexed(stub: Any, agent: str) -> None:
    """E-12: Episodic doesn't know; the gateway adds it, also when nothing else happens."""
    here: dict[str, Any] = {"agent_id": agent, "conversation_id": "c"}
    call = stub.WatchConversation(history.WatchConversationRequest(**here, after_sequence=0), timeout=30)
    await stub.RecordTurn(conv.RecordTurnRequest(**here, messages=[said("one"), said("two")]))
    stored = []
    async for event in call:
        if event.HasField("message"):
            stored.append(event.message.sequence)
        if event.progress.indexed_count == 2:
            break
    call.cancel()
    assert stored == [1, 2]
    switched = await stub.SwitchLeaf(history.SwitchLeafRequest(**here, message_id=event.progress.leaf_id))
    assert switched.conversation.indexed_count == 2


async def test_a_watch_that_is_left_ends_behind_the_gateway_too(
    suite: Running, stub: Any, agent: str
) -> None:
    """SV-4: a client that goes away leaves no task behind."""
    here: dict[str, Any] = {"agent_id": agent, "conversation_id": "c"}
    await stub.SetState(state.SetStateRequest(agent_id=agent, json="{}"))
    await stub.RecordTurn(conv.RecordTurnRequest(**here, messages=[said("one")]))
    async for _ in stub.WatchJobs(admin.WatchJobsRequest(until_idle=True)):
        pass
    before = asyncio.all_tasks()
    calls = [
        stub.WatchState(state.WatchStateRequest(agent_id=agent)),
        stub.WatchConversation(history.WatchConversationRequest(**here, after_sequence=0)),
    ]
    for call in calls:
        await anext(aiter(call))
    # But for the server's own task, which waits for the next call.
    started = {task for task in asyncio.all_tasks() - before if "_request_call" not in repr(task)}
    assert started
    for call in calls:
        call.cancel()
    _, running_still = await asyncio.wait(started, timeout=20)
    assert not running_still
