"""The extraction of facts on labelled turns (J-8): precision and recall.

A fact counts as right when a labelled one of the same turn has the same subject, the same kind (S-2), the
same day and enough content words in common; each labelled fact is taken once. How many right ones also have
the labelled type is reported apart: two types of one kind are kept and searched alike. So is how many are
supported: right, or true by a label that says more, of whatever kind ("plays the trombone", where the label
has "plays the trombone every evening"). Only counts leave this module, never a text.

Judged is the engine that works out of the box, and beside it the grammar alone.
"""

from __future__ import annotations

import asyncio
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from bench.fixtures import SeededEmbedder
from services.compactor.adapters.reader import Reader
from services.compactor.app.engines import About
from services.compactor.app.extracting import Extractor, Grammar
from services.compactor.domain.extraction.facts import Category, Fact, Turn

ID = "extraction"
DEVELOPMENT = "extraction*_dev.jsonl"
PRECISION = 0.95
RECALL = 0.5
SHARED_OF_LABEL = 0.6
"""The part of a label's content words that a fact must hold."""
SHARED_OF_RELATION = 0.75
"""The same for a relation, with the names of both."""
SHARED_OF_FACT = 1 / 3
"""The part of a fact's content words that its label must hold: it may tell more of its sentence."""
SHARED_OF_SUPPORTED = 0.75
"""The part of a fact's content words that a label must hold to support it."""
PASSING = {"event", "task", "instruction"}
"""Types that are kinds of their own; the others are all facts (S-2)."""
_LIGHT = """
    a al also always am an and appelle are as asks at be been by call called con d das de debe dem den
    der des did die do does doit du ein eine einem einen el elle en er es est et for from had has hat
    have he heißt her him his il im in is ist it its l la las le les live lives llama llamada llamado
    los mit muss must name named needs never now of on please que quiere s se she sich sie so soll su
    tener that the their they tiene to un una und une us wants was were which who with work works y zu
"""
"""Words that carry no content in one of the four languages, or only introduce a name."""
LIGHT = frozenset(_LIGHT.split())
_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile(r"[\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+")
"""Chinese and Japanese."""
_KIN = {
    name: relative
    for relative, names in {
        "mother": "mum mom mam mama mamma mummy",
        "father": "dad daddy papa",
        "grandmother": "gran granny grandma nan nana nanna nonna oma abuela",
        "grandfather": "grandad granddad grandpa gramps nonno opa abuelo",
        "husband": "hubby",
        "sister": "sis",
        "brother": "bro",
        "roommate": "roomie flatmate",
        "child": "kid",
        "children": "kids",
    }.items()
    for name in names.split()
}
"""What relatives are called at home."""
_DATES = re.compile(
    r"\b\d{4}-\d\d-\d\d\b|\b\d{1,2}\.? (?:de )?(?:January|February|March|April|May|June|July|August|September"
    r"|October|November|December|janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre"
    r"|décembre|Januar|Februar|März|Juni|Juli|Oktober|Dezember|enero|febrero|marzo|abril|mayo|junio|julio"
    r"|agosto|septiembre|octubre|noviembre|diciembre)(?: (?:de )?\d{4})?\b"
)
_DAYS = re.compile(
    r"\b(?:(?:on|by|this|next|last|am|nächste[nr]?|letzte[nr]?|el|este|le) )?"
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|today|tonight|tomorrow|yesterday|this (?:morning|evening)"
    r"|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|heute|morgen|übermorgen|gestern"
    r"|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|aujourd'hui|demain|hier"
    r"|lunes|martes|miércoles|jueves|viernes|sábado|domingo|hoy|mañana|ayer)\b",
    re.IGNORECASE,
)
"""Days are compared by themselves: these are no words of a statement that has one."""


def run(data: Path) -> dict[str, Any]:
    """The result document for a file of turns, or for all development files of a directory.

    A held-out file is judged only when it is named itself.
    """
    files = sorted(data.glob(DEVELOPMENT)) if data.is_dir() else [data]
    return asyncio.run(_run({file.name: _turns(file) for file in files}))


