"""A word engine in SQLite with FTS5, in the same file as the registry.

What is put must be registered: a row of `keywords` has the number of its row of `items`, from which a search
takes the fields that it filters by. The embedded index therefore changes both in one transaction
(`sqlite_index`), and neither is ever ahead of the other.

`bucket` is one token for (tenant, agent, class) and `place` one for each of conversation, contact and kind
within it: FTS5 intersects them with the words, so nothing of another bucket is read. A search names the
places that it is narrowed to, else the bucket, never both: bm25() counts all items that have a token of the
query, and a bucket's token is in all of its items (1.6 of 2.2 ms at 50,000).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from services.kit.sql import Script, SqlDatabase, Value, execute_many, fetch
from services.kit.times import to_micros
from services.memory.semantic.domain.keywords import NO_FILTERS, WordDocument, WordFilters
from services.memory.semantic.domain.vectors import Bucket, ContentClass

OF_BUCKET = "tenant = ? AND agent_id = ? AND class = ?"
OF_ITEMS = "i.tenant = ? AND i.agent_id = ? AND i.class = ?"
# The signs keep SQLite from beginning with the rows of the bucket in place of the words.
SEARCH = (
    "SELECT i.item_id AS item_id, -bm25(keywords, 0.0, 0.0, 1.0) AS score"
    " FROM keywords JOIN items AS i ON i.number = keywords.rowid"
    " WHERE +i.tenant = ? AND +i.agent_id = ? AND +i.class IN ?? AND keywords MATCH ?"
)
BEST_FIRST = " ORDER BY score DESC, item_id LIMIT ?"
TOKEN_BYTES = 12
CHARS_PER_TERM = 8
"""Read of a text for each term that is asked for: a term has six and a space, on average."""


class FtsWords:
    """`Words` over a SqlDatabase in SQLite that has the index's tables, which are lost all at once."""

    identity = ""
    lost = False

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def restore(self) -> bool:
        """Nothing to do."""
        return False

    async def put(self, bucket: Bucket, documents: Sequence[WordDocument]) -> None:
        """Words of registered items; others are left out."""
        await self._database.write(lambda: put_words(bucket, documents))

    async def remove(self, bucket: Bucket, item_ids: Sequence[str]) -> None:
        """Words of registered items."""
        await self._database.write(lambda: remove_words(bucket, item_ids))

    async def search(
        self,
        buckets: Sequence[Bucket],
        terms: Sequence[str],
        filters: WordFilters = NO_FILTERS,
        *,
        limit: int,
    ) -> list[tuple[str, float]]:
        """By BM25 with FTS5's idf, from everything in the file."""
        if not terms:
            return []
        return await self._database.read(lambda: search_words(buckets, terms, filters, limit))

    async def terms_of(
        self, bucket: Bucket, item_ids: Sequence[str], *, most: int
    ) -> dict[str, tuple[str, ...]]:
        """As they were put."""
        if not item_ids or most <= 0:
            return {}
        return await self._database.read(lambda: read_words(bucket, item_ids, most))


def put_words(bucket: Bucket, documents: Sequence[WordDocument]) -> Script[None]:
    """Adds or replaces words."""
    latest = {document.item_id: document for document in documents}
    numbers = yield from _numbers(bucket, list(latest))
    yield from execute_many(
        "INSERT OR REPLACE INTO keywords (rowid, bucket, place, terms) VALUES (?, ?, ?, ?)",
        [
            (number, _bucket(bucket), _places(bucket, latest[item_id]), latest[item_id].terms)
            for number, item_id in numbers
        ],
    )


def remove_words(bucket: Bucket, item_ids: Sequence[str]) -> Script[None]:
    """Removes words, before their items are."""
    numbers = yield from _numbers(bucket, sorted(set(item_ids)))
    yield from execute_many("DELETE FROM keywords WHERE rowid = ?", [(number,) for number, _ in numbers])


def search_words(
    buckets: Sequence[Bucket], terms: Sequence[str], filters: WordFilters, limit: int
) -> Script[list[tuple[str, float]]]:
    """Items with any of the terms."""
    match = f"terms : ({_any(terms)})"
    places = [place for place in _searched_places(buckets, filters) if place]
    for any_of in places:
        match += f" AND place : ({_any(any_of)})"
    if not places:
        match += f" AND bucket : ({_any(map(_bucket, buckets))})"
    where, values = _conditions(filters)
    rows = yield from fetch(
        SEARCH + where + BEST_FIRST,
        buckets[0].tenant,
        buckets[0].agent,
        [bucket.content.value for bucket in buckets],
        match,
        *values,
        limit,
    )
    best: dict[str, float] = {}
    for row in rows:
        best.setdefault(row["item_id"], row["score"])
    return list(best.items())


