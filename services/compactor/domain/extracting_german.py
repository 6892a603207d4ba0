"""German for the extraction of facts (SPEC J-8)."""

from __future__ import annotations

from services.compactor.domain.extracting_latin import NAME, Language, Rule, compiled, rule
from services.compactor.domain.extracting_types import Category, Tense

_KIN = (
    "Schwester|Bruder|Mutter|Mama|Vater|Papa|Frau|Mann|Ehefrau|Ehemann|Tochter|Sohn|Kind|Oma"
    "|Großmutter|Opa|Großvater"
    "|Tante|Onkel|Cousin|Cousine|Nichte|Neffe|Freundin|Freund|Partnerin|Partner|Verlobte"
    "|Verlobter|Nachbarin|Nachbar"
    "|Kollegin|Kollege|Chefin|Chef|Schwiegermutter|Schwiegervater|Schwägerin|Schwager|Enkelin"
    "|Enkel|Hund|Katze|Kater"
    "|Mitbewohnerin|Mitbewohner|Zwillingsschwester|Zwillingsbruder|Exfrau|Exmann|Ex-Frau"
    "|Ex-Mann|Hündin"
)
_TRADE = (
    r"(?:\w*(?:er|erin|ist|istin|ent|entin|ärztin|arzt|mann|frau|eur|eurin|loge|login|wirt"
    r"|wirtin|or|orin|ant|antin|iker"
    r"|ikerin|koch|köchin|anwalt|anwältin|schaffner|bauer|bäuerin|pfleger|hebamme|pilot"
    r"|pilotin|architekt|architektin"
    r"|richter|ar|arin|ekär|ökonom))"
)
_LEAD = (
    "ja|nein|also|übrigens|hallo|hi|danke|ach|ehrlich gesagt|nur so|zur info|stimmt|genau"
    "|aktuell|zurzeit|derzeit|momentan|wie gesagt|inzwischen|jetzt|mittlerweile"
)
_WHEN = (
    r"(?:gestern|vorgestern|heute|morgen|übermorgen|(?:am|letzten|nächsten|kommenden"
    r"|diesen)\ \w+(?:\ \w+)?|vor\ \w+\ \w+"
    r"|in\ (?:zwei|drei|vier|fünf|sechs|zehn|einer|einem)\ \w+|im\ \w+(?:\ \d{4})?"
    r"|seit\ \w+(?:\ \w+)?)"
)
_ARTICLE = r"(?:eine|einen|ein|zwei|drei|vier|fünf)"
_ERRAND = (
    "kaufen|anrufen|abholen|bezahlen|zahlen|buchen|schicken|abgeben|bringen|besorgen|erneuern"
    "|verlängern|reparieren|putzen"
    "|gießen|einkaufen|absagen|bestellen|unterschreiben|einreichen|überweisen|kündigen"
    "|ausfüllen|vorbereiten|zurückgeben"
    "|zurückbringen|wechseln|aufräumen|waschen|packen|abschicken|vereinbaren|beantragen"
    "|ummelden|streichen|füttern"
)
_RULES: tuple[Rule, ...] = (
    rule(rf"ich heiße (?P<o>{NAME})(?: und .+)?", Category.IDENTITY, "name", "heißt {o}"),
    rule(rf"mein name ist (?P<o>{NAME})", Category.IDENTITY, "name", "heißt {o}"),
    rule(
        r"(?:ich|wir) (?:wohne|wohnen) (?:jetzt |zurzeit |derzeit )?(?P<o>(?:in|bei|auf|an|am|im"
        r"|nahe|mit|zur|seit .+ in) .+)",
        Category.LOCATION,
        "home",
        "wohnt {o}",
    ),
    rule(
        r"(?:ich|wir) (?:lebe|leben) (?:jetzt |zurzeit )?(?P<o>(?:in|bei|auf|am|im|seit .+ in) .+)",
        Category.LOCATION,
        "home",
        "lebt {o}",
    ),
    rule(
        r"(?:ich bin|wir sind) (?:.{2,20} )?(?:nach|in die) (?P<o>\w.+?) (?:gezogen|umgezogen)",
        Category.LOCATION,
        "home",
        "ist nach {o} gezogen",
    ),
    rule(r"ich bin in (?P<o>.+) aufgewachsen", Category.LOCATION, "childhood", "ist in {o} aufgewachsen"),
    rule(r"ich bin (?P<o>(?:in|am) .+) geboren(?: und .+)?", Category.IDENTITY, "birth", "ist {o} geboren"),
    rule(
        r"ich (?:komme|stamme) (?:ursprünglich |eigentlich )?aus (?P<o>.+)",
        Category.IDENTITY,
        "origin",
        "kommt aus {o}",
    ),
    rule(r"ich arbeite (?P<o>als .+)", Category.IDENTITY, "occupation", "arbeitet {o}"),
    rule(
        r"ich arbeite (?:seit \w+ \w+ )?(?P<o>(?:bei|für|beim|im|in) .+)",
        Category.IDENTITY,
        "employer",
        "arbeitet {o}",
    ),
    rule(
        r"ich bin (?P<o>(?-i:Vegetarier|Vegetarierin|Veganer|Veganerin)|vegan|vegetarisch)",
        Category.PREFERENCE,
        "diet",
        "ist {o}",
    ),
    rule(r"ich ernähre mich (?P<o>vegan|vegetarisch)", Category.PREFERENCE, "diet", "ernährt sich {o}"),
    rule(
        r"ich bin (?P<o>Linkshänder(?:in)?|verheiratet|geschieden|ledig|verwitwet"
        r"|Diabetiker(?:in)?|farbenblind|taub|gehörlos|blind|Rentner(?:in)?)",
        Category.FACT,
        "is*",
        "ist {o}",
    ),
    rule(
        rf"ich bin (?:von Beruf |ein |eine )?(?P<o>(?=(?-i:[A-ZÄÖÜ])){_TRADE})(?: (?:in|bei"
        r"|von) .+)?",
        Category.IDENTITY,
        "occupation",
        "ist {o}",
    ),
    rule(r"ich bin (?P<o>\d{1,3})(?: jahre alt)?", Category.IDENTITY, "age", "ist {o} Jahre alt"),
    rule(r"ich bin (?P<o>(?:\w+ )?allergisch gegen .+)", Category.FACT, "allergy*", "ist {o}"),
    rule(r"ich habe (?P<o>eine \S*allergie\b.*)", Category.FACT, "allergy*", "hat {o}"),
    rule(r"ich vertrage (?P<o>kein\w* .+)", Category.FACT, "allergy*", "verträgt {o}"),
    rule(r"ich mag (?P<o>(?!es\b|das\b|dich\b|sie\b|ihn\b).+)", Category.PREFERENCE, "taste*", "mag {o}"),
    rule(r"ich liebe (?P<o>(?!es\b|das\b|dich\b|sie\b|ihn\b).+)", Category.PREFERENCE, "taste*", "liebt {o}"),
    rule(r"ich hasse (?P<o>(?!es\b|das\b|dich\b|sie\b|ihn\b).+)", Category.PREFERENCE, "taste*", "hasst {o}"),
    rule(r"ich (?:bevorzuge|ziehe) (?P<o>.+?)(?: vor)?", Category.PREFERENCE, "prefers*", "bevorzugt {o}"),
    rule(
        r"ich trinke (?P<o>(?:am liebsten|gern|gerne|kein\w*|nie|keinen) .+)",
        Category.PREFERENCE,
        "taste*",
        "trinkt {o}",
    ),
    rule(
        r"ich esse (?P<o>(?:am liebsten|gern|gerne|kein\w*|nie) .+)",
        Category.PREFERENCE,
        "taste*",
        "isst {o}",
    ),
    rule(r"ich (?:höre) (?P<o>(?:am liebsten|gern|gerne) .+)", Category.PREFERENCE, "taste*", "hört {o}"),
    rule(r"ich lese (?P<o>(?:am liebsten|gern|gerne) .+)", Category.PREFERENCE, "taste*", "liest {o}"),
    rule(
        r"(?:mein|meine) (?P<n>lieblings\w+) (?:ist|sind) (?P<o>.+)",
        Category.PREFERENCE,
        "favourite*",
        ": {n} ist {o}",
    ),
    rule(
        r"ich spreche (?P<o>(?:fließend |etwas |gut )?(?-i:[A-ZÄÖÜ])\w+(?:(?:,"
        r"| und) (?-i:[A-ZÄÖÜ])\w+)*)",
        Category.IDENTITY,
        "speaks*",
        "spricht {o}",
    ),
    rule(
        r"ich spiele (?P<o>(?:seit .+ )?(?-i:[A-ZÄÖÜ])\w+(?: (?:in|im|bei) .+)?)",
        Category.FACT,
        "plays*",
        "spielt {o}",
    ),
    rule(r"ich studiere (?P<o>.+)", Category.IDENTITY, "studies", "studiert {o}"),
    rule(r"ich lerne (?:gerade |seit .+ )?(?P<o>(?-i:[A-ZÄÖÜ])\w+)", Category.FACT, "learning*", "lernt {o}"),
    rule(r"ich fahre (?P<o>(?:einen|ein|eine) .+)", Category.FACT, "vehicle", "fährt {o}"),
    rule(
        rf"(?:ich|wir) (?:habe|haben) (?P<o>{_ARTICLE} (?:\w+ )?(?:hund|hunde|katze|katzen|kater"
        r"|tochter|töchter|sohn|söhne|kinder|kind|schwester|schwestern|bruder|brüder|enkel"
        r"|geschwister|werkstatt|laden|hof|garten|firma|boot|wohnmobil|haus|praxis|café"
        r"|zwillinge)\b.*)",
        Category.FACT,
        "has*",
        "hat {o}",
    ),
    rule(
        r"ich habe (?:mich |uns )?(?:dafür )?entschieden,? (?P<o>.+ zu \w+|für .+)",
        Category.DECISION,
        "decision*",
        "hat entschieden, {o}",
    ),
    rule(
        r"(?:ich habe|wir haben) beschlossen,? (?P<o>.+)",
        Category.DECISION,
        "decision*",
        "hat beschlossen, {o}",
    ),
    rule(
        r"(?:ich habe mich|wir haben uns) (?P<o>(?:für|gegen) .+) entschieden",
        Category.DECISION,
        "decision*",
        "hat sich {o} entschieden",
    ),
    rule(rf"(?:ich muss|wir müssen) (?P<o>(?:.+ )?(?:{_ERRAND}))", Category.TASK, "task*", "muss {o}"),
    rule(
        r"ich muss (?P<o>(?!sagen\b|zugeben\b|los\b|gehen\b).+)",
        Category.TASK,
        "task*",
        "muss {o}",
        Tense.COMING,
    ),
    rule(
        r"(?:bitte )?erinner\w* mich (?:bitte )?daran,? (?P<o>.+ zu \w+)",
        Category.TASK,
        "task*",
        "muss daran denken, {o}",
    ),
    rule(
        r"(?:ich|wir) (?:habe|haben) (?P<o>.*(?:termin|prüfung|vorstellungsgespräch|klausur"
        r"|hochzeit|flug|konzert|besprechung|meeting|operation|untersuchung)\b.*)",
        Category.EVENT,
        "event*",
        "hat {o}",
        Tense.COMING,
    ),
    rule(
        r"(?:ich habe|wir haben) (?P<o>.+ (?:ge\w+(?:t|en)|\w+iert|be\w+(?:t|en)|ver\w+(?:t|en)"
        r"|er\w+(?:t|en)|ent\w+(?:t|en)|\w+ge\w+(?:t|en)))",
        Category.EVENT,
        "event*",
        "hat {o}",
        Tense.PAST,
    ),
    rule(r"(?:ich bin|wir sind) (?P<o>.+ \w*ge\w+(?:t|en))", Category.EVENT, "event*", "ist {o}", Tense.PAST),
    rule(
        r"ich (?:ziehe|fliege|fahre|reise|heirate) (?P<o>.+)",
        Category.EVENT,
        "event*",
        "plant: {o}",
        Tense.COMING,
    ),
    rule(
        rf"(?:bitte )?(?:nenn|nenne) mich (?:bitte |ab jetzt )?(?P<o>{NAME})",
        Category.INSTRUCTION,
        "form-of-address",
        "möchte {o} genannt werden",
    ),
    rule(
        r"(?:bitte )?duze? mich(?: bitte)?", Category.INSTRUCTION, "form-of-address", "möchte geduzt werden"
    ),
    rule(
        r"(?:bitte )?sieze? mich(?: bitte)?", Category.INSTRUCTION, "form-of-address", "möchte gesiezt werden"
    ),
    rule(
        r"(?:bitte )?antworte (?:mir )?(?:bitte )?(?:immer|ab jetzt|künftig|in zukunft|nur noch"
        r"|stets) (?P<o>.+)",
        Category.INSTRUCTION,
        "instruction.reply",
        "wünscht Antworten {o}",
    ),
    rule(
        r"(?:bitte )?(?P<o>(?:schreib|verwende|benutze|benutz|gib|nutze|sprich|erkläre"
        r"|nenne)e? (?:mir )?(?:bitte )?(?:immer|nie|niemals|ab jetzt|künftig|nur noch|stets"
        r"|in zukunft) .+)",
        Category.INSTRUCTION,
        "instruction*",
        "wünscht: {o}",
    ),
    rule(
        r"(?:bitte )?(?P<o>(?:verwende|benutze|benutz|schreib|nutze) (?:bitte )?(?:keine|kein"
        r"|keinen) .+ (?:mehr|in deinen antworten))",
        Category.INSTRUCTION,
        "instruction*",
        "wünscht: {o}",
    ),
)
_THIRD: tuple[Rule, ...] = (
    rule(
        r"(?P<v>wohnt|lebt) (?P<o>(?:jetzt |seit .+ )?(?:in|bei|auf|am|im|mit) .+)",
        Category.LOCATION,
        "home",
        "{v} {o}",
    ),
    rule(r"arbeitet (?P<o>(?:als|bei|für|beim|in|im) .+)", Category.IDENTITY, "occupation", "arbeitet {o}"),
    rule(
        rf"ist (?:ein |eine )?(?P<o>(?=(?-i:[A-ZÄÖÜ])){_TRADE}|\w+ (?:von|in) Beruf)(?: (?:in"
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
    rule(r"(?P<o>(?:wird|hat|heiratet|kommt|zieht|ist) .+)", Category.EVENT, "event*", "{o}", Tense.COMING),
)
GERMAN = Language(
    unnamed="Die Person",
    split=compiled(
        r"\s*[;:]\s+|\s+-\s+|,?\s+(?:aber|denn|weil|obwohl|sondern|doch)\s+"
        r"|,\s+(?=(?:und\s+)?(?:ich|wir|er|sie|es|mein|meine|unser|unsere|wo|was"
        r"|deshalb|also|darum|da|dass)\b)"
        r"|\s+(?=und\s+(?:ich|wir|mein|meine|unser|unsere|habe|bin|wohne|arbeite|mag|spiele|lebe)\b)"
    ),
    unsure=compiled(
        r"\b(?:wenn|falls|vielleicht|eventuell|womöglich|würde\w*|könnte\w*|hätte\w*|wäre\w*"
        r"|möchte\w*|angeblich|irgendwann|ob"
        r"|träum\w+|glaube|vermutlich|wahrscheinlich|nicht|behauptet|sagt|meint|roman|geschichte"
        r"|film|zitat|beispiel)\b"
    ),
    foreign=compiled(
        r"\b(?:mein\w*|mich|mir|uns\w*|ich|wir|du|dir|dich|dein\w*|sie\ sind|ihnen|nie\ gesagt)\b"
    ),
    order=(
        (compiled(rf"^(?:{_LEAD})\b[\s,:!.]*"), ""),
        (compiled(rf"^(?P<w>{_WHEN}),?\ (?P<v>\w+)\ (?P<s>ich|wir)\ (?P<r>.+)$"), r"\g<s> \g<v> \g<w> \g<r>"),
        (
            compiled(
                rf"^(?P<w>{_WHEN}),?\ (?P<v>\w+)\ (?P<s>(?:mein|meine|unser"
                r"|unsere)\ \w+(?:\ (?-i:[A-ZÄÖÜ])\w+)?)\ (?P<r>.+)$"
            ),
            r"\g<s> \g<v> \g<w> \g<r>",
        ),
        (compiled(r"^und\ (?=(?:ich|wir|mein|meine|unser|unsere)\b)"), ""),
        (compiled(r"^und\ (?P<v>habe|bin|wohne|arbeite|mag|spiele|lebe)\b"), r"ich \g<v>"),
    ),
    rules=_RULES,
    relative=compiled(
        r"^(?:mein|meine|unser|unsere)\ (?:(?:ältere|älterer|jüngere|jüngerer|große|großer|kleine"
        r"|kleiner|beste|bester)\ )?"
        rf"(?P<relation>{_KIN})(?:\ (?P<name>(?:Herr\ |Frau\ )?(?-i:[A-ZÄÖÜ])[\w-]+))?(?=\ )"
    ),
    third=_THIRD,
    owned="{relation} von {author}",
    called="heißt",
    day="am {day}",
)
