"""Spanish clauses: whom they are about, and what their verbs mean (SPEC J-8). Pure."""

from __future__ import annotations

import re
from dataclasses import replace

from services.compactor.domain.extraction.latin import spanish_words as words
from services.compactor.domain.extraction.latin.language import (
    NAME,
    Clause,
    loose,
    plain,
)

_Verb = tuple[str, str]
"""The sense of a verb, and its third person."""


def _regular(verb: str) -> list[str]:
    """The present of I, she, we, they; the preterite of I, she, we."""
    stem, vowel = verb[:-2], verb[-2]
    soft = re.sub(r"z$", "c", re.sub(r"g$", "gu", re.sub(r"c$", "qu", stem)))
    if vowel == "a":
        return [f"{stem}o", f"{stem}a", f"{stem}amos", f"{stem}an", f"{soft}é", f"{stem}ó", f"{stem}amos"]
    ours = f"{stem}{'imos' if vowel in 'ií' else 'emos'}"
    return [f"{stem}o", f"{stem}e", ours, f"{stem}en", f"{stem}í", f"{stem}ió", f"{stem}imos"]


def _plural(once: str, verb: str) -> str:
    """Of the preterite: compraron, vivieron, pusieron, dijeron."""
    if once.endswith("ió") or once in {"dijo", "fue", "trajo"} or once.endswith("dujo"):
        return f"{once[:-1].removesuffix('e')}eron" if once != "fue" else "fueron"
    return f"{once[:-1]}{'aron' if verb.endswith('ar') and once.endswith('ó') else 'ieron'}"


def _forms() -> tuple[dict[str, _Verb], dict[str, _Verb], dict[str, _Verb], dict[str, _Verb]]:
    """By form: now of I and we, now of others, then of I and we, then of others."""
    given = {line.split()[0]: line.split()[1:] for line in words.IRREGULAR.strip().splitlines()}
    mine: dict[str, _Verb] = {}
    theirs: dict[str, _Verb] = {}
    then: dict[str, _Verb] = {}
    once: dict[str, _Verb] = {}
    for line in words.SENSES.strip().splitlines():
        sense, _, verbs = line.partition(": ")
        for verb in verbs.split():
            one, she, we, they, did, other, ours = given.get(verb) or _regular(verb)
            for table, form, third in (
                (mine, one, she),
                (mine, we, she),
                (theirs, she, she),
                (theirs, they, they),
            ):
                table.setdefault(form, (sense, third))
            for table, form, third in ((then, did, other), (then, ours, other), (once, other, other)):
                table[form] = (sense, third)
            once[_plural(other, verb)] = (sense, _plural(other, verb))
    for table in (then, once):
        for form, known in list(table.items()):
            if form.endswith(("í", "ió")):
                table.setdefault(plain(form), known)
    return mine, theirs, then, once


