"""An attractor as a document's JSON, and back (SPEC J-12, K-3). Pure; docs/attractor.md describes the fields.

A version names its conversations in `source_ids`, by time. `assignments` has the place of each one's basin in
`basins`, counted from 1, 0 for none, as unsigned 16-bit numbers, little endian, in base64; so a version holds
all memberships in a few bytes, while `members` and `trajectory` name the newest ones for readers.
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from services.compactor.domain.attractor import (
    MAX_NAME_LENGTH,
    NOWHERE,
    Attractor,
    Basin,
    Change,
    ChangeKind,
    Earlier,
    Term,
    Vector,
    Visit,
)
from services.compactor.domain.attractor_dynamics import (
    Dwell,
    dwells,
    effective,
    entropy,
    stays,
    transitions,
)
from services.compactor.domain.attractor_geometry import pack, unpack
from services.compactor.domain.documents import JsonObject
from services.kit.errors import InvalidField, NotFound

ENGINE: Final = "attractor-1"
"""Names the method in a document; rises when it changes what comes out."""
SHOWN_MEMBERS: Final = 100
SHOWN_VISITS: Final = 500
DIGITS: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """What is shown of a basin without opening the document."""

    id: str
    name: str
    label: str
    weight: float
    members: int
    last_visit: datetime


def body_of(attractor: Attractor, fingerprint: str) -> JsonObject:
    """The JSON. `fingerprint` tells the conversations that it was made of."""
    shares = [basin.weight for basin in attractor.basins]
    return {
        "model": attractor.model,
        "fingerprint": fingerprint,
        "conversation_count": len(attractor.visits),
        "omitted_count": attractor.omitted,
        "last_basin": attractor.last_basin,
        "basins": _basins(attractor),
        "scattered": {
            "member_count": sum(visit.basin == NOWHERE for visit in attractor.visits),
            "share": _round(attractor.scattered),
        },
        "mean": _encode(attractor.mean),
        "drift": _maybe(attractor.drift),
        "entropy_bits": _round(entropy(shares)),
        "effective_basins": _round(effective(shares)),
        "transitions": [
            {"from": one, "to": other, "count": count}
            for (one, other), count in sorted(transitions(attractor.visits).items())
        ],
        "trajectory": [
            {"time": _iso(visit.time), "basin": visit.basin, "conversation": visit.conversation_id}
            for visit in attractor.visits[-SHOWN_VISITS:]
        ],
        "assignments": _assignments(attractor),
        "changes": [change_json(change) for change in attractor.changes],
    }


def sources_of(attractor: Attractor) -> tuple[str, ...]:
    """The conversations, by time."""
    return tuple(visit.conversation_id for visit in attractor.visits)


def earlier_of(body: JsonObject, source_ids: Sequence[str]) -> Earlier:
    """What an update or a comparison needs of a version. Raises ValueError for what is no attractor."""
    try:
        basins = tuple(_basin(read) for read in body["basins"])
        numbers = _numbers(body["assignments"])
        if len(numbers) != len(source_ids):
            raise ValueError("assignments do not fit the sources")
        ids = (NOWHERE, *(basin.id for basin in basins))
        return Earlier(
            model=str(body["model"]),
            last_basin=int(body["last_basin"]),
            basins=basins,
            labels={one: ids[number] for one, number in zip(source_ids, numbers, strict=True)},
            mean=_decode(body["mean"]),
        )
    except (KeyError, TypeError, IndexError, AttributeError, struct.error, binascii.Error) as error:
        raise ValueError("no attractor") from error


def brief_of(body: JsonObject) -> tuple[Brief, ...]:
    """The basins, the heaviest first. Raises ValueError for what is no attractor."""
    try:
        return tuple(
            Brief(
                id=_basin_id(read["id"]),
                name=str(read["name"]),
                label=str(read["label"]),
                weight=float(read["weight"]),
                members=int(read["member_count"]),
                last_visit=datetime.fromisoformat(read["last_visit"]),
            )
            for read in body["basins"]
        )
    except (KeyError, TypeError) as error:
        raise ValueError("no attractor") from error


def renamed(body: JsonObject, basin_id: str, name: str) -> JsonObject:
    """The same with a basin's name, "" to take it away. Raises NotFound, InvalidField.

    With the name that it has, it is the same JSON.
    """
    name = " ".join(name.split())
    if len(name) > MAX_NAME_LENGTH:
        raise InvalidField("name", f"over {MAX_NAME_LENGTH} characters")
    basins = body.get("basins", [])
    found = next((basin for basin in basins if basin["id"] == basin_id), None)
    if found is None:
        raise NotFound("basin", basin_id)
    if found["name"] == name:
        return body
    changed = [{**basin, "name": name} if basin is found else basin for basin in basins]
    change = Change(kind=ChangeKind.RENAMED, basin=basin_id)
    return {**body, "basins": changed, "changes": [change_json(change)]}


def change_json(change: Change) -> JsonObject:
    """As in a document's `changes`."""
    found: dict[str, Any] = {"kind": change.kind.value, "basin": change.basin}
    if change.others:
        found["others"] = list(change.others)
    if change.distance is not None:
        found["distance"] = _round(change.distance)
    return found


