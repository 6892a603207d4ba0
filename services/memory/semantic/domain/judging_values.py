"""Numbers, units, times of day and dates in a statement (SPEC S-7).

    values_of(folded) -> Values

The text is as `judging_cues.fold_case` gives it. Numbers may be figures or words, in four languages.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NUMBER_WORDS = {
    word: value
    for value, words in {
        0: "zero null",
        1: "one ein eine einen einem einer un une una uno",
        2: "two zwei deux dos",
        3: "three drei trois tres",
        4: "four vier quatre cuatro",
        5: "five funf cinq cinco",
        6: "six sechs seis",
        7: "seven sieben sept siete",
        8: "eight acht huit ocho",
        9: "nine neun neuf nueve",
        10: "ten zehn dix diez",
        11: "eleven elf onze once",
        12: "twelve zwolf douze doce",
        13: "thirteen dreizehn treize trece",
        14: "fourteen vierzehn quatorze catorce",
        15: "fifteen funfzehn quinze quince",
        16: "sixteen sechzehn seize",
        17: "seventeen siebzehn",
        18: "eighteen achtzehn",
        19: "nineteen neunzehn",
        20: "twenty zwanzig vingt veinte",
        30: "thirty dreissig trente treinta",
        40: "forty vierzig quarante cuarenta",
        50: "fifty funfzig cinquante cincuenta",
        60: "sixty sechzig soixante sesenta",
        70: "seventy siebzig",
        80: "eighty achtzig",
        90: "ninety neunzig",
        100: "hundred hundert cent cien",
        1000: "thousand tausend mille mil",
    }.items()
    for word in words.split()
}
MONTHS = {
    name: number
    for number, names in {
        1: "january januar janvier enero", 2: "february februar fevrier febrero", 3: "march marz mars marzo",
        4: "april avril abril", 5: "may mai mayo", 6: "june juni juin junio", 7: "july juli juillet julio",
        8: "august aout agosto", 9: "september septembre septiembre", 10: "october oktober octobre octubre",
        11: "november novembre noviembre", 12: "december dezember decembre diciembre",
    }.items()
    for name in names.split()
}  # fmt: skip
WEEKDAYS = _words(
    """monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch donnerstag
    freitag samstag sonnabend sonntag lundi mardi mercredi jeudi vendredi samedi dimanche lunes martes
    miercoles jueves viernes sabado domingo mondays tuesdays wednesdays thursdays fridays saturdays
    sundays montags dienstags mittwochs donnerstags freitags samstags sonntags weekday weekdays weekend
    weekends"""
)
_OTHER_WEEKDAYS = (
    r"(?:सोम|मंगल|बुध|गुरु|शुक्र|शनि|रवि)वार|يوم (?:الاحد|الاثنين|الثلاثاء|الاربعاء|الخميس|الجمعة|السبت)"
)
_CURRENCIES = {
    sign: code
    for code, signs in {
        "eur": "€ euro euros",
        "usd": "$ dollar dollars",
        "gbp": "£ pound pounds",
        "jpy": "¥ yen 円",
        "cny": "元",
        "percent": "% prozent pourcent",
    }.items()
    for sign in signs.split()
}
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_YEAR = re.compile(r"(?<![\d.,-])((?:19|20)\d\d)(?![\d.,-]*\d)")
_DAY = re.compile(
    rf"\b(?P<d1>\d\d?)(?:st|nd|rd|th|er|\.)?(?: de| of)? (?P<m1>{_MONTH})\b|"
    rf"\b(?P<m2>{_MONTH}) (?P<d2>\d\d?)(?:st|nd|rd|th)?\b(?!:)"
    r"|(?P<m3>\d\d?)月(?P<d3>\d\d?)日|\b(?:19|20)\d\d-(?P<m4>\d\d)-(?P<d4>\d\d)\b"
)
_HOURS = "|".join(word for word, value in _NUMBER_WORDS.items() if 1 < value <= 12)
_OFFSETS = {"half past": 30, "quarter past": 15, "quarter to": -15}
_TIME = re.compile(
    r"\b(?P<h>\d\d?)[:.h](?P<m>\d\d)\b(?: ?(?P<half>[ap])\.?m\b)?|\b(?P<h2>\d\d?) ?(?P<half2>[ap])\.?m\b"
    r"|\b(?P<h3>\d\d?) (?:uhr|o'clock)\b|\bat (?P<h4>\d\d?)\b(?![:.,]?\d| ?(?:%|[^\W\d_]))"
    rf"|\b(?P<past>half past|quarter past|quarter to|at|um|a las|a)\s(?P<w>{_HOURS})\b"
    r"(?! (?:years?|days?|weeks?|months?|people|percent|euros?|dollars?))"
)
_NOT_OF_NAME = r"(?<![0-9a-z\u00c0-\u04ff])(?<![a-z\u00c0-\u04ff][-_])(?!\d+[a-f]\b)"
"""Digits of a name count nothing: "zebra001", "db-01", "room 12b"."""
_QUANTITY = re.compile(
    rf"(?P<sign>[€$£¥])?\s?{_NOT_OF_NAME}"
    r"(?P<n>\d+(?:[.,]\d+)*)\s?(?P<u1>%|€|°[cf]?|[^\W\d_]+)?(?: (?P<u2>[^\W\d_]+))?"
    rf"|\b(?P<w>{'|'.join(sorted(_NUMBER_WORDS, key=len, reverse=True))})\b(?: (?P<u3>[^\W\d_]+))?"
)
_PERIODS = {
    "hourly": "hour",
    "nightly": "night",
    "daily": "day",
    "weekly": "week",
    "monthly": "month",
    "yearly": "year",
    "annually": "year",
    "quarterly": "quarter",
}
_RATE = re.compile(
    rf"\b({'|'.join(_PERIODS)}|fortnightly)\b|"
    r"\b(?:once (?:a|per)|every) (hour|night|day|week|month|quarter|year)\b"
)
_RARER = re.compile(r"\b(?:twice|\w+ times) (?:a|per) (?:day|week|month|year)\b|\bonce a fortnight\b")
_NO_UNIT = _words(
    """of in on at to a an the and or for by now per from with is are since de del des en le la und im am pro
    par por al au more less almost about over under"""
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number and its unit: a word, a currency's code or the noun that is counted; "" for none."""

    value: float
    unit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """Numbers with units, times of day in minutes, years, days as (month, day), weekdays in the singular.

    `rates` tell how often: "week" for weekly, "twice a week" as it stands.
    """

    quantities: tuple[Quantity, ...]
    times: frozenset[int]
    years: frozenset[int]
    days: frozenset[tuple[int, int]]
    weekdays: frozenset[str]
    rates: frozenset[str]

    @property
    def numbers(self) -> frozenset[float]:
        """The numbers alone."""
        return frozenset(quantity.value for quantity in self.quantities)

    @property
    def units(self) -> frozenset[str]:
        """What is counted or measured; what there is one of may only have an article."""
        return frozenset(
            quantity.unit for quantity in self.quantities if quantity.unit and quantity.value != 1
        )

    @property
    def dated(self) -> bool:
        """Whether a day or a year is named."""
        return bool(self.days or self.years)

    def same(self, other: Values) -> bool:
        """Whether both name the same numbers, times and dates."""
        return self.numbers == other.numbers and self._when() == other._when()

    def timed_otherwise(self, other: Values) -> bool:
        """Whether both name a time, a day, a weekday or a year, and another one."""
        return any(
            mine and theirs and mine != theirs
            for mine, theirs in zip(self._when(), other._when(), strict=True)
        )

    def _when(self) -> tuple[frozenset[object], ...]:
        return self.times, self.years, self.days, self.weekdays, self.rates


