"""Days that a sentence names, in English, German, French and Spanish (SPEC J-8). Pure.

    find(text, said, tense) -> Mention | None       the first one

"Yesterday" and "in ten days" count from the day of the message; a bare weekday is the next one after it, or
in the past tense the one before.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta

from services.compactor.domain.extracting_types import Tense

_WEEKDAYS = {
    name: day
    for day, names in enumerate(
        (
            "monday montag lundi lunes",
            "tuesday dienstag mardi martes",
            "wednesday mittwoch mercredi miércoles miercoles",
            "thursday donnerstag jeudi jueves",
            "friday freitag vendredi viernes",
            "saturday samstag sonnabend samedi sábado sabado",
            "sunday sonntag dimanche domingo",
        )
    )
    for name in names.split()
}
_MONTHS = {
    name: month
    for month, names in enumerate(
        (
            "january januar janvier enero jan",
            "february februar février fevrier febrero feb",
            "march märz maerz mars marzo mar",
            "april avril abril apr",
            "may mai mayo",
            "june juni juin junio",
            "july juli juillet julio",
            "august août aout agosto aug",
            "september septembre septiembre sept sep",
            "october oktober octobre octubre oct",
            "november novembre noviembre nov",
            "december dezember décembre decembre diciembre dec",
        ),
        start=1,
    )
    for name in names.split()
}
_DAY_WORDS = {
    "today": 0,
    "tonight": 0,
    "this morning": 0,
    "this afternoon": 0,
    "this evening": 0,
    "heute": 0,
    "aujourd'hui": 0,
    "hoy": 0,
    "yesterday": -1,
    "last night": -1,
    "gestern": -1,
    "hier": -1,
    "ayer": -1,
    "the day before yesterday": -2,
    "vorgestern": -2,
    "avant-hier": -2,
    "anteayer": -2,
    "tomorrow": 1,
    "tomorrow morning": 1,
    "tomorrow night": 1,
    "morgen": 1,
    "morgen früh": 1,
    "morgen abend": 1,
    "heute abend": 0,
    "gestern abend": -1,
    "demain matin": 1,
    "demain soir": 1,
    "ce soir": 0,
    "hier soir": -1,
    "esta noche": 0,
    "anoche": -1,
    "mañana por la mañana": 1,
    "mañana por la tarde": 1,
    "demain": 1,
    "mañana": 1,
    "the day after tomorrow": 2,
    "übermorgen": 2,
    "après-demain": 2,
    "pasado mañana": 2,
}
_HOLIDAYS = {
    name: (month, day)
    for names, month, day in (
        ("new year's day|new years day|new year's|neujahr|nouvel an|año nuevo", 1, 1),
        ("valentine's day|valentines day|valentine's|saint-valentin|san valentín", 2, 14),
        ("halloween", 10, 31),
        ("christmas eve|xmas eve|heiligabend|nochebuena", 12, 24),
        ("christmas day|christmas|xmas|weihnachten|noël|navidad", 12, 25),
        ("boxing day", 12, 26),
        ("new year's eve|new years eve|silvester|nochevieja", 12, 31),
    )
    for name in names.split("|")
}
_NUMBERS = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "fourteen": 14,
    "einem": 1,
    "einer": 1,
    "zwei": 2,
    "drei": 3,
    "vier": 4,
    "fünf": 5,
    "sechs": 6,
    "sieben": 7,
    "acht": 8,
    "neun": 9,
    "zehn": 10,
    "un": 1,
    "une": 1,
    "deux": 2,
    "trois": 3,
    "quatre": 4,
    "cinq": 5,
    "huit": 8,
    "dix": 10,
    "una": 1,
    "dos": 2,
    "tres": 3,
    "cuatro": 4,
    "cinco": 5,
    "diez": 10,
}
_UNITS = {
    "day": 1,
    "days": 1,
    "week": 7,
    "weeks": 7,
    "tag": 1,
    "tage": 1,
    "tagen": 1,
    "woche": 7,
    "wochen": 7,
    "jour": 1,
    "jours": 1,
    "semaine": 7,
    "semaines": 7,
    "día": 1,
    "días": 1,
    "semana": 7,
    "semanas": 7,
}
_FAR = (
    r"month|months|year|years|monat|monaten|jahr|jahren|mois|an|ans|mes|meses|año|años"  # no day can be told
)


def _any(words: Iterable[str]) -> str:
    """For a verbose pattern: longest first, so that "mars" is not read as "mar"."""
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


_COUNT = rf"\d{{1,3}}|{_any(_NUMBERS)}"
_BEFORE_LATIN = (
    r"antes\ del?\ |para\ el\ |hasta\ el\ |avant\ (?:le\ )?|d'ici\ (?:le\ )?|pour\ le\ "
    r"|vor\ dem\ |bis\ zum\ |ab\ dem\ |zum\ |seit\ dem\ "
)
_YEAR = r"(?:19|20)\d\d"
_DATE = re.compile(
    rf"""
    (?<![\w-])(?:
      (?:on\ |by\ |until\ |am\ |{_BEFORE_LATIN}|le\ |el\ )?(?P<iso>{_YEAR}-\d\d-\d\d)
    | (?:on\ |by\ |until\ |before\ |am\ |bis\ |{_BEFORE_LATIN}|le\ |el\ )?(?:the\ )?
      (?P<day>\d{{1,2}})(?:st|nd|rd|th|er|\.)?\ (?:of\ |de\ )?(?P<month>{_any(_MONTHS)})\b\.?
      (?:,?\ (?:de\ )?(?P<year>{_YEAR}))?(?P<until>\ (?:to|until|till|-)\ \d{{1,2}}\ (?:{_any(_MONTHS)})\b)?
    | (?:on\ |by\ |until\ |before\ )?(?P<month_2>{_any(_MONTHS)})\ (?P<day_2>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)
      (?P<until_2>(?:\ (?:to|until|till)\ |\ ?-\ ?)(?:(?:{_any(_MONTHS)})\ )?\d{{1,2}}(?:st|nd|rd|th)?\b)?
      (?:,?\ (?P<year_2>{_YEAR}))?
    | (?:on\ |at\ |over\ |by\ |until\ |before\ |an\ |à\ |en\ )(?P<holiday>{_any(_HOLIDAYS)})
      (?!\ (?:dinner|party|tree|card|present|gift|song|cake|market))
    | (?:by\ |until\ |before\ |bis\ )?(?P<word>{_any(_DAY_WORDS)})(?:\ (?:noon|lunchtime|midday))?
    | (?:on\ |by\ |until\ |before\ |am\ |bis\ |{_BEFORE_LATIN}|le\ |el\ )*
      (?P<which>last\ |next\ |this\ |this\ coming\ |nächsten\ |letzten\ |kommenden\ |pasado\ |próximo\ )?
      (?P<weekday>{_any(_WEEKDAYS)})(?:\ (?:morning|afternoon|evening|night))?
      (?P<after>\ prochain|\ dernier|\ pasado|\ próximo)?
    | (?:on|by|until|till|before|since|for)\ the\ (?P<number>\d{{1,2}})(?:st|nd|rd|th)
      (?!\ (?:of|floor|time|page|row|place|attempt|try|century|edition|item|one|line|{_any(_MONTHS)})\b)
    | (?P<ago>(?P<count>{_COUNT})\ (?P<unit>{_any(_UNITS)})\ ago)
    | (?P<ago_de>(?:vor|il\ y\ a|hace)\ (?P<count_3>{_COUNT})\ (?P<unit_3>{_any(_UNITS)}))
    | (?P<hence>(?:in|dans|en|dentro\ de)\ (?P<count_2>{_COUNT})\ (?P<unit_2>{_any(_UNITS)})(?:\ time)?)
    | (?P<vague>(?:(?:{_COUNT}|a\ few|several|some|many)\ (?:{_FAR})\ ago
        | (?:vor|il\ y\ a|hace)\ (?:{_COUNT})\ (?:{_FAR})
        | (?:last|next|this|early|late)\ (?:week|month|year|spring|summer|autumn|fall|winter|weekend)
        | (?:in|since|im|seit|en|depuis|desde)\ (?:(?:early|late)\ )?(?:(?:{_any(_MONTHS)})\ )?{_YEAR}
        | (?:letzte|nächste|diese)[ns]?\ (?:woche|monat|jahr|sommer|winter|frühling|herbst)
        | (?:la\ semaine|le\ mois|l'année|l'an|l'été|l'hiver)\ (?:dernière?|prochaine?)
        | (?:la\ semana|el\ mes|el\ año|el\ verano|el\ invierno)\ (?:pasad[oa]|que\ viene|próxim[oa])
        | in\ the\ (?:spring|summer|autumn|fall|winter)|(?:next|last|this)\ (?:term|semester)
        | (?:in|last|next|this|im|en)\ (?:{_any(_MONTHS)})
        | in\ (?:{_COUNT})\ (?:months?|years?)))
    )(?![\w-])
    """,
    re.IGNORECASE | re.VERBOSE,
)
_RECURRING = re.compile(r"\b(?:every|each|jeden|chaque|tous les|todos los|cada)\s+$", re.IGNORECASE)
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
    found = [_mention(match, said, tense) for match in _DATE.finditer(text)]
    return next((one for one in found if one.day is not None), found[0] if found else None)


def without(text: str, mention: Mention) -> str:
    """The text without the date."""
    left = " ".join(f"{text[: mention.start]} {text[mention.end :]}".split())
    return left.replace(" ,", ",").strip(" ,")


def _mention(match: re.Match[str], said: date, tense: Tense) -> Mention:
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
        number, day = _HOLIDAYS[match["holiday"].lower()]
        return _nearest(number, day, said, tense)
    if match["number"]:
        return _of_month(int(match["number"]), said, tense)
    if match["word"]:
        return said + timedelta(days=_DAY_WORDS[match["word"].lower()])
    if match["weekday"]:
        return _weekday(match, said, tense)
    if match["ago"]:
        return said - _span(match["count"], match["unit"])
    if match["ago_de"]:
        return said - _span(match["count_3"], match["unit_3"])
    if match["hence"]:
        return said + _span(match["count_2"], match["unit_2"])
    return None


def _span(count: str, unit: str) -> timedelta:
    number = int(count) if count.isdigit() else _NUMBERS[count.lower()]
    return timedelta(days=number * _UNITS[unit.lower()])


def _weekday(match: re.Match[str], said: date, tense: Tense) -> date:
    words = {(match["which"] or "").strip().lower(), (match["after"] or "").strip().lower()}
    wanted = _WEEKDAYS[match["weekday"].lower()]
    if words & _PAST or (words == {""} and tense is Tense.PAST):
        return said - timedelta(days=(said.weekday() - wanted) % 7 or 7)
    return said + timedelta(days=(wanted - said.weekday()) % 7 or 7)


def _of_calendar(month: str, day: str, year: str | None, said: date, tense: Tense) -> date:
    number = _MONTHS[month.lower()]
    if year:
        return date(int(year), number, int(day))
    return _nearest(number, int(day), said, tense)


def _of_month(number: int, said: date, tense: Tense) -> date:
    """The next day of that number, or the last before."""
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
