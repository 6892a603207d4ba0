"""Two statements side by side: whose they are, what they share, where they differ (SPEC S-7).

relation(old, new) -> Relation
anchors(old, new) -> frozenset[str]          shared content beyond the subject
covered(old, new) -> bool                    whether that is most of what the old statement says
difference(old, new) -> Difference | None    the one place where two otherwise equal wordings differ
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import Enum
from itertools import pairwise

from services.memory.semantic.domain import judging_grammar as grammar
from services.memory.semantic.domain.judging_cues import Language
from services.memory.semantic.domain.judging_labels import other_things
from services.memory.semantic.domain.judging_reading import UNSPACED_FROM, Reading
from services.memory.semantic.domain.judging_slots import PERSONAL
from services.memory.semantic.domain.judging_subjects import Subject
from services.memory.semantic.domain.judging_tokens import Token, in_cue
from services.memory.semantic.domain.judging_types import Cue
from services.memory.semantic.domain.judging_values import is_number

SAME_WORDING = 0.75
"""Share of the larger content from which two statements without a cue say the same."""
LEADING_WORDS = 3
"""Words among which a subject is looked for."""
REGION_LETTERS = 4
"""Letters from which a stem is held to be that of a region."""


class Relation(Enum):
    """How the subjects of two statements stand to each other."""

    SAME = "same"
    """Both name one subject, or neither names any: both are about the user."""
    RELATED = "related"
    """The subject of one is part of what the other says, or a thing that may be the other's."""
    APART = "apart"
    """They have nothing to do with each other."""

    @property
    def one(self) -> bool:
        """Whether both are about one subject."""
        return self is Relation.SAME

    @property
    def apart(self) -> bool:
        """Whether they have nothing to do with each other."""
        return self is Relation.APART


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The differing words of two wordings otherwise equal; `in_subject`: they stand before the verb."""

    old: tuple[str, ...]
    new: tuple[str, ...]
    in_subject: bool

    def short(self, limit: int) -> bool:
        """Whether neither side has more words than `limit`."""
        return max(len(self.old), len(self.new)) <= limit


def relation(old: Reading, new: Reading) -> Relation:
    """Compares the subjects: his and hers, two surnames, a person and their sister are different."""
    first, second = old.subject, new.subject
    if first.owner and second.owner and first.owner != second.owner:
        return Relation.APART
    if other_things(old, new):
        return Relation.APART
    if _strange_kin(old, new) or _strange_kin(new, old):
        return Relation.APART
    if Language.OTHER in {old.language, new.language}:
        return _other_relation(old, new) if old.language is new.language else Relation.APART
    if _of_other_people(old, new) or _of_other_people(new, old):
        return Relation.APART
    named = first.bare or second.bare
    if not (first.words or second.words) or (not named and old.slots & new.slots & PERSONAL):
        return Relation.SAME
    if first.words & second.words:
        return _overlapping(old, new)
    return _crossing(old, new)


def _strange_kin(reading: Reading, other: Reading) -> bool:
    """Whether it is about a relative whom the other does not speak of, unless both say who fills a slot."""
    thing = not other.subject.person and bool(other.subject.words & reading.content)
    if (
        thing
        or reading.subject.head == other.subject.head
        or (len(reading.subject.kin) == 1 and reading.slots & other.slots & PERSONAL)
    ):
        return False
    spoken_of = {_kin_stem(token.word) for token in other.tokens}
    kin = reading.subject.kin or _leading_kin(reading)
    return bool({_kin_stem(word) for word in kin} - spoken_of)


def _leading_kin(reading: Reading) -> frozenset[str]:
    """Relatives among the first words, in languages whose verbs are not all known here."""
    if reading.language in {Language.ENGLISH, Language.OTHER}:
        return frozenset()
    return frozenset(t.word for t in reading.tokens[:LEADING_WORDS] if grammar.is_kin(t.word))


def _of_other_people(reading: Reading, other: Reading) -> bool:
    """Whether one is about the user's own, the other about something of somebody with a name."""
    named = other.subject.names - reading.content
    return reading.subject.owner == grammar.USER and not reading.subject.names and bool(named)


def _kin_stem(word: str) -> str:
    return grammar.IRREGULAR.get(word, word).removesuffix("s")


def _overlapping(old: Reading, new: Reading) -> Relation:
    """Words that only one of the subjects has tell them apart, if the other has its own."""
    first, second = old.subject, new.subject
    left = first.all - second.all - new.content
    right = second.all - first.all - old.content
    if left and right:
        return Relation.APART
    same = first.head == second.head or not (first.all ^ second.all)
    return Relation.SAME if same else Relation.RELATED


