"""Rules about what somebody likes and dislikes, and what they choose to eat and drink (SPEC J-8). Pure.

Any verb of liking takes any thing. Closed lists name what it may not take: pronouns, what was just said or
shown, and the parts of an answer ("I like the second one", "I love the tone").
"""

from __future__ import annotations

import re

from services.compactor.domain.extraction.english import words
from services.compactor.domain.extraction.english.rules import NOW, State, state
from services.compactor.domain.extraction.english.verbs import forms, third
from services.compactor.domain.extraction.facts import Category

_FLAGS = re.IGNORECASE
MOST = 20
"""Words of what somebody likes: what is longer was not understood."""
_TASTE = forms("love like enjoy adore hate dislike detest loathe despise abhor relish crave appreciate")
_AT_HAND = (
    r"idea|ideas|tone|look|style|structure|sound of|end|ending|beginning|start|first|second|third|last"
    r"|rest|part"
    r"|way|wording|length|answer|answers|reply|version|draft|suggestion|suggestions|plan|title|titles"
    r"|name|names"
    r"|paragraph|sentence|line|lines|layout|design|logo|option|options|result|results|summary|poem|joke"
    r"|list"
    r"|new|other|one|ones|intro|opening|closing|changes|edit|rewrite|phrase|word|analogy|example"
    r"|explanation"
    r"|question|questions|recipe you|spreadsheet|table|picture|photo|image|attitude|confidence"
    r"|enthusiasm|effort"
    r"|thought|sentiment|vibe|irony|fact"
)
"""Parts of an answer, or of what is talked of."""
_NOT_LIKED = re.compile(
    r"^(?:it|this|that|these|those|him|them|one|ones|so|how|what|where|why|to be (?:honest|fair|clear|sure)"
    r"|to (?:hear|see|know|think|say|ask|admit|break|bother|be (?:that|a|the|this)|interrupt|complain"
    r"|nag|sound)|option \w+|version \w+|everything(?! but\b| except\b)|nothing(?! better)|something"
    r"|anything$|anything (?:you|else|that|from)\b|all|each|every|not|no|such|and|as|me|I|we|your|us"
    r"|(?:his|her|their)(?! [\w' ]+ (?:rare|black|white|hot|cold|spicy|strong|weak|sweet|plain|raw"
    r"|well done|with|without|done|cut)\b)"
    r"|being here|my (?:new )?(?:order|question|point)|working with (?:you|this|that)|talking to|when you"
    rf"|(?:the|an?|some|any|its|his) (?:[\w-]+ )?(?:{_AT_HAND}|bit|lot|moment)|much|more|better|least"
    rf"|most|best)\b"
    r"|^the$|\b(?:like this|them|here|there|you|your)\b|(?<!with )(?<!in )(?<!on )(?<!of )(?<!from )\bit$"
    r"|\b(?:today|tonight|yesterday|so far|right now|already|though)\b",
    _FLAGS,
)
_ASIDE = re.compile(
    r"(?:,? (?:never have(?: been)?|always have(?: been)?|always did|never did|never will|always will"
    r"|whatever .+"
    r"|no matter .+|what can I say|sorry not sorry|fight me|obviously|hands down|by far|by miles"
    r"|more than anything"
    r"|to bits|with a passion|full stop|period|end of(?: story)?|always|ever|either|at all|I am told"
    r"|to be fair))+$",
    _FLAGS,
)
"""What adds force and nothing else."""


def liked(text: str) -> bool:
    """Whether it is a thing that one likes for long."""
    return not _NOT_LIKED.search(text) and not words.CODE_TALK.fullmatch(text) and len(text.split()) <= MOST


def _plain(text: str) -> str:
    return re.sub(r" (?:in|on) it$", "", _ASIDE.sub("", text).strip(" ,"), flags=_FLAGS)


def _as_said(match: re.Match[str]) -> str:
    return f"{third(match['v'])} {_plain(match['o'])}"


def _rule(pattern: str, verb: str = "", slot: str = "taste") -> State:
    """A rule of likes; with a `verb` it says this one, filled in from the match, in place of the author's."""
    return state(
        pattern,
        Category.PREFERENCE,
        slot,
        plural=True,
        says=(lambda m: f"{verb.format(**m.groupdict())} {_plain(m['o'])}") if verb else _as_said,
        accepts=liked,
    )


