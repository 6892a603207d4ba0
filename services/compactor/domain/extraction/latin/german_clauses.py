"""German clauses: whom they are about, and what their verbs mean (SPEC J-8). Pure."""

from __future__ import annotations

import re
from dataclasses import replace

from services.compactor.domain.extraction.latin import german_words as words
from services.compactor.domain.extraction.latin.language import NAME, Clause

_SENSES = {
    verb: line.partition(":")[0]
    for line in words.SENSES.strip().splitlines()
    for verb in line.partition(":")[2].split()
}


def _stem(infinitive: str) -> str:
    return (
        infinitive.removesuffix("n") if infinitive.endswith(("ern", "eln")) else infinitive.removesuffix("en")
    )


def _third(stem: str) -> str:
    """Wohnt, arbeitet, zeichnet."""
    return f"{stem}et" if re.search(r"(?:[td]|[^aeiouäöülrhmn][mn])$", stem) else f"{stem}t"


def _forms() -> tuple[dict[str, tuple[str, str]], dict[str, tuple[str, str]], dict[str, tuple[str, str]]]:
    """By form: the sense of a verb and its third person; of the first person, of the third, of the plural."""
    given = {line.split()[0]: line.split()[1:] for line in words.IRREGULAR.strip().splitlines()}
    first, third, plural = {}, {}, {}
    for verb, sense in _SENSES.items():
        one, other, all_ = given.get(verb, (f"{_stem(verb)}e", _third(_stem(verb)), verb))
        first[one] = third[other] = plural[all_] = (sense, other)
        if one.endswith("e"):
            first.setdefault(one[:-1], (sense, other))
    for verb, (one, other, all_) in given.items():
        if verb not in _SENSES:
            first[one] = third[other] = plural[all_] = ("do", other)
    return first, third, plural


