"""Rules about how somebody lives: habits, what they never do (SPEC J-8). Pure.

The simple present of a verb that names a doing tells of a habit ("my wife works nights"), the perfect with
"since" or "for" of what has become one; the progressive tells what passes. So the verb need not be known,
only that it is none of thinking, saying, wanting or of the matter at hand.
"""

from __future__ import annotations

import re

from services.compactor.domain.extraction.english import words
from services.compactor.domain.extraction.english.rules import ADJ, NOW, UNTIMELY, State, state
from services.compactor.domain.extraction.english.verbs import third
from services.compactor.domain.extraction.facts import Category

_FLAGS = re.IGNORECASE
_SPAN = r"(?:years?|months?|weeks?|decades?|ages|ever|life|lives)"
_TIMES = (
    r"(?:(?:every|each) (?:single |other |second )?(?:mon|tues|wednes|thurs|fri|satur|sun)day\b"
    r"|(?:every|each|on|at|in the|twice a|once a|(?:\w+ )?(?:times|days|nights|hours|shifts) (?:a|per)) "
    r"(?:(?:single|other|second|few) )?(?:\w+ )?(?:mondays|tuesdays|wednesdays|thursdays"
    r"|fridays|saturdays|sundays"
    r"|weekdays|weekends|nights?|mornings?|evenings?|afternoons|days?|weeks?|months?"
    r"|years?|summers?|winters?|autumn"
    r"|spring|christmas|easter|ramadan|lent)\b)"
)
_IRREGULAR = (
    "drove|ran|taught|sang|rode|built|kept|sold|bred|grew|flew|wrote|made|fought|swam"
    "|spent|dealt|led|wore|began|held"
)
_NOT_OF_LIFE_WORDS = """
    quit put cut hit hurt let set shut split spread cost bet burst cast beat
    am is are was were be been being have has had do does did can will would shall should may might
    must could need needs want wants wish hope hopes think thinks guess suppose believe believes
    know knows mean means see sees hear hears feel feels find finds look looks seem seems sound
    sounds appear understand understands agree agrees disagree remember remembers forget forgets
    wonder wonders doubt doubts bet swear promise promises say says tell tells told ask asks mention
    thank thanks appreciate reckon reckons assume expect expects imagine recommend suggest suggests
    request plan plans intend try tries keep keeps get gets got let lets make makes take takes give
    gives put puts come comes leave leaves stay stays start starts begin stop stops happen happens
    depend depends matter matters notice notices realise realize admit confess apologise apologize
    insist vote trust care cares mind minds bring brings send sends show shows call calls said
    thought wanted used went like likes love loves hate hates enjoy prefer dread dreads miss misses
    not never only always also just still really and or but the a an my our to of in on at for from
    with if when where who what why how that this it its as than then there here now no yes so up
    out plus once lost fought won sold met held led stood sat ran came saw found left felt kept
    brought caught taught spoke wrote drove rode rose fell flew grew knew threw drew wore tore broke
    chose froze stole began sang sank swam drank ate gave forgot built sent spent lent bent meant
    dealt slept swept wept paid laid stuck struck dug hung hid bit lit shot understood bought store
    stores handle handles process processes parse parses log logs render renders cache caches query
    queries fetch fetches merge merges save saves all both each either neither become becomes turn
    turns change changes run runs fail fails work works break breaks return returns throw throws
    crash crashes compile compiles build builds load loads deserve deserves owe owes lack lacks own
    owns live lives study studies speak speaks teach teaches play plays same other one two whom
    which
"""
_NOT_OF_LIFE = frozenset(_NOT_OF_LIFE_WORDS.split())
_DEICTIC = re.compile(
    r"^(?!out (?:my|our|an?)\b)(?!to (?:work|school|church|mosque|uni|university|college"
    r"|bed|the office|the gym)\b)(?:it|this|that|these|those|them|him|her|you|me|us|one"
    r"|some|something|nothing|everything|anything|the|what|how"
    r"|why|where|when|whether|if|to|like|as|not|so|too|very|all|about it|into|for|up|out"
    r"|off|down|over|back|better|well)\b"
    r"|\b(?:you|your|yours|this|that|these|those|here|it|them|what|right now|today|tonight"
    r"|tomorrow|yesterday|again|error"
    r"|errors|anything|something|currently|at the moment|this (?:week|month|year|morning)|now|ones?)\b"
    r"|\b(?:on |next |this |until |by )+(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:on|by) the \d",
    _FLAGS,
)
MOST_HABIT = 14
"""Words of a habit: what is longer was not understood."""


