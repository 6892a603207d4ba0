"""Participants' names in text (S-9, S-12): who is named, and the text without them.

    named_participants(text, participants) -> tuple[str, ...]   those named, in order
    strip_names(text, participants) -> str                      the text to embed, of messages and queries

Small embedding models are drawn to names and greetings: two short messages that both address Anna come out
alike whatever they say. Removing the names on both sides leaves the vector channel the subject; who spoke is
a signal of its own (see ``fusion``).

``participants`` are the distinct authors of the conversation. A participant is known by the full name and by
each of its words (``Anna Smith``: anna smith, anna, smith), matched as whole words whatever their case, with
or without a possessive ending. Words inside an address, a path or an identifier are never touched. A name
that is also an ordinary word (Will, May, Grace) counts only where its spelling and place show that it is
one. Role words (user, assistant) and ids such as ``telegram:123`` are no names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from .words import GREETINGS, ORDINARY_WORDS, ROLE_WORDS, TITLES

MIN_NICKNAME = 3
"""A nickname is the beginning of a first name, at least this long ("Mel" for Melanie)."""

PATTERN_CACHE_SIZE = 512
"""Conversations whose compiled patterns are kept."""

_GREETING = rf"(?:{'|'.join(GREETINGS)})"
_BEFORE_WORD = r"(?<![\w@#/\\])(?<!\w['.-])"
_POSSESSIVE = r"(?:['\u2019]s\b|['\u2019](?!\w))?"
_AFTER_WORD = r"(?![\w@/\\]|[.'\u2019-]\w)"
_UNSPACED = re.compile("[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7ff]")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;\n(\"\u201c\u2026]|\s[-\u2013\u2014*])\s*$")
_MONTH_CONTEXT = re.compile(
    r"\b(?:in|on|of|by|since|until|during|early|late|mid|last|next|this|\d{1,2}(?:st|nd|rd|th)?)\s+$",
    re.IGNORECASE,
)
_MONTH_NAMES = frozenset(("april", "may", "june", "august"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A name in a text: ``text[start:end]``, possessive ending included, may mean any of ``participants``."""

    start: int
    end: int
    participants: tuple[str, ...]


def named_participants(text: str, participants: Sequence[str]) -> tuple[str, ...]:
    """Return the participants named in ``text``, in the order of ``participants``.

    A word that two of them share (John Smith, John Doe) names both.
    """
    named = {name for mention in mentions(text, participants) for name in mention.participants}
    return tuple(name for name in dict.fromkeys(participants) if name in named)


def strip_names(text: str, participants: Sequence[str]) -> str:
    """Return ``text`` without the participants' names, for embedding.

    Names go as whole words with their possessive ending, as ``Name:`` before a line, and as nicknames where
    one is addressed ("Hey Mel!"). The spaces and commas they leave are tidied. Text that names nobody is
    returned unchanged, and so is text that holds nothing but names.
    """
    spans = [(mention.start, mention.end) for mention in mentions(text, participants)]
    spans += _nicknames(text, participants)
    if not spans:
        return text
    kept, position = [], 0
    for start, end in sorted(spans):
        if start >= position:
            kept.append(text[position:start])
            position = _after_speaker_mark(text, start, end)
    stripped = _tidy("\0".join([*kept, text[position:]]))
    return stripped if any(character.isalnum() for character in stripped) else text


def mentions(text: str, participants: Sequence[str]) -> list[Mention]:
    """Return the names in ``text`` from left to right, the longest where several start together."""
    aliases = _aliases(tuple(participants))
    if not aliases:
        return []
    found = []
    for match in _pattern(tuple(participants)).finditer(text):
        alias = " ".join((match["name"] or match.group()).casefold().split())
        if alias in aliases and (match["name"] is None or _is_name(text, match)):
            found.append(Mention(start=match.start(), end=match.end(), participants=aliases[alias]))
    return found


