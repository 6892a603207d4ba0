"""Messages of WorkingMemoryService as values of the client."""

from __future__ import annotations

from google.protobuf.json_format import MessageToDict

from palimpsest import models
from palimpsest.client import names
from palimpsest.client.incoming import time_of, tool_call
from palimpsest.working.v1 import checkpoints_pb2, context_pb2, notes_pb2, prompt_pb2


def notes(proto: notes_pb2.Notes) -> models.Notes:
    """A scratchpad."""
    return models.Notes(
        text=proto.text,
        token_count=proto.token_count,
        version=proto.version,
        update_time=time_of(proto, "update_time"),
    )


def task(proto: notes_pb2.Task) -> models.Task:
    """An ongoing task."""
    return models.Task(
        text=proto.text, token_count=proto.token_count, update_time=time_of(proto, "update_time")
    )


def checkpoint(proto: checkpoints_pb2.Checkpoint) -> models.Checkpoint:
    """The record of an open turn."""
    return models.Checkpoint(
        turn_id=proto.turn_id,
        round=proto.round,
        calls=tuple(map(checkpointed_call, proto.calls)),
        handles=tuple(models.SessionHandle(name=one.name, handle=one.handle) for one in proto.handles),
        create_time=time_of(proto, "create_time"),
        update_time=time_of(proto, "update_time"),
        expire_time=time_of(proto, "expire_time"),
        stale=proto.stale,
    )


def checkpointed_call(proto: checkpoints_pb2.CheckpointedCall) -> models.CheckpointedCall:
    """A call of an open turn."""
    result = None
    if proto.HasField("result"):
        result = models.ResultPreview(
            content=proto.result.content, is_error=proto.result.is_error, cut=proto.result.cut
        )
    return models.CheckpointedCall(
        call=tool_call(proto.call), result=result, round=proto.round, said=proto.said
    )


def block(proto: context_pb2.ContextBlock) -> models.ContextBlock:
    """A context block."""
    return models.ContextBlock(
        label=proto.label,
        description=proto.description,
        kind=names.CONTEXTS.name(proto.kind),
        max_tokens=proto.max_tokens,
        content=proto.content,
        token_count=proto.token_count,
        entry_count=proto.entry_count,
        written_by=names.WRITERS.name(proto.written_by),
        create_time=time_of(proto, "create_time"),
        update_time=time_of(proto, "update_time"),
    )


def entry(proto: context_pb2.ContextEntry) -> models.ContextEntry:
    """An entry of a block."""
    return models.ContextEntry(
        label=proto.label,
        key=proto.key,
        title=proto.title,
        content=proto.content,
        token_count=proto.token_count,
        update_time=time_of(proto, "update_time"),
    )


def hit(proto: context_pb2.ContextHit) -> models.ContextHit:
    """An entry that was found."""
    return models.ContextHit(
        label=proto.label, key=proto.key, title=proto.title, excerpt=proto.excerpt, score=proto.score
    )


def tool(proto: context_pb2.ToolDefinition) -> models.ToolDefinition:
    """A tool that a block gives the model."""
    return models.ToolDefinition(
        name=proto.name, description=proto.description, input_schema=MessageToDict(proto.input_schema)
    )


def system_prompt(proto: prompt_pb2.SystemPrompt) -> models.SystemPrompt:
    """A frozen system prompt."""
    return models.SystemPrompt(
        text=proto.text,
        token_count=proto.token_count,
        revision=proto.revision,
        create_time=time_of(proto, "create_time"),
    )


def working_memory(proto: prompt_pb2.GetWorkingMemoryResponse) -> models.WorkingMemory:
    """What the next prompt shows."""
    return models.WorkingMemory(
        notes=notes(proto.notes),
        task=task(proto.task) if proto.HasField("task") else None,
        stale_turn=checkpoint(proto.stale_turn) if proto.HasField("stale_turn") else None,
        loaded=tuple(map(entry, proto.loaded)),
    )
