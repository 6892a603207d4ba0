"""Languages of texts in Latin letters, besides English (SPEC S-18).

    language_of(text) -> Guess          by small words, which every text of some length has
    stems(word, languages) -> ...       distinct Snowball stems of a word
    heads(word) -> ...                  what a compound may end with

A message is long enough to tell its language; a query of a word or two is not, and is taken for any of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import snowballstemmer

from .words import STOP_WORDS

STEM_CACHE_SIZE = 1 << 15
"""Words whose stems are remembered: a stem costs 20 µs or more, a look-up less than one."""

SAMPLE_CHARS = 1_000
"""What is read of a text to tell its language."""

SURE_HITS = 2
"""Small words of a language that tell it for certain."""

FEWEST_HITS = 1 / 8
"""Share of a text's words that are small words, at the least, in the language it is written in."""

MIN_STEMMED = 3
MIN_COMPOUND = 11
MIN_HEAD = 6
MIN_BEFORE_HEAD = 4
MAX_COMPOUND = 40
"""Letters; a longer run is not a word."""

ENGLISH = "english"
COMPOUNDING = frozenset({"german", "dutch", "swedish", "danish", "finnish"})
"""Languages that write compounds as one word, whose last part names the thing."""

# Small words as folded; those that English has too are among them, for they count for both. What
# English texts have too, by itself or cut off, is left out: "e-mail", "'em", "take".
_SMALL_WORDS = {
    "german": """
        der die das den dem des ein eine einen einem einer und ist sind war hat haben hatte wird werden im
        am zum zur nicht kein keine mit von vom auf aus bei fur seit nach uber unter ich du er sie es wir
        ihr mein meine sein seine auch noch nur wie was wo wer wann warum in an so dass oder aber erst bis""",
    "dutch": """
        de het een en van is was zijn heeft hebben had niet geen met op voor naar bij uit over onder ik je
        jij hij zij we wij mijn ons ook nog maar wat waar wie wanneer waarom in aan er dat die te om""",
    "swedish": """
        en ett och att det den de som ar var har hade inte med till pa av for fran i jag du han hon vi min
        mitt mina sin vad vem nar varfor om men ocksa efter under over vid hos dar har""",
    "danish": """
        en et og at det den de som er var har havde ikke med til pa av af for fra i jeg du han hun vi min
        mit mine sin hvad hvem nar hvor hvorfor om men ogsaa efter under over ved hos der""",
    "finnish": """
        ja on ei ole oli olen olet mutta kun kuin etta se ne han hanen mina sina me te joka mika mita
        missa milloin miksi myos niin jos tai vain sen taman tama hyvin kanssa""",
    "french": """
        le la les un une des du de et est sont etait a ont avec dans sur pas plus ne au aux chez pour il
        elle on nous vous je tu mon ma mes son sa ses leur que qui ou quand pourquoi en se par l j qu ce""",
    "spanish": """
        el la los las un una unos de del y es son era ha han con en no mas al para por su sus mi mis que
        se lo le como cuando donde quien yo tu muy pero tambien esta este desde hasta""",
    "italian": """
        il lo la gli le un uno una di del della dei delle sono era ha hanno con in non piu al alla alle
        per da dal dalla su sul mio mia suo sua che chi come quando dove perche io si ma anche nel nella""",
    "portuguese": """
        a os as um uma de do da dos das sao era tem com no na nos nas nao mais ao para por pelo
        pela seu sua meu minha que se quem quando onde como eu ele ela muito mas tambem todo""",
    "polish": """
        i w na z ze do od po przy pod nad nie jest sa byl byla bylo ma to ten ta te sie za dla jak co
        kto gdzie kiedy dlaczego moj moja jego jej ale tez juz jeszcze mam""",
    "czech": """
        a v ve na z ze do od po pri pod nad neni je jsou byl byla bylo ma to ten ta ty se si za pro
        jak co kdo kde kdy proc muj moje jeho jeji ale uz jeste mam jsem""",
    "turkish": """
        ve bir bu su da de ile icin gibi cok daha en mi degil var yok ne kim nerede nasil neden ben sen
        biz siz benim senin onun ama ki kadar sonra once""",
    "hungarian": """
        a az egy es van volt nem is hogy de ha mint meg csak ez mi ki hol mikor miert en te mar lesz nincs
        ezt azt vagy ami aki""",
    "romanian": """
        si in la cu de pe din un este sunt era nu mai ca sa se al ai ale lui ei meu mea ce cine
        unde cand pentru dar am are au fost""",
}