def is_habit(text: str) -> bool:
    """Whether a verb and what follows it tell of a habit."""
    verb, _, rest = text.partition(" ")
    return (
        verb.lower() not in _NOT_OF_LIFE
        and not re.search(r"(?:ed|ing|ly)$", verb)
        and bool(rest)
        and not _DEICTIC.search(rest)
        and not words.CODE_TALK.search(rest)
        and len(text.split()) <= MOST_HABIT
    )


def _timed(text: str) -> bool:
    """The same where a time of recurrence says that it is one, so that the verb may be any of doing."""
    return not re.match(
        r"(?:am|is|are|was|were|think|want|need|hope|wish|know|feel|say|said|told|guess|did"
        r"|had|would|will|went|got"
        r"|not|to|the|a|an|and|or|my|see you|forgot|thought|\w+ed)\b",
        text,
        _FLAGS,
    ) and not re.search(r"\b(?:you|your|this|that|it|them|error|fails?|next|last)\b", text, _FLAGS)


def _lasting(text: str) -> bool:
    """Whether it names no passing activity with the assistant or a text."""
    return not words.CODE_TALK.search(text) and not re.search(
        r"\b(?:minutes?|hours?|days|you|your|this|that|it|them|trying|waiting|thinking|looking"
        r"|wondering|meaning|reading"
        r"|feeling|getting|having|telling|asking|staring|debugging|sitting)\b",
        text,
        _FLAGS,
    )


_NO_POSSESSION = re.compile(
    r"^(?:a|an|one|two|three|four|five|six|seven|eight|nine|ten|twenty|several|a few|some"
    r"|\d+) (?:[\w'-]+ ){0,3}?(?:questions?|queries|query|problems?|issues?|idea|ideas"
    r"|feeling|hunch"
    r"|headache|cold|fever|hangover|cough|sore \w+|meetings?|calls?|deadlines?|doubts?"
    r"|chance|minutes?|moment|second|hours?|days?|weeks?|while|lot|lots|bit"
    r"|look|go|try|plans?|suggestions?|requests?|favou?rs?|points?|choices?|options?"
    r"|drafts?|lists?|tabs?|tasks?|jobs?|things?|stuff|exams?|interviews?"
    r"|appointments?|flights?|dates?|tickets?|bugs?|errors?|guess|theory|concerns?|worry"
    r"|complaint|comments?|request|typos?|words?|lines?|pages?|chapters?"
    r"|examples?|cases?|samples?|copy|copies|versions?|images?|pictures?|photos?"
    r"|screenshots?|links?|emails?|messages?|texts?|notes?|reports?|slides"
    r"|presentation|party|dinner|lunch|date|crush|blast|ball|laugh|chat|word|nap|rest"
    r"|break|drink|coffee|tea|beer|good \w+|great \w+|nice \w+|bad (?:day|feeling|time)"
    r"|hard time|rough \w+|long \w+|busy \w+|mess|clue|say|point|opinion|preference|mouthful|handful|few"
    r"|habit of|tendency|need|desire|wish|hope|dream|goal|target|budget"
    r"|situation|dilemma|debate|fight|argument|row|conversation|discussion|story|joke"
    r"|riddle|puzzle|quiz|homework|assignment|essay|paper|project|number"
    r"|sense|reason|right|way|friend who|mate who|colleague who|client|customer|guest"
    r"|guests|visitor|visitors)\b",
    _FLAGS,
)
"""What one has for a while, or has to do with: no possession, trait or relative."""


def is_had(text: str) -> bool:
    """Whether it is a thing that somebody has for long."""
    return (
        not _NO_POSSESSION.match(text)
        and not words.CODE_TALK.search(text)
        and not re.search(
            r"\b(?:you|your|this|that|these|those|here|it|them|today|tonight|tomorrow|now|left"
            r"|to)\b",
            text,
            _FLAGS,
        )
        and len(text.split()) <= MOST_HABIT
    )


