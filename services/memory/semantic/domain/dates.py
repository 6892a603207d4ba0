"""Dates that a query mentions (S-9, S-12).

    dates_mentioned(text, reference) -> tuple[DateSpan, ...]   in the order of the text
    DateSpan.distance(day) -> int                              days between the span and ``day``, 0 inside

Understood in English: ISO dates and months (2024-03-15, 2024-03), numeric dates (15/3/2024; both readings
where both are possible), month names with day or year or both, years, weekdays, and relative expressions of
the past (yesterday, three weeks ago, last month), resolved against ``reference``. A month or a day without a
year means that of every year. Times of day and dates in the future are left alone: a message was never sent
there.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

_MONTHS = {
    "january": 1, "jan": 1, "february": 2, "feb": 2, "march": 3, "mar": 3, "april": 4, "apr": 4, "may": 5,
    "june": 6, "jun": 6, "july": 7, "jul": 7, "august": 8, "aug": 8, "september": 9, "sept": 9, "sep": 9,
    "october": 10, "oct": 10, "november": 11, "nov": 11, "december": 12, "dec": 12,
}  # fmt: skip
_AMBIGUOUS_MONTHS = frozenset(name for name in _MONTHS if len(name) <= 4) - {"june", "july"} | {"march"}
"""Also verbs, given names or other abbreviations."""
_WEEKDAYS = {
    "monday": 0, "tuesday": 1, "wednesday": 2, "thursday": 3, "friday": 4, "saturday": 5, "sunday": 6,
}  # fmt: skip
_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "couple of": 2, "three": 3, "few": 3, "four": 4, "five": 5, "six": 6,
    "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip
_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
_LEAP_YEAR = 2000
"""Stands for any year in a yearly span, so that 29 February can be written."""

_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_YEAR = r"(?:19|20)\d\d"
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_DATE = re.compile(
    rf"""
    \b(?P<iso>{_YEAR}[-/](?:0[1-9]|1[0-2])(?:[-/]{_DAY})?)\b
    | \b(?P<numeric>\d\d?[./]\d\d?[./]{_YEAR})\b
    | \b(?P<day_first>{_DAY})(?:st|nd|rd|th)?\ (?:of\ )?(?P<month_1>{_MONTH})\b\.?
      (?:,?\ (?P<year_1>{_YEAR})\b)?
    | \b(?P<month_2>{_MONTH})\b\.?(?:\ (?P<day_second>{_DAY})(?:st|nd|rd|th)?\b(?!:))?
      (?:,?\ (?:of\ )?(?P<year_2>{_YEAR})\b)?
    | \b(?P<year>{_YEAR})\b
    | \b(?P<ago>(?:(?P<count>\d{{1,3}}|{"|".join(_NUMBERS)})\ (?P<unit>day|week|month|year)s?\ ago))\b
    | \b(?:last|past|previous|this)\ (?P<last>day|week|month|year|weekend)\b
    | \b(?P<weekday>{"|".join(_WEEKDAYS)})\b
    | \b(?P<day_word>today|tonight|yesterday|last\ night)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_BEFORE_MONTH = re.compile(
    r"\b(?:in|during|since|until|by|of|last|this|early|late|mid|for|from|to|between|and|before|after)[ -]$",
    re.I,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DateSpan:
    """The days from ``start`` to ``end``, both included; in every year when ``yearly``."""

    start: date
    end: date
    yearly: bool = False

    def distance(self, day: date) -> int:
        """Return how many days ``day`` lies after the span (positive), before it (negative) or in it (0)."""
        if not self.yearly:
            return _distance(self.start, self.end, day)
        spans = [(_in_year(self.start, year), _in_year(self.end, year)) for year in _years_around(day)]
        return min((_distance(start, end, day) for start, end in spans), key=abs)


def dates_mentioned(text: str, reference: date) -> tuple[DateSpan, ...]:
    """Return the spans that ``text`` mentions; "yesterday" is the day before ``reference``."""
    spans: list[DateSpan] = []
    for match in _DATE.finditer(" ".join(text.split())):
        spans.extend(_spans(match, reference))
    return tuple(dict.fromkeys(spans))


def _spans(match: re.Match[str], reference: date) -> Iterator[DateSpan]:
    if match["iso"]:
        year, month, *day = (int(part) for part in re.split("[-/]", match["iso"]))
        yield from _calendar(year, month, day[0] if day else None)
    elif match["numeric"]:
        first, second, year = (int(part) for part in re.split("[./]", match["numeric"]))
        for month, day_of_month in dict.fromkeys(((first, second), (second, first))):
            if month <= 12:
                yield from _calendar(year, month, day_of_month)
    elif match["month_1"]:
        month = _MONTHS[match["month_1"].lower()]
        yield from _calendar(_number(match["year_1"]), month, int(match["day_first"]))
    elif match["month_2"]:
        if _is_month(match):
            month = _MONTHS[match["month_2"].lower()]
            yield from _calendar(_number(match["year_2"]), month, _number(match["day_second"]))
    elif match["year"]:
        yield DateSpan(start=date(int(match["year"]), 1, 1), end=date(int(match["year"]), 12, 31))
    else:
        try:
            yield _relative(match, reference)
        except (OverflowError, ValueError):  # before year 1, or after 9999
            return


def _is_month(match: re.Match[str]) -> bool:
    """Tell "in May" and "May 2023" from the verb and the given name; abbreviations likewise."""
    if match["day_second"] or match["year_2"] or match["month_2"].lower() not in _AMBIGUOUS_MONTHS:
        return True
    return bool(_BEFORE_MONTH.search(match.string[: match.start()]))


def _calendar(year: int | None, month: int, day: int | None) -> Iterator[DateSpan]:
    """Yield the day, or the whole month, unless the calendar has no such day."""
    calendar_year = year or _LEAP_YEAR
    last = monthrange(calendar_year, month)[1]
    if day is None:
        start, end = date(calendar_year, month, 1), date(calendar_year, month, last)
    elif 1 <= day <= last:
        start = end = date(calendar_year, month, day)
    else:
        return
    yield DateSpan(start=start, end=end, yearly=year is None)


def _relative(match: re.Match[str], reference: date) -> DateSpan:
    if match["ago"]:
        return _ago(match["count"].lower(), match["unit"].lower(), reference)
    if match["last"]:
        return _last(match["last"].lower(), match.group().lower().startswith("this"), reference)
    if match["weekday"]:
        back = (reference.weekday() - _WEEKDAYS[match["weekday"].lower()]) % 7 or 7
        return _days(reference - timedelta(days=back))
    return _days(reference - timedelta(days=0 if match["day_word"].lower() in {"today", "tonight"} else 1))


def _ago(count: str, unit: str, reference: date) -> DateSpan:
    """Return the stretch around that moment: a week is known to the week, a month to the month."""
    number = int(count) if count.isdigit() else _NUMBERS[count]
    moment = reference - timedelta(days=number * _DAYS[unit])
    slack = timedelta(days=_DAYS[unit] // 2)
    return DateSpan(start=moment - slack, end=moment + slack)


def _last(unit: str, this: bool, reference: date) -> DateSpan:
    """Return the calendar day, week, weekend, month or year before the reference's, or its own."""
    if unit == "day":
        return _days(reference - timedelta(days=0 if this else 1))
    if unit in {"week", "weekend"}:
        monday = reference - timedelta(days=reference.weekday() + (0 if this else 7))
        start = monday + timedelta(days=5 if unit == "weekend" else 0)
        return DateSpan(start=start, end=monday + timedelta(days=6))
    if unit == "month":
        first = reference.replace(day=1)
        first = first if this else (first - timedelta(days=1)).replace(day=1)
        return DateSpan(start=first, end=first.replace(day=monthrange(first.year, first.month)[1]))
    year = reference.year - (0 if this else 1)
    return DateSpan(start=date(year, 1, 1), end=date(year, 12, 31))


def _days(day: date) -> DateSpan:
    return DateSpan(start=day, end=day)


def _number(digits: str | None) -> int | None:
    return int(digits) if digits else None


def _distance(start: date, end: date, day: date) -> int:
    return (day - start).days if day < start else max(0, (day - end).days)


def _years_around(day: date) -> range:
    return range(max(1, day.year - 1), min(9999, day.year + 1) + 1)


def _in_year(day: date, year: int) -> date:
    return day.replace(year=year, day=min(day.day, monthrange(year, day.month)[1]))