def is_number(word: str) -> bool:
    """Whether the word is a number."""
    return word in _NUMBER_WORDS


def is_currency(word: str) -> bool:
    """Whether the word is a unit of money."""
    return word in _CURRENCIES


def values_of(folded: str) -> Values:
    """Returns what a text counts and dates."""
    return Values(
        quantities=_quantities(folded),
        times=_times_of_day(folded),
        years=_years(folded),
        days=_days(folded),
        rates=_rates(folded),
        weekdays=frozenset(word.rstrip("s") for word in re.findall(r"[^\W\d_]+", folded) if word in WEEKDAYS)
        | frozenset(
            re.findall(r"(?:星期|周)[一二三四五六日天]|[月火水木金土日]曜|[월화수목금토일]요일", folded)
        )
        | frozenset(re.findall(_OTHER_WEEKDAYS, folded)),
    )


def _quantities(folded: str) -> tuple[Quantity, ...]:
    """Returns the numbers of a text, in figures or words; dates and times of day are left out."""
    bare = _YEAR.sub(" ", _TIME.sub(" ", _DAY.sub(" ", folded)))
    return tuple(quantity for match in _QUANTITY.finditer(bare) for quantity in [_quantity(match)])


def _quantity(match: re.Match[str]) -> Quantity:
    if match["w"]:
        return Quantity(float(_NUMBER_WORDS[match["w"]]), _unit(match["u3"] or ""))
    value = _figure(match["n"])
    if match["sign"]:
        return Quantity(value, _CURRENCIES[match["sign"]])
    return Quantity(value, _unit(match["u1"] or ""))


def _figure(digits: str) -> float:
    """Reads 1,000 and 1.000 as a thousand, 3,5 and 3.5 as a decimal, 3.8.1 by its first two parts."""
    if re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", digits):
        return float(re.sub(r"[.,]", "", digits))
    parts = re.split(r"[.,]", digits)
    return float(".".join(parts[:2]))


def _unit(word: str) -> str:
    if word in _NO_UNIT:
        return ""
    return _CURRENCIES.get(word, word[:-1] if word.endswith("s") and len(word) > 3 else word)


def _times_of_day(folded: str) -> frozenset[int]:
    """Returns the times of day that a text names."""
    found = set()
    for match in _TIME.finditer(folded):
        if match["w"]:
            found.add(int(_NUMBER_WORDS[match["w"]]) * 60 + _OFFSETS.get(match["past"], 0))
            continue
        hour = int(match["h"] or match["h2"] or match["h3"] or match["h4"])
        half = match["half"] or match["half2"]
        hour = hour % 12 + (12 if half == "p" else 0) if half else hour
        found.add(hour * 60 + int(match["m"] or 0))
    return frozenset(found)


def _years(folded: str) -> frozenset[int]:
    """Returns the years that a text names."""
    return frozenset(int(year) for year in _YEAR.findall(folded)) | frozenset(
        int(year) for year in re.findall(r"(?<!\d)((?:19|20)\d\d)(?=年|-\d\d)", folded)
    )


def _rates(folded: str) -> frozenset[str]:
    """Returns how often a text says that something is."""
    periods = {
        _PERIODS.get(word, word) for match in _RATE.finditer(folded) for word in match.groups() if word
    }
    return frozenset(periods | set(_RARER.findall(folded)))


def _days(folded: str) -> frozenset[tuple[int, int]]:
    """Returns the days of the year that a text names, as (month, day)."""
    found = set()
    for match in _DAY.finditer(folded):
        group = next(number for number in "1234" if match[f"d{number}"])
        month = match[f"m{group}"]
        found.add((MONTHS.get(month) or int(month), int(match[f"d{group}"])))
    return frozenset(found)
