"""English clauses: how they are told apart, and how what "I" say becomes a statement about somebody. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date

from services.compactor.domain.extraction import dates
from services.compactor.domain.extraction.english import words
from services.compactor.domain.extraction.facts import Subject, Tense
from services.compactor.domain.extraction.subjects import possessive

_PERSONS = r"I|my|we|our|he|she|they|it|his|her|you|there|that|this|the|these|those"
BARE = (
    r"(?:\d{1,2}|(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:[ -]\w+)?|\w+teen)\s+years\s+old"
    r"|(?:obsessed|allergic|married|engaged|based|fluent|addicted|divorced|hopeless|terrified|scared|fond"
    r"|keen"
    r"|colour-?blind|left-handed|right-handed|diabetic|vegan|vegetarian|dyslexic|deaf|retired|good|bad"
    r"|slow|useless|terrible|handy|rubbish|great|brilliant)"
    r"(?:\s+(?:with|to|in|on|of|from|at|by|since)\s|$)"
    r"|(?:an?\s+)?(?:proud\s+)?(?:mum|mom|mother|dad|father)\s+(?:of|to)\s"
)
"""What is said of the subject of the clause before without any verb."""
ALSO_DOES = (
    r"(?:still\s+|also\s+|now\s+|never\s+|always\s+|only\s+)?[a-z]{2,}[a-rt-z]s\s+"
    r"(?:(?:the|an?|his|her|their|my|our|me|us|it|that|how|this|every\w*|no|nothing)\b"
    r"|to\s+(?:be|have|go|do|get|own|take|use|eat|live|work)\b)"
)
"""A verb of the third person with its object: what somebody does too."""
_FINITE = (
    r"is|are|was|were|has|have|had|will|would|can|could|says?|said|makes?|made|hates?|loves?|likes?|needs?"
    r"|wants?"
    r"|sounds?|looks?|feels?|felt|takes?|took|gives?|gave|gets?|got|goes|went|comes?|came|keeps?|kept|costs?"
    r"|drives?|knows?|knew|thinks?|thought|works?|lives?|does|did|helps?|means?|calls?|[\w-]+'s\s+(?:long"
    r"|so|too"
    r"|an?|the|not|been|just|always|gone|very|full|empty|broken|open|shut|closed|dead|old)"
)
"""Verbs by which a clause of its own is known."""
_SPEAKERS = r"I|my|we|our|he|she|they|it|his|her|you|there|that|this"
_LIST = (
    rf"(?!(?:{_PERSONS})\b)(?:[\w'-]+\s+){{0,3}}?[\w'-]+(?:,|\s+and\b)"
    r"(?![^.]*\b(?:I|we|is|are|was|has|have|you|please)\b)"
)
"""Things that are counted up: "three cats: Ann, Bob and Cy"."""
_NARROW = (
    r"(?:only|mostly|mainly|not|never|except|every|at\s+least|the\s+\w+\s+ones?)\b"
    r"(?![^.]*\b(?:I|we|is|are|was|has|have|you)\b)"
)
_SPLIT = re.compile(
    rf"""\s*;\s+
    | \s*:\s+(?!{_LIST}) | \s+-\s+(?!{_NARROW})
    | ,?\s+(?:(?<!thing\ )(?<!one\ )(?<!body\ )(?<!all\ )but(?!\s+(?:only|not|never|just|mainly|mostly)\b)
        |because|'cause|cause|cuz|though|although|whereas|while(?!\s+\w+ing\b)|unlike|even\ though
        |so\ that)\s+
    | ,\s*(?:so|as(?!\s+well|\s+long)|which|such|yet|and\ so|and\ then)\s+ | ,\s*or\s+(?=(?:{_PERSONS})\b)
    | ,\s+(?=(?:and\s+)?(?:{_SPEAKERS}|believe|honestly|actually|by\ the\ way|to\ be\ honest|of\ course
        |right|thanks|thank|please|if|when|where|need|must|in\ case|most\ people|everyone|people)\b)
    | \s+(?:and|or)\s+(?=(?:(?!who\b|that\b|which\b|a\b|an\b)[\w'-]+\s+){{1,3}}
        (?:is|are|was|were|has|will|lives|works)\b)
    | ,\s+(?=(?-i:[A-Z])[\w'-]+\s+(?:is|has|was|works|lives|likes|loves|hates|prefers|does|plays|wants|can)\b)
    | \s+and\s+(?=(?:can\ not|already\s+\w+s)\b)
    | \s+so\s+(?=(?:two|three|four|five|six|\d+|some|more|yes|which|what|how|where)\b)
    | \s+and\s+(?=(?:I|we|he|she|they|it|that|(?:my|our|his|her)(?=\s.*\b(?:{_FINITE}|[a-z]+s|[a-z]+ed)\b))\b)
    | ,?\s+and\s+(?=(?-i:[A-Z])[\w'-]+\s+(?:{_FINITE})\b)
    | ,?\s+and\s+(?=(?:mum|mom|dad|gran|granny|grandad|grandma|grandpa|nan)\s+(?:{_FINITE}|[a-z]{{3,}}ed)\b)
    | \s+so\s+(?=(?:[\w'-]+\s+){{1,3}}?(?:is|are|was|were|has|have|can|will|makes?|means?)\b)
    | \s+so\s+(?=(?:I|my|we|he|she|they|it|the|no|a|please|do|that|those|these|this|there
        |you(?!\ know)|any|if|can|could|nothing
        |don't)\b)
    | ,\s+(?:and\s+)?(?=(?:which|where|who)\s+
        (?:is|are|do|does|did|can|could|should|would|will|many|much|to|I|we|about|else)\b)
    | ,?\s+(?:and\s+)?(?=(?:what|how|why)\s+
        (?:is|are|do|does|did|can|could|should|would|will|many|much|to|I|we|about|else)\b)
    | ,\s+(?=(?:should|can|could|shall|is|are|do|does|any|wish|hope|obviously|clearly)\b)
    | ,\s+(?:before|after|when|while|until|once)\s+(?=(?:I|we|he|she|they|it)\b)
    | ,\s+(?=(?!who\b|which\b|whose\b|that\b|and\b|named\b|called\b)(?:[\w'-]+\s+){{1,5}}?
        (?:means|is|are|was|were|has|costs?|takes?|makes?|drives?|pays?|sounds?|tastes?|looks?|feels?|wo|will
        |keeps?|hurts?)\s)
    | \s+and\s+(?=(?:still|never|always|only)\s+(?!on\b|in\b|at\b|to\b|for\b|with\b|the\b|a\b)[a-z]+)
    | ,\s+(?=(?:used\s+to|pays|keeps|drives|sounds|tastes|feels|means|helps)\b)
    | ,\s+(?:and\s+)?(?=(?:the|these|those|everyone|nobody|most)\s+(?:[\w'-]+\s+){{0,4}}?(?:{_FINITE})\b)
    | ,\s+(?:and\s+)?(?=(?:now|currently|still)\s+(?:I|we|my|in|at|based|living|working)\b)
    | ,\s+(?=(?:use|do\ not|don't|just|give|put|send|call|make)\s) | ,\s+who\s+
    | ,?\s+and\s+(?=(?:also\s+|now\s+|currently\s+|then\s+)*(?:{words.CARRIED.replace(" ", "[ ]")})\b)
    | ,\s+(?:and\s+|but\s+)?(?=(?:{BARE}))
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
    r"|sadly|luckily|happily|finally|currently(?! in\b)|right now|at the moment|these days(?! in\b)|nowadays"
    r"|now(?! in\b)"
    r"|meanwhile|turns out"
    r"|i told you(?: that)?|i already told you(?: that)?|i should mention(?: that)?"
    r"|i should add(?: that)?"
    r"|i forgot to (?:say|mention)(?: that)?|you should know(?: that)?|keep in mind(?: that)?"
    r"|guess what|(?:don't|do not) forget(?: that)?|hot take|unpopular opinion|obviously"
    r"|clearly|as always|let me add(?: that)?"
    r"|(?:since|as|because|given that|seeing as|seeing that)(?= (?:I am (?!here\b|at\b|in\b|back\b|up\b)"
    r"|I have an? "
    r"|I do not (?:eat|drink|drive)\b|I can not (?:eat|drink|drive|swim|have)\b|my \w+ (?:is|has) ))"
    r"|on top of (?:it all|all that|everything|that)|best of all|between (?:us|you and me)|hand on heart"
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
_PREPOSITION = re.compile(r"\b(?:of|from|since|after|around|till) $", re.IGNORECASE)
_FIRST_PERSON = re.compile(r"\b(?:myself|ourselves)\b", re.IGNORECASE)
_SEVERAL = r"two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|some|many|most|a few|several|\d+"
_MINE = re.compile(r"(?<!\bof )\b(?:mine|ours)\b", re.IGNORECASE)
SECOND_PERSON = re.compile(r"\b(?:you|your|yours|yourself)\b", re.IGNORECASE)
UNTOLD = re.compile(
    r"(?<![/\w])(?:it|them|this|that|these|those)(?= (?:by|on|to|in|at|for|before|until"
    r"|back|over|with|off|out|up|down|today"
    r"|tomorrow|yesterday|tonight|and|or|again|then|soon|\d)\b|$)"
    r"|(?<!over )(?<!out )(?<!back )\bthere$|\blike one$",
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
    r"|of course|as well|too|lol|please|so|here|atm|tho|anyway|haha|ngl|tbh|fwiw"
    r"|idk|smh|ugh|yay|woo|phew|ok|okay|at last|finally"
    r"|thanks|thank you|right now|at the moment|these days|nowadays|currently|for now|now"
    r"|i think|i guess|in fact"
    r"|(?:god|heaven|lord) help (?:me|us|them|him|her)|poor (?:thing|soul|lamb|sod|him|her|me)"
    r"|bless (?:him|her|them)"
    r"|no less|don't ask|don't judge|do not (?:ask|judge)(?: me)?|sue me|fight me|yes really|no joke"
    r"|believe it or not|fyi|already|again|anymore|any more|any longer|(?<!not )(?<!that )so much"
    r"|very much|a lot"
    r"|to be honest|and so on|or so|for good|in the end|if that helps|if it helps"
    r"|(?:all|both|each|none) of us|[\w']+(?: \w+)? not (?:so|that) much"
    r"|(?:always|never) (?:have|has|will|did|could|can|would|do)(?: been| done)?|whatever they say.*|etc))+$",
    re.IGNORECASE,
)


_PLURAL = re.compile(r"^(?:\w+ )?(?:I|we|they|you)\b", re.IGNORECASE)
_ALSO_DOES = re.compile(rf",?\s+and\s+(?={ALSO_DOES})", re.IGNORECASE)
_FRAGMENT = re.compile(
    r"^(?:but |and )?(?:only|just|every|each|not|never|always|mostly|mainly|except|unless|until|till|at least"
    r"|with|without|from|twice|once|in the|on|(?:the )?(?:first|second|third|last) time (?:in|since|ever))\b",
    re.IGNORECASE,
)
_STATES = re.compile(
    r"\b(?:I|we|you|he|she|they|it|is|are|am|was|were|has|have|had|do|does|did|will|would|can|could|please"
    r"|ask"
    r"|use|call|make|tell|put|give|going|mind|me|again|let|one|more|that|this)\b|\S+(?:'s|'m|'re|'ve|n't)\b",
    re.IGNORECASE,
)
MOST_OF_FRAGMENT = 7
"""Words of a fragment that narrows the sentence before it."""


def joined(sentences: Iterable[str]) -> list[str]:
    """The sentences; a fragment that narrows the one before belongs to it: "… plays. Every. Single. Day."."""
    whole: list[str] = []
    spelt: list[str] = []
    for sentence in [*sentences, ""]:
        if sentence and len(sentence.split()) == 1 and (spelt or sentence[:1].isupper()):
            spelt.append(sentence if not spelt else sentence.lower())
            continue
        pieces = [" ".join(spelt)] if len(spelt) > 1 else spelt
        spelt = []
        for one in [*pieces, sentence]:
            first, _, after = one.partition(", ")
            if whole and _narrows(one):
                whole[-1] = f"{whole[-1]}, {one[0].lower()}{one[1:]}"
            elif whole and after and " time " in first and _narrows(first):
                whole[-1] = f"{whole[-1]}, {first[0].lower()}{first[1:]}"
                whole.append(after)
            elif one:
                whole.append(one)
    return whole


def _narrows(sentence: str) -> bool:
    return bool(
        _FRAGMENT.match(sentence)
        and len(sentence.split()) <= MOST_OF_FRAGMENT
        and not _STATES.search(sentence)
    )


def clauses(sentence: str) -> Iterator[str]:
    """The parts of a sentence that may each hold a statement, without what leads up to it."""
    parts = [part for whole in _SPLIT.split(sentence) for part in _what_else(whole)]
    for part in _joined(parts):
        clause = part.strip(" ,").replace(" - ", ", ")
        while (shorter := _LEAD.sub("", clause, count=1)) != clause:
            clause = shorter
        if clause:
            yield clause


def _what_else(part: str) -> list[str]:
    """Of somebody else two things that they do: "runs a bar | and makes the best soup"."""
    return [part] if _PLURAL.match(part) else _ALSO_DOES.split(part)


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
    if _MINE.search(text) or SECOND_PERSON.search(text) or _FIRST_PERSON.search(text):
        return ""
    name = re.sub(r"^The ", "the ", author.name)
    text = re.sub(rf"\b({_SEVERAL}) of us\b", r"\1 people", text, flags=re.IGNORECASE)
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
    when = dates.named(mention.day, named)
    before, after = text[: mention.start].strip(), text[mention.end :].strip()
    if when.startswith("on ") and _PREPOSITION.search(text[: mention.start]):
        when = when.removeprefix("on ")
    if before and after.startswith(","):
        return f"{before} {when}{after}", mention.day
    if not before or not after or re.search(r"(?:\b(?:the|an?|my|our|his|her|their)|'s)$", before):
        return f"{dates.without(text, mention)} {when}".strip(), mention.day
    return f"{before} {when} {after}", mention.day
