"""Spanish sentences of a form of their own: wishes, reminders, favourites, appointments (SPEC J-8)."""

from __future__ import annotations

import re
from functools import partial

from services.compactor.domain.extraction.facts import Category, Tense
from services.compactor.domain.extraction.latin.language import NAME, loose, wish
from services.compactor.domain.extraction.latin.spanish_words import DAYS, WORDS

ASKED = (
    r"(?:respond[eé](?:me)?|respóndeme|contesta(?:me)?|contéstame|contestá|escrib[eí](?:me)?|escríbeme|usa"
    r"|usá|utiliza|utilizá|pon"
    r"|ponme|ponés?|poneme|dame|da|háblame|hablame|habla|trátame|tratame|evita|evitá|deja de|dejá de"
    r"|explica(?:me)?|explícame|tutéame"
    r"|tuteame|trátame|resume|redacta|cita|empieza|termina|llámame|llamame|haz|hacé|mantén|incluye|añade"
    r"|ahórrate|sé|sea|corrige(?:me)?"
    r"|traduce|no (?:uses|utilices|pongas|me \w+s|escribas|empieces|respondas|contestes|digas|usés|metas"
    r"|hagas|abrevies))"
)
_BARE = r"(?:nada de|sin|siempre|nunca|solo|sólo|cero|todo|respuestas|ni un)"
_OF_ANSWERS = (
    r".*(?:respuesta|emoji|emoticono|frase|lista|viñeta|tabla|anglicismo|tecnicismo|español|inglés|palabra"
    r"|unidades|euro|formato"
    r"|fuente|código|comentario|línea|cifra|fecha|hora|métric|gramo|tute|usted|título|negrita|mayúscula"
    r"|ejemplo|abreviatura"
    r"|rollos|tono|idioma|texto|receta|precio|conclusión|resumen|detalle|gallego|catalán|euskera)"
)
"""What only answers have: "from now on no sugar" is a wish of another kind."""
IMPERATIVES = re.compile(
    loose(
        rf"^(?!.*\b(?:yo|he|mi|soy|estoy|tengo|voy|vivo)\b)(?:por favor,? )?(?:{ASKED}\b.*"
        rf"|(?={_OF_ANSWERS})(?:{_BARE} .+|(?:la"
        r"|el|las|los) \w+ (?:primero"
        r"|en|al final|con|sin)\b.*|tus respuestas .+))$"
    ),
    re.IGNORECASE,
)
STANDING = re.compile(
    loose(
        r"\b(?:a partir de (?:ahora|hoy)|de (?:ahora|aquí|hoy) en (?:adelante|más)|desde (?:ahora|ya)\b"
        r"|en adelante|de una vez por todas"
        r"|cuando me (?:contestes|respondas|escribas|hables|expliques \w+|des \w+|pases \w+)|(?:para"
        r"|en) todas tus respuestas"
        r"|para la próxima)\b,?"
    ),
    re.IGNORECASE,
)
PARTS = re.compile(
    loose(
        rf"\s*:\s+|;\s+|,?\s+y\s+(?=(?:por favor )?(?:{ASKED}|{_BARE})\b)|,\s+(?=(?:{ASKED}|{_BARE})\b)"
        r"|,\s+(?=(?:soy|estoy|tengo|que)\b)"
    ),
    re.IGNORECASE,
)


