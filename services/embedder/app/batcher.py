"""Micro-batching across callers (SPEC M-2)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from services.embedder.app.ports import EmbeddingBackend
from services.embedder.domain.model import Prepared, Purpose
from services.kit.errors import DependencyDown, Overloaded

RETRY_SECONDS = 1.0


@dataclass(slots=True, eq=False)
class _Item:
    text: Prepared
    future: asyncio.Future[bytes]


class Batcher:
    """Collects texts of all callers into batches for the model.

    An idle batcher sends at once. While a batch is under way texts gather; the next batch takes queries
    before documents, then neighbours in length, so that little is padded. Beyond `queue_limit` waiting texts
    callers are refused with Overloaded; one that finds none waiting is taken whole. The texts of a cancelled
    caller are skipped and hold no place; a failing batch fails its callers only.
    """

    def __init__(self, backend: EmbeddingBackend, *, batch_size: int, queue_limit: int) -> None:
        self._backend = backend
        self._batch_size = batch_size
        self._queue_limit = queue_limit
        self._queues: dict[Purpose, list[_Item]] = {purpose: [] for purpose in Purpose}
        self._awake = asyncio.Event()

    @property
    def waiting(self) -> int:
        """How many texts wait for a batch that some caller still wants."""
        return sum(not item.future.done() for queue in self._queues.values() for item in queue)

    async def embed(self, texts: Sequence[Prepared], purpose: Purpose) -> list[bytes]:
        """Vectors in the order of the texts. Raises Overloaded, or what the model raised."""
        waiting = self.waiting
        if waiting and waiting + len(texts) > self._queue_limit:
            raise Overloaded("the embedder's queue is full", retry_after=RETRY_SECONDS)
        loop = asyncio.get_running_loop()
        items = [_Item(text, loop.create_future()) for text in texts]
        self._queues[purpose] += items
        self._awake.set()
        try:
            return await asyncio.gather(*(item.future for item in items))
        finally:
            for item in items:
                item.future.cancel()  # no change where it is done

    async def run(self) -> None:
        """Sends batches until cancelled."""
        while True:
            await self._awake.wait()
            batch = self._next_batch()
            if batch:
                await self._send(batch)
            elif not self.waiting:
                self._awake.clear()

    def _next_batch(self) -> list[_Item]:
        batch: list[_Item] = []
        for purpose in Purpose:
            queue = [item for item in self._queues[purpose] if not item.future.done()]
            room = self._batch_size - len(batch)
            if queue and room and not batch:
                batch, self._queues[purpose] = _neighbours(queue, room)
            else:
                self._queues[purpose] = queue
        return batch

    async def _send(self, batch: list[_Item]) -> None:
        try:
            vectors = await self._backend.embed([item.text for item in batch])
            if len(vectors) != len(batch):
                raise DependencyDown("the model did not answer every text")
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - handed to the callers of this batch
            for item in batch:
                if not item.future.done():
                    item.future.set_exception(error)
            return
        for item, vector in zip(batch, vectors, strict=True):
            if not item.future.done():
                item.future.set_result(vector)


def _neighbours(queue: list[_Item], size: int) -> tuple[list[_Item], list[_Item]]:
    """The oldest item with those nearest to it in length, by length; and the rest, in order."""
    if len(queue) <= size:
        return sorted(queue, key=lambda item: item.text.token_count), []
    oldest = queue[0]
    ranked = sorted(
        queue, key=lambda item: (abs(item.text.token_count - oldest.text.token_count), item is not oldest)
    )
    chosen = ranked[:size]
    taken = set(map(id, chosen))
    rest = [item for item in queue if id(item) not in taken]
    return sorted(chosen, key=lambda item: item.text.token_count), rest
