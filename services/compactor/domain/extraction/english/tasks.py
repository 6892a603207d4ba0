"""What English clauses tell of things that their author has to do (SPEC J-8). Pure."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

from services.compactor.domain.extraction import dates
from services.compactor.domain.extraction.english import words
from services.compactor.domain.extraction.english.states import Clause, made
from services.compactor.domain.extraction.english.verbs import about, dated, trimmed
from services.compactor.domain.extraction.facts import Category, Fact, Tense
from services.compactor.domain.extraction.subjects import slug

_FLAGS = re.IGNORECASE
_DUTY = re.compile(
    r"^(?:(?:still|also|really|just|absolutely|definitely) )*(?:(?:should not|must not|can not"
    r"|do not want to"
    r"|better not) forget to|(?:need|have|has|have still|have yet|ought"
    r"|have got|am supposed|are supposed|promised(?: (?:my|the) \w+| \w+)?|have promised(?: \w+)?"
    r"|am meant|are meant"
    r"|am due|are due|am|are) to"
    r"|must|better|had better) (?:(?:also|still"
    r"|remember to|really) )?(?P<o>.+)$",
    _FLAGS,
)
_UNDERTAKEN = re.compile(
    r"^(?:have |has )?(?:(?:just|already|stupidly|also) )*(?:volunteered|offered|promised(?: \w+)?"
    r"|signed up|been asked|been told|was asked"
    r"|was told|were asked|were told|am down|am booked|got roped in) to (?P<o>.+)$",
    _FLAGS,
)
"""What was undertaken for a day to come."""
_PROMISED = re.compile(
    r"^(?:have |has )?promised (?P<who>(?:my|the|our) (?:[\w-]+ )?[\w-]+|(?-i:[A-Z])\w+|him|her"
    r"|them) (?P<o>(?:the|a|an|my|some) "
    r"[\w' -]{2,40}? (?:by|for|before|on) .+)$",
    _FLAGS,
)
_WILL_DO = re.compile(r"^(?:will|am going to|are going to) (?P<o>.+)$", _FLAGS)
_UNDONE = re.compile(
    r"^(?:still )?have (?:still )?not (?:yet )?(?P<v>\w+(?:ed|ne|nt|en|id|ade"
    r"|ught)) (?P<o>(?:my|our|the|any|those|these) .+?)(?: yet)?$",
    _FLAGS,
)
"""What should have been done by now."""
_BASE = {
    "done": "do",
    "sent": "send",
    "paid": "pay",
    "made": "make",
    "written": "write",
    "bought": "buy",
    "begun": "begin",
    "chosen": "choose",
    "taken": "take",
    "brought": "bring",
    "given": "give",
    "spoken": "speak",
    "cancelled": "cancel",
}
_PAPERS = (
    "report|essay|thesis|assignment|homework|coursework|tax return|taxes|rent|invoice"
    "|application|paper|draft|proposal"
    "|manuscript|form|forms|payment|bill|deposit|fee|library books?|dissertation"
    "|portfolio|slides|review|timesheet|expenses"
    "|abstract|article|chapter|submission|quote|estimate|budget|accounts|vat|prescription"
)
_DUE = re.compile(
    rf"^(?:(?:my|our|the) )?(?P<o>(?:(?!is\b|are\b|I\b|we\b|no\b"
    rf"|not\b)[\w'-]+ ){{0,3}}?(?:{_PAPERS})(?: for [\w' ]+?)?) "
    r"(?:due |(?:is|are|has to be in|have to be in|must be in"
    r"|needs to be (?:in|done|finished|sent|submitted)|need to be (?:in|done|finished|sent"
    r"|submitted)) (?:due )?)(?:back )?(?P<w>.+)$",
    _FLAGS,
)
_MONEY = re.compile(r"\b(?:rent|payment|bill|deposit|fees?|invoice|tax|taxes|vat)$", _FLAGS)
_TO_BE_DONE = re.compile(
    r"^(?:(?:my|our|the) )?(?P<o>(?:(?!(?:is|are|I|we|you|it|this|that|no|not|who|he|she|they"
    r"|there)\b)[\w'-]+ ){1,5}?)(?P<v>(?:has|have|needs?|must) (?:to )?(?:be (?:\w+ed|in|with|at|out"
    r"|done|sent|paid|written|made|built|sold|bought"
    r"|ready|back|gone|given|taken)|go (?:off|out|in|back))\b) ?(?P<w>.+)$",
    _FLAGS,
)
_FALLS_DUE = re.compile(
    r"^(?:(?:my|our|the) )?(?P<o>(?:(?!(?:is|are|I|we|you|it|this|that|no|not|who|he|she|they"
    r"|there)\b)[\w'-]+ ){0,4}?"
    r"(?!(?:it|he|she|they|I|we|you|that|this|which)\b)[\w'-]+) (?:is|are) due (?:in |back )?(?P<w>.+)$",
    _FLAGS,
)
_CHILD = re.compile(
    rf"\b(?:baby|babies|twins?|triplets|little one|{words.RELATIONS}|bus|train|flight|plane|ferry"
    rf"|delivery|parcel)$",
    _FLAGS,
)
_IT_IS_DUE = re.compile(
    r"^(?:it is|they are|that is|which is|which are|(?:the |my |its )?(?:final "
    r"|submission )?(?:deadline|closing date"
    r"|cut-?off|due date|last date)(?: for (?:it|that|this|them))?(?: is)?|due|it (?:has to|must"
    r"|needs to) be (?:in|done"
    r"|sent|there|finished|submitted|paid|with \w+)|(?:it|they|applications|registration|booking"
    r"|entries|the portal|the form)"
    r" (?:closes?|shuts?|ends?|runs? out)|ideally|preferably|latest|(?=(?:by|before|no later than) )"
    r"|(?:I )?(?:(?:really|just|also) )*(?:have to|must|need to|have got to) (?:do|get|send|sort|pay|finish) "
    r"(?:it|that|them)(?: all)?(?: (?:done|sorted|in|off|out|finished))?"
    r"|[\w ]{2,20} (?:wants?|needs?|expects?) (?:it|them|that)) ?(?:due |in |back )?(?:no later than )?"
    r"(?P<w>(?:on |by |before )?.+)$",
    _FLAGS,
)
_HAVE_DUE = re.compile(
    r"^(?:have|have got) (?P<o>(?:an?|my|the|two|three) (?:[\w'-]+ "
    rf"){{0,3}}?(?:{_PAPERS})s?) (?:that is )?due (?P<w>.+)$",
    _FLAGS,
)
_WANTED_DONE = re.compile(
    r"^(?:need|want|have to have) (?P<o>(?:the|my|our|this|these"
    r"|those) [\w' -]{2,40}? (?:\w{3,}ed|finished|done|ready|printed|signed"
    r"|delivered|fixed|repaired|submitted|sent|back|cleaned|packed|written)) (?P<w>.+)$",
    _FLAGS,
)
_ERRAND = re.compile(rf"^(?:{words.ERRANDS})\b", _FLAGS)
_NO_ERRAND = re.compile(
    r"^(?:say|admit|know|go|ask|confess|agree|disagree|understand|think|be (?!out\b|at\b|back\b|ready\b"
    r"|in\b|there\b)|leave|sleep|figure"
    r"|find out|see (?:if|what|how|it)"
    r"|get (?:going|back|used|it|this|rid|better|some)|make sure|tell you|give you"
    r"|take (?:a break|it|care)|change (?:the|this)"
    r"|put up|set up (?:a|an|the)|fix (?:this|it|that|the)|print (?:the|a|all)|update (?:the"
    r"|this)|complete (?:this|the)|move on"
    r"|replace (?:all|the|this|every)|file (?:names?)|send (?:it|this|a request)"
    r"|write (?:a function|code|it|this)|cook up)\b",
    _FLAGS,
)
_DOING = re.compile(
    r"^(?:(?!(?:be|have|do|make|open|close|touch|write|word|read|run|eat|drink|hear|learn|explain"
    r"|decide|choose"
    r"|calculate|convert|compare|translate"
    r"|summari[sz]e|format|create|come|work|wait|live|watch|talk|speak|use|try|keep|start|stop|stay|let"
    r"|look|think|feel|hurry"
    r"|concentrate|focus|remember|forget|rest|lose|win|add|count|show|cut|reduce|increase|avoid|shrink"
    r"|export|import|install"
    r"|debug|code|deploy|change|set|put|turn|take|get up|get out|get in|get to|get through|catch up"
    r"|grow|calm|relax|rethink"
    r"|rewrite|reword|draft|plan|consider|brush up|improve|stick|hit|say|see|go|sit|stand|pass|laugh"
    r"|cry|vent|scream"
    r"|double|handle|deal|cope|happen|mind|stress|worry)\b)[a-z]+(?: (?:up|out|off|down|in|back|over"
    r"|away|round))?"
    r" (?:for |to |with |at |on )?(?:the|my|our|a|an|his|her|their|two|three|four|five|six|\d+|new|some"
    r"|boxes|mum|dad"
    r"|(?-i:[A-Z])\w+|\w+s)\b.*)$",
    _FLAGS,
)
"""A doing that takes a thing: "defrost the freezer"; not what one does with a text, or all day."""
_HAVE_UNTIL = re.compile(
    r"^(?:have|have got) (?P<w>(?:until|till) .+?) to (?P<o>(?!be\b|live\b|go\b)[a-z]+(?: .+)?)$", _FLAGS
)
_HAVE_IT_TO = re.compile(
    r"^(?:still )?have (?:still )?(?:got )?(?P<n>(?:the|a|an|my|our|two|three|four|five|six|ten|some"
    r"|\d+|another) (?:[\w'-]+ ){0,3}?[\w'-]+)"
    rf" to (?P<v>{words.ERRANDS}|do|write|mark|read|learn|prepare|get done|give|hand over"
    rf"|make)(?P<w> .*)?$",
    _FLAGS,
)
_TO_MARK = re.compile(
    rf"^(?P<n>(?:two|three|four|five|six|seven|eight|ten|twenty|thirty|\d+|the|my|a"
    rf"|an) (?:[\w'-]+ ){{0,3}}?[\w'-]+) to "
    rf"(?P<v>{words.ERRANDS}|write|mark|read|learn|prepare|finish|grade|proofread)(?P<w> (?:by|before"
    rf"|for|on|until) .+)$",
    _FLAGS,
)
_NO_BURDEN = re.compile(
    r"\b(?:question|questions|thing|things|confession|point|reason|right|lot|favour|favor|way|chance"
    r"|plan|idea|request|tendency|habit"
    r"|announcement|joke|story|complaint|stuff|something|bit|few|place|life|family|time|minute|moment)$",
    _FLAGS,
)
_AND_DO = re.compile(
    rf"(?:, and|,| and)(?: also| then| somehow)? (?=(?:{words.ERRANDS}|tell|find|sort out|set up|move"
    rf"|measure|defrost|clear"
    r"|let (?:the|my|our)|rehome|swap|fold|learn|chase|sort|patch|top up|check)\b (?:the|my|our|a|an"
    r"|his|her|some|new|for|out|up"
    r"|off|in|back|(?-i:[A-Z])))",
    _FLAGS,
)
"""Where another thing to do begins."""
_ROUND = re.compile(
    r"\b(?:every|each) (?:(?:other|second|single) )?(?:day|week|month|year|morning|evening"
    r"|night|\w+day)$",
    _FLAGS,
)
_RECURRING = re.compile(
    r"\b(?:every|each|always|whenever|daily|weekly|sometimes|often|constantly|usually)\b", _FLAGS
)


def read_tasks(clause: Clause, rest: str) -> list[Fact]:
    """What the author says that they have to do; of several things each, if at most the first has a day."""
    match = _DUTY.match(rest)
    if match and clause.first and len(parts := _AND_DO.split(match["o"])) > 1:
        days = [dates.find(part, clause.said, Tense.COMING) for part in parts]
        if not any(days[1:]):
            found = [to_do(clause, part.strip(" ,")) for part in parts]
            return [one for one in found if one]
    one = read_task(clause, rest)
    return [one] if one else []


def read_task(clause: Clause, rest: str) -> Fact | None:
    """What the author says that they have to do."""
    if clause.first and (match := _HAVE_IT_TO.match(rest)) and not _NO_BURDEN.search(match["n"]):
        return to_do(clause, f"{match['v']} {match['n']}{match['w'] or ''}")
    if clause.first and (match := _HAVE_UNTIL.match(rest)):
        return to_do(clause, f"{match['o']} {re.sub('^(?:until|till)', 'by', match['w'], flags=_FLAGS)}")
    if clause.first and (match := _HAVE_DUE.match(rest)):
        return to_do(clause, f"hand in {match['o']} {match['w']}")
    if match := _WANTED_DONE.match(rest):
        return _wanted(clause, match) if clause.first else None
    if clause.first and (match := _UNDONE.match(rest)):
        verb = _BASE.get(match["v"].lower()) or re.sub(r"(?<=[^aeiou])i?ed$", "", match["v"].lower())
        return to_do(clause, f"{verb} {match['o']}", asked=clause.due)
    if clause.first and (match := _WILL_DO.match(rest)):
        mention = dates.find(match["o"], clause.said, Tense.COMING)
        return to_do(clause, match["o"]) if mention and mention.day and _ERRAND.search(match["o"]) else None
    if clause.first and (match := _UNDERTAKEN.match(rest)):
        mention = dates.find(match["o"], clause.said, Tense.COMING)
        return to_do(clause, match["o"]) if mention and mention.day else None
    if (
        clause.first
        and (match := _PROMISED.match(rest))
        and match["who"].lower() not in {"him", "her", "them"}
    ):
        found = to_do(clause, f"give {match['who']} {match['o']}")
        return found if found and found.day else None
    match = _DUTY.match(rest)
    return to_do(clause, match["o"]) if match and clause.first else None


def read_due(text: str, clause: Clause) -> list[Fact]:
    """From "my essay is due on Friday"."""
    match = _DUE.match(text)
    mention = dates.find(match["w"], clause.said, Tense.COMING) if match else None
    if match is None or mention is None or mention.day is None or mention.recurring or mention.start > 3:
        return _to_be_done(text, clause) or _falls_due(text, clause)
    verb = "pay" if _MONEY.search(match["o"]) else "return" if " back " in match.group() else "finish"
    name = match["o"] if match["o"][1:2].isupper() else f"{match['o'][0].lower()}{match['o'][1:]}"
    predicate = f"has to {verb} the {name} by {mention.day.isoformat()}"
    found = made(
        clause.author, Category.TASK, f"task.{slug(match['o'])}", about(predicate, clause.author), mention.day
    )
    return [found] if found else []


def _to_be_done(text: str, clause: Clause) -> list[Fact]:
    """From "the cake has to be ordered by Wednesday"."""
    match = _TO_BE_DONE.match(text)
    mention = dates.find(match["w"], clause.said, Tense.COMING) if match else None
    if match is None or mention is None or mention.day is None or mention.recurring:
        return []
    if words.CODE_TALK.search(match["o"]):
        return []
    said, day = dated(f": the {match['o']}{match['v']} {match['w']}", clause.said, Tense.COMING)
    found = made(clause.author, Category.TASK, f"task.{slug(match['o'])}", about(said, clause.author), day)
    return [found] if found else []


def _falls_due(text: str, clause: Clause) -> list[Fact]:
    """From "the inspection is due on Monday" (who is due is a child), "ten essays to mark by Monday"."""
    if marked := _TO_MARK.match(text):
        one = to_do(clause, f"{marked['v']} {marked['n']}{marked['w']}")
        return [one] if one and one.day else []
    match = _FALLS_DUE.match(text)
    mention = dates.find(match["w"], clause.said, Tense.COMING) if match else None
    if match is None or mention is None or mention.day is None or mention.start or mention.recurring:
        return []
    if _CHILD.search(match["o"]) or (match["o"][:1].isupper() and " " not in match["o"]):
        return []
    said, day = dated(f": the {match['o']} is due {match['w']}", clause.said, Tense.COMING)
    found = made(clause.author, Category.TASK, f"task.{slug(match['o'])}", about(said, clause.author), day)
    return [found] if found else []


def with_due(task: Fact, clause: str, said: date) -> Fact | None:
    """A task without a day, with the day that "it is due on Friday" adds."""
    match = _IT_IS_DUE.match(clause)
    mention = dates.find(match["w"], said, Tense.COMING) if match else None
    if task.category is not Category.TASK or task.day or mention is None or mention.day is None:
        return None
    return replace(task, predicate=f"{task.predicate} by {mention.day.isoformat()}", day=mention.day)


def _wanted(clause: Clause, match: re.Match[str]) -> Fact | None:
    """From "I need the slides finished by tomorrow"."""
    mention = dates.find(match["w"], clause.said, Tense.COMING)
    if mention is None or mention.day is None or mention.recurring:
        return None
    text, day = dated(f"needs {match['o']} {match['w']}", clause.said, Tense.COMING)
    return made(clause.author, Category.TASK, f"task.{slug(match['o'])}", about(text, clause.author), day)


def to_do(clause: Clause, what: str, *, asked: bool = False) -> Fact | None:
    """A task of the author's; unless it was `asked` to be noted, only an errand or what has a day."""
    what = re.sub(r",[^,]*\byou\b.*$", "", what)
    mention = dates.find(what, clause.said, Tense.COMING)
    recurring = bool(_RECURRING.search(what)) or bool(mention and mention.recurring)
    if re.match(r"(?:never|not)\b", what) or (
        recurring and not (asked or (_ROUND.search(what) and _ERRAND.search(what)))
    ):
        return None
    if recurring:
        return made(
            clause.author,
            Category.TASK,
            f"task.{slug(what)}",
            f"needs to {about(trimmed(what), clause.author)}",
        )
    if not asked:
        by = mention and re.match(r"(?:by|before|until|till)\b", what[mention.start :], _FLAGS)
        dated_or_known = by or _ERRAND.search(what) or _DOING.search(what) or (mention and mention.day)
        if _NO_ERRAND.search(what) or not dated_or_known:
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
