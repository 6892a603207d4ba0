"""Filling the vectors of a next model while the present ones serve, and switching to them (SPEC S-17)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from services.kit.context import act_as
from services.kit.errors import DataFlowRefused, DependencyDown, PalimpsestError
from services.kit.identity import Principal, Role
from services.kit.times import Clock
from services.memory.semantic.app.generation_ports import FILL, SWEPT, Leases, Models
from services.memory.semantic.app.generations import Generation, Generations
from services.memory.semantic.app.indexing import ChunkItem, Indexer, Item, MemoryItem, MessageItem
from services.memory.semantic.app.item_ports import ItemIndex
from services.memory.semantic.app.strangers import Strangers
from services.memory.semantic.domain.items import conversation_of
from services.memory.semantic.domain.vectors import Bucket, ContentClass

SUBJECT = "semantic"
RENEWALS = 3
"""How often a lease is renewed within its time by work that has no other reason to write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FillSettings:
    """How a change of models is paced; seconds."""

    step: int = 64
    """Items that are embedded and written at a time: what a fresh write may have to wait behind."""
    poll_seconds: float = 2.0
    """Between two looks at what other replicas did."""
    lease_seconds: float = 30.0
    """How long a registration or a lease outlasts the last sign of its holder."""


class Replica:
    """This process among those that share the store: its name, its registration, its leases."""

    def __init__(
        self,
        *,
        name: str,
        generations: Generations,
        models: Models,
        leases: Leases,
        settings: FillSettings,
        clock: Clock,
    ) -> None:
        self.name = name
        self._generations = generations
        self._models = models
        self._leases = leases
        self._settings = settings
        self._clock = clock
        self._taken: dict[str, datetime] = {}
        self._log = structlog.get_logger("models")

    async def run(self) -> None:
        """Says again and again which models' vectors are written here, and switches when another one did."""
        while True:
            await asyncio.sleep(self._settings.poll_seconds)
            try:
                await self.register()
            except DependencyDown as error:
                self._log.warning("replica_not_registered", reason=error.reason)

    async def register(self) -> None:
        """Once. Switches where another model has become active.

        Of a replica that has no vectors of that model nothing is registered any more: it would end the
        filling of every model to come, and it writes nothing (see Generations).
        """
        now, before = self._clock(), self._generations.active.model
        if self._generations.outdated:
            current = (await self._models.active(before, now)).model
            if not self._generations.follow(current):
                return
        models = self._generations.models
        active = await self._models.register(self.name, models, now, now + self._lease)
        if not self._generations.follow(active.model):
            self._log.error("another_model_is_active", revision=active.model.revision)
        elif active.model != before:
            self._log.info("model_switched", revision=active.model.revision)

    async def current(self) -> bool:
        """Whether this process serves the active model; False asks for it to be started anew."""
        return not self._generations.outdated

    async def take(self, lease: str) -> bool:
        """Takes a lease, or renews it."""
        now = self._clock()
        self._taken.pop(lease, None)
        taken = await self._leases.take(lease, self.name, now, now + self._lease)
        if taken:
            self._taken[lease] = now
        return taken

    async def keep(self, lease: str) -> bool:
        """Renews a lease that was taken, once a part of its time is over; False if it is another's by now."""
        taken = self._taken.get(lease)
        if taken is not None and timedelta(0) <= self._clock() - taken < self._lease / RENEWALS:
            return True
        return await self.take(lease)

    async def give(self, lease: str) -> None:
        """Gives it back."""
        self._taken.pop(lease, None)
        await self._leases.give(lease, self.name)

    @property
    def _lease(self) -> timedelta:
        return timedelta(seconds=self._settings.lease_seconds)


