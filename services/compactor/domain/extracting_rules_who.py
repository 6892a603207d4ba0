"""Rules about where somebody lives, who they are, and with whom (SPEC J-8). Pure."""

from __future__ import annotations

import re

from services.compactor.domain import extracting_words as words
from services.compactor.domain.extracting_rules import (
    ADJ,
    NOW,
    UNTIMELY,
    N,
    State,
    in_figures,
    is_place,
    is_trade,
    settled,
    state,
    without_date,
)
from services.compactor.domain.extracting_types import Category
from services.compactor.domain.extracting_verbs import forms

_LANGUAGE = (
    r"(?:fluent|some|a (?:little|bit of)|basic|native|good|decent|both|only|a bit|very good)? ?"
    r"(?-i:[A-Z])\w+(?:(?:,| and|, and) (?:\w+ ){0,2}?(?-i:[A-Z])\w+)*(?: (?:at home|fluently"
    r"|and .*|with .*|natively))?"
)
_NATIONS = (
    r"(?:half |originally |part |half-)?(?:(?-i:[A-Z]\w+(?:ish|ese))|british|irish"
    r"|scottish|english|welsh|spanish|swedish|finnish|danish|polish"
    r"|turkish|kurdish|chinese|japanese|portuguese|vietnamese|lebanese|maltese|german"
    r"|French|American|Canadian"
    r"|Mexican|Italian|Brazilian"
    r"|Indian|Russian|Ukrainian|Norwegian|Dutch|Greek|Czech|Swiss|Thai|Korean|Egyptian"
    r"|Moroccan|Kenyan|Nigerian"
    r"|Australian|Austrian|Belgian|Hungarian|Romanian|Bulgarian|Croatian|Serbian|Estonian"
    r"|Latvian|Lithuanian|Israeli"
    r"|Iraqi|Iranian|Pakistani|Slovak|Slovenian|Argentinian|Chilean|Peruvian|Colombian"
    r"|Ghanaian|Ethiopian|Icelandic"
    r"|Albanian|Armenian|Georgian|Syrian|Jordanian|Palestinian|Tunisian|Algerian|Cuban"
    r"|Filipino|Malaysian|Indonesian)"
    r"(?: citizen)?(?:[ -](?:and (?:half )?)?\w+)?"
)
_BUSINESS = (
    r"(?:shop|company|business|bakery|restaurant|café|cafe|farm|studio|school|agency|start-?up"
    r"|firm|team|hotel|hostel"
    r"|practice|clinic|workshop|gallery|store|club|nursery|lab|bookshop|bookstore|b&b|garage"
    r"|brewery|vineyard|bar|pub"
    r"|\w*mill|\w*shop|\w*yard|forge|market|kennels|fishery|orchard|camp|theatre|theater"
    r"|gym|cinema|franchise|food truck|channel|website"
    r"|group|meetup|centre|center|branch|department|ward|line|boatyard|fleet|plant|factory"
    r"|warehouse|foundation|ngo|festival|course|kiosk"
    r"|society|association|union|scheme|orchestra|band|crew|salon|kennel|charity"
    r"|laboratory|guesthouse|stall|press|library|stables?|dairy|magazine"
    r"|blog|podcast|newsletter)"
)
WHO: tuple[State, ...] = (
    # Where
    state(
        rf"(?P<v>{forms('live reside')}) (?:just |right |now |still |currently |out |up "
        r"|down )?(?:in|at|near|on|outside|by|between|above|over|behind|opposite|beside"
        r"|next to|close to|across from|off) (?P<o>.+)",
        Category.LOCATION,
        "home",
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
        r"|here )?(?:from .+? )?to "
        r"(?P<o>.+)",
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
    ),
    # Who
    state(
        r"(?P<v>was|were) born (?P<o>(?:in|at|near) (?!18|19|20)(?-i:[A-Z]).+)",
        Category.IDENTITY,
        "birth-place",
    ),
    state(
        r"(?P<v>am|is|are|come|comes) (?:originally )?from (?P<o>.+)",
        Category.IDENTITY,
        "origin",
        says=lambda m: f"comes from {m['o']}",
        accepts=is_place,
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
        r"|publishing|real estate|banking|tech|advertising"
        r"|logistics|retail|healthcare|catering|hospitality|recruitment|politics)\b.*)",
        Category.IDENTITY,
        "occupation",
    ),
    state(
        r"was (?P<o>(?:adopted|home-?schooled|(?:raised|brought up|named) (?:by|after) .+))",
        Category.FACT,
        "childhood-fact",
    ),
    state(rf"{NOW} (?P<o>{_NATIONS})", Category.IDENTITY, "nationality"),
    state(
        rf"{NOW} (?P<o>\d{{1,2}}(?:,? (?:and )?\d{{1,2}})+|(?:\d{{1,3}}|\w+ty(?:[ -]\w+)?"
        rf"|\w+teen|ten|eleven|twelve) years? old|\d{{1,3}})",
        Category.IDENTITY,
        "age",
        says=lambda m: f"is {in_figures(m['o'])}",
    ),
    state(rf"{NOW} (?:a|an|the) (?P<o>.+)", Category.IDENTITY, "occupation", accepts=is_trade),
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
        r"(?P<v>have|has) (?:worked|been working|taught|been teaching) (?P<o>(?:at|for|in|as|with"
        r"|there|here)\b.+? (?:for|since)\b.+)",
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
        rf"{NOW} (?P<o>studying (?!for\b|hard\b|too\b).+|majoring in .+|doing (?:an?|my|his|her|their) (?:phd"
        r"|masters?|master's|bachelors?|bachelor's|degree|ba|bsc|ma|msc|mba|a-?levels|gcses"
        r"|apprenticeship|residency|doctorate|traineeship|pgce)\b.*)",
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
        r"(?P<o>(?:did|finished|have|has|got) (?:my|a|an|his|her) (?:\w+ )?(?:phd|masters?"
        r"|master's|degree|ba|bsc|msc|mba|doctorate|bachelor's|apprenticeship|diploma) "
        r"(?:in|at|from) .+)",
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
        r"(?P<v>do|does) (?P<o>(?!it\b|that\b|this\b|not\b|the\b|my\b|a\b|some\b|any\b|you\b"
        r"|have\b|want\b|need\b|like\b|so\b|all\b|what\b)\w+(?: \w+)? (?:for|at) (?:a|an|the"
        r"|my|our) .+)",
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
        r"(?P<v>have|has) (?P<o>(?:a|an) (?:new |great |part-time |full-time )?(?:job|role"
        r"|position|post|traineeship) (?:at|in|with|as) .+)",
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
        r"|parent|grandmother|grandfather|grandparent|twin)"
        r"(?: of .+| to .+)?)",
        Category.RELATIONSHIP,
        "parenthood",
    ),
    state(rf"{NOW} expecting (?P<o>(?:a|an|her|our|my|their|twins?)\b.*)", Category.FACT, "expecting"),
)
