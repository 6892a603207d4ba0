"""What an English clause tells of a named day, whatever its verb (SPEC J-8). Pure.

A day fixes the statement: "the combine caught fire yesterday", "we go live on 3 April". So subject and verb
may be any, as long as the verb's tense is certain: a past form tells what happened, a present one what is to
come. Closed lists name what is no event: thinking and saying, passing states, things of the matter at hand.
"""

from __future__ import annotations

import re
from dataclasses import replace

from services.compactor.domain.extraction import dates
from services.compactor.domain.extraction.english import words
from services.compactor.domain.extraction.english.changes import OF_THE_DAY
from services.compactor.domain.extraction.english.events import HAD, event
from services.compactor.domain.extraction.english.states import Clause, made
from services.compactor.domain.extraction.english.verbs import about, third
from services.compactor.domain.extraction.facts import Category, Fact, Tense
from services.compactor.domain.extraction.subjects import People, slug

_FLAGS = re.IGNORECASE
IRREGULAR = (
    "ate|beat|became|began|bent|bit|bled|blew|bought|bred|broke|brought|built|burnt|burst|came|caught|chose"
    "|crept|cut|dealt|did|drank|drew|drove|dug|fell|fed|flew|fled|found|forgot|fought|froze|gave|got"
    "|grew|had"
    "|held|hid|hit|hung|hurt|kept|knelt|laid|led|left|lent|lit|lost|made|met|paid|put|quit|ran|rang"
    "|read|rode"
    "|rose|sang|sank|sat|saw|sent|set|shook|shot|shut|slid|sold|spent|split|spoke|spread|sprang|stole|stood"
    "|stuck|stung|struck|swam|swapped|swept|swore|swung|taught|threw|took|tore|went|wept|woke|won|wore"
    "|wound"
    "|wrote"
)
_PARTICIPLES = (
    "been|begun|bitten|blown|broken|chosen|come|done|driven|eaten|fallen|flown|forgotten|frozen|given|gone"
    "|grown|hidden|ridden|rung|seen|shown|stolen|sunk|sworn|taken|thrown|torn|woken|worn|written"
)
_ADVERBS = (
    r"(?:(?:just|finally|recently|already|officially|accidentally|also|actually|only|then|both|all"
    r"|suddenly|really) )*"
)
_NO_DOING = (
    "agreed|asked|believed|called|cared|chatted|claimed|considered|decided|deserved|doubted|expected"
    "|failed to"
    "|feared|figured|googled|guessed|happened|hated|hoped|indeed|liked|listened|looked|loved|meant"
    "|mentioned"
    "|minded|missed|needed|noticed|owed|planned|preferred|promised|realised|realized|reckoned|remembered"
    "|ate|drank|worked|knew|felt|said|searched|seemed|slept|smelled|sounded|speed|suggested|supposed|talked|tasted|texted|thanked"
    "|thought|told|tried|typed|used|waited|wanted|watched|wished|wondered|worried"
)
"""Past forms of thinking, saying and feeling, and what passes."""
PAST = re.compile(
    rf"^(?:(?:have|has|had|we have) )?{_ADVERBS}(?P<v>(?!(?:{_NO_DOING})\b)(?:(?:was|were|got|been"
    rf"|have been"
    rf"|has been) (?:\w{{2,}}ed|{_PARTICIPLES}|{IRREGULAR}|married|laid off|let go)|(?:{IRREGULAR})"
    rf"|\w{{2,}}ed))\b(?P<o>.*)$",
    _FLAGS,
)
_WAS_AT = re.compile(
    r"^(?:was|were) (?:at (?:the|a|an|my|our)|in (?-i:[A-Z])|in hospital|on (?:the|a) )", _FLAGS
)
_PASTS = re.compile(rf"{IRREGULAR}|{_PARTICIPLES}|\w{{2,}}ed|said|thought|told|knew|felt|meant", _FLAGS)
_PERFECT = re.compile(rf"^(?:have|has) {_ADVERBS}(?P<v>{_PARTICIPLES})\b(?P<o>.*)$", _FLAGS)
_BUSY = (
    "aiming|asking|considering|doing fine|dreading|dreaming|expecting|feeling|freaking|getting nervous"
    "|hoping"
    "|looking|panicking|planning|struggling|thinking|trying|waiting|wondering|worrying|wanting"
)
_IS = re.compile(
    rf"^(?:am|is|are) {_ADVERBS}(?!(?:{_BUSY})\b)(?:being \w+|\w{{2,}}ing|going to \w+|due|back|off"
    rf"|away|home|out"
    r"|on|at|in|up|over|coming|scheduled|booked in|booked|set|planned|open|closed|bridesmaid|best man"
    r"|due to \w+"
    r"|supposed to \w+)\b.*$",
    _FLAGS,
)
_WILL = re.compile(
    r"^(?:will|shall) (?!not\b|never\b|know\b|try\b|see\b|let\b|be able\b|need\b|probably\b)\w+.*$", _FLAGS
)
_NO_PRESENT_WORDS = """
    am is are was were be been do does did can could will would shall should may might must not
    never need needs want wants wish hope hopes think thinks guess know knows mean means feel feels
    say says seem seems keep keeps like likes love loves hate hates enjoy enjoys prefer prefers
    dread dreads miss believe remember forget wonder suppose expect plan plans try tries ask asks
    tell tells promise suggest recommend understand see have has had got depends depend matters
    worry worries look looks sound sounds read reads thanks thank always usually often sometimes to
    the a an and or of for in on at with my our his her their your it this that these those no so if
    when while as than bless even share shares own owns live lives work works belong belongs cost
    costs contain contains speak speaks study studies stay stays swear swears bet call calls call
    owe owes deserve deserves agree agrees disagree doubt doubts trust trusts care cares mind minds
"""
_NO_PRESENT = frozenset(_NO_PRESENT_WORDS.split())
_INSTITUTIONS = re.compile(
    rf"^(?:{words.APPOINTMENTS}|uni|university|school|college|nursery|kindergarten|term|half[- ]term"
    rf"|semester|work"
    r"|practice|rehearsals?|lectures|classes|exams?|finals|mocks|prom|assembly|mass|church|choir"
    r"|training|season"
    r"|harvest|lambing|strike|sale|rent|tax|tickets|pre-?sale|bidding|voting|applications|enrolment"
    r"|registration|(?:last|first) day)$",
    _FLAGS,
)
"""What is spoken of without an article."""
_PRESENT = re.compile(r"^(?P<v>[a-z]{2,})(?P<o> .+)$", _FLAGS)
_DENIED = re.compile(r"\b(?:not|never|no|nobody|nothing|none|hardly|barely|neither)\b", _FLAGS)
_PASSING = re.compile(
    r"\b(?:you|your|idea|advice|message|question|reply|answer|prompt|joke|fun|blast|headache|mood|busy"
    r"|hectic"
    r"|tired|knackered|exhausted|rough|long day|terrible|awful|weather|traffic|raining|snowing)\b",
    _FLAGS,
)
"""What passes, or belongs to the conversation."""
_REPORTED = re.compile(
    r"\b(?:says?|said|claims?|claimed|thinks?|thought|reckons?|told|heard|announced|article|headline|podcast|quiz)\b",
    _FLAGS,
)
_TECHNICAL = re.compile(
    r"\b(?:build|server|deploy|script|code|regex|sql|query|python|javascript|css|html|json|csv|column|array|loop|api"
    r"|endpoint|database"
    r"|dataset|variable|string|bug|commit|branch|repo|repository|container|cluster|prompt|schema"
    r"|compiler|pipeline"
    r"|paragraph|sentence|essay|function|module)s?\b",
    _FLAGS,
)
_AGE = re.compile(r"^(?:will be|turns?) (?:\d+|\w+ty(?:[ -]\w+)?)\b", _FLAGS)
_PEOPLE = re.compile(
    rf"^(?:my|our|the) (?:[\w'-]+ ){{0,3}}?(?:{words.RELATIONS}|{words.GROUPS}|friends|lads|girls|boys"
    rf"|mates|colleagues|neighbours|neighbors|boss|parents"
    r"|folks|family|flatmates|kids|husband|wife|students|pupils|landlord|doctor|surgeon"
    r"|plumber|electrician|postman|teacher|boss|manager|headmaster|vicar|nurse)(?:'s)? (?!of\b)",
    _FLAGS,
)
"""Whose doing is told of them, rather than of the author."""
_SOMEBODYS = re.compile(
    r"^(?:(?:my|our|the) )?[\w-]+(?: [\w-]+)?(?:'s|s') (?!evening\b|day\b|night\b)", _FLAGS
)
_NO_NOUN = (
    r"even|guess|bet|hope|vote|I|we|you|he|she|it|they|his|her|their|your|there|that|this|these|those|who|which|what|whose|how"
    r"|why|when|where|if|is|are|am"
    r"|was|were|be|been|has|have|had|do|does|did|can|could|will|would|should|must|may|might|not|no"
    r"|never|and"
    r"|or|but|so|because|then|than|as|to|any|some|every|each|everyone|everybody|nobody|somebody|someone"
    r"|people"
    r"|me|us|them|him|please|thanks|thank|hope|wish|today|tomorrow|yesterday|tonight|one|ones"
    r"|last(?! day)|next|let"
    r"|mood|highlight|whats|none|nothing|something|all"
)
_NAMED = (
    rf"(?P<n>(?P<d>(?:the|my|our) (?:whole |entire )?)?(?:(?!(?:{_NO_NOUN})\b)[\w'/&-]+ ){{0,5}}?"
    rf"(?!(?:{_NO_NOUN})\b)[\w'/&-]+)"
)
_AUXILIARY = r"(?:is|are|will|has been|have been|was|were|got|has|have)"
_THING_IS = re.compile(rf"^{_NAMED} (?P<r>(?:is|are|will) .+)$", _FLAGS)
_THING_DID = re.compile(
    rf"^{_NAMED} (?P<r>(?:(?:{_AUXILIARY}) )?{_ADVERBS}(?!(?:{_NO_DOING})\b)(?:{IRREGULAR}"
    rf"|{_PARTICIPLES}|\w{{2,}}ed)\b.*)$",
    _FLAGS,
)
_THING_DOES = re.compile(
    rf"^{_NAMED} (?P<r>(?:starts?|begins?|ends?|opens?|closes?|moves?|arrives?|lands?|leaves?|departs?"
    rf"|finish(?:es)?"
    r"|expires?|runs out|comes?|goes|go|returns?|launch(?:es)?|takes place|kicks off|gets|changes?|resumes?"
    r"|reopens?|stops?|ships?|switch(?:es)?|turns?) .+)$",
    _FLAGS,
)
_DAY_IS = re.compile(r"^(?P<w>[\w ]{5,24}?) (?P<v>is|was|will be|marks) (?P<o>(?:my|our|the) .+)$", _FLAGS)
_PAST_WORD = re.compile(rf"\b(?:was|were|{IRREGULAR}|\w{{3,}}ed)\b", _FLAGS)
_AND_THEN = re.compile(r"\b(?:is|are) .*, (?:did|was|were|went|had|got|finished|started)\b", _FLAGS)
"""What is so now, and what was: whose day it is was not understood."""
_IS_ON = re.compile(r"^(?:is|are|will be) (?=(?:on|this|next|tomorrow|the \d|at|in|\w+day|\d)\b)", _FLAGS)
_VAGUE = re.compile(r"\b(?:last|ago)\b|^in (?:\w+ )?(?:19|20)\d\d$", _FLAGS)
_UNSAID = re.compile(
    rf"^(?:(?:just|finally|also|accidentally|then) )*(?:{IRREGULAR}|\w{{2,}}ed) (?:the|my|our|a|an|two"
    rf"|three|\d+|(?-i:[A-Z])\w+"
    r"|into|in|to|from|off|out|up|over|through)\b.*$",
    _FLAGS,
)
"""What the author did, without saying "I"."""
_ANYBODY = re.compile(r"^(?:somebody|someone|some \w+)\b(?: (?:have|has|had))? (?P<r>.+)$", _FLAGS)
_DONE_TO_ME = re.compile(
    r"^(?:they|somebody|someone|he|she|the [\w' -]{3,30}?|my (?:boss|manager|landlord)) (?:(?:have|has"
    r"|had|just|finally|actually|only) )*"
    r"(?P<v>offered|gave|given|made|promoted|hired|fired|sacked|cast|picked|chose|chosen|elected|voted"
    r"|nominated|appointed|awarded"
    r"|accepted|rejected|dumped|mugged|robbed|evicted|dropped|ghosted) (?:me|us)(?P<o>(?!.*\b(?:laugh"
    r"|cry|think|feel|idea|advice|chance"
    r"|headache|wait|up)\b).*)$",
    _FLAGS,
)
"""What was done to the author, by whomever."""
_PARTICIPLE = {"gave": "given", "chose": "chosen"}
_TOWARDS = re.compile(r"\b(?:for|to|until|till)$|^(?:for|until|till|by|before)\b", _FLAGS)


