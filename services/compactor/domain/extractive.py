"""Summaries made of the messages' own sentences (SPEC E-7, J-6, J-16). Pure, and the same for the same input.

Sentences are chosen for the weight of what they say that no chosen one has said, by their length: the greedy
rule of H. Lin and J. Bilmes, "Multi-document summarization via budgeted maximization of submodular functions"
(2010), over weighted concepts as in D. Gillick and B. Favre, "A scalable global model for summarization"
(2009). Concepts are terms, weighted by how central they are, and specifics, i.e. names, numbers, identifiers.
Where sentences have vectors, those near to many others count more, and those near to a chosen one less (see
nearness). What people say counts more than a model's answers, and the beginning of a message more than its
rest (C.-Y. Lin and E. Hovy, "Identifying topics by position", 1997).
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from services.compactor.domain import cues
from services.compactor.domain.nearness import NO_VECTORS, Nearness, Vectors
from services.compactor.domain.sentences import LONGEST, files, is_cjk, sentences, specifics, terms
from services.compactor.domain.summaries import Section, Statement, Utterance, parse, render
from services.kit.tokens import estimate_tokens

NAME = "extractive-2"
CANDIDATES = 400  # sentences that are compared; of more, the heaviest
LONGEST_TEXT = 6_000  # characters that are read of a message: its beginning and its end
LONGEST_OUTPUT = 2_000  # the same of what tools returned
MOST_CHARACTERS = 120_000  # of all messages together; of more, an equal part of each is read
LEAST_GAIN = 0.1  # of the best sentence's gain: what adds less is left out though it fits
LENGTH_POWER = 0.7  # how much a sentence's length counts against it
FULL_SENTENCE = 5  # concepts; a sentence of fewer is rarely more than a courtesy
SPECIFIC_WEIGHT = 1.6  # of a specific, against 1 for the most central term
LONG_WORD = 7  # shorter words say less, in proportion
PREVIOUS_PART = 0.4  # what is left of a concept's weight when the previous summary has it, or it is an author
STRETCHES = 6  # a range is read in so many parts, so that each of them is heard
FILES_PART = 0.15  # of the tokens, for Relevant Files
MOST_FILES = 8
LONGEST_LINE = LONGEST + 140  # characters of a statement: a sentence and who said it
LATE_PART = 0.6  # plans and open questions stand under Next Move from here on
MOST_IN = {
    Section.OBJECTIVE: 2,
    Section.COMPLETED: 3,
    Section.ACTIVE: 2,
    Section.BLOCKED: 2,
    Section.NEXT: 3,
}
WEIGHT_OF = {
    Section.OBJECTIVE: 1.5,
    Section.DETAILS: 1.0,
    Section.COMPLETED: 1.1,
    Section.ACTIVE: 1.1,
    Section.BLOCKED: 1.2,
    Section.NEXT: 1.3,
}
DECISION_WEIGHT = 1.4
MODEL_WEIGHT = 0.3  # of what a model says: it is long, and can be asked for again
LEAD_WEIGHTS = (1.4, 1.15)  # of the first sentences of a message
SHORTLIST = 64  # sentences that are compared by vectors
OUTPUT_WEIGHT = 0.15  # of what a tool returned, and of code
STALE_WEIGHT = 0.7  # of an older summary's plans and work in hand
ELLIPSIS = "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A sentence that may be chosen; `place` is its order, `source` the part of the input that it is of.

    `text` says who spoke, `sentence` only what was said.
    """

    place: int
    source: int
    section: Section
    text: str
    day: str
    concepts: frozenset[str]
    factor: float
    sentence: str = ""


def summarise(
    messages: Sequence[Utterance], previous: str, max_tokens: int, vectors: Vectors = NO_VECTORS
) -> str:
    """What the messages say in at most `max_tokens` tokens; not empty if there is a message.

    `vectors` are those of `shortlist`, or none.
    """
    messages = clipped(messages)
    candidates = list(_candidates(messages))
    paths = ranked(files(f"{one.text}\n{one.output}") for one in messages)
    known = _known(parse(previous)) | _authors(messages)
    text = _choose(candidates, paths, known, max_tokens, vectors)
    return text or _cut(", ".join(dict.fromkeys(one.author for one in messages)), max_tokens)


