"""English clauses: how they are told apart, and how what "I" say becomes a statement about somebody. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from services.compactor.domain import extracting_dates as dates
from services.compactor.domain import extracting_words as words
from services.compactor.domain.extracting_subjects import possessive
from services.compactor.domain.extracting_types import Subject, Tense

_CONTRACTIONS = (
    (r"\b(?P<a>I)'m\b", r"\1 am"),
    (r"\b(?P<a>I|we|you|they)'ve\b", r"\1 have"),
    (r"\b(?P<a>we|you|they)'re\b", r"\1 are"),
    (r"\b(?P<a>he|she|it|that)'s been\b", r"\1 has been"),
    (r"\b(?P<a>he|she|it|that|who)'s\b", r"\1 is"),
    (
        r"\b(?P<a>\w+)'s (?P<b>a|an|called|named|allergic|from|not|also|now|getting|moving|flying"
        r"|coming)\b",
        r"\1 is \2",
    ),
    (r"\bcan't\b|\bcannot\b", "can not"),
    (r"\bwon't\b", "will not"),
    (r"\b(?P<a>\w+)n't\b", r"\1 not"),
    (r"\b(?P<a>I|we|he|she|they)'ll\b", r"\1 will"),
    (r"\b(?P<a>I|we|he|she|they)'d\b", r"\1 would"),
)
_EXPANDED = tuple((re.compile(pattern, re.IGNORECASE), form) for pattern, form in _CONTRACTIONS)
_PERSONS = r"I|my|we|our|he|she|they|it|his|her|you|there|that|this|the|these|those"
_SPLIT = re.compile(
    rf"""\s*[;:]\s+ | \s+-\s+
    | ,?\s+(?:but|because|'cause|cause|cuz|though|although|whereas|while|except|unlike|even\ though
        |so\ that)\s+
    | ,\s*(?:so|as|since|or|which|such|yet|and\ so|and\ then)\s+
    | ,\s+(?=(?:and\s+)?(?:{_PERSONS}|not|believe|honestly|actually|by\ the\ way|to\ be\ honest|of\ course
        |right|thanks|thank|please|if|when|where|need|must|in\ case|most\ people|everyone|people)\b)
    | \s+and\s+(?=(?:I|my|we|our|he|she|they|it|his|her|that)\b)
    | \s+so\s+(?=(?:I|my|we|he|she|they|it)\b) | ,\s+who\s+
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
    r"|no|nope|actually|also|and|then|by the way|btw|fyi|for the record|just so you know"
    r"|you know|to be honest|honestly"
    r"|anyway|for context|some context|context|about me|a bit about me|quick update|update"
    r"|fun fact|good news|bad news"
    r"|great news|sorry|thanks|thank you|please note(?: that)?|(?:please )?note(?: that)?"
    r"|(?:please )?remember(?: that)?"
    r"|please|just a reminder|reminder|as you know|as i said|like i said|as mentioned|in fact"
    r"|personally|unfortunately"
    r"|sadly|luckily|happily|finally|currently|right now|at the moment|these days|nowadays|now"
    r"|meanwhile|turns out"
    r"|i told you(?: that)?|i already told you(?: that)?|i should mention(?: that)?"
    r"|i should add(?: that)?"
    r"|i forgot to (?:say|mention)(?: that)?|you should know(?: that)?|keep in mind(?: that)?"
    r"|guess what|don't forget(?: that)?"
    r"|one more thing|another thing|the thing is|i have to (?:say|admit|confess)(?: that)?"
    r"|i must (?:say|admit|confess)"
    r"(?: that)?|after [^,;]{1,50}?(?= (?:I|we) )|my news|news|i am happy to say(?: that)?"
    r"|i can tell you(?: that)?)\b[\s,:!.-]*",
    re.IGNORECASE,
)
MANNER = re.compile(rf"^(?:(?:{words.MANNERS}|{words.HABITS}) )+", re.IGNORECASE)
_THIRD = {"am": "is", "are": "is", "have": "has", "do": "does", "were": "was", "was": "was", "has": "has"}
_RELATIVE = re.compile(r"\b(?:ago|last|next|this)\b|^in .*\b(?:months?|years?)$", re.IGNORECASE)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_FIRST_PERSON = re.compile(r"\b(?:myself|ourselves)\b", re.IGNORECASE)
SECOND_PERSON = re.compile(r"\b(?:you|your|yours|yourself)\b", re.IGNORECASE)
_PRESENT = re.compile(
    r"\b(?:I|we) (?P<verb>am|are|have|do|need|want|ask|say|write|send|give|show|request"
    r"|mention|use|work|talk|meet|live|like"
    r"|love|go|know|make|get|own|run|play|teach)\b"
)
_TAIL = re.compile(
    r"(?:,? (?:by the way|btw|though|actually|honestly|you know|as you know|after all"
    r"|of course|as well|too|lol|please"
    r"|thanks|thank you|right now|at the moment|these days|nowadays|currently|for now|now"
    r"|i think|i guess|in fact"
    r"|believe it or not|fyi|already|again|anymore|any more|any longer|so much|very much|a lot"
    r"|to be honest|and so on"
    r"|etc))+$",
    re.IGNORECASE,
)


def expanded(sentence: str) -> str:
    """Contractions written out: "I'm" as "I am"."""
    for pattern, form in _EXPANDED:
        sentence = pattern.sub(form, sentence)
    return re.sub(r"\bi\b(?!\.)", "I", sentence)


def clauses(sentence: str) -> Iterator[str]:
    """The parts of a sentence that may each hold a statement, without what leads up to it."""
    for part in _SPLIT.split(sentence):
        clause = part.strip(" ,")
        while (shorter := _LEAD.sub("", clause, count=1)) != clause:
            clause = shorter
        if clause:
            yield clause


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
