"""Exact originals of messages, kept as records beside them.

A message of ours has parts that people and models read; a framework's message may hold more (provider fields,
signatures, usage, images). Its JSON is a record, or several where it is long, under the message's id.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from palimpsest.client import AsyncClient
from palimpsest.errors import NotFoundError
from palimpsest.integrations.concurrent import gathered
from palimpsest.models import Field, Record

COLLECTION = "originals"
PREFIX = "exact."
"""How the ids of messages begin that have an original."""
PIECE_CHARACTERS = 100_000
"""Of an original in one record: ASCII, so with each escape escaped once more below a record's 256 KiB."""
MOST_SINGLE_READS = 32
"""Originals that are read one by one; if there are more, all of the conversation are listed."""


async def put(client: AsyncClient, conversation_id: str, originals: Mapping[str, str]) -> None:
    """Stores originals, ASCII, by their messages' ids. Again is no change."""
    if not originals:
        return
    writes = [
        (f"{message_id}.{n}", {"conversation": conversation_id, "pieces": len(pieces), "text": piece})
        for message_id, text in originals.items()
        for pieces in [_pieces(text)]
        for n, piece in enumerate(pieces)
    ]
    await gathered(client.put_record(COLLECTION, value, record_id) for record_id, value in writes)


async def prepare(client: AsyncClient) -> None:
    """Creates the collection where it isn't there."""
    await client.put_collection(COLLECTION, {"conversation": "string"})


async def get(client: AsyncClient, conversation_id: str, message_ids: Sequence[str]) -> dict[str, str]:
    """The originals of messages by their ids; what is not there is left out.

    A fork's messages have the ids, and so the originals, of what they are copies of.
    """
    if not message_ids:
        return {}
    records: dict[str, Record] = {}
    try:
        if len(message_ids) > MOST_SINGLE_READS:
            where = Field("conversation").equals(conversation_id)
            async for record in client.records(COLLECTION, where, page_size=1000):
                records[record.id] = record
        firsts = [f"{message_id}.0" for message_id in message_ids]
        await _add(client, records, firsts)
        more = [
            f"{message_id}.{n}"
            for message_id in message_ids
            if (first := records.get(f"{message_id}.0")) is not None
            for n in range(1, first.value["pieces"])
        ]
        await _add(client, records, more)
    except NotFoundError:
        return {}
    return await asyncio.to_thread(_joined, records, message_ids)


async def _add(client: AsyncClient, records: dict[str, Record], ids: Sequence[str]) -> None:
    async def one(record_id: str) -> Record | None:
        try:
            return await client.record(COLLECTION, record_id)
        except NotFoundError:
            return None

    missing = [record_id for record_id in ids if record_id not in records]
    found = await gathered(map(one, missing))
    records.update({record.id: record for record in found if record is not None})


def _joined(records: Mapping[str, Record], message_ids: Sequence[str]) -> dict[str, str]:
    joined = {}
    for message_id in message_ids:
        first = records.get(f"{message_id}.0")
        if first is None:
            continue
        pieces = [records.get(f"{message_id}.{n}") for n in range(first.value["pieces"])]
        if None not in pieces:
            joined[message_id] = "".join(piece.value["text"] for piece in pieces if piece is not None)
    return joined


def _pieces(text: str) -> list[str]:
    return [text[start : start + PIECE_CHARACTERS] for start in range(0, len(text), PIECE_CHARACTERS)]