def _crossing(old: Reading, new: Reading) -> Relation:
    """One subject is part of what the other statement says, or a thing of the user's."""
    first, second = old.subject, new.subject
    if _mentioned(second, old) or _mentioned(first, new):
        return Relation.RELATED
    explicit = bool(first.words and second.words)
    strange = explicit or first.person or second.person or not anchors(old, new)
    return Relation.APART if strange else Relation.RELATED


def _mentioned(subject: Subject, other: Reading) -> bool:
    """Whether the other statement says a subject's name, or a word of a thing that is not its own."""
    said = other.content | other.names
    if not subject.words or subject.person:
        return bool(subject.words) and subject.words <= said
    if other.subject.bare and subject.names - said:
        return False
    return bool(subject.words & said) and not _another_of_its_sort(subject, other)


def _another_of_its_sort(subject: Subject, other: Reading) -> bool:
    """Whether the other statement's noun is led by another word: the parking permit, a residence permit."""
    if not subject.words - other.content:
        return False
    return any(
        token.stem == subject.head and before.stem not in subject.words and _noun(before, other)
        for before, token in pairwise(other.tokens)
    )


def _other_relation(old: Reading, new: Reading) -> Relation:
    """Other scripts: the same opening, or an opening that the other statement holds too."""
    first, second = old.subject, new.subject
    if any((kin in old.folded) != (kin in new.folded) for kin in grammar.OTHER_KIN):
        return Relation.APART
    if not first.words and not second.words:
        return Relation.SAME
    if not first.words or not second.words:
        return Relation.APART
    unspaced = ord(first.head[0]) > UNSPACED_FROM and len(first.head) > 1
    if first.words & second.words or (unspaced and first.head[:2] == second.head[:2]):
        return Relation.SAME
    mentioned = len(second.head) > 1 and second.head in old.folded
    carried = len(first.head) > 1 and first.head in new.folded
    return Relation.RELATED if mentioned or carried else Relation.APART


def anchors(old: Reading, new: Reading) -> frozenset[str]:
    """Returns what both say beyond their subjects, if it is not only an attribute in the new one."""
    if old.language is Language.OTHER:
        common = frozenset({old.subject.head, new.subject.head})
    else:
        common = old.subject.all & new.subject.all
    shared = (old.content & new.content) - common
    return frozenset(
        word
        for word in shared - old.units
        if not (word[0].isdigit() or is_number(word) or _only_attribute(word, old, new))
    )


def covered(old: Reading, new: Reading) -> bool:
    """Whether the new statement speaks of at least half of what the old one says beyond its subject."""
    counted = old.units | {word for word in old.content if word[0].isdigit() or is_number(word)}
    said = old.content - (old.subject.all & new.subject.all) - counted
    if not said and not old.subject.person:
        return bool(old.content)
    shared = said & new.content
    enough = 2 * len(shared) > len(said) or (2 * len(shared) == len(said) and not shared <= old.names)
    return bool(shared) and enough


def coverage(old: Reading, new: Reading) -> float:
    """Share of what the old statement says, a common subject aside, that the new one speaks of."""
    said = old.content - (old.subject.all & new.subject.all)
    return len(said & new.content) / len(said) if said else 1.0


def led_otherwise(old: Reading, new: Reading, prepositions: frozenset[str]) -> bool:
    """Whether both have a noun after such a word, and neither has the other's: "to work", "to the pool"."""
    first, second = _led_by(old, prepositions), _led_by(new, prepositions)
    return bool(first and second) and not (first & new.content or second & old.content)


def _led_by(reading: Reading, prepositions: frozenset[str]) -> frozenset[str]:
    """What follows such a word, as far as the next one that only joins."""
    found: set[str] = set()
    leads = False
    for token in reading.tokens:
        if token.word in prepositions:
            leads = True
        elif leads and token.word not in reading.grammar.determiners:
            number = token.word[0].isdigit() or is_number(token.word)
            leads = token.stem in reading.content and not number
            found |= {token.stem} if leads else set()
    return frozenset(found)


def _only_attribute(word: str, old: Reading, new: Reading) -> bool:
    """Whether each mention in the new statement belongs to another noun: "sold the *piano* stool"."""
    places = [index for index, token in enumerate(new.tokens) if token.stem == word]
    return bool(places) and all(_attribute(index, old, new) for index in places)


def _attribute(index: int, old: Reading, new: Reading) -> bool:
    if index + 1 >= len(new.tokens) or new.language is not Language.ENGLISH:
        return False
    here, following = new.tokens[index], new.tokens[index + 1]
    if new.folded[here.end : following.start] not in {" ", "'s "}:
        return False
    return (
        _noun(following, new)
        and following.stem not in old.content
        and following.word not in grammar.PROPERTIES
        and following.word not in grammar.ABSTRACT
    )


