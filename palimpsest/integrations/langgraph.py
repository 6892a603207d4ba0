"""LangGraph: a long-term store whose values are records, found by meaning as memories (extra `langgraph`)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from palimpsest.client import AsyncClient
from palimpsest.errors import NotFoundError, NotIndexedError, VersionConflictError
from palimpsest.integrations import extra
from palimpsest.integrations.bridge import Bridge
from palimpsest.integrations.concurrent import MOST_CALLS, gathered
from palimpsest.integrations.namespaces import labels, literal_head, matches, path_of
from palimpsest.integrations.ranking import scores
from palimpsest.integrations.recalling import shortened
from palimpsest.integrations.store_items import WHOLE, item, paths_of, record_id_of, search_item, statement
from palimpsest.integrations.store_reads import by_id, firsts, listed
from palimpsest.integrations.values import fits
from palimpsest.models import Field, FieldType, FreshnessToken, MemoryHit, Record
from palimpsest.sync import Client

with extra("langgraph"):
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        ListNamespacesOp,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
    )

COLLECTION = "langgraph"
FIELDS: dict[str, FieldType] = {"path": "string", "time": "time", "indexed": "bool"}
MOST_HITS = 100
"""Memories that one recall finds."""
MOST_SEARCHED = 32
"""Namespaces under a prefix that are searched by meaning, the first by name."""
MOST_TOKENS = 1_000
"""Writes of this store that a search waits for, the newest."""
PAGE = 100


class PalimpsestStore(BaseStore):
    """A LangGraph store in an agent's records and memories.

    A value is a record, and comes back as JSON has it. What is indexed of it is also a memory, in the scope
    of a contact that stands for the namespace, so that no prompt or recall for a person shows it. `search`
    with a query ranks by recall; what that doesn't find follows without a score. TTLs are not supported.
    """

    __slots__ = ("_bridge", "_collection", "_contacts", "_fields", "_ready", "_tokens", "_wait_seconds")

    def __init__(
        self,
        client: Client | AsyncClient,
        *,
        collection: str = COLLECTION,
        fields: Sequence[str] = (WHOLE,),
        wait_seconds: float = 10.0,
    ) -> None:
        """`fields` are the paths whose texts are indexed where a put says nothing; "$" is the whole value.

        A search waits up to `wait_seconds` until what this store put is indexed.
        """
        self._bridge = Bridge(client)
        self._collection = collection
        self._fields = tuple(fields)
        self._wait_seconds = wait_seconds
        self._contacts: dict[str, str] = {}
        self._tokens: dict[str, FreshnessToken | None] = {}
        self._ready = False

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """The results in order. Reads see what was there before; of several puts to a key the last counts."""
        given = list(ops)
        return self._bridge.run(lambda client: self._batch(client, given))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """As `batch`."""
        given = list(ops)
        return await self._bridge.run_async(lambda client: self._batch(client, given))

    async def _batch(self, client: AsyncClient, ops: Sequence[Op]) -> list[Result]:
        results = await gathered(self._read(client, op) for op in ops)
        puts = {(op.namespace, op.key): op for op in ops if isinstance(op, PutOp)}
        if puts:
            await self._prepare(client)
        await gathered(self._put(client, op) for op in puts.values())
        return results

    async def _prepare(self, client: AsyncClient) -> None:
        if not self._ready:
            await client.put_collection(self._collection, FIELDS)
            self._ready = True

    async def _read(self, client: AsyncClient, op: Op) -> Result:
        match op:
            case GetOp():
                record = await by_id(client, self._collection, record_id_of(path_of(op.namespace), op.key))
                return None if record is None else item(record)
            case SearchOp():
                return await self._search(client, op)
            case ListNamespacesOp():
                return await self._namespaces(client, op)
            case PutOp():
                path_of(op.namespace)  # a wrong name fails the batch before anything is written
                if op.ttl is not None:
                    raise NotImplementedError("this store has no TTLs")
                return None
        raise ValueError(f"no operation of a store: {type(op).__name__}")

    async def _put(self, client: AsyncClient, op: PutOp) -> None:
        """The record first, and of what goes last: what is found by its memory is read from its record."""
        path = path_of(op.namespace)
        record_id = record_id_of(path, op.key)
        paths = paths_of(op, self._fields)
        text = "" if op.value is None else statement(op.value, paths)
        if op.value is None:
            await self._unindexed(client, record_id, None)
            return
        contact = await self._contact(client, path) if text else ""
        value = {
            "namespace": list(op.namespace),
            "key": op.key,
            "value": dict(op.value),
            "path": path,
            "time": datetime.now(UTC).isoformat(),
            "indexed": bool(text),
            "contact": contact,
            "fields": list(paths),
        }
        if not text:
            await self._unindexed(client, record_id, value)
            return
        stored = await client.put_record(self._collection, value, record_id)
        await self._settle(client, record_id, contact, text, stored.version)

    async def _settle(
        self, client: AsyncClient, record_id: str, contact: str, text: str, version: int
    ) -> None:
        """Remembers the text of a version of a record, or whatever the record says once it is done.

        Another process may have put or deleted the record meanwhile, and have been done with the memory
        before this one came to it: then it is made, or forgotten, as the record has it by now.
        """
        while True:
            if text:
                made = await client.remember(self._memory_key(record_id), text, contact_id=contact)
                self._remind(record_id, made.token)
            else:
                await self._forget(client, record_id, contact)
            record = await by_id(client, self._collection, record_id)
            newest = 0 if record is None else record.version
            if newest == version:  # versions of a record go on after it was deleted
                return
            text, version = self._text(record), newest

    def _text(self, record: Record | None) -> str:
        """What is indexed of a record."""
        if record is None or not record.value["indexed"]:
            return ""
        return statement(record.value["value"], record.value.get("fields", self._fields))

    async def _unindexed(self, client: AsyncClient, record_id: str, value: dict[str, Any] | None) -> None:
        """Puts a record of which nothing is indexed, None for none, in the place of one whose memory is
        forgotten: if another process put one meanwhile, of that one.

        Forgotten before, for without its record nobody would know of it, should this process end between; and
        once more after, for whoever put the record may have come to its memory only then.
        """
        while True:
            record = await by_id(client, self._collection, record_id)
            contact = record.value["contact"] if record is not None and record.value["indexed"] else ""
            if contact:
                await self._forget(client, record_id, contact)
            self._tokens.pop(record_id, None)
            version, written = 0 if record is None else record.version, 0
            try:
                if value is not None:
                    stored = await client.put_record(
                        self._collection, value, record_id, expected_version=version
                    )
                    written = stored.version
                elif record is not None:
                    await self._delete(client, record_id, version)
            except VersionConflictError:
                continue
            if contact:
                await self._settle(client, record_id, contact, "", written)
            return

    async def _delete(self, client: AsyncClient, record_id: str, version: int) -> None:
        """Raises VersionConflictError where another version is there."""
        try:
            await client.delete_record(self._collection, record_id, expected_version=version)
        except NotFoundError:
            return

    async def _forget(self, client: AsyncClient, record_id: str, contact: str) -> None:
        """Forgets all versions of an item's memory."""
        self._tokens.pop(record_id, None)
        key = self._memory_key(record_id)
        async for memory in client.memories(
            contact_id=contact, key_prefix=key, include_superseded=True, page_size=1
        ):
            await client.forget(memory.id)
            return

    def _remind(self, record_id: str, token: FreshnessToken | None) -> None:
        self._tokens.pop(record_id, None)
        self._tokens[record_id] = token
        while len(self._tokens) > MOST_TOKENS:
            del self._tokens[next(iter(self._tokens))]

    def _memory_key(self, record_id: str) -> str:
        return f"store.{self._collection.lower()}.{record_id}"

    async def _contact(self, client: AsyncClient, path: str) -> str:
        if path not in self._contacts:
            name = " / ".join(labels(path))[:128]
            digest = hashlib.sha256(path.encode()).hexdigest()[:32]
            contact = await client.resolve_contact(f"store:{self._collection}/{digest}", display_name=name)
            self._contacts[path] = contact.id
        return self._contacts[path]

    async def _search(self, client: AsyncClient, op: SearchOp) -> list[SearchItem]:
        prefix = path_of(op.namespace_prefix) if op.namespace_prefix else ""
        wanted = op.offset + op.limit
        if not op.query:
            records = await self._matching(client, prefix, op.filter, wanted)
            return [search_item(record, None) for record in records[op.offset : wanted]]
        found = await self._by_meaning(client, prefix, op, wanted)
        if len(found) < wanted:
            seen = {record.id for record, _ in found}
            more = await self._matching(client, prefix, op.filter, wanted + len(seen))
            found += [(record, None) for record in more if record.id not in seen]
        return [search_item(*one) for one in found[op.offset : wanted]]

    async def _by_meaning(
        self, client: AsyncClient, prefix: str, op: SearchOp, wanted: int
    ) -> list[tuple[Record, float | None]]:
        """Records that recall finds and the filter lets pass, best first; read until there are enough."""
        scored = await self._scores(client, prefix, op.query or "")
        ids = sorted(scored, key=lambda one: -scored[one])
        found: list[tuple[Record, float | None]] = []
        for start in range(0, len(ids), MOST_CALLS):
            if len(found) >= wanted:
                break
            some = await gathered(
                by_id(client, self._collection, one) for one in ids[start : start + MOST_CALLS]
            )
            found += [
                (record, scored[record.id])
                for record in some
                if record is not None and fits(record.value["value"], op.filter)
            ]
        return found

    async def _matching(
        self, client: AsyncClient, prefix: str, filter_: dict[str, Any] | None, wanted: int
    ) -> list[Record]:
        """Records under a prefix that a filter lets pass, those put last first; no more than wanted."""
        found: list[Record] = []
        if wanted <= 0:
            return found
        where = Field("path").starts_with(prefix)
        size = PAGE if filter_ else min(wanted, PAGE)
        async for record in listed(
            client, self._collection, where, order_by="time", descending=True, page_size=size
        ):
            if fits(record.value["value"], filter_):
                found.append(record)
                if len(found) == wanted:
                    break
        return found

    async def _scores(self, client: AsyncClient, prefix: str, query: str) -> dict[str, float]:
        """What recall finds in the namespaces under a prefix: scores by records' ids."""
        text = shortened(query)
        if not text:
            return {}
        await self._indexed(client)
        found_in = await firsts(
            client, self._collection, prefix, None, MOST_SEARCHED, Field("indexed").equals(True)
        )
        contacts = [record.value["contact"] for _, record in found_in]
        found = scores(await gathered(self._recalled(client, contact, text) for contact in contacts))
        start = len(self._memory_key(""))
        return {key[start:]: score for key, score in found.items()}

    async def _recalled(self, client: AsyncClient, contact: str, text: str) -> list[MemoryHit]:
        hits = await client.recall(text, contact_id=contact, limit=MOST_HITS)
        return [hit for hit in hits if hit.memory.key.startswith(self._memory_key(""))]

    async def _indexed(self, client: AsyncClient) -> None:
        """Waits for what this process wrote, so that it reads its own writes."""
        waiting = dict(self._tokens)
        try:
            await client.wait_indexed(*waiting.values(), timeout=self._wait_seconds)
        except NotIndexedError:
            return  # what is missing is found without a score
        for record_id, token in waiting.items():
            if self._tokens.get(record_id) is token:
                del self._tokens[record_id]

    async def _namespaces(self, client: AsyncClient, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        conditions = op.match_conditions or ()
        head, end = literal_head(conditions), op.offset + op.limit
        prefix = path_of(head) if head else ""
        plain = all(one.match_type == "prefix" and one.path == head for one in conditions)
        if plain and (op.max_depth is None or op.max_depth >= max(len(head), 1)):
            each = await firsts(client, self._collection, prefix, op.max_depth, end)
            found = [labels(path) for path, _ in each]
        else:
            every = [labels(path) for path, _ in await firsts(client, self._collection, prefix, None, None)]
            kept = (one for one in every if all(matches(one, each) for each in conditions))
            found = sorted({one[: op.max_depth] for one in kept})
        return found[op.offset : end]
