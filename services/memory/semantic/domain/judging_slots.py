"""Slots that wording and keys name (SPEC S-7).

    slots_of(folded, key) -> frozenset[Slot]     changing slots that a statement fills
    fixed_slot(folded) -> Fixed | None           the slot that never takes another value

A changing slot holds one value at a time (home, employer): a later statement with a sign of change replaces
the earlier one even if no word is shared. A fixed one holds one value for good: two values contradict each
other. Anything that may hold several values (friends, hobbies, pets) is in neither table.
"""

from __future__ import annotations

import re
from enum import Enum

from services.memory.semantic.domain.memory import key_segments


class Slot(Enum):
    """Changing slots."""

    HOME = "home"
    WORK = "work"
    DIET = "diet"
    SMOKING = "smoking"
    VEHICLE = "vehicle"
    SCHOOL = "school"
    PARTNER = "partner"
    AGE = "age"
    PHONE = "phone"
    REPLY = "reply"
    BOSS = "boss"
    PRESENCE = "presence"


class Fixed(Enum):
    """Slots that never take another value."""

    BIRTH = "birth"
    DEATH = "death"
    BLOOD = "blood"
    MOTHER_TONGUE = "mother tongue"
    GRADUATION = "graduation"
    FOUNDING = "founding"
    WEDDING = "wedding"
    WINNER = "winner"
    RANK = "rank"
    SUPERLATIVE = "superlative"
    AUTHOR = "author"
    MEASURE = "measure"
    EYES = "eyes"
    ORIGIN = "origin"


