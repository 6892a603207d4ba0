"""German for the extraction of facts (SPEC J-8)."""

from __future__ import annotations

from services.compactor.domain.extracting_german_rules import ILLNESS, KIN, LEAD, RULES, TRADE, WHEN
from services.compactor.domain.extracting_latin import NAME, Language, Rule, compiled, rule
from services.compactor.domain.extracting_types import Category, Tense

_TRADES = (
    r"(?:[\w-]*(?:lehrer|bäcker|maurer|schreiner|tischler|maler|fahrer|verkäufer|pfleger"
    r"|erzieher|rentner|schüler|gärtner|kellner"
    r"|techniker|mechaniker|elektriker|informatiker|programmierer|entwickler|polizist"
    r"|journalist|student)(?:in)?|azubi|koch|köchin|hebamme"
    r"|[\w-]*(?:arzt|ärztin|anwalt|anwältin|ingenieur|ingenieurin|schwester|friseur|friseurin))"
)
"""Trades as people type them, in small letters."""
_MORE: tuple[Rule, ...] = (
    rule(
        rf"ich bin (?:ein |eine )?(?P<o>{_TRADES}(?: (?:an|in|bei|auf|im) .+?)?)(?:,? und .+)?",
        Category.IDENTITY,
        "occupation",
        "ist {o}",
    ),
    rule(
        r"meine? (?P<o>(?:blutgruppe|schuhgröße|adresse|telefonnummer|handynummer"
        r"|muttersprache|sternzeichen|kleidergröße|matrikelnummer"
        r"|kennzeichen|körpergröße) (?:ist|lautet) .+)",
        Category.FACT,
        "attribute*",
        ": {o}",
    ),
    rule(r"mein geburtstag ist (?P<o>am .+)", Category.IDENTITY, "birthday", "hat {o} Geburtstag"),
    rule(
        r"wir haben uns entschieden,? (?P<o>.+ zu \w+)",
        Category.DECISION,
        "decision*",
        "hat entschieden, {o}",
    ),
    rule(r"ich trinke (?:meinen|den) (?P<o>(?:kaffee|tee) .+)", Category.PREFERENCE, "drinks*", "trinkt {o}"),
    rule(
        r"ich spreche (?P<o>(?:fließend |etwas |gut )?(?:deutsch|englisch|französisch|spanisch"
        r"|italienisch|polnisch|türkisch|russisch"
        r"|arabisch|niederländisch|portugiesisch|ungarisch|tschechisch|kroatisch)\b.*)",
        Category.IDENTITY,
        "speaks*",
        "spricht {o}",
    ),
)
_THIRD: tuple[Rule, ...] = (
    rule(
        rf"(?P<v>ist|war) (?:ein |eine )?(?P<o>{_TRADES}(?: (?:an|in|bei|auf"
        r"|im) .+?)?)(?:,? und .+)?",
        Category.IDENTITY,
        "occupation",
        "{v} {o}",
    ),
    rule(r"(?P<v>wohnen|leben) (?P<o>(?:in|bei|auf|am|im|an) .+)", Category.LOCATION, "home", "{v} {o}"),
    rule(r"hat (?P<o>ms|copd|aids|hiv|parkinson)", Category.FACT, "has*", "hat {o}"),
    rule(
        r"(?P<v>wohnt|lebt) (?P<o>(?:jetzt |seit .+ )?(?:in|bei|auf|am|im|mit) .+)",
        Category.LOCATION,
        "home",
        "{v} {o}",
    ),
    rule(r"arbeitet (?P<o>(?:als|bei|für|beim|in|im) .+)", Category.IDENTITY, "employer", "arbeitet {o}"),
    rule(
        rf"ist (?:ein |eine )?(?P<o>(?=(?-i:[A-ZÄÖÜ])){TRADE}|\w+ (?:von|in) Beruf)(?: (?:in"
        r"|bei) .+)?",
        Category.IDENTITY,
        "occupation",
        "ist {o}",
    ),
    rule(r"ist (?P<o>(?:\w+ )?allergisch gegen .+)", Category.FACT, "allergy*", "ist {o}"),
    rule(
        r"ist (?P<o>\d{1,3} jahre alt|vegan|vegetarisch|veganer(?:in)?|vegetarier(?:in)?)",
        Category.FACT,
        "is*",
        "ist {o}",
    ),
    rule(rf"heißt (?P<o>{NAME})", Category.RELATIONSHIP, "name", "heißt {o}"),
    rule(r"kommt aus (?P<o>(?-i:[A-ZÄÖÜ]).+)", Category.IDENTITY, "origin", "kommt aus {o}"),
    rule(
        r"(?P<v>mag|liebt|hasst) (?P<o>(?!es\b|das\b|dich\b|sie\b|ihn\b|mich\b).+)",
        Category.PREFERENCE,
        "taste*",
        "{v} {o}",
    ),
    rule(r"studiert (?P<o>.+)", Category.IDENTITY, "studies", "studiert {o}"),
    rule(rf"hat (?P<o>(?:\w+ )?{ILLNESS})", Category.FACT, "has*", "hat {o}"),
    rule(
        r"(?P<v>will|möchte|besteht auf) (?P<o>(?:alles|immer|nur|nie) .+)",
        Category.PREFERENCE,
        "wants*",
        "{v} {o}",
    ),
    rule(
        r"(?P<v>spielt|fährt|züchtet|sammelt|spricht|trinkt|isst|raucht|macht|unterrichtet"
        r"|lernt|pendelt) (?P<o>(?!es\b|das\b|mich\b|mir\b|sich\b).+)",
        Category.FACT,
        "does*",
        "{v} {o}",
    ),
    rule(
        r"arbeitet (?P<o>(?:nachts|tagsüber|halbtags|teilzeit|vollzeit|freiberuflich|schicht"
        r"|im .+|auf .+|an .+))",
        Category.IDENTITY,
        "working-time",
        "arbeitet {o}",
    ),
    rule(
        r"geht (?P<o>(?:in|auf|aufs) .*(?:klasse|schule|kita|kindergarten|gymnasium|uni))",
        Category.FACT,
        "school",
        "geht {o}",
    ),
    rule(r"ist (?P<o>(?:.+ )?(?:gestorben|verstorben))", Category.EVENT, "event.death", "ist {o}"),
    rule(r"ist (?P<o>\d{1,3})", Category.IDENTITY, "age", "ist {o}"),
    rule(r"(?P<o>(?:wird|hat|heiratet|kommt|zieht|ist) .+)", Category.EVENT, "event*", "{o}", Tense.COMING),
)


