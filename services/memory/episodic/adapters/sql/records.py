"""Collections and their records (SPEC W-8).

Whoever changes a record or its collection locks the collection's row first: what is indexed is always what
the collection declares, and versions are counted without gaps for races.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from services.kit.errors import InvalidField, NotFound, StateConflict
from services.kit.sql import Row, Script, SqlDatabase, execute, execute_many, fetch, first
from services.memory.episodic.adapters.sql.agents import require_agent
from services.memory.episodic.adapters.sql.records_filters import OF_COLLECTION, Found, find
from services.memory.episodic.app.ports import Page
from services.memory.episodic.app.records import RecordPage
from services.memory.episodic.domain.checks import utf8_length
from services.memory.episodic.domain.records import (
    Collection,
    CollectionKey,
    Document,
    FieldType,
    IndexedField,
    Record,
    Stamp,
    Stored,
    check_collection_count,
    check_reindexing,
    indexed_values,
)
from services.memory.episodic.domain.records_filters import Query, check_order, check_types
from services.memory.episodic.domain.state import check_expected

COLLECTION_COLUMNS = "name, fields, create_time, update_time"
STAMP_COLUMNS = "id, version, create_time, update_time"
OF_AGENT = "tenant = ? AND agent_id = ?"
REINDEXED_AT_ONCE = 16  # records that are read together, 256 KiB each at most


class SqlRecords:
    """A RecordStore; no page of a query holds more than `max_bytes` of content, or one record."""

    def __init__(self, database: SqlDatabase, *, max_bytes: int) -> None:
        self._database = database
        self._max_bytes = max_bytes

    async def put_collection(
        self, key: CollectionKey, fields: tuple[IndexedField, ...], time: int
    ) -> Collection:
        """Creates it or changes its fields."""
        return await self._database.write(lambda: _put_collection(key, fields, time))

    async def get_collection(self, key: CollectionKey) -> Collection:
        """Reads one."""

        def script() -> Script[Collection]:
            return _collection((yield from _collection_row(key)))

        return await self._database.read(script)

    async def list_collections(
        self, tenant: str, agent_id: str, *, limit: int, after: str | None
    ) -> Page[Collection, str]:
        """By name."""
        return await self._database.read(lambda: _list_collections(tenant, agent_id, limit, after))

    async def delete_collection(self, key: CollectionKey) -> None:
        """With its records."""

        def script() -> Script[None]:
            yield from _collection_row(key, lock=True)
            for table in ("record_fields", "records"):
                yield from execute(f"DELETE FROM {table} WHERE {OF_COLLECTION}", *_scope(key))
            yield from execute(f"DELETE FROM record_collections WHERE {OF_AGENT} AND name = ?", *_scope(key))

        await self._database.write(script)

    async def put(
        self, key: CollectionKey, record_id: str, document: Document, time: int, expected: int | None
    ) -> Stamp:
        """Replaces a record, or creates it."""
        return await self._database.write(lambda: _put(key, record_id, document, time, expected))

    async def get(self, key: CollectionKey, record_id: str) -> Record:
        """Reads one."""

        def script() -> Script[Record]:
            row = yield from first(
                f"SELECT {STAMP_COLUMNS}, json FROM records WHERE {OF_COLLECTION} AND id = ?",
                *_scope(key),
                record_id,
            )
            if row is None:
                yield from _collection_row(key)
                raise NotFound("record", record_id)
            return _record(row)

        return await self._database.read(script)

    async def delete(self, key: CollectionKey, record_id: str, expected: int | None) -> None:
        """Deletes one."""
        await self._database.write(lambda: _delete(key, record_id, expected))

    async def query(self, key: CollectionKey, query: Query) -> RecordPage:
        """Those that match."""
        return await self._database.read(lambda: _query(key, query, self._max_bytes))


def _scope(key: CollectionKey) -> tuple[str, str, str]:
    """The arguments of OF_COLLECTION."""
    return key.tenant, key.agent_id, key.name


def _find_collection(key: CollectionKey, *, lock: bool) -> Script[Row | None]:
    return (
        yield from first(
            f"SELECT {COLLECTION_COLUMNS}, deleted_version FROM record_collections"
            f" WHERE {OF_AGENT} AND name = ?{' FOR UPDATE' if lock else ''}",
            *_scope(key),
        )
    )


def _collection_row(key: CollectionKey, *, lock: bool = False) -> Script[Row]:
    """With `lock`, writers of the collection go one after the other. Raises NotFound."""
    row = yield from _find_collection(key, lock=lock)
    if row is None:
        yield from require_agent(key.tenant, key.agent_id)
        raise NotFound("collection", key.name)
    return row


def _put_collection(key: CollectionKey, fields: tuple[IndexedField, ...], time: int) -> Script[Collection]:
    row = yield from _find_collection(key, lock=True)
    if row is None:
        # Only the agent's row can be locked for a collection that isn't there.
        yield from require_agent(key.tenant, key.agent_id, lock=True)
        row = yield from _find_collection(key, lock=True)
    if row is None:
        return (yield from _create_collection(key, fields, time))
    old = _collection(row)
    if old.fields == fields:
        return old
    yield from _reindex(key, set(old.fields) - set(fields), [f for f in fields if f not in old.fields])
    yield from execute(
        f"UPDATE record_collections SET fields = ?, update_time = ? WHERE {OF_AGENT} AND name = ?",
        _fields_text(fields),
        time,
        *_scope(key),
    )
    return Collection(name=key.name, fields=fields, create_time=old.create_time, update_time=time)


def _create_collection(key: CollectionKey, fields: tuple[IndexedField, ...], time: int) -> Script[Collection]:
    row = yield from first(
        f"SELECT COUNT(*) AS count FROM record_collections WHERE {OF_AGENT}", key.tenant, key.agent_id
    )
    check_collection_count(row["count"] if row else 0)
    yield from execute(
        f"INSERT INTO record_collections (tenant, agent_id, {COLLECTION_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)",
        *_scope(key),
        _fields_text(fields),
        time,
        time,
    )
    return Collection(name=key.name, fields=fields, create_time=time, update_time=time)


def _reindex(key: CollectionKey, removed: set[IndexedField], added: Sequence[IndexedField]) -> Script[None]:
    """Makes what is indexed of the records follow a change of fields. Raises StateConflict."""
    row = yield from first(
        "SELECT COUNT(*) AS count, CAST(COALESCE(SUM(size), 0) AS BIGINT) AS size"
        f" FROM records WHERE {OF_COLLECTION}",
        *_scope(key),
    )
    if row is None or row["count"] == 0:
        return
    check_reindexing(row["count"], row["size"])
    yield from execute(
        f"DELETE FROM record_fields WHERE {OF_COLLECTION} AND field IN ??",
        *_scope(key),
        sorted(field.path for field in removed),
    )
    last = ""
    while added:
        rows = yield from fetch(
            f"SELECT id, json FROM records WHERE {OF_COLLECTION} AND id > ? ORDER BY id LIMIT ?",
            *_scope(key),
            last,
            REINDEXED_AT_ONCE,
        )
        if not rows:
            return
        for row in rows:
            last = row["id"]
            yield from _insert_fields(key, last, _values_again(last, row["json"], added))


def _values_again(record_id: str, text: str, fields: Sequence[IndexedField]) -> dict[str, Stored]:
    try:
        return indexed_values(json.loads(text), fields)
    except InvalidField as error:
        message = f"a record cannot be indexed: {error.fields[0].description}"
        raise StateConflict(message, metadata={"resource": "record", "id": record_id}) from error


def _list_collections(
    tenant: str, agent_id: str, limit: int, after: str | None
) -> Script[Page[Collection, str]]:
    yield from require_agent(tenant, agent_id)
    rows = yield from fetch(
        f"SELECT {COLLECTION_COLUMNS} FROM record_collections WHERE {OF_AGENT} AND name > ?"
        " ORDER BY name LIMIT ?",
        tenant,
        agent_id,
        after or "",
        limit + 1,
    )
    items = [_collection(row) for row in rows[:limit]]
    return Page(items=items, last=items[-1].name if len(rows) > limit else None)


def _put(
    key: CollectionKey, record_id: str, document: Document, time: int, expected: int | None
) -> Script[Stamp]:
    collection = yield from _collection_row(key, lock=True)
    values = indexed_values(document.value, _fields(collection))
    old = yield from _stamp(key, record_id)
    check_expected(expected, old.version if old else 0)
    stamp = Stamp(
        id=record_id,
        version=(old.version if old else collection["deleted_version"]) + 1,
        create_time=old.create_time if old else time,
        update_time=time,
    )
    yield from execute(
        f"INSERT INTO records (tenant, agent_id, collection, {STAMP_COLUMNS}, size, json)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tenant, agent_id, collection, id) DO UPDATE SET"
        " version = excluded.version, update_time = excluded.update_time,"
        " size = excluded.size, json = excluded.json",
        *_scope(key),
        stamp.id,
        stamp.version,
        stamp.create_time,
        stamp.update_time,
        utf8_length(document.json),
        document.json,
    )
    if old:
        yield from _delete_fields(key, record_id)
    yield from _insert_fields(key, record_id, values)
    return stamp


def _delete(key: CollectionKey, record_id: str, expected: int | None) -> Script[None]:
    yield from _collection_row(key, lock=True)
    old = yield from _stamp(key, record_id)
    if old is None:
        raise NotFound("record", record_id)
    check_expected(expected, old.version)
    yield from _delete_fields(key, record_id)
    yield from execute(f"DELETE FROM records WHERE {OF_COLLECTION} AND id = ?", *_scope(key), record_id)
    yield from execute(
        f"UPDATE record_collections SET deleted_version = ?"
        f" WHERE {OF_AGENT} AND name = ? AND deleted_version < ?",
        old.version,
        *_scope(key),
        old.version,
    )


def _query(key: CollectionKey, query: Query, max_bytes: int) -> Script[RecordPage]:
    types = {field.path: field.type for field in _fields((yield from _collection_row(key)))}
    if query.filter is not None:
        check_types(query.filter, types)
    kind = check_order(query.order, query.after, types)
    found = yield from find(key, query, kind, query.limit + 1)
    page = _that_fit(found[: query.limit], max_bytes)
    rows = yield from fetch(
        f"SELECT {STAMP_COLUMNS}, json FROM records WHERE {OF_COLLECTION} AND id IN ??",
        *_scope(key),
        [one.position.id for one in page],
    )
    records = {row["id"]: _record(row) for row in rows}
    return RecordPage(
        records=[records[one.position.id] for one in page],
        last=page[-1].position if len(page) < len(found) else None,
    )


def _that_fit(found: Sequence[Found], max_bytes: int) -> Sequence[Found]:
    """The first ones, as many as hold `max_bytes` together, but one at least."""
    total = 0
    for count, one in enumerate(found):
        total += one.size
        if total > max_bytes and count:
            return found[:count]
    return found


def _stamp(key: CollectionKey, record_id: str) -> Script[Stamp | None]:
    row = yield from first(
        f"SELECT {STAMP_COLUMNS} FROM records WHERE {OF_COLLECTION} AND id = ?", *_scope(key), record_id
    )
    return None if row is None else _stamp_of(row)


def _delete_fields(key: CollectionKey, record_id: str) -> Script[None]:
    yield from execute(f"DELETE FROM record_fields WHERE {OF_COLLECTION} AND id = ?", *_scope(key), record_id)


def _insert_fields(key: CollectionKey, record_id: str, values: dict[str, Stored]) -> Script[None]:
    yield from execute_many(
        "INSERT INTO record_fields (tenant, agent_id, collection, id, field, text_value, number_value)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (*_scope(key), record_id, path, *((value, None) if isinstance(value, str) else (None, value)))
            for path, value in values.items()
        ],
    )


def _fields_text(fields: Sequence[IndexedField]) -> str:
    return json.dumps([[field.path, field.type.name] for field in fields], separators=(",", ":"))


def _fields(row: Row) -> tuple[IndexedField, ...]:
    return tuple(IndexedField(path=path, type=FieldType[name]) for path, name in json.loads(row["fields"]))


def _collection(row: Row) -> Collection:
    return Collection(
        name=row["name"],
        fields=_fields(row),
        create_time=row["create_time"],
        update_time=row["update_time"],
    )


def _stamp_of(row: Row) -> Stamp:
    return Stamp(
        id=row["id"],
        version=row["version"],
        create_time=row["create_time"],
        update_time=row["update_time"],
    )


def _record(row: Row) -> Record:
    return Record(stamp=_stamp_of(row), json=row["json"])
