"""German sentences of a form of their own: wishes, reminders, favourites, appointments (SPEC J-8)."""

from __future__ import annotations

import re
from functools import partial

from services.compactor.domain.extraction.facts import Category, Tense
from services.compactor.domain.extraction.latin.german_words import WORDS
from services.compactor.domain.extraction.latin.language import NAME, wish

_ASKED = (
    r"(?:antworte?|schreibe?|nenne?|verwende?|benutze?|nutze?|gib|sprich|erkläre?|formatiere?|rechne?"
    r"|zeige?|lass"
    r"|mache?|sage?|stelle?|füge?|fasse?|zitiere?|begründe?|beende?|fange?|halte?|vermeide?|verzichte?"
    r"|liefere?"
    r"|schicke?|nimm|duze?|sieze?|bleibe?|hör|setze?|runde?|liste?|rede?|sei|frage?|verwechs\w+|merk|spar)"
)
_OF_ANSWERS = (
    r".*(?:antwort|emoji|smiley|sätze|satz\b|liste|stichpunkt|deutsch|englisch|wort\b|wörter|tabelle"
    r"|überschrift|zeichen"
    r"|absatz|absätze|anglizism|fach|floskel|einheit|euro|format|quelle|code|kommentar|zeile|gender|anrede"
    r"|ton\b|text|prosa"
    r"|markdown|fett|person|portion|uhrzeit|datum|metrisch|gramm|zahlen|beispiel|abkürzung|dialekt|platt"
    r"|sprache|form\b)"
)
"""What only answers have: "from now on no sugar" is a wish of another kind."""
IMPERATIVES = re.compile(
    r"^(?!.*\b(?:ich|wir)\b)(?:bitte )?(?:dann )?(?:(?:immer|nie|nur|nur noch"
    rf"|grundsätzlich) )?(?:{_ASKED}\b.+"
    rf"|(?={_OF_ANSWERS})(?:keine?n?|nur|nur noch|immer|nie|niemals|stets|alles|alle|bitte|kurze|ohne|in"
    r"|deine antworten) .+)$",
    re.IGNORECASE,
)
STANDING = re.compile(
    r"\b(?:ab (?:jetzt|sofort|heute)|künftig|zukünftig|in zukunft|von nun an|ein für alle ?mal"
    r"|fürs nächste mal"
    r"|wenn du mir \w+ (?:gibst|schreibst|schickst|zeigst|nennst|erklärst|antwortest)"
    r"|wenn du mir (?:antwortest"
    r"|schreibst)|wenn du antwortest|(?:das )?gilt (?:für|ab|immer)\b.*)(?: bitte)?",
    re.IGNORECASE,
)


