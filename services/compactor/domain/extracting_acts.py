"""What English clauses tell of events, decisions, tasks and standing instructions (SPEC J-8). Pure."""

from __future__ import annotations

import re
from datetime import date

from services.compactor.domain import extracting_dates as dates
from services.compactor.domain import extracting_words as words
from services.compactor.domain.extracting_states import Clause
from services.compactor.domain.extracting_subjects import slug
from services.compactor.domain.extracting_types import Category, Fact, Subject, Tense
from services.compactor.domain.extracting_verbs import MANNER, about, dated, third, trimmed

_FLAGS = re.IGNORECASE
_DECIDED = re.compile(
    r"^(?:have |has )?(?:now |finally |just |both |all )?(?P<p>decided (?:to|on|that|against"
    r"|not to|in favou?r of)"
    r"|agreed (?:to|on|that)|settled (?:on|for)|chosen|chose|picked(?! up| out a fight)"
    r"|opted (?:for|to)|gone with|went with"
    r"|resolved to|made up (?:my|our|his|her) minds? to|committed to|voted (?:to|for)) (?P<o>.+)$",
    _FLAGS,
)
_GOING_WITH = re.compile(
    r"^(?:(?:am|are|is) going with|(?:will|am going to|are going to) go with) (?P<o>.+)$", _FLAGS
)
_NO_CHOICE = re.compile(
    r"^the (?:wrong|right|first|second|other|same|last|file|option|following|terms|rules"
    r"|conditions)\b|\bat random\b",
    _FLAGS,
)
_SURE = re.compile(
    r"\bmade up (?:my|our) minds?\b|\b(?:that|it) is (?:decided|final|settled)\b"
    r"|\bthe decision is (?:made|final)\b"
    r"|\bwe have (?:decided|a decision)\b|\bit is official\b",
    _FLAGS,
)
_RESOLVED = re.compile(
    r"^(?:am|are|is|will|am going to|are going to) (?P<o>(?:not )?\w+(?:ing)?\b.+)$", _FLAGS
)
_DUTY = re.compile(
    r"^(?:(?:still|also|really|just|absolutely|definitely) )*(?:(?:need|have|has|ought"
    r"|have got|am supposed|are supposed|promised|have promised) to"
    r"|must|(?:should not|must not|can not|do not want to) forget to) (?:(?:also|still"
    r"|remember to|really) )?(?P<o>.+)$",
    _FLAGS,
)
_WANTED_DONE = re.compile(
    r"^(?:need|want|have to have) (?P<o>(?:the|my|our|this|these"
    r"|those) [\w' -]{2,40}? (?:finished|done|ready|printed|signed"
    r"|delivered|fixed|repaired|submitted|sent|back|cleaned|packed|written)) (?P<w>.+)$",
    _FLAGS,
)
_ERRAND = re.compile(rf"^(?:{words.ERRANDS})\b", _FLAGS)
_NO_ERRAND = re.compile(
    r"^(?:say|admit|know|go|ask|confess|agree|disagree|understand|think|be|leave|sleep|figure"
    r"|find out|see (?:if|what|how|it)"
    r"|get (?:going|back|used|it|this|rid|better|some)|make sure|tell you|give you"
    r"|take (?:a break|it|care)|change (?:the|this)"
    r"|put up|set up (?:a|an|the)|fix (?:this|it|that|the)|print (?:the|a|all)|update (?:the"
    r"|this)|complete (?:this|the)|move on"
    r"|replace (?:all|the|this|every)|file (?:names?)|send (?:it|this|a request)"
    r"|write (?:a function|code|it|this)|cook up)\b",
    _FLAGS,
)
_RECURRING = re.compile(
    r"\b(?:every|each|always|whenever|daily|weekly|sometimes|often|constantly|usually)\b", _FLAGS
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
    "|handed in|paid off|planted|ran|rented|hired|founded|set up|took up|gave up|stopped"
    "|stayed|spent|went|attended"
    "|performed|climbed|hiked|swam|cycled|installed|repaired|painted|built|baked|cancelled"
    "|canceled|booked|called in sick|renewed"
)
_HAPPENED = re.compile(
    r"^(?:(?:have|has|had) )?(?:(?:just|finally|recently|already|officially|accidentally"
    rf"|also) )*(?P<v>{_PAST_VERBS})\b(?P<o>.*)$",
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
    r"|divorced|won the (?:\w+ ){1,4}|started a new job)\b.*)$",
    _FLAGS,
)
_COMING = re.compile(
    r"^(?:am|is|are) (?P<v>(?!thinking|aiming|staying|working|waiting|using|having|doing"
    r"|getting (?:a|an|the)\b|hoping|considering|trying|wondering|looking|feeling|planning on"
    r"|not|going to (?:be|try|see))\w+ing)\b(?P<o>.*)$",
    _FLAGS,
)
_FIXED = re.compile(
    r"^(?P<v>(?:see|meet)s?(?= \w)|turns?|starts?(?! to\b)|begins?|arrives?|leaves?|comes?"
    r"|returns?|retires?|graduates?|finish(?:es)?|moves?|fly|flies"
    r"|opens?|closes?|gets? married|is due|are due|is scheduled|has been moved|was moved"
    r"|takes place)\b(?P<o>.*)$",
    _FLAGS,
)
_HAVE = re.compile(
    r"^(?:have|has) (?:got )?(?P<o>(?:a|an|my|the|our|his"
    rf"|her) (?:[\w'-]+ ){{0,4}}?(?:{words.APPOINTMENTS})\b.*)$",
    _FLAGS,
)
_SCHEDULED = re.compile(
    rf"^(?:my|our|the) (?P<o>(?:[\w'-]+ ){{0,3}}?(?:{words.APPOINTMENTS}))(?: (?P<tail>(?:with"
    r"|at|for|to|in) [\w' ]+?))?"
    r" (?:is|are|starts|begins|takes place|will be|has been moved to|was moved to"
    r"|has been rescheduled to|leaves|departs|is on|finishes|ends|is due"
    r"|is scheduled for) (?P<w>.+)$",
    _FLAGS,
)
_STARTS = re.compile(
    r"^(?P<o>(?:the |my |our )?(?:new )?(?:school|term|semester|university|course|classes"
    r"|class|conference|training|exhibition"
    r"|festival|season|rehearsals?|trial|holidays?|workshop|work|kindergarten|nursery"
    r"|lectures?|sale|strike) "
    r"(?:starts?|begins?|ends?|opens?|closes?|is over)(?: again| back)?) (?P<w>.+)$",
    _FLAGS,
)
_THERE_IS = re.compile(
    rf"^there is (?P<o>(?:a|an|the|my|our) (?:[\w'-]+ ){{0,3}}?(?:{words.APPOINTMENTS}|evening"
    r"|strike|sale|holiday)) (?P<w>.+)$",
    _FLAGS,
)
_BORN = re.compile(r"^(?:was|were) born(?: (?P<o>.+))?$", _FLAGS)
_BIRTHDAY = re.compile(r"^birthday is (?:on |the )*(?P<o>.+)$", _FLAGS)