def read_dated(clause: Clause, rest: str) -> Fact | None:
    """What somebody did on a day, or is to do."""
    if _DENIED.search(rest) or _PASSING.search(rest) or _TECHNICAL.search(rest) or _AGE.match(rest):
        return None
    if _WAS_AT.match(rest):
        return _past(clause, rest)
    if match := PAST.match(rest) or _PERFECT.match(rest):
        of_the_day = match["v"].lower() != "won" and OF_THE_DAY.match(match["o"].strip())
        if of_the_day or (match["v"].lower() == "had" and not HAD.match(match["o"])):
            return None
        return _past(clause, rest[match.start("v") :] if match.re is PAST else rest)
    if _IS.match(rest) or _WILL.match(rest):
        return _coming(clause, rest, clause.subject.plural)
    match = _PRESENT.match(rest)
    if match is None or match["v"].lower() in _NO_PRESENT or _PASTS.fullmatch(match["v"]):
        return None
    base = clause.first or clause.subject.plural
    third_person = match["v"].endswith("s") and not match["v"].endswith("ss")
    return _coming(clause, rest, clause.subject.plural) if base is not third_person else None


def read_done(text: str, own: Clause) -> list[Fact]:
    """What the author did, without saying "I", or was done to them."""
    if _PASSING.search(text) or _DENIED.search(text) or _TECHNICAL.search(text):
        return []
    if match := _DONE_TO_ME.match(text):
        verb = match["v"].lower()
        said = f"was {_PARTICIPLE.get(verb, verb)}{match['o']}"
        return _of_author(own, said)
    if _UNSAID.match(text) and (found := read_dated(own, text)):
        return [found]
    if (match := _ANYBODY.match(text)) and PAST.match(match["r"]):
        found = _told(own, f": {text[0].lower()}{text[1:]}", text, Tense.PAST)
        return [found] if found else []
    return []