_wish = partial(wish, WORDS)
_ADDRESS, _EVENT = "form-of-address", "event*"
WISHES = (
    _wish(
        r"ich (?:möchte|will|hätte gern),? dass du mich (?P<o>duzt|siezt)\b.*",
        Category.INSTRUCTION,
        _ADDRESS,
        "möchte, dass man {o}",
    ),
    _wish(
        r"was ich am liebsten (?:mag|esse|lese|höre),? (?:ist|sind) (?P<o>.+)",
        Category.PREFERENCE,
        "taste*",
        "mag am liebsten {o}",
    ),
    _wish(
        rf"(?:bitte )?nenne? mich (?:(?:bitte|ab jetzt|einfach|ruhig) )*(?P<o>{NAME})(?:,.*)?",
        Category.INSTRUCTION,
        _ADDRESS,
        "möchte {o} genannt werden",
    ),
    _wish(
        r"(?:bitte )?(?:duze? mich|(?:sage?|sagen wir) (?:einfach |ruhig |bitte )?du)\b.*",
        Category.INSTRUCTION,
        _ADDRESS,
        "möchte geduzt werden",
    ),
    _wish(r"(?:bitte )?sieze? mich\b.*", Category.INSTRUCTION, _ADDRESS, "möchte gesiezt werden"),
    _wish(
        rf"(?:bitte )?(?P<o>{_ASKED}\b.*\b(?:immer|nie|niemals|nur noch|stets|grundsätzlich"
        r"|keine?n? .+ mehr)\b.*)",
        Category.INSTRUCTION,
        "instruction*",
        "wünscht: {o}",
    ),
    _wish(
        r"(?:bitte )?(?P<o>(?:verzichte auf|spar dir|hör auf,?) .+)",
        Category.INSTRUCTION,
        "instruction*",
        "wünscht: {o}",
    ),
    _wish(
        r"(?:bitte )?(?P<o>keine?n? (?:\w+ )?(?:emojis?|smileys?|anglizismen|floskeln|listen|ausrufezeichen"
        r"|stichpunkte|tabellen|aufzählungen|fremdwörter|fachbegriffe|abkürzungen)(?: mehr)?)(?:,? bitte)?",
        Category.INSTRUCTION,
        "instruction*",
        "wünscht: {o} verwenden",
    ),
    _wish(
        r"bitte (?P<o>(?:immer|nie|niemals|grundsätzlich|nur noch) .+)",
        Category.INSTRUCTION,
        "instruction*",
        "wünscht: {o}",
    ),
    _wish(
        r"(?:bitte )?(?:nicht vergessen|denk\w* (?:bitte )?(?:dran|daran))[:, ]+(?P<o>.+)",
        Category.TASK,
        "task*",
        "muss daran denken: {o}",
        whole=True,
    ),
    _wish(
        r"(?:bitte )?erinner\w* mich (?:bitte )?(?:mal )?(?:daran,? )?(?P<o>.+)",
        Category.TASK,
        "task*",
        "muss daran denken, {o}",
    ),
    _wish(
        r"ich darf .{0,20}?nicht vergessen,? (?P<o>.+ zu \w+|.+zu\w+en)",
        Category.TASK,
        "task*",
        "muss daran denken, {o}",
    ),
    _wish(
        r"(?P<w>.*?) ?muss ich (?P<o>zum? .+|zur .+|in die .+)",
        Category.TASK,
        "task*",
        "muss {w} {o}",
        Tense.COMING,
    ),
    _wish(
        r"(?:mein|meine|unser) (?P<n>(?:absolute[sr]? )?lieblings\w+|liebste[sr]? \w+) (?:ist"
        r"|sind) (?P<o>.+)",
        Category.PREFERENCE,
        "favourite*",
        ": {n} ist {o}",
    ),
    _wish(
        r"(?P<o>(?!was\b|das\b|es\b|er\b|sie\b)[^,]+?) (?:ist|sind) (?:(?:so )?(?:gar "
        r"|überhaupt )?nicht (?:so |wirklich )?)(?:meins|mein ding|mein fall)"
        r"(?:,? .+)?",
        Category.PREFERENCE,
        "taste*",
        "mag {o} nicht",
    ),
    _wish(
        r"(?P<o>(?!was\b|das\b|es\b|er\b|sie\b)[^,]+?) (?:ist|sind) (?:(?:voll|total|genau"
        r"|absolut) )?(?:meins|mein ding)(?:,? .+)?",
        Category.PREFERENCE,
        "taste*",
        "mag {o}",
    ),
    _wish(
        r"(?P<o>(?!das\b|es\b|was\b|mir\b)(?:\w+ ){0,2}\w+) (?:geht|gehen) immer(?:,? .+)?",
        Category.PREFERENCE,
        "taste*",
        "mag {o} immer",
    ),
    _wish(
        r"(?P<o>(?:meinen |den )?(?:\w*kaffee|\w*tee|espresso|cappuccino|bier|wein|brot|müsli|pizza|nudeln"
        r"|eier|fleisch|fisch|schokolade|sushi|suppe|steak)"
        r",? (?:bitte )?(?:nur|immer|nie|niemals|ohne|am liebsten|lieber|jederzeit|schwarz) ?.*)",
        Category.PREFERENCE,
        "taste*",
        "möchte {o}",
    ),
    _wish(
        r"wir sind (?P<o>(?:zu (?:zweit|dritt|viert|fünft|sechst)|\w+ (?:geschwister|personen|leute)\b).*)",
        Category.FACT,
        "household",
        ": sind {o}",
    ),
    _wish(
        r"(?:es geht )?nichts (?:geht )?über (?P<o>.+)", Category.PREFERENCE, "taste*", "mag am liebsten {o}"
    ),
    _wish(
        r"ich (?:kann|kann mit) (?P<o>.+) nichts anfangen",
        Category.PREFERENCE,
        "taste*",
        "kann nichts anfangen {o}",
    ),
    _wish(
        r"(?:(?:lieber|eher|dann lieber) (?P<o>.+ (?:als|statt) .+))",
        Category.PREFERENCE,
        "prefers*",
        "mag lieber {o}",
    ),
    _wish(
        r"(?:es )?(?:wird|bleibt) (?:jetzt |nun |doch |bei )*(?P<o>(?:die|der|das|ein|eine) .+|dabei:? .+)",
        Category.DECISION,
        "decision*",
        "entscheidet sich: {o}",
    ),
    _wish(
        r"(?:todo|to-do|merkzettel|auf meiner liste(?: steht)?|nicht vergessen"
        r"|dran denken)\s*[:,-]\s*(?P<o>.+)",
        Category.TASK,
        "task*",
        "muss {o}",
        whole=True,
    ),
    _wish(
        r"ich muss (?:dran|daran) denken,? (?P<o>.+ zu \w+|.+zu\w+en)",
        Category.TASK,
        "task*",
        "muss daran denken, {o}",
    ),
    _wish(
        r"ich habe (?:noch )?(?P<o>.+ zu (?:erledigen|bezahlen|schreiben|machen|tun|besorgen|korrigieren))",
        Category.TASK,
        "task*",
        "hat {o}",
        Tense.COMING,
    ),
    _wish(
        r"(?P<o>(?:\w*(?:friseur|zahnarzt|hautarzt|kinderarzt|augenarzt|frauenarzt|tierarzt|physio"
        r"|elternabend|tüv|impfung|termin|prüfung|klausur|besichtigung))"
        r"\b(?! (?:ist|war|hat)\b).*)",
        Category.EVENT,
        _EVENT,
        ": {o}",
        Tense.COMING,
    ),
    _wish(
        r"(?P<o>(?!was\b|das\b|es\b)[^,]+) (?:ist|sind) mir (?:\w+ )?lieber (?P<a>als .+)",
        Category.PREFERENCE,
        "prefers*",
        ": {o} lieber {a}",
    ),
    _wish(
        r"ich (?:bin|habe) (?P<o>(?:1,\d\d|\d,\d+|1 ?m ?\d\d|\d{3} ?cm)(?: m)? groß.*|schuhgröße \d+.*"
        r"|größe (?:\d+|[smlx]+)\b.*)",
        Category.FACT,
        "measure*",
        ": {o}",
    ),
    _wish(
        r"(?P<w>(?:bis|vor) [\w. ]+?) (?:muss|müssen) (?P<o>(?:die|der|das|den|mein\w*|unser\w*) .+ (?:raus"
        r"|fertig|weg|fertig sein|\w+ werden|\w+ sein))",
        Category.TASK,
        "task*",
        "hat zu erledigen: {o} {w}",
        Tense.COMING,
    ),
    _wish(
        r"(?:alle|meine freunde|die leute|alle hier) nennen mich (?:nur |einfach "
        r"|immer )?(?P<o>(?-i:[A-ZÄÖÜ])\w+)(?:,.*)?",
        Category.IDENTITY,
        "nickname",
        "wird {o} genannt",
    ),
    _wish(
        r"(?:das|den|die|unser\w*|mein\w*) (?:\w+ )?(?P<n>hund|katze|kater|kätzchen|welpen?|hündin"
        r"|kaninchen|hamster|pony|baby|boot) haben wir (?P<o>(?-i:[A-ZÄÖÜ])\w+) (?:getauft|genannt)",
        Category.FACT,
        "thing*",
        ": {n} heißt {o}",
    ),
    _wish(r"mit (?P<o>[^,]+?) kann man mich jagen(?:,? .+)?", Category.PREFERENCE, "taste*", "mag {o} nicht"),
    _wish(
        r"(?P<v>keine?n?) (?P<o>[^,]+?) für mich(?:,? bitte)?(?:,? .+)?",
        Category.PREFERENCE,
        "taste*",
        "möchte {v} {o}",
    ),
    _wish(
        r"(?:mein|meine|unser|unsere) (?P<o>(?:\w*(?:laden|geschäft|firma|werkstatt|praxis|büro|hof|haus"
        r"|wohnung|garten|café|kneipe|restaurant"
        r"|bäckerei|atelier|boot|kutter|hütte|stall|schule|uni|arbeitsplatz|betrieb)) (?:ist|liegt"
        r"|steht) (?:in|am|an|auf|bei|im|neben|direkt) .+)",
        Category.LOCATION,
        "place*",
        ": {o}",
    ),
    _wish(
        r"(?P<o>(?!was\b|wer\b|das\b|es\b)[^,]+) ist (?:mir die|mein|meine) (?P<n>liebste\w* \w+"
        r"|lieblings\w+)(?:, .+)?",
        Category.PREFERENCE,
        "favourite*",
        ": {n} ist {o}",
    ),
    _wish(
        r"(?:ich mag |ich trinke |ich esse |ich fahre |mag |trinke )?lieber (?P<o>.+ als .+)",
        Category.PREFERENCE,
        "prefers*",
        "mag lieber {o}",
    ),
    _wish(
        r"meine? (?P<o>(?:blutgruppe|schuhgröße|adresse|\w*nummer|muttersprache|sternzeichen|kleidergröße"
        r"|kennzeichen|körpergröße|allergien|unverträglichkeiten|medikamente|ringgröße|konfektionsgröße"
        r"|postleitzahl|iban|zweitsprache) (?:ist|lautet|sind) .+)",
        Category.FACT,
        "attribute*",
        ": {o}",
    ),
    _wish(r"mein geburtstag ist (?P<o>am .+)", Category.IDENTITY, "birthday", "hat {o} Geburtstag"),
    _wish(
        r"(?:wir|ich) (?:nehmen?) (?:also |doch |jetzt |nun )?(?P<o>(?!.*<option>)(?:den|die|das) .+)",
        Category.DECISION,
        "decision*",
        "nimmt {o}",
    ),
    _wish(
        r"(?:nach (?:langem|ewigem|viel) [\w ]+|beschlossene sache|(?:es )?steht fest|fix ist|entschieden"
        r"|entscheidung|beschlossen|fazit)"
        r"(?: ist(?: nur eins)?)?\s*[:,]\s*(?P<o>.+)",
        Category.DECISION,
        "decision*",
        "hat entschieden: {o}",
        whole=True,
    ),
    _wish(
        r"mein(?:e)? (?:chefin|chef|prof|professorin|lehrerin|lehrer) (?:will|braucht|möchte"
        r"|erwartet) (?P<o>(?!dass\b|mich\b).+)",
        Category.TASK,
        "task*",
        "muss abgeben: {o}",
        Tense.COMING,
    ),
    _wish(
        r"(?:der|die|das|mein|meine|unser|unsere) (?P<o>(?:\w+ )?<appointment>(?: \w+){0,4} (?:ist|geht"
        r"|beginnt"
        r"|startet|findet|steht|fängt|endet) .+)",
        Category.EVENT,
        _EVENT,
        ": {o}",
        Tense.COMING,
    ),
    _wish(
        r"(?P<o>(?:heute|morgen|übermorgen|(?:am|kommenden|nächsten) \w+) (?:ist|habe|steht|beginnt|startet"
        r"|findet|geht) (?:die |der |das |mein"
        r"|meine |unser |unsere )?(?:\w+ )?<appointment>\b.*)",
        Category.EVENT,
        _EVENT,
        ": {o}",
        Tense.COMING,
    ),
    _wish(
        r"(?P<w>(?:heute|morgen|übermorgen|(?:am|kommenden|nächsten) \w+)(?: um \d+(?:[:.]\d+)?(?: uhr)?"
        r"| \w+)?) kommt (?P<o>(?:der|die|das"
        r"|eine?) [\w-]+(?: .+)?)",
        Category.EVENT,
        _EVENT,
        ": {o} kommt {w}",
        Tense.COMING,
    ),
    _wish(
        r"(?P<w>(?:gestern|vorgestern|heute|(?:am|letzten) \w+)(?: \w+)?) (?P<v>ist|sind|hat|haben|wurde"
        r"|wurden) "
        r"(?P<o>(?=(?:.* )?(?:mir|uns|unser\w*|meine?r?|bei uns|gekommen|geliefert)\b)(?!meine? \w+ ).+)",
        Category.EVENT,
        _EVENT,
        ": {v} {w} {o}",
        Tense.PAST,
    ),
)