def read_words(bucket: Bucket, item_ids: Sequence[str], most: int) -> Script[dict[str, tuple[str, ...]]]:
    """The first terms of registered items. A long text is cut before it leaves the database."""
    rows = yield from fetch(
        "SELECT i.item_id AS item_id, substr(k.terms, 1, ?) AS terms"
        f" FROM items AS i JOIN keywords AS k ON k.rowid = i.number WHERE {OF_ITEMS} AND i.item_id IN ??",
        most * CHARS_PER_TERM,
        bucket.tenant,
        bucket.agent,
        bucket.content.value,
        list(item_ids),
    )
    return {row["item_id"]: tuple(_whole(row["terms"], most * CHARS_PER_TERM)[:most]) for row in rows}


def _whole(terms: str, cut_at: int) -> list[str]:
    """The terms but the last of a text that was cut: of that, a part may be missing."""
    words = terms.split()
    return words[:-1] if len(terms) == cut_at else words


def _numbers(bucket: Bucket, item_ids: list[str]) -> Script[list[tuple[int, str]]]:
    """In order: FTS5 writes what it gathered whenever numbers go back."""
    rows = yield from fetch(
        f"SELECT number, item_id FROM items WHERE {OF_BUCKET} AND item_id IN ?? ORDER BY number",
        bucket.tenant,
        bucket.agent,
        bucket.content.value,
        item_ids,
    )
    return [(row["number"], row["item_id"]) for row in rows]


def _places(bucket: Bucket, document: WordDocument) -> str:
    contact = _contact(bucket, document.contact_id)
    if bucket.content is ContentClass.MESSAGE:
        return f"{_conversation(bucket, document.conversation_id)} {contact}"
    return f"{contact} {_kind(bucket, document.kind)}"


def _searched_places(buckets: Sequence[Bucket], filters: WordFilters) -> Iterable[list[str]]:
    """A conversation names its contacts: they are not looked for besides."""
    if filters.conversation_id:
        yield [_conversation(bucket, filters.conversation_id) for bucket in buckets]
    else:
        yield [_contact(bucket, contact_id) for bucket in buckets for contact_id in filters.contact_ids]
    yield [_kind(bucket, kind) for bucket in buckets for kind in sorted(filters.kinds)]


def _conditions(filters: WordFilters) -> tuple[str, list[Value]]:
    """What the words' places don't already say, and what might differ from a token of the same hash."""
    conditions: list[tuple[str, Value]] = []
    if filters.conversation_id:
        conditions.append((" AND i.conversation_id = ?", filters.conversation_id))
    if filters.contact_ids:
        conditions.append((" AND i.contact_id IN ??", list(filters.contact_ids)))
    if filters.roles:
        conditions.append((" AND i.role IN ??", sorted(filters.roles)))
    if filters.authors:
        conditions.append((" AND i.author IN ??", sorted(filters.authors)))
    if filters.start:
        conditions.append((" AND i.time >= ?", to_micros(filters.start)))
    if filters.end:
        conditions.append((" AND i.time < ?", to_micros(filters.end)))
    if filters.valid_at:
        moment = to_micros(filters.valid_at)
        conditions += [(" AND i.time <= ?", moment), (" AND (i.ends IS NULL OR i.ends > ?)", moment)]
    return "".join(text for text, _ in conditions), [value for _, value in conditions]


def _any(tokens: Iterable[str]) -> str:
    """Any of the tokens; quoted, so that nothing in them is syntax, and without the NUL that ends a query."""
    return " OR ".join('"' + token.replace("\0", "").replace('"', '""') + '"' for token in tokens)


def _token(kind: str, *parts: str) -> str:
    """One token that stands for some ids, whatever characters they have."""
    digest = hashlib.blake2b(digest_size=TOKEN_BYTES)
    for part in parts:
        digest.update(f"{len(part)}:{part}".encode())
    return kind + digest.hexdigest()


def _bucket(bucket: Bucket) -> str:
    return _token("b", *_parts(bucket))


def _conversation(bucket: Bucket, conversation_id: str) -> str:
    return _token("v", *_parts(bucket), conversation_id)


def _contact(bucket: Bucket, contact_id: str) -> str:
    return _token("c", *_parts(bucket), contact_id)


def _kind(bucket: Bucket, kind: int) -> str:
    return _token("k", *_parts(bucket), str(int(kind)))


def _parts(bucket: Bucket) -> tuple[str, str, str]:
    return bucket.tenant, bucket.agent, bucket.content.value