def _of_author(own: Clause, said: str) -> list[Fact]:
    mention = dates.find(said, own.said, Tense.PAST)
    if mention:
        found = event(own.subject, said, own, said, Tense.PAST)
    else:
        found = made(own.subject, Category.EVENT, f"event.{slug(said)}", about(said, own.author))
    return [found] if found else []


def read_day(text: str, own: Clause) -> list[Fact]:
    """What happened to a thing on a day, or is to: "the lift is being replaced on 3 March"."""
    if any(one.search(text) for one in (_PASSING, _REPORTED, _DENIED, _TECHNICAL, _PEOPLE, _SOMEBODYS)):
        return []
    if (day_first := _DAY_IS.match(text)) and (told := _day_is(day_first, own)):
        return told
    match = _THING_IS.match(text) or _THING_DOES.match(text) or _THING_DID.match(text)
    if match is None or _AGE.match(match["r"]) or not _is_thing(match):
        return []
    found = None
    if _IS_ON.match(match["r"]):
        when = _IS_ON.sub("", match["r"])
        mention = dates.find(when, own.said, Tense.COMING)
        if mention and mention.day and not mention.start:
            found = _told(own, f"has {_the(match)} {when}", when, Tense.COMING)
    elif (match.re is _THING_DOES and _PAST_WORD.search(text)) or _AND_THEN.search(text):
        return []
    elif _IS.match(match["r"]) or match.re is _THING_DOES:
        found = _told(own, f": {_the(match)} {match['r']}", match["r"], Tense.COMING)
    elif match.re is _THING_DID and match["d"]:
        found = _told(own, f": {_the(match)} {match['r']}", match["r"], Tense.PAST)
    return [found] if found else []


