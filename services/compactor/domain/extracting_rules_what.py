"""Rules about what somebody likes, has and does (SPEC J-8). Pure."""

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
        rf"{NOW} not (?:really |exactly |at all )?(?P<o>(?:a (?:big |huge |great )?fan of"
        r"|keen on|into|fond of|big on|crazy about) .+)",
        Category.PREFERENCE,
        "taste",
        plural=True,
        says=lambda m: f"isn't {m['o']}",
        accepts=lambda o: liked(re.sub(r"^.*?(?:of|on|into|about) ", "", o)),
    ),
    state(
        r"can not (?:be doing with|get on with|get along with|deal with|get into|get behind"
        r"|do) (?P<o>(?!it\b|this\b|that\b|anything\b|math\b|so\b|more\b).+)",
        Category.PREFERENCE,
        "taste",
        plural=True,
        says=lambda m: f"dislikes {m['o']}",
        accepts=liked,
    ),
    state(
        r"(?:can not get enough of|live for|lives for|am a sucker for|is a sucker for"
        r"|am all about|have a (?:soft spot|weakness|thing) for|has a (?:soft spot|weakness"
        r"|thing) for"
        r"|swear by|swears by) (?P<o>.+)",
        Category.PREFERENCE,
        "taste",
        plural=True,
        says=lambda m: f"loves {m['o']}",
        accepts=liked,
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
        r"|new)\w+ (?:person|guy|gal|girl|lover|fan|addict|enthusiast|fanatic|nut|buff))",
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
    state(
        r"(?:have |has )?(?:went|gone|turned) (?P<o>vegan|vegetarian)\b.*",
        Category.PREFERENCE,
        "diet",
        says=lambda m: f"is {m['o']}",
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
        r"(?P<v>(?:have|has) never (?:really )?(?:liked|loved|enjoyed|cared for)) (?P<o>.+)",
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
        rf"{NOW} (?P<o>off (?!work\b|to\b|on\b|today\b|sick\b|school\b|duty\b|the\b|my\b"
        r"|topic\b|tomorrow\b|until\b|for\b|in\b|now\b|soon\b|this\b|next\b)"
        r"(?:all |any )?(?:milk|coffee|sugar|alcohol|booze|meat|dairy|gluten|bread|caffeine"
        r"|carbs|cigarettes|wheat|chocolate|fish|cheese|drink|eggs)\b.*)",
        Category.PREFERENCE,
        "diet",
        plural=True,
    ),
    state(
        r"(?P<v>keep|keeps) (?P<o>kosher|halal|vegan|shabbat|the sabbath|ramadan|lent)",
        Category.PREFERENCE,
        "diet",
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
