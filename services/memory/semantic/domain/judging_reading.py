"""A statement taken apart: language, cues, subject, verb, content, values (SPEC S-7).

read_pair(old, new) -> tuple[Reading, Reading]
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from services.memory.semantic.domain import judging_grammar as words_of
from services.memory.semantic.domain.judging_cues import (
    Cues,
    Language,
    cues_of,
    fold_case,
    is_sure,
    language_of,
)
from services.memory.semantic.domain.judging_scripts import other_words
from services.memory.semantic.domain.judging_slots import Fixed, Slot, fixed_slot, slots_of
from services.memory.semantic.domain.judging_subjects import (
    Subject,
    clause,
    noun_at,
    other_subject,
    subject_of,
)
from services.memory.semantic.domain.judging_tokens import Token, in_cue, small_words, stem_of, tokens_of
from services.memory.semantic.domain.judging_types import Cue, Statement
from services.memory.semantic.domain.judging_values import MONTHS, Values, is_currency, values_of
from services.memory.semantic.domain.judging_words import Grammar
from services.memory.semantic.domain.memory import key_segments

UNSPACED_FROM = 0x2E7F
"""Code points beyond are of scripts written without spaces, or of Hangul."""
PAST_LETTERS = 4
"""A verb in -ed is longer."""

_KEY_SAYS_NOTHING = frozenset({"user", "note", "info", "fact", "status", "latest", "current", "new", "misc"})
_MOVES = (Cue.END, Cue.CHANGE, Cue.PAST)
_SINCE = frozenset(
    ["since", "after", "seit", "ab", "depuis", "desde", "da", "dal", "sinds", "vanaf", "od", "с"]
)
_CLOSED = re.compile("[,;:.!]")
_MONTH = "|".join(MONTHS)
_REASON = re.compile(
    r"(?<=\w) (?:because|due to|as (?=he|she|it|they|we|i)|weil|parce que|porque|perche|bo|потому)\b"
)
_PLEASE = frozenset({"please", "bitte"})
_CIRCUMSTANCE = re.compile(
    r"\b(?:on )?(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekends?|weekdays?)\b"
    r"|\b(?:in the|every) (?:morning|evening|afternoon)s?\b|\b(?:at|after|before|for|"
    r"with) (?:night|breakfast|lunch|"
    r"dinner|work|home|noon|midnight|school)\b|\b(?:after|before) \d"
    r"|\b(?:morgens|abends|mittags|nachts|(?:mon|diens|donners|frei|sams|sonn)tags|mittwochs|am wochenende)\b"
    rf"|\bfrom (?:{_MONTH}) (?:to|till|until|through) (?:{_MONTH})\b"
    r"|\ble (?:matin|soir|week-end)\b|\bpor la (?:manana|noche|tarde)\b|\bin (?:summer|winter)\b"
)
"""When or where something holds that holds otherwise at other times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What the rules look at; `content` lacks function words, verbs, cues, `frame` only articles and cues."""

    statement: Statement
    folded: str
    language: Language
    cues: Cues
    tokens: tuple[Token, ...]
    subject: Subject
    verb: str
    content: frozenset[str]
    frame: tuple[str, ...]
    slots: frozenset[Slot]
    fixed: Fixed | None
    values: Values
    key_parts: frozenset[str]
    happened: bool
    units: frozenset[str]
    circumstances: frozenset[str]

    @property
    def names(self) -> frozenset[str]:
        """Stems of the words that are spelt like names."""
        return frozenset(token.stem for token in self.tokens if token.name)

    @property
    def grammar(self) -> Grammar:
        """Of its language."""
        return words_of.GRAMMARS[self.language]

    def has(self, *cues: Cue) -> bool:
        """Tells whether any of the cues stands in the text."""
        return any(cue in self.cues for cue in cues)

    @property
    def verb_stem(self) -> str:
        """Of its verb, as words are compared."""
        return next((token.stem for token in self.tokens if token.word == self.verb), "")


def read_pair(old: Statement, new: Statement) -> tuple[Reading, Reading]:
    """Takes both apart; as one language if both are in Latin script and one hardly shows its own."""
    texts = [" ".join(statement.value.split()) for statement in (old, new)]
    languages = [language_of(text) for text in texts]
    if Language.OTHER not in languages and languages[0] is not languages[1] and not all(map(is_sure, texts)):
        languages = [language_of(" ".join(texts))] * 2
    small = [small_words(text) for text in texts]
    return (
        _read(old, texts[0], languages[0], small[1]),
        _read(new, texts[1], languages[1], small[0]),
    )


def _read(statement: Statement, text: str, language: Language, nouns: frozenset[str]) -> Reading:
    """`nouns` are words that the other statement writes small: no names, though they begin this one."""
    folded = fold_case(text)
    cues, found = cues_of(folded, language), values_of(folded)
    since = [_adjunct(folded, span) for span in cues.get(Cue.NOW, ())]
    signs: Cues = {cue: spans for cue, spans in cues.items() if cue is not Cue.DONE}
    words = words_of.GRAMMARS[language]
    if language is Language.OTHER:
        bare = _without_cues(folded, cues)
        tokens = [Token(word=w, stem=s, name=False, start=at) for w, s, at in other_words(bare)]
        subject, verb_at = other_subject(bare, folded, tokens, cues), len(tokens)
    else:
        moves = frozenset(span[0] for cue in _MOVES for span in cues.get(cue, ()))
        tokens = tokens_of(text, language, nouns, moves)
        begin, end, verb_at = clause(folded, tokens, words, moves)
        subject = subject_of(folded, tokens[begin:end], language, cues)
    return Reading(
        statement=statement,
        folded=folded,
        language=language,
        cues=cues,
        tokens=tuple(tokens),
        subject=subject,
        verb=tokens[verb_at].word if verb_at < len(tokens) else "",
        content=_content(tokens, cues, words) | (subject.words & {token.stem for token in tokens[:1]}),
        frame=tuple(
            token.stem
            for token in _before_reason(folded, tokens)
            if token.word not in words.determiners
            and not in_cue(token, signs)
            and token.word not in _PLEASE
            and not any(start <= token.start < end for start, end in since)
        ),
        slots=slots_of(folded, statement.key),
        fixed=fixed_slot(folded),
        values=found,
        key_parts=frozenset(key_segments(statement.key)) - _KEY_SAYS_NOTHING,
        happened=Cue.NEGATION not in cues and _happened(tokens, verb_at, words),
        circumstances=frozenset(_CIRCUMSTANCE.findall(folded)),
        units=frozenset(stem_of(unit, language) for unit in found.units)
        | frozenset(token.stem for token in tokens if is_currency(token.word)),
    )


def _before_reason(folded: str, tokens: list[Token]) -> list[Token]:
    """The tokens as far as one that leads a reason: "... *because of* the knee"."""
    reason = _REASON.search(folded)
    return [token for token in tokens if reason is None or token.start < reason.start()]


def _happened(tokens: list[Token], verb_at: int, words: Grammar) -> bool:
    """Whether the verb is in the past, in English; "engaged to", "based in" tell of a state."""
    if words is not words_of.GRAMMARS[Language.ENGLISH] or verb_at >= len(tokens):
        return False
    verb = tokens[verb_at].word
    if verb_at == 0 and verb in words_of.STATES:
        return False
    return verb in words_of.PAST_VERBS or (verb.endswith("ed") and len(verb) > PAST_LETTERS)


def _adjunct(folded: str, span: tuple[int, int]) -> tuple[int, int]:
    """What a phrase such as "since" governs at the end of a text: "since *the move*"."""
    leads = span[0] > 0 and folded[span[0] : span[1]] in _SINCE
    closed = _CLOSED.search(folded, span[1])
    return (span[1], closed.start() if closed else len(folded)) if leads else (0, 0)


def _content(tokens: list[Token], cues: Cues, words: Grammar) -> frozenset[str]:
    """Stems of what says something; unspaced text gives its pairs of characters."""
    found: set[str] = set()
    for index, token in enumerate(tokens):
        if in_cue(token, cues) or words.says_nothing(token.word) or token.dated:
            continue
        if not token.word.isascii() and ord(token.word[0]) > UNSPACED_FROM and len(token.word) > 1:
            found.update(token.word[at : at + 2] for at in range(len(token.word) - 1))
        elif not words.finite(token.word) or noun_at(tokens, index, words):
            found.add(token.stem)
    return frozenset(found)


def _without_cues(folded: str, cues: Cues) -> str:
    """Blanks the cues, so that words written together with one are found."""
    letters = list(folded)
    for spans in cues.values():
        for start, end in spans:
            letters[start:end] = " " * (end - start)
    return "".join(letters)
