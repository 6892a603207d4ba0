"""French clauses: whom they are about, and what their verbs mean (SPEC J-8). Pure."""

from __future__ import annotations

import re
from dataclasses import replace

from services.compactor.domain.extraction.latin import french_words as words
from services.compactor.domain.extraction.latin.language import (
    NAME,
    Clause,
    loose,
)

_SENSES = {
    verb: line.partition(":")[0]
    for line in words.SENSES.strip().splitlines()
    for verb in line.partition(":")[2].split()
}


def _forms() -> tuple[dict[str, tuple[str, str]], dict[str, tuple[str, str]]]:
    """By form of the first and of the third person: the sense of a verb, and its third person."""
    given = {line.split()[0]: line.split()[1:] for line in words.IRREGULAR.strip().splitlines()}
    first, third = {}, {}
    for verb in _SENSES.keys() | given.keys():
        stem, sense = verb[:-2], _SENSES.get(verb, "do")
        ours = f"{stem}e" if stem.endswith("g") else stem
        one, other, they, we = given.get(verb, (f"{stem}e", f"{stem}e", f"{stem}ent", f"{ours}ons"))
        first[one] = first[we] = (sense, other)
        third[other], third[they] = (sense, other), (sense, they)
    return first, third


FIRST, THIRD = _forms()
FIRST["appelais"] = THIRD["appelait"] = ("call", "appelait")
FIRST["étais"] = THIRD["était"] = ("be", "était")
_CLITICS = r"(?P<c>(?:(?:ne|me|se|nous|y|en|le|la|les|lui|leur) |(?:n'|m'|s'|l'|y'))*)"
_VERB = (
    rf"{_CLITICS}(?P<v>\w+)(?P<n> (?:(?:toujours|même|vraiment|absolument|surtout) )?(?:pas|plus|jamais"
    r"|guère|point)\b(?: (?:trop|vraiment|du tout|beaucoup))?)?"
    r"(?: (?P<rest>.+))?$"
)
_FLAGS = re.IGNORECASE
_I = re.compile(loose(rf"^(?:et )?(?:(?:moi|nous|perso),? )?(?P<s>je |j'|on |nous ){_VERB}"), _FLAGS)
_KIN = re.compile(
    loose(
        rf"^(?:et )?{words.RELATIVE}(?:,? (?P<name>(?:(?:M\.|Mme|madame"
        rf"|monsieur) )?{NAME})\b,?)?,? (?:(?:il|elle|ils|elles|lui|ça) )?{_VERB}"
    ),
    _FLAGS,
)
_OURS = re.compile(
    loose(
        rf"^(?:et )?(?P<thing>(?:mon|ma|mes|notre|nos) [\w-]+(?: [\w'-]+){{0,5}}?),? (?:il "
        rf"|elle )?(?P<is>c'est |{_CLITICS}(?P<v>{'|'.join(sorted(THIRD, key=len, reverse=True))})\b)"
        r" ?(?P<rest>.+)$"
    ),
    _FLAGS,
)
_OTHERS = re.compile(
    loose(
        rf"^(?:le |la |l'|les )(?P<relation>(?:{words.KIN})) (?:de "
        rf"|d')(?P<owner>(?-i:[A-ZÉÈ])[\w-]+),? (?:il |elle )?{_VERB}"
    ),
    _FLAGS,
)
_VAGUE = re.compile(
    loose(
        r"\b(?:question|problème|texte|code|plan|idée|avis|but|proposition|phrase|impression|tête|souhait"
        r"|espoir|peur|souci|vie|humeur|faute"
        r"|erreur|truc|cas|conclusion|conseil|rêve|journée|semaine|préférée?s?|côté|cœur)\b"
    ),
    _FLAGS,
)
_SHE = re.compile(loose(rf"^(?:et |puis )?(?:(?:il|elle|ils|elles|qui) )?(?!y |faut ){_VERB}"), _FLAGS)
_WE = re.compile(
    loose(rf"^(?P<who>(?:mon|ma|mes|les|notre) [^,]{{3,40}}?) et moi,? (?P<s>on |nous ){_VERB}"), _FLAGS
)
_FRONTED = re.compile(
    loose(
        rf"^(?P<w>{words.WHEN}|(?:tous les|toutes les|chaque|le {words.DAYS}|le week-end|le (?:matin|soir)"
        r"|depuis|en|à|au|aux|chez|dans|pendant|sur|avec)\b"
        rf"[\w' -]{{0,30}}?|ce matin),? (?P<r>(?:je |j'|on |nous |mon |ma |mes |notre |nos ).+)$"
    ),
    _FLAGS,
)
_OBJECT = re.compile(
    loose(r"^(?P<o>(?:le |la |les |l')[^,]{2,40}?),? (?P<r>(?:je |j'|on )(?:\w+ )?\w+.*)$"), _FLAGS
)
_ASIDE = (
    r"(?:(?:enfin|déjà|bien|finalement|aussi|tout juste|récemment|toujours|beaucoup|donc|même"
    r"|encore) )*"
)
_DONE = re.compile(rf"^{_ASIDE}(?P<p>{words.PARTICIPLE})\b", _FLAGS)
_MOVED = re.compile(rf"^{_ASIDE}(?P<p>{words.MOVED})\b", _FLAGS)
_NOUNS = re.compile(
    loose(r"^(?:kiné|ciné|congé|karaté|dîner|hâte)$|^(?:bébé|marché|moitié|santé|été)$"), _FLAGS
)
_LIFE = [
    (sense, re.compile(rf"^(?:{forms})$", _FLAGS))
    for sense, forms in (
        ("grow", "grandi"),
        ("born", "née?s?"),
        ("settle", "déménagé|emménagé|installée?s?"),
        ("die", "morte?s?|décédée?s?"),
        ("decide", "décidée?s?"),
        ("choose", "choisi|opté"),
        (
            "life",
            "vendu|quitté|résilié|renoncé|inscrite?s?|lancée?s?|reconvertie?s?|étudié|fondé|divorcé|mariée?s?|adopté|démissionné|hérité|pacsée?s?|fiancée?s?",
        ),
        (
            "once",
            "mise?s?|commencé|arrêté|ouvert|créé|obtenu|vécu|travaillé|bossé|enseigné|tenu|construit|soutenu|repris|perdu|appris|acheté|vendu|gagné|eu"
            "|joué|élevé|écrit|passé",
        ),
    )
]
_JUST = (
    r"(?:de |d')(?:déménager|emménager|adopter|acheter|changer|quitter|commencer|divorcer|ouvrir"
    r"|démissionner|signer|avoir|devenir|m'installer"
    r"|me \w+er|obtenir|décrocher|réussir|fêter)\b"
)
_STUDIED = re.compile(
    r"fait (?:mes études|mon (?:service|apprentissage)|ma (?:thèse|scolarité"
    r"|carrière))\b"
)
_DOUBTED = re.compile(loose(r"^(?:\w+ment )?(?:sûre?|certaine?|le seul|la seule)\b"), _FLAGS)


