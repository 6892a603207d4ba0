"""Whatever is sent, the answer is the right one or a clear error that names the field (SPEC X-1, S-9, S-16).

One suite serves all tests, and none of them leaves anything behind.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
import pytest_asyncio
from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status
from palimpsest.common.v1 import recall_pb2, resources_pb2
from palimpsest.gateway.v1 import conversations_pb2, prompt_pb2
from palimpsest.gateway.v1 import memories_pb2 as pb

from services.kit.identity import Role
from tests.integration.embedded_suite import AGENT, Running, failure
from tests.integration.noted_suite import KEY, noted

pytestmark = pytest.mark.asyncio(loop_scope="module")
CODE = grpc.StatusCode
NAN, INF = float("nan"), float("inf")
TASK = resources_pb2.FACT_TYPE_TASK
YEAR_1, YEAR_9999 = -62_135_596_800, 253_402_300_799
BEYOND = 10**15
LONG = "x" * 129
UNKNOWN_KIND: Any = 7
Fields = dict[str, Any]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def suite(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    async with noted(tmp_path_factory.mktemp("input") / "data") as made:
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def stub(suite: Running) -> Any:
    return await suite.stub()


def stamp(seconds: int = 0, nanos: int = 0) -> Timestamp:
    return Timestamp(seconds=seconds, nanos=nanos)


def weights(*pairs: tuple[Any, float], **fields: Any) -> recall_pb2.FusionStrategy:
    chosen = [recall_pb2.ChannelWeight(channel=channel, weight=weight) for channel, weight in pairs]
    return recall_pb2.FusionStrategy(reference=recall_pb2.ReferenceFusion(weights=chosen, **fields))


def token(agent_id: str = AGENT, **mark: Any) -> resources_pb2.FreshnessToken:
    return resources_pb2.FreshnessToken(agent_id=agent_id, **mark)


VECTOR = recall_pb2.CHANNEL_VECTOR
REF = resources_pb2.MessageRef
WEIGHT, CHANNEL = "fusion.reference.weights[0].weight", "fusion.reference.weights[0].channel"
MEMORY = resources_pb2.MemoryMark(memory_id="m", version=1)

RECALL: list[tuple[Fields, str]] = [
    ({"query": ""}, "query"),
    ({"query": "x" * 1025}, "query"),
    ({"query": "é" * 513}, "query"),
    ({"agent_id": ""}, "agent_id"),
    ({"agent_id": LONG}, "agent_id"),
    ({"contact_id": LONG}, "contact_id"),
    ({"limit": -1}, "limit"),
    ({"limit": 101}, "limit"),
    ({"limit": 10_000}, "limit"),
    ({"limit": 2**31 - 1}, "limit"),
    ({"kinds": [0]}, "kinds[0]"),
    ({"kinds": [1, 5]}, "kinds[1]"),
    ({"kinds": [1, 2, 3, 4, 1]}, "kinds"),
    ({"as_of_time": stamp(BEYOND)}, "as_of_time"),
    ({"as_of_time": stamp(0, 10**9)}, "as_of_time"),
    ({"fusion": weights((VECTOR, NAN))}, WEIGHT),
    ({"fusion": weights((VECTOR, INF))}, WEIGHT),
    ({"fusion": weights((VECTOR, -0.1))}, WEIGHT),
    ({"fusion": weights((VECTOR, 1e38))}, WEIGHT),
    ({"fusion": weights((0, 1.0))}, CHANNEL),
    ({"fusion": weights((99, 1.0))}, CHANNEL),
    ({"fusion": weights(*[(VECTOR, 1.0)] * 9)}, "fusion.reference.weights"),
    ({"fusion": weights(k=NAN)}, "fusion.reference.k"),
    ({"fusion": weights(k=-1)}, "fusion.reference.k"),
    ({"fusion": weights(k=1e9)}, "fusion.reference.k"),
    ({"wait_for": [token()]}, "wait_for[0].mark"),
    ({"wait_for": [token("", memory=MEMORY)]}, "wait_for[0].agent_id"),
    ({"wait_for": [token(memory=MEMORY), token("bea", memory=MEMORY)]}, "wait_for[1].agent_id"),
    (
        {"wait_for": [token(messages=resources_pb2.MessageMark(conversation_id="c", sequence=0))]},
        "wait_for[0].messages.sequence",
    ),
    (
        {"wait_for": [token(memory=resources_pb2.MemoryMark(memory_id="", version=1))]},
        "wait_for[0].memory.memory_id",
    ),
    ({"wait_for": [token(memory=MEMORY)] * 101}, "wait_for"),
]
SEARCH: list[tuple[Fields, str]] = [
    ({"query": ""}, "query"),
    ({"query": "x" * 1025}, "query"),
    ({"limit": 10_000}, "limit"),
    ({"neighbours": 11}, "neighbours"),
    ({"neighbours": -1}, "neighbours"),
    ({"mode": 9}, "mode"),
    ({"scope": 9}, "scope"),
    ({"conversation_id": ""}, "conversation_id"),
    ({"conversation_id": LONG}, "conversation_id"),
    ({"filter": recall_pb2.MessageFilter(roles=[resources_pb2.ROLE_UNSPECIFIED])}, "filter.roles[0]"),
    ({"filter": recall_pb2.MessageFilter(authors=[""])}, "filter.authors[0]"),
    ({"filter": recall_pb2.MessageFilter(start_time=stamp(BEYOND))}, "filter.start_time"),
    ({"filter": recall_pb2.MessageFilter(end_time=stamp(-BEYOND))}, "filter.end_time"),
    ({"reference_time": stamp(BEYOND)}, "reference_time"),
    ({"reference_time": stamp(0, -1)}, "reference_time"),
    ({"fusion": weights((VECTOR, NAN))}, WEIGHT),
    ({"wait_for": [token("bea", memory=MEMORY)]}, "wait_for[0].agent_id"),
]
REMEMBER: list[tuple[Fields, str]] = [
    *(({"key": key}, "key") for key in ("", "K", "two words", "k" * 201, "k\n", "k\0", "é", "k/v", "🙂")),
    ({"value": ""}, "value"),
    ({"value": "v" * 8193}, "value"),
    ({"value": "é" * 4097}, "value"),
    ({"value": "a\0b"}, "value"),
    ({"fact_type": 99}, "fact_type"),
    ({"provenance": [REF(conversation_id="", message_id="m")]}, "provenance[0].conversation_id"),
    ({"provenance": [REF(conversation_id="c", message_id="")]}, "provenance[0].message_id"),
    ({"provenance": [REF(conversation_id="c", message_id="m")] * 101}, "provenance"),
    ({"request_id": LONG}, "request_id"),
    ({"valid_from_time": stamp(BEYOND)}, "valid_from_time"),
    ({"valid_from_time": stamp(YEAR_1 - 1)}, "valid_from_time"),
    ({"valid_from_time": stamp(0, 2**31 - 1)}, "valid_from_time"),
    ({"valid_to_time": stamp(BEYOND)}, "valid_to_time"),
    ({"valid_to_time": stamp(1)}, "valid_to_time"),
    ({"valid_from_time": stamp(50), "valid_to_time": stamp(50)}, "valid_to_time"),
    ({"valid_from_time": stamp(50), "valid_to_time": stamp(49)}, "valid_to_time"),
]
OTHERS: list[tuple[str, Message, str]] = [
    ("GetMemory", pb.GetMemoryRequest(agent_id=AGENT), "memory_id"),
    ("GetMemory", pb.GetMemoryRequest(agent_id=AGENT, memory_id=LONG), "memory_id"),
    ("ForgetMemory", pb.ForgetMemoryRequest(agent_id=AGENT), "memory_id"),
    ("UndoSupersession", pb.UndoSupersessionRequest(agent_id=AGENT), "memory_id"),
    ("ListMemoryVersions", pb.ListMemoryVersionsRequest(agent_id=AGENT), "memory_id"),
    ("GetMemoryByKey", pb.GetMemoryByKeyRequest(agent_id=AGENT, key="Bad Key"), "key"),
    (
        "GetMemoryByKey",
        pb.GetMemoryByKeyRequest(agent_id=AGENT, key="k", as_of_time=stamp(BEYOND)),
        "as_of_time",
    ),
    ("ListMemories", pb.ListMemoriesRequest(agent_id=AGENT, page_size=-1), "page_size"),
    ("ListMemories", pb.ListMemoriesRequest(agent_id=AGENT, page_size=1001), "page_size"),
    ("ListMemories", pb.ListMemoriesRequest(agent_id=AGENT, kinds=[UNKNOWN_KIND]), "kinds[0]"),
    ("ListMemories", pb.ListMemoriesRequest(agent_id=AGENT, key_prefix="k" * 201), "key_prefix"),
    ("ListContradictions", pb.ListContradictionsRequest(agent_id=AGENT, page_size=1001), "page_size"),
    ("ResolveContradiction", pb.ResolveContradictionRequest(agent_id=AGENT), "contradiction_id"),
    (
        "UpdateMemory",
        pb.UpdateMemoryRequest(agent_id=AGENT, memory=resources_pb2.Memory(id="m")),
        "update_mask",
    ),
    (
        "UpdateMemory",
        pb.UpdateMemoryRequest(
            agent_id=AGENT, memory=resources_pb2.Memory(id="m"), update_mask=FieldMask(paths=["value"])
        ),
        "update_mask",
    ),
    (
        "UpdateMemory",
        pb.UpdateMemoryRequest(
            agent_id=AGENT, memory=resources_pb2.Memory(), update_mask=FieldMask(paths=["pinned"])
        ),
        "memory.id",
    ),
    (
        "UpdateMemory",
        pb.UpdateMemoryRequest(
            agent_id=AGENT,
            memory=resources_pb2.Memory(id="m"),
            update_mask=FieldMask(paths=["pinned"]),
            expected_revision=-1,
        ),
        "expected_revision",
    ),
    (
        "AssemblePrompt",
        prompt_pb2.AssemblePromptRequest(
            agent_id=AGENT, conversation_id="c", message="m", wait_for=[token("bea", memory=MEMORY)]
        ),
        "wait_for[0].agent_id",
    ),
]
GOOD: Fields = {"agent_id": AGENT, "query": "herons"}
SEARCHED: Fields = GOOD | {"conversation_id": "c"}
WRITTEN: Fields = {"agent_id": AGENT, "key": "k", "value": "v"}
INVALID: list[tuple[str, Message, str]] = [
    *(("Recall", pb.RecallRequest(**GOOD | fields), field) for fields, field in RECALL),
    *(
        (
            "RecallConversation",
            pb.RecallConversationRequest(**SEARCHED | fields),
            field,
        )
        for fields, field in SEARCH
    ),
    *(("Remember", pb.RememberRequest(**WRITTEN | fields), field) for fields, field in REMEMBER),
    *OTHERS,
]


@pytest.mark.parametrize(
    ("method", "request_", "field"), INVALID, ids=[f"{n}-{row[0]}-{row[2]}" for n, row in enumerate(INVALID)]
)
async def test_what_is_wrong_is_refused_by_the_name_of_its_field(
    stub: Any, method: str, request_: Message, field: str
) -> None:
    """X-1: INVALID_ARGUMENT, and nothing is stored."""
    code, reason, fields = await failure(getattr(stub, method)(request_))
    assert (code, reason) == (CODE.INVALID_ARGUMENT, "INVALID_FIELD")
    assert set(fields) == {field}
    listing = pb.ListMemoriesRequest(agent_id=AGENT, include_superseded=True)
    assert [memory.key for memory in (await stub.ListMemories(listing)).memories] == [KEY]


UNKNOWN = "nobody"
NUL = "a\0b"
ABSENT: list[tuple[str, Message]] = [
    ("Recall", pb.RecallRequest(agent_id=UNKNOWN, query="herons")),
    ("Recall", pb.RecallRequest(agent_id=NUL, query="herons")),
    ("Recall", pb.RecallRequest(agent_id=AGENT, contact_id=UNKNOWN, query="herons")),
    ("Recall", pb.RecallRequest(agent_id=AGENT, contact_id=NUL, query="herons")),
    ("RecallConversation", pb.RecallConversationRequest(conversation_id=UNKNOWN, **GOOD)),
    ("RecallConversation", pb.RecallConversationRequest(contact_id=UNKNOWN, **GOOD)),
    ("Remember", pb.RememberRequest(agent_id=UNKNOWN, key="k", value="v")),
    ("Remember", pb.RememberRequest(agent_id=AGENT, contact_id=UNKNOWN, key="k", value="v")),
    (
        "Remember",
        pb.RememberRequest(
            agent_id=AGENT, key="k", value="v", provenance=[REF(conversation_id="c", message_id=UNKNOWN)]
        ),
    ),
    ("GetMemory", pb.GetMemoryRequest(agent_id=AGENT, memory_id=UNKNOWN)),
    ("GetMemory", pb.GetMemoryRequest(agent_id=AGENT, memory_id=NUL)),
    ("GetMemoryByKey", pb.GetMemoryByKeyRequest(agent_id=AGENT, key="unknown")),
    ("GetMemoryByKey", pb.GetMemoryByKeyRequest(agent_id=AGENT, key="note.plain", as_of_time=stamp(YEAR_1))),
    ("ListMemories", pb.ListMemoriesRequest(agent_id=AGENT, contact_id=UNKNOWN)),
    ("ListContradictions", pb.ListContradictionsRequest(agent_id=UNKNOWN)),
    ("ForgetMemory", pb.ForgetMemoryRequest(agent_id=AGENT, memory_id=UNKNOWN)),
    ("UndoSupersession", pb.UndoSupersessionRequest(agent_id=AGENT, memory_id=UNKNOWN)),
    ("ListMemoryVersions", pb.ListMemoryVersionsRequest(agent_id=AGENT, memory_id=UNKNOWN)),
    ("ResolveContradiction", pb.ResolveContradictionRequest(agent_id=AGENT, contradiction_id=UNKNOWN)),
    (
        "AssemblePrompt",
        prompt_pb2.AssemblePromptRequest(agent_id=AGENT, conversation_id=UNKNOWN, message="m"),
    ),
]


@pytest.mark.parametrize(
    ("method", "request_"), ABSENT, ids=[f"{n}-{row[0]}" for n, row in enumerate(ABSENT)]
)
async def test_what_is_unknown_is_not_found(stub: Any, method: str, request_: Message) -> None:
    """X-1."""
    outcome = await failure(getattr(stub, method)(request_))
    assert outcome[:2] == (CODE.NOT_FOUND, "RESOURCE_NOT_FOUND")


async def test_page_tokens_are_of_their_listing(stub: Any, suite: Running) -> None:
    """X-1: another listing's, and a forged one, are refused."""
    other = await suite.stub(await suite.key(Role.OPERATOR, "paging"))
    await other.CreateAgent(conversations_pb2.CreateAgentRequest(agent_id=AGENT))
    for n in range(2):
        await other.Remember(pb.RememberRequest(agent_id=AGENT, key=f"k{n}", value="v"))
    request = pb.ListMemoriesRequest(agent_id=AGENT, page_size=1)
    request.page_token = (await other.ListMemories(request)).next_page_token
    assert (await other.ListMemories(request)).memories[0].key == "k1", "the positive control"
    forged = pb.ListMemoriesRequest(agent_id=AGENT, page_token="AAAA")
    narrowed = pb.ListMemoriesRequest(agent_id=AGENT, key_prefix="k", page_token=request.page_token)
    elsewhere = pb.ListContradictionsRequest(agent_id=AGENT, page_token=request.page_token)
    for call in (
        other.ListMemories(forged),
        other.ListMemories(narrowed),
        other.ListContradictions(elsewhere),
    ):
        assert await failure(call) == (CODE.INVALID_ARGUMENT, "INVALID_PAGE_TOKEN", ["page_token"])