async def _run(turns: Mapping[str, Sequence[dict[str, Any]]]) -> dict[str, Any]:
    reader: Any = SeededEmbedder(1)  # called as its stub would be; its network is the real one
    per_file = {name: await _judge(rows, Reader(reader)) for name, rows in turns.items()}
    alone = sum([await _judge(rows, Grammar()) for rows in turns.values()], Tally())
    total = sum(per_file.values(), Tally())
    figures = rates(total.all)
    return {
        "id": ID,
        "value": figures,
        "budget": {"precision": PRECISION, "recall": RECALL},
        "ok": figures["precision"] >= PRECISION and figures["recall"] >= RECALL,
        "correct": total.turns > 0,
        "yardstick": "labels by hand",
        "load": ", ".join(per_file),
        "turns_without_facts": {"n": total.all["empty"], "with_a_fact_found": total.all["false_alarms"]},
        "grammar_alone": rates(alone.all),
        "by_language": {name: rates(counts) for name, counts in sorted(total.languages.items())},
        "by_file": {name: rates(tally.all) for name, tally in per_file.items()},
    }


@dataclass(slots=True)
class Tally:
    """Counts over turns: all of them, and by language."""

    turns: int = 0
    all: Counter[str] = field(default_factory=Counter)
    languages: dict[str, Counter[str]] = field(default_factory=dict)

    def __add__(self, other: Tally) -> Tally:
        names = self.languages.keys() | other.languages.keys()
        return Tally(
            turns=self.turns + other.turns,
            all=self.all + other.all,
            languages={
                name: self.languages.get(name, Counter()) + other.languages.get(name, Counter())
                for name in names
            },
        )


async def read(turns: Sequence[dict[str, Any]], engine: Extractor) -> list[Sequence[Fact]]:
    """What an engine finds in labelled turns; nothing is read but what people said."""
    about = About(tenant="t", agent_id="a", conversation_id="c")
    heard = [turn for turn in turns if turn["role"] == "user"]
    told = (await engine.extract(about, [_turn(turn) for turn in heard])).facts
    found = {turn["id"]: facts for turn, facts in zip(heard, told, strict=True)}
    return [found.get(turn["id"], ()) for turn in turns]


def _turns(data: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.read_text("utf-8").splitlines() if line.strip()]


async def _judge(turns: Sequence[dict[str, Any]], engine: Extractor) -> Tally:
    total: Counter[str] = Counter()
    languages: dict[str, Counter[str]] = {}
    for turn, found in zip(turns, await read(turns, engine), strict=True):
        right, wrong, missed = judged(turn, found)
        counted = Counter(right=len(right), wrong=len(wrong), missed=len(missed))
        counted["empty"] = not turn["facts"]
        counted["false_alarms"] = bool(wrong) and not turn["facts"]
        counted["same_type"] = sum(same for _, same in right)
        counted["supported"] = sum(any(supports(label, fact) for label in turn["facts"]) for fact in wrong)
        total += counted
        languages.setdefault(turn["lang"], Counter()).update(counted)
    return Tally(turns=len(turns), all=total, languages=languages)


def judged(
    turn: dict[str, Any], found: Iterable[Fact]
) -> tuple[list[tuple[Fact, bool]], list[Fact], list[dict[str, Any]]]:
    """Of the facts found in a turn the right ones, each with whether its type is the label's, and the wrong
    ones; and the missed labels."""
    left = list(turn["facts"])
    right, wrong = [], []
    for fact in found:
        best = max(left, key=partial(_rank, fact), default=None)
        if best is not None and agrees(fact, best) > 0:
            left.remove(best)
            right.append((fact, fact.category.value == best["type"]))
        else:
            wrong.append(fact)
    return right, wrong, left


def rates(counts: Counter[str]) -> dict[str, float]:
    """Precision, recall, the share of right facts of the labelled type, and that of all which are supported;
    without a fact precision is 1."""
    found, labelled = counts["right"] + counts["wrong"], counts["right"] + counts["missed"]
    return {
        "precision": round(counts["right"] / found, 4) if found else 1.0,
        "recall": round(counts["right"] / labelled, 4) if labelled else 1.0,
        "same_type": round(counts["same_type"] / counts["right"], 4) if counts["right"] else 1.0,
        "supported": round((counts["right"] + counts["supported"]) / found, 4) if found else 1.0,
        "found": found,
        "labelled": labelled,
    }


