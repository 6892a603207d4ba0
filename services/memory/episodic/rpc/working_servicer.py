"""WorkingMemoryService: convert, await the use case, convert back."""

from __future__ import annotations

from functools import partial
from typing import Any

from palimpsest.working.v1 import (
    checkpoints_pb2,
    context_pb2,
    notes_pb2,
    prompt_pb2,
    working_pb2,
    working_pb2_grpc,
)

from services.kit import paging
from services.kit.context import current_principal
from services.kit.serving import Face, roles_of
from services.memory.episodic.app.blocks import Blocks
from services.memory.episodic.app.checkpoints import Checkpoints
from services.memory.episodic.app.notes import NotesAndTasks
from services.memory.episodic.app.prompts import SystemPrompts
from services.memory.episodic.app.working import Working
from services.memory.episodic.rpc import convert, working_convert

SERVICE = working_pb2.DESCRIPTOR.services_by_name["WorkingMemoryService"]

Context = Any


def face(
    *,
    notes: NotesAndTasks,
    checkpoints: Checkpoints,
    blocks: Blocks,
    prompts: SystemPrompts,
    working: Working,
) -> Face:
    """The service as it is served."""
    servicer = WorkingMemoryServicer(
        notes=notes, checkpoints=checkpoints, blocks=blocks, prompts=prompts, working=working
    )
    return Face(
        name=SERVICE.full_name,
        add=partial(working_pb2_grpc.add_WorkingMemoryServiceServicer_to_server, servicer),
        roles=roles_of(SERVICE),
    )


def _tenant() -> str:
    return current_principal().tenant


