"""What a query says about the hits it wants (S-9, S-12).

    understand(text, participants, reference, asker=None) -> QueryFeatures

Rules over English wording, no model: which participants are named, which dates are mentioned, whose
statements are meant, whether a time is asked for, and whether help is. A query in another language has none
of these features and is answered by its words and its meaning alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from enum import Enum

from .analysis import analyse
from .dates import DateSpan, dates_mentioned
from .names import named_participants, strip_names
from .wording import subject


class Speaker(Enum):
    """Whose statements a query asks about, in a conversation between users and an assistant."""

    ANYONE = "anyone"
    ASKER = "asker"  # "my", "I": what the user told
    ASSISTANT = "assistant"  # "did you recommend": what was answered


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryFeatures:
    """A query as the fusion sees it; the default is a query that gives no hint."""

    named: tuple[str, ...] = ()
    dates: tuple[DateSpan, ...] = ()
    speaker: Speaker = Speaker.ANYONE
    terms: tuple[str, ...] = ()
    """Of what is asked about, without participants' names: distinct, as a message that says it has them."""
    asks_time: bool = False
    """A moment or a duration is asked for."""
    asks_help: bool = False
    """Something is to be done now, rather than found in what was said: standing wishes apply."""


_FIRST_PERSON = re.compile(r"\b(?:i|my|me|mine|myself|we|our|us)\b", re.IGNORECASE)
_PAST_ANSWER = (
    "recommended|suggested|advised|proposed|said|told|mentioned|explained|gave|given|answered|provided|shared"
    "|listed|outlined|recommend|suggest|advise|propose|say|tell|mention|explain|give|answer|provide|share|list"
)
_ASSISTANT_ASKED = re.compile(
    rf"\b(?:did|had|have|were)\s+you\s+(?:\w+\s+)?(?:{_PAST_ANSWER}|recommending|suggesting)\b"
    rf"|\byou\s+(?:had\s+|have\s+)?(?:recommended|suggested|advised|proposed|said|told|mentioned|explained|gave|answered)\b"
    r"|\byour\s+(?:\w+\s+)?(?:advice|answer|explanation|proposal|recommendation|reply|response|suggestion)s?\b",
    re.IGNORECASE,
)

_TIME_ASKED = re.compile(
    r"^\s*(?:when|how long|(?:what|which) (?:date|day|week|month|year|time))\b"
    r"|\bwhen (?:did|is|was|will|does|do|has|have)\b|\bhow (?:long|many (?:day|week|month|year)s)\b",
    re.IGNORECASE,
)
_HELP_ASKED = re.compile(
    r"\b(?:can|could|would|will) you\b|\b(?:should|can|could|do|would|might) (?:i|we)\b"
    r"|\bhelp me\b|\bhow to\b|\b(?:best|different|good) ways?\b|\bi(?:'d|\u2019d| would) (?:like|love)\b"
    r"|\bi(?:'m|\u2019m| am) (?:planning|looking|trying|working|going|thinking|about|applying|updating"
    r"|writing|building)\b"
    r"|^\s*(?:show|explain|help|write|give|create|make|tell|suggest|recommend|describe|draft|generate)\b",
    re.IGNORECASE,
)
_PAST_ASKED = re.compile(
    r"\b(?:did|have|had|was|were|has) (?:i|we|my)\b|\b(?:did|have|had|were) you\b|\bin which\b"
    r"|\bhow (?:many|much|often)\b|^\s*when\b|\bover (?:time|the (?:past|last))\b"
    r"|\b(?:so far|mention(?:ed)?|conversations?|discuss(?:ed|ions?)|summar(?:y|i[sz]e))\b",
    re.IGNORECASE,
)


def understand(
    text: str, participants: Sequence[str], reference: date, asker: str | None = None
) -> QueryFeatures:
    """Return the features of a query.

    ``participants`` are the distinct authors of the conversations searched; ``reference`` is the day of
    asking, to resolve "last week"; ``asker`` is the author label of the person who asks, if known: someone
    who speaks of themselves and names nobody counts as named.
    """
    speaker = asked_speaker(text)
    named = named_participants(text, participants)
    if not named and speaker is Speaker.ASKER and asker is not None and asker in participants:
        named = (asker,)
    return QueryFeatures(
        named=named,
        dates=dates_mentioned(text, reference),
        speaker=speaker,
        terms=tuple(dict.fromkeys(analyse(strip_names(subject(text), participants)))),
        asks_time=bool(_TIME_ASKED.search(text)),
        asks_help=asks_help(text),
    )


def asks_help(text: str) -> bool:
    """Tell "how should I format this" from "how did I format it" and "summarise what we did"."""
    return bool(_HELP_ASKED.search(text)) and not _PAST_ASKED.search(text)


def asked_speaker(text: str) -> Speaker:
    """Return whose statements the wording asks about."""
    if _ASSISTANT_ASKED.search(text):
        return Speaker.ASSISTANT
    return Speaker.ASKER if _FIRST_PERSON.search(text) else Speaker.ANYONE
