"""StateService through a real stub over a socket, on a real store (SPEC W-7, W-8, X-1)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, aclosing
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from palimpsest.state.v1 import records_pb2 as rpb
from palimpsest.state.v1 import state_pb2 as pb
from palimpsest.state.v1 import state_pb2_grpc

from services.kit.channels import CHANNEL_OPTIONS
from services.kit.context import act_as
from services.kit.errors import PalimpsestError, Reason
from services.kit.identity import Principal, Role, TokenSigner
from services.kit.ids import new_id
from services.kit.metrics import Metrics
from services.kit.serving import Service, listening, outgoing
from services.kit.sql import SqlDatabase
from services.kit.sqlite import Database, SqliteScripts
from services.kit.times import now
from services.memory.episodic.adapters.sql.agents import SqlAgents
from services.memory.episodic.adapters.sql.conversations import SqlConversations
from services.memory.episodic.adapters.sql.records import SqlRecords
from services.memory.episodic.adapters.sql.state import SqlStates
from services.memory.episodic.app.records import Records
from services.memory.episodic.app.state import States, WatchSettings
from services.memory.episodic.domain.model import Agent, Conversation
from services.memory.episodic.domain.state import StateKey, StateVersion
from services.memory.episodic.rpc.state_servicer import DESCRIPTOR, face

SECRET = b"a secret of the tests, 32 bytes or more"
WRITER = Principal(tenant="acme", role=Role.WRITER, subject="test")
READER = Principal(tenant="acme", role=Role.READER, subject="test")
ONLY_B = Principal(tenant="acme", role=Role.WRITER, agents=frozenset({"b"}), subject="test")
OTHER = Principal(tenant="other", role=Role.WRITER, subject="test")
MIB = 1024 * 1024
BIG = 250_000  # bytes of a document of which a socket holds few
PATIENCE_SECONDS = 0.5

Stub: TypeAlias = "state_pb2_grpc.StateServiceAsyncStub"


class Counting(SqlStates):
    """Counts the versions that watchers read."""

    def __init__(self, database: SqlDatabase) -> None:
        super().__init__(database)
        self.read = 0

    async def after(self, key: StateKey, version: int, limit: int) -> Sequence[StateVersion]:
        changes = await super().after(key, version, limit)
        self.read += len(changes)
        return changes


async def no_store() -> bool:
    return True


async def populate(database: SqlDatabase) -> None:
    for tenant in ("acme", "other"):
        for agent_id in ("a", "b"):
            agent = Agent(id=agent_id, display_name="", system_prompt="", create_time=1)
            await SqlAgents(database).create(tenant, agent)
            conversation = Conversation(
                id="c", agent_id=agent_id, contact_id="", title="", create_time=1, update_time=1
            )
            await SqlConversations(database).create(tenant, conversation)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[SqlDatabase]:
    migrations = files("services.memory.episodic") / "migrations" / "sqlite"
    file = await Database.open(tmp_path / "episodic.db", migrations, synchronous="NORMAL")
    scripts = SqliteScripts(file)
    await populate(scripts)
    yield scripts
    await file.close()


@pytest.fixture
async def store(database: SqlDatabase) -> Counting:
    return Counting(database)


@pytest.fixture
async def stub(database: SqlDatabase, store: Counting) -> AsyncIterator[Stub]:
    settings = WatchSettings(poll_seconds=0.2, patience_seconds=PATIENCE_SECONDS)
    service = Service(
        name="palimpsest.episodic.v1.EpisodicService",
        add=lambda _: None,
        roles={},
        ready=no_store,
        faces=(
            face(States(store, now, settings), Records(SqlRecords(database, max_bytes=MIB), now, new_id)),
        ),
    )
    async with AsyncExitStack() as stack:
        port = await stack.enter_async_context(
            listening(service, SECRET, Metrics(), "127.0.0.1:0", drain_seconds=0)
        )
        inner = grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=CHANNEL_OPTIONS)
        channel = outgoing(inner, "episodic", TokenSigner(SECRET))
        stack.push_async_callback(channel.close)
        made: Stub = state_pb2_grpc.StateServiceStub(channel)  # type: ignore[assignment]
        with act_as(WRITER):
            yield made


async def failure(call: Awaitable[Any]) -> PalimpsestError:
    with pytest.raises(PalimpsestError) as caught:
        await call
    return caught.value


async def stream_failure(stream: Any) -> PalimpsestError:
    with pytest.raises(PalimpsestError) as caught:
        async with asyncio.timeout(30):
            async for _ in stream:
                pass
    return caught.value


def set_state(text: str = "{}", **fields: Any) -> pb.SetStateRequest:
    return pb.SetStateRequest(**{"agent_id": "a", "json": text, **fields})


def get_state(**fields: Any) -> pb.GetStateRequest:
    return pb.GetStateRequest(**{"agent_id": "a", **fields})


def put_record(**fields: Any) -> rpb.PutRecordRequest:
    return rpb.PutRecordRequest(**{"agent_id": "a", "collection": "things", "json": "{}", **fields})


def query(**fields: Any) -> rpb.QueryRecordsRequest:
    return rpb.QueryRecordsRequest(**{"agent_id": "a", "collection": "things", **fields})


def equals(field: str, **value: Any) -> rpb.Filter:
    return rpb.Filter(equals=rpb.Equals(field=field, value=rpb.FilterValue(**value)))


async def put_things(stub: Stub, agent_id: str = "a") -> rpb.Collection:
    made = await stub.PutCollection(
        rpb.PutCollectionRequest(
            agent_id=agent_id,
            collection="things",
            fields=[
                rpb.IndexedField(path="kind", type=rpb.FIELD_TYPE_STRING),
                rpb.IndexedField(path="size.cm", type=rpb.FIELD_TYPE_NUMBER),
                rpb.IndexedField(path="due", type=rpb.FIELD_TYPE_TIME),
                rpb.IndexedField(path="done", type=rpb.FIELD_TYPE_BOOL),
            ],
        )
    )
    return made.collection


async def test_a_document_comes_back_byte_for_byte(stub: Stub) -> None:
    text = ' {"b" : 9007199254740993, "a":[1.50,"\\u00e9é😀"],\n"c":{}} '
    stored = await stub.SetState(set_state(text))
    assert stored.version == 1
    found = await stub.GetState(get_state())
    assert (found.document.json, found.document.version, found.created) == (text, 1, False)
    assert found.document.update_time == stored.update_time
    assert (await stub.SetState(set_state("{}", conversation_id="c", name="cart"))).version == 1
    assert (await stub.GetState(get_state(name="default"))).document.json == text
    assert (await stub.GetState(get_state(conversation_id="c", name="cart"))).document.json == "{}"
    assert (await stub.DeleteState(pb.DeleteStateRequest(agent_id="a", expected_version=1))).version == 2
    gone = await failure(stub.GetState(get_state()))
    assert (gone.reason, gone.metadata["resource"]) == (Reason.RESOURCE_NOT_FOUND, "state")
    assert (await failure(stub.DeleteState(pb.DeleteStateRequest(agent_id="a")))).reason == (
        Reason.RESOURCE_NOT_FOUND
    )


async def test_the_first_read_stores_the_initial_document(stub: Stub) -> None:
    with act_as(READER):
        denied = await failure(stub.GetState(get_state(initial_json="{}")))
        assert denied.reason == Reason.NOT_ALLOWED
        assert (await failure(stub.GetState(get_state()))).reason == Reason.RESOURCE_NOT_FOUND
    made = await stub.GetState(get_state(initial_json='{"n":1}'))
    assert (made.document.json, made.document.version, made.created) == ('{"n":1}', 1, True)
    again = await stub.GetState(get_state(initial_json='{"n":2}'))
    assert (again.document.json, again.document.version, again.created) == ('{"n":1}', 1, False)
    with act_as(READER):
        assert (await stub.GetState(get_state())).document.json == '{"n":1}'
        assert (await failure(stub.GetState(get_state(initial_json="{}")))).reason == Reason.NOT_ALLOWED


async def test_compare_and_set_says_what_is_current(stub: Stub) -> None:
    await stub.SetState(set_state(expected_version=0))
    for call in (
        stub.SetState(set_state(expected_version=0)),
        stub.SetState(set_state(expected_version=2)),
        stub.DeleteState(pb.DeleteStateRequest(agent_id="a", expected_version=2)),
    ):
        error = await failure(call)
        assert (error.reason, error.metadata) == (Reason.VERSION_CONFLICT, {"current_version": "1"})


@pytest.mark.parametrize("principal", [ONLY_B, OTHER], ids=["another agent's", "another tenant's"])
async def test_state_and_records_are_out_of_others_reach(stub: Stub, principal: Principal) -> None:
    await stub.SetState(set_state('{"of":"acme"}'))
    await put_things(stub)
    await stub.PutRecord(put_record(record_id="r", json='{"kind":"x"}'))
    reads: list[Callable[[], Awaitable[Any]]] = [
        lambda: stub.GetState(get_state()),
        lambda: stub.GetCollection(rpb.GetCollectionRequest(agent_id="a", collection="things")),
        lambda: stub.GetRecord(rpb.GetRecordRequest(agent_id="a", collection="things", record_id="r")),
        lambda: stub.QueryRecords(query(filter=equals("kind", text="x"))),
    ]
    for read in reads:
        await read()
    with act_as(principal):
        wanted = Reason.NOT_ALLOWED if principal is ONLY_B else Reason.RESOURCE_NOT_FOUND
        for read in reads:
            assert (await failure(read())).reason == wanted
        if principal is ONLY_B:
            assert (
                await stream_failure(stub.WatchState(pb.WatchStateRequest(agent_id="a")))
            ).reason == wanted
        own = "b" if principal is ONLY_B else "a"
        await stub.SetState(set_state('{"of":"other"}', agent_id=own))
        await put_things(stub, own)
        await stub.PutRecord(put_record(agent_id=own, record_id="mine", json='{"kind":"x"}'))
        found = await stub.QueryRecords(query(agent_id=own, filter=equals("kind", text="x")))
        assert [record.id for record in found.records] == ["mine"]
    assert (await stub.GetState(get_state())).document.json == '{"of":"acme"}'
    found = await stub.QueryRecords(query(filter=equals("kind", text="x")))
    assert [record.id for record in found.records] == ["r"]


async def test_a_reader_may_read_and_no_more(stub: Stub) -> None:
    await stub.SetState(set_state())
    await put_things(stub)
    await stub.PutRecord(put_record(record_id="r"))
    named: dict[str, Any] = {"agent_id": "a", "collection": "things"}
    with act_as(READER):
        await stub.GetState(get_state())
        await stub.GetCollection(rpb.GetCollectionRequest(**named))
        await stub.ListCollections(rpb.ListCollectionsRequest(agent_id="a"))
        await stub.GetRecord(rpb.GetRecordRequest(**named, record_id="r"))
        await stub.QueryRecords(query())
        async with aclosing(stub.WatchState(pb.WatchStateRequest(agent_id="a"))) as changes:  # type: ignore[type-var]
            assert (await anext(aiter(changes))).version == 1
        for call in (
            stub.SetState(set_state()),
            stub.DeleteState(pb.DeleteStateRequest(agent_id="a")),
            stub.PutCollection(rpb.PutCollectionRequest(**named)),
            stub.DeleteCollection(rpb.DeleteCollectionRequest(**named)),
            stub.PutRecord(put_record()),
            stub.DeleteRecord(rpb.DeleteRecordRequest(**named, record_id="r")),
        ):
            assert (await failure(call)).reason == Reason.NOT_ALLOWED


async def test_collections_and_records(stub: Stub) -> None:
    made = await put_things(stub)
    assert [field.path for field in made.fields] == ["done", "due", "kind", "size.cm"]
    assert await put_things(stub) == made
    got = await stub.GetCollection(rpb.GetCollectionRequest(agent_id="a", collection="things"))
    assert got.collection == made
    await stub.PutCollection(rpb.PutCollectionRequest(agent_id="a", collection="empty"))
    first = await stub.ListCollections(rpb.ListCollectionsRequest(agent_id="a", page_size=1))
    assert [one.name for one in first.collections] == ["empty"]
    rest = await stub.ListCollections(
        rpb.ListCollectionsRequest(agent_id="a", page_size=1, page_token=first.next_page_token)
    )
    assert ([one.name for one in rest.collections], rest.next_page_token) == (["things"], "")

    text = '{"kind": "box", "size": {"cm": 12.5}, "due": "2026-03-01T10:00:00Z", "done": false}'
    put = await stub.PutRecord(put_record(record_id="r", json=text, expected_version=0))
    assert (put.record_id, put.version) == ("r", 1)
    record = (
        await stub.GetRecord(rpb.GetRecordRequest(agent_id="a", collection="things", record_id="r"))
    ).record
    assert (record.id, record.json, record.version) == ("r", text, 1)
    assert (record.create_time, record.update_time) == (put.create_time, put.update_time)
    unnamed = await stub.PutRecord(put_record(json='{"kind":"bag"}'))
    assert len(unnamed.record_id) == 26
    conflict = await failure(stub.PutRecord(put_record(record_id="r", expected_version=0)))
    assert (conflict.reason, conflict.metadata) == (Reason.VERSION_CONFLICT, {"current_version": "1"})

    moment = Timestamp()
    moment.FromJsonString("2026-03-01T11:00:00+01:00")
    wanted = rpb.Filter(
        all=rpb.FilterList(
            filters=[
                equals("due", time=moment),
                equals("done", flag=False),
                rpb.Filter(
                    range=rpb.Range(
                        field="size.cm",
                        more_than=rpb.FilterValue(number=12),
                        at_most=rpb.FilterValue(number=12.5),
                    )
                ),
                rpb.Filter(
                    any=rpb.FilterList(
                        filters=[
                            equals("kind", text="'; DROP TABLE records; --"),
                            rpb.Filter(prefix=rpb.Prefix(field="kind", text="b")),
                        ]
                    )
                ),
            ]
        )
    )
    found = await stub.QueryRecords(query(filter=wanted))
    assert [one.id for one in found.records] == ["r"]
    assert found.records[0] == record
    order = rpb.RecordOrder(field="kind", descending=True)
    page = await stub.QueryRecords(query(order_by=order, page_size=1))
    assert [one.id for one in page.records] == ["r"]
    page = await stub.QueryRecords(query(order_by=order, page_size=1, page_token=page.next_page_token))
    assert ([one.id for one in page.records], page.next_page_token) == ([unnamed.record_id], "")

    named: dict[str, Any] = {"agent_id": "a", "collection": "things"}
    await stub.DeleteRecord(rpb.DeleteRecordRequest(**named, record_id="r", expected_version=1))
    assert [one.id for one in (await stub.QueryRecords(query())).records] == [unnamed.record_id]
    await stub.DeleteCollection(rpb.DeleteCollectionRequest(**named))
    assert (await failure(stub.QueryRecords(query()))).metadata["resource"] == "collection"


def deep(depth: int) -> rpb.Filter:
    filter_ = equals("kind", text="x")
    for _ in range(depth - 1):
        filter_ = rpb.Filter(all=rpb.FilterList(filters=[filter_]))
    return filter_


NO_BOUND = rpb.Filter(range=rpb.Range(field="size.cm"))
NOT_FINITE = rpb.FilterValue(number=float("nan"))
BAD_TIME = rpb.FilterValue(time=Timestamp(seconds=-(10**12)))
BAD_QUERIES: dict[str, tuple[rpb.QueryRecordsRequest, str]] = {
    "undeclared field": (query(filter=equals("colour", text="x")), "filter.equals.field"),
    "undeclared order": (query(order_by=rpb.RecordOrder(field="colour")), "order_by.field"),
    "another type": (query(filter=equals("kind", number=1)), "filter.equals.value"),
    "a time as text": (query(filter=equals("due", text="2026-03-01T10:00:00Z")), "filter.equals.value"),
    "prefix of a number": (
        query(filter=rpb.Filter(prefix=rpb.Prefix(field="size.cm", text="1"))),
        "filter.prefix.field",
    ),
    "no condition": (query(filter=rpb.Filter()), "filter.kind"),
    "no value": (query(filter=rpb.Filter(equals=rpb.Equals(field="kind"))), "filter.equals.value"),
    "no kind of value": (query(filter=equals("kind")), "filter.equals.value.kind"),
    "no bound": (query(filter=NO_BOUND), "filter.range"),
    "nothing in all": (query(filter=rpb.Filter(all=rpb.FilterList())), "filter.all.filters"),
    "not finite": (
        query(filter=rpb.Filter(range=rpb.Range(field="size.cm", at_least=NOT_FINITE))),
        "filter.range.at_least.number",
    ),
    "no such time": (
        query(filter=rpb.Filter(range=rpb.Range(field="due", less_than=BAD_TIME))),
        "filter.range.less_than.time",
    ),
    "NUL in a text": (query(filter=equals("kind", text="\x00")), "filter.equals.value.text"),
    "text too long": (query(filter=equals("kind", text="é" * 513)), "filter.equals.value.text"),
    "too deep": (query(filter=deep(9)), "filter"),
    "too many": (
        query(filter=rpb.Filter(any=rpb.FilterList(filters=[equals("kind", text="x")] * 64))),
        "filter",
    ),
    "page too large": (query(page_size=1_001), "page_size"),
    "NUL in the collection": (query(collection="a\x00"), "collection"),
}


@pytest.mark.parametrize("name", BAD_QUERIES)
async def test_a_bad_query_is_refused_with_its_field_named(stub: Stub, name: str) -> None:
    await put_things(stub)
    await stub.QueryRecords(query(filter=deep(8)))
    bad, field = BAD_QUERIES[name]
    error = await failure(stub.QueryRecords(bad))
    assert error.reason == Reason.INVALID_FIELD
    assert [problem.field for problem in error.fields] == [field]


BAD_JSON = {
    "empty": "",
    "array": "[1]",
    "cut": '{"a":',
    "key twice": '{"a":1,"a":2}',
    "not a number": '{"a":NaN}',
    "infinite": '{"a":-Infinity}',
    "beyond a double": '{"a":1e400}',
    "lone surrogate": '{"a":"\\ud83d"}',
    "NUL": '{"a":"\\u0000"}',
    "too deep": '{"a":' * 65 + "1" + "}" * 65,
    "endlessly deep": '{"a":' * 50_000,
    "too long": json.dumps({"a": "x" * 262_144}),
}


@pytest.mark.parametrize("name", BAD_JSON)
async def test_what_is_not_an_object_of_json_is_refused_and_nothing_stored(stub: Stub, name: str) -> None:
    await put_things(stub)
    text = BAD_JSON[name]
    for call, field in (
        (stub.SetState(set_state(text)), "json"),
        (stub.GetState(get_state(initial_json=text)), "initial_json"),
        (stub.PutRecord(put_record(record_id="r", json=text)), "json"),
    ):
        error = await failure(call)
        assert error.reason == Reason.INVALID_FIELD
        assert [problem.field for problem in error.fields] == [field]
    assert (await failure(stub.GetState(get_state()))).reason == Reason.RESOURCE_NOT_FOUND
    assert not (await stub.QueryRecords(query())).records


def collection(**fields: Any) -> rpb.PutCollectionRequest:
    return rpb.PutCollectionRequest(**{"agent_id": "a", "collection": "new", **fields})


def field(path: str, kind: rpb.FieldType = rpb.FIELD_TYPE_STRING) -> rpb.IndexedField:
    return rpb.IndexedField(path=path, type=kind)


Call: TypeAlias = "Callable[[Stub], Awaitable[Any]]"
BAD_FIELDS: dict[str, tuple[Call, str]] = {
    "no agent": (lambda stub: stub.SetState(set_state(agent_id="")), "agent_id"),
    "NUL in the agent": (lambda stub: stub.SetState(set_state(agent_id="\x00")), "agent_id"),
    "NUL in the conversation": (
        lambda stub: stub.GetState(get_state(conversation_id="\x00")),
        "conversation_id",
    ),
    "a name with a blank": (lambda stub: stub.SetState(set_state(name="a b")), "name"),
    "a long name": (lambda stub: stub.GetState(get_state(name="x" * 65)), "name"),
    "a negative version": (lambda stub: stub.SetState(set_state(expected_version=-1)), "expected_version"),
    "deleting what must not exist": (
        lambda stub: stub.DeleteState(pb.DeleteStateRequest(agent_id="a", expected_version=0)),
        "expected_version",
    ),
    "no name of a collection": (lambda stub: stub.PutCollection(collection(collection="")), "collection"),
    "a bad name of a collection": (
        lambda stub: stub.PutCollection(collection(collection="a/b")),
        "collection",
    ),
    "an empty path": (lambda stub: stub.PutCollection(collection(fields=[field("")])), "fields[0].path"),
    "an empty name in a path": (
        lambda stub: stub.PutCollection(collection(fields=[field("a"), field("a..b")])),
        "fields[1].path",
    ),
    "a long path": (
        lambda stub: stub.PutCollection(collection(fields=[field(".".join("abcdefghi"))])),
        "fields[0].path",
    ),
    "a path twice": (
        lambda stub: stub.PutCollection(collection(fields=[field("a"), field("a", rpb.FIELD_TYPE_BOOL)])),
        "fields[1].path",
    ),
    "a field without a type": (
        lambda stub: stub.PutCollection(collection(fields=[field("a", rpb.FIELD_TYPE_UNSPECIFIED)])),
        "fields[0].type",
    ),
    "too many fields": (
        lambda stub: stub.PutCollection(collection(fields=[field(f"f{n}") for n in range(17)])),
        "fields",
    ),
    "a bad id of a record": (lambda stub: stub.PutRecord(put_record(record_id="a b")), "record_id"),
    "NUL in the id of a record": (
        lambda stub: stub.GetRecord(
            rpb.GetRecordRequest(agent_id="a", collection="things", record_id="\x00")
        ),
        "record_id",
    ),
    "a long text in an indexed field": (
        lambda stub: stub.PutRecord(put_record(json=json.dumps({"kind": "x" * 1_025}))),
        "json",
    ),
}


@pytest.mark.parametrize("name", BAD_FIELDS)
async def test_a_bad_field_is_named(stub: Stub, name: str) -> None:
    await put_things(stub)
    call, path = BAD_FIELDS[name]
    error = await failure(call(stub))
    assert error.reason == Reason.INVALID_FIELD
    assert [problem.field for problem in error.fields] == [path]


async def test_a_page_token_is_good_for_its_own_query_alone(stub: Stub) -> None:
    await put_things(stub)
    for name in "abc":
        await stub.PutRecord(put_record(record_id=name, json='{"kind":"x"}'))
    token = (await stub.QueryRecords(query(page_size=1))).next_page_token
    assert [r.id for r in (await stub.QueryRecords(query(page_token=token))).records] == ["b", "c"]
    for other in (
        query(page_token=token, filter=equals("kind", text="x")),
        query(page_token=token, order_by=rpb.RecordOrder(descending=True)),
        query(page_token="nonsense"),
        query(page_token="é"),
    ):
        assert (await failure(stub.QueryRecords(other))).reason == Reason.INVALID_PAGE_TOKEN


async def test_unknown_agents_and_conversations_are_not_found(stub: Stub) -> None:
    for call in (
        stub.GetState(get_state(agent_id="x", initial_json="{}")),
        stub.SetState(set_state(conversation_id="x")),
        stub.DeleteState(pb.DeleteStateRequest(agent_id="x")),
        stub.PutCollection(collection(agent_id="x")),
        stub.ListCollections(rpb.ListCollectionsRequest(agent_id="x")),
        stub.PutRecord(put_record()),
        stub.DeleteRecord(rpb.DeleteRecordRequest(agent_id="a", collection="things", record_id="r")),
    ):
        assert (await failure(call)).reason == Reason.RESOURCE_NOT_FOUND
    for request in (
        pb.WatchStateRequest(agent_id="x"),
        pb.WatchStateRequest(agent_id="a", conversation_id="x", after_version=1),
    ):
        assert (await stream_failure(stub.WatchState(request))).reason == Reason.RESOURCE_NOT_FOUND


async def test_a_watcher_sees_each_change_with_what_it_made(stub: Stub) -> None:
    await stub.SetState(set_state('{"n":1}'))
    async with asyncio.timeout(30), aclosing(stub.WatchState(pb.WatchStateRequest(agent_id="a"))) as changes:  # type: ignore[type-var]
        first = await anext(changes)
        assert (first.version, first.json, first.deleted, first.skipped) == (1, '{"n":1}', False, False)
        stored = await stub.SetState(set_state('{"n":2}'))
        await stub.SetState(set_state("{}", name="other"))
        await stub.DeleteState(pb.DeleteStateRequest(agent_id="a"))
        second, third = await anext(changes), await anext(changes)
        assert (second.version, second.json, second.time) == (2, '{"n":2}', stored.update_time)
        assert (third.version, third.json, third.deleted) == (3, "", True)


async def test_a_watcher_can_not_have_seen_what_never_was(stub: Stub) -> None:
    await stub.SetState(set_state())
    error = await stream_failure(stub.WatchState(pb.WatchStateRequest(agent_id="a", after_version=2)))
    assert (error.reason, error.fields[0].field) == (Reason.INVALID_FIELD, "after_version")


def big(number: int) -> str:
    return json.dumps({"n": number, "text": "x" * BIG})


async def collect(changes: Any, got: list[int], last: int) -> PalimpsestError | None:
    """Reads to a version, or to the error that ends the stream."""
    try:
        async for change in changes:
            assert change.json == big(change.version)
            assert not change.skipped
            got.append(change.version)
            if change.version == last:
                return None
    except PalimpsestError as error:
        return error
    raise AssertionError("a stream of changes has no end")


async def test_a_client_that_stops_reading_is_dropped_and_resumes_without_gap_or_duplicate(
    stub: Stub, store: Counting
) -> None:
    """W-7: however much there is to send, the server reads no more than the client and the socket take."""
    count = 60
    for number in range(1, count + 1):
        await stub.SetState(set_state(big(number)))
    begin = pb.WatchStateRequest(agent_id="a", after_version=1)
    async with asyncio.timeout(60), aclosing(stub.WatchState(begin)) as slow:  # type: ignore[type-var]
        got = [1, (await anext(slow)).version]
        quick: list[int] = []
        async with aclosing(stub.WatchState(begin)) as changes:  # type: ignore[type-var]
            assert await collect(changes, quick, count) is None
        assert quick == list(range(2, count + 1))
        await asyncio.sleep(3 * PATIENCE_SECONDS)  # reads nothing meanwhile
        read = store.read
        assert read < (count - 1) * 2  # the quick one has read all, the slow one has not
        error = await collect(slow, got, count)
    assert error is not None
    assert error.reason == Reason.OVERLOADED
    assert got == list(range(1, len(got) + 1))
    assert int(error.metadata["resume_after"]) in (got[-1] - 1, got[-1])
    assert store.read == read
    resumed = pb.WatchStateRequest(agent_id="a", after_version=got[-1])
    async with asyncio.timeout(30), aclosing(stub.WatchState(resumed)) as changes:  # type: ignore[type-var]
        assert await collect(changes, got, count) is None
    assert got == list(range(1, count + 1))


async def test_every_rpc_is_documented_as_a_read_or_a_write() -> None:
    reads = {m.name for m in DESCRIPTOR.methods if m.GetOptions().idempotency_level}
    assert reads == {
        "GetState",
        "WatchState",
        "GetCollection",
        "ListCollections",
        "GetRecord",
        "QueryRecords",
    }