def _basins(attractor: Attractor) -> list[JsonObject]:
    visits: dict[str, list[Visit]] = defaultdict(list)
    for visit in attractor.visits:
        visits[visit.basin].append(visit)
    found = dwells(stays(attractor.visits))
    return [_basin_json(basin, visits[basin.id], found[basin.id]) for basin in attractor.basins]


def _basin_json(basin: Basin, visits: Sequence[Visit], dwell: Dwell) -> JsonObject:
    return {
        "id": basin.id,
        "name": basin.name,
        "label": basin.label,
        "terms": [{"text": term.text, "score": _round(term.score)} for term in basin.terms],
        "weight": _round(basin.weight),
        "cohesion": _round(basin.cohesion),
        "moved": _maybe(basin.moved),
        "centroid": _encode(basin.centroid),
        "member_count": len(visits),
        "members": [visit.conversation_id for visit in reversed(visits[-SHOWN_MEMBERS:])],
        "first_visit": _iso(visits[0].time),
        "last_visit": _iso(visits[-1].time),
        "stay_count": dwell.stays,
        "mean_stay_visits": _round(dwell.visits),
        "mean_stay_seconds": _round(dwell.time.total_seconds()),
    }


def _basin(read: Mapping[str, Any]) -> Basin:
    return Basin(
        id=_basin_id(read["id"]),
        name=str(read["name"]),
        label=str(read["label"]),
        terms=tuple(Term(text=str(term["text"]), score=float(term["score"])) for term in read["terms"]),
        weight=float(read["weight"]),
        cohesion=float(read["cohesion"]),
        centroid=_decode(read["centroid"]),
        moved=None if read["moved"] is None else float(read["moved"]),
    )


def _basin_id(read: Any) -> str:
    if not (isinstance(read, str) and read.startswith("b") and read[1:].isdecimal()):
        raise ValueError("no id of a basin")
    return read


def _assignments(attractor: Attractor) -> str:
    numbers = {NOWHERE: 0, **{basin.id: place for place, basin in enumerate(attractor.basins, start=1)}}
    values = [numbers[visit.basin] for visit in attractor.visits]
    return base64.b64encode(struct.pack(f"<{len(values)}H", *values)).decode("ascii")


def _numbers(text: str) -> tuple[int, ...]:
    packed = base64.b64decode(text, validate=True)
    return struct.unpack(f"<{len(packed) // 2}H", packed)


def _encode(vector: Vector) -> str:
    """Float32, little endian, in base64."""
    return base64.b64encode(pack(vector)).decode("ascii")


def _decode(text: str) -> Vector:
    return unpack(base64.b64decode(text, validate=True))


def _round(value: float) -> float:
    return round(value, DIGITS)


def _maybe(value: float | None) -> float | None:
    return None if value is None else _round(value)


def _iso(time: datetime) -> str:
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z")
