"""Spanish for the extraction of facts (SPEC J-8)."""

from __future__ import annotations

import re

from services.compactor.domain.extraction.latin import spanish_words as words
from services.compactor.domain.extraction.latin.frames import frames, trait
from services.compactor.domain.extraction.latin.language import (
    NAME,
    Cuts,
    Language,
    compiled,
    loose,
    numeric,
)
from services.compactor.domain.extraction.latin.spanish_clauses import FIRSTS, ONCE, THEIRS, parse
from services.compactor.domain.extraction.latin.spanish_wishes import IMPERATIVES, PARTS, STANDING, WISHES

_FEMININE = re.compile(r"(?:a|madre|mujer|nuera|pareja|madrina|yegua)s?$")
_MASCULINE = frozenset({"papa", "papá", "yerno", "colega"})


def _owned(author: str, relation: str) -> str:
    """El hermano de Ana, la madre de Leo, los padres de Eva."""
    noun = next(
        (
            one
            for one in relation.lower().split()
            if one not in {"mejor", "gran", "nueva", "nuevo", "vieja", "viejo"}
        ),
        relation,
    )
    feminine = noun not in _MASCULINE and bool(_FEMININE.search(noun) or noun in {"mamá", "mama"})
    article = ("las" if feminine else "los") if noun.endswith("s") else ("la" if feminine else "el")
    return f"{article} {relation} de {author}"