FIRST, THIRD, PLURAL = _forms()
FIRST["hieß"] = THIRD["hieß"] = ("call", "hieß")
FIRST["war"] = THIRD["war"] = ("be", "war")
FIRST["wurde"] = THIRD["wurde"] = ("be", "wurde")
_BLOCKED = (
    r"(?:wenn|falls|ob|was|wie|wo|wann|warum|wieso|dass|als|weil|da|obwohl|damit|bevor|nachdem|sobald"
    r"|solange"
    r"|wer|wen|wem|welche\w*|hoffentlich|leider nicht|dann|so)\b"
)
_I = re.compile(r"^(?P<s>ich|wir) (?P<v>\w+)(?: (?P<rest>.+))?$", re.IGNORECASE)
_I_BEHIND = re.compile(
    rf"^(?:(?!{_BLOCKED})(?P<front>[^,]+?) )?(?P<v>(?-i:[a-zäöü])\w*) (?P<s>ich|wir)(?:,? (?P<rest>.+))?$",
    re.IGNORECASE,
)
_WE = re.compile(r"^(?P<who>[^,]{3,40}) und ich (?P<v>\w+) (?P<rest>.+)$", re.IGNORECASE)
_UNFINISHED = re.compile(
    r"^(?P<rest>(?:gestern|vorgestern|heute|letzte\w* \w+|am (?:montag|dienstag|mittwoch|donnerstag"
    rf"|freitag|samstag|sonntag)) .+ {words.PARTICIPLE})$",
    re.IGNORECASE,
)
_DROPPED = re.compile(r"^(?:und |aber )?(?P<v>\w+) (?P<rest>.+)$", re.IGNORECASE)
_NAMED = rf"(?:,? (?P<name>(?:(?:Herr|Frau) )?(?:Dr\. )?{NAME})\b(?: aus (?-i:[A-ZÄÖÜ])\w+)?,?)?"
_KIN = re.compile(
    rf"^{words.RELATIVE}{_NAMED},? (?P<v>(?-i:[a-zäöü])\w*)(?:"
    r" (?P<rest>.+))?$",
    re.IGNORECASE,
)
_KIN_BEHIND = re.compile(
    rf"^(?!{_BLOCKED})(?P<front>[^,]+?),? (?P<v>(?-i:[a-zäöü])\w*) {words.RELATIVE}{_NAMED} (?P<rest>.+)$",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    rf"^(?P<owner>(?-i:[A-ZÄÖÜ])[a-zäöüß]+?)s (?P<relation>(?:(?:{words.ADJECTIVES}) )?(?:{words.KIN}))"
    r" (?P<v>(?-i:[a-zäöü])\w*) (?P<rest>.+)$",
    re.IGNORECASE,
)
_FINITE = re.compile(r"\b(?:ist|sind|hat|haben|war|waren|wurden?|wird|habe|bin)\b", re.IGNORECASE)
_WHEN = re.compile(
    r"(?:gestern|vorgestern|heute|morgen|übermorgen|seit|am|im|ab|bis|in|vor|nach|letzte\w*|nächste\w*"
    r"|kommende\w*|diese\w*|jede\w*|immer|abends|morgens"
    r"|früher|von|mit|bei|\w+s)\b",
    re.IGNORECASE,
)
_WORDS_SHORT = """
    bin hab habe wohn mach komm geh arbeit spiel fahr trink ess les lern mag muss war hieß wurde leb
    sammel studier red back
"""
_SHORT = frozenset(_WORDS_SHORT.split())
_WORDS_JOINING = """
    dass weil wenn falls was wie wo als ob damit nicht auch noch denn oder und doch sobald solange bevor
    nachdem
"""
_JOINING = frozenset(_WORDS_JOINING.split())
_WORDS_POINTING = """
    das die der den dem es da dort so hier
"""
_POINTING = frozenset(_WORDS_POINTING.split())
_OURS = re.compile(
    r"^(?P<thing>(?:mein|meine|unser"
    rf"|unsere) [\w-]+(?: [\w-]+)??) (?P<v>(?-i:{'|'.join(sorted(THIRD, key=len, reverse=True))}"
    r"|[a-zäöü]\w+t)) (?P<rest>.+)$",
    re.IGNORECASE,
)
_OURS_BEHIND = re.compile(
    rf"^(?!{_BLOCKED})(?P<front>[^,]+?),? (?P<v>(?-i:[a-zäöü])\w*) (?P<thing>(?:mein|meine|unser"
    r"|unsere) [\w-]+)(?P<rest>(?: .+)?)$",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    r"(?:frage|problem|text|code|plan|idee|meinung|ziel|vorschlag|lieblings|satz|gefühl|kopf|eindruck"
    r"|wunsch|hoffnung"
    r"|angst|sorge|tag|leben|laune|schuld|fehler|ding|fall|fazit|tipp|rat)\w*$",
    re.IGNORECASE,
)
_SHE = re.compile(
    r"^(?:und |aber )?(?:er|sie|der"
    r"|die) (?P<v>(?-i:[a-zäöü])\w*) (?P<rest>.+)$",
    re.IGNORECASE,
)
_WORDS_NO_VERB = """
    nicht jetzt oft sonst fast erst selbst meist gut seit mit laut statt samt echt ist
"""
_NO_VERB = frozenset(_WORDS_NO_VERB.split())
_PERFECT = re.compile(rf"(?:^|.* )(?P<p>(?-i:(?=[a-zäöü])){words.PARTICIPLE})$", re.IGNORECASE)
_DECIDED = re.compile(
    r"^(?:(?:uns|mich|jetzt|nun|dafür|endlich) )*(?:beschlossen|entschieden)\b", re.IGNORECASE
)
_LIFE = {
    "grow": r"aufgewachsen|großgeworden",
    "born": r"geboren",
    "settle": r"(?:um|hin|weg|zurück|her)?gezogen|ausgewandert",
    "die": r"gestorben|verstorben",
    "decide": r"entschieden|beschlossen",
    "life": r"studiert|promoviert|geheiratet|gekündigt|gegründet|abgeschlossen|adoptiert|verkauft|verlobt"
    r"|getrennt|habilitiert|absolviert"
    r"|geerbt|befördert|eingeschult|ausgewandert|eröffnet",
    "once": r"gelernt|aufgehört|gebaut|gearbeitet|unterrichtet|gewonnen|operiert|geschrieben|gedient"
    r"|verkauft|angemeldet"
    r"|eingeschrieben|geworden|bekommen|aufgegeben|angefangen|gekauft|gewohnt|gelebt|gespielt|verbracht"
    r"|geführt|geleitet",
}
_SENSE_OF_PARTICIPLE = [
    (sense, re.compile(rf"^(?:{forms})$", re.IGNORECASE)) for sense, forms in _LIFE.items()
]
_DENIED = re.compile(r"\b(?:nicht(?! (?:weit|nur|allzu))|nichts|keine?[nrms]?)\b", re.IGNORECASE)
_UNBEARABLE = re.compile(
    r"^(?P<o>.+) nicht (?:ausstehen|leiden|ab|riechen)(?:, .+)?$|^keine?n? .+ (?:essen|trinken"
    r"|ab)(?:, .+)?$",
    re.IGNORECASE,
)


