"""Rules about what somebody has and does (SPEC J-8). Pure."""

from __future__ import annotations

import re

from services.compactor.domain.extraction.english import words
from services.compactor.domain.extraction.english.rules import ADJ, NOW, UNTIMELY, N, State, settled, state
from services.compactor.domain.extraction.english.tastes import TASTES, liked
from services.compactor.domain.extraction.english.verbs import forms, third
from services.compactor.domain.extraction.facts import Category

_SPORTS = (
    r"(?:the [\w' -]+|football|soccer|chess|tennis|basketball|volleyball|badminton|golf|rugby"
    r"|cricket|hockey|handball"
    r"|squash|guitar|piano|violin|drums|bass|cello|bridge|poker|go|darts|table tennis"
    r"|water polo|dungeons and dragons"
    r"|in an? [\w' -]+)\b.*"
)
WHAT: tuple[State, ...] = (
    *TASTES,
    state(
        r"no longer live (?P<o>(?:in|at|with|near) .+)",
        Category.LOCATION,
        "home",
        says=lambda m: f"no longer lives {m['o']}",
    ),
    state(
        r"no longer work (?P<o>(?:at|for|as|in) .+)",
        Category.IDENTITY,
        "employer",
        says=lambda m: f"no longer works {m['o']}",
    ),
    state(
        r"no longer (?P<v>smoke|drink|drive|like|love|enjoy|eat|play|own|use)(?: (?P<o>.+))?",
        Category.FACT,
        "taste",
        plural=True,
        says=lambda m: f"no longer {third(m['v'])} {m['o'] or ''}",
        accepts=liked,
    ),
    # Possessions and habits
    state(
        rf"(?P<v>have|has) (?:got )?(?P<o>(?:{N}|a|an) {ADJ}(?:{words.PETS}"
        rf"|{words.PET_PLURALS})(?: (?:called|named)\b.+|,.+| and .+| that .+| in .+)?)",
        Category.FACT,
        "pets",
        plural=True,
    ),
    state(
        rf"(?P<v>have|has) (?:got )?(?P<o>(?:{N}|a|an) {ADJ}(?:{words.POSSESSIONS})s?(?: (?:in|on|for|to"
        r"|near|from|with|called|named|at|by|that)\b.+)?)",
        Category.FACT,
        "has",
        plural=True,
        accepts=lambda o: not re.search(r"\b(?:question|problem|issue)\b", o),
    ),
    state(
        r"(?P<v>have|has) (?:got )?(?P<o>(?:a|an) [\w -]{3,30} (?:called|named) (?-i:[A-Z]).*)",
        Category.FACT,
        "has",
        plural=True,
        accepts=lambda o: not words.CODE_TALK.search(o),
    ),
    state(
        rf"(?P<v>{forms('own')}) (?P<o>(?:a|an|two|three|four|five|six|seven|the|\d+) .+)",
        Category.FACT,
        "owns",
        plural=True,
    ),
    state(
        rf"(?P<v>{forms('keep breed raise grow')}) (?P<o>(?:bees|chickens|hens|pigeons|goats|sheep"
        r"|horses|ducks|rabbits|alpacas|vegetables|tomatoes|roses|orchids|herbs)\b.*)",
        Category.FACT,
        "keeps",
        plural=True,
    ),
    state(
        rf"(?P<v>{forms('drive ride')}) (?P<o>(?:a|an|my|his|her) .+)",
        Category.FACT,
        "vehicle",
        accepts=lambda o: not re.search(r"\b(?:hard bargain|crazy|mad|nuts|point)\b", o),
    ),
    state(
        rf"(?P<v>{forms('play')}) (?P<o>{_SPORTS})",
        Category.FACT,
        "plays",
        plural=True,
        accepts=lambda o: not re.match(r"the (?:fool|game|role|card|part|long|video|song|devil)\b", o),
    ),
    state(
        rf"(?P<v>{forms('collect')}) (?P<o>(?:old |vintage |rare |antique |stamps|coins|\w+ \w+s"
        r"|\w+s)\b.*)",
        Category.FACT,
        "collects",
        plural=True,
        accepts=lambda o: not re.match(r"(?:the|my|it|them|this|that)\b", o),
    ),
    state(
        rf"(?P<v>{forms('sing')}) (?P<o>(?:(?:soprano|alto|second alto|tenor|baritone|bass|lead) )?(?:in"
        rf"|with) .+)",
        Category.FACT,
        "sings",
    ),
    state(
        rf"(?P<v>{forms('attend')}) (?P<o>.+(?:school|university|college|academy|kindergarten"
        r"|nursery)\b.*)",
        Category.FACT,
        "school",
    ),
    state(
        r"(?P<v>go|goes) to (?P<o>.*(?:school|university|college|kindergarten|nursery)\b.*)",
        Category.FACT,
        "school",
        accepts=settled,
    ),
    state(
        rf"(?P<v>{forms('get wake go')}) (?P<o>(?:up|to bed) (?:at|before|around|by) .+)",
        Category.FACT,
        "rhythm",
        plural=True,
        accepts=lambda o: not UNTIMELY.search(o),
    ),
    state(
        r"(?P<v>(?!am\b|is\b|are\b|was\b|have\b|has\b|had\b)[a-z]+) (?P<o>(?:.+ )?(?:every"
        r"|each) (?:single )?(?:day|morning|evening|night|week|weekend|month|year|summer|winter"
        r"|monday|tuesday|wednesday|thursday|friday|saturday|sunday))",
        Category.FACT,
        "habit",
        plural=True,
        accepts=lambda o: (
            not re.search(
                r"^(?:to|not|been|have|that|this|it|the|your)\b|\b(?:you|error|fails?|this|it|that"
                r"|issue|bug)\b",
                o,
            )
        ),
    ),
    state(
        r"(?P<v>works?) (?P<o>(?:night shifts|nights|shifts|evenings|part-time|full-time|from home|remotely"
        r"|weekends))",
        Category.FACT,
        "working-time",
    ),
    state(
        r"(?:am|is|are|was) (?P<o>(?:called|named) (?-i:[A-Z]).*)",
        Category.IDENTITY,
        "name",
        says=lambda m: f"is {m['o']}",
    ),
    state(
        r"go(?:es)? by (?P<o>(?-i:[A-Z])\w+)",
        Category.IDENTITY,
        "nickname",
        says=lambda m: f"goes by {m['o']}",
    ),
    state(
        r"(?P<v>have|has) been (?P<o>(?!thinking|trying|waiting|looking|having|wondering|getting|using"
        r"|reading|meaning|feeling|working on)\w+ing .+?"
        r" (?:since (?:\d{4}|I was \w+|childhood|school|university)"
        r"|for (?:over |almost |nearly |about |more than )?(?:[\w-]+ )?(?:years|decades)))",
        Category.FACT,
        "habit",
        plural=True,
    ),
    state(
        r"used to (?P<o>(?!it\b|think\b|that\b|the\b|being\b|having\b|be\b)(?:\w+ .+|smoke|drink))",
        Category.FACT,
        "former",
        plural=True,
        accepts=lambda o: not re.search(r"\b(?:when|we|love|like|them|it)\b", o),
    ),
    state(
        rf"(?P<v>{forms('volunteer')}) (?P<o>(?:at|for|in"
        rf"|with) .+)",
        Category.FACT,
        "volunteers",
        plural=True,
    ),
    state(rf"{NOW} (?P<o>an? (?:\w+ )?member of .+)", Category.FACT, "member", plural=True),
    state(
        r"can not (?P<o>swim|whistle|ride a bike|(?:eat|drink|have|digest) .+)",
        Category.FACT,
        "cannot",
        plural=True,
        says=lambda m: f"can't {m['o']}",
        accepts=lambda o: not re.search(r"\b(?:it|this|that|any ?more|today|tonight|now)\b", o),
    ),
    state(
        r"can (?P<o>(?:speak|play|sail|juggle|knit|sew|fly|read) .+)",
        Category.FACT,
        "can",
        plural=True,
        says=lambda m: f"can {m['o']}",
        accepts=lambda o: not re.search(r"\b(?:it|this|that|you|with|for|to)\b", o),
    ),
)
