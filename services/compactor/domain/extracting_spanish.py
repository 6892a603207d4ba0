"""Spanish for the extraction of facts (SPEC J-8)."""

from __future__ import annotations

from services.compactor.domain.extracting_latin import NAME, Language, Rule, compiled, rule
from services.compactor.domain.extracting_spanish_rules import ILLNESS_ES, KIN_ES, SPANISH_RULES, TRADE_ES
from services.compactor.domain.extracting_types import Category, Tense

_SPANISH_THIRD: tuple[Rule, ...] = (
    rule(rf"era (?P<o>{TRADE_ES})", Category.IDENTITY, "occupation", "era {o}"),
    rule(r"viven (?P<o>(?:en|con|cerca) .+)", Category.LOCATION, "home", "viven {o}"),
    rule(r"(?P<v>nació) (?P<o>.+)", Category.IDENTITY, "birth-date", "nació {o}", Tense.PAST),
    rule(r"estudia (?P<o>.+)", Category.IDENTITY, "studies", "estudia {o}"),
    rule(
        r"(?:labura|curra) (?P<o>(?:como|de|en|para|con) .+)",
        Category.IDENTITY,
        "working-time",
        "trabaja {o}",
    ),
    rule(rf"tiene (?P<o>{ILLNESS_ES})", Category.FACT, "has*", "tiene {o}"),
    rule(
        r"(?P<v>odia|adora|prefiere|toca|juega|habla|cría|colecciona|enseña|fuma"
        r"|conduce) (?P<o>(?!eso\b|que\b|lo\b).+)",
        Category.FACT,
        "does*",
        "{v} {o}",
    ),
    rule(
        r"le (?P<v>gustan?|encantan?|chiflan?) (?P<o>(?!que\b|eso\b).+)",
        Category.PREFERENCE,
        "taste*",
        ": le {v} {o}",
    ),
    rule(r"vive (?P<o>(?:en|con|cerca) .+)", Category.LOCATION, "home", "vive {o}"),
    rule(
        r"trabaja (?P<o>(?:de noche|de día|a turnos|por turnos|los fines de semana|media jornada)\b.*)",
        Category.IDENTITY,
        "working-time",
        "trabaja {o}",
    ),
    rule(r"trabaja (?P<o>(?:como|de|en|para|con) .+)", Category.IDENTITY, "employer", "trabaja {o}"),
    rule(r"es (?P<o>(?:alérgic[oa]|intolerante) (?:a|al) .+)", Category.FACT, "allergy*", "es {o}"),
    rule(
        r"(?P<v>es|está) (?P<o>vegetarian[oa]|vegan[oa]|casad[oa]|jubilad[oa]|divorciad[oa]"
        r"|embarazada)",
        Category.FACT,
        "is*",
        "{v} {o}",
    ),
    rule(r"(?P<v>murió|falleció) ?(?P<o>.*)", Category.EVENT, "event.death", "{v} {o}"),
    rule(r"es de (?P<o>(?-i:[A-ZÁÉÍÓÚÑ]).+)", Category.IDENTITY, "origin", "es de {o}"),
    rule(rf"es (?P<o>{TRADE_ES})", Category.IDENTITY, "occupation", "es {o}"),
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
_KIN_NAMES_ES = {"vieja": "madre", "viejo": "padre", "mamá": "madre", "papá": "padre", "parienta": "mujer"}


def _owned_es(author: str, relation: str) -> str:
    """La hermana de Ana, el padre de Luis."""
    relation = _KIN_NAMES_ES.get(relation.lower(), relation)
    if relation.endswith("s"):
        return f"los {relation} de {author}"
    feminine = relation.endswith(("a", "madre", "mujer", "nuera")) or relation in {"exmujer", "mamá"}
    return f"{'la' if feminine else 'el'} {relation} de {author}"


SPANISH = Language(
    unnamed="La persona",
    split=compiled(
        r"\s*[;:]\s+|\s+-\s+|,?\s+(?:pero|porque|aunque|así que|ya que|pues|sino)\s+"
        r"|,\s+(?=(?:y\s+)?(?:yo|me|mi|mis|vivo|trabajo|tengo|soy|ella|él|que|nos|nuestro|nuestra)\b)"
        r"|\s+y\s+(?=(?:yo|me|mi|vivo|trabajo|tengo|soy|no|estudia|vive|trabaja|labura|curra"
        r"|es|tiene|le|odia|adora|toca|juega)\b)"
    ),
    unsure=compiled(
        r"\b(?:si|quizás?|tal vez|a lo mejor|puede que|igual|podría|debería|gustaría|sería|tendría"
        r"|haría|ojalá|imagina|supongamos|supón|algún día"
        r"|no es verdad|nunca dije|novela|película(?! (?:favorita|preferida))|cuento"
        r"|cita textual|ejemplo|según|dice que"
        r"|supuestamente|sueño)\b"
        r"|\bno (?:soy|vivo|trabajo|tengo|estoy)\b"
    ),
    denied=None,
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
    rules=SPANISH_RULES,
    relative=compiled(
        rf"^(?:mi|mis|nuestra|nuestro|nuestros) (?:mejor )?(?P<relation>{KIN_ES})(?: (?:mayor|menor"
        r"|pequeñ[oa]))?(?:,? (?P<name>(?-i:[A-ZÁÉÍÓÚÑ])[\w-]+),?)?(?= )"
    ),
    third=_SPANISH_THIRD,
    pronoun=compiled(r"^(?:y )?(?:él|ella)\ "),
    carried=compiled(
        r"^(?:y )?(?:estudia|vive|trabaja|labura|curra|es|tiene|le|odia|adora|toca|juega"
        r"|se llama)\b"
    ),
    place=compiled(r"^(?P<a>(?:es|lleva) .+?) (?P<o>en (?-i:[A-ZÁÉÍÓÚÑ]).+)$"),
    works="trabaja {o}",
    intro=compiled(
        r"^¡?(?:(?:hola|buenas|buenos días|hey)[,!. ]*)*(?:soy|me llamo"
        r"|aquí) (?P<name>\w+)(?=[,.]| y |$)(?:, (?P<age>\d{1,2})(?: años)?(?=,|$))?"
    ),
    named="se llama {o}",
    aged="tiene {o} años",
    owned=_owned_es,
    called="se llama",
    day="el {day}",
    whose=((compiled(r"\bmi\b"), "su"), (compiled(r"\bmis\b"), "sus")),
)
