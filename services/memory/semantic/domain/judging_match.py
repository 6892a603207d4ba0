"""Two statements side by side: whose they are, what they share, where they differ (SPEC S-7).

relation(old, new) -> Relation
anchors(old, new) -> frozenset[str]          shared content beyond the subject
difference(old, new) -> Difference | None    the one place where two otherwise equal wordings differ
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import Enum

from services.memory.semantic.domain import judging_grammar as grammar
from services.memory.semantic.domain.judging_cues import Language
from services.memory.semantic.domain.judging_reading import UNSPACED_FROM, Reading, Subject, Token, in_cue
from services.memory.semantic.domain.judging_types import Cue
from services.memory.semantic.domain.judging_values import is_number

SAME_WORDING = 0.75
"""Share of the larger content from which two statements without a cue say the same."""


class Relation(Enum):
    """How the subjects of two statements stand to each other."""

    SAME = "same"
    IMPLICIT = "implicit"
    """Neither names a subject: both are about the user."""
    PART = "part"
    """One is about something of the other's subject."""
    MENTIONED = "mentioned"
    """The new statement's subject is part of what the old one says."""
    CARRIED = "carried"
    """The old statement's subject is part of what the new one says."""
    OPEN = "open"
    """One is about the user, the other about a subject of its own."""
    DIFFERENT = "different"

    @property
    def one(self) -> bool:
        """Whether both are about one subject."""
        return self in {Relation.SAME, Relation.IMPLICIT}

    @property
    def apart(self) -> bool:
        """Whether they have nothing to do with each other."""
        return self in {Relation.OPEN, Relation.DIFFERENT}


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
        return Relation.DIFFERENT
    if _strange_kin(old, new) or _strange_kin(new, old):
        return Relation.DIFFERENT
    if old.language is not new.language and Language.OTHER in {old.language, new.language}:
        return Relation.OPEN
    if not first.words and not second.words:
        return Relation.IMPLICIT
    if old.language is Language.OTHER:
        return _other_relation(old, new)
    if first.words & second.words:
        return _overlapping(first, second)
    return _crossing(old, new)


def _strange_kin(reading: Reading, other: Reading) -> bool:
    """Whether it is about a relative whom the other does not speak of."""
    if reading.subject.head == other.subject.head:
        return False
    return bool(reading.subject.kin - {token.word for token in other.tokens})


def _overlapping(first: Subject, second: Subject) -> Relation:
    left, right = first.all - second.all, second.all - first.all
    if left and right:
        return Relation.DIFFERENT
    if first.head == second.head or (not left and not right):
        return Relation.SAME
    return Relation.PART


def _crossing(old: Reading, new: Reading) -> Relation:
    first, second = old.subject, new.subject
    if second.words and second.all <= old.content | old.names:
        return Relation.MENTIONED
    if first.words and first.words <= new.content | new.names:
        return Relation.CARRIED
    if second.words & old.names and not first.words:
        return Relation.MENTIONED
    return Relation.DIFFERENT if first.words and second.words else Relation.OPEN


def _other_relation(old: Reading, new: Reading) -> Relation:
    """Other scripts: the same opening, or an opening that the other statement holds too."""
    first, second = old.subject, new.subject
    if any((kin in old.folded) != (kin in new.folded) for kin in grammar.OTHER_KIN):
        return Relation.DIFFERENT
    if not first.words or not second.words:
        return Relation.OPEN
    unspaced = ord(first.head[0]) > UNSPACED_FROM and len(first.head) > 1
    if first.words & second.words or (unspaced and first.head[:2] == second.head[:2]):
        return Relation.SAME
    if len(second.head) > 1 and second.head in old.folded:
        return Relation.MENTIONED
    if len(first.head) > 1 and first.head in new.folded:
        return Relation.CARRIED
    return Relation.DIFFERENT


def anchors(old: Reading, new: Reading) -> frozenset[str]:
    """Returns what both say beyond their subjects, if it is not only an attribute in the new one."""
    if old.language is Language.OTHER:
        common = frozenset({old.subject.head, new.subject.head})
    else:
        common = old.subject.all & new.subject.all
    shared = (old.content & new.content) - common
    return frozenset(
        word
        for word in shared
        if not (word[0].isdigit() or is_number(word) or _only_attribute(word, old, new))
    )


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
    )


def _noun(token: Token, reading: Reading) -> bool:
    words = reading.grammar
    verbal = words.finite(token.word) or token.word.endswith(("ing", "ly"))
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


def of_region(words: tuple[str, ...]) -> bool:
    """Tells whether the words name a place that holds other places."""
    return any(
        region.startswith(word) for word in words if len(word) >= OTHER_REGION for region in grammar.REGIONS
    )


OTHER_REGION = 4
"""Letters from which a stem is held to be that of a region."""