def _event(subject: Subject, predicate: str, clause: Clause, text: str, tense: Tense) -> Fact | None:
    """An event on the day that `text` names; `predicate` holds that text."""
    mention = dates.find(text, clause.said, tense)
    if mention is None or mention.recurring:
        return None
    said, day = dated(about(predicate, clause.author), clause.said, tense)
    said = trimmed(said)
    if not said:
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


def read_act(clause: Clause) -> list[Fact]:
    """The event, decision or task that a clause tells; none when it tells neither."""
    rest = MANNER.sub("", clause.rest.strip(" ,"))
    for reader in (_decision, _birth, _task, _happened, _coming):
        if found := reader(clause, rest):
            return [found]
    return []


def _decision(clause: Clause, rest: str) -> Fact | None:
    match = _DECIDED.match(rest) or _GOING_WITH.match(rest)
    if (
        match is None
        or match["o"].split()[0].lower()
        in {"wrong", "it", "this", "up", "them", "him", "her", "these", "those"}
        or _NO_CHOICE.search(match["o"])
    ):
        return None
    said = about(
        re.sub(
            r"^(?:have|has|am|are) ", lambda m: {"am ": "is ", "are ": "is "}.get(m.group(), "has "), rest
        ),
        clause.author,
    )
    return made(clause.subject, Category.DECISION, f"decision.{slug(match['o'])}", said)


def decision_of(clause: Clause) -> list[Fact]:
    """A plan of which its sentence says that it is decided."""
    match = _RESOLVED.match(clause.rest)
    if match is None:
        return []
    verb, _, rest = clause.rest.partition(" ")
    said = about(f"{third(verb) if verb.lower() != 'will' else 'will'} {rest}", clause.author)
    found = made(clause.subject, Category.DECISION, f"decision.{slug(match['o'])}", said)
    return [found] if found else []


def is_sure(sentence: str) -> bool:
    """Whether a sentence says that something is decided."""
    return bool(_SURE.search(sentence))


def _birth(clause: Clause, rest: str) -> Fact | None:
    match = _BORN.match(rest)
    mention = dates.find(rest, clause.said, Tense.PAST) if match else None
    if mention is None:
        return None
    if clause.first and not re.search(r"\d", rest):
        return None
    own = clause.first and mention.day is not None and not re.search(r"\b(?:19|20)\d\d\b", rest)
    text, day = (rest, None) if own else dated(rest, clause.said, Tense.PAST)
    text = re.sub(r"^were", "was", text)
    return made(clause.subject, Category.IDENTITY, "birth-date", about(text, clause.author), day)


