"""What English clauses tell of choices that were made (SPEC J-8). Pure."""

from __future__ import annotations

import re

from services.compactor.domain.extraction.english.states import Clause, made
from services.compactor.domain.extraction.english.verbs import UNTOLD, about, third
from services.compactor.domain.extraction.facts import Category, Fact, Subject
from services.compactor.domain.extraction.subjects import slug

_FLAGS = re.IGNORECASE
_DECIDED = re.compile(
    r"^(?:have |has )?(?:now |finally |just |both |all )?(?P<p>decided (?:to(?! (?:try|ask"
    r"|give it|see|check|look|go for it)\b)|on|that|against"
    r"|not to|in favou?r of)"
    r"|decided(?= (?:I|we) )|agreed (?:to|on|that)|agreed(?= no\b)"
    r"|took(?= the (?:[\w-]+ )?(?:job|offer|role|place|flat|deal|position)\b)"
    r"|settled (?:on|for)|chosen|chose|picked(?! up| out a fight)"
    r"|opted (?:for|to)|gone with|went with"
    r"|turned(?= (?:the|my|an?|his|her) [\w' -]+ down\b)|said (?:no|yes) to(?= (?:the|an?|my|our|his"
    r"|her)\b)|turned down(?= (?:the|an?|my"
    r"|his|her)\b)|accepted(?= (?:the|an?|my|his|her)\b)|ruled out|plumped for"
    r"|ditched(?! (?:me|us|him|her|them)\b)|resolved to|made up (?:my|our|his|her) minds? to"
    r"|committed to|voted (?:to|for)) (?P<o>.+)$",
    _FLAGS,
)
_GOING_WITH = re.compile(
    r"^(?:(?:am|are|is) (?:doing|taking|getting|having|buying|keeping|going (?:to"
    r"|for)|moving to|switching to)(?= .+ instead\b)|(?:am|are|is) (?:going with|sticking (?:with|to)"
    r"|dropping(?! (?:off|by|in|out)\b)|going for(?= the\b))|(?:will|am going to"
    r"|are going to) go with) (?P<o>.+)$",
    _FLAGS,
)
_NO_CHOICE = re.compile(
    r"^the (?:wrong|right|first|second|other|same|last|file|option|following|terms|rules"
    r"|conditions|flow)\b|\bat random\b",
    _FLAGS,
)
_VERDICT = re.compile(
    r"^(?:(?:ok|okay|so|right|well|alright|all right),? )*(?:it is )?(?:decided|(?:the "
    r"|my |our )?(?:final )?(?:decision|verdict)"
    r"(?: made| is)?|settled|final answer|it is settled)(?: then)?\s*[:,-] (?P<o>.+)$"
    r"|^(?:(?:ok|okay|so|right|well|alright|all right),? )*(?:I|we) (?:have )?(?:finally |both |all )?"
    r"(?:chosen|decided|picked|agreed|made (?:my|our|a|the) decision|made up (?:my"
    r"|our) minds?)\s*[:-] (?P<p>.+)$",
    _FLAGS,
)
_IT_IS = re.compile(
    r"^(?:(?:ok|okay|so|right|well|alright|all right|fine|then),? )*(?P<o>(?:the "
    r"|a )?(?:[\w'-]+ ){0,4}?[\w'-]+) it is"
    r"(?: then)?(?P<t>,? and (?:by|in|on|with|for|at) [\w' -]+)?$",
    _FLAGS,
)
_NO_VERDICT = re.compile(
    r"^(?:it|how|what|that|as|so|whatever|where|who|yes|no(?! more\b)|if|I think|maybe|not|because"
    r"|this|ok|okay|and|but|then|sure|fine)\b"
    r"|\b(?:time|day|late|what|how|way|problem|hard|easy|true|think|guess|where|because)$",
    _FLAGS,
)
_SURE = re.compile(
    r"\bmade (?:up (?:my|our) minds?|(?:my|our) minds? up)\b|\b(?:that|it) is (?:decided|final|settled)\b"
    r"|\bthe decision is (?:made|final)\b"
    r"|\bwe have (?:decided|a decision)\b|\bit is official\b|\b(?:we are|I am) (?:sure"
    r"|certain|decided)\b(?!,? (?:that|if|about|you|it|there))"
    r"|^(?:that is )?(?:final|decided|settled)$|\bno going back\b|\bfinal answer\b",
    _FLAGS,
)
_NOT_RESOLVED = re.compile(r"^(?:am|are|is) (?:not )?(?:sure|certain|decided)\b", _FLAGS)
_LET_US = re.compile(
    r"^let(?:'s| us) (?:just )?(?:do|go (?:with|for)|take|get|book|pick|choose|stick with"
    r"|use) (?P<o>.+)$",
    _FLAGS,
)
_RESOLVED = re.compile(
    r"^(?:am|are|is|will|am going to|are going to) (?P<o>(?:not )?\w+(?:ing)?\b.+)$", _FLAGS
)