def _turn(turn: dict[str, Any]) -> Turn:
    said = datetime.fromisoformat(turn["time"].replace("Z", "+00:00"))
    return Turn(author=turn["author"], text=turn["text"], said=said)


def _rank(fact: Fact, label: dict[str, Any]) -> tuple[float, bool]:
    return agrees(fact, label), fact.category.value == label["type"]


def agrees(fact: Fact, label: dict[str, Any]) -> float:
    """How well a fact says what a label says, 0 when it does not."""
    if kind_of(fact.category.value) != kind_of(label["type"]):
        return 0.0
    if label["date"] is not None and (fact.day is None or fact.day.isoformat() != label["date"]):
        return 0.0
    names = _words([fact.subject, label["subject"]])
    dated = label["date"] is not None
    said, labelled = _words([_undated(fact.predicate, dated)]), _words([_undated(label["value"], dated)])
    relation = fact.category is Category.RELATIONSHIP
    about_both = relation and _words([label["subject"]]) <= _words([fact.value])
    if _subject(label["subject"]) not in _subjects(fact.subject) and not about_both:
        return 0.0
    if relation:  # "Ann's boss is Bob" and "Bob is Ann's boss" are one
        said, labelled = _words([fact.value]), _words([label["subject"], label["value"]])
        wanted = SHARED_OF_RELATION
    else:
        said, labelled, wanted = said - names or said, labelled - names or labelled, SHARED_OF_LABEL
    shared = len(said & labelled)
    if shared < wanted * len(labelled) or shared < SHARED_OF_FACT * len(said) or not shared:
        return 0.0
    return shared / len(said | labelled)


def _undated(text: str, dated: bool) -> str:
    """Without the words for a day, where that is compared by itself."""
    return _DAYS.sub(" ", text) if dated else text


def supports(label: dict[str, Any], fact: Fact) -> bool:
    """Whether a fact is true by a label, though it says less or is of another kind."""
    day = fact.day.isoformat() if fact.day else None
    if _subject(label["subject"]) not in _subjects(fact.subject) or day not in {None, label["date"]}:
        return False
    said = _words([fact.predicate])
    return bool(said) and len(said & _words([label["value"]])) >= SHARED_OF_SUPPORTED * len(said)


def kind_of(type_: str) -> str:
    return type_ if type_ in PASSING else "fact"


def _subjects(name: str) -> set[str]:
    """Leila and Omar's sister, for "Leila (Omar's sister)"."""
    return {_subject(part) for part in re.split(r"[()]", name) if part.strip()}


def _subject(name: str) -> str:
    """A mum is a mother, and so is a mam."""
    return re.sub(r"[^\W_]+", lambda word: _KIN.get(word.group(), word.group()), name.strip().casefold())


def _words(texts: Iterable[str]) -> set[str]:
    """Content words; of scripts without spaces, pairs of neighbouring characters."""
    folded = unicodedata.normalize("NFKD", _DATES.sub(" ", " ".join(texts)).casefold())
    plain = "".join(c for c in folded if not unicodedata.combining(c)).replace("'s ", " ")
    pairs = {run[n : n + 2] for run in _UNSPACED.findall(plain) for n in range(max(1, len(run) - 1))}
    words = _WORD.findall(_UNSPACED.sub(" ", plain) + " ")
    stems = {_stem(_KIN.get(word, word)) for word in words if word not in LIGHT and word != "s"}
    return (stems | pairs) - {""}


def _stem(word: str) -> str:
    """Without the ending, the plural's first: "answers" and "answer", "flies" and "flying" are one."""
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    if len(word) > 3 and word.endswith("ie"):
        return f"{word[:-2]}y"
    for ending in ("ing", "ed", "es", "er", "re", "ar", "e", "y"):
        if len(word) > len(ending) + 2 and word.endswith(ending):
            return word[: -len(ending)]
    return word
