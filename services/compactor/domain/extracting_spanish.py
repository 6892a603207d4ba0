"""Spanish for the extraction of facts (SPEC J-8)."""

from __future__ import annotations

from services.compactor.domain.extracting_latin import NAME, Language, Rule, compiled, rule
from services.compactor.domain.extracting_types import Category, Tense

_NOT_ES = (
    r"(?!eso\b|esto\b|ese\b|esa\b|este\b|esta\b|tu\b|lo\b|la idea\b|cómo\b|que\b|el (?:plan"
    r"|texto|diseño)\b)"
)
_ERRAND_ES = (
    "comprar|llamar|pagar|reservar|renovar|pedir|enviar|mandar|devolver|regar|ir|cancelar"
    "|limpiar|lavar|recoger|entregar|llevar"
    "|preparar|terminar|acabar|reparar|hacer|firmar|escribir|rellenar|sacar|buscar|cambiar"
    "|presentar|imprimir|arreglar"
)
_KIN_ES = (
    "hermana|hermano|madre|mamá|padre|papá|mujer|marido|esposa|esposo|hija|hijo|abuela|abuelo"
    "|tía|tío|prima|primo|sobrina"
    "|sobrino|novia|novio|amiga|amigo|pareja|vecina|vecino|compañera|compañero|jefa|jefe"
    "|suegra|suegro|cuñada|cuñado|nieta"
    "|nieto|perro|perra|gato|gata|exmarido|exmujer"
)
_TRADE_ES = (
    r"(?:\w*(?:ero|era|or|ora|ista|ólogo|óloga|ario|aria|ante|ente|ico|ica)|médic[oa]"
    r"|abogad[oa]|chef|juez|jueza|policía|piloto|guía|arquitect[oa]"
    r"|maestr[oa]|jubilad[oa]|vegetarian[oa]|psicólog[oa])(?: (?:de|en|del) .+)?"
)
_PRETERITE_ES = (
    ("me casé", "se casó"),
    ("nos casamos", "se casó"),
    ("me jubilé", "se jubiló"),
    ("empecé", "empezó"),
    ("compré", "compró"),
    ("compramos", "compró"),
    ("vendí", "vendió"),
    ("vendimos", "vendió"),
    ("aprobé", "aprobó"),
    ("firmé", "firmó"),
    ("perdí", "perdió"),
    ("gané", "ganó"),
    ("terminé", "terminó"),
    ("me rompí", "se rompió"),
    ("adoptamos", "adoptó"),
)
_SPANISH_RULES: tuple[Rule, ...] = (
    rule(rf"(?:yo )?me llamo (?P<o>{NAME})(?: y .+)?", Category.IDENTITY, "name", "se llama {o}"),
    rule(rf"mi nombre es (?P<o>{NAME})", Category.IDENTITY, "name", "se llama {o}"),
    rule(
        r"(?:yo )?(?:vivo|vivimos) (?:ahora |actualmente )?(?P<o>(?:en|con|cerca|desde) .+)",
        Category.LOCATION,
        "home",
        "vive {o}",
    ),
    rule(r"me (?:he mudado|mudé) a (?P<o>.+)", Category.LOCATION, "home", "se ha mudado a {o}"),
    rule(
        r"(?:yo )?soy (?:originalmente )?de (?P<o>(?-i:[A-ZÁÉÍÓÚÑ]).+)",
        Category.IDENTITY,
        "origin",
        "es de {o}",
    ),
    rule(rf"(?:yo )?soy (?P<o>{NAME})(?:, .+)?", Category.IDENTITY, "name", "se llama {o}"),
    rule(r"nací (?P<o>(?:en|el) .+)", Category.IDENTITY, "birth", "nació {o}"),
    rule(r"tengo (?P<o>\d{1,3} años)", Category.IDENTITY, "age", "tiene {o}"),
    rule(r"(?:yo )?trabajo (?P<o>(?:como|de|en|para|con) .+)", Category.IDENTITY, "employer", "trabaja {o}"),
    rule(r"soy (?P<o>vegetarian[oa]|vegan[oa])", Category.PREFERENCE, "diet", "es {o}"),
    rule(
        r"(?:soy|estoy) (?P<o>(?:muy )?(?:alérgic[oa]|intolerante) (?:a|al) .+)",
        Category.FACT,
        "allergy*",
        "es {o}",
    ),
    rule(r"tengo (?P<o>alergia (?:a|al) .+)", Category.FACT, "allergy*", "tiene {o}"),
    rule(
        r"(?:soy|estoy) (?P<o>zurd[oa]|diestr[oa]|casad[oa]|divorciad[oa]|solter[oa]|viud[oa]"
        r"|jubilad[oa]|daltónic[oa]|diabétic[oa]|sord[oa]|cieg[oa])",
        Category.FACT,
        "is*",
        "es {o}",
    ),
    rule(rf"soy (?P<o>{_TRADE_ES})", Category.IDENTITY, "occupation", "es {o}"),
    rule(
        rf"me (?P<v>gusta|gustan|encanta|encantan) (?:mucho |muchísimo )?(?P<o>{_NOT_ES}.+)",
        Category.PREFERENCE,
        "taste*",
        ": le {v} {o}",
    ),
    rule(
        rf"no me (?P<v>gusta|gustan) (?:nada |mucho )?(?P<o>{_NOT_ES}.+)",
        Category.PREFERENCE,
        "taste*",
        ": no le {v} {o}",
    ),
    rule(r"(?:odio|detesto) (?P<o>.+)", Category.PREFERENCE, "taste*", "odia {o}"),
    rule(
        r"prefiero (?P<o>(?!que\b|no\b|la (?:primera|segunda)\b|el (?:primero|segundo)\b).+)",
        Category.PREFERENCE,
        "prefers*",
        "prefiere {o}",
    ),
    rule(r"no como (?P<o>.+)", Category.PREFERENCE, "taste*", "no come {o}"),
    rule(r"no bebo (?P<o>.+)", Category.PREFERENCE, "taste*", "no bebe {o}"),
    rule(
        r"mi (?P<n>\w+ (?:favorit[oa]|preferid[oa])) es (?P<o>.+)",
        Category.PREFERENCE,
        "favourite*",
        ": {n} es {o}",
    ),
    rule(
        r"hablo (?P<o>(?:un poco de )?(?:español|inglés|francés|alemán|italiano|portugués|catalán"
        r"|gallego|euskera|ruso|chino|japonés|árabe)\b.*)",
        Category.IDENTITY,
        "speaks*",
        "habla {o}",
    ),
    rule(r"(?:estudio) (?P<o>(?!para\b|el\b|la\b).+)", Category.IDENTITY, "studies", "estudia {o}"),
    rule(r"(?:estoy aprendiendo|aprendo) (?P<o>.+)", Category.FACT, "learning*", "aprende {o}"),
    rule(r"toco (?P<o>(?:el|la) .+)", Category.FACT, "plays*", "toca {o}"),
    rule(r"juego (?P<o>(?:al|a la) .+)", Category.FACT, "plays*", "juega {o}"),
    rule(
        r"(?:tengo|tenemos) (?P<o>(?:una?|dos|tres|cuatro|cinco) (?:\w+ )?(?:hij[oa]s?"
        r"|herman[oa]s?|perr[oa]s?|gat[oa]s?|niet[oa]s?|gemel[oa]s|casa|coche|tienda|taller|barco"
        r"|huerto|niños|niñas)\b.*)",
        Category.FACT,
        "has*",
        "tiene {o}",
    ),
    rule(r"(?:he|hemos) decidido (?P<o>.+)", Category.DECISION, "decision*", "ha decidido {o}"),
    rule(r"decidimos (?P<o>.+)", Category.DECISION, "decision*", "decidió {o}"),
    rule(
        rf"(?:tengo que|debo|tenemos que) (?P<o>(?:{_ERRAND_ES})\w*\b.*)",
        Category.TASK,
        "task*",
        "tiene que {o}",
    ),
    rule(
        r"(?:tengo que|debo) (?P<o>(?!decir\b|irme\b|admitir\b|reconocer\b).+)",
        Category.TASK,
        "task*",
        "tiene que {o}",
        Tense.COMING,
    ),
    rule(r"recuérdame (?P<o>(?!que\b).+)", Category.TASK, "task*", "tiene que {o}"),
    rule(
        r"(?:tengo|tenemos) (?P<o>(?:una? |mi |el |la )?(?:cita|examen|entrevista|reunión|vuelo"
        r"|concierto|operación|boda|clase|viaje)\b.*)",
        Category.EVENT,
        "event*",
        "tiene {o}",
        Tense.COMING,
    ),
    rule(r"(?:he|hemos) (?P<o>\w+(?:ado|ido|to|cho) .+)", Category.EVENT, "event*", "ha {o}", Tense.PAST),
    *(
        rule(rf"{first} (?P<o>.+)", Category.EVENT, "event*", f"{third} {{o}}", Tense.PAST)
        for first, third in _PRETERITE_ES
    ),
    rule(rf"llámame (?P<o>{NAME})", Category.INSTRUCTION, "form-of-address", "quiere que le llamen {o}"),
    rule(r"(?:tutéame|trátame de tú)", Category.INSTRUCTION, "form-of-address", "quiere tuteo (tutear)"),
    rule(
        r"(?:respóndeme|responde|contesta|contéstame|escríbeme|escribe) (?P<o>siempre .+)",
        Category.INSTRUCTION,
        "instruction.reply",
        "pide responder {o}",
    ),
    rule(
        r"(?P<o>(?:siempre|nunca) (?:usa|uses|utiliza|utilices|responde|respondas|escribe|escribas"
        r"|pongas|pon) .+|(?:usa|utiliza|pon) siempre .+|no (?:uses|utilices) nunca .+)",
        Category.INSTRUCTION,
        "instruction*",
        "pide: {o}",
    ),
)
_SPANISH_THIRD: tuple[Rule, ...] = (
    rule(r"vive (?P<o>(?:en|con|cerca) .+)", Category.LOCATION, "home", "vive {o}"),
    rule(r"trabaja (?P<o>(?:como|de|en|para|con) .+)", Category.IDENTITY, "occupation", "trabaja {o}"),
    rule(r"es (?P<o>(?:alérgic[oa]|intolerante) (?:a|al) .+)", Category.FACT, "allergy*", "es {o}"),
    rule(
        r"(?:es|está) (?P<o>vegetarian[oa]|vegan[oa]|casad[oa]|jubilad[oa]|divorciad[oa]"
        r"|embarazada)",
        Category.FACT,
        "is*",
        "es {o}",
    ),
    rule(r"es de (?P<o>(?-i:[A-ZÁÉÍÓÚÑ]).+)", Category.IDENTITY, "origin", "es de {o}"),
    rule(rf"es (?P<o>{_TRADE_ES})", Category.IDENTITY, "occupation", "es {o}"),
    rule(rf"se llama (?P<o>{NAME})", Category.RELATIONSHIP, "name", "se llama {o}"),
    rule(r"tiene (?P<o>\d{1,3} años)", Category.IDENTITY, "age", "tiene {o}"),
    rule(
        r"(?P<o>(?:cumple|llega|se casa|viene|empieza|se muda|tiene) .+)",
        Category.EVENT,
        "event*",
        "{o}",
        Tense.COMING,
    ),
    rule(r"(?P<o>(?:ha|se ha) \w+ .+)", Category.EVENT, "event*", "{o}", Tense.PAST),
)
_WHEN_ES = (
    r"(?:ayer|anteayer|mañana|hoy|pasado mañana|(?:el )?(?:lunes|martes|miércoles|jueves"
    r"|viernes|sábado|domingo)(?: (?:pasado|que viene|próximo))?|hace \w+ \w+|en \d{4}"
    r"|la semana (?:pasada|que viene))"
)
SPANISH = Language(
    unnamed="La persona",
    split=compiled(
        r"\s*[;:]\s+|\s+-\s+|,?\s+(?:pero|porque|aunque|así que|ya que|pues|sino)\s+"
        r"|,\s+(?=(?:y\s+)?(?:yo|me|mi|mis|vivo|trabajo|tengo|soy|ella|él|que|nos|nuestro|nuestra)\b)"
        r"|\s+y\s+(?=(?:yo|me|mi|vivo|trabajo|tengo|soy|no)\b)"
    ),
    unsure=compiled(
        r"\b(?:si|quizás?|tal vez|a lo mejor|puede que|igual|podría|debería|gustaría|sería|tendría"
        r"|haría|ojalá|imagina|supongamos|supón|algún día"
        r"|no es verdad|nunca dije|novela|película|cuento|cita textual|ejemplo|según|dice que"
        r"|supuestamente|sueño)\b"
        r"|\bno (?:soy|vivo|trabajo|tengo|estoy)\b"
    ),
    foreign=compiled(r"\b(?:mí|nos|nuestr[oa]s?|yo|tú|te|ti|tus?|usted|conmigo|contigo)\b"),
    order=(
        (
            compiled(
                r"^(?:sí|no,|bueno|pues|hola|gracias|por cierto|en realidad|además|y|ahora|actualmente"
                r"|por favor|oye)\b[\s,:!.¡]*"
            ),
            "",
        ),
        (compiled(r"^¡"), ""),
        (compiled(r",?\s*por favor$"), ""),
        (compiled(rf"^(?P<w>{_WHEN_ES}),? (?P<r>.+)$"), r"\g<r> \g<w>"),
    ),
    rules=_SPANISH_RULES,
    relative=compiled(
        rf"^(?:mi|nuestra|nuestro) (?:mejor )?(?P<relation>{_KIN_ES})(?: (?:mayor|menor"
        r"|pequeñ[oa]))?(?:,? (?P<name>(?-i:[A-ZÁÉÍÓÚÑ])[\w-]+),?)?(?= )"
    ),
    third=_SPANISH_THIRD,
    owned="{relation} de {author}",
    called="se llama",
    day="el {day}",
    whose=((compiled(r"\bmi\b"), "su"), (compiled(r"\bmis\b"), "sus")),
)
