"""What a model claims that a person said, held against what they did say (SPEC J-8, J-9, J-16). Pure.

    supported(claim, turn) -> Fact | None

A model can be wrong, and talked into anything by what it reads. So a claim counts only if it quotes words
that stand in the message, outside of everything that its author only passes on (see extraction/text.py), and
says no more than the sentence around them: each of its words is one of that sentence, or one that grammar
needs; no number is another; and what was denied, or thinkable only, is still so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from services.compactor.domain.extraction.cjk import chinese_words as chinese
from services.compactor.domain.extraction.cjk import japanese_words as japanese
from services.compactor.domain.extraction.cjk.shared import is_japanese, simplified
from services.compactor.domain.extraction.facts import (
    MOST_FACTS,
    MOST_KEY,
    MOST_NAME,
    MOST_SENTENCE,
    Category,
    Fact,
    Subject,
    Turn,
)
from services.compactor.domain.extraction.subjects import author_of, possessive, slug
from services.compactor.domain.extraction.text import own_words, visible
from services.compactor.domain.sentences import is_cjk, terms
from services.kit.fences import plain

MOST_SLOT = 60
"""Characters of a slot."""
LEAST_EVIDENCE = 2
"""Characters of a quotation; of one letter everything is a quotation."""
WINDOW = 3
"""Sentences that one quotation may reach over."""
STEM, ENDING = 4, 4
"""Words are one if they begin alike, in so many letters or all of the shorter, and differ in no more."""
CJK_PART = 0.5
"""Of the pairs of characters, in a script without spaces, where grammar changes many."""
UNNAMED = "The user"
ONE_VALUED = frozenset(
    {
        "age",
        "birth-place",
        "birthday",
        "diet",
        "email",
        "employer",
        "gender",
        "home",
        "marital-status",
        "name",
        "nationality",
        "nickname",
        "occupation",
        "origin",
        "phone",
        "pronouns",
        "time-zone",
    }
)
"""Slots of which a person has one value at a time; a key of any other also names the thing."""
_WORDS = """
    user author a an the this that these those and or of in on at to for from by with as about into than then
    who which whom whose it its he him his she her hers they them their i me my we us our you your
    is are was were be been being am has have had having do does did done will shall can cannot
    lives live living lived named called works working worked job owns own owned prefers preferred
    dislikes disliked hates wants wanted plans planned planning intends needs
    years year old aged born started studies studied likes liked loves asks asked
    der die das den dem des ein eine einen einem einer und oder von im am zu zur zum mit als für auf aus bei
    ist sind war waren hat haben hatte wird werden kann sein seine seinen seiner ihr ihre ihren sich
    wohnt lebt heißt arbeitet mag möchte will plant
    le la les un une du de des et ou à au aux en dans sur avec pour par qui que son sa ses leur leurs se
    est sont était a ont avait être fait habite vit travaille aime préfère veut
    el los las una unos unas y o del al con por para su sus se que es son era tiene tienen está están
    ha vive trabaja gusta le prefiere quiere llama
    """
_NEEDED = frozenset(_WORDS.split())
"""Words that a statement in the third person may need though they were not said."""
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|without|neither|nor|cannot|nicht|kein\w*|nie|niemals|ohne"
    r"|ne|pas|jamais|sans|aucun\w*|nunca|sin|tampoco|ningun\w*|ningún)\b|n't\b|\bn'"
    r"|不|没|沒|ない|ません|안 |않",
    re.IGNORECASE,
)
_THINKABLE = re.compile(
    r"\b(?:if|unless|would|could|might|may|maybe|perhaps|probably|wish|wenn|falls|würde|könnte|vielleicht"
    r"|wohl|si|peut-être|probablement|quizás?|ojalá|tal vez|podría)\b|如果|也许|可能|もし|かもしれ|만약|아마",
    re.IGNORECASE,
)
_ASKS = re.compile(r"[?？][\s)\]\"']*$")
_NOT_ONESELF = re.compile(
    r"\b(?:the|this|that|your|any|current) (?:user|speaker|assistant|model|system)\b"
    r"|\b(?:der|die|dieser|den|dem) (?:nutzer|benutzer|assistent)\w*|\bl'(?:utilisateur|assistant)"
    r"|\b(?:el|la|este) (?:usuari[oa]|asistente)\b|用户|用戶|ユーザー|사용자",
    re.IGNORECASE,
)
"""How nobody speaks of themselves, but a text does that wants to be taken for somebody's."""
_OF_SPEAKER = r"my|our|(?:the )?user's"
_OF_UNSPACED = r"(?:我们家|我們家|我们|我們|我家|我)的?|(?:私|わたし|僕|ぼく|俺|おれ|うち|自分)の"
"""Whose, in Chinese and Japanese; without it a relation is told by the lists of the grammars."""
_INFLECTION = re.compile(r"(?<=\w{3})(?:ing|ied|ies|ed|es|e|s|y)$")
_RELATIONS = (
    frozenset({"father", "dad", "daddy", "papa", "pa"}),
    frozenset({"mother", "mum", "mom", "mama", "mummy"}),
    frozenset({"grandmother", "grandma", "granny", "nan"}),
    frozenset({"grandfather", "grandpa", "granddad"}),
    frozenset({"roommate", "roomie", "flatmate"}),
    frozenset({"husband", "hubby"}),
    frozenset({"brother", "bro"}),
    frozenset({"sister", "sis"}),
)
"""Words for the same relation."""
_NUMERALS = {
    word: str(number)
    for words in (
        "two three four five six seven eight nine ten eleven twelve",
        "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
        "deux trois quatre cinq six sept huit neuf dix onze douze",
        "dos tres cuatro cinco seis siete ocho nueve diez once doce",
    )
    for number, word in enumerate(words.split(), 2)
}
_CLAUSES = ",;:，；：、"
_NUMBER = re.compile(r"\d+")
_SPEAKER = re.compile(r"^(?:the |our )?(?:user|author|speaker|person)\b", re.IGNORECASE)
_MARKS = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "“": '"', "”": '"', "\u00a0": " "})
_SLOT = re.compile(r"[a-z0-9]+(?:[._-]+[a-z0-9]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What a model says that it read in a message.

    `about` is "" or the author's name for the message's author; `slot` is what of them it tells.
    """

    about: str
    slot: str
    category: Category
    statement: str
    evidence: str


def all_supported(claims: Iterable[Claim], turn: Turn) -> list[Fact]:
    """The facts of those that are, the last one of a key, at most MOST_FACTS."""
    found: dict[str, Fact] = {}
    sentences = own_words(turn.text)
    for claim in claims:
        fact = supported(claim, turn, sentences)
        if fact is not None:
            found.pop(fact.key, None)
            found[fact.key] = fact
    return list(found.values())[:MOST_FACTS]


def supported(claim: Claim, turn: Turn, sentences: Sequence[str] | None = None) -> Fact | None:
    """The fact, under a key of ours; None where the message does not bear it out.

    `sentences` are its author's own, if the caller has them.
    """
    sentence, clause = _around(claim.evidence, own_words(turn.text) if sentences is None else sentences)
    statement = _line(claim.statement)
    if not sentence or _ASKS.search(sentence) or _NOT_ONESELF.search(sentence):
        return None
    if not 0 < len(statement) <= MOST_SENTENCE:
        return None
    author = author_of(_line(turn.author)[:MOST_NAME], owner=turn.owner, unnamed=UNNAMED)
    subject = _subject(claim.about, author, sentence)
    told = _predicate(statement, subject, author)
    if subject is None or not told or not _borne_out(told, sentence, clause, (subject, author)):
        return None
    key = _key(claim, subject, told)
    return Fact(key=key, subject=subject.name, predicate=told, category=claim.category) if key else None


def _around(evidence: str, sentences: Sequence[str]) -> tuple[str, str]:
    """The sentence that the words stand in, or the few that they reach over, and of it the clause, in small
    letters; both "" when they stand nowhere."""
    wanted = _compared(evidence).strip(" .,;:!?…\"'")
    if not LEAST_EVIDENCE <= len(wanted) <= MOST_SENTENCE:
        return "", ""
    for length in range(1, WINDOW + 1):
        for begin in range(len(sentences) - length + 1):
            text = " ".join(sentences[begin : begin + length])
            compared = _compared(text)
            place = _place(wanted, compared)
            if place >= 0:
                return text, _clause(compared, place, place + len(wanted))
    return "", ""


def _place(words: str, text: str) -> int:
    """Where they stand as whole words; -1 for nowhere."""
    if is_cjk(words):
        return text.find(words)
    found = re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text)
    return found.start() if found else -1


def _clause(text: str, begin: int, end: int) -> str:
    """What stands around a part of a text, as far as the next marks that part clauses."""
    left = max(text.rfind(mark, 0, begin) for mark in _CLAUSES) + 1
    right = min((at for mark in _CLAUSES if (at := text.find(mark, end)) >= 0), default=len(text))
    return text[left:right]


def _compared(text: str) -> str:
    return " ".join(text.translate(_MARKS).split()).casefold()


def _line(text: str) -> str:
    return plain(" ".join(visible(text).translate(_MARKS).split())).strip(" .")


def _subject(about: str, author: Subject, sentence: str) -> Subject | None:
    """Whom the claim is about; somebody else must be spoken of in the sentence."""
    mine = re.sub(rf"^(?:{re.escape(possessive(author.name))}|{_OF_SPEAKER}) ", "", _line(about), flags=re.I)
    if not mine or mine.casefold() in {author.name.casefold(), "author", "user", "the user", "i", "me"}:
        return author
    said = _compared(sentence)
    if relation := _unspaced_relation(mine, author):
        if _place(relation, said) < 0:
            return None
        joint = "の" if is_japanese(sentence) else "的"
        return Subject(name=f"{author.name}{joint}{relation}", key=author.attribute(slug(relation)))
    if len(mine) > MOST_NAME or not any(_place(one, said) >= 0 for one in _also(_compared(mine))):
        return None
    kin = mine[:1].islower()
    return Subject(
        name=f"{possessive(author.name)} {mine}" if kin else mine,
        key=author.attribute(slug(mine) if kin else f"knows.{slug(mine)}"),
    )


def _unspaced_relation(about: str, author: Subject) -> str:
    """The relation in Chinese or Japanese, of "安娜的女儿", "我女儿" or just "女儿"; "" for none."""
    bare = re.sub(rf"^(?:{re.escape(author.name)}[的の]|{_OF_UNSPACED})(?=.)", "", about)
    known = chinese.RELATION.fullmatch(simplified(bare)) or japanese.RELATION.fullmatch(bare)
    return bare if known else ""


def _also(name: str) -> set[str]:
    """A relation by any word for it; a name by itself."""
    return {name}.union(*(words for words in _RELATIONS if name in words))


def _predicate(statement: str, subject: Subject | None, author: Subject) -> str:
    """What the statement says of its subject, with whom it has to begin; "" else."""
    if subject is None:
        return ""
    if subject is author:
        statement = _SPEAKER.sub(lambda _: author.name, statement, count=1)
    elif subject.name.startswith(possessive(author.name)):
        statement = re.sub(rf"^(?:{_OF_SPEAKER})(?= )", possessive(author.name), statement, flags=re.I)
    if re.match(rf"{re.escape(author.name)}[的の].", subject.name):
        relation = subject.name[len(author.name) + 1 :]
        statement = re.sub(
            rf"^(?:{re.escape(author.name)}[的の]|{_OF_UNSPACED})?{relation}", subject.name, statement
        )
    if not statement.casefold().startswith(subject.name.casefold()):
        return ""
    rest = statement[len(subject.name) :]
    if rest[:1].isalnum() and not is_cjk(rest):
        return ""  # another, longer name
    return rest.strip(" ,")


def _borne_out(told: str, sentence: str, clause: str, named: Sequence[Subject]) -> bool:
    """Whether the sentence says as much, and its clause denies what is denied."""
    if _numbers(told) - _numbers(sentence):
        return False
    if bool(_NEGATION.search(clause)) != bool(_NEGATION.search(told)):
        return False
    if _THINKABLE.search(sentence) and not _THINKABLE.search(told):
        return False
    said = terms(" ".join([sentence, *(one.name for one in named)]))
    compared = _NEEDED | _NUMERALS.keys()
    content = [term for term in terms(told) if term not in compared and not _held_against(term)]
    pairs = [term for term in content if is_cjk(term)]
    if pairs and sum(term in said for term in pairs) < len(pairs) * CJK_PART:
        return False
    return bool(content or _numbers(told)) and all(
        is_cjk(term) or any(_alike(term, one) for one in said) for term in content
    )


def _numbers(text: str) -> set[str]:
    """In digits, however they are written."""
    written = {digits for word, digits in _NUMERALS.items() if _place(word, text.casefold()) >= 0}
    return written.union(_NUMBER.findall(text))


def _held_against(term: str) -> bool:
    """Whether it is compared already, as one that denies or weakens."""
    return bool(_NEGATION.search(term) or _THINKABLE.search(term)) and not is_cjk(term)


def _alike(one: str, other: str) -> bool:
    """Whether they are forms of one word, as far as spelling tells."""
    if one == other or (_INFLECTION.sub("", one) == _INFLECTION.sub("", other) and not one.isdigit()):
        return True
    few, many = sorted((one, other), key=len)
    same = next((place for place, (a, b) in enumerate(zip(few, many, strict=False)) if a != b), len(few))
    return same >= max(min(STEM, len(few)), len(many) - ENDING) and len(few) > 2 and not few.isdigit()


def _key(claim: Claim, subject: Subject, told: str) -> str:
    """The subject's key and the slot; where there can be many of it, the thing as well. "" for no slot."""
    slot = re.sub(r"[^a-z0-9._-]+", "-", claim.slot.casefold().replace("_", "-"))[:MOST_SLOT].strip("._-")
    if not _SLOT.fullmatch(slot):
        return ""
    slot = re.sub(r"^(?:user|author)\.", "", slot)
    single = slot in ONE_VALUED or "." in slot
    return subject.attribute(slot if single else f"{slot}.{slug(told)}")[:MOST_KEY]
