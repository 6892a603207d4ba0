"""Search of searchable blocks: BM25 over the terms table (W-4; the formula is in domain/blocks_search.py)."""

from __future__ import annotations

from collections.abc import Sequence

from services.kit.sql import Row, Script, Value, fetch
from services.memory.episodic.adapters.sql.blocks import BlockRow, block_at, blocks_in, places_of
from services.memory.episodic.app.working_ports import Matches
from services.memory.episodic.domain.blocks import ContextEntry, Kind, Owner, effective, require_kind
from services.memory.episodic.domain.blocks_search import K1, idf, length_factors

NUMBER = "CAST(? AS DOUBLE PRECISION)"


def search(owner: Owner, label: str, terms: Sequence[str], limit: int) -> Script[Matches]:
    """Best first. Several blocks count as one collection, so that their scores compare.

    Raises NotFound, StateConflict (the block isn't searchable).
    """
    blocks = yield from _searched(owner, label)
    labels = {row.number: row.block.label for row in blocks}
    weights = yield from _weights(owner.tenant, blocks, terms)
    if not weights:
        return Matches()
    ranked = yield from _ranked(owner.tenant, blocks, weights, limit)
    scores = {row["entry"]: float(row["score"]) for row in ranked}
    rows = yield from fetch(
        "SELECT number, block, key, title, content, token_count, update_time FROM context_entries"
        " WHERE tenant = ? AND number IN ??",
        owner.tenant,
        list(scores),
    )
    found = {row["number"]: _entry(row, labels[row["block"]]) for row in rows}
    return Matches(
        entries=[(found[number], score) for number, score in scores.items()],
        telling=sorted(weights, key=lambda term: -weights[term]),
    )


def _entry(row: Row, label: str) -> ContextEntry:
    return ContextEntry(
        label=label,
        key=row["key"],
        title=row["title"],
        content=row["content"],
        token_count=row["token_count"],
        update_time=row["update_time"],
    )


def _searched(owner: Owner, label: str) -> Script[Sequence[BlockRow]]:
    places = yield from places_of(owner)
    if label:
        row = yield from block_at(owner, places, label)
        require_kind(row.block, Kind.SEARCHABLE)
        return [row]
    rows = yield from blocks_in(owner, places)
    shown = effective(row.block for row in rows)
    return [row for row in rows if row.block in shown and row.block.kind is Kind.SEARCHABLE]


def _weights(tenant: str, blocks: Sequence[BlockRow], terms: Sequence[str]) -> Script[dict[str, float]]:
    """Of those terms that any entry holds."""
    if not blocks or not terms:
        return {}
    rows = yield from fetch(
        "SELECT term, COUNT(*) AS containing FROM context_terms"
        " WHERE tenant = ? AND block IN ?? AND term IN ?? GROUP BY term",
        tenant,
        [row.number for row in blocks],
        list(terms),
    )
    entries = sum(row.block.entry_count for row in blocks)
    containing = {row["term"]: row["containing"] for row in rows}
    # In the order of the query, so that the sum is the same whatever order the rows come in.
    return {term: idf(entries, containing[term]) for term in terms if term in containing}


def _ranked(
    tenant: str, blocks: Sequence[BlockRow], weights: dict[str, float], limit: int
) -> Script[Sequence[Row]]:
    """Entry and score of the best."""
    entries = sum(row.block.entry_count for row in blocks)
    constant, by_length = length_factors(sum(row.term_count for row in blocks) / max(1, entries))
    cases = " ".join([f"WHEN ? THEN {NUMBER}"] * len(weights))
    by_term: list[Value] = [value for pair in weights.items() for value in pair]
    return (
        yield from fetch(
            f"SELECT entry, SUM(CASE term {cases} ELSE 0 END * {NUMBER} * frequency"
            f" / (frequency + {NUMBER} + {NUMBER} * length)) AS score FROM context_terms"
            " WHERE tenant = ? AND block IN ?? AND term IN ?? GROUP BY entry "
            " ORDER BY score DESC, entry LIMIT ?",
            *by_term,
            K1 + 1,
            constant,
            by_length,
            tenant,
            [row.number for row in blocks],
            list(weights),
            limit,
        )
    )
