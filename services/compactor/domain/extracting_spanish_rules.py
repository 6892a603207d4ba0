"""What Spanish clauses in the first person tell (SPEC J-8)."""

from __future__ import annotations

from services.compactor.domain.extracting_latin import NAME, Rule, rule
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
KIN_ES = (
    "padres|abuelos|suegros|hermana|hermano|madre|mamá|padre|papá|mujer|marido|esposa"
    "|esposo|hija|hijo|abuela|abuelo"
    "|tía|tío|prima|primo|sobrina"
    "|sobrino|novia|novio|amiga|amigo|pareja|vecina|vecino|compañera|compañero|jefa|jefe"
    "|suegra|suegro|cuñada|cuñado|nieta"
    "|ahijada|ahijado|madrina|padrino|abuelita|abuelito|vieja|viejo|parienta|hermanastro"
    "|hermanastra|madrastra|padrastro|nuera|yerno"
    "|colega|casera|casero|peque|mayor|pequeña|pequeño|exnovio|exnovia|ex|bisabuela"
    "|bisabuelo|compi|conejo|loro|caballo|yegua"
    "|nieto|perro|perra|gato|gata|exmarido|exmujer"
)
TRADE_ES = (
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
ILLNESS_ES = (
    r"(?:\w*(?:itis|osis|emia|algia|fobia|lepsia|plejia)|diabetes|asma|migrañas?|celiaquía"
    r"|hipertensión|cáncer|acúfenos|eczema|tdah|dislexia"
    r"|la tensión alta|(?:el )?síndrome .+|(?:una )?(?:alergia|intolerancia) .+|marcapasos|vértigo|insomnio)"
)
SPANISH_RULES: tuple[Rule, ...] = (
    rule(
        r"nos casamos (?P<o>(?!.*\b(?:pasad[oa]|ayer|hace|en \d{4})\b).+)",
        Category.EVENT,
        "event*",
        "se casa {o}",
        Tense.COMING,
    ),
    rule(r"mi cumpleaños es (?P<o>el \d.+)", Category.IDENTITY, "birthday", "cumple años {o}"),
    rule(r"vivo (?P<o>sol[oa])", Category.LOCATION, "lives-with", "vive {o}"),
    rule(r"no puedo (?P<o>(?:comer|beber|tomar) .+)", Category.FACT, "cannot*", "no puede {o}"),
    rule(
        r"mi (?P<o>(?:grupo sanguíneo|dirección|talla|número de \w+|lengua materna"
        r"|matrícula) es .+)",
        Category.FACT,
        "attribute*",
        ": {o}",
    ),
    rule(
        r"(?:háblame|trátame) de (?P<o>usted|tú)",
        Category.INSTRUCTION,
        "form-of-address",
        "pide tratamiento de {o}",
    ),
    rule(
        r"(?:tengo|tenemos) (?P<o>(?:médico|dentista|oculista|tutoría|turno|guardia|ensayo"
        r"|partido|entreno|revisión|juicio)\b.*)",
        Category.EVENT,
        "event*",
        "tiene {o}",
        Tense.COMING,
    ),
    rule(
        r"llevo (?P<o>.+? años? (?:de|como) .+|.+? años? \w+ndo\b.*)",
        Category.IDENTITY,
        "occupation",
        "lleva {o}",
    ),
    rule(
        r"(?:al final |finalmente |pues )*(?:nos quedamos|me quedo) con (?P<o>(?!.*\b(?:opción"
        r"|versión|primer[ao]|segund[ao]|hambre|ganas)\b).+)",
        Category.DECISION,
        "decision*",
        "se queda con {o}",
    ),
    rule(
        r"(?:al final |finalmente |pues )*(?:cogemos|elegimos|elijo|cojo|escogemos|optamos por"
        r"|vamos con) (?P<o>(?:el|la|los|las) .+)",
        Category.DECISION,
        "decision*",
        "elige {o}",
    ),
    rule(r"está decidido[:,] (?P<o>.+)", Category.DECISION, "decision*", "ha decidido: {o}"),
    rule(r"hay que (?P<o>\w+r .+)", Category.TASK, "task*", "tiene que {o}", Tense.COMING),
    rule(r"me toca (?P<o>\w+r .+)", Category.TASK, "task*", "tiene que {o}", Tense.COMING),
    rule(r"(?:que )?no se me olvide (?P<o>\w+r .+)", Category.TASK, "task*", "tiene que {o}"),
    rule(r"(?:crecí|me crié) (?P<o>en .+)", Category.LOCATION, "childhood", "creció {o}"),
    rule(rf"tengo (?P<o>{ILLNESS_ES})(?: desde .+)?", Category.FACT, "has*", "tiene {o}"),
    rule(r"estoy embarazada (?P<o>de .+)", Category.FACT, "pregnancy", "está embarazada {o}"),
    rule(r"soy (?P<o>celíac[oa]|asmátic[oa]|hipertens[oa]|autista|miope)", Category.FACT, "is*", "es {o}"),
    rule(r"(?:curro|laburo) (?P<o>(?:como|de|en|para|con) .+)", Category.IDENTITY, "employer", "trabaja {o}"),
    rule(
        r"no (?:soporto|aguanto) (?P<o>(?!eso\b|esto\b|más\b|que\b).+)",
        Category.PREFERENCE,
        "taste*",
        "no soporta {o}",
    ),
    rule(r"no fumo(?P<o>)", Category.FACT, "smokes", "no fuma"),
    rule(r"no (?:conduzco|manejo)(?P<o>)", Category.FACT, "drives", "no conduce"),
    rule(
        r"hago (?P<o>(?!eso\b|esto\b|lo\b)\w+ (?:.+ )?(?:todos|cada|los|las|dos veces"
        r"|tres veces) .+)",
        Category.FACT,
        "does*",
        "hace {o}",
    ),
    rule(r"(?:nos mudamos|me mudo) (?P<o>.+)", Category.EVENT, "event*", "se muda {o}", Tense.COMING),
    rule(
        r"(?P<o>(?!yo\b|me\b|mi\b|es\b|está\b|ha\b|he\b)\w+ siempre .+)",
        Category.INSTRUCTION,
        "instruction*",
        "pide: {o}",
    ),
    rule(
        r"(?:a partir de ahora|de ahora en adelante)[ ,]+(?:por favor,? "
        r")?(?P<o>(?!me\b|he\b|mi\b|yo\b|es\b|está\b|había\b|fui\b|tuve\b|lo\b|la\b)\w.+)",
        Category.INSTRUCTION,
        "instruction*",
        "pide: {o}",
    ),
    rule(
        r"no (?P<o>(?:me (?:des|trates|llames|hables|mandes|pongas)|uses|pongas) .+)",
        Category.INSTRUCTION,
        "instruction*",
        "pide: no {o}",
    ),
    rule(
        r"(?:el|la|mi|nuestro|nuestra) (?P<o>(?:[\w]+ ){0,4}?\w+) (?:es|será|empieza"
        r"|sale) (?P<w>(?:el|este|mañana|pasado) .+|mañana)",
        Category.EVENT,
        "event*",
        ": {o} {w}",
        Tense.COMING,
    ),
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
    rule(r"nací (?P<o>(?:en|el) [^,]+?)(?:,.+| y .+)?", Category.IDENTITY, "birth", "nació {o}"),
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
    rule(rf"soy (?P<o>{TRADE_ES})", Category.IDENTITY, "occupation", "es {o}"),
    rule(
        rf"me (?P<v>gusta|gustan|encanta|encantan|chifla|chiflan) (?:mucho |muchísimo )?(?P<o>{_NOT_ES}.+)",
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
        rf"(?:tengo que|debo|tenemos que) (?P<o>(?!irme\b|irnos\b|decir)(?:{_ERRAND_ES})\w*\b.*)",
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
        r"(?P<o>(?:siempre|nunca) (?:usa|uses|utiliza|utilices|responde|respondas|escribe|escribas"
        r"|pongas|pon) .+|(?:usa|utiliza|pon) siempre .+|no (?:uses|utilices) nunca .+)",
        Category.INSTRUCTION,
        "instruction*",
        "pide: {o}",
    ),
)
