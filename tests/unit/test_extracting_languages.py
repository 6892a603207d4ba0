"""Basic statements in German, French and Spanish; nothing in languages that are not read (SPEC J-8)."""

from __future__ import annotations

import pytest

from tests.unit.extracting_parts import facts, values

STATED = [
    ("Ich heiße Jörg Kamp.", ["Kim heißt Jörg Kamp"]),
    ("Ich wohne seit 2018 in Leipzig.", ["Kim wohnt seit 2018 in Leipzig"]),
    ("Ich bin Ärztin und habe zwei Kinder.", ["Kim ist Ärztin", "Kim hat zwei Kinder"]),
    ("Ich bin allergisch gegen Nüsse.", ["Kim ist allergisch gegen Nüsse"]),
    ("Ich esse kein Fleisch.", ["Kim isst kein Fleisch"]),
    ("Ich mag Regen.", ["Kim mag Regen"]),
    (
        "Mein Bruder Jens wohnt in Kiel.",
        ["Kims Bruder heißt Jens", "Jens (Kims Bruder) wohnt in Kiel"],
    ),
    ("Gestern habe ich die Prüfung bestanden.", ["Kim hat die Prüfung bestanden am 2024-05-14"]),
    ("Ich muss am Freitag die Miete zahlen.", ["Kim muss die Miete zahlen am 2024-05-17"]),
    ("Wir haben beschlossen, das Boot zu verkaufen.", ["Kim hat beschlossen, das Boot zu verkaufen"]),
    ("Bitte duze mich.", ["Kim möchte geduzt werden"]),
    ("hab ne katze und wohn in Kiel", ["Kim hat eine katze", "Kim wohnt in Kiel"]),
    ("Am 3. Juni ziehen wir nach Kiel.", ["Kim zieht nach Kiel am 2024-06-03"]),
    ("Ich kann Lakritz nicht ausstehen.", ["Kim kann Lakritz nicht ausstehen"]),
    ("Mein Sohn ist 6 und spielt Geige.", ["Kims Sohn ist 6", "Kims Sohn spielt Geige"]),
    ("Ab jetzt bitte kurze Antworten.", ["Kim wünscht: kurze Antworten"]),
    ("Je m'appelle Chloé et j'habite à Nantes.", ["Kim s'appelle Chloé", "Kim habite à Nantes"]),
    ("Je suis allergique aux noix.", ["Kim est allergique aux noix"]),
    ("Je travaille comme infirmière.", ["Kim travaille comme infirmière"]),
    ("J'aime le jazz.", ["Kim aime le jazz"]),
    (
        "Ma sœur Zoé habite à Lille.",
        ["la sœur de Kim s'appelle Zoé", "Zoé (la sœur de Kim) habite à Lille"],
    ),
    ("Je dois appeler le plombier demain.", ["Kim doit appeler le plombier le 2024-05-16"]),
    ("On a décidé de vendre le bateau.", ["Kim a décidé de vendre le bateau"]),
    (
        "Ma mère est pompière volontaire et elle fait du vélo.",
        ["la mère de Kim est pompière volontaire", "la mère de Kim fait du vélo"],
    ),
    ("J'ai grandi à Brest.", ["Kim a grandi à Brest"]),
    ("Désormais mets les prix en euros.", ["Kim demande : mets les prix en euros"]),
    ("Me llamo Inés y vivo en Bilbao.", ["Kim se llama Inés", "Kim vive en Bilbao"]),
    ("Soy enfermera.", ["Kim es enfermera"]),
    ("Soy alérgica a los gatos.", ["Kim es alérgica a los gatos"]),
    ("Me gusta el flamenco.", ["Kim: le gusta el flamenco"]),
    (
        "Mi hermano Pablo vive en Lima.",
        ["el hermano de Kim se llama Pablo", "Pablo (el hermano de Kim) vive en Lima"],
    ),
    (
        "Mi madre es enfermera en Rosario y trabaja de noche.",
        [
            "la madre de Kim es enfermera",
            "la madre de Kim trabaja en Rosario",
            "la madre de Kim trabaja de noche",
        ],
    ),
    ("Nos quedamos con el piso pequeño.", ["Kim se queda con el piso pequeño"]),
    ("Hay que pagar el seguro antes del 9 de junio.", ["Kim tiene que pagar el seguro el 2024-06-09"]),
    ("Mañana tengo una cita con el médico.", ["Kim tiene una cita con el médico el 2024-05-16"]),
    ("Tengo que llamar al fontanero el lunes.", ["Kim tiene que llamar al fontanero el 2024-05-20"]),
]


@pytest.mark.parametrize(("text", "expected"), STATED)
def test_a_basic_statement_is_read_in_its_language(text: str, expected: list[str]) -> None:
    assert values(text) == expected


