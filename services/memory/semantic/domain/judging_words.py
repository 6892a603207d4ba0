"""What the word classes of a language are (SPEC S-7)."""

from __future__ import annotations

from dataclasses import dataclass


def words(text: str) -> frozenset[str]:
    """Returns the words of a list written as a text."""
    return frozenset(text.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """Words that say what a word beside them is.

    `single` are verbs whose object is one at a time: a home, a price, a time, a form of address. "have",
    "like" and "eat" are none of them.
    """

    determiners: frozenset[str]
    pronouns: frozenset[str]
    prepositions: frozenset[str]
    fillers: frozenset[str]
    copulas: frozenset[str]
    having: frozenset[str]
    verbs: frozenset[str]
    single: frozenset[str]

    def finite(self, word: str) -> bool:
        """Whether the word is a verb that can carry a clause."""
        return word in self.verbs or word in self.copulas or word in self.having or word in self.single

    def says_nothing(self, word: str) -> bool:
        """Whether the word only holds others together."""
        return any(
            word in words for words in (self.determiners, self.pronouns, self.prepositions, self.fillers)
        )