# Moments and amounts at their ends


async def test_no_limit_is_the_default_and_the_greatest_is_a_hundred(stub: Any) -> None:
    """S-9."""
    for limit in (0, 1, 100):
        answer = await stub.Recall(pb.RecallRequest(limit=limit, **GOOD))
        assert [hit.memory.key for hit in answer.hits] == [KEY]


@pytest.mark.parametrize("seconds", [YEAR_1, YEAR_9999])
async def test_the_ends_of_time_are_moments_like_others(stub: Any, seconds: int) -> None:
    """S-8, S-12: as of them, and as the day from which a query counts."""
    answer = await stub.Recall(pb.RecallRequest(as_of_time=stamp(seconds), **GOOD))
    assert bool(answer.hits) == (seconds == YEAR_9999)
    for words in (
        "yesterday",
        "last week",
        "last year",
        "300 years ago",
        "on monday",
        "last month",
        "in 2024",
    ):
        search = pb.RecallConversationRequest(
            agent_id=AGENT,
            conversation_id="c",
            query=f"herons {words}",
            reference_time=stamp(seconds),
            filter=recall_pb2.MessageFilter(start_time=stamp(YEAR_1), end_time=stamp(YEAR_9999)),
        )
        assert len((await stub.RecallConversation(search)).hits) == 1


