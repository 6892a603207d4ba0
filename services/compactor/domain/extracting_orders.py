"""What English imperatives ask to be noted, or to be done from now on (SPEC J-8). Pure."""

from __future__ import annotations

import re

from services.compactor.domain.extracting_states import Clause, made
from services.compactor.domain.extracting_subjects import slug
from services.compactor.domain.extracting_tasks import to_do
from services.compactor.domain.extracting_types import Category, Fact, Subject
from services.compactor.domain.extracting_verbs import about, third, trimmed

_FLAGS = re.IGNORECASE
_REMIND = re.compile(
    r"^(?:please )?(?:remind me (?:(?P<w>(?:on|next|this|tomorrow|tonight"
    r"|in) ?[^,]{0,20}?) )?(?:to|that I (?:need|have) to)|do not let me forget to"
    r"|help me remember to) (?P<o>.+)$",
    _FLAGS,
)
_LISTED = re.compile(
    r"^(?:please )?(?:add|put|note) (?P<o>.+?) (?:on|to|onto|in) (?:my|the|our) (?:to-?do|task"
    r"|todo)s?(?: list)?$",
    _FLAGS,
)
_STANDING = re.compile(
    r"\b(?:always|never|from now on|going forward|in (?:the )?future|by default|every time"
    r"|whenever|at all times|ever|in your (?:answers|replies|responses|messages)"
    r"|when(?:ever)? you (?:write|talk|reply|answer|respond))\b",
    _FLAGS,
)
_ORDERS = (
    "use|answer|reply|respond|write|give|cite|address|call|speak|keep|include|add|avoid|ask"
    "|explain|put|show|format|start"
    "|begin|end|skip|mention|check|translate|make|assume|treat|convert|provide|stick|remind"
    "|round|sign|refer|wait|suggest"
    "|recommend|send|quote|talk|tell|list|summari[sz]e|state|say|leave|apologi[sz]e|greet"
    "|order|sort|limit|spell|omit|warn"
    "|confirm|double-check|present|structure|default|prefix|label"
)
_IMPERATIVE = re.compile(
    rf"^(?:(?:please|from now on|going forward|in (?:the )?future|for (?:code|the)[\w ]{{2,30}}"
    r"|by default|always|never|whenever .+?|when I [\w ]+?|do not ever)[, ]+)*(?P<n>do not "
    rf"|never )?(?:ever |always )?(?P<v>{_ORDERS})\b(?P<o>.*)$",
    _FLAGS,
)
_CALL = re.compile(
    r"^(?:please )?(?:(?:from now on|in future)[, ]+)?(?:just |please )*(?:call"
    r"|address) me (?:as |by )?(?P<o>(?:Dr|Ms|Mr|Mrs"
    r"|Prof)?\.? ?(?-i:[^\W\d_a-z])[\w'-]*(?: (?-i:[A-Z])[\w'-]*)?)(?:,? not .+| (?:from now on|instead"
    r"|in future|please))?$",
    _FLAGS,
)
_MANNER_OF_ANSWERS = re.compile(
    r"^(?:please )?(?:keep (?:(?:your|all|the) )?(?:answers|replies|responses|explanations)\b"
    r"|stick to [\w ]+ (?:spelling|units|english)\b"
    r"|when(?:ever)? I (?:ask|say|write|send|give|mention)\b.+,)",
    _FLAGS,
)
_LANGUAGE_WITH_ME = re.compile(
    r"^(?:please )?(?:always )?(?:speak|talk|write|answer|reply)(?: to"
    r"| with)? (?:me )?(?:only )?(?:in )?(?-i:[A-Z])\w+(?: (?:with|to) me)?$",
    _FLAGS,
)
_WITH_ME = re.compile(
    r" (?:when|whenever|if) you (?:write|talk|speak|reply|answer|respond)(?: (?:to|with))?(?: me)?$", _FLAGS
)
_ALWAYS = re.compile(
    r"^(?:(?:please|and|so|also)[, ]+)*(?:always|never|do not ever|from now on,?"
    r"|going forward,?|in (?:the )?future,?) "
    r"(?:please |just |only )?(?P<v>(?!a\b|an\b|the\b|my\b|been\b|mind\b|again\b|heard\b"
    r"|had\b|was\b|did\b|too\b|say\b"
    r"|in\b|on\b|at\b|and\b|liked\b|I\b|we\b|he\b|she\b|they\b|it\b|there\b|no\b|have\b"
    r"|has\b|knew\b|thought\b|forget\b"
    r"|happy\b|good\b|seen\b|known\b|done\b|gone\b|met\b|felt\b|found\b|nice\b|fun\b|so\b"
    r"|up\b|trust\b|give up\b|works?\b|happens\b|\w+(?:ed"
    r"|ing)\b)[a-z]+)\b(?P<o> .+)$",
    _FLAGS,
)
"""An imperative with "always" or "never" before it."""
_FOR_GOOD = re.compile(
    r"\b(?:from now on|from here on(?: out)?|from today(?: on)?|moving forward|henceforth"
    r"|permanently|as a (?:general )?rule|going forward|in (?:the )?future|every time"
    r"|at all times|by default|for all (?:my|your|future)"
    r"|in (?:every|all|any|your) (?:\w+ )?(?:answer|reply|message|response|email|mail"
    r"|summary|text|recipe)\w*)\b",
    _FLAGS,
)
_WISHED = re.compile(
    r"^(?:(?:please|just|and|so|also|ok)[, ]+)*(?P<v>(?:(?!you\b|no\b|I\b|we\b|he\b|she\b|they\b|it\b"
    r"|there\b|that\b|this\b|my\b|our\b|his\b"
    r"|the\b|what\b|how\b|why\b|when\b|is\b|are\b|was\b|as\b|almost\b|not\b|same\b|like\b"
    r"|nearly\b|always\b|never\b)[\w/-]+))(?P<o> .+)$",
    _FLAGS,
)
_STYLE = (
    r"emojis?|emoticons?|smileys|exclamation (?:marks|points)|bullet ?points?|bullets"
    r"|lists|tables|markdown|headings|headers"
    r"|jargon|small ?talk|disclaimers?|apologies|apologi[sz]ing|flattery|compliments"
    r"|filler|intros?|preambles?|pleasantries"
    r"|jokes|puns|abbreviations|acronyms|all caps|capitals|swearing|spoilers|hedging"
    r"|morali[sz]ing|lectures|lecturing|waffle"
    r"|fluff|cliches|clichés|anglicisms|buzzwords|corporate speak|sugar-?coating|baby talk"
    r"|bold(?: text)?|italics|em dashes"
    r"|semicolons|slang|hashtags|footnotes|americanisms|rhetorical questions"
)
_NO_STYLE = re.compile(
    r"^(?:please )?(?:no|skip|drop|enough with|enough of|cut|avoid|leave out|spare me"
    r"|stop(?: it)? with|lose|ditch|lay off) (?:the |all |your |any |more |out )*"
    rf"(?P<o>(?:{_STYLE})\b.*)$",
    _FLAGS,
)
_STOP = re.compile(
    r"^(?:please )?(?:stop|quit) (?P<o>(?!it\b|that\b|working|playing|growing|crashing"
    r"|being so|trying|running)\w+ing\b.*)$",
    _FLAGS,
)
_DO_NOT = re.compile(
    r"^(?:(?:please|and|so|also)[, ]+)*do not (?P<o>(?:give me|call me|send me|suggest"
    r"|recommend|remind me|ask me|show me|tell me to"
    r"|use (?:emojis|bullet|exclamation|my (?:full|last|real|middle)|the word|words|jargon"
    r"|slang)|sugar-?coat|apologi[sz]e|book me"
    r"|schedule (?:me|anything|meetings|calls)|start (?:with|your|every|replies)"
    r"|end (?:with|your|every|replies)|address me"
    r"|add (?:emojis|disclaimers|explanations|comments)|bother (?:with|me)"
    r"|explain (?:things|everything|basics|your|every|the basics)"
    r"|speak to me|talk to me|write to me|mention my"
    r"|text me|wake me|ever) ?.*)$",
    _FLAGS,
)
_ONE_TIME = re.compile(
    r"\b(?:this|that|it|yet|now|today|the (?:answer|ending|solution)|here|these|those"
    r"|again)\b",
    _FLAGS,
)
_WHEN_YOU = re.compile(
    rf"^(?:please )?when(?:ever)? you [\w' ]{{2,40}}?,? (?:please |always "
    rf"|just )*(?:do not |never )?(?:{_ORDERS})\b .+$"
    r"|^(?:please )?keep (?:things|everything|all of it) (?:under|below|within|to|short"
    r"|brief|simple|light|formal|informal|concise)\b.*$",
    _FLAGS,
)
_USE_FOR_ME = re.compile(
    r"^(?:please )?(?:just )?(?:use|say|write|stick (?:to|with)"
    r"|switch to) (?P<o>(?:(?:\w+/\w+(?:/\w+)?|metric|imperial|celsius|fahrenheit"
    r"|kilomet\w+|miles|grams|euros|pounds|24[- ]?h\w*|british|american|uk|us|informal"
    r"|formal|du|tu|usted|(?:my )?first name)\b.*"
    r"|the 24[- ]?h\w*.*|.+ (?:for|with|to) me))$"
    r"|^(?:please )?(?P<be>be (?:\w+ and )?(?:blunt|brief|concise|honest|formal|informal"
    r"|direct|gentle|kind|strict|nice|patient|straight|frank) with me|(?:address|talk to"
    r"|speak to|write to) me (?:in)?formally)$"
    r"|^(?:I (?:want|prefer|like|need) )?(?P<a>(?:only )?(?:short|brief|long|detailed"
    r"|simple|plain|concise|direct|honest) "
    r"(?:answers|replies|responses|explanations)(?: only)?)$"
    r"|^treat me (?:like|as) .+$"
    r"|^you can (?P<may>(?:swear|be (?:blunt|honest|direct|informal|rude)|skip .+|use .+"
    r"|leave out .+) (?:with me|for me|in .+))$",
    _FLAGS,
)
_YOU_DO = re.compile(
    r"\byou (?P<m>always |never )?(?P<v>write|cite|include|add|mention|check|ask|put|keep"
    r"|send|quote|give|show|answer|reply|talk|explain|suggest|translate|use|make)\b",
    _FLAGS,
)
_NO_ORDER = re.compile(
    r"\b(?:give up|say never|keep (?:going|it up|on|pushing)|stop (?:believing|trying))\b"
    r"|^(?:be (?:careful|safe|nice)|tell me (?:a|about)|give me a|never mind|say hi"
    r"|make sure you sleep)",
    _FLAGS,
)


