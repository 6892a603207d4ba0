"""Nouns and names of people: which noun means somebody, what stands for a name (SPEC J-8). Pure."""

from __future__ import annotations

import re

from services.compactor.domain.extraction.english import words

_FLAGS = re.IGNORECASE
TITLE = r"(?-i:(?:Dr|Mrs|Mr|Ms|Miss|Prof|Professor|Sister|Father|Pastor|Coach|Old)\.? )?"
CAPITAL = (
    r"(?-i:[^\W\d_a-zà-öø-ÿ][\w-]*(?:'(?!s\b)[\w-]+)?(?: (?:van|von|de|da|di|del|la|el|den"
    r"|der)(?= [^\W\d_a-z]))?(?: [^\W\d_a-z][\w-]*){0,2})"
)
NAME = rf"{TITLE}{CAPITAL}"
_WORD = (
    r"(?!(?:is|are|was|were|and|or|of|to|in|on|at|for|from|with|has|have|had|who|that|the"
    r"|not)\b)[a-zà-ÿ][\w-]*"
)
"""A word of a noun phrase in small letters."""
NOUN_PHRASE = rf"(?-i:(?:{_WORD} ){{0,3}}?{_WORD})"
_NO_NOUN_WORDS = """
    is are was were has have had and or of to in on at for from with who that the not can will does did
    do just still also never always only my our his her their its your a an this these no all some
"""
NO_NOUN = frozenset(_NO_NOUN_WORDS.split())
"""What ends a noun phrase."""
_ANIMAL = re.compile(rf"\b(?:{words.PETS})$", _FLAGS)
_KIN = re.compile(rf"\b(?:{words.SINGLE_RELATIONS}|{words.PLURAL_RELATIONS}|{words.PETS})$", _FLAGS)
_GROUP = re.compile(
    rf"(?:(?:two|three|four|five|six|\d+|both|new|next-door|rescue"
    rf"|{words.RELATION_ADJECTIVES}) )*(?:{words.GROUPS})",
    _FLAGS,
)
_PERSON = re.compile(
    r"\b(?:(?:\w*mate|\w*partner|\w+man|\w+woman|\w+maid|\w*sitter|\w*minder|\w*leader|owner|helper"
    r"|cleaner|neighbour|neighbor|lecturer|deputy|intern|porter|head|headmaster|headmistress|principal"
    r"|dean|chair|boss|superior|guardian|godparent|grandparent|parent|sibling|relative|relation|in-law"
    r"|missus|wifey|wee man|little man|wee one|little one|teen|kiddo|step\w+|foster \w+|ex-\w+|penfriend"
    r"|acquaintance|guest|host|hostess|guy|bloke|chap|lad|lass|kid"
    r"|student|pupil|client|patient|fiancée?|bride|groom|widow|bridesmaid|witness|sponsor|sponsee|godmum"
    r"|godfather|stylist|groomer|cardiologist|handyman|nurse|vet|coach|carer|au pair|solicitor|editor"
    r"|agent|publisher|rival|idol|squad lead|lead))$",
    _FLAGS,
)
_THING = re.compile(
    r"\b(?:wall|wheel|door|paper|letter|number|computer|printer|cooker|freezer|cooler|heater|boiler|dryer"
    r"|washer|washing machine|counter|corner|river|summer|winter|dinner|supper|paperwork|laptop|phone|car"
    r"|bike|van|boat|house|flat|street|road|town|village|city|country|company|firm|school|college"
    r"|university|team|band|choir|club|shop|cafe|café|app|project|church|hospital|office|lab|course|class"
    r"|degree|book|blog|podcast|character|power|order|offer|weather|paper|poster|sweater|trailer|scooter"
    r"|tracker|router|server|folder|mother tongue|motor|humou?r|colou?r|favou?r|harbou?r|tutor group|floor"
    r"|error|mirror|tractor|calculator|elevator|doctorate|list|wrist|waist|playlist|breakfast|forecast"
    r"|toast|coast|past|rest|best|dust|trust|interest|request|test|guest room|post|cost|west|east|human"
    r"|woman's|cancer|liver|finger|shoulder|blister|ulcer|fever|temper|answer|career|partner's|newsletter"
    r"|chapter|quarter|semester|ladder|jumper|shower|freezer|toaster|hamper|timer|number plate|speaker"
    r"|monitor|sensor|burner|slow cooker|charger|adapter|controller|helicopter|suitcase)$",
    _FLAGS,
)
_NO_PERSON_WORDS = """
    Work School Dinner Lunch Breakfast Coffee Tea Traffic Weather Rain Snow Christmas Easter Halloween
    Winter Summer Autumn Spring Everything Something Nothing Anything Everyone Everybody Someone
    Somebody Nobody No None One Two Three Life Love Music Food Money Time Today Tomorrow Yesterday
    Tonight There Here What When Where Why How Which Who Whoever Whatever English French German Spanish
    Google Netflix Amazon Apple Microsoft Facebook Twitter Python Java Linux Windows Docker Postgres
    Excel Word God Jesus Santa Mum Mom Dad Update News Question Answer Note Reminder Basically Honestly
    Actually Not Also Just Still Only Then Now And But Or So If Because Since While Though Although
    Maybe Perhaps Sure Okay Ok Yes Please Thanks Sorry Well Oh Wow Hi Hello Hey Some Most Many All Each
    Every Both Any Other Another Such Same Your Their His Her Its These Those Bank Rent Phone Internet
    Wifi Parking Training Practice Rehearsal Delivery Europe America Britain England Scotland Wales
    Ireland France Germany Spain Italy London Paris Berlin Rome Madrid Notice Traditional Tickets
    Results Exam Exams Class Deadline Meeting Kitchen Car Boiler Heating Water Power Bus Train Flight
    Doctor Dentist Vet Landlord Boss Team Office Shop Garden House Flat Roof Baby Kids Dog Cat Husband
    Wife Brother Sister Son Daughter Moving Packing Surgery Therapy Physio Chemo Choir Swimming Football
    Yoga Church Court Interview Wedding Party Funeral Honeymoon Payday Uni College Term Season Game
    Match Show Concert Tour Festival Diet Breathing Sleep Coming Going Getting Having Being Doing Trying
    Working Half Next Last First Second Final Plan Step Point Fact Truth Problem Issue Reason Budget
    Salary Contract Offer Home Forty
"""
NO_PERSON = frozenset(_NO_PERSON_WORDS.split())
"""Words in capitals that name nobody."""


def is_person(noun: str) -> bool:
    """Whether a noun phrase means somebody: a relative, an animal, a trade, a standing."""
    if _THING.search(noun) or re.match(r"(?:fav\w*|usual|ideal|all-time) ", noun):
        return False
    return bool(_KIN.search(noun) or _PERSON.search(noun) or words.is_role(noun))


def is_group(noun: str) -> bool:
    """Whether it means several: relatives or animals, with no other word than which or how many."""
    return bool(_GROUP.fullmatch(noun))


def is_kin(noun: str) -> bool:
    """Whether it is a relative, a friend or an animal of the known ones."""
    return bool(_KIN.search(noun))


def is_animal(noun: str) -> bool:
    """Whether it is one of the animals that people keep."""
    return bool(_ANIMAL.search(noun))