async def test_what_begins_at_the_end_of_time_is_kept_and_not_live(suite: Running) -> None:
    """S-3, S-8: a task has no later end than that."""
    stub = await suite.stub(await suite.key(Role.OPERATOR, "times"))
    await stub.CreateAgent(conversations_pb2.CreateAgentRequest(agent_id=AGENT))
    for key, kind in (("fact", resources_pb2.FACT_TYPE_FACT), ("task", TASK)):
        request = pb.RememberRequest(
            agent_id=AGENT, key=key, value="v", fact_type=kind, valid_from_time=stamp(YEAR_9999 - 60)
        )
        written = (await stub.Remember(request)).memory
        assert written.valid_from_time.seconds == YEAR_9999 - 60
        by_key = pb.GetMemoryByKeyRequest(agent_id=AGENT, key=key)
        assert (await failure(stub.GetMemoryByKey(by_key)))[0] is CODE.NOT_FOUND
        by_key.as_of_time.seconds = YEAR_9999 - 30
        assert (await stub.GetMemoryByKey(by_key)).memory.id == written.id


async def test_a_filter_that_nothing_passes_finds_nothing(stub: Any) -> None:
    """S-12: an end before its start is no error."""
    never = recall_pb2.MessageFilter(start_time=stamp(2), end_time=stamp(1))
    search = pb.RecallConversationRequest(conversation_id="c", filter=never, **GOOD)
    assert not (await stub.RecallConversation(search)).hits