NOT_STATED = [
    "Ich bin kein Arzt.",
    "Ich würde gern in Wien wohnen.",
    "Wenn ich in Wien wohne, fahre ich Rad.",
    "Vielleicht ziehe ich nach Wien.",
    "Wohne ich in Wien?",
    "Ich habe keine Ahnung.",
    "Ich bin müde.",
    "Je ne suis pas médecin.",
    "Si j'habite à Nantes, je paie moins.",
    "J'aimerais vivre à Nantes.",
    "Je suis fatiguée.",
    "J'aime bien ça.",
    "No soy de Sevilla.",
    "Si vivo en Bilbao, pago menos.",
    "A lo mejor me mudo a Cádiz.",
    "¿Vivo en Bilbao?",
    "Tengo una pregunta.",
]


@pytest.mark.parametrize("text", NOT_STATED)
def test_what_is_not_stated_is_not_read(text: str) -> None:
    assert values(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Ik woon in Gent en ik ben verpleegkundige.",
        "Io vivo a Roma e amo il jazz.",
        "Mieszkam w Krakowie.",
        "Eu moro em Lisboa e gosto de fado.",
        "Jag bor i Malmö.",
        "저는 서울에 살아요.",
        "أنا أسكن في القاهرة",
    ],
)
def test_of_other_languages_nothing_is_read_rather_than_junk(text: str) -> None:
    assert values(text) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Ich wohne in Leipzig.", "Ich wohne in Kiel."),
        ("J'habite à Nantes.", "Je vis à Lyon."),
        ("Vivo en Bilbao.", "Vivo en Lima."),
        ("Ich wohne in Leipzig.", "I live in Kiel."),
    ],
)
def test_a_slot_has_one_key_in_every_language(before: str, after: str) -> None:
    """S-6: a newer value supersedes."""
    assert [fact.key for fact in facts(before)] == [fact.key for fact in facts(after)] == ["user.home"]


