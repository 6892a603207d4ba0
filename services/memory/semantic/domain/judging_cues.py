"""Cues of a text, and the language it is written in (SPEC S-7, S-18).

fold_case(text) -> str                 how texts are compared: no accents, lower case
language_of(text) -> Language          by script, function words and letters; English where nothing tells
cues_of(folded, language) -> Cues      where each cue stands
"""

from __future__ import annotations

import re
from enum import Enum

from services.memory.semantic.domain import judging_european, judging_latin, judging_scripts
from services.memory.semantic.domain.analysis import fold
from services.memory.semantic.domain.judging_types import Cue

SURE_HITS = 2
"""Function words by which a language is ahead of any other, to be sure of it."""

Span = tuple[int, int]
Cues = dict[Cue, list[Span]]


class Language(Enum):
    """Languages with rules of their own; OTHER stands for scripts whose cues are found anywhere."""

    ENGLISH = "en"
    GERMAN = "de"
    FRENCH = "fr"
    SPANISH = "es"
    ITALIAN = "it"
    PORTUGUESE = "pt"
    DUTCH = "nl"
    POLISH = "pl"
    RUSSIAN = "ru"
    TURKISH = "tr"
    OTHER = "other"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FUNCTION_WORDS = {
    Language.GERMAN: _words(
        """der die das den dem des ein eine einen einem einer und ist sind war hat haben mit im am zum zur
        nicht kein keine keinen mehr bei von vom auf aus fur seit sie er ich mein meine sein seine ihr
        ihre als auch nach wird heisst bitte wohnt lebt arbeitet ab jetzt sich immer spricht trinkt
        isst fahrt wohnte arbeitete"""
    ),
    Language.FRENCH: _words(
        """le la les un une des du de et est sont etait ont avec dans sur pas plus ne au aux chez pour il
        elle je mon ma mes son sa ses leur que qui en se par depuis desormais habite travaille vit aime
        c l j n qu a"""
    ),
    Language.SPANISH: _words(
        """el la los las un una unos unas de del y es son era ha han con en no mas al para su sus mi mis
        que por se le lo como desde ahora ya vive trabaja tiene esta gusta habla a hoy partir cuando
        usa me nos yo soy vivo estoy tengo mude deje fumo muy"""
    ),
    Language.ITALIAN: _words(
        """il lo la gli le a un uno una di del della dei delle sono e era ha ho hanno con in non piu al alla
        per da dal dalla su sul sulla mio mia suo sua che chi come nel nella si mi ci abbiamo ora adesso
        lavora lavoro vive vivo abita abito parla parlo anche adesso ormai sono fumo trasferito smesso"""
    ),
    Language.PORTUGUESE: _words(
        """a o as os um uma de do da dos das e sao era tem tenho com no na nos nas nao mais ao para por pelo
        seu sua meu minha que se em eu ele ela ja mora moro trabalha trabalho agora tambem esta estou foi
        num numa mudei deixei fumo moro sou"""
    ),
    Language.DUTCH: _words(
        """de het een en is was zijn heeft heb hebben had niet geen met op voor naar bij uit over ik je hij
        zij ze we wij mijn ons ook nog maar in aan er dat die te om van woont werkt gaat drinkt wordt
        sinds nu meer"""
    ),
    Language.POLISH: _words(
        """i w na z ze do od po przy nie jest sa byl byla ma mam to ten ta te sie za dla jak jego jej ale
        tez juz jem mieszka mieszkam pracuje teraz o u lat roku"""
    ),
    Language.TURKISH: _words(
        """ve bir bu su da de ile icin gibi cok daha var yok ben sen artık degil saat yasında olarak simdi
        sonra once her"""
    ),
    Language.ENGLISH: _words(
        """the a an and is are was were has have had with in on at of to for from by not no he she they
        his her their my i it its that this as since now lives works does will be
        me you we us our your i'm please call who into got went more any there"""
    ),
}
LETTERS = {
    Language.GERMAN: frozenset("äöüß"),
    Language.FRENCH: frozenset("àâçèêëîïôûœé"),
    Language.SPANISH: frozenset("ñ¿¡áíóúé"),
    Language.ITALIAN: frozenset("àèìòù"),
    Language.PORTUGUESE: frozenset("ãõ"),
    Language.POLISH: frozenset("ąćęłńśźż"),
    Language.TURKISH: frozenset("ığş"),
}
_OTHER_SCRIPT = re.compile(r"[\u0590-\u1fff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7ff]")
_CYRILLIC = re.compile(r"[\u0400-\u04ff]")
_WORD = re.compile(r"[^\W\d_]+")
_SPACED = {
    Language.ENGLISH: judging_latin.ENGLISH,
    Language.GERMAN: judging_latin.GERMAN,
    Language.FRENCH: judging_latin.FRENCH,
    Language.SPANISH: judging_latin.SPANISH,
    Language.ITALIAN: judging_european.ITALIAN,
    Language.PORTUGUESE: judging_european.PORTUGUESE,
    Language.DUTCH: judging_european.DUTCH,
    Language.POLISH: judging_european.POLISH,
    Language.RUSSIAN: judging_european.RUSSIAN,
    Language.TURKISH: judging_european.TURKISH,
}
_ATTRIBUTE = dict.fromkeys((Cue.END, Cue.CHANGE), r"(?<!\ban )(?<!\ba )(?<!\bthe )")
"""An expired card has not expired just now."""
_PATTERNS: dict[Language, dict[Cue, re.Pattern[str]]] = {
    language: {
        cue: re.compile(rf"(?<![\w-]){_ATTRIBUTE.get(cue, '')}(?:{fold(phrases)})(?![\w-])")
        for cue, phrases in table.items()
    }
    for language, table in _SPACED.items()
} | {Language.OTHER: {cue: re.compile(fold(phrases)) for cue, phrases in judging_scripts.PHRASES.items()}}


def fold_case(text: str) -> str:
    """Returns `text` without accents and in lower case, as the cues are written."""
    return fold(text).casefold()


def language_of(text: str) -> Language:
    """Returns the language with most function words and letters of its own, English where none tells."""
    if _OTHER_SCRIPT.search(text):
        return Language.OTHER
    if _CYRILLIC.search(text):
        return Language.RUSSIAN
    scores = _scores(text)
    best = max(scores, key=lambda language: (scores[language], language is Language.ENGLISH))
    return best if scores[best] >= SURE_HITS else Language.ENGLISH


def is_sure(text: str) -> bool:
    """Tells whether a text shows its language by more words than any other."""
    scores = sorted(_scores(text).values())
    return bool(_CYRILLIC.search(text)) or scores[-1] - scores[-2] >= SURE_HITS


def _scores(text: str) -> dict[Language, int]:
    words = _WORD.findall(fold_case(text))
    scores = {language: sum(word in known for word in words) for language, known in FUNCTION_WORDS.items()}
    for language, letters in LETTERS.items():
        scores[language] += sum(letter in letters for letter in text.lower())
    return scores


def cues_of(folded: str, language: Language) -> Cues:
    """Returns the spans of each cue in `folded`; cues without a place are left out."""
    found: Cues = {}
    for cue, pattern in _PATTERNS[language].items():
        spans = [match.span() for match in pattern.finditer(folded)]
        if spans:
            found[cue] = spans
    return found
