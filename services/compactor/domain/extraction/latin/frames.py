"""What clauses tell, for German, French and Spanish alike (SPEC J-8): senses of verbs and kinds of words.

A language fills each <kind> with its own words; a kind that it has no words for never matches.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from services.compactor.domain.extraction.facts import Category, Tense
from services.compactor.domain.extraction.latin.language import NAME, Frame, filled, loose

_TELLING: tuple[tuple[str, str, Category, str], ...] = (  # verbs, what follows, what it is, its slot
    ("make", r"(?!.*<now>)<plainly>.*", Category.FACT, "does*"),
    (
        "call be",
        rf"(?:<the> )?(?P<o>(?:<title> )?{NAME}(?:(?:, | <and> ){NAME})*)(?:,? .+)?",
        Category.IDENTITY,
        "name",
    ),
    ("be", r"(?P<k><age>)(?:,? .+)?", Category.IDENTITY, "age"),
    ("have", r"(?P<k><years>)(?:,? .+)?", Category.IDENTITY, "age"),
    ("be", r"(?:<very> )?<allergic>", Category.FACT, "allergy*"),
    ("be", r"(?P<k>(?:<span> )?<diet>\b[^,]*)(?:, .+)?", Category.PREFERENCE, "diet"),
    ("be", r"(?P<k>(?:<span> )?<state>(?: [^,]+)?)(?:, .+)?", Category.FACT, "is*"),
    ("be", r"(?:<span> )?<from>", Category.IDENTITY, "origin"),
    ("come", r"<from>", Category.IDENTITY, "origin"),
    ("be", r"(?:<span> )?<trade>(?:,? .+)?", Category.IDENTITY, "occupation"),
    ("have", r"(?:<span> )?<illness>(?:,? .+)?", Category.FACT, "has*"),
    ("have", r"(?P<o><fear>)", Category.FACT, "has*"),
    ("have", r"(?:<span> )?<count> (?:\w+ )?(?:<thing>)\b.*", Category.FACT, "has*"),
    ("have", r"(?:<span> )?<number> (?!(?:\w+ )?<passing>)[^\W\d].+", Category.FACT, "has*"),
    ("live", r"(?:<span> )?<where>.*", Category.LOCATION, "home"),
    ("work", r"(?:<span> )?<employed>.*", Category.IDENTITY, "employer"),
    ("work", r"(?:.+ )?<hours>\b.*", Category.FACT, "working-time"),
    ("like prefer hate", r"(?!<this>)(?P<o>.+)", Category.PREFERENCE, "taste*"),
    ("speak", r"(?:.+ )?<language>\b.*", Category.IDENTITY, "speaks*"),
    ("study", r"(?!<this>)(?P<o>.+)", Category.IDENTITY, "studies"),
    ("learn practise", r"(?!<this>)(?!.*<now>)(?P<o>.+)", Category.FACT, "does*"),
    ("eat drink", r"(?!<this>)(?:.*<gladly>.*|.*<habit>.*)", Category.PREFERENCE, "taste*"),
    ("drive", r"<article> (?P<o>.+)", Category.FACT, "vehicle"),
    ("do", r"<training>.*", Category.IDENTITY, "studies"),
    ("carry", r"<worn>", Category.FACT, "has*"),
    ("carry", r"(?P<o>(?:\w+ ){1,3}(?:años|meses) (?:sin|con|de) .+)", Category.FACT, "does*"),
    ("carry", r"<count> (?:\w+ )?(?:<thing>)\b.*", Category.FACT, "does*"),
    ("be go", r"<school>", Category.FACT, "school"),
    ("usually", r"(?!<it>)(?P<o>.+)", Category.FACT, "habit*"),
    ("do drink take", r"(?:<span> )?<medicine>", Category.FACT, "takes*"),
    ("be", r"<fan>", Category.PREFERENCE, "taste*"),
    ("drink eat", r"<usual>.*", Category.PREFERENCE, "taste*"),
    ("*", r"(?!<it>)(?!.*<now>)(?:.*<habit>.*)", Category.FACT, "habit*"),
)
_DENIED: tuple[tuple[str, str, Category, str], ...] = (
    ("like", r"(?!<this>)(?P<o>.+)", Category.PREFERENCE, "taste*"),
    ("bear", r"(?!<this>)(?P<o>.+)", Category.PREFERENCE, "taste*"),
    ("be", r"<fan>", Category.PREFERENCE, "taste*"),
    ("eat drink", r"(?!<this>)(?!.*<now>)(?P<o>.+)", Category.PREFERENCE, "taste*"),
    ("smoke drive", r"(?!<this>)(?!.*<now>)(?P<o>.*)", Category.FACT, "does*"),
    ("have", r"<lacked>", Category.FACT, "has*"),
    ("practise do", r"(?!<it>)(?:.*<habit>.*)", Category.FACT, "does*"),
    ("never", r"(?!<it>)(?P<o>.+)", Category.FACT, "habit*"),
)
_OF_RELATIVES: tuple[tuple[str, str, Category, str], ...] = (
    ("practise do eat drink go learn", r"(?!<this>)(?!.*<now>)(?P<o>.+)", Category.FACT, "does*"),
    ("smoke drive", r"(?!<this>)(?!.*<now>)(?P<o>.*)", Category.FACT, "does*"),
    ("have", r"<article> (?!<passing>)(?P<o>\w+.*)", Category.FACT, "has*"),
)
_PAST: tuple[tuple[str, str, Category, str], ...] = (
    ("grow", r"(?P<o>.+)", Category.LOCATION, "childhood"),
    ("born", r"(?P<o>.+)", Category.IDENTITY, "birth"),
    ("be", r"(?:<before> )?<trade>", Category.IDENTITY, "occupation"),
    ("decide", r"(?P<o>.+)", Category.DECISION, "decision*"),
    ("choose", r"(?!.*<option>)(?P<o>.+)", Category.DECISION, "decision*"),
    ("settle", r"(?P<o>.+)", Category.LOCATION, "home"),
    ("die", r"(?P<o>.*)", Category.EVENT, "event.death"),
)
_OF_THINGS: tuple[tuple[str, str, Category, str], ...] = (
    ("call", rf"(?P<o>{NAME}).*", Category.FACT, "thing*"),
    ("be lie", r"(?!.*<now>)<placed>.*", Category.LOCATION, "thing*"),
    (
        "be",
        r"(?!.*<now>)(?:<article> (?!<passing>)(?!<judged>)\w+.*|<number> \w+.*|<made>.*)",
        Category.FACT,
        "thing*",
    ),
    ("have", r"(?!.*<now>)<number> (?!<passing>)\w+.*", Category.FACT, "thing*"),
    ("*", r"(?!.*<now>).*<regular>.*", Category.FACT, "thing*"),
)
"""What is told of a possession."""
_ANY = "*"


def trait(words: Mapping[str, str]) -> re.Pattern[str]:
    """What one may say of oneself without a verb."""
    pattern = filled(r"^(?:<diet>|<state>|<allergic>|<fan>)\b(?! [^,]*\b<verb>\b)", words)
    return re.compile(loose(pattern.replace("(?P<o>", "(?:")), re.IGNORECASE)


def frames(words: Mapping[str, str]) -> tuple[Frame, ...]:
    """The frames with the words of a language, in the order in which they are tried."""

    def frame(
        senses: str,
        rest: str,
        category: Category,
        slot: str,
        *,
        time: str = "now",
        denied: bool = False,
        about: str = "",
        dated: Tense | None = None,
        exact: bool = False,
    ) -> Frame:
        return Frame(
            senses=frozenset(senses.split()),
            rest=re.compile(f"^{loose(filled(rest, words))}$", re.IGNORECASE),
            category=category,
            slot=slot,
            time=time,
            denied=denied,
            about=about,
            dated=dated,
            exact=exact,
        )

    coming, past = Tense.COMING, Tense.PAST
    return (
        frame("have", r"(?:.+ )?<appointment>\b.*", Category.EVENT, "event*", dated=coming),
        frame("go marry get sit start", r"(?P<o>.+)", Category.EVENT, "event*", dated=coming),
        *(frame(*one) for one in _TELLING),
        *(frame(*one, denied=True) for one in _DENIED),
        frame("do practise have be start", r"<arranged>.*", Category.EVENT, "event*", dated=coming),
        frame(
            "do practise learn",
            r"(?!<it>).+",
            Category.EVENT,
            "event*",
            about="kin",
            dated=coming,
            exact=True,
        ),
        *(frame(*one, about="kin") for one in _OF_RELATIVES),
        frame("have practise do", r"<none>", Category.FACT, "does*", denied=True, about="kin"),
        frame("once", r"(?!<it>)(?!.*<looked>)(?P<o>.+)", Category.EVENT, "event*", time="past", about="kin"),
        *(frame(*one, about="thing") for one in _OF_THINGS),
        frame(
            "be go start get sit do practise",
            r"(?!<this>).+",
            Category.EVENT,
            "event*",
            about="thing",
            dated=coming,
        ),
        frame(
            _ANY,
            r"(?!<this>)(?!.*<looked>).+",
            Category.EVENT,
            "event*",
            about="thing",
            time="past",
            dated=past,
        ),
        frame("must", r".+", Category.TASK, "task*", about="thing", time="must", dated=coming),
        frame("settle", r".+", Category.EVENT, "event*", time="past", dated=past, exact=True),
        *(frame(*one, time="past") for one in _PAST),
        frame(_ANY, r"(?!<it>)(?!.*<looked>)(?P<o>.+)", Category.EVENT, "event*", time="past", dated=past),
        frame("life", r"(?!<it>)(?P<o>.+)", Category.EVENT, "event*", time="past"),
        frame("once", r"(?!<it>)(?=.*<period>)(?P<o>.+)", Category.EVENT, "event*", time="past"),
        frame("must", r"(?!<it>)(?!<mere>)(?P<o>.+)", Category.TASK, "task*", time="must", dated=coming),
        frame("must", r"(?!<it>)(?!<mere>)(?P<o><errand>)", Category.TASK, "task*", time="must"),
    )