LANGUAGES = tuple(_SMALL_WORDS)
"""Those that are told apart; Norwegian is close enough to Danish."""

_WORD = re.compile(r"(?<![\w'./@])[a-z]+(?!\w)")  # not "ve" of "I've", nor "com" of an address
_SPELT_OUT = str.maketrans({"\u00f8": "o", "\u0142": "l", "\u0111": "d", "\u00e6": "ae", "\u0131": "i"})
_HEAD = re.compile(
    "(?:[bcdfghjklmnprstvwz]|[bdfgkptvw]r|[bfgkps]l|[gks]n|sch[lmnrw]?|s[kmptv]|str|spr|[cptr]h|pf[lr]?|qu|[kt]j|zw|kv)?"
    "[aeiouy]"
)
_VOWELS = re.compile("[aeiouy]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    """What small words say of a text; the default is a text without any."""

    languages: tuple[str, ...] = ()
    """Those with most of them, and more than English; several if they have as many."""
    hits: int = 0
    words: int = 0
    english: bool = False
    """Whether words of English alone are among them."""

    @property
    def sure(self) -> bool:
        """Enough to leave out the language's small words."""
        return bool(self.languages) and self.hits >= SURE_HITS


def language_of(text: str) -> Guess:
    """Return what the beginning of a folded text says of its language."""
    words = _WORD.findall(text[:SAMPLE_CHARS].casefold().translate(_SPELT_OUT))
    known = _languages_of_words()
    hits: Counter[str] = Counter()
    english = False
    for word in words:
        languages = known.get(word, ())
        hits.update(languages)
        english = english or languages == (ENGLISH,)
    ours = hits.pop(ENGLISH, 0)
    most = max(hits.values(), default=0)
    told = most > ours and most >= len(words) * FEWEST_HITS
    languages = tuple(language for language in LANGUAGES if hits[language] == most) if told else ()
    return Guess(languages=languages, hits=most, words=len(words), english=english)


def is_small_word(word: str, languages: Sequence[str]) -> bool:
    """Whether a lower-case folded word says nothing in any of the languages."""
    return any(language in languages for language in _languages_of_words().get(word, ()))


def stems(word: str, languages: Sequence[str]) -> Iterator[str]:
    """Yield the distinct stems of a lower-case ASCII word."""
    yield from dict.fromkeys(snowball_stem(word, language) for language in languages)


def heads(word: str) -> Iterator[str]:
    """Yield the ends of a long word that could be words: they begin as a word may, and have two syllables."""
    if not MIN_COMPOUND <= len(word) <= MAX_COMPOUND:
        return
    for position in range(MIN_BEFORE_HEAD, len(word) - MIN_HEAD + 1):
        head = word[position:]
        if _HEAD.match(head) and len(_VOWELS.findall(head)) > 1:
            yield head


@lru_cache(maxsize=STEM_CACHE_SIZE)
def snowball_stem(word: str, language: str) -> str:
    """Return the Snowball stem of a lower-case word."""
    stemmed: str = snowballstemmer.stemmer(language).stemWord(word)
    return stemmed


@lru_cache(maxsize=1)
def _languages_of_words() -> dict[str, tuple[str, ...]]:
    """Words with all languages that have them."""
    lists = {language: set(text.split()) for language, text in _SMALL_WORDS.items()} | {ENGLISH: STOP_WORDS}
    return {
        word: tuple(language for language, known in lists.items() if word in known)
        for word in set().union(*lists.values())
    }