_wish = partial(wish, WORDS)
_ADDRESS, _EVENT = "form-of-address", "event*"
_ATTRIBUTES = (
    r"grupo sanguíneo|tipo de sangre|dirección|talla(?: de \w+)?|número(?: de \w+)*|lengua materna"
    r"|matrícula|código postal|dni|pie|altura|signo"
    r"|fecha de nacimiento|correo"
)
WISHES = (
    _wish(
        r"(?:prefiero|quiero|me gusta más) que me (?P<o>tutees|trates de (?:tú|usted|vos)|hables de (?:tú"
        r"|usted|vos))\b.*",
        Category.INSTRUCTION,
        _ADDRESS,
        "pide: {o}",
    ),
    _wish(r"(?P<o>siempre (?:en|con|sin) .+)", Category.INSTRUCTION, "instruction*", "pide: {o}"),
    _wish(
        r"lo que más me gusta (?:es|son) (?P<o>.+)",
        Category.PREFERENCE,
        "taste*",
        ": lo que más le gusta es {o}",
    ),
    _wish(
        rf"(?:llámame|llamame|podés llamarme|puedes llamarme|dime|decime) (?P<o>{NAME})(?:,.*)?",
        Category.INSTRUCTION,
        _ADDRESS,
        "quiere que le llamen {o}",
    ),
    _wish(
        r"(?:tutéame|tuteame|(?:trátame|háblame|tratame|hablame) de tú|puedes tutearme)\b.*",
        Category.INSTRUCTION,
        _ADDRESS,
        "quiere tuteo (tutear)",
    ),
    _wish(
        r"(?:háblame|trátame|hablame|tratame) de (?P<o>usted|vos)\b.*",
        Category.INSTRUCTION,
        _ADDRESS,
        "pide tratamiento de {o}",
    ),
    _wish(rf"(?P<o>{ASKED} siempre .+)", Category.INSTRUCTION, "instruction*", "pide: {o}"),
    _wish(
        rf"(?P<o>(?:siempre|nunca) (?:{ASKED}|uses|utilices|respondas|escribas|pongas|me \w+s)\b.+)",
        Category.INSTRUCTION,
        "instruction*",
        "pide: {o}",
    ),
    _wish(
        r"(?:por favor,? )?(?P<o>no (?:me (?:des|trates|llames|hables|mandes|pongas)|uses|pongas"
        r"|utilices) (?!es[eoa]\b|eso\b|la\b|el\b).+)",
        Category.INSTRUCTION,
        "instruction*",
        "pide: {o}",
    ),
    _wish(
        r"(?:nada de|sin|cero) (?P<o>(?:emojis?|emoticonos?|anglicismos|listas|viñetas|tecnicismos|rollos"
        r"|tablas|negritas)\b.*)",
        Category.INSTRUCTION,
        "instruction*",
        "pide no usar {o}",
    ),
    _wish(
        r"(?:recuérdame|recordame|acuérdame) (?:que tengo (?:pendiente|que) |que debo |de )?(?P<o>\w+(?:ar"
        r"|er|ir)(?:me|le|les|lo|la)?\b.*)",
        Category.TASK,
        "task*",
        "tiene que {o}",
    ),
    _wish(
        r"(?:que )?no se me (?:puede )?olvid(?:e|ar) (?P<o>\w+r .+)", Category.TASK, "task*", "tiene que {o}"
    ),
    _wish(r"tengo pendiente (?P<o>\w+r .+)", Category.TASK, "task*", "tiene que {o}"),
    _wish(
        r"(?:mi|mis) (?P<n>\w+(?: \w+)? (?:favorit[oa]s?|preferid[oa]s?)) (?P<v>es|son"
        r"|sigue siendo) (?P<o>.+)",
        Category.PREFERENCE,
        "favourite*",
        ": {n} {v} {o}",
    ),
    _wish(r"mi cumple(?:años)? (?:es|cae) (?P<o>el \d.+)", Category.IDENTITY, "birthday", "cumple años {o}"),
    _wish(rf"mi (?P<o>(?:{_ATTRIBUTES}) es .+)", Category.FACT, "attribute*", ": {o}"),
    _wish(
        rf"(?:el|la) (?P<o>(?:{_ATTRIBUTES}) de (?:mi|nuestr[oa]) .+? es .+)",
        Category.FACT,
        "attribute*",
        ": {o}",
    ),
    _wish(
        r"me (?P<o>(?:da|dan) (?:mucho |mucha |un )?(?:miedo|pánico|asco|alergia|vértigo|grima|pereza) .+)",
        Category.FACT,
        "feels*",
        ": le {o}",
    ),
    _wish(
        r"(?P<o>(?:el |la |los |las )[^,]+?) (?:no (?:me (?:va|van)(?: nada)?|(?:es|son) (?:lo mío"
        r"|para mí))|me superan?|ni (?:verl[oa]s?|en pintura"
        r"|con un palo|regalad[oa]s?))(?:,? .+)?",
        Category.PREFERENCE,
        "taste*",
        ": no le gusta {o}",
    ),
    _wish(
        r"(?P<o>(?:el |la |los |las )[^,]+?) (?:(?:es|son) lo mío|me (?:pierde|pierden|pirran?"
        r"|vuelven? loc[oa]))(?:,? .+)?",
        Category.PREFERENCE,
        "taste*",
        ": le gusta {o}",
    ),
    _wish(
        r"(?:mi|nuestr[oa]) (?P<o>(?:bar|tienda|taller|restaurante|casa|piso|oficina|empresa|negocio|local"
        r"|finca|huerto|consulta|despacho|estudio|barco"
        r"|puesto|panadería|librería|farmacia|instituto|colegio|facultad|trabajo|pueblo"
        r"|apartamento) (?:está|queda) .+)",
        Category.LOCATION,
        "place*",
        ": su {o}",
    ),
    _wish(
        r"mi jef[ea](?: \w+)? (?:me (?:pidió|ha pedido|encargó|ha encargado)|quiere) (?P<o>(?!que\b)(?:el "
        r"|la |los |las |un |una ).+)",
        Category.TASK,
        "task*",
        "tiene que entregar {o}",
        Tense.COMING,
    ),
    _wish(
        r"(?P<o>(?:el |mi )?(?:café|té|mate|vino|pan|chocolate|cerveza|queso|sushi|pizza"
        r"|tequila),? (?:siempre|nunca|sin|con|solo|sólo|amargo)\b.*)",
        Category.PREFERENCE,
        "taste*",
        ": {o}",
    ),
    _wish(
        r"somos (?P<o>(?:\d|dos|tres|cuatro|cinco|seis|siete|ocho) (?:en casa|hermanos|hermanas"
        r"|de familia)\b.*)",
        Category.FACT,
        "household",
        ": son {o}",
    ),
    _wish(r"(?:no hay )?nada como (?P<o>.+)", Category.PREFERENCE, "taste*", ": lo que más le gusta es {o}"),
    _wish(
        r"(?:yo )?(?P<n>no )?soy (?P<o>(?:muy |nada |mucho )?(?:más )?de (?=[a-zñ])(?!\w+ (?:años"
        r"|profesión)).+)",
        Category.PREFERENCE,
        "taste*",
        "{n}es {o}",
    ),
    _wish(r"(?P<o>mejor (?:el |la |los |las )?.+ que .+)", Category.PREFERENCE, "prefers*", "prefiere: {o}"),
    _wish(
        r"(?:al final |finalmente )*(?:será|va a ser|serán|me decanto por|nos decantamos por|opto por"
        r"|optamos por|nos decidimos por|me decido por)"
        r" (?P<o>(?!.*<option>)(?:el|la|los|las|un|una|[A-Z]) ?.+)",
        Category.DECISION,
        "decision*",
        "decide: {o}",
    ),
    _wish(
        r"(?:pendientes?|tareas?|por hacer|apunta|lista)\s*:\s*(?P<o>\w+(?:ar|er|ir)\b.*)",
        Category.TASK,
        "task*",
        "tiene que {o}",
        whole=True,
    ),
    _wish(
        r"(?:tengo que acordarme de|me falta|me queda|aún me queda|todavía me falta|he de) (?P<o>\w+(?:ar"
        r"|er|ir)(?:le|les|lo|la)?\b.*)",
        Category.TASK,
        "task*",
        "tiene que {o}",
    ),
    _wish(
        r"tengo (?P<o>(?:un|una|el|la|que|dos|tres|\d+) [\w ]+? (?:por|para) (?:entregar|pagar|hacer"
        r"|corregir|terminar|enviar)\b.*)",
        Category.TASK,
        "task*",
        "tiene {o}",
        Tense.COMING,
    ),
    _wish(
        r"(?P<o>(?:cita|dentista|peluquería|pediatra|oculista|fisio|veterinario|ginecólog[oa]|itv|reunión"
        r"|vacuna|tutoría)\b(?! (?:es|está|me)\b).*)",
        Category.EVENT,
        _EVENT,
        ": {o}",
        Tense.COMING,
    ),
    _wish(
        r"(?:todos|todo el mundo|mis amigos|en casa) me (?:llaman?"
        r"|dicen?) (?P<o>(?-i:[A-ZÁÉÍÓÚ])\w+)(?:,.*)?",
        Category.IDENTITY,
        "nickname",
        ": le llaman {o}",
    ),
    _wish(
        r"(?:al|a la|a nuestr[oa]|a mi) (?P<n>perr\w+|gat\w+|cachorr\w+|conej\w+|barco|niñ[oa]|bebé) (?:le"
        r"|lo|la) (?:hemos|he) (?:puesto|llamado) (?P<o>(?-i:[A-ZÁÉÍÓÚ])\w+)",
        Category.FACT,
        "thing*",
        ": su {n} se llama {o}",
    ),
    _wish(r"mido (?P<o>\d.*)", Category.FACT, "height", "mide {o}"),
    _wish(r"calzo (?P<o>(?:un |el )?\d.*)", Category.FACT, "shoe-size", "calza {o}"),
    _wish(
        r"(?:descarto|descartamos) (?P<o>(?:el|la|los|las|un|una) .+)",
        Category.DECISION,
        "decision*",
        "descarta {o}",
    ),
    _wish(
        r"(?P<o>(?:el |la |los |las )[\w ]+? (?:nos |me )?\w+(?:ó|aron|ieron) (?=.*\b(?:mi|mis"
        r"|nuestr[oa]s?)\b).+)",
        Category.EVENT,
        _EVENT,
        ": {o}",
        Tense.PAST,
    ),
    _wish(r"doy (?P<o>clases? (?:de|en|a) .+)", Category.IDENTITY, "occupation", "da {o}"),
    _wish(r"(?:prefiero|antes) (?P<o>mil veces .+)", Category.PREFERENCE, "prefers*", "prefiere {o}"),
    _wish(
        r"(?:nos quedamos|me quedo) con (?P<o>(?!.*<option>)(?!que\b|tu\b|la duda\b).+)",
        Category.DECISION,
        "decision*",
        "se queda con {o}",
    ),
    _wish(
        r"(?:cogemos|elegimos|elijo|cojo|escogemos|optamos por|vamos con) (?P<o>(?!.*<option>)(?:el|la|los"
        r"|las) .+)",
        Category.DECISION,
        "decision*",
        "elige {o}",
    ),
    _wish(
        r"(?:está decidido|decidido|decisión tomada|lo hemos decidido)\s*[:,]\s*(?P<o>.+)",
        Category.DECISION,
        "decision*",
        "ha decidido: {o}",
        whole=True,
    ),
    _wish(
        r"(?:hemos|he) (?P<o>(?:descartado|elegido|optado por|escogido) .+)",
        Category.DECISION,
        "decision*",
        "ha {o}",
    ),
    _wish(
        r"(?:el|la|los|las|mi|nuestro|nuestra) (?P<o><appointment>(?: \w+){0,4}? (?:es|será|empiezan?|sale"
        r"|cae|toca|terminan?) (?:el|este|mañana|pasado|en|a) ?.*)",
        Category.EVENT,
        _EVENT,
        ": {o}",
        Tense.COMING,
    ),
    _wish(
        rf"(?P<o>(?:mañana|pasado mañana|el {DAYS}|el \d{{1,2}} de \w+) (?:es|son|empieza|toca) (?:el|la|mi"
        r"|los|las) (?!.*\bfiesta nacional).+)",
        Category.EVENT,
        _EVENT,
        ": {o}",
        Tense.COMING,
    ),
    _wish(
        r"(?P<o>se nos (?P<v>\w+ó|ha \w+o) (?:el|la|los|las) .+)",
        Category.EVENT,
        _EVENT,
        ": se le {o}",
        Tense.PAST,
    ),
    _wish(
        r"(?P<o>(?:viene|vienen|llega|llegan) (?:el|la|los|las|un|una) .+)",
        Category.EVENT,
        _EVENT,
        ": {o}",
        Tense.COMING,
    ),
    _wish(
        r"(?P<o>(?:el|la|los|las) (?:técnic[oa]|fontanero|electricista|pintor|cerrajero|albañil|repartidor"
        r"|mudanza|camión|cartero) (?:\w+ )?"
        r"(?:viene|llega|pasa|vienen) .+)",
        Category.EVENT,
        _EVENT,
        ": {o}",
        Tense.COMING,
    ),
)
