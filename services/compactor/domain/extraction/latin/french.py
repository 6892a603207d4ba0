"""French for the extraction of facts (SPEC J-8)."""

from __future__ import annotations

import re

from services.compactor.domain.extraction.latin import french_words as words
from services.compactor.domain.extraction.latin.frames import frames, trait
from services.compactor.domain.extraction.latin.french_clauses import THIRD, parse
from services.compactor.domain.extraction.latin.french_wishes import IMPERATIVES, PARTS, STANDING, WISHES
from services.compactor.domain.extraction.latin.language import (
    NAME,
    Cuts,
    Language,
    compiled,
    loose,
    numeric,
)


def _infinitive(match: re.Match[str]) -> str:
    """ "Il faut que j'appelle" as "je dois appeler"."""
    form = match["v"].lower()
    made = words.SUBJUNCTIVE.get(form, f"{form}r" if form.endswith("e") else form)
    return f"{match['a']}{match['c'] or ''}{made}"


def _owned(author: str, relation: str) -> str:
    """La sœur de Zoé, le père d'Ali, les enfants d'Ali; of "ma sœur", or of "sœur" alone."""
    of = f"d'{author}" if plain_vowel(author) else f"de {author}"
    first, _, rest = relation.partition(" ")
    whose = first.lower() if first.lower() in {"mon", "ma", "mes", "notre", "nos"} else ""
    kin = rest if whose else relation
    if whose in {"mes", "nos"} or (not whose and kin.endswith(("parents", "enfants"))):
        return f"les {kin} {of}"
    feminine = (
        whose == "ma"
        or kin.lower().startswith(("petite", "grande"))
        or (whose != "mon" and kin.split()[-1].lower() in words.FEMININE)
    )
    article = "l'" if kin[:1].lower() in "aeéioâ" else "la " if feminine else "le "
    return f"{article}{kin} {of}"


def plain_vowel(name: str) -> bool:
    """Whether "de" loses its vowel before a name."""
    return name[:1] in "AEIOUYÉÈÎÔÀ" and name[:2] not in {"Ya", "Yo", "Yv", "Ye"}


