"""Which memories are merged, and what is known of a run that did so (SPEC J-10). Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Final

COMPARED: Final = 30
"""J-10: the newest live memories of an agent that are compared with each other."""
COSINE: Final = 0.85
"""J-10: how similar two are at the least."""
MOST_MERGES: Final = 5
"""J-10: groups of one run."""


class Outcome(StrEnum):
    """What became of a group."""

    PLANNED = "planned"
    """It is to be merged: of a dry run, or of a run that was cut short."""
    MERGED = "merged"
    SKIPPED = "skipped"
    """One of its memories changed meanwhile: nothing was done."""
    UNDONE = "undone"
    KEPT = "kept"
    """It cannot be taken back: something took the merged memory's place since, or a member's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A memory that may be merged; `size` is that of its statement, in characters."""

    memory_id: str
    revision: int
    contact_id: str
    key: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Similar:
    """Two memories of one scope and kind, COSINE or more alike.

    `covers`: the first says all that the other says; `covered`: the other way round. `barred`: one replaces
    or contradicts the other.
    """

    memory_id: str
    other_id: str
    cosine: float
    covers: bool
    covered: bool
    barred: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """A group: `memory_id` takes the place of `members` (id, revision), the first of which is the one whose
    key and statement stay; `cosine` is the least between that one and another."""

    memory_id: str
    members: tuple[tuple[str, int], ...]
    contact_id: str
    key: str
    cosine: float
    outcome: Outcome = Outcome.PLANNED


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run over one agent; `planned` says that what it is to merge is settled.

    `decayed` counts the memories that lost confidence, `restored` those of them that got it back.
    """

    id: str
    agent_id: str
    dry: bool
    created: datetime
    finished: datetime | None = None
    undone: datetime | None = None
    planned: bool = False
    compared: int = 0
    decayed: int = 0
    restored: int = 0
    merges: tuple[Merge, ...] = ()

    def with_outcome(self, merge: Merge, outcome: Outcome) -> Run:
        """The run after something became of a group of it."""
        return replace(
            self, merges=tuple(replace(one, outcome=outcome) if one is merge else one for one in self.merges)
        )


def plan(
    candidates: Sequence[Candidate], pairs: Sequence[Similar], new_ids: Sequence[str]
) -> tuple[Merge, ...]:
    """At most as many groups as there are `new_ids`: each a memory, and those of which it says all.

    Greedy: the memory that makes most others superfluous comes first; of equal ones the longer statement,
    then the newer (`candidates` begin with the newest). Similar to a member is not enough: each is held
    against the one that stays, so a chain of small differences is no group.
    """
    known = {one.memory_id: one for one in candidates}
    covered = _covered(known, pairs)
    order = {one.memory_id: place for place, one in enumerate(candidates)}
    free = set(known)
    made: list[Merge] = []
    for new_id in new_ids:
        groups = {id_: covered.get(id_, {}).keys() & free for id_ in free}
        best = max(
            (id_ for id_ in free if groups[id_]),
            key=lambda id_: (len(groups[id_]), known[id_].size, -order[id_]),
            default=None,
        )
        if best is None:
            break
        others = sorted(groups[best], key=order.__getitem__)
        members = tuple((id_, known[id_].revision) for id_ in (best, *others))
        made.append(
            Merge(
                memory_id=new_id,
                members=members,
                contact_id=known[best].contact_id,
                key=known[best].key,
                cosine=min(covered[best][id_] for id_ in others),
            )
        )
        free -= {best, *others}
    return tuple(made)


def _covered(known: Mapping[str, Candidate], pairs: Sequence[Similar]) -> dict[str, dict[str, float]]:
    """By memory, those of which it says all, with the cosine; nothing that is barred."""
    found: dict[str, dict[str, float]] = {}
    for pair in pairs:
        if pair.barred or not {pair.memory_id, pair.other_id} <= known.keys():
            continue
        if pair.covers:
            found.setdefault(pair.memory_id, {})[pair.other_id] = pair.cosine
        if pair.covered:
            found.setdefault(pair.other_id, {})[pair.memory_id] = pair.cosine
    return found
