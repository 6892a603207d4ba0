"""Where a conversation took another course: shifts of topic and decisions (SPEC J-7). Pure.

Shifts are found as by TextTiling (M. Hearst, "TextTiling: segmenting text into multi-paragraph subtopic
passages", 1997): the likeness of neighbouring blocks of messages, and the depth of its valleys, compared
with their mean and deviation. Blocks are compared by vectors where there are any, else by their terms.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from statistics import fmean, pstdev

from services.compactor.domain import cues
from services.compactor.domain.function_words import is_light
from services.compactor.domain.nearness import NO_VECTORS, Vectors, likeness
from services.compactor.domain.rolling import TurningPoint
from services.compactor.domain.sentences import sentences, specifics, terms
from services.compactor.domain.summaries import Utterance

BLOCK = 3  # messages that are compared as one
EXCERPT = 140  # characters of each message that stand for it; more find no more shifts
MOST_SENTENCES = 6  # of a message, among which the one is sought that says what a block is about
MOST_POINTS = 12
LEAST_BLOCKS = 4  # with fewer there is no mean to compare with
LEAST_DEPTH = 0.15  # of a shift: what is shallower is noise even among smoother valleys
LEAST_SPECIFICS = 1  # of a decision: "important!" decides nothing
LONGEST_TEXT = 160  # characters
DECIDED_SCORE = 0.6
FIRM_SCORE = 0.8  # of a decision that a person states
SHIFT, DECISION = "shift", "decision"


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A message and its place; `time` is ISO 8601 in UTC."""

    message_id: str
    sequence: int
    time: str
    said: Utterance


def blocks(messages: Sequence[Placed]) -> list[str]:
    """The texts whose vectors `turning_points` compares."""
    return [_block(messages[begin : begin + BLOCK]) for begin in range(0, len(messages), BLOCK)]


def turning_points(messages: Sequence[Placed], vectors: Vectors = NO_VECTORS) -> list[TurningPoint]:
    """Those of these messages, in order."""
    return sorted([*_shifts(messages, vectors), *_decisions(messages)], key=lambda one: one.sequence)


def strongest(points: Sequence[TurningPoint]) -> list[TurningPoint]:
    """At most MOST_POINTS, those with the highest scores, in order, one for each message."""
    by_message: dict[int, TurningPoint] = {}
    for one in points:
        known = by_message.get(one.sequence)
        if known is None or one.score > known.score:
            by_message[one.sequence] = one
    ranked = sorted(by_message.values(), key=lambda one: (-one.score, -one.sequence))[:MOST_POINTS]
    return sorted(ranked, key=lambda one: one.sequence)


def _shifts(messages: Sequence[Placed], vectors: Vectors) -> list[TurningPoint]:
    texts = blocks(messages)
    if len(texts) < LEAST_BLOCKS:
        return []
    near = [_likeness(before, after, vectors) for before, after in pairwise(texts)]
    depths = [_depth(near, place) for place in range(len(near))]
    least = max(LEAST_DEPTH, fmean(depths) + pstdev(depths) / 2)
    points = []
    for place, depth in enumerate(depths):
        deepest = depth == max(depths[max(0, place - 1) : place + 2])
        if depth >= least and deepest:
            begins, text = _speaks(messages[(place + 1) * BLOCK : (place + 2) * BLOCK])
            points.append(_point(begins, SHIFT, text, min(1.0, depth)))
    return points


def _speaks(block: Sequence[Placed]) -> tuple[Placed, str]:
    """The message and its sentence that say most of a block's topic, the first among equals."""
    said = [
        (one, sentence)
        for one in block
        for sentence, is_code in islice(sentences(one.said.text), MOST_SENTENCES)
        if not is_code
    ]
    return max(
        said,
        key=lambda pair: len(specifics(pair[1])) + len(_content(pair[1])) / 2,
        default=(block[0], ""),
    )


def _depth(near: Sequence[float], place: int) -> float:
    """How far the likeness rises on both sides of a valley."""
    left = right = near[place]
    for value in reversed(near[:place]):
        if value < left:
            break
        left = value
    for value in near[place + 1 :]:
        if value < right:
            break
        right = value
    return (left - near[place]) + (right - near[place])


def _decisions(messages: Sequence[Placed]) -> list[TurningPoint]:
    points = []
    for one in messages:
        for sentence, is_code in sentences(one.said.text):
            if is_code or cues.asks(sentence) or not cues.DECIDED.search(sentence):
                continue
            if len(specifics(sentence)) + len(_content(sentence)) > LEAST_SPECIFICS:
                points.append(_point(one, DECISION, sentence, FIRM_SCORE if one.said.asks else DECIDED_SCORE))
                break
    return points


def _point(message: Placed, kind: str, text: str, score: float) -> TurningPoint:
    cut = text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1].rstrip() + "…"
    return TurningPoint(
        message_id=message.message_id,
        sequence=message.sequence,
        time=message.time,
        kind=kind,
        text=f"{message.said.author}: {cut}" if cut else message.said.author,
        score=round(score, 4),
    )


def _block(messages: Sequence[Placed]) -> str:
    return "\n".join(one.said.text[:EXCERPT] for one in messages if one.said.text)


def _likeness(one: str, other: str, vectors: Vectors) -> float:
    if one in vectors and other in vectors:
        return likeness(vectors[one], vectors[other])
    return _overlap(_content(one), _content(other))


def _content(text: str) -> Counter[str]:
    return Counter(term for term in terms(text) if not is_light(term))


def _overlap(one: Counter[str], other: Counter[str]) -> float:
    """The cosine of two bags of terms; 0 where one is empty."""
    shared = sum(count * other[term] for term, count in one.items())
    length = math.sqrt(sum(n * n for n in one.values()) * sum(n * n for n in other.values()))
    return shared / length if length else 0.0
