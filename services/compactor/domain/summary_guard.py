"""What a model writes of messages, held against them, and made to fit (SPEC J-6, J-16). Pure.

    borne_out(lines, source) -> list[Statement]     those that name nothing that the source doesn't
    fitted(statements, most) -> list[Statement]     as many as have room, by what they say
    unforgotten(known, written)                     what was known and is missing in what was written

A line goes where it names a path, an identifier or a number that does not stand in the source, a name of
which no form does, or where most of its words are not of it. Nothing is put right: a line that was wrong in
one thing is not to be trusted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from services.compactor.domain import extractive
from services.compactor.domain.extraction.text import visible
from services.compactor.domain.function_words import is_light
from services.compactor.domain.sentences import files, is_cjk, specifics, terms
from services.compactor.domain.summaries import BULLET, DAY, Section, Statement, Utterance
from services.kit.fences import plain

BORNE_PART = 0.6
"""Of a line's words: so many must be of the source."""
SAME_PART = 0.5
"""Of a known line's words: so many must stand in a written one for that to have taken it up."""
SAME_BEGINNING = 4
"""Letters in which two forms of one word agree."""
_MARK = re.compile(r"^(?:[-*+•]\s+|\d{1,2}[.)]\s+|#+\s+)+")

Written = Mapping[Section, Sequence[str]]
"""What a model wrote under each heading."""


class Source:
    """A text that is written about."""

    def __init__(self, texts: Iterable[str], days: Iterable[str] = ()) -> None:
        """`days` are those (ISO 8601) on which it was said."""
        joined = "\n".join(texts)
        self._text = joined.casefold()
        self._files = set(files(joined))
        self._words = terms(joined)
        self._stems = {word[:SAME_BEGINNING] for word in self._words}
        self._days = set(days)

    @classmethod
    def of(cls, messages: Iterable[Utterance], known: Iterable[Statement] = ()) -> Source:
        """Messages, and what was known before them."""
        messages, known = list(messages), list(known)
        return cls(
            [*(f"{one.author}\n{one.text}\n{one.output}" for one in messages), *(one.text for one in known)],
            [*(one.day for one in messages), *(one.day for one in known)],
        )

    def bears_out(self, text: str) -> bool:
        """Whether it could have been said from this."""
        named = specifics(text) - self._days
        if any(self._lacks(one) for one in named):
            return False
        words = [word for word in terms(text) if not is_light(word) and word not in self._days]
        borne = sum(self._has(word) for word in words)
        return borne >= len(words) * BORNE_PART

    def names(self, path: str) -> bool:
        """Whether this file is named in it, to the letter."""
        return path in self._files

    def has_day(self, day: str) -> bool:
        """Whether something was said on it."""
        return day in self._days

    def _lacks(self, specific: str) -> bool:
        wanted = specific.casefold().strip("`")
        if wanted.isalpha() and self._has(wanted):
            return False
        if is_cjk(wanted):
            return wanted not in self._text
        if wanted[:1].isdigit() and wanted[-1:].isdigit():  # it may be a part of an identifier
            return not re.search(rf"(?<!\d)(?<!\d[.,]){re.escape(wanted)}(?![.,]?\d)", self._text)
        return not re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", self._text)

    def _has(self, word: str) -> bool:
        return word in self._words or (len(word) >= SAME_BEGINNING and word[:SAME_BEGINNING] in self._stems)


def borne_out(written: Written, source: Source) -> list[Statement]:
    """The lines that the source bears out, each once, each on one line of bounded length."""
    kept: dict[str, Statement] = {}
    for section in Section:
        for line in written.get(section, ()):
            one = _statement(section, line, source)
            if one is not None:
                kept.setdefault(one.text.casefold(), one)
    return list(kept.values())


def _statement(section: Section, line: str, source: Source) -> Statement | None:
    text = _MARK.sub("", plain(" ".join(visible(line).split())))
    if section is Section.FILES:
        path = text.strip("`")
        return Statement(section=section, text=path) if source.names(path) else None
    day = ""
    if dated := DAY.match(text):
        text = text[dated.end() :]
        day = dated[1] if source.has_day(dated[1]) else ""
    text = text.removeprefix(BULLET).strip()
    if not any(map(str.isalnum, text)) or len(text) > extractive.LONGEST_LINE or not source.bears_out(text):
        return None
    return Statement(section=section, text=text, day=day)


def fitted(statements: Sequence[Statement], fits: Callable[[Sequence[Statement]], bool]) -> list[Statement]:
    """All, or those that say most while they fit; none where not even one does."""
    if fits(statements):
        return list(statements)
    files_of = [one for one in statements if one.section is Section.FILES]
    others = [one for one in statements if one.section is not Section.FILES]
    chosen = extractive.best(others, fits) if others else []
    for path in files_of:
        if fits([*chosen, path]):
            chosen.append(path)
    return chosen


def unforgotten(known: Sequence[Statement], written: Sequence[Statement]) -> list[Statement]:
    """What was known and is in none of the written lines: neither half of its words nor all that it names."""
    said = [(specifics(one.text), _content(one.text)) for one in written]
    paths = {one.text for one in written if one.section is Section.FILES}
    return [
        one
        for one in known
        if (one.text not in paths if one.section is Section.FILES else not _taken_up(one, said))
    ]


def _taken_up(one: Statement, said: Sequence[tuple[set[str], set[str]]]) -> bool:
    named, words = specifics(one.text), _content(one.text)
    return any(named <= others and len(words & content) >= len(words) * SAME_PART for others, content in said)


def _content(text: str) -> set[str]:
    return {word if is_cjk(word) else word[:SAME_BEGINNING] for word in terms(text) if not is_light(word)}