def read_order(text: str, clause: Clause) -> list[Fact]:
    """From an imperative: a task to be reminded of, or a standing wish about how the assistant behaves."""
    text = trimmed(text)
    if match := _REMIND.match(text) or _LISTED.match(text):
        when = match["w"] if match.re is _REMIND and match["w"] else ""
        found = to_do(clause, f"{match['o']} {when}".strip(), asked=True)
        return [found] if found else []
    author = clause.author
    if match := _CALL.match(text):
        found = made(
            author, Category.INSTRUCTION, "form-of-address", f"wants to be called {match['o'].strip()}"
        )
        return [found] if found else []
    if not _is_standing(text) or _NO_ORDER.search(text):
        return []
    return _asked(text, author)


def read_ruled(sentence: str, author: Subject) -> list[Fact]:
    """From an imperative of which the next sentence says that it is a rule."""
    return _asked(sentence, author) if _WISHED.match(sentence) and not _NO_ORDER.search(sentence) else []


def _is_standing(text: str) -> bool:
    """Whether it is a wish for more than this once."""
    imperative = _IMPERATIVE.match(text) and (
        _STANDING.search(text)
        or _MANNER_OF_ANSWERS.match(text)
        or (_LANGUAGE_WITH_ME.match(text) and re.search(r"\bme\b", text))
    )
    if imperative or _ALWAYS.match(text) or _WHEN_YOU.match(text):
        return True
    if any(one.match(text) for one in (_NO_STYLE, _USE_FOR_ME, _STOP, _DO_NOT)):
        return not _ONE_TIME.search(text)
    return bool(_WISHED.match(text) and _FOR_GOOD.search(text))


