"""What English clauses tell of what somebody did, or does on a day to come (SPEC J-8). Pure."""

from __future__ import annotations

import re
from datetime import date

from services.compactor.domain import extracting_dates as dates
from services.compactor.domain import extracting_words as words
from services.compactor.domain.extracting_states import Clause, made
from services.compactor.domain.extracting_subjects import slug
from services.compactor.domain.extracting_types import Category, Fact, Subject, Tense
from services.compactor.domain.extracting_verbs import UNTOLD, about, dated, third, trimmed

_FLAGS = re.IGNORECASE
_NEXT_CLAUSE = re.compile(
    r"(?:\s*[;!]|,) ?(?:I|we|he|she|they|it|what|how|which|wish|so|but|now|my|our|the|that"
    r"|this|there|can|any|should|please|not|no|never|hope|fingers|or|cannot"
    r"|is|are|was|will|hoping|excited|nervous|send|yay|finally|thank|thanks|ugh|lol)\b.*$",
    _FLAGS,
)
_EMPTY = re.compile(
    r"^(?:is (?:going|coming|leaving|off|starting)|goes|comes|leaves|starts|gets?|had|got"
    r"|went|did)$",
    _FLAGS,
)
_HAD = re.compile(
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
_LIFE = re.compile(
    r"^(?:(?:have|has|had|we) )?(?:(?:just|finally|recently|already"
    r"|officially) )*(?P<o>(?:retired|graduated|got (?:married|engaged|divorced|promoted)"
    r"|gave birth|became an? (?:father|mother|grandmother|grandfather|aunt|uncle|parent|dad"
    r"|mum|mom|citizen)|passed away|died"
    r"|(?:sold|bought) (?:the|my|our|his|her|a|an) (?:\w+ ){0,2}(?:house|flat|farm|car|boat"
    r"|company|business|apartment|shop|home)"
    r"|quit (?:my|his|her) job|had (?:a baby|twins)|passed (?:the|my|his|her) (?:\w+ )?(?:exam"
    r"|test|finals)"
    r"|broke (?:my|his|her) (?:\w+ )?(?:arm|leg|wrist|ankle|foot|hand|nose|collarbone|toe|finger)"
    r"|divorced|won the (?:\w+ ){1,4}|started a new job|got into (?:\w+ ){0,4}?(?:school|uni|university"
    r"|college|programme|program|academy)|got accepted (?:in)?to (?!the (?:chat|group"
    r"|call))|(?:got|adopted) an? (?:[\w-]+ ){0,2}?(?:puppy|kitten|dog|cat|horse|hamster"
    r"|rabbit)|got (?:the|my|our|a|his|her) (?:\w+ ){0,2}?(?:keys|job|visa|offer"
    r"|scholarship"
    r"|promotion|diagnosis|results|licen[cs]e|citizenship|place|part|grant|funding"
    r"|mortgage|loan|flat|house|apartment"
    r"|degree|divorce|residency)|(?:have |has )?signed (?:the"
    r"|a|my|our) (?:lease|contract|papers)|joined (?:an?|the"
    r"|our) (?:[\w-]+ ){0,2}?(?:choir|club|band|team|gym|union|party|society|army|navy"
    r"|league|orchestra|co-op|board|crew)|took up \w+|signed (?:on|up) with|lost (?:my|his"
    r"|her) (?:job|(?:left |right )?(?:eye|leg|arm|hand|sight|hearing|licen[cs]e))"
    r"|signed up for (?!an? (?:account|trial|newsletter))"
    r"|(?:was|were|been|got) (?:made redundant|laid off|fired|promoted|hired|elected"
    r"|knighted|ordained|naturali[sz]ed|robbed"
    r"|burgled)|had (?:kittens|puppies|a litter)|had (?:our|my|their|her|a"
    r"|another) (?:\w+ )?(?:baby|child|twins|son"
    r"|daughter|boy|girl)|started (?:nursery|school|uni|university|college|kindergarten"
    r"|reception)|had (?:surgery|an operation|a stroke|a heart attack|a miscarriage"
    r"|an? \w+ (?:removed|replaced))"
    r"|split up|broke up|called off (?:the|our) \w+)\b.*)$",
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
_TOWARDS = re.compile(r" (?:for|to|until)$", _FLAGS)
_GOT_BOOKED = re.compile(r" booked(?: in)?(?: for)?$", _FLAGS)
_GOT_APPOINTMENT = re.compile(rf" (?:an?|my|the|our) (?:[\w'-]+ ){{0,3}}?(?:{words.APPOINTMENTS})\b", _FLAGS)
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
    if cut := _NEXT_CLAUSE.search(_after(predicate, clause.said, tense)):
        predicate = predicate.removesuffix(cut.group())
    said, day = dated(about(predicate, clause.author), clause.said, tense)
    said = trimmed(said)
    within = dates.find(predicate, clause.said, tense)
    bare = dates.without(predicate, within) if within else predicate
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
        noise = (
            (match["v"].lower() == "had" and not _HAD.match(match["o"]))
            or words.CODE_TALK.search(rest)
            or re.search(
                r"\b(?:since|blast|time|fun|idea|look|email|message|question|results?|comment|note"
                r"|reply|download|page|tab)\b",
                match["o"],
            )
        )
        if found := _booked(clause, match):
            return found
        if not noise and (found := event(clause.subject, predicate, clause, rest, Tense.PAST)):
            return found
    lately = None if words.CODE_TALK.search(clause.rest) else _LATELY.match(clause.rest)
    if match := _LIFE.match(rest) or lately:
        return made(
            clause.subject, Category.EVENT, f"event.{slug(match['o'])}", about(match["o"], clause.author)
        )
    return None


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
    elif _ARRANGED.match(verb) and _TOWARDS.search(before):
        said = f"{verb}{_TOWARDS.sub('', before)} {when}"
    return event(clause.subject, said, clause, said, Tense.COMING) if said else None


def read_coming(clause: Clause, rest: str) -> Fact | None:
    """What is to happen on a day to come: "has an exam on Friday", "is moving to Ghent in May"."""
    if match := _HAVE.match(rest):
        return event(clause.subject, f"has {match['o']}", clause, match["o"], Tense.COMING)
    if not (_COMING.match(rest) or _FIXED.match(rest)):
        return None
    mention = dates.find(rest, clause.said, Tense.COMING)
    if mention is None or (mention.day is not None and mention.day <= clause.said):
        return None
    verb, _, tail = rest.partition(" ")
    said = verb if clause.subject.plural else third(verb)
    return event(clause.subject, f"{said} {tail}", clause, rest, Tense.COMING)
