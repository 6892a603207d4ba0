"""What the server says arrives whole, and enumerations are names both ways."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, get_args

import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from palimpsest.common.v1 import jobs_pb2, resources_pb2
from palimpsest.gateway.v1 import administration_pb2, conversations_pb2, memories_pb2, prompt_pb2

from palimpsest import models
from palimpsest.client import incoming, names, outgoing

CONVERSIONS: list[tuple[type[Message], Callable[[Any], object]]] = [
    (resources_pb2.Agent, incoming.agent),
    (resources_pb2.Contact, incoming.contact),
    (resources_pb2.Conversation, incoming.conversation),
    (resources_pb2.Message, incoming.message),
    (resources_pb2.Memory, incoming.memory),
    (conversations_pb2.RecordTurnResponse, incoming.recorded_turn),
    (conversations_pb2.IngestResponse, lambda proto: incoming.ingest_ack("c", proto)),
    (memories_pb2.RememberResponse, incoming.remembered),
    (memories_pb2.RecallResponse, incoming.recalled_memories),
    (memories_pb2.RecallConversationResponse, incoming.recalled_messages),
    (prompt_pb2.AssemblePromptResponse, incoming.prompt),
    (jobs_pb2.Job, incoming.job),
    (administration_pb2.WatchJobsResponse, incoming.job_update),
    (administration_pb2.GetStatusResponse, incoming.status),
    (administration_pb2.ApiKey, incoming.api_key),
]


def fill(message: Message, depth: int = 4) -> Message:
    """Gives every field a value that is not its default."""
    for field in message.DESCRIPTOR.fields:
        if field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
            if depth == 0:
                continue
            if field.message_type.full_name == "google.protobuf.Struct":
                getattr(message, field.name).update({"k": "v"})
            elif field.is_repeated:
                fill(getattr(message, field.name).add(), depth - 1)
            elif field.containing_oneof is None or message.WhichOneof(field.containing_oneof.name) is None:
                fill(getattr(message, field.name), depth - 1)
        elif field.containing_oneof is not None and message.WhichOneof(field.containing_oneof.name):
            continue
        else:
            value = {"string": "x", "bool": True, "float": 0.5, "enum": 1}.get(_kind(field), 7)
            if field.is_repeated:
                getattr(message, field.name).append(value)
            else:
                setattr(message, field.name, value)
    return message


def _kind(field: FieldDescriptor) -> str:
    return {
        FieldDescriptor.CPPTYPE_STRING: "string",
        FieldDescriptor.CPPTYPE_BOOL: "bool",
        FieldDescriptor.CPPTYPE_FLOAT: "float",
        FieldDescriptor.CPPTYPE_ENUM: "enum",
    }.get(field.cpp_type, "int")


def assert_nothing_lost(value: object, place: str) -> None:
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            assert_nothing_lost(getattr(value, field.name), f"{place}.{field.name}")
    elif isinstance(value, tuple):
        assert value, place
        for each in value:
            assert_nothing_lost(each, place)
    else:
        assert value not in ("", 0, False, None), place


@pytest.mark.parametrize(("kind", "convert"), CONVERSIONS, ids=[kind.__name__ for kind, _ in CONVERSIONS])
def test_every_field_arrives(kind: type[Message], convert: Callable[[Any], object]) -> None:
    """A field that is added to a message and not to its value fails this test."""
    proto = fill(kind())
    value = convert(proto)
    assert_nothing_lost(value, kind.__name__)
    there = {field.name for field in dataclasses.fields(value)}  # type: ignore[arg-type]
    assert {field.name for field in kind.DESCRIPTOR.fields} <= there


@pytest.mark.parametrize("kind", [models.Memory, models.Message, models.Job])
def test_what_the_server_leaves_out_is_none_or_empty(kind: type) -> None:
    convert = {models.Memory: incoming.memory, models.Message: incoming.message, models.Job: incoming.job}
    proto = {
        models.Memory: resources_pb2.Memory(),
        models.Message: resources_pb2.Message(),
        models.Job: jobs_pb2.Job(),
    }
    value = convert[kind](proto[kind])  # type: ignore[operator]
    assert value.create_time is None


@pytest.mark.parametrize(
    ("table", "literal"),
    [
        (names.ROLES, models.Role),
        (names.KINDS, models.MemoryKind),
        (names.FACT_TYPES, models.FactType),
        (names.SOURCES, models.MemorySource),
        (names.UNINDEXED, models.UnindexedState),
        (names.CHANNELS, models.Channel),
        (names.MODES, models.SearchMode),
        (names.SCOPES, models.SearchScope),
        (names.LAYERS, models.LayerKind),
        (names.JOB_STATES, models.JobState),
        (names.KEY_ROLES, models.KeyRole),
    ],
)
def test_names_are_those_of_the_protos(table: names.Names[Any], literal: Any) -> None:
    assert {table.name(table.number(name)) for name in get_args(literal)} == set(table._number_of)
    assert table.name(0) == ""
    assert table.name(99) == "99"
    assert table.optional(None) == 0


def test_a_part_of_a_newer_kind_is_left_out() -> None:
    message = resources_pb2.Message(parts=[resources_pb2.Part(), resources_pb2.Part(text="x")])
    assert incoming.message(message).parts == (models.TextPart("x"),)


@pytest.mark.parametrize(
    "token",
    [
        models.MessageToken(agent_id="a", conversation_id="c", sequence=3),
        models.MemoryToken(agent_id="a", memory_id="m", version=2),
    ],
)
def test_a_token_goes_back_as_it_came(token: models.FreshnessToken) -> None:
    proto = outgoing.token(token)
    response = memories_pb2.RememberResponse(token=proto)
    assert incoming.remembered(response).token == token
    assert outgoing.tokens([None, token]) == [proto]