def _asked(text: str, author: Subject) -> list[Fact]:
    """The wish, as said of its author."""
    text = _YOU_DO.sub(
        lambda match: f"the assistant {match['m'] or ''}{third(match['v'])}", _WITH_ME.sub("", text)
    )
    if only := re.match(
        r"(?:please )?(?:only )?(?P<o>[\w' /-]{2,40}?) only,? (?:please,? )?(?P<w>.*)$", text, _FLAGS
    ):
        text = f"use {only['o']} only {only['w']}".strip() if not _IMPERATIVE.match(text) else text
    text = re.sub(r"^I (?:want|prefer|like|need) ", "", text, flags=_FLAGS)
    order = re.sub(
        r"\byou\b", "the assistant", re.sub(r"\byour\b", "its", trimmed(text), flags=_FLAGS), flags=_FLAGS
    )
    order = re.sub(r"^please |,? please$", "", about(order, author), flags=_FLAGS)
    if unwanted := _NO_STYLE.match(text):
        order = f"don't use {unwanted['o']}"
    language = re.search(
        r"\b(?:answer|reply|respond|write|speak|talk)\b(?: \w+)? in (?-i:[A-Z])\w+$", text, _FLAGS
    )
    slot = (
        "reply-language"
        if language
        else slug(re.sub(r"^(?:please|always|never|do not|from now on),? ", "", text))
    )
    found = made(author, Category.INSTRUCTION, f"instruction.{slot}", f"asks: {order}" if order else "")
    return [found] if found else []
