"""What a model is, and what it makes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Purpose(IntEnum):
    """What a vector is for; queries go first."""

    QUERY = 0
    DOCUMENT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelDescription:
    """A model: values a vector, most tokens of a text, and `revision`, the hash of its weights."""

    name: str
    dimension: int
    max_tokens: int
    revision: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A tokenised text: `spans` are its tokens' characters; `ids` those of the model (empty if it is remote).

    `token_count` counts the model's special tokens too.
    """

    text: str
    token_count: int
    spans: tuple[tuple[int, int], ...]
    ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """A vector (float32, little endian, length 1) of characters [start, end) of text number `text_index`."""

    text_index: int
    start: int
    end: int
    vector: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkingRule:
    """Cut long texts: at most `max_chunks` a text (0: all), repeating `overlap_tokens`."""

    max_chunks: int = 0
    overlap_tokens: int = 0