EVERYDAY = [  # a kind of sentence, in each language
    (
        "who introduces themselves",
        {
            "hi, ich bin die Kim, 31, Tischlerin": ["Kim heißt Kim", "Kim ist 31", "Kim ist Tischlerin"],
            "salut, moi c'est Kim, 31 ans, menuisière": [
                "Kim s'appelle Kim",
                "Kim a 31 ans",
                "Kim est menuisière",
            ],
            "hola, soy Kim, 31 años, carpintera": [
                "Kim se llama Kim",
                "Kim tiene 31 años",
                "Kim es carpintera",
            ],
        },
    ),
    (
        "a relative in small letters",
        {
            "mein bruder jens wohnt in Kiel": ["Kims Bruder heißt Jens", "Jens (Kims Bruder) wohnt in Kiel"],
            "ma soeur zoé habite à Lille": [
                "la soeur de Kim s'appelle Zoé",
                "Zoé (la soeur de Kim) habite à Lille",
            ],
            "mi hermano pablo vive en Lima": [
                "el hermano de Kim se llama Pablo",
                "Pablo (el hermano de Kim) vive en Lima",
            ],
        },
    ),
    (
        "a relative named before",
        {
            "Emma, meine Tante, ist Imkerin": ["Kims Tante heißt Emma", "Emma (Kims Tante) ist Imkerin"],
            "Emma, ma tante, est apicultrice": [
                "la tante de Kim s'appelle Emma",
                "Emma (la tante de Kim) est apicultrice",
            ],
            "Emma, mi tía, es apicultora": [
                "la tía de Kim se llama Emma",
                "Emma (la tía de Kim) es apicultora",
            ],
        },
    ),
    (
        "a relative named by what follows",
        {
            "mein Mann heißt Ole und ist Koch": ["Kims Mann heißt Ole", "Ole (Kims Mann) ist Koch"],
            "mon mari s'appelle Ole et il est cuisinier": [
                "le mari de Kim s'appelle Ole",
                "Ole (le mari de Kim) est cuisinier",
            ],
            "mi marido se llama Ole y es cocinero": [
                "el marido de Kim se llama Ole",
                "Ole (el marido de Kim) es cocinero",
            ],
        },
    ),
    (
        "what one is without a verb",
        {
            "Linkshänder, nur zur Info": ["Kim ist Linkshänder"],
            "gauchère, au passage": ["Kim est gauchère"],
            "zurda, por cierto": ["Kim es zurda"],
        },
    ),
    (
        "a habit",
        {
            "jeden Dienstag geh ich schwimmen": ["Kim geht jeden Dienstag schwimmen"],
            "tous les mardis je vais à la piscine": ["Kim va à la piscine tous les mardis"],
            "todos los martes voy a la piscina": ["Kim va a la piscina todos los martes"],
        },
    ),
    (
        "an appointment by a day in figures",
        {
            "am 21.06. hab ich Zahnarzttermin": ["Kim hat Zahnarzttermin am 2024-06-21"],
            "j'ai dentiste le 21/06": ["Kim a dentiste le 2024-06-21"],
            "tengo dentista el 21/06": ["Kim tiene dentista el 2024-06-21"],
        },
    ),
    (
        "something done for others on a day",
        {
            "am Montag haben wir den Mietvertrag unterschrieben": [
                "Kim hat den Mietvertrag unterschrieben am 2024-05-13"
            ],
            "lundi on a signé le bail": ["Kim a signé le bail le 2024-05-13"],
            "ayer firmamos el contrato": ["Kim firmó el contrato el 2024-05-14"],
        },
    ),
    (
        "a standing wish in parts",
        {
            "ab jetzt duz mich und schreib ohne Emojis": [
                "Kim möchte geduzt werden",
                "Kim wünscht: schreib ohne Emojis",
            ],
            "désormais tutoie-moi et écris sans abréviations": [
                "Kim demande de se tutoyer",
                "Kim demande : écris sans abréviations",
            ],
            "a partir de ahora háblame de tú y nada de tablas": [
                "Kim quiere tuteo (tutear)",
                "Kim pide no usar tablas",
            ],
        },
    ),
    (
        "two tasks",
        {
            "ich muss das Rad abholen und die Miete zahlen": [
                "Kim muss das Rad abholen",
                "Kim muss die Miete zahlen",
            ],
            "faut que je répare la selle et que je rende les clés": [
                "Kim doit réparer la selle",
                "Kim doit rendre les clés",
            ],
            "tengo que arreglar la silla y pagar el seguro": [
                "Kim tiene que arreglar la silla",
                "Kim tiene que pagar el seguro",
            ],
        },
    ),
    (
        "a decision announced",
        {
            "Beschlossene Sache: wir behalten das Boot": ["Kim behält das Boot"],
            "C'est décidé, je garde le bateau": ["Kim garde le bateau"],
            "Decisión tomada: el barco se queda": ["Kim ha decidido: el barco se queda"],
        },
    ),
    (
        "a possession",
        {
            "unser Boot heißt Hulda": ["Kim: Boot heißt Hulda"],
            "notre bateau s'appelle Hulda": ["Kim: bateau s'appelle Hulda"],
            "nuestro barco se llama Hulda": ["Kim: su barco se llama Hulda"],
        },
    ),
    (
        "a fact before a question",
        {
            "ich bin gegen Nüsse allergisch, was kann ich stattdessen nehmen?": [
                "Kim ist gegen Nüsse allergisch"
            ],
            "je suis allergique aux noix, quoi mettre à la place ?": ["Kim est allergique aux noix"],
            "soy alérgica a las nueces, ¿qué pongo en su lugar?": ["Kim es alérgica a las nueces"],
        },
    ),
    (
        "what a restriction limits",
        {
            "ich bin Schwimmlehrer am Bodensee, aber nur im Sommer": [
                "Kim ist Schwimmlehrer, aber nur im Sommer",
                "Kim arbeitet am Bodensee, aber nur im Sommer",
            ],
            "je bois mon café noir, sauf le dimanche": ["Kim boit son café noir, sauf le dimanche"],
            "tomo el café solo, menos los domingos": ["Kim toma el café solo, menos los domingos"],
        },
    ),
]


@pytest.mark.parametrize("kind", [kind for kind, _ in EVERYDAY])
def test_a_construction_is_read_in_all_three_languages(kind: str) -> None:
    expected = dict(EVERYDAY)[kind]
    assert {text: values(text) for text in expected} == expected


@pytest.mark.parametrize(
    "text",
    [
        "Wenn mein Bruder kommt, gehe ich schwimmen.",
        "Ich gehe jetzt schlafen.",
        "Mein Kopf tut weh.",
        "Meine Frage ist eine andere.",
        "Der Film spielt in Wien.",
        "Ich koche gerade Nudeln.",
        "Si mon frère vient, je vais nager.",
        "Je vais me coucher.",
        "Ma voiture est en panne.",
        "Le film se passe à Vienne.",
        "Peut-être que je déménage en juin.",
        "Il faut dire que c'est cher.",
        "Me voy a dormir.",
        "Hoy estoy muerta de cansancio.",
        "La película transcurre en Viena.",
        "Igual me apunto a cerámica en junio.",
        "No sé si mudarme a Cádiz.",
    ],
)
def test_what_passes_or_is_not_sure_is_left(text: str) -> None:
    assert values(text) == []
