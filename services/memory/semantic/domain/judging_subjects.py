"""Who or what a statement is about (SPEC S-7).

    clause(folded, tokens, words, moves) -> tuple[int, int, int]
    subject_of(folded, tokens, language, cues) -> Subject
    other_subject(bare, folded, tokens, cues) -> Subject

For languages of Latin or Cyrillic script the subject is what stands before the first finite verb, without a
leading adjunct ("After the holidays Ada ...") and without a report ("Ada says that ..."). No verb before
it, or a pronoun: the subject is implicit, the user. For other scripts it is the first piece of content.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from services.memory.semantic.domain import judging_grammar as grammar
from services.memory.semantic.domain.judging_cues import Cues, Language
from services.memory.semantic.domain.judging_tokens import Token, in_cue, verb_like
from services.memory.semantic.domain.judging_words import Grammar

ADJUNCT_WORDS = 7
"""A leading adjunct is at most this long."""

_ARABIC = re.compile("[\u0600-\u06ff]")
_KANA = re.compile("[\u3041-\u309f]")
_HANGUL = re.compile("[\uac00-\ud7ff]")
_TOPIC = re.compile("[\\sは、]*[^はが、。]{1,10}[はが]")
_MARKED = re.compile("\\w+(?:은|는|이|가|께서|에게)(?!\\w)")
_ADVERBS = frozenset(["now", "also", "still", "no", "longer", "currently", "always", "usually", "then"])
_USER = "user"
_REPORT = re.compile(
    r"^(?:(?:new rule|change of plan|update|news|note|correction|oops|sorry|edit|reminder|rebooked|fyi)[:,]|"
    r"according to [^,]+,|(?:the |my |his |her |their )?\w+(?: \w+)? (?:has )?"
    r"(?:says?|said|(?:reports|reported)(?= that)|claims|claimed|mentioned|shows?|showed|confirms|confirmed|"
    r"told (?:me|us|him|her|them|"
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
class Subject:
    """Who or what a statement is about. No words: the user.

    `words` are the noun and what stands before it, `details` what follows it ("the door of *the shed*");
    `owner` tells his from hers and mine; `bare` is a name without an article.
    """

    words: frozenset[str] = frozenset()
    details: frozenset[str] = frozenset()
    head: str = ""
    owner: str = ""
    bare: bool = False
    names: frozenset[str] = frozenset()
    kin: frozenset[str] = frozenset()

    @property
    def all(self) -> frozenset[str]:
        """Words and details."""
        return self.words | self.details

    @property
    def person(self) -> bool:
        """Whether it is somebody, or has a name of its own, and is no thing that may be anybody's."""
        return self.bare or bool(self.kin)


def clause(folded: str, tokens: list[Token], words: Grammar, moves: frozenset[int]) -> tuple[int, int, int]:
    """Returns where the main clause begins, where its subject ends and where its verb stands.

    The subject ends before the verb, or before a phrase that says something ended or changed. Where it is
    implicit the first two are equal; without a verb the last is the number of tokens.
    """
    report = _REPORT.match(folded)
    begin = sum(token.start < report.end() for token in tokens) if report else 0
    begin = _after_adjunct(folded, tokens, begin, words)
    if _bare_verb(tokens, begin, words):
        return begin, begin, begin
    end = None
    for index in range(begin, len(tokens)):
        token = tokens[index]
        noun = index > begin and noun_at(tokens, index, words)
        if index == begin and index + 1 < len(tokens) and tokens[index + 1].word in words.copulas:
            continue  # "Rent is 850 euros"
        told = index == begin + 1 and tokens[begin].name and verb_like(tokens[index : index + 2], words)
        if (words.finite(token.word) or told) and not noun and not token.dated:
            return begin, index if end is None else end, index
        if end is None and token.start in moves:
            end = index
    if end is None:
        first = tokens[begin].word if begin < len(tokens) else ""
        said = 2 if first in words.determiners else int(first in words.pronouns)
        end = min(begin + said, len(tokens))
    return begin, end, len(tokens) if end == begin else end


def noun_at(tokens: list[Token], index: int, words: Grammar) -> bool:
    """Whether a word is a noun by what precedes it, though it may be spelt like a verb.

    "The *report*", "for *May*", "the 8:05 *train*".
    """
    if index == 0:
        return False
    before = tokens[index - 1].word
    preposition = before in words.prepositions and before not in {"and", "or", "but", "und", "et", "y"}
    counted = before[0].isdigit() and tokens[index].word not in words.copulas | words.having
    return before in words.determiners or preposition or before in {"s", "new", "old"} or counted


def _bare_verb(tokens: list[Token], begin: int, words: Grammar) -> bool:
    """Tells an English statement that opens with a verb not in the tables: "Cycles to work"."""
    if begin >= len(tokens) or words is not grammar.GRAMMARS[Language.ENGLISH]:
        return False
    first = tokens[begin].word
    rest = (token for token in tokens[begin + 1 :] if token.word not in _ADVERBS)
    following = next(rest, None)
    inflected = first.endswith(("s", "ed")) and not first.endswith(("ss", "us", "is"))
    if not inflected or words.says_nothing(first):
        return False
    return following is None or not (following.name or words.finite(following.word))


def _after_adjunct(folded: str, tokens: list[Token], begin: int, words: Grammar) -> int:
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


def subject_of(folded: str, tokens: list[Token], language: Language, cues: Cues) -> Subject:
    """Reads the tokens before the verb."""
    words = grammar.GRAMMARS[language]
    noun: list[Token] = []
    details: list[Token] = []
    after = False
    for index, token in enumerate(tokens):
        apposed = index > 0 and "," in folded[tokens[index - 1].end : token.start]
        after = after or (bool(noun) and (apposed or token.word in words.prepositions))
        counts = not words.says_nothing(token.word) and not in_cue(token, cues)
        if counts and (after or not token.dated) and not (token.word == _USER and not noun):
            (details if after else noun).append(token)
    first = language in {Language.FRENCH, Language.SPANISH}
    return Subject(
        words=frozenset(token.stem for token in noun),
        details=frozenset(token.word if token.dated else token.stem for token in details),
        head=noun[0 if first else -1].stem if noun else "",
        owner=next((_OWNERS[token.word] for token in tokens[:1] if token.word in _OWNERS), ""),
        bare=bool(noun)
        and all(token.name for token in noun)
        and tokens[0].word not in words.determiners - grammar.NAME_ARTICLES,
        names=frozenset(token.stem for token in noun if token.name),
        kin=frozenset(token.word for token in noun if grammar.is_kin(token.word)),
    )


def other_subject(bare: str, folded: str, tokens: list[Token], cues: Cues) -> Subject:
    """The first piece that is no cue, in Arabic the first two; a pronoun is the implicit subject."""
    plain = [token for token in tokens if not in_cue(token, cues)]
    opening = bare.lstrip(" は、")
    owner = next((_OWNERS[word] for word in _OTHER_PRONOUNS if opening.startswith(word)), "")
    if owner or not plain:
        return Subject(owner=owner)
    if _KANA.search(folded):
        plain = plain[:1] if _TOPIC.match(opening) else []
    elif _HANGUL.match(opening.lstrip()):
        plain = plain[:1] if _MARKED.match(opening.lstrip()) else []
    if not plain:
        return Subject()
    words = [token.stem for token in plain[: 2 if _ARABIC.match(plain[0].word) else 1]]
    return Subject(words=frozenset(words), head=words[0], bare=True)