class WorkingMemoryServicer(working_pb2_grpc.WorkingMemoryServiceServicer):
    """WorkingMemoryService over the use cases."""

    def __init__(
        self,
        *,
        notes: NotesAndTasks,
        checkpoints: Checkpoints,
        blocks: Blocks,
        prompts: SystemPrompts,
        working: Working,
    ) -> None:
        self._notes = notes
        self._checkpoints = checkpoints
        self._blocks = blocks
        self._prompts = prompts
        self._working = working

    async def GetNotes(
        self, request: notes_pb2.GetNotesRequest, context: Context
    ) -> notes_pb2.GetNotesResponse:
        """See the proto."""
        notes = await self._notes.notes(convert.key_of(_tenant(), request))
        return notes_pb2.GetNotesResponse(notes=working_convert.notes_proto(notes))

    async def SetNotes(
        self, request: notes_pb2.SetNotesRequest, context: Context
    ) -> notes_pb2.SetNotesResponse:
        """See the proto."""
        notes = await self._notes.edit_notes(
            convert.key_of(_tenant(), request), working_convert.edit_of(request)
        )
        return notes_pb2.SetNotesResponse(notes=working_convert.notes_proto(notes))

    async def GetTask(self, request: notes_pb2.GetTaskRequest, context: Context) -> notes_pb2.GetTaskResponse:
        """See the proto."""
        task = await self._notes.task(convert.key_of(_tenant(), request))
        return notes_pb2.GetTaskResponse(task=working_convert.task_proto(task))

    async def SetTask(self, request: notes_pb2.SetTaskRequest, context: Context) -> notes_pb2.SetTaskResponse:
        """See the proto."""
        task = await self._notes.set_task(convert.key_of(_tenant(), request), request.text)
        return notes_pb2.SetTaskResponse(task=working_convert.task_proto(task))

    async def ClearTask(
        self, request: notes_pb2.ClearTaskRequest, context: Context
    ) -> notes_pb2.ClearTaskResponse:
        """See the proto."""
        await self._notes.clear_task(convert.key_of(_tenant(), request))
        return notes_pb2.ClearTaskResponse()

    async def SaveCheckpoint(
        self, request: checkpoints_pb2.SaveCheckpointRequest, context: Context
    ) -> checkpoints_pb2.SaveCheckpointResponse:
        """See the proto."""
        saved = await self._checkpoints.save(
            convert.key_of(_tenant(), request), working_convert.round_of(request)
        )
        return checkpoints_pb2.SaveCheckpointResponse(
            call_count=saved.call_count, update_time=convert.stamp_of(saved.update_time)
        )

    async def GetCheckpoint(
        self, request: checkpoints_pb2.GetCheckpointRequest, context: Context
    ) -> checkpoints_pb2.GetCheckpointResponse:
        """See the proto."""
        turn = await self._checkpoints.get(convert.key_of(_tenant(), request))
        return checkpoints_pb2.GetCheckpointResponse(checkpoint=working_convert.checkpoint_proto(turn))

    async def DeleteCheckpoint(
        self, request: checkpoints_pb2.DeleteCheckpointRequest, context: Context
    ) -> checkpoints_pb2.DeleteCheckpointResponse:
        """See the proto."""
        deleted = await self._checkpoints.delete(convert.key_of(_tenant(), request), request.turn_id)
        return checkpoints_pb2.DeleteCheckpointResponse(deleted=deleted)

    async def PutContextBlock(
        self, request: context_pb2.PutContextBlockRequest, context: Context
    ) -> context_pb2.PutContextBlockResponse:
        """See the proto."""
        block = await self._blocks.put(
            working_convert.owner_of(_tenant(), request), working_convert.new_block(request)
        )
        return context_pb2.PutContextBlockResponse(block=working_convert.block_proto(block))

    async def GetContextBlock(
        self, request: context_pb2.GetContextBlockRequest, context: Context
    ) -> context_pb2.GetContextBlockResponse:
        """See the proto."""
        block = await self._blocks.get(working_convert.owner_of(_tenant(), request), request.label)
        return context_pb2.GetContextBlockResponse(block=working_convert.block_proto(block))

    async def ListContextBlocks(
        self, request: context_pb2.ListContextBlocksRequest, context: Context
    ) -> context_pb2.ListContextBlocksResponse:
        """See the proto."""
        blocks = await self._blocks.list(working_convert.owner_of(_tenant(), request))
        return context_pb2.ListContextBlocksResponse(blocks=map(working_convert.block_proto, blocks))

    async def DeleteContextBlock(
        self, request: context_pb2.DeleteContextBlockRequest, context: Context
    ) -> context_pb2.DeleteContextBlockResponse:
        """See the proto."""
        deleted = await self._blocks.delete(working_convert.owner_of(_tenant(), request), request.label)
        return context_pb2.DeleteContextBlockResponse(deleted=deleted)

    async def SetContext(
        self, request: context_pb2.SetContextRequest, context: Context
    ) -> context_pb2.SetContextResponse:
        """See the proto."""
        block = await self._blocks.edit(
            working_convert.owner_of(_tenant(), request), request.label, working_convert.edit_of(request)
        )
        return context_pb2.SetContextResponse(block=working_convert.block_proto(block))

    async def PutContextEntry(
        self, request: context_pb2.PutContextEntryRequest, context: Context
    ) -> context_pb2.PutContextEntryResponse:
        """See the proto."""
        entry = await self._blocks.put_entry(
            working_convert.owner_of(_tenant(), request),
            request.label,
            request.key,
            request.title,
            request.content,
        )
        return context_pb2.PutContextEntryResponse(entry=working_convert.entry_proto(entry))

    async def GetContextEntry(
        self, request: context_pb2.GetContextEntryRequest, context: Context
    ) -> context_pb2.GetContextEntryResponse:
        """See the proto."""
        entry = await self._blocks.get_entry(
            working_convert.owner_of(_tenant(), request), request.label, request.key
        )
        return context_pb2.GetContextEntryResponse(entry=working_convert.entry_proto(entry))

    async def DeleteContextEntry(
        self, request: context_pb2.DeleteContextEntryRequest, context: Context
    ) -> context_pb2.DeleteContextEntryResponse:
        """See the proto."""
        deleted = await self._blocks.delete_entry(
            working_convert.owner_of(_tenant(), request), request.label, request.key
        )
        return context_pb2.DeleteContextEntryResponse(deleted=deleted)

    async def ListContextEntries(
        self, request: context_pb2.ListContextEntriesRequest, context: Context
    ) -> context_pb2.ListContextEntriesResponse:
        """See the proto."""
        listing = working_convert.entry_listing(request)
        page = await self._blocks.list_entries(
            working_convert.owner_of(_tenant(), request),
            request.label,
            limit=paging.page_size(request.page_size),
            after=paging.text_position(listing, request.page_token),
        )
        return context_pb2.ListContextEntriesResponse(
            entries=map(working_convert.entry_proto, page.items),
            next_page_token=paging.next_token(listing, page.last),
        )

    async def SearchContext(
        self, request: context_pb2.SearchContextRequest, context: Context
    ) -> context_pb2.SearchContextResponse:
        """See the proto."""
        hits = await self._blocks.search(
            working_convert.owner_of(_tenant(), request), request.label, request.query, request.limit
        )
        return context_pb2.SearchContextResponse(hits=map(working_convert.hit_proto, hits))

    async def LoadContext(
        self, request: context_pb2.LoadContextRequest, context: Context
    ) -> context_pb2.LoadContextResponse:
        """See the proto."""
        entry = await self._blocks.load(convert.key_of(_tenant(), request), request.label, request.key)
        return context_pb2.LoadContextResponse(entry=working_convert.entry_proto(entry))

    async def UnloadContext(
        self, request: context_pb2.UnloadContextRequest, context: Context
    ) -> context_pb2.UnloadContextResponse:
        """See the proto."""
        unloaded = await self._blocks.unload(convert.key_of(_tenant(), request), request.label, request.key)
        return context_pb2.UnloadContextResponse(unloaded=unloaded)

    async def ListContextTools(
        self, request: context_pb2.ListContextToolsRequest, context: Context
    ) -> context_pb2.ListContextToolsResponse:
        """See the proto."""
        tools = await self._blocks.tools(working_convert.owner_of(_tenant(), request))
        return context_pb2.ListContextToolsResponse(tools=map(working_convert.tool_proto, tools))

    async def GetSystemPrompt(
        self, request: prompt_pb2.GetSystemPromptRequest, context: Context
    ) -> prompt_pb2.GetSystemPromptResponse:
        """See the proto."""
        prompt = await self._prompts.get(convert.key_of(_tenant(), request))
        return prompt_pb2.GetSystemPromptResponse(prompt=working_convert.prompt_proto(prompt))

    async def RefreshSystemPrompt(
        self, request: prompt_pb2.RefreshSystemPromptRequest, context: Context
    ) -> prompt_pb2.RefreshSystemPromptResponse:
        """See the proto."""
        prompt = await self._prompts.refresh(convert.key_of(_tenant(), request))
        return working_convert.refresh_response(prompt)

    async def GetWorkingMemory(
        self, request: prompt_pb2.GetWorkingMemoryRequest, context: Context
    ) -> prompt_pb2.GetWorkingMemoryResponse:
        """See the proto."""
        memory = await self._working.read(convert.key_of(_tenant(), request))
        return working_convert.memory_response(memory)
