"""Rules about what somebody likes, has and does, and about their health (SPEC J-8). Pure."""

from __future__ import annotations

import re

from services.compactor.domain import extracting_words as words
from services.compactor.domain.extracting_rules import ADJ, NOW, UNTIMELY, N, State, liked, settled, state
from services.compactor.domain.extracting_types import Category
from services.compactor.domain.extracting_verbs import forms, third

_FLAGS = re.IGNORECASE
_TASTE = forms("love like enjoy adore hate dislike detest loathe")
_SPORTS = (
    r"(?:the [\w' -]+|football|soccer|chess|tennis|basketball|volleyball|badminton|golf|rugby"
    r"|cricket|hockey|handball"
    r"|squash|guitar|piano|violin|drums|bass|cello|bridge|poker|go|darts|table tennis"
    r"|water polo|dungeons and dragons"
    r"|in an? [\w' -]+)\b.*"
)
_ITEMS = (
    r"(?:wheelchair|walker|hearing aids?|cane|screen reader|insulin pump|inhaler|pacemaker"
    r"|prosthe\w+|stick|guide dog"
    r"|cpap\w*|walking stick|white cane)"
)
WHAT: tuple[State, ...] = (
    # Likes and dislikes
    state(rf"(?P<v>{_TASTE}) (?P<o>.+)", Category.PREFERENCE, "taste", plural=True, accepts=liked),
    state(
        rf"(?P<v>{forms('prefer')}) (?P<o>.+)",
        Category.PREFERENCE,
        "prefers",
        plural=True,
        accepts=lambda o: liked(o) and not re.match(r"(?:option|the|to)\b", o),
    ),
    state(
        r"can not (?P<v>stand|bear|abide) (?P<o>.+)",
        Category.PREFERENCE,
        "taste",
        plural=True,
        says=lambda m: f"can't {m['v'].lower()} {m['o']}",
        accepts=liked,
    ),
    state(
        r"(?P<a>do|does) not (?:really |particularly |actually )?(?P<v>like|enjoy|care for|love"
        r"|eat|drink|smoke)"
        r"(?: (?P<o>.+))?",
        Category.PREFERENCE,
        "taste",
        plural=True,
        says=lambda m: f"doesn't {m['v'].lower()}{' ' + m['o'] if m['o'] else ''}",
        accepts=lambda o: not o or (liked(o) and not re.search(r"\b(?:how|yet|much|today|enough|that)\b", o)),
    ),
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
    state(
        rf"{NOW} (?:a |an )?(?:very |really |pretty |quite )?(?:(?:big |huge |great |massive "
        r"|avid )?fan of|fond of|into|keen on|crazy about|mad about|passionate about"
        r"|obsessed with|partial to|a lover of|addicted to|hooked on) (?P<o>.+)",
        Category.PREFERENCE,
        "taste",
        plural=True,
        says=lambda m: re.sub(r"^(?:am|are) ", "is ", m.group(), flags=_FLAGS),
        accepts=liked,
    ),
    state(
        r"(?P<v>am|is|are) (?P<o>a (?!huge|big|great|real|massive|good|nice|bad|people|happy|busy"
        r"|new)\w+ (?:person|lover|fan|addict|enthusiast|fanatic|nut|buff))",
        Category.PREFERENCE,
        "taste",
        plural=True,
    ),
    state(
        rf"{NOW} (?:now |strictly |mostly |a strict |a lifelong )?(?P<o>{words.DIETS})(?: (?:since"
        r"|for)\b.*)?",
        Category.PREFERENCE,
        "diet",
        says=lambda m: f"is {m['o']}",
    ),
    state(
        rf"(?P<v>have|has) been (?:a )?(?P<o>{words.DIETS})\b.*",
        Category.PREFERENCE,
        "diet",
        says=lambda m: f"is {m['o']}",
    ),
    state(r"went (?P<o>vegan|vegetarian)\b.*", Category.PREFERENCE, "diet", says=lambda m: f"is {m['o']}"),
    # Health and body
    state(
        rf"{NOW} (?P<o>(?:(?:severely|very|highly|badly|mildly|deathly|slightly"
        r"|quite) )?(?:allergic|intolerant) to .+)",
        Category.FACT,
        "allergy",
        plural=True,
        accepts=lambda o: (
            not re.search(
                r" to (?:mondays|work|people|stupidity|nonsense|bullshit|mornings|you|this|that|it)\b",
                o,
                _FLAGS,
            )
        ),
    ),
    state(
        rf"(?P<v>have|has) (?:got )?(?P<o>(?:a|an) {ADJ}(?:allergy|intolerance)\b.*)",
        Category.FACT,
        "allergy",
        plural=True,
    ),
    state(rf"{NOW} (?P<o>(?:{words.TRAITS}))", Category.FACT, "is", plural=True),
    state(
        rf"{NOW} (?P<o>(?:afraid|scared|terrified) of .+)",
        Category.FACT,
        "fear",
        plural=True,
        accepts=lambda o: not re.search(r"\bof (?:it|that|this|what|him|her|them|losing|the)\b", o),
    ),
    state(
        r"(?P<v>have|has) (?P<o>(?:type [12] )?(?:diabetes|asthma|adhd|dyslexia|epilepsy"
        r"|coeliac disease|celiac disease|arthritis|migraines|tinnitus"
        r"|insomnia|hay fever|autism|endometriosis|crohn's|hypertension|high blood pressure"
        r"|low blood pressure|synaesthesia|perfect pitch)\b.*)",
        Category.FACT,
        "has",
        plural=True,
    ),
    state(rf"(?P<v>{forms('use')}) (?P<o>(?:a|an) {ADJ}{_ITEMS}\b.*)", Category.FACT, "uses", plural=True),
    state(
        rf"(?P<v>{forms('use')}) (?P<o>(?-i:[A-Z])[\w.+#-]*(?: [\w.+#-]+){{0,3}} (?:for|as|on"
        r"|at) .+)",
        Category.FACT,
        "uses",
        plural=True,
    ),
    state(
        rf"(?P<v>{forms('wear')}) (?P<o>(?:reading )?(?:glasses|contact lenses|contacts"
        r"|a hearing aid|hearing aids|size .+|braces|dentures)\b.*)",
        Category.FACT,
        "wears",
        plural=True,
    ),
    state(rf"(?P<v>{forms('weigh')}) (?P<o>(?:about |around )?\d.+)", Category.FACT, "weight"),
    state(
        rf"{NOW} (?P<o>\d[\d.,]* ?(?:m|cm|metres|meters|feet|foot|ft)\b.*)",
        Category.FACT,
        "height",
        accepts=lambda o: "away" not in o and "from" not in o,
    ),
    state(
        rf"(?P<v>{forms('take')}) (?P<o>[\w -]+? (?:for my .+|(?:once|twice|three times) (?:a"
        r"|per) (?:day|week)|daily|every (?:day|morning|evening|night)))",
        Category.FACT,
        "takes",
        plural=True,
    ),
    state(r"was (?P<o>diagnosed with .+)", Category.FACT, "diagnosis", plural=True),
    state(
        r"(?:have |has )?(?P<v>quit|gave up|given up|stopped) (?P<o>(?:smoking|drinking|coffee"
        r"|alcohol|sugar|meat|gluten|dairy)\b.*)",
        Category.FACT,
        "gave-up",
        plural=True,
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
        rf"(?P<v>have|has) (?:got )?(?P<o>(?:{N}|a|an) {ADJ}(?:{words.POSSESSIONS})s?(?: (?:in|on"
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
    state(rf"(?P<v>{forms('sing')}) (?P<o>(?:in|with) .+)", Category.FACT, "sings"),
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
            not re.search(r"^(?:to|not|been|have|that|this|it|the|your)\b|\b(?:you|error|fails?)\b", o)
        ),
    ),
    state(
        r"(?P<v>work) (?P<o>(?:night shifts|nights|part-time|full-time|from home|remotely"
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
        rf"(?P<v>{forms('volunteer')}) (?P<o>(?:at|for|in|with) .+)", Category.FACT, "volunteers", plural=True
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
