"""French for the extraction of facts (SPEC J-8)."""

from __future__ import annotations

from services.compactor.domain.extracting_french_rules import (
    FRENCH_RULES,
    ILLNESS_FR,
    KIN_FR,
    NOT_FR,
    SUBJUNCTIVE_FR,
    TRADE_FR,
    TRADE_PLACE_FR,
)
from services.compactor.domain.extracting_latin import NAME, Language, Rule, compiled, rule
from services.compactor.domain.extracting_types import Category, Tense

_FRENCH_THIRD: tuple[Rule, ...] = (
    rule(rf"était (?P<o>{TRADE_FR})", Category.IDENTITY, "occupation", "était {o}"),
    rule(r"(?P<v>habitent|vivent) (?P<o>.+)", Category.LOCATION, "home", "{v} {o}"),
    rule(r"(?:est )(?P<o>née? .+)", Category.IDENTITY, "birth-date", "est {o}", Tense.PAST),
    rule(
        r"(?:bosse|taffe) (?P<o>(?:comme|chez|pour|dans|à|au|en|de) .+)",
        Category.IDENTITY,
        "employer",
        "travaille {o}",
    ),
    rule(rf"a (?P<o>{ILLNESS_FR})", Category.FACT, "has*", "a {o}"),
    rule(
        r"est (?P<o>(?:à la retraite|au chômage|enceinte|en maison de retraite|sourde?|aveugle"
        r"|diabétique|daltonien\w*)\b.*)",
        Category.FACT,
        "is*",
        "est {o}",
    ),
    rule(r"est (?P<o>(?:morte?|décédée?)\b.*)", Category.EVENT, "event.death", "est {o}"),
    rule(
        r"(?P<v>fait|joue|cultive|élève|collectionne|parle|étudie|apprend|fume|travaille|bosse"
        r"|tient|dirige|enseigne) (?P<o>(?!ça\b|que\b|la tête\b|chier\b).+)",
        Category.FACT,
        "does*",
        "{v} {o}",
    ),
    rule(
        r"(?P<v>habite|vit) (?P<o>(?:à|au|aux|en|dans|chez|près|avec) .+)",
        Category.LOCATION,
        "home",
        "{v} {o}",
    ),
    rule(
        r"travaille (?P<o>(?:comme|chez|pour|dans|à|au) .+)", Category.IDENTITY, "employer", "travaille {o}"
    ),
    rule(r"est (?P<o>(?:\w+ment )?allergique (?:à|au|aux) .+)", Category.FACT, "allergy*", "est {o}"),
    rule(
        r"est (?P<o>végétarienn?e?|végane|vegan|mariée?|retraitée?|divorcée?|enceinte)",
        Category.FACT,
        "is*",
        "est {o}",
    ),
    rule(rf"est (?P<o>{TRADE_FR})", Category.IDENTITY, "occupation", "est {o}"),
    rule(rf"s'appelle (?P<o>{NAME})", Category.RELATIONSHIP, "name", "s'appelle {o}"),
    rule(r"a (?P<o>\d{1,3} ans)", Category.IDENTITY, "age", "a {o}"),
    rule(rf"(?P<v>aime|adore|déteste|préfère) (?P<o>{NOT_FR}.+)", Category.PREFERENCE, "taste*", "{v} {o}"),
    rule(
        r"(?P<o>(?:fête|arrive|se marie|part|aura|vient) .+)", Category.EVENT, "event*", "{o}", Tense.COMING
    ),
    rule(r"(?P<o>(?:a|est|s'est) \w+ .+)", Category.EVENT, "event*", "{o}", Tense.PAST),
)
_WHEN_FR = (
    r"(?:hier|avant-hier|demain|après-demain|aujourd'hui|(?:le )?(?:lundi|mardi|mercredi|jeudi"
    r"|vendredi|samedi|dimanche)(?: (?:prochain|dernier|matin|soir))?|la semaine (?:prochaine"
    r"|dernière)|en \d{4}|il y a \w+ \w+|dans \w+ (?:jours?|semaines?))"
)
_FEMININE_FR_WORDS = """
    sœur soeur mère maman femme épouse fille grand-mère tante cousine nièce copine amie compagne
    fiancée voisine cheffe patronne belle-mère belle-sœur chienne chatte filleule marraine mamie
    mémé demi-sœur belle-fille ex-femme petite-fille aînée cadette benjamine propriétaire lapine
    jument
"""
_FEMININE_FR = frozenset(_FEMININE_FR_WORDS.split())