LIFE: tuple[State, ...] = (
    # What somebody is like
    state(r"(?P<v>identify|identifies) (?P<o>as .+)", Category.IDENTITY, "gender"),
    state(
        rf"{NOW} (?P<o>an? (?:aries|taurus|gemini|cancer|leo|virgo|libra|scorpio|sagittarius"
        r"|capricorn|aquarius|pisces|night owl|morning person|early (?:bird|riser)"
        r"|homebody|introvert|extrovert|vegan|foodie|bookworm|workaholic|minimalist"
        r"|perfectionist|gamer|insomniac|smoker|non-smoker|twin|triplet|only child"
        r"|lefty|chess player|blood donor|organ donor|light sleeper|heavy sleeper|cat person"
        r"|dog person))(?: (?:too|by nature|at heart))?",
        Category.FACT,
        "is",
        plural=True,
    ),
    state(
        rf"{NOW} (?:more of |very much |definitely )?(?P<o>an? (?!huge\b|big\b|great\b|real\b"
        r"|good\b|nice\b|bad\b|happy\b|busy\b|new\b|simple\b|lucky\b|changed\b|different\b|better\b|old\b)"
        r"[\w-]+ (?:person|guy|girl|gal))",
        Category.PREFERENCE,
        "taste",
        plural=True,
    ),
    state(rf"{NOW} (?P<o>an? .{{2,40}} (?:called|named) (?-i:[A-Z])\w+)", Category.FACT, "is", plural=True),
    state(
        r"(?P<v>have|has) (?P<o>been to (?:\d+|every|all|most|\w+ty|ten|twelve|twenty) \w+.*)",
        Category.FACT,
        "travelled",
    ),
    state(
        r"(?P<o>never (?:learned|learnt|got|had|owned|finished(?= school\b| uni| college\b| high)"
        r"|went(?= to (?:school|uni"
        r"|college|church)\b)|smoked|married) (?:how )?(?:to \w+|an?|the hang of"
        r"|round to learning|school|uni\w*|college|high school|married|in my life)\b(?!.*\b(?:this|that|it"
        r"|you|reply|answer|response)\b).*)",
        Category.FACT,
        "never",
        plural=True,
    ),
    # What has become a habit
    state(
        r"(?P<v>have|has) (?P<o>been (?:(?:on|off|in|at|with|doing|using) .+?|sober|clean"
        r"|single|vegan|vegetarian|\w+ing(?: .+?)?) (?:since|for) .+)",
        Category.FACT,
        "habit",
        plural=True,
        accepts=_lasting,
    ),
    state(
        r"(?P<v>have|has) (?P<o>(?:not |never )?(?!been\b)\w+(?:ed|en|n|t|un|it|ade|ept|old"
        r"|ught|ung|um|ot|ne) .*?"
        rf"(?:since (?!then|yesterday|last|this)\w.*|for (?:\w+ ){{1,3}}{_SPAN}|all (?:my|his"
        rf"|her|their|our) {_SPAN}))",
        Category.FACT,
        "habit",
        plural=True,
        accepts=_lasting,
    ),
    state(
        r"(?P<v>have|has) (?P<o>never (?:eaten|liked|smoked|drunk|driven|flown|learned|learnt"
        r"|owned|had|broken|learned to|been to|been on|seen (?!this\b|that\b|it\b|such\b|anything\b|the\b"
        r"|a more\b)\w+"
        r"|touched|married|tried)\b.*)",
        Category.FACT,
        "never",
        plural=True,
        accepts=_lasting,
    ),
    # What somebody does not do
    state(
        r"(?:do|does) not (?:really |actually |ever )?(?P<o>(?:eat|drink|smoke|drive|celebrate"
        r"|observe|speak|own|wear|ride"
        r"|fly|cook|watch|believe in|swim|cycle|dance|do (?!it|that|this|the|much|well|any)\w+"
        r"|have (?:a|an) (?:car|driving licen[cs]e|licen[cs]e|tv|telly|smartphone|phone"
        r"|passport|dishwasher|oven|freezer|"
        r"microwave|bank account|garden|pet|degree|facebook|instagram))\b.*)",
        Category.FACT,
        "does-not",
        plural=True,
        says=lambda m: f"doesn't {m['o']}",
        accepts=lambda o: (
            not re.search(r"\b(?:you|your|it|this|that|them|today|tonight|yet|now|enough|the)\b", o)
        ),
    ),
    state(
        r"(?:never|hardly ever|rarely|seldom) (?P<o>(?!mind|ever|again|had|did|said|been|was"
        r"|knew|thought|\w+ed\b)(?P<v>[a-z]+)"
        r" .+)",
        Category.FACT,
        "never",
        plural=True,
        says=lambda m: f"{m.group().split()[0].lower()} {third(m['v'])}{m.group()[m.end('v') :]}",
        accepts=lambda o: is_habit(o) or (_timed(o) and bool(re.search(_TIMES, o, _FLAGS))),
    ),
    # What somebody does
    state(
        r"(?P<v>(?!(?:am|is|are|was|were|have|has|had|want|need|think|hope|wish|know|feel|say"
        r"|gets? (?:\w+ed|sent|told|paid|given|shown|woken)|said|guess|did|do (?:you|not|it|that|so)|would"
        r"|will"
        r"|went|got|not|to|the|a|an|and|or|my|see|forgot|thought|never|always|used|\w+ed)\b)[a-z]+) "
        rf"(?P<o>(?:.+ )?{_TIMES}.*)",
        Category.FACT,
        "habit",
        plural=True,
        accepts=lambda o: (
            not re.search(r"\b(?:you|your|this|that|it|them|error|fails?|next|last)\b", o, _FLAGS)
        ),
    ),
    state(
        rf"(?P<v>have|has) (?P<o>(?:(?:a|an|the|my|our|his|her|their) )?{ADJ}\w+ {_TIMES}.*)",
        Category.FACT,
        "habit",
        plural=True,
        accepts=lambda o: not re.search(r"\b(?:you|your|this|that|next|last)\b", o, _FLAGS),
    ),
    state(
        r"(?P<v>have|has) (?P<o>(?:started|taken up|stopped|quit|given up) (?!working on"
        r"|reading|getting|feeling|thinking|seeing|using|having|the\b|this\b|that\b|it\b)"
        r"\w+(?:ing)?\b(?! (?:it|this|that|the|my|our|his|her)\b).*)",
        Category.FACT,
        "habit",
        plural=True,
        accepts=_lasting,
    ),
    state(
        r"(?P<v>take|takes) (?P<o>the (?:bus|train|tram|metro|tube|ferry|subway"
        r"|stairs)(?: .+)?)",
        Category.FACT,
        "habit",
        plural=True,
        accepts=lambda o: not UNTIMELY.search(o),
    ),
    # What somebody once did
    state(
        r"(?P<o>(?:once )?(?:fought|served|worked|taught|studied|lived|trained"
        r"|played) (?:(?:in|at|for|with) (?:the )?(?-i:[A-Z])\w+.*|in the (?:army|navy"
        r"|air force"
        r"|war|merchant navy)\b.*|as an? .+))",
        Category.FACT,
        "former",
        plural=True,
        accepts=_lasting,
    ),
    state(
        r"(?P<v>have|has) (?P<o>(?:a|an|one|two|three|four|five|six|seven|eight|nine|ten"
        r"|several|\d{1,3}) .+)",
        Category.FACT,
        "has",
        plural=True,
        accepts=is_had,
    ),
    # What somebody did for long
    state(r"(?P<o>did (?:\d+|\w+) years (?:in|as|at|with|on) .+)", Category.FACT, "former", plural=True),
    state(
        rf"(?P<o>(?!was\b|were\b|had\b|did\b)(?:\w+ed|{_IRREGULAR}) .*?for (?:over |almost "
        rf"|nearly |about |more than )?(?:\w+ ){{1,2}}"
        r"(?:years|decades)\b.*)",
        Category.FACT,
        "former",
        plural=True,
        accepts=_lasting,
    ),
    state(r"(?P<o>(?P<v>[a-z]+)(?: .+))", Category.FACT, "does", plural=True, accepts=is_habit),
)
