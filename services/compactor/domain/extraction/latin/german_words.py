"""German words by kind, and verbs by sense (SPEC J-8)."""

from __future__ import annotations

KIN = (
    r"(?:Schwieger|Groß|Ur|Urgroß|Stief|Halb|Zwillings|Adoptiv|Pflege|Paten|Enkel|Ex-?)*(?:Eltern|Mutter"
    r"|Vater"
    r"|Schwester|Bruder|Tochter|Sohn|Kind|Mann|Frau|Oma|Opa|Tante|Onkel|Mama|Mutti|Mam|Papa|Vati)"
    r"|Cousine|Cousin|Nichte|Neffe|\w*(?:freundin|freund|partnerin|partner|nachbarin|nachbar|kollegin"
    r"|kollege|chefin|chef|lehrerin"
    r"|lehrer|ärztin|arzt|trainerin|trainer|kumpel|betreuerin|betreuer)|Verlobter?|Schwägerin|Schwager"
    r"|Enkelin|Enkel|Kumpel|Kumpeline|Patin|Pate|Ehefrau|Ehemann"
    r"|Mitbewohnerin|Mitbewohner|Vermieterin|Vermieter|Hausärztin|Hausarzt|Therapeutin|Therapeut|Hebamme"
    r"|Friseurin|Friseur"
    r"|Ältester?|Jüngster?|Großer?|Kleiner?|Mittlerer?|Älteste|Jüngste|Azubi|Baby|Kids|Göttergatte"
    r"|Liebster?|Teenager|Ex"
    r"|Hund|Hündin|Katze|Kater|Hamster|Kaninchen|Pferd|Stute|Wallach|Papagei|Schildkröte|Wellensittich"
    r"|Dackel"
    r"|Esel|Pony|Meerschweinchen|Kinder|Söhne|Töchter|Brüder|Schwestern|Zwillinge|Enkelkinder|Katzen|Hunde"
    r"|Geschwister|Nachbarn"
)
ADJECTIVES = (
    r"beiden|zwei|drei|ältere|älterer|ältester?|jüngere|jüngerer|jüngster?|große|großer|kleine|kleiner"
    r"|beste|bester|mittlere"
    r"|mittlerer|neue|neuer|alte|alter|zweite|zweiter"
)
_ILLNESS = (
    r"(?:\w+ )?(?:\w*(?:itis|ose|ämie|algie|phobie|lepsie|migräne|allergie|intoleranz|unverträglichkeit"
    r"|krankheit|syndrom|störung|schwäche|diabetes|asthma|zöliakie|heuschnupfen|neurodermitis|rheuma"
    r"|bluthochdruck|tinnitus|krebs|gicht|höhenangst|flugangst|demenz|flechte)|ad(?:h)?s|ms|copd|aids|hiv"
    r"|morbus \w+|hashimoto|parkinson|alzheimer|herzschrittmacher|bandscheibenvorfall|hörgeräte?)"
)
_TRADE = (
    r"(?:(?!(?:feuer|opfer|sieger|gewinner|erster|letzter|träger|dauer|fieber)\b)(?-i:[A-ZÄÖÜ])[\w-]*(?:er"
    r"|erin|ist|istin|ent|entin|ärztin|arzt|mann|frau|eur|eurin|loge|login|wirt"
    r"|wirtin|or|orin|ant|antin|iker|ikerin|koch|köchin|anwalt|anwältin|bauer|bäuerin|pfleger|hebamme|pilot"
    r"|pilotin|architekt|architektin|richterin|ar|arin|ekär|ökonom|nom|nomin|graf|grafin|päde|gehilfe"
    r"|schwester"
    r"|apotheker|notar|mechatroniker|imker)|[\w-]*(?:lehrer|bäcker|maurer|schreiner|tischler|maler|fahrer"
    r"|verkäufer|pfleger|erzieher|rentner|schüler|gärtner|kellner|techniker|mechaniker|elektriker"
    r"|informatiker"
    r"|programmierer|entwickler|polizist|journalist|student|metzger|schlosser|friseur|ingenieur|optiker"
    r"|imker"
    r"|förster|landwirt|fischwirt|apotheker|therapeut|musiker|künstler|betreuer|leiter|pilot|architekt"
    r"|buchhalter|berater|dachdecker|winzer|übersetzer|dolmetscher|bibliothekar)(?:in|innen|n|en|e)?|azubi"
    r"|koch|köchin"
    r"|hebamme|lehrling|[\w-]*(?:arzt|ärztin|anwalt|anwältin|schwester|bauer|bäuerin|kauffrau|kaufmann"
    r"|wirtin"
    r"|login|loge|leute)|(?:\w+ )?(?:von|im) beruf \w+)"
)
_LANGUAGES = (
    r"(?:deutsch|englisch|französisch|spanisch|italienisch|polnisch|türkisch|russisch|arabisch"
    r"|niederländisch"
    r"|portugiesisch|ungarisch|tschechisch|kroatisch|serbisch|rumänisch|ukrainisch|griechisch|schwedisch"
    r"|dänisch|norwegisch|finnisch|chinesisch|japanisch|koreanisch|persisch|farsi|dari|kurdisch|hebräisch"
    r"|sorbisch|platt\w*|bairisch|schwäbisch|schweizerdeutsch|twi|latein|gebärdensprache|vietnamesisch"
    r"|hindi"
    r"|albanisch|bosnisch|georgisch|armenisch|isländisch|esperanto|luxemburgisch|friesisch|jiddisch|tamil"
    r"|urdu|suaheli|swahili|thai|bulgarisch|slowenisch|slowakisch|lettisch|litauisch|estnisch)"
)
DAYS = r"(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag|wochenende)"
_FREQUENTLY = (
    r"(?:jede[nsr]?\b|täglich|wöchentlich|immer\b|meistens|nie\b|niemals|(?:montag|dienstag|mittwoch"
    r"|donnerstag"
    r"|freitag|samstag|sonntag)s\b|(?:ein|zwei|drei|vier|fünf|sechs|\d ?)(?:mal|x) (?:die|pro|in der|im"
    r"|am)\b"
    r"|am wochenende\b|abends|morgens|mittags|nachmittags|vormittags|nachts|normalerweise|regelmäßig"
    r"|gerne?\b"
    r"|am liebsten|halbtags|nebenbei|nebenher|ehrenamtlich|in meiner freizeit|jahrelang|von kind auf"
    r"|seit (?!heute|gestern|vorhin|eben|stunden|tagen|minuten|einer|montag|\w+ (?:stunde|minute|tag))\w+)"
)
WORDS = {
    "very": r"(?:\w+)",
    "span": r"(?:seit (?:\d+|\w+)(?: \w+)?|jetzt|inzwischen|mittlerweile|noch|noch immer|immer noch"
    r"|schon immer|jetzt auch)",
    "age": r"(?:(?:jetzt|schon|erst|grad|gerade|bald|inzwischen|mittlerweile) )*(?P<o>\d{1,3}|(?:vier|fünf"
    r"|sechs|sieben|acht|neun|zehn|elf|zwölf|drei)|\w+(?:zehn|zig))"
    r"(?: jahre(?: alt)?)?(?=$|,| und )",
    "allergic": r"(?P<o>allergisch (?:gegen|auf) .+|(?:laktose|fruktose|gluten|histamin)intolerant.*"
    r"|gegen .+ allergisch|\w+allergiker(?:in)?.*|auf .+ allergisch)",
    "diet": r"(?:vegan|vegetarisch|veganer(?:in)?|vegetarier(?:in)?|pescetarier(?:in)?|frutarier(?:in)?)",
    "school": r"(?:in|im|auf|aufs|an) .*(?:klasse|schule|kita|kindergarten|gymnasium|uni|krippe|ausbildung"
    r"|oberstufe|realschule|internat)\b.*",
    "medicine": r"(?:\w*(?:tabletten|pillen|medikamente?|verdünner|insulin|antidepressiva|kortison|cortison"
    r"|ritalin|metformin|marcumar|warfarin|pille"
    r"|thyroxin|betablocker|statine|spray|tropfen))\b.*",
    "state": r"auf (?:einem|dem|beiden) \w+(?: \w+)? (?:taub|blind)|(?:(?:stolze[rn]? )?(?:mutter|vater"
    r"|mama|papa|oma|opa|großmutter|großvater)\b|(?:un|frisch |glücklich )?verheiratet|geschieden|verwitwet"
    r"|verlobt|ledig|schwanger|getrennt"
    r"|alleinerziehend|(?:blut)?taub|gehörlos|schwerhörig|blind|farbenblind|kurzsichtig|weitsichtig"
    r"|in rente"
    r"|rentner(?:in)?|pensioniert|arbeitslos|selbst(?:st)?ändig|freiberufl\w+|linkshänder(?:in)?"
    r"|(?:typ-\d-)?diabetiker(?:in)?|linkshändig|autist(?:in)?|legastheniker(?:in)?|nichtraucher(?:in)?"
    r"|hochschwanger"
    r"|nachtschwärmer(?:in)?|frühaufsteher(?:in)?|(?:trockene[rn]? )?alkoholiker(?:in)?|witwer|witwe"
    r"|einzelkind|bluter(?:in)?|epileptiker(?:in)?|asthmatiker(?:in)?|querschnittsgelähmt|dement|nachteule"
    r"|im \w+ monat schwanger|in (?:elternzeit|mutterschutz|kurzarbeit|altersteilzeit|pension|therapie)"
    r"|im ruhestand|\w{3,} und alleinerziehend|konfessionslos|katholisch|evangelisch|muslima?|jüdisch)",
    "from": r"(?:(?:ursprünglich|eigentlich|gebürtig) )?(?P<o>(?:aus|vom|von der) (?-i:[A-ZÄÖÜ]).+"
    r"|gebürtige[rn]? .+)",
    "trade": rf"(?:(?:eine?|gelernter?|ausgebildete[rn]?|studierte[rn]?|ehemaliger?|freiberufliche[rn]?"
    rf"|selbstständige[rn]?|freie[rn]?|angehende[rn]?|leidenschaftliche[rn]?|noch|jetzt|also) )*"
    rf"(?P<o>{_TRADE}(?: .+)?)",
    "illness": rf"(?:eine?n? |seit \w+(?: \w+)? |leider )*(?P<o>{_ILLNESS})",
    "fear": r"(?:\w+ )?(?:angst|schiss|panik|horror) vor .+",
    "count": r"(?:eine?n?|zwei|drei|vier|fünf|sechs|sieben|acht|zehn|\d{1,4})",
    "number": r"(?:zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|zwanzig|\d{1,4})",
    "thing": rf"(?i:{KIN})(?:e|en|n|s|innen|nen)?|Töchter|Söhne|Brüder|Kinder|Enkelkinder|Geschwister"
    r"|Mütter|Väter|Hunde|Katzen|Hühner|Ziegen|Schafe|Pferde|Kühe|Bienenv\w+|Zwillinge|Aquarium|Werkstatt"
    r"|Laden|Hof|Bauernhof|Garten|Schrebergarten|Kleingarten|Firma|Boot|Segelboot|Wohnmobil|Camper|Haus"
    r"|Häuschen|Wohnung|Praxis|Café|Kneipe|Bäckerei|Motorrad|E-?Bike|Lastenrad|Klavier|Flügel|Geige|Gitarre"
    r"|Tattoo\w*|Führerschein|Ferienhaus|Ferienwohnung|Weinberg|Imkerei|\w*maschine|Traktor|Rennrad|Fahrrad"
    r"|Auto|Wagen|Roller|Vespa|VW|Golf|Polo|Fiat|Opel|Volvo|BMW|Audi|Skoda|Dacia|Toyota|Ford|Renault"
    r"|\w*allergie|Atelier|Gewächshaus",
    "passing": r"(?:\w*(?:fragen?|ideen?|probleme?|stunden?|tage?|wochen?|monate?|minuten?|jahre?|optionen?"
    r"|versionen?|varianten?|dateien?|fehler|angebote?|termine?|prüfung\w*|klausur\w*|dinge|sachen"
    r"|möglichkeiten"
    r"|prozent|euro|seiten|texte?|mails?|bitten?|gefühl|hunger|durst|lust|zeit|ahnung|recht|pech|glück"
    r"|urlaub"
    r"|leute|tickets?|karten|%|aufgaben?|punkte|anfragen|km|kilo\w*|meter|tabs)\b)",
    "title": r"(?:Herr|Frau)(?: Dr\.)?",
    "the": "(?:die|der)",
    "plainly": r"(?!(?:eine?n?|den|die|das|der|dem|mein\w*|es|mir|mich|dir|ihm|ihr"
    r"|nicht)\b)(?:\w+ )?(?-i:[A-ZÄÖÜ])\w+",
    "placed": r"(?:in|im|am|an|auf|bei|neben|direkt|gleich|über|unter|hinter|vor) (?!ordnung|eimer|arsch"
    r"|gange|urlaub|sicht|kommen)\w+",
    "made": r"(?:von|aus|bj|baujahr) \w+|\d+",
    "judged": r"(?:\w+ )?(?:schatz|traum|katastrophe|witz|problem|chaos|wrack|frage|rätsel|held|engel|idiot"
    r"|horror|graus|drama|fall)\w*\b",
    "period": r"\b(?:(?:19|20)\d\d|\d+ jahre|jahrelang|als (?:kind|student\w*|\w+er|\w+in)|mit \d+"
    r"|bis \d{4}|erst mit|damals|früher|zuletzt|letztes jahr|letzten (?:sommer"
    r"|winter|herbst)|zehn jahre|zwei jahre|drei jahre|fünf jahre|lange)\b|\bin (?-i:[A-ZÄÖÜ])\w+",
    "regular": r"\b(?:jede[nsr]? (?:ersten |zweiten )?\w+|(?:montag|dienstag|mittwoch|donnerstag|freitag"
    r"|samstag|sonntag)s)\b",
    "verb": r"(?:ist|sind|war|hat|haben|wird|kann|muss|bin|habe|gehe|geht|kommt|sein|will|soll)",
    "none": r".*\bkeine?n? .+",
    "before": r"(?:[\w ]{1,25}(?:lang|früher|damals|mal)|(?:vor|nach|bis|von|seinerzeit|früher) [\w ]+?)",
    "training": r"(?:(?:gerade|grad|jetzt|seit \w+(?: \w+)?) )?(?:eine |meine )?(?:ausbildung|lehre"
    r"|umschulung|weiterbildung|meister|promotion) (?:zu[mr]|als|bei|in)\b",
    "and": "und",
    "fan": r"(?:k?eine? |kein )?(?:großer? |riesen-?|riesiger? |echter? "
    r"|totaler? )?(?:\w+-?)?(?P<o>fan (?:von|vom|der|des) .+)",
    "usual": r"(?:meinen |den |mein |immer |nur )*(?:\w*kaffee|\w*tee|espresso|cappuccino|bier|wasser|milch"
    r"|müsli|steak|pizza)\b",
    "it": r"(?:es|das(?=$|,| (?:\w+en$|nicht|noch|auch|mal|immer|erst|jetzt|so|sehr|total|nur|echt|gar"
    r"|heute|morgen|wirklich|seit|aber|am|im|ja)\b)|dich|sie|ihn|dir|ihm|dies\w*)\b",
    "where": r"(?P<o>(?:jetzt |hier |zurzeit |derzeit |noch |wieder |inzwischen |direkt |gleich )*(?:(?:in"
    r"|bei|auf"
    r"|an|am|im|nahe|mit|zur|neben|über|unter|oberhalb|außerhalb|vor|hinter|zwischen|gegenüber|nördlich"
    r"|südlich"
    r"|östlich|westlich|gegenüber) (?!letzter zeit|ruhe|frieden|angst).+|allein\w*\b.*))",
    "employed": r"(?P<o>(?:als|bei|für|beim|in|im|an|am|auf|selbstständig|freiberuflich|mit) .+)",
    "hours": r"(?:nachts|tagsüber|halbtags|teilzeit|vollzeit|schicht|\w*schicht|\d+ stunden|von zu hause"
    r"|homeoffice|remote|freiberuflich|selbstständig|ehrenamtlich|nachtschichten|wochenenden?)",
    "language": rf"(?P<o>{_LANGUAGES})",
    "this": r"(?:es|das(?=$|,| (?:\w+en$|nicht|noch|auch|mal|immer|erst|jetzt|so|sehr|total|nur|echt|gar"
    r"|heute|morgen|wirklich|seit|aber|am|im|ja)\b)|dich|sie|ihn|mich|mir|dir|ihm|dies\w*|was|wie|dass|ob"
    r"|wo|so|euch|deine?n?|den (?:satz|text"
    r"|plan|vorschlag)|die (?:idee|antwort|version)|lieber nicht|mal|erst(?: mal)?|da|dort|hier|davon"
    r"|darauf"
    r"|damit|daran|dafür|doch|jetzt|einfach|selbst|ja|gleich|also|sich (?:das|es)|kurz|bitte|schon|nun"
    r"|zurück|weiter|besser|sicher|eher|wohl|gut|los|allein|hin|weg)\b(?! (?:immer|seit|jeden))",
    "now": r"\b(?:gerade|grad|heute|jetzt|im moment|momentan|zurzeit|derzeit|diese woche|gestern"
    r"|(?<!jeden )morgen"
    r"|nachher|gleich|bald|nächste\w*|am (?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)"
    r"|am \d.*)\b",
    "gladly": r"\b(?:gerne?|am liebsten|lieber|immer|nur|nie|ausschließlich|kein\w*)\b",
    "habit": rf"\b{_FREQUENTLY}",
    "lacked": r"(?P<o>keine?n? (?:\w+ )?(?:kinder|geschwister|führerschein|auto|smartphone|fernseher"
    r"|haustiere)\b.*)",
    "article": r"(?:eine?n?|zwei|drei|vier|fünf|seine?n?|ihre?n?)",
    "option": r"\b(?:version|option|variante|datei|vorschlag|erste|zweite|dritte|letzte)\w?\b",
    "appointment": r"(?:\w*(?:termin|prüfung|vorstellungsgespräch|klausur|hochzeit|flug|konzert|besprechung"
    r"|meeting|operation|untersuchung|examen|auftritt|turnier|probe|einschulung|elternabend|fortbildung"
    r"|gespräch|seminar|workshop|umzug|spiel|wettkampf|vortrag|präsentation|taufe|beerdigung|abschlussfeier"
    r"|abgabe|fahrstunde|führung|geburtstag|jubiläum|hochzeitstag|urlaub|schicht|dienst|besuch|impfung|op"
    r"|mrt"
    r"|ct|verhandlung|kontrolle|notartermin|chemo|premiere|lesung|kolloquium|verteidigung|tüv|kurs"
    r"|vorlesung|studium|ausstellung))",
    "arranged": r"(?P<o>(?:.+ )?(?:statt|vor|ein|aus|um|an|prüfung|klausur|abitur|führerschein"
    r"|marathon|halbmarathon|urlaub|schule|party|gartenparty|feier|fest|grillfest|flohmarkt|ausbildung"
    r"|stelle|job|dienst|studium|kurs|vortrag|konzert|reha)\b.*)",
    "looked": r"\b(?:geträumt|gedacht|überlegt|gehört|gelesen|gesehen|gefragt|gesagt|gewundert|gefunden"
    r"|geschaut"
    r"|probiert|versucht|gegoogelt|gefühlt|gemeint|vergessen|geschlafen|gewesen|gehabt|gewollt|gearbeitet"
    r"|gegessen|getrunken|gewartet|geredet|gesprochen)$",
    "mere": r"(?:.*\b)?(?:sagen|zugeben|los|gehen|lachen|weinen|heulen|denken|schlafen|warten|sein|haben"
    r"|werden"
    r"|wissen|gestehen|arbeiten|leben|aufhören|raus|weg|ran|kotzen|grinsen|feststellen|beichten|loswerden"
    r"|verstehen|durch|gucken|schauen|sehen|überlegen|lernen|machen|tun)$",
    "errand": r".*\b\w+(?:en|ern|eln)",
}
RELATIVE = (
    rf"(?:mein|meine|meinem|meinen|meiner|unser|unsere|unserem|unserer|unseren) "
    rf"(?P<relation>(?:(?:{ADJECTIVES}) )?(?:{KIN})(?: (?:von (?:unten|oben|nebenan|gegenüber)"
    r"|aus dem \w+))?)"
)
SENSES = """
call: heißen
be: sein
have: haben
live: wohnen leben hausen
work: arbeiten jobben schuften schaffen malochen hackeln
like: mögen lieben
hate: hassen verabscheuen
prefer: bevorzugen
bear: vertragen
eat: essen
drink: trinken
smoke: rauchen
speak: sprechen reden
study: studieren
learn: lernen
come: kommen stammen
must: müssen
can: können
get: treffen werden
make: reparieren verkaufen bauen herstellen entwerfen entwickeln programmieren transportieren importieren
make: schneidern gießen
make: drehen schnitzen brauen brennen züchten anbauen vermieten übersetzen lektorieren dolmetschen
lie: liegen stehen
go: ziehen fliegen fahren reisen umziehen verreisen
marry: heiraten
get: bekommen kriegen
start: beginnen anfangen starten
practise: sammeln spielen singen tanzen malen reiten klettern segeln angeln töpfern unterrichten leiten
practise: boxen rudern turnen imkern trainieren besitzen betreiben pendeln häkeln stricken restaurieren
practise: tragen
practise: schwimmen joggen engagieren fotografieren geben pflegen betreuen halten fahren hüten nähen
practise: schrauben
think: denken glauben meinen finden wissen hoffen fragen sagen verstehen brauchen wollen suchen sehen freuen
think: wünschen bleiben warten versuchen fühlen dürfen sollen schwören
think: danken bitten fehlen verzweifeln überlegen merken gehören erwarten
pass: lassen hängen sitzen gucken schauen sehen
do: hören machen lesen schlafen laufen kochen backen nehmen schreiben gehen wandern basteln gärtnern
do: hacken kaufen
"""
"""A verb in two senses has the later one."""
IRREGULAR = """
sein bin ist sind
haben habe hat haben
müssen muss muss müssen
mögen mag mag mögen
können kann kann können
wissen weiß weiß wissen
wollen will will wollen
dürfen darf darf dürfen
sollen soll soll sollen
werden werde wird werden
fahren fahre fährt fahren
essen esse isst essen
lesen lese liest lesen
laufen laufe läuft laufen
schlafen schlafe schläft schlafen
sprechen spreche spricht sprechen
treffen treffe trifft treffen
sehen sehe sieht sehen
geben gebe gibt geben
nehmen nehme nimmt nehmen
helfen helfe hilft helfen
tragen trage trägt tragen
waschen wasche wäscht waschen
backen backe backt backen
halten halte hält halten
vergessen vergesse vergisst vergessen
lassen lasse lässt lassen
vertragen vertrage verträgt vertragen
sammeln sammle sammelt sammeln
wandern wandere wandert wandern
klettern klettere klettert klettern
angeln angle angelt angeln
töpfern töpfere töpfert töpfern
häkeln häkle häkelt häkeln
basteln bastle bastelt basteln
werfen werfe wirft werfen
fangen fange fängt fangen
laden lade lädt laden
wachsen wachse wächst wachsen
braten brate brät braten
graben grabe gräbt graben
fallen falle fällt fallen
treten trete tritt treten
empfehlen empfehle empfiehlt empfehlen
sterben sterbe stirbt sterben
behalten behalte behält behalten
verlassen verlasse verlässt verlassen
brechen breche bricht brechen
vergeben vergebe vergibt vergeben
bewerben bewerbe bewirbt bewerben
"""
PARTICIPLE = (
    r"(?:(?!geschieden$|verheiratet$|verwitwet$|verlobt$|pensioniert$|getrennt$|begeistert$|interessiert$"
    r"|gespannt$|gestresst$"
    r"|genervt$|erkältet$|verliebt$|befreundet$|berentet$|gegen$|wegen$)(?:[\w-]*ge\w{2,}(?:t|en)"
    r"|\w{2,}iert|(?:be|ver|er|ent|zer|über|unter|miss|wider|ab|ein|aus|um|an|voll)"
    r"\w{3,}(?:t|en)))"
)
LEAD = (
    r"ja|nein|nee|ne|nö|also|übrigens|hallo|hi|hey|moin|servus|danke|ach|ehrlich gesagt|nur so|zur info"
    r"|stimmt"
    r"|genau|na gut|na ja|naja|tja|ok|okay|oh|ach ja|so|gut|sorry|ps|nebenbei|kurz zu mir|zu mir"
    r"|nur zur info"
    r"|aktuell|zurzeit|derzeit|momentan|wie gesagt|inzwischen|jetzt|mittlerweile|noch was|btw|fyi|fun fact"
    r"|mei|puh|hm+|tatsächlich|eigentlich|aber|und|denn|doch|grüß dich|grüezi|guten (?:tag|morgen|abend)"
    r"|noch eins|was ich noch sagen wollte|falls (?:es )?(?:wichtig|relevant)(?: ist)?|vorweg|merk dir"
    r"|notier"
    r"|schreib dir auf|bei mir ist das so|persönlich|ganz ehrlich|kleine info|info|achtung|wichtig|apropos"
)
