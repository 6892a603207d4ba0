"""Likes and dislikes that English clauses tell without a verb of liking (SPEC J-8). Pure."""

from __future__ import annotations

import re

from services.compactor.domain.extraction.english import words
from services.compactor.domain.extraction.english.states import Clause, made
from services.compactor.domain.extraction.english.tastes import liked
from services.compactor.domain.extraction.english.verbs import about, third, trimmed
from services.compactor.domain.extraction.english.wishes import STANDING_VERB, STYLE
from services.compactor.domain.extraction.facts import Category, Fact
from services.compactor.domain.extraction.subjects import slug

_FLAGS = re.IGNORECASE
_NOTHING_MORE = re.compile(
    r"^(?:there is )?nothing (?:that )?(?:I|we) (?P<v>like|love|enjoy|hate) (?:more"
    r"|better)(?P<w> .+?)? than (?P<o>.+)$",
    _FLAGS,
)
_ANY_DAY = re.compile(
    r"^(?:(?:please )?(?:just )?give me |I will take |I would take "
    r"|will take )?(?P<a>[^,]{2,60}?) (?:over|>|beats|before"
    r"|rather than) (?P<b>[^,]{2,60}?)(?: for me)?,? (?:any ?day(?: of the week)?"
    r"|every (?:single )?time|any time|always"
    r"|every day of the week|for me|all day long|all day|hands down|any (?:morning|night|evening"
    r"|weekend))$",
    _FLAGS,
)
_BEST = re.compile(
    r"^(?:nothing (?:beats|compares to|is better than|says \w+ like)|you can not beat"
    r"|can not beat) (?P<o>.+)$",
    _FLAGS,
)
_MY_THING = re.compile(
    r"^(?P<o>(?!(?:it|this|that|what|he|she|they|there|who|which|here|so"
    r"|and)\b)[\w' -]{2,50}?) (?P<v>is|are) (?P<n>not )?"
    r"(?:really |just |so |absolutely |definitely )?(?P<w>my (?:guilty pleasure|weakness|jam"
    r"|happy place|thing|comfort food"
    r"|kryptonite|cup of tea|drug of choice|poison|pet hate|pet peeve|idea of (?:heaven|hell|fun"
    r"|a good time)"
    r"|one (?:true )?(?:weakness|love|vice)|bag|scene|speed|passion)|for me)$",
    _FLAGS,
)
_MINE_IS = re.compile(
    r"^my (?P<w>(?:biggest |secret |one |only |absolute |greatest )?(?:guilty pleasure|weakness"
    r"|comfort food|pet hate|pet peeve"
    r"|drink of choice|idea of (?:heaven|hell)|happy place|poison|go-to(?: \w+){0,2}"
    r"|usual(?: \w+)?)) (?:is|are) (?P<o>.+)$",
    _FLAGS,
)
_UNNAMED = re.compile(
    r"^(?:(?:still|really|absolutely|also|just|actively|secretly) )*(?P<v>love|hate|adore|loathe|detest"
    r"|despise|dislike"
    r"|can not (?:stand|bear|abide)) (?P<o>(?!(?:speech|crimes?|mail|button|group|to)\b).+)$",
    _FLAGS,
)
_UNNAMED_STATE = re.compile(
    r"^(?:(?:still|really|absolutely|also|just|honestly) )*(?P<v>(?:not |never been )?(?:really "
    r"|exactly |much of )?(?:a |an )?(?:big |huge "
    r"|massive |great )?(?:fan of|keen on|into|big on|fond of|obsessed with|partial to|mad about"
    r"|crazy about|mad on|hooked on"
    r"|addicted to))"
    r" (?P<o>.+)$",
    _FLAGS,
)
_WHAT_I = re.compile(
    r"^(?:if there is one thing|what|the (?:one |only |single )?things?|one thing|all) (?:that )?(?:I"
    r"|we) (?:really |absolutely |just )?"
    r"(?P<v>love|like|hate|enjoy|dislike|can not (?:stand|abide|bear)|loathe|detest|prefer)(?: (?:most"
    r"|best|the most|more than "
    r"anything))?(?: about (?P<w>[\w' ]+?))?,? (?:is|are|it is) (?P<o>.+)$",
    _FLAGS,
)
_ALWAYS_THAT = re.compile(
    r"^always (?P<a>[\w' -]{2,30}),? never (?P<b>[\w' -]{2,30})$",
    _FLAGS,
)
_TEAM = re.compile(
    r"^(?:I am |we are )?(?P<o>team (?!lead|meeting|work|call)[\w-]+(?: [\w-]+)?)(?: here| all the way"
    r"| for life)$",
    _FLAGS,
)
_TAKE_OVER = re.compile(
    r"^I will (?:always |still |happily |gladly )?(?:take|pick|choose"
    r"|have) (?P<a>[^,]+?) over (?P<b>[^,]+?)(?:,? (?:any day|every time|always)(?: .+)?)?$",
    _FLAGS,
)
_ALL_THE_WAY = re.compile(
    r"^(?:(?:it is |it has to be |always |just )?give me (?P<a>.{2,60}?) any (?:day|time)(?: of the week)?"
    r"|(?:it is |it has to be |always )?(?P<o>(?!\w+ing\b)[\w' -]{2,40}?),? (?:all the way|ftw"
    r"|for the win|for life|till I die|all day every day))$",
    _FLAGS,
)
_IRONY = re.compile(
    r"^(?:when|how|that|it|to|from|and|u|ya|always|xx?|your|all of you)\b|^\w+ing\b|^(?:song|songs"
    r"|story|stories|letter"
    r"|letters|life|bug|language|affair|interest|match|island|handles?)\b",
    _FLAGS,
)
"""What people say that they love when they do not."""
_REPELS = re.compile(
    r"^(?P<o>(?!(?:it|this|that|what|he|she|they|which|who"
    r"|you)\b)[\w' -]{2,40}?) (?:(?:gives?) me (?:a rash|the creeps|the ick"
    r"|the willies|hives|nightmares|heartburn|the shivers)|makes? me (?:gag|heave|retch|shudder|cringe"
    r"|want to scream))$",
    _FLAGS,
)


