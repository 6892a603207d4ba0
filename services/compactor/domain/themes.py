"""What a conversation speaks of: concepts and branch proposals (SPEC J-7). Pure.

A phrase is a run of one to three content words between function words and punctuation (S. Rose et al.,
"Automatic keyword extraction from individual documents", 2010); in scripts without spaces, a run of two to
four characters that comes again. A phrase is weighed by tf-idf: the messages that name it, over the agent's
other summaries that have it among their concepts (K. Spärck Jones, "A statistical interpretation of term
specificity", 1972).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from services.compactor.domain.function_words import is_light
from services.compactor.domain.rolling import BranchProposal, Concept
from services.compactor.domain.sentences import CJK_RUN, FILE, URL, sentences
from services.compactor.domain.summaries import Utterance

MOST_CONCEPTS = 12
MOST_TALLIES = 120  # phrases whose counts are kept for the next summary
MOST_BRANCHES = 5
LONGEST_PHRASE = 3  # words
LONGEST_NAME = 60  # characters
SHORTEST_WORD = 3  # characters of a phrase of one word
LENGTH_BONUS = 0.4  # for each further word: "river barge" says more than "barge"
PART_OF_LONGER = 0.7  # a phrase named mostly inside a longer one gives way to it
MODEL_COUNT = 1  # what only a model names counts so much, what a person names PERSON_COUNT
PERSON_COUNT = 2
LEAST_COUNT = 2  # of a concept of several words
LEAST_OF_WORD = 3  # of one word: named once it is chance
RECURS_IN = (
    3  # messages that name a concept before it is proposed as a branch, unless other summaries have it
)
LEAST_RELEVANCE = 0.2
CJK_LENGTHS = (4, 3, 2)  # characters of a phrase

_WORD = re.compile(r"[^\W\d_][\w'’-]*|\d+|[^\w\s'’-]+|\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """The agent's other summaries: how many, and how many of them have each concept."""

    summaries: int = 0
    having: Mapping[str, int] | None = None

    def idf(self, name: str) -> float:
        """High for what few have; 1 without any other summary."""
        having = (self.having or {}).get(name, 0)
        return math.log((self.summaries + 1) / (having + 1)) + 1


def tallied(tallies: Mapping[str, int], messages: Sequence[Utterance]) -> dict[str, int]:
    """The counts of phrases with those of more messages; the commonest MOST_TALLIES.

    A phrase counts once a message, and more in what a person says. The names of those who speak are none.
    """
    counts = Counter(dict(tallies))
    names = {word for one in messages for word in one.author.lower().split()}
    for message in messages:
        weight = PERSON_COUNT if message.asks else MODEL_COUNT
        found = phrases(message.text)
        counts.update({one: weight for one in found if not any(_calls(one, name) for name in names)})
    ranked = sorted(counts.items(), key=lambda item: (-item[1], -len(item[0]), item[0]))
    return dict(sorted(ranked[:MOST_TALLIES]))


def concepts(tallies: Mapping[str, int], corpus: Corpus) -> list[Concept]:
    """The weightiest phrases, the first with weight 1; none that is a part of another."""
    kept = {
        name: count
        for name, count in tallies.items()
        if count >= (LEAST_COUNT if _words_beyond_one(name) else LEAST_OF_WORD) and not _within(name, tallies)
    }
    scores = {
        name: (1 + math.log(count)) * corpus.idf(name) * (1 + LENGTH_BONUS * _words_beyond_one(name))
        for name, count in kept.items()
    }
    ranked: list[str] = []
    for name in sorted(scores, key=lambda name: (-scores[name], name)):
        if len(ranked) < MOST_CONCEPTS and not any(
            _contains(name, other) or _contains(other, name) for other in ranked
        ):
            ranked.append(name)
    peak = max((scores[name] for name in ranked), default=1.0)
    return [Concept(name=name, weight=round(scores[name] / peak, 4), count=tallies[name]) for name in ranked]


def branches(found: Sequence[Concept], corpus: Corpus) -> list[BranchProposal]:
    """Concepts that recur, in this conversation or in other summaries, by relevance.

    Relevance is the concept's weight, halved for each of the two that it lacks, in part: naming in RECURS_IN
    messages, and another summary that has it.
    """
    proposals = []
    for one in found:
        here = min(1.0, one.count / (RECURS_IN * PERSON_COUNT))
        elsewhere = 1.0 if (corpus.having or {}).get(one.name, 0) else 0.0
        if here == 1.0 or elsewhere:
            relevance = round(one.weight * (1 + max(here, elsewhere) + min(here, elsewhere)) / 3, 4)
            if relevance >= LEAST_RELEVANCE:
                proposals.append(BranchProposal(name=one.name, relevance=relevance))
    return sorted(proposals, key=lambda one: (-one.relevance, one.name))[:MOST_BRANCHES]


def phrases(text: str) -> set[str]:
    """The phrases of a message, in small letters; code, addresses and paths name nothing."""
    found: set[str] = set()
    for sentence, is_code in sentences(text):
        if not is_code:
            plain = FILE.sub(" . ", URL.sub(" . ", sentence)).lower()
            found.update(_spaced(CJK_RUN.sub(" . ", plain)))
            for run in CJK_RUN.findall(plain):
                found.update(_unspaced(run))
    return {one for one in found if len(one) <= LONGEST_NAME}


def _spaced(text: str) -> Iterator[str]:
    """Runs of content words and, of longer ones, their parts of up to LONGEST_PHRASE words."""
    for run in _runs(_WORD.findall(text)):
        for begin in range(len(run)):
            for end in range(begin + 1, min(begin + LONGEST_PHRASE, len(run)) + 1):
                words = run[begin:end]
                if len(words) > 1 or len(words[0]) >= SHORTEST_WORD:
                    yield " ".join(words)


def _runs(tokens: Iterable[str]) -> Iterator[list[str]]:
    run: list[str] = []
    for token in tokens:
        word = token.strip("'’-").removesuffix("'s").removesuffix("’s")
        if word and word[0].isalpha() and not is_light(word):
            run.append(word)
            continue
        if run:
            yield run
        run = []
    if run:
        yield run


def _calls(phrase: str, name: str) -> bool:
    """Whether a phrase is a name, or short for it."""
    return phrase == name or (len(phrase) >= SHORTEST_WORD and name.startswith(phrase))


def _unspaced(run: str) -> Iterator[str]:
    for length in CJK_LENGTHS:
        for begin in range(len(run) - length + 1):
            yield run[begin : begin + length]


def _words_beyond_one(name: str) -> float:
    if CJK_RUN.match(name):
        return (len(name) - 2) / 2
    return name.count(" ")


def _within(name: str, tallies: Mapping[str, int]) -> bool:
    """Whether a phrase is mostly named inside a longer one, or is a longer one that adds hardly anything."""
    for other, count in tallies.items():
        if other == name or count < LEAST_COUNT:
            continue
        if _contains(other, name) and count >= tallies[name] * PART_OF_LONGER:
            return True
        if _contains(name, other) and tallies[name] < count * PART_OF_LONGER and tallies[name] <= LEAST_COUNT:
            return True
    return False


def _contains(longer: str, shorter: str) -> bool:
    if len(longer) <= len(shorter):
        return False
    if CJK_RUN.match(shorter):
        return shorter in longer
    return f" {shorter} " in f" {longer} "
