"""Derived documents (SPEC §9): whole JSON objects, versioned, and what is known of each. Pure."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from services.kit.errors import InvalidField, LimitExceeded, NotFound, VersionConflict

MAX_DOCUMENT_BYTES = 1_048_576  # K-3, as canonical JSON in UTF-8
MAX_DOCUMENT_DEPTH = 64
MAX_SOURCES = 10_000
MAX_SOURCE_BYTES = 512
MAX_SOURCES_BYTES = 1_048_576  # of all of a document's source ids together
MAX_ENGINE_BYTES = 200
MAX_FROZEN = 100  # versions of a document that are frozen at a time
HISTORY_SNAPSHOTS = 10  # K-1
EXACT_INTEGERS = 2**53  # up to here a double holds every integer, and a protobuf number is a double

JsonObject = Mapping[str, Any]


class Kind(StrEnum):
    """What a document describes."""

    ATTRACTOR = "attractor"
    """The themes of an agent; one for each agent."""
    SUMMARY = "summary"
    """A conversation's rolling summary; the subject is the conversation's id."""
    WIKI = "wiki"
    """The page of a branch; the subject is the branch's id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """The form of a document's JSON; `version` counts its incompatible changes."""

    name: str
    version: int


SCHEMAS: Final[Mapping[Kind, Schema]] = MappingProxyType(
    {
        Kind.ATTRACTOR: Schema(name="palimpsest.attractor", version=1),
        Kind.SUMMARY: Schema(name="palimpsest.summary", version=1),
        Kind.WIKI: Schema(name="palimpsest.wiki", version=1),
    }
)
"""The form in which this version writes each kind, and that it takes from a cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentKey:
    """Names a document; `subject` is empty where there is one for each agent."""

    tenant: str
    agent_id: str
    kind: Kind
    subject: str = ""


def attractor_key(tenant: str, agent_id: str) -> DocumentKey:
    """An agent's attractor."""
    return DocumentKey(tenant=tenant, agent_id=agent_id, kind=Kind.ATTRACTOR)


def summary_key(tenant: str, agent_id: str, conversation_id: str) -> DocumentKey:
    """A conversation's rolling summary."""
    return DocumentKey(tenant=tenant, agent_id=agent_id, kind=Kind.SUMMARY, subject=conversation_id)


def wiki_key(tenant: str, agent_id: str, branch_id: str) -> DocumentKey:
    """A branch's page."""
    return DocumentKey(tenant=tenant, agent_id=agent_id, kind=Kind.WIKI, subject=branch_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A document to be written; `engine` names what derived it, `source_ids` from what (SV-7).

    `stale` says that a source of it was stale itself: then the new version is from its beginning.
    """

    body: JsonObject
    engine: str
    source_ids: Sequence[str] = ()
    stale: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionInfo:
    """A version without its text; `size` is that of the text in bytes."""

    version: int
    created: datetime
    schema: Schema
    engine: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One version of a document. It never changes.

    `created` is unique among the versions of a document, and rises with them.
    """

    key: DocumentKey
    version: int
    created: datetime
    schema: Schema
    engine: str
    source_ids: tuple[str, ...]
    body: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What changes about a document: which version is the newest, and how its versions are marked.

    `version` counts documents, from 1, and goes on after an erasure; 0 is nothing yet. `revision` counts
    every change of the head. `stale_revision` is the revision at which the newest version was found to be out
    of date (J-17), 0 while it is not. `pinned` is the version that is read unless another is named, 0 for the
    newest; `frozen` are the versions frozen now, in order, the pinned one among them.
    """

    version: int = 0
    revision: int = 0
    stale_revision: int = 0
    pinned: int = 0
    frozen: tuple[int, ...] = ()
    present: bool = False

    @property
    def current(self) -> int:
        """The newest version that there is, 0 for none: what a writer names as expected."""
        return self.version if self.present else 0

    @property
    def stale(self) -> bool:
        """Whether the newest version should be derived again."""
        return self.stale_revision > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A document's newest version and its head, as they were at one moment."""

    head: Head
    document: Document


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChange:
    """How a top-level field differs; `present` says on which sides it is (before, after)."""

    name: str
    present: tuple[bool, bool]
    before: Any = None
    after: Any = None


# How a head changes


def written(head: Head, based_on: Head, *, stale: bool = False) -> Head:
    """After a new version was written by somebody who saw the head `based_on` before reading the sources.

    Raises VersionConflict unless that has the same version. What was marked stale since stays so: the new
    version may not know of that change. With `stale` it is so whenever it was marked.
    """
    if based_on.current != head.current:
        raise VersionConflict(metadata={"current_version": str(head.current)})
    revision = head.revision + 1
    marked = head.stale_revision if head.stale_revision > based_on.revision else 0
    return replace(
        head,
        version=head.version + 1,
        revision=revision,
        stale_revision=revision if stale else marked,
        present=True,
    )


def marked_stale(head: Head) -> Head:
    """After a source changed."""
    return replace(head, revision=head.revision + 1, stale_revision=head.revision + 1)


def frozen(head: Head, version: int) -> Head:
    """After a version that exists was frozen: it is read from now on. Raises LimitExceeded."""
    versions = tuple(sorted({*head.frozen, version}))
    if len(versions) > MAX_FROZEN:
        raise LimitExceeded(
            "too many versions are frozen",
            metadata={"limit": str(MAX_FROZEN), "actual": str(len(versions))},
        )
    return replace(head, revision=head.revision + 1, pinned=version, frozen=versions)


def unfrozen(head: Head, version: int) -> Head:
    """After a version was let go; where it was the pinned one, the newest is read. Raises NotFound."""
    if version not in head.frozen:
        raise NotFound("frozen version", str(version))
    return replace(
        head,
        revision=head.revision + 1,
        pinned=0 if head.pinned == version else head.pinned,
        frozen=tuple(one for one in head.frozen if one != version),
    )


def erased(head: Head) -> Head:
    """After all versions were deleted."""
    return Head(version=head.version, revision=head.revision + 1)


def changes(before: JsonObject, after: JsonObject) -> list[FieldChange]:
    """The top-level fields that differ, by name. 1 and 1.0 are the same, 1 and true are not."""
    return [
        FieldChange(
            name=name,
            present=(name in before, name in after),
            before=before.get(name),
            after=after.get(name),
        )
        for name in sorted({*before, *after})
        if (name in before) != (name in after) or not _same(before[name], after[name])
    ]


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)


