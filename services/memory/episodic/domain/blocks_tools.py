"""The tools that context blocks give the model, with JSON Schema (SPEC W-6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from services.memory.episodic.domain.blocks import ContextBlock, Kind
from services.memory.episodic.domain.parts import Json

MAX_LIMIT = 50
DEFAULT_LIMIT = 5
KEY_PATTERN = r"^[A-Za-z0-9._:/-]{1,128}$"
QUERY_BYTES = 1024
CONTENT_BYTES = 1_048_576
"""Bounds of the calls that the tools make; a schema can only count characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool as model APIs describe it."""

    name: str
    description: str
    input_schema: Mapping[str, Json]


def tools_of(blocks: Iterable[ContextBlock]) -> list[Tool]:
    """The tools that the blocks' kinds call for, by name; each takes only the labels that it works on."""
    labels: dict[Kind, list[str]] = {kind: [] for kind in Kind}
    for block in blocks:
        labels[block.kind].append(block.label)
    made: list[Tool] = []
    if loadable := sorted(labels[Kind.LOADABLE]):
        made.append(_load(loadable))
    if searchable := sorted(labels[Kind.SEARCHABLE]):
        made.append(_search(searchable))
    if writable := sorted(labels[Kind.WRITABLE]):
        made.append(_set(writable))
    if loadable:
        made.append(_unload(loadable))
    return made


def _load(labels: list[str]) -> Tool:
    return Tool(
        name="load_context",
        description=(
            "Reads an entry of a context block and keeps it in view until unload_context. Use it when you"
            " need an entry whose key the system prompt lists; not for one that is in view."
        ),
        input_schema=_schema({"label": _label(labels), "key": _key()}, ["label", "key"]),
    )


def _unload(labels: list[str]) -> Tool:
    return Tool(
        name="unload_context",
        description=(
            "Takes an entry that load_context read out of view again. Use it when the entry is no longer"
            " needed: it makes room. Messages about it stay."
        ),
        input_schema=_schema({"label": _label(labels), "key": _key()}, ["label", "key"]),
    )


def _search(labels: list[str]) -> Tool:
    limit: dict[str, Json] = {
        "type": "integer",
        "minimum": 1,
        "maximum": MAX_LIMIT,
        "description": f"Most entries to return; {DEFAULT_LIMIT} if left out.",
    }
    properties = {"query": _text("Words to look for.", QUERY_BYTES), "label": _label(labels), "limit": limit}
    return Tool(
        name="search_context",
        description=(
            "Finds entries of the searchable context blocks by words, best first; without a label in all of"
            " them. Use it for what a block is said to hold; not for what was remembered or said."
        ),
        input_schema=_schema(properties, ["query"]),
    )


def _set(labels: list[str]) -> Tool:
    action: dict[str, Json] = {
        "type": "string",
        "enum": ["replace", "append"],
        "description": "Whether the content takes the place of what is there, or is added at its end.",
    }
    properties = {
        "label": _label(labels),
        "content": _text("The text to write.", CONTENT_BYTES, least=0),
        "action": action,
    }
    return Tool(
        name="set_context",
        description=(
            "Writes to a context block, within the block's budget of tokens. Use it for what the block's"
            " description asks you to keep. It is stored at once; the system prompt shows it when it is next"
            " refreshed, so do not write it again because it is not there yet."
        ),
        input_schema=_schema(properties, ["label", "content", "action"]),
    )


def _label(labels: list[str]) -> dict[str, Json]:
    return {"type": "string", "enum": labels, "description": "The block."}


def _key() -> dict[str, Json]:
    return {"type": "string", "description": "The entry's key.", "pattern": KEY_PATTERN}


def _text(description: str, most: int, *, least: int = 1) -> dict[str, Json]:
    return {"type": "string", "description": description, "minLength": least, "maxLength": most}


def _schema(properties: Mapping[str, Json], required: list[str]) -> dict[str, Json]:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
