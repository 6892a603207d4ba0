"""Use cases on notes and the ongoing task (SPEC W-1, W-2)."""

from __future__ import annotations

from services.kit.times import Clock, to_micros
from services.memory.episodic.app.working_ports import NoteStore, TaskStore
from services.memory.episodic.domain.checks import check_text
from services.memory.episodic.domain.model import ConversationKey
from services.memory.episodic.domain.working import Edit, Notes, Task, WorkingLimits, count_within


class NotesAndTasks:
    """What a conversation has noted, and what it is about to get done."""

    def __init__(self, notes: NoteStore, tasks: TaskStore, clock: Clock, limits: WorkingLimits) -> None:
        self._notes = notes
        self._tasks = tasks
        self._clock = clock
        self._limits = limits

    async def notes(self, key: ConversationKey) -> Notes:
        """Empty where nothing was noted. Raises NotFound."""
        return await self._notes.get(key)

    async def edit_notes(self, key: ConversationKey, edit: Edit) -> Notes:
        """The notes after the change. Raises InvalidField, NotFound, LimitExceeded."""
        check_text("append" if edit.append else "replace", edit.text)
        return await self._notes.edit(
            key, edit, most_tokens=self._limits.notes_tokens, now=to_micros(self._clock())
        )

    async def task(self, key: ConversationKey) -> Task:
        """Raises NotFound, also where there is none."""
        return await self._tasks.get(key)

    async def set_task(self, key: ConversationKey, text: str) -> Task:
        """In the place of the one before. Raises InvalidField, NotFound, LimitExceeded."""
        check_text("text", text)
        task = Task(
            text=text,
            token_count=count_within("the task", text, self._limits.task_tokens),
            update_time=to_micros(self._clock()),
        )
        await self._tasks.set(key, task)
        return task

    async def clear_task(self, key: ConversationKey) -> None:
        """No change where there is none. Raises NotFound."""
        await self._tasks.clear(key)
