"""Whom a Chinese clause is about, and the time that it names (SPEC J-8). Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date

from services.compactor.domain.extraction.cjk import chinese_words as words
from services.compactor.domain.extraction.cjk import dates
from services.compactor.domain.extraction.cjk.shared import simplified
from services.compactor.domain.extraction.dates import Mention
from services.compactor.domain.extraction.facts import Subject, Tense
from services.compactor.domain.extraction.subjects import slug


@dataclass(slots=True)
class Told:
    """Whom the sentence speaks of, and whom it has named."""

    author: Subject
    said: date
    last: Subject | None
    other: Subject | None = None
    names: dict[str, Subject] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A clause without its time: whom it is about, what it says, in its own and in simplified characters."""

    subject: Subject
    text: str
    plain: str
    when: str = ""
    mention: Mention | None = None
    stated: bool = True
    """Whether the subject stands in the clause."""


def parsed(clause: str, told: Told) -> Clause | None:
    """Who is spoken of, and the time before or behind it."""
    plain = simplified(clause)
    if (often := words.OFTEN_I.match(plain)) and not words.FIRST_PERSON.match(plain):
        start, end = often.span("i")
        clause, plain = f"我{clause[:start]}{clause[end:]}", f"我{plain[:start]}{plain[end:]}"
    tense = _tense(plain)
    mention = None if words.LASTING.search(plain) else dates.find(plain, told.said, tense, dates.CHINESE)
    when = ""
    if mention is not None:
        behind = re.compile(words.WHEN_REST).match(plain, mention.end)
        end = behind.end() if behind else mention.end
        begin = (
            mention.start - 1
            if mention.start
            and plain[mention.start - 1] in "在到于自从"
            and plain[mention.start - 2 : mention.start] != "现在"
            else mention.start
        )
        if mention.recurring:
            mention = None
        else:
            day = mention.day.isoformat() if mention.day else clause[mention.start : mention.end]
            behind_it = clause[mention.end : end].strip("、， ")
            when = f"{day}{' ' if behind_it[:1].isdigit() else ''}{behind_it}"
            clause, plain = clause[:begin] + clause[end:], plain[:begin] + plain[end:]
            clause, plain = clause.lstrip("，、 "), plain.lstrip("，、 ")
    subject, end, stated = _subject(plain, told)
    if subject is None:
        return None
    cut = len(plain[end:]) - len(plain[end:].lstrip(" ，、"))
    return Clause(
        subject=subject,
        text=clause[end + cut :],
        plain=plain[end + cut :],
        when=when,
        mention=mention,
        stated=stated,
    )


def _tense(plain: str) -> Tense:
    if re.search(
        r"得|要(?!求)|约了|订了|预约|提醒|别忘|之前|前.{0,2}(?:把|得|要)|买了.{0,8}票|去(?!了|过)", plain
    ):
        return Tense.COMING
    return Tense.PAST if re.search(r"了|过|的$|被|上(?:个|周|星期|礼拜)", plain) else Tense.COMING


def _subject(plain: str, told: Told) -> tuple[Subject | None, int, bool]:
    """Whom a clause is about, where that ends, and whether it says so."""
    for pattern in (words.GROUP, words.RELATIVE, words.BARE):
        if match := pattern.match(plain):
            told.other = _relative(told.author, match)
            return told.other, match.end(), True
    if words.OUR_HOME.match(plain):
        return told.author, plain.index("家"), True
    if match := words.FIRST_PERSON.match(plain):
        return told.author, match.end(), True
    if match := words.PRONOUN.match(plain):
        return (told.other, match.end(), True) if told.other else (None, 0, False)
    for name, subject in told.names.items():
        if plain.startswith(simplified(name)):
            return subject, len(name), True
    if words.OTHERS.match(plain):
        told.last = None
        return None, 0, False
    return told.last, 0, False


def _relative(author: Subject, match: re.Match[str]) -> Subject:
    names = [words.KIN_SHORT.get(kin, kin) for kin in (match["kin"], match["kin_2"]) if kin]
    key = author.key
    for name in names:
        key = f"{key}.{slug(name)}"
    return Subject(name="的".join([author.name, *names]), key=key)
