"""What English imperatives ask to be noted, or to be done from now on (SPEC J-8). Pure."""

from __future__ import annotations

import re

from services.compactor.domain.extracting_acts import made, to_do
from services.compactor.domain.extracting_states import Clause
from services.compactor.domain.extracting_subjects import slug
from services.compactor.domain.extracting_types import Category, Fact
from services.compactor.domain.extracting_verbs import about, trimmed

_FLAGS = re.IGNORECASE
_REMIND = re.compile(
    r"^(?:please )?(?:remind me (?:to|that I (?:need|have) to)|do not let me forget to"
    r"|help me remember to) (?P<o>.+)$",
    _FLAGS,
)
_LISTED = re.compile(
    r"^(?:please )?(?:add|put|note) (?P<o>.+?) (?:on|to|onto|in) (?:my|the|our) (?:to-?do|task"
    r"|todo)s?(?: list)?$",
    _FLAGS,
)
_STANDING = re.compile(
    r"\b(?:always|never|from now on|going forward|in (?:the )?future|by default|every time"
    r"|whenever|at all times|ever|in your (?:answers|replies|responses|messages)"
    r"|when(?:ever)? you (?:write|talk|reply|answer|respond))\b",
    _FLAGS,
)
_ORDERS = (
    "use|answer|reply|respond|write|give|cite|address|call|speak|keep|include|add|avoid|ask"
    "|explain|put|show|format|start"
    "|begin|end|skip|mention|check|translate|make|assume|treat|convert|provide|stick|remind"
    "|round|sign|refer|wait|suggest"
    "|recommend|send|quote|talk|tell|list|summari[sz]e|state|say|leave|apologi[sz]e|greet"
    "|order|sort|limit|spell|omit|warn"
    "|confirm|double-check|present|structure|default|prefix|label"
)
_IMPERATIVE = re.compile(
    rf"^(?:(?:please|from now on|going forward|in (?:the )?future|for (?:code|the)[\w ]{{2,30}}"
    r"|by default|always|never|whenever .+?|when I [\w ]+?|do not ever)[, ]+)*(?P<n>do not "
    rf"|never )?(?:ever |always )?(?P<v>{_ORDERS})\b(?P<o>.*)$",
    _FLAGS,
)
_CALL = re.compile(
    r"^(?:please )?(?:(?:from now on|in future)[, ]+)?(?:just |please )*(?:call"
    r"|address) me (?:as |by )?(?P<o>(?:Dr|Ms|Mr|Mrs"
    r"|Prof)?\.? ?(?-i:[^\W\d_a-z])[\w'-]*(?: (?-i:[A-Z])[\w'-]*)?)(?: (?:from now on|instead"
    r"|in future|please))?$",
    _FLAGS,
)
_MANNER_OF_ANSWERS = re.compile(
    r"^(?:please )?(?:keep (?:your|all|the) (?:answers|replies|responses|explanations)\b"
    r"|stick to [\w ]+ (?:spelling|units|english)\b"
    r"|when(?:ever)? I (?:ask|say|write|send|give|mention)\b.+,)",
    _FLAGS,
)
_LANGUAGE_WITH_ME = re.compile(
    r"^(?:please )?(?:always )?(?:speak|talk|write|answer|reply)(?: to"
    r"| with)? (?:me )?(?:only )?(?:in )?(?-i:[A-Z])\w+(?: (?:with|to) me)?$",
    _FLAGS,
)
_WITH_ME = re.compile(
    r" (?:when|whenever|if) you (?:write|talk|speak|reply|answer|respond)(?: (?:to|with))?(?: me)?$", _FLAGS
)
_NO_ORDER = re.compile(
    r"\b(?:give up|say never|keep (?:going|it up|on|pushing)|stop (?:believing|trying))\b"
    r"|^(?:be (?:careful|safe|nice)|tell me (?:a|about)|give me a|never mind|say hi"
    r"|make sure you sleep)",
    _FLAGS,
)


def read_order(text: str, clause: Clause) -> list[Fact]:
    """From an imperative: a task to be reminded of, or a standing wish about how the assistant behaves."""
    if match := _REMIND.match(text) or _LISTED.match(text):
        found = to_do(clause, match["o"], asked=True)
        return [found] if found else []
    author = clause.author
    if match := _CALL.match(text):
        found = made(
            author, Category.INSTRUCTION, "form-of-address", f"wants to be called {match['o'].strip()}"
        )
        return [found] if found else []
    match = _IMPERATIVE.match(text)
    standing = (
        _STANDING.search(text)
        or _MANNER_OF_ANSWERS.match(text)
        or (_LANGUAGE_WITH_ME.match(text) and re.search(r"\bme\b", text))
    )
    if match is None or not standing or _NO_ORDER.search(text):
        return []
    text = _WITH_ME.sub("", text)
    order = re.sub(
        r"\byou\b", "the assistant", re.sub(r"\byour\b", "its", trimmed(text), flags=_FLAGS), flags=_FLAGS
    )
    order = re.sub(r"^please ", "", about(order, author), flags=_FLAGS)
    language = re.search(
        r"\b(?:answer|reply|respond|write|speak|talk)\b(?: \w+)? in (?-i:[A-Z])\w+$", text, _FLAGS
    )
    slot = "reply-language" if language else slug(match["v"] + match["o"])
    found = made(author, Category.INSTRUCTION, f"instruction.{slot}", f"asks: {order}" if order else "")
    return [found] if found else []
