"""Rules about where somebody lives, who they are, and with whom (SPEC J-8). Pure."""

from __future__ import annotations

import re

from services.compactor.domain.extraction.english import words
from services.compactor.domain.extraction.english.rules import (
    ADJ,
    NOW,
    UNTIMELY,
    N,
    State,
    has_capital,
    is_place,
    is_trade,
    settled,
    state,
    without_date,
)
from services.compactor.domain.extraction.english.verbs import forms, third
from services.compactor.domain.extraction.facts import Category

_FLAGS = re.IGNORECASE
_LANGUAGE = (
    r"(?:fluent|some|a (?:little|bit of)|basic|native|good|decent|both|only|a bit"
    r"|very good)? ?(?-i:[A-Z])\w+(?:(?:,| and|, and) (?:\w+ ){0,2}?(?-i:[A-Z])\w+)*(?: (?:at home"
    r"|fluently|and .*|with .*|natively))?"
)
NATIONS = (
    r"(?:half |originally |part |half-)?(?:(?-i:[A-Z]\w+(?:ish|ese))|british|irish|scottish|english|welsh"
    r"|spanish|swedish|finnish|danish|polish|turkish|kurdish|chinese|japanese|portuguese|vietnamese"
    r"|lebanese|maltese|german|French|American|Canadian|Mexican|Italian|Brazilian|Indian|Russian|Ukrainian"
    r"|Norwegian|Dutch|Greek|Czech|Swiss|Thai|Korean|Egyptian|Moroccan|Kenyan|Nigerian|Australian|Austrian"
    r"|Belgian|Hungarian|Romanian|Bulgarian|Croatian|Serbian|Estonian|Latvian|Lithuanian|Israeli|Iraqi"
    r"|Iranian|Pakistani|Slovak|Slovenian|Argentinian|Chilean|Peruvian|Colombian|Ghanaian|Ethiopian"
    r"|Icelandic|Albanian|Armenian|Georgian|Syrian|Jordanian|Palestinian|Tunisian|Algerian|Cuban|Filipino"
    r"|Malaysian|Indonesian)(?: citizen)?(?:[ -](?:and (?:half )?)?\w+)?"
)
_BUSINESS = (
    r"(?:shop|company|business|bakery|restaurant|café|cafe|farm|studio|school|agency|start-?up|firm|team"
    r"|hotel|hostel|practice|clinic|workshop|gallery|store|club|nursery|lab|bookshop|bookstore|b&b|garage"
    r"|brewery|vineyard|bar|pub|\w*mill|\w*shop|\w*yard|forge|market|kennels|fishery|orchard|camp|theatre"
    r"|theater|gym|cinema|franchise|food truck|channel|website|group|meetup|centre|center|branch"
    r"|department|ward|line|boatyard|fleet|plant|factory|warehouse|foundation|ngo|festival|course|kiosk"
    r"|society|association|union|scheme|orchestra|band|crew|salon|kennel|charity|laboratory|guesthouse"
    r"|stall|press|library|stables?|dairy|magazine|blog|podcast|newsletter)"
)
NUMBER_WORDS = (
    r"(?:(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[ -](?:one|two|three|four|five|six"
    r"|seven|eight|nine))?|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen"
    r"|fifteen|sixteen|seventeen|eighteen|nineteen)"
)
_NO_ORIGIN = re.compile(
    r"\b(?:team|department|office|company|school|support|accounts|accounting|marketing|sales|hr|future"
    r"|generation|era|family|desk|floor|group|agency|council|bank|hospital|university|college)\b",
    _FLAGS,
)


def _grown(place: str) -> bool:
    """Whether one can have grown up there."""
    return has_capital(re.sub(r"^(?:(?:a|an|the|small|tiny|little|big|old) )+", "", place)) or bool(
        re.search(
            r"\b(?:farm|barge|houseboat|village|town|city|countryside|island|coast|orphanage|home|house"
            r"|flat|suburbs?|valley|mountains|boat|estate|near|outside|in (?-i:[A-Z]))\b",
            place,
        )
    )


