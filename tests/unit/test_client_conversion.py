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
from palimpsest.history.v1 import history_pb2, overlays_pb2, windows_pb2
from palimpsest.state.v1 import records_pb2, state_pb2
from palimpsest.working.v1 import checkpoints_pb2, context_pb2, notes_pb2
from palimpsest.working.v1 import prompt_pb2 as working_prompt_pb2

from palimpsest import models
from palimpsest.client import (
    documents,
    incoming,
    incoming_administration,
    incoming_history,
    incoming_working,
    names,
    outgoing,
)

CONVERSIONS: list[tuple[type[Message], Callable[[Any], object]]] = [
    (resources_pb2.Agent, incoming.agent),
    (resources_pb2.Contact, incoming.contact),
    (resources_pb2.Conversation, incoming.conversation),
    (resources_pb2.Message, incoming.message),
    (resources_pb2.Memory, incoming.memory),
    (conversations_pb2.RecordTurnResponse, incoming.recorded_turn),
    (conversations_pb2.IngestResponse, lambda proto: incoming.ingest_ack("c", proto)),
    (memories_pb2.RememberResponse, incoming.remembered),
    (memories_pb2.ListMemoryVersionsResponse, incoming.memory_history),
    (memories_pb2.UndoSupersessionResponse, incoming.restored),
    (resources_pb2.Contradiction, incoming.contradiction),
    (memories_pb2.RecallResponse, incoming.recalled_memories),
    (memories_pb2.RecallConversationResponse, incoming.recalled_messages),
    (prompt_pb2.AssemblePromptResponse, incoming.prompt),
    (jobs_pb2.Job, incoming_administration.job),
    (administration_pb2.WatchJobsResponse, incoming_administration.job_update),
    (administration_pb2.GetStatusResponse, incoming_administration.status),
    (administration_pb2.ApiKey, incoming_administration.api_key),
    (overlays_pb2.Overlay, incoming_history.overlay),
    (overlays_pb2.GetCoverageResponse, incoming_history.coverage),
    (windows_pb2.GetWindowResponse, incoming_history.window),
    (history_pb2.Branch, incoming_history.branch),
    (history_pb2.DerivedProgress, incoming_history.progress),
    (history_pb2.CallTokens, incoming_history.call_tokens),
    (history_pb2.UsageRow, incoming_history.usage_row),
    (notes_pb2.Notes, incoming_working.notes),
    (notes_pb2.Task, incoming_working.task),
    (checkpoints_pb2.Checkpoint, incoming_working.checkpoint),
    (context_pb2.ContextBlock, incoming_working.block),
    (context_pb2.ContextEntry, incoming_working.entry),
    (context_pb2.ContextHit, incoming_working.hit),
    (context_pb2.ToolDefinition, incoming_working.tool),
    (working_prompt_pb2.SystemPrompt, incoming_working.system_prompt),
    (working_prompt_pb2.GetWorkingMemoryResponse, incoming_working.working_memory),
    (state_pb2.StateDocument, lambda proto: documents.document(proto, created=True)),
    (state_pb2.WatchStateResponse, documents.change),
    (records_pb2.Collection, documents.collection),
    (records_pb2.Record, documents.record),
    (records_pb2.PutRecordResponse, documents.stored_record),
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
    convert = {
        models.Memory: incoming.memory,
        models.Message: incoming.message,
        models.Job: incoming_administration.job,
    }
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
        (names.DATA_FLOWS, models.DataFlow),
        (names.PROVIDERS, models.Provider),
        (names.MODES, models.SearchMode),
        (names.SCOPES, models.SearchScope),
        (names.LAYERS, models.LayerKind),
        (names.JOB_STATES, models.JobState),
        (names.KEY_ROLES, models.KeyRole),
        (names.KEY_CHANGES, models.KeyChangeKind),
        (names.WINDOWS, models.WindowMode),
        (names.CONTEXTS, models.ContextKind),
        (names.WRITERS, models.ContextWriter),
        (names.FIELDS, models.FieldType),
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


def test_each_kind_of_event_arrives_with_its_token() -> None:
    for kind in ("message", "overlay_change", "progress"):
        proto = history_pb2.WatchConversationResponse(resume_token="t")
        fill(getattr(proto, kind))
        getattr(proto, kind).SetInParent()
        event = incoming_history.event(proto)
        assert event is not None
        assert_nothing_lost(getattr(event, kind), kind)
        assert event.resume_token == "t"
        others = {"message", "overlay_change", "progress"} - {kind}
        assert all(getattr(event, other) is None for other in others)
    assert incoming_history.event(history_pb2.WatchConversationResponse()) is None, "of a newer kind"


def test_a_rendered_range_without_an_overlay_has_none() -> None:
    proto = history_pb2.RenderConversationResponse(text="x")
    fill(proto.ranges.add())
    proto.ranges.add().messages.add(id="m")
    covered, plain = incoming_history.rendered_page(proto).ranges
    assert_nothing_lost(covered, "covered")
    assert (plain.overlay, plain.folded, plain.messages[0].id) == (None, (), "m")


def test_what_is_not_there_is_none() -> None:
    memory = incoming_working.working_memory(working_prompt_pb2.GetWorkingMemoryResponse())
    assert (memory.task, memory.stale_turn, memory.loaded, memory.notes.text) == (None, None, (), "")
    call = incoming_working.checkpointed_call(checkpoints_pb2.CheckpointedCall())
    assert call.result is None