_SHE_IS = r"(?:\w+ ){0,3}(?-i:es|está|son|están|tiene|hay|era|fue|va|sigue)"
_STARTS = FIRSTS
_HERS = "|".join(
    sorted(
        (set(THEIRS) | set(ONCE)) - {"usa", "para", "cuenta", "esta", "sobre", "entre"},
        key=len,
        reverse=True,
    )
)
_CLITIC = r"(?:(?:no|ya no|nunca|también|tampoco) )?(?:(?:me|nos|se|le|les|lo|la|los|las) )*"
_SUBJECT = (
    r"(?:yo|nosotr[oa]s|ella|él|ellos|aquí|ahí|mis?|nuestr[oa]s?|tú|vos|que|quien|(?:a mí|a mis?"
    rf"|eso|esto)|no hay|hay|{words.WHEN} (?:me|nos|tengo|voy|es|{_STARTS}))"
)
SPANISH = Language(
    unnamed="La persona",
    common=compiled(
        r"\b(?:el|la|los|las|soy|es|una?|mi|mis|con|por|para|del|de|que|en|yo|tengo|muy|se|me|y"
        r"|no|está|al|lo|le|su|hay|como|sin|siempre|a)\b"
    ),
    profile=compiled(
        r"^¡?(?:(?:hola|buenas|buenos días|buenas tardes|hey|qué tal)[,!. ]*)*(?:(?:soy|me llamo|aquí"
        r"|yo soy) (?P<name>[\w-]+)"
        r"(?=[,.]| y |$)[,.]?|(?=\d\d años,))(?P<list>.*)$"
    ),
    listed=compiled(r",\s+(?:y )?|\s+y\s+"),
    trait=trait(words.WORDS),
    she="ella",
    years=compiled(r"\d{1,2}(?: años)?"),
    intro=("me llamo", "soy", "tengo"),
    typed=(
        numeric(
            "de·enero de·febrero de·marzo de·abril de·mayo de·junio de·julio de·agosto de·septiembre "
            "de·octubre de·noviembre de·diciembre"
        ),
        (compiled("·"), " "),
        (compiled(rf"\b(?:el )?{words.DAYS},? (?=\d{{1,2}}\b(?! ?(?::|h\b|hs\b)))"), "el "),
        (
            compiled(r"\bhace (?P<n>(?:\d+|\w+) (?:años|meses)) que (?P<r>(?:no )?(?:me )?\w+[^,;.]*)"),
            r"\g<r> desde hace \g<n>",
        ),
        (compiled(rf"\bes (?P<k>mi (?:{words.KIN})(?: [A-Z]\w+)?) (?:quien|el que|la que) "), r"\g<k> "),
        (
            compiled(
                r"^(?:y |pero )?(?:el|la|los|las) (?=(?:peque|niñ[oa]|nen[ea]|mayor|pequeñ[oa]|menor"
                r"|gemel[oa]s|críos) (?:se|es|está|tiene|va|empieza|juega|le)\b)"
            ),
            "mi ",
        ),
        (compiled(rf"^(?P<n>[A-ZÁÉÍÓÚÑ]\w+), (?P<k>mi (?:{words.KIN})), "), r"\g<k> \g<n> "),
        (
            compiled(
                r"^(?:y )?(?:la |el )?(?P<k>mamá|papá|abuela|abuelo|abuelita|yaya|yayo)(?= (?:se|tiene|es"
                r"|está|vive|cumple|viene|va|no)\b)"
            ),
            r"mi \g<k>",
        ),
        (compiled(r"\bacaba de cumplir (?P<n>(?:\d+|\w+) años)\b"), r"tiene \g<n>"),
        (compiled(r"^(?P<p>(?:mi|nuestr[oa]) \w+), (?P<a>una? [^,]+), "), r"\g<p> es \g<a>; \g<p> "),
        (compiled(r"^(?P<o>[^,:]+), (?:está decidido|decidido|lo tengo decidido)$"), r"decidido: \g<o>"),
        (compiled(r"^(?:la|el) (?=vecin[oa] de (?:abajo|arriba|al lado|enfrente))"), "mi "),
        (compiled(r"\bq\b"), "que"),
        (compiled(r"\b(?:xq|pq|porq)\b"), "porque"),
        (compiled(r"\b(?:tmb|tb|tbn)\b"), "también"),
        (compiled(r"\bxa\b"), "para"),
        (compiled(r"\b(?P<n>\d+|un|\w+ta) an(?P<s>os)\b"), r"\g<n> años"),
        (compiled(r"\bmanana\b"), "mañana"),
        (compiled(r"\bmi (?:vieja|mami|mamita|jefita)\b"), "mi madre"),
        (compiled(r"\bmi (?:viejo|papi|papito)\b"), "mi padre"),
        (compiled(r"\b(?:laburo|curro|chambeo) (?=(?:en|de|como|para|con)\b)"), "trabajo "),
        (compiled(r"\b(?:labura|curra|chambea) (?=(?:en|de|como|para|con)\b)"), "trabaja "),
        (
            compiled(
                r"^(?:no (?:te )?olvides|recuerda|acordate|acuérdate de|ten en cuenta"
                r"|te recuerdo) que (?=(?:soy|tengo|no|vivo|mi|estoy|me)\b)"
            ),
            "",
        ),
        (compiled(r"\bestoy (?:aprendiendo) (?:a )?"), "aprendo "),
        (compiled(r"\bestoy (?:estudiando) "), "estudio "),
        (
            compiled(r"\bllevo (?P<n>(?:ya |casi |más de )?\w+ (?:años|meses)) viviendo (?P<o>[^,;.]+)"),
            r"vivo \g<o> desde hace \g<n>",
        ),
        (
            compiled(r"\bllevo (?P<n>(?:ya |casi |más de )?\w+ (?:años|meses)) trabajando (?P<o>[^,;.]+)"),
            r"trabajo \g<o> desde hace \g<n>",
        ),
        (
            compiled(r"\bllevo (?P<n>(?:ya |casi |más de )?\w+ (?:años|meses)) (?P<d>de|como) (?P<t>\w+)"),
            r"trabajo desde hace \g<n> \g<d> \g<t>",
        ),
        (compiled(r"\bhay que (?=\w+(?:ar|er|ir)(?:lo|la|le)?\b)"), "tengo que "),
        (compiled(r"\bme toca (?=\w+(?:ar|er|ir)\b)"), "tengo que "),
        (compiled(r"\b(?:debo|debemos) (?=\w+(?:ar|er|ir)(?:le|les|lo|la)?\b)"), "tengo que "),
        (compiled(r"\btenemos que\b"), "tengo que"),
        (compiled(r",? (?:entre nosotros|para qué negarlo|la verdad|te lo juro),"), ""),
        (
            compiled(
                r"^(?:y |que )?(?:me (?:dijo|contó|comentó|ha dicho"
                r"|ha contado) (?P<n>(?-i:[A-ZÁÉÍÓÚÑ])\w+)|(?P<m>(?-i:[A-ZÁÉÍÓÚÑ])\w+) me (?:dijo|contó"
                rf"|ha dicho)) que su (?P<k>{words.KIN}) "
            ),
            lambda found: f"la {found['k']} de {found['n'] or found['m']} ",
        ),
        (compiled(r",? ?(?:por favor|porfa|gracias|xfa|vale)$"), ""),
        (compiled(r"(?<=\w) (?:pues|la verdad|o sea|eh|por cierto|realmente)(?= \w|$|,)"), ""),
    ),
    lead=compiled(rf"^¡?(?:(?:{words.LEAD})(?![\w])[\s,:!.]*)+(?=\S)"),
    unreal=compiled(
        r"\b(?:escribe|escríbeme|escribime|redacta|inventa)\b[^.!?]{0,40}\b(?:discurso|carta|diálogo|correo"
        r"|canción|chiste|monólogo"
        r"|diario|frases?|texto|perfil|escena|anuncio|papel)\b[^.!?]{0,30}(?::|\bdonde\b|\ben (?:el"
        r"|la) que\b|\bque diga\b)"
        r"|^(?:corrige|corrígeme|mejora|reformula|traduce|tradúceme|revisa)\b[^:]*:"
        r"|\b(?:claro que sí|ya,? claro|seguro que sí|sí hombre|haha)\b|"
        r"\b(?:es broma|era broma|bromeo|jajaj\w*|jeje|cuento|personaje|guion|novela|diálogo|haz de"
        r"|hazte pasar|ficci\w+|sí claro|ironía"
        r"|letra de la canción|inventa\w*|supongamos|imagínate)\b"
    ),
    unsure=compiled(
        r"\b(?:si|quizá|quizás|tal vez|a lo mejor|igual(?= (?:me|voy|no|en))|ojalá|probablemente"
        r"|seguramente|(?<!una )(?<!la )(?<!mi )(?<!de )(?<!en )(?<!su )(?:ser|ir|har|dir|tendr|vendr|podr"
        r"|querr|habr|sabr|pondr|deber|\w{3,}[aei]r)\u00eda(?:mos|n)?"
        r"|supongo|creo que|dice que|dicen que|según|algún día|soñé|sueño|como si|parece que|estuve a punto"
        r"|no sé"
        r"|por si|ni (?!con un palo|verl|regalad|en pintura)|depende|dudo|lo que (?!más me gusta)|decían"
        r"|por ejemplo"
        r"|en teoría|quien dijo)\b"
    ),
    cuts=Cuts(
        front=compiled(
            rf"(?:{words.WHEN}|(?:en|desde|para|por|con|tod[oa]s|cada|hasta|después de"
            rf"|entre) [\w ]{{2,30}})"
        ),
        at=compiled(
            r"\s*;\s+|\s*:\s+|\s+-\s+|,\s+|\s+(?=[ye]\b|pero\b)|\s+(?=(?:porque|ya que|aunque|mientras"
            r"|así que)\b)"
        ),
        comma=compiled(
            rf"(?:(?:y|e|pero|así que|ahora|por eso|luego|después) )*(?:(?:{_SUBJECT})\b"
            rf"|{_CLITIC}(?-i:{_STARTS})\b(?! [ye] )|(?:me|nos|le) \w+|{_SHE_IS}\b"
            rf"|(?:ya )?no (?-i:{_HERS})\b"
            rf"|(?:se|le) (?-i:{_HERS})\b|(?-i:{_HERS})\b|(?:el|la|los|las) \w+(?: \w+){{0,3}} (?:es|está"
            r"|son|están|tiene|me|no|la|lo|se|viene|era)\b)"
        ),
        bare=compiled(
            r"(?:y|e|pero) (?:(?:ahora|por eso|luego|desde entonces|también|además|encima"
            rf"|aún) )*(?:(?:{_SUBJECT})\b|{_CLITIC}(?-i:{_STARTS})\b"
            rf"|(?:ya )?no (?-i:{_HERS})\b|(?:me|nos|le) \w+|(?:se|le) (?-i:{_HERS})\b|(?-i:{_HERS})\b"
            rf"|(?:el|la|los|las) \w+(?: \w+){{0,3}} (?:es|está|son|están|tiene|viene|no|se)\b|aquí|sigo)"
        ),
        dropped=compiled(
            r"(?:ni idea|que no se me (?:pase|olvide)|porque|ya que|aunque|mientras|qué|menos mal|por fin"
            r"|así que|por desgracia|madre mía|ojalá|gracias|en fin|uf|sabes"
            r"|imagínate|qué|anda|claro|menuda|vaya|por suerte|(?:y )?(?:aquí )?nadie"
            r"|(?:y )?no hay quien)\b"
        ),
    ),
    parse=parse,
    frames=frames(words.WORDS),
    wishes=WISHES,
    named=re.compile(
        rf"(?i:{loose(words.RELATIVE)}),? (?P<name>(?:(?:don|doña|señor|señora) )?(?!(?:Navidad|Semana|Ella"
        rf"|El|La|Yo|Y)\b){NAME})"
    ),
    small=compiled(
        rf"(?P<a>(?:mi|nuestr[oa]) (?:{words.KIN}) )(?P<name>(?!(?:{words.AFTER}|desde|con|para|por|como"
        r"|cuando|donde|hasta|sin|sobre|entre|mientras|porque|pero|solo|sólo|casi|muy|aún|todavía|aquí"
        r"|allí|entonces|jamás|tampoco|además|\w+mente|en|de|del|un|una|el|la|quien|cual|más|menos"
        r"|nuev[oa]|quer[ií]d[oa]|también|siempre|no|ya|nunca|se|le|me|que|y|ayer|hoy|ahora|favorit[oa])\b)"
        rf"(?-i:[a-zß-ÿ])[^\W\d_]{{2,}}) (?=(?:se |le |no )?(?:{_HERS})\b)"
    ),
    owned=_owned,
    called="se llama",
    place=compiled(
        r"^(?P<a>(?:es|trabaja (?=.*\b(?:de|como) \w+ en)) ?.+?) (?P<o>(?:en|de) (?:(?:una|un|la"
        r"|el) ?)?(?:(?-i:[A-ZÁÉÍÓÚÑ])|(?<=en una )\w|(?<=en un )\w|(?<=en el )\w|(?<=en la )\w).+)$"
    ),
    works="trabaja {o}",
    whose=(
        (compiled(r"\b(?:mi|nuestr[oa])\b(?! mism)"), "su"),
        (compiled(r"\b(?:mis|nuestr[oa]s)\b"), "sus"),
        (compiled(r"\b(?P<a>(?:de|a|para|que|por|y|sin) \w+[aei]r)me\b"), r"\g<a>se"),
        (compiled(r"\bconmigo\b"), "consigo"),
    ),
    foreign=compiled(r"\b(?:me|mí|yo|tu|tus|te|ti|tú|nos|nosotr[oa]s|vos|os|he|soy|contigo)\b"),
    recurring=compiled(rf"\b(?:tod[oa]s l[oa]s|cada|los {words.DAYS}s?)\b"),
    week=compiled(rf"\b{words.DAYS} de la (?:semana que viene|próxima semana|(?P<last>semana pasada))\b"),
    day="el {day}",
    standing=STANDING,
    parts=PARTS,
    imperative=IMPERATIVES,
    wanted="pide: {o}",
    infinitives=compiled(r",? [ye] (?=(?:\w+ )?\w+(?:ar|er|ir)(?:me|le|lo|la)?\b)"),
)
