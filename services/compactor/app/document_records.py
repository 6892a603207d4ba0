"""Documents as values of the key-value store, and the keys of these (SPEC K-1).

A value is `<revision>:<digest>:<JSON>`. The digest is over its key and JSON, so what is cut, altered, or
under another key is told from a document. A *mark*, `<revision>:`, holds no document: whoever meets it reads
the row, and no value with a lesser revision replaces it.

A key is `{tenant:agent}:…`: in a cluster, the part in braces chooses the machine, so all keys of an agent are
on one. Ids are percent-encoded but for letters, digits and `._-~`; so no id holds a colon or a brace there,
and two documents never share a key.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote

from services.compactor.app.document_ports import MAX_VALUE_BYTES, Unreadable, revision_of
from services.compactor.domain.documents import (
    SCHEMAS,
    Document,
    DocumentKey,
    Head,
    Kind,
    Schema,
    canonical,
)
from services.kit.times import from_micros, to_micros

FORMAT = 1  # of the JSON in a value; another is unreadable
DIGEST_BYTES = 16
FRAME_BYTES = 200  # revision, digest and what stands around the documents, generously
ESCAPES = "._-~"  # beside letters and digits


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What a value holds: a head, documents, and neither for a mark."""

    revision: int
    head: Head | None = None
    documents: tuple[Document, ...] = ()


def current_name(key: DocumentKey) -> str:
    """Where the newest version is, with the head."""
    if key.kind is Kind.ATTRACTOR:
        return f"{_agent(key)}:attractor:state"
    return f"{_agent(key)}:{key.kind}:{_escaped(key.subject)}"


def history_name(key: DocumentKey) -> str:
    """Where the newest versions of an attractor are, the newest first."""
    return f"{_agent(key)}:attractor:history"


def frozen_name(key: DocumentKey, version: int) -> str:
    """Where a frozen version of an attractor is."""
    return f"{_agent(key)}:attractor:frozen:{version}"


def moment_name(key: DocumentKey, created: datetime) -> str:
    """Where the version of a summary or page is that was written at this moment; the time in microseconds."""
    return f"{_agent(key)}:{key.kind}:history:{_escaped(key.subject)}:{to_micros(created)}"


def _agent(key: DocumentKey) -> str:
    return f"{{{_escaped(key.tenant)}:{_escaped(key.agent_id)}}}"


def _escaped(name: str) -> str:
    return quote(name, safe=ESCAPES)


def mark(revision: int) -> bytes:
    """A value without a document."""
    return b"%d:" % revision


def encode(name: str, record: Record) -> bytes:
    """The value of a record; as many of its documents, the first ones, as fit."""
    head = "null" if record.head is None else canonical(_head_fields(record.head))
    room = MAX_VALUE_BYTES - FRAME_BYTES - len(head)
    texts: list[bytes] = []
    for document in record.documents:
        text = canonical(_document_fields(document)).encode("utf-8")
        room -= len(text) + 1
        if room < 0:
            break
        texts.append(text)
    whole = b'{"format":%d,"head":%s,"documents":[%s]}' % (FORMAT, head.encode("utf-8"), b",".join(texts))
    return b"%d:%s:%s" % (record.revision, _digest(name, whole), whole)


def decode(name: str, key: DocumentKey, value: bytes) -> Record:
    """The record in a value found under a name. Raises Unreadable, whatever the bytes are.

    Documents of a schema that this version does not write are unreadable too.
    """
    revision = revision_of(value)
    if revision is None:
        raise Unreadable
    _, _, rest = value.partition(b":")
    if not rest:
        return Record(revision=revision)
    digest, _, text = rest.partition(b":")
    if digest != _digest(name, text):
        raise Unreadable
    try:
        fields = json.loads(text)
        if fields["format"] != FORMAT:
            raise Unreadable
        head = None if fields["head"] is None else _head(fields["head"])
        documents = tuple(_document(key, one) for one in fields["documents"])
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        raise Unreadable from error
    if any(document.schema != SCHEMAS[key.kind] for document in documents):
        raise Unreadable
    return Record(revision=revision, head=head, documents=documents)


def _digest(name: str, text: bytes) -> bytes:
    """Hex. Tells accidents; who may write to the store may forge it."""
    data = name.encode("utf-8") + b"\x00" + text
    return hashlib.blake2b(data, digest_size=DIGEST_BYTES).hexdigest().encode("ascii")


def _head_fields(head: Head) -> dict[str, Any]:
    return {
        "version": head.version,
        "revision": head.revision,
        "stale_revision": head.stale_revision,
        "pinned": head.pinned,
        "frozen": list(head.frozen),
    }


def _head(fields: dict[str, Any]) -> Head:
    return Head(
        version=fields["version"],
        revision=fields["revision"],
        stale_revision=fields["stale_revision"],
        pinned=fields["pinned"],
        frozen=tuple(fields["frozen"]),
        present=True,
    )


def _document_fields(document: Document) -> dict[str, Any]:
    return {
        "version": document.version,
        "created": to_micros(document.created),
        "schema": {"name": document.schema.name, "version": document.schema.version},
        "engine": document.engine,
        "source_ids": list(document.source_ids),
        "body": document.body,
    }


def _document(key: DocumentKey, fields: dict[str, Any]) -> Document:
    return Document(
        key=key,
        version=fields["version"],
        created=from_micros(fields["created"]),
        schema=Schema(name=fields["schema"]["name"], version=fields["schema"]["version"]),
        engine=fields["engine"],
        source_ids=tuple(fields["source_ids"]),
        body=fields["body"],
    )
