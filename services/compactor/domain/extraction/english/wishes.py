"""Standing wishes about how the assistant behaves, in English (SPEC J-8). Pure."""

from __future__ import annotations

import re

from services.compactor.domain.extraction.english.states import made
from services.compactor.domain.extraction.english.verbs import about, third, trimmed
from services.compactor.domain.extraction.facts import Category, Fact, Subject
from services.compactor.domain.extraction.subjects import slug

_FLAGS = re.IGNORECASE
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
STANDING_VERB = re.compile(
    rf"(?:do not |please )?(?:{_ORDERS}|be|do|have|get|take|go|let|set|pick|choose|book|plan|try|read"
    rf"|round)\b",
    _FLAGS,
)
"""Verbs that begin a wish about answers."""
_ORDER = re.compile(
    rf"^(?:(?:please|just|and|so|also|ok|from now on|from here on|going forward)[, ]+)*(?:do not "
    rf"|never |always |only )?"
    rf"(?:{_ORDERS}|switch|stop|drop|cut|[\w /-]{{2,30}}? only|measure|count|price|number|date|set|be"
    rf"|do|pick|choose|book"
    rf"|plan|read|let|take|go)\b",
    _FLAGS,
)
_PASTS = (
    "ate|became|began|been|bought|broke|broken|brought|built|came|caught|chose|chosen|drank|drawn|drew"
    "|driven|drove"
    "|drunk|eaten|fallen|fell|flew|flown|forgot|forgotten|fought|gave|given|got|gotten|grew|grown|heard"
    "|held|kept|led"
    "|left|lent|lost|made|meant|met|owned|paid|ran|ridden|rode|said|sang|sat|saw|seen|sent|slept|sold"
    "|spent|spoke"
    "|spoken|stole|stood|swam|swum|taken|taught|took|told|tore|understood|went|woke|won|wore|worn"
    "|written|wrote"
)
_FOR_ME = re.compile(
    r"(?: (?:that )?you (?:write|send|give|make|do|draft|prepare|produce|put together)(?: (?:for"
    r"|to))? me)?(?:,? ever)?$",
    _FLAGS,
)
"""What goes without saying of the assistant's own texts."""
_ALWAYS = re.compile(
    r"^(?:(?:please|and|so|also)[, ]+)*(?:always|never|do not ever|from now on,?"
    r"|going forward,?|in (?:the )?future,?) "
    r"(?:please |just |only )?(?P<v>(?!a\b|an\b|the\b|my\b|been\b|mind\b|again\b|heard\b"
    r"|had\b|was\b|did\b|too\b|say\b"
    r"|in\b|on\b|at\b|and\b|liked\b|I\b|we\b|he\b|she\b|they\b|it\b|there\b|no\b|have\b"
    r"|has\b|knew\b|thought\b|forget\b"
    r"|happy\b|good\b|seen\b|known\b|done\b|gone\b|met\b|felt\b|found\b|nice\b|fun\b|so\b"
    r"|up\b|trust\b|give up\b|works?\b|happens\b|once\b|onwards?\b|just\b|only\b|plain\b|your?\b|these\b"
    r"|those\b|this\b|that\b|his\b|her\b|its\b|their\b|our\b|\w+(?:ed|ing|s)\b|"
    rf"(?:{_PASTS})\b)(?:(?:{_ORDERS}|be|do|set|pick|choose|book|plan|try|count|measure|remember|trust"
    rf"|stop|play|read|let|take)"
    r"|[a-z]+(?= (?:me|my|the|a|an|your|our|in|with|as|to|us|all|any|every|both|for|on|from|at|by|up"
    r"|out|before|after|when)\b)))"
    r"\b(?P<o> .+)$",
    _FLAGS,
)
"""An imperative with "always" or "never" before it."""
_FOR_GOOD = re.compile(
    r"\b(?:from now on|from here (?:on(?: out| in)?|out|in)|from this point(?: on)?|starting now"
    r"|as of (?:now"
    r"|today)"
    r"|until I say otherwise|(?:now|here) or (?:in any )?(?:later|ever)|in any (?:later|other|future) \w+"
    r"|each time|every single time|any ?time|for the rest of|from today(?: on)?"
    r"|moving forward|henceforth"
    r"|from (?:today|now) onwards?|for good(?! measure| luck| reason)|permanently"
    r"|as a (?:general )?rule|going forward|in (?:the )?future|every time"
    r"|at all times|by default|for all (?:my|your|future)"
    r"|in (?:every|all|any|your) (?:\w+ )?(?:answer|reply|message|response|email|mail"
    r"|summary|text|recipe)\w*)\b",
    _FLAGS,
)
_WISHED = re.compile(
    r"^(?:(?:please|just|and|so|also|ok)[, ]+)*(?P<v>(?:(?!just\b|only\b|once\b|from\b|for\b|in\b|on\b"
    r"|at\b|to\b"
    r"|with\b|plain\b|no\b|a\b|an\b|and\b|but\b|or\b|so\b|because\b|when\b|if\b|yes\b|\w+(?:ed|ing"
    r"|ly)\b|you\b|no\b|I\b|we\b|he\b|she\b|they\b|it\b"
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
STYLE = re.compile(rf"\b(?:{_STYLE})\b", _FLAGS)
"""Manners of an answer."""
_NO_STYLE = re.compile(
    r"^(?:please )?(?:no|skip|drop|enough with|enough of|cut|avoid|leave out|spare me"
    r"|stop(?: it)? with|lose|ditch|lay off) (?:the |all |your |any |more |out )*"
    rf"(?P<o>(?:{_STYLE})\b.*)$",
    _FLAGS,
)
_STYLE_ALWAYS = re.compile(
    rf"^(?P<o>(?:no |only |just )?(?:[\w-]+ )?(?:{_STYLE}|spelling|metric(?: units)?|celsius|digits"
    rf"|figures|plain text)\b[^,]*),? (?:always|every time|at all times|from now on|for me)$",
    _FLAGS,
)
_FOR_EVERY = re.compile(
    r"^(?:for|in|with) (?:every|all|any|each|your) (?:my )?(?P<w>[\w' -]{3,40}?)(?::"
    r"|,) (?P<o>(?:please )?(?!I\b|we\b|you\b|he\b"
    r"|she\b|they\b|it\b|there\b|my\b|our\b|the\b|who\b|which\b|that\b)[\w-]+\b.*)$",
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
_YOU_TO = re.compile(
    r"^(?!.*\bhow\b)(?:[\w', ]{0,60}?\b)?(?:(?:like|want|need|prefer|expect|ask|asking|love"
    r"|tell) (?:it )?(?:for )?you (?P<d>not )?to"
    r"|if you(?: could| would)?|for you to|you (?:should|must|need to|have to|can|may)"
    r"|you (?P<n>do not (?:have|need) to|should not|must not)) (?P<a>(?:always |never |please |just "
    r"|only )*)(?P<v>[a-z]+)(?P<o> .+)$",
    _FLAGS,
)
"""A wish put as a statement: "I'd like you to use metric units from now on"."""
_BASE_OF = {
    "kept": "keep",
    "gave": "give",
    "wrote": "write",
    "put": "put",
    "left": "leave",
    "spoke": "speak",
    "told": "tell",
    "used": "use",
    "made": "make",
    "stopped": "stop",
    "called": "call",
    "included": "include",
    "quoted": "quote",
    "cited": "cite",
}
_ONE_TIME_WISH = re.compile(
    r"\b(?:this|that|these|those|it (?:works|fails|helps|is)|today|tonight|tomorrow|here|you (?:can"
    r"|could|know|have time|want|like"
    r"|need|get a chance|are (?:done|ready|free)))\b|\?",
    _FLAGS,
)
_WHEN_YOU = re.compile(
    rf"^(?:please )?when(?:ever)? you [\w' ]{{2,40}}?,? (?:please |always "
    rf"|just )*(?:do not |never )?(?:{_ORDERS})\b .+$"
    r"|^(?:please )?keep (?:things|everything|all of it) (?:under|below|within|to|short"
    r"|brief|simple|light|formal|informal|concise)\b.*$",
    _FLAGS,
)
_CONDITION = re.compile(
    r"^(?:(?:and|also|so|ok|please)[, ]+)*(?:if|when|whenever|any ?time|each time"
    r"|every time) (?:I (?!had\b|were\b|was\b"
    r"|could\b)|you (?:write|answer|reply|respond|talk|speak|send|give|make|suggest|explain|draft|use"
    r"|translate|quote|summari[sz]e"
    r"|show|are not sure|do not know|need)\b)(?:(?!would\b)[\w'/-]+ ?){1,12}?,? (?:then )?"
    rf"(?:please |always |just |only )*(?:(?:do not|never) [a-z]+|{_ORDERS}|be|remember|remind|correct"
    rf"|point out|fix|count|set"
    r"|pick|choose|turn|switch|break|stop|drop|cut|stay)\b .+$",
    _FLAGS,
)
_UNLESS = re.compile(
    r"^(?:(?:and|also|so|ok|please)[, ]+)*(?:please )?(?:(?:do not|never|always|only|no|avoid"
    r"|skip) [\w'-]+|"
    rf"{_ORDERS})\b.* (?:unless|except when|only (?:if|when)|until|even if|even when) (?:I|you|we)\b.+$",
    _FLAGS,
)
"""A wish that holds whenever its condition does is a standing one."""
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
    r"|^(?:please )?(?:talk|speak|write|explain things) to me like .+$"
    r"|^(?:please )?(?:write|give|show|put|state|format) (?:all )?(?:my )?(?:dates|times|numbers|prices"
    r"|amounts|temperatures|names|units"
    r"|measurements|distances|weights|sums|code|figures) (?:as|in|with|like|out|first) .+$"
    r"|^you can (?P<may>(?:swear|be (?:blunt|honest|direct|informal|rude)|skip .+|drop .+|cut .+|use .+"
    r"|leave out .+) (?:with me|for me|in .+))$",
    _FLAGS,
)
_YOU_DO = re.compile(
    r"\byou (?P<m>always |never )?(?P<v>write|cite|include|add|mention|check|ask|put|keep"
    r"|send|quote|give|show|answer|reply|talk|explain|suggest|translate|use|make)\b",
    _FLAGS,
)
_NO_ORDER = re.compile(
    r"\b(?:give up|say never|keep (?:going|it up|on|pushing)|stop (?:believing|trying)|never mind"
    r"|scratch that|forget it)\b"
    r"|^(?:be (?:careful|safe|nice)|tell me (?:a|about)|give me a|say hi"
    r"|make sure you sleep)",
    _FLAGS,
)


def standing_wish(whole: str, author: Subject) -> list[Fact]:
    """From an imperative that holds for good, or that tells how to address its author."""
    text = trimmed(whole)
    if match := _STYLE_ALWAYS.match(text):
        found = made(author, Category.INSTRUCTION, f"instruction.{slug(match['o'])}", f"asks: {match['o']}")
        return [found] if found else []
    if match := _CALL.match(text):
        found = made(
            author, Category.INSTRUCTION, "form-of-address", f"wants to be called {match['o'].strip()}"
        )
        return [found] if found else []
    for_good = bool(_WISHED.match(text) and _FOR_GOOD.search(whole) and _ORDER.search(text))
    if not (for_good or _is_standing(text)) or _NO_ORDER.search(text):
        return []
    return _asked(text, author)


def read_wish(sentence: str, author: Subject) -> list[Fact]:
    """A standing wish of a whole sentence: "when you write to my boss, use the formal form"."""
    text = trimmed(sentence)
    if any(one.match(text) for one in (_WHEN_YOU, _CONDITION, _UNLESS)) and not _NO_ORDER.search(text):
        return [] if _ONE_TIME_WISH.search(text) else _asked(text, author)
    if (asked := _YOU_TO.match(text)) and (_STANDING.search(sentence) or _FOR_GOOD.search(sentence)):
        verb = _BASE_OF.get(asked["v"].lower()) or re.sub(r"(?<=[^aeiou])(?:ped|ed)$", "", asked["v"].lower())
        denied = "do not " if asked["n"] or asked["d"] else ""
        wish = f"{asked['a'] or ''}{denied}{verb}{asked['o']}"
        return _asked(wish, author) if _ORDER.match(wish) and not _NO_ORDER.search(wish) else []
    match = _FOR_EVERY.match(text)
    order = match and (
        _IMPERATIVE.match(match["o"]) or re.search(r"\b(?:never|always|only|no|not)\b", match["o"], _FLAGS)
    )
    return _asked(text, author) if order else []


def read_ruled(sentence: str, author: Subject) -> list[Fact]:
    """From an imperative of which the next sentence says that it is a rule."""
    if _NO_ORDER.search(sentence):
        return []
    return _asked(sentence, author) if _WISHED.match(sentence) else read_wish(sentence, author)


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
        return bool(_FOR_GOOD.search(text)) or not _ONE_TIME.search(text)
    return False


def _asked(text: str, author: Subject) -> list[Fact]:
    """The wish, as said of its author."""
    text = _YOU_DO.sub(
        lambda match: f"the assistant {match['m'] or ''}{third(match['v'])}",
        _FOR_ME.sub("", _WITH_ME.sub("", text)),
    )
    if only := re.match(
        r"(?:please )?(?:only )?(?P<o>[\w' /-]{2,40}?) only,? (?:please,? )?(?P<w>.*)$", text, _FLAGS
    ):
        text = f"use {only['o']} only {only['w']}".strip() if not _IMPERATIVE.match(text) else text
    text = re.sub(r"^I (?:want|prefer|like|need) ", "", text, flags=_FLAGS)
    text = re.sub(
        r"\b(I|we) (?!am\b|are\b|have\b|do\b|will\b|can\b|was\b|were\b|had\b|did\b|would\b|could\b"
        r"|should\b|must\b|may\b|might\b"
        r"|never\b|always\b|only\b|\w+ed\b)([a-z]+)\b",
        lambda match: f"{match[1]} {third(match[2])}",
        text,
    )
    text = re.sub(r"^((?:please )?)switch (?:me )?(?:over )?to ", r"\1use ", text, flags=_FLAGS)
    text = re.sub(r"^((?:please )?)remember to ", r"\1", text, flags=_FLAGS)
    text = re.sub(r"^((?:please )?keep) it\b", r"\1 the answer", text, flags=_FLAGS)
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
