"""English clauses: how they are told apart, and how what "I" say becomes a statement about somebody. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from services.compactor.domain import extracting_dates as dates
from services.compactor.domain import extracting_words as words
from services.compactor.domain.extracting_subjects import possessive
from services.compactor.domain.extracting_types import Subject, Tense

_PERSONS = r"I|my|we|our|he|she|they|it|his|her|you|there|that|this|the|these|those"
_SPLIT = re.compile(
    rf"""\s*[;:]\s+ | \s+-\s+
    | ,?\s+(?:but|because|'cause|cause|cuz|though|although|whereas|while|except|unlike|even\ though
        |so\ that)\s+
    | ,\s*(?:so|as|since|or|which|such|yet|and\ so|and\ then)\s+
    | ,\s+(?=(?:and\s+)?(?:{_PERSONS}|not|believe|honestly|actually|by\ the\ way|to\ be\ honest|of\ course
        |right|thanks|thank|please|if|when|where|need|must|in\ case|most\ people|everyone|people)\b)
    | \s+(?:and|or)\s+(?=(?:(?!who\b|that\b|which\b|a\b|an\b)[\w'-]+\s+){{1,3}}
        (?:is|are|was|were|has|will|lives|works)\b)
    | ,\s+(?=(?-i:[A-Z])[\w'-]+\s+(?:is|has|was|works|lives)\b)
    | \s+and\s+(?=(?:I|my|we|our|he|she|they|it|his|her|that)\b)
    | \s+so\s+(?=(?:I|my|we|he|she|they|it|the|no|a|please|do|that|those|these|this|there
        |you(?!\ know)|any|if|can|could|nothing
        |don't)\b)
    | ,?\s+(?:and\s+)?(?=(?:what|how|which|where|who|why)\s+
        (?:is|are|do|does|did|can|could|should|would|will|many|much|to|I|we|about|else)\b)
    | ,\s+(?=(?:should|can|could|shall|is|are|do|does|any|wish|hope|obviously|clearly)\b)
    | ,?\s+(?:before|after|when|while|until|once)\s+(?=(?:I|we|he|she|they|it)\b)
    | ,\s+(?=(?!who\b|which\b|whose\b|that\b|and\b|named\b|called\b)(?:[\w'-]+\s+){{1,5}}?
        (?:means|is|are|was|were|has|costs?|takes?|makes?|drives?|pays?|sounds?|tastes?|looks?|feels?|wo|will
        |keeps?|hurts?)\s)
    | \s+and\s+(?=(?:still|never|always|only)\s+(?!on\b|in\b|at\b|to\b|for\b|with\b|the\b|a\b)[a-z]+)
    | ,\s+(?=(?:used\s+to|pays|keeps|drives|sounds|tastes|feels|means|helps)\b)
    | ,\s+(?=now\s+(?:I|we|my)\b)
    | ,\s+(?=(?:use|do\ not|don't|just|give|put|send|call|make)\s) | ,\s+who\s+
    | ,?\s+and\s+(?=(?:also\s+|now\s+|currently\s+|then\s+)*(?:{words.CARRIED.replace(" ", "[ ]")})\b)
    | ,\s+(?=(?:{words.CARRIED.replace(" ", "[ ]")})\b)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_LEAD = re.compile(
    r"^(?:if it (?:matters|helps|is relevant)|if you (?:must|want to) know"
    r"|if you are wondering|in case it (?:matters|helps)"
    r"|well|so|oh|ok|okay|hi|hey|hello|hi there|hey there|hello there|good (?:morning|evening"
    r"|afternoon)|yes|yeah|yep"
    r"|no(?=,| I\b| my\b| we\b|$)|nope|nah|yup|yea|ya|aye|actually|also|and|but|then"
    r"|by the way|btw|fyi|for the record|just so you know"
    r"|fwiw|tbh|imo|ngl|psa|heads up|quick (?:one|question|q|note|intro|heads up)"
    r"|long story short|so basically|basically"
    r"|what I (?:wanted|want|meant) to say is(?: that)?|the point is(?: that)?|(?:one|two"
    r"|three|first|second|firstly|secondly"
    r"|lastly)(?=,)|hmm+|um+|uh+|ah+|aha|argh|ugh|omg|wow|lol|man|dude|mate|alright|right"
    r"|listen|look|see|anyways|whew|phew|yay"
    r"|good morning|morning|evening|you see|as it happens|it turns out(?: that)?|truth is"
    r"|fact is|confession|important"
    r"|just (?:fyi|saying|a note|a heads up)|for what it is worth|in case you (?:need"
    r"|forgot)|the only thing is(?: that)?"
    r"|oh and|and yes|and no|ok so|so yeah|here is the (?:thing|situation|deal)|the situation is(?: that)?"
    r"|you know|to be honest|honestly"
    r"|anyway|for context|some context|context|about me|a bit about me|quick update|update"
    r"|fun fact|good news|bad news"
    r"|both(?= my\b)|in the end|eventually|great news|sorry|thanks|thank you"
    r"|please note(?: that)?|(?:please )?note(?: that)?"
    r"|(?:please )?remember(?: that)?"
    r"|please|just a reminder|reminder|as you know|as i said|like i said|as mentioned|in fact"
    r"|personally|unfortunately"
    r"|sadly|luckily|happily|finally|currently|right now|at the moment|these days|nowadays|now"
    r"|meanwhile|turns out"
    r"|i told you(?: that)?|i already told you(?: that)?|i should mention(?: that)?"
    r"|i should add(?: that)?"
    r"|i forgot to (?:say|mention)(?: that)?|you should know(?: that)?|keep in mind(?: that)?"
    r"|guess what|(?:don't|do not) forget(?: that)?|hot take|unpopular opinion|obviously"
    r"|clearly|as always|let me add(?: that)?"
    r"|my (?:turn|bad)|small update|big news|some news|apparently not|background"
    r"|quick background(?: before we start)?|bit of background"
    r"|one more thing|another thing|the thing is|i have to (?:say|admit|confess)(?: that)?"
    r"|i must (?:say|admit|confess)"
    r"(?: that)?|after [^,;]{1,50}?(?= (?:I|we) )|my news|news|i am happy to say(?: that)?"
    r"|i can tell you(?: that)?)\b[\s,:!.-]*",
    re.IGNORECASE,
)
_VERBLESS = re.compile(
    r"^(?:the|my|our) [\w']+ (?:with|at|for|of) (?-i:[A-Z])\w*(?: (?-i:[A-Z])\w*)*$", re.IGNORECASE
)
MANNER = re.compile(rf"^(?:(?:{words.MANNERS}|{words.HABITS}) )+", re.IGNORECASE)
_THIRD = {"am": "is", "are": "is", "have": "has", "do": "does", "were": "was", "was": "was", "has": "has"}
_RELATIVE = re.compile(r"\b(?:ago|last|next|this)\b|^in .*\b(?:months?|years?)$", re.IGNORECASE)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_FIRST_PERSON = re.compile(r"\b(?:myself|ourselves)\b", re.IGNORECASE)
SECOND_PERSON = re.compile(r"\b(?:you|your|yours|yourself)\b", re.IGNORECASE)
UNTOLD = re.compile(
    r"(?<![/\w])(?:it|them|this|that|these|those)(?= (?:by|on|to|in|at|for|before|until"
    r"|back|over|with|off|out|up|down|today"
    r"|tomorrow|yesterday|tonight|and|or|again|then|soon|\d)\b|$)",
    re.IGNORECASE,
)
"""Words that name a thing told of elsewhere: such a statement does not stand by itself."""
_PRESENT = re.compile(
    r"\b(?:I|we) (?P<verb>am|are|have|do|need|want|ask|say|write|send|give|show|request"
    r"|mention|use|work|talk|meet|live|like"
    r"|love|go|know|make|get|own|run|play|teach)\b"
)
_TAIL = re.compile(
    r"(?:,? (?:by the way|btw|though|actually|honestly|you know|as you know|after all"
    r"|of course|as well|too|lol|please|so|here|mostly|mainly|atm|tho|anyway|haha|ngl|tbh|fwiw"
    r"|idk|smh|ugh|yay|woo|phew|at last|finally"
    r"|thanks|thank you|right now|at the moment|these days|nowadays|currently|for now|now"
    r"|i think|i guess|in fact"
    r"|believe it or not|fyi|already|again|anymore|any more|any longer|so much|very much|a lot"
    r"|to be honest|and so on|or so|for good|in the end|if that helps|if it helps"
    r"|etc))+$",
    re.IGNORECASE,
)


def clauses(sentence: str) -> Iterator[str]:
    """The parts of a sentence that may each hold a statement, without what leads up to it."""
    for part in _joined(_SPLIT.split(sentence)):
        clause = part.strip(" ,")
        while (shorter := _LEAD.sub("", clause, count=1)) != clause:
            clause = shorter
        if clause:
            yield clause


def _joined(parts: list[str]) -> Iterator[str]:
    """The parts; one that has no verb yet together with the next ("the talk with Lund | Co is on Friday")."""
    pending = ""
    for part in parts:
        part = f"{pending} and {part}" if pending else part
        pending = part if _VERBLESS.match(part) else ""
        if not pending:
            yield part
    if pending:
        yield pending


def third(verb: str) -> str:
    """A verb of the first person, as said of somebody; one that is so already stays."""
    low = verb.lower()
    if low in _THIRD:
        return _THIRD[low]
    if low.endswith("s") and not low.endswith("ss"):
        return low
    if low.endswith("y") and low[-2:-1] not in "aeiou":
        return f"{low[:-1]}ies"
    return f"{low}es" if low.endswith(("s", "sh", "ch", "x", "z", "o")) else f"{low}s"


def forms(verbs: str) -> str:
    """A pattern of base forms and third persons."""
    return "|".join(
        sorted({form for verb in verbs.split() for form in (verb, third(verb))}, key=len, reverse=True)
    )


def about(text: str, author: Subject) -> str:
    """What "I" said, as said of the author; "" when it cannot be."""
    if SECOND_PERSON.search(text) or _FIRST_PERSON.search(text):
        return ""
    name = re.sub(r"^The ", "the ", author.name)
    text = re.sub(r"\b(?:my|our|mine|ours)\b", lambda _: possessive(name), text, flags=re.IGNORECASE)
    text = _PRESENT.sub(lambda match: f"{name} {third(match['verb'])}", text)
    text = re.sub(r"\b(?:I|we)(?= [a-z'])", lambda _: name, text)  # and not the numeral of "Book I"
    return re.sub(r"\b(?:me|us)\b", lambda _: name, text)


def trimmed(text: str) -> str:
    """Without particles and asides at its end."""
    return _TAIL.sub("", text.strip(" ,!.")).strip(" ,")


def dated(text: str, said: date, tense: Tense) -> tuple[str, date | None]:
    """The text with a day that is relative to the message written out, and that day."""
    mention = dates.find(text, said, tense)
    if mention is None:
        return text, None
    named = text[mention.start : mention.end]
    if mention.day is None:
        vague = not mention.recurring and _RELATIVE.search(named)
        return (f"{text} (said on {said.isoformat()})" if vague else text), None
    if _YEAR.search(named):
        return text, mention.day
    rest = dates.without(text, mention)
    until = re.match(r"by|until|before", named, re.IGNORECASE)
    return f"{rest} {until.group().lower() if until else 'on'} {mention.day.isoformat()}".strip(), mention.day