def _owned_fr(author: str, relation: str) -> str:
    """La sœur de Zoé, le père d'Ali."""
    if relation.endswith("parents"):
        return f"les {relation} {'d' + chr(39) if author[:1] in 'AEIOUÉÈ' else 'de '}{author}"
    article = "l'" if relation[:1] in "aeéio" else "la " if relation in _FEMININE_FR else "le "
    return f"{article}{relation} {'d' + chr(39) if author[:1] in 'AEIOUÉÈ' else 'de '}{author}"


FRENCH = Language(
    unnamed="La personne",
    split=compiled(
        r"\s*[;:]\s+|\s+-\s+|,?\s+(?:mais\b|car\b|parce que\b|parce qu'|puisque\b|donc\b|alors que\b)\s*"
        r"|,\s+(?=(?:et\s+)?(?:je|j'|il|elle|on|nous|mon|ma|mes|qui|ce|c'|s'il|si)\b)"
        r"|\s+et\s+(?=(?:je|mon|ma|mes|nous|on|il|elle|travaille|habite|vit|bosse|fait|étudie)\b|j')"
        r"|,\s+(?=(?:l'|j'|le\b|la\b))"
    ),
    unsure=compiled(
        r"\b(?:si|peut-être|s'il se peut|il se peut|sans doute|probablement|pourrais|pourrait"
        r"|devrais|voudrais|aimerais|aimerait|serais|serait|aurais"
        r"|aurait|faudrait|imagine|suppose|jamais dit|pas vrai|un jour|roman|histoire|film(?! préféré)"
        r"|citation|exemple|paraît-il|prétend|selon|rêve)\b"
        r"|\bj'étais\b|\bne (?:suis|vis|viens|travaille) pas\b|\bn'(?:habite|ai|est|a) pas\b"
    ),
    denied=None,
    foreign=compiled(r"\b(?:me|moi|nous|notre|nos|je|tu|te|toi|ton|ta|tes|(?<!-)vous|votre|vos)\b|\bj'"),
    order=(
        (
            compiled(
                r"^(?:oui|non|bon|alors|en fait|au fait|bonjour|salut|merci|et|d'ailleurs|actuellement"
                r"|maintenant|pour info|s'il te plaît|s'il vous plaît)\b[\s,:!.]*"
            ),
            "",
        ),
        (compiled(r"^j'suis\b"), "je suis"),
        (compiled(r"^faut que\b"), "il faut que"),
        (compiled(r",?\s*(?:s'il (?:te|vous) plaît|stp|svp)$"), ""),
        (compiled(rf"^(?P<w>{_WHEN_FR}),? (?P<r>(?:je|j'|nous|on|mon|ma|il faut).+)$"), r"\g<r> \g<w>"),
    ),
    rules=FRENCH_RULES,
    relative=compiled(
        r"^(?:mon|ma|mes|notre|nos) (?:(?:petite?|grande?"
        rf"|meilleure?) )?(?P<relation>{KIN_FR})(?:,? (?P<name>(?-i:[A-ZÉÈÀ])[\w-]+),?)?(?= )"
    ),
    third=_FRENCH_THIRD,
    pronoun=compiled(r"^(?:et )?(?:il|elle)\ (?!y\b|faut\b)"),
    carried=compiled(r"^(?:et )?(?:habite|vit|travaille|bosse|fait|joue|étudie|adore|aime|déteste|est|a)\b"),
    place=compiled(TRADE_PLACE_FR),
    works="travaille {o}",
    intro=compiled(
        r"^(?:(?:salut|bonjour|coucou|hello|bonsoir)[,!. ]*)*(?:moi c'est|je m'appelle|c'est"
        r"|je suis|ici) (?P<name>[\w-]+)(?=[,.]| et |$)(?:, (?P<age>\d{1,2})(?: ans)?(?=,|$"
        r"|\b))?"
    ),
    named="s'appelle {o}",
    aged="a {o} ans",
    owned=_owned_fr,
    called="s'appelle",
    day="le {day}",
    whose=(
        *((compiled(r"\bmon\b"), "son"), (compiled(r"\bma\b"), "sa"), (compiled(r"\bmes\b"), "ses")),
        *((compiled(rf"\b{form}\b"), verb) for form, verb in SUBJUNCTIVE_FR),
    ),
)
