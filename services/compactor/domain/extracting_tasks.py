"""What English clauses tell of things that their author has to do (SPEC J-8). Pure."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

from services.compactor.domain import extracting_dates as dates
from services.compactor.domain import extracting_words as words
from services.compactor.domain.extracting_states import Clause, made
from services.compactor.domain.extracting_subjects import slug
from services.compactor.domain.extracting_types import Category, Fact, Tense
from services.compactor.domain.extracting_verbs import about, dated, trimmed

_FLAGS = re.IGNORECASE
_DUTY = re.compile(
    r"^(?:(?:still|also|really|just|absolutely|definitely) )*(?:(?:need|have|has|ought"
    r"|have got|am supposed|are supposed|promised(?: \w+)?|have promised(?: \w+)?|am meant|are meant) to"
    r"|must|better|had better|(?:should not|must not|can not|do not want to) forget to) (?:(?:also|still"
    r"|remember to|really) )?(?P<o>.+)$",
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
    rf"^(?:(?:my|our|the) )?(?P<o>(?:[\w'-]+ ){{0,3}}?(?:{_PAPERS})(?: for [\w' ]+?)?) "
    r"(?:is|are|has to be in|have to be in|must be in"
    r"|needs to be (?:in|done|finished|sent|submitted)|need to be (?:in|done|finished|sent"
    r"|submitted)) (?:due )?(?P<w>.+)$",
    _FLAGS,
)
_IT_IS_DUE = re.compile(
    r"^(?:it is|they are|that is|which is|which are|deadline is|the deadline is|due"
    r"|[\w ]{2,20} (?:wants?|needs?|expects?) (?:it|them|that)) (?:due |in )?"
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
_ROUND = re.compile(
    r"\b(?:every|each) (?:(?:other|second|single) )?(?:day|week|month|year|morning|evening"
    r"|night|\w+day)$",
    _FLAGS,
)
_RECURRING = re.compile(
    r"\b(?:every|each|always|whenever|daily|weekly|sometimes|often|constantly|usually)\b", _FLAGS
)


def read_task(clause: Clause, rest: str) -> Fact | None:
    """What the author says that they have to do."""
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
    match = _DUTY.match(rest)
    return to_do(clause, match["o"]) if match and clause.first else None


def read_due(text: str, clause: Clause) -> list[Fact]:
    """From "my essay is due on Friday"."""
    match = _DUE.match(text)
    mention = dates.find(match["w"], clause.said, Tense.COMING) if match else None
    if match is None or mention is None or mention.day is None or mention.recurring or mention.start > 3:
        return []
    predicate = f"has to finish the {match['o']} by {mention.day.isoformat()}"
    found = made(
        clause.author, Category.TASK, f"task.{slug(match['o'])}", about(predicate, clause.author), mention.day
    )
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