@lru_cache(maxsize=PATTERN_CACHE_SIZE)
def _aliases(participants: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Map each case-folded alias to the participants it may mean."""
    aliases: dict[str, tuple[str, ...]] = {}
    for participant in dict.fromkeys(participants):
        for alias in dict.fromkeys(_own_aliases(participant)):
            aliases[alias] = (*aliases.get(alias, ()), participant)
    return aliases


def _own_aliases(participant: str) -> Iterator[str]:
    name = " ".join(participant.split()).casefold()
    if name in ROLE_WORDS or not re.fullmatch(r"[^\W\d_]+(?:[ .'\u2019-]+[^\W\d_]+)*\.?", name):
        return
    if len(name) > 1:
        yield name
    for word in name.split():
        bare = word.strip(".")
        if len(bare) > 1 and bare not in TITLES and bare not in ROLE_WORDS:
            yield bare


@lru_cache(maxsize=PATTERN_CACHE_SIZE)
def _pattern(participants: tuple[str, ...]) -> re.Pattern[str]:
    spaced: list[str] = []
    unspaced: list[str] = []
    for alias in sorted(_aliases(participants), key=lambda alias: (-len(alias), alias)):
        escaped = re.escape(alias).replace(r"\ ", r"\s+")
        (unspaced if _UNSPACED.search(alias) else spaced).append(escaped)
    whole_words = rf"{_BEFORE_WORD}(?P<name>{'|'.join(spaced) or '(?!)'}){_POSSESSIVE}{_AFTER_WORD}"
    if not unspaced:
        return re.compile(whole_words, re.IGNORECASE)
    return re.compile(f"(?:{'|'.join(unspaced)})|{whole_words}", re.IGNORECASE)


def _is_name(text: str, match: re.Match[str]) -> bool:
    """Tell a name from the ordinary word that is spelt alike."""
    word = match["name"]
    if word.casefold() not in ORDINARY_WORDS and len(word) > 2:
        return True
    if not (word[0].isupper() and word[1:].islower()):
        return False
    before, after = text[: match.start()], text[match.end() :]
    if word.casefold() in _MONTH_NAMES and (_MONTH_CONTEXT.search(before) or re.match(r"\s+\d", after)):
        return False
    possessive = match.end() > match.end("name")
    return possessive or after[:1] in {",", ":"} or not _SENTENCE_START.search(before)


def _nicknames(text: str, participants: Sequence[str]) -> list[tuple[int, int]]:
    """Return the spans of shortened names where somebody is addressed."""
    shortened = _nickname_pattern(tuple(participants))
    return [match.span("name") for match in shortened.finditer(text)] if shortened else []


@lru_cache(maxsize=PATTERN_CACHE_SIZE)
def _nickname_pattern(participants: tuple[str, ...]) -> re.Pattern[str] | None:
    firsts = {alias.split()[0] for alias in _aliases(participants)}
    shorts = sorted(
        {
            first[:length].capitalize()
            for first in firsts
            for length in range(MIN_NICKNAME, len(first))
            if first.isalpha() and first[:length] not in ORDINARY_WORDS
        },
        key=lambda short: (-len(short), short),
    )
    if not shorts:
        return None
    name = rf"(?P<name>{'|'.join(map(re.escape, shorts))})"
    return re.compile(rf"(?:(?<=, )|(?<!\w)(?i:{_GREETING}),? ){name}(?=[,.!?]|$)")


def _after_speaker_mark(text: str, start: int, end: int) -> int:
    """Return the position behind ``Name:`` when the name stands at the start of a line, else ``end``."""
    line_start = not text[text.rfind("\n", 0, start) + 1 : start].strip()
    mark = re.match(r"[ \t]*:[ \t]*", text[end:]) if line_start else None
    return end + mark.end() if mark else end


def _tidy(text: str) -> str:
    """Close the gaps marked ``\\0``: no doubled spaces, no comma before another mark or at the start."""
    text = re.sub(r"(^|\n)[ \t]*\0[ \t]*,?[ \t]*", r"\1", text)
    text = re.sub(r"[ \t]*,?[ \t]*\0[ \t]*(?=[,.!?;:])", "", text)
    text = re.sub(r"[ \t]*\0[ \t]*", " ", text)
    return text.strip()
