"""Days that a sentence names, in English, German, French and Spanish (SPEC J-8). Pure.

    find(text, said, tense) -> Mention | None       the first one

"Yesterday" and "in ten days" count from the day of the message; a bare weekday is the next one after it, or
in the past tense the one before.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from services.compactor.domain.extraction.dates_words import (
    DAY_WORDS,
    FAR,
    HOLIDAYS,
    MONTHS,
    NUMBERS,
    UNITS,
    WEEKDAYS,
)
from services.compactor.domain.extraction.facts import Tense


def _any(words: Iterable[str]) -> str:
    """For a verbose pattern: longest first, so that "mars" is not read as "mar"."""
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


_COUNT = rf"\d{{1,3}}|{_any(NUMBERS)}"
_BEFORE_LATIN = (
    r"antes\ del?\ |para\ el\ |hasta\ el\ |avant\ (?:le\ )?|d'ici\ (?:le\ )?|pour\ le\ "
    r"|vor\ dem\ |bis\ zum\ |ab\ dem\ |zum\ |seit\ dem\ "
)
_YEAR = r"(?:19|20)\d\d"
_DATE = re.compile(
    rf"""
    (?<![\w-])(?:
      (?:on\ |by\ |until\ |am\ |{_BEFORE_LATIN}|le\ |el\ )?(?P<iso>{_YEAR}-\d\d-\d\d)
    | (?:on\ |by\ |until\ |before\ |from\ |for\ |since\ |am\ |bis\ |{_BEFORE_LATIN}|le\ |el\ )?(?:the\ )?
      (?P<day>\d{{1,2}})(?:st|nd|rd|th|er|\.)?\ (?:of\ |de\ )?(?P<month>{_any(MONTHS)})\b\.?
      (?:,?\ (?:de\ )?(?P<year>{_YEAR}))?(?P<until>\ (?:to|until|till|-)\ \d{{1,2}}\ (?:{_any(MONTHS)})\b)?
    | (?:on\ |by\ |until\ |before\ )?(?P<month_2>{_any(MONTHS)})\ (?P<day_2>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)
      (?P<until_2>(?:\ (?:to|until|till)\ |\ ?-\ ?)(?:(?:{_any(MONTHS)})\ )?\d{{1,2}}(?:st|nd|rd|th)?\b)?
      (?:,?\ (?P<year_2>{_YEAR}))?
    | (?:on\ |at\ |over\ |by\ |until\ |before\ |an\ |à\ |en\ )(?P<holiday>{_any(HOLIDAYS)})
      (?!\ (?:dinner|party|tree|card|present|gift|song|cake|market))
    | (?:by\ |until\ |before\ |bis\ )?(?:the\ end\ of\ |end\ of\ )?(?P<word>{_any(DAY_WORDS)})
      (?:\ (?:noon|lunchtime|midday))?
    | (?:on\ |by\ |until\ |till\ |before\ |from\ |for\ |since\ |am\ |bis\ |{_BEFORE_LATIN}|le\ |el\ )*
      (?:the\ end\ of\ |end\ of\ |close\ of\ play\ )?
      (?P<which>este\ |ce\ |last\ |next\ |this\ |this\ coming\ |nächsten\ |letzten\ |kommenden\ |pasado\ |
        próximo\ )?
      (?P<weekday>{_any(WEEKDAYS)})(?P<week>\ week\b)?(?:\ (?:morning|afternoon|evening|night
      |matin|midi|soir|après-midi|früh|vormittag|mittag|nachmittag|abend|por\ la\ (?:mañana|tarde|noche)))?
      (?P<after>\ prochain|\ dernier|\ que\ viene|\ pasado|\ próximo)?
    | (?:(?:on|by|until|till|before|since|for|from)\ |(?<=is\ )|(?<=are\ )|^)the
      \ (?P<number>\d{{1,2}})(?:st|nd|rd|th)
      (?:\ of\ (?P<in_month>this|next|last)\ month)?
      (?!\ (?:of|floor|time|page|row|place|attempt|try|century|edition|item|one|line|{_any(MONTHS)})\b)
    | (?:{_BEFORE_LATIN}|bis\ |am\ |le\ |el\ (?:día\ )?)(?P<number_2>\d{{1,2}})(?:\.|er)?
      (?!\ ?(?:[\d:/%€]|h\b|heures|uhr|personnes|euro|prozent|stunden|minuten|(?:de\ )?(?:{_any(MONTHS)})\b))
    | (?P<ago>(?P<count>{_COUNT})\ (?P<unit>{_any(UNITS)})\ ago)
    | (?P<ago_de>(?:vor|il\ y\ a|hace)\ (?P<count_3>{_COUNT})\ (?P<unit_3>{_any(UNITS)}))
    | (?P<hence>(?:in|dans|en|dentro\ de)\ (?P<count_2>{_COUNT})\ (?P<unit_2>{_any(UNITS)})(?:\ time)?)
    | (?P<vague>(?:(?:{_COUNT}|a\ few|several|some|many)\ (?:{FAR})\ ago
        | (?:vor|il\ y\ a|hace)\ (?:{_COUNT})\ (?:{FAR})
        | (?:last|next|this|early|late)\ (?:week|month|year|spring|summer|autumn|fall|winter|weekend)
        | (?:in|since|im|seit|en|depuis|desde)\ (?:(?:early|late)\ )?(?:(?:{_any(MONTHS)})\ )?{_YEAR}
        | (?:letzte|nächste|diese)[ns]?\ (?:woche|monat|jahr|sommer|winter|frühling|herbst)
        | (?:la\ semaine|le\ mois|l'année|l'an|l'été|l'hiver)\ (?:dernière?|prochaine?)
        | (?:la\ semana|el\ mes|el\ año|el\ verano|el\ invierno)\ (?:pasad[oa]|que\ viene|próxim[oa])
        | (?:at|by|before|towards|until|till|from)\ the\ (?:end|start|beginning)\ of\ (?:{_any(MONTHS)}
          |the\ month|the\ year|term|next\ \w+|this\ \w+)
        | (?:in|by|until|since)\ (?:mid-?|early\ |late\ )(?:{_any(MONTHS)}|spring|summer|autumn|winter)
        | (?:at|before|after|over|by|until|till)\ (?:easter|christmas|ramadan|eid|diwali|passover
          |half[- ]term|the\ weekend|the\ summer)
        | in\ the\ (?:spring|summer|autumn|fall|winter)|(?:next|last|this)\ (?:term|semester)
        | (?:in|last|next|this|im|en|anfang|mitte|ende|début|fin|a\ (?:principios|mediados|finales)\ de)
            \ (?:{_any(MONTHS)})
        | in\ (?:{_COUNT})\ (?:months?|years?)))
    )(?![\w-])
    """,
    re.IGNORECASE | re.VERBOSE,
)
_RECURRING = re.compile(
    r"\b(?:every|each|jeden|chaque|tous les|todos los|cada)\s+"
    r"(?:(?:other|second|third|first|last|single|two|three|few|\w+th)\s+)?$",
    re.IGNORECASE,
)
_NOT_OF_A_DAY = re.compile(r"\b(?:the|a|an|my|our|your|his|her|their|\w+'s)\s+$", re.IGNORECASE)
"""Before a bare weekday that only tells which thing is meant: "the Thursday class"."""
_NAMED_DAY = re.compile(
    r"\b(?:Ash|White|Good|Palm|Black|Shrove|Holy|Maundy|Pancake|Cyber|Whit|Super|Bloody|Remembrance"
    r"|Mothering)\s+$"
)
"""Before a weekday of which there is one a year."""
_AFTER_A_DAY = re.compile(
    r"^(?: (?:at|on|in|to|for|and|or|but|from|with|by|we|i|he|she|they|it|is|was|are|were|morning"
    r"|afternoon|evening|night|noon"
    r"|lunchtime|after|before|because|so|if|when|the|my|our|a|an|then|please|next|this|instead|now|too"
    r"|as|until|till|around"
    r"|about|first|early|late|latest|though|again|week|came|through|pls|ok|thanks|und|et|y|o|oder|ou|um"
    r"|à|a las|dans|mit)\b"
    r"|(?! [a-zà-ÿ]))",
    re.IGNORECASE,
)
"""What follows a bare weekday that is a day, not the first word of "Sunday roasts"."""
_MONTH = re.compile(rf"\b(?:{_any(MONTHS)})\b", re.IGNORECASE)
_PAST = frozenset({"last", "letzten", "pasado", "dernier"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """Where a date stands in a text, and the day that it names; None where it fixes none ("in 2015")."""

    start: int
    end: int
    day: date | None
    recurring: bool = False


def find(text: str, said: date, tense: Tense) -> Mention | None:
    """The first date of a text, one that names a day before one that does not; None: there is none."""
    return first([_mention(match, said, tense) for match in _DATE.finditer(text)])


def first(found: Sequence[Mention]) -> Mention | None:
    """The one of several that counts: one that names a day before one that does not."""
    return next((one for one in found if one.day is not None), found[0] if found else None)


def without(text: str, mention: Mention) -> str:
    """The text without the date."""
    left = " ".join(f"{text[: mention.start]} {text[mention.end :]}".split())
    return left.replace(" ,", ",").strip(" ,")


def named(day: date, words: str) -> str:
    """How a statement names a day that was named by these words, so that it holds on any other day.

    A weekday, a day's number and the part of the day stay: "on Friday 2024-05-17 in the evening".
    """
    until = re.match(r"(?:by|until|till|before|from|for|since)\b", words, re.IGNORECASE)
    weekday = re.search(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b", words, re.IGNORECASE)
    number = re.search(r"\bthe \d{1,2}(?:st|nd|rd|th)(?: of [a-z]+)?$", words, re.IGNORECASE)
    part = re.search(r"\b(?:morning|afternoon|evening|night|tonight)$", words, re.IGNORECASE)
    name = f"{weekday.group().capitalize()} " if weekday else ""
    when = {"night": " at night", "tonight": " in the evening"}
    later = when.get(part.group().lower(), f" in the {part.group().lower()}") if part else ""
    written = f"{number.group()} ({day.isoformat()})" if number else f"{name}{day.isoformat()}"
    return f"{until.group().lower() if until else 'on'} {written}{later}"


def _mention(match: re.Match[str], said: date, tense: Tense) -> Mention:
    tense = Tense.PAST if match.group().lower().startswith("since ") else tense
    recurring = bool(_RECURRING.search(match.string[: match.start()]))
    try:
        day = None if recurring else _day(match, said, tense)
    except (ValueError, OverflowError):  # the calendar has no such day
        day = None
    return Mention(start=match.start(), end=match.end(), day=day, recurring=recurring)


def _day(match: re.Match[str], said: date, tense: Tense) -> date | None:
    if match["iso"]:
        return date.fromisoformat(match["iso"])
    if match["day"]:
        return _of_calendar(match["month"], match["day"], match["year"], said, tense)
    if match["month_2"]:
        return _of_calendar(match["month_2"], match["day_2"], match["year_2"], said, tense)
    if match["holiday"]:
        number, day = HOLIDAYS[match["holiday"].lower()]
        return _nearest(number, day, said, tense)
    if match["number_2"] and _MONTH.search(match.string):  # "in September, on the 14th"
        return None
    if of_month := match["number"] or match["number_2"]:
        return _of_month(int(of_month), said, tense, match["in_month"])
    if match["word"]:
        return said + timedelta(days=DAY_WORDS[match["word"].lower()])
    if match["weekday"]:
        return None if _is_name(match) else _weekday(match, said, tense)
    if match["ago"]:
        return said - _span(match["count"], match["unit"])
    if match["ago_de"]:
        return said - _span(match["count_3"], match["unit_3"])
    if match["hence"]:
        return said + _span(match["count_2"], match["unit_2"])
    return None


def _span(count: str, unit: str) -> timedelta:
    number = int(count) if count.isdigit() else NUMBERS[count.lower()]
    return timedelta(days=number * UNITS[unit.lower()])


def _weekday(match: re.Match[str], said: date, tense: Tense) -> date:
    words = {(match["which"] or "").strip().lower(), (match["after"] or "").strip().lower()}
    wanted = WEEKDAYS[match["weekday"].lower()]
    later = 7 if match["week"] else 0
    if words & _PAST or (words == {""} and tense is Tense.PAST):
        return said - timedelta(days=(said.weekday() - wanted) % 7 or 7)
    return said + timedelta(days=((wanted - said.weekday()) % 7 or 7) + later)


def _of_calendar(month: str, day: str, year: str | None, said: date, tense: Tense) -> date:
    number = MONTHS[month.lower()]
    if year:
        return date(int(year), number, int(day))
    return _nearest(number, int(day), said, tense)


def _is_name(match: re.Match[str]) -> bool:
    """Whether a weekday is a part of a thing's name."""
    if match.group().lower() != match["weekday"].lower() or not match.group().endswith("day"):
        return False
    before, after = match.string[: match.start()], match.string[match.end() :]
    return bool(_NOT_OF_A_DAY.search(before) or _NAMED_DAY.search(before)) or not _AFTER_A_DAY.match(after)


def _of_month(number: int, said: date, tense: Tense, month: str | None) -> date:
    """The next day of that number, or the last before; or that of the `month` before or after."""
    if month:
        years, index = divmod(said.month - 1 + {"last": -1, "this": 0, "next": 1}[month.lower()], 12)
        return date(said.year + years, index + 1, number)
    step = timedelta(days=-1 if tense is Tense.PAST else 1)
    for days in range(63):
        found = said + days * step
        if found.day == number:
            return found
    raise ValueError("no such day")


def _nearest(month: int, day: int, said: date, tense: Tense) -> date:
    """The next one after a day, or the last before it."""
    years = range(said.year, said.year - 9, -1) if tense is Tense.PAST else range(said.year, said.year + 9)
    for one in years:  # 29 February may be eight years away
        if day > monthrange(one, month)[1]:
            continue
        found = date(one, month, day)
        if (found <= said) if tense is Tense.PAST else (found >= said):
            return found
    raise ValueError("no such day")
