"""Working memory between the wire and the domain."""

from __future__ import annotations

from typing import Any

from google.protobuf.json_format import ParseDict
from google.protobuf.struct_pb2 import Struct
from palimpsest.common.v1 import resources_pb2
from palimpsest.working.v1 import checkpoints_pb2, context_pb2, notes_pb2, prompt_pb2

from services.memory.episodic.app.working_ports import WorkingMemory
from services.memory.episodic.domain.blocks import (
    ContextBlock,
    ContextEntry,
    ContextHit,
    Kind,
    NewBlock,
    Owner,
)
from services.memory.episodic.domain.blocks_tools import Tool
from services.memory.episodic.domain.checkpoints import Handle, OpenTurn, Preview, Round, SavedCall
from services.memory.episodic.domain.prompts import SystemPrompt
from services.memory.episodic.domain.working import Edit, Notes, Task
from services.memory.episodic.rpc.convert import plain_struct, stamp_of


def owner_of(tenant: str, request: Any) -> Owner:
    """Whose blocks a request means, by agent_id and conversation_id."""
    return Owner(tenant=tenant, agent_id=request.agent_id, conversation_id=request.conversation_id)


def edit_of(request: notes_pb2.SetNotesRequest | context_pb2.SetContextRequest) -> Edit:
    """The change that a request asks for; clearing is replacing by nothing."""
    match request.WhichOneof("change"):
        case "append":
            return Edit(text=request.append, append=True)
        case "replace":
            return Edit(text=request.replace)
        case _:
            return Edit(text="")


def new_block(request: context_pb2.PutContextBlockRequest) -> NewBlock:
    """The block to put."""
    return NewBlock(
        label=request.label,
        description=request.description,
        kind=Kind(request.kind),
        max_tokens=request.max_tokens,
        content=request.content if request.HasField("content") else None,
    )


def round_of(request: checkpoints_pb2.SaveCheckpointRequest) -> Round:
    """The round to save."""
    return Round(
        turn_id=request.turn_id,
        number=request.round,
        calls=tuple(_call(call) for call in request.calls),
        handles=tuple(Handle(name=one.name, handle=one.handle) for one in request.handles),
    )


def _call(given: checkpoints_pb2.CheckpointedCall) -> SavedCall:
    result = Preview(content=given.result.content, is_error=given.result.is_error)
    return SavedCall(
        call_id=given.call.call_id,
        name=given.call.name,
        arguments=plain_struct(given.call.arguments),
        result=result if given.HasField("result") else None,
        said=given.said,
    )


def notes_proto(notes: Notes) -> notes_pb2.Notes:
    """As on the wire."""
    return notes_pb2.Notes(
        text=notes.text,
        token_count=notes.token_count,
        version=notes.version,
        update_time=stamp_of(notes.update_time) if notes.version else None,
    )


def task_proto(task: Task) -> notes_pb2.Task:
    """As on the wire."""
    return notes_pb2.Task(
        text=task.text, token_count=task.token_count, update_time=stamp_of(task.update_time)
    )


def checkpoint_proto(turn: OpenTurn) -> checkpoints_pb2.Checkpoint:
    """As on the wire."""
    checkpoint = turn.checkpoint
    return checkpoints_pb2.Checkpoint(
        turn_id=checkpoint.turn_id,
        round=checkpoint.round,
        calls=[_call_proto(call) for call in checkpoint.calls],
        handles=[
            checkpoints_pb2.SessionHandle(name=one.name, handle=one.handle) for one in checkpoint.handles
        ],
        create_time=stamp_of(checkpoint.create_time),
        update_time=stamp_of(checkpoint.update_time),
        expire_time=stamp_of(turn.expire_time),
        stale=turn.stale,
    )


def _call_proto(saved: SavedCall) -> checkpoints_pb2.CheckpointedCall:
    call = resources_pb2.ToolCall(call_id=saved.call_id, name=saved.name)
    if saved.arguments:
        call.arguments.CopyFrom(ParseDict(dict(saved.arguments), Struct()))
    result = None if saved.result is None else _preview_proto(saved.result)
    return checkpoints_pb2.CheckpointedCall(call=call, result=result, round=saved.round, said=saved.said)


def _preview_proto(preview: Preview) -> checkpoints_pb2.ResultPreview:
    return checkpoints_pb2.ResultPreview(content=preview.content, is_error=preview.is_error, cut=preview.cut)


def block_proto(block: ContextBlock) -> context_pb2.ContextBlock:
    """As on the wire."""
    return context_pb2.ContextBlock(
        label=block.label,
        description=block.description,
        kind=int(block.kind),  # type: ignore[arg-type]
        max_tokens=block.max_tokens,
        content=block.content,
        token_count=block.token_count,
        entry_count=block.entry_count,
        written_by=int(block.written_by),  # type: ignore[arg-type]
        create_time=stamp_of(block.create_time),
        update_time=stamp_of(block.update_time),
    )


def entry_proto(entry: ContextEntry) -> context_pb2.ContextEntry:
    """As on the wire."""
    return context_pb2.ContextEntry(
        label=entry.label,
        key=entry.key,
        title=entry.title,
        content=entry.content,
        token_count=entry.token_count,
        update_time=stamp_of(entry.update_time),
    )


def entry_listing(request: context_pb2.ListContextEntriesRequest) -> str:
    """Names a listing of entries with all that its pages must have in common."""
    return f"ListContextEntries {request.agent_id} {request.conversation_id} {request.label}"


def hit_proto(hit: ContextHit) -> context_pb2.ContextHit:
    """As on the wire."""
    return context_pb2.ContextHit(
        label=hit.label, key=hit.key, title=hit.title, excerpt=hit.excerpt, score=hit.score
    )


def tool_proto(tool: Tool) -> context_pb2.ToolDefinition:
    """As on the wire."""
    return context_pb2.ToolDefinition(
        name=tool.name,
        description=tool.description,
        input_schema=ParseDict(dict(tool.input_schema), Struct()),
    )


def prompt_proto(prompt: SystemPrompt) -> prompt_pb2.SystemPrompt:
    """As on the wire."""
    return prompt_pb2.SystemPrompt(
        text=prompt.text,
        token_count=prompt.token_count,
        revision=prompt.revision,
        create_time=stamp_of(prompt.create_time),
    )


def refresh_response(prompt: SystemPrompt | None) -> prompt_pb2.RefreshSystemPromptResponse:
    """The new prompt, if one was rendered."""
    return prompt_pb2.RefreshSystemPromptResponse(prompt=None if prompt is None else prompt_proto(prompt))


def memory_response(memory: WorkingMemory) -> prompt_pb2.GetWorkingMemoryResponse:
    """All of it."""
    return prompt_pb2.GetWorkingMemoryResponse(
        notes=notes_proto(memory.notes),
        task=None if memory.task is None else task_proto(memory.task),
        stale_turn=None if memory.turn is None else checkpoint_proto(memory.turn),
        loaded=map(entry_proto, memory.loaded),
    )
