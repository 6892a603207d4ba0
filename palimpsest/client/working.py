"""Calls about notes, the ongoing task, open turns, and the frozen system prompt."""

from __future__ import annotations

from collections.abc import Sequence

from palimpsest import models
from palimpsest.client import incoming_working as incoming
from palimpsest.client import outgoing
from palimpsest.client.base import Calls
from palimpsest.working.v1 import checkpoints_pb2, notes_pb2, prompt_pb2


class WorkingCalls(Calls):
    """Working memory of a conversation."""

    async def notes(self, conversation_id: str) -> models.Notes:
        """Reads the notes; empty where none were ever made."""
        request = notes_pb2.GetNotesRequest(agent_id=self._agent, conversation_id=conversation_id)
        answer = await self._transport.call(self._transport.stubs.working.GetNotes, request)
        return incoming.notes(answer.notes)

    async def set_notes(self, conversation_id: str, text: str) -> models.Notes:
        """Puts the text in the place of the notes; "" clears them."""
        request = self._notes_request(conversation_id)
        if text:
            request.replace = text
        else:
            request.clear.SetInParent()
        return await self._change_notes(request, retry=True)

    async def append_notes(self, conversation_id: str, text: str) -> models.Notes:
        """Adds the text to the notes, on a line of its own. Never retried, as it would be added twice."""
        request = self._notes_request(conversation_id)
        request.append = text
        return await self._change_notes(request, retry=False)

    def _notes_request(self, conversation_id: str) -> notes_pb2.SetNotesRequest:
        return notes_pb2.SetNotesRequest(agent_id=self._agent, conversation_id=conversation_id)

    async def _change_notes(self, request: notes_pb2.SetNotesRequest, *, retry: bool) -> models.Notes:
        answer = await self._transport.call(self._transport.stubs.working.SetNotes, request, retry=retry)
        return incoming.notes(answer.notes)

    async def task(self, conversation_id: str) -> models.Task:
        """Reads the ongoing task; NotFoundError where there is none."""
        request = notes_pb2.GetTaskRequest(agent_id=self._agent, conversation_id=conversation_id)
        answer = await self._transport.call(self._transport.stubs.working.GetTask, request)
        return incoming.task(answer.task)

    async def set_task(self, conversation_id: str, text: str) -> models.Task:
        """Sets the ongoing task in the place of the one before."""
        request = notes_pb2.SetTaskRequest(agent_id=self._agent, conversation_id=conversation_id, text=text)
        answer = await self._transport.call(self._transport.stubs.working.SetTask, request)
        return incoming.task(answer.task)

    async def clear_task(self, conversation_id: str) -> None:
        """Ends the ongoing task; without one it changes nothing."""
        request = notes_pb2.ClearTaskRequest(agent_id=self._agent, conversation_id=conversation_id)
        await self._transport.call(self._transport.stubs.working.ClearTask, request)

    async def save_checkpoint(
        self,
        conversation_id: str,
        turn_id: str,
        round: int,
        calls: Sequence[models.CheckpointedCall],
        *,
        handles: Sequence[models.SessionHandle] = (),
    ) -> int:
        """Saves what the open turn has done, after each round of tool calls; how many calls it holds now."""
        request = checkpoints_pb2.SaveCheckpointRequest(
            agent_id=self._agent,
            conversation_id=conversation_id,
            turn_id=turn_id,
            round=round,
            calls=map(_checkpointed_call, calls),
            handles=[checkpoints_pb2.SessionHandle(name=one.name, handle=one.handle) for one in handles],
        )
        answer = await self._transport.call(self._transport.stubs.working.SaveCheckpoint, request)
        return answer.call_count

    async def checkpoint(self, conversation_id: str) -> models.Checkpoint:
        """Reads the record of the open turn; NotFoundError where there is none."""
        request = checkpoints_pb2.GetCheckpointRequest(agent_id=self._agent, conversation_id=conversation_id)
        answer = await self._transport.call(self._transport.stubs.working.GetCheckpoint, request)
        return incoming.checkpoint(answer.checkpoint)

    async def delete_checkpoint(self, conversation_id: str, turn_id: str = "") -> bool:
        """Deletes the record of the open turn (only of `turn_id`, if given); whether there was one."""
        request = checkpoints_pb2.DeleteCheckpointRequest(
            agent_id=self._agent, conversation_id=conversation_id, turn_id=turn_id
        )
        answer = await self._transport.call(self._transport.stubs.working.DeleteCheckpoint, request)
        return answer.deleted

    async def system_prompt(self, conversation_id: str) -> models.SystemPrompt:
        """The system prompt: the same, byte for byte, until it is refreshed."""
        request = prompt_pb2.GetSystemPromptRequest(agent_id=self._agent, conversation_id=conversation_id)
        answer = await self._transport.call(self._transport.stubs.working.GetSystemPrompt, request)
        return incoming.system_prompt(answer.prompt)

    async def refresh_system_prompt(self, conversation_id: str = "") -> models.SystemPrompt | None:
        """Renders the system prompt anew; without a conversation each of the agent's, at its next read."""
        request = prompt_pb2.RefreshSystemPromptRequest(agent_id=self._agent, conversation_id=conversation_id)
        answer = await self._transport.call(self._transport.stubs.working.RefreshSystemPrompt, request)
        return incoming.system_prompt(answer.prompt) if answer.HasField("prompt") else None

    async def working_memory(self, conversation_id: str) -> models.WorkingMemory:
        """What the next prompt shows of a conversation's working memory."""
        request = prompt_pb2.GetWorkingMemoryRequest(agent_id=self._agent, conversation_id=conversation_id)
        answer = await self._transport.call(self._transport.stubs.working.GetWorkingMemory, request)
        return incoming.working_memory(answer)


def _checkpointed_call(value: models.CheckpointedCall) -> checkpoints_pb2.CheckpointedCall:
    made = checkpoints_pb2.CheckpointedCall(call=outgoing.tool_call(value.call), said=value.said)
    if value.result is not None:
        made.result.content, made.result.is_error = value.result.content, value.result.is_error
        made.result.SetInParent()
    return made
