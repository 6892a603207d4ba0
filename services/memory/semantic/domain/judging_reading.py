"""A statement taken apart: language, cues, subject, verb, content, values (SPEC S-7).

    read_pair(old, new) -> tuple[Reading, Reading]

For languages of Latin script the subject is what stands before the first finite verb, without a leading
adjunct ("After the holidays Ada ...") and without a report ("Ada says that ..."). No verb before it, or a
pronoun: the subject is implicit, the user. For other scripts it is the first piece of content.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from services.memory.semantic.domain import judging_grammar as grammar
from services.memory.semantic.domain import judging_values as values
from services.memory.semantic.domain.analysis import stem
from services.memory.semantic.domain.judging_cues import Cues, Language, cues_of, fold_case, language_of
from services.memory.semantic.domain.judging_scripts import other_words
from services.memory.semantic.domain.judging_slots import Fixed, Slot, fixed_slot, slots_of
from services.memory.semantic.domain.judging_types import Cue, Statement

STEM_LETTERS = 6
"""Words are compared by so many first letters of their stem: "allergy" and "allergic" are one."""
OTHER_STEM_LETTERS = 5
"""Likewise in languages without a stemmer here."""
UNSPACED_FROM = 0x2E7F
"""Code points beyond are of scripts written without spaces, or of Hangul."""
ADJUNCT_WORDS = 7
"""A leading adjunct is at most this long."""

_ARABIC = re.compile("[\u0600-\u06ff]")
_KANA = re.compile("[\u3041-\u309f]")
_TOPIC = re.compile("[\\sは、]*[^はが、。]{1,10}[はが]")
_PLEASE = frozenset({"please", "bitte"})
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_REPORT = re.compile(
    r"^(?:according to [^,]+,|(?:the |my |his |her |their )?\w+(?: \w+)? "
    r"(?:says?|said|reports|reported|claims|claimed|mentioned|told (?:me|us|him|her|them|"
    r"\w+))(?: that)?)\s+"
)
_OWNERS = {
    word: mark
    for mark, words in {
        "m": "he his er sein seine il 他 彼 لديه عنده",
        "f": "she her elle ella 她 彼女 لديها عندها",
        "i": "i my ich mein meine je mon ma yo mi 我 私 मैं मुझे मेरा मेरी",
        "x": "वह उसे उसने उसके",
    }.items()
    for word in words.split()
}
"""Whose something is: his, hers, mine, or unknown."""
_OTHER_PRONOUNS = sorted((word for word in _OWNERS if not word.isascii()), key=len, reverse=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A word as written (folded), as compared, whether it is spelt like a name, and where it stands."""

    word: str
    stem: str
    name: bool
    start: int

    @property
    def end(self) -> int:
        """Where it ends in the folded text."""
        return self.start + len(self.word)

    @property
    def dated(self) -> bool:
        """Whether it names a month or a day of the week."""
        return self.word in values.MONTHS or self.word in values.WEEKDAYS


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Who or what a statement is about. No words: the user.

    `words` are the noun and what stands before it, `details` what follows it ("the door of *the shed*");
    `owner` tells his from hers and mine.
    """

    words: frozenset[str] = frozenset()
    details: frozenset[str] = frozenset()
    head: str = ""
    owner: str = ""
    named: bool = False
    kin: frozenset[str] = frozenset()

    @property
    def all(self) -> frozenset[str]:
        """Words and details."""
        return self.words | self.details


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
    values: values.Values

    @property
    def names(self) -> frozenset[str]:
        """Stems of the words that are spelt like names."""
        return frozenset(token.stem for token in self.tokens if token.name)

    @property
    def grammar(self) -> grammar.Grammar:
        """Of its language."""
        return grammar.GRAMMARS[self.language]

    def has(self, *cues: Cue) -> bool:
        """Tells whether any of the cues stands in the text."""
        return any(cue in self.cues for cue in cues)


def read_pair(old: Statement, new: Statement) -> tuple[Reading, Reading]:
    """Takes both apart, as one language if both are in Latin script: short statements hardly show theirs."""
    texts = [" ".join(statement.value.split()) for statement in (old, new)]
    languages = [language_of(text) for text in texts]
    if Language.OTHER not in languages and languages[0] is not languages[1]:
        languages = [language_of(" ".join(texts))] * 2
    first, second = (
        _read(statement, text, language)
        for statement, text, language in zip((old, new), texts, languages, strict=True)
    )
    return first, second


def _read(statement: Statement, text: str, language: Language) -> Reading:
    folded = fold_case(text)
    cues = cues_of(folded, language)
    words = grammar.GRAMMARS[language]
    if language is Language.OTHER:
        tokens = [
            Token(word=w, stem=s, name=False, start=at)
            for w, s, at in other_words(_without_cues(folded, cues))
        ]
        subject, verb_at = _other_subject(folded, tokens, cues), len(tokens)
    else:
        tokens = _tokens(text, language)
        begin, verb_at = _clause(folded, tokens, words)
        subject = _subject(tokens[begin:verb_at], language, cues)
    return Reading(
        statement=statement,
        folded=folded,
        language=language,
        cues=cues,
        tokens=tuple(tokens),
        subject=subject,
        verb=tokens[verb_at].word if verb_at < len(tokens) else "",
        content=_content(tokens, cues, words),
        frame=tuple(
            token.stem
            for token in tokens
            if token.word not in words.determiners and not in_cue(token, cues) and token.word not in _PLEASE
        ),
        slots=slots_of(folded, statement.key),
        fixed=fixed_slot(folded),
        values=values.values_of(folded),
    )


def _without_cues(folded: str, cues: Cues) -> str:
    """Blanks the cues, so that words written together with one are found."""
    letters = list(folded)
    for spans in cues.values():
        for start, end in spans:
            letters[start:end] = " " * (end - start)
    return "".join(letters)


def in_cue(token: Token, cues: Cues) -> bool:
    """Tells whether the token is part of a cue."""
    return any(start <= token.start < end for spans in cues.values() for start, end in spans)


def _content(tokens: list[Token], cues: Cues, words: grammar.Grammar) -> frozenset[str]:
    """Stems of what says something; unspaced text gives its pairs of characters."""
    found: set[str] = set()
    for index, token in enumerate(tokens):
        if in_cue(token, cues) or words.says_nothing(token.word) or token.dated:
            continue
        if not token.word.isascii() and ord(token.word[0]) > UNSPACED_FROM and len(token.word) > 1:
            found.update(token.word[at : at + 2] for at in range(len(token.word) - 1))
        elif not words.finite(token.word) or (index and _leads_noun(tokens[index - 1].word, words)):
            found.add(token.stem)
    return frozenset(found)


def _tokens(text: str, language: Language) -> list[Token]:
    """Words with their places in the folded text, which is as long as `text` but for rare ligatures."""
    words = grammar.GRAMMARS[language]
    found = []
    for match in _WORD.finditer(text):
        word = fold_case(match.group())
        first = not text[: match.start()].strip(" \"'¿¡")
        capital = match.group()[0].isupper() and (language is not Language.GERMAN or first)
        name = capital and not first and word not in values.MONTHS and word not in values.WEEKDAYS
        stemmed = stem(word)[:STEM_LETTERS] if language is Language.ENGLISH else word[:OTHER_STEM_LETTERS]
        found.append(
            Token(word=word, stem=stemmed, name=name and not words.says_nothing(word), start=match.start())
        )
    return [_first_name(found, words), *found[1:]] if found else []


def _first_name(tokens: list[Token], words: grammar.Grammar) -> Token:
    """The first word has a capital anyway: it is a name if a verb follows and it is no known word."""
    first = tokens[0]
    known = words.says_nothing(first.word) or words.finite(first.word) or first.word in grammar.KIN
    follows = any(words.finite(token.word) for token in tokens[1:4])
    return Token(word=first.word, stem=first.stem, name=follows and not known, start=first.start)


def _clause(folded: str, tokens: list[Token], words: grammar.Grammar) -> tuple[int, int]:
    """Returns where the main clause begins and where its verb stands (equal: the subject is implicit)."""
    report = _REPORT.match(folded)
    begin = sum(token.start < report.end() for token in tokens) if report else 0
    begin = _after_adjunct(folded, tokens, begin, words)
    if _bare_verb(tokens, begin, words):
        return begin, begin
    for index in range(begin, len(tokens)):
        noun = index > begin and _leads_noun(tokens[index - 1].word, words)
        if words.finite(tokens[index].word) and not noun and not tokens[index].dated:
            return begin, index
    after_noun = begin + 2 if tokens[begin : begin + 1] and tokens[begin].word in words.determiners else begin
    return begin, min(after_noun, len(tokens))


def _leads_noun(word: str, words: grammar.Grammar) -> bool:
    """Whether the next word is a noun, though it may be spelt like a verb: "the *report*", "for *May*"."""
    preposition = word in words.prepositions and word not in {"and", "or", "but", "und", "et", "y"}
    return word in words.determiners or preposition or word == "s"


def _bare_verb(tokens: list[Token], begin: int, words: grammar.Grammar) -> bool:
    """Tells an English statement that opens with a verb not in the tables: "Cycles to work"."""
    if begin >= len(tokens) or words is not grammar.GRAMMARS[Language.ENGLISH]:
        return False
    first = tokens[begin].word
    following = tokens[begin + 1] if begin + 1 < len(tokens) else None
    inflected = first.endswith(("s", "ed")) and not first.endswith(("ss", "us", "is"))
    if not inflected or words.says_nothing(first):
        return False
    return following is None or not (following.name or words.finite(following.word))


def _after_adjunct(folded: str, tokens: list[Token], begin: int, words: grammar.Grammar) -> int:
    """Skips "Since the spring" or "In his garden" at the beginning."""
    if (
        begin >= len(tokens)
        or tokens[begin].word not in words.prepositions
        or words.finite(tokens[begin].word)
    ):
        return begin
    for index in range(begin + 1, min(len(tokens), begin + ADJUNCT_WORDS)):
        if "," in folded[tokens[index - 1].end : tokens[index].start]:
            return index
        word = tokens[index].word
        verbal = words.finite(word) and not tokens[index].dated
        opens = word in words.determiners or word in words.pronouns or tokens[index].name or verbal
        if opens and index > begin + 1:
            return index
    return begin


def _subject(tokens: list[Token], language: Language, cues: Cues) -> Subject:
    """Reads the tokens before the verb."""
    words = grammar.GRAMMARS[language]
    noun: list[Token] = []
    details: list[Token] = []
    after = False
    for token in tokens:
        after = after or (bool(noun) and token.word in words.prepositions)
        counts = not words.says_nothing(token.word) and not in_cue(token, cues)
        if counts and (after or not token.dated):
            (details if after else noun).append(token)
    first = language in {Language.FRENCH, Language.SPANISH}
    return Subject(
        words=frozenset(token.stem for token in noun),
        details=frozenset(token.word if token.dated else token.stem for token in details),
        head=noun[0 if first else -1].stem if noun else "",
        owner=next((_OWNERS[token.word] for token in tokens[:1] if token.word in _OWNERS), ""),
        named=any(token.name for token in noun),
        kin=frozenset(token.word for token in noun if token.word in grammar.KIN),
    )


def _other_subject(folded: str, tokens: list[Token], cues: Cues) -> Subject:
    """The first piece that is no cue, in Arabic the first two; a pronoun is the implicit subject."""
    plain = [token for token in tokens if not in_cue(token, cues)]
    opening = _without_cues(folded, cues).lstrip(" は、")
    owner = next((_OWNERS[word] for word in _OTHER_PRONOUNS if opening.startswith(word)), "")
    if owner or not plain:
        return Subject(owner=owner)
    if _KANA.search(folded):
        plain = plain[:1] if _TOPIC.match(opening) else []
    if not plain:
        return Subject()
    words = [token.stem for token in plain[: 2 if _ARABIC.match(plain[0].word) else 1]]
    return Subject(words=frozenset(words), head=words[0], named=True)
