"""What English clauses tell of the days of meetings, journeys and things (SPEC J-8). Pure."""

from __future__ import annotations

import re

from services.compactor.domain.extraction import dates
from services.compactor.domain.extraction.english import words
from services.compactor.domain.extraction.english.events import event
from services.compactor.domain.extraction.english.states import Clause
from services.compactor.domain.extraction.facts import Fact, Tense

_FLAGS = re.IGNORECASE
_IT_IS_ON = re.compile(
    r"^(?:it is|it will be|now it is|new date is|now) (?:now )?(?P<w>.+?)(?: now"
    r"| instead)?$",
    _FLAGS,
)
_MOVED_DAY = re.compile(
    r"^(?P<o>(?:the|my|our) (?:[\w'-]+ ){0,3}?[\w'-]+) (?:has been|have been|was|were|got"
    r"|has|is being|is) (?:moved|changed|postponed|rescheduled|pushed back"
    r"|brought forward|put back|delayed)\b",
    _FLAGS,
)
_THING = re.compile(
    r"^(?:my|our|the) (?P<o>(?:[\w'-]+ ){0,2}?[\w'-]+) (?P<p>(?:finally |just )?(?:broke"
    r"|died|flooded|burst|exploded|packed (?:in|up)|gave up|got (?:stolen"
    r"|cancelled|delivered)"
    r"|(?:was|were|got) (?:nicked|smashed|approved|accepted|rejected|refused)"
    r"|(?:was|were) (?:stolen"
    r"|cancelled|delivered|towed|burgled)|caught fire|fell|collapsed|hatched|sank) ?(?:down |out "
    r"|off )?.*)$",
    _FLAGS,
)
_BOOKED_IN = re.compile(
    r"^(?P<o>(?:(?:my|our|the) )?(?:[\w'-]+ ){0,2}?[\w'-]+ (?:is"
    r"|are) (?:booked (?:in )?for|scheduled for|planned for|set for)(?: (?:a|an|its|her"
    r"|his|the) [\w ]+?)?) (?P<w>.+)$",
    _FLAGS,
)
_ITS_MY = re.compile(
    r"^it is (?P<o>(?:my|our) (?:[\w-]+ )?(?:birthday|anniversary|graduation|wedding|retirement"
    r"|leaving do|name day|first day|last day)(?: [\w' ]+?)?) "
    r"(?P<w>(?:at [\d:]+ ?(?:am|pm)? )?(?:on |this |next |tomorrow|today|monday|tuesday"
    r"|wednesday|thursday|friday|saturday|sunday).*)$",
    _FLAGS,
)
_BARE = re.compile(
    r"^(?P<o>(?:(?!I\b|we\b|is\b|are\b|was\b|my\b|no\b|not\b"
    rf"|any\b)[\w'-]+ ){{0,3}}?(?:{words.APPOINTMENTS}|dentist|physio|mot|haircut"
    rf"|housewarming|launch|kick-?off|last day|first day|move|handover|audit|signing|exams?|finals"
    rf"|rehearsal|opening|closing|vote|election|moot|hike|boards?)(?: (?:with|at|for|in|to|from|of"
    rf"|about) [\w' ]{{2,40}}?)?),? (?:is )?(?:due )?"
    r"(?P<w>(?:on |this |next |tomorrow|monday|tuesday|wednesday|thursday|friday|saturday"
    r"|sunday|\d{1,2}(?:st|nd|rd|th)? \w+).*)$",
    _FLAGS,
)
_SCHEDULED = re.compile(
    rf"^(?!(?:my|our) (?:(?:{words.RELATION_ADJECTIVES}) )?(?:{words.RELATIONS}|{words.GROUPS}) (?:is|are"
    rf"|was)\b)"
    r"(?!(?:my|the|our) (?:\w+ )?(?:guess|bet|hope|answer|vote|favou?rite|day off|choice|preference"
    r"|problem) is\b)"
    r"(?P<d>(?:my|our|the) )?(?P<o>(?:(?!is\b|are\b|was\b|has\b|not\b"
    r"|birthday\b)[\w'-]+ ){0,4}?[\w'-]+?)(?: (?P<tail>(?:with"
    r"|at|for|to|in) [\w' ]+?))?"
    r" (?P<v>is up|comes up|(?:is|are|has been|was|got) (?:booked(?: in)?|scheduled|planned|set|fixed"
    r"|pencilled in|down|moved(?: back)?"
    r"|pushed(?: back)?|postponed|rescheduled|changed|brought forward|put back) (?:for|to|until)|is|are"
    r"|starts|begins|expires|runs out|takes place|will be"
    r"|has been moved to|was moved to"
    r"|has been rescheduled to|leaves|departs|is on|finishes|ends|is due"
    r"|is scheduled for) (?P<w>.+)$",
    _FLAGS,
)
_ENDS = r"(?:ends|finishes|expires|runs out|is up|comes up|leaves|departs|starts|begins)$"
_STARTS = re.compile(
    r"^(?P<o>(?:the |my |our )?(?:new )?(?:school|term|semester|university|course|classes"
    r"|class|conference|training|exhibition"
    r"|festival|season|rehearsals?|trial|holidays?|workshop|work|kindergarten|nursery"
    r"|lectures?|sale|strike) "
    r"(?:starts?|begins?|ends?|opens?|closes?|is over)(?: again| back)?) (?P<w>.+)$",
    _FLAGS,
)
_THERE_IS = re.compile(
    rf"^there is (?P<o>(?:a|an|the|my|our) (?:[\w'-]+ ){{0,3}}?(?:{words.APPOINTMENTS}"
    r"|strike|sale|holiday)) (?P<w>.+)$",
    _FLAGS,
)