_SUBJECT = (
    rf"(?:(?:je|il|elle|on|nous|mon|ma|mes|notre|nos|ce|ça|y a|tu|vous|moi)(?![\w-])|[jc]'(?=\w)"
    rf"|(?:{words.WHEN}),? (?:je |j'|on |mon |ma |notre ))"
)
FRENCH = Language(
    unnamed="La personne",
    common=compiled(
        r"\b(?:je|j|suis|est|et|le|la|les|une?|mon|ma|mes|des|du|de|dans|pour|chez|nous|on|sur"
        r"|avec|pas|c|il|elle|a|au|aux|à|en|d|l|que|qui|ai|sans|plus|toujours)\b"
    ),
    profile=compiled(
        r"^(?:(?:salut|bonjour|coucou|hello|bonsoir|hey|moi)[,!. ]*)*(?:(?:c'est|je m'appelle|je suis"
        r"|ici) (?P<name>[\w-]+)"
        r"(?=[,.]| et |$)[,.]?|(?=\d\d ans,))(?P<list>.*)$"
    ),
    listed=compiled(r",\s+(?:et )?|\s+et\s+"),
    trait=trait(words.WORDS),
    she="elle",
    years=compiled(r"\d{1,2}(?: ans)?"),
    intro=("je m'appelle", "je suis", "j'ai"),
    typed=(
        numeric("janvier février mars avril mai juin juillet août septembre octobre novembre décembre"),
        (compiled(rf"\b(?:le )?{words.DAYS} (?=\d{{1,2}}(?:er)?\b(?! ?(?:h\b|h\d|heures|:)))"), "le "),
        (
            compiled(r"\bça fait (?P<n>(?:\d+|\w+) (?:ans|mois)) que (?P<r>(?:je |j'|on )[^,;.]+)"),
            r"\g<r> depuis \g<n>",
        ),
        (compiled(r"^(?:moi,? )?c'est moi qui "), "je "),
        (compiled(rf"\bc'est (?P<k>(?:mon|ma) (?:{words.KIN})(?: [A-Z]\w+)?) qui "), r"\g<k> "),
        (
            compiled(
                r"^(?:et |mais )?(?:le|la|l'|les) ?(?=(?:petite?(?: dernière?)?|grande?|aînée?|cadette?"
                r"|jumeaux|jumelles|enfants) (?:s'app|est|a|entre|fait|va|joue|adore|sont|ont)\w*\b)"
            ),
            "ma ",
        ),
        (compiled(rf"^(?P<n>[A-ZÉÈ][\w-]+), (?P<k>(?:mon|ma) (?:{words.KIN})), "), r"\g<k> \g<n> "),
        (compiled(r"^(?:et )?(?P<k>maman|mamie|mamy|mémé)(?= (?!et\b|tu\b)\w+)"), r"ma \g<k>"),
        (compiled(r"^(?:et )?(?P<k>papa|papi|papy|pépé)(?= (?!et\b|tu\b)\w+)"), r"mon \g<k>"),
        (compiled(r"^la (?=voisine (?:du|d'))"), "ma "),
        (compiled(r"^le (?=voisin (?:du|d'))"), "mon "),
        (
            compiled(
                r"^(?P<n>[A-ZÉÈ][\w-]+) m'a (?:dit|raconté|appris) que (?:son"
                rf"|sa) (?P<k>{words.KIN}) "
            ),
            r"le \g<k> de \g<n> ",
        ),
        (compiled(r"\bvient d'avoir (?P<n>(?:\d+|\w+) ans)\b"), r"a \g<n>"),
        (compiled(r"^(?P<p>(?:mon|ma|notre) [\w-]+), (?P<a>une? [^,]+), "), r"\g<p> est \g<a>; \g<p> "),
        (compiled(r"^(?P<o>[^,:]+), (?:c'est décidé|c'est acté|décision prise)$"), r"c'est décidé : \g<o>"),
        (compiled(r"\bmoi c'est (?=\w+$)"), "je m'appelle "),
        (compiled(r"\bma (?=aînée? |enfants |jumeaux |jumelles |petit |grand |cadet )"), "mon "),
        (compiled(r"\b(?:j'suis|jsuis|chuis|j suis)\b"), "je suis"),
        (compiled(r"\bjai\b"), "j'ai"),
        (compiled(r"\bj(?P<v>habite|aime|adore|apprends|étudie|avais|étais|élève|enseigne)\b"), r"j'\g<v>"),
        (compiled(r"\bj'?(?P<v>[bcdfgklmnprstvxz]\w+)\b"), r"je \g<v>"),
        (compiled(r"\b(?:y'a|ya)\b"), "il y a"),
        (compiled(r"^(?P<s>moi,? )?c moi\b"), "c'est moi"),
        (compiled(r"\bpr\b"), "pour"),
        (compiled(r"\bds\b"), "dans"),
        (compiled(r"\bts les\b"), "tous les"),
        (compiled(r"\bbcp\b"), "beaucoup"),
        (compiled(r"\b(?P<s>je |j'|on )?(?:bosse|taffe)\b"), r"\g<s>travaille"),
        (compiled(r"\bbossent\b"), "travaillent"),
        (
            compiled(
                r"^(?:n'oublie pas|rappelle-toi|souviens-toi|sache|retiens"
                r"|pense bien) (?:bien )?que (?=(?:je |j'|mon |ma |on ))"
            ),
            "",
        ),
        (
            compiled(
                r", (?=(?:fait|étudié|vécu|appris|rencontré|monté|ouvert|obtenu|eu) (?:mes|mon|ma|à|en|un"
                r"|une|le|la|des) )"
            ),
            ", j'ai ",
        ),
        (compiled(r"\b(?:rv|rdvs)\b"), "rdv"),
        (compiled(r"\bmtn\b"), "maintenant"),
        (compiled(r",?\s*(?:s'il (?:te|vous) plaît|stp|svp)\b"), ""),
        (
            compiled(
                r"(?<=\w) (?:genre|quoi|hein|en fait|quand même|vraiment|franchement|aussi|du coup)(?= \w"
                r"|$)"
            ),
            "",
        ),
        (
            compiled(
                r"(?P<a>)(?:il )?faut (?:aussi |encore |absolument |vraiment )?que (?:je |j')(?P<c>(?:lui"
                r"|leur|y|en|me) )?(?P<v>\w+)"
            ),
            lambda found: f"je dois {_infinitive(found)}",
        ),
        (compiled(r"(?P<a>\bet )que (?:je |j')(?P<c>(?:lui|leur|y|en|me) )?(?P<v>\w+)"), _infinitive),
        (compiled(r"\b(?:il )?faut (?=\w+(?:er|ir|re)\b)"), "je dois "),
        (compiled(r"\b(?:pour|vu|sachant|comme|puisque) (?=je suis\b|j'ai\b)"), ""),
    ),
    lead=compiled(rf"^(?:(?:{words.LEAD})(?![\w'])[\s,:!.]*)+(?=\S)"),
    unreal=compiled(
        r"\b(?:écris|rédige|invente|compose)\b[^.!?]{0,40}\b(?:discours|lettre|dialogue|mail|chanson|blague"
        r"|monologue|journal"
        r"|phrases?|texte|profil|bio|sketch|annonce|rôle)\b[^.!?]{0,30}(?::|\bdans lequel\b|\bqui dit\b"
        r"|\boù\b)"
        r"|^(?:corrige|améliore|reformule|traduis|relis)\w*\b[^:]*:|^(?:mais )?(?:oui )?bien sûr\b"
        r"|\b(?:ben voyons|tu parles|haha|hihi)\b|"
        r"\b(?:pour rigoler|je déconne|je rigole|c'était une blague|mdrr*|ptdr|personnage|scénario"
        r"|fais comme si|admettons"
        r"|lol|dans une autre vie|paroles de|réplique|rédige une|scène)\b"
    ),
    unsure=compiled(
        r"\b(?:si (?!bien\b)|s'ils? |peut-être|sans doute|probablement|(?!portrait|extrait|retrait|attrait"
        r"|distrait)\w{2,}(?:rais|rait|rions|raient)\b(?<!\bfrais)(?<!\bvrais)|suppose"
        r"|jamais dit|pas vrai|un jour\b|paraît|prétend|selon|rêve|croire|crois que|pense que|hésite"
        r"|imagine|quand j'avais"
        r"|dit qu|à moins|faillis?|presque|sauf si|confondre|ce n'est pas|c'est pas moi|éventuellement"
        r"|normalement)"
    ),
    cuts=Cuts(
        front=compiled(
            rf"(?:{words.WHEN}|(?:en|depuis|pour|à|au|dans|chez|avec|tous|toutes|chaque|dès|avant"
            rf"|après) [\w' -]{{2,30}})"
        ),
        at=compiled(
            r"\s*;\s+|\s*:\s+|\s+-\s+|,\s+|\s+(?=et\b|mais\b)|\s+(?=(?:car|au cas où|parce que|parce qu'"
            r"|puisque|alors que|vu que)\b)"
        ),
        comma=compiled(
            rf"(?:(?:et|mais|puis|donc|alors|maintenant|sinon) )*(?:{_SUBJECT}|(?:le|la|les"
            r"|l')\s?[\w'-]+(?: \w+)? (?:est|a|sont|ont|c'est|je|j'ai|j')\b"
            r"|(?-i:vit|habite|travaille|est|a|fait|aime|adore|déteste|joue|parle|étudie|n'a|ne \w+|se \w+"
            r"|s'\w+)\b|qui\b.*\bqui\b)"
        ),
        bare=compiled(
            rf"(?:et|mais) (?:(?:maintenant|depuis|donc|du coup|après|puis|puis après) )?(?:{_SUBJECT}"
            r"|(?:le|la|les|l')\s?[\w'-]+,? (?:je|j')"
            rf"|(?:n'|ne |se |s')\w+|(?-i:{'|'.join(sorted(THIRD, key=len, reverse=True))})\b(?! et\b))"
        ),
        dropped=compiled(
            r"(?:aucune idée|à ne pas oublier|j'oublie pas|car|au cas où|parce qu|puisque|alors que|vu que"
            r"|quel(?:le)?s? (?!que)\w+|ouf|enfin (?:bref|voilà)|tu (?:peux|vois|sais|connais|as)"
            r"|une idée|souhaite|du coup|heureusement|malheureusement|quoi|comme ça|merci|donc|si|bref"
            r"|hélas|dieu merci|y a|youpi"
            r"|genre|c'est (?:dingue|fou|la vie|génial|top|trop|chiant|nul)|ça (?:me|fait|va)|tant pis"
            r"|tant mieux|note)\b"
        ),
    ),
    parse=parse,
    frames=frames(words.WORDS),
    wishes=WISHES,
    named=re.compile(
        rf"(?i:{loose(words.RELATIVE)}),? (?P<name>(?!(?:Noël|Il|Elle|Je|Et)\b){NAME})(?! (?:et"
        r"|&) (?-i:[A-ZÉ])|\w)"
    ),
    small=compiled(
        rf"(?P<a>(?:mon|ma|notre) (?:{words.KIN}) )(?P<name>(?!(?:avec|pour|sans|depuis|quand|comme|où|dans"
        r"|chez|que|mais|donc|car|encore|déjà|jamais|souvent|parfois|enfin|vraiment|très|plus|\w+ment"
        r"|en|de|du|des|un|une|le|la|les|y|au|aux|tout|toute|malade|âgée?|aussi|toujours|ne|il|elle|lui|et"
        r"|qui|préféré|adoré|n'|s'|se|est|a|aînée?|cadette?|jumeau"
        rf"|jumelle)\b)(?-i:[a-zß-ÿ])[^\W\d_]{{2,}}) (?=(?:{'|'.join(THIRD)})\b)"
    ),
    owned=_owned,
    called="s'appelle",
    place=compiled(
        r"^(?P<a>(?:est|travaille (?=comme|en tant)) ?.+?) (?P<o>(?:à|en|au|aux|chez|dans) (?:(?:un|une|le"
        r"|la|l') ?)?(?!\w+ment\b)(?:(?-i:[A-ZÉ])|\w+\b(?! que)).+)$"
    ),
    works="travaille {o}",
    whose=(
        (compiled(r"\bnotre\b"), "leur"),
        (compiled(r"\bnos\b"), "leurs"),
        (compiled(r"\bmon\b"), "son"),
        (compiled(r"\bma\b"), "sa"),
        (compiled(r"\bmes\b"), "ses"),
        (compiled(r"\bme (?=\w+(?:er|ir|re)\b)"), "se "),
        (compiled(r"\bm'(?=\w+(?:er|ir|re)\b)"), "s'"),
        (compiled(r"\bchez nous\b"), "chez soi"),
    ),
    foreign=compiled(r"\b(?:me|moi|nous|je|tu|te|toi|ton|ta|tes|(?<!-)vous|votre|vos)\b(?!-vous)|\b[jm]'"),
    recurring=compiled(
        rf"\b(?:du {words.DAYS} au|tous les|toutes les|chaque|le {words.DAYS}s?\b(?! (?:\d|prochain|dernier"
        r"|en huit)))"
    ),
    week=compiled(rf"\b{words.DAYS} de la semaine (?:prochaine|(?P<last>dernière|passée))\b"),
    day="le {day}",
    standing=STANDING,
    parts=PARTS,
    imperative=IMPERATIVES,
    wanted="demande : {o}",
    infinitives=compiled(r",? et (?=(?:\w+ )?\w+(?:er|ir|re)\b)"),
)
