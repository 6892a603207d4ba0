"""What a query says about the hits it wants (S-9, S-12).

    understand(text, participants, reference, asker=None) -> QueryFeatures

Rules over English wording, no model: which participants are named, which dates are mentioned, and whose
statements are meant. A query in another language has no such features and is answered by its words and its
meaning alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from enum import Enum

from .dates import DateSpan, dates_mentioned
from .names import named_participants


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
    return QueryFeatures(named=named, dates=dates_mentioned(text, reference), speaker=speaker)


def asked_speaker(text: str) -> Speaker:
    """Return whose statements the wording asks about."""
    if _ASSISTANT_ASKED.search(text):
        return Speaker.ASSISTANT
    return Speaker.ASKER if _FIRST_PERSON.search(text) else Speaker.ANYONE