TASTES: tuple[State, ...] = (
    _rule(rf"(?P<v>{_TASTE}) (?P<o>when .+)"),
    _rule(rf"(?P<v>{_TASTE}) it (?P<o>when .+)"),
    _rule(
        rf"(?P<v>{_TASTE}) nothing (?:more|better|so much)(?P<w> .+?)?? (?:than|as) (?P<o>.+)", "likes best"
    ),
    _rule(rf"(?P<v>{_TASTE}) (?P<o>.+)"),
    state(
        rf"(?P<v>{forms('prefer favour favor')}) (?P<o>.+)",
        Category.PREFERENCE,
        "prefers",
        plural=True,
        says=_as_said,
        accepts=lambda o: liked(o) and not re.match(r"(?:option|the (?:first|second|last|new|other))\b", o),
    ),
    *(
        _rule(
            rf"can not (?P<v>{verb}) (?P<o>(?!(?:up|still|straight|back|next|around|out|on|in|at|by"
            rf"|down)\b).+)",
            f"can't {verb}",
        )
        for verb in ("stand", "bear", "abide", "stomach", "tolerate")
    ),
    _rule(
        r"(?P<v>refuse|refuses) (?P<o>to (?!believe|accept|let|give up|answer|be\b|say|comment"
        r"|admit).+)"
    ),
    _rule(
        r"(?:do|does) not (?:really |particularly |actually |even |much |ever )?(?P<v>like|enjoy"
        r"|care for|love"
        r"|rate) (?P<o>(?!how\b|yet\b|much\b|enough\b).+)",
        "doesn't like",
    ),
    state(
        r"(?P<a>do|does) not (?:really |particularly |actually |even |ever )?(?P<v>eat|drink"
        r"|smoke)(?: (?P<o>.+))?",
        Category.PREFERENCE,
        "taste",
        plural=True,
        says=lambda m: f"doesn't {m['v'].lower()}{' ' + _plain(m['o']) if m['o'] else ''}",
        accepts=lambda o: not o or (liked(o) and not re.search(r"\b(?:how|yet|much|today|enough|that)\b", o)),
    ),
    _rule(
        rf"{NOW} not (?:really |exactly |at all |such )?(?P<w>(?:much of )?(?:an? (?:big |huge "
        rf"|great )?fan of"
        r"|keen on|into|fond of|big on|crazy about|mad about|one for)|much of an?) (?P<o>.+)",
        "isn't {w}",
    ),
    _rule(
        r"(?:have|has) never (?:really )?been (?P<w>(?:much of )?(?:an? (?:big |huge |great )?fan of"
        r"|keen on|into|fond of|big on"
        r"|one for)|much of an?) (?P<o>.+)",
        "has never been {w}",
    ),
    _rule(r"(?:have|has) (?P<w>gone (?:right )?off|got(?:ten)? (?:really )?into) (?P<o>.+)", "has {w}"),
    _rule(
        r"can happily (?P<w>eat|drink|live on|live off|listen to|watch|read|wear) (?P<o>.+)",
        "could happily {w}",
    ),
    _rule(
        r"will not (?:ever )?(?P<w>eat|drink|touch|wear|go near|set foot in|set foot on"
        r"|fly with) (?P<o>.+)",
        "won't {w}",
    ),
    _rule(r"(?:try|tries) to avoid (?P<o>.+)", "tries to avoid"),
    _rule(r"(?P<v>stay|steer|keep|stays|steers|keeps) (?P<o>(?:well )?(?:away from|clear of) .+)"),
    _rule(r"(?:tend|tends) to (?P<w>prefer|avoid|like|favour|dislike) (?P<o>.+)", "tends to {w}"),
    _rule(
        r"(?P<v>find|finds) (?P<o>.+ (?:depressing|relaxing|boring|dull|soothing|calming|exhausting"
        r"|tedious|irritating|annoying"
        r"|stressful|creepy|fascinating|therapeutic|comforting|off-putting|disgusting|revolting"
        r"|unbearable|overrated|delightful"
        r"|distracting|too (?:loud|sweet|spicy|hot|cold|rich|salty)))"
    ),
    _rule(
        r"can not (?:be doing with|get on with|get along with|deal with|get into|get behind)"
        r" (?P<o>(?!(?:my|the|our|today)\b)(?!.*\btoday\b).+)",
        "dislikes",
    ),
    _rule(
        r"can not do (?P<o>(?!it\b|this\b|that\b|anything\b|math\b|so\b|more\b|the\b|my\b|our\b|an?\b"
        r"|\w+day\b|next\b|both\b).+)",
        "can't do",
    ),
    _rule(
        r"can not (?P<w>get enough of|live without|function without|start the day without) (?P<o>.+)",
        "can't {w}",
    ),
    _rule(
        r"(?:live|lives) for (?P<o>(?!(?:now|free|ever|years|\d+|a (?:while|year|month|week"
        r"|bit))\b).+)",
        "lives for",
    ),
    _rule(r"(?:swear|swears) by (?P<o>(?!\w+day\b|tomorrow\b|the end\b|all that\b|god\b).+)", "swears by"),
    _rule(
        r"(?:am|is|are) (?P<w>a (?:total |complete |real |big |huge )?sucker for|all about) (?P<o>.+)",
        "is {w}",
    ),
    _rule(
        r"(?:have|has) (?P<w>(?:a|no) (?:\w+ )?(?:soft spot|weakness|thing|sweet tooth|time"
        r"|patience) for) (?P<o>.+)",
        "has {w}",
    ),
    _rule(
        rf"{NOW} (?:absolutely |totally |completely |very |really |pretty |quite "
        rf"|all )*(?P<w>an? (?:big |huge |great |massive "
        r"|avid |lifelong |die-?hard )?fan of|fond of|into(?! (?:week|day|month|year|overtime)\b)"
        r"|keen on|crazy about"
        r"|mad about(?! (?:the|my|this)\b)|nuts about|big on"
        r"|mad on|passionate about|obsessed with|partial to|an? lover of|addicted to|hooked on) (?P<o>.+)",
        "is {w}",
    ),
    _rule(
        rf"{NOW} (?P<w>a (?:huge|big|massive|lifelong|avid|proper|total|real)) "
        r"(?P<o>[\w' -]{2,30} (?:fan|enthusiast|lover|nut|geek|nerd|person))",
        "is {w}",
    ),
    state(
        r"(?P<v>am|is|are) (?P<o>(?:more of )?a (?!huge|big|great|real|massive|good|nice|bad|people"
        r"|happy|busy"
        r"|simple|lucky|changed|different|better|old|private|quiet"
        r"|new)\w+ (?:person|guy|gal|girl|lover|fan|addict|enthusiast|fanatic|nut|buff)(?: than an? .+)?)",
        Category.PREFERENCE,
        "taste",
        plural=True,
    ),
    state(
        rf"{NOW} (?:now )?(?P<o>(?:strictly |mostly |a strict |a lifelong )?(?:{words.DIETS})(?: (?:since"
        r"|for|by|at|but|except|on|only)\b.*)?)",
        Category.PREFERENCE,
        "diet",
        says=lambda m: f"is {m['o']}",
    ),
    state(
        rf"(?P<v>have|has) been (?P<o>(?:a |mostly |strictly )?(?:{words.DIETS})\b.*)",
        Category.PREFERENCE,
        "diet",
    ),
    state(
        r"(?:have |has )?(?P<o>(?:went|gone|turned) (?:vegan|vegetarian)\b.*)",
        Category.PREFERENCE,
        "diet",
        says=lambda m: re.sub("^gone", "has gone", m["o"], flags=_FLAGS),
    ),
    state(
        r"(?:do|does|did) not think (?:I|we|he|she|they) (?:will|would|could"
        r"|can) ever (?P<v>like|love|enjoy|eat) (?P<o>.+)",
        Category.PREFERENCE,
        "taste",
        plural=True,
        says=lambda m: f"doesn't {m['v'].lower()} {m['o']}",
        accepts=liked,
    ),
    state(
        r"(?P<v>(?:have|has) (?:never (?:really )?|always (?:really )?)(?:liked|loved|enjoyed|cared for"
        r"|hated"
        r"|loathed|adored|preferred|disliked)) (?P<o>.+)",
        Category.PREFERENCE,
        "taste",
        plural=True,
        says=lambda m: re.sub(r"^have\b", "has", m.group(), flags=_FLAGS),
        accepts=liked,
    ),
    state(
        r"(?P<v>take|takes|have|has|drink|drinks) (?P<o>(?:my (?:coffee|tea) .+|(?:a "
        r"|an )?(?:\w+ ){0,2}?(?:flat white|cortado|latte|cappuccino|espresso|americano"
        r"|macchiato|filter coffee"
        r"|black coffee|earl grey|chai|matcha|decaf|herbal tea|green tea|black tea)(?: (?:with"
        r"|without|before|after|every|in) .+)?))",
        Category.PREFERENCE,
        "drinks",
    ),
    state(
        rf"{NOW} (?P<o>off (?:all |any )?(?:milk|coffee|sugar|alcohol|booze|meat|dairy|gluten|bread"
        rf"|caffeine"
        r"|carbs|cigarettes|wheat|chocolate|fish|cheese|drink|eggs)(?:,.+| (?:since|for|of|until|and|or"
        r"|by|after|on|again)\b.*)?)",
        Category.PREFERENCE,
        "diet",
        plural=True,
    ),
    _rule(
        r"(?:do|does) not (?P<w>do|take|touch|drink) (?P<o>(?:phone calls|video calls|small talk|surprises"
        r"|(?:milk|sugar"
        r"|salt|cream) in .+|mornings|heights|crowds|spicy .+|beaches|(?!it\b|that\b|this\b|the\b|my\b"
        r"|an?\b|any\b|so\b"
        r"|much\b|well\b|enough\b)[a-z]+s))",
        "doesn't {w}",
    ),
    state(
        r"(?P<v>keep|keeps) (?P<o>kosher|halal|vegan|shabbat|the sabbath|ramadan|lent)",
        Category.PREFERENCE,
        "diet",
    ),
)