WHO: tuple[State, ...] = (
    # Where
    state(
        rf"(?P<v>{forms('live reside')}) (?:all the way |just |now |still |currently |(?:back |over |out |up "
        r"|down )(?=in |at |near |on )|right (?=in |at |on |by ))*(?P<p>right above|right below"
        r"|right behind|in|at|near|on|outside|by|between|above|over|behind|opposite|beside|next to|close to"
        r"|across from|off) (?P<o>.+)",
        Category.LOCATION,
        "home",
        says=lambda m: f"{third(m['v'])} {m['p']} {m['o']}",
        accepts=settled,
    ),
    state(rf"(?P<v>{forms('live')}) with (?P<o>.+)", Category.LOCATION, "lives-with", accepts=settled),
    state(
        rf"(?P<v>{forms('live')}) (?P<o>(?:alone|abroad|next door)(?: with .+)?)",
        Category.LOCATION,
        "lives-with",
    ),
    state(
        rf"{NOW} (?:now )?(?:based|living|located|settled) (?:in|at|near|with|outside) (?P<o>.+)",
        Category.LOCATION,
        "home",
        accepts=settled,
    ),
    state(
        rf"{NOW} in (?P<o>.+?) (?:these days|nowadays|for good|permanently)",
        Category.LOCATION,
        "home",
        says=lambda m: f"lives in {m['o']}",
        accepts=is_place,
    ),
    state(
        r"(?P<v>have|has) (?:lived|been living) (?:in|at|near|on) (?P<o>.+? (?:for|since|all)\b.+)",
        Category.LOCATION,
        "home",
    ),
    state(
        r"(?:have |has )?(?:just |recently |finally |now )?(?:moved|relocated) (?:back |over |out "
        r"|here )?(?:from .+? )?to (?P<o>.+)",
        Category.LOCATION,
        "home",
        says=lambda m: f"lives in {without_date(m['o'])}",
        accepts=is_place,
    ),
    state(
        r"(?P<v>grew up|was raised|was born and (?:raised|bred)|were raised|was brought up) (?:in|near"
        r"|on) (?P<o>.+)",
        Category.LOCATION,
        "childhood",
        accepts=_grown,
    ),
    # Who
    state(
        r"(?P<v>was|were) born (?P<o>(?:in|at|near) (?!18|19|20)(?-i:[A-Z]).+)",
        Category.IDENTITY,
        "birth-place",
    ),
    state(
        r"(?P<v>am|is|are|come|comes) (?P<w>originally )?from (?P<o>.+)",
        Category.IDENTITY,
        "origin",
        says=lambda m: f"is {m['w']}from {m['o']}" if m["w"] else f"comes from {m['o']}",
        accepts=lambda o: is_place(o) and not _NO_ORIGIN.search(o),
    ),
    state(
        rf"{NOW} (?P<o>(?:renting|subletting|lodging|house-sitting) .+)",
        Category.LOCATION,
        "home",
        accepts=lambda o: not UNTIMELY.search(o),
    ),
    state(
        rf"{NOW} (?P<o>at (?:uni|university|college|boarding school|nursery|drama school|art school)\b.*)",
        Category.IDENTITY,
        "education",
        accepts=lambda o: not UNTIMELY.search(o),
    ),
    state(
        rf"{NOW} (?P<o>in (?:sales|marketing|finance|it|hr|insurance|construction|education"
        r"|publishing|real estate|banking|tech|advertising|logistics|retail|healthcare|catering"
        r"|hospitality|recruitment|politics)\b.*)",
        Category.IDENTITY,
        "occupation",
    ),
    state(
        r"was (?P<o>(?:adopted|home-?schooled|(?:raised|brought up|named) (?:by|after) .+))",
        Category.FACT,
        "childhood-fact",
    ),
    state(
        rf"{NOW} (?P<o>{NATIONS}(?: on (?:my|his|her|their) (?:mother|father|mum|mom|dad)'s side)?)",
        Category.IDENTITY,
        "nationality",
    ),
    state(
        rf"(?P<v>{forms('run manage do')}) (?P<o>the (?:night|day|early|late|morning) (?:shift|desk|till"
        rf"|bar|bus)\b.*"
        r"|the (?:front desk|reception|kitchen|bar|till|payroll|night desk)\b.* (?:at|of|in) .+)",
        Category.IDENTITY,
        "occupation",
    ),
    state(
        rf"(?P<v>am(?! (?:two|three|four|five|six|seven|eight|nine|\d)$)|is|are(?= .*(?:\band\b"
        rf"|\bold$))) (?:only |just |already |now )*(?P<o>\d{{1,2}}(?:,? (?:and )?\d{{1,2}})+|(?:\d{{1,3}}"
        rf"|{NUMBER_WORDS}|one) (?:and a half )?(?:years?|months?|weeks?) old|\d{{1,3}}(?: and a half)?"
        rf"|{NUMBER_WORDS}(?: and a half)?)",
        Category.IDENTITY,
        "age",
        says=lambda m: f"is {m['o']}",
    ),
    state(
        rf"{NOW} (?P<o>an? (?:type \w+ |insulin-dependent )?(?:diabetic|coeliac|celiac|epileptic|asthmatic"
        r"|haemophiliac|wheelchair user|widow|widower|refugee|twin)(?: since .+)?)",
        Category.FACT,
        "health",
    ),
    state(rf"{NOW} (?:a|an|the) (?P<o>.+)", Category.IDENTITY, "occupation", accepts=is_trade),
    state(
        r"(?P<v>are) (?:both |all )?(?P<o>(?:[\w-]+ ){0,2}?[\w-]+s(?: (?:in|at|for|from|near|by) .+)?)",
        Category.IDENTITY,
        "occupation",
        accepts=lambda o: words.is_role(re.sub(r"s$", "", re.split(r" (?:in|at|for|from|near|by) ", o)[0])),
    ),
    state(
        rf"(?P<v>{forms('work moonlight freelance')}|worked|retrained|trained"
        r"|qualified) (?:[\w-]+ )?as (?:a|an|the) (?P<o>.+)",
        Category.IDENTITY,
        "occupation",
    ),
    state(
        r"(?P<v>have|has) (?:been|worked as) (?:a|an|the) (?P<o>.+? (?:for|since)\b.+)",
        Category.IDENTITY,
        "occupation",
        accepts=lambda o: words.is_role(re.split(r" (?:for|since)\b", o)[0]),
    ),
    state(r"(?P<v>was|were) (?:a|an) (?P<o>.+)", Category.IDENTITY, "former-occupation", accepts=is_trade),
    state(
        r"used to (?:be|work as) (?:a|an) (?P<o>.+)", Category.IDENTITY, "former-occupation", accepts=is_trade
    ),
    state(r"used to (?:live|work|study) (?P<o>(?:in|at|for|near|with|as) .+)", Category.FACT, "former"),
    state(
        rf"(?P<v>{forms('work')}) (?:[\w-]+[ -]time |remotely |freelance |mostly |shifts "
        r"|nights )?(?P<o>(?:at|for|in|on) .+)",
        Category.IDENTITY,
        "employer",
        accepts=lambda o: (
            settled(o[3:].strip())
            and not re.search(r"^(?:on|at) (?:it|home|my|this)\b|^for (?:me|free)\b", o)
        ),
    ),
    state(
        r"(?P<v>have|has) (?:worked|been working|taught|been teaching) (?P<o>(?:at|for|in|as|with|there"
        r"|here)\b.+? (?:for|since)\b.+)",
        Category.IDENTITY,
        "employer",
    ),
    state(rf"{NOW} (?P<o>employed (?:at|by|as) .+)", Category.IDENTITY, "employer"),
    state(
        rf"(?P<v>{forms('own')}) (?P<o>(?:a|an|the|two|three) {ADJ}{_BUSINESS}\b.*)",
        Category.IDENTITY,
        "business",
    ),
    state(
        rf"(?P<v>{forms('run manage')}) (?P<o>(?:a|an|the|my|our|his|her|two|three) {ADJ}{_BUSINESS}\b.*)",
        Category.IDENTITY,
        "occupation",
    ),
    state(
        rf"(?P<v>{forms('teach')}) (?P<o>.+)",
        Category.IDENTITY,
        "occupation",
        accepts=lambda o: not re.match(r"(?:me|you|us|them|him|her|\w+self)\b", o),
    ),
    state(r"(?P<v>[a-z]+) (?P<o>.+ for a living)", Category.IDENTITY, "occupation"),
    state(
        rf"{NOW} (?P<o>studying (?!for\b|hard\b|too\b).+|majoring in .+|doing (?:an?|my|his|her"
        rf"|their) (?:phd"
        r"|masters?|master's|bachelors?|bachelor's|degree|ba|bsc|ma|msc|mba|a-?levels|gcses|apprenticeship"
        r"|residency|doctorate|traineeship|pgce)\b.*)",
        Category.IDENTITY,
        "studies",
        says=lambda m: re.sub(r"^is studying", "studies", f"is {m['o']}"),
    ),
    state(
        rf"(?P<v>{forms('study major')}) (?P<o>(?!for\b|hard\b|the\b|this\b|(?:in|at|on"
        r"|with) (?:the|a|my)\b).+)",
        Category.IDENTITY,
        "studies",
    ),
    state(
        r"(?P<v>have|has) been (?P<o>learning .+? (?:for|since) .+)", Category.FACT, "learning", plural=True
    ),
    state(
        rf"{NOW} (?P<o>(?:learning|training to (?:be|become)|training as|retraining as) .+)",
        Category.FACT,
        "learning",
        plural=True,
        accepts=lambda o: not re.match(r"learning (?:a lot|to (?:live|accept)|that|how)\b", o),
    ),
    state(rf"(?P<v>{forms('speak')}) (?P<o>{_LANGUAGE})", Category.IDENTITY, "speaks", plural=True),
    state(r"(?:my |our )?(?P<o>pronouns are \S+/\S+)", Category.IDENTITY, "pronouns", says=lambda m: m["o"]),
    state(
        r"(?P<v>studied) (?P<o>(?!for\b|hard\b|the\b|this\b|it\b|all\b).+ (?:at|in) (?-i:[A-Z]).+)",
        Category.IDENTITY,
        "education",
    ),
    state(r"(?P<v>graduated) (?P<o>from (?-i:[A-Z]).+)", Category.IDENTITY, "education"),
    state(
        rf"{NOW} (?P<o>(?:fluent|proficient|conversational|native) in (?-i:[A-Z]).+)",
        Category.IDENTITY,
        "speaks",
        plural=True,
    ),
    state(
        r"(?P<o>(?:did|finished|have|has|got) (?:my|a|an|his|her) (?:\w+ )?(?:phd|masters?|master's|degree"
        r"|ba|bsc|msc|mba|doctorate|bachelor's|apprenticeship|diploma) (?:in|at|from) .+)",
        Category.IDENTITY,
        "education",
        says=lambda m: re.sub(r"^have\b", "has", m["o"]),
    ),
    state(r"(?P<o>dropped out of (?!the (?:call|meeting|chat|group)\b).+)", Category.FACT, "education"),
    state(
        rf"{NOW} (?P<o>in the (?:army|navy|air force|marines|police|reserves|coast ?guard"
        r"|fire (?:service|brigade)|scouts|civil service|foreign legion)\b.*)",
        Category.IDENTITY,
        "occupation",
    ),
    state(
        r"(?:was|were) (?P<o>in the (?:army|navy|air force|marines|police|merchant navy|fire (?:service"
        r"|brigade)"
        r"|civil service|foreign legion)\b.*)",
        Category.IDENTITY,
        "former-occupation",
        says=lambda m: f"was {m['o']}",
    ),
    state(
        r"(?:am|is) (?P<o>\d{1,2}) and (?!a half\b|counting\b|\d)\w.*",
        Category.IDENTITY,
        "age",
        says=lambda m: f"is {m['o']}",
    ),
    state(
        r"(?P<v>do|does) (?P<o>(?!it\b|that\b|this\b|not\b|the\b|my\b|a\b|some\b|any\b|you\b|have\b|want\b"
        r"|need\b|like\b|so\b|all\b|what\b)\w+(?: \w+)? (?:for|at) (?:a|an|the|my|our) .+)",
        Category.IDENTITY,
        "occupation",
    ),
    state(
        rf"(?P<v>{forms('coach captain chair edit host moderate referee umpire')}) "
        r"(?P<o>(?!this\b|that\b|it\b|me\b|you\b).+)",
        Category.FACT,
        "does",
        plural=True,
    ),
    state(
        r"(?P<v>have|has) (?P<o>(?:a|an) (?:new |great |part-time |full-time )?(?:job|role|position|post"
        r"|traineeship) (?:at|in|with|as) .+)",
        Category.IDENTITY,
        "occupation",
    ),
    state(rf"(?P<v>{forms('bank')}) (?P<o>(?:with|at) (?-i:[A-Z]).+)", Category.FACT, "bank"),
    # With whom
    state(
        rf"{NOW} (?P<o>(?:happily )?(?:married|engaged) to (?!my (?:job|work)).+)",
        Category.RELATIONSHIP,
        "marital-status",
    ),
    state(
        r"(?P<v>have|has) been (?P<o>(?:married|together|engaged|divorced|widowed|single)\b.*)",
        Category.RELATIONSHIP,
        "marital-status",
    ),
    state(
        rf"{NOW} (?P<o>(?:married|divorced|widowed|separated|single|engaged))",
        Category.RELATIONSHIP,
        "marital-status",
    ),
    state(
        rf"{NOW} (?P<o>(?:the |an? )?(?:youngest|eldest|oldest|middle|only|second|third|fourth|fifth"
        r"|first)(?:-born)?(?: child)?(?: of .+)?)",
        Category.RELATIONSHIP,
        "birth-order",
        accepts=lambda o: " of " in o or "child" in o,
    ),
    state(
        rf"(?P<v>have|has) (?:got )?(?P<o>(?:{N} {ADJ}(?:{words.KIN_PLURALS})|no (?:children|kids"
        r"|siblings)|twin \w+|twins)\b.*)",
        Category.RELATIONSHIP,
        "family",
        plural=True,
    ),
    state(
        rf"(?P<v>have|has) (?:got )?(?P<o>(?:a|an|one) {ADJ}(?:{words.SINGLE_RELATIONS}"
        rf"|{words.PLURAL_RELATIONS})"
        r"(?: (?:called|named|in|from|of|who)\b.+|, .+|-(?:month|year)s?-old.*)?)",
        Category.RELATIONSHIP,
        "family",
        plural=True,
    ),
    state(
        rf"{NOW} (?P<o>a (?:single |new |proud )?(?:mother|father|mum|mom|dad"
        r"|parent|grandmother|grandfather|grandparent|twin)(?: of .+| to .+)?)",
        Category.RELATIONSHIP,
        "parenthood",
    ),
    state(rf"{NOW} expecting (?P<o>(?:a|an|her|our|my|their|twins?)\b.*)", Category.FACT, "expecting"),
)
