"""German for the extraction of facts (SPEC J-8)."""

from __future__ import annotations

import re

from services.compactor.domain.extraction.latin import german_words as words
from services.compactor.domain.extraction.latin.frames import frames, trait
from services.compactor.domain.extraction.latin.german_clauses import FIRST, PLURAL, THIRD, parse
from services.compactor.domain.extraction.latin.german_wishes import IMPERATIVES, STANDING, WISHES
from services.compactor.domain.extraction.latin.language import NAME, Cuts, Language, compiled, numeric

_VERBS = "|".join(sorted(FIRST.keys() | THIRD.keys(), key=len, reverse=True))
_OURS_DO = "|".join(sorted(PLURAL, key=len, reverse=True))
_HERS = "|".join(sorted(THIRD, key=len, reverse=True))
_CLAUSE = (
    r"(?:und |aber |doch |dann |deshalb |drum |jetzt |also |seitdem |außerdem )*(?:ich|wir|er|sie|es|man|du"
    r"|ihr"
    rf"|das|dann \w+t|mein\w*|unser\w*|sein\w*|(?:{_VERBS})\b|(?:der|die|dem|den|da|hier|dort|jetzt|heute"
    r"|gestern|morgen"
    r"|dann)\b(?=.*\b(?:ist|sind|hat|haben|war|wird|kann|muss|bin|habe?)\b))\b"
)


def _genitive(author: str, relation: str) -> str:
    """Ludgers Sohn, Hans' Tochter, Kims große Schwester."""
    ending = "'" if author.endswith(("s", "x", "z", "ß")) else "s"
    *adjectives, kin = relation.split()
    return " ".join(
        [f"{author}{ending}", *(one.lower() for one in adjectives), f"{kin[:1].upper()}{kin[1:]}"]
    )


