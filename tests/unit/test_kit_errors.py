"""Reasons, statuses, page tokens, identity tokens (SPEC X-1, SV-6)."""

from __future__ import annotations

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from palimpsest.common.v1 import errors_pb2
from palimpsest.gateway.v1 import conversations_pb2, memories_pb2

from services.kit import errors, paging
from services.kit.errors import (
    CredentialInvalid,
    DependencyDown,
    InvalidPageToken,
    InvalidRequest,
    NotAllowed,
    NotFound,
    Overloaded,
    PalimpsestError,
    Reason,
)
from services.kit.identity import Principal, Role, TokenSigner, TokenVerifier, bearer_of
from services.kit.ids import keyed_hash, new_id
from services.kit.status import CODE_OF_REASON, DETAILS_KEY, REASON_PREFIX, from_rpc_error, to_status
from services.kit.validation import check_request

KEY = b"k" * 32
ANYONE = Principal(tenant="acme", role=Role.WRITER)


def rpc_error(code: grpc.StatusCode, details: bytes | None = None) -> grpc.aio.AioRpcError:
    trailing = grpc.aio.Metadata(*([(DETAILS_KEY, details)] if details is not None else []))
    return grpc.aio.AioRpcError(code, grpc.aio.Metadata(), trailing)


def test_reasons_are_those_of_the_contract_and_each_has_a_code() -> None:
    in_protos = {name.removeprefix(REASON_PREFIX) for name, _ in errors_pb2.ErrorReason.items()} - {
        "UNSPECIFIED"
    }
    assert {reason.value for reason in Reason} == in_protos
    assert set(CODE_OF_REASON) == set(Reason)


def test_every_error_survives_the_wire() -> None:
    kinds = [k for k in vars(errors).values() if isinstance(k, type) and issubclass(k, PalimpsestError)]
    assert len(kinds) > 15
    for kind in kinds:
        error = kind.__new__(kind)
        problem = errors.FieldProblem(field="messages[3].parts[0].text", description="too long")
        PalimpsestError.__init__(error, "why", fields=[problem], metadata={"limit": "5"}, retry_after=0.25)
        status = to_status(error)
        back = from_rpc_error(rpc_error(CODE_OF_REASON[kind.reason], status.SerializeToString()))
        assert (back.reason, back.message, back.fields) == (kind.reason, "why", (problem,))
        assert (back.metadata, back.retry_after) == ({"limit": "5"}, 0.25)


def test_a_foreign_status_is_judged_by_its_code() -> None:
    assert isinstance(from_rpc_error(rpc_error(grpc.StatusCode.UNAVAILABLE)), DependencyDown)
    assert from_rpc_error(rpc_error(grpc.StatusCode.DATA_LOSS)).reason is Reason.INTERNAL
    assert (
        from_rpc_error(rpc_error(grpc.StatusCode.UNAVAILABLE, b"\xff\xff")).reason is Reason.DEPENDENCY_DOWN
    )


def test_details_that_cannot_be_read_are_none() -> None:
    status = to_status(NotFound("agent", "ada"))
    code = CODE_OF_REASON[Reason.RESOURCE_NOT_FOUND]
    assert isinstance(from_rpc_error(rpc_error(code, status.SerializeToString())), NotFound)
    status.details[0].value = b"\xff\xff\xff"
    for judged, reason in (
        (code, Reason.INTERNAL),
        (grpc.StatusCode.UNAVAILABLE, Reason.DEPENDENCY_DOWN),
    ):
        assert from_rpc_error(rpc_error(judged, status.SerializeToString())).reason is reason


def test_the_default_message_is_the_docstring() -> None:
    assert Overloaded(retry_after=1).message == "A queue is full; try again later."


def test_violations_name_the_path_of_the_field() -> None:
    request = conversations_pb2.IngestRequest(agent_id="a", conversation_id="c")
    request.messages.add(role=1, id="spaces are bad").parts.add()
    with pytest.raises(InvalidRequest) as caught:
        check_request(request, ANYONE)
    assert {p.field for p in caught.value.fields} == {"messages[0].id", "messages[0].parts[0].kind"}


