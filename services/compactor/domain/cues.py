"""Words by which a statement is known for a decision, a state of work, or a plan. Pure.

They only choose headings and weights: a language without an entry loses these, nothing else.
"""

from __future__ import annotations

import re

from services.compactor.domain.summaries import Section


def _any(words: str) -> re.Pattern[str]:
    """Words of scripts with spaces match whole, others anywhere."""
    spaced = [word for word in words.split("|") if word.isascii() or not re.search(r"[\u3040-\uffff]", word)]
    others = [word for word in words.split("|") if word not in spaced]
    return re.compile("|".join([rf"\b(?:{'|'.join(spaced)})\b", *others]), re.IGNORECASE)


OBJECTIVE = _any(
    "goal|objective|i want|we want|i need|we need|i'd like|i would like|help me|can you|could you|please"
    "|ziel|ich möchte|wir wollen|ich brauche|bitte|objectif|je veux|je voudrais|quiero|necesito|objetivo"
    "|目标|目標|我想|我要|请|したい|ください|하고 싶"
)
_DECIDED_WORDS = (
    "decided|agreed|let's go with|we'll use|we will use|settled on|chose|chosen|beschlossen"
    "|entschieden|décidé|convenu|decidido|acordado|决定|決定|同意|決めた"
)
DECIDED = _any(_DECIDED_WORDS)
DECISION = _any(f"{_DECIDED_WORDS}|decision|important|remember|wichtig|importante|必须|重要")
_STATES = {
    Section.BLOCKED: _any(
        "blocked|blocker|stuck|waiting for|waiting on|does not work|doesn't work|can't get|fails|failing"
        "|blockiert|hängt|bloqué|bloqueado|卡住|受阻|失败|失敗|エラー"
    ),
    Section.COMPLETED: _any(
        "done|finished|completed|fixed|merged|deployed|shipped|implemented|released|resolved"
        "|erledigt|fertig|behoben|terminé|corrigé|terminado|hecho|完成|修复|完了|修正しました"
    ),
    Section.ACTIVE: _any(
        "working on|in progress|currently|at the moment|arbeite an|arbeiten an|gerade dabei|en cours|en curso"
        "|trabajando en|正在|进行中|進行中"
    ),
    Section.NEXT: _any(
        "next step|next steps|next up|todo|to-do|to do|follow up|remind me|don't forget|tomorrow|next week"
        "|als nächstes|morgen|nächste woche|prochaine étape|demain|siguiente paso|mañana"
        "|下一步|接下来|接下來|明天|次は|明日|待办"
    ),
}
_NOT_YET = re.compile(
    r"\b(?:not|never|isn['’]t|aren['’]t|wasn['’]t|hasn['’]t|haven['’]t|won['’]t|can['’]t|nicht|nie|pas|no|nunca)"
    r"(?:\s+\w+){0,2}?\s+(?:done|finished|completed|fixed|merged|deployed|shipped|implemented|released|resolved"
    r"|erledigt|fertig|behoben|terminé|corrigé|terminado|hecho)\b|(?:没有|没|未|尚未)(?:完成|修复)|未完了",
    re.IGNORECASE,
)
"""What is said not to be done."""
_UNBLOCKED = _any(
    "unblocked|works again|works now|no longer blocked|no longer fails|wieder frei|débloqué|desbloqueado"
)
"""What blocks no more."""


def state(text: str) -> Section | None:
    """Which heading of work a statement belongs under, None for none."""
    found = next((section for section, words in _STATES.items() if words.search(text)), None)
    if found is Section.COMPLETED and _NOT_YET.search(text):
        return Section.ACTIVE
    return Section.ACTIVE if found is Section.BLOCKED and _UNBLOCKED.search(text) else found


def unblocks(text: str) -> bool:
    """Whether it says that something blocks no more."""
    return bool(_UNBLOCKED.search(text))


def asks(text: str) -> bool:
    """Whether it is a question, in any script that marks one."""
    return text.rstrip("\"'”’»)]」』）").endswith(("?", "？", "؟"))