# What may be written


def encode_body(body: JsonObject) -> str:
    """A document's canonical JSON. Raises InvalidField for what no store or caller gets back as it was.

    That is: texts with NUL or lone surrogates, numbers that are not finite, integers beyond 2^53, keys that
    are no texts, more than MAX_DOCUMENT_DEPTH levels or MAX_DOCUMENT_BYTES.
    """
    for value in _values(body):
        _check_value(value)
    text = canonical(body)
    if len(text.encode("utf-8")) > MAX_DOCUMENT_BYTES:
        raise InvalidField("body", f"over {MAX_DOCUMENT_BYTES} bytes as JSON")
    return text


def canonical(value: Any) -> str:
    """JSON that is the same for the same value: sorted keys, no spaces."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def check_draft(draft: Draft) -> None:
    """Raises InvalidField for an engine or sources that are not kept. `encode_body` checks the rest."""
    _check_name("engine", draft.engine, MAX_ENGINE_BYTES)
    if len(draft.source_ids) > MAX_SOURCES:
        raise InvalidField("source_ids", f"more than {MAX_SOURCES}")
    for source in draft.source_ids:
        _check_name("source_ids", source, MAX_SOURCE_BYTES)
    if sum(len(source.encode("utf-8")) for source in draft.source_ids) > MAX_SOURCES_BYTES:
        raise InvalidField("source_ids", f"over {MAX_SOURCES_BYTES} bytes together")


def check_key(key: DocumentKey) -> None:
    """Raises InvalidField for ids that no store keeps, or for a subject that does not fit the kind."""
    _check_text("agent_id", key.agent_id)
    _check_text("subject", key.subject)
    if (key.kind is Kind.ATTRACTOR) != (key.subject == ""):
        raise InvalidField("subject", "an attractor has none, other documents need one")


def _values(body: JsonObject) -> Iterator[Any]:
    """Every key and value, level by level, so that depth is a count and no recursion. Raises InvalidField."""
    if not isinstance(body, dict):
        raise InvalidField("body", "not a JSON object")
    level: list[Any] = [body]
    for _ in range(MAX_DOCUMENT_DEPTH):
        below: list[Any] = []
        for container in level:
            if isinstance(container, dict):
                if not all(isinstance(key, str) for key in container):
                    raise InvalidField("body", "holds a key that is no text")
                yield from container
                inner: Any = container.values()
            else:
                inner = container
            for value in inner:
                if isinstance(value, dict | list):
                    below.append(value)
                else:
                    yield value
        if not below:
            return
        level = below
    raise InvalidField("body", f"nested more than {MAX_DOCUMENT_DEPTH} deep")


def _check_value(value: Any) -> None:
    match value:
        case None | bool():
            pass
        case str():
            _check_text("body", value)
        case int():
            if abs(value) > EXACT_INTEGERS:
                raise InvalidField("body", "holds an integer beyond 2^53")
        case float():
            if not math.isfinite(value):
                raise InvalidField("body", "holds a number that is not finite")
        case _:
            raise InvalidField("body", "holds what JSON cannot hold")


def _check_name(name: str, text: str, limit: int) -> None:
    _check_text(name, text)
    if not 1 <= len(text.encode("utf-8")) <= limit:
        raise InvalidField(name, f"not 1 to {limit} bytes")


def _check_text(name: str, text: str) -> None:
    if "\x00" in text:
        raise InvalidField(name, "holds a NUL character")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidField(name, "holds a lone surrogate") from error
