"""What a vector index keeps on a Qdrant server: names, configuration, payloads and filters (SPEC S-3, S-17).

A collection holds the vectors of one model and one content class. All tenants share it, as Qdrant advises
(https://qdrant.tech/documentation/manage-data/multitenancy/): a point is marked with its tenant, the tenant's
points lie together (`is_tenant`), and there is no graph over all points (m = 0) but one for each value of the
fields that a search is confined by (payload_m). Such a field here is not the tenant, for no search is as wide
as that: it is the agent, and the contact or conversation within it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Final

from qdrant_client import models

from services.memory.semantic.app.vectors import VectorMismatch
from services.memory.semantic.domain.vectors import (
    NO_FILTERS,
    Bucket,
    ContentClass,
    Filters,
    VectorModel,
    VectorPoint,
    point_id,
    unpack,
)

SCHEMA: Final = 1
"""Of the payload and its meaning; another one is another collection's."""

TENANT: Final = "tenant"
AGENT: Final = "agent"
CONTENT: Final = "content"
CONTACT: Final = "contact"
CONVERSATION: Final = "conversation"
ITEM: Final = "item"
TIME: Final = "time"
ENDS: Final = "ends"
"""Of what is known to end."""

GRAPH: Final = models.HnswConfigDiff(m=0, payload_m=16)

# A graph for each value of a field pays where searches are confined by that value. Kinds, roles and authors
# have values that all tenants share: graphs for them would cost as much as one over everything.
INDEXES: Final[Mapping[str, models.KeywordIndexParams | models.FloatIndexParams]] = MappingProxyType(
    {
        TENANT: models.KeywordIndexParams(
            type=models.KeywordIndexType.KEYWORD, is_tenant=True, enable_hnsw=False
        ),
        **{
            field: models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, enable_hnsw=graph)
            for field, graph in {
                AGENT: True,
                CONTACT: True,
                CONVERSATION: True,
                CONTENT: False,
                "kind": False,
                "role": False,
                "author": False,
            }.items()
        },
        **{
            field: models.FloatIndexParams(type=models.FloatIndexType.FLOAT, enable_hnsw=False)
            for field in (TIME, ENDS)
        },
    }
)

# Metadata of a collection.
SCHEMA_FACT: Final = "palimpsest_schema"
REVISION_FACT: Final = "model_revision"
DIMENSION_FACT: Final = "dimension"
CONTENT_FACT: Final = "content"
SETTLED_FACT: Final = "settled"
"""True once an index that has this collection open was closed in order: it is no longer new."""

READABLE_CHARACTERS = 40
DIGEST_CHARACTERS = 16


def collection_name(prefix: str, revision: str, content: ContentClass) -> str:
    """Of the class and the model revision; the digest keeps revisions apart that look alike."""
    readable = re.sub(r"[^A-Za-z0-9.]+", "_", revision)[:READABLE_CHARACTERS]
    digest = sha256(revision.encode("utf-8")).hexdigest()[:DIGEST_CHARACTERS]
    return f"{prefix}-{content.value}-{readable}-{digest}"


def vector_params(model: VectorModel) -> models.VectorParams:
    """Cosine, float32, not quantised."""
    return models.VectorParams(size=model.dimension, distance=models.Distance.COSINE)


def facts(model: VectorModel, content: ContentClass) -> dict[str, Any]:
    """The metadata of a new collection."""
    return {
        SCHEMA_FACT: SCHEMA,
        REVISION_FACT: model.revision,
        DIMENSION_FACT: model.dimension,
        CONTENT_FACT: content.value,
    }


def check_collection(
    name: str, config: models.CollectionConfig, model: VectorModel, content: ContentClass
) -> None:
    """Raises VectorMismatch unless the collection is what this code would make for the model and class."""
    found = config.metadata or {}
    if SCHEMA_FACT not in found:
        raise VectorMismatch(
            f"collection {name} was not made by this service, or its Qdrant server is older than 1.16"
        )
    if found[SCHEMA_FACT] != SCHEMA:
        raise VectorMismatch(f"collection {name} has layout {found[SCHEMA_FACT]}, not {SCHEMA}")
    named = (found.get(REVISION_FACT), found.get(DIMENSION_FACT), found.get(CONTENT_FACT))
    if named != (model.revision, model.dimension, content.value):
        raise VectorMismatch(
            f"collection {name} holds {named[2]} vectors of model {named[0]} ({named[1]} dimensions),"
            f" not {content.value} vectors of {model.revision} ({model.dimension})"
        )
    vectors = config.params.vectors
    if not isinstance(vectors, models.VectorParams):
        raise VectorMismatch(f"collection {name} has named vectors")
    if vectors.size != model.dimension:
        raise VectorMismatch(f"collection {name} has {vectors.size} dimensions, not {model.dimension}")
    if vectors.distance != models.Distance.COSINE:
        raise VectorMismatch(f"collection {name} compares by {vectors.distance.value}, not by cosine")


