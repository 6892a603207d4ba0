"""What changes a life, on whatever day: a job, a home, a marriage, a thing bought or broken (SPEC J-8). Pure.

Such a doing is worth keeping without a day. The verbs are those of beginning, ending, moving and changing
hands; what they take is any thing but those of a working day.
"""

from __future__ import annotations

import re

_FLAGS = re.IGNORECASE
_ADVERBS = (
    r"(?:(?:just|finally|recently|already|officially|also|now|actually|only just|even|then|later|never) )*"
)
_TRANSITIVE = (
    "accepted|adopted|booked|bought|broke|built|called off|cancelled|canceled|closed|completed|crashed"
    "|declined"
    "|defended|donated|dumped|ended|enrolled in|enrolled on|expanded|failed|fathered|finished|fractured"
    "|founded|gave away|gave up|given away|given up|got|handed in|handed over|hired|inherited|joined"
    "|launched|left"
    "|lost|married|opened|ordered|paid off|passed|planted|proposed to|published|quit|raised|released"
    "|renovated"
    "|rented|rented out|resigned from|restored|ripped out|scrapped|sacked|set up|shut down|signed"
    "|signed for"
    "|signed off|signed up for|signed with|sold|split from|sprained|started|submitted|taken|taken on"
    "|taken over"
    "|took|took on|took over|tore|totalled|turned down|was given|was offered|were offered|won|wrecked"
    "|written off"
    "|knocked down|torn|broken|bred|swapped|traded in|switched to|converted to|been given|been offered"
    "|been awarded"
)
_WHAT = (
    r"(?:the|my|our|his|her|their|a|an|another|two|three|four|five|both|one of|first|second|some|\d+"
    r"|(?-i:[A-Z]))[\w'-]*"
)
_PASSIVE = (
    "accepted|admitted|appointed|awarded|cast|chosen|crowned|diagnosed|discharged|dumped|elected"
    "|evicted|expelled"
    "|fired|headhunted|hired|knighted|laid off|let go|made redundant|made partner|mugged|naturali[sz]ed"
    "|nominated"
    "|ordained|picked|posted|promoted|robbed|burgled|sacked|selected|shortlisted|suspended|transferred"
    "|voted"
)
_INTRANSITIVE = (
    r"became (?:an? (?:father|mother|grandmother|grandfather|aunt|uncle|parent|dad|mum|mom|citizen)|the"
    r"|head"
    r"|captain|chair|president|director|manager)|been (?:promoted|laid off|sacked)"
    r"|came out|converted to|died|divorced|dropped out|emigrated|enrolled|flunked|gave birth"
    r"|given birth|got (?:married|engaged|divorced|hitched|promoted|into|in to|accepted|back together)"
    r"|graduated"
    r"|had (?:a baby|twins|triplets|kittens|puppies|a litter|surgery|an operation|a stroke|a heart attack"
    r"|a miscarriage|an? \w+ (?:removed|replaced)|(?:our|my|their|her|another) (?:\w+ )?(?:baby|child"
    r"|twins|son"
    r"|daughter|boy|girl))"
    r"|immigrated|moved (?:to|in|into|in with|out|out of|home|house|away|abroad|back)|passed away"
    r"|relocated|resigned|retired|retrained|separated|split up|broke up|stepped down|stepped back"
    r"|went (?:bankrupt"
    r"|blind|deaf|freelance|part-time|self-employed|back to (?:work|school|uni|university|college)"
    r"|into labour"
    r"|into rehab|on maternity leave)|got through to the"
    r"|started (?:nursery|school|uni|university|college|kindergarten|reception)|took up \w+|taken up \w+"
    r"|signed up|signed on"
)
_CHANGED = re.compile(
    rf"^(?:(?:have|has|had) )?{_ADVERBS}(?:gone and )?(?P<o>(?:(?P<v>{_TRANSITIVE}) (?P<x>{_WHAT}\b.*)"
    rf"|(?:was|were|been|got) (?:{_PASSIVE})\b(?P<p>.*)|(?:{_INTRANSITIVE})\b.*))$",
    _FLAGS,
)
OF_THE_DAY = re.compile(
    r"^(?:[\w'-]+ ){1,3}?(?:answer|app|argument|battle|bath|bed|beer|bill|bit|book|box|bread|break"
    r"|browser|bus"
    r"|business of|call|chair|channel|chapter|chat|chance|chills|coat|coffee|conversation|copy|count"
    r"|course of|cup"
    r"|day|desk|dinner|dishes|document|door|draft|drink|email|episode|error|errors|fight|file|film"
    r"|floor|fold|food"
    r"|fridge|game|gist|groceries|group|hair|hang|headache|hint|homework|hope|house on|idea|impression"
    r"|interest"
    r"|issue|joke|journey|kettle|kitchen|laptop|laundry|lead|letter|level|lid|light|lights|line|link|list"
    r"|look|lot|lunch|luggage|meal|meeting|message|milk|mind|minute|moment|mood|name|nap|news|night"
    r"|note|notes"
    r"|number|office|option|oven|page|paragraph|parcel|patience|phone|photo|picture|plot|point|post|problem"
    r"|question|quote|quiz|reply|report|result|room|rest|sandwich|score|screen|seat|section|sentence"
    r"|shower|sleep"
    r"|song|speech|spot|start|step|story|stuff|summary|tab|table|tabs|taxi|tea|temper|text|thing|things"
    r"|thought"
    r"|thread|time|title|track|train|trouble|truth|vibe|video|voice|walk|wallet|washing|water|way"
    r"|weekend|weight"
    r"|window|wine|word|words|work|works|worse|yes)\b(?! (?:shop|deal|licen[cs]e))",
    _FLAGS,
)
"""Things of a working day and of figures of speech: "lost my mind", "left the office", "opened a tab"."""
_TECHNICAL = re.compile(
    r"\b(?:script|code|regex|sql|python script|javascript|css|html|json|csv|column|array|loop|api"
    r"|endpoint|database"
    r"|dataset|variable|string|bug|commit|branch|repo|repository|container|cluster|prompt|schema"
    r"|compiler|pipeline"
    r"|paragraph|sentence|essay|function|module|tests?(?= suite| pass)|ticket system|you|your)\b",
    _FLAGS,
)
_BLOCKED = re.compile(
    r"\b(?:it|this|that|these|those|them|again and again|every|each|usually|always|ages ago|years ago"
    r"|as a (?:kid|child))\b|^(?:was|were) (?:cast in"
    r"|picked up|posted (?:on|online))\b",
    _FLAGS,
)
MOST = 18
"""Words of such a doing: what is longer was not understood."""
_COMING = re.compile(
    r"^(?P<v>am|is|are) (?P<o>(?:finally |now |also )?(?:getting (?:married|divorced|engaged|hitched"
    r"|evicted"
    r"|promoted)|having (?:a baby|twins|another baby|an operation|surgery|a (?:little )?(?:boy|girl))"
    r"|emigrating|retiring|moving (?:in|in with|to|out"
    r"|back|house|home|abroad)|leaving (?:the|my|his|her|their|our) (?!house|office|room)\w+"
    r"|stepping down|going freelance|going back to (?:work|school|uni|university|college)"
    r"|opening (?:a|an|her|his|my|our|their) \w+|closing (?:the|her|his|my|our|their) \w+"
    r"|adopting|training (?:for|as|to)|doing (?:her|his|my|their) [\w' -]+?(?:exams?|degree|phd"
    r"|master's|finals|a[- ]levels))\b.*)$",
    _FLAGS,
)


def changed(rest: str) -> str:
    """What somebody did that changes a life, "" when it is none."""
    match = _CHANGED.match(rest)
    if match is None or re.match(rf"{_ADVERBS}", rest, _FLAGS) is None:
        return ""
    what = match["o"]
    if re.search(r"\bnever\b", rest[: match.start("o")], _FLAGS) or len(what.split()) > MOST:
        return ""
    if _BLOCKED.search(what) or _TECHNICAL.search(what):
        return ""
    if re.match(r"(?:lost|left) (?:my|our|the|his|her) (?:\w+ )?keys\b", what, _FLAGS):
        return ""
    return "" if match["x"] and OF_THE_DAY.match(match["x"]) else what


def changing(rest: str) -> str:
    """What is about to change a life, "" when it is none."""
    match = _COMING.match(rest)
    if match is None or _BLOCKED.search(rest) or _TECHNICAL.search(rest) or len(rest.split()) > MOST:
        return ""
    return match["o"]