_SLOTS = {
    Slot.HOME: (
        r"\b(?:abit[oai]\w*|vivo|viv[oe]|trasferit\w|mor[oa]|mud(?:ou|ei|e)\w*|woon\w*|verhuis\w+|"
        r"mieszka\w*|przeprowadzi\w+|oturuyor\w*|yasıyor\w*|tasındı\w*|wohn\w*|ausgezogen|"
        r"weggezogen)\b|\bжив[уеё]\w*|перее[хз]\w+|산다|살고|거주|이사|\b(?:live[sd]?|living|reside\w*|"
        r"moved?(?= (?:to|from|into|in|back|house|down|up|out|across))|relocated|settled|wohn(?:t|"
        r"te|en)|lebt|umgezogen|gezogen|zog|zieht|habite|vit|demenage|installe|vive|mudo|mudado|"
        r"traslado)\b|住|搬|引っ越|रहत|रहन|يعيش|تعيش|يسكن|تسكن|يقيم|تقيم|انتقل"
    ),
    Slot.WORK: (
        r"\b(?:lavor[oa]|licenziat\w|trabalh\w+|emprego|demit\w+|werkt?|baan|ontslag\w*|pracuj\w+|arbeitslos|"
        r"praca|zwolni\w+|calısıyor\w*|istifa\w*|arbeite)\b|\bработа\w+|уволил\w+|회사|근무|일한다|"
        r"일하|퇴사|이직|\b(?:works?(?= (?:at|as|for|in|with))|working(?= (?:at|as|for|in))|job|employed|"
        r"employer|career|resigned|retired|unemployed|laid off|freelance\w*|promoted|hired|student|"
        r"quit(?= (?:his|her|the|their|my))|teaches|arbeitet(?= (?:als|bei|beim|in|im|fur))|"
        r"gekundigt|stelle|beruf|rente|travaille|demissionne|retraite|emploi|trabaja|empleo|jubilo|"
        r"renuncio)\b|工作|上班|辞职|跳槽|退休|働|勤め|転職|退職|"
        r"काम करत|नौकरी|पढ़ात|يعمل|تعمل|العمل|استقال|وظيف|"
        r"تقاعد"
    ),
    Slot.DIET: (
        r"\b(?:vegan[oa]?|vegetarian[oa]|carne|vegetarisch|vlees|mies\w+|wege\w+|et yemi\w+|"
        r"vejetaryen)\b|\bмяс\w+|вегетариан\w+|채식|고기|\b(?:vegetarian|vegan|meat|pescatarian|"
        r"omnivore|vegetarisch|vegetarier\w*|veganer\w*|fleisch|vegetarien\w*|viande|vegetarian[oa]|"
        r"carne)\b|素食|吃素|肉|शाकाहारी|मांस|نباتي|اللحم"
    ),
    Slot.SMOKING: (
        r"\b(?:fum[oa]\w*|rookt?|roken|pal[ei]\w*|papieros\w*|sigara\w*)\b|\bкур[иу]\w+|담배|吸[うわっ]|"
        r"禁煙|\b(?:smok\w+|cigarettes?|raucht|rauchen|zigaretten|fume\w*|cigarettes|fuma\w*|"
        r"cigarrillos)\b|抽烟|吸烟|烟|たばこ|タバコ|煙草|सिगरेट|धूम्रपान|يدخن|تدخن|التدخين"
    ),
    Slot.VEHICLE: r"\b(?:drives?|drove|commutes?|auto|fahrt|conduit|conduce|voiture|coche)\b|开车|運転",
    Slot.SCHOOL: (
        r"\b(?:studies|studying|studiert|etudie|estudia|dropped out|enrolled|etudiante?|etudes|"
        r"university degree|"
        r"majors?(?= in))\b|专业|専攻|पढ़ाई|يدرس|تدرس"
    ),
    Slot.PARTNER: (
        r"\b(?:single|fidanzat\w|sposat\w|divorziat\w|noiv[oa]|cas(?:ado|ada|ou|ei)|namorad\w|"
        r"getrouwd|gescheiden|vriendin|zonat\w+|mezatk\w+|rozwied\w+|evli|bekar|nisanlı)\b|"
        r"\bженат\w*|замужем|развел\w+|여자친구|남자친구|결혼|이혼|미혼|\b(?:single|married|divorced|engaged|"
        r"widowed|widow|widower|dating|girlfriend|boyfriend|separated|couple|split up|broke up|broken up|"
        r"in a relationship|ledig|verheiratet|geheiratet|geschieden|celibataire|marie|mariee|"
        r"divorce|divorcee|"
        r"soltero|soltera|casado|casada|divorciado|divorciada)\b|单身|结婚|离婚|独身|結婚|離婚|शादी|तलाक|متزوج|"
        r"مطلق|اعزب"
    ),
    Slot.AGE: (
        r"\b(?:years old|turned (?:\d+|\w+ty(?:-\w+)?)|jahre alt|ans|anos)\b|岁|歳|साल का|साल की|عمره|"
        r"عمرها"
    ),
    Slot.PHONE: r"\b(?:phone number|telephone|telefonnummer|telefono)\b|电话|電話番号|फ़ोन नंबर",
    Slot.BOSS: (
        r"\b(?:(?:my|his|her|our|their|the) (?:\w+ )?(?:boss|manager|supervisor|line manager)|"
        r"reports? to|works? under|mein\w* chef\w*|vorgesetzt\w+|mon chef|ma cheffe|mi jef[ea]|"
        r"il mio capo|o meu chefe)\b"
    ),
    Slot.PRESENCE: (
        r"\b(?:on (?:\w+ )?(?:leave|holiday|vacation|sabbatical)|off sick|in hospital|abroad|"
        r"back (?:at|from|in|to) (?:work|the office|school|leave|holiday|\w+ leave)|im (?:urlaub|"
        r"krankenhaus)|in elternzeit|krankgeschrieben|en conge|de baja|de vacaciones)\b"
    ),
    Slot.REPLY: (
        r"\b(?:answer|reply|respond|write|speak|talk)(?: to me)? in (?!(?:the|a|my|your|detail|full|"
        r"short)\b)\w+|\b(?:antworte|schreib)\w*(?: mir)?(?: bitte)? auf \w+|\b(?:reponds|"
        r"ecris)(?:-moi)? en \w+|\b(?:respondeme|responde|escribe|escribeme) en \w+|用.{1,4}回答|"
        r"語で(?:答え|返事)|मे?ं जवाब"
    ),
}
PERSONAL = frozenset({Slot.BOSS, Slot.PARTNER})
"""Slots that a person fills: who it is is said of the one who has them."""
_KEY_SLOTS = {
    Slot.HOME: "city home residence hometown wohnort wohnung ville ciudad domicile address",
    Slot.WORK: "job work employer occupation profession beruf arbeit metier travail trabajo empleo",
    Slot.DIET: "diet",
    Slot.VEHICLE: "car vehicle auto coche voiture",
    Slot.PARTNER: "spouse partner marital",
    Slot.AGE: "age",
    Slot.PHONE: "phone",
}
_RANK = (
    r"\b(?:came|finished|placed|ranked|wurde|belegte)\s(?:in )?"
    r"(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|\d+(?:st|nd|rd|th))\b"
)
_FIXED = {
    Fixed.BIRTH: (
        r"\b(?:birthplace|born|nat[oa] (?:a|il|nel)|nasceu|nascid[oa]|urodzi[lł]\w*|urodz\w+|dogdu|"
        r"dogum\w*|vu le jour|ne en)\b|родил\w+|рождени\w+|태어났|출생|\bborn\b|\bbirth ?(?:date|"
        r"place)\b|\bbirthday (?:is|was)\b|\bgeboren\b|\bgeburts(?:tag|ort|datum)\b|\b(?:est|"
        r"fut) nee?\b|\bnacio\b|\bnacid[oa]\b|出生|生于|生まれ|生日|誕生日|जन्म|ولد|ولدت|مولود"
    ),
    Fixed.DEATH: r"\bdied (?:in|on)\b|\b(?:starb|gestorben) (?:am|im)\b|\bmurio en\b|去世于|逝世",
    Fixed.BLOOD: (
        r"\bblood (?:type|group)\b|\bblutgruppe\b|\bgroupe sanguin\b|\bgrupo sanguineo\b|血型|血液型|"
        r"रक्त समूह|ब्लड ग्रुप|فصيلة دم\w*"
    ),
    Fixed.MOTHER_TONGUE: (
        r"\b(?:first|native) (?:language|speaker)\b|\bmother tongue\b|\bmuttersprache\b|"
        r"\blangue maternelle\b|\blengua materna\b|母语|母語|मातृभाषा|اللغة الام"
    ),
    Fixed.GRADUATION: (
        r"\bgraduated\b|\bfinished (?:university|school|college|high school)\b|\babitur\b|"
        r"\bdiplome\w*\b|\bse graduo\b|毕业于"
    ),
    Fixed.FOUNDING: (
        r"\b(?:was |were )?(?:founded|built|invented|discovered|established|ratified)\b|\b(?:was|"
        r"were) (?:signed|published|inaugurated)\b|\b(?:gegrundet|erbaut|erfunden)\b|\b(?:fondee?|"
        r"construite?)\b|\b(?:fundad[oa]|construid[oa])\b|成立于|建于|创立|創業|設立|建てられ|स्थापना|تاسس|تاسست|"
        r"بني"
    ),
    Fixed.WEDDING: (
        r"\b(?:got married|married|wedding was|heirateten|heiratete|se sont maries|se casaron)\b|结婚于"
    ),
    Fixed.WINNER: (
        r"\b(?:ha vinto|vincitor\w+|ganhou|vencedor\w*|wygra[lł]\w*|zwyciez\w+|kazandı|birinci)\b|"
        r"выиграл\w*|победил\w*|우승|\b(?:won|winner|gewann|gewonnen|sieger\w*|gagne|gagnant\w*|"
        r"vainqueur|gano|ganador\w*)\b|冠军|赢得|优勝|優勝|जीता|जीती|فاز|فازت"
    ),
    Fixed.RANK: _RANK,
    Fixed.SUPERLATIVE: (
        r"\b(?:is|was|ist|war|est|es) (?:the |der |die |das |le |la |l'|el )?(?:oldest|eldest|"
        r"youngest|tallest|highest|longest|largest|smallest|deepest|first|capital|alteste\w*|"
        r"jungste\w*|hochste|ainee?|cadette?|mayor|menor|premier|premiere|primer[oa])\b"
    ),
    Fixed.EYES: r"\b\w+ eyes\b|\w+ augen\b|\byeux \w+\b|\bojos \w+\b",
    Fixed.AUTHOR: r"\b(?:was|were) (?:written|painted|composed|directed|designed|invented) by\b",
}
_MEASURES = r"(?:high|tall|long|deep|wide|hoch|lang|tief|breit|de haut|de long|de alto|de largo)"
_FIXED |= {
    Fixed.MEASURE: rf"\d ?(?:m|km|metres?|meters?|metern?|kilometres?|kilometers?|feet|metros|"
    rf"kilometros) {_MEASURES}\b|\b(?:measures|height of|length of|depth of|width of) \d[\d.,]* ?"
    r"(?:k?m|k?metres?|k?meters?|feet|miles)\b|\bis \d[\d.,]* ?(?:m|km|metres?|kilometres?|feet|miles)$",
    Fixed.ORIGIN: r"\b(?:maiden|birth|middle) name\b|\bgeburtsname\b|\bnom de jeune fille\b|\bstar sign\b|"
    r"\bhome ?town\b|旧姓",
}
_SLOT_PATTERNS = {slot: re.compile(pattern) for slot, pattern in _SLOTS.items()}
_FIXED_PATTERNS = {fixed: re.compile(pattern) for fixed, pattern in _FIXED.items()}


def slots_of(folded: str, key: str) -> frozenset[Slot]:
    """Returns the changing slots that the wording names, or else the last segment of the key."""
    worded = frozenset(slot for slot, pattern in _SLOT_PATTERNS.items() if pattern.search(folded))
    if worded:
        return worded
    last = key_segments(key)[:-1][-1:] or key_segments(key)
    return frozenset(slot for slot, names in _KEY_SLOTS.items() if set(names.split()) & set(last))


def fixed_slot(folded: str) -> Fixed | None:
    """Returns the fixed slot that the wording names, if any."""
    return next((fixed for fixed, pattern in _FIXED_PATTERNS.items() if pattern.search(folded)), None)