def shortlist(messages: Sequence[Utterance], known: Sequence[Statement] = ()) -> list[str]:
    """The sentences whose vectors are of use to `summarise` and `additions`, at most SHORTLIST."""
    messages = clipped(messages)
    candidates = list(_candidates(messages))
    weights = _weights(candidates, _known(known) | _authors(messages))
    return list(dict.fromkeys(one.sentence for one in _heaviest(candidates, weights)))


def additions(
    messages: Sequence[Utterance],
    known: Sequence[Statement],
    fits: Callable[[Sequence[Statement]], bool],
    vectors: Vectors = NO_VECTORS,
) -> list[Statement]:
    """What the messages say beyond what is known already, as far as it fits; without files."""
    messages = clipped(messages)
    candidates = list(_candidates(messages))
    weights = _weights(candidates, _known(known) | _authors(messages))
    said = [one.text for one in known]
    fresh = [one for one in candidates if not any(text.startswith(one.text) for text in said)]
    return _placed(_greedy(fresh, weights, lambda chosen: fits(_placed(chosen)), vectors))


def best(statements: Sequence[Statement], fits: Callable[[Sequence[Statement]], bool]) -> list[Statement]:
    """Those that say most, as far as they fit, in their order."""
    candidates = [
        _kept(statement, statement.text, place, place * STRETCHES // len(statements), newest=True)
        for place, statement in enumerate(statements)
    ]

    def chosen_of(chosen: Sequence[Candidate]) -> list[Statement]:
        return [statements[one.place] for one in sorted(chosen, key=lambda one: one.place)]

    weights = _weights(candidates, frozenset())
    return chosen_of(_greedy(candidates, weights, lambda chosen: fits(chosen_of(chosen)), NO_VECTORS))


def clipped(messages: Sequence[Utterance]) -> Sequence[Utterance]:
    """The messages, each with as much of it as is read; again is no change."""
    characters = sum(min(len(one.text), LONGEST_TEXT) for one in messages)
    limit = LONGEST_TEXT if characters <= MOST_CHARACTERS else MOST_CHARACTERS // len(messages)
    return [
        replace(one, text=_ends(one.text, limit), output=_ends(one.output, min(limit, LONGEST_OUTPUT)))
        for one in messages
    ]


def _ends(text: str, limit: int) -> str:
    """The first three quarters of `limit` characters, and the last quarter, if it is longer."""
    if len(text) <= limit:
        return text
    begin = limit * 3 // 4
    return f"{text[:begin]}\n{text[begin - limit :]}"


def merge(summaries: Sequence[str], max_tokens: int) -> str:
    """One summary of several, the oldest first, in at most `max_tokens` tokens.

    Not empty if one of them is not. Lines stay under their headings, but the plans and the work in hand of
    any but the newest are past, hence details.
    """
    candidates: list[Candidate] = []
    named: list[Sequence[str]] = []
    for source, summary in enumerate(summaries):
        newest = source == len(summaries) - 1
        for statement in parse(summary):
            if statement.section is Section.FILES:
                named.append(files(statement.text) or [statement.text])
                continue
            for text in _pieces(statement.text):
                candidates.append(_kept(statement, text, len(candidates), source, newest=newest))
    paths = ranked(named)
    return _choose(candidates, paths, frozenset(), max_tokens) or _cut(" ".join(paths), max_tokens)


def _pieces(text: str) -> list[str]:
    """A line as it is, or its sentences if it is too long for one: another engine may write prose."""
    divided = [sentence for sentence, _ in sentences(text)] if len(text) > LONGEST_LINE else []
    return divided or [text]


def _kept(statement: Statement, text: str, place: int, source: int, *, newest: bool) -> Candidate:
    section, factor = statement.section, WEIGHT_OF[statement.section]
    if not newest and section in (Section.NEXT, Section.ACTIVE, Section.BLOCKED):
        section, factor = Section.DETAILS, STALE_WEIGHT
    return Candidate(
        place=place,
        source=source,
        section=section,
        text=text,
        day=statement.day,
        concepts=_concepts(text),
        factor=factor,
        sentence=text,
    )


def _candidates(messages: Sequence[Utterance]) -> Iterator[Candidate]:
    """The sentences of messages; what tools returned gives one of each."""
    place = 0
    for number, message in enumerate(messages):
        answered = number < len(messages) - 1
        late = number >= len(messages) * LATE_PART
        output = [(line, True) for line, _ in islice(sentences(message.output), 1)]
        for number_in, (sentence, poor) in enumerate([*sentences(message.text), *output]):
            section, factor = _judged(sentence, message, poor=poor, answered=answered, late=late)
            factor *= 1.0 if message.asks else MODEL_WEIGHT
            factor *= LEAD_WEIGHTS[number_in] if number_in < len(LEAD_WEIGHTS) else 1.0
            yield Candidate(
                place=place,
                source=number * STRETCHES // len(messages),
                section=section,
                text=f"{message.author}: {sentence}",
                day=message.day,
                concepts=_concepts(sentence),
                factor=factor,
                sentence=sentence,
            )
            place += 1


def _judged(
    sentence: str, message: Utterance, *, poor: bool, answered: bool, late: bool
) -> tuple[Section, float]:
    """Where a sentence belongs, and how much it counts."""
    if poor:
        return Section.DETAILS, OUTPUT_WEIGHT
    asks = cues.asks(sentence)
    if asks and not answered:
        return Section.NEXT, WEIGHT_OF[Section.NEXT]
    if message.asks and not late and cues.OBJECTIVE.search(sentence):
        return Section.OBJECTIVE, WEIGHT_OF[Section.OBJECTIVE]
    if asks:
        return Section.DETAILS, WEIGHT_OF[Section.DETAILS]
    section = cues.state(sentence)
    if section is not None and (late or section is Section.COMPLETED):
        return section, WEIGHT_OF[section]
    return Section.DETAILS, DECISION_WEIGHT if cues.DECISION.search(sentence) else WEIGHT_OF[Section.DETAILS]


def _concepts(text: str) -> frozenset[str]:
    """Terms, and specifics marked as such."""
    return frozenset(terms(text)).union(map(_marked, specifics(text)))


def _marked(specific: str) -> str:
    """With a blank before it, as no term has one."""
    return f" {specific}"


def _known(statements: Sequence[Statement]) -> frozenset[str]:
    return frozenset().union(*(_concepts(statement.text) for statement in statements))


def _authors(messages: Sequence[Utterance]) -> frozenset[str]:
    """Who spoke: each statement says so anyway."""
    return frozenset(_marked(one.author) for one in messages)


def _weights(candidates: Sequence[Candidate], known: frozenset[str]) -> Mapping[str, float]:
    """How much each concept is worth.

    A term that many sentences share is central, one that nearly all share says nothing: df × log(N / df),
    its root, scaled so that the greatest possible is 1.
    """
    total = len(candidates) + 1
    counts = Counter(concept for one in candidates for concept in one.concepts)
    peak = math.sqrt(total / math.e)  # of df × log(N / df), at df = N / e
    weights = {}
    for concept, df in counts.items():
        if concept.startswith(" "):
            weight = SPECIFIC_WEIGHT * math.log(total / df) / math.log(total)
        else:
            weight = math.sqrt(df * math.log(total / df)) / peak
            weight *= 1.0 if is_cjk(concept) else min(1.0, len(concept) / LONG_WORD)
        weights[concept] = weight * (PREVIOUS_PART if concept in known else 1.0)
    return weights


def _heaviest(candidates: Sequence[Candidate], weights: Mapping[str, float]) -> list[Candidate]:
    """The SHORTLIST, the heaviest first."""
    return heapq.nsmallest(
        SHORTLIST, candidates, key=lambda one: (-_gain(one, one.concepts, weights), one.place)
    )


def _choose(
    candidates: Sequence[Candidate],
    paths: Sequence[str],
    known: frozenset[str],
    max_tokens: int,
    vectors: Vectors = NO_VECTORS,
) -> str:
    """The text of the files and of the best candidates that fit."""
    named: list[Statement] = []
    for path in paths[:MOST_FILES]:
        longer = [*named, Statement(section=Section.FILES, text=path)]
        if estimate_tokens(render(longer)) <= max_tokens * FILES_PART:
            named = longer

    def fits(chosen: Sequence[Candidate]) -> bool:
        return estimate_tokens(render([*_placed(chosen), *named])) <= max_tokens

    weights = _weights(candidates, known)
    chosen = _greedy(candidates, weights, fits, vectors)
    if candidates and not chosen:
        best = max(candidates, key=lambda one: (_gain(one, one.concepts, weights), -one.place))
        return _cut(best.text, max_tokens)
    return render([*_placed(chosen), *named])


def _greedy(
    candidates: Sequence[Candidate],
    weights: Mapping[str, float],
    fits: Callable[[list[Candidate]], bool],
    vectors: Vectors,
) -> list[Candidate]:
    """Whatever adds most, time after time, while it fits and is worth its place.

    Gains only become smaller as others are chosen, so a candidate is weighed anew only when it comes first
    (M. Minoux, "Accelerated greedy algorithms for maximizing submodular set functions", 1978).
    """
    chosen: list[Candidate] = []
    said: set[str] = set()
    heard: Counter[int] = Counter()
    near = Nearness(vectors, [one.sentence for one in _heaviest(candidates, weights)] if vectors else ())
    candidates = [replace(one, factor=one.factor * near.centrality(one.sentence)) for one in candidates]
    queue = [(-_gain(one, one.concepts, weights), one.place, one) for one in candidates]
    queue = heapq.nsmallest(CANDIDATES, queue)
    least = -queue[0][0] * LEAST_GAIN if queue else 0.0
    while queue:
        _, place, one = heapq.heappop(queue)
        gain = _gain(one, one.concepts - said, weights) / math.sqrt(1 + heard[one.source])
        gain *= near.novelty(one.sentence)
        if gain <= least:
            continue
        if queue and -gain > queue[0][0]:
            heapq.heappush(queue, (-gain, place, one))
        elif fits([*chosen, one]):
            chosen.append(one)
            near.choose(one.sentence)
            said |= one.concepts
            heard[one.source] += 1
    return chosen


def _gain(candidate: Candidate, concepts: Iterable[str], weights: Mapping[str, float]) -> float:
    """What a candidate adds by these concepts, for its length; the sum does not depend on their order."""
    value = math.fsum(weights[concept] for concept in concepts)
    value *= min(1.0, len(candidate.concepts) / FULL_SENTENCE)
    return candidate.factor * value / math.pow(estimate_tokens(candidate.text), LENGTH_POWER)


def _placed(chosen: Sequence[Candidate]) -> list[Statement]:
    """Statements in the input's order; what a heading has no room for is a detail."""
    counts: Counter[Section] = Counter()
    statements = []
    for one in sorted(chosen, key=lambda one: one.place):
        section = one.section
        if section in MOST_IN and counts[section] >= MOST_IN[section]:
            section = Section.DETAILS
        counts[section] += 1
        statements.append(Statement(section=section, text=one.text, day=one.day))
    return statements


def ranked(named: Iterable[Sequence[str]]) -> list[str]:
    """Paths by how often they are named, the latest first among equals."""
    counts: Counter[str] = Counter()
    latest: dict[str, int] = {}
    for number, paths in enumerate(named):
        counts.update(paths)
        latest.update(dict.fromkeys(paths, number))
    return sorted(counts, key=lambda path: (-counts[path], -latest[path], path))


def _cut(text: str, max_tokens: int) -> str:
    """The beginning of a text that fits, with a mark; at the least one character."""
    if estimate_tokens(text) <= max_tokens:
        return text
    longest = next(
        (n for n in range(len(text), 0, -1) if estimate_tokens(text[:n] + ELLIPSIS) <= max_tokens), 0
    )
    return text[:longest].rstrip() + ELLIPSIS if longest else text[:1]
