"""Which branches may be the same (SPEC J-13). Pure.

Three signs: vectors of the names (cosine), the names themselves (edit distance by V. Levenshtein, "Binary
codes capable of correcting deletions, insertions, and reversals", 1966, over the length of the longer; words
in common over all words, P. Jaccard, 1912, without the ending of the plural), and conversations that both
have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from services.compactor.domain.attractor_geometry import unpack
from services.compactor.domain.graph import Candidate, Evidence, Finding
from services.compactor.domain.nearness import likeness

PROPOSE_AT: Final = 0.7
"""A score from which two are proposed."""
MERGE_AT: Final = 0.9
"""A score from which two are merged without being asked for, unless the settings say otherwise."""
COSINE_PART: Final = 0.5
"""How much of the score the vectors decide; the names decide the rest."""
COSINE_ALONE: Final = 0.88
"""What a cosine weighs where the names are not alike ("car", "automobile"): it proposes, never merges."""
INDISTINCT: Final = 0.9999
"""A cosine from which the model does not know the names apart, as it knows neither: that says nothing."""
SHARED_PART: Final = 0.1
"""What it adds when all conversations of the one are the other's too."""
FEW: Final = 2
"""Taken for so many conversations more: two that share their only conversation share little."""
PLURAL: Final = "s"
SHORTEST_STEM: Final = 4


def findings(
    ids: Sequence[str], candidates: Sequence[Candidate], shared: Mapping[tuple[str, str], int]
) -> list[Finding]:
    """Pairs of one of `ids` with any other candidate, from PROPOSE_AT on, the likeliest first.

    `shared` has the number of conversations that two have in common, by (one of `ids`, the other).
    """
    wanted = set(ids)
    vectors = {one.id: unpack(one.vector) for one in candidates if one.vector}
    letters = {one.id: Counter(one.slug) for one in candidates}
    found: dict[tuple[str, str], Finding] = {}
    for one in candidates:
        if one.id not in wanted:
            continue
        for other in candidates:
            pair = (min(one.id, other.id), max(one.id, other.id))
            if one.id == other.id or pair in found or differ_in_number(one.slug, other.slug):
                continue
            near = None
            if one.model == other.model and one.id in vectors and other.id in vectors:
                near = likeness(vectors[one.id], vectors[other.id])
                near = None if near >= INDISTINCT else near
            common, fewer = shared.get((one.id, other.id), 0), min(one.conversations, other.conversations)
            # Editing distances are dear: most pairs fall by what no distance could make up for.
            hope = (letters[one.id] & letters[other.id]).total() / max(len(one.slug), len(other.slug))
            best = Evidence(cosine=near, spelling=hope, words=in_common(one.slug, other.slug), shared=common)
            if score(best, fewer) < PROPOSE_AT:
                continue
            evidence = compared(one.slug, other.slug, near, common)
            total = score(evidence, fewer)
            if total >= PROPOSE_AT:
                lesser, greater = sorted((one, other), key=_standing)
                found[pair] = Finding(branch_id=lesser.id, into_id=greater.id, score=total, evidence=evidence)
    return sorted(found.values(), key=lambda one: (-one.score, one.branch_id, one.into_id))


def compared(slug: str, other: str, cosine: float | None, shared: int) -> Evidence:
    """What speaks for two being the same."""
    return Evidence(
        cosine=None if cosine is None else round(min(cosine, 1.0), 4),
        spelling=round(spelled(slug, other), 4),
        words=round(in_common(slug, other), 4),
        shared=shared,
    )


def score(evidence: Evidence, conversations: int) -> float:
    """From 0 to 1; `conversations` is how many the smaller of the two has."""
    names = max(evidence.spelling, evidence.words)
    if evidence.cosine is None:
        total = names
    else:
        both = COSINE_PART * evidence.cosine + (1 - COSINE_PART) * names
        total = max(both, COSINE_ALONE * evidence.cosine)
    common = min(evidence.shared, conversations) / (conversations + FEW)
    return round(min(1.0, total * (1 - SHARED_PART) + SHARED_PART * max(total, common)), 4)


def differ_in_number(slug: str, other: str) -> bool:
    """Whether both have numbers, and not the same: "phase 1" is not "phase 2", however alike they are."""
    mine, theirs = _numbers(slug), _numbers(other)
    return bool(mine and theirs) and mine != theirs


def spelled(slug: str, other: str) -> float:
    """How alike two are spelled, 0 to 1."""
    return 1 - _distance(slug, other) / max(len(slug), len(other), 1)


def in_common(slug: str, other: str) -> float:
    """The share of words that both have, 0 to 1."""
    words, others = set(map(_stem, slug.split("-"))), set(map(_stem, other.split("-")))
    return len(words & others) / len(words | others)


def _standing(one: Candidate) -> tuple[int, str]:
    """Who has more conversations stays; of equals, the older: ids grow with time."""
    return one.conversations, "".join(chr(0x10FFFF - ord(character)) for character in one.id)


def _numbers(slug: str) -> list[str]:
    digits = "".join(character if character.isdigit() else " " for character in slug)
    return digits.split()


def _stem(word: str) -> str:
    return word.removesuffix(PLURAL) if len(word) > SHORTEST_STEM else word


def _distance(one: str, other: str) -> int:
    before = list(range(len(other) + 1))
    for row, left in enumerate(one, 1):
        line = [row]
        for column, right in enumerate(other, 1):
            line.append(min(before[column] + 1, line[-1] + 1, before[column - 1] + (left != right)))
        before = line
    return before[-1]
