"""Rules about where somebody lives, who they are, and with whom (SPEC J-8). Pure."""

from __future__ import annotations

import re

from services.compactor.domain import extracting_words as words
from services.compactor.domain.extracting_rules import (
    ADJ,
    NOW,
    N,
    State,
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
    r"(?:half |originally |part )?(?-i:[A-Z]\w+(?:ish|ese)|German|French|American|Canadian"
    r"|Mexican|Italian|Brazilian"
    r"|Indian|Russian|Ukrainian|Norwegian|Dutch|Greek|Czech|Swiss|Thai|Korean|Egyptian"
    r"|Moroccan|Kenyan|Nigerian"
    r"|Australian|Austrian|Belgian|Hungarian|Romanian|Bulgarian|Croatian|Serbian|Estonian"
    r"|Latvian|Lithuanian|Israeli"
    r"|Iraqi|Iranian|Pakistani|Slovak|Slovenian|Argentinian|Chilean|Peruvian|Colombian"
    r"|Ghanaian|Ethiopian|Icelandic"
    r"|Albanian|Armenian|Georgian|Syrian|Jordanian|Palestinian|Tunisian|Algerian|Cuban"
    r"|Filipino|Malaysian|Indonesian)"
    r"(?: citizen)?(?:[ -](?:and )?\w+)?"
)
_BUSINESS = (
    r"(?:shop|company|business|bakery|restaurant|café|cafe|farm|studio|school|agency|start-?up"
    r"|firm|team|hotel|hostel"
    r"|practice|clinic|workshop|gallery|store|club|nursery|lab|bookshop|bookstore|b&b|garage"
    r"|brewery|vineyard|bar|pub"
    r"|salon|kennel|charity|laboratory|guesthouse|stall|press|library|stables?|dairy|magazine"
    r"|blog|podcast|newsletter)"
)
WHO: tuple[State, ...] = (
    # Where
    state(
        rf"(?P<v>{forms('live reside')}) (?:just |right |now |still |currently |out |up "
        r"|down )?(?:in|at|near|on|outside|by|between) (?P<o>.+)",
        Category.LOCATION,
        "home",
        accepts=settled,
    ),
    state(rf"(?P<v>{forms('live')}) with (?P<o>.+)", Category.LOCATION, "lives-with", accepts=settled),
    state(rf"(?P<v>{forms('live')}) (?P<o>alone|abroad|next door)", Category.LOCATION, "lives-with"),
    state(
        rf"{NOW} (?:now )?(?:based|living|located|settled) (?:in|at|near|with|outside) (?P<o>.+)",
        Category.LOCATION,
        "home",
        accepts=settled,
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
        r"(?P<v>grew up|was raised|was born and raised|were raised|was brought up) (?:in|near"
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
        says=lambda m: f"is from {m['o']}",
        accepts=is_place,
    ),
    state(rf"{NOW} (?P<o>{_NATIONS})", Category.IDENTITY, "nationality"),
    state(
        rf"{NOW} (?P<o>(?:\d{{1,3}}|\w+ty(?:-\w+)?|\w+teen|ten|eleven|twelve) years? old|\d{{1,3}})",
        Category.IDENTITY,
        "age",
    ),
    state(rf"{NOW} (?:a|an|the) (?P<o>.+)", Category.IDENTITY, "occupation", accepts=is_trade),
    state(
        rf"(?P<v>{forms('work')}|worked) (?:[\w-]+ )?as (?:a|an|the) (?P<o>.+)",
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
        rf"(?P<v>{forms('work')}) (?:[\w-]+-time |remotely |freelance |mostly |shifts "
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
        rf"{NOW} (?P<o>studying (?!for\b|hard\b|too\b).+|majoring in .+|doing (?:a|my) (?:phd"
        r"|master's|degree|ba|msc)\b.*)",
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
        rf"{NOW} (?P<o>(?:the |an? )?(?:youngest|eldest|oldest|middle|only|second"
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
        rf"(?P<v>{forms('am')}|am|are) (?P<o>a (?:single |new |proud )?(?:mother|father|mum|mom|dad"
        r"|parent|grandmother|grandfather|grandparent|twin)"
        r"(?: of .+| to .+)?)",
        Category.RELATIONSHIP,
        "parenthood",
    ),
    state(rf"{NOW} expecting (?P<o>(?:a|an|her|our|my|their|twins?)\b.*)", Category.FACT, "expecting"),
)