_MOVES = re.compile(
    r"^(?P<o>(?!(?:it|this|that|what|he|she|they|which|who|you|everything|nothing|something|work|the"
    r"|my|our|his|her)\b)[\w' -]{2,30}?) (?:(?:really|always|just) )?(?P<v>bores? me (?:to (?:death|tears)"
    r"|stiff|silly)"
    r"|drives? me (?:mad|nuts|crazy|insane|up the wall)|makes? my (?:skin crawl|teeth itch|blood boil)"
    r"|leaves? me cold"
    r"|(?:is|are) (?:a joy|an insult|pure joy|a delight|torture|the devil's work|the love of my life"
    r"|my first love"
    r"|my one true love))$",
    _FLAGS,
)
"""What a thing does to one, or is to one."""


def read_liking(clause: str, own: Clause) -> list[Fact]:
    """Likes and dislikes that are told without saying so: "give me tea over coffee any day"."""
    said, what = "", ""
    if match := _NOTHING_MORE.match(clause):
        what, where = match["o"], match["w"] or ""
        said = f"{third(match['v'])} {what} most{where}"
    elif (match := _ANY_DAY.match(clause)) and not re.search(
        r"\b(?:and|but|is|are|was)\b", match["a"], _FLAGS
    ):
        what = match["a"]
        said = f"prefers {what} over {match['b']}"
    elif (
        (match := _UNNAMED.match(clause))
        and not re.search(r" (?:is|are|was|were|will) ", match["o"])
        and not (match["v"].lower() == "love" and _IRONY.match(match["o"]))
    ):
        what = match["o"]
        verb = match["v"].lower()
        shown = verb.replace("can not", "can't") if " " in verb else third(verb)
        said = f"{shown} {what}"
    elif (match := _UNNAMED_STATE.match(clause)) and " " in match["v"]:
        what = match["o"]
        said = f"{'has' if match['v'].lower().startswith('never') else 'is'} {match['v']} {what}"
    elif match := _TAKE_OVER.match(clause):
        what = match["a"]
        said = f"prefers {what} over {match['b']}"
    elif match := _ALL_THE_WAY.match(clause):
        what = match["a"] or match["o"]
        said = f"loves {what}"
    elif match := _WHAT_I.match(clause):
        what = match["o"]
        verb = match["v"].lower()
        shown = verb.replace("can not", "can't") if " " in verb else third(verb)
        said = f"{shown} {what}"
    elif (match := _ALWAYS_THAT.match(clause)) and not STANDING_VERB.match(match["a"]):
        what = match["a"]
        said = f"prefers {what}, never {match['b']}"
    elif match := _TEAM.match(clause):
        what = match["o"]
        said = f"is {what}"
    elif match := _REPELS.match(clause):
        what = match["o"]
        said = f"dislikes {what}"
    elif match := _MOVES.match(clause):
        what = match["o"]
        found_so = re.sub(r"^(?:is|are) ", "", match["v"], flags=_FLAGS)
        if re.search(r"\bof my life|\bmy ", found_so):
            said = f"loves {what}"
        elif found_so != match["v"]:
            said = f"finds {what} {found_so}"
        else:
            said = f": {what} {match['v']}"
    elif match := _BEST.match(clause):
        what = match["o"]
        said = f"loves {what}"
    elif match := _MINE_IS.match(clause):
        what = match["o"]
        said = f"'s {match['w']} is {what}"
    elif match := _MY_THING.match(clause):
        what = match["o"]
        bad = match["n"] or re.search(r"hate|peeve|hell", match["w"])
        said = f"dislikes {what}" if bad else f"loves {what}"
        if match["w"].lower() == "for me" and not match["n"]:
            return []
    if what.startswith(("The ", "A ", "An ")):
        said = said.replace(what, f"{what[0].lower()}{what[1:]}")
    if not said or not liked(what) or words.CODE_TALK.fullmatch(what) or STYLE.search(what):
        return []
    found = made(own.author, Category.PREFERENCE, f"taste.{slug(what)}", about(trimmed(said), own.author))
    return [found] if found else []