def read_decision(clause: Clause, rest: str) -> Fact | None:
    """A choice that somebody made: "decided to sell the boat"."""
    match = _DECIDED.match(rest) or _GOING_WITH.match(rest)
    if (
        match is None
        or match["o"].split()[0].lower()
        in {"wrong", "it", "this", "up", "them", "him", "her", "these", "those"}
        or _NO_CHOICE.search(match["o"])
    ):
        return None
    said = about(
        re.sub(
            r"^(?:have|has|am|are) ", lambda m: {"am ": "is ", "are ": "is "}.get(m.group(), "has "), rest
        ),
        clause.author,
    )
    return made(clause.subject, Category.DECISION, f"decision.{slug(match['o'])}", said)


def decision_of(clause: Clause) -> list[Fact]:
    """A plan of which its sentence says that it is decided."""
    match = _RESOLVED.match(clause.rest)
    if match is None or _NOT_RESOLVED.match(clause.rest):
        return []
    verb, _, rest = clause.rest.partition(" ")
    said = about(f"{third(verb) if verb.lower() != 'will' else 'will'} {rest}", clause.author)
    found = made(clause.subject, Category.DECISION, f"decision.{slug(match['o'])}", said)
    return [found] if found else []


def read_decided(sentence: str, author: Subject) -> list[Fact]:
    """From "Decided then: SQLite for the archive", "blue it is"."""
    match = _VERDICT.match(sentence) or _IT_IS.match(sentence)
    chosen = (match["o"] or match["p"]) if match and match.re is _VERDICT else match and match["o"]
    if match is None or not chosen or (_NO_VERDICT.match(chosen) and not match.groupdict().get("p")):
        return []
    what = re.split(r",? (?:because|since|as it|so that|and that is)\b", chosen, flags=_FLAGS)[0]
    if UNTOLD.search(chosen):
        return []
    what += (match["t"] or "") if match.re is _IT_IS else ""
    plan = re.match(
        r"(?:I am|we are|I will|we will|I|we) (?:going with |going for |going to "
        r"|not )?(?P<o>.+)$",
        what,
        _FLAGS,
    )
    bare = re.match(r"(?:I|we) (?!am\b|are\b|will\b|have\b|do\b)(?P<v>[a-z]+) (?P<r>.+)$", what, _FLAGS)
    what = f"{third(bare['v'])} {bare['r']}" if bare else what
    said = about(f"decided: {what}" if plan else f"decided on {what}", author)
    found = made(author, Category.DECISION, f"decision.{slug(plan['o'] if plan else what)}", said)
    return [found] if found else []


def read_proposed(clause: str, own: Clause) -> list[Fact]:
    """From "let's take the blue one", where it is said to be settled."""
    match = _LET_US.match(clause)
    found = (
        made(
            own.author,
            Category.DECISION,
            f"decision.{slug(match['o'])}",
            about(f"chose {match['o']}", own.author),
        )
        if match
        else None
    )
    return [found] if found else []


def is_sure(sentence: str) -> bool:
    """Whether a sentence says that something is decided."""
    return bool(_SURE.search(sentence))