def parse(text: str) -> Clause | None:
    """A clause by its order: "ich wohne ...", "gestern habe ich ...", "mein Bruder Jens hat ..."."""
    if match := _I.match(text):
        return _said(_verb(match["v"], match["s"]), "I", match["rest"] or "")
    if (match := _WE.match(text)) and match["v"].lower() in PLURAL:
        clause = _said(PLURAL[match["v"].lower()], "I", match["rest"])
        return replace(clause, verb=f"und {match['who']} {match['v'].lower()}") if clause else None
    match = _I_BEHIND.match(text)
    if match and (match["front"] or "").lower() not in _POINTING:
        return _said(_verb(match["v"], match["s"]), "I", match["rest"] or "", match["front"] or "")
    for pattern in (_KIN, _KIN_BEHIND):
        if match := pattern.match(text):
            front = match.groupdict().get("front") or ""
            return _said(
                _of_third(match["v"]),
                "kin",
                match["rest"] or "",
                front,
                " ".join(match["relation"].split()),
                match["name"] or "",
            )
    if match := _OTHERS.match(text):
        clause = _said(_of_third(match["v"]), "kin", match["rest"], "", match["relation"])
        return replace(clause, owner=match["owner"]) if clause else None
    match = _OURS.match(text) or _OURS_BEHIND.match(text)
    if match and not _VAGUE.search(match["thing"]) and (verb := _of_third(match["v"])):
        clause = _said(verb, "thing", match["rest"].strip(), match.groupdict().get("front") or "")
        return (
            replace(
                clause,
                verb=rf": {match['thing'].split(' ', 1)[1]}"
                rf" {clause.verb}",
            )
            if clause
            else None
        )
    if match := _SHE.match(text):
        return _said(_of_third(match["v"]), "same", match["rest"])
    if (match := _UNFINISHED.match(text)) and not _FINITE.search(text):
        return _said(("have", "hat"), "I", match["rest"])
    if match := _DROPPED.match(text):
        known = match["v"].lower()
        if known in FIRST and (known.endswith("e") or known in _SHORT):
            both = "same or I" if known in THIRD else "I"
            return _said(FIRST[known], both, match["rest"])
        if match["v"].islower():
            return _said(_of_third(match["v"]), "same", match["rest"])
    return None


def _verb(form: str, pronoun: str) -> tuple[str, str] | None:
    """Sense and third person of a verb in the first person."""
    form = form.lower()
    if pronoun.lower() == "wir":
        if form in PLURAL:
            return PLURAL[form]
        return ("do", _third(_stem(form))) if form.endswith("n") and len(form) > 4 else None
    if form in FIRST:
        return FIRST[form]
    if form in _JOINING or len(form) < 4:
        return None
    return "do", _third(form.removesuffix("e"))


def _of_third(form: str) -> tuple[str, str] | None:
    if form in THIRD:
        return THIRD[form]
    if form in PLURAL:
        return PLURAL[form][0], form
    if form in _NO_VERB or not form.endswith("t") or len(form) < 4:
        return None
    return "do", form


def _said(
    verb: tuple[str, str] | None, about: str, rest: str, front: str = "", relation: str = "", name: str = ""
) -> Clause | None:
    if verb is None:
        return None
    sense, third = verb
    done = _PERFECT.match(front) if sense in {"have", "be"} else None
    last = done or (sense in {"have", "be"} and rest and not _PERFECT.match(rest) and not _WHEN.match(front))
    whole = " ".join((f"{rest} {front}" if last else f"{front} {rest}").split())
    if sense == "call":
        whole = rest
    time = "now"
    if sense in {"have", "be"} and (_DECIDED.match(whole) or _PERFECT.match(whole)):
        match = None if _DECIDED.match(whole) else _PERFECT.match(whole)
        participle = match["p"] if match else "entschieden"
        time = "past"
        known = next((one for one, forms in _SENSE_OF_PARTICIPLE if forms.match(participle)), "do")
        sense = "do" if known == "settle" and sense == "have" else known
    elif sense == "can":
        if not _UNBEARABLE.match(whole):
            return None
        sense = "bear"
    elif sense == "must":
        time = "must"
    elif third in {"war", "wurde"}:
        time = "past"
    return Clause(
        about=about,
        verb=third,
        sense=sense,
        rest=whole,
        time=time,
        denied=bool(_DENIED.search(whole)),
        relation=relation,
        name=name,
    )