class Filler:
    """Brings the following generation to where the active one is, then makes it the active one.

    First it goes through everything, then it compares ids until nothing is missing. A step is as large as one
    batch of index jobs, and the next one waits for it: fresh writes wait behind one step at most. Each is
    kept with its position, so that a filling goes on after a restart where it was. What a replica does too
    late, without the lease, does no harm: it only makes vectors of what is there. Items that can't be
    indexed don't hold up the switch.
    """

    def __init__(
        self,
        *,
        generations: Generations,
        models: Models,
        items: ItemIndex,
        indexer: Indexer,
        strangers: Strangers,
        replica: Replica,
        settings: FillSettings,
        clock: Clock,
    ) -> None:
        self._generations = generations
        self._models = models
        self._items = items
        self._indexer = indexer
        self._strangers = strangers
        self._replica = replica
        self._settings = settings
        self._clock = clock
        self._hopeless: set[tuple[Bucket, str]] = set()
        self._log = structlog.get_logger("models")

    async def run(self) -> None:
        """Returns when the following generation is active and nobody searches the former one any more."""
        while (following := self._generations.following) is not None:
            try:
                if await self._turn(following):
                    break
            except PalimpsestError as error:
                self._log.warning("filling_interrupted", reason=error.reason)
            await asyncio.sleep(self._settings.poll_seconds)
        if self._generations.former is not None:
            await asyncio.sleep(self._settings.lease_seconds)
            self._generations.leave_former()

    async def _turn(self, following: Generation) -> bool:
        """Fills what is missing, if that is for this replica to do; whether the model was switched to."""
        if not await self._replica.take(FILL):
            return False
        position = await self._models.resume(self._replica.name, following.model, self._clock())
        if position is None:
            return False
        await following.vectors.restore()
        if not await self._items.whole():
            return False
        if position != SWEPT and not await self._swept(following, position):
            return False
        if not (await self._complete(following) and await self._replica.take(FILL)):
            return False
        if not await self._models.switch(self._replica.name, following.model, self._clock()):
            return False
        self._generations.follow(following.model)
        self._log.info("model_switched", revision=following.model.revision, left_out=len(self._hopeless))
        return True

    async def _swept(self, following: Generation, position: str) -> bool:
        """Makes every vector once, whatever is there: it may be of a former time. False if interrupted."""
        self._log.info("filling", revision=following.model.revision, resumed=bool(position))
        async for bucket, page in self._pages(position):
            wanted = await self._generations.active.held(bucket, page)
            await self._fill(bucket, [item_id for item_id in page if item_id in wanted], following)
            if not await self._advanced(following, _position(bucket, page[-1])):
                return False
        return await self._advanced(following, SWEPT)

    async def _advanced(self, following: Generation, position: str) -> bool:
        return await self._replica.take(FILL) and await self._models.advance(
            self._replica.name, following.model, position, self._clock()
        )

    async def _complete(self, following: Generation) -> bool:
        """Compares both generations and fills what is missing; whether nothing was.

        It takes longer than a lease lasts, where there is much to be compared.
        """
        complete = True
        for bucket in await self._strangers.buckets():
            if not await self._replica.keep(FILL):
                return False
            if self._strangers.sees_to(bucket.content):
                await self._strangers.take_out_of(following, bucket)
        async for bucket, page in self._pages(""):
            if not await self._replica.keep(FILL):
                return False
            missing = await self._missing(bucket, page, following)
            if missing:
                complete = False
                await self._fill(bucket, missing, following)
                if not await self._advanced(following, SWEPT):
                    return False
        return complete

    async def _pages(self, position: str) -> AsyncIterator[tuple[Bucket, Sequence[str]]]:
        """Registered items after a position, a step at a time."""
        begun, after = _parsed(position)
        for bucket in sorted(await self._strangers.buckets(), key=_order):
            if _order(bucket) < begun:
                continue
            last = after if _order(bucket) == begun else ""
            while page := await self._items.item_ids(
                bucket.tenant, bucket.agent, bucket.content.value, last, self._settings.step
            ):
                last = page[-1]
                yield bucket, page

    async def _missing(self, bucket: Bucket, page: Sequence[str], following: Generation) -> list[str]:
        """What the active generation has and the following one has not."""
        has = await following.held(bucket, page)
        lacks = [id_ for id_ in page if id_ not in has and (bucket, id_) not in self._hopeless]
        wanted = await self._generations.active.held(bucket, lacks)
        return [item_id for item_id in lacks if item_id in wanted]

    async def _fill(self, bucket: Bucket, item_ids: Sequence[str], following: Generation) -> None:
        if not item_ids:
            return
        items = [_item(bucket, item_id) for item_id in item_ids]
        try:
            with act_as(worker(bucket.tenant, bucket.agent)):
                errors = await self._indexer.fill(bucket.tenant, bucket.agent, items, following)
        except DataFlowRefused as error:  # S-15: this model is not for their texts
            errors = [error.reason] * len(items)
        self._hopeless |= {
            (bucket, item_id) for item_id, error in zip(item_ids, errors, strict=True) if error
        }


def _order(bucket: Bucket) -> tuple[str, str, str]:
    return bucket.tenant, bucket.agent, bucket.content.value


def _position(bucket: Bucket, item_id: str) -> str:
    return json.dumps([*_order(bucket), item_id])


def _parsed(position: str) -> tuple[tuple[str, str, str], str]:
    """The bucket that a position is in, and the last item of it that is done."""
    if not position:
        return ("", "", ""), ""
    tenant, agent_id, class_, item_id = json.loads(position)
    return (tenant, agent_id, class_), item_id


def worker(tenant: str, agent_id: str) -> Principal:
    """Who work of the service's own is done for."""
    return Principal(tenant=tenant, role=Role.SERVICE, agents=frozenset({agent_id}), subject=SUBJECT)


def _item(bucket: Bucket, item_id: str) -> Item:
    if bucket.content is ContentClass.MESSAGE:
        conversation_id, sequence = conversation_of(item_id)
        return MessageItem(conversation_id=conversation_id, sequence=sequence)
    if bucket.content is ContentClass.DOCUMENT:
        return ChunkItem(item_id=item_id)
    return MemoryItem(memory_id=item_id)