def read_moved(clause: str, topic: str, own: Clause) -> list[Fact]:
    """From "it's on the 21st now", said of what the clause before spoke of."""
    match = _IT_IS_ON.match(clause)
    mention = dates.find(match["w"], own.said, Tense.COMING) if match and topic else None
    if match is None or mention is None or mention.day is None or mention.start or mention.recurring:
        return []
    what = re.sub(r"^(?:my|our|the) ", "the ", topic, flags=_FLAGS)
    found = event(own.author, f"has {what} {match['w']}", own, f"{what} {match['w']}", Tense.COMING)
    return [found] if found else []


def topic_of(clause: str) -> str:
    """What a clause speaks of that says that its day was changed."""
    match = _MOVED_DAY.match(clause)
    return match["o"] if match else ""


def read_thing(text: str, own: Clause) -> list[Fact]:
    """From "the boiler broke yesterday", "the car is booked in for Tuesday", "dentist on Friday at 3"."""
    match = _THING.match(text)
    if match and not words.CODE_TALK.search(match["o"]):
        found = event(own.author, f": the {match['o']} {match['p']}", own, match["p"], Tense.PAST)
        return [found] if found else []
    match = _BOOKED_IN.match(text) or _ITS_MY.match(text) or _BARE.match(text)
    mention = dates.find(match["w"], own.said, Tense.COMING) if match else None
    if match is None or mention is None or mention.day is None or mention.recurring or mention.day < own.said:
        return []
    if match.re is _BARE and mention.start > 0 and not match["w"].startswith("at "):
        return []
    if match.re is _ITS_MY:
        has = f"has {re.sub('^(?:my|our)', 'the', match['o'], flags=_FLAGS)} {match['w']}"
        found = event(own.author, has, own, has, Tense.COMING)
        return [found] if found else []
    found = event(own.author, f": {match['o']} {match['w']}", own, f"{match['o']} {match['w']}", Tense.COMING)
    return [found] if found else []


def read_scheduled(text: str, clause: Clause) -> list[Fact]:
    """From "my exam is on Friday", "school starts on Monday"."""
    if match := _STARTS.match(text) or _THERE_IS.match(text):
        return _begins(match, clause)
    match = _SCHEDULED.match(re.sub(r" (is|are) due (?=on |in |by )", r" \1 ", text))
    mention = dates.find(match["w"], clause.said, Tense.COMING) if match else None
    if (
        match is None
        or mention is None
        or mention.recurring
        or re.search(r"(?<!, )\b(?:not|was)\b", match["w"])
    ):
        return []
    appointment = re.search(rf"\b(?:{words.APPOINTMENTS})s?$", match["o"], _FLAGS)
    if not match["d"] and (
        not appointment
        or re.match(r"(?:I|we|he|she|it|there|a|an|no|this|that|his|her|their|your)\b", match["o"], _FLAGS)
    ):
        return []
    if not appointment and (
        mention.start or (mention.day is None and not re.match(_ENDS, match["v"].lower()))
    ):
        return []
    name = match["o"]
    if name[:1].isupper() and re.match(
        rf"(?:{words.APPOINTMENTS}|uni|school|term|last|first)s?\b", name, _FLAGS
    ):
        name = f"{name[0].lower()}{name[1:]}"
    whose = "my" if "'s " in name and (match["d"] or "").lower() in {"my ", "our "} else "the"
    what = f"{whose} {name}{' ' + match['tail'] if match['tail'] else ''}"
    verb = match["v"].lower()
    said = f"has {what} {match['w']}" if not re.match(_ENDS, verb) else f": {what} {verb} {match['w']}"
    found = event(clause.author, said, clause, f"{what} {match['w']}", Tense.COMING)
    return [found] if found else []


def _begins(match: re.Match[str], clause: Clause) -> list[Fact]:
    mention = dates.find(match["w"], clause.said, Tense.COMING)
    if mention is None or mention.day is None or mention.recurring or mention.day < clause.said:
        return []
    found = event(
        clause.author, f": {match['o']} {match['w']}", clause, f"{match['o']} {match['w']}", Tense.COMING
    )
    return [found] if found else []