def parse(text: str) -> Clause | None:
    """A clause by its order: "j'habite ...", "hier j'ai ...", "ma sœur Zoé ...", "et elle ..."."""
    if match := _FRONTED.match(text):
        return _fronted(parse(match["r"]), match["w"])
    if match := _I.match(text):
        plural = match["s"].strip().lower() in {"on", "nous"}
        on = match["s"].strip().lower() == "on"
        return _said(match, "I", THIRD if on else FIRST, open_=on or not plural)
    if match := _WE.match(text):
        clause = _said(match, "I", THIRD if match["s"].lower() == "on " else FIRST, open_=False)
        return replace(clause, verb=f"(avec {match['who']}) {clause.verb}") if clause else None
    if match := _KIN.match(text):
        return _said(match, "kin", THIRD, open_=True)
    if match := _OTHERS.match(text):
        clause = _said(match, "kin", THIRD, open_=False)
        return replace(clause, owner=match["owner"]) if clause else None
    match = _OURS.match(text)
    if match and not _VAGUE.search(match["thing"]) and (clause := _of_thing(match)):
        return clause
    if match := _SHE.match(text):
        return _said(match, "same", THIRD, open_=False)
    if match := _OBJECT.match(text):
        clause = parse(match["r"])
        if clause and clause.sense in {"like", "hate", "bear", "start", "life", "drink", "eat", "prefer"}:
            return _with_object(clause, match["o"])
    return None


def _of_thing(match: re.Match[str]) -> Clause | None:
    known = ("be", "est") if match["is"].lower() == "c'est " else THIRD.get((match["v"] or "").lower())
    if known is None or (match["c"] or "").strip() not in {"", "se", "s'"}:
        return None
    sense, third = known
    if sense == "think":
        return None
    reflex = "s'" if match["c"] and third[0] in "aeéê" else "se " if match["c"] else ""
    rest = match["rest"]
    if re.match(r"(?:pas|plus|jamais)\b", rest):
        return None
    done = sense in {"be", "have"} and (_DONE.match(rest) or _MOVED.match(rest))
    time = "past" if done or third == "était" else "must" if sense == "must" else "now"
    thing = match["thing"].split(" ", 1)[1]
    return Clause(
        about="thing", verb=f": {thing} {reflex}{third}", sense="do" if done else sense, rest=rest, time=time
    )