GERMAN = Language(
    unnamed="Die Person",
    common=compiled(
        r"\b(?:ich|bin|ist|und|der|die|das|eine?[nmrs]?|mein\w*|nicht|auf|mit|im|am|zu|von"
        r"|hab\w*|wir|es|seit|für|auch|den|dem|war|keine?\w?|unser\w*|hat|sind|als|nach|bei|nur|muss|bitte"
        r"|um"
        r"|aus|bis)\b"
    ),
    profile=compiled(
        r"^(?:(?:hi|hallo|hey|moin|servus|guten tag|grüezi|also)[,!. ]*)*(?:(?:ich bin|hier ist|ich heiße"
        r"|mein name ist|bin)"
        r"(?: der| die| s)? (?P<name>[\w-]+)(?=[,.]| und | aus |$)[,.]?(?: und (?=ich\b))?"
        r"|(?=\d\d(?: jahre(?: alt)?)?,))(?P<list>.*)$"
    ),
    listed=compiled(r",\s+(?:und )?|\s+und\s+(?=(?:ich|\w+e|bin|habe?) )"),
    trait=trait(words.WORDS),
    she="sie",
    years=compiled(r"\d{1,2}(?: jahre(?: alt)?)?"),
    intro=("ich heiße", "ich bin", "ich bin"),
    typed=(
        numeric("Januar Februar März April Mai Juni Juli August September Oktober November Dezember"),
        (compiled(rf"\b{words.DAYS},?(?: den| dem)? (?=\d{{1,2}}\.)"), ""),
        *(
            (compiled(pattern), form)
            for pattern, form in (
                (r"\b(?:ne)\b(?! ?$)", "eine"),
                (r"(?<=\w )nen?\b(?= \w)", "einen"),
                (r"\bner\b", "einer"),
                (r"\bnem\b", "einem"),
                (r"\bheute (?:morgen|früh|mittag|vormittag|nachmittag)\b", "heute"),
                (r"\bgeboren und (?=(?:in|auf|bei) .+ (?:aufgewachsen|großgeworden)$)", "geboren, ich bin "),
                (
                    r"(?P<c>^|, )(?P<v>\w+e?) aber "
                    r"(?=(?:seit|in|im|am|jetzt|auch|schon|als|bei|inzwischen|mittlerweile|noch)\b)",
                    r"\g<c>\g<v> ",
                ),
                (
                    r"^(?:bitte )?(?:vergiss (?:bitte )?nicht|denk (?:bitte )?dran|merk dir(?: bitte)?"
                    r"|du musst wissen|wichtig),? "
                    r"dass (?P<s>ich|mein\w* \w+) (?P<r>.+) (?P<v>\w+)$",
                    r"\g<s> \g<v> \g<r>",
                ),
                (r"\b(?:nich|net|ned)\b", "nicht"),
                (r"\bheut\b", "heute"),
                (r"\b(?P<s>ich|wir) persönlich\b", r"\g<s>"),
                (
                    r"^(?P<o>[^,:]+), (?:das )?(?:ist beschlossen|steht fest|ist entschieden)$",
                    r"entschieden: \g<o>",
                ),
                (r"^(?:die|der) (?=(?:nachbarin|nachbar) von (?:unten|oben|nebenan))", "meine "),
                (r"^(?:beide|die) eltern\b", "meine Eltern"),
                (
                    r"\bist (?:(?:gerade|grad|jetzt|letzte woche|gestern) )?(?P<n>\d{1,3}|\w+) geworden$",
                    r"ist \g<n>",
                ),
                (
                    r"^(?P<p>(?:mein|meine|unser|unsere) [\w-]+), (?P<a>eine? [^,]+), ",
                    r"\g<p> ist \g<a>; \g<p> ",
                ),
                (
                    rf"^(?P<n>(?-i:[A-ZÄÖÜ])\w+), (?P<k>(?:mein|meine|unser|unsere) (?:{words.KIN})), ",
                    r"\g<k> \g<n> ",
                ),
                (
                    r"^(?:(?P<n>(?-i:[A-ZÄÖÜ])\w+) (?:sagt|meint|erzählt|sagte|hat (?:mir )?(?:erzählt"
                    rf"|gesagt))),? (?:sein|seine|ihr|ihre) (?P<k>{words.KIN}) sei ",
                    r"\g<n>s \g<k> ist ",
                ),
                (
                    r"^(?:die |der )?(?P<k>Mama|Mutti|Papa|Vati|Oma|Opa)(?= (?:\w+t|kann|muss|mag|war"
                    r"|wird) )",
                    r"meine \g<k>",
                ),
                (
                    r"(?P<b>^|, |und |aber )(?:der|die) (?=(?:kleine|große|jüngste|älteste"
                    r"|mittlere) (?:heißt|ist|kommt|geht|wird|hat|spielt|mag|hasst|liebt|isst)\b)",
                    r"\g<b>meine ",
                ),
                (r"^(?P<p>(?:meine|mein) \w+)\s*:\s+(?=\S)", r"\g<p> ist "),
                (r"\bi (?=(?:bin|hab|mag|wohn|geh|komm|arbeit)\b)", "ich "),
                (r"\bis\b(?! it\b)", "ist"),
                (r"\bhab\b", "habe"),
                (r"\bweils\b", "weil es"),
                (r"\bsin\b", "sind"),
                (
                    r"(?<=\w) (?:halt|eben|ja|eigentlich|einfach|doch|übrigens|auch|echt|sogar"
                    r"|bekanntlich) (?=\w)",
                    " ",
                ),
                (r"\bnicht (?:mehr )?(?:in|bei|an) [\w-]+,? sondern (?=(?:in|bei|an)\b)", ""),
                (
                    r",? (?:darf ich nicht vergessen|nicht vergessen|gell|oder so|weißt du"
                    r"|ehrlich gesagt)$",
                    "",
                ),
                (r",? (?:bitte|danke|lg|vg|echt jetzt|und zwar)$", ""),
            )
        ),
    ),
    lead=compiled(rf"^(?:(?:{words.LEAD})\b[\s,:!.]*)+"),
    unreal=compiled(
        r"\b(?:schreib|erfinde|formulier|entwirf|dichte|verfass)\w* [^.!?]{0,40}\b(?:rede|brief|dialog"
        r"|bewerbung|steckbrief"
        r"|mail|lied|rap|witz|monolog|tagebuch|sätze?|text|profil|szene|post|rolle)\b[^.!?]{0,30}(?::"
        r"|\bin dem\b|\bin der\b|\bsagt\b)"
        r"|^(?:bitte )?(?:korrigier|verbesser|formulier|übersetz|lektorier)\w*\b[^:]*:"
        r"|\b(?:ja klar|na klar|klar doch|sicher doch|schön wär'?s|von wegen|hihi|haha|xd)\b|"
        r"\b(?:es war einmal|ironisch|ironie|sarkas\w+|war nur spaß|quatsch|erfind\w*|roman(?:figur)?"
        r"|kurzgeschichte"
        r"|songtext|drehbuch|theaterstück|rollenspiel|du bist jetzt|spiel mal|figur|zitat"
        r"|frage für einen? freund\w*)\b"
    ),
    unsure=compiled(
        r"\b(?:wenn|falls|vielleicht|evtl|eventuell|womöglich|würd\w*|könnt\w*|hätt\w*|wär\w*|möcht\w*"
        r"|angeblich"
        r"|irgendwann|ob|träum\w+|glaube?|vermutlich|wahrscheinlich|behauptet|sagt|meint|sei|wäre"
        r"|anscheinend"
        r"|angenommen|wollte|sollte|stimmt nicht|als ob|beinahe|fast|mal sehen|oder\?|beispiel)\b"
    ),
    cuts=Cuts(
        front=compiled(
            r"(?:gestern|vorgestern|heute|morgen|übermorgen|(?:am|letzten|letzte|nächsten|nächste|kommenden"
            r"|diesen|diese|seit|vor|in"
            r"|im|ab|bis|nach|bei|zum|zur|mit) [\w.]+(?: [\w.]+){0,3})(?: (?:früh|morgen|abend|mittag"
            r"|nacht))?"
        ),
        at=compiled(r"\s*;\s+|:\s+|\s+-\s+|,\s+|\s+(?=und\b)|\s+(?=(?:aber|denn|weil|obwohl)\b)"),
        comma=compiled(
            rf"(?!.*\b(?:zu \w+en|\w+zu\w+en)$)(?:{_CLAUSE}|(?!(?:weil|dass|der|die|das"
            rf"|wo)\b)(?:[\w-]+ ){{1,3}}(?-i:ist|sind|war|hat|kommt|wird)\b)"
        ),
        bare=compiled(
            rf"(?:und|aber) (?:(?:dann|jetzt|nun|inzwischen|seitdem) )?(?:ich|wir|er|sie|mein\w* \w+ \w+"
            rf"|unser\w* \w+ \w+|(?:{_VERBS})|(?!nicht\b|seit\b|mit\b)(?-i:[a-zäöü])\w+t(?= (?:sein|ihr"
            r"|eine?|den|die|das|im|am|auf|als|bei|gern|immer"
            rf"|jede|noch|oft|viel|nach|sich|täglich|zu|\d))|(?:{_OURS_DO})(?= (?:eine?n?|den|die|das|jetzt"
            r"|dort|unser\w*)))\b"
        ),
        dropped=compiled(
            r"(?:weil|da|denn|obwohl|dass|damit|sodass|was|wie|wo|da \w+|gott sei dank|endlich|ohne witz"
            r"|oder|"
            r"sonst|hoffentlich|zum glück|leider|juhu|yay|hilfe|haha|lol|xd|ich könnte?|frag|was meinst)\b"
        ),
    ),
    parse=parse,
    frames=frames(words.WORDS),
    wishes=WISHES,
    named=re.compile(
        rf"(?i:{words.RELATIVE}),? (?P<name>(?:(?:Herr|Frau) )?(?:Dr\. )?"
        rf"(?!\w+(?:ung|tag|heit|keit|schaft|tion|zeit|dienst|schicht)\b|(?i:{words.KIN})\b"
        r"|(?:Urlaub|Hunger|Angst|Krebs|Fieber|Besuch|Termin|Schule|Arbeit|Probleme|Diabetes|Asthma|Migräne"
        r"|Corona"
        r"|Grippe|Zeit|Lust|Geld|Dienst|Konzert|Examen|Abitur|Abi|Klausur|Chemo|Reha|Ferien|Stress|Glück"
        r"|Pech|Recht"
        r"|Besuch|Kinder|Feuer|Blumen|Medizin|Jura|Chemie|Physik|Mathe|Alzheimer|Demenz|Kuchen|Kaffee|Tee"
        r"|Bier"
        r"|Klavier|Geige|Gitarre|Fußball|Tennis|Handball|Taxi|Auto|Rad|Ich|Ist|Und|Sport|Yoga|Musik"
        r"|Bauchweh"
        rf"|Heuschnupfen|Rheuma|Epilepsie|Fleisch|Fisch|Nüsse)\b){NAME})\b"
    ),
    small=compiled(
        r"(?P<a>(?:mein|meine|unser"
        rf"|unsere) (?:(?:{words.ADJECTIVES}) )?(?:{words.KIN}) )(?P<name>(?!(?:dann|noch|schon|doch|seit"
        r"|bei|wenn|weil|oder|aber|nicht|sehr|leider|bald|wieder|da|so|ein|eine|im|am|auf|an|zu|als|auch"
        r"|immer|nie|oft|selbst|und|der|die"
        rf"|das|jetzt|gerade|hier|aus|von|in|mit)\b)(?-i:[a-zß-ÿ])[^\W\d_]{{2,}}) (?=(?:{_HERS})\b)"
    ),
    owned=_genitive,
    called="heißt",
    place=compiled(
        r"^(?P<a>(?:ist|arbeitet (?=.*als)) ?.+?) (?P<o>(?:in|bei|beim|am|im|auf) (?:der |einer |einem )?"
        r"(?:\w+ )?(?-i:[A-ZÄÖÜ]).+)$"
    ),
    works="arbeitet {o}",
    whose=tuple(
        (compiled(pattern), form)
        for pattern, form in (
            (r"^(?P<a>: (?:ist|sind|hat|haben|wurden?)\b.*?) (?:mir|uns)\b", r"\g<a>"),
            (r"\b(?:meinen|unseren)\b", "den eigenen"),
            (r"\b(?:meinem|unserem)\b", "dem eigenen"),
            (r"\b(?:meiner|unserer)\b", "der eigenen"),
            (r"\b(?:meine|unsere)\b", "die eigene"),
            (r"\b(?:mich|mir|uns)\b", "sich"),
        )
    ),
    foreign=compiled(r"\b(?:mein|unser|ich|wir|du|dir|dich|dein\w*|sie sind|ihnen|nie gesagt)\b"),
    recurring=compiled(r"\b(?:jede[nrs]?|immer|außer)\b"),
    week=compiled(
        rf"\b(?:(?:nächste|kommende|(?P<last>letzte|vergangene)) woche(?: am)? {words.DAYS}"
        rf"|{words.DAYS} (?:nächster|kommender) woche)\b"
    ),
    day="am {day}",
    standing=STANDING,
    parts=compiled(r",\s+(?:und )?|\s+und\s+|;\s+"),
    imperative=IMPERATIVES,
    wanted="wünscht: {o}",
    infinitives=compiled(r"(?<=en),? und (?=.*en$)"),
)
