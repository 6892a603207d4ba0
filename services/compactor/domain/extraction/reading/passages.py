"""What a message may state, to be scored and chosen from (SPEC J-8). Pure.

heard(turn) -> Heard                                what may be stated, and where
chosen(passages, scores, least) -> list[Fact]       what is, each thing once
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from services.compactor.domain.extraction.english.chat import reads_as_english
from services.compactor.domain.extraction.facts import MOST_FACTS, MOST_NAME, MOST_TEXT, Category, Fact, Turn
from services.compactor.domain.extraction.grammar import USER, extract, fits
from services.compactor.domain.extraction.reading.people import people_of
from services.compactor.domain.extraction.reading.spans import Form, Token, masked, spans, tokens
from services.compactor.domain.extraction.reading.statements import KINDS, facts, kind_of, recast, stated
from services.compactor.domain.extraction.subjects import author_of, relation_fact
from services.compactor.domain.extraction.text import states_nothing, visible

NAME = "reader-1"
"""The engine's name; another number when the same text may give other facts."""
LEAST = 0.8
"""How likely a fact has to be that is kept; chosen on labelled turns (docs/derived-memory.md)."""
PLAINER = 0.1
"""By which the grammar's wording is preferred to another that tells the same: its facts have slots."""
CATEGORIES = tuple(Category)
"""In the order in which the network names them."""
FOUND = 1
"""Support of what the grammar found: this and the place of its category."""
ALSO_FOUND = 11
"""Support of a stretch of which the grammar said much the same."""
ALIKE = 0.6
"""The part of the fewer words that two statements about the same share when they say the same."""
SAME_SLOT = 0.5
"""The part of all their words that two statements share when they fill one slot."""
MOST_STRETCH = 40
"""Words within which those of a fact are looked for."""
LENGTH_COSTS = 0.08
"""What a word more costs, measured in found words, when a fact's place is looked for."""
OVERLAP = 0.5
"""The part of the shorter stretch that two share when they tell of the same thing."""
_BESIDE = frozenset({Form.ORIGIN, Form.AGED, Form.RELATION})
"""What is told on the way, beside what a stretch is about."""
_PASSING = frozenset({Category.EVENT, Category.TASK, Category.INSTRUCTION, Category.RELATIONSHIP})
"""What a lasting statement is not."""
_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile(r"[\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A stretch of a text, from character `start` to before `end`, and what it states if it states something:
    the fact of each kind (statements.KINDS). `support` is what the grammar has to do with it."""

    start: int
    end: int
    form: Form
    asked: bool
    support: int
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """How likely a passage states the fact of each kind, and of which category it is then; both 0 to 1."""

    kinds: tuple[float, ...]
    categories: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A message as it is read: masked, in words, what it may state, and what it states without any score.

    Only English is scored: in other languages the grammar is more often right than the network.
    """

    text: str
    tokens: list[Token]
    passages: list[Passage]
    plain: list[Fact]


def unread(passage: Passage) -> Score:
    """Of a passage that was not scored: what the grammar found counts all the same."""
    own = kind_of(CATEGORIES[passage.support - FOUND]) if passage.form is Form.GRAMMAR else None
    return Score(
        kinds=tuple(float(kind == own) for kind in range(len(KINDS))),
        categories=(1 / len(CATEGORIES),) * len(CATEGORIES),
    )


def heard(turn: Turn) -> Heard:
    """What a message may state."""
    text = masked(turn.text[:MOST_TEXT])
    found, told = tokens(text), extract(turn)
    if _UNSPACED.search(text) or not reads_as_english(text):
        return Heard(text=text, tokens=found, passages=[], plain=told)
    return Heard(text=text, tokens=found, passages=_passages(turn, text, found, told), plain=[])


def _passages(turn: Turn, text: str, found: Sequence[Token], told: Sequence[Fact]) -> list[Passage]:
    """In the order of their beginnings."""
    if states_nothing(turn.text):
        return []
    name = " ".join(visible(turn.author).split())[:MOST_NAME]
    people = people_of(text, author_of(name, owner=turn.owner, unnamed=USER))
    grammars = [passage for fact in told if (passage := _placed(fact, found))]
    made = [
        Passage(
            start=relation.start,
            end=relation.end,
            form=Form.RELATION,
            asked=False,
            support=0,
            facts=(relation_fact(people.author, relation.noun, relation.name),),
        )
        for relation in people.relations
    ]
    said = turn.said.date()
    for span in spans(found, text):
        statement = stated(span, found, text, people)
        if statement is None:
            continue
        made.append(
            Passage(
                start=found[span.first].start,
                end=found[span.last - 1].end,
                form=span.form,
                asked=span.asked,
                support=0,
                facts=tuple(facts(statement, said)),
            )
        )
    supported = [_supported(passage, grammars) for passage in made]
    return sorted([*supported, *grammars], key=lambda one: (one.start, one.end, one.form))


def chosen(found: Sequence[Passage], scores: Iterable[Score], least: float) -> list[Fact]:
    """The facts that are at least so likely, of several that tell the same the likeliest; in their order."""
    ranked = sorted(
        (
            (*_best(passage, score), place)
            for place, (passage, score) in enumerate(zip(found, scores, strict=True))
        ),
        key=lambda one: (-one[0] - PLAINER * (found[one[2]].form is Form.GRAMMAR), one[2]),
    )
    likely = [_told(found[place], fact) for chance, fact, place in ranked if chance >= least and fits(fact)]
    taken: list[_Told] = []
    for one in likely:
        if len(taken) == MOST_FACTS:
            break
        if not _tells_two(one, likely) and not any(_same(one, other) for other in taken):
            taken.append(one)
    taken.sort(key=lambda one: (one.passage.start, one.passage.end))
    return list({one.fact.key: one.fact for one in taken}.values())


def _best(passage: Passage, score: Score) -> tuple[float, Fact]:
    """The likeliest kind and its fact; of what lasts, of its likeliest category."""
    if passage.form is Form.RELATION:
        return sum(score.kinds), passage.facts[0]
    kind = max(range(len(passage.facts)), key=score.kinds.__getitem__)
    fact = passage.facts[kind]
    if kind == 0 and passage.form is not Form.GRAMMAR:
        lasting = [place for place, one in enumerate(CATEGORIES) if one not in _PASSING]
        category = CATEGORIES[max(lasting, key=score.categories.__getitem__)]
        whose, kind_in_key, said = fact.key.rpartition(f".{fact.category.value}.")
        key = f"{whose}.{category.value}.{said}" if kind_in_key else fact.key  # else it is a slot
        fact = replace(fact, category=category, key=key)
    return score.kinds[kind], fact


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """A likely fact, with what tells it from others."""

    passage: Passage
    fact: Fact
    words: set[str]
    names: set[str]


def _told(passage: Passage, fact: Fact) -> _Told:
    return _Told(passage=passage, fact=fact, words=_words(fact.predicate), names=_names(fact))


def _tells_two(one: _Told, likely: Sequence[_Told]) -> bool:
    """Whether two others within it tell what it tells: then these count."""
    passage = one.passage
    if passage.form in _BESIDE:
        return False
    inside: list[_Told] = []
    for other in likely:
        within = passage.start <= other.passage.start and other.passage.end <= passage.end
        if not within or _length(other.passage) >= _length(passage) or other.passage.form in _BESIDE:
            continue
        part = len(other.words & one.words) >= ALIKE * len(other.words)
        if part and not any(
            _shared(other.passage, held.passage) > 0 or held.words & other.words for held in inside
        ):
            inside.append(other)
    return len(inside) > 1


def _same(one: _Told, other: _Told) -> bool:
    """Whether the two tell of the same thing."""
    shared, fewer, more = len(one.words & other.words), *sorted((len(one.words), len(other.words)))
    if _beside(one) is not _beside(other):
        return fewer > 0 and shared >= ALIKE * more
    if _shared(one.passage, other.passage) > OVERLAP * min(_length(one.passage), _length(other.passage)):
        return True
    return fewer > 0 and shared >= ALIKE * fewer and bool(one.names & other.names)


def _beside(one: _Told) -> bool:
    """Whether it stands beside what a stretch is about: who, how old, from where somebody is."""
    return one.passage.form in _BESIDE or one.fact.category is Category.RELATIONSHIP


def _length(passage: Passage) -> int:
    return passage.end - passage.start


def _shared(one: Passage, other: Passage) -> int:
    """Characters that both have."""
    return min(one.end, other.end) - max(one.start, other.start)


def _supported(passage: Passage, told: Sequence[Passage]) -> Passage:
    """With what the grammar found of it, and the slot of that where it says the same."""
    mine = _words(passage.facts[0].predicate)
    alike = [
        (len(mine & theirs) / len(mine | theirs), other)
        for other in told
        if (theirs := _words(other.facts[0].predicate))
        and len(mine & theirs) >= ALIKE * min(len(mine), len(theirs)) > 0
        and _names(passage.facts[0]) & _names(other.facts[0])
    ]
    if not alike:
        return passage
    nearness, other = max(alike, key=lambda one: one[0])
    kind, variants = kind_of(CATEGORIES[other.support - FOUND]), list(passage.facts)
    if nearness >= SAME_SLOT and passage.form not in _BESIDE:
        variants[kind] = replace(variants[kind], key=other.facts[kind].key)
    return replace(passage, support=ALSO_FOUND + other.support - FOUND, facts=tuple(variants))


def _placed(fact: Fact, found: Sequence[Token]) -> Passage | None:
    """Where the words of a fact of the grammar stand: most of them within the fewest."""
    wanted = _words(fact.predicate) or _words(fact.value)
    places = [(place, hit) for place, token in enumerate(found) if (hit := _words(token.text) & wanted)]
    best: tuple[float, int, int] | None = None
    for at, (first, _) in enumerate(places):
        seen: set[str] = set()
        for last, hit in places[at:]:
            if last - first >= MOST_STRETCH:
                break
            seen |= hit
            worth = len(seen) - LENGTH_COSTS * (last - first + 1)
            if best is None or worth > best[0]:
                best = worth, first, last
    if best is None:
        return None
    variants = recast(fact)
    return Passage(
        start=found[best[1]].start,
        end=found[best[2]].end,
        form=Form.GRAMMAR,
        asked=False,
        support=FOUND + CATEGORIES.index(fact.category),
        facts=tuple(variants),
    )


def _names(fact: Fact) -> set[str]:
    """What its subject is called, with and without whose it is."""
    return {part.strip().casefold() for part in re.split(r"[()]", fact.subject) if part.strip()}


def _words(text: str) -> set[str]:
    """Its words without endings; of scripts without spaces, its characters."""
    folded = text.casefold()
    spaced = _WORD.findall(_UNSPACED.sub(" ", folded))
    return {_stem(word) for word in spaced if word not in _LIGHT} | set(_UNSPACED.findall(folded))


def _stem(word: str) -> str:
    for ending in ("ing", "ied", "ies", "ed", "es", "s", "e", "y"):
        if len(word) > len(ending) + 2 and word.endswith(ending):
            return word[: -len(ending)]
    return word


_LIGHT_WORDS = """
    a al also always am an and are as at be been by called d das de der did die do does du ein eine el en er
    es est et for from had has have he her his i il im in is ist it its la le les mit my need needs now of on
    our s she the their they to un una und une was we were who with y
"""
_LIGHT = frozenset(_LIGHT_WORDS.split())
"""Words that tell no two statements apart."""
