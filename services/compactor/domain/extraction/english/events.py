"""What English clauses tell of what somebody did, or does on a day to come (SPEC J-8). Pure."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

from services.compactor.domain.extraction import dates
from services.compactor.domain.extraction.english import words
from services.compactor.domain.extraction.english.changes import changed, changing
from services.compactor.domain.extraction.english.states import Clause, made
from services.compactor.domain.extraction.english.verbs import UNTOLD, about, dated, third, trimmed
from services.compactor.domain.extraction.facts import Category, Fact, Subject, Tense
from services.compactor.domain.extraction.subjects import slug

_FLAGS = re.IGNORECASE
_NEXT_CLAUSE = re.compile(
    r"(?:\s*[;!]|,) ?(?:(?:I|we|he|she|they|it|what|how|which|wish|so|but|now"
    r"|there|can|any|should|please|hope|fingers|cannot"
    r"|is|are|was|will|hoping|excited|nervous|send|help|yay|all of|both of|finally|hence|thank|thanks|ugh"
    r"|lol)\b"
    r"|(?:my|our|the|that|this|no) (?:[\w'-]+ ){0,4}?(?:is|are|was|were|has|have|had|will|can|could|needs?"
    r"|wants?|\w+ed)\b|no (?:idea|clue|worries|thanks)\b).*$"
    r"|,? (?:so (?:yes|no|that|there|I|we|it|please)|and (?:the|then|now|somebody|someone|everyone|everybody"
    r"|nobody|people|my|our|I|we|he|she|it|they|what|that))\b.*$",
    _FLAGS,
)
_TOWARDS = re.compile(r" (?:for|to|until)$", _FLAGS)
_EMPTY = re.compile(
    r"^(?:(?:is|are)(?: (?:going|coming|leaving|off|starting|on|at|in))?|goes|comes|leaves|starts|gets?"
    r"|had|got"
    r"|went|did|will|will be)$",
    _FLAGS,
)
HAD = re.compile(
    r"^ (?:to \w+ (?!this\b|that\b|it\b).+|(?:an?|my|our|the|his|her"
    r"|their) (?!(?:[\w'-]+ )?(?:coffee|tea|beer|wine|drink|drinks|lunch|dinner|breakfast"
    r"|brunch|pizza|curry"
    r"|bath|shower|nap|headache|dream|chat|talk|walk|think|look|laugh|cry|go|rest|lie-in"
    r"|snack|sandwich|bad|good|great|rough|long|nice|lovely|busy|hard)\b).+)$",
    _FLAGS,
)
_PAST_VERBS = (
    "started|began|quit|got|became|moved|signed|bought|sold|broke|passed|failed|graduated"
    "|retired|adopted|won|lost"
    "|finished|joined|left|gave birth|married|divorced|ran|visited|travelled|traveled|flew"
    "|met|launched|released"
    "|published|turned|received|celebrated|had|was (?:promoted|hired|fired|diagnosed|admitted"
    "|accepted|laid off|elected)"
    "|were (?:married|promoted|hired|laid off)|died|passed away|completed|submitted|defended"
    "|opened|closed|returned"
    "|came back|arrived|enrolled|sprained|fractured|injured|crashed|proposed|split up"
    "|broke up|separated|inherited"
    "|handed in|paid off|planted|rented|hired|founded|set up|took up|gave up|stopped"
    "|stayed|spent|went|attended"
    "|performed|climbed|hiked|swam|cycled|installed|repaired|painted|built|baked|cancelled"
    "|canceled|booked|called in sick|renewed"
)
_IRREGULAR = (
    "beat|put|cut|hurt|hit|went|saw|drove|rode|fell|fought|caught|taught|wore|froze|stole"
    "|threw|tore|bit|dug|drew|sang|spoke"
    "|gave|made|kept|met|paid|laid|lent|hung|shot|sank|burnt|bent|stuck|chose|grew|got"
)
_NO_EVENT = (
    "wanted|agreed|needed|tried|asked|used|looked|worked|liked|loved|hated|seemed|noticed"
    "|wondered|guessed|mentioned|talked"
    "|chatted|watched|listened|played|walked|checked|opened|clicked|typed|pasted"
    "|changed|added|removed|updated"
    "|deleted|edited|uploaded|downloaded|googled|searched|figured|realised|realized"
    "|promised|planned|hoped|expected|thanked"
    "|cooked|tasted|enjoyed|missed|stayed|slept|feed|need|seed|indeed|speed|bed|red|embed"
)
_HAPPENED = re.compile(
    r"^(?:(?:have|has|had) )?(?:(?:just|finally|recently|already|officially|accidentally"
    rf"|also|nearly never) )*(?P<v>(?!(?:{_NO_EVENT})\b)(?:{_PAST_VERBS}|{_IRREGULAR}"
    rf"|\w{{2,}}ed))\b(?P<o>.*)$",
    _FLAGS,
)
_COMING = re.compile(
    r"^(?:am|is|are) (?P<v>(?!thinking|aiming|staying|working|waiting|using"
    r"|having (?:a (?:bad|good|hard|rough|great)|trouble|problems|fun|issues|doubts|second)|doing"
    r"|getting (?:a|an|the)\b|hoping|considering|trying|wondering|looking|feeling|planning on"
    r"|not|going to (?:be|try|see))\w+ing)\b(?P<o>.*)$",
    _FLAGS,
)
_FIXED = re.compile(
    r"^(?P<v>(?:see|meet)s?(?= \w)|(?:am|is|are) off to|(?:am|is|are) away|turns?"
    r"|starts?(?! to\b)|begins?|arrives?|leaves?|comes?"
    r"|returns?|retires?|graduates?|finish(?:es)?|moves?|fly|flies"
    r"|opens?|closes?|gets? married|is due|are due|is scheduled|has been moved|was moved"
    r"|takes place|goes|sits|breaks? up|picks? up|takes|signs?|collects?|gets?(?! (?:up|to)\b)|plays?|runs?"
    r"|sails?|marries|marry)\b(?P<o>.*)$",
    _FLAGS,
)
_ARRANGED = re.compile(
    r"(?:booked|scheduled|reserved|arranged|organi[sz]ed|rescheduled|moved|postponed)$", _FLAGS
)
_RESERVED = re.compile(r"(?:booked|scheduled|reserved|rescheduled|postponed)$", _FLAGS)
_BARE_DAY = re.compile(r"on (?:\w+day|the \d|\d)", _FLAGS)
_GOT_BOOKED = re.compile(r" booked(?: in)?(?: for)?$", _FLAGS)
_GOT_APPOINTMENT = re.compile(rf" (?:an?|my|the|our) (?:[\w'-]+ ){{0,3}}?(?:{words.APPOINTMENTS})\b", _FLAGS)
_RUNS_ON = re.compile(r" (?:I|we|he|she|they|it|you) \w", _FLAGS)
"""A new sentence without a stop: whose day it was is not certain."""
_OTHER_DAY = re.compile(
    r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|yesterday|the \d{1,2}(?:st|nd|rd|th))\b",
    _FLAGS,
)
"""A second day: which of them is meant was not understood."""
_SOME_TIME = re.compile(
    r"\(said on |\b(?:19|20)\d\d\b|\b(?:in|since|until|for|this|next|last) (?:(?:early|late"
    r"|mid) )?(?:january|february"
    r"|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|winter"
    r"|christmas"
    r"|easter)\b",
    _FLAGS,
)
_OF_A_LIFE = re.compile(
    r"^(?:(?:has|have) )?(?:got (?:engaged|married|divorced|promoted|into|the|a place)|retired|graduated"
    r"|became"
    r"|(?:was|been|got) (?:made redundant|laid off|promoted|elected|hired|fired)|gave birth|had (?:a baby"
    r"|twins)"
    r"|emigrated|called off|lost (?:his|her|\S+'s) (?:job|sight|hearing|leg|arm|eye))\b",
    _FLAGS,
)
_LATELY = re.compile(
    rf"^(?:have |has )?(?:just|finally|officially) (?!(?:{_NO_EVENT}"
    r"|saw|got|read|heard|thought|said|told|found|made|sent|started|began|had"
    r"|ran|installed|finished reading|remembered|forgot|woke|came|went|gave|put|set"
    r"|sat|turned|learned that|learnt that|posted|reached"
    r"|received|saved|renamed|pushed|moved (?:it|the|this)|fixed|wrote|created|built"
    r"|discovered|spotted|joined|left)\b)"
    rf"(?P<o>(?:{_PAST_VERBS}|{_IRREGULAR}|\w{{2,}}(?:ed|rnt)) (?!it\b|this\b|that\b|the\b"
    r"|them\b|your\b|you\b|these\b|those\b|some\b).+)$",
    _FLAGS,
)
"""What happened lately, on whatever day."""
_JUST = re.compile(r"^(?:have )?(?:just|literally just|only just)\b", _FLAGS)
"""What happened right before it was told."""
_DONE_ON = re.compile(
    r"^(?:(?:I|we) did (?:it|that)|did it|it happened|happened|that was|it was|this was|all) (?P<w>.+)$"
    r"|^(?P<v>(?:on |last |this |yesterday|today|\w+ (?:days|weeks) ago).*)$",
    _FLAGS,
)
_HAVE_ANY = re.compile(
    r"^(?:have|has) (?:got )?(?P<o>(?!to\b|been\b|not\b|never\b|just\b|until\b|till\b|no\b|nothing\b"
    r"|had\b|done\b|gone\b|made\b|taken\b"
    r"|(?:\w+ly )?\w+ed\b|(?:\w+ )?(?:question|idea|feeling|deadline)s?\b)[\w'-]+ .+)$",
    _FLAGS,
)
"""Anything that one has on a day to come."""
_HAVE = re.compile(
    r"^(?:have|has) (?:got )?(?P<o>(?:(?:a|an|my|the|our|his"
    rf"|her) )?(?:[\w'-]+ ){{0,4}}?(?:{words.APPOINTMENTS})\b.*)$",
    _FLAGS,
)


def event(subject: Subject, predicate: str, clause: Clause, text: str, tense: Tense) -> Fact | None:
    """An event on the day that `text` names; `predicate` holds that text."""
    mention = dates.find(text, clause.said, tense)
    if mention is None or mention.recurring:
        return None
    after = _after(predicate, clause.said, tense)
    if _RUNS_ON.match(after):
        return None
    if cut := _NEXT_CLAUSE.search(after):
        predicate = predicate.removesuffix(cut.group())
    predicate = re.sub(r"^[A-Z](?=[a-z]+ )", lambda first: first.group().lower(), predicate)
    said, day = dated(about(predicate, clause.author), clause.said, tense)
    said = trimmed(said)
    within = dates.find(predicate, clause.said, tense)
    bare = dates.without(predicate, within) if within else predicate
    if _OTHER_DAY.search(bare) or " :" in said or re.search(r"\bhere$", bare, _FLAGS):
        return None
    if not said or within is None or UNTOLD.search(bare) or _EMPTY.match(bare):
        return None
    when = day.isoformat() if day else slug(text[mention.start : mention.end])
    what = slug(re.sub(r"^(?:am|is|are) ", "", dates.without(text, mention), flags=_FLAGS) or predicate)
    return Fact(
        key=subject.attribute(f"event.{when}.{what}"),
        subject=subject.name,
        predicate=said,
        category=Category.EVENT,
        day=day,
    )


def _after(text: str, said: date, tense: Tense) -> str:
    """What follows the date of a text."""
    mention = dates.find(text, said, tense)
    return text[mention.end :] if mention else ""


def read_happened(clause: Clause, rest: str) -> Fact | None:
    """What happened on a day, or what changes a life on whatever day."""
    if match := _HAPPENED.match(rest):
        if re.match(r"^ (?:a (?:question|look|problem|chat)|it\b|to (?:see|think))", match["o"]):
            return None
        predicate = re.sub(r"^(?:have|has) (?=\w)", "", rest)
        if re.match(r"(?:have|has) got\b", rest, _FLAGS):
            return None
        if found := _booked(clause, match):
            return found
        noise = (
            (match["v"].lower() == "had" and not HAD.match(match["o"]))
            or words.CODE_TALK.search(rest)
            or re.search(
                r"\b(?:since|blast|time|fun|idea|look|email|message|question|results?|comment|note"
                r"|reply|download|page|tab)\b",
                match["o"],
            )
        )
        if not noise and (found := event(clause.subject, predicate, clause, rest, Tense.PAST)):
            return found
    lately = None if words.CODE_TALK.search(clause.rest) else _LATELY.match(clause.rest)
    what = changed(rest) or (lately["o"] if lately else "")
    found = _of_life(clause, what) if what else None
    if found and clause.first and _JUST.match(clause.rest):
        return replace(found, day=found.day or clause.said)
    return found


def _of_life(clause: Clause, what: str) -> Fact | None:
    """What changes a life, on the day that it names or on any."""
    what = re.sub(r"^(?=(?:been|taken|given|torn|broken|written) )", "has ", what, flags=_FLAGS)
    mention = dates.find(what, clause.said, Tense.PAST)
    if mention and not mention.recurring:
        return event(clause.subject, what, clause, what, Tense.PAST)
    return made(clause.subject, Category.EVENT, f"event.{slug(what)}", about(what, clause.author))


def _booked(clause: Clause, match: re.Match[str]) -> Fact | None:
    """What was arranged for a day to come: "booked the dentist for Thursday"."""
    verb, thing = match["v"], match["o"]
    mention = dates.find(thing, clause.said, Tense.COMING)
    if mention is None or mention.day is None or mention.recurring or mention.day < clause.said:
        return None
    before, when = thing[: mention.start].rstrip(), thing[mention.start :]
    said = ""
    if verb.lower() == "got" and (_GOT_BOOKED.search(before) or _GOT_APPOINTMENT.match(thing)):
        said = f"has{_GOT_BOOKED.sub('', before)} {when}"
    elif when.lower().startswith("for ") and mention.day > clause.said:
        said = f"{verb}{before} {when}"
    elif _ARRANGED.match(verb) and _TOWARDS.search(before):
        said = f"{verb}{_TOWARDS.sub('', before)} {when}"
    elif _RESERVED.match(verb) and _BARE_DAY.match(when) and mention.day > clause.said:
        said = f"{verb}{before} {when}"
    return event(clause.subject, said, clause, said, Tense.COMING) if said else None


def with_day(told: Fact, clause: str, said: date) -> Fact | None:
    """An event without a day, with the one that "I did it on Tuesday" adds."""
    match = _DONE_ON.match(clause)
    when = (match["w"] or match["v"]) if match else ""
    mention = dates.find(when, said, Tense.PAST)
    if match and match["v"] and (mention is None or mention.end != len(when)):
        return None
    if told.category is not Category.EVENT or told.day or mention is None or mention.day is None:
        return None
    if mention.start or mention.recurring or mention.day > said:
        return None
    text, day = dated(f"{told.predicate} {when[: mention.end]}", said, Tense.PAST)
    return replace(told, predicate=text, day=day)


def and_did(told: Fact, clause: str, own: Clause) -> Fact | None:
    """What happened on a day, with what else happened then: "fell on Monday | broke my wrist"."""
    match = _HAPPENED.match(clause)
    if told.category is not Category.EVENT or told.day is None or told.day > own.said or match is None:
        return None
    if words.CODE_TALK.search(clause) or dates.find(clause, own.said, Tense.PAST) or UNTOLD.search(clause):
        return None
    said = about(trimmed(clause), own.author)
    return replace(told, predicate=f"{told.predicate} and {said}") if said else None


def read_coming(clause: Clause, rest: str) -> Fact | None:
    """What is to happen on a day to come: "has an exam on Friday", "is moving to Ghent in May"."""
    if match := _HAVE.match(rest):
        return event(clause.subject, f"has {match['o']}", clause, match["o"], Tense.COMING)
    if match := _HAVE_ANY.match(rest):
        mention = dates.find(match["o"], clause.said, Tense.COMING)
        if (
            mention
            and mention.day
            and mention.day > clause.said
            and " and a" not in match["o"][: mention.start]
            and not words.CODE_TALK.search(rest)
        ):
            return event(clause.subject, f"has {match['o']}", clause, match["o"], Tense.COMING)
    mention = dates.find(rest, clause.said, Tense.COMING)
    if mention is None and (what := changing(rest)):
        verb = "are" if clause.subject.plural else "is"
        return made(
            clause.subject, Category.EVENT, f"event.{slug(what)}", about(f"{verb} {what}", clause.author)
        )
    if not (_COMING.match(rest) or _FIXED.match(rest)):
        return None
    if mention is None or (mention.day is not None and mention.day <= clause.said):
        return None
    verb, _, tail = rest.partition(" ")
    said = verb if clause.subject.plural else third(verb)
    return event(clause.subject, f"{said} {tail}", clause, rest, Tense.COMING)


def undated(fact: Fact) -> bool:
    """Whether it is a doing without any time that need not change a life: it is told in passing."""
    return (
        fact.category is Category.EVENT
        and fact.day is None
        and not _SOME_TIME.search(fact.predicate)
        and not _OF_A_LIFE.match(fact.predicate)
    )
