"""Days that a Chinese or Japanese clause names (SPEC J-8). Pure.

    find(text, said, tense, pattern) -> Mention | None      the first one, with CHINESE or JAPANESE

"Yesterday" counts from the day of the message; weeks begin on Monday, so that the Friday of the next week is
just that; a bare weekday is the next such day, or in the past tense the one before. Chinese is matched in
simplified characters (see extraction/cjk/shared.py).
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date, timedelta

from services.compactor.domain.extraction.dates import Mention, first
from services.compactor.domain.extraction.facts import Tense

_DIGITS = {char: number for number, char in enumerate("〇一二三四五六七八九")} | {"两": 2, "零": 0}
NUMBER = r"(?:\d{1,4}|[一二两三四五六七八九十百]{1,5})"
"""A number in digits or in characters."""
_DAY_WORDS = {
    word: days
    for days, words in (
        (-3, "大前天"),
        (-2, "前天 前晚 一昨日 おととい"),
        (-1, "昨天 昨晚 昨日 昨夜 昨晩 昨儿 ゆうべ きのう"),
        (0, "今天 今晚 今早 今晨 今夜 今儿 今日 今晩 今朝 本日 きょう"),
        (1, "明天 明晚 明早 明日 明儿 あした 明朝 明晩 あす"),
        (2, "后天 明後日 あさって"),
        (3, "大后天 しあさって"),
    )
    for word in words.split()
}
_WEEKDAYS = "一二三四五六日", "月火水木金土日"
_WEEKS = {
    "上上": -2,
    "上": -1,
    "这": 0,
    "本": 0,
    "下": 1,
    "下下": 2,
    "先々週": -2,
    "先週": -1,
    "今週": 0,
    "来週": 1,
    "再来週": 2,
}
_MONTHS = {"上": -1, "这": 0, "本": 0, "下": 1, "先": -1, "今": 0, "来": 1}
_YEARS = {"去年": -1, "前年": -2, "今年": 0, "明年": 1, "昨年": -1, "一昨年": -2, "来年": 1, "本年": 0}
_FAR = r"春|夏|秋|冬"


def _any(*words: str) -> str:
    """Longest first."""
    return "|".join(sorted(words, key=len, reverse=True))


_YEAR = rf"(?:(?P<year>(?:19|20)\d\d)年|(?P<near_year>{_any(*_YEARS)})的?の?)"
CHINESE = re.compile(
    rf"""
    (?P<iso>(?:19|20)\d\d[-/.]\d{{1,2}}[-/.]\d{{1,2}})
  | {_YEAR}?(?P<month>{NUMBER})月(?:份的?)?(?P<day>{NUMBER})[日号]?(?!个|[年月])
  | (?<![\d/.])(?P<month_2>\d{{1,2}})/(?P<day_4>\d{{1,2}})(?![\d/]|カップ|个|杯|量)
  | (?P<near_month>上|下|这|本)个?月的?\ ?(?P<day_2>{NUMBER})\ ?[日号]
  | (?<![第\d月])(?P<day_3>\d{{1,2}}|[二三]?十[一二三四五六七八九]?|[一二三四五六七八九])\ ?号
    (?![线楼院码机店])
  | (?P<word>{_any(*_DAY_WORDS)})
  | (?P<week>上上|下下|上|下|这|本)?(?<![一两三四\d几])个?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])
    (?![周月年岁个次天节回趟])
  | (?P<count>{NUMBER})(?P<unit>天|周|个?星期|个?礼拜)(?:以|之)?(?P<side>前|后)
  | (?P<vague>(?:{NUMBER}|几|好几)(?:年|个月)(?:多)?(?:以|之)?[前后]|(?:19|20)\d\d年(?:的?(?:{_FAR})天?)?
    |(?:{_any(*_YEARS)})(?:的?(?:{_FAR})天?|{NUMBER}月份?|年[初底]|[初底])?|[上下这本]个?月[初底末]?|小时候|[上下这本]?周末
    |[上下这]个?(?:周|星期|礼拜)(?!期)|(?<!\d)\d{{1,2}}月(?:[初底]|份)?|月[初底末]|大学(?:时|的时候)|(?:{_FAR})天|年[初底]|前[阵段]子|前几天|[过这][两几]天
    |[上下这本]?学期|国庆|春节|过年|五一|中秋|元旦)
    """,
    re.VERBOSE,
)
JAPANESE = re.compile(
    rf"""
    (?P<iso>(?:19|20)\d\d[-/.]\d{{1,2}}[-/.]\d{{1,2}})
  | {_YEAR}?(?P<month>{NUMBER})月(?P<day>{NUMBER})日(?!間)(?:付(?:け)?)?
  | (?<![\d/.])(?P<month_2>\d{{1,2}})/(?P<day_4>\d{{1,2}})(?![\d/]|カップ|个|杯|量)
  | (?P<near_month>先|来|今)月の?(?P<day_2>{NUMBER})日(?!間)
  | (?<![月\d])(?P<day_3>\d{{1,2}}|[二三]?十[一二三四五六七八九]?)日(?![間前後本々目以])
  | (?P<word>{_any(*_DAY_WORDS)})
  | (?P<week>先々週|先週|今週|来週|再来週)の?(?P<weekday>[月火水木金土日])(?:曜日?|(?=[、にのは]))
  | (?P<turn>この前|前|今度|次)?の?(?P<weekday_2>[月火水木金土日])曜日?
  | (?P<count>{NUMBER})(?P<unit>日|週間)(?P<side>前|後)
  | (?P<vague>(?:{NUMBER}|数)(?:年|[かヶケ]月)(?:ほど|くらい)?[前後]|(?:19|20)\d\d年の?(?:{_FAR})?
    |(?:{_any(*_YEARS)})の?(?:{_FAR}|{NUMBER}月|末|初め)?|(?:先|来|今)月|(?:先|来|再来|今)週末?|週末|(?:昭和|平成|令和){NUMBER}年|[今来]?月[末初]|年末|年始
    |(?<!\d)(?:\d{{1,2}}|十[一二]?|[一二三四五六七八九])月|子供の頃|子どもの頃|小さい頃|学生時代|[来先今]期|この前|先日|こないだ|(?:{_FAR})休み)
    """,
    re.VERBOSE,
)
_RECURRING = re.compile(r"(?:每个?|每逢|毎|毎週|隔)$")


def find(text: str, said: date, tense: Tense, pattern: re.Pattern[str]) -> Mention | None:
    """The first date of a text, one that names a day before one that does not; None: there is none."""
    return first([_mention(match, said, tense) for match in pattern.finditer(text)])


def number_of(text: str) -> int:
    """In digits or in characters."""
    if text.isdigit():
        return int(text)
    total, current = 0, 0
    for char in text:
        if char in "十百":
            total += (current or 1) * (10 if char == "十" else 100)
            current = 0
        else:
            current = _DIGITS[char]
    return total + current


def _mention(match: re.Match[str], said: date, tense: Tense) -> Mention:
    recurring = bool(_RECURRING.search(match.string[: match.start()]))
    try:
        day = None if recurring else _day(match.groupdict(), said, tense)
    except (ValueError, OverflowError):  # the calendar has no such day
        day = None
    return Mention(start=match.start(), end=match.end(), day=day, recurring=recurring)


def _day(of: dict[str, str | None], said: date, tense: Tense) -> date | None:
    if of["iso"]:
        year, month, number = map(int, re.findall(r"\d+", of["iso"]))
        return date(year, month, number)
    if of["month"] and of["day"]:
        return _of_calendar(of, number_of(of["month"]), number_of(of["day"]), said, tense)
    if of["month_2"] and of["day_4"]:
        return _of_calendar(of, int(of["month_2"]), int(of["day_4"]), said, tense)
    if of["near_month"] and of["day_2"]:
        months = said.year * 12 + said.month - 1 + _MONTHS[of["near_month"]]
        return date(months // 12, months % 12 + 1, number_of(of["day_2"]))
    if of["day_3"]:
        return _of_month(number_of(of["day_3"]), said, tense)
    if of["word"]:
        return said + timedelta(days=_DAY_WORDS[of["word"]])
    if of["weekday"] or of.get("weekday_2"):
        return _weekday(of, said, tense)
    if of["count"]:
        days = number_of(of["count"]) * (1 if of["unit"] in {"天", "日"} else 7)
        return said + timedelta(days=-days if of["side"] == "前" else days)
    return None


def _weekday(of: dict[str, str | None], said: date, tense: Tense) -> date:
    name = of["weekday"] or of.get("weekday_2") or ""
    wanted = next(names.find(name) for names in (*_WEEKDAYS, "一二三四五六天") if name in names)
    if of["week"]:
        return said + timedelta(days=wanted - said.weekday() + 7 * _WEEKS[of["week"]])
    turn = of.get("turn") or ""
    past = turn in {"この前", "前"} or (not turn and tense is Tense.PAST)
    if past:
        return said - timedelta(days=(said.weekday() - wanted) % 7 or 7)
    return said + timedelta(days=(wanted - said.weekday()) % 7 or 7)


def _of_calendar(of: dict[str, str | None], month: int, day: int, said: date, tense: Tense) -> date:
    if of["year"]:
        return date(int(of["year"]), month, day)
    if of["near_year"]:
        return date(said.year + _YEARS[of["near_year"]], month, day)
    past = tense is Tense.PAST
    for year in range(said.year, said.year + (-9 if past else 9), -1 if past else 1):
        if 1 <= month <= 12 and day <= monthrange(year, month)[1]:
            found = date(year, month, day)
            if (found <= said) if past else (found >= said):
                return found
    raise ValueError("no such day")


def _of_month(number: int, said: date, tense: Tense) -> date:
    """The next day of that number, or the last before."""
    for days in range(63):
        found = said + timedelta(days=-days if tense is Tense.PAST else days)
        if found.day == number:
            return found
    raise ValueError("no such day")
