"""Basic statements in German, French and Spanish; nothing in other languages (SPEC J-8)."""

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
    ("Am 3. Juni ziehen wir nach Kiel.", ["Kim plant: nach Kiel am 2024-06-03"]),
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
        "私は東京に住んでいます。",
        "我住在北京，对花生过敏。",
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
