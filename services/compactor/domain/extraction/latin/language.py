"""What a language of `latin.reader` is made of, and how its patterns are written (SPEC J-8). Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from services.compactor.domain.extraction.facts import Category, Tense

NAME = r"(?-i:[^\W\d_a-zß-öø-ÿ][\w'-]+(?: [^\W\d_a-zß-öø-ÿ][\w'-]+){0,2})"
"""One to three words with capitals."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A clause in parts.

    `about` is "I", "thing" for what is one's own, "kin", "same" for the person of the clause before, or "same
    or I"; `relation` and `name` are those of a relative, of the author or of an `owner`. `verb` stands in the
    third person, as it is to be written, and `sense` is its class; `time` is "now", "past" or "must".
    `denied` stands for a verb that is denied, whose `verb` or `rest` says so.
    """

    about: str
    verb: str
    sense: str
    rest: str
    time: str = "now"
    denied: bool = False
    relation: str = ""
    name: str = ""
    owner: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What a clause tells whose verb has one of `senses` and whose rest matches.

    A slot that ends in "*" has a key for each object; `dated` demands that the clause names a time, `exact`
    that it is a day.
    """

    senses: frozenset[str]
    rest: re.Pattern[str]
    category: Category
    slot: str
    time: str = "now"
    denied: bool = False
    about: str = ""
    dated: Tense | None = None
    exact: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A clause that tells of itself what its author wants or has to do; `says` puts `o` into words.

    A `whole` one begins a sentence that its comma or colon does not divide: "decided: no dog".
    """

    pattern: re.Pattern[str]
    category: Category
    slot: str
    says: str
    dated: Tense | None = None
    whole: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Cuts:
    """Where a sentence falls into clauses.

    What follows a comma is a clause of its own if it matches `comma`, what follows an "and" if it matches
    `bare`; a part that matches `dropped` is left (reasons, comments); anything else belongs to the clause
    before, and after a part that matches `front` ("last Sunday") the clause only begins.
    """

    at: re.Pattern[str]
    front: re.Pattern[str]
    comma: re.Pattern[str]
    bare: re.Pattern[str]
    dropped: re.Pattern[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """The grammar of a language.

    `common` are its small words. `typed` writes out what is typed shortly, `lead` is said before a statement.
    A message with `unreal` says nothing, a clause with `unsure` is left. `profile` matches who introduces
    themselves, `listed` cuts what they say, of which `years` is an age; `intro` begins each as a sentence, as
    it does a bare `trait` ("left-handed, by the way"). `named` finds a relative's name anywhere in a
    sentence, `small` one in small letters before a verb; `she` is a pronoun.

    `whose` turns "my" into "their" in a statement; one that still holds a word of `foreign` is left.
    `recurring` days are none, days of a `week` are those of the next or the last. `place` finds where a trade
    is practised, said by `works`. `standing` marks a wish for all answers, whose parts are cut at `parts` and
    look like an `imperative`; `wanted` says it. `infinitives` cuts two tasks.
    """

    unnamed: str
    common: re.Pattern[str]
    profile: re.Pattern[str]
    listed: re.Pattern[str]
    trait: re.Pattern[str]
    she: str
    years: re.Pattern[str]
    intro: tuple[str, str, str]
    typed: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...]
    lead: re.Pattern[str]
    unreal: re.Pattern[str]
    unsure: re.Pattern[str]
    cuts: Cuts
    parse: Callable[[str], Clause | None]
    frames: tuple[Frame, ...]
    wishes: tuple[Wish, ...]
    named: re.Pattern[str]
    small: re.Pattern[str]
    owned: Callable[[str, str], str]
    called: str
    place: re.Pattern[str]
    works: str
    whose: tuple[tuple[re.Pattern[str], str], ...]
    foreign: re.Pattern[str]
    recurring: re.Pattern[str]
    week: re.Pattern[str]
    day: str
    standing: re.Pattern[str]
    parts: re.Pattern[str]
    imperative: re.Pattern[str]
    wanted: str
    infinitives: re.Pattern[str]


def compiled(pattern: str) -> re.Pattern[str]:
    """Letter case is ignored, and accents may be left out."""
    return re.compile(loose(pattern), re.IGNORECASE)


def loose(pattern: str) -> str:
    """A pattern whose accented letters also match without their accents; none may stand in brackets."""
    return re.sub("[áéíóúñèàâêîôûç]", lambda one: f"[{one.group()}{plain(one.group())}]", pattern)


def numeric(months: str) -> tuple[re.Pattern[str], Callable[[re.Match[str]], str]]:
    """What writes out the months of days in figures: "3.5.2024" as "3. Mai 2024"."""
    names = months.split()

    def written(match: re.Match[str]) -> str:
        number = int(match["month"])
        if not 1 <= number <= len(names):
            return match.group()
        return f"{match['day']}{match['dot'] or ''} {names[number - 1]} {match['year'] or ''}".strip()

    pattern = (
        r"(?<![\d./])(?P<day>\d{1,2})(?:(?P<dot>\.)\s?|[/-])(?P<month>0?\d"
        r"|1[0-2])(?:[./-](?P<year>\d{4})?|(?![\w./-]))(?!\d)"
    )
    return re.compile(pattern), written


def plain(text: str) -> str:
    """Without accents."""
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


def filled(pattern: str, words: Mapping[str, str]) -> str:
    """A pattern with a language's words for each <kind>."""
    return re.sub(r"(?<!\?P)<(\w+)>", lambda kind: f"(?:{words.get(kind[1], '(?!)')})", pattern)


def wish(
    words: Mapping[str, str],
    pattern: str,
    category: Category,
    slot: str,
    says: str,
    dated: Tense | None = None,
    *,
    whole: bool = False,
) -> Wish:
    """A wish by a pattern in a language's words; see Wish."""
    return Wish(
        pattern=re.compile(f"^{loose(filled(pattern, words))}$", re.IGNORECASE),
        category=category,
        slot=slot,
        says=says,
        dated=dated,
        whole=whole,
    )