def _genitive(author: str, relation: str) -> str:
    """Ludgers Sohn, Hans' Tochter."""
    ending = "'" if author.endswith(("s", "x", "z", "ß")) else "s"
    return f"{author}{ending} {relation[:1].upper()}{relation[1:]}"


GERMAN = Language(
    unnamed="Die Person",
    split=compiled(
        r"\s*[;:]\s+|\s+-\s+|,?\s+(?:aber|denn|weil|obwohl|doch)\s+"
        r"|,\s+(?=(?:und\s+)?(?:ich|wir|er|sie|es|mein|meine|unser|unsere|wo|was"
        r"|deshalb|also|darum|da|dass)\b)"
        r"|\s+(?=und\s+(?:ich|wir|mein|meine|unser|unsere|habe?|bin|wohne?|arbeite|mag|spiele"
        r"|lebe|er|sie|wohnt|lebt|arbeitet|ist|hat"
        r"|studiert|macht|geht|spielt|(?!nicht\b)(?-i:[a-zäöü])\w+t\ ))|,\s+(?=(?:mache?"
        r"|arbeite|wohne?|habe?|bin|studiere|komme|spiele)\b)"
    ),
    unsure=compiled(
        r"\b(?:wenn|falls|vielleicht|eventuell|womöglich|würde\w*|könnte\w*|hätte\w*|wäre\w*"
        r"|möchte\w*|angeblich|irgendwann|ob"
        r"|träum\w+|glaube|vermutlich|wahrscheinlich|behauptet|sagt|meint|roman|geschichte"
        r"|film|zitat|beispiel)\b"
    ),
    denied=compiled(r"\bnicht\b(?! (?:mehr\b(?! (?:in|bei|an)\b)|ausstehen|leiden|ab\b|vergessen)|$)"),
    foreign=compiled(
        r"\b(?:mein|mich|mir|uns|unser|ich|wir|du|dir|dich|dein\w*|sie\ sind|ihnen|nie\ gesagt)\b"
    ),
    pronoun=compiled(r"^(?:und )?(?:er|sie)\ (?!sind\b|haben\b)"),
    carried=compiled(
        r"^(?:und )?(?:wohnt|lebt|arbeitet|ist|hat|mag|liebt|hasst|studiert|spielt|heißt|kommt"
        r"|macht|fährt)\b"
    ),
    place=compiled(r"^(?P<a>ist .+?) (?P<o>(?:in|bei|am|im) (?-i:[A-ZÄÖÜ]).+)$"),
    works="arbeitet {o}",
    intro=compiled(
        r"^(?:(?:hi|hallo|hey|moin|servus|guten tag|also)[,!. ]*)*(?:ich bin|hier ist"
        r"|ich heiße) (?:der |die )?(?P<name>\w+)(?=[,.]| und |$)(?:, (?P<age>\d{1,2})(?=,|$"
        r"| jahre))?"
    ),
    named="heißt {o}",
    aged="ist {o}",
    order=(
        (compiled(rf"^(?:(?:{LEAD})\b[\s,:!.]*)+"), ""),
        (compiled(r"^(?:und )?(?:entschieden|entscheidung|beschlossen|fazit)\s*[:,]\s*"), ""),
        (compiled(r"\bne\b(?! ?$)"), "eine"),
        (compiled(r"(?<=\w )nen?\b(?= \w)"), "einen"),
        (compiled(r"\b(?P<s>ich|wir) hab\b"), r"\g<s> habe"),
        (compiled(r"\bhab (?P<s>ich)\b"), r"habe \g<s>"),
        (compiled(r"^(?P<v>wohne?|arbeite|lebe) aber\b"), r"ich \g<v>"),
        (compiled(r"\bich (?P<v>wohn|hab|mach|geh|find|brauch|arbeit)(?= )"), r"ich \g<v>e"),
        (
            compiled(
                r"^(?P<v>bin|hab|habe|wohn|wohne|mach|mache|komme|studiere|muss|arbeite) (?!ich\b"
                r"|wir\b|ja\b|dabei\b|gespannt\b|froh\b)"
            ),
            r"ich \g<v> ",
        ),
        (compiled(r"^(?P<s>ich) (?P<v>hab|mach|wohn|komm|geh|fahr|spiel|trink)\b"), r"\g<s> \g<v>e"),
        (compiled(r"\b(?:grad|gerade|halt|eben|ja|eigentlich|noch|mal|auch|einfach)\ (?=\w)"), ""),
        (compiled(r"\bnicht (?:mehr )?(?:in|bei|an) [\w-]+,? sondern (?=(?:in|bei|an)\b)"), ""),
        (
            compiled(
                r",? (?:darf ich nicht vergessen|nicht vergessen|gell|oder so|weißt du|ehrlich gesagt"
                r"|übrigens)$"
            ),
            "",
        ),
        (
            compiled(
                r"^(?P<w>(?!wenn\b|ob\b|was\b|wie\b|wo\b|wann\b|warum\b|dass\b|als\b|das\b|dann\b|so\b"
                r"|leider nicht\b)[^,]{3,40}?),?\ "
                r"(?P<v>muss|habe|bin|ziehe|fliege|fahre|heirate|müssen|haben|sind|ziehen|fliegen"
                r"|fahren|heiraten)\ (?P<s>ich|wir)\ (?P<r>.+)$"
            ),
            r"\g<s> \g<v> \g<w> \g<r>",
        ),
        (compiled(rf"^(?P<w>{WHEN}),?\ (?P<v>\w+)\ (?P<s>ich|wir)\ (?P<r>.+)$"), r"\g<s> \g<v> \g<w> \g<r>"),
        (
            compiled(
                rf"^(?P<w>{WHEN}),?\ (?P<v>\w+)\ (?P<s>(?:mein|meine|unser"
                r"|unsere)\ \w+(?:\ (?-i:[A-ZÄÖÜ])\w+)?)\ (?P<r>.+)$"
            ),
            r"\g<s> \g<v> \g<w> \g<r>",
        ),
        (compiled(r"^und\ (?=(?:ich|wir|mein|meine|unser|unsere)\b)"), ""),
        (compiled(r"^und\ (?P<v>wohn|hab|mach)\ "), r"ich \g<v>e "),
        (compiled(r"^und\ (?P<v>habe|bin|wohne|arbeite|mag|spiele|lebe)\b"), r"ich \g<v>"),
    ),
    rules=(*_MORE, *RULES),
    relative=compiled(
        r"^(?:mein|meine|unser|unsere)\ (?:(?:ältere|älterer|jüngere|jüngerer|große|großer|kleine"
        r"|kleiner|beste|bester)\ )?"
        rf"(?P<relation>{KIN})(?:,?\ (?P<name>(?:Herr\ |Frau\ )?(?:Dr\.\ )?(?-i:[A-ZÄÖÜ])[\w-]+),?)?(?=\ )"
    ),
    third=_THIRD,
    whose=(
        (compiled(r"\b(?:meinen|unseren)\b"), "den eigenen"),
        (compiled(r"\b(?:meinem|unserem)\b"), "dem eigenen"),
        (compiled(r"\b(?:meiner|unserer)\b"), "der eigenen"),
        (compiled(r"\b(?:meine|unsere)\b"), "die eigene"),
    ),
    owned=_genitive,
    called="heißt",
    day="am {day}",
)
