"""Building the indexes of a tenant again from the canonical rows, while they serve (SPEC SV-2)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace

import structlog

from services.kit.context import act_as
from services.kit.errors import DataFlowRefused, NotFound, PalimpsestError
from services.kit.times import Clock
from services.memory.semantic.app.filling import Replica, worker
from services.memory.semantic.app.generations import Generations
from services.memory.semantic.app.indexing import Indexer, Item, MemoryItem, MessageItem
from services.memory.semantic.app.reindex_ports import (
    Canonical,
    Position,
    Reindexes,
    Reindexing,
    ReindexState,
    lease_of,
)
from services.memory.semantic.app.strangers import Strangers

STEP = 64
"""Items indexed at a time, as many as a batch of jobs has: what a fresh write may have to wait behind."""
PAGE = 1000
POLL_SECONDS = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """Items of one agent, and where the run is once they are indexed."""

    items: Sequence[Item]
    position: Position


class Reindexer:
    """Takes one run at a time, whose ever it is, and does it in steps; each is kept when it is done.

    Every item is indexed anew, words and vectors, in place: recall finds what it found before throughout.
    What the indexes hold of memories that are gone is taken out at the end.
    """

    def __init__(
        self,
        *,
        reindexes: Reindexes,
        canonical: Canonical,
        generations: Generations,
        indexer: Indexer,
        strangers: Strangers,
        replica: Replica,
        clock: Clock,
    ) -> None:
        self._reindexes = reindexes
        self._canonical = canonical
        self._generations = generations
        self._indexer = indexer
        self._strangers = strangers
        self._replica = replica
        self._clock = clock
        self._awake = asyncio.Event()
        self._log = structlog.get_logger("reindex")

    async def start(self, tenant: str, agent_id: str) -> Reindexing:
        """Starts a run; the one that is running already, if there is one."""
        run = await self._reindexes.start(tenant, agent_id, self._clock())
        self._awake.set()
        return run

    async def get(self, tenant: str, id_: str) -> Reindexing:
        """A run, the newest without an id. Raises NotFound."""
        found = await self._reindexes.get(tenant, id_)
        if found is None:
            raise NotFound("reindex", id_)
        return found

    async def run(self) -> None:
        """Works on what is running until cancelled; what is interrupted goes on later."""
        while True:
            self._awake.clear()
            try:
                for run in await self._reindexes.running():
                    await self._attempt(run)
            except PalimpsestError as error:
                self._log.warning("reindexes_unknown", reason=error.reason)
                await asyncio.sleep(POLL_SECONDS)
            await self._sleep()

    async def _attempt(self, run: Reindexing) -> None:
        """What interrupts one tenant's run is no reason to leave the others' alone."""
        try:
            if await self._replica.take(lease_of(run.tenant)):
                await self._work(run)
                await self._replica.give(lease_of(run.tenant))
        except PalimpsestError as error:
            self._log.warning("reindex_interrupted", reason=error.reason)
            await asyncio.sleep(POLL_SECONDS)

    async def _work(self, run: Reindexing) -> None:
        """Does a run to its end, or until it is somebody else's."""
        async for step in self._steps(run):
            try:
                with act_as(worker(run.tenant, step.position.agent_id)):
                    await self._indexer.index(run.tenant, step.position.agent_id, step.items, again=True)
            except DataFlowRefused as error:  # S-15: what must not leave stays as it is
                self._log.warning("reindex_step_refused", reason=error.reason)
            run = replace(run, done=run.done + len(step.items), position=step.position)
            if not await self._kept(run):
                return
        await self._clean(run)
        finished = replace(run, state=ReindexState.DONE, finished=self._clock())
        if await self._kept(finished):
            self._log.info("reindexed", items=run.done)

    async def _kept(self, run: Reindexing) -> bool:
        return await self._replica.take(lease_of(run.tenant)) and await self._reindexes.advance(
            run, self._replica.name, self._clock()
        )

    async def _steps(self, run: Reindexing) -> AsyncIterator[_Step]:
        """What is left to be done, from the run's position on."""
        agents = [run.agent_id] if run.agent_id else await self._canonical.agents(run.tenant)
        for agent_id in agents:
            if agent_id < run.position.agent_id:
                continue
            at = run.position if agent_id == run.position.agent_id else Position(agent_id=agent_id)
            if not at.messages_done:
                async for step in self._message_steps(run.tenant, at):
                    yield step
                at = Position(agent_id=agent_id, messages_done=True)
            if not at.memories_done:
                async for step in self._memory_steps(run.tenant, at):
                    yield step
                at = Position(agent_id=agent_id, messages_done=True, memories_done=True)
            async for step in self._document_steps(run.tenant, at):
                yield step

    async def _message_steps(self, tenant: str, at: Position) -> AsyncIterator[_Step]:
        items: list[Item] = []
        async for conversation_id, sequence in self._messages(tenant, at):
            items.append(MessageItem(conversation_id=conversation_id, sequence=sequence))
            at = replace(at, conversation_id=conversation_id, sequence=sequence)
            if len(items) == STEP:
                yield _Step(items=items, position=at)
                items = []
        if items:
            yield _Step(items=items, position=at)

    async def _messages(self, tenant: str, at: Position) -> AsyncIterator[tuple[str, int]]:
        conversation_id, done = at.conversation_id, at.sequence
        while True:
            page = await self._canonical.conversations(tenant, at.agent_id, conversation_id, PAGE)
            for found, highest in page:
                for sequence in range((done if found == conversation_id else 0) + 1, highest + 1):
                    yield found, sequence
            if len(page) < PAGE:
                return
            conversation_id, done = page[-1]

    async def _memory_steps(self, tenant: str, at: Position) -> AsyncIterator[_Step]:
        while page := await self._canonical.memories(tenant, at.agent_id, at.number, STEP):
            at = replace(at, number=page[-1][0])
            yield _Step(items=[MemoryItem(memory_id=memory_id) for _, memory_id in page], position=at)

    async def _document_steps(self, tenant: str, at: Position) -> AsyncIterator[_Step]:
        """By their sources: what is written at once is read at once."""
        while page := await self._canonical.documents(tenant, at.agent_id, at.document_key, STEP):
            at = replace(at, document_key=page[-1][0])
            yield _Step(items=[source for _, source in page], position=at)

    async def _clean(self, run: Reindexing) -> None:
        """Takes out what is left of items that are gone, or are in another class by now."""
        for bucket in await self._strangers.buckets():
            theirs = bucket.tenant == run.tenant and run.agent_id in ("", bucket.agent)
            if theirs and self._strangers.sees_to(bucket.content):
                if not await self._replica.keep(lease_of(run.tenant)):
                    return  # whoever has it now does this too
                for generation in self._generations.written:
                    await self._strangers.take_out_of(generation, bucket)

    async def _sleep(self) -> None:
        try:
            async with asyncio.timeout(POLL_SECONDS):
                await self._awake.wait()
        except TimeoutError:
            return
