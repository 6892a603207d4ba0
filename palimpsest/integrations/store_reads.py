"""Reads of a store's records."""

from __future__ import annotations

from collections.abc import AsyncIterator

from palimpsest.client import AsyncClient
from palimpsest.errors import NotFoundError
from palimpsest.integrations.namespaces import deeper, labels, path_of
from palimpsest.models import AllOf, Field, Filter, Record


async def by_id(client: AsyncClient, collection: str, record_id: str) -> Record | None:
    """A record; None where there is none."""
    try:
        return await client.record(collection, record_id)
    except NotFoundError:
        return None


async def listed(
    client: AsyncClient,
    collection: str,
    where: Filter,
    *,
    order_by: str,
    descending: bool = False,
    page_size: int,
) -> AsyncIterator[Record]:
    """Records; none before the first put, which makes the collection."""
    records = client.records(collection, where, order_by=order_by, descending=descending, page_size=page_size)
    try:
        async for record in records:
            yield record
    except NotFoundError:
        return


async def firsts(
    client: AsyncClient,
    collection: str,
    prefix: str,
    max_depth: int | None,
    limit: int | None,
    *only: Filter,
) -> list[tuple[str, Record]]:
    """Namespaces under a prefix by their labels, cut to a depth, as paths with a record of each.

    Takes a read for each: the first record whose path comes after the last one's.
    """
    found: list[tuple[str, Record]] = []
    conditions: tuple[Filter, ...] = (Field("path").starts_with(prefix), *only)
    where = AllOf(filters=conditions)
    while limit is None or len(found) < limit:
        record = await _first(client, collection, where)
        if record is None:
            break
        path = str(record.value["path"])
        cut = path_of(labels(path)[:max_depth])
        found.append((cut, record))
        full = max_depth is not None and len(labels(cut)) == max_depth
        beyond = Field("path").at_least(deeper(cut)) if full else Field("path").more_than(path)
        where = AllOf(filters=(*conditions, beyond))
    return found


async def _first(client: AsyncClient, collection: str, where: Filter) -> Record | None:
    async for record in listed(client, collection, where, order_by="path", page_size=1):
        return record
    return None