def _task(clause: Clause, rest: str) -> Fact | None:
    if match := _WANTED_DONE.match(rest):
        return _wanted(clause, match) if clause.first else None
    match = _DUTY.match(rest)
    return to_do(clause, match["o"]) if match and clause.first else None


def _wanted(clause: Clause, match: re.Match[str]) -> Fact | None:
    """From "I need the slides finished by tomorrow"."""
    mention = dates.find(match["w"], clause.said, Tense.COMING)
    if mention is None or mention.day is None or mention.recurring:
        return None
    text, day = dated(f"needs {match['o']} {match['w']}", clause.said, Tense.COMING)
    return made(clause.author, Category.TASK, f"task.{slug(match['o'])}", about(text, clause.author), day)


def to_do(clause: Clause, what: str, *, asked: bool = False) -> Fact | None:
    """A task of the author's; unless it was `asked` to be noted, only an errand or what has a day."""
    mention = dates.find(what, clause.said, Tense.COMING)
    if _RECURRING.search(what) or re.match(r"(?:never|not)\b", what) or (mention and mention.recurring):
        return None
    if not asked:
        if _NO_ERRAND.search(what) or not (_ERRAND.search(what) or (mention and mention.day)):
            return None
        if mention is None and words.CODE_TALK.search(what):
            return None
    plain = dates.without(what, mention) if mention and mention.day else what
    text, day = dated(trimmed(what), clause.said, Tense.COMING)
    return made(
        clause.author,
        Category.TASK,
        f"task.{slug(plain)}",
        f"needs to {about(text, clause.author)}" if about(text, clause.author) else "",
        day,
    )


def _happened(clause: Clause, rest: str) -> Fact | None:
    if match := _HAPPENED.match(rest):
        if re.match(r"^ (?:a (?:question|look|problem|chat)|it\b|to (?:see|think))", match["o"]):
            return None
        predicate = re.sub(r"^(?:have|has) (?=\w)", "", rest)
        if re.match(r"(?:have|has) got\b", rest, _FLAGS):
            return None
        if words.CODE_TALK.search(rest) or re.search(
            r"\b(?:since|blast|time|fun|idea|look|email|message|question)\b", match["o"]
        ):
            return None
        if found := _event(clause.subject, predicate, clause, rest, Tense.PAST):
            return found
    if match := _LIFE.match(rest):
        return made(
            clause.subject, Category.EVENT, f"event.{slug(match['o'])}", about(match["o"], clause.author)
        )
    return None


def _coming(clause: Clause, rest: str) -> Fact | None:
    if match := _HAVE.match(rest):
        return _event(clause.subject, f"has {match['o']}", clause, match["o"], Tense.COMING)
    if not (_COMING.match(rest) or _FIXED.match(rest)):
        return None
    mention = dates.find(rest, clause.said, Tense.COMING)
    if mention is None or (mention.day is not None and mention.day <= clause.said):
        return None
    verb, _, tail = rest.partition(" ")
    return _event(clause.subject, f"{third(verb)} {tail}", clause, rest, Tense.COMING)


def read_scheduled(text: str, clause: Clause) -> list[Fact]:
    """From "my exam is on Friday", "school starts on Monday"."""
    if match := _STARTS.match(text) or _THERE_IS.match(text):
        return _begins(match, clause)
    match = _SCHEDULED.match(text)
    mention = dates.find(match["w"], clause.said, Tense.COMING) if match else None
    if match is None or mention is None or mention.recurring or re.search(r"\b(?:not|was)\b", match["w"]):
        return []
    what = f"the {match['o']}{' ' + match['tail'] if match['tail'] else ''}"
    found = _event(clause.author, f"has {what} {match['w']}", clause, f"{what} {match['w']}", Tense.COMING)
    return [found] if found else []


def _begins(match: re.Match[str], clause: Clause) -> list[Fact]:
    mention = dates.find(match["w"], clause.said, Tense.COMING)
    if mention is None or mention.day is None or mention.recurring or mention.day < clause.said:
        return []
    found = _event(
        clause.author, f": {match['o']} {match['w']}", clause, f"{match['o']} {match['w']}", Tense.COMING
    )
    return [found] if found else []


def made(
    subject: Subject, category: Category, slot: str, predicate: str, day: date | None = None
) -> Fact | None:
    """A fact, unless there is nothing to say, or what nobody should keep."""
    predicate = trimmed(predicate)
    if not predicate or words.SECRETS.search(predicate):
        return None
    return Fact(
        key=subject.attribute(slot), subject=subject.name, predicate=predicate, category=category, day=day
    )