def model_of(name: str, prefix: str, config: models.CollectionConfig) -> VectorModel | None:
    """The model of a collection of ours, None of any other."""
    found = config.metadata or {}
    revision, dimension, content = (found.get(key) for key in (REVISION_FACT, DIMENSION_FACT, CONTENT_FACT))
    if not isinstance(revision, str) or not isinstance(dimension, int | float):
        return None
    if content not in list(ContentClass) or name != collection_name(prefix, revision, ContentClass(content)):
        return None
    return VectorModel(revision=revision, dimension=int(dimension))


def point_struct(point: VectorPoint) -> models.PointStruct:
    """The point as the server stores it."""
    bucket = point.bucket
    payload: dict[str, Any] = {
        TENANT: bucket.tenant,
        AGENT: _agent(bucket),
        CONTENT: bucket.content.value,
        CONTACT: _within(bucket, point.contact_id),
        CONVERSATION: _within(bucket, point.conversation_id),
        ITEM: point.item_id,
        "kind": point.kind,
        "role": point.role,
        "author": point.author,
        TIME: point.time,
        "sequence": point.sequence,
        "session": point.session,
    }
    if point.ends is not None:
        payload[ENDS] = point.ends
    return models.PointStruct(id=str(point.id), vector=list(unpack(point.vector)), payload=payload)


def item_of(payload: models.Payload | None) -> str:
    """The item id of a point. Raises KeyError or TypeError for what is no point of ours."""
    item = (payload or {})[ITEM]
    if not isinstance(item, str):
        raise TypeError("an item id is not a string")
    return item


def passing(bucket: Bucket, filters: Filters = NO_FILTERS) -> models.Filter | None:
    """The conditions of a search: tenant, agent and class, always (S-3), then the filters.

    None when nothing can pass. What has no end does not end by `valid_at`: hence `must_not`.
    """
    contacts = filters.contacts
    if contacts is not None and not contacts:
        return None
    must = _bucket(bucket)
    if contacts is not None:
        must.append(_any(CONTACT, [_within(bucket, contact) for contact in contacts]))
    if filters.conversation_id is not None:
        must.append(_any(CONVERSATION, [_within(bucket, filters.conversation_id)]))
    for field, values in {"kind": filters.kinds, "role": filters.roles, "author": filters.authors}.items():
        if values:
            must.append(_any(field, values))
    if filters.since is not None or filters.until is not None:
        must.append(models.FieldCondition(key=TIME, range=models.Range(gte=filters.since, lt=filters.until)))
    if filters.valid_at is None:
        return models.Filter(must=must)
    must.append(models.FieldCondition(key=TIME, range=models.Range(lte=filters.valid_at)))
    ended = models.FieldCondition(key=ENDS, range=models.Range(lte=filters.valid_at))
    return models.Filter(must=must, must_not=[ended])


def named(bucket: Bucket, item_ids: Sequence[str]) -> models.Filter:
    """These items of the bucket. The ids alone would do; the bucket is there as everywhere (S-3)."""
    ids = models.HasIdCondition(has_id=[str(point_id(bucket, item_id)) for item_id in item_ids])
    return models.Filter(must=[*_bucket(bucket), ids])


def _bucket(bucket: Bucket) -> list[models.Condition]:
    return [
        _any(TENANT, [bucket.tenant]),
        _any(AGENT, [_agent(bucket)]),
        _any(CONTENT, [bucket.content.value]),
    ]


def _any(field: str, values: Sequence[str] | frozenset[str]) -> models.FieldCondition:
    ordered = sorted(values)
    if len(ordered) == 1:
        return models.FieldCondition(key=field, match=models.MatchValue(value=ordered[0]))
    return models.FieldCondition(key=field, match=models.MatchAny(any=ordered))


def _agent(bucket: Bucket) -> str:
    """Agents of several tenants may have one name ("default"): their tenant makes it selective."""
    return f"{len(bucket.tenant)}:{bucket.tenant}/{bucket.agent}"


def _within(bucket: Bucket, value: str) -> str:
    """Names chosen per agent ("1", none at all) are made selective by their bucket."""
    return f"{bucket.key}/{value}"