MINE, THEIRS, THEN, ONCE = _forms()
THEIRS["llamaba"] = ("call", "llamaba")
THEIRS["esta"] = ("be", "está")
_FLAGS = re.IGNORECASE
FIRSTS = "|".join(
    sorted({*MINE, *THEN, "suelo", "acabo", "acabamos", "he", "hemos"} - {"una"}, key=len, reverse=True)
)
_VERB = (
    r"(?P<n>(?:ya )?no |nunca |tampoco )?(?P<c>(?:(?:me|nos|se|le|les|lo|la|los|las"
    r"|te) )*)(?P<v>\w+)(?: (?P<rest>.+))?$"
)
_PLAIN = re.compile(
    loose(
        r"^(?:y |pero )?(?P<s>yo |nosotr[oa]s |ella |él |a mí |a nosotr[oa]s )?(?:(?:también|ya|por fin"
        rf"|siempre|además|todavía|aún|hoy|desde entonces) )*{_VERB}"
    ),
    _FLAGS,
)
_NAMED = rf"(?:,? (?P<name>(?:(?:don|doña|señor|señora) )?{NAME})\b(?: de (?-i:[A-ZÁÉÍÓÚ])\w+)?,?)?"
_KIN = re.compile(loose(rf"^(?:y |pero )?(?P<to>a )?{words.RELATIVE}{_NAMED},? (?:también )?{_VERB}"), _FLAGS)
_KIN_BEHIND = re.compile(
    loose(rf"^(?P<c>(?:(?:se|le|les) )?)(?P<v>\w+) {words.RELATIVE}{_NAMED}(?P<n>)(?: (?P<rest>.+))?$"),
    _FLAGS,
)
_WE = re.compile(loose(r"^(?P<who>(?:mi|mis|los|las|nuestr[oa]) [^,]{3,40}?) y yo (?P<r>.+)$"), _FLAGS)
_FRONTED = re.compile(loose(rf"^(?P<w>{words.WHEN}),? (?P<r>.+)$"), _FLAGS)
_OFTEN = re.compile(
    loose(
        r"^(?P<w>(?:tod[oa]s l[oa]s|cada|los|en|desde|con|por"
        rf"|a) [\w ]{{2,30}}?(?<! el)(?<! la)(?<! un)(?<! una)(?<! mi)(?<! de)),? (?P<r>(?:(?:me|nos|no|yo"
        rf"|también) )*(?:{FIRSTS})\b.*)$"
    ),
    _FLAGS,
)
_OTHERS = re.compile(
    loose(
        rf"^(?:el |la |los |las )(?P<relation>(?:{words.KIN})) de (?P<owner>(?-i:[A-ZÁÉÍÓÚÑ])\w+),? {_VERB}"
    ),
    _FLAGS,
)
_OURS = re.compile(
    loose(r"^(?:y |pero )?(?P<thing>(?:mis?|nuestr[oa]s?) \w+(?: (?!no\b)\w+){0,3}?) (?P<c>(?:se )?)(?P<v>")
    + "|".join(sorted({*THEIRS, *ONCE}, key=len, reverse=True))
    + r") (?P<rest>.+)$",
    _FLAGS,
)
_VAGUE = re.compile(
    loose(
        r"\b(?:pregunta|problema|texto|código|plan|idea|opinión|objetivo|propuesta|frase|impresión|cabeza"
        r"|deseo|esperanza|miedo|duda|vida|humor|culpa|error"
        r"|cosa|caso|conclusión|consejo|sueño|día|semana|favorit[oa]s?|preferid[oa]s?|lado|corazón|amor)\b"
    ),
    _FLAGS,
)
_OBJECT = re.compile(
    loose(
        r"^(?:yo |a mí )?(?P<o>(?:el |la |los |las )[^,]{2,40}?),? (?P<r>(?:no )?(?:(?P<c>lo|la|los"
        r"|las) \w+|(?:me|nos) \w+)\b.*)$"
    ),
    _FLAGS,
)
_DONE = re.compile(loose(rf"^(?:(?:ya|por fin|también|siempre) )?(?P<p>{words.PARTICIPLE})\b"), _FLAGS)
_LIFE = [
    (sense, re.compile(loose(rf"^(?:{forms})$"), _FLAGS))
    for sense, forms in (
        ("grow", "crecido|criado"),
        ("born", "nacido"),
        ("settle", "mudado"),
        ("die", "muerto|fallecido"),
        ("decide", "decidido"),
        ("choose", "elegido|escogido"),
        ("life", "estudiado|casado|divorciado|jubilado|fundado|publicado|adoptado|emigrado|apuntado"),
        (
            "once",
            "abierto|dejado|aprobado|vendido|comprado|montado|trabajado|vivido|ganado|perdido|empezado|construido",
        ),
    )
]
_AGO = re.compile(loose(r"\b(?:ayer|anteayer|anoche|pasad[oa]|(?<!desde )hace|en \d{4})\b"), _FLAGS)
_JUST = re.compile(
    r"de (?:mudar(?:me|nos|se)|adoptar|comprar|abrir|empezar|dejar|firmar|tener|casar(?:me|nos|se)"
    r"|jubilar(?:me|se)|terminar|aprobar|divorciar(?:me|se)"
    r"|cambiar|cumplir|estrenar|montar|heredar|publicar)\b"
)
_JUST_NOW = {"acabo": "acaba", "acabamos": "acaba", "acaba": "acaba", "acaban": "acaban"}
_USUALLY = {"suelo": "suele", "solemos": "suele", "suele": "suele", "suelen": "suelen"}
_HAVE = {"he": "ha", "hemos": "ha", "ha": "ha", "han": "han"}


def parse(text: str) -> Clause | None:
    """A clause by its order: "vivo en ...", "ayer compré ...", "mi hermano Pablo ...", "a mi hija le ..."."""
    if match := _FRONTED.match(text) or _OFTEN.match(text):
        first, comma, others = match["r"].partition(",")
        text = f"{first} {match['w']}{comma}{others}"
    if match := _WE.match(text):
        clause = parse(match["r"])
        return (
            replace(clause, verb=f"(con {match['who']}) {clause.verb}")
            if clause and clause.about == "I"
            else None
        )
    if match := _KIN.match(text):
        return _of_kin(match, dative=bool(match["to"]))
    if match := _OTHERS.match(text):
        clause = _of_kin(match, dative=False)
        return replace(clause, owner=match["owner"]) if clause else None
    match = _OURS.match(text)
    if match and not _VAGUE.search(match["thing"]) and (clause := _of_thing(match)):
        return clause
    if match := _OBJECT.match(text):
        bare = re.sub(rf"^(no )?{match['c']} ", r"\1", match["r"], flags=_FLAGS) if match["c"] else match["r"]
        clause = parse(bare)
        return replace(clause, rest=f"{match['o']} {clause.rest}".strip()) if clause else None
    if (match := _KIN_BEHIND.match(text)) and (match["v"].lower() in THEIRS or match["v"].lower() in ONCE):
        return _of_kin(match, dative=False)
    if match := _PLAIN.match(text):
        return _of_plain(match)
    return None