def test_an_agent_is_found_wherever_a_request_names_it() -> None:
    limited = Principal(tenant="acme", role=Role.ADMIN, agents=frozenset({"ada"}))
    query = memories_pb2.RecallRequest(agent_id="ada", query="tea")
    check_request(query, limited)
    query.agent_id = "bob"
    waiting = memories_pb2.RecallRequest(agent_id="ada", query="tea")
    token = waiting.wait_for.add(agent_id="bob")
    token.memory.memory_id, token.memory.version = "m", 1
    update = conversations_pb2.UpdateAgentRequest()
    update.agent.id = "bob"
    update.update_mask.paths.append("display_name")
    for request in (query, update, waiting):
        with pytest.raises(NotAllowed):
            check_request(request, limited)
        check_request(request, ANYONE)


@given(st.lists(st.one_of(st.text(), st.integers(), st.floats(allow_nan=False)), max_size=4))
def test_page_tokens_come_back_whole_and_only_to_their_listing(position: list[str | int | float]) -> None:
    token = paging.encode("ListMessages:a", tuple(position))
    assert paging.decode("ListMessages:a", token) == tuple(position)
    with pytest.raises(InvalidPageToken):
        paging.decode("ListMessages:b", token)


@given(st.text(min_size=1))
def test_other_page_tokens_are_refused(token: str) -> None:
    with pytest.raises(InvalidPageToken):
        paging.decode("ListMessages:a", token)


def test_the_first_page_has_no_token() -> None:
    assert paging.decode("x", "") is None
    assert [paging.page_size(n) for n in (0, 7, 1000)] == [100, 7, 1000]


async def test_a_token_says_who_is_calling_and_whom() -> None:
    principal = Principal(tenant="acme", role=Role.READER, agents=frozenset({"a", "b"}), subject="key-1")
    token = TokenSigner(KEY).mint(principal, "semantic")
    metadata = {"authorization": f"Bearer {token}"}
    assert await TokenVerifier(KEY, "semantic").authenticate(metadata) == principal
    for wrong in (TokenVerifier(KEY, "episodic"), TokenVerifier(b"x" * 32, "semantic")):
        with pytest.raises(CredentialInvalid):
            await wrong.authenticate(metadata)


async def test_a_token_lives_a_minute_and_is_renewed_before() -> None:
    moment = [1_000_000.0]
    signer = TokenSigner(KEY, clock=lambda: moment[0])
    verifier = TokenVerifier(KEY, "semantic", clock=lambda: moment[0])
    first = signer.mint(ANYONE, "semantic")
    assert signer.mint(ANYONE, "semantic") == first
    moment[0] += 59
    await verifier.authenticate({"authorization": f"Bearer {first}"})
    assert signer.mint(ANYONE, "semantic") != first
    moment[0] += 2
    for fresh in (verifier, TokenVerifier(KEY, "semantic", clock=lambda: moment[0])):
        with pytest.raises(CredentialInvalid):
            await fresh.authenticate({"authorization": f"Bearer {first}"})


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer ", "bearer", "BearerToken x", "Basic abc"])
def test_other_headers_are_no_credential(header: str) -> None:
    with pytest.raises(CredentialInvalid):
        bearer_of({"authorization": header})


@pytest.mark.parametrize("header", ["Bearer x", "bearer x", "BEARER x"])
def test_the_word_before_a_credential_has_no_case(header: str) -> None:
    assert bearer_of({"authorization": header}) == "x"


async def test_an_unsigned_token_is_refused() -> None:
    unsigned = (
        "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.eyJhdWQiOiJzZW1hbnRpYyIsImV4cCI6OTk5OTk5OTk5OSwiaWF0IjoxfQ."
    )
    with pytest.raises(CredentialInvalid):
        await TokenVerifier(KEY, "semantic").authenticate({"authorization": f"Bearer {unsigned}"})


def test_ids_are_distinct_and_hashes_do_not_run_together() -> None:
    assert len({new_id() for _ in range(1000)}) == 1000
    assert len(new_id()) == 26
    assert keyed_hash(KEY, "ab", "c") != keyed_hash(KEY, "a", "bc") != keyed_hash(b"other", "a", "bc")
    assert len(keyed_hash(KEY, "x")) == 32