# Bytes


@pytest.mark.parametrize(
    "sent",
    [
        b"\n\x03ada\x1a\x03\xed\xa0\x80",  # a lone surrogate in the query
        b"\n\x03ada\x1a\x02\xc3\x28",
        b"\n\x03ada\x1a\xff",
        b"\x1a",
        b"\xff" * 64,
    ],
    ids=["surrogate", "no UTF-8", "cut", "no length", "noise"],
)
async def test_bytes_that_are_no_request_are_refused_with_a_reason(suite: Running, sent: bytes) -> None:
    """X-1: an ErrorInfo, and no exception's text; a credential is asked for first."""
    async with grpc.aio.insecure_channel(f"127.0.0.1:{suite.port}") as channel:
        call: Any = channel.unary_unary("/palimpsest.gateway.v1.GatewayService/Recall")
        known = (("authorization", f"Bearer {suite.operator}"),)
        good = pb.RecallRequest(**GOOD).SerializeToString()
        answer = pb.RecallResponse.FromString(await call(good, metadata=known, timeout=10))
        assert len(answer.hits) == 1, "the positive control"
        for metadata, expected in (
            (known, (CODE.INVALID_ARGUMENT, "ERROR_REASON_INVALID_FIELD")),
            ((), (CODE.UNAUTHENTICATED, "ERROR_REASON_CREDENTIAL_INVALID")),
        ):
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await call(sent, metadata=metadata, timeout=10)
            status, info = Status(), ErrorInfo()
            trailing: dict[str, Any] = dict(caught.value.trailing_metadata() or ())
            status.ParseFromString(trailing["grpc-status-details-bin"])
            assert next(detail for detail in status.details if detail.Unpack(info))
            assert (caught.value.code(), info.reason) == expected
            assert "Decode" not in str(caught.value.details())
