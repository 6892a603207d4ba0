"""What German clauses in the first person tell (SPEC J-8)."""

from __future__ import annotations

from services.compactor.domain.extracting_latin import NAME, Rule, rule
from services.compactor.domain.extracting_types import Category, Tense

KIN = (
    "Eltern|Großeltern|Schwiegereltern|Schwester|Bruder|Mutter|Mama|Vater|Papa|Frau|Mann"
    "|Ehefrau|Ehemann|Tochter|Sohn|Kind|Oma"
    "|Großmutter|Opa|Großvater"
    "|Tante|Onkel|Cousin|Cousine|Nichte|Neffe|Freundin|Freund|Partnerin|Partner|Verlobte"
    "|Verlobter|Nachbarin|Nachbar"
    "|Kollegin|Kollege|Chefin|Chef|Schwiegermutter|Schwiegervater|Schwägerin|Schwager|Enkelin"
    "|Enkel|Hund|Katze|Kater"
    "|Patenkind|Patentochter|Patensohn|Patin|Pate|Schwiegertochter|Schwiegersohn"
    "|Stiefmutter|Stiefvater|Stiefsohn|Stieftochter"
    "|Halbschwester|Halbbruder|Ex|Alte|Alter|Kumpel|Kleine|Kleiner|Große|Großer|Älteste"
    "|Ältester|Jüngste|Jüngster|Vermieterin"
    "|Vermieter|Ärztin|Arzt|Hausarzt|Hausärztin|Trainer|Trainerin|Hamster|Kaninchen|Pferd"
    "|Papagei|Mitbewohnerin|Mitbewohner|Zwillingsschwester|Zwillingsbruder|Exfrau|Exmann"
    "|Ex-Frau"
    "|Ex-Mann|Hündin"
)
TRADE = (
    r"(?:\w*(?:er|erin|ist|istin|ent|entin|ärztin|arzt|mann|frau|eur|eurin|loge|login|wirt"
    r"|wirtin|or|orin|ant|antin|iker"
    r"|ikerin|koch|köchin|anwalt|anwältin|schaffner|bauer|bäuerin|pfleger|hebamme|pilot"
    r"|pilotin|architekt|architektin"
    r"|richter|ar|arin|ekär|ökonom))"
)
LEAD = (
    "ja|nein|also|übrigens|hallo|hi|danke|ach|ehrlich gesagt|nur so|zur info|stimmt|genau"
    "|na gut|na ja|naja|tja|ok|okay|oh|ach ja|so|gut|hey|moin|servus|sorry|ps|nebenbei"
    "|kurz zu mir|zu mir|nur zur info"
    "|aktuell|zurzeit|derzeit|momentan|wie gesagt|inzwischen|jetzt|mittlerweile"
)
WHEN = (
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
ILLNESS = (
    r"(?:\w*(?:itis|ose|ämie|algie|phobie|lepsie|migräne|allergie|intoleranz|krankheit"
    r"|syndrom|störung|schwäche)|diabetes|asthma"
    r"|zöliakie|heuschnupfen|neurodermitis|rheuma|adhs|bluthochdruck|tinnitus|krebs|gicht"
    r"|epilepsie|migräne|höhenangst|flugangst"
    r"|schuppenflechte|morbus \w+|hashimoto|parkinson|alzheimer|demenz"
    r"|einen herzschrittmacher|einen bandscheibenvorfall)"
)
_ASKS_NO = r"(?!(?:ich|wir|er|sie|es|das|dann|was|wie|wird|ist|bin|geht|habe|haben|kann|will)\b)"
RULES: tuple[Rule, ...] = (
    rule(
        r"ich mache (?:(?:gerade|grad|jetzt|seit .{3,20}) )?(?P<o>(?:eine|meine) (?:ausbildung"
        r"|lehre|umschulung|weiterbildung) (?:zur|zum|als|bei|in) .+)",
        Category.IDENTITY,
        "studies",
        "macht {o}",
    ),
    rule(
        rf"ich habe (?:(?:seit .{{3,20}}|leider|auch) )?(?P<o>(?:\w+ )?{ILLNESS})(?: (?:seit"
        r"|und) .+)?",
        Category.FACT,
        "has*",
        "hat {o}",
    ),
    rule(r"ich bin im (?P<o>\w+ monat schwanger)", Category.FACT, "pregnancy", "ist im {o}"),
    rule(r"ich rauche (?P<o>(?:seit .+ )?nicht(?: mehr)?)", Category.FACT, "smokes", "raucht {o}"),
    rule(
        r"ich trinke (?P<o>nicht(?: mehr)?|keinen alkohol(?: mehr)?)", Category.FACT, "drinks", "trinkt {o}"
    ),
    rule(
        r"ich kann (?P<o>(?!mich\b|das\b|es\b|dich\b|sie\b|ihn\b).+) nicht (?:ausstehen|leiden"
        r"|ab)",
        Category.PREFERENCE,
        "taste*",
        "kann {o} nicht ausstehen",
    ),
    rule(
        r"(?:ich mag |ich trinke |ich esse |ich fahre )?lieber (?P<o>.+ als .+)",
        Category.PREFERENCE,
        "prefers*",
        "mag lieber {o}",
    ),
    rule(r"ich bin aus (?P<o>(?-i:[A-ZÄÖÜ]).+)", Category.IDENTITY, "origin", "kommt aus {o}"),
    rule(
        r"ich bin (?P<o>(?:seit .+ )?(?:verheiratet|geschieden|verwitwet|verlobt|ledig"
        r"|schwanger|in rente|arbeitslos|selbstständig|vegan|vegetarierin?))",
        Category.FACT,
        "is*",
        "ist {o}",
    ),
    rule(
        r"(?:bitte )?(?P<o>keine?n? (?:emojis|smileys|anglizismen|floskeln|listen"
        r"|ausrufezeichen|stichpunkte|tabellen)(?: mehr)?)(?:,? bitte)?",
        Category.INSTRUCTION,
        "instruction*",
        "wünscht: {o} verwenden",
    ),
    rule(
        r"ich (?P<v>(?!fahr|lauf|les|ess|treff|nehm|schlaf|seh|geb|bin|hab|werd|müss|denk"
        r"|glaub|find|hoff|frag|wünsch)\w+?)e (?P<o>(?:.+ )?(?:jeden|jede|täglich"
        r"|montags|dienstags|mittwochs|donnerstags|freitags|samstags|sonntags|zweimal die"
        r"|einmal die|dreimal die) ?.*)",
        Category.FACT,
        "habit*",
        "{v}t {o}",
    ),
    rule(
        r"(?:ich|wir) (?:nehme|nehmen) (?:also |doch |jetzt |nun )?(?P<o>(?!.*\b(?:version"
        r"|option|variante|datei|vorschlag|erste|zweite|dritte|letzte)[nrs]?\b)(?:den|die|das"
        r"|lieber) .+)",
        Category.DECISION,
        "decision*",
        "nimmt {o}",
    ),
    rule(
        r"(?:das|am ende|letztlich) (?:haben wir|habe ich) (?:uns|mich) (?P<o>(?:für"
        r"|gegen) .+) entschieden",
        Category.DECISION,
        "decision*",
        "hat sich {o} entschieden",
    ),
    rule(
        r"(?:bitte )?(?:ab jetzt|ab sofort|künftig|in zukunft|von nun an"
        rf"|ab heute)(?: immer)? (?:bitte )?(?P<o>{_ASKS_NO}.+)",
        Category.INSTRUCTION,
        "instruction*",
        "wünscht: {o}",
    ),
    rule(
        r"(?:bitte )?(?P<o>(?!ich\b|wir\b|er\b|es\b|sie\b|das\b|war\b|ist\b|habe\b|bin\b"
        r"|muss\b)\w+ (?:mir |mich )?(?:bitte )?(?:immer nur|immer|nie|niemals"
        r"|ab jetzt|ab sofort|künftig|grundsätzlich|in zukunft|nur noch) .+)",
        Category.INSTRUCTION,
        "instruction*",
        "wünscht: {o}",
    ),
    rule(
        r"bitte (?P<o>(?:immer|nie|niemals|grundsätzlich|nur noch|keine?n? (?:emojis|smileys"
        r"|anglizismen|floskeln|listen|ausrufezeichen)) ?.*)",
        Category.INSTRUCTION,
        "instruction*",
        "wünscht: {o}",
    ),
    rule(
        r"(?:sag|sage|sagen wir) (?:einfach |ruhig |bitte )?du(?: zu mir)?",
        Category.INSTRUCTION,
        "form-of-address",
        "möchte geduzt werden",
    ),
    rule(
        r"(?:bitte )?(?:nicht vergessen|erinner\w* mich(?: bitte)?"
        r"|denk\w* dran)[:, ]+(?P<o>.+)",
        Category.TASK,
        "task*",
        "muss daran denken: {o}",
    ),
    rule(
        r"ich darf .{0,20}?nicht vergessen,? (?P<o>.+ zu \w+|.+zu\w+en)",
        Category.TASK,
        "task*",
        "muss daran denken, {o}",
    ),
    rule(
        r"(?:ich habe|wir haben) (?P<o>(?!.*\bge\w+(?:t|en)\b)(?:einen |eine |ein |wieder "
        r"|um .+ )?(?-i:[A-ZÄÖÜ])?[\w-]+.*)",
        Category.EVENT,
        "event*",
        "hat {o}",
        Tense.COMING,
    ),
    rule(
        r"(?:der|die|das|mein|meine|unser|unsere) (?P<o>(?!.*\bge\w+(?:t|en)$)[\w-]+(?:termin"
        r"|prüfung|flug|zug"
        r"|konzert|hochzeit|feier|fest|umzug|operation|op|abgabe|besuch|treffen"
        r"|spiel|turnier|kurs|klausur|gespräch|einschulung|taufe|beerdigung)? (?:ist|geht"
        r"|beginnt|startet|findet) .+)",
        Category.EVENT,
        "event*",
        ": {o}",
        Tense.COMING,
    ),
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
        r"ich bin (?P<o>Linkshänder(?:in)?|Diabetiker(?:in)?|farbenblind|taub|gehörlos|blind|Rentner(?:in)?)",
        Category.FACT,
        "is*",
        "ist {o}",
    ),
    rule(
        rf"ich bin (?:von Beruf |ein |eine )?(?P<o>(?=(?-i:[A-ZÄÖÜ])){TRADE})(?: (?:in|bei"
        r"|von) .+)?",
        Category.IDENTITY,
        "occupation",
        "ist {o}",
    ),
    rule(
        r"ich bin (?P<o>\d{1,3})(?: jahre alt)?(?:,? und .+)?", Category.IDENTITY, "age", "ist {o} Jahre alt"
    ),
    rule(r"ich bin (?P<o>(?:\w+ )?allergisch (?:gegen|auf) .+)", Category.FACT, "allergy*", "ist {o}"),
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
        r"(?:ich|wir) (?:ziehen?|fliegen?|fahren?|reisen?|heiraten?|treffen?|bekommen?|kriegen?) (?P<o>.+)",
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
        r"|nenne)e? (?:mir )?(?:bitte )?stets .+)",
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