def _fronted(clause: Clause | None, when: str) -> Clause | None:
    """What stood before its subject, behind its first phrase."""
    if clause is None:
        return None
    first, comma, others = clause.rest.partition(",")
    return replace(clause, rest=f"{first} {when}{comma}{others}".strip())


def _with_object(clause: Clause, thing: str) -> Clause:
    """ "Le violoncelle j'ai commencé à 40 ans": the object in its place."""
    participle = _DONE.match(clause.rest) if clause.time == "past" else None
    at = participle.end() if participle else 0
    rest = " ".join(f"{clause.rest[:at]} {thing} {clause.rest[at:]}".split())
    return Clause(
        about=clause.about,
        verb=clause.verb,
        sense=clause.sense,
        rest=rest,
        time=clause.time,
        denied=clause.denied,
    )


def _said(
    match: re.Match[str], about: str, known: dict[str, tuple[str, str]], *, open_: bool
) -> Clause | None:
    clitics, rest = match["c"].lower(), match["rest"] or ""
    verb = _known(match["v"].lower(), known) or (_other(match["v"].lower()) if open_ else None)
    if verb is None or _DOUBTED.match(rest):
        return None
    sense, third = verb
    time = "must" if sense == "must" else "now"
    reflexive = bool(re.search(r"\b(?:m'|me |se |s'|nous )", clitics))
    reflex = ("s'" if third[0] in "aeiouéêh" else "se ") if reflexive else ""
    if re.search(r"\b(?:l'|le |la |les )", clitics):
        return None
    if rest.startswith("été ") and third in {"a", "ont"} and not reflexive:
        return replace(
            _plainly(match, about),
            verb=f"{third} été",
            sense="be",
            rest=rest.removeprefix("été "),
            time="past",
        )
    done = _DONE.match(rest) if sense == "have" or (sense == "be" and reflexive) else None
    done = _MOVED.match(rest) if sense == "be" and not reflexive else done
    if done and not _NOUNS.match(done["p"]):
        time = "past"
        sense = next((one for one, forms in _LIFE if forms.match(done["p"])), "do")
        sense = "life" if _STUDIED.match(rest) else sense
    elif reflexive and sense not in {"call", "marry", "do", "practise", "get", "sit"}:
        return None
    if (
        reflexive
        and (match.groupdict().get("s") or "").lower().startswith("on")
        and re.search(r"m'", clitics)
    ):
        third, reflex = f"on l'{third}" if third == "a" else third, ": "
    denial = " ".join((match["n"] or "").split())
    if denial == "jamais" and sense in {"do", "practise"}:
        sense = "never"
    if third in {"vient", "viennent"} and re.match(_JUST, rest):
        time, sense = "past", "life"
    if third in {"était", "étaient", "avait"}:
        time = "past"
    rest = rest.removeprefix("que ") if denial == "plus" else rest
    other = "".join(re.findall(r"\b(?:lui|leur|y|en) ", clitics))
    written = f"{reflex}{other}{third}"
    if denial:
        written = f"{'n' + chr(39) if written[0] in 'aeiouéêh' else 'ne '}{written} {denial}"
    return Clause(
        about=about,
        verb=written,
        sense=sense,
        rest=rest,
        time=time,
        denied=bool(denial) or bool(re.match(r"n'|ne ", clitics)),
        relation=" ".join((match.groupdict().get("relation") or "").split()),
        name=match.groupdict().get("name") or "",
    )


def _plainly(match: re.Match[str], about: str) -> Clause:
    """A clause of which only its subject is known."""
    groups = match.groupdict()
    relation = " ".join((groups.get("relation") or "").split())
    return Clause(about=about, verb="", sense="", rest="", relation=relation, name=groups.get("name") or "")


_NO_VERBS = """
    comme contre autre même elle notre encore mille quatre presque toute cette avance jeune malade
"""
_NO_VERB = frozenset(_NO_VERBS.split())


def _known(form: str, known: dict[str, tuple[str, str]]) -> tuple[str, str] | None:
    return known.get(form)


def _other(form: str) -> tuple[str, str] | None:
    """The third person of a verb that is not listed: "je jardine", "je cuis", "mon frère entraîne"."""
    if form.endswith(("rai", "ra", "rons")) and len(form) > 4:
        return "get", f"{form.removesuffix('i').removesuffix('ons')}{'a' if form.endswith('rons') else ''}"
    if len(form) < 4 or form in _NO_VERB:
        return None
    if form.endswith(("e", "it", "ît", "ort", "end", "ond", "ert")):
        return "do", form
    if form.endswith("s") and len(form) > 3:
        return "do", form[:-1] if form.endswith(("ds", "ts")) else f"{form[:-1]}t"
    return None