def _of_thing(match: re.Match[str]) -> Clause | None:
    verb = _time(match["v"].lower(), THEIRS, ONCE, match["rest"])
    clause = _made("thing", verb, match["c"].strip(), None, match["rest"]) if verb else None
    return replace(clause, verb=f": su {match['thing'].split(' ', 1)[1]} {clause.verb}") if clause else None


def _of_kin(match: re.Match[str], *, dative: bool) -> Clause | None:
    clitics = match["c"].split()
    verb = _time(match["v"].lower(), THEIRS, ONCE, match["rest"] or "")
    if (
        verb is None
        or (dative and not set(clitics) & {"le", "les"})
        or set(clitics) & {"lo", "la", "los", "las", "me", "te"}
    ):
        return None
    relation = " ".join(match["relation"].split())
    clause = _made("kin", verb, " ".join(clitics), match["n"], match["rest"] or "")
    return replace(clause, relation=relation, name=match.groupdict().get("name") or "") if clause else None


def _of_plain(match: re.Match[str]) -> Clause | None:
    form, clitics, rest = match["v"].lower(), match["c"].lower().split(), match["rest"] or ""
    if set(clitics) & {"te", "lo", "la", "los", "las"}:
        return None
    mine = {"me", "nos"} & set(clitics)
    if (verb := _time(form, MINE, THEN, rest)) and form not in {
        "ha",
        "han",
        "suele",
        "suelen",
        "acaba",
        "acaban",
    }:
        return _made("I", verb, "se" if mine else " ".join(clitics), match["n"], rest)
    verb = _time(form, THEIRS, ONCE, rest)
    if verb is None:
        return None
    if mine:  # "me gusta", "me operan"
        sense = "get" if verb[1].endswith("n") and verb[0] in {"do", "practise", "life", "think"} else verb[0]
        return _made("I", (sense, *verb[1:]), "se le" if "se" in clitics else "le", match["n"], rest)
    if (match["s"] or "").strip().lower() in {"yo", "a mí", "a mi"}:
        return None
    return _made("same", verb, " ".join(clitics), match["n"], rest)


def _time(form: str, now: dict[str, _Verb], then: dict[str, _Verb], rest: str) -> tuple[str, str, str] | None:
    """A verb's sense, third person and time; "compramos" is of the past if its clause is."""
    if form in _HAVE and rest.startswith("sido "):
        return "be", f"{_HAVE[form]} sido", "past"
    if form in _HAVE and (done := _DONE.match(rest)):
        sense = next((one for one, forms in _LIFE if forms.match(done["p"])), "do")
        return sense, _HAVE[form], "past"
    if form in _JUST_NOW:
        return ("life", _JUST_NOW[form], "past") if _JUST.match(rest) else None
    if form in _USUALLY:
        return "usually", _USUALLY[form], "now"
    if form in now and not (form in then and _AGO.search(rest)):
        return *now[form], "now"
    return (*then[form], "past") if form in then else None


def _made(
    about: str, verb: tuple[str, str, str], clitics: str, denial: str | None, rest: str
) -> Clause | None:
    sense, third, time = verb
    if third.endswith(" sido"):
        rest = rest.removeprefix("sido ")
    if third in {"es", "está", "son", "están"} and re.match(r"\w+[ae]ndo\b", rest):
        return None
    if rest.startswith("que ") and third == "tiene":
        sense, third, time, rest = "must", "tiene que", "must", rest.removeprefix("que ")
    if (
        sense == "bear"
        and third in {"puede", "pueden"}
        and not re.match(r"(?:con (?!ell|él|es[oa])|comer|tomar|beber)\b", rest)
    ):
        return None
    if sense == "grow" and time == "now":
        sense = "practise"
    no = (denial or "").strip().lower()
    if no == "nunca" and sense in {"do", "practise"}:
        sense = "never"
    to = ": " if clitics.endswith(("le", "les")) and about != "same" else ""
    return Clause(
        about=about,
        verb=to + " ".join(f"{no} {clitics} {third}".split()),
        sense=sense,
        rest=rest,
        time=time,
        denied=bool(no),
    )