def read_theirs(text: str, own: Clause, people: People) -> list[Fact]:
    """From "her flight lands on Friday", where only one other person was named."""
    match = re.match(r"(?:his|her|their) (?P<rest>.+)", text, _FLAGS)
    if match is None or len(people.others) != 1:
        return []
    return read_day(f"the {match['rest']}", replace(own, subject=people.others[0]))


def _day_is(match: re.Match[str], own: Clause) -> list[Fact]:
    """From "Friday is my last day at the bakery"."""
    past = match["v"].lower() == "was"
    tense = Tense.PAST if past else Tense.COMING
    mention = dates.find(match["w"], own.said, tense)
    if mention is None or mention.day is None or mention.start or mention.end != len(match["w"]):
        return []
    what = re.sub(r"^(?:my|our) ", "the ", match["o"], flags=_FLAGS)
    bare = re.match(r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|the \d|\d", match["w"], _FLAGS)
    when = f"on {match['w']}" if bare else match["w"]
    found = _told(own, f"{'had' if past else 'has'} {what} {when}", when, tense)
    return [found] if found else []


def _is_thing(match: re.Match[str]) -> bool:
    """Whether it is no name of somebody."""
    name = match["n"]
    if match["d"] and match["d"].lower().startswith(("my", "our")) and name.split()[-1][:1].isupper():
        return False
    return bool(match["d"] or _INSTITUTIONS.match(name) or (" " in name and name.split()[-1].islower()))


def _the(match: re.Match[str]) -> str:
    whose = r"^the " if "'s " in match["n"] else r"^(?:my|our|the) "
    return re.sub(whose, "the ", match["n"], flags=_FLAGS)


def _past(clause: Clause, rest: str) -> Fact | None:
    said = f"has {rest}" if rest.lower().startswith("been ") else rest
    return _told(clause, said, rest, Tense.PAST)


def _coming(clause: Clause, rest: str, plural: bool) -> Fact | None:
    verb, _, tail = rest.partition(" ")
    said = verb if plural or verb.lower() in {"will", "shall"} else third(verb)
    return _told(clause, f"{said} {tail}", rest, Tense.COMING)


def _told(clause: Clause, predicate: str, text: str, tense: Tense) -> Fact | None:
    """The event, where its day is certain and on the side of today that its tense says."""
    mention = dates.find(text, clause.said, tense)
    if mention is None or mention.recurring:
        return None
    named = text[mention.start : mention.end]
    if named.lower().startswith("since "):
        return None
    if tense is Tense.PAST and (_TOWARDS.search(text[: mention.start].rstrip()) or _TOWARDS.search(named)):
        return None
    if mention.day is None and tense is Tense.PAST and not predicate.startswith(":") and _VAGUE.search(named):
        return event(clause.subject, predicate, clause, text, tense)
    if mention.day is None or (mention.day > clause.said) is (tense is Tense.PAST):
        return None
    if tense is Tense.COMING and mention.day == clause.said:
        return None
    return event(clause.subject, predicate, clause, text, tense)
