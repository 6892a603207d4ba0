"""Memories by the words of their keys (SPEC S-9)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime

from services.kit.sql import Script, Value, fetch
from services.memory.semantic.adapters.sql.memories_rows import holding, of_kinds
from services.memory.semantic.domain.memory import Kind, Scope

COMMON = 100
"""A word that is in the keys of more memories, among those that are asked about, tells nothing: which of them
were found would be chance, and they would stand before what the other channels find."""

OF_WORD = (
    "SELECT segment, memory_id FROM (SELECT k.segment AS segment, m.memory_id AS memory_id"
    " FROM key_segments AS k JOIN memories AS m ON m.tenant = k.tenant AND m.number = k.number"
    " WHERE k.tenant = ? AND k.agent_id = ? AND k.segment = ? AND contact_id IN ?? AND {live} AND {chosen}"
    " LIMIT ?) AS found"
)


def by_key(
    tenant: str,
    scope: Scope,
    words: Sequence[str],
    limit: int,
    now: datetime,
    kinds: frozenset[Kind],
    as_of: datetime | None,
) -> Script[list[tuple[str, float]]]:
    """See the port. No more of a word's memories are read than tell that it is too common."""
    live, moments = holding(now, as_of)
    chosen, kind_numbers = of_kinds(kinds)
    distinct = list(dict.fromkeys(words))
    arguments: list[Value] = []
    for word in distinct:
        arguments += [tenant, scope.agent_id, word, list(scope.read_buckets), *moments, *kind_numbers]
        arguments.append(COMMON + 1)
    rows = yield from fetch(
        " UNION ALL ".join([OF_WORD.format(live=live, chosen=chosen)] * len(distinct)), *arguments
    )
    having: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        having[row["segment"]].append(row["memory_id"])
    telling = [memory_ids for memory_ids in having.values() if len(memory_ids) <= COMMON]
    hits = Counter(memory_id for memory_ids in telling for memory_id in memory_ids)
    best = sorted(hits.items(), key=lambda hit: (-hit[1], hit[0]))
    return [(memory_id, float(count)) for memory_id, count in best[:limit]]