def _noun(token: Token, reading: Reading) -> bool:
    words = reading.grammar
    verbal = words.finite(token.word) or token.word.endswith(("ing", "ly", "ed"))
    return not (words.says_nothing(token.word) or verbal or token.dated or in_cue(token, reading.cues))


def leftovers(old: Reading, new: Reading) -> tuple[frozenset[str], frozenset[str]]:
    """Returns what only the old and what only the new statement says, numbers aside."""
    tokens = (*old.tokens, *new.tokens)
    numbers = {token.stem for token in tokens if token.word[0].isdigit() or is_number(token.word)}
    counted = frozenset(word for word in old.content ^ new.content if word not in numbers)
    return old.content & counted, new.content & counted


def verb_ends(old: Reading, new: Reading) -> bool:
    """Tells whether the new one repeats the old one's verb with no other object: "doesn't sing any more"."""
    words = old.grammar
    if (
        not old.verb
        or old.verb in words.copulas
        or old.verb in words.having
        or old.language is not new.language
    ):
        return False
    said = next((token.stem for token in old.tokens if token.word == old.verb), "")
    for index, token in enumerate(new.tokens):
        if token.stem == said:
            return all(noun in old.content for noun in _object_after(index, new))
    return False


def _object_after(index: int, reading: Reading) -> list[str]:
    """Nouns that follow a word, as far as the next preposition or cue."""
    found = []
    for token in reading.tokens[index + 1 :]:
        if token.word in reading.grammar.prepositions or in_cue(token, reading.cues):
            break
        if _noun(token, reading):
            found.append(token.stem)
    return found


def same_wording(old: Reading, new: Reading) -> bool:
    """Tells a paraphrase: nearly all content is shared and no value differs."""
    differs = difference(old, new)
    if differs is not None and not set(differs.old) & set(differs.new) and differs.short(1):
        return False
    larger, shared = max(len(old.content), len(new.content)), len(old.content & new.content)
    return bool(shared) and shared >= SAME_WORDING * larger and old.values.same(new.values)


def adds_nothing(old: Reading, new: Reading) -> bool:
    """Tells whether the new statement has no word of content and no value that the old one lacks."""
    within = new.content <= old.content and new.values.same(old.values)
    within = within and bool(new.content - new.subject.all)
    return within and old.has(Cue.NEGATION) == new.has(Cue.NEGATION)


def refines(old: Reading, new: Reading) -> bool:
    """Tells whether the new statement says all of the old one, and more."""
    polarity = old.has(Cue.NEGATION) == new.has(Cue.NEGATION)
    return polarity and old.content < new.content and set(old.frame) <= set(new.frame)


def difference(old: Reading, new: Reading) -> Difference | None:
    """Returns the one differing stretch, if there is exactly one and both sides have words there."""
    matcher = SequenceMatcher(a=old.frame, b=new.frame, autojunk=False)
    changes = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    if len(changes) != 1 or changes[0][0] != "replace":
        return None
    _, start, end, new_start, new_end = changes[0]
    verb = next(
        (index for index, word in enumerate(old.frame) if old.verb and old.verb.startswith(word[:4])), -1
    )
    return Difference(old=old.frame[start:end], new=new.frame[new_start:new_end], in_subject=start <= verb)


def opposed(old: Reading, new: Reading) -> bool:
    """Tells whether one likes what the other hates, or one is on and the other off."""
    return any(
        _side(old, sides) * _side(new, sides) < 0
        and (sides is grammar.OPPOSITES[0] or not old.subject.person)
        for sides in grammar.OPPOSITES
    )


def _side(reading: Reading, sides: tuple[frozenset[str], frozenset[str]]) -> int:
    """1 for the first, -1 for the second, 0 for neither; denied, the other one."""
    said = {token.word for token in reading.tokens}
    found = bool(said & sides[0]) - bool(said & sides[1])
    return -found if reading.has(Cue.NEGATION) else found


def narrower(old: Reading, new: Reading) -> bool:
    """Tells whether the new subject is the old one with more words: "the team", "the marketing team"."""
    if not old.subject.words or old.subject.person or old.subject.head != new.subject.head:
        return False
    said = {part for token in old.tokens for part in token.word.split("-")}
    joined = any(set(token.word.split("-")) & said for token in new.tokens if "-" in token.word)
    return bool(new.subject.all - old.subject.all - old.content) and not joined


def of_region(words: tuple[str, ...]) -> bool:
    """Tells whether the words name a place that holds other places."""
    return any(
        region.startswith(word) for word in words if len(word) >= REGION_LETTERS for region in grammar.REGIONS
    )
