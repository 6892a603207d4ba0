"""Items of a LangGraph store as records, and what is indexed of them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from palimpsest.integrations import extra
from palimpsest.integrations.values import leaves
from palimpsest.models import Record

with extra("langgraph"):
    from langgraph.store.base import Item, PutOp, SearchItem, get_text_at_path

WHOLE = "$"
"""The path of a value as a whole."""
MAX_STATEMENT_BYTES = 8192
"""Of a memory."""


def paths_of(op: PutOp, fields: Sequence[str]) -> tuple[str, ...]:
    """The paths whose texts are indexed of what is put; `fields` where it doesn't say."""
    if op.value is None or op.index is False:
        return ()
    return tuple(fields if op.index is None else op.index)


def statement(value: Mapping[str, Any], paths: Sequence[str]) -> str:
    """What is indexed of a value, "" for nothing."""
    texts = [leaves(value)] if WHOLE in paths else [text for path in paths for text in _texts(value, path)]
    raw = "\n".join(texts).strip().encode("utf-8", "replace")
    return raw[:MAX_STATEMENT_BYTES].decode("utf-8", "ignore").strip()


def _texts(value: Mapping[str, Any], path: str) -> list[str]:
    return get_text_at_path(dict(value), path)


def record_id_of(path: str, key: str) -> str:
    """The id of an item's record."""
    return hashlib.sha256(f"{path}\0{key}".encode("utf-8", "surrogatepass")).hexdigest()


def item(record: Record) -> Item:
    """A record as an item."""
    return Item(**_fields(record))


def search_item(record: Record, score: float | None) -> SearchItem:
    """A record as what was found, with the score of its rank, if it has one."""
    return SearchItem(**_fields(record), score=score)


def _fields(record: Record) -> dict[str, Any]:
    value = record.value
    return {
        "namespace": tuple(value["namespace"]),
        "key": value["key"],
        "value": value["value"],
        "created_at": record.create_time,
        "updated_at": record.update_time,
    }
