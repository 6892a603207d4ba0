"""English clauses without the "I" that is meant: "moved to Ghent" as "I moved to Ghent" (SPEC J-8). Pure."""

from __future__ import annotations

import re

_FLAGS = re.IGNORECASE
_PAST = (
    "grew up|moved|relocated|bought|sold|broke|sprained|passed|failed|graduated|retired|adopted|quit"
    "|started"
    "|signed|finished|booked|got|went|had|lost|won|gave up|met|flew|visited|decided|chose|inherited|studied"
    "|worked|used to|ran|switched|stopped|picked|ordered|settled on|opted for|became"
    "|handed in|left|turned|joined"
)
_BUSY = (
    "working|looking|hoping|thinking|wondering|waiting|trying|using|getting|asking|writing|reading|feeling"
    "|freaking|struggling"
)
"""What one does at the moment: no plan for a day."""
_SUBJECTLESS = (
    (re.compile(r"^got (?=an? (?:[\w'-]+ ){1,6}?(?:on|this|next|tomorrow|at)\b)", _FLAGS), "I have "),
    (
        re.compile(
            r"^(?=(?:work|live|teach|study) (?:for|at|in|as|near) "
            r"(?!me\b|this\b|that\b|the (?:moment|now)\b|it\b|peace\b|progress\b|fear\b|hope\b|harmony\b))",
            _FLAGS,
        ),
        "I ",
    ),
    (
        re.compile(
            r"^(?=(?:studying|training|renting|teaching|learning) (?!for (?:it|this|that)\b|hard\b"
            r"|how\b|that\b))",
            _FLAGS,
        ),
        "I am ",
    ),
    (
        re.compile(
            rf"^(?=(?!(?:{_BUSY}|bring|sing|ring|swing|string|spring)\b)(?!\w+ing (?:is|was|has|starts"
            rf"|begins)\b)\w+ing .*\b(?:tomorrow"
            rf"|(?:on|this|next) (?:\w+day|weekend"
            r"|the \d+(?:st|nd|rd|th)))\b)",
            _FLAGS,
        ),
        "I am ",
    ),
    (re.compile(r"^(?=never been )", _FLAGS), "I have "),
    (
        re.compile(
            r"^(?=have not (?:paid|done|sent|booked|finished|written|filed|signed|called|bought"
            r"|returned) )",
            _FLAGS,
        ),
        "I ",
    ),
    (re.compile(r"^(?=did (?:\d+|\w+) years )", _FLAGS), "I "),
    (
        re.compile(
            r"^(?=(?:\w+ )?(?:nut|peanut|shellfish|egg|dairy|wheat|soy|bee|latex"
            r"|penicillin) allergy(?: here)?$)",
            _FLAGS,
        ),
        "I have a ",
    ),
    (re.compile(r"^born (?=(?:and|in|on|at|near|\d))", _FLAGS), "I was born "),
    (
        re.compile(
            r"^(?=(?:(?:absolutely|properly|deathly) )?(?:scared|terrified|afraid|fond|deaf|obsessed"
            r"|fluent|addicted) "
            r"(?:of|in|with|to) (?!it\b|that\b|this\b|them\b|you\b))",
            _FLAGS,
        ),
        "I am ",
    ),
    (re.compile(r"^(?=was born\b)", _FLAGS), "I "),
    (re.compile(r"^(?=(?:happily |newly |long |semi-)?retired(?: now| these days|(?=,)))", _FLAGS), "I am "),
    (re.compile(r"^(?=(?:born and )?(?:raised|bred) (?:in|on|near) (?-i:[A-Z]))", _FLAGS), "I was "),
    (
        re.compile(
            r"^(?:been )(?=(?:\w+ing\b|an? |on |married|together|vegan|vegetarian).* (?:since"
            r"|for)\b)",
            _FLAGS,
        ),
        "I have been ",
    ),
    (
        re.compile(
            rf"^(?=(?:(?:just|finally|recently|also|already|originally"
            rf"|then) )*(?:{_PAST}) )",
            _FLAGS,
        ),
        "I ",
    ),
    (
        re.compile(
            r"^(?=(?:(?:really|honestly|absolutely|also|much|strongly) )*(?:prefer|hate|loathe"
            r"|despise|adore|can not stand|have to"
            r"|need to|must not forget to|do not (?:eat|drink|like|smoke)) (?!to (?:be|say|admit"
            r"|break|ask|bother)\b))",
            _FLAGS,
        ),
        "I ",
    ),
    (re.compile(r"^(?=favou?rite )", _FLAGS), "my "),
    (
        re.compile(
            r"^(?=(?:left[- ]handed|right[- ]handed|colou?r-?[ -]?blind|dyslexic|diabetic|asthmatic"
            r"|epileptic|autistic"
            r"|lactose[- ]intolerant|coeliac|celiac|vegan|vegetarian|pescatarian|teetotal|short-?sighted)"
            r"(?:$|,| since\b| for\b| and\b| by\b))",
            _FLAGS,
        ),
        "I am ",
    ),
    (
        re.compile(
            r"^(?=love (?!it\b|that\b|this\b|you\b|your\b|how\b|what\b|when\b|ya\b|him\b|her\b|them\b"
            r"|these\b|those\b"
            r"|and\b|from\b|is\b|\w+ing\b|to (?:see|hear|know|you|all)\b|the (?:way|idea|new|look|sound"
            r"|energy|vibe)\b))",
            _FLAGS,
        ),
        "I ",
    ),
    (
        re.compile(
            r"^(?=(?:can|do) not (?:swim|drive|cook|cycle|smoke|drink)(?:$|,| and\b| or\b"
            r"| at all\b))",
            _FLAGS,
        ),
        "I ",
    ),
    (re.compile(r"^(?=(?:big|huge|massive) (?:fan of|believer in) )", _FLAGS), "I am a "),
    (re.compile(r"^(?=going with )", _FLAGS), "I am "),
    (
        re.compile(
            r"^(?=(?:not|never been) (?:really )?(?:a (?:big |huge )?fan of|keen on|into|fond of"
            r"|big on) )",
            _FLAGS,
        ),
        "I am ",
    ),
    (re.compile(r"^(?=can not (?:stand|bear|be doing with|get on with|abide|eat|do \w+$))", _FLAGS), "I "),
    (re.compile(r"^(?=(?:\w+ty(?:[ -]\w+)?|\d{2}) years old\b)", _FLAGS), "I am "),
    (
        re.compile(
            r"^(?=(?:allergic to|lactose intolerant|coeliac|celiac|based in|married to|due (?:on"
            r"|in)|retired \w+ here"
            r"|(?:going|flying|moving|leaving|heading|travelling|traveling) (?:to |back |home |on "
            r"|for |there |(?=(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w* \d)).*\d))",
            _FLAGS,
        ),
        "I am ",
    ),
)


def with_subject(clause: str) -> str:
    """With the "I" that was left out."""
    for pattern, lead in _SUBJECTLESS:
        if pattern.match(clause):
            return pattern.sub(lead, f"{clause[0].lower()}{clause[1:]}", count=1)
    return clause
